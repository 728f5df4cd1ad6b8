"""ETS: cases known by argument, the plain twin, and what must hold for any site."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from tests.graph import reference
from twinlink.config import EtsSettings
from twinlink.errors import ShapeError
from twinlink.graph import kernels, propagation
from twinlink.graph.links import adjacency, neighbours
from twinlink.graph.propagation import dense_pattern, enhanced_similarity, external_similarity

# Few values, so that ties abound; some of them have no exact binary form.
TIED_SCORES = (0.0, -0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0)

External = Callable[[csr_array, csr_array, csr_array], dict[tuple[int, int], float]]


def fast(scores: csr_array, source: csr_array, target: csr_array) -> dict[tuple[int, int], float]:
    return reference.as_dict(external_similarity(scores, source, target))


def plain(scores: csr_array, source: csr_array, target: csr_array) -> dict[tuple[int, int], float]:
    return reference.external_similarity(
        reference.as_dict(scores), reference.as_sets(source), reference.as_sets(target)
    )


both_twins = pytest.mark.parametrize("external", [fast, plain])


def scores_of(entries: dict[tuple[int, int], float], shape: tuple[int, int]) -> csr_array:
    pairs = sorted(entries)
    data = np.array([entries[pair] for pair in pairs], dtype=np.float32)
    return csr_array((data, ([a for a, _ in pairs], [b for _, b in pairs])), shape=shape)


def star(n_leaves: int) -> csr_array:
    """Page 0 is linked with all others, which are linked with no one else."""
    return neighbours(adjacency([0] * n_leaves, range(1, n_leaves + 1), n_leaves + 1))


def random_links(rng: np.random.Generator, n: int, degree: float) -> csr_array:
    dense = rng.random((n, n)) < degree / max(n, 1)
    return neighbours(adjacency(*np.nonzero(dense), n), "out")


def random_scores(
    rng: np.random.Generator, shape: tuple[int, int], share: float, values: NDArray[np.float32] | None = None
) -> csr_array:
    pattern = np.nonzero(rng.random(shape) < share)
    size = pattern[0].size
    data = rng.random(size, dtype=np.float32) if values is None else rng.choice(values, size)
    return csr_array((data.astype(np.float32), pattern), shape=shape)


@st.composite
def sites(draw: st.DrawFn, max_pages: int = 9) -> tuple[csr_array, csr_array, csr_array]:
    """Two sides of a small site, linked and filled at random, from nothing to full."""
    shape = draw(st.tuples(st.integers(0, max_pages), st.integers(0, max_pages)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from((0.0, 0.2, 0.6, 1.0)))
    values = np.array(sorted(draw(st.sets(st.sampled_from(TIED_SCORES), min_size=1))), dtype=np.float32)
    source, target = (random_links(rng, n, draw(st.sampled_from((0.0, 1.0, 3.0, 9.0)))) for n in shape)
    return random_scores(rng, shape, share, values), source, target


# --- known by argument


@both_twins
def test_pages_without_neighbours_have_no_external_similarity(external: External) -> None:
    lonely = adjacency([], [], 1)
    linked = star(1)
    one = np.ones((1, 1), dtype=np.float32)
    assert external(csr_array(one), lonely, lonely) == {(0, 0): 0.0}
    assert set(external(dense_pattern(np.ones((2, 1))), linked, lonely).values()) == {0.0}
    assert set(external(dense_pattern(np.ones((1, 2))), lonely, linked).values()) == {0.0}


@both_twins
def test_greedy_takes_the_best_pair_first_even_where_that_costs_more(external: External) -> None:
    scores = scores_of({(0, 0): 0.0, (1, 1): 1.0, (1, 2): 0.75, (2, 1): 0.75, (2, 2): 0.25}, (3, 3))
    assert external(scores, star(2), star(2))[0, 0] == 2 * (1.0 + 0.25) / 4  # the best matching would give 2 * 1.5 / 4


@both_twins
def test_a_missing_entry_is_no_candidate_and_a_stored_zero_is_one(external: External) -> None:
    # (1, 1) goes first and leaves page 2 of both sides; (2, 2) is missing, so that nothing else is matched
    missing = scores_of({(0, 0): 1.0, (1, 1): 0.5, (1, 2): 0.25, (2, 1): 0.25}, (3, 3))
    assert external(missing, star(2), star(2)) == {(0, 0): 0.25, (1, 1): 1.0, (1, 2): 1.0, (2, 1): 1.0}
    zero = scores_of({(0, 0): 0.0, (1, 1): 0.0}, (2, 2))
    assert external(zero, star(1), star(1)) == {(0, 0): 0.0, (1, 1): 0.0}  # computed, since stored


@both_twins
def test_neighbours_left_over_on_one_side_count_in_the_denominator(external: External) -> None:
    scores = scores_of({(0, 0): 0.0, (1, 1): 1.0, (2, 1): 1.0, (3, 1): 1.0}, (4, 2))
    assert external(scores, star(3), star(1))[0, 0] == 2 * 1.0 / (3 + 1)


@both_twins
def test_ties_go_by_row_then_column(external: External) -> None:
    # All 0.5: (1, 1) is first, then (2, 3). Taking (1, 3) or (2, 1) first would leave another sum.
    scores = scores_of({(0, 0): 0.0, (1, 1): 0.5, (1, 3): 0.5, (2, 1): 0.5, (2, 3): 0.25}, (4, 4))
    assert external(scores, star(3), star(3))[0, 0] == pytest.approx(2 * (0.5 + 0.25) / 6)
    scores = scores_of({(0, 0): 0.0, (1, 1): 0.5, (1, 2): 0.5, (2, 1): 0.5}, (3, 3))
    assert external(scores, star(2), star(2))[0, 0] == 2 * 0.5 / 4  # (1, 1) blocks both others, (1, 2) would block none


def test_equal_sites_with_perfect_internal_similarity_stay_at_one() -> None:
    rng = np.random.default_rng(1)
    n = 40
    ring = adjacency(np.arange(n), np.roll(np.arange(n), -1), n)  # everybody has a neighbour
    links = neighbours((ring + random_links(rng, n, 4)).astype(np.bool_))
    other = rng.permutation(n)  # page p of the first side is page other[p] of the second
    rows, columns = links.tocoo().coords
    mirrored = neighbours(adjacency(other[rows], other[columns], n))
    internal = csr_array((np.ones(n, dtype=np.float32), (np.arange(n), other)), shape=(n, n))
    result = enhanced_similarity(internal, links, mirrored, EtsSettings(rounds=5))
    assert np.array_equal(result.scores.data, np.ones(n, dtype=np.float32))
    assert (result.n_rounds, result.residual, result.converged) == (1, 0.0, True)


def test_neighbours_correct_the_content() -> None:
    """Figure 1 of Liu et al.: C and C' are known by their neighbours A, B, D, E and A', B', D', E'.

    X' looks just like C' and comes first, but stands elsewhere on the site.
    """
    a, b, c, d, e = range(5)
    x_, a_, b_, c_, d_, e_, y_ = range(7)
    source = neighbours(adjacency([a, b, c, c], [c, c, d, e], 5))
    target = neighbours(adjacency([a_, b_, c_, c_, y_], [c_, c_, d_, e_, x_], 7))
    internal = scores_of(
        {(a, a_): 0.9, (b, b_): 0.9, (d, d_): 0.9, (e, e_): 0.9, (c, c_): 0.3, (c, x_): 0.3, (a, y_): 0.1}, (5, 7)
    )
    result = enhanced_similarity(internal, source, target, EtsSettings(alpha=0.6, rounds=1))
    external = reference.as_dict(result.external)
    scores = reference.as_dict(result.scores)
    assert external[c, c_] == pytest.approx(2 * 4 * 0.9 / 8)
    assert external[c, x_] == pytest.approx(2 * 0.1 / 5)
    assert scores[c, c_] == pytest.approx(0.4 * 0.3 + 0.6 * 0.9)
    assert scores[c, x_] == pytest.approx(0.4 * 0.3 + 0.6 * 0.04)


def test_rounds_follow_the_formula_and_the_series_has_the_limit_that_algebra_gives() -> None:
    # Two linked pages on each side: x' = 0.4 * 0.9 + 0.6 * y and y' = 0.4 * 0.5 + 0.6 * x
    internal, links = scores_of({(0, 0): 0.9, (1, 1): 0.5}, (2, 2)), star(1)
    x, y = 0.9, 0.5
    for rounds in range(1, 4):
        x, y = 0.4 * 0.9 + 0.6 * y, 0.4 * 0.5 + 0.6 * x
        result = enhanced_similarity(internal, links, links, EtsSettings(alpha=0.6, rounds=rounds))
        assert result.scores.data == pytest.approx([x, y], abs=1e-6)
        assert (result.n_rounds, result.converged) == (rounds, False)
    settings = EtsSettings(alpha=0.6, rounds=100, tolerance=1e-6)
    result = enhanced_similarity(internal, links, links, settings)
    assert result.scores.data == pytest.approx([(0.36 + 0.12) / 0.64, (0.2 + 0.216) / 0.64], abs=1e-5)
    assert result.converged
    assert 20 < result.n_rounds < 40  # 0.4 * 0.6 ** (n - 1) falls below 1e-6 at n = 27
    assert 0 < result.residual <= 1e-6


def test_rounds_that_do_not_converge_say_so() -> None:
    # With alpha = 1 each pair takes on the score of the other one, for ever.
    internal, links = scores_of({(0, 0): 0.75, (1, 1): 0.25}, (2, 2)), star(1)
    result = enhanced_similarity(internal, links, links, EtsSettings(alpha=1.0, rounds=51, tolerance=0.1))
    assert result.scores.data.tolist() == [0.25, 0.75]
    assert (result.n_rounds, result.residual, result.converged) == (51, 0.5, False)


def test_no_round_gives_internal_similarity_back() -> None:
    internal, links = scores_of({(0, 0): 0.75, (1, 1): 0.25}, (2, 2)), star(1)
    result = enhanced_similarity(internal, links, links, EtsSettings(rounds=0))
    assert result.scores.data.tolist() == [0.75, 0.25]
    assert result.external.data.tolist() == [0.0, 0.0]
    assert (result.n_rounds, result.residual, result.converged) == (0, math.inf, False)


def test_random_start_is_the_same_in_each_run_and_fades_by_alpha_in_each_round() -> None:
    """Two starts differ by at most 1, and each round multiplies the difference by at most alpha while the matching of
    the neighbours stays the same: here every page has one neighbour."""
    links = neighbours(adjacency([0, 2, 4], [1, 3, 5], 6))
    internal = dense_pattern(np.random.default_rng(7).random((6, 6)))
    settings = [EtsSettings(alpha=0.5, rounds=rounds, start="random") for rounds in (0, 1, 5)]
    by_round = [enhanced_similarity(internal, links, links, each).scores for each in settings]
    again = enhanced_similarity(internal, links, links, settings[0]).scores
    assert np.array_equal(by_round[0].data, again.data)
    assert len(np.unique(by_round[0].data)) == 36
    for rounds, scores in zip((0, 1, 5), by_round, strict=True):
        usual = enhanced_similarity(internal, links, links, EtsSettings(alpha=0.5, rounds=rounds)).scores
        assert 0 < np.abs(scores.data - usual.data).max() <= 0.5**rounds


def test_alpha_zero_keeps_internal_similarity_and_still_measures_the_links() -> None:
    internal, links = scores_of({(0, 0): 0.7, (1, 1): 0.2}, (2, 2)), star(1)
    result = enhanced_similarity(internal, links, links, EtsSettings(alpha=0.0))
    assert np.array_equal(result.scores.data, internal.data)
    assert result.external.data.tolist() == internal.data[::-1].tolist()
    assert (result.n_rounds, result.converged) == (1, True)


# --- the plain twin


@given(sites(), st.sampled_from((0.0, 0.3, 0.6, 1.0)), st.integers(0, 3))
def test_kernel_and_reference_agree_to_the_last_bit(
    site: tuple[csr_array, csr_array, csr_array], alpha: float, rounds: int
) -> None:
    internal, source, target = site
    result = enhanced_similarity(internal, source, target, EtsSettings(alpha=alpha, rounds=rounds))
    sets = reference.as_sets(source), reference.as_sets(target)
    expected = reference.enhanced_similarity(reference.as_dict(internal), *sets, alpha, rounds)
    assert reference.as_dict(result.scores) == expected
    assert fast(internal, source, target) == reference.external_similarity(reference.as_dict(internal), *sets)


@pytest.mark.parametrize("values", [None, np.array(TIED_SCORES, dtype=np.float32)])
def test_kernel_and_reference_agree_on_a_larger_site(values: NDArray[np.float32] | None) -> None:
    """The neighbours of a page have more entries than the kernel sorts by counting."""
    rng = np.random.default_rng(7)
    n_source, n_target = 110, 90
    hub = adjacency([0] * (n_source - 1), range(1, n_source), n_source)
    source = neighbours((hub + random_links(rng, n_source, 3)).astype(np.bool_))
    target = neighbours(random_links(rng, n_target, 4))
    internal = random_scores(rng, (n_source, n_target), 0.6, values)
    assert np.median(source.astype(np.int64) @ np.diff(internal.indptr)) > 2 * kernels.FEW_FOUND
    result = enhanced_similarity(internal, source, target, EtsSettings(rounds=2))
    expected = reference.enhanced_similarity(
        reference.as_dict(internal), reference.as_sets(source), reference.as_sets(target), 0.6, 2
    )
    assert reference.as_dict(result.scores) == expected


@pytest.mark.parametrize("rarity", [False, True])
def test_kernel_and_reference_agree_where_few_entries_count(rarity: bool) -> None:
    """Most entries in the rows of a page's neighbours are in columns that no candidate of the page has near."""
    rng = np.random.default_rng(11)
    n_source, n_target = 210, 190
    source, target = (neighbours(random_links(rng, n, 2)) for n in (n_source, n_target))
    scores = random_scores(rng, (n_source, n_target), 0.03)
    reached = (scores.astype(np.bool_) @ target).astype(np.bool_).multiply((source @ scores).astype(np.bool_))
    assert 0 < reached.nnz < (source @ scores).nnz / 4
    expected = reference.external_similarity(
        reference.as_dict(scores), reference.as_sets(source), reference.as_sets(target), rarity
    )
    assert any(expected.values())
    found = reference.as_dict(external_similarity(scores, source, target, rarity=rarity))
    assert found == (pytest.approx(expected, abs=1e-6) if rarity else expected)


@given(sites())
def test_kernel_and_reference_agree_on_rarity(site: tuple[csr_array, csr_array, csr_array]) -> None:
    scores, source, target = site
    expected = reference.external_similarity(
        reference.as_dict(scores), reference.as_sets(source), reference.as_sets(target), rarity=True
    )
    found = reference.as_dict(external_similarity(scores, source, target, rarity=True))
    assert found == pytest.approx(expected, abs=1e-6)
    assert all(value <= 1 + 1e-6 for value in found.values())


def test_common_neighbour_has_less_weight() -> None:
    """Pages 1 and 2 have the hub 0 in common; page 3 is one of 0 and 1 alone.

    By hand: n = 4; |N(0)| = 3, |N(3)| = 2; w = log(5/4), log(5/3). Pair (1, 1): both neighbours match, so 1. Pair
    (1, 2): the hubs match, 2·w0 / (w0 + w3 + w0).
    """
    links = neighbours(adjacency([0, 0, 0, 1], [1, 2, 3, 3], 4))
    scores = dense_pattern(np.eye(4))
    external = external_similarity(scores, links, links, rarity=True).toarray()
    hub, rare = np.log(5 / 4), np.log(5 / 3)
    assert external[1, 1] == pytest.approx(1)
    assert external[1, 2] == pytest.approx(2 * hub / (2 * hub + rare))
    assert external[1, 2] < external_similarity(scores, links, links).toarray()[1, 2]


# --- what holds for any site


@given(sites())
def test_external_similarity_stays_in_the_unit_interval_and_keeps_the_pattern(
    site: tuple[csr_array, csr_array, csr_array],
) -> None:
    scores, source, target = site
    before = scores.copy()
    external = external_similarity(scores, source, target)
    assert external.dtype == np.float32
    assert np.array_equal(external.indptr, scores.indptr)
    assert np.array_equal(external.indices, scores.indices)
    assert ((external.data >= 0) & (external.data <= 1)).all()
    assert np.array_equal(scores.data, before.data)  # the input is left alone
    assert not np.shares_memory(external.indices, scores.indices)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 12))
def test_sides_can_be_swapped(seed: int, n_source: int, n_target: int) -> None:
    rng = np.random.default_rng(seed)
    source, target = random_links(rng, n_source, 3), random_links(rng, n_target, 3)
    scores = random_scores(rng, (n_source, n_target), 0.7)
    scores.data[:] = (rng.permutation(scores.nnz) + 1) / (scores.nnz + 1)  # all different: no ties
    there = external_similarity(scores, source, target).toarray()
    back = external_similarity(csr_array(scores.T), target, source).toarray()
    np.testing.assert_allclose(there, back.T, atol=1e-6)


@given(sites(), st.integers(2, 5))
def test_result_does_not_depend_on_the_threads(site: tuple[csr_array, csr_array, csr_array], n_threads: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(propagation, "FEW_CANDIDATES", 0)
        one, many = (external_similarity(*site, n_threads=n) for n in (1, n_threads))
    assert np.array_equal(one.data, many.data)


def test_pages_may_be_renamed() -> None:
    rng = np.random.default_rng(3)
    source, target = random_links(rng, 30, 4), random_links(rng, 25, 4)
    scores = dense_pattern(rng.permutation(750).reshape(30, 25) / 750)
    rows, columns = rng.permutation(30), rng.permutation(25)
    renamed = external_similarity(
        dense_pattern(scores.toarray()[rows][:, columns]),
        csr_array(source[rows][:, rows]),
        csr_array(target[columns][:, columns]),
    )
    expected = external_similarity(scores, source, target).toarray()[rows][:, columns]
    np.testing.assert_allclose(renamed.toarray(), expected, atol=1e-6)


def test_unsorted_rows_double_precision_and_stored_false_links_are_read_right() -> None:
    scores = csr_array((np.array([0.25, 0.5, 1.0]), np.array([1, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert not scores.has_sorted_indices
    links = csr_array((np.array([True, True, False]), np.array([1, 0, 1]), np.array([0, 1, 3])), shape=(2, 2))
    external = external_similarity(scores, links, links)
    assert external.dtype == np.float32
    assert external.toarray().tolist() == [[1.0, 0.0], [0.0, 0.5]]
    assert not scores.has_sorted_indices


def test_nothing_to_compute() -> None:
    for shape in ((0, 0), (0, 3), (3, 0), (3, 3)):
        none = csr_array(shape, dtype=np.float32)
        source, target = (adjacency([], [], n) for n in shape)
        result = enhanced_similarity(none, source, target)
        assert result.scores.shape == shape
        assert (result.scores.nnz, result.residual, result.converged) == (0, 0.0, True)


# --- dense pattern


def test_dense_pattern_stores_every_pair() -> None:
    dense = dense_pattern(np.array([[0.0, 0.5], [0.25, 0.0], [0.0, 0.0]]))
    assert (dense.nnz, dense.dtype, dense.shape) == (6, np.float32, (3, 2))
    assert dense.has_canonical_format
    sparse = csr_array(np.array([[0.0, 0.5], [0.25, 0.0], [0.0, 0.0]]))
    assert reference.as_dict(dense_pattern(sparse)) == reference.as_dict(dense)
    assert dense_pattern(np.empty((0, 4))).shape == (0, 4)
    with pytest.raises(ShapeError, match="expected two dimensions"):
        dense_pattern([1.0, 2.0])


# --- the border


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.array([[0.5, np.nan]]), r"expected values in \[0, 1\], got nan"),
        (np.array([[0.5, 1.01]]), r"expected values in \[0, 1\], got 0.5 to 1.01"),
        (np.array([[-0.1, 0.5]]), r"expected values in \[0, 1\], got -0.1 to 0.5"),
    ],
)
def test_scores_outside_the_unit_interval_are_refused(bad: NDArray[np.float64], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        external_similarity(csr_array(bad), adjacency([], [], 1), adjacency([], [], 2))


def test_rounding_just_outside_the_unit_interval_is_forgiven() -> None:
    scores = csr_array(np.array([[1 + 1e-7, 0.0], [0.0, -1e-9]]))
    external = external_similarity(scores, star(1), star(1))
    assert external.toarray().tolist() == [[0.0, 0.0], [0.0, 1.0]]


def test_matrices_that_do_not_fit_are_refused() -> None:
    scores, two, three = dense_pattern(np.ones((2, 3))), star(1), star(2)
    with pytest.raises(ShapeError, match=r"source_neighbours: expected shape \(2, 2\).*got \(3, 3\)"):
        external_similarity(scores, three, three)
    with pytest.raises(ShapeError, match=r"target_neighbours: expected shape \(3, 3\).*got \(2, 2\)"):
        enhanced_similarity(scores, two, two, EtsSettings())
    with pytest.raises(ShapeError, match="expected a csr_array of two dimensions, got ndarray"):
        external_similarity(np.ones((2, 3)), two, three)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="target_neighbours: expected no page to be its own neighbour"):
        external_similarity(scores, two, csr_array(np.eye(3, dtype=np.bool_)))
    twice = csr_array((np.array([0.5, 0.5], dtype=np.float32), np.array([0, 0]), np.array([0, 2, 2])), shape=(2, 3))
    with pytest.raises(ShapeError, match="scores: expected each entry once"):
        external_similarity(twice, two, three)
    outside = csr_array((np.array([0.5], dtype=np.float32), np.array([1]), np.array([0, 1, 1])), shape=(2, 3))
    outside.indices[0] = 3
    with pytest.raises(ShapeError, match=r"scores: expected columns within shape \(2, 3\)"):
        external_similarity(outside, two, three)


@pytest.mark.parametrize("n_cores", [None, 3])
def test_the_number_of_threads_does_not_matter_nor_whether_it_is_known(
    monkeypatch: pytest.MonkeyPatch, n_cores: int | None
) -> None:
    """Not every system says which processors a process may use, or how many there are."""
    rng = np.random.default_rng(3)
    scores, source, target = random_scores(rng, (30, 20), 0.6), *(neighbours(random_links(rng, n, 3)) for n in (30, 20))
    expected = external_similarity(scores, source, target)
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: n_cores)
    assert external_similarity(scores, source, target).data.tolist() == expected.data.tolist()


def test_few_candidates_start_no_threads_and_many_do(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    site = dense_pattern(rng.random((9, 8))), random_links(rng, 9, 3), random_links(rng, 8, 3)
    alone = external_similarity(*site)
    pools = []
    monkeypatch.setattr(propagation, "FEW_CANDIDATES", 71)
    monkeypatch.setattr(
        propagation, "ThreadPoolExecutor", lambda n, pool=propagation.ThreadPoolExecutor: pools.append(n) or pool(n)
    )
    assert np.array_equal(external_similarity(*site, n_threads=2).data, alone.data)
    assert pools == [2]
    monkeypatch.setattr(propagation, "FEW_CANDIDATES", 72)
    assert np.array_equal(external_similarity(*site).data, alone.data)
    assert pools == [2]


@pytest.mark.parametrize("rarity", [False, True])
def test_the_number_of_links_between_two_neighbours_does_not_matter(rarity: bool) -> None:
    links = neighbours(adjacency([0, 1, 1], [1, 0, 2], 3))
    scores = dense_pattern(np.eye(3))
    counted = external_similarity(scores, csr_array(links * 7.0), links, rarity=rarity)
    assert counted.toarray().tolist() == external_similarity(scores, links, links, rarity=rarity).toarray().tolist()
