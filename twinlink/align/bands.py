"""Bands: the cells of an alignment that are visited."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Band", "around", "first_band", "full_band", "next_band", "touches", "turned"]

Ints = NDArray[np.int64]


class Band(NamedTuple):
    """Cells ``low[i] <= j < high[i]`` of each row ``i``: bounds are nondecreasing."""

    low: Ints
    high: Ints

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return int(np.sum(self.high - self.low))

    @property
    def start(self) -> Ints:
        """Place of the first cell of each row, and the number of cells."""
        return np.concatenate([[0], np.cumsum(self.high - self.low)])


def full_band(n: int, m: int) -> Band:
    """Return all cells of ``n`` sentences against ``m``."""
    return Band(np.zeros(n + 1, np.int64), np.full(n + 1, m + 1, np.int64))


def around(rows: Ints, columns: Ints, n: int, m: int, width: int) -> Band:
    """Return the cells within ``width`` of a path, in both directions.

    Parameters
    ----------
    rows, columns : int arrays, both not decreasing
        Cells of the path; between them it goes straight.
    n, m : int
        Sentences of a and of b.
    width : int
        At least 1.

    Examples
    --------
    >>> band = around(np.array([0, 4]), np.array([0, 4]), 4, 4, 1)
    >>> band.low.tolist(), band.high.tolist()
    ([0, 0, 0, 1, 2], [3, 4, 5, 5, 5])
    """
    rows = np.concatenate([[0], rows, [n]])
    columns = np.concatenate([[0], columns, [m]])
    every = np.arange(n + 1)
    lowest = np.floor(_at(every - width, rows, columns, first=True)) - width
    highest = np.ceil(_at(every + width, rows, columns, first=False)) + width
    low = np.clip(lowest, 0, m).astype(np.int64)
    high = np.clip(highest, 0, m).astype(np.int64) + 1
    low[0], high[n] = 0, m + 1
    return Band(np.minimum.accumulate(low[::-1])[::-1], np.maximum.accumulate(high))


def _at(where: Ints, rows: Ints, columns: Ints, *, first: bool) -> NDArray[np.float64]:
    """Column of the path at each row; where it runs along a row, its first or its last one."""
    unique, places = np.unique(rows, return_index=True)
    if not first:
        places = np.append(places[1:], len(rows)) - 1
    return np.interp(where, unique, columns[places])


def turned(band: Band) -> tuple[Band, Ints]:
    """Return the same cells with the two sides swapped, and the place of each cell there.

    >>> other, order = turned(Band(np.array([0, 0]), np.array([2, 3])))
    >>> other.low.tolist(), other.high.tolist(), order.tolist()
    ([0, 0, 1], [2, 2, 2], [0, 2, 1, 3, 4])
    """
    m = int(band.high[-1]) - 1
    sizes = band.high - band.low
    rows = np.repeat(np.arange(len(sizes)), sizes)
    columns = np.arange(band.n_cells) - np.repeat(band.start[:-1] - band.low, sizes)
    low = np.searchsorted(band.high, np.arange(m + 1), side="right")
    high = np.searchsorted(band.low, np.arange(m + 1), side="right")
    other = Band(low.astype(np.int64), high.astype(np.int64))
    return other, other.start[columns] + rows - other.low[columns]


def first_band(anchors: Ints, n: int, m: int, width: int) -> Band:
    """Return the cells near the line through a consistent chain of anchors.

    Parameters
    ----------
    anchors : int64, shape (anchors, 2)
        Sentence pairs that may be partners; some are wrong. The longest chain increasing on both sides is used.
    n, m, width : int
    """
    chain = _longest_chain(anchors[np.lexsort((-anchors[:, 1], anchors[:, 0]))])
    return around(chain[:, 0], chain[:, 1], n, m, width)


def next_band(beads: Ints, n: int, m: int, width: int) -> Band:
    """Return the cells near an alignment's beads."""
    return around(beads[:, 1], beads[:, 3], n, m, width)


def touches(band: Band, beads: Ints) -> bool:
    """Return whether an alignment runs along the edge of the band, where better ones may lie outside."""
    rows, columns = beads[:, 1], beads[:, 3]
    m = band.high[-1] - 1
    lower = (columns <= band.low[rows]) & (band.low[rows] > 0)
    upper = (columns >= band.high[rows] - 1) & (band.high[rows] <= m)
    return bool(np.any(lower | upper))


def _longest_chain(anchors: Ints) -> Ints:
    """Longest chain that rises in both columns; ``anchors`` are sorted by the first, then downwards by the second."""
    ends: list[int] = []  # smallest last column of a chain of each length
    last: list[int] = []  # its last anchor
    before = np.full(len(anchors), -1)
    for at, column in enumerate(anchors[:, 1].tolist()):
        length = bisect_left(ends, column)
        before[at] = last[length - 1] if length else -1
        if length == len(ends):
            ends.append(column)
            last.append(at)
        else:
            ends[length], last[length] = column, at
    chain = []
    at = last[-1] if last else -1
    while at >= 0:
        chain.append(at)
        at = int(before[at])
    return anchors[chain[::-1]]
