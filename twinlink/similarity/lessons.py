"""Labels as training data: rows for the model, and pairs for the calibration of its probabilities.

A labelled pair is fixed: the candidates that it excludes cannot be chosen. As a training row it keeps all its
rivals, as if there were no labels: without them it would look better than any unlabelled pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.standings import standings_of

__all__ = ["Lessons", "taught_rows"]

Floats = NDArray[np.float64]
Values = NDArray[np.floating]
"""Float32 or float64."""
Marks = NDArray[np.bool_]
Positions = NDArray[np.intp]

WEIGHT = 3
"""Weight of a label, relative to a clear pair. Trials on five sites: with 10 twenty labels can cost .07 of F1, with 1
they teach half as much."""
LEAST_LABELS = 5
"""Minimum number of labels to learn from. One rejected pair of a site of five would make all others doubtful."""
FOLDS = 5
"""Number of folds. A labelled pair gets its held-out probability from a model trained on the other folds. Our
choice, not tuned."""


class Lessons(msgspec.Struct, frozen=True, eq=False):
    """Labels of candidates; all arrays have shape (n_candidates,)."""

    accepted: Marks
    rejected: Marks
    barred: Marks
    """Candidates that labels exclude: the rejected ones, and the others of an accepted pair's pages."""

    @property
    def labelled(self) -> Positions:
        """Positions of accepted and rejected candidates."""
        return np.flatnonzero(self.accepted | self.rejected)

    @property
    def can_teach(self) -> bool:
        """Whether there are at least `LEAST_LABELS` labels; candidates are excluded in any case."""
        return len(self.labelled) >= LEAST_LABELS

    def without_rejected(self, kinds: Mapping[str, Values]) -> dict[str, Values]:
        """Return evidence with 0 for rejected pairs, which are not rivals.

        A page that is accepted with another page stays a rival, like any page with a partner.
        """
        return {name: np.where(self.rejected, 0.0, values) for name, values in kinds.items()}

    def with_labels(self, odds: Floats, most: float) -> Floats:
        """Return log odds with ``most`` for accepted pairs, and ``-most`` for rejected ones."""
        labelled: Floats = np.where(self.accepted, most, np.where(self.rejected, -most, odds))
        return labelled

    def without_barred(self, odds: Floats) -> Floats:
        """Return log odds with ``-inf`` for candidates that must not be chosen."""
        open_: Floats = np.where(self.barred, -np.inf, odds)
        return open_

    def folds(self) -> Iterator[tuple[Positions, Lessons]]:
        """Yield `FOLDS` folds of the labelled candidates (one each if there are fewer), and the lessons of the others.

        Excluded candidates stay excluded.
        """
        labelled = np.random.default_rng(0).permutation(self.labelled)
        for k in range(min(FOLDS, len(labelled))):
            others = np.ones(len(self.barred), np.bool_)
            others[labelled[k::FOLDS]] = False
            yield labelled[k::FOLDS], Lessons(self.accepted & others, self.rejected & others, self.barred)


def taught_rows(kinds: Mapping[str, Values], rivalry: Rivalry, lessons: Lessons) -> tuple[Floats, Floats, Positions]:
    """Return training rows from labels: standings among all rivals (`standings_of`), targets (1: right), and positions.

    Accepted pairs are right; rejected ones and the other candidates of accepted pages are wrong. Each row is
    repeated `WEIGHT` times.
    """
    of_row, of_column = rivalry.pages(np.flatnonzero(lessons.accepted))
    known = np.flatnonzero(of_row[rivalry.rows] | of_column[rivalry.columns] | lessons.rejected)
    right = lessons.accepted[known].astype(np.float64)
    x = standings_of(kinds, rivalry, known)
    return np.tile(x, (WEIGHT, 1)), np.tile(right, WEIGHT), np.tile(known, WEIGHT)
