"""Decoding (`decode`) and parsing (`parse_page`) of single pages: text, tags, blocks, links."""

from __future__ import annotations

from twinlink.pages.decoding import decode
from twinlink.pages.parser import Link, ParsedPage, parse_page
from twinlink.pages.sniffing import is_html

__all__ = [
    "Link",
    "ParsedPage",
    "decode",
    "is_html",
    "parse_page",
]
