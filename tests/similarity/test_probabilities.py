"""Chances: cases whose answer is known by argument, and mixtures whose shares are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.similarity.probabilities import (
    _balance_few,
    _balance_many,
    _counts_as_best,
    _shares_at_most,
    probability_of_being_right,
    recalibrated,
    shares_of_rivals,
)
from twinlink.similarity.rivals import Rivalry

Floats = NDArray[np.float64]

scores = st.lists(st.floats(-20, 20).map(lambda t: round(t, 3)), max_size=30).map(np.array)


@given(scores, scores)
def test_chances_are_in_order_and_within_bounds(given_: Floats, wrong: Floats) -> None:
    probabilities = probability_of_being_right(given_, wrong)
    assert probabilities.shape == given_.shape
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert (np.diff(probabilities[np.argsort(given_)]) >= -1e-12).all()


def test_pairs_far_above_the_wrong_ones_are_nearly_sure_but_never_quite() -> None:
    probabilities = probability_of_being_right(np.full(100, 8.0), np.full(100, -8.0))
    assert ((probabilities > 0.99) & (probabilities < 1 - 1e-5)).all()


def test_chance_where_some_pairs_look_like_the_wrong_ones() -> None:
    """60 of 100 pairs are far above the wrong ones, 40 are just like them."""
    given_ = np.r_[np.full(60, 9.0), np.linspace(-6, -4, 40)]
    probabilities = probability_of_being_right(given_, np.linspace(-6, -4, 100))
    assert probabilities[:60].min() > 0.98
    assert probabilities[60:].max() < 0.75
    assert probabilities[60] < probabilities[99]
    assert probabilities[60] < 0.4


def test_the_very_scores_of_the_wrong_pairs_are_not_likely() -> None:
    noise = np.random.default_rng(0).normal(size=200)
    assert probability_of_being_right(noise, noise).max() < 0.5
    assert probability_of_being_right(noise, np.sort(noise)[::4]).max() < 0.5


@pytest.mark.parametrize(("answer", "level"), [(0.0, -2), (1.0, -4)])
def test_what_was_said_of_some_pairs_counts_for_those_like_them(answer: float, level: float) -> None:
    """A hundred pairs score somewhat better than the wrong ones, or like them: what they are only people can tell."""
    rng = np.random.default_rng(0)
    given_, wrong = np.r_[rng.normal(6, 1, 100), rng.normal(level, 1, 100)], rng.normal(-4, 1, 100)
    said = np.where((np.arange(200) >= 100) & (np.arange(200) < 140), answer, np.nan)
    unsaid, now = (probability_of_being_right(given_, wrong, each)[140:] for each in (None, said))
    assert (now.mean() - unsaid.mean()) * (answer - 0.5) > 0.05
    assert probability_of_being_right(given_, wrong, np.full(200, np.nan))[140:].tolist() == unsaid.tolist()


def test_chances_stay_where_nothing_is_known() -> None:
    probabilities = np.array([0.0, 0.3, 1.0])
    assert recalibrated(probabilities, np.zeros(0), np.zeros(0)).tolist() == probabilities.tolist()


def test_chances_that_hold_hardly_change() -> None:
    rng = np.random.default_rng(0)
    known = rng.uniform(0.02, 0.98, 2000)
    probabilities = np.linspace(0.05, 0.95, 19)
    assert recalibrated(probabilities, known, (rng.random(2000) < known).astype(float)) == pytest.approx(
        probabilities, abs=0.04
    )


@pytest.mark.parametrize(("slope", "offset"), [(0.4, 0.0), (1.0, -2.0), (2.0, 1.0)])
def test_wrong_chances_are_corrected(slope: float, offset: float) -> None:
    """Also where doubtful pairs were asked about ten times as often as others."""
    rng = np.random.default_rng(0)
    told = rng.uniform(-4, 4, 4000)
    right = rng.random(4000) < 1 / (1 + np.exp(-(slope * told + offset)))
    asked = rng.random(4000) < np.where(np.abs(told) < 1, 1.0, 0.1)
    told, right = told[asked], right[asked]
    wanted = np.linspace(-3, 3, 13)
    found = recalibrated(1 / (1 + np.exp(-wanted)), 1 / (1 + np.exp(-told)), right.astype(float))
    assert found == pytest.approx(1 / (1 + np.exp(-(slope * wanted + offset))), abs=0.06)


def test_a_known_share_of_wrong_pairs_is_kept() -> None:
    """Right and wrong pairs overlap so far that the share is not found from the scores: .2 are wrong."""
    rng = np.random.default_rng(0)
    given_, wrong = np.r_[rng.normal(0, 1, 400), rng.normal(1, 1, 1600)], rng.normal(0, 1, 2000)
    probabilities = probability_of_being_right(given_, wrong, share_wrong=0.2)
    assert (1 - probabilities).mean() == pytest.approx(0.2, abs=0.03)
    assert probabilities[:400].mean() < probabilities[400:].mean() - 0.05


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_known_share_of_wrong_pairs_without_a_difference(share: float) -> None:
    """The given pairs are no better than the wrong ones, so the share is all that is known."""
    probabilities = probability_of_being_right(np.linspace(0, 40, 50), np.linspace(0, 50, 90), share_wrong=share)
    assert probabilities == pytest.approx(np.full(50, min(1 - share, 0.99)))


def test_one_answer_does_not_turn_a_chance_and_fifty_do() -> None:
    """All are wrong, of pairs that were told to be right with .9."""
    one, many = (recalibrated(np.array([0.9]), np.full(n, 0.9), np.zeros(n))[0] for n in (1, 50))
    assert 0.5 < one < 0.8
    assert many < 0.1


@given(st.lists(st.floats(0, 1), max_size=20), st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=20))
def test_corrected_chances_are_in_order_and_within_bounds(
    probabilities: list[float], known: list[tuple[float, bool]]
) -> None:
    told, right = np.array([p for p, _ in known]), np.array([float(is_right) for _, is_right in known])
    found = recalibrated(np.sort(probabilities), told, right)
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_the_chance_is_the_share_that_is_right(share: float) -> None:
    """Two hills that overlap: of the pairs with a chance of about p, a share of about p is right."""
    rng = np.random.default_rng(0)
    n = 4000
    is_right = rng.random(n) < share
    probabilities = probability_of_being_right(
        np.where(is_right, rng.normal(2, 1, n), rng.normal(-1, 1, n)), rng.normal(-1, 1, n)
    )
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.0)):
        inside = (probabilities >= low) & (probabilities < high)
        assert is_right[inside].mean() == pytest.approx(probabilities[inside].mean(), abs=0.08)


@pytest.mark.parametrize("share_right", [0.0, 0.2, 0.6, 1.0])
def test_second_best_wrong_pairs_count_so_that_they_are_distributed_like_the_best(share_right: float) -> None:
    """The known pairs are the largest of 50 values where the removed pair was right, else the second largest."""
    rng = np.random.default_rng(0)
    n = 20_000
    ordered = np.sort(rng.gumbel(size=(n, 50)))
    known = np.where(rng.random(n) < share_right, ordered[:, -1], ordered[:, -2])
    counts = _counts_as_best(_shares_at_most(known), share_right)
    assert counts.sum() == pytest.approx(n)
    levels = np.quantile(ordered[:, -1], [0.25, 0.5, 0.75, 0.95])
    assert [counts[known <= level].sum() / n for level in levels] == pytest.approx([0.25, 0.5, 0.75, 0.95], abs=0.025)


def test_nothing_is_corrected_where_all_pairs_that_were_removed_are_right() -> None:
    assert _counts_as_best(np.linspace(0.005, 0.995, 100), 1.0).tolist() == [1.0] * 100


def test_pages_without_partners_have_fewer_likely_pairs_if_second_best_ones_are_corrected_for() -> None:
    """Best pairs of pages, of which a share has a partner, and what they choose when this one is removed."""
    rng = np.random.default_rng(0)
    for share in (0.0, 0.6, 0.9):
        wrong, is_right = np.sort(rng.gumbel(size=(400, 100))), rng.random(400) < share
        best = np.where(is_right, rng.normal(9, 2, 400), wrong[:, -1])
        known = np.where(is_right, wrong[:, -1], wrong[:, -2])
        plain, corrected = (probability_of_being_right(best, known, removed_right=each) for each in (1.0, None))
        assert abs(corrected.mean() - is_right.mean()) < abs(plain.mean() - is_right.mean())
        assert corrected.mean() < plain.mean()


@given(scores, scores, st.none() | st.floats(0, 1))
def test_chances_with_second_best_pairs_are_in_order_and_within_bounds(
    given_: Floats, wrong: Floats, removed_right: float | None
) -> None:
    probabilities = probability_of_being_right(given_, wrong, removed_right=removed_right)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert (np.diff(probabilities[np.argsort(given_)]) >= -1e-12).all()


def test_pairs_just_like_wrong_ones_are_not_likely() -> None:
    noise = np.random.default_rng(0).normal(size=(2, 200))
    assert probability_of_being_right(*noise).mean() < 0.6


def test_pairs_that_score_less_than_the_wrong_ones_are_not_likely() -> None:
    assert probability_of_being_right(np.array([-3.0, -2.0, 0.5]), np.array([1.0, 2.0, 3.0])).max() < 0.5


def test_half_where_there_is_nothing_to_compare_with() -> None:
    assert probability_of_being_right(np.array([3.0, -3.0]), np.zeros(0)).tolist() == [0.5, 0.5]
    assert probability_of_being_right(np.zeros(0), np.array([1.0])).shape == (0,)


def test_more_wrong_looking_pairs_make_all_less_likely() -> None:
    """Right and wrong pairs overlap; the more wrong ones there are, the less likely is one of a given score."""
    rng = np.random.default_rng(0)
    right, wrong, known = rng.normal(1, 1, 400), rng.normal(-1, 1, 400), rng.normal(-1, 1, 400)
    of_a_score = [
        np.interp(0.5, given_ := np.sort(np.r_[right, wrong[:n]]), probability_of_being_right(given_, known))
        for n in (20, 120, 400)
    ]
    assert of_a_score[0] > of_a_score[1] > of_a_score[2]


def test_a_rival_that_has_a_partner_of_its_own_is_none() -> None:
    """Page 0 is as like 0' as 1', but 1' belongs to page 1."""
    rivalry = Rivalry(csr_array(np.ones((2, 2))))
    shares = shares_of_rivals(np.array([4.0, 4.0, -20.0, 12.0]), rivalry)
    assert shares[0] > 0.95
    assert shares[1] < 0.05


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6), st.floats(0, 1))
def test_shares_of_a_page_are_at_most_one_together(seed: int, n_a: int, n_b: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    rivalry = Rivalry(csr_array(rng.random((n_a, n_b)) < share))
    shares = shares_of_rivals(rng.normal(0, 10, len(rivalry.rows)), rivalry)
    assert ((shares >= 0) & (shares <= 1 + 1e-12)).all()
    assert all((sums <= 1 + 1e-9).all() for sums in rivalry.sums(shares))


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6))
def test_shares_equal_balancing_by_loops(seed: int, n_a: int, n_b: int) -> None:
    rng = np.random.default_rng(seed)
    odds, there = rng.normal(0, 3, (n_a, n_b)), rng.random((n_a, n_b)) < 0.6
    w = np.where(there, np.exp(odds), 0)
    u, v = [1.0] * n_a, [1.0] * n_b
    for _ in range(30):
        u = [1 / (1 + sum(w[i, j] * v[j] for j in range(n_b))) for i in range(n_a)]
        v = [1 / (1 + sum(w[i, j] * u[i] for i in range(n_a))) for j in range(n_b)]
    p = w * np.outer(u, v)
    expected = [p[i, j] / max(p[i].sum(), p[:, j].sum()) for i, j in zip(*np.nonzero(there), strict=True)]
    assert shares_of_rivals(odds[there], Rivalry(csr_array(there))) == pytest.approx(np.array(expected))


@given(st.integers(0, 2**32 - 1), st.integers(0, 7), st.integers(0, 7), st.floats(0, 1))
def test_many_candidates_are_balanced_like_few(seed: int, n_a: int, n_b: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    rivalry = Rivalry(csr_array(rng.random((n_a, n_b)) < share))
    likelihood = np.exp(rng.normal(0, 5, len(rivalry.rows)))
    few = _balance_few(rivalry.rows, rivalry.columns, likelihood, n_a, n_b)
    many = _balance_many(rivalry.row_starts, rivalry.narrow_columns, likelihood, n_b)
    assert [factors.tolist() for factors in few] == [factors.tolist() for factors in many]


def test_a_page_without_rivals_has_the_whole_share() -> None:
    assert shares_of_rivals(np.array([-3.0, 3.0]), Rivalry(csr_array(np.eye(2)))).tolist() == [1, 1]
