"""Coverage of the 90 % interval of the expected precision: how often the true precision is inside.

::

    python -m experiments.coverage SITES... [--lexicons FOLDER]

Every site is matched as it is and in the versions of `experiments.robustness`. A cell is ``true precision / expected
precision (interval)``, with ``!`` where the true precision is outside. A version without a scored pair is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from experiments.cases import Case, case_words, match_case, outcome_of
from experiments.robustness import versions
from experiments.tables import Column, columns_of, number, print_tables, site_parser
from twinlink.evaluation.expected import ExpectedPrecision, expected_precision
from twinlink.match.site_tables import risks_of
from twinlink.similarity.lexicon_files import Lexicon

__all__ = ["Claim", "claim_of", "main"]


class Claim(NamedTuple):
    """What a match claims of its list, and what is true."""

    f1: float
    precision: float
    expected: ExpectedPrecision

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the interval."""
        assert self.expected.interval is not None
        return self.expected.interval

    @property
    def holds(self) -> bool:
        """Whether the true precision is inside."""
        return self.ends[0] - 1e-9 <= self.precision <= self.ends[1] + 1e-9

    def __str__(self) -> str:
        low, high = self.ends
        told = f"{number(self.precision)} / {number(self.expected.precision)} ({number(low)} to {number(high)})"
        return told if self.holds else f"{told} !"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and the share of the versions whose true precision is inside."""
    given = site_parser(__doc__).parse_args(arguments)
    claims: list[tuple[str, Claim]] = []

    def of_site(case: Case, lexicons: Sequence[Lexicon]) -> Column:
        told = {name: claim_of(each, lexicons) for name, each in versions(case).items()}
        there = {name: claim for name, claim in told.items() if claim is not None}
        claims.extend(there.items())
        return {"true / expected precision (interval)": {name: str(claim) for name, claim in there.items()}}

    print_tables(columns_of(given.sites, given.lexicons, of_site))
    print(summary(claims))


def claim_of(case: Case, lexicons: Sequence[Lexicon]) -> Claim | None:
    """Match a site; None if no pair of the list is scored."""
    match = match_case(case, case_words(case, lexicons))
    outcome = outcome_of(case, match)
    expected = expected_precision(match.found.probabilities[match.keep], risks_of(match.found)[match.keep])
    if expected is None or np.isnan(outcome.precision):
        return None
    return Claim(outcome.f1, outcome.precision, expected)


def summary(claims: Sequence[tuple[str, Claim]]) -> str:
    """Return how many intervals hold, and the median width of those of whole sites and of the other versions."""
    lines = [f"\n{sum(claim.holds for _, claim in claims)} of {len(claims)} intervals have the true precision inside"]
    for label, is_whole in (("whole sites", True), ("other versions", False)):
        widths = [claim.ends[1] - claim.ends[0] for name, claim in claims if (name == "as it is") == is_whole]
        if widths:
            lines.append(f"{label}: median width {number(float(np.median(widths)))}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
