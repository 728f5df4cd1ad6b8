"""Clusters of pages by shared words, for pages whose language is unknown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.language.speech import LIKE, MIN_PAGES, Floats, learn_speech, speaks_like

Pages = NDArray[np.intp]

_SHARED = 0.3
"""Minimum page frequency of a common word of a gathering."""
_LEAST_SHARE = 0.05
"""Minimum share of common words in a page's text."""
_TRIALS, _STEPS = 40, 10
"""Maximum number of gatherings, and of steps in which each grows or shrinks; bounds the time."""
_SEED_WORDS = 30
"""Maximum number of shared words that count for how central a page is."""


def gather(words: csr_array, pool: Pages, known: NDArray[np.bool_]) -> list[Pages]:
    """Cluster pages by shared words, and merge gatherings with similar words.

    A gathering starts with the page whose words most other pages have. It adds all pages with similar words and
    removes the others, until nothing changes; then the next one starts, without these pages.

    Parameters
    ----------
    words : csr_array, shape (n_pages, n_words)
        How often each page has each word.
    pool : ndarray of intp
        Pages to gather.
    known : ndarray of bool, shape (n_words,)
        Words to ignore: those of known languages.

    Returns
    -------
    list of ndarray of intp
        Three pages or more each, in order.
    """
    gatherings, rest = [], pool
    for _ in range(_TRIALS):
        if len(rest) < MIN_PAGES:
            break
        within = csr_array(words[rest])
        seed, members = _seed(within, known)
        members = _grow(within, members, known)
        if len(members) < MIN_PAGES:
            rest = np.delete(rest, seed)
            continue
        gatherings.append(rest[members])
        rest = np.delete(rest, members)
    return _merge(words, gatherings, known)


def _seed(words: csr_array, known: NDArray[np.bool_]) -> tuple[int, Pages]:
    """Return the page whose words most other pages have, and those that are near it."""
    present = csr_array((np.ones_like(words.data), words.indices, words.indptr), shape=words.shape)
    frequency = np.asarray(present.sum(axis=0)).ravel()
    counts = (frequency >= MIN_PAGES) & ~known
    n_words = present @ counts.astype(np.float32)
    mean = (present @ (frequency * counts)) / np.maximum(n_words, 1)
    seed = int(np.argmax(mean * np.minimum(n_words, _SEED_WORDS)))
    seed_words = np.zeros(words.shape[1], np.float32)
    seed_words[words.indices[words.indptr[seed] : words.indptr[seed + 1]]] = 1
    common = (present @ (seed_words * counts)) / np.sqrt(np.maximum(n_words, 1) * max(n_words[seed], 1))
    third = np.sort(common)[-MIN_PAGES]
    return seed, np.flatnonzero(common >= 0.5 * third)


def _grow(words: csr_array, members: Pages, known: NDArray[np.bool_]) -> Pages:
    """Add the pages with similar words, and remove the others, until nothing changes."""
    for _ in range(_STEPS):
        shares = common_share(words, members, known)
        now = np.flatnonzero(shares >= max(LIKE * float(np.median(shares[members])), _LEAST_SHARE))
        if np.array_equal(now, members) or len(now) < MIN_PAGES:
            return now
        members = now
    return members


def common_share(words: csr_array, members: Pages, known: NDArray[np.bool_]) -> Floats:
    """Return the share of each page's text that is in the common words of some pages, and not in a known language's."""
    labels = np.full(words.shape[0], -1)
    labels[members] = 0
    common = learn_speech(words, labels, 1, _SHARED).typical & ~known[:, None]
    return speaks_like(words, common, np.ones(1))[:, 0]


def _merge(words: csr_array, gatherings: list[Pages], known: NDArray[np.bool_]) -> list[Pages]:
    """Merge clusters with similar words: the parts of a site differ in their words even within a language."""
    merged: list[Pages] = []
    for pages in gatherings:
        for i, earlier in enumerate(merged):
            if _alike(words, pages, earlier, known) or _alike(words, earlier, pages, known):
                merged[i] = np.union1d(earlier, pages)
                break
        else:
            merged.append(pages)
    return merged


def _alike(words: csr_array, one: Pages, other: Pages, known: NDArray[np.bool_]) -> bool:
    """Return whether most of some pages have words similar to others."""
    shares = common_share(words, other, known)
    return bool(np.median(shares[one]) >= LIKE * np.median(shares[other]))
