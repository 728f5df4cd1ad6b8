"""What Common Crawl's host graph adds to the ranking of sites, on simulated webs.

::

    python -m experiments.host_graph [--hosts 50000] [--seeds 640] [--webs 5] [--first 0] [--top 200] [--share 1.0]
                                     [--weights]

**This is a simulation** (`experiments.simweb.world`). The links of a share of all hosts of a web are written in the
form of Common Crawl's files and read with `twinlink.sites.web_graph`. A number is the mean, over random webs, of the
truly bilingual sites among the best ``--top`` by our ranking: without the host graph, with each of its features, with
all; with weights learned from the seeds, and with the weights as they come. *Better* and *worse* count the webs where
it is more or less than without the host graph. ``--weights`` compares weights that the features could come with.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from experiments.simweb.exploring import Known, crawl_of, host_graph, is_true
from experiments.simweb.listing import MiningSettings
from experiments.simweb.mining import learn_hosts
from experiments.simweb.world import World, WorldSettings, make_world
from experiments.simweb_memory import WEBS
from experiments.tables import print_grid
from twinlink.config.patterns import PatternSettings
from twinlink.config.sites import RankingSettings
from twinlink.sites.features import FEATURES
from twinlink.sites.host_graph import HostGraph
from twinlink.sites.model import SiteModel, prior_model
from twinlink.sites.ranking import rank_sites
from twinlink.sites.web_files import WebFiles
from twinlink.sites.web_graph import WebEvidence, no_evidence, read_web_graph

__all__ = ["NONE", "PRIORS", "Start", "main", "measure_web", "rows", "start_of", "write_graph"]

NONE = "no host graph"
VARIANTS = {
    NONE: (),
    "web_hosts": ("hosts",),
    "cocited": ("cocited",),
    "web_credit": ("credit",),
    "all three": ("hosts", "cocited", "credit"),
}
"""The evidence that each variant has."""
PRIORS = [
    (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 2.0, 0.0), (0.0, 4.0, 0.0), (0.0, 6.0, 0.0), (0.0, 8.0, 0.0),
    (0.0, 0.0, 0.3), (0.0, 2.0, 0.3), (0.0, 4.0, 0.3), (-0.2, 4.0, 0.3), (-0.2, 4.0, 0.0), (0.2, 4.0, 0.0),
]  # fmt: skip
"""Weights of ``web_hosts``, ``cocited``, ``web_credit`` that are compared."""
LEARNED: tuple[Literal["all", "nothing"], ...] = ("all", "nothing")

Counts = dict[tuple[str, str], int]
"""From a variant and how its weights are learned to the truly bilingual sites among the best."""


class Start(NamedTuple):
    """A web whose seeds have been crawled, and what its host graph says."""

    world: World
    known: Known
    graph: HostGraph
    hosts: NDArray[np.int64]
    """Number of the host of each site of the graph."""
    web: WebEvidence


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table for each kind of web."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hosts", type=int, default=50_000)
    parser.add_argument("--seeds", type=int, default=640)
    parser.add_argument("--webs", type=int, default=5, help="random webs of each kind")
    parser.add_argument("--first", type=int, default=0, help="seed of the random numbers of the first web")
    parser.add_argument("--top", type=int, default=200)
    parser.add_argument("--share", type=float, default=1.0, help="share of the hosts whose links the host graph has")
    parser.add_argument("--weights", action="store_true", help="compare the weights that the features come with")
    given = parser.parse_args(arguments)
    for title, changed in WEBS.items():
        found = []
        for seed in range(given.first, given.first + given.webs):
            settings = replace(WorldSettings(hosts=given.hosts, seeds=given.seeds, seed=seed), **changed)
            start = start_of(settings, given.share)
            found.append(measure_priors(start, given.top) if given.weights else measure_web(start, given.top))
        print_grid(f"truly bilingual among the best {given.top}, {given.webs} webs: {title}", rows(found))


def start_of(settings: WorldSettings, share: float = 1.0) -> Start:
    """Make a web, mine its seeds, write its links as a host graph, and read that."""
    world = make_world(settings)
    learned = learn_hosts(world, world.seeds.tolist(), MiningSettings(), PatternSettings())
    known = crawl_of(world, learned, {host: each.credibility for host, each in learned.patterns.items()})
    graph, hosts = host_graph(world, known)
    with tempfile.TemporaryDirectory() as room:
        files = write_graph(world, Path(room), share, settings.seed)
        web = read_web_graph(files, graph.sites, known.credibility[hosts], known.crawled[hosts], Path(room))
    return Start(world, known, graph, hosts, web)


def write_graph(world: World, folder: Path, share: float, seed: int) -> WebFiles:
    """Write the links of some hosts, drawn at random, as Common Crawl publishes them."""
    n = len(world.kind)
    vertices, edges = folder / "vertices.txt", folder / "edges.txt"
    names = (".".join(reversed(world.host(number).split("."))) for number in range(n))
    vertices.write_text("".join(f"{number}\t{name}\n" for number, name in enumerate(names)))
    kept = np.random.default_rng(seed).random(n) < share
    sources = np.repeat(np.arange(n), np.diff(world.links.indptr))
    links = np.column_stack([sources, world.links.indices])[kept[sources]]
    np.savetxt(edges, links, fmt="%d", delimiter="\t")
    return WebFiles([vertices], [edges])


def measure_web(start: Start, top: int) -> Counts:
    """Count the truly bilingual sites among the best, with and without each feature."""
    nothing = no_evidence(len(start.hosts))
    kinds = {name: nothing._replace(**{k: getattr(start.web, k) for k in kept}) for name, kept in VARIANTS.items()}
    return {
        (name, learn): _found(start, top, web, learn, prior_model()) for learn in LEARNED for name, web in kinds.items()
    }


def measure_priors(start: Start, top: int) -> Counts:
    """Count the truly bilingual sites among the best, with different weights to start from."""
    nothing = no_evidence(len(start.hosts))
    found: Counts = {(NONE, learn): _found(start, top, nothing, learn, prior_model()) for learn in LEARNED}
    for weights in PRIORS:
        prior, name = _with_weights(weights), ", ".join(f"{w:g}" for w in weights)
        found |= {(name, learn): _found(start, top, start.web, learn, prior) for learn in LEARNED}
    return found


def _with_weights(weights: tuple[float, float, float]) -> SiteModel:
    prior, names = prior_model(), list(FEATURES)
    prior.weights[[names.index(name) for name in ("web_hosts", "cocited", "web_credit")]] = weights
    return prior


def _found(start: Start, top: int, web: WebEvidence, learn: Literal["all", "nothing"], prior: SiteModel) -> int:
    known, hosts = start.known, start.hosts
    settings = RankingSettings(learn=learn)
    crawled, came = known.crawled[hosts], known.rounds[hosts]
    ranked = rank_sites(start.graph, known.credibility[hosts], crawled, came, settings, web=web, prior=prior)
    candidates = np.flatnonzero(~crawled)
    order = np.lexsort((candidates, -ranked.ours[candidates]))
    return int(is_true(start.world, hosts[candidates[order[:top]]]).sum())


def rows(found: Sequence[Mapping[tuple[str, str], int]]) -> Iterator[Sequence[str]]:
    """Yield the rows of the table of some webs.

    >>> list(rows([{("no host graph", "all"): 2, ("x", "all"): 3}, {("no host graph", "all"): 3, ("x", "all"): 3}]))[2]
    ['x', '3.0', '1', '0']
    """
    learned = list(dict.fromkeys(learn for _, learn in found[0]))
    heads = {"all": "learned", "nothing": "as they come"}
    yield ["", *(head for learn in learned for head in (heads[learn], "better", "worse"))]
    for name in dict.fromkeys(name for name, _ in found[0]):
        row = [name]
        for learn in learned:
            more = np.array([each[name, learn] - each[NONE, learn] for each in found])
            mean = np.mean([each[name, learn] for each in found])
            row += [f"{mean:.1f}", str((more > 0).sum()), str((more < 0).sum())]
        yield row


if __name__ == "__main__":
    main()
