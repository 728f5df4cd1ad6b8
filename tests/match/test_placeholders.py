"""Placeholders are told from short pages by the sentence that only they have."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import twinlink as tl
from tests.made_sites import page, write_pages
from twinlink.match.placeholders import LEAST_PAGES, find_placeholders, placeholders_of, without_placeholders
from twinlink.match.sides import Group
from twinlink.text.page_texts import page_texts

MENU = ["Home", "Search this site", "All rights reserved by the office"]
NOTE = "This page is not available in your language yet."


def translated(k: int, lang: str = "en") -> list[str]:
    return [*MENU, f"Title {k} in {lang}", *(f"Sentence {n} of page {k} in {lang} is long enough." for n in range(12))]


def note(k: int, text: str = NOTE) -> list[str]:
    return [*MENU, f"Title {k}", text, "See also", f"Name {k + 1}", f"Name {k + 2}"]


def marked(pages: Sequence[Sequence[str]]) -> list[int]:
    return [int(place) for place in placeholders_of(page_texts(pages)).marks.nonzero()[0]]


def test_pages_with_a_note_and_no_text_are_placeholders() -> None:
    pages = [*map(translated, range(10)), *map(note, range(10, 30))]
    assert marked(pages) == list(range(10, 30))
    assert placeholders_of(page_texts(pages)).text == NOTE


@pytest.mark.parametrize("n", [0, 1, LEAST_PAGES - 1])
def test_a_few_short_pages_are_none(n: int) -> None:
    assert not marked([*map(translated, range(10)), *map(note, range(10, 10 + n))])


def test_a_note_above_the_text_in_another_language_makes_no_placeholder() -> None:
    assert not marked([*map(translated, range(10)), *([NOTE, *translated(k)] for k in range(10, 30))])


def test_short_pages_without_a_sentence_of_their_own_are_none() -> None:
    assert not marked([*map(translated, range(10)), *(note(k, f"Card number {k} of the shop") for k in range(10, 30))])


def test_a_sentence_of_half_of_the_long_pages_is_none_of_placeholders() -> None:
    long = [[*translated(k), NOTE] if k % 2 else translated(k) for k in range(20)]
    assert not marked([*long, *map(note, range(20, 30))])


def test_a_site_of_short_pages_has_none() -> None:
    assert not marked(list(map(note, range(30))))


def group(lang: str, rows: range) -> Group:
    return Group(lang, lang, np.arange(rows.start, rows.stop))


def test_short_pages_of_both_languages_are_pairs() -> None:
    both = [*map(translated, range(10)), *map(note, range(10, 30))]
    texts = page_texts(both + both)
    found = find_placeholders([group("en", range(30)), group("de", range(30, 60))], texts)
    assert [int(each.marks.sum()) for each in found] == [0, 0]


def test_small_pages_of_one_language_are_pairs_where_another_has_as_many_without_a_sentence_of_their_own() -> None:
    """Results that differ in a name: in one language they have a sentence that its long pages have not."""
    long, short = [*map(translated, range(10))], [*map(note, range(10, 30))]
    others = [note(k, f"Your language is number {k} of all that we know") for k in range(10, 30)]
    texts = page_texts([*long, *short, *long, *others])
    groups = [group("en", range(30)), group("de", range(30, 60))]
    assert [int(placeholders_of(texts.of_pages(each.rows)).marks.sum()) for each in groups] == [20, 0]
    assert [int(each.marks.sum()) for each in find_placeholders(groups, texts)] == [0, 0]


@pytest.mark.parametrize(("n_long", "expected"), [(19, 0), (20, 20)])
def test_a_language_has_at_least_as_many_pages_as_stand_for_them(n_long: int, expected: int) -> None:
    part = [*map(translated, range(10)), *map(note, range(10, 30))]
    texts = page_texts([*part, *map(translated, range(n_long))])
    found = find_placeholders([group("de", range(30)), group("en", range(30, 30 + n_long))], texts)
    assert [int(each.marks.sum()) for each in found] == [expected, 0]


def test_two_of_three_languages_may_have_them() -> None:
    full, part = list(map(translated, range(30))), [*map(translated, range(10)), *map(note, range(10, 30))]
    groups = [group("en", range(30)), group("de", range(30, 60)), group("fr", range(60, 90))]
    kept, texts = without_placeholders(groups, page_texts(full + part + part))
    assert [len(each.rows) for each in kept] == [30, 10, 10]
    assert texts == dict.fromkeys([*range(40, 60), *range(70, 90)], NOTE)


def test_no_language_and_no_page() -> None:
    assert without_placeholders([], page_texts([])) == ([], {})
    assert not marked([])


def test_placeholders_of_a_site_are_rejected_with_their_text(tmp_path: Path) -> None:
    english = "The committee met on {k} occasions and discussed report {k} about the harbour and the schools. "
    french = "Le comité s'est réuni {k} fois et a examiné le rapport {k} sur le port et les écoles. "
    missing = "Cette page n'est pas encore disponible dans votre langue, veuillez lire la version anglaise."
    pages = {f"en/{k}.html": page(english.format(k=k) * 8) for k in range(20)}
    pages |= {f"fr/{k}.html": page(french.format(k=k) * 8 if k < 12 else missing) for k in range(20)}
    site = write_pages(tmp_path / "site", pages)
    run = tl.mine(site, out=tmp_path / "run", langs="en,fr", base_url="http://a.example.org")
    assert len(run.pairs) == 12
    rejects = run.rejects.set_index("url").loc[[f"http://a.example.org/fr/{k}.html" for k in range(12, 20)]]
    assert set(rejects["reason"]) == {"placeholder"}
    assert set(rejects["detail"]) == {f"'{missing}'"}
    assert "placeholder, little text but a sentence" in str(run.explain("http://a.example.org/fr/15.html"))
