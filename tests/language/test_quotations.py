"""Pages in Latin script keep their language where readers comment on them in another script."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.language.versions import said, translated
from twinlink.language.site_languages import site_languages

N = 8
"""Pages in each language."""
EN, RU = ([said(language, page, 10) for page in range(N)] for language in ("en", "ru"))
MENUS = {language: said(language, 99, 3) for language in ("en", "ru")}


def commented(pages: Sequence[Sequence[str]], language: str, n: int) -> list[list[str]]:
    """Return pages with comments in another language, which are on no other page."""
    return [[*page, *said(language, 50 + number, n)] for number, page in enumerate(pages)]


def found(pages: Sequence[Sequence[str]], claims: Sequence[str] = ()) -> list[str]:
    return site_languages(pages, claims or [""] * len(pages), ["en", "ru"])[0]


def test_a_page_that_claims_its_language_keeps_it_though_comments_are_longer() -> None:
    for n in (2, 4, 12):
        pages = [*commented(EN, "ru", n), *RU]
        assert found(pages, ["en"] * N + ["ru"] * N) == ["en"] * N + ["ru"] * N


def test_comments_in_latin_script_change_nothing() -> None:
    pages = [*EN, *commented(RU, "en", 4)]
    assert found(pages) == found(pages, ["en"] * N + ["ru"] * N) == ["en"] * N + ["ru"] * N


def test_what_was_left_of_a_page_stands_in_its_original_too() -> None:
    half = [translated("ru", page, 10, 8) for page in range(N)]
    assert found([*EN, *half]) == ["en"] * N + ["ru"] * N


def test_a_template_that_claims_one_language_for_all_pages_does_not_count() -> None:
    half = [translated("ru", page, 10, 6) for page in range(N)]
    assert found([*EN, *RU, *half], ["en"] * 3 * N) == ["en"] * N + ["ru"] * 2 * N
    assert found([*EN, *RU, *half], ["en"] * (3 * N - 2) + ["ru"] * 2) == ["en"] * N + ["ru"] * 2 * N


def test_a_page_block_by_block_in_two_languages_is_in_both() -> None:
    both = [
        [text for pair in zip(said("en", page, 6), said("ru", page, 6), strict=True) for text in pair]
        for page in (90, 91)
    ]
    pages = [*EN, *RU, *both]
    assert found(pages, ["en"] * N + ["ru"] * N + ["en"] * 2)[-2:] == ["mul"] * 2


def framed(pages: Sequence[Sequence[str]], language: str) -> list[list[str]]:
    return [[*MENUS[language], *page] for page in pages]


@pytest.mark.parametrize("claim", ["", "en"])
def test_a_page_with_its_version_below_has_the_language_of_its_frame(claim: str) -> None:
    both = [[*english, *russian] for english, russian in zip(EN[:2], RU[:2], strict=True)]
    pages = [*framed([*both, *EN[2:]], "en"), *framed(RU, "ru")]
    assert found(pages, [claim] * 2 * N) == ["en"] * N + ["ru"] * N


def test_what_was_left_of_a_page_does_not_count_under_the_frame_of_its_original() -> None:
    half = [translated("ru", page, 10, 6) for page in range(2)]
    pages = [*framed(EN, "en"), *framed(RU[2:], "ru"), *framed(half, "en")]
    assert found(pages) == ["en"] * N + ["ru"] * N


def test_a_frame_in_latin_script_on_half_of_the_pages_in_another_one_does_not_count() -> None:
    both = [[*english, *russian] for english, russian in zip(EN[:2], RU[:2], strict=True)]
    pages = [*framed(EN, "en"), *framed(RU[:4], "ru"), *framed([*RU[4:], *both], "en")]
    assert found(pages)[-2:] == ["ru"] * 2
