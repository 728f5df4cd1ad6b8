"""Order of pairs for labelling (active learning): doubtful pairs that resemble many other doubtful pairs first.

Learning from labels is in `twinlink.similarity.weighing`; this module selects pairs by the tables of the run.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from twinlink.errors import ShapeError

__all__ = ["asking_order", "teaching_order"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer]
Rows = npt.NDArray[np.intp]

MOST_COMPARED = 500
"""Number of the most doubtful pairs that are compared with each other; bounds time and memory."""
MOST_ASKED = 150
"""Pairs that are ordered by what they teach; the others follow by doubt. After 100 there is little left to learn
(`experiments.labels_curve`)."""
SURE = 0.9
"""Probability from which a pair is sure."""
EVERY = 5
"""Every fifth question is about a sure pair, because doubtful pairs say nothing about these. Our choice, not tuned."""
_NOISE = 0.05
"""Variance of an answer. Our choice, not tuned."""
_LEAST_DEVIATION = 1e-6


def asking_order(probabilities: Floats, by_doubt: Rows, at_random: Rows, features: Floats, groups: Ints) -> Rows:
    """Return the rows of pairs in the order of their value for learning.

    `teaching_order` of the most doubtful pairs, with a sure pair (`SURE`) drawn at random in each fifth place; then all
    others by doubt.

    Parameters
    ----------
    probabilities : ndarray, shape (n_pairs,), values in [0, 1]
        Probability of each pair; NaN where the method gives none.
    by_doubt, at_random : ndarray of int, shape (n_pairs,)
        All rows, the most doubtful first, and mixed.
    features : ndarray, shape (n_pairs, n_features)
        Features of each pair; NaN where not measured.
    groups : ndarray of int, shape (n_pairs,)
        Pairs of different groups (sites, languages) are independent.

    Returns
    -------
    ndarray of int, shape (n_pairs,)
        Each row once.

    Raises
    ------
    ShapeError
        If the arrays differ in length.
    """
    lengths = {len(each) for each in (probabilities, by_doubt, at_random, features, groups)}
    if len(lengths) > 1:
        raise ShapeError(f"pairs to ask for: expected arrays of one length, got {sorted(lengths)}")
    compared = by_doubt[:MOST_COMPARED]
    queue = compared[teaching_order(probabilities[compared], features[compared], groups[compared], MOST_ASKED)]
    sure = at_random[probabilities[at_random] >= SURE]
    gap = EVERY - 1
    n_sure = min(len(sure), len(queue) // gap)
    mixed = np.insert(queue, np.arange(1, n_sure + 1) * gap, sure[:n_sure])
    order = np.concatenate([mixed, by_doubt])
    first = np.sort(np.unique(order, return_index=True)[1])
    once: Rows = order[first].astype(np.intp)
    return once


def teaching_order(probabilities: Floats, features: Floats, groups: Ints, n: int) -> Rows:
    """Return rows of pairs, each the one whose label removes most uncertainty, given those before it.

    Verdicts are taken for a Gaussian process with the covariance::

        c(i, j) = √(u(i)·u(j)) · exp(-½·‖x(i) - x(j)‖² / d),    u = p·(1 - p)

    x holds the d features that are not the same for all, each brought to mean 0 and deviation 1; c is 0 between groups.
    A label of i takes away the variance ``Σ_j c(i, j)² / (c(i, i) + σ²)``: much if the pair is doubtful and many
    doubtful pairs are like it. Then c is updated, so that pairs similar to a selected one have less value.

    Parameters
    ----------
    probabilities : ndarray, shape (n_pairs,), values in [0, 1]
        NaN counts as ½.
    features : ndarray, shape (n_pairs, d)
        NaN counts as the mean.
    groups : ndarray of int, shape (n_pairs,)
    n : int
        How many rows are wanted.

    Returns
    -------
    ndarray of int, shape (min(n, n_pairs),)

    Examples
    --------
    Four pairs that are alike, and one by itself that is a little more doubtful:

    >>> probabilities, features = np.array([0.6, 0.6, 0.6, 0.6, 0.5]), np.array([[0.0], [0.0], [0.0], [0.0], [9.0]])
    >>> teaching_order(probabilities, features, np.zeros(5, int), 2).tolist()
    [0, 4]
    """
    left = _covariance(probabilities, features, groups)
    chosen: list[int] = []
    is_open = np.ones(len(probabilities), np.bool_)
    for _ in range(min(n, len(probabilities))):
        gain = np.square(left).sum(axis=1) / (np.diagonal(left) + _NOISE)
        best = int(np.argmax(np.where(is_open, gain, -np.inf)))
        is_open[best] = False
        chosen.append(best)
        of_best = left[best].copy()
        left -= np.outer(of_best, of_best / (of_best[best] + _NOISE))
    return np.array(chosen, np.intp)


def _covariance(probabilities: Floats, features: Floats, groups: Ints) -> Floats:
    probabilities = np.where(np.isnan(probabilities), 0.5, probabilities)
    doubt = np.sqrt(probabilities * (1 - probabilities))
    z = _standardised(features)
    squares = np.square(z).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * (z @ z.T), 0)
    covariance: Floats = np.outer(doubt, doubt) * np.exp(-distances / (2 * max(z.shape[1], 1)))
    covariance[groups[:, None] != groups] = 0
    return covariance


def _standardised(features: Floats) -> Floats:
    """Return each feature that differs with mean 0 and deviation 1, and 0 where it was not measured."""
    known = ~np.isnan(features)
    n = np.maximum(known.sum(axis=0), 1)
    values = np.where(known, features, 0.0)
    centred = np.where(known, values - values.sum(axis=0) / n, 0.0)
    deviations = np.sqrt(np.square(centred).sum(axis=0) / n)
    differs = deviations > _LEAST_DEVIATION
    standardised: Floats = centred[:, differs] / deviations[differs]
    return standardised
