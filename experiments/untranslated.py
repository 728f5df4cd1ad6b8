"""Sites on which most pages of both languages have no partner.

::

    python -m experiments.untranslated SITES...

A cell is ``F1 (P / expected P)`` of the list that the default settings report, and the number of wrong pairs in it:
means of five draws. In the last row no known pair is left: each has lost one of its pages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from msgspec.structs import astuple

from experiments.cases import Case, Outcome, case_words, match_case, outcome_of
from experiments.robustness import half_of_a, half_of_b, with_pages
from experiments.tables import Column, columns_of, own_cut, print_tables, site_parser
from twinlink.evaluation.gold import evaluate
from twinlink.similarity.lexicon_files import Lexicon

__all__ = ["main", "measure", "with_share_of_pairs"]

DRAWS = 5


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    given = site_parser(__doc__).parse_args(arguments)
    print_tables(columns_of(given.sites, given.lexicons, measure))


def measure(case: Case, lexicons: Sequence[Lexicon]) -> Column:
    """Return the table's column of one site: means of several draws."""
    rows = {}
    for label, of_seed in VERSIONS.items():
        cases = [of_seed(case, seed) for seed in range(DRAWS)]
        matches = [match_case(each, case_words(each, lexicons)) for each in cases]
        outcomes = [astuple(outcome_of(each, match)) for each, match in zip(cases, matches, strict=True)]
        wrong = [evaluate(match.pairs(), each.gold).n_wrong for each, match in zip(cases, matches, strict=True)]
        scores = f"{own_cut(Outcome(*_means(outcomes)))}, " if label != NO_PAIR else ""
        rows[label] = f"{scores}{np.mean(wrong):.0f} wrong"
    return {"most pages without a partner": rows}


def _means(outcomes: Sequence[tuple[float, ...]]) -> list[float]:
    """Return the mean of each score over the outcomes that have one."""
    columns = ([value for value in column if not math.isnan(value)] for column in zip(*outcomes, strict=True))
    return [sum(column) / len(column) if column else math.nan for column in columns]


def with_share_of_pairs(case: Case, share: float, seed: int) -> Case:
    """Keep both pages of a random share of the known pairs, and one page of each of the others, of either side in turn.

    Pages in no known pair stay.
    """
    sides = case.side_a, case.side_b
    rows, columns = ({case.gold.key(url): row for row, url in enumerate(side.urls)} for side in sides)
    known = [(rows[a], columns[b]) for a, b in case.gold.pairs if a in rows and b in columns]
    shuffled = [known[k] for k in np.random.default_rng(seed).permutation(len(known))]
    apart = shuffled[round(share * len(known)) :]
    lost = [pair[0] for pair in apart[::2]], [pair[1] for pair in apart[1::2]]
    kept_a, kept_b = (np.setdiff1d(np.arange(len(side.urls)), gone) for side, gone in zip(sides, lost, strict=True))
    return with_pages(case, kept_a, kept_b)


NO_PAIR = "no pair left"
VERSIONS: dict[str, Callable[[Case, int], Case]] = {
    "half of either side removed": lambda case, seed: half_of_a(half_of_b(case, seed), seed + DRAWS),
    "a fifth of the pairs left": lambda case, seed: with_share_of_pairs(case, 0.2, seed),
    NO_PAIR: lambda case, seed: with_share_of_pairs(case, 0.0, seed),
}


if __name__ == "__main__":
    main()
