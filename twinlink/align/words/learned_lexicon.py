"""The learned lexicon as a list that people and programs read."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple

import numpy as np

from twinlink.align.tokens import Tokenizer
from twinlink.align.words.model import DISCOUNT, WordModel

__all__ = ["Forms", "WordTranslation", "count_forms", "learned_lexicon", "most_frequent", "write_lexicon"]

Forms = Mapping[str, str]
"""The most frequent form of each word that was counted by its key."""
LEAST_COUNT = 1.0
LEAST_PROBABILITY = 0.1


class WordTranslation(NamedTuple):
    """Two words, and how sure it is that they are translations of each other."""

    word_a: str
    word_b: str
    b_given_a: float
    a_given_b: float
    n: float


def count_forms(sentences: Sequence[str], lang: str, tokenizer: Tokenizer) -> Counter[tuple[str, str]]:
    """Count the words of some sentences with their keys."""
    words = Counter(word for sentence in sentences for word in tokenizer.split(sentence, lang))
    return Counter({(tokenizer.key(word, lang), word): number for word, number in words.items()})


def most_frequent(counts: Counter[tuple[str, str]]) -> dict[str, str]:
    """Return the most frequent form of each key; of equal ones the first in the alphabet."""
    return {key: form for (key, form), _ in sorted(counts.items(), key=lambda item: (item[1], _backwards(item[0][1])))}


def _backwards(text: str) -> tuple[int, ...]:
    return tuple(-ord(letter) for letter in text)


def learned_lexicon(model: WordModel, forms_a: Forms, forms_b: Forms) -> Iterator[WordTranslation]:
    """Yield the word pairs that a model has learned, the surest first: by the smaller of p(b|a) and p(a|b).

    Pairs seen less than once, those below a tenth either way, and words that stay as they are, are left out.
    """
    sums = model.sums()
    words_a, words_b = sums.words_a, sums.words_b
    rows, columns = sums.rows, sums.columns
    totals_a = np.bincount(rows, sums.counts, len(words_a))
    totals_b = np.bincount(columns, sums.counts, len(words_b))
    counts = np.maximum(sums.counts - DISCOUNT, 0)
    forth, back = counts / (totals_a[rows] + 1), counts / (totals_b[columns] + 1)
    keep = np.flatnonzero((sums.counts >= LEAST_COUNT) & (np.minimum(forth, back) >= LEAST_PROBABILITY))
    for at in keep[np.argsort(-np.minimum(forth, back)[keep], kind="stable")]:
        a, b = words_a[rows[at]], words_b[columns[at]]
        a, b = forms_a.get(a, a), forms_b.get(b, b)
        if a != b:
            yield WordTranslation(a, b, float(forth[at]), float(back[at]), float(sums.counts[at]))


def write_lexicon(entries: Iterator[WordTranslation], file: BinaryIO) -> int:
    """Write entries in tab-separated columns, names first; return how many."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
    text.write("word_a\tword_b\tp_b_given_a\tp_a_given_b\tcount\n")
    rows = [*entries]
    for entry in rows:
        text.write(f"{entry.word_a}\t{entry.word_b}\t{entry.b_given_a:.4f}\t{entry.a_given_b:.4f}\t{entry.n:.2f}\n")
    text.flush()
    text.detach()
    return len(rows)
