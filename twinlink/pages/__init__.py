"""Single pages: from the bytes of a response to text, tags, blocks and links.

Start with `parse_page`; `decode` finds the encoding, `is_html` decides what is a page at all.

- what a page consists of: `content` (gathered in Python), `libxml2` (the same, compiled), `elements`, `tags`, `spaces`
- content encodings (gzip, brotli): `content_encoding`; pages that need their scripts: `scripted`
- tags and text lengths, for methods that compare structure: `linearise`
"""

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
