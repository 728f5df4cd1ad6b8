"""Dates in Chinese characters: ``二零二六年三月十二日``, and years of an era: ``令和8年3月12日``, ``民國一一五年``."""

from __future__ import annotations

from collections.abc import Iterator

from twinlink.expressions import expression

__all__ = ["LANGUAGES", "YEAR", "han_dates", "han_number"]

LANGUAGES = frozenset({"zh", "ja"})
YEAR = "年"
"""Every such date has it."""

_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867, "民国": 1911, "民國": 1911}
"""The year before the first one of each era."""
_FIRST = "元"
_DIGITS = {sign: value for value, signs in enumerate(("〇零○", *"一二三四五六七八九")) for sign in signs}
_TENS = {"十": 10, "百": 100}
_SIGNS = "".join((*_DIGITS, *_TENS))
_SMALL = rf"\d{{1,2}}|[{_SIGNS}]{{1,4}}"
_OF_ERA = rf"(?P<era>{'|'.join(_ERAS)}) ?(?P<of_era>{_FIRST}|\d{{1,3}}|[{_SIGNS}]{{1,5}})"
_DATE = (
    rf"(?:{_OF_ERA}|(?P<year>[{''.join(_DIGITS)}]{{4}}))"
    rf" ?{YEAR} ?(?P<month>{_SMALL}) ?月 ?(?P<day>{_SMALL}) ?[日號号]"
)


def han_dates(text: str) -> Iterator[tuple[int, tuple[int, int, int]]]:
    """Yield year, month and day of the dates in a text, each with its place; there may be no such day.

    >>> [date for _, date in han_dates("二零二六年三月十二日至令和8年4月1日,民國一一五年五月二十日")]
    [(2026, 3, 12), (2026, 4, 1), (2026, 5, 20)]
    """
    if YEAR not in text:
        return
    for found in expression(_DATE).finditer(text):
        year = han_number(found["year"]) if found["era"] is None else _ERAS[found["era"]] + _of_era(found["of_era"])
        yield found.start(), (year, han_number(found["month"]), han_number(found["day"]))


def _of_era(year: str) -> int:
    return 1 if year == _FIRST else han_number(year)


def han_number(number: str) -> int:
    """Return the value of a number up to 999 in figures or Chinese characters, or of its digits one by one.

    >>> [han_number(number) for number in ("12", "十二", "二十", "百一十五", "二〇二六")]
    [12, 12, 20, 115, 2026]
    """
    if number.isdecimal():
        return int(number)
    total, digit = 0, 0
    for sign in number:
        if sign in _TENS:
            total, digit = total + (digit or 1) * _TENS[sign], 0
        else:
            digit = 10 * digit + _DIGITS[sign]
    return total + digit
