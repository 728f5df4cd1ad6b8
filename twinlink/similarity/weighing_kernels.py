"""Standings and the sums of the logistic regression: numpy for few rows, a compiled loop for many.

Input arrays are not checked.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import compiled
from twinlink.system.side_by_side import THREAD_SECONDS, at_once, threaded

__all__ = ["add_standings", "contributions", "logistic_sums", "standardise", "write_standings"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Values = NDArray[np.floating]
"""Evidence of candidates, float32 or float64."""
Standings = tuple[float, ...]
"""A number for each standing."""

_MOST, _LEAST_CURVATURE = 30.0, 1e-9
FEW_ROWS = 1_000
"""Up to here numpy takes less than .2 ms per call; beyond, it takes three times as long as the compiled loop."""
FEW_STANDINGS = 4_000
"""Up to here numpy takes less than .2 ms per call; beyond, it takes seven times as long as the compiled loop."""
_LEAST_VALUE, _LEAST_LEAD, _LEAST_SCALE = 1e-6, 1e-9, 1e-6
N_STANDINGS = 4
SUM_SECONDS = 1e-7
"""What a row takes to be added to the sums of the regression, with 40 columns."""


def write_standings(values: Values, rivals: Values, known: Places, x: Floats, first: int) -> None:
    """Write the four standings of a kind of evidence (`standings.STANDINGS`) to columns of a matrix.

    Parameters
    ----------
    values, rivals : ndarray, shape (n_candidates,), float32 or float64
    known : ndarray of int, shape (n,)
        The candidates.
    x : ndarray, shape (n, n_columns)
    first : int
        Number of the first of the four columns.
    """
    if len(known) > FEW_STANDINGS:
        _write_standings_of_many(values, rivals, known, x, first)
        return
    value = values[known].astype(np.float64)
    lead = value - rivals[known]
    x[:, first], x[:, first + 1] = value, lead
    x[:, first + 2], x[:, first + 3] = np.clip(lead / (value + _LEAST_VALUE), -1, 1), lead > _LEAST_LEAD


@compiled
def _write_standings_of_many(values: Values, rivals: Values, known: Places, x: Floats, first: int) -> None:
    for row in range(len(known)):
        value = np.float64(values[known[row]])
        lead = value - np.float64(rivals[known[row]])
        x[row, first], x[row, first + 1] = value, lead
        x[row, first + 2] = min(max(np.divide(lead, value + _LEAST_VALUE), -1.0), 1.0)
        x[row, first + 3] = 1.0 if lead > _LEAST_LEAD else 0.0


def add_standings(odds: Floats, values: Values, rivals: Values, mean: Floats, scale: Floats, weights: Floats) -> None:
    """Add ``Σ weights·(x - mean) / scale`` over the four standings x of a kind of evidence to ``odds``, in place.

    All is computed in double precision. A product of matrices would leave the order of the sum to BLAS, and take
    longer.
    """
    if len(values) > FEW_STANDINGS:
        _add_standings_of_many(odds, values, rivals, *(tuple(each.tolist()) for each in (mean, scale, weights)))
        return
    standings = np.empty((len(values), N_STANDINGS))
    write_standings(values, rivals, np.arange(len(values)), standings, 0)
    parts = (standings - mean) / scale * weights
    odds += (parts[:, 0] + parts[:, 2]) + (parts[:, 1] + parts[:, 3])


@compiled
def _add_standings_of_many(
    odds: Floats, values: Values, rivals: Values, mean: Standings, scale: Standings, weights: Standings
) -> None:
    """Add them in a loop without branches, of which the processor takes several steps at once.

    The operator ``/`` would be a branch: it raises an error for 0.
    """
    best = np.divide(1.0 - mean[3], scale[3]) * weights[3]
    not_best = np.divide(0.0 - mean[3], scale[3]) * weights[3]
    for k in range(len(values)):
        value = np.float64(values[k])
        lead = value - np.float64(rivals[k])
        relative = min(1.0, max(-1.0, np.divide(lead, value + _LEAST_VALUE)))
        own = np.divide(value - mean[0], scale[0]) * weights[0]
        ahead = np.divide(lead - mean[1], scale[1]) * weights[1]
        by_share = np.divide(relative - mean[2], scale[2]) * weights[2]
        odds[k] += (own + by_share) + (ahead + (best if lead > _LEAST_LEAD else not_best))


def standardise(x: Floats) -> tuple[Floats, Floats]:
    """Bring all columns but the last one to mean 0 and deviation 1, in place; return their means and deviations.

    A constant column becomes 0.
    """
    return (_standardise_few if len(x) <= FEW_ROWS else _standardise_many)(x)


def _standardise_few(x: Floats) -> tuple[Floats, Floats]:
    columns = x[:, :-1]
    mean = columns.mean(axis=0)
    columns -= mean
    scale = np.sqrt(np.square(columns).mean(axis=0)) + _LEAST_SCALE
    columns /= scale
    return mean, scale


@compiled
def _standardise_many(x: Floats) -> tuple[Floats, Floats]:
    """Read the matrix three times, without a copy: it is the largest array of a match."""
    n_rows, n_columns = x.shape[0], x.shape[1] - 1
    mean, squares = np.zeros(n_columns), np.zeros(n_columns)
    for row in range(n_rows):
        for i in range(n_columns):
            mean[i] += x[row, i]
    mean /= n_rows
    for row in range(n_rows):
        for i in range(n_columns):
            x[row, i] -= mean[i]
            squares[i] += x[row, i] * x[row, i]
    scale = np.sqrt(squares / n_rows) + _LEAST_SCALE
    for row in range(n_rows):
        for i in range(n_columns):
            x[row, i] = np.divide(x[row, i], scale[i])  # the operator would be a branch, which raises an error for 0
    return mean, scale


def contributions(z: Floats, weights: Floats) -> Floats:
    """Return ``Σ weights·z`` over the four standings of each kind of evidence: one row for each kind.

    Parameters
    ----------
    z : ndarray, shape (n, n_columns)
        Standings of one kind after the other; a column beyond the last four of a kind is left out.
    weights : ndarray, shape (n_columns,)
    """
    if len(z) > FEW_ROWS:
        return _contributions_of_many(z, weights)
    kinds = range(0, z.shape[1] - z.shape[1] % N_STANDINGS, N_STANDINGS)
    parts = [[z[:, i] * weights[i] for i in range(first, first + N_STANDINGS)] for first in kinds]
    return np.array([part[0] + part[1] + part[2] + part[3] for part in parts]).reshape(len(kinds), len(z))


@compiled
def _contributions_of_many(z: Floats, weights: Floats) -> Floats:
    added = np.empty((z.shape[1] // N_STANDINGS, z.shape[0]))
    for row in range(z.shape[0]):
        for kind in range(added.shape[0]):
            total = 0.0
            for i in range(kind * N_STANDINGS, (kind + 1) * N_STANDINGS):
                total += z[row, i] * weights[i]
            added[kind, row] = total
    return added


def logistic_sums(z: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """``Σ (y - p)·z`` and ``Σ p·(1 - p)·z·zᵀ`` over the rows z of a matrix, with ``p = 1 / (1 + exp(-weights·z))``.

    A product of matrices would do, but the threads of BLAS cost more than the few columns are worth, and their number
    would show in the last digits.
    """
    return (_sums_of_few if len(z) <= FEW_ROWS else _sums_by_columns)(z, y, weights)


def _sums_of_few(z: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats]:
    p = 1 / (1 + np.exp(-np.clip(np.einsum("ij,j->i", z, weights), -_MOST, _MOST)))
    factors = p * (1 - p) + _LEAST_CURVATURE
    return np.einsum("i,ij->j", y - p, z), np.einsum("ij,ik->jk", z * factors[:, None], z)


def _sums_by_columns(z: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Add the sums of some columns on each core; each sum is over all rows in their order, so it is always the same."""
    n_columns = z.shape[1]
    n_parts = max(1, min(at_once(), int(len(z) * SUM_SECONDS / THREAD_SECONDS)))
    # A column has products with those before it; each part has as many products.
    ends = np.round(n_columns * np.sqrt(np.arange(n_parts + 1) / n_parts)).astype(np.int64).tolist()
    parts = threaded(lambda part: _sums_of_many(z, y, weights, *part), pairwise(ends), seconds=THREAD_SECONDS)
    gradients, curvatures = zip(*parts, strict=True)
    below = np.tril(np.concatenate(curvatures)[:, :n_columns])
    return np.concatenate(gradients), below + np.tril(below, -1).T


@compiled
def _sums_of_many(z: Floats, y: Floats, weights: Floats, first_column: int, end_column: int) -> tuple[Floats, Floats]:
    """Add those of some columns in one pass, without a copy of the matrix; what is beyond the diagonal is undefined.

    Four rows are added per step, so that the sums are loaded and stored a quarter as often. Columns are added in
    groups of four, as the processor takes them.
    """
    n_rows, n_columns = z.shape
    width = (n_columns + 3) // 4 * 4
    gradient, curvature = np.zeros(end_column - first_column), np.zeros((end_column - first_column, width))
    rows, scaled, rest = np.zeros((4, width)), np.zeros((4, width)), np.zeros(4)
    z0, z1, z2, z3 = rows[0], rows[1], rows[2], rows[3]
    for first in range(0, n_rows, 4):
        n = min(n_rows - first, 4)
        for k in range(n):
            odds = 0.0
            for i in range(n_columns):
                odds += z[first + k, i] * weights[i]
            p = np.divide(1.0, 1 + math.exp(-min(max(odds, -_MOST), _MOST)))
            rest[k] = y[first + k] - p
            factor = p * (1 - p) + _LEAST_CURVATURE
            for i in range(end_column):
                rows[k, i], scaled[k, i] = z[first + k, i], factor * z[first + k, i]
        rest[n:], scaled[n:] = 0, 0
        for at in range(len(gradient)):
            i = first_column + at
            gradient[at] = gradient[at] + rest[0] * z0[i] + rest[1] * z1[i] + rest[2] * z2[i] + rest[3] * z3[i]
            f0, f1, f2, f3 = scaled[0, i], scaled[1, i], scaled[2, i], scaled[3, i]
            for j in range((i // 4 + 1) * 4):
                curvature[at, j] = curvature[at, j] + f0 * z0[j] + f1 * z1[j] + f2 * z2[j] + f3 * z3[j]
    return gradient, curvature
