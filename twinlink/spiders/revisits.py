"""Conditional requests for pages that were fetched before, and revisit records for unchanged bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from twinlink.spiders.frontier import Body
from twinlink.spiders.warc_writer import NOT_MODIFIED, Earlier, Written, payload_digest

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Headers, Response

    from twinlink.spiders.archive import Archive
    from twinlink.spiders.warc_writer import Conversion

_MAX_LENGTH = 1_000  # of an ETag or a date: longer ones are kept by nobody


def conditions(earlier: Body | None) -> dict[str, str]:
    """Return the headers that ask for a page only if it is no longer the one that is known (RFC 9110, section 13.1).

    Examples
    --------
    >>> conditions(Body("a.warc.gz", 9, "http://a.org/", etag='"x"', modified="Sat, 03 Jan 2026 00:00:00 GMT"))
    {'If-None-Match': '"x"', 'If-Modified-Since': 'Sat, 03 Jan 2026 00:00:00 GMT'}
    """
    if earlier is None:
        return {}
    known = {"If-None-Match": earlier.etag, "If-Modified-Since": earlier.modified}
    return {name: value for name, value in known.items() if value}


def is_unmodified(earlier: Body | None, status: int) -> bool:
    """Return whether a response is 304 for a known page; servers sometimes send it without conditions."""
    return status == NOT_MODIFIED and bool(conditions(earlier))


def archive_page(
    archive: Archive,
    url: str,
    request: Request,
    response: Response,
    earlier: Body | None,
    conversion: Conversion | None = None,
) -> tuple[Written, Body]:
    """Archive the response for a page, and return where that lies, and where its body does.

    Parameters
    ----------
    archive : Archive
        Gets a record that refers to the earlier one, if the server finds the page unmodified or its payload is the
        same; else a response record.
    url, request, response, conversion
        As for `Archive.write`.
    earlier : Body or None
        The page that an earlier visit found.
    """
    if earlier is not None and earlier.digest and conversion is None and _is_same(earlier, response):
        first = Earlier(earlier.url, earlier.date, earlier.digest)
        written = archive.write_revisit(url, request, response, first)
        known = _validators(response.headers)
        return written, earlier._replace(
            etag=known[0] or earlier.etag, modified=known[1] or earlier.modified, found="unchanged"
        )
    written = archive.write(url, request, response, conversion)
    found: Literal["new", "changed"] = "changed" if earlier else "new"
    if conversion is not None:  # of what scripts build, neither the server nor the payload says whether it has changed
        return written, Body(written.archive, written.end, url, found=found)
    return written, Body(
        written.archive, written.end, url, written.date, written.digest, *_validators(response.headers), found
    )


def _is_same(earlier: Body, response: Response) -> bool:
    return is_unmodified(earlier, response.status) or payload_digest(response.body) == earlier.digest


def _validators(headers: Headers) -> tuple[str, str]:
    """Return ETag and Last-Modified of a response, empty where there is none that can be sent back."""
    etag, modified = ((headers.get(name) or b"").strip() for name in ("ETag", "Last-Modified"))
    return _sendable(etag), _sendable(modified)


def _sendable(value: bytes) -> str:
    is_plain = len(value) <= _MAX_LENGTH and all(0x20 <= byte <= 0x7E for byte in value)
    return value.decode("ascii") if is_plain else ""
