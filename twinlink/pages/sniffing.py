"""What is an HTML page: by the type that its server says, and by its first bytes."""

from __future__ import annotations

import re

__all__ = ["SNIFFED_BYTES", "is_html"]

_HTML = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
# Types that say nothing (the MIME Sniffing Standard's unknown types), and the two that XHTML is served with beside its
# own.
_UNKNOWN = frozenset(
    ("", "unknown/unknown", "application/unknown", "*/*", "application/octet-stream", "text/xml", "application/xml")
)
_MARKUP = re.compile(rb"<(?:!doctype\s+html|html|head|title|body|frameset)[\s>]", re.IGNORECASE)
SNIFFED_BYTES = 2_048
"""First bytes of a body that are searched for markup where its type says nothing."""


def is_html(content_type: str, body: bytes) -> bool:
    """Return whether a response is an HTML page: by its Content-Type, and by its first bytes where that says nothing.

    Examples
    --------
    >>> is_html("text/html; charset=big5", b""), is_html("", b"<!DOCTYPE html><p>"), is_html("image/png", b"<html>")
    (True, True, False)
    """
    essence = content_type.partition(";")[0].strip().lower()
    if essence in _UNKNOWN:
        return _MARKUP.search(body[:SNIFFED_BYTES].replace(b"\0", b"")) is not None  # without NULs also in UTF-16
    return essence in _HTML
