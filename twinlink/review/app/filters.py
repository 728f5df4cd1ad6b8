"""The selection of pairs that a reviewer has made: order and filters, kept in the address of every page."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

import msgspec
from msgspec.structs import asdict, replace

from twinlink.review.reading.orders import ORDERS, Order

VIEWS = ("look", "text", "tags", "sentences")
"""In the order of their keys, 1 to 4."""

SHOWN = ("", "open", "accept", "reject")
"""Pairs in the queue by label: all, without a label, accepted, rejected."""

_FIRST_VIEW = "text"
_INT64 = 1 << 63
_MOST_DIGITS = 9  # more than any part number has


class Selection(msgspec.Struct, frozen=True):
    """An order of pairs, filters on them, and the view of a pair."""

    by: Order = "teach"
    site: str = ""
    langs: str = ""
    """Two languages as ``en zh-Hant``; empty: any."""
    show: str = ""
    """One of `SHOWN`."""
    view: str = _FIRST_VIEW
    """One of `VIEWS`."""
    live: bool = False
    """Whether pairs are reviewed as they are found."""

    def query(self, **more: str | int) -> str:
        """Return the query string of this selection, with the question mark; defaults are left out.

        >>> Selection(by="random").query(page=2), Selection().query()
        ('?by=random&page=2', '')
        """
        fields = {**self.fields(), **{name: value for name, value in more.items() if value not in {"", None}}}
        return f"?{urlencode(fields)}" if fields else ""

    def fields(self) -> dict[str, str]:
        """Return the values that differ from the defaults, for the hidden fields of a form."""
        usual = Selection()
        return {
            name: "1" if value is True else str(value)
            for name, value in asdict(self).items()
            if value != getattr(usual, name)
        }

    def seen_as(self, view: str) -> Selection:
        """Return the selection with another view."""
        return replace(self, view=view)


def selection_of(query: Mapping[str, str]) -> Selection:
    """Read a selection from a query or a form; unknown values are ignored."""
    by, show, view = query.get("by", ""), query.get("show", ""), query.get("view", "")
    return Selection(
        by=next((order for order in ORDERS if order == by), ORDERS[0]),
        site=query.get("site", "")[:300],
        langs=" ".join(query.get("langs", "").split()[:2])[:80],
        show=show if show in SHOWN else "",
        view=view if view in VIEWS else _FIRST_VIEW,
        live=query.get("live") == "1",
    )


def page_number(text: str) -> int | None:
    """Parse a page_id from an address; None if it is not a number.

    >>> page_number("-12"), page_number("../etc"), page_number("9" * 30), page_number("٣")
    (-12, None, None, None)
    """
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20):
        return None
    number = int(text)
    return number if -_INT64 <= number < _INT64 else None


def part_number(text: str) -> int:
    """Parse the number of a part, from 1, from an address; 1 if it is invalid.

    >>> part_number("12"), part_number("0"), part_number("-3"), part_number("9" * 30)
    (12, 1, 1, 1)
    """
    return max(int(text), 1) if text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS else 1
