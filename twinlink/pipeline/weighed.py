"""Method ``weighed``: links, words and structure teach each other, and are weighed on the site at hand, without labels.

A round measures every kind of evidence, weighs it, matches, and learns from the pairs that are probably right: a
lexicon for each half of the pages from the other half, and where else to look. The next round measures again with what
was learned. The rounds end when they change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import expit

from twinlink.config import MatchSettings
from twinlink.graph.links import neighbours
from twinlink.graph.matching import Matching, greedy_matching
from twinlink.graph.propagation import enhanced_similarity, external_similarity
from twinlink.pipeline.evidence import Between, Found, Side, Words, carry_over, positions, with_values
from twinlink.similarity.candidates import candidate_pattern, strongest, tag_vectors, union_of
from twinlink.similarity.content import combine_translations, content_similarity, content_vectors
from twinlink.similarity.contrast import contrast_vectors, cosine_of_pairs
from twinlink.similarity.learned import learn_translations
from twinlink.similarity.margins import Rivalry
from twinlink.similarity.structure import structural_similarity
from twinlink.similarity.weighing import Weighing, clear_pairs, weigh

__all__ = ["match_weighed"]

FIRST_MARGIN = 0.1
"""Lead by which a pair of the first round is clear: 10 % over the second, as in the trials of `docs/methods.md`."""
LIKELY = 0.5
"""Probability from which a pair teaches the next round."""
SETTLED = 0.995
"""Share of the pairs that the round before had too, from which another round is not worth its time."""
SPREAD_ALPHA = {True: 0.4, False: 0.7}
"""α of the ETS that is one kind of evidence, with structure and without: weak evidence wants more of its neighbours
(trials: .4 with structure, .8 without; `docs/methods.md`)."""
PARTS = 2
"""Parts of the pages that teach each other words. Trials: in two parts the lexicons are good enough, and on a site of
which no page has a partner .6 of the pairs are expected to be right instead of .95; four parts change nothing."""
MIN_DIRECT = 0.2
"""Share of a direct link from which the two pages are candidates: the page has five such links at most."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class _State:
    """What one round hands on to the next."""

    pattern: sp.csr_array
    """The candidates."""
    fixed: dict[str, Floats]
    """Evidence that does not change from round to round, one value a candidate."""
    translations: tuple[sp.csr_array, ...]
    """All that is known of words for each part of the rows (row modulo number of parts): given, and learned from the
    last round's pairs of the other parts. Words that a pair has taught itself speak for it, however wrong it is."""
    chances: Floats | None = None
    """Probability of each candidate that was matched in the last round, 0 for the others; none before the first
    round."""


class _Site:
    """Two sides, and what is measured once on them."""

    def __init__(self, side_a: Side, side_b: Side, words: Words, between: Between, settings: MatchSettings) -> None:
        self.settings = settings
        self.side_a, self.side_b, self.words, self.between = side_a, side_b, words, between
        self.around_a, self.around_b = (neighbours(side.graph, settings.ets.neighbours) for side in (side_a, side_b))
        self.own_a, self.own_b = contrast_vectors(words.a.counts), contrast_vectors(words.b.counts)
        self.length_a, self.length_b = (np.log1p(terms.counts.sum(axis=1)) for terms in (words.a, words.b))

    def uses(self, kind: str) -> bool:
        """Tell whether a kind of evidence is to be used."""
        return kind in self.settings.weighing.evidence

    def content(self, translation: sp.csr_array, pattern: sp.csr_array) -> Floats:
        """Return S_cb of some candidates."""
        a, b = self.words.a.counts, self.words.b.counts
        return content_similarity(a, b, translation, pattern, self.settings.internal.content).data

    def candidates(self, translation: sp.csr_array) -> sp.csr_array:
        """Return the pairs that are most alike in their words."""
        vectors = content_vectors(self.words.a.counts, self.words.b.counts, translation)
        return candidate_pattern(*vectors, self.settings.candidates)

    def fixed_evidence(self, kind: str, pattern: sp.csr_array) -> Floats:
        """Return evidence of some candidates that does not change from round to round."""
        if kind == "content":
            return self.content(self.words.translation, pattern)
        if kind == "structure":
            return structural_similarity(
                self.side_a.tags, self.side_b.tags, pattern, self.settings.internal.structure
            ).data
        links = self.between.direct if kind == "direct" else self.between.hreflang
        return carry_over(links, links.data, pattern, lambda rest: np.zeros(rest.nnz))


def match_weighed(side_a: Side, side_b: Side, words: Words, between: Between, settings: MatchSettings) -> Found:
    """Match two sides by evidence that is weighed on them.

    Kinds of evidence (``settings.weighing.evidence`` chooses): ``content`` (S_cb with lexicons and shared tokens),
    ``learned`` (S_cb with the learned lexicon as well), ``contrast`` (the same for what tells a page from its
    near-duplicates), ``structure`` (S_struct), ``ets`` (ETS of the mean of these), ``external`` (S_ext of the last
    round's probabilities), ``length``, ``direct`` and ``hreflang`` (links between the two pages).
    """
    site = _Site(side_a, side_b, words, between, settings)
    state = _first_state(site)
    for round_ in range(settings.weighing.rounds + 1):
        rivalry = Rivalry(state.pattern)
        evidence = _measure(site, state, rivalry)
        clear = _clear(state, evidence, rivalry)
        result = weigh(evidence, rivalry, clear, partial(_match, state.pattern), settings.weighing)
        if round_ == settings.weighing.rounds or _is_settled(state, result):
            break
        state = _next_state(site, state, result, rivalry)
    return _found(state.pattern, evidence, result, rivalry)


def _first_state(site: _Site) -> _State:
    patterns = [site.candidates(site.words.translation)]
    if site.uses("structure"):
        vectors = tag_vectors(site.side_a.tags, site.side_b.tags)
        patterns.append(candidate_pattern(*vectors, site.settings.candidates))
    if site.uses("direct"):
        patterns.append(_stored(site.between.direct, site.between.direct.data >= MIN_DIRECT))
    if site.uses("hreflang"):
        patterns.append(site.between.hreflang)
    pattern = union_of(*patterns)
    kinds = [kind for kind in ("content", "structure", "direct", "hreflang") if site.uses(kind)]
    fixed = {kind: site.fixed_evidence(kind, pattern) for kind in kinds}
    return _State(pattern, {kind: values for kind, values in fixed.items() if values.any()}, (site.words.translation,))


def _measure(site: _Site, state: _State, rivalry: Rivalry) -> dict[str, npt.NDArray[np.float64]]:
    """Return every kind of evidence of the candidates."""
    evidence = dict(state.fixed)
    if site.uses("learned") and state.chances is not None:
        evidence["learned"] = _by_parts(state, rivalry, site.content)
    if site.uses("contrast"):
        evidence["contrast"] = _by_parts(state, rivalry, partial(cosine_of_pairs, site.own_a, site.own_b))
    inside = _mean(evidence, ("content", "structure", "learned"), state.pattern.nnz)
    if site.uses("ets"):
        alpha = SPREAD_ALPHA["structure" in evidence]
        start = with_values(state.pattern, inside)
        settings = msgspec.structs.replace(site.settings.ets, alpha=alpha)
        evidence["ets"] = enhanced_similarity(start, site.around_a, site.around_b, settings).scores.data
    if site.uses("external"):
        first = evidence.get("ets", inside)
        known = first if state.chances is None else state.chances
        around = with_values(state.pattern, known)
        evidence["external"] = external_similarity(around, site.around_a, site.around_b).data
    if site.uses("length") and state.chances is not None:
        difference = site.length_a[rivalry.rows] - site.length_b[rivalry.columns]
        usual = np.median(difference[state.chances > LIKELY]) if (state.chances > LIKELY).any() else 0.0
        evidence["length"] = np.exp(-np.abs(difference - usual))
    return {kind: values.astype(np.float64) for kind, values in evidence.items()}


def _by_parts(
    state: _State, rivalry: Rivalry, measure: Callable[[sp.csr_array, sp.csr_array], Floats]
) -> npt.NDArray[np.floating]:
    """Measure the candidates of each part of the rows with the words that it may use."""
    values = np.zeros(state.pattern.nnz, dtype=np.float32)
    for part, translation in enumerate(state.translations):
        here = rivalry.rows % len(state.translations) == part
        values[here] = measure(translation, _stored(state.pattern, here))
    return values


def _clear(state: _State, evidence: dict[str, npt.NDArray[np.float64]], rivalry: Rivalry) -> npt.NDArray[np.bool_]:
    """Mark the pairs to learn from: at first the clear ones, later those that are probably right.

    What the pages themselves say comes first. Where it makes nothing clear, links between the two sides may.
    """
    if state.chances is not None and (state.chances > LIKELY).any():
        return state.chances > LIKELY
    first = evidence.get("ets", _mean(evidence, ("content", "structure"), state.pattern.nnz))
    between = (evidence[kind] for kind in ("hreflang", "direct") if kind in evidence)
    clear = (clear_pairs(values, rivalry, FIRST_MARGIN) for values in (first, *between))
    return next((pairs for pairs in clear if pairs.any()), np.zeros(state.pattern.nnz, dtype=np.bool_))


def _mean(
    evidence: Mapping[str, npt.NDArray[np.floating]], kinds: Sequence[str], n_candidates: int
) -> npt.NDArray[np.float64]:
    """Return the mean of some kinds of evidence, as far as there are such; 0 if there are none."""
    measured = [evidence[kind] for kind in kinds if kind in evidence]
    return np.mean(measured, axis=0) if measured else np.zeros(n_candidates)


def _match(pattern: sp.csr_array, log_odds: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Return the positions of a greedy one-to-one matching by log odds; -inf is not to be taken."""
    open_ = np.isfinite(log_odds)
    left = _stored(with_values(pattern, _as_score(np.where(open_, log_odds, 0.0))), open_)
    matching = greedy_matching(left)
    return positions(pattern, matching.rows, matching.columns)


def _as_score(log_odds: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return log odds as scores in (0, 1), drawn out so that float32 keeps their order."""
    return expit(log_odds / 8)


def _stored(matrix: sp.csr_array, which: npt.NDArray[np.bool_]) -> sp.csr_array:
    """Return a matrix with some of the stored entries."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return sp.csr_array((matrix.data[which], (rows[which], matrix.indices[which])), shape=matrix.shape)


def _is_settled(state: _State, result: Weighing) -> bool:
    """Tell whether the round found nearly the same pairs as the one before."""
    if state.chances is None:
        return False
    before, now = np.flatnonzero(state.chances > LIKELY), result.pairs[result.probabilities > LIKELY]
    return len(np.intersect1d(before, now)) >= SETTLED * len(np.union1d(before, now))


def _next_state(site: _Site, state: _State, result: Weighing, rivalry: Rivalry) -> _State:
    """Learn words from the likely pairs, and look for candidates by these words and around these pairs."""
    likely = result.pairs[result.probabilities > LIKELY]
    rows, columns = rivalry.rows[likely], rivalry.columns[likely]
    translation, *translations = _translations(site, rows, columns)
    pattern = union_of(
        strongest(with_values(state.pattern, _as_score(result.log_odds)), site.settings.candidates),
        _pairs(rivalry.rows[result.pairs], rivalry.columns[result.pairs], state.pattern.shape),
        site.candidates(translation),
        _around(site, _pairs(rows, columns, state.pattern.shape)),
    )
    chances = np.zeros(state.pattern.nnz, dtype=np.float32)
    chances[result.pairs] = result.probabilities
    return _State(
        pattern=pattern,
        fixed={
            kind: carry_over(state.pattern, values, pattern, partial(site.fixed_evidence, kind))
            for kind, values in state.fixed.items()
        },
        translations=tuple(translations),
        chances=carry_over(state.pattern, chances, pattern, lambda rest: np.zeros(rest.nnz)),
    )


def _translations(site: _Site, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> list[sp.csr_array]:
    """Return what is known of words from all of some pairs, and for each part from the pairs of the others."""
    given = site.words.translation
    if not site.uses("learned"):
        return [given, given]
    counts = site.words.a.counts, site.words.b.counts
    taught_by = [np.ones(len(rows), dtype=np.bool_), *(rows % PARTS != part for part in range(PARTS))]
    return [combine_translations(given, learn_translations(*counts, rows[by], columns[by])) for by in taught_by]


def _pairs(rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64], shape: tuple[int, int]) -> sp.csr_array:
    return sp.csr_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)


def _around(site: _Site, pairs: sp.csr_array) -> sp.csr_array:
    """Return candidates that have most likely pairs among their neighbours."""
    if not site.uses("external"):
        return pairs
    reached = sp.csr_array(site.around_a.astype(np.float32) @ pairs)
    return candidate_pattern(reached, sp.csr_array(site.around_b.astype(np.float32)), site.settings.candidates)


def _found(
    pattern: sp.csr_array, evidence: dict[str, npt.NDArray[np.float64]], result: Weighing, rivalry: Rivalry
) -> Found:
    scores = with_values(pattern, _as_score(result.log_odds))
    pairs = result.pairs
    return Found(
        scores=scores,
        evidence={kind: values.astype(np.float32) for kind, values in evidence.items()},
        matching=Matching(rivalry.rows[pairs], rivalry.columns[pairs], scores.data[pairs]),
        rivals=rivalry.rivals(scores.data.astype(np.float64))[pairs],
        probabilities=result.probabilities,
        weights=result.weights,
    )
