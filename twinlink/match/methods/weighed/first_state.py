"""First state of the rounds: candidates of searches and clues, and the evidence that no round changes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from twinlink.match.measures import SiteMeasures, State, mean_of, pair_matrix
from twinlink.similarity.candidates import candidate_votes, tag_vectors, with_votes
from twinlink.similarity.clues import HERE, OF_ONE_PAGE, clue_states, is_contradicted
from twinlink.similarity.learned_lexicon import learn_translations
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.weighing import clear_pairs
from twinlink.sparse import kept_matrix, select, union_of
from twinlink.system.scratch import kept
from twinlink.system.steps import Steps

__all__ = ["FIRST_MARGIN", "first_state"]

NEAR_SHARE = 0.5
"""Share of the time before the first round that the near-duplicates take, for progress reports."""
SEARCH_SHARE = 0.75
"""Share of the time before the first round until the candidates are measured, for progress reports."""
FIRST_MARGIN = 0.1
"""Lead by which a pair of the first round is clear: 10 % over the second, as in first trials."""
PARTS = 2
"""Number of parts of the pages that learn words from each other. Trials: in two parts the lexicons are good enough, and
on a site of which no page has a partner .6 of the pairs are expected to be right instead of .95; four parts change
nothing. Small sites that few pairs are sure of start again in more (`twinlink.match.methods.weighed.word_parts`)."""
UNVOTED_PAGES = 2_000
"""Pages of both sides together, without copies, up to which all pairs of the lists of nearest pages are candidates:
they take little time, and there is little else to learn from. Trials with two votes on smaller sites: on eleven sites
with 20 to 32 degraded versions of each, mean F1 is .951 with votes and without, but on one of them (servicecomb-en-zh,
many short news pages) it falls from .992 to .980 if word counts vary. With wrong clues it falls by .02 and .05 on two
of 19 sites. On twelve degraded versions of lo-en-zhtw (4,862 pages), it is .980 either way."""
TEACHING = 0.6
"""Share of the pairs of a clue whose pages are more alike, by words that other pairs of it teach, than pages of two
pairs; by chance it is a half. Trials: .63 to .73 of 30 true pairs, .82 to .87 of 100, .44 to .55 of 34 to 817 pairs of
pages that have the same number and no more, .59 of 32."""
MIN_DIRECT = 0.2
"""Minimum share of a direct link whose pages become candidates: a page has at most five such links."""


def first_state(site: SiteMeasures, name: str, steps: Steps) -> State:
    """Find the candidates of a site by words, structure and clues, and measure them."""
    steps(NEAR_SHARE, f"{name}: candidates")
    searches = [partial(site.candidates, site.words.translation)]
    if site.uses("structure"):
        searches.append(partial(_alike_in_structure, site))
    is_large = len(site.side_a.urls) + len(site.side_b.urls) > UNVOTED_PAGES
    least = site.settings.candidates.votes if is_large and len(searches) > 1 else 1
    found, named = with_votes([*site.results_of(searches)], least), _pairs_of_clues(site)

    def measured(clues: Mapping[str, sp.csr_array]) -> State:
        pattern = kept_matrix(union_of(found, *clues.values()))
        steps(SEARCH_SHARE, f"{name}: evidence of {pattern.nnz} candidates")
        kinds = [*(kind for kind in ("content", "structure") if site.uses(kind)), *clues]
        values = site.results_of([partial(site.fixed_evidence, kind, pattern) for kind in kinds])
        fixed = {kind: kept(each) for kind, each in zip(kinds, values, strict=True)}
        has = {kind: each for kind, each in fixed.items() if each.any()}
        return State(pattern, has, (site.words.translation,), np.arange(pattern.shape[0]) % PARTS)

    state = measured(named)
    wrong = _contradicted(site, state)
    if not wrong:
        return state
    del state  # its candidates would be in memory beside the others
    return measured({clue: pairs for clue, pairs in named.items() if clue not in wrong})


def _pairs_of_clues(site: SiteMeasures) -> dict[str, sp.csr_array]:
    """Return the pairs that each clue joins, which are candidates."""
    pairs = {"direct": select(site.between.direct, site.between.direct.data >= MIN_DIRECT)}
    pairs["hreflang"] = site.between.hreflang
    if site.by_url is not None:
        pairs["pattern"] = site.by_url
    return {clue: each for clue, each in pairs.items() if site.uses(clue)}


def _contradicted(site: SiteMeasures, state: State) -> list[str]:
    """Return the clues that contradict the pages, and teach no words: neither they nor their pairs are used.

    Links do not count here, since they follow the candidates: where a wrong clue joins each page of a chain with one of
    another, the neighbours of these are candidates, too, and confirm it.
    """
    known = [clue for clue in OF_ONE_PAGE if clue in state.fixed]
    if not known:
        return []
    rivalry = Rivalry(state.pattern)
    clear = clear_pairs(mean_of(state.fixed, ("content", "structure"), state.pattern.nnz), rivalry, FIRST_MARGIN)
    wrong = [clue for clue in known if is_contradicted(state.fixed[clue], clear, rivalry)]
    return [clue for clue in wrong if not _teach_words(site, *_joined_alone(state.fixed[clue], rivalry))]


def _joined_alone(values: npt.NDArray[np.floating], rivalry: Rivalry) -> tuple[npt.NDArray[np.int64], ...]:
    """Return rows and columns of the pairs that a clue joins with no other page."""
    places = clue_states(values, rivalry) == HERE
    return rivalry.rows[places], rivalry.columns[places]


def _teach_words(site: SiteMeasures, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> bool:
    """Return whether the words that half of some pairs teach stand on both pages of the others.

    The pages of each of the others are compared by these words, and the first one with the second page of the next.
    """
    shape, n_more, n_equal = (len(site.side_a.urls), len(site.side_b.urls)), 0, 0
    for part in range(PARTS):
        taught = np.arange(len(rows)) % PARTS != part
        words = learn_translations(site.words.a.counts, site.words.b.counts, rows[taught], columns[taught])
        others, partners = rows[~taught], columns[~taught]  # by rows, which are sorted: so values keep their order
        own, of_next = (
            site.content(words, pair_matrix(others, each, shape)) for each in (partners, np.roll(partners, -1))
        )
        n_more, n_equal = n_more + int(np.sum(own > of_next)), n_equal + int(np.sum(own == of_next))
    return n_more + n_equal / 2 >= TEACHING * len(rows)


def _alike_in_structure(site: SiteMeasures) -> sp.csr_array:
    """Return the pairs most similar in structure, with their votes."""
    return candidate_votes(*tag_vectors(site.side_a.tags, site.side_b.tags), site.settings.candidates)
