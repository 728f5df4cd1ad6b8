"""The model of `twinlink.similarity.weighing`: log odds of candidates from all evidence together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from twinlink.similarity.clues import CLUES, clue_odds, learn_clues
from twinlink.similarity.kinds import some_kinds
from twinlink.similarity.lessons import Lessons, taught_rows
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.standings import Logistic, fit_logistic, standings_of
from twinlink.similarity.weighing_kernels import contributions

__all__ = ["MAX_LOG_ODDS", "Learned", "Model", "learn"]

Floats = NDArray[np.float64]
Values = NDArray[np.floating]
"""Float32 or float64."""
Marks = NDArray[np.bool_]

MAX_LOG_ODDS = 20.0


class Model(msgspec.Struct, frozen=True, eq=False):
    """Logistic model of all evidence, with the weights of clues."""

    logistic: Logistic
    clues: Mapping[str, Floats]
    """What each state of each clue adds to the log odds."""

    def log_odds(self, kinds: Mapping[str, Values], rivalry: Rivalry, left: Marks | None = None) -> Floats:
        """Return the log odds of all candidates, one kind of evidence at a time to save memory.

        With ``left``, those of the candidates that are left once the others are removed; those of the others have no
        meaning.
        """
        return self.log_odds_and_clues(kinds, rivalry, left)[0]

    def log_odds_and_clues(
        self, kinds: Mapping[str, Values], rivalry: Rivalry, left: Marks | None = None
    ) -> tuple[Floats, dict[str, Floats]]:
        """Return the log odds of all candidates (`log_odds`), and what each clue adds to them."""
        odds = np.full(len(rivalry.rows), self.logistic.weights[-1])
        for k, name in enumerate(name for name in kinds if name not in CLUES):
            values = kinds[name]
            self.logistic.add_kind(odds, k, values, rivalry.rivals(values, left))
        added = clue_odds(kinds, self.clues, rivalry, left)
        return sum(added.values(), _clipped(odds)), added


class Learned(NamedTuple):
    """What `learn` returns."""

    model: Model
    weights: dict[str, float]
    """Share of each kind of evidence in the model, sum 1."""
    log_odds: Floats
    """Those of all candidates by the model."""
    added: dict[str, Floats]
    """What each clue adds to them."""


def learn(
    kinds: Mapping[str, Values],
    rivalry: Rivalry,
    clear: NDArray[np.bool_],
    ridge: float,
    lessons: Lessons | None = None,
) -> Learned:
    """Fit the model to the clear pairs, their rivals and the lessons of labels.

    Parameters
    ----------
    kinds : mapping of str to ndarray, shape (n_candidates,), values >= 0, or `AT_NO_PAGE` of a clue
    rivalry : Rivalry
    clear : ndarray of bool, shape (n_candidates,)
        Pairs to learn from, no page twice.
    ridge : float
        See `fit_logistic`.
    lessons : Lessons, optional
        Labels of candidates.

    Returns
    -------
    Learned
    """
    own, clues = (some_kinds(kinds, [n for n in kinds if (n in CLUES) == is_clue]) for is_clue in (False, True))
    z, y, known = _clear_rows(own if lessons is None else lessons.without_rejected(own), rivalry, clear)
    if lessons is not None:
        z_taught, y_taught, taught = taught_rows(own, rivalry, lessons)
        z, y, known = np.concatenate([z, z_taught]), np.append(y, y_taught), np.append(known, taught)
    logistic = fit_logistic(z, y, ridge)
    odds = Model(logistic, {}).log_odds(own, rivalry)
    told = odds if lessons is None else lessons.with_labels(odds, MAX_LOG_ODDS)
    model = Model(logistic, learn_clues(clues, told, rivalry))
    added = clue_odds(clues, model.clues, rivalry)
    shares = _shares(logistic, z, list(own), {name: values[known] for name, values in added.items()})
    return Learned(model, shares, sum(added.values(), odds), added)


def _clear_rows(
    kinds: Mapping[str, Values], rivalry: Rivalry, clear: NDArray[np.bool_]
) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Return the standings of clear pairs and of their rivals, the targets (1: clear), and the positions."""
    of_row, of_column = rivalry.pages(np.flatnonzero(clear))
    known = np.flatnonzero(of_row[rivalry.rows] | of_column[rivalry.columns])
    return standings_of(kinds, rivalry, known), clear[known].astype(np.float64), known


def _clipped(odds: Floats) -> Floats:
    clipped: Floats = np.clip(odds, -MAX_LOG_ODDS, MAX_LOG_ODDS)
    return clipped


def _shares(model: Logistic, z: Floats, names: list[str], clues: Mapping[str, Values]) -> dict[str, float]:
    """Return the deviation of each kind of evidence's contribution to the log odds, as a share of the sum.

    Equal shares if there is no contribution.
    """
    added = (*contributions(z, model.weights), *clues.values())
    deviations = np.array([values.std() if len(values) else 0.0 for values in added])
    if not deviations.any():
        deviations = np.ones(len(deviations))
    return dict(zip([*names, *clues], (deviations / deviations.sum()).tolist(), strict=True))
