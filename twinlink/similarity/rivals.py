"""Rivals: for each candidate pair, the best other candidate of either page."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.sparse import entry_rows

__all__ = ["Rivalry"]

Floats = NDArray[np.float64]


class Rivalry:
    """Rows and columns of a candidate pattern, arranged for fast maxima and sums.

    Parameters
    ----------
    pattern : csr_array, shape (n_pages_a, n_pages_b)
        Candidate pairs: its stored entries, in row order; their values are ignored.

    Examples
    --------
    >>> rivalry = Rivalry(csr_array([[0.9, 0.5], [0.7, 0.0]]))
    >>> rivalry.rivals(np.array([0.9, 0.5, 0.7])).tolist()
    [0.7, 0.9, 0.9]
    """

    def __init__(self, pattern: csr_array) -> None:
        self.shape = pattern.shape
        self.rows: NDArray[np.int64] = entry_rows(pattern)
        self.columns: NDArray[np.int64] = pattern.indices.astype(np.int64)
        self._by_column = np.argsort(self.columns, kind="stable")

    def rivals(self, values: Floats) -> Floats:
        """Return for each candidate the largest value of another one in its row or its column.

        Parameters
        ----------
        values : ndarray, shape (n_candidates,), values >= 0
            Any measure of the candidates.

        Returns
        -------
        ndarray, shape (n_candidates,)
            0 where the candidate is the only one in its row and its column.
        """
        best = _best_other(self.rows, values)
        order = self._by_column
        best[order] = np.maximum(best[order], _best_other(self.columns[order], values[order]))
        return best

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


def _best_other(groups: NDArray[np.int64], values: Floats) -> Floats:
    """Return for each value the largest other one of its group; groups are runs of equal numbers."""
    if not len(values):
        return np.zeros(0)
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    sizes = np.diff(np.r_[starts, len(groups)])
    largest = np.repeat(np.maximum.reduceat(values, starts), sizes)
    is_largest = values == largest
    n_largest = np.repeat(np.add.reduceat(is_largest.astype(np.int64), starts), sizes)
    second = np.repeat(np.maximum.reduceat(np.where(is_largest, 0.0, values), starts), sizes)
    return np.where(is_largest & (n_largest == 1), second, largest)
