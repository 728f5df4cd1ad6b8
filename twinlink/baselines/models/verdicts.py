"""Verdicts of a model on a set of pairs."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

from twinlink.similarity.filter_checks import Check


class Verdicts(msgspec.Struct, frozen=True, eq=False):
    """Verdict and score of each pair; the arrays have one value per pair."""

    score: NDArray[np.float64]
    """The higher, the surer that the pair is parallel; above 0 if that is the verdict. What it measures is for each
    model to say, so scores of two models or two sets are not comparable."""
    found: Mapping[str, float] = msgspec.field(default_factory=dict)
    """What the model found on the set, by name, such as ``mean`` and ``threshold``."""
    notes: tuple[str, ...] = ()
    """Rules for odd sets that stepped in, one word each, such as ``no-equal-pair``."""
    checks: tuple[Check, ...] = ()
    """The numbers that the model compared with bounds."""

    @property
    def parallel(self) -> NDArray[np.bool_]:
        """Which pairs are parallel."""
        return self.score > 0

    def __len__(self) -> int:
        return len(self.score)
