"""Compiled products of CSR matrices that are stored. Input arrays are not checked.

Indices read from an array are unsigned: numba then omits the test for negative indices, which is measurable in
loops this short.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import FEW, Unsigned, compiled_beyond, part_of_kernel

__all__ = ["ONE", "Csr", "Index", "add_few_products", "product", "with_translations"]

Index = np.uint32
ONE = np.uint32(1)
Csr = tuple[NDArray[np.int64], NDArray[Index], NDArray[np.float32]]
"""``indptr``, ``indices``, ``data``."""


@part_of_kernel
def add_few_products(i: int, x: Csr, y: Csr, row: NDArray[np.float32], reached: NDArray[Index]) -> int:
    """Add row i of the product of two matrices to ``row``; list the columns that it reaches, and return their number.

    A column is listed again if its sum is still 0.
    """
    x_starts, x_columns, x_data = x
    y_starts, y_columns, y_data = y
    n = 0
    for at in range(x_starts[i], x_starts[i + 1]):
        factor, term = x_data[at], x_columns[at]
        for link in range(Unsigned(y_starts[term]), Unsigned(y_starts[term + ONE])):
            j = y_columns[link]
            reached[n] = j  # overwritten by the next one if it was listed before: faster than a test
            n += row[j] == 0
            row[j] += factor * y_data[link]
    return n


@part_of_kernel
def _write_products(
    i: int, x: Csr, y: Csr, row: NDArray[np.float32], reached: NDArray[Index], values: NDArray[np.float32]
) -> int:
    """Write row i of the product of two matrices, the column that is reached last first; return its length.

    The columns are written to ``reached``, which has one place more than the row has summands. ``row`` is left empty.
    """
    n_reached, n = add_few_products(i, x, y, row, reached), 0
    for k in range(n_reached // 2):
        reached[k], reached[n_reached - 1 - k] = reached[n_reached - 1 - k], reached[k]
    for k in range(n_reached):
        column = reached[k]
        reached[n], values[n] = column, row[column]
        n += row[column] != 0  # else it was listed before
        row[column] = 0
    return n


@compiled_beyond(FEW)
def product(x: Csr, y: Csr, n_columns: int, columns: NDArray[Index], values: NDArray[np.float32]) -> NDArray[np.int64]:
    """Write the product of two nonnegative matrices, and return where its rows start.

    The order of a row's columns, and of the summands of an entry, is that of scipy.

    Parameters
    ----------
    x, y : Csr
    n_columns : int
        Of y.
    columns, values : ndarray, shape (number of all summands + 1,)
        For the columns and values of the product.
    """
    starts, row = np.zeros(len(x[0]), np.int64), np.zeros(n_columns, np.float32)
    for i in range(len(x[0]) - 1):
        first = starts[i]
        starts[i + 1] = first + _write_products(i, x, y, row, columns[first:], values[first:])
    return starts


@part_of_kernel
def _to_unit_length(values: NDArray[np.float32], scale: np.float32) -> None:
    """Divide a vector by its length, and multiply it by ``scale``."""
    squares = 0.0
    for value in values:
        squares += np.float64(value) * np.float64(value)
    length = np.sqrt(squares) if squares > 0 else np.float64(1.0)
    for k in range(len(values)):
        values[k] = np.float32(np.divide(np.float64(values[k]), length)) * scale


@compiled_beyond(FEW)
def with_translations(
    x: Csr,
    y: Csr,
    n_columns: tuple[int, int],
    own_first: bool,
    scale: np.float32,
    columns: NDArray[Index],
    values: NDArray[np.float32],
) -> NDArray[np.int64]:
    """Write the rows of x beside those of the product of x and y, and return where the rows start.

    The rows of the product are brought to unit length; then all is multiplied by ``scale``.

    Parameters
    ----------
    x, y : Csr
        Nonnegative; the first row of x need not start at 0.
    n_columns : tuple of int
        Of x and of y.
    own_first : bool
        Whether the columns of x come before those of the product.
    scale : float32
    columns, values : ndarray, shape (number of all summands + number of entries of x + 1,)
        For the columns and values of the result.
    """
    x_starts, x_columns, x_data = x
    starts, row = np.zeros(len(x_starts), np.int64), np.zeros(n_columns[1], np.float32)
    before_own, before_others = (0, n_columns[0]) if own_first else (n_columns[1], 0)
    for i in range(len(x_starts) - 1):
        n_own, first = x_starts[i + 1] - x_starts[i], starts[i]
        others = first + (n_own if own_first else 0)
        end = others + _write_products(i, x, y, row, columns[others:], values[others:])
        _to_unit_length(values[others:end], scale)
        for k in range(others, end):
            columns[k] += np.uint32(before_others)
        own = first if own_first else end
        for k in range(n_own):
            columns[own + k] = x_columns[x_starts[i] + k] + np.uint32(before_own)
            values[own + k] = x_data[x_starts[i] + k] * scale
        starts[i + 1] = max(end, own + n_own)
    return starts
