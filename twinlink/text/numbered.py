"""Texts by numbers: each distinct one gets a number, and matrices count them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import count

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.sparse import narrow

__all__ = ["incidence", "numbered", "numbered_by_breaks"]

Numbers = NDArray[np.int64]


def numbered(texts: Iterable[str]) -> tuple[Numbers, list[str]]:
    """Return the number of each text, and the distinct texts in the order of their first appearance.

    >>> numbers, distinct = numbered(["menu", "one", "menu"])
    >>> numbers.tolist(), distinct
    ([0, 1, 0], ['menu', 'one'])
    """
    ids: dict[str, int] = defaultdict(count().__next__)
    return np.fromiter(map(ids.__getitem__, texts), np.int64), list(ids)


def numbered_by_breaks(texts: Iterable[str]) -> tuple[Numbers, Numbers, list[str]]:
    r"""Return where the texts of each page begin, the number of each text, and the distinct texts.

    The texts of all pages are given in a row, with a line break at the end of each page.

    >>> starts, numbers, distinct = numbered_by_breaks(["menu", "one", "\n", "menu", "\n"])
    >>> starts.tolist(), numbers.tolist(), distinct
    ([0, 2, 3], [0, 1, 0], ['menu', 'one'])
    """
    ids: dict[str, int] = defaultdict(count().__next__, {"\n": -1})
    numbers = np.fromiter(map(ids.__getitem__, texts), np.int64)
    ends = np.flatnonzero(numbers < 0)
    starts = np.concatenate([[0], ends - np.arange(len(ends))])
    return starts, numbers[numbers >= 0], list(ids)[1:]


def incidence(starts: Numbers, columns: Numbers, n_columns: int) -> csr_array:
    """Return how often each row has each column, float32; the columns of a row in any order, repeated or not."""
    shape = (len(starts) - 1, n_columns)
    matrix = narrow(csr_array((np.ones(len(columns), np.float32), columns, starts), shape=shape))
    matrix.sum_duplicates()
    return matrix
