"""Sites of a simulated web as a crawl lists them, and the number of right pairs among given ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from experiments.simweb.world import SitePages, World
from twinlink.config.patterns import PatternSettings
from twinlink.patterns.keys import Key
from twinlink.patterns.learning import SitePatterns, learn_patterns

__all__ = [
    "LANGS",
    "Listing",
    "MiningSettings",
    "Pairs",
    "Tally",
    "list_site",
    "right_pairs",
    "tally_of",
    "true_pairs",
    "without",
]

LANGS = ("en", "zh-Hant", "zh-Hans")
_LANGUAGES, _ANSWERS = 11, 13  # streams of random numbers, beside those of the world

Places = NDArray[np.int64]
Pairs = tuple[Places, Places]


class MiningSettings(msgspec.Struct, frozen=True):
    """Assumptions about the language finder and about servers."""

    languages: bool = True
    """Whether languages are identified at all; otherwise only addresses are known."""
    wrong: float = 0.02
    """Share of pages that are identified as a wrong language."""
    unknown: float = 0.05
    """Share of pages that are not identified as any language."""
    soft: float = 0.1
    """Share of sites that answer wrong addresses with an error page with status 200."""
    soft_missed: float = 0.05
    """Share of these error pages that are taken for pages of the site."""


class Tally(NamedTuple):
    """Numbers of pairs and of right pairs."""

    pairs: int = 0
    right: int = 0

    @property
    def precision(self) -> float:
        """Share of right pairs; NaN without pairs."""
        return self.right / self.pairs if self.pairs else float("nan")

    def plus(self, other: Tally) -> Tally:
        """Return the sum.

        >>> Tally(3, 2).plus(Tally(1, 1)).precision
        0.75
        """
        return Tally(self.pairs + other.pairs, self.right + other.right)


class Listing(msgspec.Struct, frozen=True):
    """Data of a site known to a crawl, and the truth; lists and arrays have one entry per page."""

    name: str
    number: int
    """Number of the host."""
    pages: SitePages
    heard: list[str] | None
    """Identified languages, ``und`` if unknown; None if languages are not identified."""
    linked: Places
    """Pages that a crawl gets."""

    def learned(self, settings: PatternSettings, known: Mapping[Key, float] | None = None) -> SitePatterns:
        """Learn the patterns of the pages that a crawl gets; the result numbers these."""
        urls, heard = self.crawled()
        return learn_patterns(urls, heard, settings, known)

    def crawled(self) -> tuple[list[str], list[str] | None]:
        """Return the addresses of the pages that a crawl gets, and their languages."""
        linked = self.linked.tolist()
        return [self.pages.urls[k] for k in linked], None if self.heard is None else [self.heard[k] for k in linked]

    def used(self, found: SitePatterns) -> Pairs:
        """Return the pairs of credible and rescued patterns as pages of the whole site, the lower number first."""
        if not found.patterns:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        used = found.used()
        a, b = self.linked[found.sources[used]], self.linked[found.targets[used]]
        return np.minimum(a, b), np.maximum(a, b)


def list_site(world: World, number: int, settings: MiningSettings) -> Listing:
    """List all linked pages of a host, as a crawl would."""
    pages = world.pages(number)
    heard: list[str] | None = None
    if settings.languages:
        rng = np.random.default_rng([world.settings.seed, _LANGUAGES, number])
        drawn = rng.random(len(pages.urls))
        other = (pages.side + rng.integers(1, len(LANGS), len(pages.side))) % len(LANGS)
        side = np.where(drawn < settings.wrong, other, pages.side)
        heard = [LANGS[k] for k in side.tolist()]
        for k in np.flatnonzero(drawn >= 1 - settings.unknown).tolist():
            heard[k] = "und"
    return Listing(world.host(number), number, pages, heard, np.flatnonzero(pages.visible))


def right_pairs(pages: SitePages, pairs: Pairs) -> NDArray[np.bool_]:
    """Mark the pairs that are translations of each other: one article, two languages, no page untrue."""
    a, b = pairs
    same = (pages.article[a] == pages.article[b]) & (pages.side[a] != pages.side[b])
    return np.asarray(same & ~pages.untrue[a] & ~pages.untrue[b])


def tally_of(pages: SitePages, pairs: Pairs) -> Tally:
    """Count pairs and right pairs."""
    return Tally(len(pairs[0]), int(right_pairs(pages, pairs).sum()))


def true_pairs(pages: SitePages, *, linked: bool) -> int:
    """Count the true pairs of any two languages; with ``linked``, among the pages that a crawl gets."""
    there = ~pages.untrue & (pages.visible if linked else True)
    different = np.unique(pages.article[there].astype(np.int64) * len(LANGS) + pages.side[there])
    versions = np.bincount(different // len(LANGS))
    return int((versions * (versions - 1) // 2).sum())


def without(pairs: Pairs, others: Pairs) -> Pairs:
    """Return the pairs that are not among others; in both, the lower number is first.

    >>> a, b = without((np.array([0, 1]), np.array([2, 3])), (np.array([1]), np.array([3])))
    >>> a.tolist(), b.tolist()
    ([0], [2])
    """
    size = max(int(column.max(initial=0)) for column in (*pairs, *others)) + 1
    new = ~np.isin(pairs[0] * size + pairs[1], others[0] * size + others[1])
    return pairs[0][new], pairs[1][new]
