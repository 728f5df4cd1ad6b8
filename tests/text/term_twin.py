"""Term counts page by page, plain and slow: the twin of `count_words`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, count

import numpy as np
from scipy.sparse import csr_array

from twinlink.text.stems import stem
from twinlink.text.words import TermTable


def count_terms(pages: Iterable[Sequence[str]], lang: str) -> TermTable:
    """Count the stems of each page's tokens.

    Examples
    --------
    >>> table = count_terms([["server", "servers", "run"], []], "en")
    >>> table.vocabulary, table.counts.toarray().tolist()
    (['run', 'server'], [[1.0, 2.0], [0.0, 0.0]])
    """
    ids: dict[str, int] = defaultdict(count().__next__)
    rows = [[*map(ids.__getitem__, page)] for page in pages]
    stems = [stem(word, lang) for word in ids]
    vocabulary = sorted(set(stems))
    place = {term: i for i, term in enumerate(vocabulary)}
    column = np.array([place[term] for term in stems], dtype=np.int64)
    starts = np.cumsum([0, *map(len, rows)])
    tokens = np.fromiter(chain.from_iterable(rows), np.int64, starts[-1])
    shape = (len(rows), len(vocabulary))
    counts = csr_array((np.ones(len(tokens), np.float32), column[tokens], starts), shape=shape)
    counts.sum_duplicates()
    return TermTable(counts, vocabulary)
