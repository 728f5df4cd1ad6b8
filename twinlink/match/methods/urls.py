"""Method ``urls``: pairs by URL patterns, without those that content contradicts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from twinlink.config import MatchSettings
from twinlink.graph.matching import greedy_matching
from twinlink.match.evidence import Between, FoundPairs, Side, Words
from twinlink.patterns.credibility import pairs_of_patterns
from twinlink.similarity.content import content_similarity
from twinlink.similarity.filter_verdicts import FilterVerdicts, all_kept, with_filter
from twinlink.similarity.internal import internal_similarity
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.structure import structural_similarity
from twinlink.sparse import entries, positions

__all__ = ["match_urls"]

CHANCE = 4
"""Number of pages of each side, drawn from other pairs, that a pair is compared with."""
BETTER = 2
"""Number of these chance pairs, at least as similar as the pair, that contradict it. Trials with a tenth of the
addresses of three sites interchanged (`experiments.url_patterns`): 2 reject .85 to .91 of the wrong pairs and at most
.013 of the right ones, 3 reject .83 to .88 of the wrong ones, 4 .74 to .88."""
TELLING = 2 / 3
"""Content is used only if at least this share of the pairs is more similar than chance."""
MIN_PAIRS = 5
"""Minimum number of pairs to estimate chance."""


def match_urls(
    side_a: Side,
    side_b: Side,
    words: Words,
    between: Between,  # noqa: ARG001  (all methods are called alike)
    settings: MatchSettings,
) -> FoundPairs:
    """Match two sides by URL patterns (Zhang, Yao & Kit); pairs that content contradicts are rejected.

    Candidates are all pairs that patterns join. Those of weak patterns are rejected (``weak-pattern``), and those whose
    pages are no more alike (S_in) than each is with partners of other pages (``content``). The rest is matched one
    to one by ``credibility·(1 + S_in) / 2``.
    """
    pattern, credibility = pairs_of_patterns(side_a.urls, side_b.urls, (side_a.lang, side_b.lang), settings.patterns)
    content, structure, internal = _alike(side_a, side_b, words, pattern, settings)
    scores = credibility.data * (1 + internal.data) / 2
    known = credibility.data
    verdicts = with_filter(all_kept(pattern), "weak-pattern", known > 0, scores, values=known, bounds=0.0, relation=">")
    is_alike = _more_than_chance(side_a, side_b, words, verdicts.kept(), internal, settings)
    verdicts = with_filter(verdicts, "content", is_alike, scores)
    evidence = {
        "pattern": credibility.data,
        "content": content.data,
        "structure": structure.data,
        "internal": internal.data,
    }
    return _found(verdicts, scores, evidence)


def _alike(
    side_a: Side, side_b: Side, words: Words, pattern: sp.csr_array, settings: MatchSettings
) -> tuple[sp.csr_array, sp.csr_array, sp.csr_array]:
    """Return S_cb, S_struct and S_in of some pairs."""
    chosen = settings.internal
    content = content_similarity(words.a.counts, words.b.counts, words.translation, pattern, chosen.content)
    structure = structural_similarity(side_a.tags, side_b.tags, pattern, chosen.structure)
    return content, structure, internal_similarity(content, structure, chosen.beta)


def _more_than_chance(
    side_a: Side,
    side_b: Side,
    words: Words,
    kept: sp.csr_array,
    internal: sp.csr_array,
    settings: MatchSettings,
) -> npt.NDArray[np.bool_]:
    """Mark the candidates that content does not contradict: all where it is not informative."""
    alike = np.ones(internal.nnz, np.bool_)
    rows, columns = entries(kept)
    if len(rows) < MIN_PAIRS:
        return alike
    shifts = np.unique(np.linspace(1, len(rows) - 1, CHANCE).round().astype(np.int64))
    at = positions(internal, rows, columns)
    own, better = internal.data[at], np.zeros(len(rows), np.int64)
    for shift in shifts.tolist():
        for others in ((rows, np.roll(columns, shift)), (np.roll(rows, shift), columns)):
            chance = sp.csr_array((np.ones(len(rows), np.bool_), others), shape=internal.shape)
            chance.sort_indices()
            measured = _alike(side_a, side_b, words, chance, settings)[2]
            # a page of several pairs may be drawn as its own partner
            better += (measured.data[positions(measured, *others)] >= own) & (
                (others[0] != rows) | (others[1] != columns)
            )
    is_alike = better < BETTER
    if is_alike.mean() >= TELLING:
        alike[at] = is_alike
    return alike


def _found(
    verdicts: FilterVerdicts, scores: npt.NDArray[np.float32], evidence: dict[str, npt.NDArray[np.float32]]
) -> FoundPairs:
    """Match the candidates left by the filters, one to one."""
    pattern = verdicts.pattern
    matching = greedy_matching(verdicts.kept())
    at = positions(pattern, matching.rows, matching.columns)
    values = scores.astype(np.float32)
    return FoundPairs(
        scores=sp.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape),
        evidence=evidence,
        matching=matching,
        rivals=Rivalry(pattern).rivals(values.astype(np.float64))[at],
        probabilities=np.full(len(matching.rows), np.nan),
        weights={},
        n_filtered=verdicts.counts(),
        filter_of=verdicts.reasons(),
        checks=verdicts.checks,
        is_decided=True,
    )
