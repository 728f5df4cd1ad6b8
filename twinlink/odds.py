"""Log odds and probabilities; the same functions of ``scipy.special`` take .1 s to import."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_MOST = 700.0
"""Beyond it, exp leaves the range of double precision; the probability is 0 or 1 to 300 digits."""


def expit(log_odds: ArrayLike) -> NDArray[np.float64]:
    """Return the probability ``p = 1 / (1 + exp(-log_odds))``.

    >>> expit([-1000, 0, 1000]).round(3).tolist()
    [0.0, 0.5, 1.0]
    """
    bounded = np.clip(np.asarray(log_odds, np.float64), -_MOST, _MOST)
    return np.asarray(1 / (1 + np.exp(-bounded)))


def logit(p: ArrayLike) -> NDArray[np.float64]:
    """Return the log odds ``log(p / (1 - p))``; minus infinity for 0, infinity for 1.

    >>> logit([0, 0.5, 1]).tolist()
    [-inf, 0.0, inf]
    """
    p = np.asarray(p, np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p) - np.log1p(-p))


def mean_by_log_odds(p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
    """Return the probability whose log odds are the mean of those of two probabilities below 1.

    >>> mean_by_log_odds([0.5, 0.9, 0.0], [0.5, 0.1, 0.9]).round(3).tolist()
    [0.5, 0.5, 0.0]
    """
    return expit((logit(p) + logit(q)) / 2)
