"""Calibration: expected against true precision, and a reliability diagram.

::

    python -m experiments.calibration SITES... [--lexicons FOLDER] [--out FOLDER]

prints, for each site, the scores at the default cut and at ``--min-precision`` 0.90, 0.95 and 0.99, and with ``--out``
draws ``reliability.svg``: all pairs of all sites' matchings, reported or not, in bins of their probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from experiments.cases import Case, case_words, match_case, outcome_of, verdicts_of
from experiments.tables import Column, columns_of, number, print_tables, site_parser
from twinlink.similarity.decision import keep_pairs
from twinlink.similarity.lexicon_files import Lexicon

__all__ = ["draw", "main", "measure", "reliability"]

WANTED = (0.90, 0.95, 0.99)
EDGES = (0.0, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
Verdicts = tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table and draw the picture."""
    parser = site_parser(__doc__)
    parser.add_argument("--out", type=Path, help="folder for the picture")
    given = parser.parse_args(arguments)
    verdicts: list[Verdicts] = []

    def of_site(case: Case, lexicons: Sequence[Lexicon]) -> Column:
        column, of_pairs = measure(case, lexicons)
        verdicts.append(of_pairs)
        return column

    print_tables(columns_of(given.sites, given.lexicons, of_site), sites_down=True)
    probabilities, right = (np.concatenate(parts) for parts in zip(*verdicts, strict=True))
    bins = reliability(probabilities, right)
    print("\n| pairs with a probability of about | how many | share that is right |\n| --- | --- | --- |")
    for mean, share, n in bins:
        print(f"| {number(mean)} | {n:,} | {number(share)} |")
    if given.out:
        draw(bins, given.out)


def measure(case: Case, lexicons: Sequence[Lexicon]) -> tuple[Column, Verdicts]:
    """Return the tables' columns of one site, and the verdicts on its pairs."""
    match = match_case(case, case_words(case, lexicons))
    own = outcome_of(case, match)
    rows = {"F1": number(own.f1), "best F1": number(own.oracle)}
    rows |= {"true P": number(own.precision), "expected P": number(own.expected)}
    rows["true - expected"] = f"{own.precision - own.expected:+.3f}"
    rows["pairs"] = f"{match.keep.sum():,}"
    for wanted in WANTED:
        cut = outcome_of(case, match, keep_pairs(match.found.probabilities, min_precision=wanted))
        rows[f"P / R at {wanted:.2f}"] = f"{number(cut.precision)} / {number(cut.recall)}"
    return {"calibration": rows}, verdicts_of(case, match)


def reliability(probabilities: npt.NDArray[np.float64], right: npt.NDArray[np.bool_]) -> list[tuple[float, float, int]]:
    """Return (mean probability, share of right pairs, number of pairs) of each non-empty bin.

    >>> reliability(np.array([0.97, 0.96, 0.1]), np.array([True, False, False]))
    [(0.1, 0.0, 1), (0.965, 0.5, 2)]
    """
    places = np.clip(np.digitize(probabilities, EDGES) - 1, 0, len(EDGES) - 2)
    groups = [places == place for place in range(len(EDGES) - 1)]
    return [
        (float(probabilities[group].mean()), float(right[group].mean()), int(group.sum()))
        for group in groups
        if group.any()
    ]


def draw(bins: Sequence[tuple[float, float, int]], out: Path) -> None:
    """Draw the reliability diagram: one dot per bin, with its area proportional to the number of pairs."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "twinlink"  # the same picture for the same figures
    from matplotlib import pyplot as plt

    out.mkdir(parents=True, exist_ok=True)
    means, shares, counts = (np.array(values) for values in zip(*bins, strict=True))
    figure, axes = plt.subplots(figsize=(5, 5))
    axes.plot([0, 1], [0, 1], color="0.7", linestyle="--", label="as good as it says")
    axes.plot(means, shares, color="C0", linewidth=1)
    axes.scatter(means, shares, s=20 + 8 * np.sqrt(counts), color="C0", label="pairs of all sites, in bins")
    axes.set(xlabel="probability that twinlink gives", ylabel="share of pairs that is right", xlim=(-0.03, 1.03))
    axes.set_ylim(-0.03, 1.03)
    axes.legend(loc="upper left", fontsize="small")
    figure.savefig(out / "reliability.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
