"""Pages that were translated in part have the language of what was translated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.language.declaration import DECLARATION
from tests.language.versions import said, translated
from twinlink.language.identify import Guess
from twinlink.language.site_languages import site_languages
from twinlink.language.site_text import SiteText, read_site
from twinlink.language.translated_text import source_language, translated_texts


def site_of(pages: Sequence[Sequence[str]]) -> SiteText:
    return read_site(pages, [""] * len(pages), None, None, 0.3)


def test_source_language_is_mixed_with_all_others() -> None:
    mixed = [{"en": 60, "fr": 40}, {"en": 40, "es": 60}] * 2
    assert source_language(mixed, ["fr", "es"]) == "en"
    assert source_language([*mixed, {"fr": 99}, {"es": 50, "fr": 5}], ["fr", "es"]) == "en"


@pytest.mark.parametrize(
    "pages",
    [
        [],
        [{"en": 60, "fr": 40}] * 9,  # either may be the source
        [{"en": 60, "fr": 40}] * 8 + [{"en": 40, "es": 60}],  # a single page may be misjudged
        [{"en": 60, "fr": 40}, {"en": 40, "es": 60}, {"fr": 50, "es": 50}] * 3,
        [{"en": 60, "fr": 40}, {"en": 40, "oc": 60}] * 2,  # the site has no Occitan: its blocks are French
        [{"en": 60, "fr": 40, "es": 50}] * 4,
        [{"en": 60, "fr": 40}] * 180 + [{"en": 60, "es": 40}, {"fr": 60, "es": 40}] * 4,  # two are mixed with others
    ],
)
def test_source_language_is_not_known(pages: Sequence[dict[str, float]]) -> None:
    assert source_language(pages, ["en", "fr", "es"]) == ""


def test_pages_left_half_in_a_language_that_is_not_wanted() -> None:
    """Neither version has the originals; most of a page may be left, and some pages are not translated at all."""
    french = [translated("fr", i, 10, left) for i, left in enumerate([0] * 4 + [5] * 8 + [6] * 4)]
    spanish = [translated("es", i, 10, left) for i, left in enumerate([0] * 4 + [5] * 8)]
    english = [said("en", i, 10) for i in range(20, 40)]
    pages = [*french, *spanish, *english]
    found, _ = site_languages(pages, [""] * len(pages), ["fr", "es"])
    assert found == ["fr"] * len(french) + ["es"] * len(spanish) + ["en"] * len(english)


@pytest.mark.parametrize("wanted", [["en", "fr"], []])
def test_what_the_page_of_the_source_has_too_was_left(wanted: list[str]) -> None:
    """Only these two languages are mixed: nothing but the originals tells which was left."""
    french = [translated("fr", i, 10, left) for i, left in enumerate([0] * 4 + [7] * 12)]
    english = [said("en", i, 10) for i in range(16)]
    pages = [*french, *english]
    found, _ = site_languages(pages, [""] * len(pages), wanted)
    assert found == ["fr"] * len(french) + ["en"] * len(english)


def test_what_has_lost_its_original_was_left_all_the_same() -> None:
    """More pages turn out to be French than English, so what was left is English, even if only this page has it."""
    french = [translated("fr", i, 10, 5) for i in range(5)]
    lost = [[*said("fr", 0, 5), *said("en", 5, 5)[1:]]]
    pages = [*french, *lost, *(said("en", i, 10) for i in range(5))]
    guesses = [*[Guess("en", 0.5, 0.5)] * 5, Guess("fr", 0.5, 0.5), *[Guess("en", 0.9, 0.9)] * 5]
    found = translated_texts(site_of(pages), guesses, {"en", "fr"})
    assert sorted(found) == [1, 2, 3, 4]
    assert {text.guess.language for text in found.values()} == {"fr"}


def test_half_of_a_page_in_a_language_that_is_not_wanted() -> None:
    """Only the French version has pages that were left in part, so nothing shows which language is the source."""
    french = [translated("fr", i, 10, left) for i, left in enumerate([0] * 4 + [6] * 12)]
    russian = [said("ru", i, 10) for i in range(16)]
    english = [said("en", i, 10) for i in range(20, 40)]
    pages = [*french, *russian, *english]
    found, _ = site_languages(pages, [""] * len(pages), ["fr", "ru"])
    assert found == ["fr"] * len(french) + ["ru"] * len(russian) + ["en"] * len(english)


def test_pages_without_a_doubt_are_not_looked_at() -> None:
    pages = [translated("fr", i, 10, 5) for i in range(6)] + [said("en", i, 10) for i in range(6)]
    sure, unsure = Guess("en", 0.9, 0.9), Guess("en", 0.5, 0.5)
    found = translated_texts(site_of(pages), [sure, *[unsure] * 5, *[sure] * 6], {"en", "fr"}, known={1})
    assert sorted(found) == [2, 3, 4, 5]
    assert {text.guess.language for text in found.values()} == {"fr"}
    assert found[2].blocks == said("fr", 2, 10)[:5]


def test_relative_of_a_wanted_language_may_be_either() -> None:
    pages = [translated("es", i, 10, 5) for i in range(6)]
    found = translated_texts(site_of(pages), [Guess("gl", 0.5, 0.5)] * 6, {"es", "fr"})
    assert found == {}


def test_another_script_than_latin_decides_itself() -> None:
    """Programs are Latin in every language, and often the only blocks that no other page has."""
    pages = [[*said("ru", i // 2, 4), *said("en", i, 6)] for i in range(8)]
    assert translated_texts(site_of(pages), [Guess("ru", 0.5, 0.5)] * 8, {"en", "ru"}) == {}


def test_a_language_that_cld2_does_not_know_is_no_translation() -> None:
    """CLD2 names English for Navajo, with few of its letter sequences."""
    words = DECLARATION["nv"].split()
    pages = [[" ".join(words[20 * i : 20 * i + 40])] for i in range(4)]
    assert translated_texts(site_of(pages), [Guess("es", 0.3, 0.0, 0.1)] * 4, {"en"}) == {}


def test_few_words_are_no_translation() -> None:
    pages = [[*said("fr", i, 1), *said("en", 0, 4)] for i in range(8)]
    assert translated_texts(site_of(pages), [Guess("en", 0.5, 0.5)] * 8, {"fr"}) == {}


def test_judged_words_are_those_of_the_text() -> None:
    pages = [["Über Word l'été", "one Two two"], ["der die", "das Word"], []]
    site = site_of(pages)
    assert site.with_text({}) is site
    judged = site.with_text({0: ["one Two two"], 1: []})
    words = [dict(zip(row.indices, row.data, strict=True)) for row in (judged.judged[[i]] for i in range(3))]
    number = {word: column for column, word in enumerate(site.vocabulary)}
    assert words == [{number["one"]: 1, number["two"]: 2}, {}, {}]
    assert judged.scripts == [{"LATIN": 3.0}, {}, {}]
    np.testing.assert_array_equal(judged.words.toarray(), site.words.toarray())
    all_text = site.with_text(dict(enumerate(pages)))
    np.testing.assert_array_equal(all_text.judged.toarray(), site.words.toarray())


def test_unique_blocks() -> None:
    site = site_of([["a", "b", "b"], ["b", "c"], ["d", "d"], []])
    assert [site.unique(page) for page in range(4)] == [["a"], ["c"], ["d", "d"], []]
