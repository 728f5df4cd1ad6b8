"""What a search compares of vectors: all that can be afforded, else without weak weights and frequent terms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from twinlink.similarity import affordable as module
from twinlink.similarity.affordable import (
    LEVELS,
    Part,
    affordable,
    affordable_terms,
    most_products,
    pages_with,
    weights_of,
    with_terms,
)
from twinlink.sparse import some_rows


def random_vectors(seed: int, n_pages: int, n_terms: int = 6) -> csr_array:
    rng = np.random.default_rng(seed)
    values = rng.choice(np.array([0, 0, 0.1, 0.5, 1, 3], np.float32), (n_pages, n_terms))
    return csr_array(values)


def slow_strengths(vectors: csr_array) -> np.ndarray:
    """Return squared weight / mean squared weight of the page, -1 where no weight is stored."""
    weights = vectors.toarray().astype(np.float64)
    is_stored = weights > 0
    means = (weights**2).sum(axis=1) / np.maximum(is_stored.sum(axis=1), 1)
    return np.where(is_stored, weights**2 / np.where(means > 0, means, 1)[:, None], -1)


@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.integers(1, 9))
def test_weights_equal_a_count_level_by_level_in_one_part_or_many(seed: int, n_pages: int, size: int) -> None:
    vectors = random_vectors(seed, n_pages)
    parts = [some_rows(vectors, first, size) for first in range(0, max(n_pages, 1), size)]
    strengths, squares = slow_strengths(vectors), vectors.toarray().astype(np.float64) ** 2
    for found in (weights_of([vectors]), weights_of(parts)):
        for number, level in enumerate(LEVELS):
            reaches = (strengths >= level) & (strengths >= 0)
            assert found.numbers[number].tolist() == reaches.sum(axis=0).tolist()
            assert found.squares[number] == pytest.approx((squares * reaches).sum(axis=0))


@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.integers(0, 9), st.integers(0, 200))
def test_the_part_is_affordable_and_no_more_is_left_out_than_needed(seed: int, n_a: int, n_b: int, most: int) -> None:
    a, b = random_vectors(seed, n_a), random_vectors(seed + 1, n_b)
    part = affordable(weights_of([a]), weights_of([b]), most)
    compared_a, compared_b = part.of(a), part.of(b)
    assert pages_with(compared_a) @ pages_with(compared_b) <= most
    if pages_with(a) @ pages_with(b) <= most:
        assert compared_a is a
        assert compared_b is b
    else:
        again = affordable(weights_of([compared_a]), weights_of([compared_b]), most)
        assert again.of(compared_a) is compared_a
    for vectors, compared in ((a, compared_a), (b, compared_b)):
        expected = vectors.toarray() * (slow_strengths(vectors) >= part.level) * part.terms
        assert compared.toarray().tolist() == expected.tolist()


@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_below_one_half_a_page_loses_less_than_half_of_its_squared_length(seed: int, n_pages: int) -> None:
    vectors = random_vectors(seed, n_pages)
    kept = Part(0.5, np.ones(vectors.shape[1], np.bool_)).of(vectors)
    before, after = ((each.toarray().astype(np.float64) ** 2).sum(axis=1) for each in (vectors, kept))
    assert ((after > before / 2) | (before == 0)).all()


def test_frequent_terms_are_left_out_if_that_leaves_more_than_a_higher_level_does() -> None:
    """Three pages with a term each; all have a fourth term, which is not weak."""
    vectors = csr_array(np.hstack([np.eye(3), np.ones((3, 1))]).astype(np.float32))
    part = affordable(weights_of([vectors]), weights_of([vectors]), 3)
    assert part.level == 0.5
    assert part.terms.tolist() == [True, True, True, False]


def test_weak_weights_are_left_out_if_that_leaves_the_terms() -> None:
    """Both terms are on both pages, each weak on one of them: without these, two products suffice instead of eight."""
    vectors = csr_array(np.array([[3, 1], [1, 3]], np.float32))
    part = affordable(weights_of([vectors]), weights_of([vectors]), 2)
    assert part.of(vectors).toarray().tolist() == [[3, 0], [0, 3]]


def test_a_higher_level_is_taken_where_weak_weights_are_frequent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A term that is rare and strong on four pages, below it on the others: at level 1 the strong ones are afforded."""
    monkeypatch.setattr(module, "LEVELS", (0.0, 0.1, 1.0))
    weights = np.full((6, 2), 1.0, np.float32)
    weights[:3, 0] = weights[3:, 1] = 2.0
    vectors = csr_array(weights)
    part = affordable(weights_of([vectors]), weights_of([vectors]), 18)
    assert part.level == 1.0
    assert part.terms.all()
    assert part.of(vectors).nnz == 6


def test_weak_weights_are_compared_where_without_them_little_is_left() -> None:
    """The term of all pages is the only one that is not weak, and too frequent."""
    vectors = csr_array(np.hstack([np.full((3, 1), 5.0), np.eye(3)]).astype(np.float32))
    part = affordable(weights_of([vectors]), weights_of([vectors]), 3)
    assert part.level == 0
    assert part.of(vectors).toarray().tolist() == np.hstack([np.zeros((3, 1)), np.eye(3)]).tolist()


def test_stored_zeros_are_no_weights_but_are_not_divided_by() -> None:
    vectors = csr_array((np.zeros(2, np.float32), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert Part(0.5, np.ones(2, np.bool_)).of(vectors).nnz == 0
    assert weights_of([vectors]).squares.sum() == 0


def test_affordable_terms_are_those_with_the_fewest_products() -> None:
    assert affordable_terms(np.array([4, 1, 9, 1]), 6).tolist() == [True, True, False, True]
    assert affordable_terms(np.array([4, 1, 9, 1]), 0).tolist() == [False] * 4
    vectors = csr_array(np.array([[1, 2], [0, 3]], np.float32))
    assert with_terms(vectors, np.array([True, True])) is vectors
    assert with_terms(vectors, np.array([False, True])).toarray().tolist() == [[0, 2], [0, 3]]


def test_a_search_may_take_a_tenth_of_a_second_on_any_site() -> None:
    assert most_products(20, 3, 4) == module.ALWAYS
    assert most_products(20_000, 10_000, 40_000) == 1_000_000_000


@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.integers(1, 9))
def test_pages_are_counted_in_blocks(seed: int, n_pages: int, block: int) -> None:
    vectors = random_vectors(seed, n_pages)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        assert pages_with(vectors).tolist() == (vectors.toarray() > 0).sum(axis=0).tolist()
