"""Measures of the candidates between two sides of a site: all kinds of evidence for one round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from msgspec.structs import replace

from twinlink.config import MatchSettings
from twinlink.graph.document_order import link_order
from twinlink.graph.links import neighbours
from twinlink.graph.matching import greedy_matching
from twinlink.graph.propagation import enhanced_similarity, external_similarity
from twinlink.match.evidence import Between, Side, Words
from twinlink.patterns.credibility import url_clues
from twinlink.similarity.candidates import PAGE_SECONDS, content_votes
from twinlink.similarity.clues import AT_NO_PAGE
from twinlink.similarity.content import content_similarity
from twinlink.similarity.contrast import contrast_vectors, cosine_of_pairs, near_duplicates, near_pages
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.structure import structural_similarity
from twinlink.similarity.weighing import LIKELY
from twinlink.sorted_keys import find_keys
from twinlink.sparse import carry_over, entry_keys, entry_rows, select, with_values
from twinlink.system.scratch import kept
from twinlink.system.side_by_side import at_once, threaded

__all__ = ["SiteMeasures", "State", "link_places", "mean_of", "measure", "pair_matrix"]

SPREAD_ALPHA = {True: 0.4, False: 0.7}
"""α of the ETS that is used as evidence, with structure and without: weak evidence needs more weight on neighbours. In
first trials on four sites, .4 with structure and .8 without were best; the value without is a little lower."""

BY_WORDS = ("learned", "contrast")
"""Kinds of evidence that tell by their words which entry of a list has no partner."""
LESS = 0.45
"""How much less similar a candidate counts in an alignment of links if the words have nothing in common. Trials on 45
sites, each whole and with pages removed in four ways: mean F1 .903 without, .912 with .45, .911 with ½, .901 with ¾;
with ½ of contrast alone .907, of learned words alone .909. With ½ one site of these loses two pairs of 94."""

Floats = npt.NDArray[np.float32]
Marks = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]
ResultT = TypeVar("ResultT")


class State(msgspec.Struct, frozen=True):
    """State passed from one round to the next."""

    pattern: sp.csr_array
    """The candidates."""
    fixed: dict[str, Floats]
    """Evidence that does not change from round to round, one value per candidate."""
    translations: tuple[sp.csr_array, ...]
    """Translations for each part of the rows: given, and learned from the last round's pairs of the other parts. Words
    learned from a pair itself would support it even if it is wrong. One for all rows in the first round."""
    parts: Rows
    """Part of each row, from 0."""
    probabilities: Floats | None = None
    """Probability of each candidate that was matched in the last round, 0 for the others; none before the first
    round."""
    order_first: bool = True
    """Whether the first round uses the order of links."""
    chance: npt.NDArray[np.float64] | None = None
    """What the log odds of each candidate change by in the first matching; None: nothing."""


PAIR_SECONDS = 3e-7
"""What a measure by words takes for each candidate."""
MANY_PAGES = 20_000
"""Pages of both sides beyond which searches are done one after the other."""


class SiteMeasures:
    """Two sides, with the measures that are computed only once."""

    def __init__(self, side_a: Side, side_b: Side, words: Words, between: Between, settings: MatchSettings) -> None:
        self.settings = settings
        self.side_a, self.side_b, self.words, self.between = side_a, side_b, words, between
        self.around_a, self.around_b = (neighbours(side.graph, settings.ets.neighbours) for side in (side_a, side_b))
        counts = words.a.counts, words.b.counts
        of_sides = self.results_of([partial(_alike_and_own, each) for each in counts])
        (self.alike_a, self.own_a), (self.alike_b, self.own_b) = of_sides
        self.by_url = None
        if self.uses("pattern"):
            langs = side_a.lang, side_b.lang
            self.by_url, self._missing_a, self._missing_b = url_clues(
                side_a.urls, side_b.urls, langs, settings.patterns
            )
        self.length_a, self.length_b = (np.log1p(terms.counts.sum(axis=1)) for terms in (words.a, words.b))

    def results_of(self, tasks: Sequence[Callable[[], ResultT]]) -> Iterable[ResultT]:
        """Return the results of some tasks: in threads if the pages are few, else one by one, for each takes memory."""
        n_a, n_b = len(self.side_a.urls), len(self.side_b.urls)
        if n_a + n_b > MANY_PAGES:
            return (task() for task in tasks)
        return threaded(lambda task: task(), tasks, seconds=PAGE_SECONDS * min(n_a, n_b))

    def uses(self, kind: str) -> bool:
        """Return whether a kind of evidence is used."""
        return kind in self.settings.weighing.evidence

    def content(self, translation: sp.csr_array, pattern: sp.csr_array) -> Floats:
        """Return S_cb of some candidates."""
        a, b = self.words.a.counts, self.words.b.counts
        return content_similarity(a, b, translation, pattern, self.settings.internal.content).data

    def candidates(
        self, translation: sp.csr_array, open_a: Marks | None = None, open_b: Marks | None = None
    ) -> sp.csr_array:
        """Return the pairs most similar in content, with their votes; only for the open pages, if given."""
        counts = self.words.a.counts, self.words.b.counts
        return content_votes(*counts, translation, self.settings.candidates, open_a, open_b)

    def fixed_evidence(self, kind: str, pattern: sp.csr_array) -> Floats:
        """Return evidence of some candidates that does not change from round to round."""
        if kind == "content":
            return self.content(self.words.translation, pattern)
        if kind == "structure":
            return structural_similarity(
                self.side_a.tags, self.side_b.tags, pattern, self.settings.internal.structure
            ).data
        known = {"direct": self.between.direct, "hreflang": self.between.hreflang, "pattern": self.by_url}[kind]
        assert known is not None, kind
        rest = self._at_no_page if kind == "pattern" else lambda rest: np.zeros(rest.nnz)
        return carry_over(known, known.data, pattern, rest)

    def _at_no_page(self, pattern: sp.csr_array) -> Floats:
        """Return what URL patterns say of candidates that they do not join: `AT_NO_PAGE`, or nothing."""
        is_missed = self._missing_a[entry_rows(pattern)] | self._missing_b[pattern.indices]
        return np.where(is_missed, AT_NO_PAGE, 0.0).astype(np.float32)

    def nearly(self, rivalry: Rivalry, pairs: npt.NDArray[np.intp]) -> Marks:
        """Mark the candidates that equal one of some pairs (no page twice), up to near-duplicates of one page."""
        rows, columns = rivalry.rows, rivalry.columns
        marks = _with_alike(rows, columns, pairs, self.alike_b) | _with_alike(columns, rows, pairs, self.alike_a)
        marks[pairs] = True
        return marks

    def ets(self, pattern: sp.csr_array, rivalry: Rivalry, inside: npt.NDArray[np.float64], alpha: float) -> Floats:
        """Return ETS of the candidates, with ``inside`` as S_in.

        Where one of the pages has no neighbours, ETS is S_in, not (1 - α)·S_in.
        """
        settings = replace(self.settings.ets, alpha=alpha)
        start = with_values(pattern, inside)
        ets = enhanced_similarity(start, self.around_a, self.around_b, settings, at_once()).scores.data
        lonely_a, lonely_b = (np.diff(around.indptr) == 0 for around in (self.around_a, self.around_b))
        return np.where(lonely_a[rivalry.rows] | lonely_b[rivalry.columns], inside, ets).astype(np.float32)

    def external(self, scores: sp.csr_array) -> Floats:
        """Return S_ext of the candidates."""
        rarity = self.settings.ets.rarity
        external: Floats = external_similarity(scores, self.around_a, self.around_b, at_once(), rarity=rarity).data
        return external

    def has_alike(self, rivalry: Rivalry) -> Marks:
        """Mark the candidates of which one page has near-duplicates."""
        of_row, of_column = (np.diff(alike.indptr) > 0 for alike in (self.alike_a, self.alike_b))
        return np.asarray(of_row[rivalry.rows] | of_column[rivalry.columns])

    def order(self, scores: sp.csr_array, pairs: tuple[Rows, Rows, npt.NDArray[np.float64]]) -> Floats:
        """Return the link order of each candidate among the links of some pairs (`link_order`)."""
        assert self.side_a.lists is not None
        assert self.side_b.lists is not None
        return link_order(self.side_a.lists, self.side_b.lists, pairs, scores).astype(np.float32)

    @property
    def has_lists(self) -> bool:
        """Whether the order of the links is known."""
        return self.side_a.lists is not None and self.side_b.lists is not None


def _with_alike(pages: Rows, others: Rows, pairs: npt.NDArray[np.intp], alike: sp.csr_array) -> Marks:
    """Mark the candidates of a page of some pairs with a near-duplicate of its partner."""
    partners = np.full(int(pages.max(initial=-1)) + 1, -1)
    partners[pages[pairs]] = others[pairs]
    partner = partners[pages]
    some = np.flatnonzero(partner >= 0)
    marks = np.zeros(len(pages), np.bool_)
    marks[some] = find_keys(partner[some] * alike.shape[1] + others[some], entry_keys(alike))[1]
    return marks


def _alike_and_own(counts: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Return the near-duplicates of each page of a side, and vectors of what distinguishes it from them."""
    near = near_pages(counts)
    return near_duplicates(near), contrast_vectors(counts, near)


def measure(site: SiteMeasures, state: State, rivalry: Rivalry) -> Mapping[str, Floats]:
    """Return every kind of evidence of the candidates."""
    evidence: dict[str, Floats] = dict(state.fixed)
    if site.uses("learned") and state.probabilities is not None:
        evidence["learned"] = kept(_by_parts(state, rivalry, site.content))
    if site.uses("contrast"):
        evidence["contrast"] = kept(_by_parts(state, rivalry, partial(cosine_of_pairs, site.own_a, site.own_b)))
    inside = mean_of(evidence, ("content", "structure", "learned"), state.pattern.nnz)
    if site.uses("ets"):
        alpha = site.settings.weighing.alpha
        alpha = SPREAD_ALPHA["structure" in evidence] if alpha is None else alpha
        evidence["ets"] = kept(site.ets(state.pattern, rivalry, inside, alpha))
    if site.uses("external"):
        likely = evidence.get("ets", inside) if state.probabilities is None else state.probabilities
        evidence["external"] = kept(site.external(with_values(state.pattern, likely)))
    evidence |= link_places(site, state, rivalry, evidence)
    if site.uses("length") and state.probabilities is not None:
        evidence["length"] = _length(site, rivalry, state.probabilities > LIKELY)
    return evidence


def link_places(
    site: SiteMeasures,
    state: State,
    rivalry: Rivalry,
    evidence: Mapping[str, Floats],
    left: Marks | None = None,
) -> dict[str, Floats]:
    """Return evidence ``order``: the link order of candidates among the links of the last round's pairs.

    Parameters
    ----------
    site : SiteMeasures
    state : State
        Its likely pairs; in the first round the pairs of a greedy matching by ETS.
    rivalry : Rivalry
    evidence : mapping of str to ndarray, shape (n_candidates,)
        The other kinds.
    left : ndarray of bool, shape (n_candidates,), optional
        Candidates that can be aligned; by default all.
    """
    if not site.uses("order") or not site.has_lists or (state.probabilities is None and not state.order_first):
        return {}
    known = _to_align(state, rivalry, evidence, left)
    if state.probabilities is None:
        matching = greedy_matching(with_values(state.pattern, known))
        pairs = matching.rows, matching.columns, np.ones(len(matching))
    else:
        likely = np.flatnonzero(state.probabilities)
        pairs = rivalry.rows[likely], rivalry.columns[likely], state.probabilities[likely].astype(np.float64)
    scores = with_values(state.pattern, known if left is None else np.where(left, known, 0))
    return {"order": site.order(scores, pairs)}


def _to_align(
    state: State, rivalry: Rivalry, evidence: Mapping[str, Floats], left: Marks | None
) -> npt.NDArray[np.floating]:
    """Return the similarity of the candidates by which the links of paired pages are aligned.

    In the first round it is ETS, which hardly tells which of several entries of a list has no partner, because their
    neighbours and their structure are the same. So from the second round on, ETS is multiplied by 1 - `LESS`·(1 - c),
    with c the mean of `learned` and `contrast`, each divided by the best of the two pages, or 1 where that is 0.
    """
    kinds = ("ets",) if "ets" in evidence else ("content", "structure", "learned")
    known = mean_of(evidence, kinds, state.pattern.nnz)
    if state.probabilities is None:
        return known
    shares = {kind: _share_of_best(evidence[kind], rivalry, left) for kind in BY_WORDS if kind in evidence}
    return known * (1 - LESS * (1 - mean_of(shares, BY_WORDS, state.pattern.nnz))) if shares else known


def _share_of_best(values: Floats, rivalry: Rivalry, left: Marks | None) -> Floats:
    """Divide each value by the best one of its two pages; 1 where that is 0."""
    best = np.maximum(values, rivalry.rivals(values, left))
    return np.divide(values, best, out=np.ones_like(values), where=best > 0)


def _by_parts(
    state: State, rivalry: Rivalry, measure_with: Callable[[sp.csr_array, sp.csr_array], Floats]
) -> npt.NDArray[np.floating]:
    """Measure the candidates of each part of the rows with the translations of that part."""
    values, n_parts = np.zeros(state.pattern.nnz, dtype=np.float32), len(state.translations)
    parts = state.parts[rivalry.rows] % n_parts  # 0 where one translation is for all

    def measured(part: int) -> None:
        here = parts == part
        values[here] = measure_with(state.translations[part], select(state.pattern, here))

    threaded(measured, range(n_parts), seconds=PAIR_SECONDS * state.pattern.nnz)
    return values


def _length(site: SiteMeasures, rivalry: Rivalry, likely: Marks) -> Floats:
    """Return ``exp(-|d - d̃|)``: d the difference of the pages' log lengths, d̃ its median over the likely pairs."""
    difference = site.length_a[rivalry.rows] - site.length_b[rivalry.columns]
    usual = np.median(difference[likely]) if likely.any() else 0.0
    return np.exp(-np.abs(difference - usual))


def mean_of(
    evidence: Mapping[str, npt.NDArray[np.floating]], kinds: Sequence[str], n_candidates: int
) -> npt.NDArray[np.float64]:
    """Return the mean of the available kinds of evidence; 0 if there are none."""
    measured = [evidence[kind] for kind in kinds if kind in evidence]
    return np.mean(measured, axis=0) if measured else np.zeros(n_candidates)


def pair_matrix(
    rows: npt.NDArray[np.integer], columns: npt.NDArray[np.integer], shape: tuple[int, int]
) -> sp.csr_array:
    """Return a matrix that has 1 at some pairs."""
    return sp.csr_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)
