"""The words of two sides: those of all blocks, with what lexicons and shared tokens know."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from msgspec.structs import replace

from twinlink.config import Config
from twinlink.match.evidence import Side, as_log_odds, as_scores, read_words
from twinlink.similarity.lexicon_files import Lexicon, LexiconEntry


def side(lang, *texts):
    n = len(texts)
    links = sp.csr_array((n, n), dtype=bool)
    urls = [f"http://a.example/{k}" for k in range(n)]
    return Side(lang, np.arange(n), urls, [text.split("\n") for text in texts], [b""] * n, links)


EN = ("the red house 2024 httpd", "green tree\nred", "")
FR = ("la maison rouge 2024 httpd", "arbre vert", "")
LEXICON = Lexicon((LexiconEntry("house", "maison"), LexiconEntry("tree", "arbre", 0.5)))


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
    words = read_words(
        side("en", *EN), side("fr", *FR), [LEXICON, Lexicon((LexiconEntry("red", "rouge"),))], Config().match
    )
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


@pytest.mark.parametrize(("shared", "weights"), [("all", {0.5}), ("numbers", set())])
def test_names_with_different_stems_are_shared(shared, weights):
    settings = Config().override({"match.internal.shared_tokens": shared}).match
    others = [""] * 20
    words = read_words(side("en", "hunspell", *others), side("sk", "hunspell", "hunspellu", *others), [], settings)
    assert set(translations(words).values()) == weights
    assert not [*words.a.forms.words, *words.b.forms.words]


def test_sides_without_words_or_pages():
    words = read_words(side("en", ""), side("fr"), [LEXICON], Config().match)
    assert words.a.counts.shape == (1, 0)
    assert words.b.counts.shape == (0, 0)
    assert words.translation.shape == (0, 0)


NAMES = (("img:a.png",), (), (), ())


@pytest.mark.parametrize(("shared", "is_known"), [("all", True), ("numbers", False)])
def test_names_are_words_where_all_tokens_may_be_shared(shared, is_known):
    """Both sides have them: a file on one of four pages of each."""
    sides = [replace(side(lang, *"abcd"), names=NAMES) for lang in ("en", "fr")]
    settings = Config().override({"match.internal.shared_tokens": shared}).match
    words = read_words(*sides, [], settings)
    assert (("img:a.png", "img:a.png") in translations(words)) == is_known
    assert [("img:a.png" in terms.vocabulary) for terms in (words.a, words.b)] == [is_known] * 2


@pytest.mark.parametrize("known", [0, 1])
def test_names_of_one_side_alone_are_no_words(known):
    sides = [side(lang, *"abcd") for lang in ("en", "fr")]
    sides[known] = replace(sides[known], names=NAMES)
    words = read_words(*sides, [], Config().match)
    assert not {"img:a.png"} & {*words.a.vocabulary, *words.b.vocabulary}


def test_scores_are_probabilities_drawn_out_eight_times():
    """ln 3 is the log odds of 3/4, and scores of 0 and 1 stay finite."""
    log_odds = 8 * np.log([1 / 3, 1, 3])
    assert as_scores(log_odds) == pytest.approx([1 / 4, 1 / 2, 3 / 4])
    assert as_log_odds(np.array([1 / 4, 1 / 2, 3 / 4])) == pytest.approx(log_odds)
    least, most = as_log_odds(np.array([0, 1], np.float32))
    assert -np.inf < least < -100 < 100 < most < np.inf


@pytest.mark.parametrize(
    ("langs", "words", "loads"),
    [
        (("en", "fr"), {"簡體中文"}, False),
        (("en", "ja"), {"簡體", "體中", "中文"}, False),
        (("en", "zh-Hant"), {"简体中文"}, True),
        (("zh-Hans", "fr"), {"简体中文"}, True),
    ],
)
def test_names_in_chinese_are_cut_alike_and_need_no_dictionary_elsewhere(langs, words, loads, monkeypatch):
    monkeypatch.delitem(sys.modules, "rjieba", raising=False)
    found = read_words(*(side(lang, "簡體中文") for lang in langs), [], Config().match)
    assert set(found.a.vocabulary) == set(found.b.vocabulary) == words
    assert ("rjieba" in sys.modules) == loads
