"""Which pairs of a matching are reported, and which setting leaves out the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from tests.match.test_families import EN, FR, matched
from twinlink.config import Config, MatchSettings
from twinlink.match import selection
from twinlink.match.evidence import Between, FoundPairs, Side, Words, read_words
from twinlink.match.methods.registry import Method
from twinlink.match.selection import SideMatch, choose_pairs, match_sides
from twinlink.similarity.candidates import BYTES
from twinlink.similarity.lexicon_files import Lexicon

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


def test_candidates_of_both_sides_fit_into_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte for six pages, at `BYTES` for each candidate of a page."""
    seen: list[MatchSettings] = []

    class Watched(Method):
        def load(self) -> Any:
            def method(*given: Any) -> FoundPairs:
                seen.append(given[-1])
                return scored([0.9, 0.5, 0.4]).found

            return method

    monkeypatch.setattr(selection, "METHODS", {"weighed": Watched("")})
    settings = Config().override({"match.candidates.memory": 1, "match.candidates.per_page": 1_000}).match
    none = sp.csr_array((3, 3), dtype=np.float32)
    found = match_sides(EN, FR, Between(none, none), (), settings)
    assert found.keep.tolist() == [True, True, False]
    assert [each.candidates.per_page for each in seen] == [1_000_000 // (6 * BYTES)]


def test_words_are_read_before_the_method_as_the_caller_says(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    class Watched(Method):
        def load(self) -> Any:
            order.append("method")
            return lambda *given: scored([0.9, 0.5, 0.4]).found

    def words_of(side_a: Side, side_b: Side, lexicons: Sequence[Lexicon], settings: MatchSettings) -> Words:
        order.append(f"words of {side_a.lang}-{side_b.lang}")
        return read_words(side_a, side_b, lexicons, settings)

    monkeypatch.setattr(selection, "METHODS", {"weighed": Watched("")})
    none = sp.csr_array((3, 3), dtype=np.float32)
    match_sides(EN, FR, Between(none, none), (), MatchSettings(), words_of=words_of)
    assert order == ["words of en-fr", "method"]
