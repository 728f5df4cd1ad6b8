"""The nearest candidate of each page: lowest distance, ties to the page that comes first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.config.baselines import BestOf
from twinlink.sparse import entries


def best_candidates(distances: csr_array, best_of: BestOf = "mutual") -> NDArray[np.bool_]:
    """Return which stored pairs are the best candidate of their pages: the one with the lowest distance.

    Parameters
    ----------
    distances : csr_array, shape (n_pages_a, n_pages_b)
        inf and NaN are not candidates.
    best_of : {"mutual", "rows", "columns", "either"}
        Best of its row and of its column (no page comes twice), of its row, of its column, or of one of them. The paper
        (Esplà-Gomis & Forcada 2010, section 4.2) takes the best "for a given file".

    Returns
    -------
    ndarray of bool, shape (distances.nnz,)
        In the order of the stored entries.

    Examples
    --------
    >>> best_candidates(csr_array([[1.0, 2.0], [1.0, 3.0]])).tolist()
    [True, False, False, False]
    >>> best_candidates(csr_array([[1.0, 2.0], [1.0, 3.0]]), "either").tolist()
    [True, True, True, False]
    """
    rows, columns = entries(distances)
    of_row = _lowest(rows, columns, distances.data)
    of_column = _lowest(columns, rows, distances.data)
    if best_of == "either":
        return of_row | of_column
    return {"mutual": of_row & of_column, "rows": of_row, "columns": of_column}[best_of]


def lowest_others(distances: csr_array, best_of: BestOf = "mutual") -> NDArray[np.float64]:
    """Return the lowest distance that each stored pair is compared with in `best_candidates`: that of its pages.

    Examples
    --------
    >>> lowest_others(csr_array([[1.0, 2.0], [1.0, 3.0]])).tolist()
    [1.0, 1.0, 1.0, 1.0]
    >>> lowest_others(csr_array([[1.0, 2.0], [1.0, 3.0]]), "columns").tolist()
    [1.0, 2.0, 1.0, 2.0]
    """
    rows, columns = entries(distances)
    of_row, of_column = np.full(distances.shape[0], np.inf), np.full(distances.shape[1], np.inf)
    np.minimum.at(of_row, rows, distances.data)
    np.minimum.at(of_column, columns, distances.data)
    if best_of in {"rows", "columns"}:
        return np.asarray(of_row[rows] if best_of == "rows" else of_column[columns])
    choose = np.minimum if best_of == "mutual" else np.maximum
    return np.asarray(choose(of_row[rows], of_column[columns]))


def _lowest(pages: NDArray[np.int64], others: NDArray[np.int64], distances: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark the entry with the lowest distance of each page."""
    order = np.lexsort((others, distances, pages))
    lowest = np.zeros(len(pages), np.bool_)
    lowest[order[np.flatnonzero(np.diff(pages[order], prepend=-1))]] = True
    return lowest & np.isfinite(distances)
