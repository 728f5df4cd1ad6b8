"""Places of values in a column: by the hash tables of Arrow, or in numbers that are sorted once."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from twinlink.sorted_keys import find_keys

__all__ = ["SortedNumbers", "distinct_values", "places_of"]

Column: TypeAlias = "pa.Array | pa.ChunkedArray | NDArray[Any]"


def places_of(values: Column, among: Column) -> NDArray[np.int64]:
    """Return where each value stands among distinct values; -1 where it does not.

    >>> places_of(np.array([7, 5, 9]), among=np.array([5, 7])).tolist()
    [1, 0, -1]
    """
    places = pc.index_in(_array(values), value_set=_array(among))
    return np.asarray(pc.fill_null(places, -1).to_numpy(zero_copy_only=False), np.int64)


def distinct_values(values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the number of each value among the distinct ones, and these in the order of their first appearance.

    >>> distinct_values(np.array([7, 5, 7]))
    (array([0, 1, 0]), array([7, 5]))
    """
    encoded = pa.array(values).dictionary_encode()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary.to_numpy()


class SortedNumbers(msgspec.Struct, frozen=True):
    """Distinct numbers that are sorted once, so that each of many lookups costs only what it asks for.

    Attributes
    ----------
    ascending : ndarray of int64, shape (n,)
        The numbers.
    order : ndarray of int64, shape (n,)
        Where each of these stands in the column that they come from.

    Examples
    --------
    >>> numbers = SortedNumbers.of(pa.array([7, 5]))
    >>> numbers.places(pa.array([5, 9, None, 7])).tolist()
    [1, -1, -1, 0]
    """

    ascending: NDArray[np.int64]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, numbers: pa.Array | pa.ChunkedArray) -> SortedNumbers:
        """Sort a column of distinct numbers without nulls."""
        values = _array(numbers).to_numpy(zero_copy_only=False)
        order = np.argsort(values)
        return cls(values[order], order)

    def __len__(self) -> int:
        """Return how many numbers there are."""
        return len(self.order)

    def places(self, values: Column) -> NDArray[np.int64]:
        """Return where each value stands in the column; -1 where it does not, and for a null."""
        column = _array(values)
        if not len(self):
            return np.full(len(column), -1)
        given = pc.fill_null(column, 0).to_numpy(zero_copy_only=False)
        at, is_there = find_keys(given, self.ascending)
        return np.where(is_there & pc.is_valid(column).to_numpy(zero_copy_only=False), self.order[at], -1)

    def holds(self, values: Column) -> NDArray[np.bool_]:
        """Return whether each value is one of the numbers."""
        return self.places(values) >= 0


def _array(values: Column) -> pa.Array:
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks()
    return values if isinstance(values, pa.Array) else pa.array(values)
