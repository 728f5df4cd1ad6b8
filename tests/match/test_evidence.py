"""The words of two sides: those of all blocks, with what lexicons and shared tokens know."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from twinlink.config import Config
from twinlink.match.evidence import Side, read_words
from twinlink.similarity.lexicon import Entry, Lexicon


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
