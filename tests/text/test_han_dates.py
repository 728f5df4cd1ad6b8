"""Numbers and dates in Chinese characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.text.han_dates import han_dates, han_number
from twinlink.text.values import may_have_values, values_in
from twinlink.text.words import tokenize

DIGITS = "〇一二三四五六七八九"


def in_characters(n: int) -> str:
    """Write a number up to 999 as Chinese does."""
    hundreds, rest = divmod(n, 100)
    tens, ones = divmod(rest, 10)
    text = f"{DIGITS[hundreds]}百" if hundreds else ""
    if tens:
        text += ("" if tens == 1 and not hundreds else DIGITS[tens]) + "十"
    return text + (DIGITS[ones] if ones else "")


@given(st.integers(1, 999))
def test_numbers_are_read_as_they_are_written(n: int) -> None:
    assert han_number(in_characters(n)) == han_number(str(n)) == n
    assert han_number("".join(DIGITS[int(digit)] for digit in str(n))) == n


@given(st.dates())
def test_dates_are_read_as_they_are_written(date: object) -> None:
    year, month, day = date.year, date.month, date.day  # type: ignore[attr-defined]
    written = "".join(DIGITS[int(digit)] for digit in f"{year:04}")
    text = f"会议于{written}年{in_characters(month)}月{in_characters(day)}日举行"
    assert list(han_dates(text)) == [(3, (year, month, day))]
    assert values_in(text, "zh") == [str(date)]


@pytest.mark.parametrize(
    "text", ["三月十二日", "二十年三月十二日", "二零二六年三月", "令和年三月一日", "二零二六年十三月一日", "百年"]
)
def test_what_is_no_whole_date_has_no_value(text: str) -> None:
    assert values_in(text, "zh") == []


def test_the_first_year_of_an_era_has_a_sign_of_its_own() -> None:
    assert values_in("令和元年5月1日", "ja") == ["2019-05-01"]


def test_texts_without_figures_are_looked_at() -> None:
    assert may_have_values("二零二六年三月十二日")
    assert "2026-03-12" in tokenize("二零二六年三月十二日", "zh-Hant")
    assert "2026-03-12" not in tokenize("二零二六年三月十二日", "ko")
