"""Part of the vectors that a search has time for: without weak weights, and without the most frequent terms."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.similarity.affordable_kernels import compared_weights, count_weights
from twinlink.similarity.kernels import arrays_of
from twinlink.sparse import select

__all__ = [
    "Part",
    "Weights",
    "affordable",
    "affordable_terms",
    "most_products",
    "pages_with",
    "weights_of",
    "with_terms",
]

LEVELS = (0.0, 0.5, 1.0, 2.0)
"""Strengths from which weights are compared. What is below ½ makes up less than half of the squared length of any page.
On a made site of 10,000 pages per language, it is a twelfth, and without it the search takes a seventh of the products:
their number grows with the square of that of the weights."""
ALWAYS = 2 * 10**8
"""Products that a search may take on any site: a tenth of a second."""
_BLOCK = 2**19  # weights that are counted together: 4 MB
_ALL_WEIGHTS = 0.5  # level 0 counts half, because weak weights take most of the time
_ROUNDING = 1e-9


class Weights(NamedTuple):
    """Weights of some pages, by level and term; those below the level do not count."""

    numbers: NDArray[np.int64]
    """Number of pages with the term, shape (n_levels, n_terms)."""
    squares: NDArray[np.float64]
    """Sum of the squared weights of the term, shape (n_levels, n_terms)."""


class Part(NamedTuple):
    """Part of vectors that is compared."""

    level: float
    """Strength from which weights are compared: squared weight / mean squared weight of the page."""
    terms: NDArray[np.bool_]
    """Whether a term is compared."""

    def of(self, vectors: csr_array) -> csr_array:
        """Return vectors without the rest; numbers of terms stay as they are."""
        if not self.level and self.terms.all():
            return vectors
        return select(vectors, compared_weights(*arrays_of(vectors), self.level, self.terms))


def most_products(products_per_page: int, *n_pages: int) -> int:
    """Return how many products a search may take that compares so many pages of each side."""
    return max(ALWAYS, products_per_page * sum(n_pages))


def affordable(a: Weights, b: Weights, most: int) -> Part:
    """Return the part of the vectors of a and b whose comparison takes at most so many products.

    All, if that is possible. Otherwise the terms with the fewest products at the level at which what is left of a's
    and of b's squared lengths has the largest product, which counts by half for all weights (level 0). Where pages
    share many weak terms, a higher level leaves time for more terms.

    Parameters
    ----------
    a, b : Weights
        Of all pages.
    most : int

    Returns
    -------
    Part
    """
    n_products = a.numbers * b.numbers
    if n_products[0].sum() <= most:
        return Part(LEVELS[0], np.ones(n_products.shape[1], np.bool_))
    terms = [affordable_terms(of_level, most) for of_level in n_products]
    left = np.array([x[kept].sum() * y[kept].sum() for x, y, kept in zip(a.squares, b.squares, terms, strict=True)])
    left[0] *= _ALL_WEIGHTS
    level = int(np.argmax(left >= left.max() * (1 - _ROUNDING)))
    return Part(LEVELS[level], terms[level])


def affordable_terms(n_products: NDArray[np.int64], most: int) -> NDArray[np.bool_]:
    """Mark the terms with the fewest products, as many as take at most so many products together; none without any."""
    order = np.argsort(n_products, kind="stable")
    kept = np.zeros(len(order), np.bool_)
    kept[order[np.cumsum(n_products[order]) <= most]] = True
    return kept & (n_products > 0)


def weights_of(parts: Iterable[csr_array]) -> Weights:
    """Return the `Weights` of pages whose vectors come in parts, at least one; each is read once."""
    levels = np.array(LEVELS)
    counted = (count_weights(*arrays_of(part), levels, part.shape[1]) for part in parts)
    numbers, squares = reduce(lambda so_far, others: (so_far[0] + others[0], so_far[1] + others[1]), counted)
    return Weights(np.cumsum(numbers[::-1], axis=0)[::-1], np.cumsum(squares[::-1], axis=0)[::-1])


def pages_with(vectors: csr_array) -> NDArray[np.int64]:
    """Count the pages that have each term."""
    n_pages, size = np.zeros(vectors.shape[1], np.int64), max(_BLOCK, vectors.shape[1])
    for first in range(0, vectors.nnz, size):  # bincount makes a copy of 64 bits
        n_pages += np.bincount(vectors.indices[first : first + size], minlength=len(n_pages))
    return n_pages


def with_terms(vectors: csr_array, kept: NDArray[np.bool_]) -> csr_array:
    """Return vectors without the other terms; numbers of terms stay as they are."""
    return vectors if kept.all() else select(vectors, kept[vectors.indices])
