"""Discovery on a simulated web, in memory: rank the linked sites, add the best, repeat.

The scores (`twinlink.sites.ranking`) and the patterns of added sites are those of the package. A host's
links are known when it has been crawled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from experiments.simweb.listing import MiningSettings, Tally, list_site, tally_of
from experiments.simweb.mining import Learned
from experiments.simweb.world import OK, REFUSED, SPAM, World
from twinlink.config.patterns import PatternSettings
from twinlink.config.sites import RankingSettings
from twinlink.languages import address_pattern
from twinlink.patterns.credibility import credible_keys
from twinlink.patterns.library import PatternLibrary
from twinlink.rundir.rounds import FARM
from twinlink.sites.host_graph import HostGraph
from twinlink.sites.ranking import SiteRanking, rank_sites

__all__ = ["CRITERIA", "OURS", "Known", "Round", "best", "crawl_of", "explore", "is_true", "rank"]

OURS = "ours"
CRITERIA = ("Σ Linkout", "Σ PageRank", "Σ weighted PageRank", OURS)

Hosts = NDArray[np.int64]


@dataclass
class Known:
    """The crawled hosts; arrays have one entry per host of the world."""

    crawled: NDArray[np.bool_]
    silent: NDArray[np.bool_]
    """Requested hosts that gave no pages: dead, refused by robots.txt, errors."""
    credibility: NDArray[np.float64]
    rounds: NDArray[np.int64]
    n_pages: NDArray[np.int64]
    library: PatternLibrary
    copies: NDArray[np.int64] | None = None
    """Copies of each host that were found; None: copies are added like other hosts, and nothing is counted."""

    def copy(self) -> Known:
        """Return a copy that may be changed."""
        return Known(
            self.crawled.copy(),
            self.silent.copy(),
            self.credibility.copy(),
            self.rounds.copy(),
            self.n_pages.copy(),
            PatternLibrary(dict(self.library.sums)),
            None if self.copies is None else self.copies.copy(),
        )


class Round(msgspec.Struct, frozen=True):
    """Results of a round."""

    number: int
    criterion: str
    asked: int
    """Number of chosen hosts."""
    silent: int
    """Chosen hosts that gave no pages."""
    bilingual: int
    """Chosen hosts that are truly bilingual."""
    said: int
    """Chosen hosts with a credible or rescued pattern."""
    pairs: Tally
    copied: int
    """Pairs on mirrors of hosts crawled before, which have no new text."""
    spam: int
    """Chosen hosts that belong to link farms."""


def crawl_of(world: World, learned: Learned, credibility: Mapping[int, float]) -> Known:
    """Return the state after the seeds have been mined."""
    n = len(world.kind)
    known = Known(
        np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int64),
        PatternLibrary(dict(learned.library.sums)),
    )  # fmt: skip
    known.crawled[world.seeds] = True
    for number, value in credibility.items():
        known.credibility[number] = value
        known.n_pages[number] = learned.patterns[number].n_pages
    return known


def is_true(world: World, hosts: Hosts) -> NDArray[np.bool_]:
    """Mark the truly bilingual hosts: they respond to a browser, have pages in two languages, and are no spam."""
    wanted: NDArray[np.bool_] = world.bilingual[hosts] & (world.kind[hosts] != SPAM)
    return wanted & np.isin(world.state[hosts], (OK, REFUSED))


def host_graph(world: World, known: Known) -> tuple[HostGraph, Hosts]:
    """Return the graph of the crawled hosts and of all hosts that they link to, and the host number of each node.

    A link to the page of a language names that language if the package reads it from the address.
    """
    counted = known.crawled if known.copies is None else known.crawled & (known.copies < FARM)
    sources = np.repeat(np.arange(len(world.kind)), np.where(counted, np.diff(world.links.indptr), 0))
    of_crawled = np.repeat(counted, np.diff(world.links.indptr))
    targets, bits = world.links.indices[of_crawled].astype(np.int64), world.links.data[of_crawled]
    hosts = np.union1d(np.flatnonzero(known.crawled), targets)
    names = [world.host(number) for number in hosts.tolist()]
    order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    hosts, n = hosts[order], len(order)
    node = np.full(len(world.kind), -1, np.int64)
    node[hosts] = np.arange(n)
    rows, columns = node[sources], node[targets]
    named = ((bits & 2) > 0) & _named(world)[targets]
    links = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    links.sort_indices()
    marks = [np.bincount(columns, mark, n).astype(np.int64) for mark in (np.ones(len(rows)), named, (bits & 4) > 0)]
    pages = np.where(known.crawled, known.n_pages, 0)[hosts]
    nothing = np.zeros(n, np.int64)
    graph = HostGraph(
        [names[k] for k in order.tolist()],
        links,
        pages,
        marks[0],
        marks[1],
        np.minimum(marks[1], 1),
        nothing,
        marks[2],
    )
    return graph, hosts


def _named(world: World) -> NDArray[np.bool_]:
    """Mark the hosts whose address for the second language names one."""
    reads = re.compile(address_pattern())
    codes = world.convention.astype(np.int64) * 2 + world.bilingual
    named = np.zeros(len(codes), np.bool_)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    of_code = [bool(reads.match(world.home(int(number), 1).lower())) for number in first.tolist()]
    named[:] = np.array(of_code)[inverse]
    return named


def rank(world: World, known: Known, settings: RankingSettings) -> tuple[SiteRanking, dict[str, Hosts]]:
    """Rank all hosts that were not requested yet, by each criterion, the best first."""
    graph, hosts = host_graph(world, known)
    found = rank_sites(graph, known.credibility[hosts], known.crawled[hosts], known.rounds[hosts], settings)
    paper = found.paper
    scores = (paper.linkout_sum, paper.pagerank_sum, paper.weighted_sum, found.ours)
    candidates = np.flatnonzero(~known.crawled[hosts] & ~known.silent[hosts])
    ranked = {}
    for criterion, score in zip(CRITERIA, scores, strict=True):
        order = np.lexsort((candidates, -score[candidates]))
        ranked[criterion] = hosts[candidates[order]]
    return found, ranked


def best(
    world: World, known: Known, settings: RankingSettings, top: int
) -> tuple[SiteRanking, dict[str, NDArray[np.int64]]]:
    """Return, for each criterion, the number of truly bilingual hosts among the first N, for N from 1 to ``top``."""
    found, ranked = rank(world, known, settings)
    return found, {criterion: np.cumsum(is_true(world, hosts[:top])) for criterion, hosts in ranked.items()}


def explore(
    world: World,
    start: Known,
    criterion: str,
    n_rounds: int,
    top: int,
    settings: tuple[MiningSettings, PatternSettings, RankingSettings],
) -> list[Round]:
    """Add the ``top`` best hosts, crawl them, learn from them, and repeat."""
    known, rounds = start.copy(), []
    for number in range(1, n_rounds + 1):
        _, ranked = rank(world, known, settings[2])
        rounds.append(_visit(world, known, ranked[criterion][:top], number, criterion, settings))
    return rounds


def _visit(
    world: World,
    known: Known,
    hosts: Hosts,
    number: int,
    criterion: str,
    settings: tuple[MiningSettings, PatternSettings, RankingSettings],
) -> Round:
    """Crawl hosts and learn their patterns, with the library of all hosts crawled before."""
    mining, patterns, _ = settings
    keys = credible_keys(known.library, patterns)
    have = set(world.original[known.crawled].tolist())
    pairs, copied, said = Tally(), 0, 0
    known.silent[hosts] = world.state[hosts] != OK
    silent = int(known.silent[hosts].sum())
    for host in hosts[~known.silent[hosts]].tolist():
        if known.copies is not None and world.bilingual[host] and world.original[host] in have:
            known.copies[_crawled_twin(world, known, host)] += 1
            known.silent[host] = True
            continue
        site = list_site(world, host, mining)
        found = site.learned(patterns, keys)
        of_site = tally_of(site.pages, site.used(found))
        pairs = pairs.plus(of_site)
        origin = int(world.original[host])
        copied += of_site.pairs if origin in have else 0
        have.add(origin)
        said += any(each.verdict != "weak" for each in found.patterns)
        known.library.add(found)
        known.crawled[host], known.rounds[host] = True, number
        known.credibility[host], known.n_pages[host] = found.credibility, found.n_pages
    true = int(is_true(world, hosts).sum())
    spam = int((world.kind[hosts] == SPAM).sum())
    return Round(number, criterion, len(hosts), silent, true, said, pairs, copied, spam)


def _crawled_twin(world: World, known: Known, host: int) -> int:
    """Return the first crawled host with the text of a host."""
    return int(np.flatnonzero(known.crawled & (world.original == world.original[host]))[0])
