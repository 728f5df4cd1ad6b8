"""Tables 1 to 3 and Figures 3 to 7 of Jangeldin & Assylbekov on folders of page pairs, and on sites with known pairs.

::

    python -m experiments.paper_000 FOLDER... [--sides kz en] [--out FOLDER]

A folder holds the pairs of a site, each page of a pair with the same name and its side as ending: ``1.kz``, ``1.en``. A
site folder (`experiments.cases`) has known pairs: its right pairs are put together with wrong ones of the same size and
of the same template (`experiments.injected`), one of each for six right ones, so that three quarters are right, as on
akorda.kz.

Printed are, for each folder, how many pairs have equal structure (P_d = 0) and similar structure (P_d < 0.2), what
Algorithm 1 finds (μ, threshold, its trace), and how many pairs each model takes for parallel; then the paper's tables.
**Table 1**: pairs, and Cochran's sample size. **Table 2**: precision, recall and F1 of each method of `twinlink
verify`, and of the overall verdict, where the right pairs are known, and beside them the default method on the whole
site; where they are not known, the number of parallel pairs. **Table 3**: share of right pairs, threshold, iterations.
With ``--out`` the figures are drawn: L_d versus P_d (3 and 4) and the histogram of L_d (5 and 6) for each folder, and Δ
by iteration (7) for all of them.

On the paper's mfa.kz pages: 180 pairs, P_d = 0 for 105, P_d < 0.2 for all, μ = -0.0177, threshold 0.16 after 15 loops
(Table 3); parallel are 176 by Algorithm 1, 173 by the STRAND baseline, 167 by HC1 and 53 by HC2: the counts that the
precision and recall of Table 2 imply, with 94.4 % of the pairs parallel.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from experiments.cases import case_words, match_case, open_case
from experiments.charts import save_histogram, save_lines, save_points
from experiments.injected import KINDS, RIGHT, pairs_to_verify
from experiments.linear import file_of
from experiments.methods import with_shapes
from experiments.tables import number, print_grid
from twinlink.baselines.alignment import StructureAlignments, align
from twinlink.baselines.models.judge import MODELS, judge
from twinlink.baselines.models.thresholds import ThresholdFit, find_threshold
from twinlink.baselines.verify import OVERALL, VERIFIERS, verify_pairs
from twinlink.config.baselines import JangeldinSettings
from twinlink.pages.linearise import linearise

__all__ = [
    "PAPER_1",
    "PAPER_2",
    "PAPER_3",
    "Site",
    "draw",
    "main",
    "print_site",
    "read_folder",
    "read_site",
    "sample_size",
]

Marks = npt.NDArray[np.bool_]
SHOWN = 0.2
"""The histogram shows pairs with P_d and |L_d - μ| below this (the paper's rule 3)."""
SHARE = 6
"""Right pairs for each wrong pair of a kind."""
PAPER_1 = {
    "akorda.kz": ("kk-en", 4135, 352),
    "egov.kz": ("kk-en", 2400, 312),
    "mfa.kz": ("kk-en", 180, 180),
    "presidencia.pt": ("pt-en", 960, 275),
    "pm.gc.ca": ("fr-en", 1397, 302),
}
"""Table 1: languages, pairs, sample size."""
PAPER_2 = {
    "Baseline": "92.5 87.5 89.9 | 100 76.3 86.6 | 96.0 97.6 96.8 | 96.6 91.3 93.9 | 99.0 95.3 97.0",
    "HC1": "79.5 100 85.6 | 75.3 100 86.2 | 95.8 94.1 95.0 | 91.8 100 95.7 | 99.3 100 99.7",
    "HC2": "87.5 100 93.3 | 87.2 98.9 92.7 | 100 31.1 47.5 | 98.8 99.4 99.1 | 99.4 58.1 73.3",
    "Alg'm 0": "94.1 97.1 95.6 | 91.5 96.9 94.1 | 94.4 100 97.1 | 99.1 95.0 97.0 | 99.0 100 99.5",
    "Alg'm 1": "94.5 98.6 96.5 | 100 90.5 95.0 | 95.5 98.8 97.1 | 97.4 97.7 97.5 | 99.3 100 99.7",
}
"""Table 2: precision, recall and F1 in per cent, in the order of the sites."""
PAPER_3 = {
    "akorda.kz": (0.740, 0.15, 13),
    "egov.kz": (0.751, 0.24, 22),
    "mfa.kz": (0.944, 0.16, 14),
    "pr-cia.pt": (0.915, 0.09, 7),
    "pm.gc.ca": (0.990, 0.08, 6),
}
"""Table 3: share of parallel pairs, threshold, iterations, which are one fewer than the loop runs."""


class Site(msgspec.Struct, frozen=True):
    """The pairs of one folder."""

    name: str
    languages: str
    alignment: StructureAlignments
    fit: ThresholdFit
    verdicts: Mapping[str, Marks]
    """Which pairs are parallel by each method of `twinlink verify`, and overall."""
    right: Marks | None = None
    """Which pairs are right, where it is known."""
    by_default: Marks | None = None
    """Which pairs the default method reports on the whole site, on a site folder."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the numbers of all folders and draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="folders of page pairs")
    parser.add_argument("--sides", nargs=2, default=("kz", "en"), metavar="ENDING", help="default: kz en")
    parser.add_argument("--out", type=Path, help="folder for the pictures")
    given = parser.parse_args(arguments)
    sites = [read_folder(folder, *given.sides) for folder in given.folders]
    for site in sites:
        print_site(site)
    print_tables(sites)
    if given.out:
        draw(sites, given.out)


def read_folder(folder: Path, first: str, second: str) -> Site:
    """Read a folder of page pairs, or a site folder."""
    return read_known(folder) if (folder / "meta.json").is_file() else read_site(folder, first, second)


def read_site(folder: Path, first: str, second: str) -> Site:
    """Linearise and align the pairs of a folder, without pages that have no partner."""
    names = sorted(page.stem for page in folder.glob(f"*.{first}") if page.with_suffix(f".{second}").is_file())
    if not names:
        raise SystemExit(f"{folder}: no pairs of pages named like 1.{first} and 1.{second}")
    side_a, side_b = (
        [linearise((folder / f"{name}.{side}").read_bytes()).tokens for name in names] for side in (first, second)
    )
    alignment = align(side_a, side_b, range(len(names)), range(len(names)))
    verdicts = _verdicts([(f"{name}.{first}", f"{name}.{second}") for name in names], folder)
    return Site(folder.resolve().name, f"{first}-{second}", alignment, find_threshold(alignment), verdicts)


def _verdicts(pairs: Sequence[tuple[str, str]], folder: Path) -> dict[str, Marks]:
    found: dict[str, dict[tuple[str, str], bool]] = {}
    for row in verify_pairs(pairs, folder=folder).table.to_pylist():
        if row["method"]:
            found.setdefault(row["method"], {})[row["a"], row["b"]] = row["verdict"] == "parallel"
    return {name: np.array([marks.get(pair, False) for pair in pairs], np.bool_) for name, marks in found.items()}


def read_known(folder: Path) -> Site:
    """Align the right pairs of a site folder and some wrong ones, and match the site by the default method."""
    with open_case(folder) as opened:
        case = with_shapes(opened)
        reported = set(match_case(case, case_words(case)).pairs())
    pairs = pairs_to_verify(case, SHARE)
    chosen = pairs.kinds != KINDS.index("half translated")
    rows, columns = pairs.rows[chosen], pairs.columns[chosen]
    side_a, side_b = ([page.tokens for page in pages] for pages in (pairs.pages_a, pairs.pages_b))
    alignment = align(side_a, side_b, rows, columns)
    addresses = [(case.side_a.urls[a], case.side_b.urls[b]) for a, b in zip(rows, columns, strict=True)]
    by_default = np.array([pair in reported for pair in addresses], np.bool_)
    files = [(str(file_of(Path(), a)), str(file_of(Path(), b))) for a, b in addresses]
    verdicts, right = _verdicts(files, folder / "site"), pairs.kinds[chosen] == RIGHT
    return Site(case.name, "-".join(case.langs), alignment, find_threshold(alignment), verdicts, right, by_default)


def sample_size(n_pairs: int, error: float = 0.05, z: float = 1.96) -> int:
    """Return Cochran's sample size ``n = n0 / (1 + (n0 - 1)/N)`` with ``n0 = z²·p·(1-p)/error²`` and p = ½.

    >>> [sample_size(n_pairs) for n_pairs in (4135, 960, 1397)]
    [352, 275, 302]
    """
    full = z**2 / (4 * error**2)
    return math.ceil(full / (1 + (full - 1) / n_pairs))


def print_site(site: Site) -> None:
    """Print the numbers of one site."""
    cost, fit = site.alignment.cost_share, site.fit
    print(f"{site.name}: {len(site.alignment)} pairs")
    print(f"  P_d = 0     {np.count_nonzero(cost == 0):6}")
    print(f"  P_d < 0.2   {np.count_nonzero(cost < JangeldinSettings().max_cost):6}")
    print(f"  mu          {fit.mean:10.4f}")
    print(f"  threshold   {fit.threshold:8.2f}    after {len(fit.thresholds) - 1} loops {' '.join(fit.notes)}".rstrip())
    print("  threshold   count   share   growth")
    for threshold, count, share, growth in zip(fit.thresholds, fit.counts, fit.shares, fit.growth, strict=True):
        print(f"  {threshold:9.2f} {count:7} {share:7.3f} {growth:8.4f}")
    print("  parallel by")
    for model in MODELS:
        found = judge(site.alignment, model)
        facts = f"{_facts(found.found)} {' '.join(found.notes)}".rstrip()
        print(f"    {model:10}{np.count_nonzero(found.parallel):6}   {facts}".rstrip())


def print_tables(sites: Sequence[Site]) -> None:
    """Print Tables 1 to 3, ours and the paper's."""
    head = ["site", "languages", "pairs", "sample size"]
    ours = [[site.name, site.languages, len(site.alignment), sample_size(len(site.alignment))] for site in sites]
    print_grid("Table 1", _texts([head, *ours]))
    paper = [[name, *cells, sample_size(cells[1])] for name, cells in PAPER_1.items()]
    print_grid("Table 1 of the paper", _texts([[*head, "by Cochran's formula"], *paper]))
    print_grid("Table 2: P / R / F1, or parallel pairs", _measures(sites))
    cells = [[name, *(cell.replace(" ", " / ") for cell in row.split(" | "))] for name, row in PAPER_2.items()]
    print_grid("Table 2 of the paper: P / R / F1", [["", *PAPER_1], *cells])
    head = ["site", "right", "threshold", "iterations"]
    found = [[site.name, _share(site), f"{site.fit.threshold:.2f}", len(site.fit.thresholds) - 2] for site in sites]
    print_grid("Table 3", _texts([head, *found]))
    print_grid("Table 3 of the paper", _texts([head, *([name, *row] for name, row in PAPER_3.items())]))


def _texts(grid: Sequence[Sequence[object]]) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in grid]


def _share(site: Site) -> str:
    return "–" if site.right is None else number(float(site.right.mean()))


def _measures(sites: Sequence[Site]) -> list[list[str]]:
    """Return the rows of Table 2: each method, the overall verdict, and the default method on the whole site."""
    rows = [[name, *(_measure(site, site.verdicts.get(name)) for site in sites)] for name in (*VERIFIERS, OVERALL)]
    rows.append(["weighed, whole site", *(_measure(site, site.by_default) for site in sites)])
    return [["", *(site.name for site in sites)], *rows]


def _measure(site: Site, parallel: Marks | None) -> str:
    """Return precision, recall and F1, or the number of parallel pairs where the right ones are not known."""
    if parallel is None:
        return "–"
    if site.right is None:
        return str(np.count_nonzero(parallel))
    n_right, n_found, n_all = (int(marks.sum()) for marks in (parallel & site.right, parallel, site.right))
    shares = (n_right / max(1, n_found), n_right / max(1, n_all), 2 * n_right / max(1, n_found + n_all))
    return " / ".join(f"{100 * share:.1f}" for share in shares)


def draw(sites: Sequence[Site], out: Path) -> None:
    """Draw Figures 3 to 7 of the paper: points and a histogram for each site, and Δ by iteration for all."""
    for site in sites:
        cost, length = site.alignment.cost_share, site.alignment.length_difference
        right = np.ones(len(cost), np.bool_) if site.right is None else site.right
        points = {"right" if site.right is not None else "pairs": (length[right], cost[right])}
        if not right.all():
            points["wrong"] = (length[~right], cost[~right])
        low, high, top = float(length.min()), float(length.max()), max(float(cost.max()), 0.25)
        most = JangeldinSettings().max_cost
        walls = [site.fit.mean - site.fit.threshold, site.fit.mean + site.fit.threshold]
        limits = [((low, most), (high, most)), *(((x, 0.0), (x, top)) for x in walls if low < x < high)]
        title = f"{site.name}: L_d versus P_d"
        save_points(out / f"{site.name}-scatter.svg", title, points, ("L_d", (low, high)), ("P_d", (0.0, top)), limits)
        shown = length[(cost < SHOWN) & (np.abs(length - site.fit.mean) < SHOWN)]
        title = f"{site.name}: L_d where P_d and |L_d - μ| < {SHOWN}"
        save_histogram(out / f"{site.name}-histogram.svg", title, shown, 20, ("L_d", "pairs"))
    growth = {site.name: np.array(site.fit.growth[1:], np.float64) for site in sites}
    longest = max(len(each) for each in growth.values())
    curves = {name: (np.arange(1, len(each) + 1, dtype=np.float64), each) for name, each in growth.items()}
    top = max(float(each.max()) for each in growth.values())
    save_lines(
        out / "growth.svg", "Iterations versus Δ", curves, ("iteration", (1.0, float(longest))), ("Δ", (0.0, top))
    )


def _facts(found: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {value:.4g}" for name, value in found.items())


if __name__ == "__main__":
    main()
