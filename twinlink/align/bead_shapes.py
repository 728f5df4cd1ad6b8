"""Shapes of beads: numbers of sentences of a and of b."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

from twinlink.errors import ConfigError

GALE_CHURCH_SHAPES = {"1-1": 0.89, "1-0": 0.00495, "0-1": 0.00495, "2-1": 0.0445, "1-2": 0.0445, "2-2": 0.011}
"""Shapes and their probabilities in Gale & Church 1993, table 5."""
SHAPES = {
    "1-1": 0.80,
    "1-0": 0.03,
    "0-1": 0.03,
    "2-1": 0.05,
    "1-2": 0.05,
    "2-2": 0.015,
    "3-1": 0.008,
    "1-3": 0.008,
    "3-2": 0.003,
    "2-3": 0.003,
    "4-1": 0.0015,
    "1-4": 0.0015,
    "4-0": 0.002,
    "0-4": 0.002,
    "8-0": 0.001,
    "0-8": 0.001,
}
"""Start values of the probabilities; they are learned on the texts. The last four are runs of sentences
without partner (captions, notes), which often follow each other. They are returned one by one."""


class BeadShapes(msgspec.Struct, frozen=True):
    """Some shapes with start values for their probabilities."""

    names: tuple[str, ...]
    array: NDArray[np.int64]
    """Sentences of a and of b: shape (shapes, 2)."""
    start: NDArray[np.float64]
    """Probabilities, together 1."""

    @property
    def most(self) -> tuple[int, int]:
        """Maximum numbers of sentences of a and of b in a two-sided bead."""
        both = self.array[self.array.min(axis=1) > 0]
        return (int(both[:, 0].max()), int(both[:, 1].max())) if len(both) else (1, 1)

    @classmethod
    def of(cls, probabilities: Mapping[str, float]) -> BeadShapes:
        """Read shapes by their names.

        Raises
        ------
        ConfigError
            If a name is not a shape, or 1-0 or 0-1 is missing, without which some texts cannot be aligned.

        Examples
        --------
        >>> BeadShapes.of({"1-1": 8, "1-0": 1, "0-1": 1}).start.tolist()
        [0.8, 0.1, 0.1]
        """
        if not {"1-0", "0-1"} <= set(probabilities):
            raise ConfigError(f"bead shapes must have 1-0 and 0-1, got {', '.join(probabilities)}")
        try:
            sizes = [[int(part) for part in name.split("-")] for name in probabilities]
            array = np.array(sizes, np.int64).reshape(len(probabilities), 2)
        except ValueError:
            raise ConfigError(f"bead shapes are named like 2-1, got {', '.join(probabilities)}") from None
        if array.min() < 0 or array.sum(axis=1).min() < 1:
            raise ConfigError(f"a bead needs a sentence, got {', '.join(probabilities)}")
        start = np.array(list(probabilities.values()), np.float64)
        return cls(tuple(probabilities), array, start / start.sum())

    def log_priors(self, counts: NDArray[np.float64], strength: float = 50.0) -> NDArray[np.float64]:
        """Return log probabilities after some beads: the start values count as ``strength`` beads."""
        return np.asarray(np.log((counts + strength * self.start) / (counts.sum() + strength)))
