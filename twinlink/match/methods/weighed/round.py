"""One round: measure the evidence of a state, weigh it, and match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from twinlink.graph.matching import greedy_among
from twinlink.match.evidence import as_scores
from twinlink.match.labels import lessons_of
from twinlink.match.measures import SiteMeasures, State, link_places, measure
from twinlink.match.methods.weighed.pairs_to_learn import pairs_to_learn
from twinlink.similarity.lessons import Lessons
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.weighing import Weighing, weigh

__all__ = ["Round", "match_by_odds", "run_round", "sureness"]


class Round(NamedTuple):
    """Measures and results of a round."""

    state: State
    rivalry: Rivalry
    evidence: Mapping[str, npt.NDArray[np.floating]]
    result: Weighing
    lessons: Lessons | None

    @property
    def n_right(self) -> float:
        """Expected number of right pairs."""
        return float(self.result.probabilities.sum())


def run_round(site: SiteMeasures, state: State, labels: sp.csr_array | None) -> Round:
    """Measure, weigh and match."""
    rivalry, lessons = Rivalry(state.pattern), lessons_of(state.pattern, labels)
    evidence = measure(site, state, rivalry)
    nearly = partial(site.nearly, rivalry)
    result = weigh(
        evidence,
        rivalry,
        pairs_to_learn(state, evidence, rivalry, lessons, nearly),
        partial(match_by_odds, rivalry, chance=state.chance),
        site.settings.weighing,
        nearly,
        partial(link_places, site, state, rivalry, evidence),
        site.has_alike(rivalry),
        lessons,
    )
    return Round(state, rivalry, evidence, result, lessons)


def match_by_odds(
    rivalry: Rivalry,
    log_odds: npt.NDArray[np.float64],
    among: Sequence[npt.NDArray[np.bool_]],
    chance: npt.NDArray[np.float64] | None = None,
) -> list[npt.NDArray[np.intp]]:
    """Return the positions of the greedy one-to-one matching of each set by log odds, and by ``chance`` where given."""
    scores = as_scores(log_odds if chance is None else log_odds + chance).astype(np.float32)
    return [greedy_among(scores, rivalry.rows, rivalry.columns, each, *rivalry.shape) for each in among]


def sureness(done: Round) -> npt.NDArray[np.float64]:
    """Return the weights of a round's pairs for learning: the probability that their pages have partners.

    With labels it is the calibrated probability, so that pairs like the rejected ones are no longer learned from.
    """
    return done.result.held_out if done.lessons is None else done.result.probabilities
