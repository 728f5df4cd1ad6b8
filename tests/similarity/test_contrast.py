"""What tells near-duplicates apart, against dense loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.errors import ShapeError
from twinlink.similarity.contrast import contrast_vectors, cosine_of_pairs, groups_of, near_duplicates, near_pages

Matrix = NDArray[np.float64]


def contrast_of(counts: csr_array) -> csr_array:
    return contrast_vectors(counts, near_pages(counts))


def unit(vector: Matrix) -> Matrix:
    length = np.sqrt((vector**2).sum())
    return vector / length if length else vector


def plain_contrast(counts: Matrix, n_nearest: int = 8, power: int = 8) -> Matrix:
    vectors = [unit(np.array([1 + np.log(n) if n else 0.0 for n in page])) for page in counts]
    result = []
    for p, own in enumerate(vectors):
        likeness = {q: float(own @ other) for q, other in enumerate(vectors) if q != p}
        nearest = sorted(likeness, key=lambda q: -likeness[q])[:n_nearest]
        total = sum(likeness[q] ** power for q in nearest)
        usual = sum((likeness[q] ** power / total * vectors[q] for q in nearest), np.zeros(len(own))) if total else 0
        result.append(np.maximum(0, own - usual))
    return np.array(result).reshape(counts.shape)


def made_counts(seed: int, n_pages: int, n_terms: int) -> Matrix:
    """Near-duplicates of a few pages: each has most of the words of one of three."""
    rng = np.random.default_rng(seed)
    models = rng.poisson(1.5, (3, n_terms))
    pages = models[rng.integers(0, 3, n_pages)] + (rng.random((n_pages, n_terms)) < 0.1)
    return (pages * (rng.random((n_pages, n_terms)) < 0.95)).astype(float)


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 7))
def test_equals_a_dense_loop(seed: int, n_pages: int, n_terms: int) -> None:
    counts = made_counts(seed, n_pages, n_terms)
    found = contrast_of(csr_array(counts))
    assert found.dtype == np.float32
    assert found.shape == counts.shape
    assert (found.data > 0).all()
    assert found.toarray() == pytest.approx(plain_contrast(counts), abs=3e-6)


def test_only_the_nearest_count() -> None:
    counts = np.random.default_rng(0).integers(0, 20, (30, 12)).astype(float)  # no two pages are equally near
    assert contrast_of(csr_array(counts)).toarray() == pytest.approx(plain_contrast(counts), abs=3e-6)


def test_identical_pages_say_nothing_of_their_own() -> None:
    assert contrast_of(csr_array(np.ones((3, 4)))).nnz == 0


def test_a_page_alone_keeps_all_its_words() -> None:
    assert contrast_of(csr_array([[1.0, 1.0, 0.0]])).toarray() == pytest.approx(np.array([[0.5**0.5, 0.5**0.5, 0]]))


def test_pages_with_nothing_in_common_keep_all_their_words() -> None:
    assert contrast_of(csr_array(np.eye(3))).toarray() == pytest.approx(np.eye(3))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (3, 3)])
def test_nothing_to_compare(shape: tuple[int, int]) -> None:
    found = contrast_of(csr_array(shape))
    assert found.shape == shape
    assert found.nnz == 0


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.integers(1, 4))
def test_cosine_equals_a_dense_loop(seed: int, n_a: int, n_b: int, terms_a: int, terms_b: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, translation = (
        rng.random(shape) * (rng.random(shape) < 0.6) for shape in ((n_a, terms_a), (n_b, terms_b), (terms_a, terms_b))
    )
    pattern = csr_array(rng.random((n_a, n_b)) < 0.7)
    found = cosine_of_pairs(csr_array(x), csr_array(y), csr_array(translation), pattern)
    entries = pattern.tocoo()
    expected = [
        unit(x[i] @ translation) @ unit(y[j]) for i, j in zip(entries.row.tolist(), entries.col.tolist(), strict=True)
    ]
    assert found == pytest.approx(np.array(expected), abs=1e-5)
    assert ((found >= 0) & (found <= 1)).all()


def test_a_page_and_its_word_for_word_translation_have_1_an_empty_one_0() -> None:
    x, swapped = csr_array([[0.3, 0.6], [0.0, 0.0]]), csr_array([[0.0, 1.0], [1.0, 0.0]])
    y = csr_array([[0.6, 0.3]])
    found = cosine_of_pairs(x, y, swapped, csr_array(np.ones((2, 1), bool)))
    assert found.tolist() == pytest.approx([1, 0])


def test_what_differs_finds_the_twin_among_near_duplicates() -> None:
    """Forty words on all pages, and one of each page's own: by all their words any two pages are nearly equal."""
    n = 6
    counts = csr_array(np.c_[np.ones((n, 40)), np.eye(n)])
    own = contrast_of(counts)
    same = csr_array(np.eye(40 + n))
    found = cosine_of_pairs(own, own, same, csr_array(np.ones((n, n), bool))).reshape(n, n)
    assert found == pytest.approx(np.eye(n), abs=1e-3)


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 7))
def test_near_pages_are_the_nearest_others(seed: int, n_pages: int, n_terms: int) -> None:
    counts = made_counts(seed, n_pages, n_terms)
    vectors = np.array([unit(np.array([1 + np.log(n) if n else 0.0 for n in page])) for page in counts])
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, 0)
    assert near_pages(csr_array(counts)).toarray() == pytest.approx(likeness, abs=1e-6)  # 8 others at most


def test_near_duplicates_are_reported_for_both_and_not_for_the_page_itself() -> None:
    near = csr_array(np.array([[0.0, 0.96, 0.94], [0.0, 0.0, 0.95], [0.2, 0.0, 0.0]]))
    expected = [[False, True, False], [True, False, True], [False, True, False]]
    assert near_duplicates(near).toarray().tolist() == expected


def test_equal_pages_are_near_duplicates_whatever_their_number() -> None:
    found = near_duplicates(near_pages(csr_array(np.ones((30, 4)))))
    assert found.diagonal().sum() == 0
    assert (np.diff(found.indptr) >= 8).all()


def test_stored_zeros_and_other_formats_change_nothing() -> None:
    counts = csr_array(made_counts(3, 12, 9))
    rows, columns = np.indices(counts.shape)
    zeros = csr_array((counts.toarray().ravel(), columns.ravel(), 9 * np.arange(len(rows) + 1)), shape=counts.shape)
    expected = contrast_of(counts).toarray().tolist()
    assert contrast_of(zeros).toarray().tolist() == expected
    assert contrast_of(csr_array(counts.T).T).toarray().tolist() == expected
    near = near_pages(counts)
    assert contrast_vectors(counts, csr_array(near.T).T).toarray().tolist() == expected
    duplicates = near_duplicates(csr_array(near.T).T)
    assert duplicates.toarray().tolist() == near_duplicates(near).toarray().tolist()


def test_near_pages_of_other_pages_are_refused() -> None:
    with pytest.raises(ShapeError, match="near: expected shape"):
        contrast_vectors(csr_array(np.eye(2)), near_pages(csr_array(np.eye(3))))


# ---- groups


def symmetric(n: int, *ends: tuple[int, int]) -> csr_array:
    matrix = np.zeros((n, n), np.bool_)
    for one, other in ends:
        matrix[one, other] = matrix[other, one] = True
    return csr_array(matrix)


def test_pages_without_near_duplicates_are_in_no_group() -> None:
    assert groups_of(symmetric(3)).tolist() == [0, 0, 0]
    assert groups_of(symmetric(0)).tolist() == []


def test_a_chain_is_a_group_and_the_largest_is_the_first() -> None:
    assert groups_of(symmetric(6, (1, 2), (3, 4), (4, 5))).tolist() == [0, 2, 2, 1, 1, 1]


def test_of_equally_large_groups_that_with_the_first_page_is_the_first() -> None:
    assert groups_of(symmetric(5, (2, 3), (0, 4))).tolist() == [1, 0, 2, 2, 1]


@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda ends: ends[0] != ends[1])))
def test_groups_are_connected_components(ends: set[tuple[int, int]]) -> None:
    alike = symmetric(8, *ends)
    reached = np.eye(8, dtype=np.int64)
    for _ in range(8):
        reached = (reached + reached @ alike.toarray().astype(np.int64) > 0).astype(np.int64)
    groups = groups_of(alike)
    same = (groups[:, None] == groups[None, :]) & (groups > 0)[:, None]
    assert (same | np.eye(8, dtype=np.bool_)).tolist() == (reached > 0).tolist()
    sizes = [int((groups == number).sum()) for number in range(1, int(groups.max()) + 1)]
    assert sizes == sorted(sizes, reverse=True)
    assert all(size > 1 for size in sizes)
