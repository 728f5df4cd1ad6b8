"""Standings and the sums of the logistic regression against products of matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from twinlink.similarity import weighing_kernels
from twinlink.similarity.weighing_kernels import (
    _sums_of_few,
    _sums_of_many,
    add_standings,
    logistic_sums,
    write_standings,
)


@given(st.integers(0, 2**32 - 1), st.integers(0, 30), st.integers(1, 5), st.floats(0, 20))
def test_equals_products_of_matrices(seed: int, n_rows: int, n_columns: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    z, y = rng.normal(size=(n_rows, n_columns)), (rng.random(n_rows) < 0.5).astype(float)
    weights = rng.normal(size=n_columns) * size
    p = expit(np.clip(z @ weights, -30, 30))
    for sums in (logistic_sums, _sums_of_few, _sums_of_many):
        gradient, curvature = sums(z, y, weights)
        np.testing.assert_allclose(gradient, z.T @ (y - p), atol=1e-9)
        np.testing.assert_allclose(curvature, z.T @ np.diag(p * (1 - p) + 1e-9) @ z, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_standings_are_added_bit_for_bit_by_numpy_and_by_the_loop(
    dtype: type[np.floating], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    values, rivals = ((rng.random(5_000) * (rng.random(5_000) < 0.7)).astype(dtype) for _ in range(2))
    rivals[::9] = values[::9]  # equal rivals: no lead
    mean, scale, weights = rng.normal(size=4), rng.random(4) + 0.1, rng.normal(size=4)
    added = []
    for few in (0, len(values)):
        monkeypatch.setattr(weighing_kernels, "FEW_STANDINGS", few)
        odds = np.linspace(-3, 3, len(values))
        add_standings(odds, values, rivals, mean, scale, weights)
        added.append(odds)
    np.testing.assert_array_equal(*added)
    standings = np.empty((len(values), 4))
    write_standings(values, rivals, standings)
    np.testing.assert_allclose(added[0], np.linspace(-3, 3, 5_000) + (standings - mean) / scale @ weights, atol=1e-12)
