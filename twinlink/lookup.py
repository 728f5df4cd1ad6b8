"""Places of values in a column, by the hash tables of Arrow."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["distinct_values", "places_of"]

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


def _array(values: Column) -> pa.Array:
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks()
    return values if isinstance(values, pa.Array) else pa.array(values)
