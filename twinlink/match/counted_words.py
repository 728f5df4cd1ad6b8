"""Words of the languages of a site, each counted once, whatever number of languages it is matched with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from twinlink.sparse import kept_matrix
from twinlink.system.side_by_side import at_once, forked
from twinlink.text.word_counts import count_words
from twinlink.text.words import EastAsian, TermTable

__all__ = ["CountedWords", "Texts"]

PAGE_SECONDS = 2e-4
"""What the words of a page take: .15 to .5 ms on the tuning sites."""

_Key = tuple[str, EastAsian, frozenset[str]]


class Texts(NamedTuple):
    """The pages of a language, and how their words are counted."""

    lang: str
    blocks: Sequence[Sequence[str]]
    heads: AbstractSet[str]
    east_asian: EastAsian
    is_all: bool
    """Whether these are all texts of the pages, and not what is left of them beside those of another language."""

    def counted(self) -> TermTable:
        """Count the words."""
        return count_words(self.blocks, self.lang, self.heads, self.east_asian)

    @property
    def key(self) -> _Key:
        """What the words depend on, if the texts are all."""
        return self.lang, self.east_asian, frozenset(self.heads)


class CountedWords:
    """Words of the languages of one site that were counted so far; names, which depend on two languages, are not."""

    def __init__(self) -> None:
        self._tables: dict[_Key, TermTable] = {}

    def count(self, texts: Iterable[Texts]) -> None:
        """Count the words of some languages, on all cores, unless they are known or the texts are not all."""
        self.tables([*{each.key: each for each in texts if each.is_all}.values()])

    def tables(self, sides: Sequence[Texts]) -> list[TermTable]:
        """Return the words of some languages; those that are not known are counted on all cores.

        Examples
        --------
        >>> pages = [["Servers run"], ["a server"]]
        >>> english = Texts("en", pages, frozenset(), "whole", is_all=True)
        >>> words = CountedWords()
        >>> words.tables([english])[0] is words.tables([english])[0]
        True
        """
        known = [self._tables.get(side.key) if side.is_all else None for side in sides]
        missing = [side for side, table in zip(sides, known, strict=True) if table is None]
        sizes = [len(side.blocks) for side in missing] or [0]
        n_copies = max(1, min(at_once(), len(sizes)) - 1)
        of_copies = (sum(sizes) - max(sizes)) / n_copies  # if this process counts the largest
        counted = forked([side.counted for side in missing], seconds=PAGE_SECONDS * of_copies)
        kept = [table._replace(counts=kept_matrix(table.counts)) for table in counted]
        self._tables |= {side.key: table for side, table in zip(missing, kept, strict=True) if side.is_all}
        of_missing = iter(kept)
        return [next(of_missing) if table is None else table for table in known]
