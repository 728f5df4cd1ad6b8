"""An order of pages in which pages with the same frequent terms are next to each other.

A search compares a page with a block of others at a time. In this order, the pages that it has terms in common with lie
in few blocks: in the others there is nothing to add, and nothing to read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.compiled import FEW, compiled_beyond
from twinlink.similarity.affordable import pages_with
from twinlink.similarity.kernels import arrays_of
from twinlink.similarity.product_kernels import Index

__all__ = ["by_frequent_terms"]

N_TERMS = 3
"""Terms that are looked at. With one, the search takes longer; with eight, as long."""
_BITS = 21  # of a rank: those of three terms are one integer; terms of greater ranks count as one


def by_frequent_terms(vectors: csr_array) -> NDArray[np.int64]:
    """Return the numbers of all pages: those with the most frequent term first, then those with the next one.

    Pages that have the same most frequent term come in the order of their second one, and so on, up to `N_TERMS`; then
    in the order of their numbers. Pages without a term come last.

    Parameters
    ----------
    vectors : csr_array, shape (n_pages, n_terms)

    Returns
    -------
    ndarray of int64, shape (n_pages,)

    Examples
    --------
    >>> by_frequent_terms(csr_array([[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0], [0, 1, 1]])).tolist()
    [2, 4, 1, 3, 0]
    """
    n_pages = pages_with(vectors)
    ranks = np.empty(len(n_pages), np.int64)
    ranks[np.argsort(-n_pages, kind="stable")] = np.minimum(np.arange(len(n_pages)), 2**_BITS - 2)
    starts, terms, _ = arrays_of(vectors)
    return np.argsort(_first_ranks(starts, terms, ranks), kind="stable")


@compiled_beyond(FEW)
def _first_ranks(starts: NDArray[np.int64], terms: NDArray[Index], ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the `N_TERMS` smallest ranks of each page's terms as one number, the smallest one first."""
    none = np.int64(2**_BITS - 1)
    keys, first = np.zeros(len(starts) - 1, np.int64), np.empty(N_TERMS, np.int64)
    for i in range(len(keys)):
        first[:] = none
        for at in range(starts[i], starts[i + 1]):
            rank = ranks[terms[at]]
            for place in range(N_TERMS):
                smaller = min(first[place], rank)
                rank = max(first[place], rank)
                first[place] = smaller
        for rank in first:
            keys[i] = (keys[i] << _BITS) | rank
    return keys
