"""Method ``weighed``: evidence from links, words and structure, with weights learned on the site without labels.

A round measures every kind of evidence (`twinlink.match.measures`), weighs it, matches, and learns from the pairs
that are probably right: a lexicon for each half of the pages from the other half, and further candidates. The next
round measures again with these. The rounds end when they change nothing. Where look-alikes may have been exchanged,
they start again in other ways (`twinlink.match.methods.weighed.restarts`); where few pairs of a small site are sure,
in more parts than halves (`twinlink.match.methods.weighed.word_parts`).
"""

from __future__ import annotations

import numpy as np

from twinlink.config import MatchSettings
from twinlink.graph.matching import Matching
from twinlink.match.copies import find_copies, with_copies, without_copies
from twinlink.match.evidence import Between, FoundPairs, Side, Words, as_scores
from twinlink.match.measures import SiteMeasures
from twinlink.match.methods.weighed.first_state import first_state
from twinlink.match.methods.weighed.next_state import next_state
from twinlink.match.methods.weighed.round import Round
from twinlink.match.methods.weighed.rounds import run_rounds
from twinlink.match.methods.weighed.starting_again import CANDIDATES_SHARE, best_of_restarts, way_to_restart
from twinlink.similarity.rivals import Rivalry
from twinlink.sparse import select, with_values
from twinlink.system.steps import NO_STEPS, Steps

__all__ = ["match_weighed"]

FIRST_RUN_SHARE = 0.8
"""Share of the rounds' time before they start again, for progress reports: few sites are a risk."""


def match_weighed(
    side_a: Side, side_b: Side, words: Words, between: Between, settings: MatchSettings, steps: Steps = NO_STEPS
) -> FoundPairs:
    """Match two sides by evidence with learned weights.

    Kinds of evidence (``settings.weighing.evidence`` chooses): ``content`` (S_cb with lexicons and shared tokens),
    ``learned`` (S_cb with the learned lexicon as well), ``contrast`` (the same for the words that distinguish a page
    from its near-duplicates), ``structure`` (S_struct), ``ets`` (ETS of the mean of these), ``external`` (S_ext of the
    last round's probabilities), ``order`` (the same place among the links of paired pages), ``length``, ``direct`` and
    ``hreflang`` (links between the two pages), and ``pattern`` (URL patterns, by their credibility).

    Of pages with the same content at several addresses, one is compared (`twinlink.match.copies`).
    """
    copies = find_copies(side_a, side_b, words, between, settings)
    if copies is None:
        return _matched(side_a, side_b, words, between, settings, steps)
    found = _matched(*without_copies(side_a, side_b, words, between, copies), settings, steps)
    return with_copies(found, side_a, side_b, copies)


def _matched(
    side_a: Side, side_b: Side, words: Words, between: Between, settings: MatchSettings, steps: Steps
) -> FoundPairs:
    langs = f"{side_a.lang}-{side_b.lang}"
    steps(0.0, f"{langs}: near-duplicates")
    site = SiteMeasures(side_a, side_b, words, between, settings)
    until, rest = (1.0 if between.labels is None else 0.5), steps.part(CANDIDATES_SHARE, 1.0)
    searching = steps.part(0.0, CANDIDATES_SHARE)
    last = run_rounds(site, first_state(site, langs, searching), None, langs, rest.part(0.0, FIRST_RUN_SHARE * until))
    if again := way_to_restart(site, last):
        last = best_of_restarts(site, last, again, langs, rest.part(FIRST_RUN_SHARE * until, until))
    if between.labels is not None:
        state, with_labels = next_state(site, last, between.labels), f"{langs} with labels"
        last = run_rounds(site, state, between.labels, with_labels, rest.part(0.5, 1.0))
    return _found(site, last)


def _found(site: SiteMeasures, last: Round) -> FoundPairs:
    pattern, rivalry, evidence, result = last.state.pattern, last.rivalry, last.evidence, last.result
    scores, pairs = with_values(pattern, as_scores(result.log_odds)), result.pairs
    if last.lessons is not None:
        is_open = ~last.lessons.barred
        scores, pairs = select(scores, is_open), (np.cumsum(is_open) - 1)[pairs]
        evidence = {kind: values[is_open] for kind, values in evidence.items()}
        rivalry = Rivalry(scores)
    rows, columns = rivalry.rows[pairs], rivalry.columns[pairs]
    return FoundPairs(
        scores=scores,
        evidence={kind: np.maximum(values, 0).astype(np.float32) for kind, values in evidence.items()},
        matching=Matching(rows, columns, scores.data[pairs]),
        rivals=rivalry.rivals(scores.data.astype(np.float64))[pairs],
        probabilities=result.probabilities,
        weights=result.weights,
        n_equal=result.n_equal,
        alike=(site.alike_a, site.alike_b),
        mistaken=result.mistaken,
    )
