"""The consensus of several results, and when it is worth to start from it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from twinlink.graph.matching import Matching
from twinlink.match.methods.weighed.consensus import (
    LEAST_AGREED,
    PATIENCE,
    agree_on_enough,
    consensus_of,
    is_without_gain,
)

SHAPE = (4, 5)
Pairs = dict[tuple[int, int], float]


def result(pairs: Pairs) -> sp.csr_array:
    rows, columns = ([place[axis] for place in pairs] for axis in (0, 1))
    return sp.csr_array((np.array([*pairs.values()], np.float32), (rows, columns)), shape=SHAPE)


def slow_consensus(results: list[Pairs]) -> Pairs:
    """Take the pair with the largest mean, remove its pages, repeat."""
    places = sorted({place for each in results for place in each})
    means = {place: sum(each.get(place, 0.0) for each in results) / len(results) for place in places}
    found: Pairs = {}
    while means:
        best = max(means, key=lambda place: (means[place], -place[0], -place[1]))
        found[best] = means[best]
        means = {place: mean for place, mean in means.items() if place[0] != best[0] and place[1] != best[1]}
    return found


def test_a_pair_of_two_results_comes_before_surer_pairs_of_one() -> None:
    agreed = consensus_of([result({(0, 0): 0.6}), result({(0, 0): 0.6}), result({(0, 1): 1.0, (1, 0): 0.9})])
    assert (agreed.rows.tolist(), agreed.columns.tolist()) == ([0], [0])
    assert agreed.scores.tolist() == pytest.approx([0.4])


def test_the_consensus_of_one_result_is_that_result() -> None:
    agreed = consensus_of([result({(0, 2): 0.5, (3, 1): 0.75})])
    assert (agreed.rows.tolist(), agreed.columns.tolist(), agreed.scores.tolist()) == ([3, 0], [1, 2], [0.75, 0.5])


def test_results_without_pairs() -> None:
    assert len(consensus_of([result({}), result({})])) == 0


EIGHTHS = st.lists(st.integers(1, 8), min_size=4, max_size=4)


@given(st.lists(st.tuples(st.permutations(range(5)), EIGHTHS), min_size=1, max_size=5))
def test_against_one_pair_after_the_other(drawn: list[tuple[list[int], list[int]]]) -> None:
    results = [{(i, columns[i]): n / 8 for i, n in enumerate(eighths)} for columns, eighths in drawn]
    agreed, expected = consensus_of([*map(result, results)]), slow_consensus(results)
    places = zip(agreed.rows.tolist(), agreed.columns.tolist(), strict=True)
    assert dict(zip(places, agreed.scores.tolist(), strict=True)) == pytest.approx(expected)


@pytest.mark.parametrize(("n_probable", "expected"), [(LEAST_AGREED, True), (LEAST_AGREED - 1, False)])
def test_enough_pairs_are_more_probable_than_not(n_probable: int, expected: bool) -> None:
    scores = np.r_[np.full(n_probable, 0.51), np.full(100, 0.5)].astype(np.float32)
    pages = np.arange(len(scores))
    assert agree_on_enough(Matching(pages, pages, scores)) is expected


@pytest.mark.parametrize(
    ("objectives", "expected"),
    [
        ([5.0] * PATIENCE, False),
        ([5.0] * (PATIENCE + 1), True),
        ([5.0, *[4.0] * (PATIENCE - 1), 6.0], False),
        ([5.0, 6.0, *[4.0] * PATIENCE], True),
    ],
    ids=["too few", "all the same", "the last one is better", "the last ones are worse"],
)
def test_results_that_are_no_better_are_without_gain(objectives: list[float], expected: bool) -> None:
    assert is_without_gain(objectives) is expected
