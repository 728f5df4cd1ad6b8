"""Dates, amounts, measures and e-mail addresses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.text import values as module
from twinlink.text.value_words import MONTHS
from twinlink.text.values import values_in, values_of


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("12 march 2026", "en"),
        ("march 12, 2026", "en"),
        ("12th of mar. 2026", "en"),
        ("2026-03-12t10:00", "en"),
        ("2026/03/12", "en"),
        ("12 mars 2026", "fr"),
        ("12. märz 2026", "de"),
        ("12.03.2026", "de"),
        ("12 de marzo de 2026", "es"),
        ("12 de março de 2026", "pt"),
        ("12 marzo 2026", "it"),
        ("12 maart 2026", "nl"),
        ("12 марта 2026 г.", "ru"),
        ("12 березня 2026 р.", "uk"),
        ("2026 жылғы 12 наурыз", "kk"),
        ("12 marca 2026", "pl"),
        ("12. března 2026", "cs"),
        ("2026. március 12.", "hu"),
        ("12 mart 2026", "tr"),
        ("12 μαρτίου 2026", "el"),
        ("12 مارس 2026", "ar"),
        ("2026年3月12日", "zh"),
        ("2026年3月12日", "ja"),
        ("二零二六年三月十二日", "zh"),
        ("二〇二六年三月十二日", "ja"),
        ("令和8年3月12日", "ja"),
        ("令和八年三月十二日", "ja"),
        ("平成三十八年三月十二日", "ja"),
        ("民国115年3月12日", "zh"),
        ("民国一百一十五年三月十二号", "zh"),
        ("2026년 3월 12일", "ko"),
    ],
)
def test_a_date_is_one_token_in_every_notation(text: str, lang: str) -> None:
    assert "2026-03-12" in values_in(text, lang)


@pytest.mark.parametrize(
    "text", ["12/03/2026", "31 february 2026", "may 2026", "2026", "112 march 2026", "12 march 20261"]
)
def test_no_date(text: str) -> None:
    """The order of 12/03/2026 is not known; the others are no dates."""
    assert values_in(text, "en") == []


def test_figures_that_leave_one_order() -> None:
    assert values_in("25/03/2026", "en") == values_in("03/25/2026", "en") == ["2026-03-25"]
    assert values_in("03/03/2026", "en") == ["2026-03-03"]


@pytest.mark.parametrize(
    ("text", "lang", "value"),
    [
        ("$1.2 million", "en", "1200000"),
        ("120萬元", "zh", "1200000"),
        ("120万円", "ja", "1200000"),
        ("120만 원", "ko", "1200000"),
        ("1,2 mio. euro", "de", "1200000"),
        ("1,2 million d'euros", "fr", "1200000"),
        ("3億5,000萬", "zh", "350000000"),
        ("3.5億", "zh", "350000000"),
        ("1億2,345万6000", "ja", "123456000"),
        ("2 тыс. рублей", "ru", "2000"),
    ],
)
def test_an_amount_is_its_value(text: str, lang: str, value: str) -> None:
    assert values_in(text, lang) == [value]


@pytest.mark.parametrize(
    ("text", "lang", "value"),
    [
        ("20 km", "en", "20km"),
        ("20公里長", "zh", "20km"),
        ("20 км", "ru", "20km"),
        ("5ギガバイト", "ja", "5gb"),
        ("20 %", "fr", "20%"),
    ],
)
def test_a_measure_has_one_name_of_its_unit(text: str, lang: str, value: str) -> None:
    assert values_in(text, lang) == [value]


def test_mail() -> None:
    assert values_in("info@example.org, a.b@c-d @name", "en") == ["info@example.org"]


def test_twelve_months_in_every_language() -> None:
    assert all(set(names.values()) == set(range(1, 13)) for names in MONTHS.values())


@given(st.text("0123456789.,/-年月日億万 marchkm@%", max_size=80), st.sampled_from(["en", "zh", "ko", "hu"]))
def test_any_text(text: str, lang: str) -> None:
    assert all(value and not value.isspace() for value in values_in(text, lang))


def one_by_one(texts: list[str], lang: str) -> list[tuple[int, str]]:
    """Find values line by line; the slow twin of `values_of`."""
    return sorted(
        (number, value)
        for number, text in enumerate(texts)
        for line in text.split("\n")
        for value in values_in(line, lang)
    )


PIECES = (
    "12| |march|3|2026|-03-12|/|25/03/|.|年3月12日|1.2|million|km|公里|萬|5,000|千|%|info@example|.org|@|\n|mars | de "
    "|a|12 march 2026|3億5,000萬"
).split("|")


@pytest.mark.parametrize("together", [1, 3, 2**13])
@given(
    texts=st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), max_size=8),
    lang=st.sampled_from(["en", "fr", "zh"]),
)
def test_texts_are_searched_together_as_one_by_one(texts: list[str], lang: str, together: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_TOGETHER", together)
        found = values_of(texts, lang)
    assert sorted(found) == one_by_one(texts, lang)
    assert [number for number, _ in found] == sorted(number for number, _ in found)


@pytest.mark.parametrize(
    "texts",
    [["12 march ", "2026"], ["25/03/", "2026"], ["2026", "-03-12"], ["5", "km"], ["3億", "5,000萬"], ["a@b", ".org"]],
)
def test_no_value_is_in_two_texts(texts: list[str]) -> None:
    lang = "zh" if "億" in texts[0] else "en"
    assert values_of(["".join(texts)], lang)
    assert sorted(values_of(texts, lang)) == one_by_one(texts, lang)
    assert sorted(values_of(["\n".join(texts)], lang)) == one_by_one(["\n".join(texts)], lang)
