"""Weighing against a plain model fitted by a general optimiser, and on made sites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array

from tests.similarity.measured_pairs import bare
from twinlink.config import WeighingSettings
from twinlink.errors import ShapeError
from twinlink.similarity import weighing
from twinlink.similarity.probabilities import probability_of_being_right
from twinlink.similarity.rivals import Rivalry
from twinlink.similarity.weighing import (
    FEW,
    LEAST_COMPARED,
    LIKELY,
    MAX_TEACHERS,
    WITHHELD,
    Weighing,
    _Comparison,
    _enough_to_learn,
    _evidence_of,
    _some,
    _Wrong,
    clear_pairs,
    weigh,
)
from twinlink.similarity.weighing_model import learn

Floats = NDArray[np.float64]


class Greedy:
    """Largest score first, no page twice; remembers what it was asked."""

    def __init__(self, rivalry: Rivalry) -> None:
        self.rivalry = rivalry
        self.asked: list[Floats] = []

    def __call__(self, scores: Floats, among: Sequence[NDArray[np.bool_]]) -> list[NDArray[np.intp]]:
        assert not any((each & ~among[0]).any() for each in among)
        return [self.pairs(np.where(each, scores, -np.inf)) for each in among]

    def pairs(self, scores: Floats) -> NDArray[np.intp]:
        self.asked.append(scores)
        chosen: list[int] = []
        of_rows, of_columns = set[int](), set[int]()
        rows, columns = self.rivalry.rows.tolist(), self.rivalry.columns.tolist()
        for k in np.argsort(-scores, kind="stable").tolist():
            if np.isfinite(scores[k]) and rows[k] not in of_rows and columns[k] not in of_columns:
                chosen.append(k)
                of_rows.add(rows[k])
                of_columns.add(columns[k])
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

    def odds(left: NDArray[np.bool_]) -> Floats:
        there = {name: np.where(left, values, 0) for name, values in kinds.items()}
        x = plain_standings(there, rivalry, np.ones(len(left), bool))
        return np.clip((x - mean) / scale @ w[:-1] + w[-1], -20, 20)

    assert result.log_odds == pytest.approx(odds(all_free), abs=0.05)
    assert match.asked[0].tolist() == result.log_odds.tolist()
    assert len(match.asked) == 9  # then the trials again, by models that have not learned from the pairs
    for trial, asked in enumerate(match.asked[1:5]):
        lose_column, lose_row = result.pairs[2 * trial :: 8], result.pairs[2 * trial + 1 :: 8]
        left = ~(np.isin(rivalry.columns, rivalry.columns[lose_column]) | np.isin(rivalry.rows, rivalry.rows[lose_row]))
        assert np.isneginf(asked[~left]).all()
        assert asked[left] == pytest.approx(odds(left)[left], abs=0.05)


@pytest.mark.parametrize("n", [8, 21, 64])
def test_in_four_trials_each_pair_loses_one_page_once(n: int) -> None:
    """So half of them are without their column and half without their row, an eighth of all in each trial."""
    lose_column, lose_row = ([np.arange(n)[trial[side]] for trial in WITHHELD] for side in (0, 1))
    assert len(WITHHELD) == 4
    assert sorted(np.concatenate([*lose_column, *lose_row]).tolist()) == list(range(n))
    assert {len(lost) for lost in (*lose_column, *lose_row)} <= {n // 8, n // 8 + 1}


@pytest.mark.parametrize(("n", "n_models"), [(FEW, 5), (FEW + 1, 1)])
def test_few_pairs_teach_by_models_that_have_not_learned_from_them(
    n: int, n_models: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One model for all pairs, and for few pairs one without the withheld pairs of each trial."""
    teachers: list[NDArray[np.bool_]] = []
    learn = weighing.learn

    def noted(kinds: Mapping[str, Floats], rivalry: Rivalry, clear: NDArray[np.bool_], ridge: float, *args: Any) -> Any:
        teachers.append(clear)
        return learn(kinds, rivalry, clear, ridge, *args)

    monkeypatch.setattr(weighing, "learn", noted)
    kinds, rivalry, right = made_site(n, gap=2)
    result = weighed(kinds, rivalry)
    assert sorted(result.pairs.tolist()) == np.flatnonzero(right).tolist()
    assert len(teachers) == n_models
    for (columns, rows), of_trial in zip(WITHHELD, teachers[1:], strict=False):
        withheld = np.concatenate([result.pairs[columns], result.pairs[rows]])
        assert not of_trial[withheld].any()
        assert of_trial.sum() == n - len(withheld)
    assert (result.held_out is result.presence) == (n_models == 1)
    np.testing.assert_allclose(result.held_out, result.presence, atol=0.02)  # all pairs are alike


def test_a_model_that_fits_noise_of_few_pairs_is_not_believed() -> None:
    """Noise has 20 pairs look right to the model that learned from them, and not to models that did not."""
    rng = np.random.default_rng(0)
    rivalry = full(20)
    kinds = {f"noise {k}": rng.random(400) for k in range(8)}
    clear = np.eye(20, dtype=bool).ravel()
    result = weigh(kinds, rivalry, clear, Greedy(rivalry))
    taught = clear[result.pairs]
    assert taught.sum() >= 5
    assert result.held_out[taught].mean() < result.presence[taught].mean()


def of_pages(n_right: int, n_alone: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Return log odds of the best and the next pair of some pages with a partner, and of some without one."""
    rng = np.random.default_rng(seed)
    wrong = np.sort(rng.gumbel(size=(n_right + n_alone, 50)))
    right = np.arange(n_right + n_alone) < n_right
    return np.where(right, rng.normal(12, 1, len(right)), wrong[:, -1]), np.where(right, wrong[:, -1], wrong[:, -2])


def corrected(comparison: _Comparison) -> Floats:
    return comparison.corrected(comparison.presence())


@pytest.mark.parametrize(("n_right", "is_corrected"), [(190, False), (60, True)])
def test_second_best_pairs_are_corrected_for_where_few_pairs_are_sure(n_right: int, *, is_corrected: bool) -> None:
    given, next_best = of_pages(n_right, 200 - n_right)
    places = np.arange(200)
    presence = corrected(_Comparison(bare(given), places, _Wrong(places, bare(next_best)), None))
    known = probability_of_being_right(given, next_best, removed_right=None if is_corrected else 1.0)
    assert presence.tolist() == known.tolist()
    assert presence.sum() == pytest.approx(n_right, rel=0.1)


def test_what_is_reported_is_corrected_less_than_what_is_learned_from() -> None:
    places, (given, next_best) = np.arange(200), of_pages(60, 140)
    comparison = _Comparison(bare(given), places, _Wrong(places, bare(next_best)), None)
    uncorrected = comparison.presence()
    reported, learned_from = comparison.reported(uncorrected), comparison.corrected(uncorrected)
    assert learned_from.sum() < reported.sum() < uncorrected.sum()


def test_where_nearly_all_pairs_are_sure_nothing_is_corrected() -> None:
    places, (given, next_best) = np.arange(200), of_pages(190, 10)
    comparison = _Comparison(bare(given), places, _Wrong(places, bare(next_best)), None)
    uncorrected = comparison.presence()
    assert comparison.reported(uncorrected) is comparison.corrected(uncorrected) is uncorrected


def test_look_alikes_are_exchanged_so_nothing_is_corrected_where_nearly_all_pages_have_them() -> None:
    given, next_best = of_pages(60, 140)
    places = np.arange(200)
    for n_alike, is_corrected in ((181, False), (0, True)):
        comparison = _Comparison(bare(given), places, _Wrong(places, bare(next_best)), places < n_alike)
        presence = corrected(comparison)
        if is_corrected:
            assert presence.tolist() == probability_of_being_right(given, next_best, removed_right=None).tolist()
        else:
            assert presence.tolist() == comparison.presence().tolist()


@pytest.mark.parametrize("n", [12, FEW + 1])
def test_a_further_round_has_pairs_to_learn_from_even_if_none_is_likely(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for correction in ("corrected", "reported"):
        monkeypatch.setattr(_Comparison, correction, lambda _, presence: np.full(len(presence), LIKELY))
    result = weighed(*made_site(n, gap=2)[:2])
    assert result.presence.max() == LIKELY
    assert (result.held_out > LIKELY).any()


@pytest.mark.parametrize(("n_likely", "n_uncorrected", "chosen"), [(4, 16, 0), (3, 16, 1), (0, 1, 1), (0, 0, 2)])
def test_a_further_round_learns_without_the_correction_where_it_leaves_few_pairs(
    n_likely: int, n_uncorrected: int, chosen: int
) -> None:
    three = [np.where(np.arange(20) < n, 0.9, LIKELY) for n in (n_likely, n_uncorrected, 20)]
    assert _enough_to_learn(*three) is three[chosen]


def test_where_no_pair_is_likely_the_best_ones_are_learned_from() -> None:
    presence = np.array([0.15, 0.09, 0.12, 0.0])
    learned = _enough_to_learn(np.zeros(4), np.zeros(4), presence)
    assert learned.tolist() == pytest.approx([0.5, 0.3, 0.4, 0.0])
    assert (learned > LIKELY).tolist() == [True, False, True, False]
    for none in (np.zeros(4), np.zeros(0)):
        assert _enough_to_learn(none, none, none) is none


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
@example(1, 5, 5, 0.8125, 5)  # what is learned from is corrected more than what is reported
@example(5, 6, 4, 0.625, 4)  # a tie: its pairs are each less likely than a pair with lower log odds
def test_properties(seed: int, n_a: int, n_b: int, share: float, n_values: int) -> None:
    """On any input: finite, probabilities in [0, 1], weights of sum 1; presence rises with the log odds."""
    rng = np.random.default_rng(seed)
    rivalry = Rivalry(csr_array(rng.random((n_a, n_b)) < share))
    n = len(rivalry.rows)
    kinds = {name: rng.integers(0, n_values, n) / 4 for name in ("one", "two")}
    match = Greedy(rivalry)
    result = weigh(kinds, rivalry, clear_pairs(kinds["one"], rivalry, 0.1), match)
    assert np.isfinite(result.log_odds).all()
    assert np.abs(result.log_odds).max(initial=0) <= 20
    assert result.pairs.tolist() == Greedy(rivalry).pairs(result.log_odds).tolist()
    assert result.probabilities.shape == result.pairs.shape
    assert ((result.probabilities >= 0) & (result.probabilities <= 1)).all()
    order = np.argsort(result.log_odds[result.pairs], kind="stable")
    assert (np.diff(result.presence[order]) >= -1e-12).all()
    assert (result.probabilities <= result.presence / result.n_equal + 1e-12).all()
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
    assert result.presence.tolist() == [0.5]
    assert result.probabilities.tolist() == [0.5]


def test_evidence_must_have_a_value_for_each_candidate() -> None:
    with pytest.raises(ShapeError, match=r"'two': expected \(4,\), got \(3,\)"):
        weigh({"one": np.ones(4), "two": np.ones(3)}, full(2), np.ones(4, bool), Greedy(full(2)))


def test_leftovers_are_not_likely() -> None:
    """Pages without a partner get what is left, which looks like what is left when partners are taken away."""
    kinds, rivalry, right = made_site(40, 10, gap=0.6)
    result = weighed(kinds, rivalry)
    is_right = right[result.pairs] > 0
    assert (~is_right).sum() >= 5
    assert result.presence[~is_right].max() < 0.5 < result.presence[is_right].min()


@pytest.mark.parametrize(("most", "low", "high"), [(0.3, 0.0, 0.0), (0.89, 0.1, 1.0)])
def test_look_alikes_that_take_a_page_for_their_partner_are_counted(most: float, low: float, high: float) -> None:
    """Each of 12 groups has three pages with a partner (.9) and three more on side B, worth up to ``most``."""
    rng = np.random.default_rng(0)
    rivalry = Rivalry(csr_array(np.kron(np.eye(12), np.ones((3, 6)))))
    right = rivalry.rows % 3 == rivalry.columns % 6
    kinds = {"one": np.where(right, 0.9, most * (0.5 + 0.5 * rng.random(len(right))))}
    clear = clear_pairs(kinds["one"], rivalry, 0.001)

    def nearly(pairs: NDArray[np.intp]) -> NDArray[np.bool_]:
        of_row, of_column = rivalry.pages(pairs)
        return np.asarray(of_row[rivalry.rows] | of_column[rivalry.columns])

    alike = np.ones(len(right), np.bool_)
    result = weigh(kinds, rivalry, clear, Greedy(rivalry), nearly=nearly, alike=alike)
    assert right[result.pairs].all()
    assert low <= result.mistaken <= high
    assert weigh(kinds, rivalry, clear, Greedy(rivalry), nearly=nearly, alike=~alike).mistaken == 0


def test_look_alikes_are_compared_with_each_other() -> None:
    """Right pairs of one kind of pages score as the wrong ones of another kind do."""
    n = 60
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1], n)
    rivalry = Rivalry(csr_array(np.kron(np.eye(2), np.ones((n, n)))))
    right = rivalry.rows == rivalry.columns
    level = np.where(kind[rivalry.rows] == 0, 0.5, 0.2)
    kinds = {"one": level * np.where(right, 1, 0.7 * rng.random(len(right)))}
    clear = clear_pairs(kinds["one"], rivalry, 0.1)
    alike = kind[rivalry.rows] == 0
    apart = weigh(kinds, rivalry, clear, Greedy(rivalry), alike=alike)
    of_both = np.array([apart.presence[alike[apart.pairs] == which].mean() for which in (False, True)])
    assert right[apart.pairs].mean() > 0.9
    assert of_both.min() > 0.9


@pytest.mark.parametrize(("n_given", "n_wrong"), [(20, 20), (19, 20), (20, 19)])
def test_look_alikes_are_judged_apart_from_20_pairs_and_20_wrong_ones_on(n_given: int, n_wrong: int) -> None:
    """Look-alikes are right at odds at which other pages are wrong."""
    rng = np.random.default_rng(0)
    others, look_alikes = rng.normal(6, 1, 30), rng.normal(2, 1, n_given)
    wrong_others, wrong_look_alikes = rng.normal(2, 1, 30), rng.normal(-2, 1, n_wrong)
    odds, wrong = np.append(others, look_alikes), np.append(wrong_others, wrong_look_alikes)
    alike = np.repeat([False, True, False, True], [30, n_given, 30, n_wrong])
    places = np.arange(len(odds))
    presence = _Comparison(bare(odds), places, _Wrong(np.arange(len(wrong)) + len(odds), bare(wrong)), alike).presence()
    if min(n_given, n_wrong) >= LEAST_COMPARED:
        assert presence[30:].tolist() == probability_of_being_right(look_alikes, wrong_look_alikes).tolist()
        assert presence[:30].tolist() == probability_of_being_right(others, wrong_others).tolist()
    else:
        assert presence.tolist() == probability_of_being_right(odds, wrong).tolist()


def test_what_depends_on_other_candidates_is_measured_again() -> None:
    kinds, rivalry, _ = made_site(12, 4)
    clear = clear_pairs(kinds["first"], rivalry, 0.1)
    asked: list[NDArray[np.bool_]] = []

    def remeasure(left: NDArray[np.bool_]) -> dict[str, Floats]:
        asked.append(left)
        return {"noise": np.where(left, kinds["noise"], 0)}

    measured = weigh(kinds, rivalry, clear, Greedy(rivalry), remeasure=remeasure)
    assert len(asked) == 8  # in four trials, and in the same ones with models that have not learned from the pairs
    assert np.array_equal(asked[:4], asked[4:])
    assert all(0 < left.sum() < len(left) for left in asked)
    assert measured.presence.tolist() == weigh(kinds, rivalry, clear, Greedy(rivalry)).presence.tolist()


def test_clues_decide_among_look_alikes_and_have_a_share() -> None:
    rivalry = Rivalry(csr_array(np.kron(np.eye(8), np.ones((5, 5)))))
    right = rivalry.rows == rivalry.columns
    rng = np.random.default_rng(0)
    kinds = {"content": 0.5 + 0.02 * rng.random(len(right)), "pattern": right.astype(float)}
    result = weigh(kinds, rivalry, clear_pairs(kinds["pattern"], rivalry, 0.1), Greedy(rivalry))
    assert right[result.pairs].all()
    assert np.median(result.probabilities) > 0.95
    assert result.weights["pattern"] > result.weights["content"]


def test_a_clue_that_names_another_page_is_no_evidence_that_the_pair_is_named() -> None:
    kinds, rivalry, right = made_site(30)
    target = np.arange(30)
    target[:2] = 1, 0
    kinds["hreflang"] = (target[rivalry.rows] == rivalry.columns).astype(np.float64)
    learned = learn(kinds, rivalry, clear_pairs(kinds["first"], rivalry, 0.1), 1.0)
    evidence = _evidence_of(kinds, learned.added, learned.model.clues, np.flatnonzero(right))
    assert (learned.added["hreflang"][np.flatnonzero(right)[:2]] < 0).all()
    assert evidence.named[:2].tolist() == [0, 0]
    assert (evidence.named[2:] > 0).all()
    assert evidence.values.shape == (30, 3)


def test_clear_pairs_lead_their_rivals() -> None:
    """0.5 leads 0.4 by a factor of 1.25; 0.3 is alone in its row and beaten in its column; zeros are never clear."""
    rivalry = Rivalry(csr_array(np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], bool)))
    scores = np.array([0.5, 0.4, 0.3, 0.0, 0.1])
    assert clear_pairs(scores, rivalry, 0.2).tolist() == [True, False, False, False, True]
    assert clear_pairs(scores, rivalry, 0.3).tolist() == [False, False, False, False, True]


@pytest.mark.parametrize("n", [MAX_TEACHERS - 1, MAX_TEACHERS, MAX_TEACHERS + 1, 5 * MAX_TEACHERS])
def test_of_many_clear_pairs_so_many_teach_spread_evenly(n: int) -> None:
    clear = np.zeros(2 * n, np.bool_)
    clear[::2] = True
    teachers = np.flatnonzero(_some(clear))
    assert len(teachers) == min(n, MAX_TEACHERS)
    assert clear[teachers].all()
    gaps = np.diff(teachers) / 2
    assert gaps.max() - gaps.min() <= 1
    assert (teachers[0], teachers[-1]) == (0, 2 * (n - 1))


def test_of_two_equal_best_candidates_none_is_clear() -> None:
    assert not clear_pairs(np.array([0.5, 0.5]), full(1, 2), 0.0).any()


@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_no_page_is_in_two_clear_pairs(seed: int, margin: float) -> None:
    rng = np.random.default_rng(seed)
    rivalry = Rivalry(csr_array(rng.random((5, 6)) < 0.6))
    clear = clear_pairs(rng.integers(0, 4, len(rivalry.rows)) / 3, rivalry, margin)
    for pages in (rivalry.rows[clear], rivalry.columns[clear]):
        assert len(set(pages.tolist())) == len(pages)
