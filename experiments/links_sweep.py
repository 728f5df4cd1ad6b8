"""Links with little other evidence: effect of α, the number of candidates and the rarity of neighbours.

::

    python -m experiments.links_sweep SITES... --lexicons FOLDER

Conditions (a) and (b) of `experiments.links_alone`, after all rounds of learning; one setting of the matcher is
changed in each row. A cell is ``best F1; F1 (P / expected P)``.
"""

from __future__ import annotations

from collections.abc import Sequence

from experiments.cases import Case, case_words, match_case, outcome_of
from experiments.links_alone import LINKS, N_HEADS, WORDS_ONLY, cut_lexicon
from experiments.tables import Column, claims, run
from twinlink.config import CandidateSettings, EtsSettings, MatchSettings, WeighingSettings
from twinlink.match.evidence import Words
from twinlink.similarity.lexicon_files import Lexicon

__all__ = ["CHANGES", "measure"]

KINDS = WORDS_ONLY + LINKS


def _alpha(alpha: float) -> MatchSettings:
    return MatchSettings(weighing=WeighingSettings(evidence=KINDS, alpha=alpha))


def _candidates(per_page: int) -> MatchSettings:
    return MatchSettings(weighing=WeighingSettings(evidence=KINDS), candidates=CandidateSettings(per_page=per_page))


CHANGES: dict[str, MatchSettings] = {
    "default (α .7, 20 candidates)": MatchSettings(weighing=WeighingSettings(evidence=KINDS)),
    **{f"α {alpha}": _alpha(alpha) for alpha in (0.0, 0.3, 0.5, 0.9)},
    **{f"{n} candidates": _candidates(n) for n in (10, 40, 60)},
    "rarity of neighbours": MatchSettings(weighing=WeighingSettings(evidence=KINDS), ets=EtsSettings(rarity=True)),
}
"""From the name of a change to the changed settings."""


def measure(case: Case, lexicons: Sequence[Lexicon]) -> Column:
    """Return the two tables' columns of one site."""
    few = [cut_lexicon(lexicon, N_HEADS) for lexicon in lexicons]
    column = {"(a) few words of a lexicon": _cells(case, case_words(case, few, "none"))} if few else {}
    column["(b) numbers only"] = _cells(case, case_words(case, (), "numbers"))
    return column


def _cells(case: Case, words: Words) -> dict[str, str]:
    return {name: claims(outcome_of(case, match_case(case, words, settings))) for name, settings in CHANGES.items()}


if __name__ == "__main__":
    run(__doc__ or "", measure)
