"""Standings and the sums of the logistic regression against products of matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit

from twinlink.similarity import weighing_kernels
from twinlink.similarity.weighing_kernels import (
    _contributions_of_many,
    _standardise_few,
    _standardise_many,
    _sums_by_columns,
    _sums_of_few,
    add_standings,
    contributions,
    logistic_sums,
    write_standings,
)
from twinlink.system.side_by_side import on_cores


def evidence_and_rivals(
    rng: np.random.Generator, n: int, dtype: type[np.floating]
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Return evidence of candidates and that of their best rivals: some is 0, some rivals are equal, without a lead."""
    values, rivals = ((rng.random(n) * (rng.random(n) < 0.7)).astype(dtype) for _ in range(2))
    rivals[::9] = values[::9]
    return values, rivals


@given(st.integers(0, 2**32 - 1), st.integers(0, 30), st.integers(1, 11), st.floats(0, 20))
def test_equals_products_of_matrices(seed: int, n_rows: int, n_columns: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    z, y = rng.normal(size=(n_rows, n_columns)), (rng.random(n_rows) < 0.5).astype(float)
    weights = rng.normal(size=n_columns) * size
    p = expit(np.clip(z @ weights, -30, 30))
    for sums in (logistic_sums, _sums_of_few, _sums_by_columns):
        gradient, curvature = sums(z, y, weights)
        np.testing.assert_allclose(gradient, z.T @ (y - p), atol=1e-9)
        np.testing.assert_allclose(curvature, z.T @ np.diag(p * (1 - p) + 1e-9) @ z, atol=1e-9)


@pytest.mark.parametrize("n_columns", [1, 2, 7, 29])
def test_sums_are_the_same_bit_for_bit_on_any_number_of_cores(n_columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weighing_kernels, "SUM_SECONDS", 1.0)
    rng = np.random.default_rng(n_columns)
    z, y = rng.normal(size=(1_001, n_columns)), (rng.random(1_001) < 0.5).astype(float)
    weights = rng.normal(size=n_columns)
    expected = _sums_by_columns(z, y, weights)
    assert (expected[1] == expected[1].T).all()
    for n_cores in (2, 3, 8):
        with on_cores(n_cores):
            for found, known in zip(_sums_by_columns(z, y, weights), expected, strict=True):
                np.testing.assert_array_equal(found, known)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_standings_are_added_bit_for_bit_by_numpy_and_by_the_loop(
    dtype: type[np.floating], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    values, rivals = evidence_and_rivals(rng, 5_000, dtype)
    mean, scale, weights = rng.normal(size=4), rng.random(4) + 0.1, rng.normal(size=4)
    added = []
    for few in (0, len(values)):
        monkeypatch.setattr(weighing_kernels, "FEW_STANDINGS", few)
        odds = np.linspace(-3, 3, len(values))
        add_standings(odds, values, rivals, mean, scale, weights)
        added.append(odds)
    np.testing.assert_array_equal(*added)
    standings = np.empty((len(values), 4))
    write_standings(values, rivals, np.arange(len(values)), standings, 0)
    np.testing.assert_allclose(added[0], np.linspace(-3, 3, 5_000) + (standings - mean) / scale @ weights, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_standings_are_written_bit_for_bit_by_numpy_and_by_the_loop(
    dtype: type[np.floating], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(8)
    values, rivals = evidence_and_rivals(rng, 500, dtype)
    known = np.flatnonzero(rng.random(500) < 0.5)
    written = []
    for few in (0, len(values)):
        monkeypatch.setattr(weighing_kernels, "FEW_STANDINGS", few)
        x = np.full((len(known), 10), 7.0)
        write_standings(values, rivals, known, x, 5)
        written.append(x)
    np.testing.assert_array_equal(*written)
    lead = values.astype(float) - rivals
    assert written[0][:, 5].tolist() == values[known].tolist()
    assert written[0][:, 6].tolist() == lead[known].tolist()
    assert (np.delete(written[0], range(5, 9), axis=1) == 7).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(0, 3))
def test_columns_are_standardised_bit_for_bit_by_numpy_and_by_the_loop(seed: int, n_rows: int, n_kinds: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(3, 2, size=(n_rows, 4 * n_kinds + 1))
    x[:, -1] = 1
    one, other = x.copy(), x.copy()
    np.testing.assert_array_equal(_standardise_few(one), _standardise_many(other))
    np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(one[:, :-1].mean(axis=0), 0, atol=1e-9)
    assert (one[:, -1] == 1).all()


@given(st.integers(0, 2**32 - 1), st.integers(0, 30), st.integers(0, 3))
def test_contributions_are_sums_over_the_standings_of_a_kind(seed: int, n_rows: int, n_kinds: int) -> None:
    rng = np.random.default_rng(seed)
    z, weights = rng.normal(size=(n_rows, 4 * n_kinds + 1)), rng.normal(size=4 * n_kinds + 1)
    found = contributions(z, weights)
    np.testing.assert_array_equal(found, _contributions_of_many(z, weights))
    expected = (z * weights)[:, :-1].reshape(n_rows, n_kinds, 4).sum(axis=2).T
    np.testing.assert_allclose(found, expected, atol=1e-12)
