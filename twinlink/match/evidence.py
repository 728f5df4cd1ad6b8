"""Input and output of matching methods: the pages, words and links of two languages, and what a method finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from twinlink.config import MatchSettings
from twinlink.graph.document_order import LinkLists
from twinlink.graph.matching import Matching
from twinlink.languages import base_language
from twinlink.match.counted_words import CountedWords, Texts
from twinlink.match.menus import without_menus
from twinlink.match.shared_names import shared_names
from twinlink.odds import expit, logit
from twinlink.pages.linearise import PageShape
from twinlink.similarity.content import combine_translations
from twinlink.similarity.decision import EVEN
from twinlink.similarity.filter_checks import Check
from twinlink.similarity.lexicon import heads_of, identity_matrix, translation_matrix
from twinlink.similarity.lexicon_files import Lexicon
from twinlink.similarity.shared_words import shared_words_matrix
from twinlink.sparse import kept_matrix
from twinlink.text.word_counts import with_names
from twinlink.text.words import EastAsian, TermTable

__all__ = [
    "Between",
    "FoundPairs",
    "Side",
    "Words",
    "as_log_odds",
    "as_scores",
    "read_words",
    "texts_of",
]

Floats = npt.NDArray[np.float32]
Positions = npt.NDArray[np.intp]

_DRAWN_OUT = 8  # float32 distinguishes scores up to log odds of more than 100


class Side(msgspec.Struct, frozen=True):
    """The pages of one language of one site; all sequences have one entry per page."""

    lang: str
    page_ids: npt.NDArray[np.int64]
    urls: Sequence[str]
    blocks: Sequence[Sequence[str]]
    tags: Sequence[bytes]
    graph: sp.csr_array
    """Directed links among these pages, bool, square."""
    lists: LinkLists | None = None
    """The same links as lists in document order."""
    names: Sequence[Sequence[str]] = ()
    """Image files and addresses on other sites, as `page_names` gives them; empty: none are known."""
    shapes: Sequence[PageShape] = ()
    """Read only for the methods that need them."""
    canonical_urls: Sequence[str | None] = ()
    """Addresses that the pages name as their canonical ones, None for none; empty: none are known."""
    contents: npt.NDArray[np.int64] | None = None
    """Equal numbers for pages with the same text; None: not known."""


class Between(msgspec.Struct, frozen=True):
    """Links from the pages of side A to those of side B or back; rows = pages of A, columns = pages of B."""

    direct: sp.csr_array
    """Share of the link among the page's links to the other side, the larger of both directions, in (0, 1]."""
    hreflang: sp.csr_array
    """1 where a page names the other one as its version in another language."""
    labels: sp.csr_array | None = None
    """Labels of pairs: 1 accepted, -1 rejected; None without labels, or if they are not used."""


class Words(msgspec.Struct, frozen=True):
    """The terms of two sides, and the known translations between them."""

    a: TermTable
    b: TermTable
    translation: sp.csr_array
    """Weights of the lexicons and of shared tokens, shape (n_terms_a, n_terms_b)."""


class FoundPairs(msgspec.Struct, frozen=True):
    """Result of a method for two sides: candidates, their evidence, the matching, and its probabilities."""

    scores: sp.csr_array
    """Scores used by the matching, in [0, 1]; the stored entries are the candidates."""
    evidence: Mapping[str, Floats]
    """Every kind of evidence by its column name; one value per candidate, in row order."""
    matching: Matching
    rivals: npt.NDArray[np.floating]
    """Best score of another candidate of either page, one per pair of the matching."""
    probabilities: npt.NDArray[np.floating]
    """Chance to be right, one per pair of the matching; NaN where the method does not give them."""
    weights: Mapping[str, float]
    """Weight of each kind of evidence, sum 1."""
    n_filtered: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Number of candidates rejected by each filter, in the order of application, and number ``kept``."""
    filter_of: Sequence[str] = ()
    """The filter that rejected each candidate, empty for none; no entries where the method has no filters."""
    checks: Sequence[Check] = ()
    """The numbers that the method compared with bounds, one value per candidate; none where it has no filters."""
    threshold: float = EVEN
    """Least probability of a pair that is kept if the settings give no other bound."""
    is_decided: bool = False
    """Whether the matching has exactly the pairs that the method accepts, regardless of their probability."""
    n_equal: npt.NDArray[np.integer] | None = None
    """Number of equally good candidates of each pair, itself included; None where the method does not count them."""
    alike: tuple[sp.csr_array, sp.csr_array] | None = None
    """Near-duplicates of each page among the pages of its language, for each side; none as above."""
    mistaken: float = 0.0
    """Share of the pages with near-duplicates that would be paired with another page if their partner were missing."""
    crowded: tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]] | None = None
    """Marks the pages of each side whose candidates a bound of the URL rule limits; None without such a rule."""
    stands_for: tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]] | None = None
    """For each page of each side, the one that stands for all with its content, often itself; None: no copies."""


def read_words(
    side_a: Side,
    side_b: Side,
    lexicons: Sequence[Lexicon],
    settings: MatchSettings,
    counted: CountedWords | None = None,
) -> Words:
    """Count the words and shared names of two sides, and look up their translations.

    ``counted`` has the words of languages of the site that were counted before, and gets those of these two.
    """
    a, b = (counted or CountedWords()).tables(texts_of(side_a, side_b, lexicons))
    if settings.internal.shared_tokens == "all" and side_a.names and side_b.names:
        names_a, names_b = shared_names(side_a.names, side_b.names)
        a, b = _named(a, names_a, side_a.lang), _named(b, names_b, side_b.lang)
    shared = [identity_matrix(a.vocabulary, side_a.lang, b.vocabulary, side_b.lang, settings.internal.shared_tokens)]
    if settings.internal.shared_tokens == "all":
        shared.append(shared_words_matrix(a, b))
    known = (translation_matrix(each, a.vocabulary, side_a.lang, b.vocabulary, side_b.lang) for each in lexicons)
    a, b = (TermTable(table.counts, table.vocabulary) for table in (a, b))  # the forms take memory
    return Words(a, b, combine_translations(*shared, *known))


def texts_of(side_a: Side, side_b: Side, lexicons: Sequence[Lexicon]) -> list[Texts]:
    """Return the texts of two sides that are compared, and how their words are counted."""
    east_asian = _cut_of_names(base_language(side_a.lang), base_language(side_b.lang))
    blocks = without_menus(side_a.blocks, side_b.blocks)
    return [
        Texts(side.lang, of_side, heads_of(lexicons, side.lang), east_asian, of_side is side.blocks)
        for side, of_side in zip((side_a, side_b), blocks, strict=True)
    ]


def _named(table: TermTable, names: Sequence[Sequence[str]], lang: str) -> TermTable:
    """Return the words of a side with its names."""
    named = with_names(table, names, lang)
    return table if named is table else named._replace(counts=kept_matrix(named.counts))


def _cut_of_names(*bases: str) -> EastAsian:
    """Return how both sides cut runs of Han and kana; in other languages these are names, mostly of languages."""
    if "zh" in bases:
        return "dictionary"
    return "pairs" if "ja" in bases else "whole"


def as_scores(log_odds: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Return log odds as scores in (0, 1), scaled so that float32 preserves their order.

    >>> as_log_odds(as_scores(np.array([-3.0, 0.0, 40.0]))).round(6).tolist()
    [-3.0, 0.0, 40.0]
    """
    return np.asarray(expit(log_odds / _DRAWN_OUT))


def as_log_odds(scores: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return the log odds of scores (`as_scores`)."""
    inside = np.clip(scores.astype(np.float64), np.finfo(float).tiny, 1 - np.finfo(float).eps)
    return np.asarray(_DRAWN_OUT * logit(inside))
