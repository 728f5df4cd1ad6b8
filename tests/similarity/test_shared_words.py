"""Terms of two languages that stand for the same words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from twinlink.similarity.shared_words import shared_words_matrix
from twinlink.text.word_counts import count_words
from twinlink.text.words import Forms, TermTable

N_PAGES = 20


def table_of(terms: dict[str, dict[str, float]], n_pages_with: int = 1) -> TermTable:
    """Terms with the shares of the words that differ from them."""
    counts = np.zeros((N_PAGES, len(terms)), np.float32)
    counts[:n_pages_with] = 1
    found = [(word, k, share) for k, words in enumerate(terms.values()) for word, share in words.items()]
    words, places, shares = zip(*found, strict=True) if found else ((), (), ())
    return TermTable(csr_array(counts), [*terms], Forms(words, np.array(places, np.int64), np.array(shares)))


def weights(a: TermTable, b: TermTable) -> dict[tuple[str, str], float]:
    matrix = shared_words_matrix(a, b)
    assert matrix.dtype == np.float32
    assert matrix.shape == (len(a.vocabulary), len(b.vocabulary))
    found = matrix.tocoo()
    places = zip(found.row, found.col, found.data.tolist(), strict=True)
    return {(a.vocabulary[i], b.vocabulary[j]): pytest.approx(value) for i, j, value in places}


EN = {"debian": {}, "hunspel": {"hunspell": 1.0}, "rust": {}}
SK = {"debia": {"debian": 0.75, "debianu": 0.25}, "hunsp": {"hunspell": 0.5}, "rust": {}}


def test_stems_of_the_same_word_are_shared() -> None:
    """Also where the word is its own stem in one language; equal terms have no need of it."""
    expected = {("debian", "debia"): 0.75, ("hunspel", "hunsp"): 0.5}
    assert weights(table_of(EN), table_of(SK)) == expected
    assert weights(table_of(SK), table_of(EN)) == {(b, a): weight for (a, b), weight in expected.items()}


def test_words_that_two_stems_share_count_together() -> None:
    """The chance is 1/2 · 1/4 + 1/2 · 3/4."""
    a = table_of({"serv": {"server": 0.5, "servers": 0.5}})
    b = table_of({"serve": {"server": 0.25, "servers": 0.75}})
    assert weights(a, b) == {("serv", "serve"): 0.5}


def test_a_stem_that_is_no_word_is_not_that_word() -> None:
    """``ass`` stands for ``asses`` alone in one language."""
    assert weights(table_of({"ass": {"asses": 1.0}}), table_of({"as": {"ass": 1.0}})) == {}


def test_words_of_two_letters_are_not_shared() -> None:
    assert weights(table_of({"a": {"ab": 0.5, "abc": 0.5}}), table_of({"ab": {}, "abc": {}})) == {("a", "abc"): 0.5}


@pytest.mark.parametrize(("n_a", "n_b", "is_shared"), [(2, 2, True), (3, 2, False), (2, 3, False)])
def test_words_on_more_than_a_tenth_of_the_pages_are_not_shared(n_a: int, n_b: int, is_shared: bool) -> None:
    a, b = table_of({"nam": {"name": 1.0}}, n_a), table_of({"name": {}}, n_b)
    assert weights(a, b) == ({("nam", "name"): 1.0} if is_shared else {})


def test_the_same_stemmer_joins_equal_terms_alone() -> None:
    """A Latin word in Russian has its English stem."""
    pages = [["Hunspell checks, a check by hunspell"], *[[""]] * N_PAGES]
    en, sk, ru = (count_words(pages, lang) for lang in ("en", "sk", "ru"))
    assert weights(en, sk)["hunspel", "hunsp"] == 1
    assert all(a == b for a, b in weights(en, ru))


def test_no_words() -> None:
    assert shared_words_matrix(table_of({}), table_of(SK)).shape == (0, 3)
    assert shared_words_matrix(count_words([], "en"), table_of(SK)).nnz == 0
