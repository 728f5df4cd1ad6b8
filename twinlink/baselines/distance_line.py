"""Threshold of the tag distance: a line over the number of tags, fitted on right and wrong pairs.

WebMining's accepted distance grows with the number of tags of the larger page (Tomás et al., Figure 3, drawn over
marked pairs by eye). Here the line is found by a rule.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from twinlink.errors import ShapeError

__all__ = ["DistanceLine", "fit_line", "shifted_partners"]

Values = NDArray[np.float64]
Numbers = NDArray[np.int64]

_INTERCEPTS = 32
_SHARE = 0.95
_DIGITS = 12
"""Decimals of a slope: 7.8 for 39 tags and 24 for 120 differ only by rounding, and no line goes between them."""


class DistanceLine(msgspec.Struct, frozen=True):
    """Accepted tag distance: ``intercept + slope·t`` where t is the number of tags of the larger page."""

    intercept: float
    slope: float
    n_right: int = 0
    """Examples of right pairs that it was fitted on."""
    n_wrong: int = 0
    """Examples of wrong pairs."""
    separation: float = float("nan")
    """Share of the right examples under the line less that of the wrong ones. Near 0 structure cannot tell the pages
    apart. NaN without wrong examples."""

    def at(self, tags: ArrayLike) -> Values:
        """Return the largest accepted distance for pages of so many tags."""
        return self.intercept + self.slope * np.asarray(tags, np.float64)


def fit_line(tags: ArrayLike, distances: ArrayLike, right: ArrayLike, share: float = _SHARE) -> DistanceLine:
    """Fit the line ``d = intercept + slope·t`` under which pairs are accepted; neither number is negative.

    With right and wrong examples: the line with the largest separation, share of the right ones on or under it less
    share of the wrong ones (Youden's J); of several the one with the smaller intercept, then the smaller slope. It is
    then turned halfway up to the next example. With right examples only: the line with the lowest mean over them that
    has ``share`` of them on or under it. Intercepts tried are 0 and quantiles of the right distances.

    Parameters
    ----------
    tags : array_like of int, shape (n,)
        Tags of the larger page of each example.
    distances : array_like of float, shape (n,)
    right : array_like of bool, shape (n,)
    share : float in [0, 1], default 0.95
        Not in the paper: in Figure 3 the line leaves a few right pairs out.

    Returns
    -------
    DistanceLine
        0 everywhere when there is no right example.

    Raises
    ------
    ShapeError
        If the arrays differ in length.

    Examples
    --------
    >>> line = fit_line([10, 20, 30, 30], [1, 2, 3, 9], [True, True, True, False])
    >>> line.intercept, round(line.slope, 3), line.separation
    (0.0, 0.2, 1.0)
    """
    t, d = np.maximum(np.asarray(tags, np.float64), 1), np.asarray(distances, np.float64)
    good = np.asarray(right, np.bool_)
    if not t.shape == d.shape == good.shape:
        raise ShapeError(f"expected arrays of one length, got {t.shape}, {d.shape} and {good.shape}")
    n_right = int(good.sum())
    n_wrong = len(good) - n_right
    if not n_right:
        return DistanceLine(0.0, 0.0, 0, n_wrong)
    intercepts = np.unique([0.0, *np.quantile(d[good], np.linspace(0, 1, _INTERCEPTS))]).tolist()
    if not n_wrong:
        lines = [(a, _covering_slope(t, d - a, share)) for a in intercepts]
        lowest = min(lines, key=lambda line: line[0] + line[1] * t.mean())
        return DistanceLine(*lowest, n_right)
    found = [(a, *_separating_slope(np.maximum(d - a, 0) / t, good)) for a in intercepts]
    intercept, slope, separation = max(found, key=lambda line: line[2])
    return DistanceLine(intercept, slope, n_right, n_wrong, separation)


def _covering_slope(t: Values, above: Values, share: float) -> float:
    slopes = np.maximum(above, 0) / t
    return float(np.quantile(slopes, share, method="higher")) * (1 + 1e-9)


def _separating_slope(slopes: Values, right: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope under which the share of the right ones exceeds that of the wrong ones by most, and by how much."""
    levels, level = np.unique(np.round(slopes, _DIGITS), return_inverse=True)
    n_right = np.bincount(level[right], minlength=len(levels)).cumsum()
    n_wrong = np.bincount(level[~right], minlength=len(levels)).cumsum()
    gains = n_right / n_right[-1] - n_wrong / n_wrong[-1]
    best = int(gains.argmax())
    slope = (levels[best] + levels[best + 1]) / 2 if best + 1 < len(levels) else levels[best] * (1 + 1e-9)
    return float(slope), float(gains[best])


def shifted_partners(rows: Numbers, columns: Numbers, tags: Numbers) -> tuple[Numbers, Numbers]:
    """Return pairs known to be wrong: each page with the partner of the next pair in size, and the other way.

    Of pages that are each other's translation nothing is known, but if (i, j) and (i', j') are right pairs, (i, j') and
    (i', j) are wrong. Taking neighbours in size gives wrong pairs that no size filter would find.

    Parameters
    ----------
    rows, columns : ndarray of int, shape (n,)
        Pairs, no page twice.
    tags : ndarray of int, shape (n,)
        Size of each pair.

    Returns
    -------
    two ndarray of int, shape (2·(n − 1),), empty for n < 2

    Examples
    --------
    >>> [pages.tolist() for pages in shifted_partners(np.array([0, 1]), np.array([5, 6]), np.array([30, 20]))]
    [[1, 0], [5, 6]]
    """
    order = np.argsort(tags, kind="stable")
    before, after = order[:-1], order[1:]
    return np.concatenate([rows[before], rows[after]]), np.concatenate([columns[after], columns[before]])
