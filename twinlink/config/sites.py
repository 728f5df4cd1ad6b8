"""Settings of the host graph and of the ranking of sites."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from twinlink.config.settings import Natural, Positive, Settings, Unit

__all__ = ["HostGraphSettings", "Nepotism", "RankingSettings"]

Nepotism = Literal["count", "once", "drop"]


class HostGraphSettings(Settings, frozen=True):
    """Weighted edges between sites from the links of pages."""

    weight: Literal["links", "pages", "templates", "sites"] = "templates"
    """What the weight of an edge counts: links; pages that link; links that differ in address or text, so that what a
    page template repeats counts once; or 1 for every two sites. The paper (section 2.3) has the last; its own scores
    always use it, regardless of this setting. Ours is the default."""
    site_wide: Nepotism = "once"
    """A link that most pages of a site have (header, footer, blogroll) counts on each page, once, or not at all."""
    site_wide_share: Unit = 0.5
    """Share of a site's pages that makes a link site-wide: "most pages". Ours."""
    site_wide_pages: Positive = 5
    """Pages that a site must have for that: of two pages, one is no majority worth the name. Ours."""
    same_domain: Nepotism = "once"
    """Links between two sites of one registered domain, which one owner may have made: as they are, with weight 1, or
    left out. Where sites are registered domains there are none: links of a site to itself never count."""
    ignored_rel: tuple[str, ...] = ("nofollow", "sponsored", "ugc")
    """Links with one of these in their ``rel`` do not count: their author does not vouch for them (HTML standard,
    section 4.6.7)."""
    common_crawl: tuple[str, ...] = ()
    """Vertices and edges files of Common Crawl's host- or domain-level graph, told apart by ``vertices`` and ``edges``
    in their names: their links between the sites of the run are added."""
    batch: Positive = 4_000_000
    """Number of links processed at a time; sites are not split."""
    memory: Positive = 1_024
    """Memory limit of the database in megabytes; beyond it, it spills to disk."""


class RankingSettings(Settings, frozen=True):
    """Ranking of sites that were not crawled (Zhang, Yao & Kit, section 2.3, and beyond)."""

    graph: HostGraphSettings = HostGraphSettings()
    host_graph: tuple[str, ...] = ()
    """Vertices and edges files of a host- or domain-level graph of Common Crawl, told apart by ``vertices`` and
    ``edges`` in their names: the hosts that link to a site, and what else they link to, become features."""
    host_graph_steps: Positive = 20
    """Iterations of PageRank over that graph: each reads all edges. .85^20 is .04. Ours."""
    damping: Annotated[float, Meta(ge=0, lt=1)] = 0.85
    """1 - r with the paper's r = 0.15 (section 2.3)."""
    tolerance: Annotated[float, Meta(gt=0)] = 1e-9
    """Iteration stops when all scores together (their sum is 1) move by no more than this, whatever the number of
    sites; what is still missing is at most damping/(1 - damping) times as much."""
    max_iterations: Positive = 500
    """Maximum number of steps; .85^130 is 1e-9 already."""
    min_credibility: Unit = 0.1
    """A crawled site with a credibility C(w) of at least this is bilingual: the paper's threshold for a key."""
    learn: Literal["all", "rounds", "nothing"] = "all"
    """Training data of our score: all crawled sites, by whether they are bilingual; only those that earlier rounds
    added; or nothing, so that the default weights stay."""
    min_pages: Natural = 5
    """Crawled sites with fewer pages are not used for learning."""
    ridge: Annotated[float, Meta(gt=0)] = 1.0
    """How strongly the weights that come with twinlink are held: 1/ridge is the variance that they are given. With 1
    some ten sites can move one of them by 1. Ours."""
