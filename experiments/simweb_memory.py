"""Zhang, Yao & Kit's Table 3 and Figure 2 on a simulated web of the paper's size, in memory.

::

    python -m experiments.simweb_memory [--hosts 1000000] [--seeds 12800] [--seed 0] [--top 500] [--rounds 3]
                                        [--out FOLDER]

**This is a simulation.** The patterns, credibility, rescue, guesses of deep pages, host graph scores and learned
weights are those of the package. Simulated are the hosts, their links and their addresses (`experiments.simweb.world`:
heavy tails, topics, bilingual hosts that link to such hosts more often than at random, farms, mirrors), the language
finder and the responses to wrong addresses (`experiments.simweb.listing`). The number of pairs, the shares of weak and
deep ones, and the share of wrong translations are therefore assumptions. Measured is which of them the methods find,
what other pairs they report, and which sites a ranking puts first under these assumptions. A crawl gets all linked
pages of a site.

Table 3 is printed for three ways: the paper's (weak keys with C(p) > 500 are kept, the next sites by Σ weighted
PageRank), ours, and ours where no language is known. Figure 2 is drawn for webs without spam, with many small link
farms and mirrors, the same without the preference of bilingual hosts for each other (topics still differ), and with few
farms that many guest books link to; ``--out`` gets ``simulated-web.svg``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from experiments.simweb.exploring import CRITERIA, OURS, Known, Round, best, crawl_of, explore
from experiments.simweb.listing import MiningSettings, Tally
from experiments.simweb.mining import Learned, SeedMine, learn_hosts, mine_hosts
from experiments.simweb.picture import draw
from experiments.simweb.world import World, WorldSettings, make_world
from experiments.tables import number, print_grid
from twinlink.config.patterns import PatternSettings
from twinlink.config.recover import RecoverSettings
from twinlink.config.sites import RankingSettings
from twinlink.sites.features import FEATURES
from twinlink.sites.model import SiteModel

__all__ = ["WEBS", "curve_rows", "key_rows", "main", "measure_pairs", "measure_ranking", "pair_rows"]

WITHOUT, MAIN = "without spam", "many small farms, mirrors"
WEBS: dict[str, dict[str, float]] = {
    WITHOUT: {"spam": 0.0, "copies": 0.0},
    MAIN: {},
    "the same, no homophily": {"homophily": 0.0},
    "few farms, mirrors": {"spam": 0.001},
}
"""Changed settings of the world."""
SHOWN = (50, 100, 200, 300, 400, 500)
PAPER_KEYS = {("en", "tc"): 13997.36, ("eng", "tc"): 12869.56, ("english", "tc_chi"): 11436.12,
              ("chinese", "english"): 11032.46, ("chi", "eng"): 7824.86}  # fmt: skip
"""Table 2."""
PAPER = {
    "baseline": "290,247 (.941)",
    "weak keys rescued": "10,015 (.893)",
    "deep pages": "15,825 (.950)",
    "next sites": "37,491 (.994)",
    "total": "348,058 (.947)",
    "right ones added": "55,674 (20.8 %)",
}
"""Table 3: pairs and precision."""


class Way(msgspec.Struct, frozen=True):
    """One way to mine the seeds and to choose the next sites."""

    name: str
    patterns: PatternSettings
    again: bool
    criterion: str
    languages: bool = True


WAYS = (
    Way("the paper's way", PatternSettings(rescue="sum"), again=False, criterion="Σ weighted PageRank"),
    Way("ours", PatternSettings(), again=True, criterion=OURS),
    Way("ours, addresses alone", PatternSettings(), again=True, criterion=OURS, languages=False),
)


class Mined(NamedTuple):
    """Results of one way."""

    seeds: SeedMine
    first: Round
    """The first round of added sites."""


class Ranked(NamedTuple):
    """Quality of the rankings of one web."""

    curves: dict[str, NDArray[np.int64]]
    """From a criterion to the number of truly bilingual sites among the first N."""
    others: dict[str, NDArray[np.int64]]
    """The same for variants of our ranking."""
    model: SiteModel
    rounds: list[Round]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables and draw the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hosts", type=int, default=1_000_000)
    parser.add_argument("--seeds", type=int, default=12_800)
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers")
    parser.add_argument("--top", type=int, default=500, help="sites that a round adds, and N of the picture")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="folder for the picture")
    given = parser.parse_args(arguments)
    settings = WorldSettings(hosts=given.hosts, seeds=given.seeds, seed=given.seed)
    curves = {}
    before: tuple[World, Learned] | None = None
    for title, changed in WEBS.items():
        world = make_world(replace(settings, **changed))
        if before and _same_pages(before[0], world):
            learned = before[1]
        else:
            learned = learn_hosts(world, world.seeds.tolist(), MiningSettings(), PatternSettings())
        before = world, learned
        if title == MAIN:
            print_grid(f"pairs: {title}", pair_rows(world, measure_pairs(world, learned, given.top)))
            print_grid("keys by C(p)", key_rows(learned))
        n_rounds = given.rounds if title in (WITHOUT, MAIN) else 0
        ranked = measure_ranking(world, learned, n_rounds, given.top)
        curves[title] = ranked.curves
        print_grid(f"truly bilingual among the best N: {title}", curve_rows({**ranked.curves, **ranked.others}))
        if ranked.rounds:
            print_grid(f"rounds of {given.top} sites: {title}", _round_rows(ranked.rounds))
        print_grid(f"weights learned from the seeds: {title}", _model_rows(ranked.model))
    if given.out:
        draw(curves, given.out / "simulated-web.svg")


def _same_pages(world: World, other: World) -> bool:
    """Return whether the seeds of two webs have the same pages, because the webs differ only in their links."""
    names = ("seeds", "kind", "bilingual", "weak", "convention", "articles", "original")
    return all(np.array_equal(getattr(world, name), getattr(other, name)) for name in names)


def measure_pairs(world: World, learned: Learned, top: int) -> dict[str, Mined]:
    """Mine the seeds in each way, and the first round of added sites.

    Parameters
    ----------
    learned : Learned
        The seeds, each by itself, with languages.
    """
    found = {}
    blind: Learned | None = None
    for way in WAYS:
        mining = MiningSettings(languages=way.languages)
        if not way.languages:
            blind = blind or learn_hosts(world, world.seeds.tolist(), mining, way.patterns)
        own = learned if way.languages or blind is None else blind
        mine, credibility = mine_hosts(world, own, mining, way.patterns, RecoverSettings(), again=way.again)
        settings = mining, way.patterns, RankingSettings()
        (first,) = explore(world, crawl_of(world, own, credibility), way.criterion, 1, top, settings)
        found[way.name] = Mined(mine, first)
    return found


def measure_ranking(world: World, learned: Learned, n_rounds: int, top: int) -> Ranked:
    """Measure the rankings of the sites outside the seeds, and follow each for some rounds."""
    start = _start(world, learned)
    settings = RankingSettings()
    found, curves = best(world, start, settings, top)
    unlearned = best(world, start, RankingSettings(learn="nothing"), top)[1][OURS]
    mute = world.links.copy()
    mute.data = mute.data & np.uint8(0xFF ^ 2)
    unnamed = best(replace(world, links=mute), start, settings, top)[1][OURS]
    others = {"ours, weights as they come": unlearned, "ours, no address names a language": unnamed}
    each = MiningSettings(), PatternSettings(), settings
    rounds = [row for criterion in CRITERIA for row in explore(world, start, criterion, n_rounds, top, each)]
    return Ranked(curves, others, found.model, rounds)


def _start(world: World, learned: Learned) -> Known:
    return crawl_of(world, learned, {host: found.credibility for host, found in learned.patterns.items()})


def pair_rows(world: World, found: Mapping[str, Mined]) -> Iterator[Sequence[str]]:
    """Yield the rows of Table 3: pairs and precision in each way."""
    yield ["pairs (precision)", "the paper (real web)", *found]
    for label, paper in PAPER.items():
        yield [label, paper, *(_pair_cell(label, each) for each in found.values())]
    seeds = [each.seeds for each in found.values()]
    yield ["baseline pairs lost by the rescue", "", *(_cell(each.lost) for each in seeds)]
    yield ["true pairs, linked pages", "", *(f"{each.linked_pairs:,}" for each in seeds)]
    yield ["true pairs, all pages", "", *(f"{each.all_pairs:,}" for each in seeds)]
    yield ["recall of all, seeds", "", *(number(each.total.right / max(1, each.all_pairs)) for each in seeds)]
    yield ["addresses asked for", "", *(f"{each.asked:,}" for each in seeds)]
    yield ["pages of seeds", "", *(f"{each.n_pages:,}" for each in seeds)]
    share = f"{world.bilingual[world.seeds].mean():.1%}"
    yield ["bilingual seeds", "", *([share] * len(seeds))]


def _pair_cell(label: str, found: Mined) -> str:
    seeds, added = found.seeds, found.first.pairs
    parts = {
        "baseline": seeds.baseline,
        "weak keys rescued": seeds.rescued,
        "deep pages": seeds.deep,
        "next sites": added,
        "total": seeds.total.plus(added),
    }
    if label in parts:
        return _cell(parts[label])
    more = parts["total"].right - seeds.baseline.right
    return f"{more:,} ({100 * more / max(1, seeds.baseline.right):.1f} %)"


def _cell(tally: Tally) -> str:
    return f"{tally.pairs:,} ({number(tally.precision)})"


def key_rows(learned: Learned) -> Iterator[Sequence[str]]:
    """Yield the rows of Table 2: the strongest keys."""
    yield ["key", "C(p)", "C(p) in Table 2", "sites", "credible on"]
    for key, sums in list(learned.library.rows())[:12]:
        paper = PAPER_KEYS.get((key.source, key.target))
        shown = f"⟨{key.source}, {key.target}⟩"
        yield [
            shown,
            f"{sums.credibility:,.0f}",
            f"{paper:,.0f}" if paper else "",
            f"{sums.n_sites:,}",
            f"{sums.n_credible:,}",
        ]


def curve_rows(curves: Mapping[str, NDArray[np.int64]]) -> Iterator[Sequence[str]]:
    """Yield the rows of Figure 2: truly bilingual sites among the best N."""
    most = min(map(len, curves.values()))
    shown = [n for n in SHOWN if n <= most] or [most]
    yield ["N", *map(str, shown), "share of the last"]
    for criterion, curve in curves.items():
        last = number(float(curve[shown[-1] - 1]) / shown[-1])
        yield [criterion, *(str(curve[n - 1]) for n in shown), last]


def _round_rows(rounds: Iterable[Round]) -> Iterator[Sequence[str]]:
    yield ["ranked by", "round", "sites", "no answer", "truly bilingual", "with a pattern", "pairs", "P", "on mirrors"]
    for each in rounds:
        counts = (each.number, each.asked, each.silent, each.bilingual, each.said)
        pairs = f"{each.pairs.pairs:,}", number(each.pairs.precision), f"{each.copied:,}"
        yield [each.criterion, *map(str, counts), *pairs]


def _model_rows(model: SiteModel) -> Iterator[Sequence[str]]:
    yield [*FEATURES, "intercept"]
    yield [*(f"{weight:.2f}" for weight in model.weights.tolist()), f"{model.intercept:.2f}"]


if __name__ == "__main__":
    main()
