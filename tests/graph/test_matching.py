"""One-to-one matching."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from tests.graph import reference
from twinlink.errors import ConfigError, ShapeError
from twinlink.graph import matching
from twinlink.graph.kernels import mutual_best
from twinlink.graph.matching import Matching, greedy_among, greedy_matching, greedy_order, optimal_matching
from twinlink.graph.propagation import dense_pattern
from twinlink.sparse import entries, select

VALUES = (0.0, 0.1, 0.3, 0.7, 1.0)


@st.composite
def tied_scores(draw: st.DrawFn, max_pages: int = 8) -> csr_array:
    shape = draw(st.tuples(st.integers(0, max_pages), st.integers(0, max_pages)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pattern = np.nonzero(rng.random(shape) < draw(st.sampled_from((0.0, 0.3, 1.0))))
    return csr_array((rng.choice(np.array(VALUES, dtype=np.float32), pattern[0].size), pattern), shape=shape)


def pairs_of(matching: Matching) -> list[tuple[int, int]]:
    return list(zip(matching.rows.tolist(), matching.columns.tolist(), strict=True))


# --- greedy


def test_best_pair_first_even_where_another_choice_has_the_larger_sum() -> None:
    matching = greedy_matching(csr_array(np.array([[0.9, 0.8], [0.8, 0.1]])))
    assert pairs_of(matching) == [(0, 0), (1, 1)]
    assert matching.scores.tolist() == pytest.approx([0.9, 0.1])
    assert len(matching) == 2


def test_ties_go_by_row_then_column() -> None:
    assert pairs_of(greedy_matching(dense_pattern(np.full((3, 2), 0.5)))) == [(0, 0), (1, 1)]
    tied = csr_array(np.array([[0.0, 0.5, 0.5], [0.5, 0.0, 0.0], [0.5, 0.0, 0.9]]))
    assert pairs_of(greedy_matching(tied)) == [(2, 2), (0, 1), (1, 0)]


def test_limits() -> None:
    scores = csr_array(np.diag([0.9, 0.7, 0.1]))
    assert len(greedy_matching(scores, max_pairs=2)) == 2
    assert len(greedy_matching(scores, max_pairs=0)) == 0
    assert len(greedy_matching(scores, max_pairs=10)) == 3
    # 0.7 as float32 is a little under 0.7: a score is compared with the limit as it is stored
    assert pairs_of(greedy_matching(scores, min_score=0.7)) == [(0, 0), (1, 1)]
    assert pairs_of(greedy_matching(scores, min_score=0.71)) == [(0, 0)]


def test_a_stored_zero_can_be_a_pair_and_a_missing_entry_cannot() -> None:
    scores = csr_array((np.zeros(1, dtype=np.float32), ([1], [0])), shape=(2, 2))
    assert pairs_of(greedy_matching(scores)) == [(1, 0)]
    assert pairs_of(greedy_matching(scores, min_score=1e-6)) == []


@given(tied_scores(), st.none() | st.integers(0, 9), st.sampled_from((0.0, 0.1, 0.2, 0.7, 1.0)))
def test_greedy_matching_is_algorithm_3(scores: csr_array, max_pairs: int | None, min_score: float) -> None:
    matching = greedy_matching(scores, max_pairs, min_score)
    limit = sum(scores.shape) if max_pairs is None else max_pairs
    expected = reference.greedy_matching(reference.as_dict(scores), limit, float(np.float32(min_score)))
    assert pairs_of(matching) == expected
    assert matching.scores.tolist() == [reference.as_dict(scores)[pair] for pair in expected]


@given(tied_scores(), st.integers(0, 2**32 - 1))
def test_a_matching_among_some_candidates_is_that_of_a_matrix_with_these(scores: csr_array, seed: int) -> None:
    rows, columns = entries(scores)
    among = np.random.default_rng(seed).random(scores.nnz) < 0.6
    found = greedy_among(scores.data, rows, columns, among, *scores.shape)
    assert among[found].all()
    expected = greedy_matching(select(scores, among))
    assert list(zip(rows[found].tolist(), columns[found].tolist(), strict=True)) == pairs_of(expected)


@given(tied_scores(), st.integers(0, 2**32 - 1))
def test_the_best_of_both_pages_are_taken_without_sorting(scores: csr_array, seed: int) -> None:
    rows, columns = entries(scores)
    among = np.random.default_rng(seed).random(scores.nnz) < 0.8
    expected = greedy_among(scores.data, rows, columns, among, *scores.shape)
    taken, left = mutual_best(scores.data, rows, columns, np.flatnonzero(among), *scores.shape)
    assert set(taken.tolist()) <= set(expected.tolist())
    is_free = ~np.isin(rows, rows[taken]) & ~np.isin(columns, columns[taken])
    assert left.tolist() == np.flatnonzero(among & is_free).tolist()
    assert len(taken) > 0 or not among.any()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "FEW_CANDIDATES", 0)
        found = greedy_among(scores.data, rows, columns, among, *scores.shape)
    assert found.tolist() == expected.tolist()


def test_mutual_best_repeats_while_many_are_taken() -> None:
    """The second pair is the best of its pages only after the first; the last one after the second."""
    scores = csr_array(np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.6, 0.1]], np.float32))
    taken, left = mutual_best(scores.data, *entries(scores), np.arange(9), 3, 3)
    assert (taken.tolist(), left.tolist()) == ([0, 4, 8], [])
    chain = csr_array(np.array([[0.9, 0.8, 0, 0], [0, 0.7, 0.6, 0], [0, 0, 0.5, 0.4]], np.float32))
    taken, left = mutual_best(chain.data, *entries(chain), np.arange(chain.nnz), 3, 4)
    assert (taken.tolist(), left.tolist()) == ([0], [2, 3, 4, 5])  # more than half are left: sorting them is faster


@given(tied_scores())
def test_no_page_is_matched_twice_and_no_pair_is_left(scores: csr_array) -> None:
    matching = greedy_matching(scores)
    assert len(set(matching.rows.tolist())) == len(set(matching.columns.tolist())) == len(matching)
    assert (np.diff(matching.scores) <= 0).all()
    rows, columns = scores.tocoo().coords
    assert (np.isin(rows, matching.rows) | np.isin(columns, matching.columns)).all()


# --- optimal


def test_optimal_takes_the_larger_sum() -> None:
    matching = optimal_matching(csr_array(np.array([[0.9, 0.8], [0.8, 0.1]])))
    assert pairs_of(matching) == [(0, 1), (1, 0)]


def test_optimal_leaves_pages_alone_that_are_not_good_enough() -> None:
    matching = optimal_matching(csr_array(np.array([[0.9, 0.8], [0.8, 0.1], [0.2, 0.2]])), min_score=0.85)
    assert pairs_of(matching) == [(0, 0)]


def test_optimal_takes_any_stored_entry_and_no_other_by_default() -> None:
    scores = csr_array((np.array([0.001, 0.7], dtype=np.float32), ([1, 2], [2, 0])), shape=(4, 4))
    assert pairs_of(optimal_matching(scores)) == [(2, 0), (1, 2)]


@given(tied_scores(max_pages=5))
def test_optimal_sum_is_the_largest_of_all(scores: csr_array) -> None:
    matching = optimal_matching(scores)
    assert len(set(matching.rows.tolist())) == len(set(matching.columns.tolist())) == len(matching)
    entries = reference.as_dict(scores)
    assert [entries[pair] for pair in pairs_of(matching)] == matching.scores.tolist()
    short, long = sorted(scores.shape)
    dense = scores.toarray() if scores.shape[0] == short else scores.toarray().T
    best = max(sum(float(dense[i, j]) for i, j in enumerate(order)) for order in permutations(range(long), short))
    assert float(matching.scores.sum(dtype=np.float64)) == pytest.approx(best, abs=1e-6)


def test_optimal_equals_scipy_on_a_full_matrix() -> None:
    dense = np.random.default_rng(5).random((40, 30), dtype=np.float32)
    rows, columns = linear_sum_assignment(dense, maximize=True)
    assert set(pairs_of(optimal_matching(csr_array(dense)))) == set(zip(rows.tolist(), columns.tolist(), strict=True))


# --- the border


@pytest.mark.parametrize("match", [greedy_matching, optimal_matching])
def test_bad_scores_are_refused_and_none_at_all_are_no_pairs(match: type[Matching]) -> None:
    with pytest.raises(ShapeError, match=r"expected values in \[0, 1\]"):
        match(csr_array(np.array([[np.nan]])))  # type: ignore[call-arg, arg-type]
    for shape in ((0, 0), (0, 2), (2, 0), (2, 2)):
        none = csr_array(shape, dtype=np.float32)
        assert len(match(none)) == 0  # type: ignore[call-arg, arg-type]


@given(st.lists(st.sampled_from((0.0, -0.0, 1e-45, 1e-30, 0.1, 0.5, 1.0)) | st.floats(0, 1, width=32), max_size=60))
def test_order_is_by_falling_score_then_position(values: list[float]) -> None:
    scores = np.array(values, dtype=np.float32)
    expected = sorted(range(len(values)), key=lambda position: (-scores[position], position))
    assert greedy_order(scores).tolist() == expected


def test_fewer_than_no_pairs_are_refused() -> None:
    with pytest.raises(ConfigError, match="max_pairs of at least 0, got -1"):
        greedy_matching(csr_array(np.eye(2)), max_pairs=-1)


@pytest.mark.parametrize("match", [greedy_matching, optimal_matching])
def test_a_least_score_that_is_no_number_is_refused(match):
    """Nothing is at least NaN: all pairs would be lost without a word."""
    with pytest.raises(ConfigError, match="expected a number as min_score, got nan"):
        match(csr_array(np.eye(2)), min_score=float("nan"))
