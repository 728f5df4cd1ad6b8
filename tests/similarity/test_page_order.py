"""The order of pages by their frequent terms, against a sort of lists."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from twinlink.similarity.page_order import N_TERMS, by_frequent_terms


def slow_order(pages: list[list[int]]) -> list[int]:
    n_pages = Counter(term for page in pages for term in page)
    ranks = {term: rank for rank, term in enumerate(sorted(n_pages, key=lambda term: (-n_pages[term], term)))}
    last = len(ranks)  # after all terms
    keys = [(sorted(ranks[term] for term in page) + [last] * N_TERMS)[:N_TERMS] for page in pages]
    return sorted(range(len(pages)), key=lambda page: keys[page])


@given(st.lists(st.lists(st.integers(0, 7), unique=True), max_size=20))
@settings(deadline=None)
def test_pages_come_by_their_most_frequent_terms(pages: list[list[int]]) -> None:
    counts = np.zeros((len(pages), 8), np.float32)
    for page, terms in enumerate(pages):
        counts[page, terms] = 1
    assert by_frequent_terms(csr_array(counts)).tolist() == slow_order(pages)
