"""Idioms of sparse matrices: the stored entries of a ``csr_array`` as rows, columns, keys and places.

All matrices are sorted: the columns of each row are strictly increasing. The *key* of an entry is ``row · n_columns
+ column``, so the keys of all stored entries are increasing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from twinlink.errors import ShapeError
from twinlink.sorted_keys import find_keys
from twinlink.system.scratch import KeptParts, kept

__all__ = [
    "as_rows",
    "as_weights",
    "carry_over",
    "check_csr",
    "check_shape",
    "check_unit",
    "counts_of",
    "entries",
    "entry_keys",
    "entry_rows",
    "kept_matrix",
    "members",
    "narrow",
    "pattern_from",
    "positions",
    "select",
    "some_rows",
    "stacked",
    "union_of",
    "with_values",
    "without_zeros",
]

Numbers = NDArray[np.int64]
Marks = NDArray[np.bool_]

MOST_NARROW = np.iinfo(np.int32).max
"""Largest index, and number of entries, for which 32 bits suffice."""


def check_csr(matrix: object, name: str) -> csr_array:
    """Return the matrix if it is a ``csr_array`` of two dimensions: for values that are in the order of its entries.

    Raises
    ------
    ShapeError
        If it is another one. A conversion would change the order of the entries, or, from a dense matrix, their number.
        If the row or the column of an entry is outside the shape: kernels would read other memory.
    """
    if not isinstance(matrix, csr_array) or matrix.ndim != 2:
        kind = type(matrix).__name__
        if isinstance(matrix, csr_array):
            kind, hint = f"one of shape {matrix.shape}", ""
        else:
            hint = "; csr_array(matrix) makes one of it" if issparse(matrix) else ""
        raise ShapeError(f"{name}: expected a csr_array of two dimensions, got {kind}{hint}")
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise ShapeError(f"{name}: expected columns within shape {matrix.shape}, got others ({error})") from error
    return matrix


def check_shape(array: NDArray[Any] | csr_array, shape: tuple[int, ...], name: str, of: str) -> None:
    """Check the shape of an array or a matrix.

    Raises
    ------
    ShapeError
        If it has another one.

    Examples
    --------
    >>> check_shape(np.ones(2), (3,), "weights", "the pairs")
    Traceback (most recent call last):
    ...
    twinlink.errors.ShapeError: weights: expected shape (3,) as the pairs have it, got (2,)
    """
    if array.shape != shape:
        raise ShapeError(f"{name}: expected shape {shape} as {of} have it, got {array.shape}")


def check_unit(values: NDArray[np.floating], name: str) -> None:
    """Check that all values are in [0, 1].

    Raises
    ------
    ShapeError
        If one is outside, or NaN.

    Examples
    --------
    >>> check_unit(np.array([0.5, np.nan]), "weights")
    Traceback (most recent call last):
    ...
    twinlink.errors.ShapeError: weights: expected values in [0, 1], got nan
    """
    wrong = values[~((values >= 0) & (values <= 1))]
    if len(wrong):
        raise ShapeError(f"{name}: expected values in [0, 1], got {wrong[0]!s}")


def as_rows(matrix: Any, name: str) -> csr_array:
    """Return a sparse matrix of any format as a ``csr_array``, without a copy if it is one.

    Raises
    ------
    ShapeError
        If it is no sparse matrix of two dimensions. A dense one would lose its zeros, which may be candidates.

    Examples
    --------
    >>> as_rows(csr_array([[1, 2]]).T, "counts").indptr.tolist()
    [0, 1, 2]
    """
    is_other = issparse(matrix) and not isinstance(matrix, csr_array)
    return check_csr(csr_array(matrix) if is_other else matrix, name)


def as_weights(matrix: Any, name: str) -> csr_array:
    """Return a sparse matrix as `as_rows` does, in floating point, without stored zeros; repeated entries are summed.

    Numbers of float32 and float64 are not converted: logarithms of small whole numbers would have 16 bits.

    Raises
    ------
    ShapeError
        As in `as_rows`, or if a value is negative, infinite or NaN.
    """
    rows = as_rows(matrix, name)
    if rows.nnz and not (rows.data.min() >= 0 and rows.data.max() < np.inf):  # in this form NaN does not pass
        raise ShapeError(f"{name}: expected finite values >= 0, got {rows.data.min()!s} to {rows.data.max()!s}")
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    is_float = rows.dtype in (np.float32, np.float64)
    return without_zeros(rows if is_float else rows.astype(np.float32))


def without_zeros(matrix: csr_array) -> csr_array:
    """Return a matrix without stored zeros: a copy if there are any."""
    return matrix if matrix.data.all() else select(matrix, matrix.data != 0)


def entry_rows(matrix: csr_array) -> Numbers:
    """Return the row of each stored entry.

    Examples
    --------
    >>> entry_rows(csr_array([[0, 3], [4, 5]])).tolist()
    [0, 1, 1]
    """
    rows: Numbers = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows


def entries(matrix: csr_array) -> tuple[Numbers, Numbers]:
    """Return row and column of each stored entry."""
    return entry_rows(matrix), matrix.indices.astype(np.int64)


def entry_keys(matrix: csr_array) -> Numbers:
    """Return the key of each stored entry, in increasing order."""
    return entry_rows(matrix) * matrix.shape[1] + matrix.indices


def positions(pattern: csr_array, rows: NDArray[np.integer], columns: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the positions of given stored entries among all stored entries of a matrix."""
    return np.searchsorted(entry_keys(pattern), rows.astype(np.int64) * pattern.shape[1] + columns)


def members(pattern: csr_array, other: csr_array) -> Marks:
    """Return for each stored entry of ``pattern`` whether ``other`` stores it, too."""
    return find_keys(entry_keys(pattern), entry_keys(other))[1]


def with_values(pattern: csr_array, values: NDArray[np.floating]) -> csr_array:
    """Return a matrix of float32 with the stored entries of ``pattern`` and other values."""
    return csr_array((values.astype(np.float32), pattern.indices, pattern.indptr), shape=pattern.shape)


def narrow(matrix: csr_array) -> csr_array:
    """Return a matrix whose indices have 32 bits where these suffice: 8 bytes for an entry of float32 instead of 12.

    Examples
    --------
    >>> wide = csr_array((np.ones(1), np.array([1]), np.array([0, 1])), shape=(1, 2))
    >>> wide.indices.dtype.name, narrow(wide).indices.dtype.name
    ('int64', 'int32')
    """
    is_narrow = matrix.indices.dtype == matrix.indptr.dtype == np.int32
    if is_narrow or max(*matrix.shape, matrix.nnz) > MOST_NARROW:
        return matrix
    places = matrix.indices.astype(np.int32, copy=False), matrix.indptr.astype(np.int32, copy=False)
    return csr_array((matrix.data, *places), shape=matrix.shape)


def kept_matrix(matrix: csr_array) -> csr_array:
    """Return a matrix with arrays that are `kept` between the steps of a task."""
    return csr_array((kept(matrix.data), kept(matrix.indices), kept(matrix.indptr)), shape=matrix.shape)


def stacked(parts: Iterable[csr_array]) -> csr_array:
    """Return matrices of one width, at least one, as one matrix, each below the one before; its arrays are `kept`.

    Each part is read once, and put into a file before the next one is made if there is no room in memory.

    Examples
    --------
    >>> stacked(csr_array([[number]]) for number in (1, 2)).toarray().tolist()
    [[1], [2]]
    """
    data, columns, lengths, width = KeptParts(), KeptParts(), [np.zeros(1, np.int64)], 0
    for part in map(narrow, parts):
        data.append(part.data)
        columns.append(part.indices)
        lengths.append(np.diff(part.indptr))
        width = part.shape[1]
    starts = np.cumsum(np.concatenate(lengths), dtype=np.int64)
    if starts[-1] <= MOST_NARROW:
        starts = starts.astype(np.int32)  # wide ones would make a copy of the columns
    return csr_array((data.joined(), columns.joined(), starts), shape=(len(starts) - 1, width))


def select(matrix: csr_array, which: Marks) -> csr_array:
    """Return a matrix with some of the stored entries.

    Examples
    --------
    >>> select(csr_array([[7, 8], [9, 0]]), np.array([True, False, True])).toarray().tolist()
    [[7, 0], [9, 0]]
    """
    n_before = np.zeros(len(which) + 1, matrix.indptr.dtype)  # of a large matrix, copies of 64 bits would be noticed
    np.cumsum(which, dtype=n_before.dtype, out=n_before[1:])
    starts = n_before[matrix.indptr]
    return csr_array((matrix.data[which], matrix.indices[which], starts), shape=matrix.shape)


def some_rows(matrix: csr_array, first: int, n: int) -> csr_array:
    """Return at most ``n`` rows, from number ``first`` on; their entries are not copied.

    Examples
    --------
    >>> some_rows(csr_array([[1], [2], [3]]), 1, 9).toarray().tolist()
    [[2], [3]]
    """
    starts = matrix.indptr[first : first + n + 1]
    places = slice(starts[0], starts[-1])
    arrays = matrix.data[places], matrix.indices[places], starts - starts[0]
    return csr_array(arrays, shape=(len(starts) - 1, matrix.shape[1]))


def pattern_from(rows: Numbers, columns: Numbers, shape: tuple[int, int]) -> csr_array:
    """Return a matrix of bool that stores True at some places, in any order, repeated or not.

    Examples
    --------
    >>> pattern_from(np.array([1, 0, 1]), np.array([0, 1, 0]), (2, 2)).toarray().astype(int).tolist()
    [[0, 1], [1, 0]]
    """
    keys, firsts = _distinct(rows, columns, shape)
    return _from_keys(keys[firsts], shape)


def counts_of(rows: Numbers, columns: Numbers, shape: tuple[int, int]) -> csr_array:
    """Return a matrix of uint8 that stores how often each place is given: at least once, at most 255 times.

    Examples
    --------
    >>> counts_of(np.array([1, 0, 1]), np.array([0, 1, 0]), (2, 2)).toarray().tolist()
    [[0, 1], [2, 0]]
    """
    keys, firsts = _distinct(rows, columns, shape)
    matrix = _from_keys(keys[firsts], shape)
    counts = np.diff(firsts, append=len(keys)).astype(np.uint8)
    return csr_array((counts, matrix.indices, matrix.indptr), shape=shape)


def _distinct(rows: Numbers, columns: Numbers, shape: tuple[int, int]) -> tuple[Numbers, NDArray[np.intp]]:
    """Return the keys of some places in order, and where each distinct one is first."""
    keys = np.sort(rows * shape[1] + columns)
    is_new = np.ones(len(keys), np.bool_)  # np.unique takes many times as long
    is_new[1:] = keys[1:] != keys[:-1]
    return keys, np.flatnonzero(is_new)


def _from_keys(keys: Numbers, shape: tuple[int, int]) -> csr_array:
    rows, columns = np.divmod(keys, max(1, shape[1]))
    starts = np.searchsorted(rows, np.arange(shape[0] + 1))
    return narrow(csr_array((np.ones(len(keys), np.bool_), columns, starts), shape=shape))


def union_of(*patterns: csr_array) -> csr_array:
    """Return the union of the stored entries of matrices of one shape, as a matrix of bool with values True."""
    rows, columns = (np.concatenate(parts) for parts in zip(*map(entries, patterns), strict=True))
    return pattern_from(rows, columns, patterns[0].shape)


def carry_over(
    old: csr_array, values: NDArray[np.floating], new: csr_array, measure: Callable[[csr_array], NDArray[np.floating]]
) -> NDArray[np.float32]:
    """Return values for the entries of ``new``: those of ``old`` are kept, ``measure`` computes the others.

    ``measure`` takes a pattern and returns one value for each of its stored entries.
    """
    keys = entry_keys(new)
    places, known = find_keys(keys, entry_keys(old))
    result = np.zeros(len(keys), np.float32)
    result[known] = values[places[known]]
    missing = ~known
    if missing.any():
        result[missing] = measure(_from_keys(keys[missing], new.shape))
    return result
