"""The shape of a page: what the methods that compare structure know of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["PageShape"]


class PageShape(NamedTuple):
    """A page as the structural methods see it (`twinlink.pages.linearise`)."""

    tokens: npt.NDArray[np.int32]
    words: npt.NDArray[np.int32]
    n_bytes: int
    """Size of the page's body."""
