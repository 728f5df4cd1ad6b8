"""The expected precision of a list of pairs, with a 90 % interval, estimated on the site without labels.

The probabilities of a site's pairs have common errors: all of them may be too high. So with n pairs of mean
probability p̄, and risk r of a pair (column ``risk``), the number of wrong ones k has the distribution::

    k ~ Binomial(n, w)    logit w ~ N(logit(1 - p̄), σ²)

The interval for 1 - k/n ends at the 5 % and 95 % quantiles of k. Look-alikes may be exchanged all together, which the
probabilities do not show: the lower end is the lesser one of this and of the same quantile for k ~ Binomial(n, w'),
with w' = 1 - mean p·(1 - r). There, each page with near-duplicates is supposed to have lost its partner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import numpy.typing as npt

from twinlink.odds import expit, logit

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.9
SPREAD = 1.0
"""σ. Versions of 18 sites with a part of the pages removed, on which it was chosen: `docs/results/probabilities.md`."""
_NODES = np.linspace(-4, 4, 41)
_WEIGHTS = np.exp(-(_NODES**2) / 2) / np.exp(-(_NODES**2) / 2).sum()
_LEAST = 1e-9
FEW_TRIALS = 10_000
"""Pairs up to which the binomial distributions are summed here, for scipy.special takes .03 s to load."""

Floats = npt.NDArray[np.floating]


class ExpectedPrecision(msgspec.Struct, frozen=True):
    """Expected precision, and the ends of its 90 % interval.

    >>> print(ExpectedPrecision(0.974, (0.55, 0.99)))
    0.974 (0.550 to 0.990)
    >>> print(ExpectedPrecision(0.974, None))
    0.974
    """

    precision: float
    interval: tuple[float, float] | None
    """None for a method whose interval was not measured."""

    def __str__(self) -> str:
        if self.interval is None:
            return f"{self.precision:.3f}"
        return f"{self.precision:.3f} ({self.interval[0]:.3f} to {self.interval[1]:.3f})"


def expected_precision(probabilities: Floats, risks: Floats) -> ExpectedPrecision | None:
    """Return the expected precision of pairs and its interval.

    Parameters
    ----------
    probabilities : ndarray, shape (n,), values in [0, 1]
        NaN where the method gives none.
    risks : ndarray, shape (n,), values in [0, 1]
        Column ``risk`` of the pairs. NaN where the method gives none; then there is no interval.

    Returns
    -------
    ExpectedPrecision or None
        None without pairs, and where a probability is not known.

    Examples
    --------
    >>> print(expected_precision(np.full(20, 0.975), np.zeros(20)))
    0.975 (0.850 to 1.000)
    >>> print(expected_precision(np.full(1000, 0.99), np.zeros(1000)))
    0.990 (0.949 to 0.999)
    >>> print(expected_precision(np.full(100, 0.99), np.full(100, 0.4)))
    0.990 (0.510 to 1.000)
    """
    n = len(probabilities)
    if not n or np.isnan(probabilities).any():
        return None
    p, r = np.asarray(probabilities, np.float64), np.asarray(risks, np.float64)
    if np.isnan(r).any():
        return ExpectedPrecision(float(p.mean()), None)
    tail = (1 - LEVEL) / 2
    rates = expit(logit(_within(1 - p.mean())) + SPREAD * _NODES)
    most, least = (_quantile(level, n, rates, _WEIGHTS) for level in (1 - tail, tail))
    if r.any():
        exchanged = np.array([_within(1 - (p * (1 - r)).mean())])
        most = max(most, _quantile(1 - tail, n, exchanged, np.ones(1)))
    return ExpectedPrecision(float(p.mean()), (1 - most / n, 1 - least / n))


def expected_of(pairs: pd.DataFrame) -> ExpectedPrecision | None:
    """Return the expected precision of a table of pairs."""
    probabilities, risks = (pairs[name].to_numpy(np.float64, na_value=np.nan) for name in ("probability", "risk"))
    return expected_precision(probabilities, risks)


def _within(share: float) -> float:
    """Return a share that is not exactly 0 or 1."""
    return float(np.clip(share, _LEAST, 1 - _LEAST))


def _quantile(level: float, n: int, rates: Floats, weights: Floats) -> int:
    """Return the least k with P(K <= k) >= level, for a mixture of binomial distributions of n trials."""
    if n <= FEW_TRIALS:
        chances = np.cumsum(weights @ _binomial(n, rates))
        return int(np.count_nonzero(chances[:n] < level))
    from scipy.special import bdtr  # imported here: takes .03 s

    return _least(lambda k: float(weights @ bdtr(k, n, rates)) >= level, n)


def _binomial(n: int, rates: Floats) -> Floats:
    """Return the probability of 0 to n successes in n trials, for each rate (not 0 or 1), shape (n_rates, n + 1)."""
    k = np.arange(n + 1)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(k[1:]))])
    ways = log_factorial[n] - log_factorial - log_factorial[::-1]
    chances: Floats = np.exp(ways + np.outer(np.log(rates), k) + np.outer(np.log1p(-rates), n - k))
    return chances


def _least(holds: Callable[[int], bool], n: int) -> int:
    """Return the least number up to n for which a condition holds that holds for all larger ones."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
