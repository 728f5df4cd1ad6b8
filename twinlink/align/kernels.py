"""Compiled loops of the sentence alignment; input arrays are not checked.

A cell ``(i, j)`` stands for "i sentences of a and j sentences of b are done". Only the cells of a band are visited: row
``i`` has the cells ``low[i] <= j < high[i]``, stored row by row from ``start[i]``. A bead of shape
``k = (da, db)`` that ends in a cell scores ``scores[cell, k]``; beads outside the band or the texts score -inf.
Arrays with a value per cell and shape are float32, because they use most of the memory; sums are float64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import compiled

__all__ = [
    "best_path",
    "explain_words",
    "gale_church_scores",
    "length_scores",
    "path_sums",
    "row_starts",
    "span_scores",
    "spans_of",
    "withhold",
]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Scores = NDArray[np.float32]


@compiled
def row_starts(low: Ints, high: Ints) -> Ints:
    """First cell of each row of a band, and the number of all cells.

    A loop, for numba compiles an assignment to a part of an array, with the text of its error, for three seconds.
    """
    start = np.zeros(len(low) + 1, np.int64)
    for i in range(len(low)):
        start[i + 1] = start[i] + high[i] - low[i]
    return start


@compiled
def _log_add(x: float, y: float) -> float:
    if x < y:
        x, y = y, x
    return x if y == -np.inf else x + np.log1p(np.exp(y - x))


@compiled
def best_path(scores: Scores, shapes: Ints, low: Ints, high: Ints) -> tuple[float, Ints]:
    """Total score and shape numbers of the best sequence of beads from the first cell to the last (Viterbi).

    Ties go to the sequence whose last bead has the earlier shape, then the bead before it, and so on. Without any
    sequence the score is -inf and there are no beads.
    """
    n = len(low) - 1
    start = row_starts(low, high)
    best = np.full(start[-1], -np.inf)
    choice = np.full(start[-1], -1, np.int8)
    best[0] = 0.0
    for i in range(n + 1):
        for j in range(low[i], high[i]):
            cell = start[i] + j - low[i]
            for k in range(len(shapes)):
                p, q = i - shapes[k, 0], j - shapes[k, 1]
                if p < 0 or q < low[p] or q >= high[p]:
                    continue
                total = best[start[p] + q - low[p]] + scores[cell, k]
                if total > best[cell]:
                    best[cell] = total
                    choice[cell] = k
    cell = start[-1] - 1
    total = best[cell]
    beads = np.empty(n + high[n], np.int64)
    n_beads, i, j = 0, n, high[n] - 1
    while (i > 0 or j > 0) and choice[cell] >= 0:
        k = choice[cell]
        beads[n_beads] = k
        n_beads += 1
        i -= shapes[k, 0]
        j -= shapes[k, 1]
        cell = start[i] + j - low[i]
    return total, beads[:n_beads][::-1].copy()


@compiled
def path_sums(  # noqa: C901  (two loops over the same cells)
    scores: Scores, shapes: Ints, low: Ints, high: Ints
) -> tuple[float, Scores]:
    """Log of the sum over all sequences of beads, and the share of each bead in it (forward-backward).

    Returns
    -------
    log_sum : float
    posteriors : float32, same shape as ``scores``, 0 to 1
        exp(forward[before] + score + backward[after] - log_sum); -inf where the score is.
    """
    n = len(low) - 1
    start = row_starts(low, high)
    forward = np.full(start[-1], -np.inf)
    forward[0] = 0.0
    for i in range(n + 1):
        for j in range(low[i], high[i]):
            cell = start[i] + j - low[i]
            for k in range(len(shapes)):
                p, q = i - shapes[k, 0], j - shapes[k, 1]
                if p >= 0 and q >= low[p] and q < high[p]:
                    before = forward[start[p] + q - low[p]] + scores[cell, k]
                    if before != -np.inf:
                        forward[cell] = _log_add(forward[cell], before)
    log_sum = forward[-1]
    backward = np.full(start[-1], -np.inf)
    backward[-1] = 0.0
    posteriors = _nothing_yet(scores)
    for i in range(n, -1, -1):
        for j in range(high[i] - 1, low[i] - 1, -1):
            cell = start[i] + j - low[i]
            if backward[cell] == -np.inf:
                continue
            for k in range(len(shapes)):
                p, q = i - shapes[k, 0], j - shapes[k, 1]
                if p >= 0 and q >= low[p] and q < high[p]:
                    before = start[p] + q - low[p]
                    after = backward[cell] + scores[cell, k]
                    if after != -np.inf and forward[before] != -np.inf:
                        backward[before] = _log_add(backward[before], after)
                        posteriors[cell, k] = np.exp(forward[before] + after - log_sum)
    return log_sum, posteriors


@compiled
def _nothing_yet(scores: Scores) -> Scores:
    """Return -inf where the scores are, else 0."""
    posteriors = np.zeros(scores.shape, np.float32)
    for cell in range(scores.shape[0]):
        for k in range(scores.shape[1]):
            if scores[cell, k] == -np.inf:
                posteriors[cell, k] = -np.inf
    return posteriors


@compiled
def gale_church_scores(
    sums_a: Floats, sums_b: Floats, shapes: Ints, priors: Floats, ratio: float, variance: float, low: Ints, high: Ints
) -> Scores:
    """Score of each bead by the lengths of its two sides: log P(shape) + log 2(1 - Φ(|δ|)) (Gale & Church 1993).

    δ = (l_b - l_a·ratio)/sqrt(l·variance) with l = (l_a + l_b/ratio)/2; ``sums`` are lengths summed up from 0.
    """
    n_cells = np.sum(high - low)
    scores = np.full((n_cells, len(shapes)), -np.inf, np.float32)
    cell = 0
    for i in range(len(low)):
        for j in range(low[i], high[i]):
            for k in range(len(shapes)):
                p, q = i - shapes[k, 0], j - shapes[k, 1]
                if p < 0 or q < 0:
                    continue
                length_a, length_b = sums_a[i] - sums_a[p], sums_b[j] - sums_b[q]
                mean = (length_a + length_b / ratio) / 2
                delta = abs(length_b - length_a * ratio) / np.sqrt(max(mean, 1.0) * variance)
                # erfc is 2(1 - Φ); far out its logarithm is taken from the tail's expansion
                x = delta / np.sqrt(2.0)
                tail = np.log(_erfc(x)) if x < 5 else -x * x - np.log(x * np.sqrt(np.pi))
                scores[cell, k] = priors[k] + tail
            cell += 1
    return scores


@compiled
def _erfc(x: float) -> float:
    """Complementary error function (Abramowitz & Stegun 7.1.26 is too coarse for the tail; Numerical Recipes 6.2)."""
    t = 1.0 / (1.0 + 0.5 * x)
    poly = -0.82215223 + t * 0.17087277
    poly = 1.48851587 + t * poly
    poly = -1.13520398 + t * poly
    poly = 0.27886807 + t * poly
    poly = -0.18628806 + t * poly
    poly = 0.09678418 + t * poly
    poly = 0.37409196 + t * poly
    poly = 1.00002368 + t * poly
    tail: float = t * np.exp(-x * x - 1.26551223 + t * poly)
    return tail


@compiled
def _agreement(blocks_a: Ints, i: int, blocks_b: Ints, j: int) -> int:
    """1 where both sides end a block, -1 where just one does, 0 where neither does."""
    ends_a = i == len(blocks_a) or blocks_a[i] != blocks_a[i - 1]
    ends_b = j == len(blocks_b) or blocks_b[j] != blocks_b[j - 1]
    if ends_a != ends_b:
        return -1
    return 1 if ends_a else 0


@compiled
def _anchored(partner_a: int, partner_b: int, block_b: int) -> int:
    """1 where two blocks are partners, -1 where either has another one, 0 where neither has any."""
    if partner_a == block_b:
        return 1
    return -1 if partner_a >= 0 or partner_b >= 0 else 0


@compiled
def length_scores(
    sums_a: Floats,
    sums_b: Floats,
    alone_a: Floats,
    alone_b: Floats,
    shapes: Ints,
    priors: Floats,
    model: Floats,
    blocks_a: Ints,
    blocks_b: Ints,
    block_weight: float,
    partners_a: Ints,
    partners_b: Ints,
    anchor_weight: float,
    low: Ints,
    high: Ints,
) -> Scores:
    """Score of each bead by the lengths of its two sides, against the same sentences met by chance.

    For both sides present: log P(shape) + log p(d) - (log p_a + log p_b)/2, see `twinlink.align.lengths`. ``alone``
    are summed up from 0, as are the lengths; ``model`` is (mean, variance, floor of the density). A side never joins
    sentences of two blocks; ``block_weight`` is added where both sides end a block, and taken off where just one does.
    ``partners`` is the block of the other side that a sentence should stand beside, -1 for any; ``anchor_weight`` is
    added where it does, and taken off where either side has another partner.
    """
    n_cells = np.sum(high - low)
    scores = np.full((n_cells, len(shapes)), -np.inf, np.float32)
    mean, variance, least = model
    cell = 0
    for i in range(len(low)):
        for j in range(low[i], high[i]):
            for k in range(len(shapes)):
                da, db = shapes[k]
                p, q = i - da, j - db
                if p < 0 or q < 0:
                    continue
                if da == 0 or db == 0:
                    scores[cell, k] = priors[k]
                    continue
                if blocks_a[p] != blocks_a[i - 1] or blocks_b[q] != blocks_b[j - 1]:
                    continue
                length_a, length_b = sums_a[i] - sums_a[p], sums_b[j] - sums_b[q]
                spread = 2 * variance / (length_a + length_b)
                d = np.log(length_b / length_a) - mean
                density = np.exp(-d * d / (2 * spread)) / np.sqrt(2 * np.pi * spread) + least
                a = alone_a[i] - alone_a[p] + da * np.log(length_a)
                b = alone_b[j] - alone_b[q] + db * np.log(length_b)
                for m in range(2, da):
                    a -= np.log(m)
                for m in range(2, db):
                    b -= np.log(m)
                score = priors[k] + np.log(density) - (a + b) / 2
                score += block_weight * _agreement(blocks_a, i, blocks_b, j)
                score += anchor_weight * _anchored(partners_a[i - 1], partners_b[j - 1], blocks_b[j - 1])
                scores[cell, k] = score
            cell += 1
    return scores


@compiled
def explain_words(
    words_x: NDArray[np.int32],
    ends_x: Ints,
    words_y: NDArray[np.int32],
    ends_y: Ints,
    links_start: Ints,
    links_to: NDArray[np.int32],
    links_gain: NDArray[np.float32],
    base: NDArray[np.float32],
    low: Ints,
    high: Ints,
    most: int,
    share: float,
) -> NDArray[np.float32]:
    """How much better each sentence of y is explained by the last 1, 2, … sentences of x than by nothing.

    ``gains[cell, d - 1]``, for the cell that the two sentences end in: Σ_f log(1 - share + share·r_f), where r_f is the
    mean over the words e of the d sentences of p(f|e)/p(f) = base[e] + gain[e, f].
    """
    n, n_cells, size = len(low) - 1, np.sum(high - low), np.max(words_y) + 1 if len(words_y) else 0
    gains = np.zeros((n_cells, most), np.float32)
    spread = np.zeros((most, size), np.float64)  # of each of the last sentences of x: sum of gains to each word of y
    sizes, bases = np.zeros(most, np.int64), np.zeros(most)
    cell = high[0] - low[0]
    for i in range(1, n + 1):
        slot = i % most
        if i > most:
            _add(
                spread[slot], words_x[ends_x[i - most - 1] : ends_x[i - most]], links_start, links_to, links_gain, -1.0
            )
        words = words_x[ends_x[i - 1] : ends_x[i]]
        sizes[slot], bases[slot] = len(words), 0.0
        for e in words:
            bases[slot] += base[e]
        _add(spread[slot], words, links_start, links_to, links_gain, 1.0)
        for j in range(low[i], high[i]):
            if j > 0:
                target = words_y[ends_y[j - 1] : ends_y[j]]
                for d in range(1, min(most, i) + 1):
                    gains[cell, d - 1] = _gain(spread, bases, sizes, target, i, d, most, share)
            cell += 1
    return gains


@compiled
def _add(
    row: Floats,
    words: NDArray[np.int32],
    links_start: Ints,
    links_to: NDArray[np.int32],
    links_gain: NDArray[np.float32],
    sign: float,
) -> None:
    """Put the links of a sentence into a row, or set them back to 0."""
    for e in words:
        for at in range(links_start[e], links_start[e + 1]):
            to = links_to[at]
            if to < len(row):
                row[to] = row[to] + links_gain[at] if sign > 0 else 0.0


@compiled
def _gain(
    spread: Floats, bases: Floats, sizes: Ints, target: NDArray[np.int32], i: int, d: int, most: int, share: float
) -> float:
    base, size = 0.0, 0
    for m in range(d):
        base += bases[(i - m) % most]
        size += sizes[(i - m) % most]
    if size == 0:
        return 0.0
    total = 0.0
    product = 1.0
    for f in target:
        ratio = base
        for m in range(d):
            ratio += spread[(i - m) % most, f]
        product *= 1 - share + share * ratio / size
        if product > 1e100 or product < 1e-100:
            total += np.log(product)
            product = 1.0
    total += float(np.log(product))
    return total


@compiled
def span_scores(
    scores: Scores,
    weight: float,
    gains_b: NDArray[np.float32],
    gains_a: NDArray[np.float32],
    order: Ints,
    shapes: Ints,
    low: Ints,
    high: Ints,
) -> None:
    """Add to the scores, times a weight, how well the words of the two sides of each bead explain each other.

    The mean of both directions. ``gains_b[cell, d]`` is of the cells in the order of the rows (words of b by sentences
    of a), ``gains_a[order[cell], d]`` of the same cells in the order of the columns.
    """
    start = row_starts(low, high)
    for i in range(len(low)):
        for j in range(low[i], high[i]):
            for k in range(len(shapes)):
                da, db = shapes[k]
                if da > 0 and db > 0 and da <= i and db <= j:
                    words = _span(gains_b, gains_a, order, start, i, da, j, db, low, high)
                    scores[start[i] + j - low[i], k] += weight * words


@compiled
def withhold(scores: Scores, beads: Ints, shapes: Ints, low: Ints, high: Ints) -> None:
    """Forbid each bead that puts together any two sentences which stand together in some given beads."""
    first, end = np.zeros(len(low), np.int64), np.zeros(len(low), np.int64)  # partners of each sentence of a
    for n in range(len(beads)):
        for i in range(beads[n, 0], beads[n, 1]):
            first[i], end[i] = beads[n, 2], beads[n, 3]
    cell = 0
    for i in range(len(low)):
        for j in range(low[i], high[i]):
            for k in range(len(shapes)):
                da, db = shapes[k]
                if da > 0 and db > 0 and da <= i:
                    for s in range(i - da, i):
                        if first[s] < j and end[s] > j - db:
                            scores[cell, k] = -np.inf
            cell += 1


@compiled
def spans_of(
    beads: Ints, gains_b: NDArray[np.float32], gains_a: NDArray[np.float32], order: Ints, low: Ints, high: Ints
) -> Floats:
    """Return for some beads what `span_scores` adds, 0 without partner; a bead is i, i_end, j, j_end."""
    start = row_starts(low, high)
    spans = np.zeros(len(beads))
    for n in range(len(beads)):
        i, j = beads[n, 1], beads[n, 3]
        da, db = i - beads[n, 0], j - beads[n, 2]
        if da > 0 and db > 0:
            spans[n] = _span(gains_b, gains_a, order, start, i, da, j, db, low, high)
    return spans


@compiled
def _span(
    gains_b: NDArray[np.float32],
    gains_a: NDArray[np.float32],
    order: Ints,
    start: Ints,
    i: int,
    da: int,
    j: int,
    db: int,
    low: Ints,
    high: Ints,
) -> float:
    """Words of the last db sentences of b by the last da of a, and back; -inf where the bead leaves the band."""
    if j - db + 1 < low[i]:
        return -np.inf
    cell = start[i] + j - low[i]
    total = 0.0
    for t in range(db):
        total += gains_b[cell - t, da - 1]
    for s in range(da):
        row = i - s
        if j < low[row] or j >= high[row]:
            return -np.inf
        total += gains_a[order[start[row] + j - low[row]], db - 1]
    return total / 2
