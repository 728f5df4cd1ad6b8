"""Algorithms 1 to 3 of Liu et al. 2014 as printed: slow, plain, and there to test the fast twins against.

A similarity matrix is a dict from (row, column) to score, a neighbour matrix a list of sets. A pair that is not in the
dict is no candidate. Equal scores are taken by row, then column.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set

import numpy as np
from scipy.sparse import csr_array

__all__ = ["as_dict", "as_sets", "enhanced_similarity", "external_similarity", "greedy_matching"]

Pair = tuple[int, int]


def as_dict(matrix: csr_array) -> dict[Pair, float]:
    """Return the stored entries of a similarity matrix, explicit zeros included."""
    entries = matrix.tocoo()
    rows, columns = (index.tolist() for index in entries.coords)
    return dict(zip(zip(rows, columns, strict=True), entries.data.tolist(), strict=True))


def as_sets(neighbours: csr_array) -> list[set[int]]:
    """Return the neighbours of each page."""
    return [set(pages.tolist()) for pages in np.split(neighbours.indices, neighbours.indptr[1:-1])]


def external_similarity(
    scores: Mapping[Pair, float],
    source_neighbours: Sequence[Set[int]],
    target_neighbours: Sequence[Set[int]],
    rarity: bool = False,
) -> dict[Pair, float]:
    """Algorithm 1 for every candidate: ``2 * sum(greedy matching of N(e) and N(c)) / (|N(e)| + |N(c)|)``.

    With ``rarity`` a neighbour x counts ``log((n + 1) / (1 + |N(x)|))`` times, a pair of them its geometric mean.

    Examples
    --------
    >>> external_similarity({(0, 0): 0.5, (1, 1): 1.0}, [{1}, {0}], [{1}, {0}])
    {(0, 0): 1.0, (1, 1): 0.5}
    """
    weights = [_weights(side, rarity) for side in (source_neighbours, target_neighbours)]
    return {
        (e, c): _similarity_of_sets(scores, source_neighbours[e], target_neighbours[c], *weights) for e, c in scores
    }


def enhanced_similarity(
    internal: Mapping[Pair, float],
    source_neighbours: Sequence[Set[int]],
    target_neighbours: Sequence[Set[int]],
    alpha: float,
    rounds: int,
) -> dict[Pair, float]:
    """Algorithm 2: ``ETS_i = alpha * S_ext(ETS_{i-1}) + (1 - alpha) * S_in``, starting with ``ETS_0 = S_in``."""
    scores = dict(internal)
    for _ in range(rounds):
        external = external_similarity(scores, source_neighbours, target_neighbours)
        scores = {pair: _as_float32((1.0 - alpha) * internal[pair] + alpha * external[pair]) for pair in internal}
    return scores


def greedy_matching(scores: Mapping[Pair, float], max_pairs: int, min_score: float) -> list[Pair]:
    """Algorithm 3: the best pair of the pages that are left, until there are enough or the best is not good enough."""
    pairs: list[Pair] = []
    left = set(scores)
    while left and len(pairs) < max_pairs:
        x, y = min(left, key=lambda pair: (-scores[pair], pair))
        if scores[x, y] < min_score:
            break
        pairs.append((x, y))
        left = {(a, b) for a, b in left if a != x and b != y}
    return pairs


def _weights(neighbours: Sequence[Set[int]], rarity: bool) -> list[float]:
    n_pages = len(neighbours)
    return [math.log((n_pages + 1) / (1 + len(near))) if rarity else 1.0 for near in neighbours]


def _similarity_of_sets(
    scores: Mapping[Pair, float],
    e_set: Set[int],
    c_set: Set[int],
    e_weights: Sequence[float],
    c_weights: Sequence[float],
) -> float:
    size = sum(e_weights[x] for x in sorted(e_set)) + sum(c_weights[y] for y in sorted(c_set))
    if not size:
        return 0.0
    left = {(x, y): scores[x, y] for x in e_set for y in c_set if (x, y) in scores}
    matched = greedy_matching(left, len(left), 0.0)
    total = 0.0
    # In page order, and not by sum(), which rounds otherwise from Python 3.12 on: equal sums must be equal in the
    # kernel too.
    for x, y in sorted(matched):
        total += math.sqrt(e_weights[x]) * math.sqrt(c_weights[y]) * scores[x, y]
    return _as_float32(2.0 * total / size)


def _as_float32(value: float) -> float:
    """Round to the precision that the matrices keep, so that two scores are equal here if they are equal there."""
    return float(np.float32(value))
