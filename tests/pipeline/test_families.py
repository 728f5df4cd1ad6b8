"""Agreement among three languages."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from twinlink.config import MatchSettings
from twinlink.graph.matching import Matching
from twinlink.pipeline.choice import SideMatch
from twinlink.pipeline.evidence import Found, Side
from twinlink.pipeline.families import reconcile

N = 3


def side(lang, first):
    ids = np.arange(first, first + N)
    return Side(lang, ids, [f"/{lang}/{n}" for n in range(N)], [[]] * N, [b""] * N, csr_array((N, N), dtype=np.bool_))


EN, FR, DE = side("en", 0), side("fr", 10), side("de", 20)


def matched(side_a, side_b, columns, probabilities):
    """Pair page n of side A with page columns[n] of side B."""
    scores = np.full(N, 0.5, dtype=np.float32)
    found = Found(
        scores=csr_array((scores, (np.arange(N), columns)), shape=(N, N)),
        evidence={},
        matching=Matching(np.arange(N), np.array(columns), scores),
        rivals=np.zeros(N),
        probabilities=np.array(probabilities),
        weights={},
    )
    return SideMatch(side_a, side_b, found, found.probabilities >= 0.5)


def chances(*matches):
    return [each.found.probabilities.round(4).tolist() for each in reconcile(matches, [], MatchSettings())]


def test_two_languages_are_left_alone():
    match = matched(EN, FR, [0, 1, 2], [0.9, 0.4, 0.6])
    assert reconcile([match], [], MatchSettings()) == [match]


def test_a_doubtful_pair_is_supported_by_the_way_round():
    support = matched(EN, DE, [0, 1, 2], [0.9] * 3), matched(FR, DE, [0, 1, 2], [0.9] * 3)
    (first, *_) = chances(matched(EN, FR, [0, 1, 2], [0.5, 0.4, 0.0]), *support)
    ratio = 0.81 / 0.19
    assert first[0] == pytest.approx(ratio / (1 + ratio), abs=1e-4)
    assert first[1] == pytest.approx(0.4 * ratio / (0.6 + 0.4 * ratio), abs=1e-4)
    assert first[2] < 0.001


def test_a_pair_that_the_third_language_contradicts_falls():
    support = matched(EN, DE, [0, 1, 2], [0.99] * 3), matched(FR, DE, [1, 0, 2], [0.99] * 3)
    (first, *_) = chances(matched(EN, FR, [0, 1, 2], [0.6] * 3), *support)
    assert first[0] == first[1] < 0.1
    assert first[2] > 0.95


def test_doubtful_pairs_say_nothing():
    doubtful = matched(EN, DE, [0, 1, 2], [0.6] * 3), matched(FR, DE, [1, 0, 2], [0.6] * 3)
    assert chances(matched(EN, FR, [0, 1, 2], [0.7] * 3), *doubtful)[0] == [0.7] * 3


def test_the_direction_of_a_match_does_not_matter():
    forth = matched(EN, DE, [1, 2, 0], [0.9] * 3)
    back = matched(DE, EN, [2, 0, 1], [0.9] * 3)
    pair, other = matched(EN, FR, [0, 1, 2], [0.5] * 3), matched(FR, DE, [1, 2, 0], [0.9] * 3)
    assert chances(pair, forth, other)[0] == chances(pair, back, other)[0]


def test_support_changes_what_is_handed_out():
    support = matched(EN, DE, [0, 1, 2], [0.95] * 3), matched(FR, DE, [0, 1, 2], [0.95] * 3)
    (first, *_) = reconcile([matched(EN, FR, [0, 1, 2], [0.3] * 3), *support], [], MatchSettings())
    assert first.keep.all()
