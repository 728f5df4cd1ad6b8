"""The links among the pairs of a site as a matrix: legible for dense sites, where arcs cover each other.

Rows and columns are pairs. A cell is full if the pages of both languages link, and half full if only those of one do.
"""

from __future__ import annotations

from markupsafe import Markup

from twinlink.review.charts.facing import Facing
from twinlink.review.charts.svg import Alternative, document, element, words

__all__ = ["is_dense", "link_matrix_chart"]

MAX_LINKS_PER_PAIR = 6
"""More links than this per pair, in both languages together, are a tangle of arcs."""

_WIDTH, _EDGE, _LARGEST = 460, 28, 40


def is_dense(found: Facing) -> bool:
    """Return whether arcs would cover each other."""
    return len(found.links_a) + len(found.links_b) > MAX_LINKS_PER_PAIR * len(found.rows)


def link_matrix_chart(alternative: Alternative, found: Facing) -> Markup:
    """Draw the links among the shown pairs, each row a linking pair, each column a linked one, numbered from 1."""
    n = max(len(found.rows), 1)
    step = min((_WIDTH - _EDGE) / n, _LARGEST)
    in_a, in_b = ({(int(row), int(column)) for row, column in links} for links in (found.links_a, found.links_b))
    parts = []
    for number in range(n + 1):
        at, end = _EDGE + number * step, _EDGE + n * step
        parts.append(element("line", x1=_EDGE, x2=end, y1=at, y2=at, class_="grid"))
        parts.append(element("line", x1=at, x2=at, y1=_EDGE, y2=end, class_="grid"))
    every = 1 if step >= 14 else 5
    for number in range(len(found.rows)):
        if (number + 1) % every == 0 or number == 0:
            middle = _EDGE + (number + 0.5) * step
            parts.append(words(_EDGE - 5, middle + 4, str(number + 1), "end", "label tick"))
            parts.append(words(middle, _EDGE - 6, str(number + 1), "middle", "label tick"))
    parts += [_cell(row, column, step, in_a, in_b) for row, column in sorted(in_a | in_b)]
    return document(alternative, _WIDTH, round(_EDGE + n * step) + 2, parts)


def _cell(row: int, column: int, step: float, in_a: set[tuple[int, int]], in_b: set[tuple[int, int]]) -> str:
    left, top = _EDGE + column * step + 1, _EDGE + row * step + 1
    right, bottom = left + step - 2, top + step - 2
    if (row, column) in in_a and (row, column) in in_b:
        return element("rect", x=left, y=top, width=step - 2, height=step - 2, class_="bar")
    if (row, column) in in_a:
        return element("path", d=f"M{left:.1f} {top:.1f}H{right:.1f}L{left:.1f} {bottom:.1f}Z", class_="bar a")
    return element("path", d=f"M{right:.1f} {bottom:.1f}H{left:.1f}L{right:.1f} {top:.1f}Z", class_="bar b")
