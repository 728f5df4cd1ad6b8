"""The interval of the expected precision against sums of exact binomial probabilities, and its properties."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from math import comb, exp, log
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.evaluation import expected
from twinlink.evaluation.expected import LEVEL, SPREAD, expected_precision


def quantile(level: float, n: int, rates: list[float], weights: list[float]) -> int:
    """Return the least k with P(K <= k) >= level."""
    total, k = 0.0, -1
    while total < level and k < n:
        k += 1
        for rate, weight in zip(rates, weights, strict=True):
            w = Fraction(rate)
            total += weight * float(comb(n, k) * w**k * (1 - w) ** (n - k))
    return k


@pytest.mark.parametrize("p", [0.6, 0.93, 0.99])
def test_ends_are_quantiles_of_a_mixture_of_binomial_distributions(p: float) -> None:
    n, nodes = 30, np.linspace(-4, 4, 41)
    density = np.exp(-(nodes**2) / 2)
    rates = [1 / (1 + exp(-(log((1 - p) / p) + SPREAD * node))) for node in nodes]
    weights = (density / density.sum()).tolist()
    found = expected_precision(np.full(n, p), np.zeros(n))
    assert found is not None
    tails = (1 + LEVEL) / 2, (1 - LEVEL) / 2
    assert found.interval == pytest.approx([1 - quantile(tail, n, rates, weights) / n for tail in tails])


@given(st.integers(1, 10_000), st.floats(0.001, 0.999), st.floats(0, 1))
def test_scipy_gives_the_same_interval(n: int, p: float, risk: float) -> None:
    given_ = np.full(n, p), np.full(n, risk)
    ours = expected_precision(*given_)
    with patch.object(expected, "FEW_TRIALS", 0):
        assert ours == expected_precision(*given_)


def test_few_pairs_load_no_scipy_special() -> None:
    code = "import sys, numpy as np; from twinlink.evaluation.expected import expected_precision as e; "
    code += "e(np.ones(20), np.zeros(20)); assert 'scipy.special' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_look_alikes_that_may_be_exchanged_lower_the_lower_end_alone() -> None:
    p, risks = np.full(100, 0.99), np.r_[np.full(50, 0.8), np.zeros(50)]
    calm, exchanged = expected_precision(p, np.zeros(100)), expected_precision(p, risks)
    assert calm is not None
    assert exchanged is not None
    assert calm.interval is not None
    assert exchanged.interval is not None
    assert exchanged.precision == calm.precision
    assert exchanged.interval[1] == calm.interval[1]
    assert exchanged.interval[0] == 1 - quantile(0.95, 100, [1 - 0.99 * 0.6], [1.0]) / 100 < calm.interval[0]


@given(st.integers(1, 400), st.floats(0.5, 1), st.floats(0, 1))
def test_the_expected_precision_is_inside(n: int, p: float, risk: float) -> None:
    found = expected_precision(np.full(n, p), np.full(n, risk))
    assert found is not None
    assert found.interval is not None
    low, high = found.interval
    assert 0 <= low <= high <= 1
    assert low <= found.precision + 1 / n
    assert high >= found.precision - 1 / n


def test_more_pairs_make_it_narrower() -> None:
    found = [expected_precision(np.full(n, 0.97), np.zeros(n)) for n in (10, 100, 1000)]
    lows = [each.interval[0] for each in found if each is not None and each.interval is not None]
    assert lows == sorted(lows)
    assert len(set(lows)) == 3


def test_where_nothing_is_known() -> None:
    assert expected_precision(np.zeros(0), np.zeros(0)) is None
    assert expected_precision(np.array([0.9, np.nan]), np.zeros(2)) is None
    only = expected_precision(np.full(3, 0.9), np.full(3, np.nan))
    assert only is not None
    assert only.interval is None
