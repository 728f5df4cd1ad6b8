"""What labels teach: rows for the model, and pairs whose chance can be held against what people said.

A labelled pair is settled: what it excludes cannot be chosen. But it teaches as it stands when nobody has labelled
anything, beside all its rivals: without these it would look better than any pair that is to be judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.standings import standings_of

__all__ = ["Lessons", "taught_rows"]

Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]
Positions = NDArray[np.intp]

WEIGHT = 3
"""How often what a label says counts, where a clear pair counts once. Trials on five sites: with 10 twenty labels can
cost .07 of F1, with 1 they teach half as much."""
LEAST_LABELS = 5
"""Labels that teach. One rejected pair of a site of five would make all others doubtful."""
FOLDS = 5
"""Parts of the labels. How sure the site is of a labelled pair is told by what the other parts teach. Ours, not
tuned."""


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """What people said of candidates; all arrays have shape (n_candidates,)."""

    accepted: Marks
    rejected: Marks
    barred: Marks
    """Candidates that labels exclude: the rejected ones, and the others of an accepted pair's pages."""

    @property
    def labelled(self) -> Positions:
        """Positions of the accepted and the rejected candidates."""
        return np.flatnonzero(self.accepted | self.rejected)

    @property
    def can_teach(self) -> bool:
        """Whether there are `LEAST_LABELS`; what excludes candidates does so in any case."""
        return len(self.labelled) >= LEAST_LABELS

    def heard(self, kinds: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return evidence that is 0 for rejected pairs: these are no rivals.

        A page that is accepted with another one stays a rival, as pages with a partner are everywhere.
        """
        return {name: np.where(self.rejected, 0.0, values) for name, values in kinds.items()}

    def told(self, odds: Floats, most: float) -> Floats:
        """Return log odds with ``most`` for accepted pairs, and ``-most`` for rejected ones."""
        told: Floats = np.where(self.accepted, most, np.where(self.rejected, -most, odds))
        return told

    def open(self, odds: Floats) -> Floats:
        """Return log odds with ``-inf`` for candidates that must not be chosen."""
        open_: Floats = np.where(self.barred, -np.inf, odds)
        return open_

    def parts(self) -> Iterator[tuple[Positions, Lessons]]:
        """Yield `FOLDS` parts of the labelled candidates (one each, if they are fewer), and the lessons of the others.

        What is barred stays barred.
        """
        labelled = np.random.default_rng(0).permutation(self.labelled)
        for k in range(min(FOLDS, len(labelled))):
            others = np.ones(len(self.barred), np.bool_)
            others[labelled[k::FOLDS]] = False
            yield labelled[k::FOLDS], Lessons(self.accepted & others, self.rejected & others, self.barred)


def taught_rows(kinds: Mapping[str, Floats], rivalry: Rivalry, lessons: Lessons) -> tuple[Floats, Floats, Positions]:
    """Return what a model learns from labels: standings beside all rivals, 1 where they are right, and their positions.

    Accepted pairs are right; rejected ones and the other candidates of accepted pages are wrong. Each row stands there
    `WEIGHT` times.
    """
    of_row, of_column = rivalry.pages(np.flatnonzero(lessons.accepted))
    known = np.flatnonzero(of_row[rivalry.rows] | of_column[rivalry.columns] | lessons.rejected)
    right = lessons.accepted[known].astype(np.float64)
    x = standings_of(kinds, rivalry, known)
    return np.tile(x, (WEIGHT, 1)), np.tile(right, WEIGHT), np.tile(known, WEIGHT)
