"""Search for the pages with the largest dot products: of what can be afforded, in blocks, on all cores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.errors import ConfigError
from twinlink.similarity import kernels
from twinlink.similarity.affordable import Part, affordable, most_products, pages_with, weights_of
from twinlink.similarity.page_order import by_frequent_terms
from twinlink.sparse import as_rows, some_rows, stacked
from twinlink.system.side_by_side import at_once, threaded

__all__ = ["nearest_of", "nearest_pages", "nearest_within"]

_COMPARED = 8_192  # pages that a page is compared with at a time: their sums stay in the cache of the processor
_PART = 200  # pages that a core compares at least
_ROW_SECONDS = 2e-5  # what a page takes at least to be compared with so many
_BLOCK = 2**19  # words of these pages that are copied at a time at least: 4 MB

_Lists = tuple[NDArray[np.int32], NDArray[np.float32]]
"""The nearest pages of some others, and their scores."""


def nearest_pages(
    vectors_a: csr_array, vectors_b: csr_array, k: int, products_per_page: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return for each row of either matrix the k rows of the other one with the largest dot products > 0.

    Where that takes more products than there is time for (`most_products`), weak weights and the most frequent terms
    are left out (`affordable`): the time is linear, not quadratic, in the number of pages.

    Parameters
    ----------
    vectors_a : csr_array, shape (n_pages_a, n), values >= 0
    vectors_b : csr_array, shape (n_pages_b, n), values >= 0
    k, products_per_page : int

    Returns
    -------
    two ndarray of int32, shapes (n_pages_a, k) and (n_pages_b, k)
        Nearest first; -1 where there are fewer than k. Ties by number where a side has at most 8,192 pages, else in
        the order `by_frequent_terms`.

    Raises
    ------
    ShapeError
        If a matrix is not sparse.
    ConfigError
        If ``k`` is less than 1.

    Examples
    --------
    >>> a, b = csr_array([[1.0, 0.0], [0.0, 1.0]]), csr_array([[0.8, 0.6], [1.0, 0.0], [0.0, 0.0]])
    >>> [pages.tolist() for pages in nearest_pages(a, b, 1, 100)]
    [[[1], [0]], [[0], [0], [-1]]]
    """
    if k < 1:
        raise ConfigError(f"nearest_pages: expected k of at least 1, got {k}")
    a, b = as_rows(vectors_a, "vectors_a"), as_rows(vectors_b, "vectors_b")
    return _search(a, b, k, products_per_page, both=True)


def nearest_of(vectors: csr_array, others: csr_array, k: int, products_per_page: int) -> NDArray[np.int32]:
    """Return for each row of ``vectors`` the k nearest rows of ``others``: the first result of `nearest_pages`."""
    return _search(vectors, others, k, products_per_page, both=False)[0]


def nearest_within(vectors: csr_array, k: int, products_per_page: int) -> NDArray[np.int32]:
    """Return for each row the k nearest rows of the same matrix, with itself: `nearest_of` of it and of all its rows.

    The product of two pages is the same for both: those of pages in different blocks are computed once.

    Parameters
    ----------
    vectors : csr_array, shape (n_pages, n), sorted, values >= 0
    k, products_per_page : int
        Each page counts twice, once on either side.

    Returns
    -------
    ndarray of int32, shape (n_pages, k)
        As those of `nearest_pages`.

    Examples
    --------
    >>> nearest_within(csr_array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]), 2, 100).tolist()
    [[0, 1], [1, 0], [2, 1]]
    """
    part = _affordable_part(vectors, vectors, most_products(products_per_page, *vectors.shape[:1] * 2))
    compared, n_pages = _compared_part(vectors, part), _pages_at_once(vectors, vectors, k)
    if vectors.shape[0] <= _COMPARED:
        return _best_within(compared, k, n_pages)
    order = by_frequent_terms(compared)
    return _by_number(_renumbered(_best_within(csr_array(compared[order]), k, n_pages), order), order)


def _search(
    vectors_a: csr_array, vectors_b: csr_array, k: int, products_per_page: int, both: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    most = most_products(products_per_page, vectors_a.shape[0], vectors_b.shape[0])
    part = _affordable_part(vectors_a, vectors_b, most)
    n_pages = _pages_at_once(vectors_a, vectors_b, k)
    vectors_a, vectors_b = _compared_part(vectors_a, part), _compared_part(vectors_b, part)
    if min(vectors_a.shape[0], vectors_b.shape[0]) <= _COMPARED:
        return _best_by_blocks(vectors_a, vectors_b, k, both, n_pages)
    order = by_frequent_terms(vectors_b)
    of_a, of_b = _best_by_blocks(vectors_a, csr_array(vectors_b[order]), k, both, n_pages)
    return _renumbered(of_a, order), _by_number(of_b, order) if both else of_b


def _compared_part(vectors: csr_array, part: Part | None) -> csr_array:
    """Return what is compared of vectors, taken block by block: `Part.of` needs memory beside its result."""
    if part is None:
        return vectors
    firsts = range(0, max(vectors.shape[0], 1), _COMPARED)
    return stacked(part.of(some_rows(vectors, first, _COMPARED)) for first in firsts)


def _renumbered(places: NDArray[np.int32], order: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the numbers of the pages at some places of an order; -1 stays."""
    return np.where(places >= 0, order[places], -1).astype(np.int32)


def _by_number(lists: NDArray[np.int32], order: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return lists of pages that come in an order by the numbers of the pages."""
    result = np.empty_like(lists)
    result[order] = lists
    return result


def _affordable_part(vectors_a: csr_array, vectors_b: csr_array, most: int) -> Part | None:
    """Return what can be compared of vectors; None: all."""
    if pages_with(vectors_a) @ pages_with(vectors_b) <= most:
        return None
    return affordable(weights_of([vectors_a]), weights_of([vectors_b]), most)


def _pages_at_once(vectors_a: csr_array, vectors_b: csr_array, k: int) -> int:
    """Return the number of pages of b that the pages of a are compared with at a time: fewer where a has little.

    Each block of b is copied, and for each one all of a and its lists are read: a block that is as large costs little.
    """
    n_read = vectors_a.nnz + k * vectors_a.shape[0]
    of_page = max(1, vectors_b.nnz // max(1, vectors_b.shape[0]))
    return min(_COMPARED, max(1, max(n_read, _BLOCK) // of_page))


def _best_by_blocks(
    vectors_a: csr_array, vectors_b: csr_array, k: int, both: bool, n_pages: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return what `nearest_pages` returns; each page of a is compared with ``n_pages`` pages of b at a time."""
    x, parts, of_columns = kernels.arrays_of(vectors_a), _parts(range(vectors_a.shape[0])), []
    nearest = [_empty_lists(rows.stop - rows.start, k) for rows in parts]
    for first in range(0, max(vectors_b.shape[0], 1), n_pages):
        block = csr_array(some_rows(vectors_b, first, n_pages).T)
        nearest, (of_column, _) = _compare(x, block, first, parts, nearest, both)
        of_columns.append(of_column)
    return np.concatenate([pages for pages, _ in nearest]), np.concatenate(of_columns)


def _best_within(vectors: csr_array, k: int, n_pages: int) -> NDArray[np.int32]:
    """Return what `nearest_within` returns: each block of pages is compared with itself, and with the pages behind it.

    What is found behind it goes into the lists of both pages.
    """
    x, size = kernels.arrays_of(vectors), vectors.shape[0]
    pages, scores = lists = _empty_lists(size, k)
    for first in range(0, size, n_pages):
        end = min(first + n_pages, size)
        block = csr_array(some_rows(vectors, first, n_pages).T)
        _extend(lists, range(first, end), x, block, first, both=False)
        of_block = _extend(lists, range(end, size), x, block, first, both=True)
        pages[first:end], scores[first:end] = _merged([(pages[first:end], scores[first:end]), of_block], k)
    return pages


def _extend(lists: _Lists, rows: range, x: kernels.Csr, block: csr_array, first: int, both: bool) -> _Lists:
    """Put what some rows find in a block into their lists; return those of the pages of the block."""
    (pages, scores), parts = lists, _parts(rows)
    found, of_block = _compare(x, block, first, parts, [(pages[part], scores[part]) for part in parts], both)
    for part, of_rows in zip(parts, found, strict=True):
        pages[part], scores[part] = of_rows
    return of_block


def _empty_lists(n: int, k: int) -> _Lists:
    return np.full((n, k), -1, np.int32), np.zeros((n, k), np.float32)


def _parts(rows: range) -> list[slice]:
    """Return the rows that each core compares."""
    n_parts = max(1, min(at_once(), len(rows) // _PART))
    ends = [rows.start + len(rows) * part // n_parts for part in range(n_parts + 1)]
    return [slice(*between) for between in pairwise(ends)]


def _compare(
    x: kernels.Csr, block: csr_array, first: int, parts: Sequence[slice], nearest: Sequence[_Lists], both: bool
) -> tuple[list[_Lists], _Lists]:
    """Return the nearest of each part of the rows, of this block and those before, and those of each page of the block.

    Each core compares a part; of equal scores, the nearest of a page keep those of the part before.
    """
    (starts, columns, data), y, k = x, kernels.arrays_of(block), nearest[0][0].shape[1]

    def compare_part(part: int) -> tuple[_Lists, _Lists]:
        rows = parts[part]
        own = starts[rows.start : rows.stop + 1], columns, data
        found = kernels.best_products(own, y, block.shape[1], k, both, first, *nearest[part])
        return found[:2], (np.where(found[2] >= 0, found[2] + np.int32(rows.start), found[2]), found[3])

    seconds = _ROW_SECONDS * (parts[-1].stop - parts[0].start) / len(parts)
    of_rows, of_columns = zip(*threaded(compare_part, range(len(parts)), seconds=seconds), strict=True)
    return [*of_rows], _merged(of_columns, k)


def _merged(lists: Sequence[_Lists], k: int) -> _Lists:
    """Merge several lists of each page; of equal scores, those of the list before come first."""
    if len(lists) == 1:
        return lists[0]
    pages, scores = (np.hstack(each) for each in zip(*lists, strict=True))
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(pages, order, axis=1), np.take_along_axis(scores, order, axis=1)
