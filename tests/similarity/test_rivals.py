"""Rivals against a double loop over the candidates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from twinlink.errors import ShapeError
from twinlink.similarity import rivals
from twinlink.similarity.rivals import ALL, FEW_CANDIDATES, Rivalry, _best_of_many


def made_pattern(rng: np.random.Generator, n_a: int, n_b: int, share: float = 0.5) -> csr_array:
    return csr_array(rng.random((n_a, n_b)) < share)


def plain_rivals(rows: list[int], columns: list[int], values: list[float]) -> list[float]:
    result = []
    for k, (row, column) in enumerate(zip(rows, columns, strict=True)):
        best = 0.0
        for other, value in enumerate(values):
            if other != k and (rows[other] == row or columns[other] == column):
                best = max(best, value)
        result.append(best)
    return result


@pytest.fixture(params=["numpy", "machine code"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few candidates are computed in either way: it depends on what the process has done before."""
    monkeypatch.setattr(rivals, "code_runs", lambda: request.param == "machine code")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # it is the same for all examples
@given(st.integers(0, 2**32 - 1), st.integers(0, 8), st.integers(0, 8), st.floats(0, 1), st.integers(1, 6))
def test_equals_a_double_loop_with_many_ties(seed: int, n_a: int, n_b: int, share: float, n_values: int) -> None:
    rng = np.random.default_rng(seed)
    pattern = made_pattern(rng, n_a, n_b, share)
    rivalry = Rivalry(pattern)
    values = rng.integers(0, n_values, pattern.nnz) / 4
    entries = pattern.tocoo()
    assert rivalry.rows.tolist() == entries.row.tolist()
    assert rivalry.columns.tolist() == entries.col.tolist()
    expected = plain_rivals(entries.row.tolist(), entries.col.tolist(), values.tolist())
    assert rivalry.rivals(values).tolist() == expected
    for narrow in (values, values.astype(np.float32)):
        assert _best_of_many(rivalry.row_starts, rivalry.narrow_columns, narrow, ALL, n_b).tolist() == expected


@pytest.mark.parametrize("few", [0, FEW_CANDIDATES])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_removed_candidates_count_as_zero(few: int, seed: int, n_values: int) -> None:
    rng = np.random.default_rng(seed)
    rivalry = Rivalry(made_pattern(rng, 6, 5))
    values, left = rng.integers(0, n_values, len(rivalry.rows)) / 4, rng.random(len(rivalry.rows)) < 0.6
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rivals, "FEW_CANDIDATES", few)
        assert rivalry.rivals(values, left).tolist() == rivalry.rivals(values * left).tolist()


def test_a_candidate_alone_in_row_and_column_has_no_rival() -> None:
    assert Rivalry(csr_array(np.eye(3))).rivals(np.array([0.2, 0.0, 1.0])).tolist() == [0, 0, 0]


def test_equal_best_candidates_are_each_others_rivals() -> None:
    assert Rivalry(csr_array(np.ones((1, 3)))).rivals(np.array([0.5, 0.5, 0.1])).tolist() == [0.5, 0.5, 0.5]


def test_only_stored_entries_are_candidates_whatever_their_values() -> None:
    pattern = csr_array((np.zeros(2), [0, 1], [0, 2, 2]), shape=(2, 3))
    assert Rivalry(pattern).rivals(np.array([0.3, 0.7])).tolist() == [0.7, 0.3]


@pytest.mark.parametrize("n", [2, FEW_CANDIDATES + 1])
def test_rivals_have_the_type_of_the_values(n: int) -> None:
    for kind in (np.float32, np.float64):
        assert Rivalry(csr_array(np.ones((1, n)))).rivals(np.ones(n, kind)).dtype == kind


def test_values_are_not_changed() -> None:
    values = np.array([0.9, 0.5, 0.7, 0.1])
    Rivalry(csr_array(np.ones((2, 2)))).rivals(values)
    assert values.tolist() == [0.9, 0.5, 0.7, 0.1]


@given(st.integers(0, 2**32 - 1))
def test_exchanging_the_sides_exchanges_nothing_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pattern = made_pattern(rng, 5, 4)
    values = rng.random(pattern.nnz)
    forth = csr_array((Rivalry(pattern).rivals(values), pattern.indices, pattern.indptr), shape=pattern.shape)
    turned = csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape).T.tocsr()
    back = csr_array((Rivalry(turned).rivals(turned.data), turned.indices, turned.indptr), shape=turned.shape)
    assert np.array_equal(forth.toarray(), back.toarray().T)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (3, 3)])
def test_no_candidates(shape: tuple[int, int]) -> None:
    rivalry = Rivalry(csr_array(shape))
    assert rivalry.shape == shape
    assert rivalry.rivals(np.zeros(0)).shape == (0,)


def test_patterns_in_another_order_are_refused() -> None:
    with pytest.raises(ShapeError, match="pattern: expected a csr_array of two dimensions, got csc_array"):
        Rivalry(csr_array(np.eye(2)).T)


@pytest.mark.parametrize(("values", "left"), [(np.ones(3), None), (np.ones(4), np.ones(5, np.bool_))])
def test_arrays_must_have_one_value_for_each_candidate(values: np.ndarray, left: np.ndarray | None) -> None:
    with pytest.raises(ShapeError, match="as the candidates have it"):
        Rivalry(csr_array(np.ones((2, 2)))).rivals(values, left)
