"""The word model, learned while pages are aligned (WebMining, section 2.3: IBM-1 by incremental EM).

The paper scores two sentences by ``α^|m-l| · Π_j Σ_i p(f_j|e_i)``. Two things differ here. As printed the product sinks
with the length of the sentence; so each word counts against what it would have had by chance,

    Σ_f log(1 - s + s · mean_e p(f|e)/p(f))

where s (`SHARE`) is the share of words that have a partner at all, and the lengths have a model of their own
(`twinlink.align.lengths`). And both directions are taken, so that nothing depends on which side is called a.

``p(f|e) = (c(e,f) + κ·like(e,f) + μ·p(f)) / (c(e) + κ·[e has one alike] + μ)``: c are the expected counts that have
been gathered, ``like`` is 1 for equal strings as in the paper, less for cognates and a lexicon's words, and an
unknown word has no weight (p(f|e) = p(f)). A part of each c(e,f) is given to chance (absolute
discounting, `DISCOUNT`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinlink.align.cognates import Likeness
from twinlink.align.words.kernels import expected_links, rows_between

__all__ = ["Index", "Links", "WordModel", "WordSums", "count_links", "links_of"]

SHARE = 0.7
"""s: the share of words that have a partner. Trials on the development texts: .6 to .75 are alike, .95 is worse."""
LIKE_COUNT = 1.0
"""κ: occurrences that a word's likeness stands for."""
CHANCE_COUNT = 1.0
"""μ: occurrences that chance stands for."""
DISCOUNT = 0.2
"""Taken off every expected count and given to chance: a single co-occurrence is no evidence, especially where the
model learns from its own first guesses. Trials: none .82, .1 to .3 .86 to .87 strict F1."""
MOST_PAIRS = 1_000_000
"""Word pairs of a bead, 1,000 by 1,000 words: what has more is no sentence, teaches nothing, takes no memory."""

Ints = NDArray[np.int64]
Words = NDArray[np.int32]
Floats = NDArray[np.float64]
_ROW = np.int64(2**31)
_WAITING = 500_000  # word pairs that wait to be added up


class Links(NamedTuple):
    """Translation probabilities between the words of a page's sides x and y: p(f|e)/p(f) = base[e] + gain[e, f]."""

    starts: Ints
    to: Words
    gain: NDArray[np.float32]
    base: NDArray[np.float32]
    counts: NDArray[np.float32]
    """Expected count behind each gain, so that the counts of a bead can be subtracted."""
    totals: Floats
    """What p(f|e) is divided by, of each word of x."""
    unigrams: Floats
    """p(f) of each word of y."""


class WordSums(NamedTuple):
    """Expected counts of one page or of many: plain sums, so that those of parts add up."""

    words_a: list[str]
    words_b: list[str]
    seen_a: Floats
    """Count of each word of a."""
    seen_b: Floats
    pairs: Ints
    """Sorted: word of a times 2^31 plus word of b."""
    counts: Floats

    @property
    def rows(self) -> Ints:
        """Word of a of each pair."""
        return self.pairs // _ROW

    @property
    def columns(self) -> Ints:
        """Word of b of each pair."""
        return self.pairs % _ROW


class Index(NamedTuple):
    """Expected counts by their words of a."""

    starts: Ints
    columns: Words
    counts: Floats
    totals_a: Floats
    totals_b: Floats
    lost_a: Floats
    """What the discount took off all counts of each word of a."""
    lost_b: Floats


class WordModel:
    """Expected counts of word pairs, gathered page by page; models of parts are merged by `add`.

    Parameters
    ----------
    max_pairs : int
        Number of word pairs kept; at twice as many, the rarest are dropped.
    """

    def __init__(self, max_pairs: int = 4_000_000) -> None:
        self.max_pairs = max_pairs
        self.place_a: dict[str, int] = {}
        self.place_b: dict[str, int] = {}
        self._seen = np.zeros(0), np.zeros(0)
        self._pairs, self._counts = np.zeros(0, np.int64), np.zeros(0)
        self._waiting: list[tuple[Ints, Floats]] = []
        self._index: Index | None = None

    def add(self, sums: WordSums) -> None:
        """Add expected counts.

        The order of adding decides the order of words, and beyond twice ``max_pairs`` also which pairs are dropped:
        the rarest ones so far.
        """
        to_a, to_b = _places(self.place_a, sums.words_a), _places(self.place_b, sums.words_b)
        self._seen = (
            _grown(self._seen[0], to_a, sums.seen_a, len(self.place_a)),
            _grown(self._seen[1], to_b, sums.seen_b, len(self.place_b)),
        )
        self._waiting.append((to_a[sums.rows] * _ROW + to_b[sums.columns], sums.counts))
        self._index = None
        if sum(len(waiting) for waiting, _ in self._waiting) > max(len(self._pairs), _WAITING):
            self._settle()

    @property
    def seen_a(self) -> Floats:
        """Count of each word of a."""
        return self._seen[0]

    @property
    def seen_b(self) -> Floats:
        """Count of each word of b."""
        return self._seen[1]

    def sums(self) -> WordSums:
        """Return everything as sums that another model can take."""
        self._settle()
        return WordSums(list(self.place_a), list(self.place_b), *self._seen, self._pairs, self._counts)

    def index(self) -> Index:
        """Return the counts in the form that they are looked up in."""
        if self._index is None:
            sums = self.sums()
            rows, columns, counts = sums.rows, sums.columns, sums.counts
            lost = np.minimum(counts, DISCOUNT)  # of each pair
            size_a, size_b = len(sums.words_a), len(sums.words_b)
            self._index = Index(
                np.searchsorted(rows, np.arange(size_a + 1)),
                columns.astype(np.int32),
                counts,
                _totals(rows, counts, size_a),
                _totals(columns, counts, size_b),
                _totals(rows, lost, size_a),
                _totals(columns, lost, size_b),
            )
        return self._index

    def _settle(self) -> None:
        """Merge what waits into the sorted pairs; forget the rarest where there are too many."""
        if self._waiting:
            pairs, counts = zip((self._pairs, self._counts), *self._waiting, strict=True)
            self._pairs, self._counts = _summed(np.concatenate(pairs), np.concatenate(counts))
            self._waiting = []
        if len(self._pairs) > 2 * self.max_pairs:
            keep = np.sort(np.argsort(-self._counts, kind="stable")[: self.max_pairs])
            self._pairs, self._counts = self._pairs[keep], self._counts[keep]


def _places(place: dict[str, int], words: Sequence[str]) -> Ints:
    return np.array([place.setdefault(word, len(place)) for word in words], np.int64)


def _grown(old: Floats, places: Ints, values: Floats, size: int) -> Floats:
    new = np.zeros(size)
    new[: len(old)] = old
    np.add.at(new, places, values)
    return new


def _summed(keys: Ints, values: Floats) -> tuple[Ints, Floats]:
    """Sort the keys and add up the values of equal ones."""
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[first], np.add.reduceat(values, first) if len(keys) else values


def links_of(
    model: WordModel,
    words_a: Sequence[str],
    words_b: Sequence[str],
    seen_a: Floats,
    seen_b: Floats,
    like: Likeness,
) -> tuple[Links, Links]:
    """Return the translation probabilities between the words of a page, in both directions.

    Parameters
    ----------
    model : WordModel
        May be empty; then only ``like`` counts.
    words_a, words_b : sequences of str
        The page's different words.
    seen_a, seen_b : float64
        How often each stands on the page: counts where the model has seen less.
    like : Likeness
    """
    rows = np.array([model.place_a.get(word, -1) for word in words_a], np.int64)
    columns = np.array([model.place_b.get(word, -1) for word in words_b], np.int64)
    place = np.full(len(model.place_b), -1, np.int32)
    known = np.flatnonzero(columns >= 0)
    place[columns[known]] = known
    index = model.index()
    starts, to, counts = rows_between(index.starts, index.columns, index.counts, rows, place)
    e, f = np.repeat(np.arange(len(words_a)), np.diff(starts)), to.astype(np.int64)
    unigrams_a = _unigrams(_taken(model.seen_a, rows), seen_a, model.seen_a.sum())
    unigrams_b = _unigrams(_taken(model.seen_b, columns), seen_b, model.seen_b.sum())
    of_a = _taken(index.totals_a, rows), _taken(index.lost_a, rows)
    of_b = _taken(index.totals_b, columns), _taken(index.lost_b, columns)
    forth = _links(e, f, counts, like.words_a, like.words_b, like.values, *of_a, unigrams_b)
    back = _links(f, e, counts, like.words_b, like.words_a, like.values, *of_b, unigrams_a)
    return forth, back


def _totals(words: Ints, counts: Floats, size: int) -> Floats:
    """Sum of the counts of each word."""
    return np.bincount(words, counts, size).astype(np.float64)


def _taken(values: Floats, wanted: Ints) -> Floats:
    """Value of each wanted word; 0 for -1, a word that the model has not met."""
    return np.append(values, 0.0)[wanted]


def _unigrams(seen: Floats, on_page: Floats, total: float) -> Floats:
    both = np.maximum(seen, on_page) + 0.5
    return np.asarray(both / max(total, both.sum()))


def _links(
    x: Ints,
    y: Ints,
    counts: Floats,
    like_x: Ints,
    like_y: Ints,
    like: Floats,
    total: Floats,
    lost: Floats,
    unigrams: Floats,
) -> Links:
    size = len(total)
    sum_like = np.bincount(like_x, like, size)
    evidence = LIKE_COUNT * like / np.maximum(sum_like[like_x], 1.0)
    n = total + LIKE_COUNT * np.minimum(sum_like, 1.0) + CHANCE_COUNT
    met, sure = x * _ROW + y, np.maximum(counts - DISCOUNT, 0.0)
    keys, values = _summed(np.concatenate([met, like_x * _ROW + like_y]), np.concatenate([sure, evidence]))
    raw = np.zeros(len(keys), np.float32)
    raw[np.searchsorted(keys, met)] = counts
    e, f = keys // _ROW, keys % _ROW
    starts = np.searchsorted(e, np.arange(size + 1))
    gain, base = values / (n[e] * unigrams[f]), (CHANCE_COUNT + lost) / n
    return Links(starts, f.astype(np.int32), gain.astype(np.float32), base.astype(np.float32), raw, n, unigrams)


def count_links(
    words_a: Words, ends_a: Ints, words_b: Words, ends_b: Ints, beads: Ints, weights: Floats, forth: Links, back: Links
) -> tuple[Ints, Floats]:
    """Return the expected counts of word pairs in some beads: pairs as in `WordSums`, by the page's own word numbers.

    Parameters
    ----------
    words_a, ends_a, words_b, ends_b
        Words of all sentences; 0 and where each sentence ends.
    beads : int64, shape (beads, 4)
        First and end sentence of a, first and end sentence of b.
    weights : float64
        How sure each bead is.
    forth, back : Links
    """
    row_a, row_b = np.zeros(len(forth.starts)), np.zeros(len(back.starts))
    start_a, start_b = ends_a, ends_b
    keys, values, n_waiting = [np.zeros(0, np.int64)], [np.zeros(0)], 0
    for (i, i_end, j, j_end), weight in zip(beads, weights, strict=True):
        a, b = words_a[start_a[i] : start_a[i_end]], words_b[start_b[j] : start_b[j_end]]
        if not 0 < len(a) * len(b) <= MOST_PAIRS:
            continue
        b_from_a = expected_links(a, b, *forth[:4], SHARE, row_b)
        a_from_b = expected_links(b, a, *back[:4], SHARE, row_a).T
        both = np.sqrt(b_from_a * a_from_b) * weight
        keys.append((a.astype(np.int64)[:, None] * _ROW + b).ravel())
        values.append(both.ravel())
        n_waiting += both.size
        if n_waiting > _WAITING:  # a long page has millions
            summed = _summed(np.concatenate(keys), np.concatenate(values))
            keys, values, n_waiting = [summed[0]], [summed[1]], 0
    return _summed(np.concatenate(keys), np.concatenate(values))
