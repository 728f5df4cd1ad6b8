"""Writer of phrases, and the values of their slots: one function per kind draws a value in both languages.

Such a function takes the random source and the separator of thousands in Chinese (Hong Kong writes 1,200 and 1 200).
"""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Callable, Sequence

from twinlink.demo.text import Text, fillers, phrases, same

__all__ = ["SLOTS", "YEAR", "Writer", "date_text", "month_text"]

YEAR = 2026  # the year that the demo site is written in

# Not strftime: its names depend on the locale, and the site has to come out the same everywhere.
MONTHS = "January February March April May June July August September October November December".split()

Draw = Callable[[random.Random, str], Text]
_SLOT = re.compile(r"\{(\w+)\}")


def _name(slot: str) -> Draw:
    return lambda rng, _: rng.choice(fillers(slot))


def _integer(low: int, high: int) -> Draw:
    return lambda rng, _: same(rng.randint(low, high))


def _few(rng: random.Random, _: str) -> Text:
    value = rng.randint(3, 8)
    return Text(str(value), "三四五六七八"[value - 3] if rng.random() < 0.5 else str(value))


def _num(rng: random.Random, separator: str) -> Text:
    value = rng.randint(101, 9899)
    return Text(f"{value:,}", f"{value:,}".replace(",", separator))


def _big(rng: random.Random, _: str) -> Text:
    thousands = rng.randint(11, 989)
    return Text(f"{thousands},000", f"{thousands / 10:g}萬")


def _money(rng: random.Random, _: str) -> Text:
    millions = rng.randint(11, 98) * rng.choice((0.1, 1, 10, 100))
    if millions >= 1000:
        return Text(f"${millions / 1000:g} billion", f"{millions / 100:g}億元")
    return Text(f"${millions:g} million", f"{millions / 100:g}億元" if millions >= 100 else f"{millions * 100:g}萬元")


def _sum(rng: random.Random, separator: str) -> Text:
    value = rng.randint(11, 990) * 100
    return Text(f"${value:,}", f"{value:,}元".replace(",", separator))


def _fee(rng: random.Random, _: str) -> Text:
    value = rng.randint(11, 980)
    return Text(f"${value}", f"{value}元")


def _pct(rng: random.Random, _: str) -> Text:
    value = rng.randint(11, 480) / 10
    return Text(f"{value:g}%", f"{value:g}%" if rng.random() < 0.5 else f"百分之{value:g}")


def date_text(day: datetime.date) -> Text:
    """Write a date in both languages.

    >>> date_text(datetime.date(2026, 3, 12))
    Text(en='12 March 2026', zh='2026年3月12日')
    """
    return Text(f"{day.day} {MONTHS[day.month - 1]} {day.year}", f"{day.year}年{day.month}月{day.day}日")


def _date(first_month: int) -> Draw:
    start = datetime.date(YEAR, first_month, 1)
    return lambda rng, _: date_text(start + datetime.timedelta(days=rng.randrange(180)))


def month_text(year: int, month: int) -> Text:
    """Write a month in both languages.

    >>> month_text(2026, 3)
    Text(en='March 2026', zh='2026年3月')
    """
    return Text(f"{MONTHS[month - 1]} {year}", f"{year}年{month}月")


def _clock(first: int, last: int) -> Draw:
    def draw(rng: random.Random, _: str) -> Text:
        hour, minute = rng.randint(first, last), rng.choice((0, 0, 15, 30, 45))
        half, word = ("a.m.", "上午") if hour < 12 else ("p.m.", "下午" if hour < 18 else "晚上")
        shown = hour if hour <= 12 else hour - 12
        if minute:
            return Text(f"{shown}:{minute} {half}", f"{word}{shown}時{minute}分")
        return Text(f"{shown} {half}", f"{word}{shown}時")

    return draw


def _person(rng: random.Random, _: str) -> Text:
    surname, woman = rng.choice(fillers("surname")), rng.random() < 0.5
    given = rng.choice(fillers("givenf" if woman else "given"))
    return Text(
        f"{'Ms' if woman else 'Mr'} {surname.en} {given.en}", f"{surname.zh}{given.zh}{'女士' if woman else '先生'}"
    )


def _address(rng: random.Random, _: str) -> Text:
    number, floor = rng.randint(1, 398), rng.randint(0, 18)
    street, place = rng.choice(fillers("street")), rng.choice(fillers("place"))
    before, after = (f"{floor}/F, ", f"{floor}樓") if floor else ("", "")
    return Text(f"{before}{number} {street.en}, {place.en}", f"{place.zh}{street.zh}{number}號{after}")


def _law(rng: random.Random, _: str) -> Text:
    chapter = rng.randint(11, 620)
    return Text(f"Cap. {chapter}", f"第{chapter}章")


SLOTS: dict[str, Draw] = {
    **{name: _name(name) for name in ("place", "hk", "street", "estate", "dept", "post", "hospital", "weekday")},
    "addr": _address,
    "age": _integer(19, 78),
    "big": _big,
    "date": _date(1),
    "degrees": _integer(12, 33),
    "fee": _fee,
    "few": _few,
    "form": lambda rng, _: same(f"{rng.choice('ABCFHLST')}{rng.choice('DFRW')}{rng.randint(101, 989)}"),
    "future": _integer(YEAR + 1, YEAR + 15),
    "height": lambda rng, _: same(f"1.{rng.randint(48, 79)}"),
    "law": _law,
    "mail": lambda rng, _: same(f"enquiry{rng.randint(10, 99)}@lamwan.example"),
    "money": _money,
    "month": lambda rng, _: month_text(YEAR, rng.randint(1, 12)),
    "n": _integer(9, 60),
    "now": lambda rng, _: same(YEAR),
    "num": _num,
    "pct": _pct,
    "person": _person,
    "phone": lambda rng, _: same(f"{rng.choice('23')}{rng.randint(100, 999)} {rng.randint(1000, 9999)}"),
    "ref": lambda rng, _: same(f"{rng.randint(11, 98)}/{YEAR}-{rng.randint(11, 98)}"),
    "route": lambda rng, _: same(f"{rng.randint(2, 98)}{rng.choice(('', '', 'A', 'M', 'X'))}"),
    "sum": _sum,
    "time": _clock(7, 11),
    "year": lambda rng, _: same(rng.randint(1998, YEAR - 1)),
}
SLOTS["date2"] = _date(7)  # later than any {date}, so that "from {date} to {date2}" makes sense
SLOTS["time2"] = _clock(16, 21)  # later than any {time}


class Writer:
    """Fills phrases with values drawn from one random source.

    Place, street, estate and department stay the same over one page (`new_page` forgets them), other values are drawn
    again for each phrase. Values given to `fill` are used as they are.
    """

    STAYING = ("place", "hk", "street", "estate", "dept")

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._decks: dict[tuple[str, str], list[Text]] = {}
        self.new_page()

    def new_page(self, **staying: Text) -> None:
        """Forget or set what stays the same over a page, and choose how its Chinese numbers are written."""
        self._page = dict(staying)
        self._separator = self.rng.choice((",", " "))

    def draw(self, slot: str) -> Text:
        """Return a new value for a slot."""
        return (SLOTS.get(slot) or SLOTS[slot.rstrip("2")])(self.rng, self._separator)

    def fill(self, pattern: Text, **given: Text) -> Text:
        """Return the phrase with its slots filled, alike in both languages."""
        values = dict(given)
        for slot in _SLOT.findall(pattern.en):
            if slot not in values:
                values[slot] = self._value(slot, values)
        english = _SLOT.sub(lambda match: values[match[1]].en, pattern.en)
        return Text(
            english.replace(".m..", ".m."),  # "at 4 p.m." at the end of a sentence has one full stop
            _SLOT.sub(lambda match: values[match[1]].zh, pattern.zh),
        )

    def say(self, topic: str, kind: str, **given: Text) -> Text:
        """Return the next phrase of a topic and kind, filled; no phrase comes again before all have been used."""
        return self.fill(self._next((topic, kind), phrases(topic, kind)), **given)

    def deal(self, slot: str) -> Text:
        """Return the next name of a slot; no name comes again before all have been used."""
        return self._next(("", slot), fillers(slot))

    def all(self, topic: str, kind: str, **given: Text) -> tuple[Text, ...]:
        """Return all phrases of a topic and kind, filled, in the order of the file."""
        return tuple(self.fill(pattern, **given) for pattern in phrases(topic, kind))

    def _next(self, deck_name: tuple[str, str], cards: Sequence[Text]) -> Text:
        deck = self._decks.setdefault(deck_name, [])
        if not deck:
            deck.extend(cards)
            self.rng.shuffle(deck)
        return deck.pop()

    def _value(self, slot: str, taken: dict[str, Text]) -> Text:
        if slot.rstrip("2") not in self.STAYING:
            return self.draw(slot)
        if slot not in self._page:
            self._page[slot] = self._other(slot, {*self._page.values(), *taken.values()})
        return self._page[slot]

    def _other(self, slot: str, used: set[Text]) -> Text:
        """Return a value that is not in use yet: a road leads from one place to another."""
        value = self.draw(slot)
        return value if value not in used else self._other(slot, used)
