"""Selection of the pairs of a one-to-one matching, by probabilities estimated on the site without labels.

Wrong pairs result where the right partner is missing. To sample them, remove the partner of every page and match
the rest: all pairs found are wrong and show the scores of wrong pairs on this site with this evidence. The matching
is a mixture of such pairs and right ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from twinlink.errors import ShapeError
from twinlink.similarity import kernels
from twinlink.sparse import as_rows, entry_rows, select

__all__ = ["EVEN", "Decision", "PairList", "choose_threshold", "keep_pairs", "least_probability"]

EVEN = 0.5
"""Least probability of a pair that is kept, if nothing else is given: it makes the expected F1 largest."""

Floats = NDArray[np.float64]

# Trials on six sites, each whole and with half of its pages taken away, 27 kinds of evidence: ¾ loses .015 of F1 on
# average against the best threshold that the gold can show, ½ loses .026, 1 and 0 still more.
_RIVAL_WEIGHT = 0.75
# Pages of one language with at least this similarity are versions of one page. Trials: .8, .9 and .95 are the same
# within .002; without it .023 is lost instead of .015.
_ALIKE = 0.9
# The estimate is on the strict side: on sites for tuning as on those for judging, six to seven of ten pairs between .3
# and .5 are right, .8 of those from .5 to .7, .95 from .9 to .97, .99 from .97 on.
_LEAST_PROBABILITY = 0.3
# Not so where hardly any pair is right: those of the first matching are a little better than those of the second even
# if all are wrong. With a mean below this, only pairs from `EVEN` on are kept.
_DOUBTFUL_MEAN = 0.6
_LOW_SHARE = 0.5
_SMOOTHING = 0.5


class PairList(Protocol):
    """One-to-one page pairs, such as `twinlink.graph.matching.Matching`."""

    @property
    def rows(self) -> NDArray[np.int64]:
        """Page of the first language of each pair."""
        ...

    @property
    def columns(self) -> NDArray[np.int64]:
        """Page of the second language of each pair."""
        ...

    @property
    def scores(self) -> NDArray[np.float32]:
        """Score of each pair."""
        ...


class Decision(msgspec.Struct, frozen=True, eq=False):
    """What is estimated of the pairs of a matching; the arrays have one value per pair."""

    probabilities: NDArray[np.float32]
    """Estimated probability that the pair is right; a near-duplicate of the right page counts as right."""
    rivals: NDArray[np.float32]
    """Best score of another candidate for one of the two pages, near-duplicates of the other page left out; 0: none."""
    threshold: float
    """Least probability of a pair to keep: 0.3, because the estimate is conservative; 0.5 where the pairs from 0.3 on
    have less than 0.6 on average."""


def choose_threshold(
    scores: csr_array,
    matching: PairList,
    match: Callable[[csr_array], PairList],
    vectors_a: csr_array,
    vectors_b: csr_array,
) -> Decision:
    """Estimate the probability that each pair of a matching is right, and from which one on pairs are to be kept.

    The evidence for a pair is t = score - ¾·rival. With f the density of t over the given pairs, and f₀ that over the
    pairs that ``match`` finds once these, and the candidates nearly equal to them, are removed::

        P(right | t) = 1 - π₀ · f₀(t) / f(t)

    f₀/f is estimated by isotonic regression: it cannot rise with t. π₀, the share of wrong pairs, is the share of the
    given pairs in the lower half of f₀, divided by ½ (Storey 2002). Removing the partners of all pages leaves more
    alternatives for a wrong pair than when only some are missing, so the estimate is conservative. Where many right
    pairs have less in common than wrong ones (neither lexicon nor structure), it is far too low. Where there is no
    candidate besides the pairs, the estimate is 0.3 for all.

    This method is not from the papers; Algorithm 3 of Liu et al. uses a fixed MIN_SIM instead.

    Parameters
    ----------
    scores : csr_array, shape (n_pages_a, n_pages_b), values >= 0
        Scores of all candidates.
    matching : PairList
        The pairs to decide on, made from ``scores``.
    match : callable
        The same matching method, from scores to pairs.
    vectors_a, vectors_b : csr_array
        Unit vectors of the pages of each language (`page_vectors`). Two pages of one language with a product of 0.9
        or more are near-duplicates and not rivals of each other.

    Raises
    ------
    ShapeError
        If the vectors or the pairs do not match ``scores``, or a matrix is not sparse.
    """
    scores = as_rows(scores, "scores")
    vectors_a, vectors_b = as_rows(vectors_a, "vectors_a"), as_rows(vectors_b, "vectors_b")
    _check(scores, matching, vectors_a, vectors_b)
    nearly = _nearly_matched(scores, matching, vectors_a, vectors_b)
    rival = _best_rivals(scores, matching, nearly)
    others = _without(scores, nearly)
    wrong = match(others)
    wrong_rival = _best_rivals(others, wrong, _nearly_matched(others, wrong, vectors_a, vectors_b))
    evidence = matching.scores - _RIVAL_WEIGHT * rival
    probabilities = _probabilities(evidence, wrong.scores - _RIVAL_WEIGHT * wrong_rival)
    threshold = _threshold(probabilities)
    return Decision(probabilities.astype(np.float32), rival.astype(np.float32), threshold)


def keep_pairs(
    probabilities: ArrayLike,
    min_probability: float | None = None,
    min_precision: float | None = None,
    threshold: float = EVEN,
) -> NDArray[np.bool_]:
    """Mark the pairs to keep.

    Parameters
    ----------
    probabilities : array_like, shape (n_pairs,), values in [0, 1]
    min_probability : float, optional
        Least probability of a single pair. Default: ``threshold``, or 0 with ``min_precision``.
    min_precision : float, optional
        The longest list, most probable pairs first, whose mean probability (its expected precision) is not below this.
    threshold : float, optional
        Least probability of a single pair if neither of the two is given.

    Examples
    --------
    >>> probabilities = np.array([0.9, 0.4, 0.8])
    >>> keep_pairs(probabilities).tolist(), keep_pairs(probabilities, min_precision=0.7).tolist()
    ([True, False, True], [True, True, True])
    """
    values = np.asarray(probabilities)
    is_likely = np.asarray(values >= least_probability(min_probability, min_precision, threshold))
    if min_precision is None:
        return is_likely
    order = np.argsort(-values, kind="stable")
    expected = np.cumsum(values[order], dtype=np.float64)  # in single precision, errors add up
    enough = np.flatnonzero(expected >= min_precision * np.arange(1, len(order) + 1) - 1e-9)
    keep = np.zeros(len(order), np.bool_)
    keep[order[: enough[-1] + 1 if len(enough) else 0]] = True
    return keep & is_likely


def least_probability(min_probability: float | None, min_precision: float | None, threshold: float = EVEN) -> float:
    """Return the least probability of a kept pair: the given one, else a threshold; 0 if a precision is given alone.

    >>> least_probability(None, None), least_probability(None, 0.9), least_probability(0.3, 0.9)
    (0.5, 0.0, 0.3)
    """
    if min_probability is not None:
        return min_probability
    return threshold if min_precision is None else 0.0


def _check(scores: csr_array, matching: PairList, vectors_a: csr_array, vectors_b: csr_array) -> None:
    pages = (vectors_a.shape[0], vectors_b.shape[0])
    if scores.shape != pages:
        raise ShapeError(f"expected scores of shape {pages} for these page vectors, got {scores.shape}")
    if len(matching.rows) and (matching.rows.max() >= pages[0] or matching.columns.max() >= pages[1]):
        raise ShapeError(f"matching: expected pages within {pages}, got some outside")


def _partners(pages: NDArray[np.int64], others: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    partner = np.full(n, -1, dtype=np.int64)
    partner[pages] = others
    return partner


def _nearly_matched(
    scores: csr_array, matching: PairList, vectors_a: csr_array, vectors_b: csr_array
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Mark candidates (i, j) where j is, or nearly equals, the partner of i; and those where i does for j."""
    rows, columns = entry_rows(scores), scores.indices
    partner_b = _partners(matching.rows, matching.columns, scores.shape[0])[rows]
    partner_a = _partners(matching.columns, matching.rows, scores.shape[1])[columns]
    return _alike(vectors_b, partner_b, columns), _alike(vectors_a, partner_a, rows)


def _alike(vectors: csr_array, first: NDArray[np.int64], second: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Compare pages of one language, pair by pair; -1 is similar to no page."""
    known = np.flatnonzero(first >= 0)
    order = known[np.argsort(first[known], kind="stable")]
    starts = np.searchsorted(first[order], np.arange(vectors.shape[0] + 1))
    arrays = kernels.arrays_of(vectors)
    products = kernels.pattern_dot(arrays, arrays, vectors.shape[1], starts, second[order].astype(np.uint32))
    alike: NDArray[np.bool_] = np.equal(first, second)
    alike[order] |= products >= _ALIKE
    return alike


def _best_rivals(scores: csr_array, matching: PairList, nearly: tuple[NDArray[np.bool_], NDArray[np.bool_]]) -> Floats:
    """Best other candidate of either page of each pair, near-duplicates of the pair left out."""
    rows, columns, values = entry_rows(scores), scores.indices, scores.data
    of_row, of_column = np.zeros(scores.shape[0]), np.zeros(scores.shape[1])
    for best, pages, near in ((of_row, rows, nearly[0]), (of_column, columns, nearly[1])):
        np.maximum.at(best, pages[~near], values[~near])
    return np.maximum(of_row[matching.rows], of_column[matching.columns])


def _without(scores: csr_array, nearly: tuple[NDArray[np.bool_], NDArray[np.bool_]]) -> csr_array:
    """Remove the candidates that are, or nearly equal, a matched pair."""
    return select(scores, ~(nearly[0] | nearly[1]))


def _probabilities(evidence: Floats, wrong: Floats) -> Floats:
    """Estimate P(right) for each value of evidence, given the evidence of known wrong pairs."""
    n, k = len(evidence), len(wrong)
    if not n or not k:
        return np.full(n, _LEAST_PROBABILITY)
    # Add one wrong pair as good as the best, so that the estimate does not reach certainty.
    values = np.concatenate([evidence, wrong, [max(evidence.max(), wrong.max())]])
    given = np.repeat([1.0, 0.0], [n, k + 1])
    order = np.lexsort((-given, values))  # at equal values the given one first, so that they end in one block
    from scipy.optimize import isotonic_regression  # imported here: takes a quarter of a second, for one method

    fit = isotonic_regression(given[order], weights=np.where(given[order] > 0, 1 / n, 1 / (k + 1)))
    share = np.empty(n + k + 1)
    share[order] = fit.x  # f / (f + f₀)
    ratio = 1 / np.maximum(share[:n], np.finfo(float).tiny) - 1
    return np.clip(1 - _share_of_wrong(evidence, wrong) * ratio, 0.0, 1.0)


def _threshold(probabilities: Floats) -> float:
    likely = probabilities[probabilities >= _LEAST_PROBABILITY]
    is_doubtful = len(probabilities) > 1 and len(likely) > 0 and likely.mean() < _DOUBTFUL_MEAN
    return EVEN if is_doubtful else _LEAST_PROBABILITY


def _share_of_wrong(evidence: Floats, wrong: Floats) -> float:
    """Estimate π₀, the share of wrong pairs: twice the share of given pairs below the median of the wrong ones.

    After Storey (2002); ½ is added to both counts.
    """
    limit = np.quantile(wrong, _LOW_SHARE)
    low, expected = np.sum(evidence <= limit), len(evidence) * np.mean(wrong <= limit)
    return float(min(1.0, (low + _SMOOTHING) / (expected + _SMOOTHING)))
