"""Settings of the host graph, of the ranking of sites, and of site discovery."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from twinlink.config.settings import Natural, Positive, Settings, Unit

Nepotism = Literal["count", "once", "drop"]
SiteScore = Literal["ours", "sum_linkout", "sum_pagerank", "sum_weighted"]


class HostGraphSettings(Settings, frozen=True):
    """Weighted edges between sites from the links of pages."""

    weight: Literal["links", "pages", "templates", "sites"] = "templates"
    """What the weight of an edge counts: links; pages that link; links that differ in address or text, so that what a
    page template repeats counts once; or 1 for every two sites. The paper (section 2.3) has the last; its own scores
    always use it, regardless of this setting. The default is not in the paper."""
    site_wide: Nepotism = "once"
    """A link that most pages of a site have (header, footer, blogroll) counts on each page, once, or not at all."""
    site_wide_share: Unit = 0.5
    """Share of a site's pages that makes a link site-wide: "most pages". Not in the paper."""
    site_wide_pages: Positive = 5
    """Minimum number of pages of a site for a link to count as site-wide. Not in the paper."""
    same_domain: Nepotism = "once"
    """Links between two sites of one registered domain, which one owner may have made: as they are, with weight 1, or
    left out. Where sites are registered domains there are none: links of a site to itself never count."""
    ignored_rel: tuple[str, ...] = ("nofollow", "sponsored", "ugc")
    """Links with one of these in their ``rel`` do not count: their author does not vouch for them (HTML standard,
    section 4.6.7)."""
    common_crawl: tuple[str, ...] = ()
    """Vertices and edges files of Common Crawl's host- or domain-level graph, told apart by ``vertices`` and ``edges``
    in their names or in those of their folders, or a folder of them: their links between the sites of the run are
    added."""
    batch: Positive = 4_000_000
    """Number of links processed at a time; sites are not split."""
    memory: Positive = 1_024
    """Memory limit of the database in megabytes; beyond it, it spills to disk. ``run.memory`` may allow less."""


class RankingSettings(Settings, frozen=True):
    """Ranking of sites that were not crawled (Zhang, Yao & Kit, section 2.3, and beyond)."""

    graph: HostGraphSettings = HostGraphSettings()
    host_graph: tuple[str, ...] = ()
    """Vertices and edges files of a host- or domain-level graph of Common Crawl, told apart by ``vertices`` and
    ``edges`` in their names or in those of their folders, or a folder of them: the hosts that link to a site, and what
    else they link to, become features."""
    host_graph_steps: Positive = 20
    """Iterations of PageRank over that graph: each reads all edges. .85^20 is .04."""
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
    some ten sites can move one of them by 1."""


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
    """Maximum number of pages per site, unless ``crawl.max_site_pages`` is set: enough to see a pattern. Not in the
    paper."""
    probe_pages: Positive = 10
    """Pages fetched of a candidate to judge it. Not in the paper: five in each language, if they are found in turn."""
    skip: tuple[str, ...] = ()
    """Sites that are never tried, by name or by what it ends in: ``facebook.com``, ``blogspot.com``."""
    only: tuple[str, ...] = ()
    """Only sites with such a name or end are tried: ``hk``, ``gov.mo``. Empty: all."""
    starts: Positive = 2
    """Start pages of a candidate besides the root of its host: those with the most links. Not in the paper."""
    accept: Literal["pairs", "patterns", "languages", "all"] = "pairs"
    """Which candidates are added: those with pairs among the probed pages, by a credible URL pattern or, where there is
    none, by a match of these pages; by patterns alone; those with pages in two languages; or all that answer, as the
    paper does."""
    min_pairs: Positive = 2
    """Pairs that the match of the probed pages must find at least. The start pages alone are no translation."""
    min_credibility: Unit = 0.1
    """C(w) of a probed candidate at least: the paper's threshold for a key (section 2.1)."""
    min_share: Unit = 0.1
    """Minimum share of a candidate's pages in the second language: a single page proves nothing. Not in the paper."""
