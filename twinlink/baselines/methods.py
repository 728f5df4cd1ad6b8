"""Methods ``bitextor2010``, ``webmining`` and ``jangeldin``: pairs by structure alone, as in their papers.

Each rejects candidates by its filters and matches the rest one to one. All accepted pairs are kept. The methods
give no probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp
from msgspec.structs import replace

from twinlink.baselines.alignment import align
from twinlink.baselines.bitextor2010 import fingerprint_verdicts, surface_verdicts, text_tolerance
from twinlink.baselines.filters import SideShapes, fit_line_unlabelled, size_verdicts, structure_verdicts
from twinlink.baselines.models.thresholds import alignment_checks, judge_jangeldin
from twinlink.baselines.tag_distance import text_in_words, without_heading
from twinlink.baselines.url_rule import url_pairs
from twinlink.config import CandidateSettings, MatchSettings
from twinlink.graph.matching import Matching, greedy_matching
from twinlink.match.evidence import Between, FoundPairs, Side
from twinlink.match.so_far import pairs_so_far
from twinlink.similarity.candidates import candidate_pattern, strongest, tag_vectors
from twinlink.similarity.filter_verdicts import FilterVerdicts, all_kept, with_filter
from twinlink.similarity.rivals import Rivalry
from twinlink.sparse import entries, members, positions, select, union_of, with_values
from twinlink.system.steps import NO_STEPS, Steps

__all__ = [
    "content_verdicts",
    "in_characters",
    "in_words",
    "judge_bitextor2010",
    "judge_webmining",
    "match_bitextor2010",
    "match_jangeldin",
    "match_webmining",
]

MAX_ALL_PAIRS = 10**6
"""Pairs of pages up to which all are candidates, as in the papers; of more, those that are nearest in their tags."""

STRUCTURE_SHARE = 0.2
"""Share of the time of WebMining that its filters before the sentences take, for progress reports."""

Floats = npt.NDArray[np.float32]


def match_bitextor2010(side_a: Side, side_b: Side, between: Between, settings: MatchSettings) -> FoundPairs:  # noqa: ARG001
    """Match two sides by URL rule, surface filters and fingerprints (Esplà-Gomis & Forcada 2010)."""
    by_urls = url_pairs(side_a.urls, side_b.urls, settings.url_rule) if settings.bitextor.use_urls else None
    pattern = _candidates(side_a, side_b, settings) if by_urls is None else sp.csr_array(by_urls.pattern)
    found = _found(judge_bitextor2010(in_characters(side_a), in_characters(side_b), pattern, settings))
    return found if by_urls is None else replace(found, crowded=by_urls.crowded)


def match_webmining(
    side_a: Side,
    side_b: Side,
    between: Between,  # noqa: ARG001
    settings: MatchSettings,
    steps: Steps = NO_STEPS,
) -> FoundPairs:
    """Match two sides by WebMining's size, language, structure and content filters (Tomás et al., section 2).

    The pairs so far go to ``steps``: those that are clear by structure, then those whose sentences passed the content
    filter, until all pairs are tested.
    """
    pattern = _candidates(side_a, side_b, settings)
    verdicts = judge_webmining(in_words(side_a), in_words(side_b), pattern, settings)
    if settings.webmining.content:
        rest = steps.part(STRUCTURE_SHARE, 1.0)
        verdicts = content_verdicts(side_a, side_b, verdicts, settings, rest)
    return _found(verdicts)


def match_jangeldin(side_a: Side, side_b: Side, between: Between, settings: MatchSettings) -> FoundPairs:
    """Match the pages that hreflang or the URL rule brings together, and Algorithm 1 of Jangeldin & Assylbekov accepts.

    Like the paper's, these candidates are mostly right: Algorithm 1 is made to verify, not to search.
    """
    by_urls = url_pairs(side_a.urls, side_b.urls, settings.url_rule)
    pattern = union_of(by_urls.pattern, between.hreflang)
    rows, columns = entries(pattern)
    tokens_a, tokens_b = ([shape.tokens for shape in side.shapes] for side in (side_a, side_b))
    alignment = align(tokens_a, tokens_b, rows, columns)
    verdicts = judge_jangeldin(alignment, settings.models.jangeldin)
    scores = np.clip(verdicts.score, 0.0, 1.0)
    found = with_filter(all_kept(pattern), "not-parallel", verdicts.parallel, scores)
    found = replace(found, checks=(*verdicts.checks, *alignment_checks(alignment)))
    evidence = {"cost_share": alignment.cost_share, "length_difference": alignment.length_difference}
    kinds = {kind: values.astype(np.float32) for kind, values in evidence.items()}
    return replace(_found(found, kinds), crowded=by_urls.crowded)


def judge_bitextor2010(a: SideShapes, b: SideShapes, pattern: sp.csr_array, settings: MatchSettings) -> FilterVerdicts:
    """Apply Bitextor's filters to some pairs of pages; texts in characters."""
    verdicts = surface_verdicts(a, b, pattern, (), settings.bitextor)
    tolerance = text_tolerance(a, b, verdicts, settings.bitextor)
    return fingerprint_verdicts(a, b, verdicts, tolerance, settings.bitextor)


def judge_webmining(a: SideShapes, b: SideShapes, pattern: sp.csr_array, settings: MatchSettings) -> FilterVerdicts:
    """Apply WebMining's filters to some pairs of pages; texts in words."""
    verdicts = size_verdicts(a, b, pattern, (), settings.webmining)
    return structure_verdicts(a, b, verdicts, fit_line_unlabelled(a, b, verdicts, settings.webmining))


def content_verdicts(
    side_a: Side, side_b: Side, verdicts: FilterVerdicts, settings: MatchSettings, steps: Steps = NO_STEPS
) -> FilterVerdicts:
    """Apply WebMining's content filter: the page test by sentences (section 2.3), its model learned from strict pairs.

    The strict pairs are the best of both their pages in structure, and nearer than any other one; the nearest go first.
    Of each page only the candidates nearest in structure are tested (``content_pairs``). Scores become the product of
    structure and support.
    """
    from twinlink.baselines.page_test import PageTest

    kept = verdicts.kept()
    strict = _clear_best(kept)
    near = strongest(kept, CandidateSettings(per_page=settings.webmining.content_pairs))
    values = np.full(verdicts.pattern.nnz, np.nan)
    printed = settings.webmining if settings.webmining.score == "printed" else None
    test = PageTest(side_a, side_b, printed=printed)
    tested, least = members(verdicts.pattern, near), settings.webmining.min_support
    so_far = _SoFar(side_a, side_b, near, strict, least, steps)
    so_far.show(np.full(near.nnz, np.nan))
    values[tested] = test.supports(*entries(near), strict, so_far.show)
    supports = np.nan_to_num(values)
    scores = verdicts.scores * supports
    return with_filter(verdicts, "content", supports >= least, scores, values=values, bounds=least, relation=">=")


class _SoFar:
    """Pairs of the content filter while it tests: those that passed, and the strict ones that are not tested yet."""

    def __init__(
        self,
        side_a: Side,
        side_b: Side,
        near: sp.csr_array,
        strict: Sequence[tuple[int, int]],
        least: float,
        steps: Steps,
    ) -> None:
        self._sides, self._near, self._least, self._steps = (side_a, side_b), near, least, steps
        ends = np.array(strict, np.intp).reshape(-1, 2)
        self._is_strict = np.zeros(near.nnz, np.bool_)
        self._is_strict[positions(near, ends[:, 0], ends[:, 1])] = True

    def show(self, supports: npt.NDArray[np.float64]) -> None:
        """Report the share of pairs that are tested, and the pairs so far."""
        is_tested = ~np.isnan(supports)
        langs = "-".join(side.lang for side in self._sides)
        done = int(is_tested.sum())
        step = f"sentences of {done} of {self._near.nnz} pairs" if done else "sentences"
        self._steps(done / max(1, self._near.nnz), f"{langs}: {step}")
        known = np.where(is_tested, supports, self._is_strict)
        left = select(with_values(self._near, self._near.data * known), known >= self._least)
        self._steps.keep(langs, lambda: self._table(greedy_matching(left)))

    def _table(self, matching: Matching) -> pa.Table:
        return pairs_so_far(*self._sides, matching.rows, matching.columns)


def _clear_best(scores: sp.csr_array) -> list[tuple[int, int]]:
    """Return the pairs of a matching that no other candidate of either page equals, the best first."""
    matching = greedy_matching(scores)
    rivals = Rivalry(scores).rivals(scores.data.astype(np.float64))
    lead = rivals[positions(scores, matching.rows, matching.columns)] < matching.scores
    return list(zip(matching.rows[lead].tolist(), matching.columns[lead].tolist(), strict=True))


def in_characters(side: Side) -> SideShapes:
    """Return a side as input of Bitextor: without what is in ``head``, texts in characters."""
    return _shapes(side, [without_heading(shape.tokens) for shape in side.shapes])


def in_words(side: Side) -> SideShapes:
    """Return a side as input of WebMining: texts in words."""
    return _shapes(side, [text_in_words(shape.tokens, shape.words) for shape in side.shapes])


def _shapes(side: Side, tokens: list[npt.NDArray[np.int32]]) -> SideShapes:
    sizes = np.array([shape.n_bytes for shape in side.shapes], np.int64)
    return SideShapes(tokens, sizes, [side.lang] * len(tokens))


def _candidates(side_a: Side, side_b: Side, settings: MatchSettings) -> sp.csr_array:
    n_a, n_b = len(side_a.urls), len(side_b.urls)
    if n_a * n_b > MAX_ALL_PAIRS:
        return candidate_pattern(*tag_vectors(side_a.tags, side_b.tags), settings.candidates)
    return sp.csr_array((np.ones(n_a * n_b, np.bool_), np.tile(np.arange(n_b), n_a), np.arange(n_a + 1) * n_b))


def _found(verdicts: FilterVerdicts, evidence: Mapping[str, Floats] | None = None) -> FoundPairs:
    """Match the candidates left by the filters, one to one."""
    kept = verdicts.kept()
    matching = greedy_matching(kept)
    scores = sp.csr_array(
        (np.nan_to_num(verdicts.scores).astype(np.float32), verdicts.pattern.indices, verdicts.pattern.indptr),
        shape=verdicts.pattern.shape,
    )
    at = np.flatnonzero(members(scores, _pairs(matching, kept.shape)))
    of_row = np.empty(kept.shape[0], np.intp)
    of_row[entries(scores)[0][at]] = at
    return FoundPairs(
        scores=scores,
        evidence=evidence or {},
        matching=matching,
        rivals=Rivalry(scores).rivals(scores.data.astype(np.float64))[of_row[matching.rows]],
        probabilities=np.full(len(matching.rows), np.nan),
        weights={},
        n_filtered=verdicts.counts(),
        filter_of=verdicts.reasons(),
        checks=verdicts.checks,
        is_decided=True,
    )


def _pairs(matching: Matching, shape: tuple[int, int]) -> sp.csr_array:
    return sp.csr_array((np.ones(len(matching.rows), np.bool_), (matching.rows, matching.columns)), shape=shape)
