"""Candidate patterns against the full matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.both_ways import both_ways  # noqa: F401  (kernels of this module)
from twinlink.config import CandidateSettings
from twinlink.errors import ConfigError, ShapeError
from twinlink.similarity import affordable, candidates, page_search
from twinlink.similarity.candidates import (
    candidate_pattern,
    candidate_votes,
    content_votes,
    find_candidates,
    strongest,
    tag_vectors,
    with_votes,
    within_memory,
)
from twinlink.similarity.content import content_vectors
from twinlink.sparse import union_of
from twinlink.system.side_by_side import on_cores


def plain_pattern(scores: np.ndarray, k: int) -> np.ndarray:
    """The k largest positive values of each row and column, the first of equal ones."""
    chosen = np.zeros(scores.shape, bool)
    for i, row in enumerate(scores):
        for j in sorted(range(len(row)), key=lambda j: (-row[j], j))[:k]:
            chosen[i, j] |= row[j] > 0
    for j, column in enumerate(scores.T):
        for i in sorted(range(len(column)), key=lambda i: (-column[i], i))[:k]:
            chosen[i, j] |= column[i] > 0
    return chosen


def plain_votes(scores: np.ndarray, k: int) -> np.ndarray:
    """One vote for each list of the k largest, and another one for its first half."""
    votes = np.zeros(scores.shape, int)
    for of_pair, matrix in ((votes, scores), (votes.T, scores.T)):
        for size in (k, (k + 1) // 2):
            for i, row in enumerate(matrix):
                for j in sorted(range(len(row)), key=lambda j: (-row[j], j))[:size]:
                    of_pair[i, j] += row[j] > 0
    return votes


@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.integers(0, 9), st.integers(1, 5))
def test_votes_equal_those_of_the_full_matrix(seed: int, n_a: int, n_b: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    sides = [[rng.integers(0, 3, (n, 3)) for n in (n_a, n_b)] for _search in range(2)]
    votes = [candidate_votes(*map(csr_array, each), CandidateSettings(per_page=k)) for each in sides]
    plain = [plain_votes(a @ b.T, k) for a, b in sides]
    assert [each.toarray().tolist() for each in votes] == [each.tolist() for each in plain]
    for least in range(1, 9):
        found = with_votes(votes, least)
        assert found.dtype == bool
        assert found.has_sorted_indices
        assert stored(found) == stored(csr_array(sum(plain) >= least))


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 9), st.integers(1, 4))
def test_equals_the_full_matrix_with_many_ties(seed: int, n_a: int, n_b: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, (n_a, 3)), rng.integers(0, 3, (n_b, 3))
    settings = CandidateSettings(per_page=k)
    found = candidate_pattern(csr_array(a.astype(np.float32)), csr_array(b.astype(np.float32)), settings)
    assert found.dtype == bool
    assert found.data.all()
    assert found.has_sorted_indices
    assert found.toarray().tolist() == plain_pattern(a @ b.T, k).tolist()


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 20), st.integers(1, 9))
@settings(deadline=None)
def test_blocks_of_few_words_give_the_same(seed: int, n_a: int, n_b: int, words: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (csr_array(rng.integers(0, 3, (n, 4)).astype(np.float32) / 3) for n in (n_a, n_b))
    settings, open_pages = CandidateSettings(per_page=2), [rng.random(n) < 0.5 for n in (n_a, n_b)]
    whole = [candidate_pattern(a, b, settings, *which) for which in ([], open_pages)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_search, "_BLOCK", words)
        blocks = [candidate_pattern(a, b, settings, *which) for which in ([], open_pages)]
    assert [stored(each) for each in blocks] == [stored(each) for each in whole]


def test_pages_with_nothing_in_common_are_no_candidates() -> None:
    found = candidate_pattern(csr_array(np.eye(2)), csr_array(np.array([[1.0, 0.0]])))
    assert found.toarray().tolist() == [[True], [False]]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_a_side_without_pages(shape: tuple[int, int]) -> None:
    found = candidate_pattern(csr_array((shape[0], 2)), csr_array((shape[1], 2)))
    assert found.shape == shape
    assert found.nnz == 0


def test_vectors_must_have_one_length() -> None:
    with pytest.raises(ShapeError, match="got 2 and 3"):
        candidate_pattern(csr_array((1, 2)), csr_array((1, 3)))


def made_scores(seed: int, n_a: int, n_b: int) -> csr_array:
    """About two thirds of all pairs are stored, with many ties and some zeros."""
    rng = np.random.default_rng(seed)
    pattern = csr_array(rng.random((n_a, n_b)) < 0.66)
    values = rng.integers(0, 4, pattern.nnz) / 3
    return csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)


def stored(pattern: csr_array) -> list[tuple[int, int]]:
    entries = pattern.tocoo()
    return list(zip(entries.row.tolist(), entries.col.tolist(), strict=True))


def plain_strongest(scores: csr_array, most_a: Sequence[int], most_b: Sequence[int]) -> list[tuple[int, int]]:
    value = dict(zip(stored(scores), scores.data.tolist(), strict=True))
    chosen: set[tuple[int, int]] = set()
    for side, most in enumerate((most_a, most_b)):
        for page, k in enumerate(most):
            own = [pair for pair in value if pair[side] == page]
            chosen.update(sorted(own, key=lambda pair: (-value[pair], pair[1 - side]))[:k])
    return sorted(chosen)


@given(st.integers(0, 2**32 - 1), st.integers(0, 7), st.integers(0, 7), st.integers(1, 4))
def test_strongest_equals_sorted_lists(seed: int, n_a: int, n_b: int, k: int) -> None:
    scores = made_scores(seed, n_a, n_b)
    found = strongest(scores, CandidateSettings(per_page=k))
    assert found.shape == scores.shape
    assert found.dtype == bool
    assert found.data.all()
    assert stored(found) == plain_strongest(scores, [k] * n_a, [k] * n_b)


@given(st.integers(0, 2**32 - 1), st.integers(0, 7), st.integers(0, 7), st.integers(1, 4))
def test_strongest_with_a_number_for_each_page(seed: int, n_a: int, n_b: int, k: int) -> None:
    scores, random = made_scores(seed, n_a, n_b), np.random.default_rng(seed)
    most_a, most_b = random.integers(0, k + 2, n_a), random.integers(0, k + 2, n_b)
    found = strongest(scores, CandidateSettings(per_page=k), most_a, most_b)
    limits = (np.minimum(most, k).tolist() for most in (most_a, most_b))
    assert stored(found) == plain_strongest(scores, *limits)


def test_strongest_keeps_stored_zeros_and_all_where_there_are_few() -> None:
    scores = csr_array((np.zeros(3), [0, 1, 1], [0, 2, 3]), shape=(2, 2))
    assert stored(strongest(scores)) == [(0, 0), (0, 1), (1, 1)]


def test_strongest_of_a_page_is_kept_though_the_other_page_has_better_ones() -> None:
    scores = csr_array(np.array([[0.9], [0.8], [0.7]]))
    assert stored(strongest(scores, CandidateSettings(per_page=1))) == [(0, 0), (1, 0), (2, 0)]


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(0, 6), st.integers(0, 6))
def test_union_equals_a_set(seed: int, n_patterns: int, n_a: int, n_b: int) -> None:
    patterns = [made_scores(seed + k, n_a, n_b) for k in range(n_patterns)]
    found = union_of(*patterns)
    assert found.shape == (n_a, n_b)
    assert found.dtype == bool
    assert found.data.all()
    assert stored(found) == sorted({pair for each in patterns for pair in stored(each)})


@pytest.mark.parametrize("products", [1, 5, 100])
@pytest.mark.parametrize("is_part", [False, True])
@given(seed=st.integers(0, 2**32 - 1), n_a=st.integers(0, 9), n_b=st.integers(0, 9))
def test_content_votes_equal_the_search_over_the_vectors_of_all_pages(
    products: int, is_part: bool, seed: int, n_a: int, n_b: int
) -> None:
    rng = np.random.default_rng(seed)
    counts_a, counts_b, translation = (
        csr_array((rng.random(shape) < 0.4) * rng.integers(1, 4, shape).astype(np.float32))
        for shape in ((n_a, 6), (n_b, 5), (6, 5))
    )
    open_pages = [rng.random(n) < 0.5 for n in (n_a, n_b)] if is_part else []
    settings = CandidateSettings(per_page=2, products_per_page=products)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(affordable, "ALWAYS", 0)
        expected = candidate_votes(*content_vectors(counts_a, counts_b, translation), settings, *open_pages)
        patch.setattr(candidates, "_PAGES", 2)
        found = content_votes(counts_a, counts_b, translation, settings, *open_pages)
    assert found.toarray().tolist() == expected.toarray().tolist()


def test_no_vectors_are_computed_where_no_page_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, translation = csr_array(np.eye(3)), csr_array(np.eye(3))
    monkeypatch.delattr(candidates.ContentSide, "vectors")
    none = np.zeros(3, bool)
    assert content_votes(counts, counts, translation, None, none, none).nnz == 0


def test_tag_vectors_find_the_page_with_the_same_tags() -> None:
    pages = [b"abcabcd", b"xyzxyzw", b"abcdxyz"]
    a, b = tag_vectors(pages, [*pages[::-1], b"ab", b""])
    scores = (a @ b.T).toarray()
    assert scores[:, :3].argmax(axis=1).tolist() == [2, 1, 0]
    assert np.diag(scores[:, 2::-1]) == pytest.approx([1, 1, 1])
    assert (scores[:, 3:] == 0).all()  # fewer than three tags: nothing to compare


def test_tag_vectors_without_pages() -> None:
    a, b = tag_vectors([], [])
    assert (a.shape[0], b.shape[0]) == (0, 0)


@given(st.lists(st.binary(max_size=12).map(lambda tags: bytes(tag % 3 for tag in tags)), max_size=5), st.integers(0, 5))
def test_tag_vectors_equal_a_count_page_by_page(pages: list[bytes], n_a: int) -> None:
    grams = [[page[k : k + 3] for k in range(len(page) - 2)] for page in pages]
    pages_with = {gram: sum(gram in of_page for of_page in grams) for of_page in grams for gram in of_page}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "_CHUNK", 2)
        a, b = tag_vectors(pages[:n_a], pages[n_a:])
    assert a.shape[1] == b.shape[1] == len(pages_with)
    for row, of_page in zip([*a.toarray(), *b.toarray()], grams, strict=True):
        idf = {gram: np.log((len(pages) + 1) / (pages_with[gram] + 0.5)) for gram in of_page}
        weights = np.array([(1 + np.log(of_page.count(gram))) * idf[gram] for gram in idf])
        assert sorted(row[row > 0]) == pytest.approx(sorted(weights / np.linalg.norm(weights)), abs=1e-6)


def test_words_decide_where_they_are_known_and_structure_helps_where_not() -> None:
    """Page 0 has a translated word. Page 1 has none, and the structure of page 0 of the other language."""
    counts_a, counts_b = csr_array(np.array([[9.0, 0], [0, 1]])), csr_array(np.array([[0.0], [9]]))
    translation = csr_array(np.array([[1.0], [0]]))
    tags_a, tags_b = [b"xyzz", b"abcc"], [b"abcc", b"vwxx"]
    settings = CandidateSettings(per_page=1)
    found = find_candidates(counts_a, counts_b, translation, tags_a, tags_b, settings)
    assert found.toarray().astype(int).tolist() == [[0, 1], [1, 0]]


def test_structure_is_used_for_all_pages_where_few_words_are_known() -> None:
    counts_a, counts_b = csr_array(np.array([[1.0, 9]])), csr_array(np.array([[1.0, 0], [0, 9]]))
    translation = csr_array(np.array([[1.0, 0], [0, 0]]))
    tags = [b"abcc"]
    settings = CandidateSettings(per_page=1)
    found = find_candidates(counts_a, counts_b, translation, tags, [b"xyzz", b"abcc"], settings)
    assert found.toarray().tolist() == [[True, True]]


def test_structure_is_not_looked_at_where_words_give_all_pages_enough_candidates() -> None:
    counts, same = csr_array(np.ones((2, 1))), csr_array(np.ones((1, 1)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "tag_vectors", None)  # calling it would fail
        found = find_candidates(counts, counts, same, [b"abcc"] * 2, [b"xyzz"] * 2, CandidateSettings(per_page=2))
    assert found.toarray().all()


@pytest.mark.parametrize(("memory", "n_pages", "per_page"), [(None, 10**9, 20), (8, 2_000, 10), (10**6, 2_000, 20)])
def test_candidates_fit_into_the_memory(memory: int | None, n_pages: int, per_page: int) -> None:
    assert within_memory(CandidateSettings(memory=memory), n_pages).per_page == per_page


def test_memory_for_less_than_one_candidate_a_page_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"200000 pages need at least 80 MB .* got 60"):
        within_memory(CandidateSettings(memory=60), 200_000)


@pytest.mark.parametrize("most", [4_000, 10])
def test_open_pages_get_the_same_on_any_number_of_cores_on_small_and_large_sites(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    counts = [csr_array(rng.integers(0, 3, (n, 40)).astype(np.float32)) for n in (600, 500)]
    open_pages = [rng.random(n) < 0.5 for n in (600, 500)]
    translation = csr_array(np.eye(40, dtype=np.float32))
    settings = CandidateSettings(per_page=3)
    expected = content_votes(*counts, translation, settings, *open_pages)
    monkeypatch.setattr(candidates, "_PAGES", most)
    for n_cores in (1, 2, 3):
        with on_cores(n_cores):
            found = content_votes(*counts, translation, settings, *open_pages)
        assert stored(found) == stored(expected)


def test_transposed_and_whole_numbers_with_stored_zeros_have_the_same_candidates() -> None:
    rng = np.random.default_rng(4)
    counts_a, counts_b = (csr_array(rng.poisson(0.4, (n, 20)).astype(np.float32)) for n in (9, 7))
    same, settings = csr_array(np.eye(20, dtype=np.float32)), CandidateSettings(per_page=2)
    tags = [[bytes(rng.integers(1, 5, 20).tolist()) for _ in range(n)] for n in (9, 7)]
    expected = find_candidates(counts_a, counts_b, same, *tags, settings).toarray().tolist()
    zeros = csr_array(np.ones(counts_a.shape, np.uint8))
    zeros.data[:] = counts_a.toarray().ravel()
    for counts in (zeros, csr_array(counts_a.T).T):
        assert find_candidates(counts, counts_b, same, *tags, settings).toarray().tolist() == expected


def test_only_one_side_may_have_open_pages() -> None:
    vectors, settings = csr_array(np.eye(3)), CandidateSettings(per_page=1)
    of_first = np.array([True, False, False])
    assert stored(candidate_pattern(vectors, vectors, settings, open_a=of_first, open_b=np.zeros(3, np.bool_))) == [
        (0, 0)
    ]
    assert stored(candidate_pattern(vectors, vectors, settings, open_a=of_first)) == [(0, 0), (1, 1), (2, 2)]
    assert stored(candidate_pattern(vectors, vectors, settings, open_b=np.zeros(3, np.bool_))) == [
        (0, 0),
        (1, 1),
        (2, 2),
    ]


@pytest.mark.parametrize("marks", [np.ones(3, np.int64), np.ones(2, np.bool_)])
def test_open_pages_are_true_or_false_for_each_page(marks: np.ndarray) -> None:
    vectors = csr_array(np.eye(3))
    with pytest.raises(ShapeError, match="open_b"):
        candidate_pattern(vectors, vectors, open_b=marks)
    with pytest.raises(ShapeError, match="open_a"):
        content_votes(vectors, vectors, vectors, open_a=marks)


def test_numbers_of_the_strongest_must_be_those_of_all_pages() -> None:
    with pytest.raises(ShapeError, match="most_b"):
        strongest(csr_array(np.ones((2, 3))), most_b=np.ones(2, np.int64))
