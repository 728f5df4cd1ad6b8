"""Rivals: for each candidate pair, the best other candidate of either page."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.compiled import Unsigned, code_runs, compiled
from twinlink.sparse import check_csr, check_shape, entry_rows

__all__ = ["Rivalry"]

Floats = NDArray[np.float64]
Values = NDArray[np.floating]
"""Float32 or float64."""
Marks = NDArray[np.bool_]
Places = NDArray[np.int64]
Narrow = NDArray[np.uint32]

ALL: Marks = np.zeros(0, np.bool_)
"""An empty mask: all candidates remain."""
FEW_CANDIDATES = 4_000
"""Up to here numpy takes less than .2 ms per call, and numba need not be loaded for it. Where it is, its loop takes a
tenth of that; both return the same."""


class Rivalry:
    """Rows and columns of a candidate pattern, arranged for fast maxima and sums.

    Parameters
    ----------
    pattern : csr_array, shape (n_pages_a, n_pages_b)
        Candidate pairs: its stored entries, in row order; their values are ignored.

    Raises
    ------
    ShapeError
        If it is no ``csr_array``: the entries of other formats have another order.

    Examples
    --------
    >>> rivalry = Rivalry(csr_array([[0.9, 0.5], [0.7, 0.0]]))
    >>> rivalry.rivals(np.array([0.9, 0.5, 0.7])).tolist()
    [0.7, 0.9, 0.9]
    """

    def __init__(self, pattern: csr_array) -> None:
        pattern = check_csr(pattern, "pattern")
        self.shape = pattern.shape
        self.rows: Places = entry_rows(pattern)
        self.columns: Places = pattern.indices.astype(np.int64)
        self.row_starts: Places = pattern.indptr.astype(np.int64)
        self.narrow_columns: Narrow = pattern.indices.astype(np.int32, copy=False).view(np.uint32)
        """The columns again, for loops over all candidates: on large sites these take as long as it takes to read."""

    def rivals(self, values: Values, left: Marks | None = None) -> Values:
        """Return for each candidate the largest value of another one in its row or its column.

        Parameters
        ----------
        values : ndarray, shape (n_candidates,), values >= 0, none of them NaN; less counts as 0
            Any measure of the candidates.
        left : ndarray of bool, shape (n_candidates,), optional
            Candidates that are left: the others count as 0. By default all are.

        Returns
        -------
        ndarray, shape (n_candidates,)
            0 where the candidate is the only one in its row and its column.

        Raises
        ------
        ShapeError
            If an array does not have one value for each candidate.
        """
        values = np.asarray(values)
        left = None if left is None else np.asarray(left, np.bool_)
        for array, name in ((values, "values"), (left, "left")):
            if array is not None:
                check_shape(array, self.rows.shape, name, "the candidates")
        if len(values) <= FEW_CANDIDATES and not code_runs():
            wide = values.astype(np.float64) if left is None else np.where(left, values, 0.0)
            return _best_of_few(self.rows, self.columns, wide, *self.shape).astype(values.dtype, copy=False)
        left = ALL if left is None else left
        return _best_of_many(self.row_starts, self.narrow_columns, values, left, self.shape[1])

    def pages(self, candidates: NDArray[np.integer]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Mark the rows and the columns of some candidates, given by their positions."""
        of_row, of_column = (np.zeros(n, np.bool_) for n in self.shape)
        of_row[self.rows[candidates]] = of_column[self.columns[candidates]] = True
        return of_row, of_column

    def sums(self, values: Floats) -> tuple[Floats, Floats]:
        """Return for each candidate the sum of its row and that of its column, itself included.

        Examples
        --------
        >>> [sums.tolist() for sums in Rivalry(csr_array([[9, 5], [7, 0]])).sums(np.array([3.0, 1.0, 2.0]))]
        [[4.0, 4.0, 2.0], [5.0, 1.0, 5.0]]
        """
        n_rows, n_columns = self.shape
        of_row: Floats = np.bincount(self.rows, values, n_rows).astype(np.float64)
        of_column: Floats = np.bincount(self.columns, values, n_columns).astype(np.float64)
        return of_row[self.rows], of_column[self.columns]


def _best_of_few(rows: Places, columns: Places, values: Floats, n_rows: int, n_columns: int) -> Floats:
    return np.maximum(_best_other(rows, values, n_rows), _best_other(columns, values, n_columns))


def _best_other(groups: Places, values: Floats, n_groups: int) -> Floats:
    """Return for each value the largest other one of its group."""
    largest, second = np.zeros((2, n_groups))
    np.maximum.at(largest, groups, values)
    is_largest = values == largest[groups]
    np.maximum.at(second, groups[~is_largest], values[~is_largest])
    several = np.bincount(groups[is_largest], minlength=n_groups) > 1
    second[several] = largest[several]
    return np.where(is_largest, second[groups], largest[groups])


@compiled
def _best_of_many(starts: Places, columns: Narrow, values: Values, left: Marks, n_columns: int) -> Values:
    """Find the two largest values of each column in one pass, those of each row in another, and choose between them.

    The two of a column are side by side, so that a candidate reads one place of memory instead of two: on large sites
    this takes most of the time. ``starts`` has the place of the first candidate of each row, and their number.
    """
    of_column = np.zeros((n_columns, 2), values.dtype)
    all_left, none = len(left) == 0, values.dtype.type(0)
    for k in range(len(values)):
        value, column = values[k] if all_left or left[k] else none, columns[k]
        largest = of_column[column, 0]
        of_column[column, 1] = max(of_column[column, 1], min(largest, value))
        of_column[column, 0] = max(largest, value)
    best = np.empty(len(values), values.dtype)
    for row in range(len(starts) - 1):
        largest, second = none, none
        for k in range(Unsigned(starts[row]), Unsigned(starts[row + 1])):
            value = values[k] if all_left or left[k] else none
            second = max(second, min(largest, value))
            largest = max(largest, value)
        for k in range(Unsigned(starts[row]), Unsigned(starts[row + 1])):
            value, column = values[k] if all_left or left[k] else none, columns[k]
            in_row = largest if value < largest else second
            in_column = of_column[column, 0] if value < of_column[column, 0] else of_column[column, 1]
            best[k] = max(in_row, in_column)
    return best
