"""Weighing against a plain model fitted by a general optimiser, and on made sites."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array

from twinlink.config import WeighingSettings
from twinlink.errors import ShapeError
from twinlink.similarity.margins import Rivalry
from twinlink.similarity.weighing import Weighing, chance_of_being_right, clear_pairs, weigh

Floats = NDArray[np.float64]


class Greedy:
    """Largest score first, no page twice; remembers what it was asked."""

    def __init__(self, rivalry: Rivalry) -> None:
        self.rivalry = rivalry
        self.asked: list[Floats] = []

    def __call__(self, scores: Floats) -> NDArray[np.intp]:
        self.asked.append(scores.copy())
        chosen: list[int] = []
        for k in np.argsort(-scores, kind="stable").tolist():
            row, column = self.rivalry.rows[k], self.rivalry.columns[k]
            free = row not in self.rivalry.rows[chosen] and column not in self.rivalry.columns[chosen]
            if np.isfinite(scores[k]) and free:
                chosen.append(k)
        return np.array(chosen, np.intp)


def full(n: int, n_b: int | None = None) -> Rivalry:
    return Rivalry(csr_array(np.ones((n, n if n_b is None else n_b), bool)))


def made_site(n: int, n_alone: int = 0, seed: int = 0, gap: float = 0.4) -> tuple[dict[str, Floats], Rivalry, Floats]:
    """Two kinds of evidence that are higher by ``gap`` for n right pairs, one that is noise; n_alone pages without a
    partner on each side. Which candidates are right comes last."""
    rng = np.random.default_rng(seed)
    size = n + n_alone
    right = np.zeros((size, size))
    right[np.arange(n), np.arange(n)] = 1
    kinds = {
        "first": (0.5 * rng.random((size, size)) + gap * right).ravel(),
        "second": (0.5 * rng.random((size, size)) + gap * right).ravel(),
        "noise": rng.random(size * size),
    }
    return kinds, full(size), right.ravel()


def weighed(kinds: Mapping[str, Floats], rivalry: Rivalry, margin: float = 0.1) -> Weighing:
    clear = clear_pairs(next(iter(kinds.values())), rivalry, margin)
    return weigh(kinds, rivalry, clear, Greedy(rivalry))


def plain_standings(kinds: Mapping[str, Floats], rivalry: Rivalry, free: NDArray[np.bool_]) -> Floats:
    rows = []
    for k in range(len(rivalry.rows)):
        near = (rivalry.rows == rivalry.rows[k]) | (rivalry.columns == rivalry.columns[k])
        near[k] = False
        row: list[float] = []
        for values in kinds.values():
            rival = max(values[near & free].tolist(), default=0.0)
            lead = values[k] - rival
            relative = min(1.0, max(-1.0, lead / (values[k] + 1e-6)))
            row += [values[k], lead, relative, float(lead > 1e-9)]
        rows.append(row)
    return np.array(rows)


def plain_model(x: Floats, known: NDArray[np.bool_], clear: NDArray[np.bool_], ridge: float) -> list[Floats]:
    """Fit by a general optimiser; return mean, scale, and weights with b last."""
    mean, scale = x[known].mean(axis=0), x[known].std(axis=0) + 1e-6
    z, y = (x[known] - mean) / scale, clear[known]

    def loss(w: Floats) -> float:
        odds = z @ w[:-1] + w[-1]
        fit = np.logaddexp(0, np.where(y, -odds, odds)).sum()
        return float(fit + 0.5 * ridge * len(z) * (w[:-1] ** 2).sum())

    w = minimize(loss, np.zeros(x.shape[1] + 1), method="BFGS", options={"gtol": 1e-6}).x
    return [mean, scale, w]


@settings(max_examples=6)
@given(st.integers(0, 2**32 - 1))
def test_equals_a_model_fitted_by_a_general_optimiser(seed: int) -> None:
    """Also the second matching: the chosen pairs must not be taken, and are nobody's rivals."""
    ridge = 0.05
    kinds, rivalry, _ = made_site(5, 2, seed, gap=0.3)
    kinds = {name: kinds[name] for name in ("first", "noise")}
    clear = clear_pairs(kinds["first"], rivalry, 0.02)
    if not clear.any():
        return
    match = Greedy(rivalry)
    result = weigh(kinds, rivalry, clear, match, WeighingSettings(ridge=ridge))
    all_free = np.ones(len(rivalry.rows), bool)
    known = np.array(
        [
            (clear & ((rivalry.rows == i) | (rivalry.columns == j))).any()
            for i, j in zip(rivalry.rows, rivalry.columns, strict=True)
        ]
    )
    mean, scale, w = plain_model(plain_standings(kinds, rivalry, all_free), known, clear, ridge)

    def odds(free: NDArray[np.bool_]) -> Floats:
        return np.clip((plain_standings(kinds, rivalry, free) - mean) / scale @ w[:-1] + w[-1], -20, 20)

    assert result.log_odds == pytest.approx(odds(all_free), abs=0.05)
    left = all_free.copy()
    left[result.pairs] = False
    asked_first, asked_second = match.asked
    assert asked_first.tolist() == result.log_odds.tolist()
    assert np.isneginf(asked_second[~left]).all()
    assert asked_second[left] == pytest.approx(odds(left)[left], abs=0.05)
    wrong = asked_second[Greedy(rivalry)(asked_second)]
    assert result.probabilities.tolist() == chance_of_being_right(result.log_odds[result.pairs], wrong).tolist()


def test_right_pairs_are_found_and_are_likely() -> None:
    kinds, rivalry, right = made_site(30, 10, gap=0.5)
    result = weighed(kinds, rivalry)
    is_right = right[result.pairs] > 0
    assert is_right.sum() >= 28
    assert result.probabilities[is_right].mean() > 0.95
    assert result.probabilities[~is_right].mean() < 0.5
    assert result.log_odds[right > 0].min() > np.median(result.log_odds)


def test_noise_counts_little() -> None:
    kinds, rivalry, _ = made_site(40)
    weights = weighed(kinds, rivalry).weights
    assert weights["noise"] < 0.5 * min(weights["first"], weights["second"])


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6), st.floats(0, 1), st.integers(1, 5))
@example(5, 6, 4, 0.625, 4)  # a tie: its pairs are each less likely than a pair with lower log odds
def test_properties(seed: int, n_a: int, n_b: int, share: float, n_values: int) -> None:
    """On any input: finite, probabilities in [0, 1], weights of sum 1; what ties share rises with the log odds."""
    rng = np.random.default_rng(seed)
    rivalry = Rivalry(csr_array(rng.random((n_a, n_b)) < share))
    n = len(rivalry.rows)
    kinds = {name: rng.integers(0, n_values, n) / 4 for name in ("one", "two")}
    match = Greedy(rivalry)
    result = weigh(kinds, rivalry, clear_pairs(kinds["one"], rivalry, 0.1), match)
    assert np.isfinite(result.log_odds).all()
    assert np.abs(result.log_odds).max(initial=0) <= 20
    assert result.pairs.tolist() == Greedy(rivalry)(result.log_odds).tolist()
    assert result.probabilities.shape == result.pairs.shape
    assert ((result.probabilities >= 0) & (result.probabilities <= 1)).all()
    order = np.argsort(result.log_odds[result.pairs], kind="stable")
    assert (np.diff((result.probabilities * result.n_equal)[order]) >= -1e-12).all()
    assert sum(result.weights.values()) == pytest.approx(1)
    assert min(result.weights.values()) >= 0


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_the_pages_and_of_the_sides_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds, rivalry, _ = made_site(8, 2, seed)
    first = weighed(kinds, rivalry)
    rows, columns = rng.permutation(10), rng.permutation(10)
    moved = weighed({name: v.reshape(10, 10)[rows][:, columns].ravel() for name, v in kinds.items()}, rivalry)
    turned = weighed({name: v.reshape(10, 10).T.ravel() for name, v in kinds.items()}, rivalry)
    pairs = {(int(rivalry.rows[k]), int(rivalry.columns[k])) for k in first.pairs}
    assert {(int(rows[rivalry.rows[k]]), int(columns[rivalry.columns[k]])) for k in moved.pairs} == pairs
    assert {(int(rivalry.columns[k]), int(rivalry.rows[k])) for k in turned.pairs} == pairs
    assert np.sort(moved.log_odds) == pytest.approx(np.sort(first.log_odds), abs=1e-3)


def test_pages_without_a_clear_pair_teach_nothing() -> None:
    """Two blocks of candidates; what is measured in the second, without a clear pair, does not change the first."""
    rng = np.random.default_rng(0)
    blocks = np.kron(np.eye(2), np.ones((6, 6)))
    rivalry = Rivalry(csr_array(blocks > 0))
    in_first = rivalry.rows < 6
    values = np.where(in_first, 0.3 * rng.random(len(in_first)) + 0.5 * (rivalry.rows == rivalry.columns), 0.4)
    clear = clear_pairs(values, rivalry, 0.1)
    assert clear.sum() == 6
    one = weigh({"x": values}, rivalry, clear, Greedy(rivalry))
    other = weigh({"x": np.where(in_first, values, rng.random(len(values)))}, rivalry, clear, Greedy(rivalry))
    assert one.log_odds[in_first].tolist() == other.log_odds[in_first].tolist()
    assert one.log_odds[~in_first].tolist() != other.log_odds[~in_first].tolist()


def test_equal_evidence_tells_nothing() -> None:
    rivalry = full(4)
    result = weighed({"one": np.full(16, 0.5), "two": np.full(16, 0.5)}, rivalry)
    assert result.log_odds.tolist() == [0] * 16
    assert len(result.pairs) == 4
    assert (result.probabilities <= 0.5).all()
    assert result.weights == {"one": 0.5, "two": 0.5}


def test_no_candidates() -> None:
    result = weighed({"one": np.zeros(0)}, full(0))
    assert result.log_odds.shape == result.pairs.shape == result.probabilities.shape == (0,)
    assert result.weights == {"one": 1}


def test_without_any_evidence_all_candidates_are_equal() -> None:
    rivalry = full(2)
    result = weigh({}, rivalry, np.zeros(4, bool), Greedy(rivalry))
    assert result.log_odds.tolist() == [0] * 4
    assert result.weights == {}


def test_one_pair_alone_has_nothing_to_be_compared_with() -> None:
    result = weighed({"one": np.array([0.8])}, full(1))
    assert result.pairs.tolist() == [0]
    assert result.probabilities.tolist() == [0.5]


def test_evidence_must_have_a_value_for_each_candidate() -> None:
    with pytest.raises(ShapeError, match=r"'two': expected \(4,\), got \(3,\)"):
        weigh({"one": np.ones(4), "two": np.ones(3)}, full(2), np.ones(4, bool), Greedy(full(2)))


def test_clear_pairs_lead_their_rivals() -> None:
    """0.5 leads 0.4 by a factor of 1.25; 0.3 is alone in its row and beaten in its column; zeros are never clear."""
    rivalry = Rivalry(csr_array(np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], bool)))
    scores = np.array([0.5, 0.4, 0.3, 0.0, 0.1])
    assert clear_pairs(scores, rivalry, 0.2).tolist() == [True, False, False, False, True]
    assert clear_pairs(scores, rivalry, 0.3).tolist() == [False, False, False, False, True]


def test_of_two_equal_best_candidates_none_is_clear() -> None:
    assert not clear_pairs(np.array([0.5, 0.5]), full(1, 2), 0.0).any()


@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_no_page_is_in_two_clear_pairs(seed: int, margin: float) -> None:
    rng = np.random.default_rng(seed)
    rivalry = Rivalry(csr_array(rng.random((5, 6)) < 0.6))
    clear = clear_pairs(rng.integers(0, 4, len(rivalry.rows)) / 3, rivalry, margin)
    for pages in (rivalry.rows[clear], rivalry.columns[clear]):
        assert len(set(pages.tolist())) == len(pages)


scores = st.lists(st.floats(-20, 20).map(lambda t: round(t, 3)), max_size=30).map(np.array)


@given(scores, scores)
def test_chances_are_in_order_and_within_bounds(given_: Floats, wrong: Floats) -> None:
    chances = chance_of_being_right(given_, wrong)
    assert chances.shape == given_.shape
    assert ((chances >= 0) & (chances <= 1)).all()
    assert (np.diff(chances[np.argsort(given_)]) >= -1e-12).all()


def test_pairs_far_above_the_wrong_ones_are_nearly_sure_but_never_quite() -> None:
    chances = chance_of_being_right(np.full(100, 8.0), np.full(100, -8.0))
    assert ((chances > 0.99) & (chances < 1 - 1e-5)).all()


def test_chance_where_some_pairs_look_like_the_wrong_ones() -> None:
    """60 of 100 pairs are far above the wrong ones, 40 are just like them."""
    given_ = np.r_[np.full(60, 9.0), np.linspace(-6, -4, 40)]
    chances = chance_of_being_right(given_, np.linspace(-6, -4, 100))
    assert chances[:60].min() > 0.98
    assert chances[60:].max() < 0.75
    assert chances[60] < chances[99]
    assert chances[60] < 0.4


def test_the_very_scores_of_the_wrong_pairs_are_one_third_likely() -> None:
    """Half of the given pairs are below half of the wrong ones: two thirds of them are taken for wrong."""
    noise = np.random.default_rng(0).normal(size=200)
    assert chance_of_being_right(noise, noise) == pytest.approx(np.full(200, 1 / 3), abs=0.02)
    assert chance_of_being_right(noise, np.sort(noise)[::4]).mean() == pytest.approx(1 / 3, abs=0.05)


def test_pairs_just_like_wrong_ones_are_not_likely() -> None:
    noise = np.random.default_rng(0).normal(size=(2, 200))
    assert chance_of_being_right(*noise).mean() < 0.6


def test_pairs_that_score_less_than_the_wrong_ones_are_not_likely() -> None:
    assert chance_of_being_right(np.array([-3.0, -2.0, 0.5]), np.array([1.0, 2.0, 3.0])).max() < 0.5


def test_half_where_there_is_nothing_to_compare_with() -> None:
    assert chance_of_being_right(np.array([3.0, -3.0]), np.zeros(0)).tolist() == [0.5, 0.5]
    assert chance_of_being_right(np.zeros(0), np.array([1.0])).shape == (0,)


def test_more_wrong_looking_pairs_make_all_less_likely() -> None:
    wrong = np.random.default_rng(0).normal(-3, 1, 100)
    means = [
        chance_of_being_right(np.r_[np.full(100 - n, 3.0), wrong[:n]], wrong)[: 100 - n].mean() for n in (5, 30, 60)
    ]
    assert means[0] > means[1] > means[2]
