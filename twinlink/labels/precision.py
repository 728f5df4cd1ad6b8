"""Estimates of precision from labels, with 95 % intervals.

The queue shows doubtful pairs first, so the labelled pairs are worse than the others: their share of right ones would
be too low. So pairs are divided into strata of similar probability, and each stratum is estimated separately. Only
the order of the model's probabilities is used, not their values.

A share whose interval is wider than `MAX_INTERVAL_WIDTH` is not shown as a number anywhere, in the review, the
report, on the command line or in Python: there are too few labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import numpy.typing as npt

from twinlink.errors import ShapeError
from twinlink.labels.book import ACCEPTED, REJECTED, UNLABELLED, Label, label_codes

if TYPE_CHECKING:
    import pandas as pd

_LEVEL = 0.95
MAX_INTERVAL_WIDTH = 0.3
"""Width of an interval up to which its share is shown; set by eye: 10 labels that agree are enough, 5 are not, and of
labels that do not, it takes 41 at most."""
# On simulated runs with seven meanings of the probabilities (`experiments.label_intervals`), the interval has the truth
# in 93 % of the cases where labels come in random order, in 92 % where half of them are the most doubtful pairs, and in
# all cases where all of them are. In other trials, with 10 labels a stratum, or strata that do not end at labels, the
# worst meaning had 24 and 27 %.
_STRATUM_LABELS = 5
_MAX_STRATA = 9
_DRAWS = 10_000
_SEED = 20_100


class Share(msgspec.Struct, frozen=True):
    """A share estimated from labels, with a 95 % interval.

    >>> print(Share(0.9, 0.85, 0.95))
    0.900 (95 % interval 0.850 to 0.950)
    >>> print(Share(0.8, 0.4, 0.95))
    too few labels (95 % interval 0.400 to 0.950)
    """

    value: float
    """What is to be expected, 0 to 1."""
    low: float
    """Lower bound of the interval."""
    high: float
    """Upper bound."""
    needed: int = 0
    """Number of labels needed for an interval of `MAX_INTERVAL_WIDTH` if the share is this; 0: unknown."""

    @property
    def is_narrow(self) -> bool:
        """Whether the interval is narrow enough to show the share."""
        return self.high - self.low <= MAX_INTERVAL_WIDTH

    def __str__(self) -> str:
        interval = f"(95 % interval {self.low:.3f} to {self.high:.3f})"
        if self.is_narrow:
            return f"{self.value:.3f} {interval}"
        return f"too few labels {interval}"


class Estimate(msgspec.Struct, frozen=True, dict=True):
    """The precision of a list of pairs, from labels of some of them."""

    precision: float
    """Mean of the posterior, 0 to 1; ½ where there are no labels."""
    low: float
    """Lower bound of the 95 % interval."""
    high: float
    """Upper bound."""
    n: int
    """Pairs with a label."""
    of: int
    """All pairs."""

    @property
    def is_narrow(self) -> bool:
        """Whether the interval is narrow enough to show the precision."""
        return self.high - self.low <= MAX_INTERVAL_WIDTH

    @cached_property
    def needed(self) -> int:
        """Number of labels in random order needed for an interval of `MAX_INTERVAL_WIDTH` if the precision is this."""
        return labels_needed(self.precision, self.of)

    @property
    def share(self) -> Share:
        """The precision by itself."""
        return Share(self.precision, self.low, self.high, self.needed)


def estimate(
    probability: Sequence[float] | npt.NDArray[np.floating],
    verdicts: Sequence[int] | npt.NDArray[np.integer],
) -> Estimate:
    """Return the precision of a list of pairs, from labels of some of them.

    precision = Σ_h (k_h + U_h)/N with U_h ~ Binomial(N_h - n_h, θ_h): of the N_h pairs of stratum h, n_h have a label,
    k_h of them are accepted; the others are right with chance θ_h. With w_h = N_h/N, θ_h has the posterior
    Beta(w_h/2 + k_h, w_h/2 + n_h - k_h).

    Parameters
    ----------
    probability : array of float, shape (n_pairs,)
        The method's, 0 to 1; NaN where it gives none: these pairs are one stratum.
    verdicts : array of int, shape (n_pairs,)
        As `twinlink.labels.book.label_codes` gives them: 1 accepted, 0 rejected, -1 no label.

    Returns
    -------
    Estimate

    Raises
    ------
    ShapeError
        If the two differ in length, or a verdict is another number.

    Notes
    -----
    Strata end at labelled pairs, so that each has some `_STRATUM_LABELS` labels. Pairs that are more probable than all
    labelled ones are a stratum without labels: of them nothing is known, θ_h ~ Beta(½, ½). So labels of the most
    doubtful pairs alone leave the interval wide, however many they are; labels in random order make it narrow soonest.

    Jeffreys' prior Beta(½, ½) counts as one label. Given to each of nine strata it would count as nine, half of them
    right, so it is shared among those with labels by their weight w_h.

    Examples
    --------
    >>> nothing_known = estimate([0.9] * 100, [-1] * 100)
    >>> round(nothing_known.low, 1), round(nothing_known.precision, 1), round(nothing_known.high, 1)
    (0.0, 0.5, 1.0)
    >>> estimate([0.9, 0.9], [1, 0]).precision  # all is known
    0.5
    """
    probabilities, codes = _checked(probability, verdicts)
    if not len(codes):
        return Estimate(0.5, 0.0, 1.0, 0, 0)
    n_labels = int((codes != UNLABELLED).sum())
    return Estimate(*_mean_and_interval(_precision_draws(probabilities, codes)), n_labels, len(codes))


def _precision_draws(probabilities: npt.NDArray[np.float64], codes: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
    """Draw from the posterior of the precision."""
    strata = _strata(probabilities, codes)
    sizes = np.bincount(strata)
    accepted = np.bincount(strata[codes == ACCEPTED], minlength=len(sizes))
    rejected = np.bincount(strata[codes == REJECTED], minlength=len(sizes))
    return _right(sizes, accepted, rejected) / len(codes)


def _mean_and_interval(draws: npt.NDArray[np.float64]) -> tuple[float, float, float]:

    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    mean = np.clip(draws.mean(), low, high)  # equal but for rounding where all have a label
    return float(mean), float(low), float(high)


def share_of(n_right: int, n: int) -> Share | None:
    """Estimate the share of right ones, given ``n_right`` of ``n`` drawn ones: Jeffreys' interval; None for n = 0.

    >>> print(share_of(48, 50))
    0.951 (95 % interval 0.878 to 0.992)

    Raises
    ------
    ShapeError
        If ``n_right`` is not between 0 and ``n``.
    """
    if not 0 <= n_right <= n:
        raise ShapeError(f"share: expected 0 to {n} right ones of {n}, got {n_right}")
    if not n:
        return None
    a, b = n_right + 0.5, n - n_right + 0.5
    low, high = _beta_interval(a, b)
    return Share(a / (a + b), low, high, labels_needed(a / (a + b)))


def harmonic_mean(pairs: pd.DataFrame, labels: Mapping[tuple[str, str], Label], recall: tuple[int, int]) -> Share:
    """Return F1 = 2PR/(P + R) of the pairs of a run: P as in `estimate_pairs`, R as in ``share_of(*recall)``."""
    probabilities, codes = _probabilities_and_codes(pairs, labels)
    precisions = _precision_draws(probabilities, codes) if len(codes) else np.zeros(_DRAWS)
    n_right, n = recall
    recalls = np.random.default_rng(_SEED + 1).beta(n_right + 0.5, n - n_right + 0.5, _DRAWS)
    f1 = 2 * precisions * recalls / np.maximum(precisions + recalls, np.finfo(float).tiny)
    return Share(*_mean_and_interval(f1))


def labels_needed(share: float, of: int | None = None) -> int:
    """Return the number of labels in random order needed for an interval of `MAX_INTERVAL_WIDTH`.

    Parameters
    ----------
    share : float
        Of right ones among those labelled, 0 to 1.
    of : int, optional
        All there are; none of them is left to chance when all have a label. Default: no end of them.

    Examples
    --------
    >>> labels_needed(0.5), labels_needed(0.95), labels_needed(0.5, 30)
    (41, 11, 17)
    """
    most = of if of is not None else 1_000
    return next((n for n in range(1, most) if _width(share, n, of) <= MAX_INTERVAL_WIDTH), most)


def _width(share: float, n: int, of: int | None) -> float:
    """Return about how wide the interval of n labels is."""
    low, high = _beta_interval(share * n + 0.5, (1 - share) * n + 0.5)
    return (high - low) * (1.0 if of is None else float(np.sqrt(1 - n / of)))  # finite population


def _beta_interval(a: float, b: float) -> tuple[float, float]:
    from scipy.special import betaincinv

    tail = (1 - _LEVEL) / 2
    return float(betaincinv(a, b, tail)), float(betaincinv(a, b, 1 - tail))


def estimate_pairs(pairs: pd.DataFrame, labels: Mapping[tuple[str, str], Label]) -> Estimate:
    """Return the precision of the pairs of a run, from the labels of those that are among them: see `estimate`.

    Parameters
    ----------
    pairs : DataFrame
        Columns of `twinlink.tables.PAIRS`, at least the two addresses and the probability.
    labels : mapping
        As `LabelBook.current` gives them. Labels of pairs that the run does not have (any more) count for nothing.
    """
    return estimate(*_probabilities_and_codes(pairs, labels))


def _probabilities_and_codes(
    pairs: pd.DataFrame, labels: Mapping[tuple[str, str], Label]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int8]]:
    probabilities = pairs["probability"].to_numpy(np.float64, na_value=np.nan)
    return probabilities, label_codes(pairs["url_a"], pairs["url_b"], labels)


def _checked(
    probability: Sequence[float] | npt.NDArray[np.floating], verdicts: Sequence[int] | npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int8]]:
    probabilities, codes = np.asarray(probability, np.float64), np.asarray(verdicts, np.int8)
    if probabilities.shape != codes.shape:
        raise ShapeError(f"precision: {len(probabilities)} probabilities, {len(codes)} verdicts")
    if others := set(np.unique(codes).tolist()) - {ACCEPTED, REJECTED, UNLABELLED}:
        expected = f"{ACCEPTED} accepted, {REJECTED} rejected, {UNLABELLED} no label"
        raise ShapeError(f"verdicts: expected {expected}, got {', '.join(map(str, sorted(others)))}")
    return probabilities, codes


def _strata(probabilities: npt.NDArray[np.float64], codes: npt.NDArray[np.int8]) -> npt.NDArray[np.intp]:
    """Return the number of each pair's stratum; those without a probability are the last."""
    is_told = ~np.isnan(probabilities)
    labelled = np.sort(probabilities[is_told & (codes != UNLABELLED)])
    n_strata = np.clip(len(labelled) // _STRATUM_LABELS, 1, _MAX_STRATA)
    shares = np.arange(1, n_strata + 1) / n_strata
    ends = np.unique(np.quantile(labelled, shares, method="lower")) if len(labelled) else np.zeros(0)
    strata = np.where(is_told, np.searchsorted(ends, probabilities, side="left"), len(ends) + 1)
    return np.unique(strata, return_inverse=True)[1]  # without empty ones


def _right(
    sizes: npt.NDArray[np.intp], accepted: npt.NDArray[np.intp], rejected: npt.NDArray[np.intp]
) -> npt.NDArray[np.float64]:
    """Draw from the posterior how many pairs are right."""
    rng = np.random.default_rng(_SEED)
    n_labels = accepted + rejected
    prior = np.where(n_labels > 0, sizes / sizes.sum(), 1.0) / 2
    chance = rng.beta(prior + accepted, prior + rejected, (_DRAWS, len(sizes)))
    drawn: npt.NDArray[np.float64] = accepted.sum() + rng.binomial(sizes - n_labels, chance).sum(axis=1)
    return drawn
