"""Compiled edit distance of token lists; input arrays are not checked.

Costs are integers: a gap (one insertion or deletion) costs ``gap`` units, replacing costs c ≤ 2·gap. What it saves
over a deletion and an insertion is its weight 2·gap − c, and with n and m tokens::

    distance = (n + m)·gap − largest total weight of an alignment

so that a step of the table is two comparisons and one sum. A distance of at most ``limit`` needs a band of the table
only (Ukkonen 1985): with n ≤ m, an alignment of that cost leaves the diagonals from 0 to m − n by at most
(limit/gap − (m − n))/2. Without a limit the band is doubled until the distance lies within. One row of the table is
kept.

`twinlink.baselines.tag_distance` calls this module.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import compiled

__all__ = ["FAR", "RATIO", "TENTHS", "THRESHOLD", "Lists", "edit_distances"]

TENTHS = 0
"""Replacing text of x words by text of y costs |x − y| units, tag by tag and tag by text a gap."""
RATIO = 1
"""Replacing text of x characters by text of y costs |x − y|/max(x, y) of a gap, tag by tag a gap, tag by text never."""
THRESHOLD = 2
"""As `RATIO`, but texts cost nothing where that ratio is at most the tolerance, else a gap."""

FAR = 2**62
"""Stands for every distance over the limit."""

_LEAST_BAND = 16
_ROWS_BETWEEN_CHECKS = 16

Lists = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Where each list starts (and the last one ends), and all tokens."""
Row = NDArray[np.int64]


@compiled
def _replace(
    token: int, others: NDArray[np.int32], form: int, gap: int, tolerance: float, before: Row, above: Row, best: Row
) -> None:
    """Put the larger of ``above[k]`` and ``before[k]`` + weight of replacing ``token`` by ``others[k]`` into ``best``.

    What would cost more than two gaps weighs nothing: a deletion and an insertion do the same.
    """
    mixed = gap if form == TENTHS else 0
    if token < 0:
        for k in range(len(others)):
            weight = mixed if others[k] >= 0 else (2 * gap if others[k] == token else gap)
            best[k] = max(above[k], before[k] + weight)
    elif form == TENTHS:
        for k in range(len(others)):
            weight = mixed if others[k] < 0 else max(0, 2 * gap - abs(token - others[k]))
            best[k] = max(above[k], before[k] + weight)
    elif form == RATIO:
        for k in range(len(others)):
            ratio = abs(token - others[k]) / max(token, others[k], 1)
            weight = mixed if others[k] < 0 else 2 * gap - int(ratio * gap + 0.5)
            best[k] = max(above[k], before[k] + weight)
    else:
        for k in range(len(others)):
            near = abs(token - others[k]) <= tolerance * max(token, others[k])
            weight = mixed if others[k] < 0 else (2 * gap if near else gap)
            best[k] = max(above[k], before[k] + weight)


@compiled
def _too_far(weights: Row, first: int, i: int, n: int, m: int, gap: int, limit: int) -> bool:
    """Whether every alignment that goes through row i of the band costs more than the limit."""
    for k in range(len(weights)):
        j = first + k
        if (i + j + abs((n - i) - (m - j))) * gap - weights[k] <= limit:
            return False
    return True


@compiled
def _distance_within(
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    form: int,
    gap: int,
    tolerance: float,
    limit: int,
    row: Row,
    best: Row,
) -> int:
    """Distance of two lists, the first one not longer, if it is at most ``limit``; else a value above it."""
    n, m = len(x), len(y)
    if (m - n) * gap > limit:
        return FAR
    below = (limit // gap - (m - n)) // 2
    above = below + m - n
    # Beside the band the row holds weights of earlier rows, or 0: alignments that exist, if not the best ones.
    row[: m + 1] = 0
    for i in range(1, n + 1):
        first, last = max(1, i - below), min(m, i + above)
        _replace(x[i - 1], y[first - 1 : last], form, gap, tolerance, row[first - 1 : last], row[first:], best)
        left = row[first - 1]
        for k in range(last - first + 1):
            left = max(left, best[k])
            row[first + k] = left
        if i % _ROWS_BETWEEN_CHECKS == 0 and _too_far(row[first : last + 1], first, i, n, m, gap, limit):
            return FAR
    return int((n + m) * gap - row[m])


@compiled
def _distance(
    x: NDArray[np.int32],
    y: NDArray[np.int32],
    form: int,
    gap: int,
    tolerance: float,
    limit: int,
    row: Row,
    best: Row,
) -> int:
    """Distance of two lists if it is at most ``limit``, else `FAR`; the band grows as far as it must."""
    if len(x) > len(y):
        x, y = y, x
    largest = min(limit, (len(x) + len(y)) * gap)
    trial = min(largest, max(_LEAST_BAND, 2 * (len(y) - len(x))) * gap)
    while True:
        found = _distance_within(x, y, form, gap, tolerance, trial, row, best)
        if found <= trial:
            return found
        if trial >= largest:
            return FAR
        trial = min(largest, 2 * trial)


@compiled
def edit_distances(
    a: Lists,
    b: Lists,
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    limits: NDArray[np.int64],
    form: int,
    gap: int,
    tolerance: float,
) -> NDArray[np.int64]:
    """Distance of list i of ``a`` and list j of ``b``, each pair (i, j) of a pattern; `FAR` over the pair's limit."""
    a_starts, a_tokens = a
    b_starts, b_tokens = b
    longest = 0
    for i in range(len(a_starts) - 1):
        longest = max(longest, a_starts[i + 1] - a_starts[i])
    for j in range(len(b_starts) - 1):
        longest = max(longest, b_starts[j + 1] - b_starts[j])
    row, best = np.empty(longest + 1, np.int64), np.empty(longest + 1, np.int64)
    result = np.empty(len(columns), np.int64)
    for i in range(len(starts) - 1):
        x = a_tokens[a_starts[i] : a_starts[i + 1]]
        for pair in range(starts[i], starts[i + 1]):
            j = columns[pair]
            y = b_tokens[b_starts[j] : b_starts[j + 1]]
            result[pair] = _distance(x, y, form, gap, tolerance, limits[pair], row, best)
    return result
