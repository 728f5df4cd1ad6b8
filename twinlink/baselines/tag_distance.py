"""Edit distances of linearised pages: WebMining's tag distance and Bitextor's fingerprints.

A linearised page is an int32 array in document order: a negative number for each start or end tag, a number ≥ 0 for
each text between tags, its length in characters. Both papers erase attributes. WebMining leaves every tag in its
sequences and Bitextor drops "irrelevant" ones without naming them; in the linearisation of this project tags within a
line (``a``, ``b``, ``span`` …) give no token and do not part a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from twinlink.baselines import edit_kernels
from twinlink.errors import ShapeError
from twinlink.sparse import entry_rows

__all__ = [
    "MAX_TOKENS",
    "ROUNDING",
    "fingerprint_differences",
    "fingerprint_distances",
    "fit_text_tolerance",
    "table_cells",
    "tag_distances",
    "text_in_words",
    "without_heading",
]

Tokens = NDArray[np.int32]

MAX_TOKENS = 10_000
"""Tokens compared of a longer page: its first ones. The time for a pair grows with the square."""

ROUNDING = 1e-6
"""A distance over the limit by less lies within: neither 0.3 nor D = 3/10 is exact."""

_BLOCK_CELLS = 5 * 10**7  # about half a second
_WORDS_PER_GAP = 10
_RATIO_UNITS = 2**32  # a cost D is rounded to one of so many steps
_START_HEAD, _END_HEAD = -3, -4


def text_in_words(tokens: Tokens, words: Tokens) -> Tokens:
    """Return a page's tokens with each text as ⟨text_n⟩, n its number of words (WebMining, section 2.2).

    Parameters
    ----------
    tokens : ndarray of int32
        Texts in characters.
    words : ndarray of int32
        Number of words of each text, in order.

    Raises
    ------
    ShapeError
        If there is not one number for each text.

    Examples
    --------
    >>> text_in_words(np.array([-1, 11, -2], np.int32), np.array([2], np.int32)).tolist()
    [-1, 2, -2]
    """
    texts = tokens >= 0
    if np.count_nonzero(texts) != len(words):
        raise ShapeError(f"expected words of {np.count_nonzero(texts)} texts, got {len(words)}")
    result = tokens.copy()
    result[texts] = words
    return result


def without_heading(tokens: Tokens) -> Tokens:
    """Return a page's tokens without its ``head`` element (Bitextor, section 3.2: "the heading of the web page").

    A page whose head does not end is left as it is.

    Examples
    --------
    >>> without_heading(np.array([-1, -3, 9, -4, 5, -2], np.int32)).tolist()
    [-1, 5, -2]
    """
    starts, ends = np.flatnonzero(tokens == _START_HEAD), np.flatnonzero(tokens == _END_HEAD)
    if not len(starts) or not len(ends) or ends[0] < starts[0]:
        return tokens
    return np.delete(tokens, np.s_[starts[0] : ends[0] + 1])


def tag_distances(
    pages_a: Sequence[Tokens], pages_b: Sequence[Tokens], pattern: csr_array, limits: ArrayLike = np.inf
) -> csr_array:
    """WebMining's edit distance of the candidate pairs (Tomás et al., section 2.2).

    The least total cost of a way to turn one list into the other, where::

        insert, delete, replace tag by another tag, tag by text, text by tag    1
        replace ⟨text_n⟩ by ⟨text_m⟩                                            |n − m|/10

    A replacement of texts that differ by more than 20 words is never chosen: a deletion and an insertion cost 2. With
    that the distance is a metric.

    Parameters
    ----------
    pages_a, pages_b : sequence of ndarray of int32
        Tokens of each page, texts in words (`text_in_words`). Of each the first `MAX_TOKENS` count.
    pattern : csr_array, shape (len(pages_a), len(pages_b))
        Candidate pairs: its stored entries; their values are ignored.
    limits : float or array_like of float, shape (pattern.nnz,), default inf
        Largest distance of interest, for each pair. A small one saves time: linear in the limit.

    Returns
    -------
    csr_array of float64, sparsity of ``pattern`` (zeros stored), values multiples of 0.1
        inf where the distance is over the limit.

    Raises
    ------
    ShapeError
        If ``pattern`` does not fit the pages, or ``limits`` the pattern.

    Examples
    --------
    >>> pair = csr_array([[True]])
    >>> first, second = np.array([-1, 12, -2], np.int32), np.array([-1, 15, -5, -2], np.int32)
    >>> tag_distances([first], [second], pair).data.tolist()
    [1.3]
    >>> tag_distances([first], [second], pair, limits=1).data.tolist()
    [inf]
    """
    return _distances(pages_a, pages_b, pattern, limits, edit_kernels.TENTHS, _WORDS_PER_GAP)


def fingerprint_distances(
    pages_a: Sequence[Tokens], pages_b: Sequence[Tokens], pattern: csr_array, limits: ArrayLike = np.inf
) -> csr_array:
    """Bitextor's edit distance of fingerprints, for ranking (Esplà-Gomis & Forcada 2010, equations 1 to 5).

    ::

        insert, delete, replace tag by another tag    1
        replace text of b1 characters by one of b2    D(b1, b2) = |b1 − b2|/max(b1, b2)
        replace tag by text, text by tag              never

    Two empty texts have D = 0. The distance is a metric.

    Parameters
    ----------
    pages_a, pages_b : sequence of ndarray of int32
        Tokens of each page, texts in characters, e.g. `without_heading`. Of each the first `MAX_TOKENS` count.
    pattern, limits
        As in `tag_distances`.

    Returns
    -------
    csr_array of float64, sparsity of ``pattern`` (zeros stored)
        inf where the distance is over the limit.

    Raises
    ------
    ShapeError
        If ``pattern`` does not fit the pages, or ``limits`` the pattern.

    Examples
    --------
    >>> pair = csr_array([[True]])
    >>> first, second = np.array([-1, 30, -2], np.int32), np.array([-1, 40, -2], np.int32)
    >>> fingerprint_distances([first], [second], pair).data.tolist()
    [0.25]
    """
    return _distances(pages_a, pages_b, pattern, limits, edit_kernels.RATIO, _RATIO_UNITS)


def fingerprint_differences(
    pages_a: Sequence[Tokens],
    pages_b: Sequence[Tokens],
    pattern: csr_array,
    tolerance: float,
    limits: ArrayLike = np.inf,
) -> csr_array:
    """Bitextor's number of differences of fingerprints, for rejecting (equation 4, second form).

    As `fingerprint_distances`, but replacing a text by another costs 0 where D(b1, b2) ≤ t_b, else 1. Not a metric: a
    text can be near to two that are far from each other.

    Parameters
    ----------
    pages_a, pages_b, pattern
        As in `fingerprint_distances`.
    tolerance : float in [0, 1]
        t_b, "a threshold for each pair of languages"; see `fit_text_tolerance`.
    limits : float or array_like of float, shape (pattern.nnz,), default inf
        N: most differences of interest (10 in the paper's test).

    Returns
    -------
    csr_array of float64, sparsity of ``pattern`` (zeros stored), values whole numbers
        inf where there are more than the limit.

    Raises
    ------
    ShapeError
        If ``pattern`` does not fit the pages, or ``limits`` the pattern.

    Examples
    --------
    >>> pair = csr_array([[True]])
    >>> first, second = np.array([-1, 30, 9, -2], np.int32), np.array([-1, 40, 1, -2], np.int32)
    >>> fingerprint_differences([first], [second], pair, 0.25).data.tolist()
    [1.0]
    """
    return _distances(pages_a, pages_b, pattern, limits, edit_kernels.THRESHOLD, 1, tolerance)


def fit_text_tolerance(
    pages_a: Sequence[Tokens], pages_b: Sequence[Tokens], pattern: csr_array, share: float
) -> float | None:
    """Find Bitextor's t_b for two languages from pages that nobody has paired.

    The value that D(b1, b2) exceeds in a share of 1 − ``share`` of the text pairs, over all candidates whose tokens
    are equal but for the lengths of texts: there text k of one page is the partner of text k of the other, if the pages
    are partners at all. (The papers give no value. Chinese text has a third of the characters of English: D is 0.7
    between perfect translations.)

    Parameters
    ----------
    pages_a, pages_b, pattern
        As in `fingerprint_distances`.
    share : float in [0, 1]

    Returns
    -------
    float in [0, 1], or None
        None if no candidates are equal but for texts, or if these have no text.
    """
    _check(pages_a, pages_b, pattern)
    skeletons_a, skeletons_b = ([np.minimum(page, 0).tobytes() for page in pages] for pages in (pages_a, pages_b))
    ratios = [np.zeros(0)]
    rows = entry_rows(pattern)
    for i, j in zip(rows.tolist(), pattern.indices.tolist(), strict=True):
        if skeletons_a[i] == skeletons_b[j]:
            x, y = pages_a[i], pages_b[j]
            ratios.append((abs(x - y) / np.maximum(np.maximum(x, y), 1))[x >= 0])
    found = np.concatenate(ratios)
    return float(np.quantile(found, share)) if len(found) else None


def _distances(
    pages_a: Sequence[Tokens],
    pages_b: Sequence[Tokens],
    pattern: csr_array,
    limits: ArrayLike,
    form: int,
    gap: int,
    tolerance: float = 0.0,
) -> csr_array:
    """Distances of the pattern's pairs; ``gap`` is the number of units that the kernel counts for 1."""
    _check(pages_a, pages_b, pattern)
    most = np.asarray(limits, np.float64)
    if most.shape not in {(), (pattern.nnz,)}:
        raise ShapeError(f"expected limits of {pattern.nnz} pairs, got {most.shape}")
    units = np.floor((np.clip(most, -1, 2 * MAX_TOKENS) + ROUNDING) * gap).astype(np.int64)
    units = np.broadcast_to(units, pattern.nnz).copy()
    lists_b = _lists(pages_b)
    found = np.zeros(pattern.nnz, np.int64)
    for first, last in _row_blocks(pages_a, pages_b, pattern):
        start, stop = pattern.indptr[first], pattern.indptr[last]
        found[start:stop] = edit_kernels.edit_distances(
            _lists(pages_a[first:last]),
            lists_b,
            (pattern.indptr[first : last + 1] - start).astype(np.int64),
            pattern.indices[start:stop].astype(np.int32),
            units[start:stop],
            form,
            gap,
            float(tolerance),
        )
    values = np.where(found == edit_kernels.FAR, np.inf, found / gap)
    return csr_array((values, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape)


def table_cells(pages_a: Sequence[Tokens], pages_b: Sequence[Tokens], pattern: csr_array) -> NDArray[np.int64]:
    """Return how many cells the table of each stored pair has at most: what its distance costs without a limit."""
    lengths_a, lengths_b = (
        np.array([min(len(page), MAX_TOKENS) for page in pages], np.int64) for pages in (pages_a, pages_b)
    )
    return np.asarray(np.repeat(lengths_a, np.diff(pattern.indptr)) * lengths_b[pattern.indices])


def _row_blocks(pages_a: Sequence[Tokens], pages_b: Sequence[Tokens], pattern: csr_array) -> Iterator[tuple[int, int]]:
    """Cut the rows into runs of at most `_BLOCK_CELLS`, one row at least, between which a program can be stopped."""
    total = np.concatenate([[0], np.cumsum(table_cells(pages_a, pages_b, pattern))])[pattern.indptr]
    first = 0
    while first < pattern.shape[0]:
        last = int(np.searchsorted(total, total[first] + _BLOCK_CELLS, side="right")) - 1
        last = min(max(last, first + 1), pattern.shape[0])
        yield first, last
        first = last


def _check(pages_a: Sequence[Tokens], pages_b: Sequence[Tokens], pattern: csr_array) -> None:
    if pattern.shape != (len(pages_a), len(pages_b)):
        raise ShapeError(f"pattern {pattern.shape} does not fit {len(pages_a)} and {len(pages_b)} pages")


def _lists(pages: Sequence[Tokens]) -> edit_kernels.Lists:
    starts = np.cumsum([0, *(min(len(page), MAX_TOKENS) for page in pages)])
    tokens = [np.zeros(0, np.int32), *(page[:MAX_TOKENS] for page in pages)]
    return starts.astype(np.int64), np.concatenate(tokens).astype(np.int32)
