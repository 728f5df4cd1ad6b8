"""Standings: evidence of a candidate relative to its rivals, and the logistic model that learns from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.weighing_kernels import logistic_sums

__all__ = ["STANDINGS", "Logistic", "fit_logistic", "standings_of", "write_standings"]

Floats = NDArray[np.float64]

STANDINGS = ("value", "lead", "relative lead", "best")
"""Features computed from each kind of evidence."""
_NEWTON_STEPS = 30
_NEWTON_TOLERANCE = 1e-2


@dataclass(frozen=True, slots=True, eq=False)
class Logistic:
    """``P(x) = 1 / (1 + exp(-(b + w·(x - mean) / scale)))``."""

    mean: Floats
    scale: Floats
    weights: Floats
    """One per column of x, and the intercept b last."""

    def part(self, x: Floats, columns: slice) -> Floats:
        """Return the contribution of some columns to the log odds of each row."""
        parts: Floats = (x - self.mean[columns]) / self.scale[columns] @ self.weights[:-1][columns]
        return parts


def write_standings(values: Floats, rivals: Floats, standings: Floats) -> None:
    """Write `STANDINGS` of a kind of evidence, one per column."""
    lead = values - rivals
    standings[:, 0], standings[:, 1] = values, lead
    standings[:, 2], standings[:, 3] = np.clip(lead / (values + 1e-6), -1, 1), lead > 1e-9


def standings_of(kinds: Mapping[str, Floats], rivalry: Rivalry, known: NDArray[np.intp]) -> Floats:
    """Return the standings of some candidates, given by their positions, for one kind of evidence after the other."""
    x = np.empty((len(known), len(kinds) * len(STANDINGS)))
    for k, values in enumerate(kinds.values()):
        rivals = rivalry.rivals(values)[known]
        write_standings(values[known], rivals, x[:, k * len(STANDINGS) : (k + 1) * len(STANDINGS)])
    return x


def fit_logistic(x: Floats, y: Floats, ridge: float) -> tuple[Logistic, Floats]:
    """Fit by Newton's method, the columns brought to mean 0 and deviation 1; penalty ½·ridge·n·|w|² on all but b.

    If no row is right, all log odds are 0. Returns the model, and the scaled columns followed by a column of ones.
    """
    z = np.ones((len(x), x.shape[1] + 1))
    if not y.any():
        return Logistic(np.zeros(x.shape[1]), np.ones(x.shape[1]), np.zeros(x.shape[1] + 1)), z
    mean, columns = x.mean(axis=0), z[:, :-1]
    np.subtract(x, mean, out=columns)
    scale = np.sqrt(np.square(columns).mean(axis=0)) + 1e-6
    columns /= scale
    penalty = ridge * len(x) * np.r_[np.ones(x.shape[1]), 1e-6]
    weights = np.zeros(z.shape[1])
    for _ in range(_NEWTON_STEPS):
        gradient, curvature = logistic_sums(z, y, weights)
        step = np.linalg.solve(curvature + np.diag(penalty), gradient - penalty * weights)
        weights += step
        if np.abs(step).max() < _NEWTON_TOLERANCE:
            break
    return Logistic(mean, scale, weights), z
