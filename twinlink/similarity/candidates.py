"""Candidate pairs: for each page, the pages of the other language that it is compared with.

Candidates are the pages nearest in content and nearest in structure. Without a lexicon, content consists of numbers
and Latin words that both languages share. For each pair, the lists of nearest pages that it is in are counted
(`candidate_votes`): a pair at the end of one list alone is seldom one of translations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.config import CandidateSettings
from twinlink.errors import ConfigError, ShapeError
from twinlink.similarity import kernels
from twinlink.similarity.affordable import affordable, most_products, weights_of
from twinlink.similarity.content import ContentSide, checked, content_sides
from twinlink.similarity.page_search import nearest_of, nearest_pages
from twinlink.sparse import as_rows, check_shape, counts_of, entries, narrow, pattern_from, select, stacked
from twinlink.system.side_by_side import threaded

__all__ = [
    "candidate_pattern",
    "candidate_votes",
    "content_votes",
    "find_candidates",
    "strongest",
    "tag_vectors",
    "with_votes",
    "within_memory",
]

BYTES = 400
"""Memory for each of ``per_page`` and each page, with evidence and all derived values: 180 to 320 in trials with 100
and 200 candidates per page on lo-en-zhtw (4,862 pages); more where pairs need one vote than where they need two."""
_N_GRAM = 3
# On the six sites of docs/results.md at least .81 of the words have a translation or are shared; without lexicon .19 to
# .46 on the poorer side.
_LEAST_KNOWN = 0.5
_MAX_TAGS = 50_000
_PAGES = 4_000  # pages whose vectors are computed together
PAGE_SECONDS = 1e-5
"""What a search, or the vectors that it compares, takes at least for each page."""
_CHUNK = 1_000  # pages whose trigrams are counted together: some 50 bytes for each tag


def find_candidates(
    counts_a: csr_array,
    counts_b: csr_array,
    translation: csr_array,
    tags_a: Sequence[bytes],
    tags_b: Sequence[bytes],
    settings: CandidateSettings | None = None,
) -> csr_array:
    """Return the candidate pairs of two sets of pages.

    For each page the K nearest in content, in both directions; and the K nearest in structure, for pages with fewer
    than K candidates, or for all if less than half of the words of either language have a translation.

    Parameters
    ----------
    counts_a, counts_b, translation
        As in `content_similarity`.
    tags_a, tags_b : sequence of bytes
        Tag codes of each page in document order.
    settings : CandidateSettings, optional
        K = ``per_page``.

    Returns
    -------
    csr_array of bool, shape (n_pages_a, n_pages_b), sorted, values True
    """
    settings = settings or CandidateSettings()
    counts_a, counts_b, translation = checked(counts_a, counts_b, translation)
    by_content = with_votes([content_votes(counts_a, counts_b, translation, settings)], 1)
    known = min(_known_share(counts_a, translation), _known_share(counts_b, csr_array(translation.T)))
    few = np.inf if known < _LEAST_KNOWN else settings.per_page
    if min(_fewest(by_content), _fewest(csr_array(by_content.T))) >= few:
        return by_content
    by_structure = candidate_pattern(*tag_vectors(tags_a, tags_b), settings)
    return _add_pairs(by_content, by_structure, few)


def within_memory(settings: CandidateSettings, n_pages: int) -> CandidateSettings:
    """Lower ``per_page`` until the candidates of the pages of both languages fit into ``memory``.

    Raises
    ------
    ConfigError
        If even one candidate per page exceeds the memory.

    Examples
    --------
    >>> within_memory(CandidateSettings(memory=8), 2_000).per_page
    10
    """
    if settings.memory is None:
        return settings
    fitting = settings.memory * 1_000_000 // (BYTES * max(n_pages, 1))
    if fitting < 1:
        least = -(-BYTES * n_pages // 1_000_000)
        raise ConfigError(
            f"match.candidates.memory: {n_pages} pages need at least {least} MB for one candidate per page,"
            f" got {settings.memory}"
        )
    return replace(settings, per_page=min(settings.per_page, fitting))


def _known_share(counts: csr_array, translation: csr_array) -> float:
    """Share of the words that have a translation."""
    total = counts.sum()
    return float(counts.data[np.diff(translation.indptr)[counts.indices] > 0].sum() / total) if total else 0.0


def _fewest(pattern: csr_array) -> int:
    return int(np.diff(pattern.indptr).min()) if pattern.shape[0] else 0


def candidate_pattern(
    vectors_a: csr_array,
    vectors_b: csr_array,
    settings: CandidateSettings | None = None,
    open_a: NDArray[np.bool_] | None = None,
    open_b: NDArray[np.bool_] | None = None,
) -> csr_array:
    """Return the pairs (i, j) where j is one of the K pages nearest to i, or i one of the K nearest to j.

    Nearest is the largest x(i)·y(j) > 0, where x and y are the rows of the two matrices, without what
    `nearest_pages` leaves out. The full product is never stored. Ties go to the page that comes first.

    Parameters
    ----------
    vectors_a : csr_array, shape (n_pages_a, n)
        One row per page, e.g. from `content_vectors` or `tag_vectors`; nonnegative values.
    vectors_b : csr_array, shape (n_pages_b, n)
    settings : CandidateSettings, optional
        K = ``per_page``; ``products_per_page``.
    open_a, open_b : ndarray of bool, shapes (n_pages_a,) and (n_pages_b,), optional
        Pages that need candidates; by default all. Each is compared with all pages of the other language.

    Returns
    -------
    csr_array of bool, shape (n_pages_a, n_pages_b), sorted, values True
        The row of a page without terms in common with the other language is empty.

    Raises
    ------
    ShapeError
        If the vectors differ in length, or are not sparse; if ``open_a`` or ``open_b`` is not one bool for each page.

    Examples
    --------
    >>> a, b = csr_array([[1.0, 0.0], [0.0, 1.0]]), csr_array([[0.8, 0.6], [1.0, 0.0], [0.0, 0.0]])
    >>> candidate_pattern(a, b, CandidateSettings(per_page=1)).toarray().astype(int).tolist()
    [[1, 1, 0], [1, 0, 0]]
    """
    return with_votes([candidate_votes(vectors_a, vectors_b, settings, open_a, open_b)], 1)


def candidate_votes(
    vectors_a: csr_array,
    vectors_b: csr_array,
    settings: CandidateSettings | None = None,
    open_a: NDArray[np.bool_] | None = None,
    open_b: NDArray[np.bool_] | None = None,
) -> csr_array:
    """Return the pairs of `candidate_pattern` with their votes.

    A pair (i, j) has a vote if j is one of the K pages nearest to i, and a second one if it is among the first ⌈K/2⌉;
    and as many if i is one of the pages nearest to j.

    Parameters
    ----------
    vectors_a, vectors_b, settings, open_a, open_b
        As in `candidate_pattern`.

    Returns
    -------
    csr_array of uint8, shape (n_pages_a, n_pages_b), sorted, values from 1 to 4

    Raises
    ------
    ShapeError
        As in `candidate_pattern`.

    Examples
    --------
    >>> a, b = csr_array([[1.0, 0.0], [0.0, 1.0]]), csr_array([[0.8, 0.6], [1.0, 0.0], [0.0, 0.0]])
    >>> candidate_votes(a, b, CandidateSettings(per_page=2)).toarray().tolist()
    [[3, 4, 0], [3, 0, 0]]
    """
    settings = settings or CandidateSettings()
    vectors_a, vectors_b = as_rows(vectors_a, "vectors_a"), as_rows(vectors_b, "vectors_b")
    if vectors_a.shape[1] != vectors_b.shape[1]:
        raise ShapeError(f"expected vectors of one length, got {vectors_a.shape[1]} and {vectors_b.shape[1]}")
    shape = (vectors_a.shape[0], vectors_b.shape[0])
    open_a, open_b = _open_pages(open_a, open_b, shape)
    if open_a is None or open_b is None:
        of_row, of_column = nearest_pages(vectors_a, vectors_b, settings.per_page, settings.products_per_page)
    elif max(shape) <= _PAGES:
        searches = (open_a, vectors_a, vectors_b), (open_b, vectors_b, vectors_a)
        of_row, of_column = threaded(partial(_search, settings), searches, seconds=PAGE_SECONDS * min(shape))
    else:
        of_column = _nearest_of(open_b, settings, lambda: (csr_array(vectors_b[open_b]), vectors_a))
        vectors_a = csr_array(vectors_a[open_a])  # the other search does not need those of the other pages
        of_row = _nearest_of(open_a, settings, lambda: (vectors_a, vectors_b))
    return _votes(of_row, of_column, shape)


def with_votes(votes: Sequence[csr_array], least: int) -> csr_array:
    """Return the pairs that have at least so many votes in all searches together.

    Parameters
    ----------
    votes : sequence of csr_array of uint8, shapes (n_pages_a, n_pages_b)
        Of `candidate_votes`, one for each search.
    least : int

    Returns
    -------
    csr_array of bool, shape (n_pages_a, n_pages_b), sorted, values True

    Examples
    --------
    >>> with_votes([csr_array(np.array([[1, 2]], np.uint8)), csr_array(np.array([[1, 0]], np.uint8))], 3).nnz
    0
    """
    total = csr_array(sum(votes[1:], start=votes[0]))
    enough = total.data >= least
    return narrow(select(csr_array((enough, total.indices, total.indptr), shape=total.shape), enough))


def content_votes(
    counts_a: csr_array,
    counts_b: csr_array,
    translation: csr_array,
    settings: CandidateSettings | None = None,
    open_a: NDArray[np.bool_] | None = None,
    open_b: NDArray[np.bool_] | None = None,
) -> csr_array:
    """Return the pairs most similar in content, with their votes: `candidate_votes` of `content_vectors`.

    Only what the search uses of the vectors is stored (`affordable`). On large sites it is the smaller part.

    Parameters
    ----------
    counts_a, counts_b, translation
        As in `content_similarity`.
    settings, open_a, open_b
        As in `candidate_pattern`.

    Returns
    -------
    csr_array of uint8, shape (n_pages_a, n_pages_b), sorted, values from 1 to 4

    Examples
    --------
    >>> counts, same = csr_array([[1.0, 0.0], [0.0, 1.0]]), csr_array([[1.0, 0.0], [0.0, 1.0]])
    >>> content_votes(counts, counts, same).toarray().tolist()
    [[4, 0], [0, 4]]
    """
    settings = settings or CandidateSettings()
    a, b = content_sides(counts_a, counts_b, translation)
    shape = (a.own.shape[0], b.own.shape[0])
    open_a, open_b = _open_pages(open_a, open_b, shape)
    if open_a is None or open_b is None:
        return candidate_votes(*_compared(a, b, settings), settings)
    if (open_a.any() or open_b.any()) and max(len(open_a), len(open_b)) <= _PAGES:
        # The vectors of all pages are small enough to be computed once, for both directions.
        seconds = PAGE_SECONDS * min(len(open_a), len(open_b))
        vectors_a, vectors_b = threaded(lambda side: side.vectors(slice(None)), (a, b), seconds=seconds)
        return candidate_votes(vectors_a, vectors_b, settings, open_a, open_b)
    of_row = _nearest_of(open_a, settings, lambda: _compared(_some_pages(a, open_a), b, settings))
    of_column = _nearest_of(open_b, settings, lambda: _compared(_some_pages(b, open_b), a, settings))
    return _votes(of_row, of_column, shape)


def _open_pages(
    open_a: NDArray[np.bool_] | None, open_b: NDArray[np.bool_] | None, shape: tuple[int, int]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | tuple[None, None]:
    """Return the pages of both sides that need candidates; of neither if all of both do."""
    if open_a is None and open_b is None:
        return None, None
    sides = zip((open_a, open_b), shape, ("open_a", "open_b"), strict=True)
    a, b = (_checked_marks(given, n, name) for given, n, name in sides)
    return a, b


def _checked_marks(given: NDArray[np.bool_] | None, n: int, name: str) -> NDArray[np.bool_]:
    if given is None:
        return np.ones(n, np.bool_)
    marks = np.asarray(given)
    check_shape(marks, (n,), name, "the pages")
    if marks.dtype != np.bool_:
        raise ShapeError(f"{name}: expected true or false for each page, got {marks.dtype}")
    return marks


def _some_pages(side: ContentSide, pages: NDArray[np.bool_]) -> ContentSide:
    return side._replace(own=csr_array(side.own[pages]))


def _compared(side: ContentSide, others: ContentSide, settings: CandidateSettings) -> tuple[csr_array, csr_array]:
    """Return the vectors of both sides, on large sites without what `nearest_pages` leaves out."""
    sizes = [each.own.shape[0] for each in (side, others)]
    if max(sizes) <= _PAGES:
        return side.vectors(slice(None)), others.vectors(slice(None))
    weights, other_weights = (weights_of(_in_parts(each)) for each in (side, others))
    part = affordable(weights, other_weights, most_products(settings.products_per_page, *sizes))
    vectors, other_vectors = (stacked(map(part.of, _in_parts(each))) for each in (side, others))
    return vectors, other_vectors


def _in_parts(side: ContentSide) -> Iterator[csr_array]:
    """Yield the vectors of one side, some pages at a time."""
    for first in range(0, max(side.own.shape[0], 1), _PAGES):
        yield side.vectors(slice(first, first + _PAGES))


def _search(settings: CandidateSettings, of: tuple[NDArray[np.bool_], csr_array, csr_array]) -> NDArray[np.int32]:
    """Return the nearest pages of the open ones, given those, and the vectors of all pages of both sides."""
    open_, vectors, others = of
    return _nearest_of(open_, settings, lambda: (csr_array(vectors[open_]), others))


def _nearest_of(
    open_: NDArray[np.bool_], settings: CandidateSettings, vectors: Callable[[], tuple[csr_array, csr_array]]
) -> NDArray[np.int32]:
    """Return the nearest pages of the open ones, -1 for the others; ``vectors`` are those of open pages and of all."""
    nearest = np.full((len(open_), settings.per_page), -1, np.int32)
    if open_.any():
        nearest[open_] = nearest_of(*vectors(), settings.per_page, settings.products_per_page)
    return nearest


def _votes(of_row: NDArray[np.int32], of_column: NDArray[np.int32], shape: tuple[int, int]) -> csr_array:
    """Return the votes of the pairs of which one page is among the nearest of the other."""
    half = -(-of_row.shape[1] // 2)
    rows, row_columns = zip(_entries(of_row), _entries(of_row[:, :half]), strict=True)
    columns, column_rows = zip(_entries(of_column), _entries(of_column[:, :half]), strict=True)
    return counts_of(np.concatenate([*rows, *column_rows]), np.concatenate([*row_columns, *columns]), shape)


def _entries(nearest: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (page, nearest page) pairs without empty places."""
    pages, places = np.nonzero(nearest >= 0)
    return pages, nearest[pages, places].astype(np.int64)


def _add_pairs(pattern: csr_array, other: csr_array, few: float) -> csr_array:
    """Add pairs of ``other`` with a page that has fewer than ``few`` candidates in ``pattern``."""
    rows, columns = entries(pattern)
    few_rows = np.bincount(rows, minlength=pattern.shape[0]) < few
    few_columns = np.bincount(columns, minlength=pattern.shape[1]) < few
    more_rows, more_columns = entries(other)
    wanted = few_rows[more_rows] | few_columns[more_columns]
    rows = np.concatenate([rows, more_rows[wanted]])
    return pattern_from(rows, np.concatenate([columns, more_columns[wanted]]), pattern.shape)


def strongest(
    scores: csr_array,
    settings: CandidateSettings | None = None,
    most_a: NDArray[np.integer] | None = None,
    most_b: NDArray[np.integer] | None = None,
) -> csr_array:
    """Return the stored entries that are among the K = ``per_page`` largest of their row or of their column.

    Parameters
    ----------
    scores : csr_array, shape (n_pages_a, n_pages_b), sorted
        Scores that order the candidates, finite, compared in 32 bits. Ties go to the page that comes first.
    settings : CandidateSettings, optional
        K = ``per_page``.
    most_a, most_b : ndarray of int, shapes (n_pages_a,) and (n_pages_b,), values >= 0, optional
        Number of entries for each row and each column, where it is smaller than K; by default K for all.

    Returns
    -------
    csr_array of bool, shape (n_pages_a, n_pages_b), sorted, values True

    Examples
    --------
    >>> strongest(csr_array([[0.9, 0.5], [0.8, 0.1]]), CandidateSettings(per_page=1)).toarray().astype(int).tolist()
    [[1, 1], [1, 0]]
    """
    settings, scores = settings or CandidateSettings(), as_rows(scores, "scores")
    k = settings.per_page
    sides = zip(scores.shape, (most_a, most_b), ("most_a", "most_b"), strict=True)
    most = (np.full(n, k) if given is None else _at_most(given, k, n, name) for n, given, name in sides)
    kept = kernels.strongest_entries(*kernels.arrays_of(scores), k, *most)
    return narrow(select(csr_array((kept, scores.indices, scores.indptr), shape=scores.shape), kept))


def _at_most(numbers: NDArray[np.integer], k: int, n: int, name: str) -> NDArray[np.int64]:
    most = np.asarray(numbers, np.int64)
    check_shape(most, (n,), name, "the pages")
    return np.asarray(np.minimum(most, k))


def tag_vectors(tags_a: Sequence[bytes], tags_b: Sequence[bytes]) -> tuple[csr_array, csr_array]:
    """Return tf-idf vectors of tag trigrams; pages with similar structure have large dot products.

    Used for pages without words in common with the other language. Weights are those of terms: (1 + log count)·idf,
    rows of unit length; idf over the pages of both languages.

    Parameters
    ----------
    tags_a, tags_b : sequence of bytes
        Tag codes of each page in document order.

    Returns
    -------
    two csr_array of float32, shapes (n_pages_a, n) and (n_pages_b, n), values >= 0
        A page of fewer than three tags has an empty row.
    """
    sides = [[_grams_of(part) for part in _some_at_a_time(tags)] for tags in (tags_a, tags_b)]
    grams = [part for side in sides for part in side]
    known = np.unique(np.concatenate([np.unique(part.codes) for part in grams]))
    pages_with = np.sum([np.bincount(part.columns(known), minlength=len(known)) for part in grams], axis=0)
    idf = np.log((len(tags_a) + len(tags_b) + 1) / (pages_with + 0.5))
    a, b = (stacked(part.vectors(known, idf) for part in side) for side in sides)
    return a, b


def _some_at_a_time(tags: Sequence[bytes]) -> list[Sequence[bytes]]:
    return [tags[first : first + _CHUNK] for first in range(0, max(len(tags), 1), _CHUNK)]


class _Grams(NamedTuple):
    """Tag trigrams of some pages, page after page."""

    n_grams: NDArray[np.int64]
    """Number of different trigrams of each page."""
    codes: NDArray[np.int32]
    """The trigrams, each as one number."""
    counts: NDArray[np.int32]

    def columns(self, known: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the place of each trigram among all known ones."""
        return np.searchsorted(known, self.codes).astype(np.int32)

    def vectors(self, known: NDArray[np.int32], idf: NDArray[np.float64]) -> csr_array:
        """Return the vectors of `tag_vectors`."""
        n_pages, columns = len(self.n_grams), self.columns(known)
        pages = np.repeat(np.arange(n_pages), self.n_grams)
        weights = (1 + np.log(self.counts)) * idf[columns]
        lengths = np.sqrt(np.bincount(pages, weights**2, minlength=n_pages))
        starts = np.concatenate([[0], np.cumsum(self.n_grams)]).astype(np.int32)
        return csr_array(((weights / lengths[pages]).astype(np.float32), columns, starts), shape=(n_pages, len(known)))


def _grams_of(tags: Sequence[bytes]) -> _Grams:
    read = [codes[:_MAX_TAGS] for codes in tags]
    codes = np.frombuffer(b"".join(read), np.uint8).astype(np.int64)
    pages = np.repeat(np.arange(len(read)), np.fromiter(map(len, read), np.int64, len(read)))
    n = max(0, len(codes) - _N_GRAM + 1)
    grams = sum((codes[k : k + n] << (8 * k) for k in range(_N_GRAM)), np.zeros(n, np.int64))
    is_inside = pages[:n] == pages[len(pages) - n :]  # the first and the last tag are on the same page
    keys = np.sort((pages[:n] << (8 * _N_GRAM) | grams)[is_inside])
    firsts = np.flatnonzero(_is_new(keys))
    page, gram = np.divmod(keys[firsts], 1 << (8 * _N_GRAM))
    counts = np.diff(np.append(firsts, len(keys)))
    return _Grams(np.bincount(page, minlength=len(read)), gram.astype(np.int32), counts.astype(np.int32))


def _is_new(ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the first of equal numbers."""
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return is_new
