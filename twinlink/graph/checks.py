"""Checks of input matrices, which return them in the form that the kernels require."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from twinlink.errors import ShapeError
from twinlink.sparse import check_csr, check_shape, without_zeros

__all__ = ["check_links", "check_marks", "check_neighbours", "check_pages", "check_scores"]

MAX_ENTRIES = 2**32 - 2
"""The kernels number entries from 1 with 32 bits."""

ROUNDING = 1e-6
"""Values outside [0, 1] by at most this much are rounding errors, such as a cosine of 1.0000001, and are clipped."""


def check_scores(scores: csr_array, name: str = "scores") -> csr_array:
    """Validate ``scores`` and return them as float32 with sorted rows, without a copy where possible.

    Raises
    ------
    ShapeError
        If it is not a ``csr_array``, an entry is duplicate or out of bounds, or a value is NaN or outside [0, 1] by
        more than `ROUNDING`.

    Examples
    --------
    >>> check_scores(csr_array([[0.5, 1.5]]))
    Traceback (most recent call last):
    ...
    twinlink.errors.ShapeError: scores: expected values in [0, 1], got 0.5 to 1.5
    """
    matrix = _canonical(scores, name).astype(np.float32, copy=False)
    if matrix.nnz > MAX_ENTRIES:
        raise ShapeError(f"{name}: expected at most {MAX_ENTRIES} stored entries, got {matrix.nnz}")
    if matrix.nnz:
        low, high = matrix.data.min(), matrix.data.max()
        if not (low >= -ROUNDING and high <= 1 + ROUNDING):  # in this form NaN does not pass
            raise ShapeError(f"{name}: expected values in [0, 1], got {low!s} to {high!s}")
        if low < 0 or high > 1:
            matrix = matrix.copy()
            matrix.data.clip(0, 1, out=matrix.data)
    return matrix


def check_neighbours(neighbours: csr_array, n: int, name: str) -> csr_array:
    """Validate ``neighbours`` and return it as bool with sorted rows, without a copy where possible.

    Their values, such as the number of links, do not count: stored zeros are no neighbours, all others are.

    Raises
    ------
    ShapeError
        If it is not a ``csr_array`` of shape (n, n), an entry is duplicate or out of bounds, or a page is its own
        neighbour.
    """
    matrix = _canonical(neighbours, name)
    check_shape(matrix, (n, n), name, "the scores")
    matrix = without_zeros(matrix).astype(np.bool_, copy=False)
    if matrix.diagonal().any():
        raise ShapeError(
            f"{name}: expected no page to be its own neighbour, got some; see twinlink.graph.links.neighbours"
        )
    return matrix


def check_links(source: ArrayLike, target: ArrayLike, n: int) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Validate the links among ``n`` pages and return their sources and targets.

    Raises
    ------
    ShapeError
        As in `check_pages`, or if the two arrays differ in length.
    """
    sources, targets = check_pages(source, n, "source"), check_pages(target, n, "target")
    if sources.size != targets.size:
        raise ShapeError(f"links: expected as many targets as sources, got {targets.size} and {sources.size}")
    return sources, targets


def check_marks(marks: ArrayLike, n: int, name: str, of: str = "nodes") -> NDArray[np.bool_]:
    """Validate marks of ``n`` nodes and return them as an array.

    Raises
    ------
    ShapeError
        If they are not true or false for each node: numbers may be values that stand in the place of marks.
    """
    array = np.asarray(marks)
    if array.shape == (0,):
        array = array.astype(np.bool_)  # an empty list has no type
    if array.shape != (n,) or array.dtype != np.bool_:
        raise ShapeError(f"{name}: expected true or false for each of {n} {of}, got {array.dtype} {array.shape}")
    return array


def check_pages(pages: ArrayLike, n: int, name: str) -> NDArray[np.integer]:
    """Validate numbers of pages and return them as an array, without a copy of one.

    Raises
    ------
    ShapeError
        If they are not whole numbers from 0 to n - 1, in one dimension.
    """
    array = np.asarray(pages)
    if array.ndim != 1:
        raise ShapeError(f"{name}: expected an array of one dimension, got shape {array.shape}")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise ShapeError(f"{name}: expected whole numbers, got {array.dtype}")
    if array.min() < 0 or array.max() >= n:
        raise ShapeError(f"{name}: expected pages 0 to {n - 1}, got {array.min()} to {array.max()}")
    return array


def _canonical(given: object, name: str) -> csr_array:
    matrix = check_csr(given, name)
    rows = matrix if matrix.has_sorted_indices else matrix.sorted_indices()
    if not rows.has_canonical_format:
        raise ShapeError(f"{name}: expected each entry once, got some twice")
    return rows
