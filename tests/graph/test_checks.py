"""Matrices that are checked: how many entries they may have, and that nothing is copied without need."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from twinlink.errors import ShapeError
from twinlink.graph import checks
from twinlink.graph.checks import MAX_ENTRIES, check_neighbours, check_scores
from twinlink.graph.kernels import Index


def test_the_kernels_can_number_all_entries_from_one() -> None:
    """The end of a range over them is one more, and just fits."""
    assert np.iinfo(Index).max == MAX_ENTRIES + 1


def test_more_entries_than_can_be_numbered_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = csr_array(np.full((1, 4), 0.5, np.float32))
    monkeypatch.setattr(checks, "MAX_ENTRIES", 4)
    assert check_scores(scores).nnz == 4
    monkeypatch.setattr(checks, "MAX_ENTRIES", 3)
    with pytest.raises(ShapeError, match="expected at most 3 stored entries, got 4"):
        check_scores(scores)


def test_scores_from_0_to_1_are_not_copied() -> None:
    scores = csr_array(([0.0, 1.0], [0, 1], [0, 1, 2]), shape=(2, 2), dtype=np.float32)
    assert np.shares_memory(check_scores(scores).data, scores.data)


def test_rounding_errors_are_clipped_in_a_copy() -> None:
    scores = csr_array(np.array([[-1e-7, 1 + 2e-7]], np.float32))
    before = scores.data.copy()
    assert check_scores(scores).data.tolist() == [0.0, 1.0]
    assert scores.data.tolist() == before.tolist()


def test_stored_zeros_are_no_neighbours() -> None:
    """They are removed in a copy, those of a page to itself as well."""
    neighbours = csr_array(([0.0, 1.0, 0.0], [0, 1, 0], [0, 2, 3]), shape=(2, 2), dtype=np.float32)
    checked = check_neighbours(neighbours, 2, "neighbours")
    assert (checked.nnz, checked.toarray().tolist()) == (1, [[0, 1], [0, 0]])
    assert neighbours.nnz == 3


def test_neighbours_without_zeros_are_not_copied() -> None:
    neighbours = csr_array(np.array([[0, 1], [1, 0]], np.bool_))
    assert np.shares_memory(check_neighbours(neighbours, 2, "neighbours").data, neighbours.data)


def test_no_page_is_its_own_neighbour() -> None:
    with pytest.raises(ShapeError, match="its own neighbour"):
        check_neighbours(csr_array(np.eye(2, dtype=np.float32)), 2, "neighbours")


def test_neighbours_do_not_count_more_than_once() -> None:
    """The number of links is no weight: any value but 0 is a neighbour."""
    neighbours = csr_array(np.array([[0, 7], [-1, 0]]))
    assert check_neighbours(neighbours, 2, "neighbours").data.tolist() == [True, True]
