"""The language of a sentence by the words of both sides."""

from __future__ import annotations

import numpy as np
import pytest

from twinlink.align.side_words import SideWords
from twinlink.align.tokens import ANY_LANGUAGE
from twinlink.align.words.model import WordModel, WordSums

ENGLISH = "the server reads the file when it starts and the directive is set in the main configuration of the server"
FRENCH = "le serveur lit le fichier quand il démarre et la directive est fixée dans la configuration de le serveur"


def sums(a: str, b: str, times: int = 10) -> WordSums:
    words = [[ANY_LANGUAGE.key(word, "") for word in ANY_LANGUAGE.split(text, "")] for text in (a, b)]
    vocabulary = [list(dict.fromkeys(side)) for side in words]
    seen = [
        np.array([times * side.count(word) for word in known], float)
        for side, known in zip(words, vocabulary, strict=True)
    ]
    return WordSums(*vocabulary, *seen, np.zeros(0, np.int64), np.zeros(0))


def model(*parts: WordSums) -> WordModel:
    made = WordModel()
    for part in parts:
        made.add(part)
    return made


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The server reads the main file", "en"),
        ("Le serveur lit la directive", "fr"),
        ("mod_cache httpd 2.4", ""),  # names that no side has
        ("directive configuration", ""),  # both sides have them
        ("", ""),
    ],
)
def test_language_by_the_words_of_the_sides(text, language):
    assert SideWords(model(sums(ENGLISH, FRENCH)), ("en", "fr"), ANY_LANGUAGE).language(text) == language


def test_a_side_that_was_left_half_untranslated_still_has_its_own_words():
    half = model(sums(ENGLISH, FRENCH), sums(ENGLISH, ENGLISH, times=4))
    words = SideWords(half, ("en", "fr"), ANY_LANGUAGE)
    assert words.language("Le serveur lit le fichier") == "fr"
    assert words.odds("The server reads the file when it starts") > 0


def test_the_sides_can_be_swapped():
    words = SideWords(model(sums(ENGLISH, FRENCH)), ("en", "fr"), ANY_LANGUAGE)
    swapped = SideWords(model(sums(FRENCH, ENGLISH)), ("fr", "en"), ANY_LANGUAGE)
    for text in ("The server starts", "le fichier", "configuration", "nothing known"):
        assert words.odds(text) == pytest.approx(-swapped.odds(text))


def test_odds_are_those_of_the_counts():
    words = SideWords(model(sums("yes yes yes no", "oui no no no", times=1)), ("en", "fr"), ANY_LANGUAGE)
    assert words.odds("yes") == pytest.approx(np.log(4 / 1))  # 3 of 4 words beside 0 of 4, one added to each
    assert words.odds("no") == pytest.approx(np.log(2 / 4))


def test_unknown_words_give_no_evidence():
    assert SideWords(WordModel(), ("en", "fr"), ANY_LANGUAGE).language("The server") == ""


def test_a_word_of_the_longer_side_alone_never_counts_for_the_other():
    """As between English and Thai, which is cut into many more tokens than English has words."""
    thai = model(sums("the school opens at nine", "โรงเรียนเปิดเวลาเก้าโมงเช้าทุกวัน", times=1))
    words = SideWords(thai, ("en", "th"), ANY_LANGUAGE)
    assert words.odds("the") > 0
    assert words.odds("จ") == 0  # no side has it
    assert words.odds("ช") < 0
    assert words.language("โรงเรียนเปิดเวลาเก้าโมงเช้าทุกวัน") == "th"
