"""The numbers and figures of Jangeldin & Assylbekov on a folder of page pairs.

::

    python -m experiments.paper_000 FOLDER... [--sides kz en] [--out FOLDER]

A folder holds the pairs of a site, each page of a pair with the same name and its side as ending: ``1.kz``, ``1.en``.
Printed are how many pairs have equal structure (P_d = 0) and similar structure (P_d < 0.2), what Algorithm 1 finds (μ,
threshold, its trace), and how many pairs each model of the paper's Table 2 takes for parallel. With ``--out`` the
pictures are drawn as SVG: L_d versus P_d (Figures 3 and 4) and the histogram of L_d (Figures 5 and 6) for each folder,
and Δ by iteration (Figure 7) for all of them.

On the paper's mfa.kz pages: 180 pairs, P_d = 0 for 105, P_d < 0.2 for all, μ = -0.0177, threshold 0.16 after 15 loops
(Table 3); parallel are 176 by Algorithm 1, 173 by the STRAND baseline, 167 by HC1 and 53 by HC2: the counts that the
precision and recall of Table 2 imply, with 94.4 % of the pairs parallel.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from twinlink.baselines.alignment import Alignment, align
from twinlink.baselines.models.judge import MODELS, judge
from twinlink.baselines.models.thresholds import ThresholdFit, find_threshold
from twinlink.config.baselines import JangeldinSettings
from twinlink.pages.linearise import linearise

__all__ = ["Site", "draw", "main", "print_site", "read_site"]

SHOWN = 0.2
"""The histogram shows pairs with P_d and |L_d - μ| below this (the paper's rule 3)."""


@dataclass(frozen=True, slots=True)
class Site:
    """The pairs of one folder."""

    name: str
    alignment: Alignment
    fit: ThresholdFit


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the numbers of all folders and draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="folders of page pairs")
    parser.add_argument("--sides", nargs=2, default=("kz", "en"), metavar="ENDING", help="default: kz en")
    parser.add_argument("--out", type=Path, help="folder for the pictures")
    given = parser.parse_args(arguments)
    sites = [read_site(folder, *given.sides) for folder in given.folders]
    for site in sites:
        print_site(site)
    if given.out:
        draw(sites, given.out)


def read_site(folder: Path, first: str, second: str) -> Site:
    """Linearise and align the pairs of a folder, without pages that have no partner."""
    names = sorted(page.stem for page in folder.glob(f"*.{first}") if page.with_suffix(f".{second}").is_file())
    if not names:
        raise SystemExit(f"{folder}: no pairs of pages named like 1.{first} and 1.{second}")
    side_a, side_b = (
        [linearise((folder / f"{name}.{side}").read_bytes()).tokens for name in names] for side in (first, second)
    )
    alignment = align(side_a, side_b, range(len(names)), range(len(names)))
    return Site(folder.resolve().name, alignment, find_threshold(alignment))


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


def draw(sites: Sequence[Site], out: Path) -> None:
    """Draw Figures 3 to 7 of the paper: a scatter and a histogram for each site, and Δ by iteration for all."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "twinlink"  # the same picture for the same figures
    from matplotlib import pyplot as plt
    from matplotlib.ticker import MaxNLocator

    out.mkdir(parents=True, exist_ok=True)
    for site in sites:
        cost, length = site.alignment.cost_share, site.alignment.length_difference
        figure, axes = plt.subplots(figsize=(6, 4.5))
        axes.scatter(length, cost, s=12, alpha=0.6)
        axes.axhline(JangeldinSettings().max_cost, color="0.6", linestyle="--", linewidth=1)
        for limit in (site.fit.mean - site.fit.threshold, site.fit.mean + site.fit.threshold):
            axes.axvline(limit, color="0.6", linestyle="--", linewidth=1)
        axes.set(xlabel="L_d", ylabel="P_d", title=f"{site.name}: L_d versus P_d")
        figure.savefig(out / f"{site.name}-scatter.svg", bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)
        figure, axes = plt.subplots(figsize=(6, 4.5))
        shown = (cost < SHOWN) & (np.abs(length - site.fit.mean) < SHOWN)
        axes.hist(length[shown], bins=20, edgecolor="white")
        axes.axvline(site.fit.mean, color="0.3", linestyle="--", linewidth=1)
        axes.set(xlabel="L_d", ylabel="pairs", title=f"{site.name}: L_d where P_d and |L_d - μ| < {SHOWN}")
        figure.savefig(out / f"{site.name}-histogram.svg", bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)
    figure, axes = plt.subplots(figsize=(6, 4.5))
    for site in sites:
        axes.plot(range(1, len(site.fit.growth)), site.fit.growth[1:], marker="o", markersize=3, label=site.name)
    axes.axhline(JangeldinSettings().min_growth, color="0.6", linestyle="--", linewidth=1)
    axes.set(xlabel="iteration", ylabel="Δ", title="Iterations versus Δ")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(fontsize="small")
    figure.savefig(out / "growth.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def _facts(found: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {value:.4g}" for name, value in found.items())


if __name__ == "__main__":
    main()
