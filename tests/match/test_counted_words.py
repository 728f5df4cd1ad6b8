"""Words of a language are counted once for all languages that it is matched with, if its texts are the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.sparse import csr_array

from twinlink.config import MatchSettings
from twinlink.match import counted_words
from twinlink.match.counted_words import CountedWords, Texts
from twinlink.match.evidence import Side, read_words
from twinlink.similarity.lexicon_files import Lexicon, LexiconEntry
from twinlink.system import side_by_side
from twinlink.system.side_by_side import on_cores

EN = ("The red house", "A green tree of 2024")
MENU = tuple(f"Name{k}" for k in range(8))


def side(lang: str, *texts: str) -> Side:
    n = len(texts)
    urls = [f"http://a.example/{lang}/{k}" for k in range(n)]
    blocks = [text.split("\n") for text in texts]
    return Side(lang, np.arange(n), urls, blocks, [b""] * n, csr_array((n, n), dtype=bool))


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The language and the cut of each count."""
    seen: list[tuple[str, str]] = []
    really = counted_words.count_words

    def count_words(pages: Sequence[Sequence[str]], lang: str, heads: frozenset[str], cut: str) -> object:
        seen.append((lang, cut))
        return really(pages, lang, heads, cut)  # type: ignore[arg-type]

    monkeypatch.setattr(counted_words, "count_words", count_words)
    return seen


def test_a_language_is_counted_once_for_all_others(counts: list[tuple[str, str]]) -> None:
    english, words = side("en", *EN), CountedWords()
    alone = [read_words(english, side(lang, "a b"), [], MatchSettings()) for lang in ("fr", "de")]
    counts.clear()
    found = [read_words(english, side(lang, "a b"), [], MatchSettings(), words) for lang in ("fr", "de")]
    assert counts == [("en", "whole"), ("fr", "whole"), ("de", "whole")]
    for each, expected in zip(found, alone, strict=True):
        assert each.a.vocabulary == expected.a.vocabulary
        assert each.a.counts.toarray().tolist() == expected.a.counts.toarray().tolist()
        assert each.translation.toarray().tolist() == expected.translation.toarray().tolist()


def test_beside_chinese_and_japanese_names_are_cut_in_another_way(counts: list[tuple[str, str]]) -> None:
    english, words = side("en", "The page 網頁長官", "A tree"), CountedWords()
    found = [read_words(english, side(lang, "a b"), [], MatchSettings(), words) for lang in ("fr", "ja", "zh-Hant")]
    assert [cut for lang, cut in counts if lang == "en"] == ["whole", "pairs", "dictionary"]
    cut = [["網頁長官"], ["網頁", "長官", "頁長"], ["网页", "长官"]]
    assert [[word for word in each.a.vocabulary if not word.isascii()] for each in found] == cut


def test_words_of_another_lexicon_are_counted_anew(counts: list[tuple[str, str]]) -> None:
    chinese, words = side("zh-Hans", "网页长官"), CountedWords()
    lexicon = Lexicon((LexiconEntry("webmaster", "网页长官"),))
    found = [read_words(side("en", "a"), chinese, given, MatchSettings(), words) for given in ([], [lexicon])]
    assert [each.b.vocabulary for each in found] == [["网页", "长官"], ["网页长官"]]


def test_what_is_left_beside_one_language_is_not_taken_for_all(counts: list[tuple[str, str]]) -> None:
    """Beside a language with the same menu, the menu is left out; beside one without, it is not."""
    listed = [f"{title}\n" + "\n".join(MENU) for title in MENU]
    english, words = side("en", *listed), CountedWords()
    bare = side("de", *(f"a{k} b{k}" for k in range(8)))
    for other in (side("fr", *listed), bare, side("es", *listed), bare):
        found = read_words(english, other, [], MatchSettings(), words).a.counts.sum(axis=1).tolist()
        assert found == [9 if other is bare else 1] * 8
    assert [lang for lang, _ in counts].count("en") == 3


def test_many_are_counted_on_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "FORK_SECONDS", 1e-9)
    texts = [Texts(lang, [[f"{lang} word"]], frozenset(), "whole", is_all=True) for lang in ("en", "fr", "de")]
    words, forks = CountedWords(), []
    copy = side_by_side._Copy
    monkeypatch.setattr(side_by_side, "_Copy", lambda *given: forks.append(given[1]) or copy(*given))
    with on_cores(2):
        words.count([*texts, *texts, texts[0]._replace(blocks=[], is_all=False)])
        assert forks == [1]  # a copy that begins with the second task
        tables = words.tables(texts)
    assert forks == [1]
    assert [table.vocabulary for table in tables] == [["en", "word"], ["fr", "word"], ["de", "word"]]
