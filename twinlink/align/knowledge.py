"""Statistics learned from alignments: lengths, words, and the frequency of each bead shape."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinlink.align.lengths import LengthModel
from twinlink.align.words.model import WordModel, WordSums


class ExpectedCounts(NamedTuple):
    """Expected counts of some alignments."""

    lengths: LengthModel
    shapes: NDArray[np.float64]
    words: WordSums


@dataclass
class Knowledge:
    """Sums of expected counts; parts are merged by `add`, in any grouping as long as no word pair is dropped."""

    shapes: NDArray[np.float64]
    """Number of beads of each shape."""
    lengths: LengthModel = field(default_factory=LengthModel)
    words: WordModel = field(default_factory=WordModel)

    @classmethod
    def empty(cls, n_shapes: int, max_pairs: int = 4_000_000) -> Knowledge:
        """Return empty statistics."""
        return cls(np.zeros(n_shapes), words=WordModel(max_pairs))

    def add(self, expected: ExpectedCounts) -> None:
        """Add the counts of some alignments."""
        self.lengths += expected.lengths
        self.shapes = self.shapes + expected.shapes
        self.words.add(expected.words)
