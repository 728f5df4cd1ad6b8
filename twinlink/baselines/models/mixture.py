"""A mixture of two components over W, M, N, L1 and L2, fitted by EM without labels.

It replaces "Algorithm 0" of Jangeldin & Assylbekov (Assylbekov et al. 2015), with the same inputs and the same fitting
method, but with our own distributions, because theirs are not published in any text that we have. A pair is parallel
(component 1) with probability ``share``, or not (component 0). Given its component k, and its numbers of tokens M and
N,

    W ~ BetaBinomial(M + N, a_k, b_k)               tokens without partner
    log((L1 + 1) / (L2 + 1)) ~ Normal(m_k, v_k)     how much longer one text is

independently. The beta-binomial lets the share of lone tokens vary from page to page; with a_1 < 1 it peaks at none.

The lengths of two texts that do not belong together are independent. So m_0 and v_0 are not fitted, but follow from the
lengths of all pages: v_0 is the sum of the variances of both sides' log lengths. This keeps the mixture from splitting
a set whose pairs are all parallel. v_1 is at most v_0. The rest has weak priors, which name the components and keep
every fit finite, on one pair as on pairs that are all equal:

    log a_k, log b_k ~ Normal(log of the prior mean, SPREAD²)
    v_1 ~ InverseGamma(1, prior variance),  m_1 given v_1 ~ Normal(median of all pairs, v_1)
    share ~ Beta(2, 2)

EM climbs to the greatest posterior from three starts, and the highest of the three counts: nothing is random.
"""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import betaln, digamma, expit

from twinlink.baselines.alignment import StructureAlignments
from twinlink.baselines.models.verdicts import Verdicts
from twinlink.config.baselines import MixtureSettings
from twinlink.similarity.filter_checks import check_of

__all__ = ["MixtureFit", "fit_mixture", "judge_mixture"]

Floats = NDArray[np.float64]

# Before any pair is seen: one token in 3 of a pair that is not parallel has no partner, one in 20 of a parallel one
# (P_d < 0.2 is STRAND's limit), with most parallel pairs at none; the lengths of parallel texts differ by some 20 %.
_COST_PRIOR = np.log([[4.0, 8.0], [0.5, 9.5]])
_VARIANCE_PRIOR = 0.02
_SPREAD = 1.0
_LOG_LIMIT = 7.0  # far beyond what the prior lets happen; keeps the search from trying numbers that overflow
_BOUNDS = [(-_LOG_LIMIT, _LOG_LIMIT)] * 2
_START_LIMIT = 0.2


class MixtureFit(msgspec.Struct, frozen=True, eq=False):
    """A fitted mixture; component 1 is the parallel one."""

    share: float
    """Probability of a pair to be parallel, before its features are seen."""
    cost: Floats
    """a_k and b_k, shape (2, 2)."""
    centre: Floats
    """m_k."""
    variance: Floats
    """v_k."""
    log_odds: Floats
    """Of each pair to be parallel."""
    log_posterior: Floats
    """Log posterior density (up to a constant) after each round; never falls."""
    converged: bool
    """False if the rounds ran out first."""

    @property
    def cost_share(self) -> Floats:
        """Mean share of lone tokens of each component, a_k / (a_k + b_k)."""
        return np.asarray(self.cost[:, 0] / self.cost.sum(axis=1))

    @property
    def inverted(self) -> bool:
        """True if the parallel component has the larger one."""
        return bool(self.cost_share[1] > self.cost_share[0])


def judge_mixture(alignment: StructureAlignments, settings: MixtureSettings | None = None) -> Verdicts:
    """Parallel if the parallel component of the mixture is the more probable one; the score is the log odds.

    Found are ``share``, ``cost_1`` and ``cost_0`` (mean share of lone tokens), ``length_1`` and ``length_0`` (median
    ratio of lengths), ``rounds``. A note ``not-converged`` says that these ran out, ``inverted`` that the parallel
    pairs have the larger share of lone tokens.
    """
    if not len(alignment):
        return Verdicts(np.empty(0))
    fit = fit_mixture(alignment, settings)
    notes = ("not-converged",) * (not fit.converged) + ("inverted",) * fit.inverted
    found = {
        "share": fit.share,
        "cost_1": float(fit.cost_share[1]),
        "cost_0": float(fit.cost_share[0]),
        "length_1": float(np.exp(fit.centre[1])),
        "length_0": float(np.exp(fit.centre[0])),
        "rounds": len(fit.log_posterior),
    }
    return Verdicts(fit.log_odds, found, notes, (check_of("log_odds", fit.log_odds, 0.0, ">"),))


def fit_mixture(alignment: StructureAlignments, settings: MixtureSettings | None = None) -> MixtureFit:
    """Fit the mixture to a set of pairs, at least one: the best of three starts.

    The starts take for parallel: pairs with ``P_d < 0.2``; the half with the smaller P_d; the half whose length ratio
    is closer to the median. A fit whose parallel pairs have the larger mean share of lone tokens counts only if all
    three end so.
    """
    limits = settings or MixtureSettings()
    data = _Data(alignment)
    far = np.abs(data.ratio - data.middle)
    starts = (
        data.cost_share < _START_LIMIT,
        data.cost_share <= np.median(data.cost_share),
        far <= np.median(far),
    )
    fits = [_climb(data, np.where(start, 0.9, 0.1), limits) for start in starts]
    best = max(fits, key=lambda fit: (not fit.inverted, float(fit.log_posterior[-1])))  # the first of equals
    return replace(best, log_odds=best.log_odds[np.argsort(data.order)])


class _Data:
    """What the mixture sees of the pairs, sorted: sums are rounded, so the order of the pairs would change the fit."""

    def __init__(self, alignment: StructureAlignments) -> None:
        lone, tokens = alignment.cost.astype(float), (alignment.tokens_a + alignment.tokens_b).astype(float)
        length_a, length_b = np.log1p(alignment.length_a), np.log1p(alignment.length_b)
        self.order = np.lexsort((length_b, length_a, tokens, lone))
        self.lone, self.tokens, length_a, length_b = (
            values[self.order] for values in (lone, tokens, length_a, length_b)
        )
        self.cost_share = alignment.cost_share[self.order]
        self.ratio = length_a - length_b
        self.middle = float(np.median(self.ratio))
        self.mean_apart = float(self.ratio.mean())
        self.variance_apart = max(float(length_a.var() + length_b.var()), _VARIANCE_PRIOR)

    def __len__(self) -> int:
        return len(self.lone)


def _climb(data: _Data, weights: Floats, limits: MixtureSettings) -> MixtureFit:
    """EM from the given probabilities to be parallel."""
    log_cost = _COST_PRIOR.copy()
    climbed: list[float] = []
    while True:
        share = float((weights.sum() + 1) / (len(data) + 2))
        both = (1 - weights, weights)
        log_cost = np.stack([_fit_cost(data, both[k], log_cost[k], _COST_PRIOR[k]) for k in (0, 1)])
        centre, variance = _fit_lengths(data, weights)
        joint = _log_joint(data, share, np.exp(log_cost), centre, variance)
        climbed.append(float(np.logaddexp(*joint).sum()) + _log_prior(data, share, log_cost, centre, variance))
        log_odds = joint[1] - joint[0]
        converged = len(climbed) > 1 and climbed[-1] - climbed[-2] < limits.tolerance * len(data)
        if converged or len(climbed) == limits.max_rounds:
            return MixtureFit(share, np.exp(log_cost), centre, variance, log_odds, np.array(climbed), converged)
        weights = expit(log_odds)


def _log_joint(data: _Data, share: float, cost: Floats, centre: Floats, variance: Floats) -> Floats:
    """Log probability of each component and each pair's features, shape (2, pairs), without what they share."""
    a, b = cost[:, :1], cost[:, 1:]
    of_cost = betaln(data.lone + a, data.tokens - data.lone + b) - betaln(a, b)
    of_length = -((data.ratio - centre[:, None]) ** 2) / (2 * variance[:, None]) - np.log(variance)[:, None] / 2
    return np.asarray(of_cost + of_length + np.log([1 - share, share])[:, None])


def _log_prior(data: _Data, share: float, log_cost: Floats, centre: Floats, variance: Floats) -> float:
    of_cost = -((log_cost - _COST_PRIOR) ** 2).sum() / (2 * _SPREAD**2)
    of_centre = -((centre[1] - data.middle) ** 2) / (2 * variance[1]) - np.log(variance[1]) / 2
    of_variance = -_VARIANCE_PRIOR / variance[1] - 2 * np.log(variance[1])
    return float(of_cost + of_centre + of_variance + np.log(share) + np.log(1 - share))


def _fit_lengths(data: _Data, weights: Floats) -> tuple[Floats, Floats]:
    """m_k and v_k, given each pair's probability to be parallel."""
    total = weights.sum()
    centre = (weights @ data.ratio + data.middle) / (total + 1)
    squares = weights @ (data.ratio - centre) ** 2 + (centre - data.middle) ** 2
    variance = min((squares + 2 * _VARIANCE_PRIOR) / (total + 5), data.variance_apart)
    return np.array([data.mean_apart, centre]), np.array([data.variance_apart, variance])


def _fit_cost(data: _Data, weights: Floats, start: Floats, prior: Floats) -> Floats:
    """Best log a and log b of one component, given each pair's probability to be in it; never worse than ``start``."""

    def loss(logs: Floats) -> tuple[float, Floats]:
        a, b = np.exp(logs)
        total = weights.sum()
        value = weights @ betaln(data.lone + a, data.tokens - data.lone + b) - total * betaln(a, b)
        common = weights @ digamma(data.tokens + a + b) - total * digamma(a + b)
        slope_a = weights @ digamma(data.lone + a) - total * digamma(a) - common
        slope_b = weights @ digamma(data.tokens - data.lone + b) - total * digamma(b) - common
        off = (logs - prior) / _SPREAD**2
        slopes = np.array([slope_a * a, slope_b * b]) - off
        return float(-value + (logs - prior) @ off / 2), -slopes

    # L-BFGS-B does as well, but wakes the threads of BLAS for two numbers: 20 times slower on a busy machine.
    found = minimize(loss, start, jac=True, method="TNC", bounds=_BOUNDS, options={"maxfun": 100})
    return np.asarray(found.x)
