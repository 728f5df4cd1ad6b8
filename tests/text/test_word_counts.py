"""Counting the words of all pages at once against cutting each page by itself."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.text.term_twin import count_terms
from twinlink.errors import ShapeError
from twinlink.text import cutting
from twinlink.text.stems import stem, stems
from twinlink.text.word_counts import count_words, with_names
from twinlink.text.words import tokenize

PIECES = [
    "servers", "server's", "L'été", "d’Apache", "行政長官", "立法會1 234 567元", "2026年3月12日", "12 March 2026",
    "le 12 mars 2026", "1 234,50", "1\u202f234", "1,234.50", "20 km", "120萬", "info@example.org", "サーバーの設定",
    "หนังสือ๒๓", "қазақстанның", "서버를", "ＡＢＣ１２", "x" * 81, "7" * 81, "max_size", "٣٤", "ﬁle", "İstanbul",
    "\u0301", "1.2 million",
    "\n", " ", ", ", "-", "$5 000 000",
]  # fmt: skip
blocks = st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join)
pages_of_blocks = st.lists(st.lists(blocks, max_size=4), max_size=4)


@given(
    pages_of_blocks,
    st.sampled_from(["en", "fr", "zh-Hant", "ja", "th", "ru", "kk", "ko", "de"]),
    st.booleans(),
    st.sampled_from([0, cutting.FEW_CHARACTERS]),
)
def test_equals_cutting_each_page(pages: list[list[str]], lang: str, has_names: bool, few: int) -> None:
    names = [["img:a.png", "out:x.org"][: len(page)] for page in pages] if has_names else None
    with patch.multiple(cutting, FEW_CHARACTERS=few, FEW_WITHOUT_CODE=few, code_runs=lambda: few == 0):
        table = count_words(pages, lang)
    if names is not None:
        table = with_names(table, names, lang)
    more = names or [[]] * len(pages)
    expected = count_terms(
        [[*tokenize("\n".join(page), lang), *own] for page, own in zip(pages, more, strict=True)], lang
    )
    assert table.vocabulary == expected.vocabulary
    assert table.counts.dtype == np.float32
    assert table.counts.toarray().tolist() == expected.counts.toarray().tolist()


def shares_of(pages: list[list[str]], lang: str) -> dict[tuple[str, str], float]:
    """Words with their stems, and their shares."""
    table = count_words(pages, lang)
    words, terms, shares = table.forms
    names = [table.vocabulary[k] for k in terms.tolist()]
    return {(word, name): share for word, name, share in zip(words, names, shares.tolist(), strict=True)}


def test_words_that_differ_from_their_stems_are_known_with_their_shares() -> None:
    """A share is one of all occurrences; the rest is the stem itself. Numbers, names and other letters have none."""
    pages = [["Servers and servers"], ["a server", "servers", "2.0 cat@dog.org"], ["Servers and servers"]]
    assert shares_of(pages, "en") == {("servers", "server"): pytest.approx(5 / 6)}
    assert shares_of([["Debian v Debianu, debianu, abiword"]], "sk") == {
        ("debian", "debia"): pytest.approx(1 / 3),
        ("debianu", "debia"): pytest.approx(2 / 3),
        ("abiword", "abiwo"): 1,
    }
    assert shares_of([["серверы servers"]], "ru") == {("servers", "server"): 1}
    assert shares_of([["servers"]], "zh-Hant") == {("servers", "server"): 1}
    assert shares_of([["servers"]], "vi") == {}


def test_names_move_the_stems_of_words_but_do_not_change_their_shares() -> None:
    table = count_words([["Servers and server"], []], "en")
    named = with_names(table, [["img:a.png"], ["out:x.org", "zebra"]], "en")
    words, terms, shares = named.forms
    assert [named.vocabulary[k] for k in terms.tolist()] == ["server"]
    assert ([*words], shares.tolist()) == ([*table.forms.words], table.forms.shares.tolist()) == (["servers"], [0.5])
    assert with_names(table, [[], []], "en") is table


@given(pages_of_blocks, st.sampled_from(["en", "fr", "zh-Hant", "kk"]))
def test_shares_of_a_stem_are_of_its_words(pages: list[list[str]], lang: str) -> None:
    occurrences = Counter(word for page in pages for word in tokenize("\n".join(page), lang))
    of_stem = Counter(stem(word, lang) for word in occurrences.elements())
    for (word, name), share in shares_of(pages, lang).items():
        assert stem(word, lang) == name != word
        assert share == pytest.approx(occurrences[word] / of_stem[name])


def test_no_pages_and_no_words() -> None:
    assert count_words([], "en").counts.shape == (0, 0)
    assert count_words([["…"], []], "zh-Hant").counts.shape == (2, 0)


def test_names_of_other_pages_are_refused() -> None:
    with pytest.raises(ShapeError, match="2 for 1 pages"):
        with_names(count_words([["a"]], "en"), [["x"], ["y"]], "en")


def test_the_longest_head_of_a_lexicon_is_one_word() -> None:
    heads = frozenset({"网页长官", "网页长官你好", "你好"})
    assert count_words([["網頁長官你好"], ["網頁長官"]], "zh-Hant", heads=heads).vocabulary == [
        "网页长官",
        "网页长官你好",
    ]
    assert count_words([["網頁長官"]], "zh-Hant").vocabulary == ["网页", "长官"]


def test_values_are_taken_from_lines_with_a_number() -> None:
    """As `tokenize` does, also where a text has several lines."""
    texts = ["x5km\n1", "5km\nx20km", "see a5km\n2026-03-12\n\nmail x7km@example.org"]
    found = [set(count_words([[text]], "en").vocabulary) for text in texts]
    assert found == [set(stems(tokenize(text, "en"), "en")) for text in texts]
    assert found[0] == {"1", "x5km"}
