"""Compiled loop of the logistic regression: arrays in, arrays out, nothing checked."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import compiled

__all__ = ["logistic_sums"]

Floats = NDArray[np.float64]

_MOST, _LEAST_CURVATURE = 30.0, 1e-9


@compiled
def logistic_sums(z: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """``Σ (y - p)·z`` and ``Σ p·(1 - p)·z·zᵀ`` over the rows z of a matrix, with ``p = 1 / (1 + exp(-weights·z))``.

    One pass and no copy of the matrix. (A product of matrices would do, but the threads of BLAS cost more than the few
    columns are worth.)
    """
    n_columns = z.shape[1]
    gradient, curvature = np.zeros(n_columns), np.zeros((n_columns, n_columns))
    for row in range(len(z)):
        odds = 0.0
        for i in range(n_columns):
            odds += z[row, i] * weights[i]
        p = 1 / (1 + math.exp(-min(max(odds, -_MOST), _MOST)))
        weight = p * (1 - p) + _LEAST_CURVATURE
        for i in range(n_columns):
            gradient[i] += (y[row] - p) * z[row, i]
            factor = weight * z[row, i]
            for j in range(i + 1):
                curvature[i, j] += factor * z[row, j]
    for i in range(n_columns):
        for j in range(i):
            curvature[j, i] = curvature[i, j]
    return gradient, curvature
