"""Compiled loops for held-out scores of beads; input arrays are not checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from twinlink.align.words.kernels import expected_links
from twinlink.compiled import compiled

if TYPE_CHECKING:
    from twinlink.align.words.model import Links

__all__ = ["held_out"]

Ints = NDArray[np.int64]
Words = NDArray[np.int32]
Floats = NDArray[np.float64]


@compiled
def held_out(
    beads: Ints,
    weights: Floats,
    words_a: Words,
    ends_a: Ints,
    words_b: Words,
    ends_b: Ints,
    forth: Links,
    back: Links,
    share: float,
    discount: float,
    most_pairs: int,
) -> Floats:
    """Mean log ratio per word of each bead, without the counts of the bead itself; 0 without partner.

    ``weights`` is how often each bead has been counted. Beads of more than ``most_pairs`` word pairs score 0.
    """
    scratch_a, scratch_b = np.zeros((2, len(forth.starts))), np.zeros((2, len(back.starts)))
    scores = np.zeros(len(beads))
    for n in range(len(beads)):
        a = words_a[ends_a[beads[n, 0]] : ends_a[beads[n, 1]]]
        b = words_b[ends_b[beads[n, 2]] : ends_b[beads[n, 3]]]
        if len(a) * len(b) == 0 or len(a) * len(b) > most_pairs:
            continue
        own, lost = np.zeros((len(a), len(b))), np.zeros((len(a), len(b)))
        if weights[n] > 0:
            _taught(a, b, weights[n], forth, back, share, scratch_a[0], scratch_b[0], own)
            _lost(a, b, own, forth, discount, scratch_b[1], lost)
        total = _explained(a, b, own, lost, forth, share, discount, scratch_b)
        total += _explained(b, a, own.T.copy(), lost.T.copy(), back, share, discount, scratch_a)
        scores[n] = total / (len(a) + len(b))
    return scores


@compiled
def _taught(
    a: Words,
    b: Words,
    weight: float,
    forth: Links,
    back: Links,
    share: float,
    row_a: Floats,
    row_b: Floats,
    own: Floats,
) -> None:
    """Put in ``own`` what a bead has taught of each two words: all of it where both stand first."""
    b_from_a = expected_links(a, b, forth.starts, forth.to, forth.gain, forth.base, share, row_b)
    a_from_b = expected_links(b, a, back.starts, back.to, back.gain, back.base, share, row_a)
    first_a, first_b = _firsts(a), _firsts(b)
    for i in range(len(a)):
        for j in range(len(b)):
            own[first_a[i], first_b[j]] += weight * np.sqrt(b_from_a[i, j] * a_from_b[j, i])


@compiled
def _lost(a: Words, b: Words, own: Floats, forth: Links, discount: float, row: Floats, lost: Floats) -> None:
    """Put in ``lost`` by how much the discount shrinks when the bead is taken off."""
    for i in range(len(a)):
        _spread(a[i], forth.starts, forth.to, forth.counts, row)
        for j in range(len(b)):
            if own[i, j] > 0:
                count = row[b[j]]
                lost[i, j] = min(count, discount) - min(max(count - own[i, j], 0.0), discount)
        _clear(a[i], forth.starts, forth.to, row)


@compiled
def _explained(
    x: Words, y: Words, own: Floats, lost: Floats, links: Links, share: float, discount: float, scratch: Floats
) -> float:
    """How well the words x explain the words y, log ratio, without ``own`` and ``lost`` (see `_taught`, `_lost`)."""
    first_x, first_y = _firsts(x), _firsts(y)
    ratios = np.zeros(len(y))
    for i in range(len(x)):
        e, k = x[i], first_x[i]
        _spread(e, links.starts, links.to, links.gain, scratch[0])
        _spread(e, links.starts, links.to, links.counts, scratch[1])
        before = links.totals[e]
        total = max(before - own[k].sum(), 1.0)
        base = max(links.base[e] * before - lost[k].sum(), 1.0)
        for j in range(len(y)):
            f = y[j]
            count = scratch[1, f]
            off = max(count - discount, 0.0) - max(count - own[k, first_y[j]] - discount, 0.0)
            ratios[j] += (base + max(scratch[0, f] * before - off / links.unigrams[f], 0.0)) / total
        _clear(e, links.starts, links.to, scratch[0])
        _clear(e, links.starts, links.to, scratch[1])
    score = 0.0
    for j in range(len(y)):
        score += np.log(1 - share + share * ratios[j] / len(x))
    return score


@compiled
def _firsts(words: Words) -> Ints:
    """Place where each word stands first."""
    places = np.zeros(len(words), np.int64)
    for i in range(len(words)):
        while words[places[i]] != words[i]:
            places[i] += 1
    return places


@compiled
def _spread(e: int, starts: Ints, to: Words, values: NDArray[np.float32], row: Floats) -> None:
    for at in range(starts[e], starts[e + 1]):
        row[to[at]] = values[at]


@compiled
def _clear(e: int, starts: Ints, to: Words, row: Floats) -> None:
    for at in range(starts[e], starts[e + 1]):
        row[to[at]] = 0.0
