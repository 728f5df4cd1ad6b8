"""Link features of sites, to predict whether a site that was not crawled is bilingual.

Not in the paper. Each feature uses the links *to* a site and properties of other sites, never of the site itself,
so that crawled sites, whose class is known, can serve as training data for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinlink.config.sites import RankingSettings
from twinlink.domains import public_suffix
from twinlink.errors import ShapeError
from twinlink.graph.checks import check_marks
from twinlink.graph.ranking import PageRank, pagerank, seed_sums
from twinlink.odds import logit
from twinlink.sites.host_graph import HostGraph
from twinlink.sites.web_graph import WebEvidence, no_evidence

_WORDS: dict[str, Callable[[float], str]] = {
    "credit": lambda x: f"{10**x:.3g} times an even share of credit",
    "vouched": lambda x: f"mean credibility {x:.2f} of the sites that link to it",
    "in_links": lambda x: f"linked by {2**x - 1:.0f} crawled site" + "s" * (round(2**x) > 2),
    "named": lambda x: f"{x:.0%} of them link to a page of a language",
    "languages": lambda x: ("no language", "one language", "two languages")[round(2 * x)] + " in addresses of links",
    "hreflang": lambda x: "linked with hreflang" if x else "no hreflang",
    "site_wide": lambda x: f"{x:.0%} of its links are in headers and footers",
    "web_hosts": lambda x: f"linked by {10**x - 1:,.0f} host" + "s" * (round(10**x) > 2) + " of the web",
    "cocited": lambda x: f"mean credibility {x:.2f} of what these hosts link to as well",
    "web_credit": lambda x: f"{10**x:.3g} times an even share of credit over the web",
    "suffix": lambda x: f"odds under its suffix times {np.exp(x):.2g}",
}

FEATURES = tuple(_WORDS)
"""Names of the features, in the order of the columns; `twinlink.tables.SITES` describes them."""

_LEAST_CREDIT = 1e-3  # of an even share: logarithms need a floor, and less than this is nothing
_PRIOR_SITES = 5.0  # sites that the rate of the wider suffix counts for


class SiteFeatures(msgspec.Struct, frozen=True, eq=False):
    """Features of the sites of a host graph."""

    values: NDArray[np.float64]
    """shape (n sites, len(FEATURES)), in the order of `FEATURES`; all of the size of 1."""
    pagerank: PageRank
    """The personalised PageRank behind ``credit``."""


def site_features(
    graph: HostGraph,
    credibility: ArrayLike,
    crawled: ArrayLike,
    settings: RankingSettings | None = None,
    web: WebEvidence | None = None,
) -> SiteFeatures:
    """Compute the features of all sites of a host graph.

    Parameters
    ----------
    graph : HostGraph
        n sites.
    credibility : array_like of float in [0, 1], shape (n,)
        C(w) of crawled sites; other values are not used.
    crawled : array_like of bool, shape (n,)
        Sites known to be bilingual or not.
    settings : RankingSettings, optional
    web : WebEvidence, optional
        What a web graph says about the sites (`twinlink.sites.web_graph`). Without it, its features are 0.

    Returns
    -------
    SiteFeatures

    Raises
    ------
    ShapeError
        If the arrays do not fit the graph.
    """
    settings = settings or RankingSettings()
    n = len(graph.sites)
    known = check_marks(crawled, n, "crawled", "sites")
    worth = np.asarray(credibility, dtype=np.float64)
    web = web or no_evidence(n)
    given = {"credibility": worth, **{f"web.{name}": each for name, each in web._asdict().items()}}
    for name, values in given.items():
        if values.shape != (n,):
            raise ShapeError(f"{name}: expected a value for each of {n} sites, got shape {values.shape}")
    worth = np.where(known, worth, 0.0)
    start = worth if worth.any() else known.astype(np.float64)
    ranked = pagerank(
        graph.links, settings.damping, start if start.any() else None, settings.tolerance, settings.max_iterations
    )
    n_linking = seed_sums(graph.links, np.ones(n), known)
    linking = graph.n_sources + 1.0
    columns = {
        "credit": np.log10(np.maximum(ranked.flow * n, _LEAST_CREDIT)),
        "vouched": seed_sums(graph.links, worth, known) / (n_linking + 1),
        "in_links": np.log2(1 + n_linking),
        "named": graph.n_named / linking,
        "languages": np.minimum(graph.n_languages, 2) / 2,
        "hreflang": (graph.n_hreflang > 0).astype(np.float64),
        "site_wide": graph.n_site_wide / linking,
        "web_hosts": np.log10(1 + web.hosts),
        "cocited": web.cocited,
        "web_credit": np.log10(np.maximum(web.credit, 1.0)),
        "suffix": suffix_odds(graph.sites, worth >= settings.min_credibility, known),
    }
    return SiteFeatures(np.column_stack([columns[name] for name in FEATURES]).reshape(n, len(FEATURES)), ranked)


def feature_words(name: str, value: float) -> str:
    """Return a feature of a site in words.

    >>> feature_words("in_links", 2.0), feature_words("languages", 1.0)
    ('linked by 3 crawled sites', 'two languages in addresses of links')
    """
    return _WORDS[name](value)


def suffix_odds(sites: Sequence[str], bilingual: ArrayLike, crawled: ArrayLike) -> NDArray[np.float64]:
    """Return the log odds ratio of bilingual sites among the crawled sites under each site's public suffix.

    log-odds(rate of the public suffix) - log-odds(rate of all), the site itself left out. The rate of a suffix
    (``gov.hk``) leans on that of its last label (``hk``), and that on the rate of all, with the weight of five sites.

    Parameters
    ----------
    sites : sequence of str, length n
    bilingual, crawled : array_like of bool, shape (n,)
        Sites that are bilingual, and those of which it is known.

    Returns
    -------
    float64 array, shape (n,)
        0: nothing is known.

    Examples
    --------
    >>> known = np.array([True] * 8 + [False])
    >>> odds = suffix_odds([f"{k}.hk" for k in "abcd"] + [f"{k}.com" for k in "abcde"], [True] * 4 + [False] * 5, known)
    >>> odds[-1].round(2), odds[0].round(2)
    (np.float64(-0.96), np.float64(0.85))
    """
    known = np.asarray(crawled, dtype=np.bool_)
    yes = np.asarray(bilingual, dtype=np.bool_) & known
    n_all, n_yes = known.sum() - known, yes.sum() - yes
    everywhere = (n_yes + 1.0) / (n_all + 2.0)
    suffixes = [public_suffix(site) for site in sites]
    rate = everywhere
    for names in ([suffix.rpartition(".")[2] for suffix in suffixes], suffixes):
        _, group = np.unique(names, return_inverse=True)
        inside = np.bincount(group, known)[group] - known
        right = np.bincount(group, yes)[group] - yes
        narrower = (right + _PRIOR_SITES * rate) / (inside + _PRIOR_SITES)
        counted = np.array([names is suffixes and "." not in suffix for suffix in suffixes], dtype=np.bool_)
        rate = np.where(counted, rate, narrower)
    return logit(rate) - logit(everywhere)
