"""Which pairs are asked for, on pairs of which it is known by argument what their labels teach."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from twinlink.errors import ShapeError
from twinlink.labels.teaching_order import EVERY, MOST_ASKED, MOST_COMPARED, SURE, asking_order, teaching_order

Floats = NDArray[np.float64]


def order_of(probabilities: Floats, features: Floats, groups: NDArray[np.int64] | None = None) -> list[int]:
    by_doubt = np.argsort(np.abs(probabilities - 0.5), kind="stable")
    at_random = np.random.default_rng(0).permutation(len(probabilities))
    groups = np.zeros(len(probabilities), np.int64) if groups is None else groups
    found: list[int] = asking_order(probabilities, by_doubt, at_random, features, groups).tolist()
    return found


def test_the_same_is_not_asked_twenty_times() -> None:
    """Twenty doubtful pairs that are alike, and three kinds of pairs that are a little less doubtful."""
    probabilities = np.r_[np.full(20, 0.5), np.full(30, 0.7)]
    features = np.r_[np.zeros((20, 1)), np.repeat([[3.0], [6.0], [9.0]], 10, axis=0)]
    first = order_of(probabilities, features)[:4]
    assert sorted(features[first, 0].tolist()) == [0, 3, 6, 9]


def test_a_pair_that_many_are_like_comes_before_one_that_is_alone() -> None:
    probabilities = np.r_[0.5, np.full(10, 0.6)]
    features = np.r_[[[50.0]], np.zeros((10, 1))]
    assert order_of(probabilities, features)[0] != 0


def test_of_pairs_that_nothing_tells_apart_the_doubtful_one_comes_first() -> None:
    probabilities = np.array([0.99, 0.8, 0.51, 0.7])
    assert order_of(probabilities, np.zeros((4, 2)))[0] == 2


def test_pairs_of_another_site_teach_nothing() -> None:
    """Twelve pairs that are alike, ten of them of one site: after one of these, one of the others."""
    groups = np.r_[np.zeros(10, np.int64), np.ones(2, np.int64)]
    first = order_of(np.full(12, 0.6), np.zeros((12, 1)), groups)[:2]
    assert groups[first].tolist() == [0, 1]


def test_each_fifth_question_is_about_a_sure_pair() -> None:
    rng = np.random.default_rng(1)
    probabilities = np.r_[rng.uniform(0.5, 0.7, 600), rng.uniform(SURE + 0.01, 1, 300)]
    asked = np.array(order_of(probabilities, rng.random((900, 3))))[:MOST_ASKED]
    assert (np.flatnonzero(probabilities[asked] >= SURE) % EVERY == EVERY - 1).all()
    assert (probabilities[asked] >= SURE).sum() == MOST_ASKED // EVERY


def test_pairs_without_probability_or_evidence_are_asked_for_as_well() -> None:
    probabilities = np.array([np.nan, 0.99, np.nan])
    features = np.array([[np.nan, 1.0], [np.nan, 2.0], [np.nan, np.nan]])
    assert teaching_order(probabilities, features, np.zeros(3, int), 3).tolist()[2] == 1


def test_more_pairs_than_are_compared() -> None:
    n = 3 * MOST_COMPARED
    rng = np.random.default_rng(0)
    probabilities = rng.uniform(0.5, 1, n)
    order = order_of(probabilities, rng.random((n, 2)))
    assert sorted(order) == list(range(n))
    rest = probabilities[order[-MOST_COMPARED:]]
    assert (np.diff(rest) >= 0).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.integers(0, 3))
def test_every_row_comes_once_and_none_twice(seed: int, n: int, n_features: int) -> None:
    rng = np.random.default_rng(seed)
    probabilities = np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 5, n) / 4)
    features = np.where(rng.random((n, n_features)) < 0.2, np.nan, rng.integers(0, 3, (n, n_features)))
    groups = rng.integers(0, 2, n)
    assert sorted(
        asking_order(probabilities, rng.permutation(n), rng.permutation(n), features, groups).tolist()
    ) == list(range(n))


def test_arrays_of_other_lengths_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"expected arrays of one length, got \[2, 3\]"):
        asking_order(np.full(3, 0.5), np.arange(3), np.arange(3), np.zeros((2, 1)), np.zeros(3, int))
