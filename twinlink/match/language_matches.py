"""Matches of every two of some languages of one site, on all cores where there are several."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import astuple, replace

from twinlink.config import Config, MatchSettings
from twinlink.match.counted_words import CountedWords
from twinlink.match.evidence import Side, Words, read_words, texts_of
from twinlink.match.labels import PairLabel, label_matrix
from twinlink.match.methods.registry import METHODS
from twinlink.match.selection import SideMatch, match_sides
from twinlink.match.sides import Group, SitePages
from twinlink.similarity.lexicon_files import Lexicon
from twinlink.system.memory import in_words
from twinlink.system.side_by_side import at_once, forked, on_cores
from twinlink.system.steps import Steps

__all__ = ["LanguageMatches"]

PAGE_SECONDS = 3e-4
"""What the match of two languages takes for each of their pages at least: .3 to .8 ms on a site of 7,796 manual pages
in eleven languages."""
PAGE_BYTES = 60_000
"""Memory that each process takes that matches languages of a site, for each page of the site: on the same site 55,000
beside the program, and 45,000 for a copy."""

_log = logging.getLogger("twinlink.memory")

Facing = tuple[Group, Group]
"""Two languages, each with its pages."""


class LanguageMatches(msgspec.Struct, frozen=True):
    """Matches the pages of every two of some languages of a site."""

    site: SitePages
    lexicons: Callable[[str, str], Sequence[Lexicon]]
    labels: Sequence[PairLabel]
    config: Config
    free: Callable[[], None]
    """Gives memory back; called when the words of two languages are counted."""
    forget: Callable[[], None]
    """Frees what only the words need; called when they are counted, if there are no further languages."""

    def of(self, facing: Sequence[Facing], steps: Steps) -> list[SideMatch]:
        """Match the pages of every two languages.

        Where there are several, copies of this process match some of them, as many processes as there are cores, and
        memory for them. The result does not depend on their number.
        """
        n_processes = min(at_once(), len(facing), self._fitting())
        if n_processes > 1:
            return self._by_processes(n_processes, facing, steps.of_this_process())
        counted = CountedWords() if len(facing) > 1 else None
        parts = _parts(steps, [_size(two) for two in facing])
        return [self._match(two, counted, part) for two, part in zip(facing, parts, strict=True)]

    def _by_processes(self, most: int, facing: Sequence[Facing], steps: Steps) -> list[SideMatch]:
        each = in_words(PAGE_BYTES * self.site.pages.num_rows)
        _log.info("match: %d pairs of languages by up to %d processes, each with up to %s", len(facing), most, each)
        steps(0.0, "words of all languages")
        # What copies need is made before: they all have it then, and this process knows which lexicons were read.
        sides = [(self.site.side(a), self.site.side(b)) for a, b in facing]
        known = [self.lexicons(a.lang, b.lang) for a, b in sides]
        counted = CountedWords()
        if not METHODS[self.config.match.method].reads_shapes:
            texts = chain.from_iterable(map(texts_of, *zip(*sides, strict=True), known))
            with on_cores(most):
                counted.count(texts)
        order = sorted(range(len(facing)), key=lambda k: -_size(facing[k]))  # so that no process ends much later
        sizes = [_size(facing[k]) for k in order]
        parts = zip(order, _parts(steps, sizes), strict=True)
        tasks = [partial(self._without_sides, facing[k], counted, part) for k, part in parts]
        found = forked(tasks, seconds=PAGE_SECONDS * sum(sizes) / most, most=most)
        of_two = dict(zip(order, found, strict=True))
        return [SideMatch(*sides[k], *of_two[k]) for k in range(len(facing))]

    def _fitting(self) -> int:
        """Return the number of processes that there is memory for."""
        return int(self.config.memory.beside(0) // (PAGE_BYTES * max(1, self.site.pages.num_rows)))

    def _match(self, two: Facing, counted: CountedWords | None, steps: Steps) -> SideMatch:
        """Match the pages of two languages."""
        side_a, side_b, between = self.site.facing(*two)
        between = replace(between, labels=label_matrix(self.labels, side_a.urls, side_b.urls))
        known = self.lexicons(side_a.lang, side_b.lang)
        return match_sides(side_a, side_b, between, known, self.config.match, steps, partial(self._words, counted))

    def _without_sides(self, two: Facing, counted: CountedWords, steps: Steps) -> tuple[Any, ...]:
        """Return what was found without the sides, which all copies of this process have."""
        return astuple(self._match(two, counted, steps))[2:]

    def _words(
        self,
        counted: CountedWords | None,
        side_a: Side,
        side_b: Side,
        lexicons: Sequence[Lexicon],
        settings: MatchSettings,
    ) -> Words:
        words = read_words(side_a, side_b, lexicons, settings, counted)
        if counted is None:
            self.forget()
        self.free()
        return words


def _size(two: Facing) -> int:
    """Return the number of pages of two languages."""
    return sum(len(group.rows) for group in two)


def _parts(steps: Steps, sizes: Sequence[int]) -> list[Steps]:
    """Return the part of the work that each two languages are, by their pages."""
    ends = np.cumsum(sizes, dtype=np.float64) / max(sum(sizes), 1)
    return [steps.part(begin, end) for begin, end in pairwise([0.0, *ends.tolist()])]
