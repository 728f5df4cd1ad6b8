"""How much each kind of evidence is worth, found on the site at hand, without labels.

Pairs that are clearly best for both of their pages teach a logistic model what right pairs look like beside the rivals
that they beat. Clues (`twinlink.similarity.clues`) are weighed by how far they agree with it. How sure a pair is comes
from two comparisons (`twinlink.similarity.chances`): with the pairs that are chosen where the right partner is missing,
which is tried by taking pages away, and with the pair's rivals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twinlink.config import WeighingSettings
from twinlink.errors import ShapeError
from twinlink.similarity.chances import chance_of_being_right, shares_of_rivals
from twinlink.similarity.clues import CLUES, clue_odds, learn_clues
from twinlink.similarity.margins import Rivalry
from twinlink.similarity.weighing_kernels import logistic_sums

__all__ = ["Weighing", "clear_pairs", "n_equal", "weigh"]

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]
Match = Callable[[Floats], Positions]
"""From a score of each candidate (higher is better, -inf: must not be taken) to the positions of a one-to-one
matching."""
Nearly = Callable[[Positions], NDArray[np.bool_]]
"""From the positions of pairs to the candidates that are, or nearly equal, one of them."""
Remeasure = Callable[[NDArray[np.bool_]], Mapping[str, Floats]]
"""From the candidates that are left to the kinds of evidence that are others without the rest."""

MAX_LOG_ODDS = 20.0
MAX_TEACHERS = 2_000
"""Clear pairs that the model is learned from, spread evenly over all. Trials on seven sites: the same F1 within .001 as
with all; it bounds time and memory."""
LEAST_COMPARED = 20
"""Pairs, and wrong pairs, from which on look-alikes are judged apart from other pages. Ours, not tuned."""
EQUAL = 1e-6
"""Log odds that differ by less are equal."""
WITHHELD = tuple((slice(2 * k, None, 8), slice(2 * k + 1, None, 8)) for k in range(4))
"""Pairs that lose their column and pairs that lose their row in each of four trials: an eighth of them each."""
STANDINGS = ("value", "lead", "relative lead", "best")
_NEWTON_STEPS = 30
_NEWTON_TOLERANCE = 1e-2


@dataclass(frozen=True, slots=True, eq=False)
class Weighing:
    """What weighing makes of the candidates."""

    log_odds: Floats
    """Of each candidate, shape (n_candidates,): the model's verdict on it beside its rivals."""
    pairs: Positions
    """Positions of the one-to-one matching among the candidates."""
    presence: Floats
    """Chance of each of ``pairs`` not to be what is left over where partners are missing, in [0, 1]."""
    probabilities: Floats
    """Chance of each of ``pairs`` to be right, in [0, 1]: ``presence`` times its share among its rivals."""
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

    def part(self, x: Floats, columns: slice) -> Floats:
        """Return what some columns add to the log odds of each row."""
        parts: Floats = (x - self.mean[columns]) / self.scale[columns] @ self.weights[:-1][columns]
        return parts


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """What all evidence together says of a candidate."""

    logistic: _Logistic
    clues: Mapping[str, Floats]
    """What each state of each clue adds to the log odds."""

    def log_odds(self, kinds: Mapping[str, Floats], rivalry: Rivalry) -> Floats:
        """Return the log odds of all candidates, one kind of evidence after the other: all at once is too much."""
        n = len(rivalry.rows)
        odds, x = np.full(n, self.logistic.weights[-1]), np.empty((n, len(STANDINGS)))
        own = (values for name, values in kinds.items() if name not in CLUES)
        for k, values in enumerate(own):
            _write_standings(values, rivalry.rivals(values), x)
            odds += self.logistic.part(x, slice(k * len(STANDINGS), (k + 1) * len(STANDINGS)))
        return np.asarray(sum(clue_odds(kinds, self.clues, rivalry).values(), _clipped(odds)))


def weigh(
    kinds: Mapping[str, Floats],
    rivalry: Rivalry,
    clear: NDArray[np.bool_],
    match: Match,
    settings: WeighingSettings | None = None,
    nearly: Nearly | None = None,
    remeasure: Remeasure | None = None,
    alike: NDArray[np.bool_] | None = None,
) -> Weighing:
    """Weigh the evidence of a site's candidates.

    Each kind of evidence v of a candidate gives four numbers: v itself, its lead v - r over the best rival r (another
    candidate of either page), the relative lead (v - r) / v, and whether v > r. A logistic model with an L2 penalty
    learns from the ``clear`` pairs (right) and the other candidates of their pages (wrong); candidates of all other
    pages are left out of the learning, for nothing is known of them. Clues are no part of this model: `learn_clues`
    finds what they add to its log odds. These order the candidates, and ``match`` picks the pairs.

    Then pages are taken away, and the rest is matched again: what the pages whose partners are gone are paired with is
    wrong. `chance_of_being_right` compares the pairs with these. Where pages have near-duplicates the pair may still be
    the wrong one of several: the chance is multiplied by its share among its rivals (`shares_of_rivals`).

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
    remeasure : callable, optional
        Measures again what depends on other candidates; by default nothing does.
    alike : ndarray of bool, shape (n_candidates,), optional
        Whether one of the candidate's pages has near-duplicates; such pairs are compared with each other.

    Raises
    ------
    ShapeError
        If a kind of evidence has not one value for each candidate.
    """
    settings = settings or WeighingSettings()
    for name, values in kinds.items():
        if values.shape != rivalry.rows.shape:
            raise ShapeError(f"evidence {name!r}: expected {rivalry.rows.shape}, got {values.shape}")
    model, weights = _learn(kinds, rivalry, _some(clear), settings.ridge)
    log_odds = model.log_odds(kinds, rivalry)
    pairs = match(log_odds)
    wrong = [
        _chosen_wrongly(model, kinds, rivalry, match, pairs[columns], pairs[rows], nearly, remeasure)
        for columns, rows in WITHHELD
    ]
    presence = _presence(log_odds, pairs, wrong, alike)
    equal = n_equal(log_odds, pairs, rivalry)
    return Weighing(
        log_odds=log_odds,
        pairs=pairs,
        presence=presence,
        probabilities=presence * np.minimum(shares_of_rivals(log_odds, rivalry)[pairs], 1 / equal),
        n_equal=equal,
        weights=weights,
    )


def _presence(
    log_odds: Floats, pairs: Positions, wrong: list[tuple[Positions, Floats]], alike: NDArray[np.bool_] | None
) -> Floats:
    """Compare pairs of look-alikes with wrong pairs of look-alikes, and others with others, where there are enough."""
    places, odds = (np.concatenate(parts) for parts in zip(*wrong, strict=True))
    if alike is not None:
        groups = [(alike[pairs] == which, alike[places] == which) for which in (False, True)]
        if all(min(given.sum(), known.sum()) >= LEAST_COMPARED for given, known in groups):
            presence = np.empty(len(pairs))
            for given, known in groups:
                presence[given] = chance_of_being_right(log_odds[pairs[given]], odds[known])
            return presence
    return chance_of_being_right(log_odds[pairs], odds)


def _chosen_wrongly(
    model: _Model,
    kinds: Mapping[str, Floats],
    rivalry: Rivalry,
    match: Match,
    lose_column: Positions,
    lose_row: Positions,
    nearly: Nearly | None,
    remeasure: Remeasure | None,
) -> tuple[Positions, Floats]:
    """Return the pairs that are chosen for pages whose partner was taken away, and their log odds.

    Near-duplicates of a lost partner are taken away, too: with them the page would be paired rightly.
    """
    gone_row, gone_column = rivalry.pages(lose_row)[0], rivalry.pages(lose_column)[1]
    left = ~(gone_row[rivalry.rows] | gone_column[rivalry.columns])
    measured = {**kinds, **(remeasure(left) if remeasure is not None else {})}
    log_odds = model.log_odds({name: np.where(left, values, 0.0) for name, values in measured.items()}, rivalry)
    if nearly is not None:
        left &= ~nearly(np.concatenate([lose_column, lose_row]))
    log_odds = np.where(left, log_odds, -np.inf)
    chosen = match(log_odds)
    lonely_row, lonely_column = rivalry.pages(lose_column)[0], rivalry.pages(lose_row)[1]
    wrong = lonely_row[rivalry.rows[chosen]] | lonely_column[rivalry.columns[chosen]]
    return chosen[wrong], log_odds[chosen[wrong]]


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


def _some(clear: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Keep `MAX_TEACHERS` of the marked candidates, spread evenly over all."""
    marked = np.flatnonzero(clear)
    if len(marked) <= MAX_TEACHERS:
        return clear
    kept = np.zeros(len(clear), np.bool_)
    kept[marked[np.linspace(0, len(marked) - 1, MAX_TEACHERS).astype(np.intp)]] = True
    return kept


def _learn(
    kinds: Mapping[str, Floats], rivalry: Rivalry, clear: NDArray[np.bool_], ridge: float
) -> tuple[_Model, dict[str, float]]:
    """Fit the model to the clear pairs and their rivals; return it with the share of each kind of evidence."""
    own = {name: values for name, values in kinds.items() if name not in CLUES}
    clues = {name: values for name, values in kinds.items() if name in CLUES}
    of_row, of_column = rivalry.pages(np.flatnonzero(clear))
    known = np.flatnonzero(of_row[rivalry.rows] | of_column[rivalry.columns])
    x = np.empty((len(known), len(own) * len(STANDINGS)))
    for k, values in enumerate(own.values()):
        rivals = rivalry.rivals(values)[known]
        _write_standings(values[known], rivals, x[:, k * len(STANDINGS) : (k + 1) * len(STANDINGS)])
    logistic, z = _fit(x, clear[known].astype(np.float64), ridge)
    model = _Model(logistic, {})
    if clues:
        model = _Model(logistic, learn_clues(clues, model.log_odds(own, rivalry), rivalry))
    added = {name: values[known] for name, values in clue_odds(clues, model.clues, rivalry).items()}
    return model, _shares(logistic, z, list(own), added)


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


def _shares(model: _Logistic, z: Floats, names: list[str], clues: Mapping[str, Floats]) -> dict[str, float]:
    """Return the deviation of what each kind of evidence adds to the log odds, as a share of the sum of all.

    Equal shares where nothing adds anything.
    """
    added = (z[:, :-1] * model.weights[:-1]).reshape(len(z), len(names), len(STANDINGS)).sum(axis=2)
    deviations = np.array([values.std() if len(values) else 0.0 for values in (*added.T, *clues.values())])
    if not deviations.any():
        deviations = np.ones(len(deviations))
    return dict(zip([*names, *clues], (deviations / deviations.sum()).tolist(), strict=True))
