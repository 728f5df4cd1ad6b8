"""Language-independent values in a text: dates, large amounts, measures, e-mail addresses."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from operator import itemgetter

import numpy as np

from twinlink.expressions import expression
from twinlink.text.han_dates import LANGUAGES, YEAR, han_dates
from twinlink.text.terms import plain_number
from twinlink.text.value_words import MONTHS, MYRIADS, SCALES, UNITS

# Bounded and possessive: encoded data in a page may have any length. The first digit stands alone: `re` then goes from
# digit to digit. No pattern matches a line break, or what is on both sides of one.
_NUMBER = r"\d\d{0,39}+(?:[.,'’]\d{1,40}+){0,9}+"
_YEAR = re.compile(r"\d\d{3,}+")  # longer ones are none; no look around, so that the search is quick
_YEAR_DIGITS = 4
_WINDOW = 30  # characters before or after a year that may hold the rest of its date
_MAIL = r"(?<![\w.+-])[a-z0-9][\w.+-]{0,63}+@[a-z0-9-]{1,63}+(?:\.[a-z0-9-]{1,63}+){1,9}+"
_MEASURE = re.compile(f"({_NUMBER})" + r"[ -]?([^\W\d_]{1,40}+|%|°c)")
_MYRIAD = "|".join(sorted(MYRIADS, key=len, reverse=True))
_MYRIAD_AMOUNT = rf"(?:{_NUMBER} ?(?:{_MYRIAD}) ?)+(?:\d{{1,4}}(?!\d))?"
_MYRIAD_PART = rf"({_NUMBER}) ?({_MYRIAD})?"
_MYRIAD_LANGUAGES = frozenset({"zh", "ja", "ko"})
_TOGETHER = 2**13  # texts that are searched together
_LONGEST_UNIT = 6  # characters, where no space parts a unit from the next word

_Y_M_D = re.compile(
    r"-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?!\d)|/(?P<m2>\d{1,2})/(?P<d2>\d{1,2})(?!\d)"
    r"|\. ?(?P<m3>\d{1,2})\. ?(?P<d3>\d{1,2})(?!\d)"
    r"| ?[年년] ?(?P<m4>\d{1,2}) ?[月월] ?(?P<d4>\d{1,2})(?: ?[日일號号]|(?!\d))"
)
_D_M = re.compile(r"(?<![\d.])(?P<d>\d{1,2})(?:\. ?(?P<m>\d{1,2})\. ?|/(?P<m2>\d{1,2})/)\Z")


def values_in(text: str, lang: str) -> list[str]:
    """Return the values in a text, each in one form.

    - Dates: ``2026-03-12``. A date in figures counts if its order is certain: 2026-03-12, 2026年3月12日, 12.03.2026,
      25/03/2026; not 12/03/2026. Dates in Chinese characters count, and years of Japanese eras and of the Republic of
      China (`han_dates`).
    - Amounts with a scale word: ``1200000`` for ``1.2 million`` and ``120萬``.
    - Measures: ``20km`` for ``20 км`` and ``20公里``.
    - E-mail addresses.

    Their words and figures also remain terms of the text.

    Parameters
    ----------
    text : str
        In lower case and normal form NFKC.
    lang : str
        Its language, without script or region.

    Examples
    --------
    >>> values_in("on 12 march 2026, $1.2 million for 20 km; ask info@example.org", "en")
    ['2026-03-12', '1200000', '20km', 'info@example.org']
    >>> values_in("2026年3月12日,120萬元,20公里", "zh")
    ['2026-03-12', '1200000', '20km']
    """
    values = [value for _, value in (*_dates(text, lang), *_measures(text, lang))]
    if "@" in text:
        values += expression(_MAIL).findall(text)
    return values


def may_have_values(text: str) -> bool:
    """Return whether a text without figures may have values: an e-mail address, or a date in Chinese characters."""
    return "@" in text or YEAR in text


def values_of(texts: Sequence[str], lang: str) -> list[tuple[int, str]]:
    """Return the values in each of some texts, with the number of the text; many texts are searched together.

    Parameters
    ----------
    texts : sequence of str
        Each as `values_in` takes it, in one line or several.
    lang : str

    Examples
    --------
    >>> values_of(["20 km in 20 minutes", "of 2026-03-12", "1", "info@example.org, 5 mb"], "en")
    [(0, '20km'), (0, '20minute'), (1, '2026-03-12'), (3, '5mb'), (3, 'info@example.org')]
    """
    found = []
    for first in range(0, len(texts), _TOGETHER):
        found += [(first + number, value) for number, value in _in_lines(texts[first : first + _TOGETHER], lang)]
    return found


def _in_lines(texts: Sequence[str], lang: str) -> list[tuple[int, str]]:
    joined = "\n".join(texts)
    values = [*_dates(joined, lang), *_measures(joined, lang)]
    ends = np.cumsum([len(text) + 1 for text in texts])
    numbers = np.searchsorted(ends, [place for place, _ in values], side="right").tolist()
    found = [(number, value) for number, (_, value) in zip(numbers, values, strict=True)]
    found += [
        (number, name) for number, text in enumerate(texts) if "@" in text for name in expression(_MAIL).findall(text)
    ]
    return sorted(found, key=itemgetter(0))


def _dates(text: str, lang: str) -> Iterator[tuple[int, str]]:
    """Yield the dates of a text, each with its place."""
    around = _patterns(lang) if lang in MONTHS else None
    for year in _YEAR.finditer(text):
        if len(year[0]) > _YEAR_DIGITS:
            continue
        before, after = text[max(0, year.start() - _WINDOW) : year.start()], text[year.end() : year.end() + _WINDOW]
        found = _figures(before, after)
        if found is None and around is not None:
            found = _named(around, before, after, lang)
        if found is not None and (date := _date(int(year[0]), *found)):
            yield year.start(), date
    if lang in LANGUAGES:
        for place, day in han_dates(text):
            if date := _date(*day):
                yield place, date


def _figures(before: str, after: str) -> tuple[int, int] | None:
    """Return month and day that stand beside a year in figures."""
    if after[:1] and (match := _Y_M_D.match(after)):
        month, day = (int(group) for group in match.groups() if group is not None)
        return month, day
    if before[-1:] in (".", "/", " ") and (match := _D_M.search(before)):
        if match["m"] is not None:
            return int(match["m"]), int(match["d"])
        first, second = int(match["d"]), int(match["m2"])
        if first == second or second > 12:
            return first, second
        return (second, first) if first > 12 else None
    return None


def _named(
    around: tuple[re.Pattern[str], re.Pattern[str]], before: str, after: str, lang: str
) -> tuple[int, int] | None:
    """Return month and day that stand beside a year, the month by its name."""
    match = around[0].search(before) or around[1].match(after)
    if match is None:
        return None
    found = {name[0]: value for name, value in match.groupdict().items() if value is not None}
    return MONTHS[lang][found["m"]], int(found["d"])


@cache
def _patterns(lang: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what stands before a year, and what behind it."""
    names = "|".join(re.escape(name) for name in sorted(MONTHS[lang], key=len, reverse=True))
    before = (
        rf"(?<!\d)(?P<d>\d{{1,2}})(?:st|nd|rd|th|er|º|°|-го|\.)?,? (?:de |of |d['’])?(?P<m>{names})[.,]{{0,2}}"
        rf" (?:de |del )?\Z|(?<!\w)(?P<m2>{names})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,? \Z"
    )
    after = (
        rf"\.? (?:жылғы |жылы |ж\. ?)?(?:(?P<m>{names})\.? (?P<d>\d{{1,2}})(?!\d)|(?P<d2>\d{{1,2}}) (?P<m2>{names})\b)"
    )
    return re.compile(before), re.compile(after)


def _date(year: int, month: int, day: int) -> str | None:
    try:
        return datetime.date(year, month, day).isoformat()
    except ValueError:
        return None


def _measures(text: str, lang: str) -> Iterator[tuple[int, str]]:
    """Yield the amounts and measures of a text, each with its place."""
    scales = SCALES.get(lang, {})
    end = 0
    for match in _MEASURE.finditer(text):
        word, place = match[2], match.start()
        if place < end:
            continue  # a part of the amount before
        if lang in _MYRIAD_LANGUAGES and (amount := expression(_MYRIAD_AMOUNT).match(text, place)):
            end = amount.end()
            value = _myriads(amount[0])
        elif word in scales:
            value = _times(match[1], scales[word])
        elif (unit := UNITS.get(word)) or (word[0] > "\u0e00" and (unit := _unit_at_start(word))):
            value = plain_number(match[1]) + unit
        else:
            continue
        if value is not None:
            yield place, value


def _unit_at_start(word: str) -> str | None:
    """Return the unit that a run of letters without spaces begins with."""
    return next((UNITS[word[:n]] for n in range(_LONGEST_UNIT, 0, -1) if word[:n] in UNITS), None)


def _times(number: str, factor: Decimal) -> str | None:
    plain = plain_number(number)
    return _written(Decimal(plain) * factor) if plain.count(".") <= 1 else None


def _myriads(amount: str) -> str | None:
    parts = [(plain_number(part[1]), part[2]) for part in expression(_MYRIAD_PART).finditer(amount)]
    if any(number.count(".") > 1 for number, _ in parts):
        return None
    return _written(sum((Decimal(number) * MYRIADS.get(sign, Decimal(1)) for number, sign in parts), Decimal(0)))


def _written(value: Decimal) -> str:
    return str(int(value)) if value == value.to_integral_value() else f"{value:f}".rstrip("0")
