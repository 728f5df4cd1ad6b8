"""Typical words of each language on a site, how well a page fits them, and the scores of languages by them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.language.site_text import SiteText

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

MIN_PAGES = 3
"""Minimum number of pages of a language that have a word."""
LIKE = 0.5
"""Minimum share of typical words, relative to the usual share, of a page that fits a language."""
_TYPICAL = 0.2
"""Minimum page frequency of a typical word of a language."""
_OWN = 0.15
"""A word is a language's own if its page frequency in every other language is below this part of it. .1 to .15 give the
same languages on all sites of `docs/results.md`; at .25 words of a part of a site pass for words of a language."""
# Trials on six sites: the result is the same for floors from .002 to .02, for words on 2 to 10 % of the pages, for a
# limit of 6 to 10 and for 3 to 10 blocks.
_FLOOR = 0.005
"""Minimum frequency of a word in a language; also the weight of the smoothing."""
_COMMON = 0.05
"""A word counts if this share of some language's pages, and not fewer than `MIN_PAGES` of them, have it."""
_WORDS_LIMIT = 10.0
"""Limit of the log odds of words against a language: text can be left untranslated."""
_FRAME_BLOCKS = 6
"""Maximum weight of the repeated blocks of a page, in blocks."""
_HINTS = 3
"""Maximum weight of the hints of a page, in hints."""
_SHORT = 1 / 3
"""A page has fewer words than the pages of a language if it has less than this part of theirs. Trials: on two sites
with short pages and a few long ones in one language, of which only the long ones are translated, all and .81 of these
get their language; none if the length of pages does not count, and .9 and .63 if only longer pages do. On 64 other
sites three of 45,414 pages lose theirs, 13 with ½, and 27 with 1, where any difference counts."""


class Speech(NamedTuple):
    """The words that each language of a site has on many of its pages."""

    typical: NDArray[np.bool_]
    """Word × language."""
    own: NDArray[np.bool_]
    """Word × language: of these, the words that are rare in all other languages."""
    usual: Floats
    """Median share of typical words in a page's text, by language."""
    usual_own: Floats
    """The same of own words."""
    neutral: Labels
    """Words that would be typical of all languages: code, terms."""


def page_frequency(items: csr_array, labels: Labels, n_languages: int) -> tuple[Floats, Floats]:
    """Return the number of pages of each language, and the number of those that have each item."""
    known = np.flatnonzero(labels >= 0)
    member = csr_array((np.ones(len(known)), (known, labels[known])), shape=(len(labels), n_languages))
    present = csr_array((np.ones_like(items.data), items.indices, items.indptr), shape=items.shape)
    return np.bincount(labels[known], minlength=n_languages).astype(float), (present.T @ member).toarray()


def learn_speech(words: csr_array, labels: Labels, n_languages: int, least_share: float = _TYPICAL) -> Speech:
    """Learn the typical words of each language from its pages.

    Parameters
    ----------
    words : csr_array, shape (n_pages, n_words)
        How often each page has each word.
    labels : ndarray of int64, shape (n_pages,)
        Language of each page, -1 for pages that nothing is learned from.
    n_languages : int
    least_share : float
        Share of a language's pages that have a typical word, at least.
    """
    sizes, frequency = page_frequency(words, labels, n_languages)
    typical = frequency >= np.maximum(least_share * sizes, MIN_PAGES)
    neutral = np.flatnonzero(typical.all(axis=1)) if n_languages > 1 else np.zeros(0, np.int64)
    typical[neutral] = False
    own = typical & _is_own(frequency / np.maximum(sizes, 1))
    usual, usual_own = (_usual(_shares(words, which), labels) for which in (typical, own))
    return Speech(typical, own, usual, usual_own, neutral)


def speaks_like(words: csr_array, which: NDArray[np.bool_], usual: Floats) -> Floats:
    """Return the fit of each page to each language: its share of these words divided by the usual share.

    Shape (n_pages, n_languages); about 1 for the pages of a language.
    """
    fits: Floats = _shares(words, which) / np.maximum(usual, 1e-9)
    return np.where(usual > 0, fits, 0.0)


def _is_own(share: Floats) -> NDArray[np.bool_]:
    """Word × language: whether all other languages have the word on far fewer of their pages."""
    if share.shape[1] < 2:
        return np.ones(share.shape, np.bool_)
    two = np.partition(share, -2, axis=1)[:, -2:]
    others = np.where(share >= two[:, 1:], two[:, :1], two[:, 1:])
    result: NDArray[np.bool_] = others < _OWN * share
    return result


def _shares(words: csr_array, which: NDArray[np.bool_]) -> Floats:
    sizes = np.maximum(np.asarray(words.sum(axis=1)).ravel(), 1)[:, None]
    result: Floats = (words @ which.astype(np.float64)) / sizes
    return result


def _usual(shares: Floats, labels: Labels) -> Floats:
    n_languages = shares.shape[1]
    return np.array([np.median(shares[labels == k, k]) if (labels == k).any() else 0.0 for k in range(n_languages)])


def vote(site: SiteText, labels: Labels, prior: Floats) -> Floats:
    """Score each language on each page, given the language of some pages (-1: unknown) and what is known beforehand."""
    n_languages = prior.shape[1]
    words = _log_likelihood(site.words, labels, n_languages, _COMMON, site.judged) + prior
    words = np.maximum(words - words.max(axis=1, keepdims=True), -_WORDS_LIMIT)
    total: Floats = words
    for items, limit in ((site.frame, _FRAME_BLOCKS), (site.hints, _HINTS)):
        size = np.maximum(np.diff(items.indptr), 1)[:, None]
        total += _log_likelihood(items, labels, n_languages, 0.0) * np.minimum(1.0, limit / size)
    return total


def _log_likelihood(
    items: csr_array, labels: Labels, n_languages: int, common: float, judged: csr_array | None = None
) -> Floats:
    """Σ over a page's items of log p(item|language), where a page does not count for its own frequency.

    ``judged``: those of its words by which it is judged; p is that of a page as long as this one.
    """
    sizes, frequency = page_frequency(items, labels, n_languages)
    if judged is not None and judged is not items:
        frequency = (frequency + page_frequency(judged, labels, n_languages)[1]) / 2
    counts = np.asarray((frequency >= np.maximum(common * sizes, MIN_PAGES)).any(axis=1))
    read = items if judged is None else judged
    pages = np.repeat(np.arange(len(labels)), np.diff(read.indptr))
    used = counts[read.indices]
    pages, columns = pages[used], read.indices[used]
    lengths = np.bincount(pages, minlength=len(labels))
    result = np.empty((len(labels), n_languages))
    for language in range(n_languages):
        member = labels == language
        itself = member[pages]
        p = (frequency[columns, language] - itself + _FLOOR) / (sizes[language] - itself + 1.0)
        if judged is not None:
            p = np.minimum(p * _relative_lengths(lengths, member)[pages], 1.0)
        result[:, language] = np.bincount(pages, np.log(np.maximum(p, _FLOOR)), minlength=len(labels))
    return result


def _relative_lengths(lengths: Labels, member: NDArray[np.bool_]) -> Floats:
    """Return the factor by which each page is longer or much shorter than the other pages of a language.

    The words of a long page are rare on the short pages of its own language, and frequent on the long ones of another.
    """
    mean = (lengths @ member - lengths * member) / np.maximum(member.sum() - member, 1)
    relative: Floats = lengths / np.maximum(mean, 1.0)
    return np.where(relative > 1, relative, np.minimum(relative / _SHORT, 1.0))
