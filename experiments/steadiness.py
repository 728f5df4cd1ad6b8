"""Steadiness: F1 of sites after a change that should change nothing.

::

    python -m experiments.steadiness SITES... [--lexicons FOLDER] [--draws 10]

In each draw, eight word counts of side A, drawn at random, are one larger; all else is as it is. Where F1 depends on
that, a difference of this size between two versions of the program is chance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from experiments.cases import Case, case_words, match_case, outcome_of
from experiments.tables import Column, columns_of, number, print_tables, site_parser
from twinlink.match.evidence import Words
from twinlink.similarity.lexicon_files import Lexicon

__all__ = ["changed", "main", "measure"]

CHANGES = 8
"""Number of word counts that are one larger."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = site_parser(__doc__)
    parser.add_argument("--draws", type=int, default=10)
    given = parser.parse_args(arguments)

    def of_site(case: Case, lexicons: Sequence[Lexicon]) -> Column:
        return measure(case, lexicons, given.draws)

    print_tables(columns_of(given.sites, given.lexicons, of_site), sites_down=True)


def measure(case: Case, lexicons: Sequence[Lexicon], n_draws: int) -> Column:
    """Return the table's column of one site."""
    words = case_words(case, lexicons)
    found = [outcome_of(case, match_case(case, changed(words, seed))).f1 for seed in range(n_draws)]
    cells = {"mean": np.mean(found), "lowest": np.min(found), "highest": np.max(found)}
    return {f"F1 of {n_draws} draws": {name: number(float(value)) for name, value in cells.items()}}


def changed(words: Words, seed: int) -> Words:
    """Return the words of a site with some counts of side A one larger."""
    counts = words.a.counts.copy()
    counts.data[np.random.default_rng(seed).integers(counts.nnz, size=CHANGES)] += 1
    return replace(words, a=words.a._replace(counts=counts))


if __name__ == "__main__":
    main()
