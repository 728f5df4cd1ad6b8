"""How much each kind of evidence is worth, found on the site at hand, without labels.

Pairs that are clearly best for both of their pages teach a logistic model what right pairs look like beside the rivals
that they beat. How sure it is of a list of pairs is measured with pairs that are known to be wrong: take the chosen
partner away from every page and match again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twinlink.config import WeighingSettings
from twinlink.errors import ShapeError
from twinlink.similarity.margins import Rivalry
from twinlink.similarity.weighing_kernels import logistic_sums

__all__ = ["Weighing", "chance_of_being_right", "clear_pairs", "n_equal", "weigh"]

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]
Match = Callable[[Floats], Positions]
"""From a score of each candidate (higher is better, -inf: must not be taken) to the positions of a one-to-one
matching."""
Nearly = Callable[[Positions], NDArray[np.bool_]]
"""From the positions of pairs to the candidates that are, or nearly equal, one of them."""

MAX_LOG_ODDS = 20.0
MAX_TEACHERS = 2_000
"""Clear pairs that the model is learned from, spread evenly over all. Trials on seven sites: the same F1 within .001 as
with all; it bounds time and memory."""
EQUAL = 1e-6
"""Log odds that differ by less are equal."""
LOW_SHARE = 0.75
"""Part of the wrong pairs among the given that score no better than half of the withheld ones. Trials on ten sites: ¾
instead of 1 changes nothing on whole sites; with half of a side removed it brings the expected precision nearer."""
STANDINGS = ("value", "lead", "relative lead", "best")
_NEWTON_STEPS = 30
_NEWTON_TOLERANCE = 1e-2
_DECISION_RIDGE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Weighing:
    """What weighing makes of the candidates."""

    log_odds: Floats
    """Of each candidate, shape (n_candidates,): the model's verdict on it beside its rivals."""
    pairs: Positions
    """Positions of the one-to-one matching among the candidates."""
    probabilities: Floats
    """Chance of each of ``pairs`` to be right, in [0, 1]."""
    n_equal: NDArray[np.int64]
    """How many pages each of ``pairs`` might as well have been, itself included."""
    weights: dict[str, float]
    """Share of each kind of evidence in the model, sum 1."""


@dataclass(frozen=True, slots=True, eq=False)
class _Logistic:
    """``P(x) = 1 / (1 + exp(-(b + w·(x - mean) / scale)))``."""

    mean: Floats
    scale: Floats
    weights: Floats
    """One a column of x, and the intercept b last."""

    def log_odds(self, x: Floats) -> Floats:
        """Return b + w·(x - mean) / scale of each row, within ±`MAX_LOG_ODDS`."""
        return _clipped(self.part(x, slice(0, x.shape[1])) + self.weights[-1])

    def part(self, x: Floats, columns: slice) -> Floats:
        """Return what some columns add to the log odds of each row."""
        parts: Floats = (x - self.mean[columns]) / self.scale[columns] @ self.weights[:-1][columns]
        return parts


def weigh(
    kinds: Mapping[str, Floats],
    rivalry: Rivalry,
    clear: NDArray[np.bool_],
    match: Match,
    settings: WeighingSettings | None = None,
    nearly: Nearly | None = None,
) -> Weighing:
    """Weigh the evidence of a site's candidates.

    Each kind of evidence v of a candidate gives four numbers: v itself, its lead v - r over the best rival r (another
    candidate of either page), the relative lead (v - r) / v, and whether v > r. A logistic model with an L2 penalty
    learns from the ``clear`` pairs (right) and the other candidates of their pages (wrong); candidates of all other
    pages are left out of the learning, for nothing is known of them. Its log odds order the candidates, ``match`` picks
    the pairs, and `chance_of_being_right` compares them with the pairs that are picked once all of these, and the
    candidates that nearly equal one of them, are taken away. Where several pairs are equally good (`n_equal`), only one
    of them can be right: the chance is divided among them.

    Parameters
    ----------
    kinds : mapping of str to ndarray, shape (n_candidates,), values >= 0
        Every kind of evidence by its name.
    rivalry : Rivalry
        Of the candidate pattern.
    clear : ndarray of bool, shape (n_candidates,)
        Pairs to learn from, no page twice (`clear_pairs`); at most `MAX_TEACHERS` of them are used.
    match : callable
        One-to-one matching.
    settings : WeighingSettings, optional
    nearly : callable, optional
        Finds near-duplicates of pairs; by default there are none.

    Raises
    ------
    ShapeError
        If a kind of evidence has not one value for each candidate.
    """
    settings = settings or WeighingSettings()
    for name, values in kinds.items():
        if values.shape != rivalry.rows.shape:
            raise ShapeError(f"evidence {name!r}: expected {rivalry.rows.shape}, got {values.shape}")
    rivals = {name: rivalry.rivals(values) for name, values in kinds.items()}
    model, weights = _learn(kinds, rivals, rivalry, _some(clear), settings.ridge)
    log_odds = _log_odds(model, kinds, rivals, len(rivalry.rows))
    pairs = match(log_odds)
    free = np.ones(len(log_odds), np.bool_)
    free[pairs] = False
    if nearly is not None:
        free &= ~nearly(pairs)
    rivals = {name: rivalry.rivals(np.where(free, values, 0.0)) for name, values in kinds.items()}
    wrong_odds = np.where(free, _log_odds(model, kinds, rivals, len(free)), -np.inf)
    chances = chance_of_being_right(log_odds[pairs], wrong_odds[match(wrong_odds)])
    equal = n_equal(log_odds, pairs, rivalry)
    return Weighing(log_odds=log_odds, pairs=pairs, probabilities=chances / equal, n_equal=equal, weights=weights)


def n_equal(log_odds: Floats, pairs: Positions, rivalry: Rivalry) -> NDArray[np.int64]:
    """Count for each pair how many pages it might as well have been, itself included.

    A candidate is as good as the pair if it has one page in common with it and equal log odds, and its other page is in
    no better pair.

    Parameters
    ----------
    log_odds : ndarray, shape (n_candidates,)
    pairs : ndarray of int, shape (n_pairs,)
        Positions of a one-to-one matching among the candidates.
    rivalry : Rivalry

    Returns
    -------
    ndarray of int64, shape (n_pairs,), values >= 1

    Examples
    --------
    Two pages that nothing tells apart, and a third:

    >>> from scipy.sparse import csr_array
    >>> odds = np.array([2.0, 2.0, -9.0, 2.0, 2.0, -9.0, -9.0, -9.0, 5.0])
    >>> n_equal(odds, np.array([0, 4, 8]), Rivalry(csr_array(np.ones((3, 3))))).tolist()
    [2, 2, 1]
    """
    of_row, of_column = (np.full(n, -np.inf) for n in rivalry.shape)
    of_row[rivalry.rows[pairs]] = of_column[rivalry.columns[pairs]] = log_odds[pairs]
    best = np.maximum(of_row[rivalry.rows], of_column[rivalry.columns])
    equal = np.isfinite(best) & (log_odds >= best - EQUAL)
    n_row = np.bincount(rivalry.rows[equal], minlength=rivalry.shape[0])[rivalry.rows[pairs]]
    n_column = np.bincount(rivalry.columns[equal], minlength=rivalry.shape[1])[rivalry.columns[pairs]]
    return np.maximum(np.maximum(n_row, n_column), 1)


def clear_pairs(scores: Floats, rivalry: Rivalry, margin: float) -> NDArray[np.bool_]:
    """Mark the candidates that are the best of both their pages, by a factor of 1 + ``margin`` over the next.

    Parameters
    ----------
    scores : ndarray, shape (n_candidates,), values >= 0
    rivalry : Rivalry
    margin : float
    """
    return (scores > rivalry.rivals(scores) * (1 + margin)) & (scores > 0)


def chance_of_being_right(given: Floats, wrong: Floats) -> Floats:
    """P(right) of pairs with log odds ``given``, when pairs known to be wrong have log odds ``wrong``.

    The given pairs are a mixture: a share π₀ is wrong and scores like the wrong ones. With f, f₀ the densities of given
    and wrong pairs::

        P(right | t) = 1 - π₀·f₀(t) / f(t)

    f₀/f comes from a logistic regression of "given" on t, and is never taken for less than ½/n: the wrong pairs that
    were seen do not allow to be surer. π₀ is the share of given pairs that score no better than half of the wrong ones,
    divided by `LOW_SHARE`. This is where most wrong pairs among the given are: they had only what the right ones left
    to choose from, the withheld ones had every page. (Storey's usual estimate divides by ½; on 11 sites that is 1.4 to
    2.3 times the true share.)

    Parameters
    ----------
    given : ndarray, shape (n,)
    wrong : ndarray, shape (k,)
        Of another matching of the same pages from which the given pairs were withheld.

    Returns
    -------
    ndarray, shape (n,), values in [0, 1], rising with ``given``; all ½ where there is nothing to compare with.

    Examples
    --------
    >>> given, wrong = np.r_[np.full(90, 6.0), np.full(10, -6.0)], np.full(100, -6.0)
    >>> chance_of_being_right(given, wrong).round(2)[[0, -1]].tolist()
    [1.0, 0.0]
    """
    if not len(given) or not len(wrong):
        return np.full(len(given), 0.5)
    values = np.concatenate([given, wrong])[:, None]
    model, _ = _fit(values, np.repeat([1.0, 0.0], [len(given), len(wrong)]), _DECISION_RIDGE)
    rises = model.weights[0] > 0  # if not, the given pairs are no better than the wrong ones
    ratio = np.exp(-model.log_odds(given[:, None])) * len(given) / len(wrong) if rises else np.ones(len(given))
    ratio = np.maximum(ratio, 0.5 / len(given))
    share_of_wrong = (np.sum(given <= np.median(wrong)) / LOW_SHARE + 0.5) / (len(given) + 0.5)
    return np.clip(1 - share_of_wrong * ratio, 0.0, 1.0)


def _some(clear: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Keep `MAX_TEACHERS` of the marked candidates, spread evenly over all."""
    marked = np.flatnonzero(clear)
    if len(marked) <= MAX_TEACHERS:
        return clear
    kept = np.zeros(len(clear), np.bool_)
    kept[marked[np.linspace(0, len(marked) - 1, MAX_TEACHERS).astype(np.intp)]] = True
    return kept


def _learn(
    kinds: Mapping[str, Floats],
    rivals: Mapping[str, Floats],
    rivalry: Rivalry,
    clear: NDArray[np.bool_],
    ridge: float,
) -> tuple[_Logistic, dict[str, float]]:
    """Fit the model to the clear pairs and their rivals; return it with the share of each kind of evidence."""
    of_row, of_column = (np.zeros(n, np.bool_) for n in rivalry.shape)
    of_row[rivalry.rows[clear]] = of_column[rivalry.columns[clear]] = True
    known = np.flatnonzero(of_row[rivalry.rows] | of_column[rivalry.columns])
    x = np.empty((len(known), len(kinds) * len(STANDINGS)))
    for k, name in enumerate(kinds):
        _write_standings(kinds[name][known], rivals[name][known], x[:, k * len(STANDINGS) : (k + 1) * len(STANDINGS)])
    model, z = _fit(x, clear[known].astype(np.float64), ridge)
    return model, _shares(model, z, list(kinds))


def _log_odds(model: _Logistic, kinds: Mapping[str, Floats], rivals: Mapping[str, Floats], n: int) -> Floats:
    """Return the model's log odds of all candidates, one kind of evidence after the other: all at once is too much."""
    odds, x = np.full(n, model.weights[-1]), np.empty((n, len(STANDINGS)))
    for k, name in enumerate(kinds):
        _write_standings(kinds[name], rivals[name], x)
        odds += model.part(x, slice(k * len(STANDINGS), (k + 1) * len(STANDINGS)))
    return _clipped(odds)


def _clipped(odds: Floats) -> Floats:
    clipped: Floats = np.clip(odds, -MAX_LOG_ODDS, MAX_LOG_ODDS)
    return clipped


def _write_standings(values: Floats, rivals: Floats, standings: Floats) -> None:
    """Write `STANDINGS` of a kind of evidence, one a column."""
    lead = values - rivals
    standings[:, 0], standings[:, 1] = values, lead
    standings[:, 2], standings[:, 3] = np.clip(lead / (values + 1e-6), -1, 1), lead > 1e-9


def _fit(x: Floats, y: Floats, ridge: float) -> tuple[_Logistic, Floats]:
    """Fit by Newton's method, the columns brought to mean 0 and deviation 1; penalty ½·ridge·n·|w|² on all but b.

    Where nothing is right there is nothing to learn: all log odds are 0. Returns the model, and these columns with one
    of ones behind them.
    """
    z = np.ones((len(x), x.shape[1] + 1))
    if not y.any():
        return _Logistic(np.zeros(x.shape[1]), np.ones(x.shape[1]), np.zeros(x.shape[1] + 1)), z
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
    return _Logistic(mean, scale, weights), z


def _shares(model: _Logistic, z: Floats, names: list[str]) -> dict[str, float]:
    """How much of the spread of the log odds each kind of evidence makes, all its standings together.

    Equal shares where there is no spread.
    """
    spread = z[:, :-1] * model.weights[:-1]
    of_kind = np.abs(spread, out=spread).reshape(len(z), len(names), len(STANDINGS)).sum(axis=(0, 2))
    if not of_kind.any():
        of_kind = np.ones(len(names))
    return dict(zip(names, (of_kind / of_kind.sum()).tolist(), strict=True))
