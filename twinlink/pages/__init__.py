"""Decoding (`decode`) and parsing (`parse_page`) of single pages: text, tags, blocks, links."""

from __future__ import annotations

from twinlink.pages.decoding import decode, is_html
from twinlink.pages.parser import Link, ParsedPage, parse_page

__all__ = [
    "Link",
    "ParsedPage",
    "decode",
    "is_html",
    "parse_page",
]
