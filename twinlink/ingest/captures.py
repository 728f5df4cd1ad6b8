"""Selection of the latest capture of each address, independent of the order in which captures are read.

A capture is what a server had at an address at a moment: a page, an empty page, a redirect, or nothing (404, 410).
Captures without a date (files) are older than all that have one. Of two of the same moment, a page takes
precedence; remaining ties are broken in an arbitrary but fixed order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from hashlib import blake2b
from typing import NamedTuple

from twinlink.sources.documents import Document
from twinlink.tables import Reject

_EPOCH = datetime(1, 1, 1, tzinfo=UTC)
_DATE = slice(0, 8)
_KIND = 8
_DIGEST = slice(9, 29)
_NO_DIGEST = bytes(20)


class Capture(NamedTuple):
    """A document that may become a page."""

    document: Document
    url: str
    """Its normalised address."""
    number: int
    """The page_id of that."""
    digest: bytes
    """SHA-1 of the body."""
    order: bytes
    """Its sort key as a page (`rank`)."""


class Facts(NamedTuple):
    """Properties of a parsed page that decide whether it counts."""

    is_empty: bool
    """Whether it has neither text nor links."""
    cut: bool
    canonical: str


class Kind(IntEnum):
    """Kind of a capture; of two of the same moment, the higher kind counts."""

    GONE = 0
    REDIRECT = 1
    EMPTY = 2
    PAGE = 3


_PLACE = slice(37, 45)


def rank(kind: Kind, moment: datetime | None, digest: bytes, url: str, place: str) -> bytes:
    """Return the sort key of captures of an address, 45 bytes.

    Parameters
    ----------
    kind : Kind
    moment : datetime or None
        When it was fetched, with time zone.
    digest : bytes
        SHA-1 of the body, empty where there is none.
    url, place : str
        Its spelling, and its location with all else that tells it from others: `capture_number` goes by that.
    """
    ties = b"".join(blake2b(text.encode(), digest_size=8).digest() for text in (url, place))
    return _date(moment) + bytes([kind]) + (digest or _NO_DIGEST) + ties


def as_kind(rank: bytes, kind: Kind) -> bytes:
    """Return the sort key of a capture that proves to be of another kind."""
    return rank[:_KIND] + bytes([kind]) + rank[_KIND + 1 :]


def capture_number(rank: bytes) -> int:
    """Return the number of a capture, by its sort key; a later visit that finds it unchanged does not change it."""
    return int.from_bytes(rank[_PLACE], "big", signed=True)


def _date(moment: datetime | None) -> bytes:
    """Return a moment as microseconds in bytes that compare like dates; zeros for none."""
    microseconds = 0 if moment is None else (moment - _EPOCH) // timedelta(microseconds=1)
    return microseconds.to_bytes(8, "big")


class _Older(NamedTuple):
    """A capture that does not count."""

    number: int
    url: str
    rank: bytes


class Captures:
    """The captures that count, by the page_id of their addresses; each address takes some 130 bytes."""

    def __init__(self) -> None:
        self._ranks: dict[int, bytes] = {}
        self._older: list[_Older] = []
        self._uncounted: set[int] = set()  # addresses whose current capture is not counted

    def __contains__(self, number: int) -> bool:
        """Return whether anything was captured at an address."""
        return number in self._ranks

    def would_win(self, number: int, rank: bytes) -> bool:
        """Return whether a capture would replace those so far."""
        return self._ranks.get(number, b"") < rank

    def add(self, number: int, url: str, rank: bytes, *, counted: bool = True) -> bool:
        """Add a capture; return whether it counts so far.

        Parameters
        ----------
        number : int
            page_id of its address.
        url : str
            Address used in its reject: the same for all captures of an address.
        rank : bytes
        counted : bool, default True
            Whether it is reported as a reject where it does not count.
        """
        known = self._ranks.get(number)
        wins = known is None or known < rank
        loser, is_counted = (known, number not in self._uncounted) if wins else (rank, counted)
        if loser is not None and is_counted:
            self._older.append(_Older(number, url, loser))
        if wins:
            self._ranks[number] = rank
            (self._uncounted.discard if counted else self._uncounted.add)(number)
        return wins

    def confirm(self, number: int, moment: datetime | None) -> None:
        """Record that a later visit found the current capture unchanged."""
        self._ranks[number] = _date(moment) + self._ranks[number][8:]

    def is_after(self, number: int, moment: datetime | None) -> bool:
        """Return whether the current capture is of a later moment."""
        known = self._ranks.get(number)
        return known is not None and known[_DATE] > _date(moment)

    def is_page(self, number: int, moment: datetime | None = None, digest: bytes = b"") -> bool:
        """Return whether the current capture is a page, optionally of this moment and with this body."""
        known = self._ranks.get(number)
        if known is None or known[_KIND] != Kind.PAGE:
            return False
        return (moment is None or known[_DATE] == _date(moment)) and (not digest or known[_DIGEST] == digest)

    def numbers(self, pages: Iterable[int]) -> Iterator[int]:
        """Yield the `capture_number` of the current captures of some addresses."""
        return (capture_number(self._ranks[number]) for number in pages)

    def pages(self) -> Iterator[int]:
        """Yield the addresses that have a page."""
        return (number for number, known in self._ranks.items() if known[_KIND] == Kind.PAGE)

    def rejects(self) -> Iterator[Reject]:
        """Yield a reject for each capture that does not count.

        ``older-capture``, or ``duplicate-url`` without dates. The detail says whether the page was the same, or the
        kind of a capture that is not a page.
        """
        for number, url, old in self._older:
            known = self._ranks[number]
            if old[_KIND] < Kind.EMPTY:
                detail = Kind(old[_KIND]).name.lower()
            else:  # whether an older capture was parsed, and found to be empty, depends on the order
                is_same = known[_KIND] >= Kind.EMPTY and old[_DIGEST] == known[_DIGEST]
                detail = "same" if is_same else "changed"
            yield Reject(url, "ingest", "duplicate-url" if old[_DATE] == known[_DATE] else "older-capture", detail)
