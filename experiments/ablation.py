"""Ablation: all kinds of evidence, each kind left out in turn, and some kinds alone.

::

    python -m experiments.ablation SITES... [--lexicons FOLDER]

A cell is ``F1 (P / expected P)`` of the list that the default settings report. The last table has the best F1 of the
same scores with greedy matching, as in the paper, and with optimal matching (largest sum of scores).
"""

from __future__ import annotations

from collections.abc import Sequence

from experiments.cases import Case, case_words, match_case, oracle_f1, outcome_of
from experiments.tables import Column, number, own_cut, run
from twinlink.config import DEFAULT_EVIDENCE, Evidence, MatchSettings, WeighingSettings
from twinlink.graph.matching import optimal_matching
from twinlink.similarity.lexicon_files import Lexicon

__all__ = ["measure", "subsets"]

ALONE: tuple[tuple[Evidence, ...], ...] = (
    ("content",),
    ("structure",),
    ("content", "structure"),
    ("content", "ets", "external"),
    ("structure", "ets", "external"),
    ("content", "learned", "contrast"),
)


def measure(case: Case, lexicons: Sequence[Lexicon]) -> Column:
    """Return the three tables' columns of one site."""
    words = case_words(case, lexicons)

    def cell(kinds: tuple[Evidence, ...]) -> str:
        settings = MatchSettings(weighing=WeighingSettings(evidence=kinds))
        return own_cut(outcome_of(case, match_case(case, words, settings)))

    scores = match_case(case, words).found.scores
    return {
        "each kind taken away": {label: cell(kinds) for label, kinds in subsets().items()},
        "these kinds alone": {", ".join(kinds): cell(kinds) for kinds in ALONE},
        "one-to-one matching": {
            "greedy": number(oracle_f1(scores, case)),
            "optimal": number(oracle_f1(scores, case, optimal_matching)),
        },
    }


def subsets() -> dict[str, tuple[Evidence, ...]]:
    """Return sets of evidence: the default, without each kind in turn, without all links, and with URL patterns."""
    less = {f"without {kind}": tuple(other for other in DEFAULT_EVIDENCE if other != kind) for kind in DEFAULT_EVIDENCE}
    links = {"ets", "external", "direct", "hreflang"}
    return {
        "all evidence": DEFAULT_EVIDENCE,
        **less,
        "without any links": tuple(kind for kind in DEFAULT_EVIDENCE if kind not in links),
    }


if __name__ == "__main__":
    run(__doc__ or "", measure)
