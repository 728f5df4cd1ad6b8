"""What further languages of a site say of a pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy.sparse import csr_array

from twinlink.config import MatchSettings
from twinlink.graph.matching import Matching
from twinlink.match.evidence import FoundPairs, Side
from twinlink.match.families import _probabilities, groups_beside, reconcile
from twinlink.match.selection import SideMatch
from twinlink.match.sides import Group
from twinlink.similarity.rivals import Rivalry

N = 3


def side(lang, first):
    ids = np.arange(first, first + N)
    return Side(lang, ids, [f"/{lang}/{n}" for n in range(N)], [[]] * N, [b""] * N, csr_array((N, N), dtype=np.bool_))


EN, FR, DE = side("en", 0), side("fr", 10), side("de", 20)


def matched(side_a, side_b, columns, probabilities):
    """Pair page n of side A with page columns[n] of side B."""
    scores = np.full(N, 0.5, dtype=np.float32)
    found = FoundPairs(
        scores=csr_array((scores, (np.arange(N), columns)), shape=(N, N)),
        evidence={},
        matching=Matching(np.arange(N), np.array(columns), scores),
        rivals=np.zeros(N),
        probabilities=np.array(probabilities),
        weights={},
    )
    return SideMatch(side_a, side_b, found, found.probabilities >= 0.5)


def probabilities(*matches):
    return [each.found.probabilities.round(4).tolist() for each in reconcile(matches, [], MatchSettings())]


def test_two_languages_are_left_alone():
    match = matched(EN, FR, [0, 1, 2], [0.9, 0.4, 0.6])
    assert reconcile([match], [], MatchSettings()) == [match]


def test_copies_of_a_page_support_each_other() -> None:
    """English pages 0 and 1 are copies, German ones too; the way round by German takes the other copy."""
    copies = np.array([0, 0, 2])
    support = [matched(EN, DE, [0, 1, 2], [0.9] * 3), matched(FR, DE, [1, 0, 2], [0.9] * 3)]
    support = [replace(each, found=replace(each.found, stands_for=(np.arange(N), copies))) for each in support]
    (first, *_) = probabilities(matched(EN, FR, [0, 1, 2], [0.5] * 3), *support)
    assert first[0] == first[1] == first[2] > 0.5


def test_a_doubtful_pair_is_supported_by_the_way_round():
    support = matched(EN, DE, [0, 1, 2], [0.9] * 3), matched(FR, DE, [0, 1, 2], [0.9] * 3)
    (first, *_) = probabilities(matched(EN, FR, [0, 1, 2], [0.5, 0.4, 0.0]), *support)
    ratio = 0.81 / 0.19
    assert first[0] == pytest.approx(ratio / (1 + ratio), abs=1e-4)
    assert first[1] == pytest.approx(0.4 * ratio / (0.6 + 0.4 * ratio), abs=1e-4)
    assert first[2] < 0.001


def test_a_pair_that_the_third_language_contradicts_falls():
    support = matched(EN, DE, [0, 1, 2], [0.99] * 3), matched(FR, DE, [1, 0, 2], [0.99] * 3)
    (first, *_) = probabilities(matched(EN, FR, [0, 1, 2], [0.6] * 3), *support)
    assert first[0] == first[1] < 0.1
    assert first[2] > 0.95


def test_doubtful_pairs_are_no_evidence():
    doubtful = matched(EN, DE, [0, 1, 2], [0.6] * 3), matched(FR, DE, [1, 0, 2], [0.6] * 3)
    assert probabilities(matched(EN, FR, [0, 1, 2], [0.7] * 3), *doubtful)[0] == [0.7] * 3


@pytest.mark.parametrize("there", ["agrees", "contradicts"])
def test_path_with_probability_below_half_is_no_evidence(there):
    """Probabilities of .69 and .69 make .476, less than a half; .72 and .72 make .518, more."""
    columns = [0, 1, 2] if there == "agrees" else [1, 0, 2]
    pair = matched(EN, FR, [0, 1, 2], [0.6] * 3)
    below = matched(EN, DE, [0, 1, 2], [0.69] * 3), matched(FR, DE, columns, [0.69] * 3)
    above = matched(EN, DE, [0, 1, 2], [0.72] * 3), matched(FR, DE, columns, [0.72] * 3)
    assert probabilities(pair, *below)[0] == [0.6] * 3
    assert (probabilities(pair, *above)[0][0] > 0.6) is (there == "agrees")
    assert probabilities(pair, *above)[0][0] != 0.6


def test_the_direction_of_a_match_does_not_matter():
    forth = matched(EN, DE, [1, 2, 0], [0.9] * 3)
    back = matched(DE, EN, [2, 0, 1], [0.9] * 3)
    pair, other = matched(EN, FR, [0, 1, 2], [0.5] * 3), matched(FR, DE, [1, 2, 0], [0.9] * 3)
    assert probabilities(pair, forth, other)[0] == probabilities(pair, back, other)[0]


def test_support_changes_the_reported_pairs():
    support = matched(EN, DE, [0, 1, 2], [0.95] * 3), matched(FR, DE, [0, 1, 2], [0.95] * 3)
    (first, *_) = reconcile([matched(EN, FR, [0, 1, 2], [0.3] * 3), *support], [], MatchSettings())
    assert first.keep.all()


def with_rivals(match: SideMatch, score: float) -> SideMatch:
    """Make all other pairs of the two sides candidates as well."""
    scores = np.full((N, N), score, np.float32)
    matching = match.found.matching
    scores[matching.rows, matching.columns] = matching.scores
    return replace(match, found=replace(match.found, scores=csr_array(scores)))


def partners(match: SideMatch) -> dict[int, int]:
    matching = match.found.matching
    return dict(zip(matching.rows.tolist(), matching.columns.tolist(), strict=True))


SURE_ROUND = matched(EN, DE, [0, 1, 2], [0.99] * 3), matched(FR, DE, [0, 1, 2], [0.99] * 3)


def test_a_candidate_takes_the_place_of_pairs_that_are_contradicted():
    wrong = with_rivals(matched(EN, FR, [1, 0, 2], [0.6, 0.6, 0.9]), 0.45)
    (first, *_) = reconcile([wrong, *SURE_ROUND], [], MatchSettings())
    assert partners(first) == {0: 0, 1: 1, 2: 2}
    probabilities = dict(zip(first.found.matching.rows.tolist(), first.found.probabilities.tolist(), strict=True))
    assert 0.5 < probabilities[0] < 0.99
    assert probabilities[2] > 0.9


def test_pairs_come_by_falling_score_and_with_it():
    """Those that took a place have a lower score than the one that stays."""
    wrong = with_rivals(matched(EN, FR, [1, 0, 2], [0.6, 0.6, 0.9]), 0.45)
    (first, *_) = reconcile([wrong, *SURE_ROUND], [], MatchSettings())
    assert first.found.matching.rows.tolist() == [2, 0, 1]
    assert first.found.matching.scores.tolist() == pytest.approx([0.5, 0.45, 0.45])


def test_a_page_that_a_third_language_confirms_might_not_as_well_have_been_another():
    """Pages 0 and 1 might as well have been each other's; the third language knows page 0 only."""
    witness = matched(EN, DE, [0, 1, 2], [0.99, 0, 0]), matched(FR, DE, [0, 1, 2], [0.99, 0, 0])
    match = matched(EN, FR, [0, 1, 2], [0.4, 0.4, 0.8])
    match = replace(match, found=replace(match.found, n_equal=np.array([2, 2, 3])))
    (only,) = reconcile([match], witness, MatchSettings())
    assert only.found.n_equal is not None
    assert dict(zip(only.found.matching.rows.tolist(), only.found.n_equal.tolist(), strict=True)) == {0: 1, 1: 2, 2: 3}


def test_witnesses_do_not_come_out_themselves():
    wrong = with_rivals(matched(EN, FR, [1, 0, 2], [0.6, 0.6, 0.9]), 0.45)
    (only,) = reconcile([wrong], SURE_ROUND, MatchSettings())
    assert partners(only) == {0: 0, 1: 1, 2: 2}


def test_pages_of_replaced_pairs_are_matched_again():
    """The third language knows pages 0 only; their former partners are left to each other."""
    witness = matched(EN, DE, [0, 1, 2], [0.99, 0, 0]), matched(FR, DE, [0, 1, 2], [0.99, 0, 0])
    wrong = with_rivals(matched(EN, FR, [1, 0, 2], [0.6, 0.6, 0.9]), 0.45)
    (only,) = reconcile([wrong], witness, MatchSettings())
    assert partners(only) == {0: 0, 1: 1, 2: 2}


def test_what_is_won_from_a_pair_that_nobody_contradicts_is_shared_with_it():
    """The former pair of page 0 is as likely as it was, .6; so the new one has at most 1 of 1.6."""
    witness = matched(EN, DE, [0, 1, 2], [0.99, 0, 0]), matched(FR, DE, [0, 1, 2], [0.99, 0, 0])
    wrong = with_rivals(matched(EN, FR, [1, 0, 2], [0.6, 0.6, 0.9]), 0.45)
    (only,) = reconcile([wrong], witness, MatchSettings())
    found = dict(zip(only.found.matching.rows.tolist(), only.found.probabilities.tolist(), strict=True))
    assert partners(only)[0] == 0
    assert 0.5 < found[0] <= 1 / 1.6


@pytest.mark.parametrize("rival", [0.1, 0.45])
def test_pages_that_no_third_language_has_keep_their_probabilities(rival):
    witness = matched(EN, DE, [0, 1, 2], [0.99, 0, 0]), matched(FR, DE, [0, 1, 2], [0.99, 0, 0])
    right = with_rivals(matched(EN, FR, [0, 1, 2], [0.6, 0.7, 0.8]), rival)
    (only,) = reconcile([right], witness, MatchSettings())
    found = dict(zip(only.found.matching.rows.tolist(), only.found.probabilities.tolist(), strict=True))
    assert found[0] > 0.95
    assert [found[1], found[2]] == [0.7, 0.8]


def test_probabilities_of_candidates_are_the_same_from_both_sides():
    scores = np.array([[0.3, 0.35, 0.5], [0.4, 0.2, 0.3]], np.float32)
    rows, columns, told = np.array([0, 1]), np.array([2, 0]), np.array([0.9, 0.2])

    def told_of(matrix, rows, columns):
        found = matched(EN, FR, [0, 1, 2], [0.0] * 3).found
        matching = Matching(rows, columns, matrix[rows, columns])
        rivalry = Rivalry(csr_array(matrix))
        found = replace(found, scores=csr_array(matrix), matching=matching, probabilities=told)
        return _probabilities(found, rivalry, rows * matrix.shape[1] + columns).reshape(matrix.shape)

    forth = told_of(scores, rows, columns)
    assert forth == pytest.approx(told_of(np.ascontiguousarray(scores.T), columns, rows).T)
    assert forth[rows, columns].tolist() == told.tolist()
    assert forth[0, 1] > forth[1, 1], "page 0 is likelier to have a partner at all"


@pytest.mark.parametrize("said", [1, -1])
def test_labels_are_stronger_than_any_language(said):
    """A pair that somebody accepted stays, and one that somebody rejected does not come back."""
    wrong = with_rivals(matched(EN, FR, [1, 0, 2], [0.6, 0.6, 0.9]), 0.45)
    place = (0, 1) if said > 0 else (0, 0)
    labels = csr_array((np.array([said], np.int8), ([place[0]], [place[1]])), shape=(N, N))
    accepted = np.array([said > 0, False, False])
    (only,) = reconcile([replace(wrong, labels=labels, accepted=accepted)], SURE_ROUND, MatchSettings())
    assert (partners(only).get(place[0]) == place[1]) is (said > 0)
    assert only.accepted is not None
    assert only.accepted.sum() == (said > 0)


LANGS = ["en"] * 3 + ["fr"] * 3 + ["de"] * 3 + ["it"] * 2 + ["ga"] + ["und"] * 5
GROUPS = [Group("en", "en", np.arange(3)), Group("fr", "fr", np.arange(3, 6))]


@pytest.mark.parametrize(
    ("probability", "most", "langs"),
    [(0.6, 2, ["de", "de", "it", "it"]), (0.6, 1, ["de", "de"]), (0.6, 0, []), (0.999, 2, []), (np.nan, 2, [])],
)
def test_other_languages_are_matched_if_pairs_are_doubtful(probability, most, langs):
    """The largest ones, and none that has too few pages to say much."""
    match = matched(EN, FR, [0, 1, 2], [probability] * 3)
    beside = groups_beside(LANGS, GROUPS, [match], MatchSettings(other_langs=most))
    assert [other.lang for _, other in beside] == langs
    assert {group.lang for group, _ in beside} == ({"en", "fr"} if langs else set())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_pairs_stay_one_to_one_and_probabilities_stay_in_range(seed):
    rng = np.random.default_rng(seed)

    def any_match(side_a, side_b):
        match = matched(side_a, side_b, rng.permutation(N), rng.random(N))
        return with_rivals(match, float(rng.random() / 2))

    matches = any_match(EN, FR), any_match(EN, DE), any_match(FR, DE)
    for each in reconcile(matches, [], MatchSettings()):
        matching, found = each.found.matching, each.found
        assert len(set(matching.rows.tolist())) == len(set(matching.columns.tolist())) == len(matching) == N
        assert ((found.probabilities >= 0) & (found.probabilities <= 1)).all()
        assert len(each.keep) == len(found.rivals) == N
