"""The order in which a greedy matching takes the stored entries of a similarity matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["greedy_order"]


def greedy_order(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the positions of ``scores`` by descending score, then by position.

    For the data of a ``csr_array`` with sorted rows this is the order by descending score, then row, then column.

    Parameters
    ----------
    scores : array of float32, shape (n,), no value negative or NaN
        Fewer than 2**32.

    Returns
    -------
    array of int64, shape (n,)

    Examples
    --------
    >>> greedy_order(np.array([0.0, 0.5, 1.0, 0.5], dtype=np.float32)).tolist()
    [2, 1, 3, 0]
    """
    # The bits of a nonnegative float increase with its value. Score and position are packed into one integer, which
    # sorts about twice as fast as a stable argsort. Adding 0 turns -0.0 into 0.0.
    bits = (scores + np.float32(0)).view(np.uint32).astype(np.uint64)
    keys = ((np.uint64(2**32 - 1) - bits) << np.uint64(32)) | np.arange(scores.size, dtype=np.uint64)
    keys.sort()
    return (keys & np.uint64(2**32 - 1)).astype(np.int64)
