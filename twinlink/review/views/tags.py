"""The start tags of two pages side by side, aligned by their longest common subsequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

MAX_TAGS = 20_000
"""Tags compared per page; aligning two pages of this length takes 50 MB."""

_SHOWN_AROUND = 3
_MIN_FOLDED = 12  # consecutive equal tags that are folded into one row
_MAX_INDENT = 24

# Start tags have no depth. A key opens a level; the tags in its value can only be its direct children.
_CONTAINERS = frozenset(
    "body main article section nav aside header footer div form fieldset ul ol menu dl table tbody thead tfoot tr td"
    " th li dd dt blockquote figure select".split()
)
_STANDS_IN = {
    "tr": ("tbody", "thead", "tfoot", "table"),
    "td": ("tr",),
    "th": ("tr",),
    "tbody": ("table",),
    "thead": ("table",),
    "tfoot": ("table",),
    "caption": ("table",),
    "colgroup": ("table",),
    "li": ("ul", "ol", "menu"),
    "dt": ("dl",),
    "dd": ("dl",),
    "option": ("select",),
    "optgroup": ("select",),
    "main": ("body",),
}
_TOP = frozenset(("html", "head", "body"))


class TagRow(NamedTuple):
    """A tag of each page, a tag of one page, or several equal tags."""

    a: str
    """Name; empty if the page has no tag in this row."""
    b: str
    indent_a: int
    """Levels of indentation; a guess, since start tags do not show where elements end."""
    indent_b: int
    kind: str
    """``equal``, ``other`` (different tags), ``only_a``, ``only_b`` or ``folded``."""
    times: int
    """Number of tags per page in the row: 1, or more in a folded row."""


class TagView(NamedTuple):
    """The tags of two pages, aligned."""

    rows: tuple[TagRow, ...]
    common: int
    """Length of the common sequence."""
    compared_a: int
    compared_b: int
    """Number of tags compared."""
    left_a: int
    left_b: int
    """Number of tags beyond the first `MAX_TAGS`, which were not compared."""

    @property
    def distance(self) -> int:
        """Number of insertions and deletions that turn the tags of one page into those of the other."""
        return self.compared_a + self.compared_b - 2 * self.common

    @property
    def share(self) -> float:
        """Similarity of the tags: ``2 common / (compared_a + compared_b)``, 1 for two empty pages."""
        total = self.compared_a + self.compared_b
        return 2 * self.common / total if total else 1.0


def tags_side_by_side(tags_a: Sequence[str], tags_b: Sequence[str], folds: bool = True) -> TagView:
    """Align the tags of two pages.

    Parameters
    ----------
    tags_a, tags_b : sequence of str
        Names of the start tags in document order.
    folds : bool
        Whether long stretches of equal tags become one row, except the tags next to a difference.

    Examples
    --------
    >>> view = tags_side_by_side(["html", "body", "p", "a"], ["html", "body", "ul", "li", "a"])
    >>> for row in view.rows: print(row.a.ljust(5), row.b.ljust(5), row.kind)
    html  html  equal
    body  body  equal
    p     ul    other
          li    only_b
    a     a     equal
    """
    a, b = tuple(tags_a[:MAX_TAGS]), tuple(tags_b[:MAX_TAGS])
    indents_a, indents_b = _indents(a), _indents(b)
    rows: list[TagRow] = []
    common = 0
    for is_equal, (start_a, end_a), (start_b, end_b) in _stretches(a, b):
        common += (end_a - start_a) * is_equal
        kind = "equal" if is_equal else "other"
        stretch = list(_rows(a[start_a:end_a], b[start_b:end_b], indents_a[start_a:], indents_b[start_b:], kind))
        at_edge = (start_a == start_b == 0, end_a == len(a) and end_b == len(b))
        rows += _folded(stretch, *at_edge) if is_equal and folds else stretch
    return TagView(tuple(rows), common, len(a), len(b), len(tags_a) - len(a), len(tags_b) - len(b))


_Stretch = tuple[bool, tuple[int, int], tuple[int, int]]


def _stretches(a: Sequence[str], b: Sequence[str]) -> Iterator[_Stretch]:
    """Yield stretches of equal and of different tags alternately."""
    start: tuple[int, int] | None = None
    for code in LCSseq.opcodes(a, b):
        if code.tag == "equal":
            if start is not None:
                yield False, (start[0], code.src_start), (start[1], code.dest_start)
                start = None
            yield True, (code.src_start, code.src_end), (code.dest_start, code.dest_end)
        elif start is None:
            start = (code.src_start, code.dest_start)
    if start is not None:
        yield False, (start[0], len(a)), (start[1], len(b))


def _rows(
    a: Sequence[str], b: Sequence[str], indents_a: Sequence[int], indents_b: Sequence[int], kind: str
) -> Iterator[TagRow]:
    for place in range(max(len(a), len(b))):
        in_a, in_b = place < len(a), place < len(b)
        yield TagRow(
            a[place] if in_a else "",
            b[place] if in_b else "",
            indents_a[place] if in_a else 0,
            indents_b[place] if in_b else 0,
            kind if in_a and in_b else "only_a" if in_a else "only_b",
            1,
        )


def _folded(rows: list[TagRow], at_start: bool, at_end: bool) -> list[TagRow]:
    """Fold the middle of a stretch of equal tags into one row."""
    head = 0 if at_start else _SHOWN_AROUND
    tail = 0 if at_end else _SHOWN_AROUND
    n_folded = len(rows) - head - tail
    if n_folded < _MIN_FOLDED:
        return rows
    first = rows[head]
    fold = TagRow("", "", first.indent_a, first.indent_b, "folded", n_folded)
    return [*rows[:head], fold, *rows[len(rows) - tail :]]


def _indents(tags: Sequence[str]) -> list[int]:
    """Guess the depth of each tag: a tag that needs a certain parent is placed in the last such element."""
    stack: list[str] = []
    indents = []
    for tag in tags:
        if tag in _TOP:
            stack = ["html"] if tag != "html" and stack else []
        parents = _STANDS_IN.get(tag, ())
        for place in range(len(stack) - 1, -1, -1):
            if stack[place] in parents:
                del stack[place + 1 :]
                break
        indents.append(min(len(stack), _MAX_INDENT))
        if tag in _TOP or tag in _CONTAINERS:
            del stack[_MAX_INDENT:]
            stack.append(tag)
    return indents
