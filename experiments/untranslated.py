"""Sites on which most pages of both languages have no partner.

::

    python -m experiments.untranslated SITES...

A cell is ``F1 (P / expected P)`` of the list that the default settings report, and the number of wrong pairs in it:
means of five draws. In the last row no known pair is left: each has lost one of its pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from experiments.cases import Case, case_words, match_case, mean_outcome, outcome_of
from experiments.robustness import DRAWS, half_of_either, with_pages
from experiments.tables import Column, own_cut, run
from twinlink.evaluation.gold import evaluate
from twinlink.similarity.lexicon_files import Lexicon

__all__ = ["measure", "with_share_of_pairs"]


def measure(case: Case, lexicons: Sequence[Lexicon]) -> Column:
    """Return the table's column of one site: means of several draws."""
    rows = {}
    for label, of_seed in VERSIONS.items():
        cases = [of_seed(case, seed) for seed in range(DRAWS)]
        drawn = [(each, match_case(each, case_words(each, lexicons))) for each in cases]
        n_wrong = np.mean([evaluate(match.pairs(), each.gold).n_wrong for each, match in drawn])
        rows[label] = f"{own_cut(mean_outcome([outcome_of(*each) for each in drawn]))}, {n_wrong:.0f} wrong"
    return {"most pages without a partner": rows}


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


VERSIONS: dict[str, Callable[[Case, int], Case]] = {
    "half of either side removed": half_of_either,
    "a fifth of the pairs left": lambda case, seed: with_share_of_pairs(case, 0.2, seed),
    "no pair left": lambda case, seed: with_share_of_pairs(case, 0.0, seed),
}


if __name__ == "__main__":
    run(__doc__ or "", measure)
