"""Contrast vectors: the words of a page that distinguish it from its near-duplicates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from twinlink.similarity import kernels
from twinlink.similarity.affordable import affordable_terms, pages_with, with_terms
from twinlink.similarity.content import dots_of_pairs, translated, unit_rows
from twinlink.similarity.page_search import nearest_within
from twinlink.sparse import as_rows, as_weights, check_shape, entry_rows, kept_matrix, narrow, select

__all__ = ["contrast_vectors", "cosine_of_pairs", "groups_of", "near_duplicates", "near_pages"]

NEAREST = 8
"""Number of pages that a page is compared with."""
SHARPNESS = 8
"""Exponent of the similarity in the weights of these pages: only near-duplicates have much weight."""
ALIKE = 0.95
"""Similarity from which two pages are near-duplicates. Trials on seven sites: .9 and .95 are the same within .003."""
LEAST = 1e-6
"""Rounding residue of a term that all near pages share; smaller values are dropped."""
PRODUCTS_PER_PAGE = 20_000
"""Products of two weights that a search takes for each page of either side, on average: the two sides are the same
pages, so that each counts twice. The most frequent terms are left out. That is faster on large sites. Compared with all
terms, F1 of eleven sites changes by .002 at most, except on debwww-en-ru-opaque (.983 instead of .991). With a quarter
of the products, lo-en-zhtw-opaque loses .003 and servicecomb-en-zh-opaque .006."""


def near_pages(counts: csr_array) -> csr_array:
    """Return the similarity of each page to the `NEAREST` other pages of its language: x(p)·x(q).

    x is the unit vector of 1 + log count. No idf: in a set of near-duplicates the word that differs may be frequent on
    the site.

    Parameters
    ----------
    counts : csr_array, shape (n_pages, n_terms)
        How often each term stands on each page.

    Returns
    -------
    csr_array of float32, shape (n_pages, n_pages), values in [0, 1], zero diagonal, not symmetric
        The row of a page without terms in common with any other is empty.

    Examples
    --------
    >>> near_pages(csr_array([[1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 1.0]])).toarray().round(2).tolist()
    [[0.0, 0.6700000166893005], [0.6700000166893005, 0.0]]
    """
    return _nearest(_page_vectors(as_weights(counts, "counts")))


def near_duplicates(near: csr_array) -> csr_array:
    """Return which pages are near-duplicates of each other: those with a similarity of at least `ALIKE`.

    Parameters
    ----------
    near : csr_array, shape (n_pages, n_pages)
        Of `near_pages`.

    Returns
    -------
    csr_array of bool, shape (n_pages, n_pages), symmetric, zero diagonal
        The row of a page without near-duplicates is empty.
    """
    near = as_rows(near, "near")
    rows = entry_rows(near)
    alike = near.data >= ALIKE
    one, other = rows[alike], near.indices[alike]
    places = (np.concatenate([one, other]), np.concatenate([other, one]))
    return csr_array((np.ones(len(places[0]), np.bool_), places), shape=near.shape)


def groups_of(alike: csr_array) -> NDArray[np.int64]:
    """Return the number of each page's group, from 1; 0: it has no near-duplicate.

    Groups are the connected components of near-duplicates, largest first; of equally large groups, the one with the
    first page comes first.

    Parameters
    ----------
    alike : csr_array, shape (n_pages, n_pages)
        Which pages are near-duplicates.

    Examples
    --------
    >>> groups_of(csr_array([[0, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]))
    array([0, 1, 0, 1, 1])
    """
    if not alike.nnz:
        return np.zeros(alike.shape[0], np.int64)
    from scipy.sparse.csgraph import connected_components  # .02 s, and most small sites have no near-duplicates

    _, part = connected_components(alike, directed=False)
    _, first, sizes = np.unique(part, return_index=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    numbers = np.zeros(len(first), np.int64)
    numbers[order] = np.arange(1, len(first) + 1)
    numbers[sizes == 1] = 0
    found: NDArray[np.int64] = numbers[part]
    return found


def contrast_vectors(counts: csr_array, near: csr_array) -> csr_array:
    """Compute term vectors from which the terms of similar pages are subtracted.

    ``x'(p) = max(0, x(p) - Σ_q w(p, q)·x(q))`` with x as in `near_pages`, q the pages near to p, and w(p, q)
    proportional to (x(p)·x(q))^`SHARPNESS`, sum 1.

    Parameters
    ----------
    counts : csr_array, shape (n_pages, n_terms)
        How often each term stands on each page.
    near : csr_array, shape (n_pages, n_pages)
        Of `near_pages`.

    Returns
    -------
    csr_array of float32, shape (n_pages, n_terms), values >= 0
        The row of a page without distinctive words is empty.

    Raises
    ------
    ShapeError
        If ``near`` is not of the same pages.

    Examples
    --------
    Two forms that differ in one word:

    >>> forms = csr_array([[1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 1.0]])
    >>> contrast_vectors(forms, near_pages(forms)).astype(float).toarray().round(2).tolist()
    [[0.0, 0.0, 0.58, 0.0], [0.0, 0.0, 0.0, 0.58]]
    """
    vectors, near = _page_vectors(as_weights(counts, "counts")), as_rows(near, "near")
    check_shape(near, (vectors.shape[0],) * 2, "near", "the pages")
    shares = _shares(near)
    x, (starts, pages, _) = kernels.arrays_of(vectors), kernels.arrays_of(shares)
    rest = kernels.without_mean(x, vectors.shape[1], starts, pages, shares.data, LEAST)
    return kept_matrix(select(csr_array((rest, vectors.indices, vectors.indptr), shape=vectors.shape), rest > 0))


def cosine_of_pairs(
    vectors_a: csr_array, vectors_b: csr_array, translation: csr_array, pattern: csr_array
) -> NDArray[np.float32]:
    """Compute ``cos(T'x(i), y(j))`` for each stored entry (i, j): translated vectors of a and vectors of b.

    Parameters
    ----------
    vectors_a : csr_array, shape (n_pages_a, n_terms_a)
    vectors_b : csr_array, shape (n_pages_b, n_terms_b)
    translation : csr_array, shape (n_terms_a, n_terms_b), values >= 0
        T.
    pattern : csr_array, shape (n_pages_a, n_pages_b)

    Returns
    -------
    ndarray of float32, shape (pattern.nnz,), values in [0, 1]
        0 where one of the two vectors is empty.
    """
    asked = np.flatnonzero(np.diff(pattern.indptr))  # translate only rows that have a pair
    of_asked = unit_rows(translated(csr_array(vectors_a[asked]), translation))
    return np.clip(dots_of_pairs(of_asked, unit_rows(vectors_b), csr_array(pattern[asked])), 0, 1)


def _page_vectors(counts: csr_array) -> csr_array:
    return unit_rows(csr_array((1 + np.log(counts.data), counts.indices, counts.indptr), shape=counts.shape))


def _nearest(vectors: csr_array) -> csr_array:
    n_pages, n_with = vectors.shape[0], pages_with(vectors)
    compared = with_terms(vectors, affordable_terms(n_with**2, PRODUCTS_PER_PAGE * 2 * n_pages))
    pages = nearest_within(compared, NEAREST + 1, PRODUCTS_PER_PAGE)
    pages = np.where(pages == np.arange(n_pages)[:, None], -1, pages)
    full = (pages >= 0).all(axis=1)  # pages equal to this one displaced it from its own list
    pages[full, -1] = -1
    rows, places = np.nonzero(pages >= 0)
    near = narrow(csr_array((np.ones(len(rows), np.float32), (rows, pages[rows, places])), shape=(n_pages, n_pages)))
    return csr_array(
        (np.clip(dots_of_pairs(vectors, vectors, near), 0, 1), near.indices, near.indptr), shape=near.shape
    )


def _shares(near: csr_array) -> csr_array:
    """Return the weights w, rows of sum 1."""
    around = csr_array((near.data.astype(np.float64) ** SHARPNESS, near.indices, near.indptr), shape=near.shape)
    sums: NDArray[np.float64] = np.asarray(around.sum(axis=1)).ravel()
    return csr_array(diags_array(1 / np.where(sums > 0, sums, 1)) @ around)
