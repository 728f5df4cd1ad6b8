"""Standings: evidence of a candidate relative to its rivals, and the logistic model that learns from them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.weighing_kernels import add_standings, logistic_sums, standardise, write_standings

__all__ = ["STANDINGS", "Logistic", "fit_logistic", "spread", "standings_of"]

Floats = NDArray[np.float64]
Values = NDArray[np.floating]
"""Float32 or float64."""

STANDINGS = ("value", "lead", "relative lead", "best")
"""Features computed from each kind of evidence."""
_NEWTON_STEPS = 60
_NEWTON_TOLERANCE = 1e-2
_ROUNDING = 1 + 1e-9
"""Growth of the loss that is a rounding error."""
_STEADY = 0.9
"""Share of the step before from which a step is taken twice: where evidence leaves hardly a doubt, each step adds one
to the odds until they are as large as the penalty lets them be. On two sites 9 or 10 steps instead of 14."""


class Logistic(msgspec.Struct, frozen=True, eq=False):
    """``P(x) = 1 / (1 + exp(-(b + w·(x - mean) / scale)))``."""

    mean: Floats
    scale: Floats
    weights: Floats
    """One per column of x, and the intercept b last."""

    def log_odds(self, x: Floats) -> Floats:
        """Return the log odds of rows of x, which have a column of ones last."""
        odds: Floats = (x[:, :-1] - self.mean) / self.scale @ self.weights[:-1] + self.weights[-1]
        return odds

    def add_kind(self, odds: Floats, kind: int, values: Values, rivals: Values) -> None:
        """Add to log odds, in place, what the standings of a kind of evidence say.

        Parameters
        ----------
        odds : ndarray, shape (n,)
        kind : int
            Its place among the kinds that the model was fitted to.
        values, rivals : ndarray, shape (n,), float32 or float64
            The evidence of candidates, and of their best rivals.
        """
        of_kind = slice(kind * len(STANDINGS), (kind + 1) * len(STANDINGS))
        add_standings(odds, values, rivals, self.mean[of_kind], self.scale[of_kind], self.weights[:-1][of_kind])


def standings_of(kinds: Mapping[str, Values], rivalry: Rivalry, known: NDArray[np.intp]) -> Floats:
    """Return the standings of some candidates, given by their positions, for one kind of evidence after the other.

    A column of ones follows, that of the intercept.
    """
    x = np.ones((len(known), len(kinds) * len(STANDINGS) + 1))
    for k, values in enumerate(kinds.values()):
        write_standings(values, rivalry.rivals(values), known, x, k * len(STANDINGS))
    return x


def spread(n: int, most: int) -> NDArray[np.intp]:
    """Return the places of up to ``most`` of n examples, evenly over all: a fit to more takes longer, and is no better.

    >>> spread(3, 5).tolist(), spread(10, 4).tolist()
    ([0, 1, 2], [0, 3, 6, 9])
    """
    return np.linspace(0, n - 1, min(n, most)).astype(np.intp)


def fit_logistic(z: Floats, y: Floats, ridge: float) -> Logistic:
    """Fit by Newton's method; penalty ½·ridge·n·|w|² on all weights but b. A step that goes too far is halved.

    If no row is right, all log odds are 0.

    Weights have either sign. Trials with weights that keep the log odds monotonic in every value and in its rival: the
    same F1 within about .001 on the tuning sites, more and less with half a side removed; on 41 of 42 versions of sites
    not seen before .003 less on the mean (one whole site: .990 and .985). The 42nd, of six pairs, gains.

    Parameters
    ----------
    z : ndarray, shape (n, n_columns + 1)
        Standings, or other values, followed by a column of ones. They are brought to mean 0 and deviation 1 in place:
        with a copy, this would be the peak of a match's memory.
    y : ndarray, shape (n,), values in [0, 1]
        1: right, 0: wrong, between them a probability.
    ridge : float
    """
    n_rows, n_columns = z.shape[0], z.shape[1] - 1
    if not y.any():
        return Logistic(np.zeros(n_columns), np.ones(n_columns), np.zeros(n_columns + 1))
    mean, scale = standardise(z)
    penalty = ridge * n_rows * np.r_[np.ones(n_columns), 1e-6]
    weights, last, before, least = np.zeros(n_columns + 1), np.zeros(n_columns + 1), np.inf, np.inf
    for _ in range(_NEWTON_STEPS):
        loss = _loss(z, y, penalty, weights)
        if loss > least * _ROUNDING:
            last /= 2
            weights -= last
            continue
        gradient, curvature = logistic_sums(z, y, weights)
        step = np.linalg.solve(curvature + np.diag(penalty), gradient - penalty * weights)
        size = np.abs(step).max()
        last = 2 * step if _STEADY * before < size <= before else step
        weights += last
        if size < _NEWTON_TOLERANCE:
            break
        before, least = size, loss
    return Logistic(mean, scale, weights)


def _loss(z: Floats, y: Floats, penalty: Floats, weights: Floats) -> float:
    """Return the negative log likelihood with its penalty, which the fit makes as small as possible."""
    odds = z @ weights
    return float(np.logaddexp(0, odds).sum() - y @ odds + penalty @ np.square(weights) / 2)
