"""The shape of a page: input of the methods that compare structure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["PageShape"]


class PageShape(NamedTuple):
    """Linearised page (`twinlink.pages.linearise`) and its size."""

    tokens: npt.NDArray[np.int32]
    words: npt.NDArray[np.int32]
    n_bytes: int
    """Size of the page's body."""
