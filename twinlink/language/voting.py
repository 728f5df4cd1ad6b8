"""Scores of languages from words, repeated blocks and hints, learned from pages of known language."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from twinlink.language.site_text import SiteText
from twinlink.language.speech import MIN_PAGES, Floats, Labels, page_frequency

__all__ = ["vote"]

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


def vote(site: SiteText, labels: Labels, prior: Floats) -> Floats:
    """Score each language on each page, given the language of some pages (-1: unknown) and what is known beforehand."""
    n_languages = prior.shape[1]
    words = _log_likelihood(site.words, labels, n_languages, _COMMON) + prior
    words = np.maximum(words - words.max(axis=1, keepdims=True), -_WORDS_LIMIT)
    total: Floats = words
    for items, limit in ((site.frame, _FRAME_BLOCKS), (site.hints, _HINTS)):
        size = np.maximum(np.diff(items.indptr), 1)[:, None]
        total += _log_likelihood(items, labels, n_languages, 0.0) * np.minimum(1.0, limit / size)
    return total


def _log_likelihood(items: csr_array, labels: Labels, n_languages: int, common: float) -> Floats:
    """Σ over a page's items of log p(item|language), where a page does not count for its own frequency."""
    sizes, frequency = page_frequency(items, labels, n_languages)
    counts = np.asarray((frequency >= np.maximum(common * sizes, MIN_PAGES)).any(axis=1))
    pages = np.repeat(np.arange(len(labels)), np.diff(items.indptr))
    used = counts[items.indices]
    pages, columns = pages[used], items.indices[used]
    result = np.empty((len(labels), n_languages))
    for language in range(n_languages):
        itself = labels[pages] == language
        p = (frequency[columns, language] - itself + _FLOOR) / (sizes[language] - itself + 1.0)
        result[:, language] = np.bincount(pages, np.log(np.maximum(p, _FLOOR)), minlength=len(labels))
    return result
