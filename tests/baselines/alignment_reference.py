"""The alignment of two linearised pages as printed: slow, plain, and there to test the fast twin against.

Tokens are as in `twinlink.baselines.alignment`: above 0 a chunk's length, below 0 a tag.
"""

from __future__ import annotations

from collections.abc import Sequence

GAP = 1
MISMATCH = 2


def cost_table(a: Sequence[int], b: Sequence[int]) -> list[list[int]]:
    """Cost of the best alignment of ``a[i:]`` and ``b[j:]`` for each (i, j); W is the first entry of all.

    Examples
    --------
    >>> cost_table([-1, 20, -2], [-1, 30])
    [[1, 2, 3], [2, 1, 2], [3, 2, 1], [2, 1, 0]]
    """
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a), -1, -1):
        for j in range(len(b), -1, -1):
            ways = []
            if i < len(a):
                ways.append(GAP + table[i + 1][j])
            if j < len(b):
                ways.append(GAP + table[i][j + 1])
            if i < len(a) and j < len(b):
                ways.append((0 if _match(a[i], b[j]) else MISMATCH) + table[i + 1][j + 1])
            table[i][j] = min(ways, default=0)
    return table


def align_chunks(a: Sequence[int], b: Sequence[int]) -> tuple[int, list[tuple[int, int]]]:
    """W, and the places of aligned chunks.

    From the first tokens on: two that match are partners; else that of ``b`` stays alone if this costs nothing; else
    that of ``a``. A mismatch costs two gaps, so none is needed.

    Examples
    --------
    >>> align_chunks([-1, 20, -2, 5], [-1, 30, 6])
    (1, [(1, 1), (3, 2)])
    """
    table = cost_table(a, b)
    pairs = []
    i = j = 0
    while i < len(a) and j < len(b):
        if _match(a[i], b[j]):
            if a[i] > 0:
                pairs.append((i, j))
            i, j = i + 1, j + 1
        elif table[i][j] == GAP + table[i][j + 1]:
            j += 1
        else:
            i += 1
    return table[0][0], pairs


def _match(x: int, y: int) -> bool:
    return x == y or (x > 0 and y > 0)
