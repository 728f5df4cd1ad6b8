"""Binary search of keys in a sorted array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["find_keys"]

Numbers = NDArray[np.int64]


def find_keys(keys: Numbers, among: Numbers) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Find keys among others: return their positions, and whether they are found.

    Parameters
    ----------
    keys : ndarray of int64, shape (n,)
    among : ndarray of int64, rising

    Returns
    -------
    places : ndarray of int, shape (n,)
        Undefined where a key is not found.
    found : ndarray of bool, shape (n,)
    """
    places = np.minimum(np.searchsorted(among, keys), max(len(among) - 1, 0))
    return places, among[places] == keys if len(among) else np.zeros(len(keys), np.bool_)
