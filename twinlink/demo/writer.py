"""Writer of phrases: draws phrases and fills their slots."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from twinlink.demo.text import Text, fillers, phrases
from twinlink.demo.values import SLOTS

__all__ = ["Writer"]

_SLOT = re.compile(r"\{(\w+)\}")


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
