"""Length model of sentence pairs.

With x = log l_a and y = log l_b in characters, the difference d = y - x of two sentences that are translations of each
other is normal with variance ``v / l``, l = (l_a + l_b)/2 (Gale & Church 1993, section 3.2, have the same growth with
the length); without partner x and y are normal by themselves. So a 1-1 bead scores

    log p(d) - (log p_a(x) + log p_b(y))/2

which is above 0 where the lengths fit better than those of sentences met by chance. A side of several sentences counts
as one of their total length L, cut up at places of its own: p(l_1 … l_n) = p(L)·(n-1)!/L^(n-1).
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["START_VARIANCE", "LengthModel", "fit_alone"]

START_VARIANCE = 6.8
"""s² of Gale & Church 1993, section 3.2: the variance for each character."""
LEAST_DENSITY = 0.01
"""Minimum density of any difference: one of 100 translations may have any length. Our choice."""
PRIOR_BEADS = 20
"""Weight of the start values, in beads. Our choice."""

Floats = NDArray[np.float64]


class LengthModel(msgspec.Struct, frozen=True):
    """Mean and variance of the difference of lengths, learned from beads: sums, so that models of parts add up."""

    weight: float = 0.0
    difference: float = 0.0
    """Σ weight·l·d: long sentences say more."""
    length: float = 0.0
    square: float = 0.0
    """Σ weight·l·d²."""

    @property
    def mean(self) -> float:
        """Mean of d: how much longer b is than a."""
        return self.difference / self.length if self.length else 0.0

    @property
    def variance(self) -> float:
        """Variance of d for each character."""
        inner = self.square - self.length * self.mean**2
        return (max(inner, 0.0) + PRIOR_BEADS * START_VARIANCE) / (self.weight + PRIOR_BEADS)

    def __add__(self, other: LengthModel) -> LengthModel:
        """Return the sum of both models."""
        return LengthModel(
            self.weight + other.weight,
            self.difference + other.difference,
            self.length + other.length,
            self.square + other.square,
        )

    def array(self, mean: float | None = None) -> Floats:
        """Return the parameters for the kernel: mean, variance, floor of the density."""
        return np.array([self.mean if mean is None else mean, self.variance, LEAST_DENSITY])

    @classmethod
    def of(cls, lengths_a: Floats, lengths_b: Floats, weights: Floats) -> LengthModel:
        """Learn from beads with both sides."""
        d = np.log(lengths_b / lengths_a)
        size = (lengths_a + lengths_b) / 2
        return cls(
            float(weights.sum()),
            float((weights * size * d).sum()),
            float((weights * size).sum()),
            float((weights * size * d * d).sum()),
        )


def fit_alone(lengths: Floats) -> Floats:
    """Return log p(x) - x for each sentence, x normal by the sentences at hand.

    The ``- x`` turns the density of the logarithm into that of the length, see the kernel.
    """
    x = np.log(lengths)
    mean, variance = x.mean(), x.var() + 0.1
    return np.asarray(-((x - mean) ** 2) / (2 * variance) - np.log(2 * np.pi * variance) / 2 - x)
