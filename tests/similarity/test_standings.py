"""Standings of candidates, and what the logistic model makes of columns that say nothing."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array

from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.standings import STANDINGS, fit_logistic, standings_of

Floats = NDArray[np.float64]


def test_each_kind_has_its_standings_and_ones_come_last() -> None:
    rivalry = Rivalry(csr_array(np.ones((1, 3))))
    kinds = {"one": np.array([0.5, 0.25, 0.0]), "two": np.array([0.0, 0.0, 1.0])}
    x = standings_of(kinds, rivalry, np.array([0, 2]))
    assert x.shape == (2, 2 * len(STANDINGS) + 1)
    assert x[0].tolist() == pytest.approx([0.5, 0.25, 0.5, 1, 0, -1, -1, 0, 1], abs=1e-5)
    assert x[1].tolist() == pytest.approx([0, -0.5, -1, 0, 1, 1, 1, 1, 1], abs=1e-5)


def test_without_a_right_row_all_log_odds_are_zero() -> None:
    model = fit_logistic(np.ones((3, 5)), np.zeros(3), 0.1)
    assert model.weights.tolist() == [0] * 5
    assert model.scale.tolist() == [1] * 4


def test_columns_are_scaled_by_their_deviation_and_a_constant_one_has_no_weight() -> None:
    z = np.array([[1.0, 7, 0, 2, 1], [3.0, 7, 1, 2, 1]])
    model = fit_logistic(z, np.array([0.0, 1.0]), 0.1)
    assert model.mean.tolist() == [2, 7, 0.5, 2]
    assert model.scale.tolist() == pytest.approx([1, 0, 0.5, 0], abs=1e-5)
    assert (model.scale > 0).all()
    assert model.weights[[1, 3]].tolist() == [0, 0]
    assert model.weights[0] == pytest.approx(model.weights[2], rel=1e-4)
    assert model.weights[0] > 0


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 1034, 1289, 1435, 3387])
def test_the_fit_reaches_the_minimum_where_a_few_values_are_far_away(seed: int) -> None:
    """With steps of full length alone, the weights grow without bound from the fifth seed on."""
    random = np.random.default_rng(seed)
    n, k = int(random.choice([50, 200, 1000])), int(random.integers(1, 6))
    right = (np.arange(n) < max(1, n * random.choice([0.02, 0.05, 0.2, 0.5]))).astype(float)
    is_far = random.random((n, k)) < 0.02
    x = np.where(is_far, random.normal(size=(n, k)) * 100, random.normal(size=(n, k)) * 0.1) + 0.3 * right[:, None]
    model = fit_logistic(np.c_[x, np.ones(n)], right, 1e-4)
    z = np.c_[(x - model.mean) / model.scale, np.ones(n)]
    penalty = 1e-4 * n * np.r_[np.ones(k), 1e-6]

    def loss(weights: Floats) -> float:
        odds = z @ weights
        return float(np.logaddexp(0, odds).sum() - right @ odds + penalty @ weights**2 / 2)

    assert loss(model.weights) <= minimize(loss, np.zeros(k + 1)).fun + 0.01
