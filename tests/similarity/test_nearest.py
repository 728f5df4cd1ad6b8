"""The best candidate of each page against a search over the dense matrix."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from twinlink.similarity.nearest import best_candidates
from twinlink.sparse import entries

CELL = st.sampled_from([None, 0.0, 1.0, 2.0, float("inf"), float("nan")])
TABLE = st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(CELL, min_size=n, max_size=n), min_size=1, max_size=5))


def matrix(table: list[list[float | None]]) -> csr_array:
    """Stored entries are those that are not None, zeros too."""
    places = [(i, j) for i, row in enumerate(table) for j, value in enumerate(row) if value is not None]
    values = np.array([table[i][j] for i, j in places], np.float64)
    rows, columns = np.array(places, np.int64).reshape(-1, 2).T
    return csr_array((values, (rows, columns)), shape=(len(table), len(table[0])))


def first_lowest(values: list[float | None]) -> int | None:
    usable = [(value, k) for k, value in enumerate(values) if value is not None and np.isfinite(value)]
    return min(usable)[1] if usable else None


@given(TABLE)
def test_equals_the_search_in_every_row_and_column(table: list[list[float | None]]) -> None:
    distances = matrix(table)
    stored = list(zip(*(pages.tolist() for pages in entries(distances)), strict=True))
    of_row = [first_lowest(table[i]) == j for i, j in stored]
    of_column = [first_lowest([row[j] for row in table]) == i for i, j in stored]
    assert best_candidates(distances, "rows").tolist() == of_row
    assert best_candidates(distances, "columns").tolist() == of_column
    assert best_candidates(distances, "either").tolist() == [x or y for x, y in zip(of_row, of_column, strict=True)]
    assert best_candidates(distances).tolist() == [x and y for x, y in zip(of_row, of_column, strict=True)]


def test_ties_go_to_the_first_page_whatever_the_order_of_storage() -> None:
    distances = csr_array((np.array([1.0, 1.0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    assert best_candidates(distances, "rows").tolist() == [False, True]


def test_nothing_stored() -> None:
    assert best_candidates(csr_array((3, 2))).tolist() == []
