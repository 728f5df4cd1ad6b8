"""Probability that a chosen pair is right: that its pages have partners, and that it is the right one of its rivals.

Wrong pairs are sampled by removing some pages and matching again: pages whose partner was removed are paired
wrongly. The chosen pairs are a mixture of such pairs and right ones. Some pages never had a partner: what was removed
was their best wrong pair, and their next choice is the second best. `_counts_as_best` corrects for them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import Unsigned, compiled
from twinlink.odds import expit, logit
from twinlink.similarity.rivals import FEW_CANDIDATES, Rivalry

__all__ = ["probability_of_being_right", "recalibrated", "shares_of_rivals"]

Floats = NDArray[np.float64]
Narrow = NDArray[np.uint32]
Places = NDArray[np.int64]

_ROUNDS = 200
_TOLERANCE = 1e-4
_RIDGE = 1e-5
_NEWTON_STEPS = 30
_NEWTON_TOLERANCE = 1e-3
_START_QUANTILE = 0.75
_BALANCING_STEPS = 30
_MOST_LOG_ODDS = 30.0
_PRECISION = np.array([4.0, 1.0])
"""Precision of the prior of slope and offset. Our choice, not tuned."""
_LOGS = np.append(-np.geomspace(30.0, 1e-6, 1_000), 0.0)
"""Values of log G between which `_counts_as_best` interpolates."""
_LEAST = 1e-4
"""Probabilities are clipped to this distance from 0 and 1 before they are corrected."""


def probability_of_being_right(
    given: Floats,
    wrong: Floats,
    labels: Floats | None = None,
    *,
    removed_right: float | None = 1.0,
    share_wrong: float | None = None,
) -> Floats:
    """Estimate P(right) of pairs with log odds ``given``, where known wrong pairs have log odds ``wrong``.

    The given pairs are a mixture: a share ρ is right, the others are the best wrong pairs of pages without a partner.
    With f₁, f₀ the densities of right and wrong pairs, whose ratio is assumed to be logistic in the log odds t::

        P(right | t) = ρ·f₁(t) / (ρ·f₁(t) + (1-ρ)·f₀(t)),    log f₁(t)/f₀(t) = a + b·t

    ρ, a and b are found by expectation maximisation: the given pairs count as right and wrong by their current
    probabilities, the known wrong pairs as wrong. Where the removed partner was right, a known wrong pair is the best
    wrong one of its page; where it was wrong, the second best. With ρ₀ the share of removed partners that were right
    (``removed_right``), and H and G the distribution functions of known and of best wrong pairs::

        H(t) = G(t)·(1 - (1-ρ₀)·log G(t)),    dG/dH = 1 / (ρ₀ - (1-ρ₀)·log G(t))

    because the second largest of many independent values has the distribution G·(1 - log G) where the largest has G
    (Coles 2001, An Introduction to Statistical Modeling of Extreme Values, section 3.5). A known wrong pair counts
    dG/dH times. The probability is at most 1 - ½/n, because n pairs do not support a higher estimate.

    Parameters
    ----------
    given : ndarray, shape (n,)
    wrong : ndarray, shape (k,)
        Of pairs that were chosen where the partner of the given pair was missing, whether that was right or wrong.
    labels : ndarray, shape (n,), optional
        Labels of the given pairs: 1 right, 0 wrong, NaN unlabelled. A labelled pair counts by its label, not by its
        probability. The choice of labelled pairs may depend on their log odds.
    removed_right : float, optional
        ρ₀, 0 to 1. None: it is ρ, round by round. By default all removed partners were right, and all known wrong
        pairs count once.
    share_wrong : float, optional
        1 - ρ where it is known from elsewhere; only a and b are found then.

    Returns
    -------
    ndarray, shape (n,), values in [0, 1]
        Function of the log odds alone, for labelled pairs too. Nondecreasing in ``given``; all ½ if there are no
        wrong pairs to compare with.

    Examples
    --------
    >>> given, wrong = np.r_[np.full(90, 6.0), np.full(10, -6.0)], np.full(100, -6.0)
    >>> probability_of_being_right(given, wrong).round(2)[[0, -1]].tolist()
    [1.0, 0.01]

    All given pairs are wrong. The known ones are worse only because they are the second best of their pages:

    >>> values = np.sort(np.random.default_rng(0).gumbel(size=(200, 100)))
    >>> given, wrong = values[:, -1], values[:, -2]
    >>> for removed_right in 1.0, 0.5, 0.0:
    ...     print(probability_of_being_right(given, wrong, removed_right=removed_right).mean().round(2))
    0.8
    0.39
    0.12
    """
    n, k = len(given), len(wrong)
    if not n or not k:
        return np.full(n, 0.5)
    odds = np.concatenate([given, wrong])
    z = np.stack([(odds - odds.mean()) / (odds.std() + 1e-6), np.ones(n + k)], axis=1)
    right = (given > np.quantile(wrong, _START_QUANTILE)).astype(np.float64)
    weights, counts, at_most = np.zeros(2), np.ones(n + k), _shares_at_most(wrong)
    is_known = np.zeros(n, np.bool_) if labels is None else ~np.isnan(labels)
    for _ in range(_ROUNDS):
        if labels is not None:
            right = np.where(is_known, labels, right)
        n_right = right.sum()
        counts[n:] = _counts_as_best(at_most, n_right / n if removed_right is None else removed_right)
        weights = _fit(z, np.r_[right, np.zeros(k)], weights, counts)
        if removed_right != 1 and weights[0] <= 0:  # further rounds would count low pairs as right
            break
        ratio = z[:n] @ weights - np.log((n_right + 0.5) / (n - n_right + k + 0.5))
        before, right = right, expit(ratio + _log_odds_of_right(n_right, n, share_wrong))
        if np.abs(right - before).max(where=~is_known, initial=0.0) < _TOLERANCE:
            break
    if weights[0] <= 0:  # the given pairs are no better than the wrong ones
        right = np.full(n, right.mean() if share_wrong is None else 1 - share_wrong)
    return np.minimum(right, 1 - 0.5 / n)


def _log_odds_of_right(n_right: float, n: int, share_wrong: float | None) -> float:
    """Return log ρ/(1-ρ), from the share of wrong pairs if that is known; at least half a pair is right, and wrong."""
    if share_wrong is None:
        return float(np.log((n_right + 0.5) / (n - n_right + 0.5)))
    return float(logit(np.clip(1 - share_wrong, 0.5 / n, 1 - 0.5 / n)))


def _shares_at_most(values: Floats) -> Floats:
    """Return the share of values that are at most as large as each one, which itself counts half."""
    ordered = np.sort(values)
    return (ordered.searchsorted(values, "left") + ordered.searchsorted(values, "right")) / (2 * len(values))


def _counts_as_best(at_most: Floats, removed_right: float) -> Floats:
    """Return how often each known wrong pair counts as the best wrong one of its page, dG/dH, with a sum of k.

    ``at_most`` has H(t) of each pair, ``removed_right`` is ρ₀.
    """
    removed_wrong = 1 - removed_right
    log_best = np.interp(at_most, np.exp(_LOGS) * (1 - removed_wrong * _LOGS), _LOGS)
    ratio = 1 / (removed_right - removed_wrong * log_best)
    counts: Floats = ratio * (len(ratio) / ratio.sum())
    return counts


def shares_of_rivals(odds: Floats, rivalry: Rivalry) -> Floats:
    """Compute the probability that each candidate is the right one of its pages' candidates, given that one of them is.

    With w = exp(odds) and factors u of the rows and v of the columns that solve ``u·(1 + Σ w·v) = 1`` and
    ``v·(1 + Σ w·u) = 1`` (a page has one partner, or none at odds of 1; Sinkhorn's balancing)::

        p(i, j) = u(i)·w(i, j)·v(j),    share(i, j) = p(i, j) / max(Σ_j' p(i, j'), Σ_i' p(i', j))

    A rival that has a strong partner of its own counts for little; two indistinguishable pages share the probability.

    Parameters
    ----------
    odds : ndarray, shape (n_candidates,)
    rivalry : Rivalry

    Returns
    -------
    ndarray, shape (n_candidates,), values in [0, 1]

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> pattern = Rivalry(csr_array(np.ones((2, 2))))
    >>> shares_of_rivals(np.array([5.0, 5.0, 5.0, 5.0]), pattern).round(2).tolist()
    [0.5, 0.5, 0.5, 0.5]
    >>> shares_of_rivals(np.array([9.0, 5.0, 5.0, 5.0]), pattern).round(2).tolist()
    [0.88, 0.11, 0.12, 0.87]
    """
    likelihood = np.exp(np.clip(odds, -_MOST_LOG_ODDS, _MOST_LOG_ODDS))
    rows, columns = rivalry.rows, rivalry.columns
    if len(odds) <= FEW_CANDIDATES:
        u, v = _balance_few(rows, columns, likelihood, *rivalry.shape)
    else:
        u, v = _balance_many(rivalry.row_starts, rivalry.narrow_columns, likelihood, rivalry.shape[1])
    p = likelihood * u[rows] * v[columns]
    shares: Floats = p / np.maximum(np.maximum(*rivalry.sums(p)), np.finfo(float).tiny)
    return shares


def _balance_few(
    rows: Places, columns: Places, likelihood: Floats, n_rows: int, n_columns: int
) -> tuple[Floats, Floats]:
    """Return the factors of rows and columns."""
    u, v = np.ones(n_rows), np.ones(n_columns)
    for _ in range(_BALANCING_STEPS):
        u = 1 / (1 + np.bincount(rows, likelihood * v[columns], n_rows))
        v = 1 / (1 + np.bincount(columns, likelihood * u[rows], n_columns))
    return u, v


@compiled
def _balance_many(starts: Places, columns: Narrow, likelihood: Floats, n_columns: int) -> tuple[Floats, Floats]:
    """Return the same, bit for bit, in one pass per step: a row adds to the sums of its columns as soon as it is known.

    ``starts`` has the place of the first candidate of each row, and the number of candidates.
    """
    u, v = np.ones(len(starts) - 1), np.ones(n_columns)
    for _ in range(_BALANCING_STEPS):
        sums = np.zeros(n_columns)
        for row in range(len(u)):
            total = 0.0
            for k in range(Unsigned(starts[row]), Unsigned(starts[row + 1])):
                total += likelihood[k] * v[columns[k]]
            u[row] = 1 / (1 + total)
            for k in range(Unsigned(starts[row]), Unsigned(starts[row + 1])):
                sums[columns[k]] += likelihood[k] * u[row]
        v = 1 / (1 + sums)
    return u, v


def recalibrated(probabilities: Floats, known: Floats, right: Floats) -> Floats:
    """Return probabilities recalibrated with labelled pairs (Platt scaling).

    With p the estimated and p' the corrected probability of a pair::

        log p'/(1-p') = a + b·log p/(1-p),    a ~ N(0, 1), b ~ N(1, ½²)

    a and b are the most probable ones (Platt 1999, with a prior at no correction). Because the model is conditional
    on p, labelling doubtful pairs more often than sure ones causes no bias.

    Parameters
    ----------
    probabilities : ndarray, shape (n,), values in [0, 1]
    known : ndarray, shape (k,), values in [0, 1]
        Estimated probabilities of the labelled pairs.
    right : ndarray, shape (k,)
        1 where these are right, 0 where they are wrong.

    Returns
    -------
    ndarray, shape (n,), values in [0, 1]
        ``probabilities`` unchanged if there are no labels.
    """
    if not len(known):
        return probabilities
    z = np.stack([_log_odds(known), np.ones(len(known))], axis=1)
    weights = np.array([1.0, 0.0])
    for _ in range(_NEWTON_STEPS):
        p = expit(z @ weights)
        gradient = z.T @ (right - p) - _PRECISION * (weights - [1.0, 0.0])
        curvature = (z * (p * (1 - p))[:, None]).T @ z + np.diag(_PRECISION)
        step = np.linalg.solve(curvature, gradient)
        weights = weights + step
        if np.abs(step).max() < _NEWTON_TOLERANCE:
            break
    corrected: Floats = expit(max(weights[0], 0.0) * _log_odds(probabilities) + weights[1])
    return corrected


def _log_odds(probabilities: Floats) -> Floats:
    return np.asarray(logit(np.clip(probabilities, _LEAST, 1 - _LEAST)))


def _fit(z: Floats, right: Floats, weights: Floats, counts: Floats) -> Floats:
    """Fit a logistic regression to soft labels by Newton's method, with a penalty on the slope.

    ``counts`` says how often each pair counts.
    """
    penalty = _RIDGE * len(z) * np.array([1.0, 0.0])
    for _ in range(_NEWTON_STEPS):
        p = expit(np.clip(z @ weights, -_MOST_LOG_ODDS, _MOST_LOG_ODDS))
        gradient = z.T @ (counts * (right - p)) - penalty * weights
        curvature = (z * (counts * (p * (1 - p) + 1e-9))[:, None]).T @ z + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        weights = weights + step
        if np.abs(step).max() < _NEWTON_TOLERANCE:
            break
    return weights
