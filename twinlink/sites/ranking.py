"""Scores of all sites of a host graph, on arrays: the paper's three sums, and the model's probability."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinlink.config.sites import RankingSettings
from twinlink.graph.checks import check_marks
from twinlink.graph.ranking import SeedScores, seed_scores
from twinlink.sites.features import SiteFeatures, site_features
from twinlink.sites.host_graph import HostGraph
from twinlink.sites.model import SiteModel, learn_site_model, prior_model, site_probability
from twinlink.sites.web_graph import WebEvidence
from twinlink.sparse import check_shape


class SiteRanking(msgspec.Struct, frozen=True, eq=False):
    """Scores of the sites of a host graph; arrays have a value per site."""

    paper: SeedScores
    features: SiteFeatures
    model: SiteModel
    ours: NDArray[np.float64]
    """Probability that the site is bilingual, by links alone."""


def rank_sites(
    graph: HostGraph,
    credibility: ArrayLike,
    crawled: ArrayLike,
    rounds: ArrayLike | None = None,
    settings: RankingSettings | None = None,
    disproved: ArrayLike | None = None,
    web: WebEvidence | None = None,
    prior: SiteModel | None = None,
) -> SiteRanking:
    """Rank the sites of a host graph.

    Parameters
    ----------
    graph : HostGraph
        n sites.
    credibility : array_like of float in [0, 1], shape (n,)
        C(w) of crawled sites.
    crawled : array_like of bool, shape (n,)
        The seed set of the paper: what has been crawled so far.
    rounds : array_like of int, shape (n,), optional
        Round that brought a crawled site, 0 for the start. Default: all 0.
    settings : RankingSettings, optional
    disproved : array_like of bool, shape (n,), optional
        Sites that were probed, are not bilingual, and were not crawled: the model learns from them.
    web : WebEvidence, optional
        What a web graph says about the sites.
    prior : SiteModel, optional
        Weights before learning. Default: those that come with twinlink.

    Raises
    ------
    ShapeError
        If the arrays do not fit the graph.
    """
    settings = settings or RankingSettings()
    n = len(graph.sites)
    known, worth = check_marks(crawled, n, "crawled", "sites"), np.asarray(credibility, dtype=np.float64)
    came = np.zeros(n, dtype=np.int64) if rounds is None else np.asarray(rounds)
    wrong = np.zeros(n, dtype=np.bool_) if disproved is None else check_marks(disproved, n, "disproved", "sites")
    for array, name in ((worth, "credibility"), (came, "rounds")):
        check_shape(array, (n,), name, "the sites")
    limits = settings.damping, settings.tolerance, settings.max_iterations
    paper = seed_scores(graph.links, worth, known, *limits)
    features = site_features(graph, worth, known, settings, web)
    proved = known & (graph.n_pages >= settings.min_pages)
    if settings.learn == "rounds":
        proved &= came > 0
    proved |= wrong
    if settings.learn == "nothing":
        model = prior or prior_model()
    else:
        bilingual = known & (worth >= settings.min_credibility)
        model = learn_site_model(features.values[proved], bilingual[proved], settings.ridge, prior)
    return SiteRanking(paper, features, model, site_probability(model, features.values))
