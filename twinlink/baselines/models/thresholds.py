"""Models that cut at thresholds: the STRAND baseline and Algorithm 1 of Jangeldin & Assylbekov."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from twinlink.baselines.alignment import StructureAlignments
from twinlink.baselines.models.verdicts import Verdicts
from twinlink.config.baselines import JangeldinSettings, StrandSettings
from twinlink.similarity.filter_checks import Check, check_of

__all__ = ["ThresholdFit", "alignment_checks", "find_threshold", "judge_jangeldin", "judge_strand"]

Floats = NDArray[np.float64]


def judge_strand(alignment: StructureAlignments, settings: StrandSettings | None = None) -> Verdicts:
    """STRAND baseline: parallel if ``P_d < max_cost and p < max_p`` (section 4.2).

    A pair without p (fewer than three aligned chunks, or all chunks of a page of one length) is not parallel: it has
    shown no correlation. Each pair is judged for itself.

    The score is ``min(1 - P_d / max_cost, 1 - p / max_p)``, with 1 for a missing p. It is at most 1.
    """
    limits = settings or StrandSettings()
    p_value = np.where(np.isnan(alignment.p_value), 1.0, alignment.p_value)
    score = np.minimum(_margin(alignment.cost_share, limits.max_cost), _margin(p_value, limits.max_p))
    checks = (
        check_of("cost_share", alignment.cost_share, limits.max_cost, "<"),
        check_of("p_value", alignment.p_value, limits.max_p, "<"),
    )
    return Verdicts(score, checks=checks)


def alignment_checks(alignment: StructureAlignments) -> tuple[Check, ...]:
    """Return the numbers of the alignment of each pair, which are not compared with a bound: W, M1, M2 and so on."""
    names = ("cost", "tokens_a", "tokens_b", "length_a", "length_b", "aligned", "unequal", "correlation", "p_value")
    return tuple(check_of(name, getattr(alignment, name)) for name in names)


class ThresholdFit(msgspec.Struct, frozen=True, eq=False):
    """Algorithm 1's way to its threshold."""

    mean: float
    """μ: mean L_d of the pairs with P_d = 0."""
    threshold: float
    """Largest accepted distance of L_d from it."""
    thresholds: Floats
    """Trace: each threshold that was tried, the first one before the loop, the last one the result."""
    counts: NDArray[np.int64]
    """Trace: pairs of S within it."""
    growth: Floats
    """Trace: Δ, by how much the count grew; NaN for the first, infinite from a count of 0."""
    pairs: int
    """Pairs in S."""
    equal: int
    """Those of them with P_d = 0."""
    notes: tuple[str, ...]
    """Rules that stepped in, see `find_threshold`."""

    @property
    def shares(self) -> Floats:
        """Trace: share of S within each threshold."""
        return self.counts / max(self.pairs, 1)


def find_threshold(alignment: StructureAlignments, settings: JangeldinSettings | None = None) -> ThresholdFit:
    """Algorithm 1: how far L_d may be from its mean, widened while pairs come in.

    ``S`` = pairs with ``P_d < max_cost``; ``μ`` = mean ``L_d`` of those with ``P_d = 0``. The threshold is ``step`` at
    first and is widened by ``step`` as long as ``Δ = N(threshold) / N(threshold before) - 1 >= min_growth``, where
    ``N`` counts the pairs of S with ``|L_d - μ| < threshold``. (The paper's Table 3 counts one iteration fewer than its
    loop runs: threshold 0.16 takes 15, printed 14.)

    Where the paper is silent:

    ``no-similar-pair``
        S is empty: μ is 0, the threshold the first; no pair is parallel.
    ``no-equal-pair``
        No pair has ``P_d = 0``: μ is the median of L_d over S, most of which is parallel by assumption.
    ``first-count-0``
        No pair is within the first threshold: it is widened until there is one, Δ counts as infinite.
    """
    limits = settings or JangeldinSettings()
    similar = alignment.cost_share < limits.max_cost
    equal = similar & (alignment.cost == 0)
    lengths = alignment.length_difference
    if not similar.any():
        one = np.array([limits.step])
        return ThresholdFit(0.0, limits.step, one, np.array([0]), np.array([np.nan]), 0, 0, ("no-similar-pair",))
    mean = float(lengths[equal].mean() if equal.any() else np.median(lengths[similar]))
    distances = np.sort(np.abs(lengths[similar] - mean))
    thresholds, counts, growth = [limits.step], [_count(distances, limits.step)], [np.nan]
    while len(growth) == 1 or growth[-1] >= limits.min_growth:
        thresholds.append(limits.step * (len(thresholds) + 1))
        counts.append(_count(distances, thresholds[-1]))
        growth.append(counts[-1] / counts[-2] - 1 if counts[-2] else np.inf)
    return ThresholdFit(
        mean,
        thresholds[-1],
        np.array(thresholds),
        np.array(counts),
        np.array(growth),
        len(distances),
        int(equal.sum()),
        ("no-equal-pair",) * (not equal.any()) + ("first-count-0",) * (counts[0] == 0),
    )


def judge_jangeldin(alignment: StructureAlignments, settings: JangeldinSettings | None = None) -> Verdicts:
    """Algorithm 1: parallel if ``P_d < max_cost and |L_d - μ| < threshold``, see `find_threshold`.

    The score is ``min(1 - P_d / max_cost, 1 - |L_d - μ| / threshold)``, at most 1. Found are ``similar`` (pairs with
    ``P_d < max_cost``), ``equal`` (those with ``P_d = 0``), ``mean``, ``threshold`` and ``loops``.
    """
    limits = settings or JangeldinSettings()
    fit = find_threshold(alignment, limits)
    distance = np.abs(alignment.length_difference - fit.mean)
    score = np.minimum(_margin(alignment.cost_share, limits.max_cost), _margin(distance, fit.threshold))
    found = {
        "similar": fit.pairs,
        "equal": fit.equal,
        "mean": fit.mean,
        "threshold": fit.threshold,
        "loops": len(fit.thresholds) - 1,
    }
    checks = (
        check_of("cost_share", alignment.cost_share, limits.max_cost, "<"),
        check_of("length_distance", distance, fit.threshold, "<"),
    )
    return Verdicts(score, found, fit.notes, checks)


def _count(distances: Floats, threshold: float) -> int:
    return int(np.searchsorted(distances, threshold, side="left"))


def _margin(values: Floats, limit: float) -> Floats:
    """``1 - value / limit``, so computed that it is above 0 exactly if the value is below the limit."""
    return (limit - values) / limit if limit > 0 else -1.0 - values
