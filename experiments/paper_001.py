"""The figures of Liu et al. on our sites: F1 of each similarity alone, over β, and of ETS over α and rounds.

::

    python -m experiments.paper_001 SITES... --lexicons FOLDER --out FOLDER

prints one table per figure, with one column per site, and draws the figures as SVG with ``--out``; with ``--single``
only the table of each evidence alone is made. All F1 are at the best threshold (the oracle's), but for the rows
``own cut``, which are what `twinlink match` reports with its default settings.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import scipy.sparse as sp

from experiments.cases import Case, f1_of, find_cases, find_lexicons, open_case, oracle_f1
from twinlink.config import EtsSettings, MatchSettings
from twinlink.graph.links import neighbours
from twinlink.graph.propagation import enhanced_similarity
from twinlink.match.selection import match_sides
from twinlink.sparse import with_values

BETAS = tuple(round(0.1 * step, 1) for step in range(11))
ALPHAS = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
ROUNDS = (0, 1, 2, 3, 4, 5, 8)

Row = tuple[str, dict[str, float]]


def main() -> None:
    """Print the tables of all given sites and draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sites", nargs="+", type=Path, help="site folders, or folders of them")
    parser.add_argument("--lexicons", type=Path, help="folder of lexicons named like zh-en.tsv.xz")
    parser.add_argument("--out", type=Path, help="folder for the pictures")
    parser.add_argument("--single", action="store_true", help="only each evidence alone and the own cuts, no figures")
    given = parser.parse_args()
    tables: dict[str, dict[str, dict[str, float]]] = {}
    for folder in find_cases(given.sites):
        with open_case(folder) as case:
            for name, column in measure(case, given.lexicons, figures=not given.single).items():
                for label, value in column.items():
                    tables.setdefault(name, {}).setdefault(label, {})[case.name] = value
    for name, rows in tables.items():
        print_table(name, rows)
    if given.out:
        draw(tables, given.out)


def measure(case: Case, lexicons: Path | None, *, figures: bool = True) -> dict[str, dict[str, float]]:
    """Return the table and the three figures of one site: name → row label → F1."""
    words = case.side_a, case.side_b, case.between, find_lexicons(lexicons, case.langs)
    found = match_sides(*words, MatchSettings(method="liu2014"))
    evidence, scores = found.found.evidence, found.found.scores
    fixed = f1_of(found.pairs(), case)
    weighed = f1_of(match_sides(*words, MatchSettings()).pairs(), case)
    single = {
        "language ceiling": case.ceiling,
        "S_cb": oracle_f1(with_values(scores, evidence["content"]), case),
        "S_struct": oracle_f1(with_values(scores, evidence["structure"]), case),
        "S_in": oracle_f1(with_values(scores, evidence["internal"]), case),
        "ETS": oracle_f1(scores, case),
        "liu2014, own cut: F1": fixed[2],
        "weighed, own cut: P": weighed[0],
        "weighed, own cut: R": weighed[1],
        "weighed, own cut: F1": weighed[2],
    }
    if not figures:
        return {"single evidence": single}
    internal = with_values(scores, evidence["internal"])
    ets = _ets_of(case, internal)

    def mixed(beta: float) -> sp.csr_array:
        return with_values(scores, beta * evidence["content"] + (1 - beta) * evidence["structure"])

    return {
        "single evidence": single,
        "figure 2: S_in over beta": {f"beta {beta}": oracle_f1(mixed(beta), case) for beta in BETAS},
        "figure 3: ETS over rounds": {
            f"rounds {rounds}": oracle_f1(ets(EtsSettings(rounds=rounds)), case) for rounds in ROUNDS
        },
        "figure 4: ETS over alpha": {
            f"alpha {alpha}": oracle_f1(ets(EtsSettings(alpha=alpha)), case) for alpha in ALPHAS
        },
    }


def _ets_of(case: Case, internal: sp.csr_array) -> Callable[[EtsSettings], sp.csr_array]:
    def ets(settings: EtsSettings) -> sp.csr_array:
        around_a, around_b = (neighbours(side.graph, settings.neighbours) for side in (case.side_a, case.side_b))
        return enhanced_similarity(internal, around_a, around_b, settings).scores

    return ets


def print_table(name: str, rows: dict[str, dict[str, float]]) -> None:
    """Print rows with one value per site."""
    sites = list(dict.fromkeys(site for row in rows.values() for site in row))
    width = max(len(label) for label in rows)
    print(f"\n{name}")
    for number, site in enumerate(sites, 1):
        print(f"  [{number}] {site}")
    print(" " * width, *(f"   [{number}]" for number in range(1, len(sites) + 1)))
    for label, row in rows.items():
        print(f"{label:<{width}}", *(f"{row.get(site, float('nan')):6.3f}" for site in sites))


def draw(tables: dict[str, dict[str, dict[str, float]]], out: Path) -> None:
    """Draw each figure, with one line per site."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    out.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        if not name.startswith("figure"):
            continue
        figure, axes = plt.subplots(figsize=(7, 4.5))
        steps = [float(label.split()[1]) for label in rows]
        for site in next(iter(rows.values())):
            axes.plot(steps, [row[site] for row in rows.values()], marker="o", label=site)
        axes.set(xlabel=next(iter(rows)).split()[0], ylabel="F1 at the best threshold", title=name)
        axes.legend(fontsize="small")
        figure.savefig(out / f"{name.split(':')[0].replace(' ', '-')}.svg", bbox_inches="tight")
        plt.close(figure)


if __name__ == "__main__":
    main()
