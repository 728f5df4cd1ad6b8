"""Pairs of which nothing is known but their log odds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twinlink.similarity.discriminant import Evidence, Measured


def bare(odds: NDArray[np.float64]) -> Measured:
    """Return pairs with these log odds and no other evidence."""
    return Measured(odds, Evidence(np.zeros(len(odds)), np.zeros((len(odds), 0))))
