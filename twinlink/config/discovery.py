"""Settings of site discovery: how many sites a round adds, how they are probed, when one counts as bilingual."""

from __future__ import annotations

from typing import Literal

from twinlink.config.settings import Natural, Positive, Settings, Unit

__all__ = ["DiscoverySettings", "SiteScore"]

SiteScore = Literal["ours", "sum_linkout", "sum_pagerank", "sum_weighted"]


class DiscoverySettings(Settings, frozen=True):
    """Growth of the list of sites (Zhang, Yao & Kit, section 2.3)."""

    rounds: Natural = 1
    """Rounds after the start: the paper ran one iteration (section 3.3)."""
    top: Positive = 500
    """K: candidates that a round tries, the best first; the paper looked at its top 500."""
    score: SiteScore = "ours"
    """Score that ranks them: probability that a site is bilingual by its links, or one of the paper's three sums."""
    pairs: Literal["patterns", "match"] = "patterns"
    """How pages are paired: by URL patterns, as in the paper; or by stage `match`, which reads the pages and takes
    longer. Patterns are learned in both cases."""
    languages: bool = True
    """Whether patterns respect the languages of the pages, each identified by its text: two pages of one language are
    never a pair ("if language identification has been done", section 2.1, note 1). Off: by addresses alone."""
    site_pages: Positive = 200
    """Maximum number of pages per site, unless ``crawl.max_site_pages`` is set: enough to see a pattern. Ours."""
    probe_pages: Positive = 10
    """Pages fetched of a candidate to judge it. Ours: five in each language, if they are found in turn."""
    skip: tuple[str, ...] = ()
    """Sites that are never tried, by name or by what it ends in: ``facebook.com``, ``blogspot.com``."""
    only: tuple[str, ...] = ()
    """Only sites with such a name or end are tried: ``hk``, ``gov.mo``. Empty: all."""
    starts: Positive = 2
    """Start pages of a candidate besides the root of its host: those with the most links. Ours."""
    accept: Literal["pairs", "patterns", "languages", "all"] = "pairs"
    """Which candidates are added: those with pairs among the probed pages, by a credible URL pattern or, where there is
    none, by a match of these pages; by patterns alone; those with pages in two languages; or all that answer, as the
    paper does."""
    min_pairs: Positive = 2
    """Pairs that the match of the probed pages must find at least. Ours: the start pages alone are no translation."""
    min_credibility: Unit = 0.1
    """C(w) of a probed candidate at least: the paper's threshold for a key (section 2.1)."""
    min_share: Unit = 0.1
    """Share of a candidate's pages at least that are in the second language. Ours: below it, it is a stray page."""
