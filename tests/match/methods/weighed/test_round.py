"""A round: matching by log odds and chance, and what the next round learns by."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from twinlink.match.methods.weighed.round import Round, match_by_odds, sureness
from twinlink.similarity.lessons import Lessons
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.weighing import Weighing


def test_chance_may_turn_a_choice_round() -> None:
    rivalry = Rivalry(sp.csr_array(np.ones((2, 2), np.float32)))
    odds, everywhere = np.array([1.0, 0.5, 0.5, 1.0]), [np.ones(4, np.bool_)]
    assert [pairs.tolist() for pairs in match_by_odds(rivalry, odds, everywhere)] == [[0, 3]]
    chance = np.array([-1.0, 0.0, 0.0, 0.0])
    (pairs,) = match_by_odds(rivalry, odds, everywhere, chance)
    assert pairs.tolist() == [3, 0]
    (pairs,) = match_by_odds(rivalry, odds, everywhere, chance - np.array([0.0, 0.0, 0.0, 1.0]))
    assert sorted(pairs.tolist()) == [1, 2]


def weighed_pairs(held_out: list[float]) -> Weighing:
    """Two pairs whose presence by all pairs is .9 and .8, and whose probability is .5 and .1."""
    given = [np.array(x) for x in ([0.0, 0.0], [0, 1], [0.9, 0.8], held_out, [0.5, 0.1], [0, 0])]
    return Weighing(*given, mistaken=0.0, weights={})


def test_the_next_round_learns_by_models_that_have_not_learned_from_the_pairs() -> None:
    done = Round(None, None, {}, weighed_pairs([0.7, 0.2]), None)  # type: ignore[arg-type]  # state, rivalry: not used
    np.testing.assert_array_equal(sureness(done), [0.7, 0.2])


def test_with_labels_the_next_round_learns_by_the_calibrated_probabilities() -> None:
    lessons = Lessons(*(np.zeros(2, dtype=np.bool_) for _ in range(3)))
    done = Round(None, None, {}, weighed_pairs([0.7, 0.2]), lessons)  # type: ignore[arg-type]
    np.testing.assert_array_equal(sureness(done), [0.5, 0.1])
