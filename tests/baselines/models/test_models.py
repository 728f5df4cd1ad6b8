"""Models over a set of pairs: cases known by argument, literal twins, odd sets, and what must always hold."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec
import numpy as np
import pytest
import scipy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import fields
from numpy.typing import NDArray

from twinlink.baselines.alignment import StructureAlignments
from twinlink.baselines.models import clusters
from twinlink.baselines.models.clusters import calinski_harabasz, judge_hc1, judge_hc2
from twinlink.baselines.models.judge import MODELS, ModelName, judge
from twinlink.baselines.models.mixture import fit_mixture, judge_mixture
from twinlink.baselines.models.thresholds import find_threshold, judge_jangeldin, judge_strand
from twinlink.config.baselines import (
    ClusterSettings,
    JangeldinSettings,
    MixtureSettings,
    ModelSettings,
    StrandSettings,
)
from twinlink.errors import ConfigError

Row = tuple[int, int, int, int, int]


def pairs(rows: Sequence[Row], p_values: Sequence[float] | None = None) -> StructureAlignments:
    """Pairs from W, M1, M2, L1 and L2."""
    table = np.array(rows, np.int64).reshape(-1, 5)
    p = np.full(len(table), np.nan) if p_values is None else np.array(p_values)
    zeros = np.zeros(len(table), np.int64)
    return StructureAlignments(*table.T.copy(), aligned=zeros, unequal=zeros, correlation=1 - p, p_value=p)


def at(cost: float, length: float) -> Row:
    """A pair with P_d and L_d of two decimals."""
    return (round(200 * cost), 100, 100, round(100 + 100 * length), round(100 - 100 * length))


def taken(alignment: StructureAlignments, order: NDArray[np.int64]) -> StructureAlignments:
    return StructureAlignments(**{field.name: getattr(alignment, field.name)[order] for field in fields(alignment)})


@st.composite
def sets(draw: st.DrawFn, min_size: int = 0) -> StructureAlignments:
    """Any pairs that an alignment can give, many of them equal."""
    rows = []
    for _ in range(draw(st.integers(min_size, 15))):
        m1, m2 = draw(st.sampled_from([(0, 0), (1, 0), (3, 3), (50, 50), (400, 390), (9, 60)]))
        lone = abs(m1 - m2) + 2 * draw(st.sampled_from([0, 0, 0, 1, min(m1, m2)]))
        l1, l2 = draw(st.sampled_from([(0, 0), (0, 70), (10, 10), (1000, 900), (1000, 1000), (10**6, 1)]))
        rows.append((min(lone, m1 + m2), m1, m2, l1, l2))
    p_values = [draw(st.sampled_from([0.0, 0.04, 0.05, 0.5, np.nan])) for _ in rows]
    return pairs(rows, p_values)


MIXED = pairs(
    [at(0.0, 0.01 * (k % 3)) for k in range(20)] + [at(0.05, 0.02)] * 3 + [at(0.6, 0.8), at(0.5, 0.9)],
    [0.001] * 25,
)
"""23 parallel pairs, then two that are not."""


# ---- all models


@pytest.mark.parametrize("model", MODELS)
def test_finds_what_is_plain_to_see(model: ModelName) -> None:
    if model == "hc2":  # looks for more clusters where it can, as in the paper
        found = judge(MIXED, model, ModelSettings(clusters=ClusterSettings(max_clusters=2)))
    else:
        found = judge(MIXED, model)
    assert found.parallel.tolist() == [True] * 23 + [False] * 2


@pytest.mark.parametrize("model", MODELS)
@given(alignment=sets())
@example(alignment=pairs([at(0.0, 0.5), at(0.5, 0.0)]))  # two points that look like a matrix of distances
@settings(max_examples=40)
def test_any_set_has_verdicts(model: ModelName, alignment: StructureAlignments) -> None:
    found = judge(alignment, model)
    assert len(found) == len(alignment)
    assert np.isfinite(found.score).all()
    assert found.parallel.tolist() == (found.score > 0).tolist()
    again = judge(alignment, model)
    assert again.score.tolist() == found.score.tolist()


@pytest.mark.parametrize("model", MODELS)
def test_no_pairs(model: ModelName) -> None:
    assert judge(pairs([]), model).parallel.tolist() == []


@pytest.mark.parametrize("model", MODELS)
def test_one_pair_and_equal_pairs(model: ModelName) -> None:
    """Structure that is the same on both sides is parallel, one pair or ten; clusters cannot tell one pair from one."""
    for n in (1, 10):
        assert judge(pairs([at(0.0, 0.0)] * n, [0.001] * n), model).parallel.all()
        apart = judge(pairs([at(0.9, 0.9)] * n, [0.001] * n), model).parallel
        assert apart.all() if model.startswith("hc") else not apart.any()


@pytest.mark.parametrize("model", MODELS)
def test_the_order_of_the_pairs_does_not_matter(model: ModelName) -> None:
    rng = np.random.default_rng(3)
    rows = [(2 * rng.integers(0, 30), 100, 100, rng.integers(50, 150), rng.integers(50, 150)) for _ in range(40)]
    alignment = pairs(rows, rng.random(40).tolist())
    order = rng.permutation(40)
    straight, mixed = judge(alignment, model), judge(taken(alignment, order), model)
    np.testing.assert_allclose(mixed.score, straight.score[order], rtol=1e-3, atol=1e-6)


def test_unknown_model() -> None:
    with pytest.raises(ConfigError, match="no model 'best'; there are strand, hc1, hc2, mixture, jangeldin"):
        judge(MIXED, "best")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ['{"strand":{"max_p":2}}', '{"jangeldin":{"step":0}}', '{"clusters":{"max_clusters":1}}']
)
def test_settings_have_ranges(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=ModelSettings)


# ---- STRAND


@pytest.mark.parametrize(
    ("cost", "p", "parallel"),
    [
        (0.0, 0.0, True),
        (0.19, 0.049, True),
        (0.2, 0.0, False),
        (0.0, 0.05, False),
        (0.0, 1.0, False),
        (0.0, np.nan, False),
        (1.0, np.nan, False),
    ],
)
def test_strand_baseline(cost: float, p: float, parallel: bool) -> None:
    found = judge_strand(pairs([at(cost, 0.0)], [p]))
    assert found.parallel.tolist() == [parallel]
    assert found.score[0] <= 1


def test_strand_settings() -> None:
    alignment = pairs([at(0.3, 0.0), at(0.1, 0.0)], [0.01, 0.1])
    assert judge_strand(alignment, StrandSettings(max_cost=0.4)).parallel.tolist() == [True, False]
    assert judge_strand(alignment, StrandSettings(max_p=0.2)).parallel.tolist() == [False, True]
    assert not judge_strand(alignment, StrandSettings(max_cost=0, max_p=0)).parallel.any()


@given(sets())
def test_strand_is_its_definition(alignment: StructureAlignments) -> None:
    expected = (alignment.cost_share < 0.2) & (alignment.p_value < 0.05)
    assert judge_strand(alignment).parallel.tolist() == expected.tolist()


# ---- Algorithm 1


def literal_algorithm_1(alignment: StructureAlignments) -> tuple[float, float]:
    """μ and the threshold, word by word after the paper."""
    s = [k for k in range(len(alignment)) if alignment.cost_share[k] < 0.2]
    d = [k for k in s if alignment.cost_share[k] == 0]
    length = alignment.length_difference
    mean = float(np.mean(length[d]))
    threshold = step = 0.01
    n = sum(abs(length[k] - mean) < threshold for k in s)
    delta, loops = 1.0, 1
    while delta >= 0.01:
        loops += 1
        threshold = loops * step  # not added up, which rounds
        n_new = sum(abs(length[k] - mean) < threshold for k in s)
        delta = n_new / n - 1
        n = n_new
    return mean, threshold


def test_algorithm_1_by_hand() -> None:
    """μ = 0. Within .01 are 10 pairs, within .02 as many, so Δ = 0: it stops, and the pairs at .05 stay outside."""
    lengths = [0.0] * 10 + [0.05] * 4
    fit = find_threshold(pairs([at(0.0, length) for length in lengths[:10]] + [at(0.1, 0.05)] * 4))
    assert (fit.mean, fit.threshold, fit.pairs, fit.notes) == (0.0, 0.02, 14, ())
    assert fit.counts.tolist() == [10, 10]
    assert fit.shares.tolist() == [10 / 14, 10 / 14]
    assert fit.thresholds.tolist() == [0.01, 0.02]
    assert np.isnan(fit.growth[0])
    assert fit.growth.tolist()[1:] == [0.0]


def test_algorithm_1_widens_while_pairs_come_in() -> None:
    """Ten pairs at 0, two at .01, one at .02, and two at .05 behind a gap; P_d > 0 beside μ."""
    alignment = pairs(
        [at(0.0, 0.0)] * 10 + [at(0.1, 0.01)] * 2 + [at(0.1, -0.02)] + [at(0.1, 0.05)] * 2 + [at(0.3, 0.0)]
    )
    fit = find_threshold(alignment)
    assert fit.counts.tolist() == [10, 12, 13, 13]
    assert fit.threshold == pytest.approx(0.04)
    assert fit.growth.tolist()[1:] == pytest.approx([0.2, 1 / 12, 0.0])
    found = judge_jangeldin(alignment)
    assert found.parallel.tolist() == [True] * 13 + [False] * 3
    assert found.found == {"similar": 15, "equal": 10, "mean": 0.0, "threshold": fit.threshold, "loops": 3}


def test_algorithm_1_goes_on_at_just_the_growth_asked_for() -> None:
    fit = find_threshold(pairs([at(0.0, 0.0)] * 100 + [at(0.1, 0.01)]))
    assert fit.counts.tolist() == [100, 101, 101]


def test_algorithm_1_settings() -> None:
    alignment = pairs([at(0.0, 0.0)] * 10 + [at(0.1, 0.01)] * 2 + [at(0.1, 0.03)] * 2 + [at(0.25, 0.0)])
    assert find_threshold(alignment).threshold == pytest.approx(0.03)
    assert find_threshold(alignment, JangeldinSettings(min_growth=0.5)).threshold == pytest.approx(0.02)
    assert find_threshold(alignment, JangeldinSettings(step=0.02)).thresholds.tolist() == pytest.approx(
        [0.02, 0.04, 0.06]
    )
    assert find_threshold(alignment, JangeldinSettings(max_cost=0.3)).pairs == 15


def test_algorithm_1_without_an_equal_pair() -> None:
    fit = find_threshold(pairs([at(0.1, 0.2), at(0.1, 0.1), at(0.05, 0.1), at(0.3, -0.9)]))
    assert fit.notes == ("no-equal-pair",)
    assert fit.mean == pytest.approx(0.1)
    assert fit.counts[0] == 2


def test_algorithm_1_without_a_pair_near_the_mean() -> None:
    """Two equal pairs on either side of their mean: it widens until it meets them."""
    fit = find_threshold(pairs([at(0.0, 0.05), at(0.0, -0.05)]))
    assert fit.notes == ("first-count-0",)
    assert fit.counts.tolist() == [0, 0, 0, 0, 0, 2, 2]
    assert fit.growth.tolist()[1:] == [np.inf] * 5 + [0.0]
    assert judge_jangeldin(pairs([at(0.0, 0.05), at(0.0, -0.05)])).parallel.all()


def test_algorithm_1_without_a_similar_pair() -> None:
    found = judge_jangeldin(pairs([at(0.2, 0.0), at(0.9, 0.0)]))
    assert not found.parallel.any()
    assert found.notes == ("no-similar-pair",)
    assert (found.found["loops"], found.found["similar"], found.found["equal"]) == (0, 0, 0)


@pytest.mark.parametrize("name", ["step", "min_growth"])
def test_algorithm_1_must_end(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        JangeldinSettings(**{name: 0})


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(-25, 25)), min_size=1, max_size=40))
def test_algorithm_1_equals_the_printed_loop(made: list[tuple[int, int]]) -> None:
    alignment = pairs([at(0.0, 0.0)] * 3 + [at(cost / 50, length / 100) for cost, length in made])
    fit = find_threshold(alignment)
    if "first-count-0" not in fit.notes:
        assert (fit.mean, fit.threshold) == literal_algorithm_1(alignment)
    expected = (alignment.cost_share < 0.2) & (np.abs(alignment.length_difference - fit.mean) < fit.threshold)
    assert judge_jangeldin(alignment).parallel.tolist() == expected.tolist()


@given(sets(min_size=1))
def test_algorithm_1_ends_with_a_trace_that_rises(alignment: StructureAlignments) -> None:
    fit = find_threshold(alignment)
    assert len(fit.thresholds) == len(fit.counts) == len(fit.growth) <= 202
    assert (np.diff(fit.counts) >= 0).all()
    assert fit.counts[-1] <= fit.pairs
    assert not (fit.growth[1:-1] < 0.01).any()
    assert len(fit.growth) == 1 or fit.growth[-1] < 0.01


# ---- HC1 and HC2


def literal_clusters(points: NDArray[np.float64], n_clusters: int) -> set[frozenset[int]]:
    """Average linkage as defined: join the two clusters with the least mean distance between their points."""
    groups = [frozenset([k]) for k in range(len(points))]

    def apart(x: frozenset[int], y: frozenset[int]) -> float:
        return float(np.mean([np.linalg.norm(points[i] - points[j]) for i in x for j in y]))

    while len(groups) > n_clusters:
        x, y = min(itertools.combinations(groups, 2), key=lambda two: apart(*two))
        groups = [group for group in groups if group not in (x, y)] + [x | y]
    return set(groups)


def literal_index(points: NDArray[np.float64], groups: set[frozenset[int]]) -> float:
    n, k = len(points), len(groups)
    middle = points.mean(axis=0)
    centre = {group: points[list(group)].mean(axis=0) for group in groups}
    within = sum(((points[i] - centre[group]) ** 2).sum() for group in groups for i in group)
    between = sum(len(group) * ((centre[group] - middle) ** 2).sum() for group in groups)
    return float((between / (k - 1)) / (within / (n - k)))


@pytest.mark.parametrize("seed", range(8))
def test_clusters_equal_the_plain_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 14
    rows = [
        (2 * rng.integers(0, 5000), 10_000, 10_000, rng.integers(1000, 9000), rng.integers(1000, 9000))
        for _ in range(n)
    ]
    alignment = pairs(rows)
    points = np.column_stack([alignment.cost_share, alignment.length_difference])
    two = literal_clusters(points, 2)
    assert frozenset(np.flatnonzero(judge_hc1(alignment).parallel).tolist()) in two
    assert judge_hc1(alignment).parallel.sum() == max(map(len, two))
    indices = {k: literal_index(points, literal_clusters(points, k)) for k in range(2, n)}
    found = judge_hc2(alignment)
    assert found.found["clusters"] == max(indices, key=lambda k: indices[k])
    assert found.found["index"] == pytest.approx(max(indices.values()))
    assert frozenset(np.flatnonzero(found.parallel).tolist()) in literal_clusters(points, int(found.found["clusters"]))


def test_calinski_harabasz_by_hand() -> None:
    """Points 0, 2 | 10, 12: B = 4·5², W = 4·1², so (100/1)/(4/2); centres alone leave no spread."""
    line = np.array([[0.0], [2.0], [10.0], [12.0]])
    assert calinski_harabasz(line, np.array([0, 0, 1, 1])) == 50
    assert calinski_harabasz(line, np.array([0, 0, 0, 0])) == 0
    assert calinski_harabasz(line, np.array([0, 1, 2, 3])) == 0
    assert calinski_harabasz(np.array([[0.0], [0.0], [1.0]]), np.array([0, 0, 1])) == np.inf


def test_hc2_finds_how_many_clusters_there_are() -> None:
    cloud = [(0.0, 0.0), (0.01, 0.0), (0.0, 0.01), (0.01, 0.01)]
    places = [(0.0, 0.0, 4), (0.5, 0.5, 3), (0.6, -0.6, 3)]
    alignment = pairs([at(x + dx, y + dy) for x, y, n in places for dx, dy in cloud[:n]])
    found = judge_hc2(alignment)
    assert (found.found["clusters"], found.found["largest"]) == (3, 4)
    assert found.parallel.tolist() == [True] * 4 + [False] * 6
    assert judge_hc1(alignment).found["clusters"] == 2


def test_hc2_of_points_without_spread() -> None:
    """Two places with any number of pairs: two clusters, with an infinite index."""
    found = judge_hc2(pairs([at(0.0, 0.0)] * 3 + [at(0.5, 0.5)] * 2))
    assert (found.found["clusters"], found.found["index"]) == (2, np.inf)
    assert found.parallel.tolist() == [True] * 3 + [False] * 2


@pytest.mark.parametrize("judge_clusters", [judge_hc1, judge_hc2])
def test_of_two_clusters_of_one_size_the_more_alike_is_parallel(judge_clusters: object) -> None:
    rows = [at(0.5, 0.0), at(0.5, 0.0), at(0.0, 0.5), at(0.0, 0.5)]
    assert judge_clusters(pairs(rows)).parallel.tolist() == [False, False, True, True]  # type: ignore[operator]
    rows = [at(0.1, 0.5), at(0.1, 0.5), at(0.1, -0.5), at(0.1, -0.5)]
    assert judge_clusters(pairs(rows)).parallel.tolist() == [True, True, False, False]  # type: ignore[operator]


def test_two_different_pairs() -> None:
    """HC1 must have two clusters; for HC2 two single points are no clusters."""
    alignment = pairs([at(0.5, 0.0), at(0.0, 0.0)])
    assert judge_hc1(alignment).parallel.tolist() == [False, True]
    assert judge_hc2(alignment).parallel.tolist() == [True, True]


def test_scores_fall_with_the_distance_from_the_parallel_pairs() -> None:
    found = judge_hc1(pairs([at(0.0, 0.0)] * 9 + [at(0.02, 0.0), at(0.6, 0.0), at(0.9, 0.0)]))
    assert found.parallel.tolist() == [True] * 10 + [False] * 2
    assert (np.diff(found.score[8:]) < 0).all()
    assert found.score.min() > -1


def test_pair_at_the_centre_of_a_cluster_around_it_is_not_in_it() -> None:
    """Verdicts follow the clusters even where the centre of the largest lies on a pair of another."""
    ring = [at(0.5, 0.0), at(0.5, 0.98), at(0.0, 0.49), at(0.98, 0.49)]
    points = pairs([*ring, *ring, at(0.495, 0.49)])
    labels = np.array([0] * 8 + [1])
    array = np.column_stack([points.cost_share, points.length_difference])
    found = clusters._verdicts(array, array, labels)
    assert found.parallel.tolist() == [True] * 8 + [False]


def test_large_sets_are_clustered_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "MAX_PAIRS", 9)
    found = judge_hc1(MIXED)
    assert found.parallel.tolist() == [True] * 23 + [False] * 2
    assert found.notes == ("sampled",)
    assert found.found["largest"] == 23


# ---- mixture


def drawn(n_parallel: int, n_other: int, seed: int = 0) -> StructureAlignments:
    """Pairs drawn from a mixture: parallel ones with few lone tokens and like lengths, others with independent ones."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(n_parallel + n_other):
        m = int(rng.integers(30, 200))
        a, b = (0.4, 20.0) if k < n_parallel else (5.0, 20.0)
        lone = int(scipy.stats.betabinom.rvs(2 * m, a, b, random_state=rng))
        l1 = float(rng.lognormal(7, 0.8))
        l2 = l1 * float(rng.lognormal(0.1, 0.1)) if k < n_parallel else float(rng.lognormal(7.1, 0.8))
        rows.append((lone, m, m, round(l1), round(l2)))
    return pairs(rows)


def test_mixture_finds_what_it_was_drawn_from() -> None:
    alignment = drawn(300, 120)
    fit = fit_mixture(alignment)
    assert fit.converged
    assert fit.share == pytest.approx(300 / 420, abs=0.03)
    assert fit.cost[1] == pytest.approx([0.4, 20], rel=0.4)
    assert fit.cost_share == pytest.approx([0.2, 0.4 / 20.4], rel=0.25)
    assert fit.centre[1] == pytest.approx(-0.1, abs=0.02)
    assert np.sqrt(fit.variance[1]) == pytest.approx(0.1, abs=0.02)
    right = (fit.log_odds > 0) == (np.arange(420) < 300)
    assert right.mean() > 0.97


def test_mixture_leaves_a_set_whole_that_is_all_parallel() -> None:
    found = judge_mixture(drawn(300, 0))
    assert found.parallel.mean() > 0.97
    assert found.found["share"] > 0.9


def test_log_odds_are_those_of_the_stated_distributions() -> None:
    alignment = drawn(40, 20)
    fit = fit_mixture(alignment)
    ratio = np.log((alignment.length_a + 1) / (alignment.length_b + 1))
    joint = [
        np.log(share)
        + scipy.stats.betabinom.logpmf(alignment.cost, alignment.tokens_a + alignment.tokens_b, *fit.cost[k])
        + scipy.stats.norm.logpdf(ratio, fit.centre[k], np.sqrt(fit.variance[k]))
        for k, share in enumerate([1 - fit.share, fit.share])
    ]
    np.testing.assert_allclose(fit.log_odds, joint[1] - joint[0], atol=1e-8)


def test_lengths_of_pairs_that_are_not_parallel_are_independent() -> None:
    alignment = drawn(40, 20)
    fit = fit_mixture(alignment)
    first, second = np.log(alignment.length_a + 1), np.log(alignment.length_b + 1)
    assert fit.centre[0] == pytest.approx(first.mean() - second.mean())
    assert fit.variance[0] == pytest.approx(first.var() + second.var())


@given(sets(min_size=1))
@settings(max_examples=40)
def test_mixture_climbs_and_never_degenerates(alignment: StructureAlignments) -> None:
    fit = fit_mixture(alignment)
    assert (np.diff(fit.log_posterior) >= -1e-9 * (1 + np.abs(fit.log_posterior[1:]))).all()
    assert 0 < fit.share < 1
    assert (fit.cost > 0).all()
    assert np.isfinite(fit.cost).all()
    assert 0 < fit.variance[1] <= fit.variance[0]


def test_mixture_says_when_rounds_run_out() -> None:
    found = judge_mixture(drawn(30, 15), MixtureSettings(max_rounds=1))
    assert "not-converged" in found.notes
    assert found.found["rounds"] == 1


def test_mixture_has_nothing_to_say_about_no_pairs() -> None:
    assert len(judge_mixture(pairs([]))) == 0
