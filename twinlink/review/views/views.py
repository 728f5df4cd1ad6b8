"""The four views of a pair: look, text, tags, sentences; long views are divided into parts."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import msgspec
from msgspec.structs import replace

from twinlink.review.reading.snapshot import Snapshot
from twinlink.review.records import Compared, Page
from twinlink.review.views.tags import tags_side_by_side
from twinlink.review.views.text import Cell, Row, side_by_side

PART = 400
"""Rows per part: browsers are slow to lay out larger tables."""

_LONG_MENU = 5  # rows before the heading from which on they are folded
_LEAST_HEADING = 3  # characters; Chinese headings are short


class View(msgspec.Struct, frozen=True):
    """A view of a pair, for a template."""

    name: str
    rows: Sequence[Any] = ()
    part: int = 1
    n_parts: int = 1
    whole: Any = None
    """Summary of the view, such as the number of common tags."""
    start: int = -1
    """Row of the heading, after the menus; -1: not known."""
    checks: Sequence[Compared] = ()
    """With the tags: the distances of the two pages, and their bounds."""

    @property
    def menus(self) -> Sequence[Any]:
        """Return the rows before the heading, if they are so many that they fill a screen."""
        return self.rows[: self.start] if self.start >= _LONG_MENU else ()


def view_of(tables: Snapshot, a: Page, b: Page, name: str, part: int) -> View:
    """Return a view of a pair, or one part of it."""
    if name == "text":
        return _text(tables, a, b, part)
    if name == "tags":
        return _tags(tables, a, b, part)
    if name == "sentences":
        return _parted(name, tables.segments(a.url, b.url), part)
    return View(name)


def _text(tables: Snapshot, a: Page, b: Page, part: int) -> View:
    view = _parted("text", side_by_side(a, b, tables.segments(a.url, b.url)), part)
    return replace(view, start=_heading(view.rows, a, b))


def _heading(rows: Sequence[Row], a: Page, b: Page) -> int:
    """Return the row of the longest block that also occurs in a page's title, usually the heading; -1: none."""
    sizes = [max(_in_title(row.a, a), _in_title(row.b, b)) for row in rows]
    longest = max(sizes, default=0)
    return sizes.index(longest) if longest else -1


def _in_title(cells: Sequence[Cell], page: Page) -> int:
    texts = (page.blocks[cell.block] for cell in cells)
    return max((len(text) for text in texts if len(text) >= _LEAST_HEADING and text in page.title), default=0)


def _tags(tables: Snapshot, a: Page, b: Page, part: int) -> View:
    view = tags_side_by_side(a.tags, b.tags)
    return replace(_parted("tags", view.rows, part, view), checks=tables.checks(a.page_id, b.page_id))


def _parted(name: str, rows: Sequence[Any], part: int, whole: Any = None) -> View:
    n_parts = max(ceil(len(rows) / PART), 1)
    part = min(max(part, 1), n_parts)
    return View(name, rows[(part - 1) * PART : part * PART], part, n_parts, whole)
