"""Near-duplicates among the segments of a run, by MinHash (Broder 1997).

A segment is the set of every two words that follow each other, of both sides. MinHash estimates the share of these sets
that two segments have in common (Jaccard); bands of its numbers find the few segments that are worth comparing
(locality-sensitive hashing). Memory is bounded: tables of fixed size hold the last segments.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from rensa import RMinHash  # type: ignore[import-untyped]

from twinlink.align.tokens import numbers as numbers_in
from twinlink.align.tokens import split_words

__all__ = ["NearRepeats", "word_pairs"]

N_NUMBERS = 64
"""Numbers of a MinHash: the estimate of .9 has a standard deviation of .04."""
BANDS = 16
"""Of four numbers each: two segments that have .8 in common meet in one of them with a chance of .9998, .5: .64."""
SEED = 1
LEAST_PAIRS = 12
"""Pairs of neighbouring words, of both sides, from which a segment is compared: in short ones every word is a
difference."""
_SLOTS = 2**18  # of each band: a slot keeps the last segment that fell into it


class NearRepeats:
    """Finds segments that have most of their words in common with one that was kept before.

    Parameters
    ----------
    likeness : float
        Share in common, by the estimate, from which two segments are near-duplicates.
    kept : int
        Segments that are remembered: the last ones (256 bytes each).
    ignore_digits : bool
        Compare segments that have different numbers, too.
    """

    def __init__(self, likeness: float, kept: int = 200_000, *, ignore_digits: bool = True) -> None:
        self._likeness, self._kept, self._ignore_digits = likeness, kept, ignore_digits
        self._numbers = np.zeros((kept, N_NUMBERS), np.uint32)
        self._slots = np.full((BANDS, _SLOTS), -1, np.int64)
        self._count = 0

    def is_new(self, source: str, target: str) -> bool:
        """Return whether no near-duplicate was kept before; if so, remember this one."""
        pairs = list(word_pairs(source, target))
        if len(pairs) < LEAST_PAIRS:
            return True
        if not self._ignore_digits:  # segments with different numbers have nothing in common
            of_both = " ".join([*numbers_in(source), *numbers_in(target)])
            pairs = [f"{pair} {of_both}" for pair in pairs]
        minhash = RMinHash(num_perm=N_NUMBERS, seed=SEED)
        minhash.update(pairs)
        numbers = np.array(minhash.digest(), np.uint32)
        places = self._places(numbers)
        if self._has_like(numbers, places):
            return False
        self._numbers[self._count % self._kept] = numbers
        self._slots[np.arange(BANDS), places] = self._count
        self._count += 1
        return True

    @staticmethod
    def _places(numbers: np.ndarray[tuple[int], np.dtype[np.uint32]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Slot of each band: a hash of its numbers."""
        places = np.zeros(BANDS, np.uint64)
        for column in numbers.reshape(BANDS, -1).T:
            places = (places ^ column) * np.uint64(0x9E3779B97F4A7C15)
            places ^= places >> np.uint64(29)
        return (places % np.uint64(_SLOTS)).astype(np.int64)

    def _has_like(
        self,
        numbers: np.ndarray[tuple[int], np.dtype[np.uint32]],
        places: np.ndarray[tuple[int], np.dtype[np.int64]],
    ) -> bool:
        found = np.unique(self._slots[np.arange(BANDS), places])
        found = found[(found >= 0) & (found >= self._count - self._kept)]
        shares = (self._numbers[found % self._kept] == numbers).mean(axis=1)
        return bool((shares >= self._likeness).any())


def word_pairs(source: str, target: str) -> Iterator[str]:
    """Yield every two words that follow each other, of either side; numbers count as one word.

    >>> list(word_pairs("Page 2 of 9", "Seite 2"))
    ['a page #', 'a # of', 'a of #', 'b seite #']
    """
    for side, text in (("a", source), ("b", target)):
        words = ["#" if word[0].isdigit() else word for word in split_words(text)]
        for one, other in itertools.pairwise(words):
            yield f"{side} {one} {other}"
