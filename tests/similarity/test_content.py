"""S_cb against slow and obvious twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from twinlink.config.match import ContentForm
from twinlink.errors import ConfigError, ShapeError
from twinlink.similarity.content import (
    _strongest_first,
    combine_translations,
    content_similarity,
    content_vectors,
    page_vectors,
)

FORMS: tuple[ContentForm, ...] = ("tsim_idf", "tsim", "bits", "cosine")


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts of a few pages and a sparse translation table; each weight occurs once, so that there are no ties."""
    n_a, n_b, v_a, v_b = (draw(st.integers(1, limit)) for limit in (3, 3, 5, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    counts_a = rng.integers(0, 4, (n_a, v_a)) * (rng.random((n_a, v_a)) < 0.6)
    counts_b = rng.integers(0, 4, (n_b, v_b)) * (rng.random((n_b, v_b)) < 0.6)
    weights = rng.permutation(np.arange(1, v_a * v_b + 1)).reshape(v_a, v_b) / (v_a * v_b)
    return counts_a, counts_b, weights * (rng.random((v_a, v_b)) < 0.4)


def sparse(matrix: np.ndarray) -> csr_array:
    return csr_array(matrix.astype(np.float32))


def full(n_a: int, n_b: int) -> csr_array:
    return csr_array(np.ones((n_a, n_b), bool))


def similarities(counts_a: np.ndarray, counts_b: np.ndarray, table: np.ndarray, form: ContentForm) -> np.ndarray:
    pattern = full(len(counts_a), len(counts_b))
    found = content_similarity(sparse(counts_a), sparse(counts_b), sparse(table), pattern, form)
    assert found.dtype == np.float32
    assert found.nnz == pattern.nnz
    return np.asarray(found.toarray())


# The twins: one pair of pages at a time, in plain Python


def idf(counts: np.ndarray) -> list[float]:
    return [math.log((len(counts) + 1) / (np.count_nonzero(column) + 0.5)) for column in counts.T]


def plain_bits(a: np.ndarray, b: np.ndarray, table: np.ndarray) -> float:
    of_a = sum(a[s] for s in range(len(a)) if any(table[s, t] and b[t] for t in range(len(b))))
    of_b = sum(b[t] for t in range(len(b)) if any(table[s, t] and a[s] for s in range(len(a))))
    return float((of_a / max(a.sum(), 1) + of_b / max(b.sum(), 1)) / 2)


def plain_tsim(a: np.ndarray, b: np.ndarray, table: np.ndarray, idf_a: list[float], idf_b: list[float]) -> float:
    free = list(b.astype(float))
    links = 0.0
    for s in sorted(range(len(a)), key=lambda s: np.count_nonzero(table[s])):
        wanting = float(a[s])
        for t in sorted(np.flatnonzero(table[s]), key=lambda t: -table[s, t]):
            taken = min(wanting, free[t])
            wanting, free[t] = wanting - taken, free[t] - taken
            links += taken * (idf_a[s] + idf_b[t]) / 2
    rest = float(np.dot(a, idf_a) + np.dot(b, idf_b)) - links
    return links / rest if rest else 0.0


def unit(vector: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def damped(counts: np.ndarray) -> np.ndarray:
    return np.array([[1 + math.log(count) if count else 0.0 for count in row] for row in counts])


def plain_cosine(a: np.ndarray, b: np.ndarray, table: np.ndarray) -> float:
    forward = np.array([unit(row) for row in table])
    backward = np.array([unit(column) for column in table.T])
    return float((unit(a @ forward) @ unit(b) + unit(a) @ unit(b @ backward)) / 2)


@given(problems())
def test_bits_equals_its_twin(problem: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    counts_a, counts_b, table = problem
    expected = [[plain_bits(a, b, table) for b in counts_b] for a in counts_a]
    assert similarities(*problem, "bits") == pytest.approx(np.array(expected), abs=1e-6)


@given(problems())
def test_tsim_equals_its_twin(problem: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    counts_a, counts_b, table = problem
    ones = [1.0] * 9
    expected = [[plain_tsim(a, b, table, ones[: len(a)], ones[: len(b)]) for b in counts_b] for a in counts_a]
    assert similarities(*problem, "tsim") == pytest.approx(np.array(expected), abs=1e-5)


@given(problems())
def test_tsim_idf_equals_its_twin(problem: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    counts_a, counts_b, table = problem
    a_words, b_words, idf_a, idf_b = damped(counts_a), damped(counts_b), idf(counts_a), idf(counts_b)
    expected = [[plain_tsim(a, b, table, idf_a, idf_b) for b in b_words] for a in a_words]
    assert similarities(*problem, "tsim_idf") == pytest.approx(np.array(expected), abs=1e-5)


@given(problems())
def test_cosine_equals_its_twin_and_the_vectors_product(problem: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    counts_a, counts_b, table = problem
    a_words, b_words = damped(counts_a) * idf(counts_a), damped(counts_b) * idf(counts_b)
    expected = np.array([[plain_cosine(a, b, table) for b in b_words] for a in a_words])
    assert similarities(*problem, "cosine") == pytest.approx(expected, abs=1e-5)
    x, y = content_vectors(sparse(counts_a), sparse(counts_b), sparse(table))
    assert (x @ y.T).toarray() == pytest.approx(expected, abs=1e-5)


@given(problems(), st.sampled_from(FORMS))
def test_values_stay_between_0_and_1(problem: tuple[np.ndarray, np.ndarray, np.ndarray], form: ContentForm) -> None:
    values = similarities(*problem, form)
    assert values.min() >= 0
    assert values.max() <= 1


@given(problems(), st.sampled_from(["bits", "cosine"]))
def test_languages_can_be_exchanged(problem: tuple[np.ndarray, np.ndarray, np.ndarray], form: ContentForm) -> None:
    counts_a, counts_b, table = problem
    turned = similarities(counts_b, counts_a, table.T, form)
    assert similarities(counts_a, counts_b, table, form) == pytest.approx(turned.T, abs=1e-6)


# Cases known by argument


@pytest.mark.parametrize("form", FORMS)
def test_word_by_word_translation_is_1_and_nothing_shared_is_0(form: ContentForm) -> None:
    counts = np.array([[2, 1, 0, 0], [0, 0, 3, 1]])
    assert similarities(counts, counts, np.eye(4), form) == pytest.approx(np.eye(2), abs=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_empty_pages_are_like_nothing(form: ContentForm) -> None:
    assert similarities(np.zeros((1, 2)), np.array([[1, 1]]), np.eye(2), form).tolist() == [[0]]
    assert similarities(np.zeros((1, 2)), np.zeros((1, 2)), np.eye(2), form).tolist() == [[0]]


@pytest.mark.parametrize("form", FORMS)
def test_no_lexicon_gives_0(form: ContentForm) -> None:
    assert similarities(np.ones((1, 2)), np.ones((1, 2)), np.zeros((2, 2)), form).tolist() == [[0]]


def test_tsim_by_hand() -> None:
    """Four words and three; two of them are linked one to one: 2 / (4 + 3 - 2)."""
    table = np.array([[1.0, 0], [0, 0], [0, 0]])
    assert similarities(np.array([[2, 1, 1]]), np.array([[2, 1]]), table, "tsim").tolist() == [[pytest.approx(0.4)]]


def test_bits_by_hand() -> None:
    """Three of four words have a translation there, one of one has one here: (3/4 + 1) / 2."""
    assert similarities(np.array([[3, 1]]), np.array([[1]]), np.array([[1.0], [0]]), "bits").tolist() == [[0.875]]


def test_each_word_is_linked_once_in_tsim_but_not_in_bits() -> None:
    counts_a, counts_b, table = np.array([[1, 1]]), np.array([[1]]), np.array([[1.0], [1.0]])
    assert similarities(counts_a, counts_b, table, "tsim").tolist() == [[0.5]]
    assert similarities(counts_a, counts_b, table, "bits").tolist() == [[1.0]]


def test_needy_terms_choose_first() -> None:
    """Term 0 could take either word, term 1 only word 0: both find one."""
    table = np.array([[1.0, 0.5], [1.0, 0]])
    assert similarities(np.array([[1, 1]]), np.array([[1, 1]]), table, "tsim").tolist() == [[1.0]]


def test_rare_words_weigh_more_in_tsim_idf() -> None:
    """Page 0 shares a word that all pages have with page 0, and a rare one with page 1."""
    counts_a = np.array([[1, 1], [1, 0], [1, 0]])
    counts_b = np.array([[1, 0], [0, 1], [1, 0]])
    values = similarities(counts_a, counts_b, np.eye(2), "tsim_idf")
    assert values[0, 1] > values[0, 0] > 0


def test_only_candidates_are_computed() -> None:
    pattern = csr_array(([False, True], ([0, 1], [1, 0])), shape=(2, 2))
    found = content_similarity(sparse(np.eye(2)), sparse(np.eye(2)), sparse(np.eye(2)), pattern, "tsim")
    assert found.nnz == 2
    assert found.data.tolist() == [0.0, 0.0]


def test_page_vectors_have_unit_length() -> None:
    lengths = np.sqrt((page_vectors(sparse(np.array([[1, 2], [0, 5], [0, 0]]))).toarray() ** 2).sum(axis=1))
    assert lengths == pytest.approx([1, 1, 0], abs=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_entries_of_a_row_by_value_then_column(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (6, 6)) / np.float32(3)  # with ties
    found = _strongest_first(csr_array(values.astype(np.float32)))
    for row in range(6):
        columns = np.flatnonzero(values[row])
        expected = sorted(columns.tolist(), key=lambda column: (-values[row, column], column))
        assert found.indices[found.indptr[row] : found.indptr[row + 1]].tolist() == expected


def test_combined_translations_take_the_larger_weight() -> None:
    combined = combine_translations(sparse(np.array([[0.5, 0]])), sparse(np.array([[0.25, 1]])))
    assert combined.toarray().tolist() == [[0.5, 1.0]]
    assert combined.dtype == np.float32


def test_shapes_are_checked() -> None:
    a, b, table = csr_array((2, 3)), csr_array((4, 5)), csr_array((3, 5))
    with pytest.raises(ShapeError, match=r"expected a translation matrix of shape \(3, 5\)"):
        content_similarity(a, b, csr_array((5, 3)), csr_array((2, 4)))
    with pytest.raises(ShapeError, match="does not fit 2 and 4 pages"):
        content_similarity(a, b, table, csr_array((4, 2)))


COUNTS = sparse(np.array([[3, 1, 0], [0, 2, 1], [1, 0, 1]]))
TABLE = sparse(np.array([[1, 0.5], [0, 1], [0.25, 0]]))
OTHERS = sparse(np.array([[2, 0], [1, 1]]))


@pytest.mark.parametrize("form", FORMS)
def test_transposed_matrices_are_read_by_rows(form: ContentForm) -> None:
    """What scipy transposes is stored by columns."""
    pattern = sparse(np.array([[1, 1], [0, 1], [1, 0]]))
    given = [csr_array(matrix.T).T for matrix in (COUNTS, OTHERS, TABLE, pattern)]
    expected = content_similarity(COUNTS, OTHERS, TABLE, pattern, form).toarray()
    assert content_similarity(*given, form).toarray().tolist() == expected.tolist()


def with_stored_zeros(matrix: csr_array) -> csr_array:
    rows, columns = np.indices(matrix.shape)
    return csr_array((matrix.toarray().ravel(), columns.ravel(), rows.shape[1] * np.arange(len(rows) + 1)))


@pytest.mark.parametrize("form", FORMS)
def test_stored_zeros_are_no_words_and_no_translations(form: ContentForm) -> None:
    given = [with_stored_zeros(matrix) for matrix in (COUNTS, OTHERS, TABLE)]
    expected = content_similarity(COUNTS, OTHERS, TABLE, full(3, 2), form)
    assert content_similarity(*given, full(3, 2), form).data.tolist() == expected.data.tolist()
    assert given[0].nnz == 9


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64])
def test_counts_in_whole_numbers_lose_no_precision(form: ContentForm, dtype: type[np.integer]) -> None:
    found = content_similarity(COUNTS.astype(dtype), OTHERS.astype(dtype), TABLE, full(3, 2), form)
    expected = content_similarity(COUNTS, OTHERS, TABLE, full(3, 2), form)
    assert found.data.tolist() == expected.data.tolist()


def test_unknown_forms_are_refused() -> None:
    with pytest.raises(ConfigError, match="form: expected one of tsim_idf, tsim, bits, cosine, got 'dice'"):
        content_similarity(COUNTS, OTHERS, TABLE, full(3, 2), "dice")  # type: ignore[arg-type]


def test_page_vectors_can_be_changed_without_the_counts() -> None:
    vectors = page_vectors(COUNTS)
    assert not np.shares_memory(vectors.indices, COUNTS.indices)
    assert not np.shares_memory(vectors.indptr, COUNTS.indptr)
    assert np.isfinite(page_vectors(with_stored_zeros(COUNTS)).data).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
def test_repeated_entries_are_summed(form: ContentForm, dtype: type[np.generic]) -> None:
    """The recipe of SciPy's documentation: a word is stored once for each time that it stands on the page."""
    repeated = csr_array((np.ones(3, dtype), np.array([0, 1, 0]), np.array([0, 3])), shape=(1, 2))
    summed, same, pattern = csr_array(np.array([[2, 1]], dtype)), csr_array(np.eye(2)), csr_array(np.ones((1, 1)))
    found = content_similarity(repeated, repeated, same, pattern, form)
    assert found.data.tolist() == content_similarity(summed, summed, same, pattern, form).data.tolist()
    assert repeated.nnz == 3


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_counts_are_finite_and_not_negative(value: float) -> None:
    one = csr_array([[1.0]])
    with pytest.raises(ShapeError, match="counts_b: expected finite values"):
        content_similarity(one, csr_array([[value]]), one, one)
