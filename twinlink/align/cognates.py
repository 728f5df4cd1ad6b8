"""Cognates: similar words as evidence before any translations have been learned.

The paper of WebMining starts with 1 for equal strings. Words that share most of their letters are added, weighted
by similarity, and the entries of a lexicon.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel

from twinlink.align.tokens import fold

__all__ = ["Likeness", "likeness"]

LEAST_LIKENESS = 0.7
"""Share of letters in common (2·LCS/(n + m)) from which two words may be cognates."""
_KEY = 2
"""Letters at the start that cognates have in common; keeps the search linear."""
_SHORTEST = 4

Ints = NDArray[np.int64]


class Likeness(NamedTuple):
    """Pairs of words that may be translations of each other, and how likely, 0 to 1."""

    words_a: Ints
    words_b: Ints
    values: NDArray[np.float64]


def likeness(
    words_a: Sequence[str], words_b: Sequence[str], lexicon: Mapping[str, Mapping[str, float]] | None = None
) -> Likeness:
    """Find the word pairs that are equal, similar, or in the lexicon.

    Parameters
    ----------
    words_a, words_b : sequences of str
        Different words.
    lexicon : mapping of mappings, optional
        Words of a, their translations in b, and the probability of each.

    Examples
    --------
    >>> pairs = likeness(["everest", "expedition", "berg"], ["montagne", "expédition", "everest"])
    >>> list(zip(pairs.words_a.tolist(), pairs.words_b.tolist(), pairs.values.round(1).tolist()))
    [(0, 2, 1.0), (1, 1, 1.0)]
    """
    found: dict[tuple[int, int], float] = {}
    place_b = {word: number for number, word in enumerate(words_b)}
    by_key: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, word in enumerate(words_b):
        if word.isalpha() and len(word) >= _SHORTEST:
            folded = fold(word)
            by_key[folded[:_KEY]].append((number, folded))
    for number, word in enumerate(words_a):
        if word in place_b:
            found[number, place_b[word]] = 1.0
        elif word.isalpha() and len(word) >= _SHORTEST:
            folded = fold(word)
            for other, text in by_key.get(folded[:_KEY], ()):
                alike = Indel.normalized_similarity(folded, text, score_cutoff=LEAST_LIKENESS)
                if alike:
                    found[number, other] = alike**2
        for translation, probability in ((lexicon or {}).get(word) or {}).items():
            if translation in place_b:
                pair = number, place_b[translation]
                found[pair] = max(found.get(pair, 0.0), probability)
    pairs = np.array(list(found), np.int64).reshape(-1, 2)
    return Likeness(pairs[:, 0], pairs[:, 1], np.array(list(found.values()), np.float64))
