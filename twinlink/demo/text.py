"""The stock of parallel phrases.

``phrases.tsv`` holds the phrases of the site: topic, kind, English, Chinese. Parts of one phrase that belong together
(a question and its response) stand side by side, divided by `` || ``. ``{name}`` is a slot: it has the same value in
both languages, each in the format of its language. A name may end in 2 to get another value of the same sort
(``{place}``, ``{place2}``). ``fillers.tsv`` holds the names that slots are filled with; numbers, dates and the like are
made in `twinlink.demo.values`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Text(NamedTuple):
    """A phrase in both languages."""

    en: str
    zh: str

    def split(self) -> tuple[Text, ...]:
        """Return the parts of a phrase.

        >>> Text("Why? || So.", "為何？ || 因此。").split()
        (Text(en='Why?', zh='為何？'), Text(en='So.', zh='因此。'))
        """
        return tuple(Text(en, zh) for en, zh in zip(self.en.split(" || "), self.zh.split(" || "), strict=True))


def same(word: object) -> Text:
    """Return what is written alike in both languages: a number, an address of a file."""
    return Text(str(word), str(word))


def _read_table(name: str) -> list[list[str]]:
    lines = files("twinlink.demo").joinpath(name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[1:] if line]


@cache
def phrases(topic: str, kind: str) -> tuple[Text, ...]:
    """Return all phrases of a topic and kind, in the order of the file; empty when there is none."""
    return tuple(text for row_topic, row_kind, text in all_phrases() if (row_topic, row_kind) == (topic, kind))


@cache
def all_phrases() -> tuple[tuple[str, str, Text], ...]:
    """Return every row of ``phrases.tsv`` as (topic, kind, text)."""
    return tuple((topic, kind, Text(en, zh)) for topic, kind, en, zh in _read_table("phrases.tsv"))


@cache
def fillers(slot: str) -> tuple[Text, ...]:
    """Return the names that a slot may be filled with; empty for slots that are made (numbers, dates)."""
    return tuple(Text(en, zh) for row_slot, en, zh in _read_table("fillers.tsv") if row_slot == slot)


def phrase(topic: str, kind: str) -> Text:
    """Return the first phrase of a topic and kind."""
    return phrases(topic, kind)[0]
