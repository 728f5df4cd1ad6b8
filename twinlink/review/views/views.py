"""The four views of a pair: look, text, tags, sentences; long ones in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from twinlink.review.reading.snapshot import Snapshot
from twinlink.review.records import Page
from twinlink.review.views.tags import tags_side_by_side
from twinlink.review.views.text import Cell, Row, side_by_side

__all__ = ["PART", "View", "view_of"]

PART = 400
"""Rows that are shown at once: a page that is one huge table must not hold up its reader."""

_LEAST_HEADING = 3  # characters; Chinese headings are short


@dataclass(frozen=True)
class View:
    """What a template needs for a view."""

    name: str
    rows: Sequence[Any] = ()
    part: int = 1
    n_parts: int = 1
    whole: Any = None
    """What the view says of the pages as a whole."""
    start: int = -1
    """Row at which the reading begins, behind menus; -1: not known."""


def view_of(tables: Snapshot, a: Page, b: Page, name: str, part: int) -> View:
    """Return a view of a pair, or one part of it."""
    if name == "text":
        return _text(tables, a, b, part)
    if name == "tags":
        return _tags(a, b, part)
    if name == "sentences":
        return _parted(name, tables.segments(a.url, b.url), part)
    return View(name)


def _text(tables: Snapshot, a: Page, b: Page, part: int) -> View:
    view = _parted("text", side_by_side(a, b, tables.segments(a.url, b.url)), part)
    return replace(view, start=_heading(view.rows, a, b))


def _heading(rows: Sequence[Row], a: Page, b: Page) -> int:
    """Return the first row with the longest text that stands in a page's title, too: most often its heading."""
    sizes = [max(_in_title(row.a, a), _in_title(row.b, b)) for row in rows]
    longest = max(sizes, default=0)
    return sizes.index(longest) if longest else -1


def _in_title(cells: Sequence[Cell], page: Page) -> int:
    texts = (page.blocks[cell.block] for cell in cells)
    return max((len(text) for text in texts if len(text) >= _LEAST_HEADING and text in page.title), default=0)


def _tags(a: Page, b: Page, part: int) -> View:
    view = tags_side_by_side(a.tags, b.tags)
    return _parted("tags", view.rows, part, view)


def _parted(name: str, rows: Sequence[Any], part: int, whole: Any = None) -> View:
    n_parts = max(ceil(len(rows) / PART), 1)
    part = min(max(part, 1), n_parts)
    return View(name, rows[(part - 1) * PART : part * PART], part, n_parts, whole)
