"""Standings and the sums of the logistic regression: numpy for few rows, a compiled loop for many.

Input arrays are not checked.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import compiled

__all__ = ["add_standings", "logistic_sums", "write_standings"]

Floats = NDArray[np.float64]

_MOST, _LEAST_CURVATURE = 30.0, 1e-9
FEW_ROWS = 1_000
"""Up to here numpy takes less than .2 ms per call; beyond, it takes three times as long as the compiled loop."""
FEW_STANDINGS = 4_000
"""Up to here numpy takes less than .2 ms per call; beyond, it takes seven times as long as the compiled loop."""
_LEAST_VALUE, _LEAST_LEAD = 1e-6, 1e-9


def write_standings(values: Floats, rivals: Floats, standings: Floats) -> None:
    """Write the four standings of a kind of evidence (`standings.STANDINGS`), one per column."""
    lead = values - rivals
    standings[:, 0], standings[:, 1] = values, lead
    standings[:, 2], standings[:, 3] = np.clip(lead / (values + _LEAST_VALUE), -1, 1), lead > _LEAST_LEAD


def add_standings(odds: Floats, values: Floats, rivals: Floats, mean: Floats, scale: Floats, weights: Floats) -> None:
    """Add ``Σ weights·(x - mean) / scale`` over the four standings x of a kind of evidence to ``odds``, in place.

    A product of matrices would leave the order of the sum to BLAS, and take longer.
    """
    if len(values) > FEW_STANDINGS:
        bounds = np.array([_LEAST_VALUE, _LEAST_LEAD, 1], values.dtype)  # the numbers that numpy computes with
        _add_standings_of_many(odds, values, rivals, bounds, mean, scale, weights)
        return
    standings = np.empty((len(values), 4))
    write_standings(values, rivals, standings)
    parts = (standings - mean) / scale * weights
    odds += (parts[:, 0] + parts[:, 2]) + (parts[:, 1] + parts[:, 3])


@compiled
def _add_standings_of_many(
    odds: Floats, values: Floats, rivals: Floats, bounds: Floats, mean: Floats, scale: Floats, weights: Floats
) -> None:
    least_value, least_lead, most = bounds[0], bounds[1], bounds[2]
    for k in range(len(values)):
        value = values[k]
        lead = value - rivals[k]
        relative = min(max(lead / (value + least_value), -most), most)
        own = (value - mean[0]) / scale[0] * weights[0]
        ahead = (lead - mean[1]) / scale[1] * weights[1]
        by_share = (relative - mean[2]) / scale[2] * weights[2]
        best = ((1.0 if lead > least_lead else 0.0) - mean[3]) / scale[3] * weights[3]
        odds[k] += (own + by_share) + (ahead + best)


def logistic_sums(z: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """``Σ (y - p)·z`` and ``Σ p·(1 - p)·z·zᵀ`` over the rows z of a matrix, with ``p = 1 / (1 + exp(-weights·z))``.

    A product of matrices would do, but the threads of BLAS cost more than the few columns are worth, and their number
    would show in the last digits.
    """
    return (_sums_of_few if len(z) <= FEW_ROWS else _sums_of_many)(z, y, weights)


def _sums_of_few(z: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats]:
    p = 1 / (1 + np.exp(-np.clip(np.einsum("ij,j->i", z, weights), -_MOST, _MOST)))
    factors = p * (1 - p) + _LEAST_CURVATURE
    return np.einsum("i,ij->j", y - p, z), np.einsum("ij,ik->jk", z * factors[:, None], z)


@compiled
def _chance(row: Floats, weights: Floats) -> float:
    odds = 0.0
    for i in range(len(row)):
        odds += row[i] * weights[i]
    return 1 / (1 + math.exp(-min(max(odds, -_MOST), _MOST)))


@compiled
def _sums_of_many(z: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Add them in one pass, without a copy of the matrix.

    Four rows are added per step, so that the sums are loaded and stored a quarter as often.
    """
    n_rows, n_columns = z.shape
    gradient, curvature = np.zeros(n_columns), np.zeros((n_columns, n_columns))
    none = np.zeros(n_columns)
    rest, factors = np.zeros(4), np.zeros(4)
    for first in range(0, n_rows, 4):
        n = min(n_rows - first, 4)
        for k in range(n):
            p = _chance(z[first + k], weights)
            rest[k] = y[first + k] - p
            factors[k] = p * (1 - p) + _LEAST_CURVATURE
        z0 = z[first]
        z1 = z[first + 1] if n > 1 else none
        z2 = z[first + 2] if n > 2 else none
        z3 = z[first + 3] if n > 3 else none
        for i in range(n_columns):
            gradient[i] = gradient[i] + rest[0] * z0[i] + rest[1] * z1[i] + rest[2] * z2[i] + rest[3] * z3[i]
            f0, f1, f2, f3 = factors[0] * z0[i], factors[1] * z1[i], factors[2] * z2[i], factors[3] * z3[i]
            for j in range(i + 1):
                curvature[i, j] = curvature[i, j] + f0 * z0[j] + f1 * z1[j] + f2 * z2[j] + f3 * z3[j]
    for i in range(n_columns):
        for j in range(i):
            curvature[j, i] = curvature[i, j]
    return gradient, curvature
