"""S_struct against the textbook recurrence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import process
from scipy.sparse import csr_array

from twinlink.errors import ConfigError, ShapeError
from twinlink.similarity import structure
from twinlink.similarity.structure import structural_similarity
from twinlink.system.side_by_side import on_cores

TAGS = st.lists(st.binary(max_size=12).map(lambda tags: bytes(code % 4 for code in tags)), min_size=1, max_size=4)


def longest_common(x: bytes, y: bytes) -> int:
    """Longest common subsequence, O(nm)."""
    table = np.zeros((len(x) + 1, len(y) + 1), int)
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            table[i + 1, j + 1] = table[i, j] + 1 if a == b else max(table[i, j + 1], table[i + 1, j])
    return int(table[-1, -1])


@given(TAGS, TAGS, st.randoms(use_true_random=False))
def test_equals_the_plain_recurrence(tags_a: list[bytes], tags_b: list[bytes], random: object) -> None:
    pattern = csr_array(np.array([[random.random() < 0.7 for _ in tags_b] for _ in tags_a]))  # type: ignore[attr-defined]
    indel = structural_similarity(tags_a, tags_b, pattern, "indel")
    lcs_max = structural_similarity(tags_a, tags_b, pattern, "lcs_max")
    for k, (i, j) in enumerate(zip(*pattern.nonzero(), strict=True)):
        n, m, common = len(tags_a[i]), len(tags_b[j]), longest_common(tags_a[i], tags_b[j])
        assert indel.data[k] == pytest.approx(2 * common / (n + m) if n + m else 1)
        assert lcs_max.data[k] == pytest.approx(common / max(n, m) if n + m else 1)


def test_a_long_page_is_cut_once_for_all_its_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr(structure, "MAX_TAGS", 3)
    compare = process.cpdist
    monkeypatch.setattr(
        process, "cpdist", lambda *sides, **options: compared.append(sides) or compare(*sides, **options)
    )
    pages = [b"abcdef", b"abcd"]
    structural_similarity(pages, pages, csr_array(np.ones((2, 2))))
    ((side_a, side_b),) = compared
    assert side_a == [b"abc"] * 4
    assert len({id(page) for page in side_a}) == len({id(page) for page in side_b}) == 2


@pytest.mark.parametrize("n_cores", [1, 3])
def test_blocks_of_pairs_on_any_number_of_cores(n_cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    pages = [bytes(random.integers(0, 4, n).tolist()) for n in range(30)]
    pattern = csr_array(random.random((30, 30)) < 0.3)
    expected = structural_similarity(pages, pages, pattern)
    monkeypatch.setattr(structure, "_PAIRS", 7)
    monkeypatch.setattr(structure, "_FEW", 2)
    with on_cores(n_cores):
        found = structural_similarity(pages, pages, pattern)
    assert found.data.tolist() == expected.data.tolist()


def test_ten_and_five_equal_tags() -> None:
    """The two normalisers' difference, by hand: 2·5/15 and 5/10."""
    pair = csr_array([[True]])
    assert structural_similarity([b"a" * 10], [b"a" * 5], pair, "indel").data[0] == pytest.approx(2 / 3)
    assert structural_similarity([b"a" * 10], [b"a" * 5], pair, "lcs_max").data[0] == 0.5


def test_only_candidates_are_compared_and_zeros_are_stored() -> None:
    pattern = csr_array([[True, False, True], [False, False, False]])
    found = structural_similarity([b"ab", b"x"], [b"cd", b"ab", b"ab"], pattern)
    assert found.indices.tolist() == [0, 2]
    assert found.indptr.tolist() == [0, 2, 2]
    assert found.data.tolist() == [0.0, 1.0]
    assert found.dtype == np.float32


def test_values_of_the_pattern_do_not_matter() -> None:
    pattern = csr_array((np.zeros(1), ([0], [0])), shape=(1, 1))
    assert structural_similarity([b"ab"], [b"ab"], pattern).data.tolist() == [1.0]


def test_very_long_pages_are_compared_by_their_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "MAX_TAGS", 3)
    assert structural_similarity([b"abcx"], [b"abcyyyyy"], csr_array([[True]])).data.tolist() == [1.0]


def test_pattern_must_fit() -> None:
    with pytest.raises(ShapeError, match="does not fit 1 and 2 pages"):
        structural_similarity([b""], [b"", b""], csr_array((2, 2), dtype=bool))


def test_a_transposed_pattern_is_read_by_rows() -> None:
    tags_a, tags_b = [b"abc", b"abcd", b"a"], [b"abc", b"bd"]
    pattern = csr_array(np.array([[1, 1], [0, 1], [1, 0]]))
    there = structural_similarity(tags_a, tags_b, pattern)
    back = structural_similarity(tags_b, tags_a, pattern.T)
    assert back.toarray().T.tolist() == there.toarray().tolist()


def test_unknown_normalisers_are_refused() -> None:
    with pytest.raises(ConfigError, match="normaliser: expected one of indel, lcs_max, got 'dice'"):
        structural_similarity([b"a"], [b"a"], csr_array([[True]]), "dice")  # type: ignore[arg-type]
