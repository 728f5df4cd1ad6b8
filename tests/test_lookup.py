"""Places of values beside dictionaries."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.lookup import SortedNumbers, distinct_values, places_of

NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)


@given(st.lists(NUMBERS, unique=True, max_size=20), st.lists(NUMBERS, max_size=20))
def test_places_equal_a_dictionary(among: list[int], values: list[int]) -> None:
    """Also of numbers that a double cannot hold."""
    place = {number: at for at, number in enumerate(among)}
    expected = [place.get(value, -1) for value in [*values, *among]]
    asked, column = pa.array([*values, *among], pa.int64()), pa.array(among, pa.int64())
    numbers = SortedNumbers.of(column)
    assert numbers.places(asked).tolist() == places_of(asked, column).tolist() == expected
    assert numbers.holds(asked).tolist() == [at >= 0 for at in expected]
    assert len(numbers) == len(among)


@pytest.mark.parametrize("among", [[], [0, 2**62 + 1]])
def test_a_null_has_no_place(among: list[int]) -> None:
    """Not that of the number 0, and beside nulls numbers keep all of their bits."""
    asked = pa.chunked_array([pa.array([None, 2**62], pa.int64()), pa.array([2**62 + 1], pa.int64())])
    assert SortedNumbers.of(pa.array(among, pa.int64())).places(asked).tolist() == [-1, -1, 1 if among else -1]


@given(st.lists(NUMBERS, max_size=20))
def test_distinct_values_in_the_order_of_their_first_appearance(values: list[int]) -> None:
    numbers, distinct = distinct_values(np.array(values, np.int64))
    assert distinct.tolist() == list(dict.fromkeys(values))
    assert distinct[numbers].tolist() == values
