"""Compiled loops of the word model; input arrays are not checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import compiled

__all__ = ["expected_links", "rows_between"]

Ints = NDArray[np.int64]
Words = NDArray[np.int32]
Floats = NDArray[np.float64]


@compiled
def rows_between(starts: Ints, columns: Words, values: Floats, rows: Ints, place: Words) -> tuple[Ints, Words, Floats]:
    """Take some rows of a sparse matrix and of them the columns that have a place; a row of -1 is empty."""
    new_starts = np.zeros(len(rows) + 1, np.int64)
    for r in range(len(rows)):
        new_starts[r + 1] = new_starts[r]
        if rows[r] >= 0:
            for at in range(starts[rows[r]], starts[rows[r] + 1]):
                new_starts[r + 1] += place[columns[at]] >= 0
    new_columns, new_values = np.empty(new_starts[-1], np.int32), np.empty(new_starts[-1])
    to = 0
    for r in range(len(rows)):
        if rows[r] >= 0:
            for at in range(starts[rows[r]], starts[rows[r] + 1]):
                if place[columns[at]] >= 0:
                    new_columns[to], new_values[to] = place[columns[at]], values[at]
                    to += 1
    return new_starts, new_columns, new_values


@compiled
def expected_links(
    words_x: Words,
    words_y: Words,
    starts: Ints,
    to: Words,
    gain: NDArray[np.float32],
    base: NDArray[np.float32],
    share: float,
    row: Floats,
) -> Floats:
    """Chance that each word of y comes from each word of x, shape (x, y); a column sums up to 1 less the empty word.

    ``row`` is scratch of the size of the vocabulary of y, all 0, and is given back so.
    """
    links = np.empty((len(words_x), len(words_y)))
    for i in range(len(words_x)):
        e = words_x[i]
        for at in range(starts[e], starts[e + 1]):
            row[to[at]] = gain[at]
        for j in range(len(words_y)):
            links[i, j] = (base[e] + row[words_y[j]]) * share / len(words_x)
        for at in range(starts[e], starts[e + 1]):
            row[to[at]] = 0.0
    for j in range(len(words_y)):
        total = 1 - share
        for i in range(len(words_x)):
            total += links[i, j]
        for i in range(len(words_x)):
            links[i, j] /= total
    return links
