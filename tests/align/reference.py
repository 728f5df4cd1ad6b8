"""The loops of `twinlink.align.kernels` once more, plain and slow: what the tests compare with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

__all__ = ["bead_posteriors", "best_beads", "explained", "gale_church_score", "length_score", "tag_cost"]

Shape = tuple[int, int]
Score = Callable[[int, int, Shape], float]
"""Score of the bead of a shape that ends after i sentences of a and j of b."""


def best_beads(n: int, m: int, shapes: Sequence[Shape], score: Score) -> tuple[float, list[Shape]]:
    """Find the sequence of beads over n and m sentences whose scores add up to most."""
    best: dict[Shape, tuple[float, list[Shape]]] = {(0, 0): (0.0, [])}
    for i in range(n + 1):
        for j in range(m + 1):
            for shape in shapes:
                before = best.get((i - shape[0], j - shape[1]))
                if before is not None:
                    total = before[0] + score(i, j, shape)
                    if total > best.get((i, j), (-math.inf, []))[0]:
                        best[i, j] = (total, [*before[1], shape])
    return best.get((n, m), (-math.inf, []))


def bead_posteriors(
    n: int, m: int, shapes: Sequence[Shape], score: Score
) -> tuple[float, dict[tuple[int, int, Shape], float]]:
    """Sum exp(score) over all sequences of beads, one by one; give its log and the share of those with each bead."""
    total = 0.0
    shares: dict[tuple[int, int, Shape], float] = {}

    def walk(i: int, j: int, weight: float, beads: list[tuple[int, int, Shape]]) -> None:
        nonlocal total
        if (i, j) == (n, m):
            total += weight
            for bead in beads:
                shares[bead] = shares.get(bead, 0.0) + weight
        for shape in shapes:
            x, y = i + shape[0], j + shape[1]
            if x <= n and y <= m:
                walk(x, y, weight * math.exp(score(x, y, shape)), [*beads, (x, y, shape)])

    walk(0, 0, 1.0, [])
    return math.log(total), {bead: share / total for bead, share in shares.items()}


def gale_church_score(length_a: float, length_b: float, prior: float, ratio: float, variance: float) -> float:
    """Log P(shape) + log 2(1 - Φ(|δ|))."""
    mean = max((length_a + length_b / ratio) / 2, 1.0)
    delta = abs(length_b - length_a * ratio) / math.sqrt(mean * variance)
    return math.log(prior) + math.log(math.erfc(delta / math.sqrt(2)))


def length_score(
    lengths_a: Sequence[float],
    lengths_b: Sequence[float],
    alone_a: Sequence[float],
    alone_b: Sequence[float],
    model: tuple[float, float, float],
) -> float:
    """Log p(d) - (log p_a + log p_b)/2 of a bead with both sides; ``alone`` is log p(x) - x of each sentence."""
    mean, variance, least = model
    total_a, total_b = sum(lengths_a), sum(lengths_b)
    spread = variance / ((total_a + total_b) / 2)
    d = math.log(total_b / total_a) - mean
    density = math.exp(-d * d / (2 * spread)) / math.sqrt(2 * math.pi * spread) + least
    by_chance = 0.0
    for lengths, alone, total in ((lengths_a, alone_a, total_a), (lengths_b, alone_b, total_b)):
        n = len(lengths)
        by_chance += sum(alone) + n * math.log(total) - math.log(math.factorial(n - 1))
    return math.log(density) - by_chance / 2


def explained(
    words_x: Sequence[int],
    words_y: Sequence[int],
    base: Sequence[float],
    gain: Mapping[tuple[int, int], float],
    share: float,
) -> float:
    """Σ_f log(1 - share + share · mean_e (base[e] + gain[e, f])) over the words f of y and e of x."""
    if not words_x:
        return 0.0
    return sum(
        math.log(1 - share + share * sum(base[e] + gain.get((e, f), 0.0) for e in words_x) / len(words_x))
        for f in words_y
    )


def tag_cost(
    a: Sequence[tuple[int, float]],
    b: Sequence[tuple[int, float]],
    gap: Callable[[tuple[int, float]], float],
    swap: Callable[[int, int], float],
    text_weight: float,
) -> float:
    """Cost of the cheapest alignment of two sequences of (tag code, or -1 for a text; length), by plain recursion."""
    if not a or not b:
        return sum(map(gap, [*a, *b]))
    (x, size_x), (y, size_y) = a[-1], b[-1]
    both = math.inf
    if x < 0 and y < 0:
        both = text_weight * abs(size_x - size_y)
    elif x >= 0 and y >= 0:
        both = 0.0 if x == y else swap(x, y)
    return min(
        both + tag_cost(a[:-1], b[:-1], gap, swap, text_weight),
        gap(a[-1]) + tag_cost(a[:-1], b, gap, swap, text_weight),
        gap(b[-1]) + tag_cost(a, b[:-1], gap, swap, text_weight),
    )
