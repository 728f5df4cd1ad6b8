"""What is known of two sides: values carried from pattern to pattern, positions, words."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from twinlink.config import Config
from twinlink.match.evidence import Side, carry_over, positions, read_words, with_values
from twinlink.similarity.lexicon import Entry, Lexicon


def made_pattern(rng, shape):
    return sp.csr_array(rng.random(shape) < rng.random())


def pairs_of(pattern):
    entries = pattern.tocoo()
    return list(zip(entries.row.tolist(), entries.col.tolist(), strict=True))


@given(st.integers(0, 2**32 - 1), st.integers(0, 6), st.integers(0, 6))
def test_carry_over_equals_a_dictionary(seed, n_a, n_b):
    rng = np.random.default_rng(seed)
    old, new = made_pattern(rng, (n_a, n_b)), made_pattern(rng, (n_a, n_b))
    values = rng.integers(1, 100, old.nnz).astype(float)
    known = dict(zip(pairs_of(old), values.tolist(), strict=True))
    asked = []

    def measure(rest):
        asked.extend(pairs_of(rest))
        assert rest.shape == new.shape
        return np.array([-1.0 - row * 10 - column for row, column in pairs_of(rest)])

    found = carry_over(old, values, new, measure)
    assert found.tolist() == [known.get(pair, -1.0 - pair[0] * 10 - pair[1]) for pair in pairs_of(new)]
    assert asked == [pair for pair in pairs_of(new) if pair not in known]


def test_nothing_is_measured_where_all_is_known():
    pattern = sp.csr_array(np.eye(3, dtype=bool))

    def refuse(rest):
        raise AssertionError(rest)

    assert carry_over(pattern, np.array([1.0, 2.0, 3.0]), pattern, refuse).tolist() == [1, 2, 3]


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6))
def test_positions_equal_a_dictionary(seed, n_a, n_b):
    rng = np.random.default_rng(seed)
    pattern = made_pattern(rng, (n_a, n_b))
    place = {pair: k for k, pair in enumerate(pairs_of(pattern))}
    asked = [pairs_of(pattern)[k] for k in rng.permutation(pattern.nnz)]
    rows, columns = np.array(asked, int).reshape(-1, 2).T
    assert positions(pattern, rows, columns).tolist() == [place[pair] for pair in asked]


def test_positions_in_a_large_pattern_do_not_overflow():
    """Row times columns is beyond 32 bits."""
    side = 100_000
    pattern = sp.csr_array((np.ones(2, bool), ([3, side - 1], [7, side - 1])), shape=(side, side))
    found = positions(pattern, np.array([side - 1, 3], np.int32), np.array([side - 1, 7], np.int32))
    assert found.tolist() == [1, 0]
    assert carry_over(pattern, np.array([0.5, 0.25]), pattern, lambda rest: np.zeros(rest.nnz)).tolist() == [0.5, 0.25]


def test_with_values_keeps_zeros_as_candidates():
    pattern = sp.csr_array(np.array([[True, False], [True, True]]))
    found = with_values(pattern, np.array([0.0, 0.5, 0.0]))
    assert pairs_of(found) == pairs_of(pattern)
    assert found.dtype == np.float32
    assert found.data.tolist() == [0, 0.5, 0]


def side(lang, *texts):
    n = len(texts)
    links = sp.csr_array((n, n), dtype=bool)
    urls = [f"http://a.example/{k}" for k in range(n)]
    return Side(lang, np.arange(n), urls, [text.split("\n") for text in texts], [b""] * n, links)


EN = ("the red house 2024 httpd", "green tree\nred", "")
FR = ("la maison rouge 2024 httpd", "arbre vert", "")
LEXICON = Lexicon((Entry("house", "maison"), Entry("tree", "arbre", 0.5)))


def translations(words):
    coo = words.translation.tocoo()
    return {
        (words.a.vocabulary[s], words.b.vocabulary[t]): float(weight)
        for s, t, weight in zip(coo.row, coo.col, coo.data, strict=True)
    }


def test_words_of_all_blocks_are_counted_and_shared_ones_are_known():
    words = read_words(side("en", *EN), side("fr", *FR), [], Config().match)
    red = words.a.vocabulary.index("red")
    assert words.a.counts[:, [red]].toarray().ravel().tolist() == [1, 1, 0]
    assert words.b.counts.shape[0] == 3
    assert translations(words) == {("2024", "2024"): 1, ("httpd", "httpd"): 1}


def test_lexicons_come_on_top_of_shared_words():
    words = read_words(side("en", *EN), side("fr", *FR), [LEXICON, Lexicon((Entry("red", "rouge"),))], Config().match)
    known = translations(words)
    assert known == {
        ("2024", "2024"): 1,
        ("httpd", "httpd"): 1,
        ("hous", "maison"): 1,
        ("tree", "arbre"): 0.5,
        ("red", "roug"): 1,
    }


@pytest.mark.parametrize(("shared", "known"), [("numbers", {("2024", "2024")}), ("none", set())])
def test_shared_words_can_be_left_out(shared, known):
    settings = Config().override({"match.internal.shared_tokens": shared}).match
    assert set(translations(read_words(side("en", *EN), side("fr", *FR), [], settings))) == known


def test_sides_without_words_or_pages():
    words = read_words(side("en", ""), side("fr"), [LEXICON], Config().match)
    assert words.a.counts.shape == (1, 0)
    assert words.b.counts.shape == (0, 0)
    assert words.translation.shape == (0, 0)
