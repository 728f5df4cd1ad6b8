"""Which pairs of a matching are reported, and which setting leaves out the others."""

from __future__ import annotations

import numpy as np
import pytest

from tests.match.test_families import EN, FR, matched
from twinlink.config import MatchSettings
from twinlink.match.selection import SideMatch, choose_pairs

SCORES = np.array([0.875, 0.5, 0.25], np.float32)


def scored(probabilities: list[float], accepted: list[bool] | None = None) -> SideMatch:
    match = matched(EN, FR, [1, 0, 2], probabilities)
    match.found.matching.scores[:] = SCORES
    marks = None if accepted is None else np.array(accepted)
    return SideMatch(match.side_a, match.side_b, match.found, np.zeros(3, np.bool_), marks)


@pytest.mark.parametrize(
    ("settings", "kept", "limits"),
    [
        ({}, [True, True, False], ["", "", ""]),
        ({"min_probability": 0.0}, [True, True, True], ["", "", ""]),
        ({"min_score": 0.5}, [True, True, False], ["", "", "min_score"]),
        ({"min_score": 0.51}, [True, False, False], ["", "min_score", "min_score"]),
        ({"max_pairs": 0}, [False, False, False], ["max_pairs", "max_pairs", ""]),
        ({"max_pairs": 1}, [True, False, False], ["", "max_pairs", ""]),
        ({"max_pairs": 2}, [True, True, False], ["", "", ""]),
        ({"max_pairs": 1, "min_score": 0.5}, [True, False, False], ["", "max_pairs", "min_score"]),
    ],
)
def test_cuts_and_what_they_leave_out(settings: dict[str, float], kept: list[bool], limits: list[str]) -> None:
    """The last pair is less likely than a half: that is no limit."""
    found = choose_pairs(scored([0.9, 0.5, 0.4]), MatchSettings(**settings))
    assert found.keep.tolist() == kept
    assert list(found.limits) == [f"match.{name}" if name else "" for name in limits]


def test_accepted_pairs_are_handed_out_beside_any_cut() -> None:
    found = choose_pairs(scored([0.9, 0.5, 0.4], [False, False, True]), MatchSettings(max_pairs=1))
    assert found.keep.tolist() == [True, False, True]


def test_addresses_are_those_of_the_pairs_handed_out_or_asked_for() -> None:
    found = choose_pairs(scored([0.9, 0.2, 0.6]), MatchSettings())
    assert found.pairs() == [("/en/0", "/fr/1"), ("/en/2", "/fr/2")]
    assert found.pairs(~found.keep) == [("/en/1", "/fr/0")]
