"""Link farms in two languages on a simulated web, in memory: our ranking, with and without a test of copies.

::

    python -m experiments.simweb_farms [--hosts 50000] [--seeds 640] [--top 200] [--rounds 3] [--webs 3] [--first 0]

**This is a simulation** (`experiments.simweb`). All hosts of a bilingual farm have one text, and links to them name a
language as often as links to other bilingual hosts do. *Copies found*: a host is not added if one that was crawled has
its text, and the links of a host with several copies do not count (`twinlink.rundir.rounds.FARM`), as in `discover`.
Here, copies are known by the truth, not by their text.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from experiments.simweb.exploring import OURS, Known, Round, crawl_of, explore
from experiments.simweb.listing import MiningSettings
from experiments.simweb.mining import learn_hosts
from experiments.simweb.world import World, WorldSettings, make_world
from experiments.tables import print_grid
from twinlink.config.patterns import PatternSettings
from twinlink.config.sites import RankingSettings

__all__ = ["SHARES", "main", "rounds_of", "rows"]

SHARES = {"farms in one language": 0.0, "farms in two languages": 1.0}
"""Share of the farms that are bilingual."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, default in (("hosts", 50_000), ("seeds", 640), ("top", 200), ("rounds", 3), ("webs", 3), ("first", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args(arguments)
    numbers = range(given.first, given.first + given.webs)
    print_grid("Link farms", list(rows(numbers, given.hosts, given.seeds, given.rounds, given.top)))


def rows(numbers: Sequence[int], hosts: int, seeds: int, n_rounds: int, top: int) -> Iterator[Sequence[str]]:
    """Yield the rows of the table: means of several webs."""
    yield "web", "copies found", *(f"round {k}: bilingual, spam" for k in range(1, n_rounds + 1))
    for title, share in SHARES.items():
        worlds = [WorldSettings(hosts=hosts, seeds=seeds, seed=number, farms_bilingual=share) for number in numbers]
        starts = [start_of(make_world(settings)) for settings in worlds]
        for label, is_found in (("no", False), ("yes", True)):
            found = [rounds_of(world, known, n_rounds, top, copies=is_found) for world, known in starts]
            cells = [
                f"{np.mean([row.bilingual for row in each]):.1f}, {np.mean([row.spam for row in each]):.1f}"
                for each in zip(*found, strict=True)
            ]
            yield title, label, *cells


def start_of(world: World) -> tuple[World, Known]:
    """Return a web and what is known after its seeds have been mined."""
    learned = learn_hosts(world, world.seeds.tolist(), MiningSettings(), PatternSettings())
    return world, crawl_of(world, learned, {host: each.credibility for host, each in learned.patterns.items()})


def rounds_of(world: World, start: Known, n_rounds: int, top: int, *, copies: bool) -> list[Round]:
    """Follow our ranking for some rounds."""
    known = start.copy()
    known.copies = np.zeros(len(world.kind), np.int64) if copies else None
    return explore(world, known, OURS, n_rounds, top, (MiningSettings(), PatternSettings(), RankingSettings()))


if __name__ == "__main__":
    main()
