"""The sentence score of WebMining as printed: equation (1) of Tomás et al., and the best alignment that it offers.

For a sentence f of m words of the first page and a sentence e of l words of the second

    Pr(f|e) = α^|m - l| · Π_{j=1..m} Σ_{i=0..l} p(f_j|e_i)

where e_0 is the empty word. A sentence without partner has l = 0, or m = 0 and Pr = α^l. The best alignment is the
one with the greatest product over its beads, of one sentence on each side or of one alone.

Where the paper is silent: p(f|e_0) is the share of f among the words that the model has seen; α is a setting; a
sentence of the second page alone pays its length, too, as equation (1) does for it. The word probabilities are those of
`twinlink.align.words.model`, learned on the way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twinlink.align.knowledge import Knowledge
from twinlink.align.page_pair import Aligned, PagePair, Side
from twinlink.align.words.model import Links, links_of
from twinlink.compiled import compiled

__all__ = ["align_printed", "best_beads", "printed_scores"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def align_printed(pair: PagePair, known: Knowledge, alpha: float, least: float) -> tuple[Aligned, tuple[Links, Links]]:
    """Align the sentences of two texts by equation (1).

    Parameters
    ----------
    pair : PagePair
    known : Knowledge
        What has been learned so far; may be empty.
    alpha : float in (0, 1]
    least : float in (0, 1]
        Probability per word above which two sentences are translations: Pr(f|e)^(1/m). The paper's threshold is one of
        Pr(f|e), which sinks with every word.

    Returns
    -------
    aligned : Aligned
        Beads 1-1, 1-0 and 0-1, shapes 0, 1 and 2; ``per_word`` is log Pr(f|e)/m - log ``least``, so above 0 for
        translations. The probability of each bead is 1.
    links : pair of Links
        As of `twinlink.align.page_pair.align_pair`.
    """
    a, b = pair.a, pair.b
    links = links_of(known.words, a.vocabulary, b.vocabulary, a.seen, b.seen, pair.like)
    words_a, words_b = (_word_counts(side) for side in (a, b))
    unigrams = links[1].unigrams
    probabilities = _dense(links[1], len(b.vocabulary)) * unigrams
    scores = printed_scores(words_a, words_b, probabilities, unigrams, alpha)
    beads, shapes = best_beads(scores)
    two_sided = shapes == 0
    per_word = np.zeros(len(beads))
    sizes = np.maximum(words_a.sum(axis=1), 1)
    at = beads[two_sided, 0], beads[two_sided, 2]
    per_word[two_sided] = scores[at[0] + 1, at[1] + 1] / sizes[at[0]] - np.log(least)
    return Aligned(beads, shapes, np.ones(len(beads)), per_word), links


def printed_scores(words_a: Floats, words_b: Floats, probabilities: Floats, empty: Floats, alpha: float) -> Floats:
    """Return log Pr(f|e) of all sentences, and of each one alone.

    Parameters
    ----------
    words_a : float64, shape (n, words of a)
        How often each word stands in each sentence f.
    words_b : float64, shape (m, words of b)
        The same of each sentence e.
    probabilities : float64, shape (words of b, words of a)
        p(f|e).
    empty : float64, shape (words of a,)
        p(f|e_0).
    alpha : float in (0, 1]

    Returns
    -------
    float64, shape (n + 1, m + 1)
        Row i + 1 and column j + 1 have sentences i and j; row 0 and column 0 the sentences alone.

    Examples
    --------
    One word in each, p(f|e) = .5, p(f|e_0) = .1: log .6 together, log(.5·.1) and log .5 alone.

    >>> one = np.array([[1.0]])
    >>> np.exp(printed_scores(one, one, np.array([[0.5]]), np.array([0.1]), 0.5)).round(3).tolist()
    [[1.0, 0.5], [0.05, 0.6]]
    """
    explained = np.vstack([np.zeros((1, len(empty))), words_b @ probabilities]) + empty
    with_nothing = np.vstack([np.zeros((1, words_a.shape[1])), words_a])
    lengths_a, lengths_b = with_nothing.sum(axis=1), np.append(0.0, words_b.sum(axis=1))
    differences = np.abs(lengths_a[:, None] - lengths_b[None, :])
    return np.asarray(with_nothing @ np.log(explained).T + np.log(alpha) * differences)


def best_beads(scores: Floats) -> tuple[Ints, Ints]:
    """Return the beads of the best alignment, shape (beads, 4), and their shapes: 0 for 1-1, 1 for 1-0, 2 for 0-1.

    Examples
    --------
    >>> beads, shapes = best_beads(np.log([[1, 0.1, 0.1], [0.1, 0.2, 0.9]]))
    >>> beads.tolist(), shapes.tolist()
    ([[0, 0, 0, 1], [0, 1, 1, 2]], [2, 0])
    """
    moves = _moves(scores)
    i, j = scores.shape[0] - 1, scores.shape[1] - 1
    beads: list[tuple[int, int, int, int]] = []
    shapes: list[int] = []
    while i or j:
        shape = int(moves[i, j])
        before = i - (shape != 2), j - (shape != 1)
        beads.append((before[0], i, before[1], j))
        shapes.append(shape)
        i, j = before
    return np.array(beads[::-1], np.int64).reshape(-1, 4), np.array(shapes[::-1], np.int64)


@compiled
def _moves(scores: Floats) -> NDArray[np.uint8]:
    """Last bead of the best alignment of the first i and j sentences; of equal ones 1-1, then 1-0."""
    n, m = scores.shape
    best = np.zeros((n, m))
    moves = np.zeros((n, m), np.uint8)
    for i in range(n):
        for j in range(m):
            if i == 0 and j == 0:
                continue
            most, move = -np.inf, 0
            if i > 0 and j > 0:
                most = best[i - 1, j - 1] + scores[i, j]
            if i > 0 and best[i - 1, j] + scores[i, 0] > most:
                most, move = best[i - 1, j] + scores[i, 0], 1
            if j > 0 and best[i, j - 1] + scores[0, j] > most:
                most, move = best[i, j - 1] + scores[0, j], 2
            best[i, j], moves[i, j] = most, move
    return moves


def _word_counts(side: Side) -> Floats:
    """Return how often each word stands in each sentence."""
    counts = np.zeros((len(side), len(side.vocabulary)))
    np.add.at(counts, (np.repeat(np.arange(len(side)), np.diff(side.ends)), side.words), 1.0)
    return counts


def _dense(links: Links, n_words: int) -> Floats:
    """Return p(f|e)/p(f) of all words of a page, one row for each word e."""
    dense = np.repeat(links.base.astype(np.float64)[:, None], len(links.unigrams), axis=1)
    rows = np.repeat(np.arange(n_words), np.diff(links.starts))
    dense[rows, links.to] += links.gain
    return dense
