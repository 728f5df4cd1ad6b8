"""The discriminant against a plain regression fitted by a general optimiser, and on pairs that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from tests.similarity.measured_pairs import bare
from twinlink.similarity import discriminant
from twinlink.similarity.discriminant import (
    LEAST_SURE,
    LEAST_WRONG,
    RIDGE,
    SURE,
    Evidence,
    Measured,
    all_of,
    discriminated,
)
from twinlink.similarity.weighing import _Comparison, _Wrong

Floats = NDArray[np.float64]


def measured(odds: Floats, values: Floats, clues: Floats | None = None) -> Measured:
    return Measured(odds, Evidence(np.zeros(len(odds)) if clues is None else clues, values))


def made(n_right: int, n_alone: int, n_wrong: int, seed: int = 0) -> tuple[Measured, Measured, Floats]:
    """Pairs of pages with a partner, then those of pages without one, known wrong pairs, and the presence by odds.

    Pages without a partner have weak rivals: their odds are between those of the others. Their evidence is that of
    wrong pairs.
    """
    rng = np.random.default_rng(seed)
    is_right = np.arange(n_right + n_alone) < n_right
    odds = np.where(is_right, 7, 5) + rng.normal(0, 2, len(is_right))
    values = np.where(is_right[:, None], 0.7, 0.3) + rng.normal(0, 0.1, (len(is_right), 3))
    wrong = measured(rng.normal(4, 2, n_wrong), 0.3 + rng.normal(0, 0.1, (n_wrong, 3)))
    return measured(odds, values), wrong, np.where(is_right, 0.95, 0.85)


def plain_twin(of_given: Measured, of_wrong: Measured, presence: Floats) -> tuple[Floats, Floats]:
    """Standardise by the examples; minimise the penalised loss with a general optimiser."""
    columns = [np.column_stack([odds - clues, values]) for odds, (clues, values) in (of_given, of_wrong)]
    sure = presence > SURE
    examples = np.concatenate([columns[0][sure], columns[1]])
    targets = np.append(presence[sure], np.zeros(len(columns[1])))
    mean, scale = examples.mean(axis=0), examples.std(axis=0)

    def odds(weights: Floats, rows: Floats) -> Floats:
        rows = np.clip(rows, examples.min(axis=0), examples.max(axis=0))
        return np.asarray((rows - mean) / scale @ weights[:-1] + weights[-1])

    def loss(weights: Floats) -> float:
        t = odds(weights, examples)
        return float(np.sum(np.logaddexp(0, t) - targets * t) + RIDGE / 2 * np.sum(weights[:-1] ** 2))

    weights = minimize(loss, np.zeros(examples.shape[1] + 1), tol=1e-12).x
    return odds(weights, columns[0]) + of_given.evidence.named, odds(weights, columns[1]) + of_wrong.evidence.named


@pytest.mark.parametrize("n_right", [60, 150])
def test_same_as_the_plain_twin(n_right: int) -> None:
    of_given, of_wrong, presence = made(n_right, 20, 50)
    clues = np.random.default_rng(2).normal(0, 2, n_right + 20)
    of_given = measured(of_given.odds + clues, of_given.evidence.values, clues)
    found = discriminated(of_given, of_wrong, presence)
    assert found is not None
    for ours, theirs in zip(found, plain_twin(of_given, of_wrong, presence), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-2)


def test_pairs_without_rivals_are_told_from_right_ones_by_their_evidence() -> None:
    of_given, of_wrong, presence = made(100, 20, 60)
    found = discriminated(of_given, of_wrong, presence)
    assert found is not None
    assert found[0][:100].min() > np.quantile(found[0][100:], 0.9)


def test_their_presence_is_lower_with_the_evidence() -> None:
    of_given, of_wrong, _ = made(100, 20, 60)
    places = np.arange(120)
    with_it = _Comparison(of_given, places, _Wrong(places[:60] + 120, of_wrong), None).presence()
    without = _Comparison(bare(of_given.odds), places, _Wrong(places[:60] + 120, bare(of_wrong.odds)), None).presence()
    assert with_it[100:].mean() < without[100:].mean() - 0.2
    assert with_it[:100].mean() > without[:100].mean()


def test_a_clue_makes_up_for_little_evidence() -> None:
    of_given, of_wrong, presence = made(100, 20, 60)
    clues = np.where(np.arange(120) < 110, 8.0, 0.0)
    with_clues = measured(of_given.odds + clues, of_given.evidence.values, clues)
    without, found = (discriminated(each, of_wrong, presence) for each in (of_given, with_clues))
    assert without is not None
    assert found is not None
    assert found[0].tolist() == pytest.approx((without[0] + clues).tolist())
    assert found[0][100:110].min() > found[0][110:].max()


def test_look_alikes_have_a_discriminant_of_their_own() -> None:
    """Each kind of pairs is told as if it were alone."""
    others, look_alikes = made(60, 10, 40), made(60, 10, 40, seed=1)
    parts = []
    for of_given, of_wrong, _ in (others, look_alikes):
        parts.append(_Comparison(of_given, np.arange(70), _Wrong(np.arange(70, 110), of_wrong), None).presence())
    of_given, of_wrong = (all_of(both) for both in zip(others[:2], look_alikes[:2], strict=True))
    alike = np.repeat([False, True, False, True], [70, 70, 40, 40])
    together = _Comparison(of_given, np.arange(140), _Wrong(np.arange(140, 220), of_wrong), alike).presence()
    assert together.tolist() == pytest.approx(np.concatenate(parts).tolist())


@pytest.mark.parametrize(
    ("n_sure", "n_unsure", "n_wrong", "is_told"),
    [
        (LEAST_SURE, 0, LEAST_WRONG, True),
        (LEAST_SURE - 1, 0, LEAST_WRONG, False),
        (LEAST_SURE, 0, LEAST_WRONG - 1, False),
        (35, 65, 40, True),
        (35, 66, 40, False),
    ],
)
def test_nothing_is_told_by_too_few_examples(n_sure: int, n_unsure: int, n_wrong: int, *, is_told: bool) -> None:
    of_given, of_wrong, _ = made(n_sure + n_unsure, 0, n_wrong)
    presence = np.repeat([0.95, SURE], [n_sure, n_unsure])
    assert (discriminated(of_given, of_wrong, presence) is not None) is is_told


def test_nothing_is_told_without_evidence() -> None:
    of_given, of_wrong, presence = made(60, 0, 40)
    assert discriminated(bare(of_given.odds), bare(of_wrong.odds), presence) is None


def test_evidence_that_is_the_same_for_all_says_nothing() -> None:
    of_given, of_wrong, presence = made(60, 10, 40)
    more = [measured(each.odds, np.c_[each.evidence.values, np.ones(len(each.odds))]) for each in (of_given, of_wrong)]
    with_it, without = discriminated(more[0], more[1], presence), discriminated(of_given, of_wrong, presence)
    assert with_it is not None
    assert without is not None
    assert with_it[0].tolist() == pytest.approx(without[0].tolist())


def test_a_value_that_no_example_has_counts_as_the_nearest() -> None:
    """Evidence that hardly any example has would otherwise decide, if it is a little stronger elsewhere."""
    of_given, of_wrong, presence = made(100, 20, 60)
    rare = np.zeros((120, 1))
    rare[0], rare[-1] = 1e-4, 0.5
    with_rare = measured(of_given.odds, np.hstack([of_given.evidence.values, rare]))
    wrong = measured(of_wrong.odds, np.c_[of_wrong.evidence.values, np.zeros(60)])
    found, without = discriminated(with_rare, wrong, presence), discriminated(of_given, of_wrong, presence)
    assert found is not None
    assert without is not None
    assert np.abs(found[0] - without[0])[1:-1].max() < 0.2
    assert found[0][-1] - without[0][-1] < 3


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.floats(-5, 5))
def test_units_and_the_order_of_pairs_do_not_matter(seed: int, unit: float, offset: float) -> None:
    of_given, of_wrong, presence = made(40, 10, 30, seed)
    order = np.random.default_rng(seed).permutation(50)
    found = discriminated(of_given, of_wrong, presence)
    other = discriminated(
        measured(of_given.odds[order], of_given.evidence.values[order] * unit + offset),
        measured(of_wrong.odds, of_wrong.evidence.values * unit + offset),
        presence[order],
    )
    assert found is not None
    assert other is not None
    assert other[0].tolist() == pytest.approx(found[0][order].tolist(), abs=1e-2)


def test_of_many_examples_some_from_all_over_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    of_given, of_wrong, presence = made(2_000, 0, 2_000)
    all_of_them = discriminated(of_given, of_wrong, presence)
    monkeypatch.setattr(discriminant, "MOST", 500)
    some = discriminated(of_given, of_wrong, presence)
    assert all_of_them is not None
    assert some is not None
    assert len(some[0]) == 2_000
    assert np.corrcoef(some[0], all_of_them[0])[0, 1] > 0.99
