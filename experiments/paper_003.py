"""Tables 1 to 3 and Figure 2 of Zhang, Yao & Kit: on real sites, and on a simulated web.

::

    python -m experiments.paper_003 [SITES...] [--hosts 100000] [--seeds 1280] [--top 200] [--seed 0] [--out FOLDER]

On real sites (folders with known pairs and plain addresses): **patterns**, the pairs that keys find and which keys
(`experiments.url_patterns`), and **deep pages** (Table 1, section 2.2), pages that are hidden and found again
(`experiments.deep_pages`). On a simulated web (`experiments.simweb`; a simulation, whose assumptions are stated there):
**Table 2**, the strongest keys, **Table 3**, pairs and precision of each step, and **Figure 2**, truly bilingual sites
among the best N. `experiments.simweb_memory` measures the same on a web of the paper's size and on others; here it is a
tenth of it, in a few minutes. ``--hosts 0`` leaves it out. ``--out`` gets the picture.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.cases import find_cases, open_case
from experiments.charts import save_lines
from experiments.deep_pages import recovery_of
from experiments.simweb.listing import MiningSettings
from experiments.simweb.mining import learn_hosts
from experiments.simweb.world import WorldSettings, make_world
from experiments.simweb_memory import curve_rows, key_rows, measure_pairs, measure_ranking, pair_rows
from experiments.tables import Column, number, print_grid, print_tables
from experiments.url_patterns import real_site
from twinlink.config.patterns import PatternSettings

__all__ = ["HIDDEN", "main", "real_sites", "simulated"]

HIDDEN = 0.2
"""Share of the known pairs whose second page is hidden."""
STEP = 10
"""Every tenth N is drawn."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the sites and the simulated web, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", nargs="*", type=Path, help="site folders with plain addresses, or folders of them")
    parser.add_argument("--hosts", type=int, default=100_000, help="hosts of the simulated web; 0: none")
    parser.add_argument("--seeds", type=int, default=1_280, help="seeds among them")
    parser.add_argument("--top", type=int, default=200, help="sites that a round adds, and N of the picture")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers")
    parser.add_argument("--out", type=Path, help="folder for the picture")
    given = parser.parse_args(arguments)
    folders = find_cases(given.sites)
    if folders:
        real_sites(folders)
    if given.hosts:
        simulated(WorldSettings(hosts=given.hosts, seeds=given.seeds, seed=given.seed), given.top, given.out)


def real_sites(folders: Sequence[Path]) -> None:
    """Print the pairs by keys, and the deep pages that are found."""
    columns: dict[str, Column] = {}
    for folder in folders:
        with open_case(folder) as case:
            columns[case.name] = real_site(case)
    print_tables(columns)
    rows = [[folder.name, *_deep_cells(folder)] for folder in folders]
    print_grid("Deep pages", [["site", "hidden", "requests", "found", "recall", "precision"], *rows])


def _deep_cells(folder: Path) -> list[str]:
    told = recovery_of(folder, HIDDEN, soft=False, seed=0)
    recall = told.right / told.hidden if told.hidden else float("nan")
    precision = told.right / told.found if told.found else float("nan")
    return [str(told.hidden), str(told.requests), str(told.found), number(recall), number(precision)]


def simulated(settings: WorldSettings, top: int, out: Path | None) -> None:
    """Print Tables 2 and 3 and Figure 2 of one simulated web, and draw the figure."""
    world = make_world(settings)
    learned = learn_hosts(world, world.seeds.tolist(), MiningSettings(), PatternSettings())
    print_grid("Table 2: keys by C(p)", key_rows(learned))
    printed = learn_hosts(world, world.seeds.tolist(), MiningSettings(), PatternSettings(printed=True))
    print_grid("Table 2, every site with a pair counted, as printed", key_rows(printed))
    print_grid("Table 3: pairs (precision)", pair_rows(world, measure_pairs(world, learned, top)))
    ranked = measure_ranking(world, learned, 0, top)
    print_grid("Figure 2: truly bilingual among the best N", curve_rows(ranked.curves))
    if out:
        n = np.arange(STEP, top + 1, STEP)
        save_lines(
            out / "figure-2.svg",
            "Truly bilingual sites among the best N outside sites of a simulated web",
            {name: (n.astype(np.float64), curve[n - 1].astype(np.float64)) for name, curve in ranked.curves.items()},
            ("best N outside sites", (0.0, float(top))),
            ("truly bilingual", (0.0, float(top))),
        )


if __name__ == "__main__":
    main()
