"""Documents, the output of all readers: one record per page or redirect."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

import msgspec

from twinlink.rejects import Reject

REDIRECTS = frozenset((301, 302, 303, 307, 308))
"""HTTP statuses that lead elsewhere by their Location header."""

_STATUS = re.compile(r"[1-9][0-9]{2}")


class Document(msgspec.Struct, frozen=True):
    """One page as it was stored, or one redirect."""

    url: str
    """Normalised address."""
    status: int
    """HTTP status; 200 for a file, 301 for what a folder implies (see `read_mirror`)."""
    content_type: str
    """Content-Type header, empty for a file."""
    content_language: str
    """Content-Language header, empty for a file."""
    location: str
    """Where a redirect leads, as the server wrote it (it may be relative to ``url``); empty for a page."""
    body: bytes
    """The page, content encoding (gzip …) removed; empty for a redirect."""
    fetched: datetime | None
    """When it was fetched, with time zone; None if unknown."""
    source: str
    """Name of the archive, or path of the file below its folder."""
    offset: int
    """Where the record (compressed: its gzip member) starts in the archive, -1 for a file."""
    link: str = ""
    """Link headers, joined by commas; empty for a file."""


class Recalled(Document, frozen=True, kw_only=True):
    """A page whose record was not read again: an earlier reading of the archive noted what it has, without its body."""

    digest: bytes
    """SHA-1 of the body."""
    n_bytes: int
    """Of the body."""
    load: Callable[[], Document]
    """Reads it. Raises InputError if it is not there any more."""


class Gone(Reject):
    """A response that there is no page (any more) at an address: a reject that supersedes earlier captures."""

    fetched: datetime | None = None
    """Time of the response, with time zone."""

    @classmethod
    def at(cls, url: str, reason: str, fetched: datetime | None) -> Gone:
        """Return the reject with its time."""
        gone = cls(url, "ingest", reason)
        gone.fetched = fetched
        return gone


class Revisit(msgspec.Struct, frozen=True):
    """A visit without body, whose content equals that of an earlier one at the same or another address."""

    url: str
    """Normalised address."""
    fetched: datetime | None
    """When it was visited."""
    first: datetime | None
    """When the body was fetched, None where the record does not say."""
    is_own: bool
    """Whether the body comes from the same address, as far as the record says."""
    load: Callable[[], Document | Reject]
    """Reads the page; a reject where its body is not in the input."""


def status_of(text: str) -> int | None:
    """Return an HTTP status from text; None if invalid.

    >>> status_of("200"), status_of("9" * 5000), status_of("abc")
    (200, None, None)
    """
    return int(text) if _STATUS.fullmatch(text) else None
