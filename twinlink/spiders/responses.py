"""Headers and body of a response: values of headers, and the body without its content encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinlink.pages.content_encoding import EncodingError, decompress
from twinlink.spiders.failures import RefusedError

if TYPE_CHECKING:
    from scrapy.http import Headers, Response


def unpacked(response: Response, limit: int) -> Response:
    """Return a response without its content encoding.

    Raises
    ------
    RefusedError
        If it is damaged (``bad-encoding``), or larger than the limit without it (``too-large``).
    """
    encoding = content_encoding(response.headers)
    if not encoding or not response.body:
        return response
    try:
        body = decompress(response.body, encoding, limit)
    except EncodingError as error:
        raise RefusedError("bad-encoding", str(error)) from error
    if len(body) > limit:
        raise RefusedError("too-large", "decompressed")
    response = response.replace(body=body)
    del response.headers["Content-Encoding"]
    return response


def content_encoding(headers: Headers) -> str:
    """Return how a body is packed, all headers of that name together."""
    return b", ".join(headers.getlist("Content-Encoding")).decode("latin-1")


def links_of(headers: Headers) -> tuple[str, str]:
    """Return the headers that lead to other pages: Link, all of that name together, and Refresh."""
    return b", ".join(headers.getlist("Link")).decode("utf-8", "replace"), header(headers, "Refresh")


def header(headers: Headers, name: str) -> str:
    """Return a header, empty when there is none; UTF-8 where it is that, as servers write addresses into Location."""
    value = headers.get(name) or b""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
