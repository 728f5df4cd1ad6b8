"""Link order against trying every chain, and cases whose answer is known by argument."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from twinlink.errors import ShapeError
from twinlink.graph.document_order import (
    LARGEST,
    MAX_LINKS,
    SCALE,
    SHARPNESS,
    STRICTNESS,
    LinkLists,
    _shares_of_chains,
    _sums_by_sweeps,
    _sums_by_tree,
    link_lists,
    link_order,
    sublists,
)

Matrix = NDArray[np.float64]
ONE_PAIR = (np.array([0]), np.array([0]), np.array([1.0]))


def lists_of(*targets: list[int]) -> LinkLists:
    source = np.repeat(np.arange(len(targets)), [len(each) for each in targets])
    return link_lists(source, np.array([page for each in targets for page in each], np.int64), len(targets))


def hub(n: int) -> LinkLists:
    """Page 0 links to all others, in the order of their numbers."""
    return lists_of(list(range(1, n)), *[[]] * (n - 1))


def shares(cells: list[tuple[int, int, float]]) -> dict[tuple[int, int], float]:
    """Try every chain that rises in both places; return the share of them, by their weights, that each cell is in."""
    total, found = 0.0, dict.fromkeys(((i, j) for i, j, _ in cells), 0.0)
    for size in range(len(cells) + 1):
        for chosen in itertools.combinations(sorted(cells), size):
            if all(a[0] < b[0] and a[1] < b[1] for a, b in itertools.pairwise(chosen)):
                weight = float(np.prod([np.expm1(STRICTNESS * gain) for *_, gain in chosen]))
                total += weight
                for i, j, _ in chosen:
                    found[i, j] += weight
    return {cell: weight / total for cell, weight in found.items()}


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 4))
def test_one_pair_is_aligned_as_by_trying_every_chain(seed: int, n_a: int, n_b: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.choice([0.0, 0.25, 0.5, 1.0], (n_a + 1, n_b + 1))
    scores[0] = scores[:, 0] = 0
    order = np.zeros(scores.shape)
    matrix = csr_array(scores)
    places = np.repeat(np.arange(n_a + 1), np.diff(matrix.indptr)), matrix.indices
    order[places] = link_order(hub(n_a + 1), hub(n_b + 1), ONE_PAIR, matrix)
    best = np.maximum(scores.max(axis=1)[:, None], scores.max(axis=0)[None])
    gains = np.divide(scores, best, out=np.zeros_like(scores), where=best > 0) ** SHARPNESS
    cells = [(i, j, float(gains[i, j])) for i, j in zip(*np.nonzero(gains), strict=True)]
    expected = np.zeros(scores.shape)
    for cell, share in shares(cells).items():
        expected[cell] = share
    assert order == pytest.approx(expected)


def test_pages_that_nothing_else_tells_apart_face_each_other() -> None:
    n = 6
    scores = np.full((n, n), 0.5)
    scores[0] = scores[:, 0] = 0
    order = link_order(hub(n), hub(n), ONE_PAIR, csr_array(scores)).reshape(n - 1, n - 1)
    assert order == pytest.approx(np.eye(n - 1), abs=1e-2)


def test_a_missing_page_leaves_open_which_one_is_missing() -> None:
    """Three alike pages against two: the three ways to leave one out count for a third each."""
    scores = np.full((4, 3), 0.5)
    scores[0] = scores[:, 0] = 0
    order = link_order(hub(4), hub(3), ONE_PAIR, csr_array(scores)).reshape(3, 2)
    assert order == pytest.approx(np.array([[2, 0], [1, 1], [0, 2]]) / 3, abs=1e-2)


def test_content_takes_precedence_over_position() -> None:
    """The lists are in different orders: of the two pairs that are alike, only one fits into a chain."""
    scores = np.array([[0, 0, 0], [0, 0.1, 0.9], [0, 0.9, 0.1]])
    order = link_order(hub(3), hub(3), ONE_PAIR, csr_array(scores)).reshape(2, 2)
    assert order == pytest.approx(np.array([[0, 0.5], [0.5, 0]]), abs=1e-2)


def test_pairs_vote_by_their_weight() -> None:
    """Pages 0 and 1 link to 2 and 3; of the other language, page 1 names them the other way round."""
    lists_a, lists_b = lists_of([2, 3], [2, 3], [], []), lists_of([2, 3], [3, 2], [], [])
    scores = np.zeros((4, 4))
    scores[2:, 2:] = 0.5
    pairs = np.array([0, 1]), np.array([0, 1]), np.array([1.0, 0.5])
    order = link_order(lists_a, lists_b, pairs, csr_array(scores)).reshape(2, 2)
    assert order == pytest.approx(np.array([[2, 1], [1, 2]]) / 3, abs=1e-2)


def test_no_votes_where_no_paired_pages_link() -> None:
    none = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    assert link_order(hub(3), hub(3), none, csr_array(np.ones((3, 3)))).tolist() == [0] * 9
    assert link_order(hub(1), hub(1), none, csr_array((1, 1))).shape == (0,)


def test_a_score_of_zero_is_no_candidate() -> None:
    scores = csr_array(np.array([[0.0, 0.0], [0.0, 1.0]]))
    scores.data[:] = 0
    assert link_order(hub(2), hub(2), ONE_PAIR, scores).tolist() == [0]


def test_the_first_link_counts_and_links_to_itself_do_not() -> None:
    lists = link_lists(np.array([1, 0, 0, 0, 1]), np.array([0, 0, 1, 1, 0]), 2)
    assert (lists.starts.tolist(), lists.targets.tolist()) == ([0, 1, 2], [1, 0])


def exact_sums(rows: list[int], places: list[int], weights: list[float]) -> list[Fraction]:
    """The sum over the chains that end with each cell, by fractions, which have no bounds; row after row."""
    sums, before = [], [Fraction(1)] * (max(places, default=0) + 2)  # sums over the chains that end before each place
    for _, cells in itertools.groupby(zip(rows, places, weights, strict=True), key=lambda cell: cell[0]):
        of_row = [(place, Fraction(weight) * before[place]) for _, place, weight in cells]
        for place, total in of_row:
            before[place + 1 :] = [each + total for each in before[place + 1 :]]
        sums += [total for _, total in of_row]
    return sums


def exact_shares(rows: list[int], places: list[int], weights: list[float]) -> list[Fraction]:
    """The share of all chains that each cell is in: of those that end with it, and those that begin with it."""
    last = max(places, default=0)
    before = exact_sums(rows, places, weights)
    after = exact_sums(rows[::-1], [last - place for place in reversed(places)], weights[::-1])[::-1]
    total = 1 + sum(before)
    return [b * a / (Fraction(weight) * total) for b, a, weight in zip(before, after, weights, strict=True)]


@settings(max_examples=10)
@example(45, 30, 12, 1e40)  # a share of 1e-37, far below the scale of its sums
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 20), st.sampled_from([1.0, 1e40, 1e-25]))
def test_sums_of_chains_have_no_bounds(seed: int, n_rows: int, width: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    lists = [np.flatnonzero(rng.random(width) < 0.1)[::-1] for _ in range(n_rows)]
    rows, places = np.repeat(np.arange(n_rows), [len(each) for each in lists]), np.concatenate(lists).astype(np.int64)
    weights = factor * np.expm1(STRICTNESS * rng.choice([0.1, 0.3, 0.9, 1.0], len(places)) ** SHARPNESS)
    expected = [float(share) for share in exact_shares(rows.tolist(), places.tolist(), weights.tolist())]
    assert _shares_of_chains(places, weights, width) == pytest.approx(expected, rel=1e-9, abs=1e-100)


def value(sums: NDArray[np.float64], powers: NDArray[np.int64]) -> list[Fraction]:
    return [Fraction(each) * Fraction(SCALE) ** int(power) for each, power in zip(sums, powers, strict=True)]


@pytest.mark.parametrize("sums_of", [_sums_by_tree, _sums_by_sweeps])
@settings(max_examples=20)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.integers(1, 20),
    st.sampled_from([0.1, 0.9]),
    st.sampled_from([1.0, 1e40, 1e-25]),
)
def test_sums_are_exact_with_few_and_with_many_cells(
    sums_of: Any, seed: int, n_rows: int, width: int, density: float, factor: float
) -> None:
    rng = np.random.default_rng(seed)
    lists = [np.flatnonzero(rng.random(width) < density)[::-1] for _ in range(n_rows)]
    rows, places = np.repeat(np.arange(n_rows), [len(each) for each in lists]), np.concatenate(lists).astype(np.int64)
    weights = factor * rng.choice([0.1, 1.0, 3000.0], len(places))
    found = value(*sums_of(places, weights, width))
    expected = exact_sums(rows.tolist(), places.tolist(), weights.tolist())
    assert all(abs(one - other) <= other / 10**9 for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("sums_of", [_sums_by_tree, _sums_by_sweeps])
def test_sums_that_rounding_makes_too_large(sums_of: Any) -> None:
    """The sums before positions 1 and 2 reach the largest number in the same row, the first one only by rounding."""
    rows, places = [0, 0, 1, 2, 2, 3, 3], np.array([2, 0, 0, 2, 1, 2, 1], np.int64)
    weights = np.array([1.0, LARGEST * (1 - 2.0**-53), LARGEST * 2.0**-53, 1.0, 1.0, 3.0, 3.0])
    found, expected = value(*sums_of(places, weights, 3)), exact_sums(rows, places.tolist(), weights.tolist())
    assert [float(one / other) for one, other in zip(found, expected, strict=True)] == pytest.approx(
        [1.0] * len(places)
    )


def test_two_halves_in_the_other_order_count_alike() -> None:
    """Each half is a chain whose weight is too large for a number, and no chain has cells of both."""
    n = 400
    places = np.r_[n : 2 * n, 0:n]
    shares = _shares_of_chains(places, np.full(2 * n, np.expm1(STRICTNESS)), 2 * n)
    assert shares == pytest.approx(np.full(2 * n, 0.5), abs=1e-3)


def test_long_lists_are_aligned_as_far_as_the_bound() -> None:
    n = MAX_LINKS + 3
    order = link_order(hub(n), hub(n), ONE_PAIR, csr_array(np.diag(np.r_[0.0, np.ones(n - 1)])))
    assert order == pytest.approx(np.r_[np.ones(MAX_LINKS), 0, 0], abs=1e-2)


def test_links_among_some_pages_keep_their_order() -> None:
    lists = lists_of([4, 2, 1, 3], [], [4, 1], [0], [0, 1])
    some = sublists(lists, np.array([4, 0, 2]))
    assert [some.targets[a:b].tolist() for a, b in itertools.pairwise(some.starts)] == [[1], [0, 2], [0]]


def test_lists_must_fit_the_scores() -> None:
    with pytest.raises(ShapeError, match="expected one for each of 3 pages, got 2"):
        link_order(hub(2), hub(3), ONE_PAIR, csr_array((3, 3)))


@pytest.mark.parametrize(
    ("lists", "pairs", "named"),
    [
        (hub(3), (np.array([0]), np.zeros(0, np.int64), np.array([1.0])), "columns of pairs"),
        (hub(3), (np.array([0]), np.array([0]), np.zeros(0)), "weights of pairs"),
        (hub(3)._replace(targets=hub(3).targets + 2), ONE_PAIR, "link lists"),
        (hub(3)._replace(starts=np.array([0, 2, 1, 2])), ONE_PAIR, "link lists"),
        (hub(3)._replace(starts=np.array([0, 2, 2, 9])), ONE_PAIR, "link lists"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(lists: LinkLists, pairs: tuple[Any, Any, Any], named: str) -> None:
    with pytest.raises(ShapeError, match=named):
        link_order(lists, hub(3), pairs, csr_array((3, 3)))


@pytest.mark.parametrize(("source", "target"), [([0, 3], [1, 0]), ([0, -1], [1, 0]), ([0], [1, 2]), ([0.5], [1])])
def test_links_of_pages_that_do_not_exist_are_refused(source: list[int], target: list[int]) -> None:
    with pytest.raises(ShapeError):
        link_lists(source, target, 3)


def test_labels_of_a_column_do_not_matter() -> None:
    """The rows of a sorted table keep their labels."""
    links = pd.DataFrame({"source": [0, 0, 0], "target": [1, 2, 3], "place": [30, 10, 20]}).sort_values("place")
    assert link_lists(links.source, links.target, 4).targets.tolist() == [2, 3, 1]


def test_pairs_and_scores_in_another_order_are_refused() -> None:
    lists, scores = hub(3), csr_array(np.ones((3, 3)))
    with pytest.raises(ShapeError, match="pairs: expected pages 0 to 2, got 7 to 7"):
        link_order(lists, lists, (np.array([7]), np.array([0]), np.array([1.0])), scores)
    with pytest.raises(ShapeError, match="scores: expected a csr_array of two dimensions, got csc_array"):
        link_order(lists, lists, ONE_PAIR, scores.T)
