"""Which of several results of the rounds counts, where they start again in other ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from msgspec.structs import replace

from twinlink.match.measures import SiteMeasures, State
from twinlink.match.methods.weighed.consensus import agree_on_enough, consensus_of, is_without_gain
from twinlink.match.methods.weighed.first_state import first_state
from twinlink.match.methods.weighed.next_state import state_after
from twinlink.match.methods.weighed.restarts import BETTER, are_enough, is_risky, n_restarts, restarts
from twinlink.match.methods.weighed.round import Round
from twinlink.match.methods.weighed.rounds import run_rounds
from twinlink.match.methods.weighed.word_parts import MORE_PARTS, MORE_RIGHT, is_unsure, parts_of
from twinlink.system.steps import Steps

__all__ = ["CANDIDATES_SHARE", "best_of_restarts", "way_to_restart"]

CANDIDATES_SHARE = 0.2
"""Share of the time before the first round, for progress reports."""


class _Start(NamedTuple):
    """A state from which the rounds start again."""

    state: State
    better: float
    """Factor by which the objective must be larger than that of the first result."""


class _Tried:
    """Results of the rounds from several starts, of which one counts."""

    def __init__(self, site: SiteMeasures, objective: Callable[[SiteMeasures, Round], float], first: Round) -> None:
        self._objective = objective
        self._site = site
        self.best = first
        self.objectives = [objective(site, first)]
        self.probabilities = [_matrix_of(first)]
        """Probabilities of the pairs of each result."""

    def add(self, done: Round, better: float) -> None:
        """Add a result; it counts if it has the largest objective, by a factor over that of the first one."""
        objective = self._objective(self._site, done)
        if objective > max(better * self.objectives[0], *self.objectives):
            self.best = done
        self.objectives.append(objective)
        self.probabilities.append(_matrix_of(done))


class WayToRestart(NamedTuple):
    """Other starts of the rounds, and how their results are compared."""

    most: Callable[[State], int]
    """From the first state to the maximum number of starts."""
    starts: Callable[[SiteMeasures, State, _Tried], Iterator[_Start]]
    """From the first state, and the results so far, to others."""
    objective: Callable[[SiteMeasures, Round], float]
    are_enough: Callable[[SiteMeasures, _Tried], bool]
    """Whether no more results are needed."""


def way_to_restart(site: SiteMeasures, done: Round) -> WayToRestart | None:
    """Return how the rounds start again after a result; None: they do not."""
    if is_risky(site, done.rivalry, done.result):
        return _BY_CHANCE
    return _OF_UNSURE if is_unsure(site, done.result) else None


def _starts_by_chance(site: SiteMeasures, first: State, tried: _Tried) -> Iterator[_Start]:  # noqa: ARG001
    """Yield starts without the order of links, and with pairs by chance, whatever the results so far."""
    for state in restarts(site, first):
        yield _Start(state, BETTER)


def _starts_of_unsure(site: SiteMeasures, first: State, tried: _Tried) -> Iterator[_Start]:
    """Yield starts from the consensus of the results so far, or else from the first state.

    From the first state, each number of parts is tried once: the result would be the same.
    """
    for n, n_parts in enumerate(MORE_PARTS):
        parts, consensus = parts_of(site.alike_a, n_parts), consensus_of(tried.probabilities)
        if n and agree_on_enough(consensus):
            pairs = consensus.rows, consensus.columns, consensus.scores.astype(np.float64)
            best = tried.best._replace(state=replace(tried.best.state, parts=parts))
            yield _Start(state_after(site, best, pairs, None), 1.0)
        elif n_parts not in MORE_PARTS[:n]:
            yield _Start(replace(first, parts=parts), MORE_RIGHT)


def _are_sure_enough(site: SiteMeasures, tried: _Tried) -> bool:
    """Return whether enough pairs of the best result are sure, or the last starts brought nothing more."""
    return not is_unsure(site, tried.best.result) or is_without_gain(tried.objectives)


def best_of_restarts(site: SiteMeasures, done: Round, how: WayToRestart, name: str, steps: Steps) -> Round:
    """Run the rounds again from other starts; return the result with the largest objective, ``done`` if it has it.

    One start after the other, though some do not depend on those before: with one on each of two cores, `mine` takes
    3 to 15 % less time on two sites, because the steps of a round use all cores, too.
    """
    tried = _Tried(site, how.objective, done)
    first = first_state(site, f"{name} again", steps.part(0.0, CANDIDATES_SHARE))
    most, rest = how.most(first), steps.part(CANDIDATES_SHARE, 1.0).without_results()
    for n, start in enumerate(how.starts(site, first, tried)):
        part = rest.part(n / most, (n + 1) / most)
        again = run_rounds(site, start.state, None, f"{name}, start {n + 2} of {most + 1}", part)
        tried.add(again, start.better)
        if how.are_enough(site, tried):
            break
    return tried.best


def _matrix_of(done: Round) -> sp.csr_array:
    """Return the probabilities of the pairs of a result."""
    pairs = done.result.pairs
    places = done.rivalry.rows[pairs], done.rivalry.columns[pairs]
    return sp.csr_array((done.result.probabilities.astype(np.float32), places), shape=done.state.pattern.shape)


def _objective(site: SiteMeasures, done: Round) -> float:
    """Return the sum of the contrast of a result's pairs of look-alikes, times the expected number of right pairs."""
    pairs = done.result.pairs[site.has_alike(done.rivalry)[done.result.pairs]]
    contrast = done.evidence["contrast"][pairs].sum(dtype=np.float64)
    return float(contrast * done.n_right)


_BY_CHANCE = WayToRestart(n_restarts, _starts_by_chance, _objective, lambda _, tried: are_enough(tried.objectives))
_OF_UNSURE = WayToRestart(
    lambda _: len(MORE_PARTS), _starts_of_unsure, lambda _, result: result.n_right, _are_sure_enough
)
