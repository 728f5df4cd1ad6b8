"""Precision from labels: all known, nothing known, and how often the interval has the truth."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from experiments.label_intervals import ORDERS, WAYS, simulate
from twinlink.errors import ShapeError
from twinlink.labels.precision import estimate


def test_no_pairs() -> None:
    found = estimate([], [])
    assert (found.precision, found.low, found.high, found.n, found.of) == (0.5, 0.0, 1.0, 0, 0)


def test_no_labels_nothing_known_whatever_the_model_claims() -> None:
    found = estimate([0.999] * 1000, [-1] * 1000)
    assert found.low < 0.01
    assert found.high > 0.99
    assert found.precision == pytest.approx(0.5, abs=0.02)
    assert (found.n, found.of) == (0, 1000)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=40))
def test_all_labelled_all_known(pairs: list[tuple[float, int]]) -> None:
    probabilities, verdicts = zip(*pairs, strict=True)
    found = estimate(probabilities, verdicts)
    assert [found.low, found.precision, found.high] == pytest.approx([np.mean(verdicts)] * 3)
    assert found.n == found.of == len(pairs)


@given(
    st.lists(st.tuples(st.one_of(st.floats(0, 1), st.just(float("nan"))), st.integers(-1, 1)), min_size=1, max_size=40)
)
def test_the_interval_agrees_with_what_is_known_for_certain(pairs: list[tuple[float, int]]) -> None:
    probabilities, verdicts = zip(*pairs, strict=True)
    found = estimate(probabilities, verdicts)
    n_right, n_wrong = verdicts.count(1), verdicts.count(0)
    assert n_right / len(pairs) - 1e-9 <= found.low <= found.high <= 1 - n_wrong / len(pairs) + 1e-9
    assert found.low <= found.precision <= found.high


def test_one_stratum_is_jeffreys_interval() -> None:
    """4 labels of 1,000,000 pairs of one probability: the posterior is Beta(3.5, 1.5), as scipy has it."""
    verdicts = np.full(1_000_000, -1)
    verdicts[:4] = 1, 1, 1, 0
    found = estimate(np.full(1_000_000, 0.9), verdicts)
    posterior = scipy.stats.beta(3.5, 1.5)
    assert found.precision == pytest.approx(posterior.mean(), abs=0.01)
    assert [found.low, found.high] == pytest.approx(posterior.interval(0.95), abs=0.02)


def test_labels_of_the_doubtful_alone_say_nothing_of_the_others() -> None:
    probabilities = np.linspace(0.5, 1, 1000)
    verdicts = np.where(np.arange(1000) < 100, np.arange(1000) % 2, -1)
    found = estimate(probabilities, verdicts)
    assert found.low < 0.06
    assert found.high > 0.94


def test_doubtful_ones_shown_more_often_do_not_pull_the_estimate_down() -> None:
    """100 doubtful pairs, half of them right, all labelled; 20 labels of 900 sure ones, all right."""
    probabilities = np.repeat([0.6, 0.99], [100, 900])
    verdicts = np.full(1000, -1)
    verdicts[:100] = np.arange(100) % 2
    verdicts[100:120] = 1
    found = estimate(probabilities, verdicts)
    assert pytest.approx(70, abs=1) == 120 * 0.58, "what the plain share would be: 70 of 120"
    assert found.precision == pytest.approx(0.95, abs=0.03)


def test_without_probabilities_all_are_one_stratum() -> None:
    nothing = [float("nan")] * 50
    verdicts = [1] * 9 + [0] + [-1] * 40
    assert estimate(nothing, verdicts) == estimate([0.5] * 50, verdicts)


def test_more_labels_a_narrower_interval() -> None:
    widths = []
    for n in (5, 20, 80, 320):
        verdicts = np.full(1000, -1)
        verdicts[np.linspace(0, 999, n).astype(int)] = 1
        found = estimate(np.linspace(0.5, 1, 1000), verdicts)
        widths.append(found.high - found.low)
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 0.3
    assert widths[-1] < 0.03


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("way", ["as claimed", "too sure", "regardless"])
def test_the_interval_has_the_truth_as_often_as_it_says(way: str, order: str) -> None:
    """Simulated runs of 500 pairs, most of them sure, 60 labelled: 95 %, less what 100 trials and few labels take."""
    rng = np.random.default_rng(8)
    trials = [simulate(500, 60, WAYS[way], order, rng) for _ in range(100)]
    assert np.mean([trial.is_inside for trial in trials]) >= 0.88
    if order != "doubtful first":
        assert np.mean([trial.width for trial in trials]) < 0.3


def test_lengths_must_agree() -> None:
    with pytest.raises(ShapeError):
        estimate([0.5], [1, 0])


@pytest.mark.parametrize("told", [True, False])
def test_labels_of_pairs_with_a_probability_tell_nothing_of_those_without_one(told: bool) -> None:
    probabilities = np.repeat([0.9, np.nan], 500)
    codes = np.full(1000, -1)
    codes[(~np.isnan(probabilities) if told else np.isnan(probabilities)).nonzero()[0][:100]] = 1
    found = estimate(probabilities, codes)
    assert found.n == 100
    assert found.low < 0.55
    assert found.high > 0.95
    both = np.where(np.arange(1000) % 5 == 0, 1, -1)
    assert estimate(probabilities, both).low > 0.95
