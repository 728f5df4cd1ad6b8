"""Compiled loop of the tag aligner; input arrays are not checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import compiled

__all__ = ["partners"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
BOTH, FIRST, SECOND = 0, 1, 2


@compiled
def partners(  # noqa: C901  (one loop over the cells, one back)
    kinds_a: Ints,
    sizes_a: Floats,
    gaps_a: Floats,
    kinds_b: Ints,
    sizes_b: Floats,
    gaps_b: Floats,
    swaps: Floats,
    categories: Ints,
    text_weight: float,
    low: Ints,
    high: Ints,
) -> tuple[float, Ints]:
    """Cost of the cheapest alignment of two token sequences, and the partner in b of each token of a, -1: none.

    ``kinds`` is the code of a tag, or -1 for a text, whose length stands in ``sizes``; ``gaps`` is what a token costs
    without partner. Two equal tags cost 0, two others ``swaps`` of their ``categories``, two texts ``text_weight``
    times the difference of their lengths; a tag and a text are never partners. Of equal ways the one that takes two
    tokens together, at the end of the pages, goes first, then the one that leaves out a token of a. Rows of the band
    have the cells ``low[i] <= j < high[i]``.
    """
    n = len(kinds_a)
    start = np.zeros(n + 2, np.int64)
    start[1:] = np.cumsum(high - low)
    moves = np.zeros(start[-1], np.uint8)
    width = np.max(high - low)
    above, here = np.full(width, np.inf), np.full(width, np.inf)
    for i in range(n + 1):
        above, here = here, above
        for j in range(low[i], high[i]):
            best, move = np.inf, BOTH
            if i == 0 and j == 0:
                best = 0.0
            if i > 0 and j > 0 and low[i - 1] <= j - 1 < high[i - 1]:
                x, y = kinds_a[i - 1], kinds_b[j - 1]
                cost = np.inf
                if x == y:
                    cost = text_weight * abs(sizes_a[i - 1] - sizes_b[j - 1]) if x < 0 else 0.0
                elif x >= 0 and y >= 0:
                    cost = swaps[categories[x], categories[y]]
                best = above[j - 1 - low[i - 1]] + cost
            if i > 0 and low[i - 1] <= j < high[i - 1] and above[j - low[i - 1]] + gaps_a[i - 1] < best:
                best, move = above[j - low[i - 1]] + gaps_a[i - 1], FIRST
            if j > low[i] and here[j - 1 - low[i]] + gaps_b[j - 1] < best:
                best, move = here[j - 1 - low[i]] + gaps_b[j - 1], SECOND
            here[j - low[i]] = best
            moves[start[i] + j - low[i]] = move
    total = here[high[n] - 1 - low[n]]
    found = np.full(n, -1, np.int64)
    i, j = n, high[n] - 1
    while i > 0 or j > 0:
        move = moves[start[i] + j - low[i]]
        if move == BOTH:
            found[i - 1] = j - 1
        i -= move != SECOND
        j -= move != FIRST
    return total, found
