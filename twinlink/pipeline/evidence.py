"""The evidence for each candidate pair of one site and two languages: content, structure, links.

All of it lies on one sparse pattern, row by row, so that the k-th value of every kind belongs to the k-th candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from twinlink.config import MatchSettings
from twinlink.graph.links import neighbours
from twinlink.graph.propagation import enhanced_similarity
from twinlink.similarity.candidates import candidate_pattern, complete_pattern, tag_vectors
from twinlink.similarity.content import combine_translations, content_similarity, content_vectors, page_vectors
from twinlink.similarity.internal import internal_similarity
from twinlink.similarity.lexicon import Lexicon, identity_matrix, translation_matrix
from twinlink.similarity.structure import structural_similarity
from twinlink.similarity.words import TermTable, count_terms, tokenize

__all__ = ["Evidence", "Side", "gather_evidence"]

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Side:
    """The pages of one language of one site; all sequences have one entry a page."""

    lang: str
    page_ids: npt.NDArray[np.int64]
    urls: Sequence[str]
    blocks: Sequence[Sequence[str]]
    tags: Sequence[bytes]
    graph: sp.csr_array
    """Directed links among these pages, bool, square."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for each candidate; the arrays have one value a candidate, in row order.

    ``score`` is the ETS after the last round, as a matrix (rows = pages of side A, columns = pages of side B); its
    pattern is the candidates'.
    """

    score: sp.csr_array
    content: Floats
    structure: Floats
    internal: Floats
    external: Floats
    vectors_a: sp.csr_array
    """Unit term vectors of the pages of side A: which of them are near-duplicates."""
    vectors_b: sp.csr_array
    n_rounds: int
    residual: float

    def at(self, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Return the positions of candidates in the arrays."""
        n_rows, n_columns = self.score.shape
        candidate_rows = np.repeat(np.arange(n_rows), np.diff(self.score.indptr))
        keys = candidate_rows * n_columns + self.score.indices  # rising: the entries are sorted
        return np.searchsorted(keys, rows * n_columns + columns)


def gather_evidence(side_a: Side, side_b: Side, lexicons: Sequence[Lexicon], settings: MatchSettings) -> Evidence:
    """Find the candidates of two sides and measure every kind of evidence on them."""
    counts_a, vocabulary_a = _terms(side_a)
    counts_b, vocabulary_b = _terms(side_b)
    translation = _translations(side_a.lang, vocabulary_a, side_b.lang, vocabulary_b, lexicons, settings)
    by_content = candidate_pattern(*content_vectors(counts_a, counts_b, translation), settings.candidates)
    by_structure = candidate_pattern(*tag_vectors(side_a.tags, side_b.tags), settings.candidates)
    pattern = complete_pattern(by_content, by_structure, settings.candidates)
    content = content_similarity(counts_a, counts_b, translation, pattern, settings.internal.content)
    structure = structural_similarity(side_a.tags, side_b.tags, pattern, settings.internal.structure)
    internal = internal_similarity(content, structure, settings.internal.beta)
    ets = enhanced_similarity(
        internal,
        neighbours(side_a.graph, settings.ets.neighbours),
        neighbours(side_b.graph, settings.ets.neighbours),
        settings.ets,
    )
    return Evidence(
        score=ets.scores,
        content=content.data,
        structure=structure.data,
        internal=internal.data,
        external=ets.external.data,
        vectors_a=page_vectors(counts_a),
        vectors_b=page_vectors(counts_b),
        n_rounds=ets.n_rounds,
        residual=ets.residual,
    )


def _terms(side: Side) -> TermTable:
    return count_terms((tokenize("\n".join(blocks), side.lang) for blocks in side.blocks), side.lang)


def _translations(
    lang_a: str,
    vocabulary_a: Sequence[str],
    lang_b: str,
    vocabulary_b: Sequence[str],
    lexicons: Sequence[Lexicon],
    settings: MatchSettings,
) -> sp.csr_array:
    """Return the best known translation weight of each pair of terms (n_terms_a × n_terms_b)."""
    no_terms = np.zeros(0, dtype=np.int64)
    shape = (len(vocabulary_a), len(vocabulary_b))
    none = sp.csr_array((np.zeros(0, dtype=np.float32), (no_terms, no_terms)), shape=shape)
    known = [translation_matrix(lexicon, vocabulary_a, lang_a, vocabulary_b, lang_b) for lexicon in lexicons]
    if settings.internal.shared_tokens:
        known.append(identity_matrix(vocabulary_a, lang_a, vocabulary_b, lang_b))
    return combine_translations(none, *known)
