"""One-to-one matching of pages by the scores of their candidates (Liu et al. 2014, Algorithm 3)."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from twinlink.errors import ConfigError
from twinlink.graph.checks import check_scores
from twinlink.graph.kernels import greedy_positions, mutual_best
from twinlink.sparse import entry_rows

__all__ = ["Matching", "greedy_among", "greedy_matching", "greedy_order", "optimal_matching"]

Pages = NDArray[np.int64]
Marks = NDArray[np.bool_]

FEW_CANDIDATES = 4_000
"""Up to here sorting takes less than .1 ms, and numba need not be loaded."""


class Matching(msgspec.Struct, frozen=True, eq=False):
    """One-to-one page pairs, ordered by descending score, then row, then column."""

    rows: Pages
    """Page of the first language of each pair."""
    columns: Pages
    """Page of the second language of each pair."""
    scores: NDArray[np.float32]
    """Score of each pair."""

    def __len__(self) -> int:
        return self.rows.size


def greedy_matching(scores: csr_array, max_pairs: int | None = None, min_score: float = 0.0) -> Matching:
    """Match greedily: take the best pair, remove its two pages, repeat (Liu et al. 2014, Algorithm 3).

    ``<x, y> = argmax(scores)`` over the remaining pages, until there are ``max_pairs`` pairs or the best score is
    below ``min_score``. Equal scores are taken by row, then column.

    Parameters
    ----------
    scores : csr_array of float32, shape (n_source, n_target), values in [0, 1]
        ETS, or any other score. Only stored entries can become pairs, explicit zeros too if ``min_score`` is 0.
    max_pairs : int, optional
        MAX_P of the paper. As printed, the loop ends when the list is longer than MAX_P; the text says that "only
        top MAX_P page pairs will be extracted", which is implemented here. Default: no limit.
    min_score : float
        MIN_SIM of the paper; a pair with exactly this score (as float32) is taken.

    Returns
    -------
    Matching

    Raises
    ------
    ShapeError
        If a score is NaN or outside [0, 1].
    ConfigError
        If ``max_pairs`` is negative, or ``min_score`` is NaN.

    Examples
    --------
    >>> matching = greedy_matching(csr_array([[0.9, 0.8], [0.8, 0.1]]))
    >>> matching.rows.tolist(), matching.columns.tolist()
    ([0, 1], [0, 1])
    >>> len(greedy_matching(csr_array([[0.9, 0.8], [0.8, 0.1]]), min_score=0.5))
    1
    """
    if max_pairs is not None and max_pairs < 0:
        raise ConfigError(f"greedy_matching: expected max_pairs of at least 0, got {max_pairs}")
    _check_number(min_score, "greedy_matching")
    rows, columns, values = _entries(scores)
    taken = greedy_among(values, rows, columns, values >= np.float32(min_score), *scores.shape)
    return _select(rows, columns, values, taken[:max_pairs])


def greedy_among(
    scores: NDArray[np.float32], rows: Pages, columns: Pages, among: Marks, n_rows: int, n_columns: int
) -> Pages:
    """Return the positions of the candidates that a greedy matching takes, the best first.

    Of many candidates, those that are the best for both pages are taken without sorting. On large sites few are left,
    and sorting all would take longer than all the rest.

    Parameters
    ----------
    scores : ndarray of float32, shape (n_candidates,), values >= 0
    rows, columns : ndarray of int64, shape (n_candidates,)
        Of equal scores, the first is taken.
    among : ndarray of bool, shape (n_candidates,)
        Candidates that may be taken.
    n_rows, n_columns : int

    Returns
    -------
    ndarray of int64
    """
    taken, left = np.empty(0, np.int64), np.flatnonzero(among)
    if len(left) > FEW_CANDIDATES:
        taken, left = mutual_best(scores, rows, columns, left, n_rows, n_columns)
    ranked = left[greedy_order(scores[left])]
    rest = greedy_positions(rows[ranked], columns[ranked], n_rows, n_columns, min(n_rows, n_columns))
    taken = np.sort(np.concatenate([taken, ranked[rest]]))
    return taken[greedy_order(scores[taken])]


def optimal_matching(scores: csr_array, min_score: float = 0.0) -> Matching:
    """Match with the largest sum of scores: the exact alternative to `greedy_matching`.

    ``max sum(scores[x, y])`` over all one-to-one matchings of stored entries that are not below ``min_score``; a
    page may remain unmatched. Better where one wrong pair at the top would displace several right ones, and slower
    (about a second for 5,000 x 5,000 pages with 20 candidates per page).

    Parameters
    ----------
    scores : csr_array of float32, shape (n_source, n_target), values in [0, 1]
    min_score : float

    Returns
    -------
    Matching

    Raises
    ------
    ShapeError
        If a score is NaN or outside [0, 1].
    ConfigError
        If ``min_score`` is NaN.

    Examples
    --------
    >>> matching = optimal_matching(csr_array([[0.9, 0.8], [0.8, 0.1]]))
    >>> matching.rows.tolist(), matching.columns.tolist()
    ([0, 1], [1, 0])
    """
    _check_number(min_score, "optimal_matching")
    rows, columns, values = _ranked(scores, min_score)
    n_rows, n_columns = scores.shape
    # SciPy requires every row to be matched and rejects a cost of 0: a pair costs 2 - score, and each row has a
    # column of its own for being unmatched: its null partner.
    costs = csr_array((2.0 - values.astype(np.float64), (rows, columns)), shape=(n_rows, n_columns))
    alone = csr_array((np.full(n_rows, 2.0), np.arange(n_rows), np.arange(n_rows + 1)), shape=(n_rows, n_rows))
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching  # .02 s, and not needed by the greedy matching

    chosen_rows, chosen = min_weight_full_bipartite_matching(hstack([costs, alone], format="csr"))
    key = chosen_rows * (n_columns + n_rows) + chosen
    return _select(rows, columns, values, np.flatnonzero(np.isin(rows * (n_columns + n_rows) + columns, key)))


def _check_number(min_score: float, name: str) -> None:
    if np.isnan(min_score):
        raise ConfigError(f"{name}: expected a number as min_score, got {min_score}")


def _entries(scores: csr_array) -> tuple[Pages, Pages, NDArray[np.float32]]:
    """Rows, columns and values of the stored entries."""
    matrix = check_scores(scores)
    rows = entry_rows(matrix)
    return rows, matrix.indices.astype(np.int64), matrix.data


def _ranked(scores: csr_array, min_score: float) -> tuple[Pages, Pages, NDArray[np.float32]]:
    """Rows, columns and values of the entries of at least ``min_score``, in the order of a greedy matching."""
    rows, columns, values = _entries(scores)
    order = greedy_order(values)
    order = order[values[order] >= np.float32(min_score)]
    return rows[order], columns[order], values[order]


def _select(rows: Pages, columns: Pages, values: NDArray[np.float32], positions: Pages) -> Matching:
    return Matching(rows=rows[positions], columns=columns[positions], scores=values[positions])


def greedy_order(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the positions of ``scores`` by descending score, then by position.

    For the data of a ``csr_array`` with sorted rows this is the order by descending score, then row, then column.

    Parameters
    ----------
    scores : array of float32, shape (n,), no value negative or NaN
        Fewer than 2**32.

    Returns
    -------
    array of int64, shape (n,)

    Examples
    --------
    >>> greedy_order(np.array([0.0, 0.5, 1.0, 0.5], dtype=np.float32)).tolist()
    [2, 1, 3, 0]
    """
    # The bits of a nonnegative float increase with its value. Score and position are packed into one integer, which
    # sorts about twice as fast as a stable argsort. Adding 0 turns -0.0 into 0.0.
    bits = (scores + np.float32(0)).view(np.uint32).astype(np.uint64)
    keys = ((np.uint64(2**32 - 1) - bits) << np.uint64(32)) | np.arange(scores.size, dtype=np.uint64)
    keys.sort()
    return (keys & np.uint64(2**32 - 1)).astype(np.int64)
