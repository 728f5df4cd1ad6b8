"""The sums of the logistic regression against products of matrices."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from twinlink.similarity.weighing_kernels import _sums_of_few, _sums_of_many, logistic_sums


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
