"""Consensus of several results of one site, from which the rounds of `weighed` start again.

Where few pairs of a small site are sure, each start teaches other words, and its result has other wrong pairs. A pair
that several results have is right more often than one of a single result, so the mean of their probabilities teaches
better than any of them. Each result that starts from this mean counts in the next one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from twinlink.graph.matching import Matching, greedy_matching

__all__ = ["CONSENSUS_PARTS", "agree_on_enough", "consensus_of", "is_without_gain"]

CONSENSUS_PARTS = (8, 16, 12, 8, 16, 12)
"""Number of parts of the pages (`twinlink.match.methods.weighed.word_parts`) in each start from the consensus."""
LEAST_AGREED = 30
"""Number of pairs with a mean probability above `PROBABLE` from which the rounds start from the consensus."""
PROBABLE = 0.5
"""Mean probability above which the results agree on a pair."""
PATIENCE = 3
"""Number of results in a row that do not increase the objective after which no more are tried."""


def consensus_of(results: Sequence[sp.csr_array]) -> Matching:
    """Return the one-to-one pairs of the mean of several results, each with its mean as the score.

    mean(i, j) = Σ_r P_r(i, j) / n

    Parameters
    ----------
    results : sequence of csr_array, shape (n_pages_a, n_pages_b)
        Probabilities P_r of the pairs of each of the n results; pairs that a result does not have count as 0.

    Returns
    -------
    Matching

    Examples
    --------
    The first page has another partner in one of four results:

    >>> one, other = sp.csr_array([[0.75, 0.0], [0.0, 0.5]]), sp.csr_array([[0.0, 1.0], [0.0, 0.0]])
    >>> agreed = consensus_of([one, one, one, other])
    >>> agreed.rows.tolist(), agreed.columns.tolist(), agreed.scores.tolist()
    ([0, 1], [0, 1], [0.5625, 0.375])
    """
    total = sp.csr_array(sum(results[1:], start=results[0]))
    return greedy_matching(sp.csr_array(total / np.float32(len(results))))


def agree_on_enough(consensus: Matching) -> bool:
    """Return whether several results agree on enough pairs to start from them."""
    return int(np.sum(consensus.scores > PROBABLE)) >= LEAST_AGREED


def is_without_gain(objectives: Sequence[float]) -> bool:
    """Return whether the last `PATIENCE` of some results do not exceed those before them."""
    return len(objectives) > PATIENCE and max(objectives[-PATIENCE:]) <= max(objectives[:-PATIENCE])
