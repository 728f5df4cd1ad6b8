"""Aborted downloads: a response that cannot be a page is not received to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import StopDownload

from twinlink.pages.content_encoding import beginning
from twinlink.pages.decoding import SNIFFED_BYTES, is_html
from twinlink.sources.resources import may_be_resource

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Headers, Response

SMALL_BODY = 32 * 1024
"""Bytes of a body of another type that are received and discarded: up to here it is cheaper than a new connection."""

_SAMPLE = 2 * SNIFFED_BYTES  # packed bodies have a head of their own in front
_STATE = "arriving"  # key of a request's meta
_RECEIVED = "received"  # the same


class _Arriving:
    """State of a response while its body is received."""

    def __init__(self, content_type: str, encoding: str) -> None:
        self._content_type = content_type
        self._encoding = encoding
        self._head = b""
        self._received = 0
        # None: the headers do not say, the first bytes of the body will.
        self._is_page = None if is_html(content_type, b"<html>") else False

    def take(self, data: bytes) -> bool:
        """Add a part of the body; return whether it is known that the response is not a page."""
        self._received += len(data)
        if self._is_page is None:
            self._head += data
            if len(self._head) >= _SAMPLE:
                self._is_page = self._looks_like_page()
        return self._is_page is False and self._received > SMALL_BODY

    def _looks_like_page(self) -> bool:
        plain = beginning(self._head, self._encoding, SNIFFED_BYTES)
        self._head = b""
        return plain is None or len(plain) < SNIFFED_BYTES or is_html(self._content_type, plain)


class EarlyEnd:
    """Aborts downloads that were requested as pages and are not, unless they are short; counts what is received.

    The Content-Type decides where it says anything, else the first bytes of the body. Where the length of the body is
    not known beforehand (chunked, or sent until the connection closes), up to `SMALL_BODY` bytes of it are received.
    Of a part of a page (a style sheet, a picture), the Content-Type decides. An aborted response is not a failure: it
    is passed on as an incomplete response (`is_whole`).
    """

    def headers_received(self, headers: Headers, body_length: int | str, request: Request) -> None:
        """Take the headers; Scrapy passes a string as the length of a body whose length it does not know."""
        request.meta.pop(_STATE, None)  # of an earlier try
        entry = request.meta.get("page")
        content_type = _joined(headers, "Content-Type")
        if entry is not None and entry.kind == "part" and not may_be_resource(content_type):
            raise StopDownload(fail=False)
        if entry is None or entry.kind != "page" or is_html(content_type, b""):
            return
        if isinstance(body_length, int):
            if body_length <= SMALL_BODY:
                return
            if not is_html(content_type, b"<html>"):
                raise StopDownload(fail=False)
        request.meta[_STATE] = _Arriving(content_type, _joined(headers, "Content-Encoding"))

    def bytes_received(self, data: bytes, request: Request) -> None:
        """Take a part of the body."""
        count(request, len(data))
        arriving: _Arriving | None = request.meta.get(_STATE)
        if arriving is not None and arriving.take(data):
            del request.meta[_STATE]
            raise StopDownload(fail=False)


def count(request: Request, n_bytes: int) -> None:
    """Add to the bytes that were received for a request."""
    request.meta[_RECEIVED] = received(request) + n_bytes


def received(request: Request) -> int:
    """Return the bytes of bodies that were received for a request, as transferred, with those of earlier tries."""
    n_bytes: int = request.meta.get(_RECEIVED, 0)
    return n_bytes


def is_whole(response: Response) -> bool:
    """Return whether the body of a response was received to its end."""
    return "download_stopped" not in response.flags


def _joined(headers: Headers, name: str) -> str:
    return b", ".join(headers.getlist(name)).decode("latin-1")
