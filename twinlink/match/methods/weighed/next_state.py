"""Next state of the rounds: words learned from likely pairs, and candidates by these words and around these pairs."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from twinlink.match.evidence import as_scores
from twinlink.match.labels import accepted_pairs, excluded, with_labelled
from twinlink.match.measures import SiteMeasures, State, pair_matrix
from twinlink.match.methods.weighed.round import Round, sureness
from twinlink.similarity.candidates import candidate_pattern, strongest
from twinlink.similarity.content import combine_translations
from twinlink.similarity.learned_lexicon import learn_translations
from twinlink.similarity.weighing import LIKELY
from twinlink.sparse import carry_over, kept_matrix, union_of, with_values
from twinlink.system.scratch import kept

__all__ = ["WeightedPairs", "next_state", "state_after"]

SURE = 0.9
"""Probability at which no further partner is searched for. Trials on seven sites: the same F1 as a search for all."""
OF_SURE = 12
"""Number of candidates that the page of a sure pair keeps. Nothing is searched for around it, either. Trials on eleven
sites: mean F1 is .9981 with this; it is .9972 if each page keeps 20 and is searched around, .9975 if it keeps 10, .9965
if 6. On these and seven degraded versions of each: .9676 (.9661 with `FEW_PAGES`), .9652, .9660 and .9668. On a site of
30,000 pages per language, later rounds have a third of the candidates. Not in rounds with labels: of six draws of 100
labels on a site of look-alikes, three had no pair left beside the labelled ones; without this, F1 is .95 to .98."""
FEW_PAGES = 100
"""Where a language has up to this many pages, all pages keep their candidates and are searched around. Trials without
this: of 120 made sites with 6 to 10 pages, the pages of sure pairs had too few candidates left in five, and no pair was
found; with 20 pages in one language, F1 fell from .963 to .600 on one site."""

WeightedPairs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]
"""Rows and columns of pairs, and the weight of each in [0, 1], by which words are learned."""


def next_state(site: SiteMeasures, done: Round, labels: sp.csr_array | None) -> State:
    """Learn words from the likely pairs, and find candidates by these words and around these pairs."""
    return state_after(site, done, _settled_pairs(done, labels), labels)


def state_after(site: SiteMeasures, done: Round, pairs: WeightedPairs, labels: sp.csr_array | None) -> State:
    """Return the state after a round, as `next_state`, but learn from given pairs instead of those of the round."""
    state, result, shape = done.state, done.result, done.state.pattern.shape
    rows, columns, presence = pairs
    likely, sure = presence > LIKELY, presence > SURE
    open_a, open_b = (np.ones(n, dtype=np.bool_) for n in shape)
    open_a[rows[sure]] = open_b[columns[sure]] = False
    translations = _translations(site, rows[likely], columns[likely], state.parts)
    all_keep = min(shape) <= FEW_PAGES or labels is not None
    around_a, around_b = (each | all_keep for each in (open_a, open_b))
    searches = [
        lambda: site.candidates(combine_translations(*translations), open_a, open_b),
        lambda: strongest(
            with_values(state.pattern, as_scores(result.log_odds)),
            site.settings.candidates,
            *(np.where(each, site.settings.candidates.per_page, OF_SURE) for each in (around_a, around_b)),
        ),
        lambda: _around(site, pair_matrix(rows[likely], columns[likely], shape), around_a, around_b),
    ]
    around = union_of(pair_matrix(rows, columns, shape), *site.results_of(searches))
    pattern = kept_matrix(with_labelled(around, labels))
    probabilities = sp.csr_array((presence.astype(np.float32), (rows, columns)), shape=shape)
    carried = site.results_of(
        [
            partial(carry_over, state.pattern, values, pattern, partial(site.fixed_evidence, kind))
            for kind, values in state.fixed.items()
        ]
    )
    return State(
        pattern=pattern,
        fixed={kind: kept(values) for kind, values in zip(state.fixed, carried, strict=True)},
        translations=translations,
        probabilities=carry_over(probabilities, probabilities.data, pattern, lambda rest: np.zeros(rest.nnz)),
        parts=state.parts,
    )


def _settled_pairs(done: Round, labels: sp.csr_array | None) -> WeightedPairs:
    """Return a round's pairs, with the weights to learn by, corrected by labels."""
    pairs, presence = done.result.pairs, sureness(done)
    rows, columns = done.rivalry.rows[pairs], done.rivalry.columns[pairs]
    if labels is None:
        return rows, columns, presence
    accepted_rows, accepted_columns = accepted_pairs(labels)
    keep = ~(excluded(rows, columns, labels) | np.isin(rows, accepted_rows))
    return (
        np.append(rows[keep], accepted_rows),
        np.append(columns[keep], accepted_columns),
        np.append(presence[keep], np.ones(len(accepted_rows))),
    )


def _translations(
    site: SiteMeasures,
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    parts: npt.NDArray[np.int64],
) -> tuple[sp.csr_array, ...]:
    """Return the translations for each part of the pages: given, and learned from the pairs of the others."""
    given = site.words.translation
    if not site.uses("learned"):
        return (given,)
    counts = site.words.a.counts, site.words.b.counts
    taught_by = (parts[rows] != part for part in range(int(parts.max(initial=0)) + 1))
    learned = site.results_of([partial(learn_translations, *counts, rows[by], columns[by]) for by in taught_by])
    return tuple(combine_translations(given, each) for each in learned)


def _around(
    site: SiteMeasures, pairs: sp.csr_array, open_a: npt.NDArray[np.bool_], open_b: npt.NDArray[np.bool_]
) -> sp.csr_array:
    """Return the candidates of the open pages with the most likely pairs among their neighbours.

    Without evidence of neighbours, these are the pairs themselves.
    """
    if not site.uses("external"):
        return pairs
    reached = sp.csr_array(site.around_a.astype(np.float32) @ pairs)
    around_b = sp.csr_array(site.around_b.astype(np.float32))
    return candidate_pattern(reached, around_b, site.settings.candidates, open_a, open_b)
