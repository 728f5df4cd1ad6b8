"""The kernels against their plain twins, and cases whose answer is known by argument."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.align import reference
from twinlink.align import kernels
from twinlink.align.bands import Band, around, first_band, full_band, touches, turned
from twinlink.align.bead_shapes import GALE_CHURCH_SHAPES, SHAPES, BeadShapes
from twinlink.align.lengths import LengthModel, fit_alone
from twinlink.errors import ConfigError

SMALL = BeadShapes.of({"1-1": 0.7, "1-0": 0.05, "0-1": 0.05, "2-1": 0.1, "1-2": 0.1})
SIZES = st.integers(0, 3)


def sums(values):
    return np.concatenate([[0.0], np.cumsum(values)])


def cell_scores(scores, band, shapes):
    def score(i, j, shape):
        return float(scores[band.start[i] + j - band.low[i], [*map(tuple, shapes.array.tolist())].index(shape)])

    return score


@settings(max_examples=40)
@given(SIZES, SIZES, st.randoms(use_true_random=False))
def test_best_path_and_sums_are_those_of_all_sequences(n, m, random):
    band = full_band(n, m)
    scores = np.array([[random.uniform(-3, 1) for _ in SMALL.names] for _ in range(band.n_cells)])
    score, shapes = cell_scores(scores, band, SMALL), [*map(tuple, SMALL.array.tolist())]
    total, chosen = kernels.best_path(scores, SMALL.array, *band)
    expected, beads = reference.best_beads(n, m, shapes, score)
    assert total == pytest.approx(expected)
    assert [shapes[k] for k in chosen] == beads
    log_sum, posteriors = kernels.path_sums(scores, SMALL.array, *band)
    expected_sum, shares = reference.bead_posteriors(n, m, shapes, score)
    assert log_sum == pytest.approx(expected_sum)
    cells = [
        (band.start[i] + j, [shares.get((i, j, shape), 0.0) for shape in shapes]) for i, j in np.ndindex(n + 1, m + 1)
    ]
    assert posteriors[[cell for cell, _ in cells]] == pytest.approx(np.array([row for _, row in cells]))


@settings(max_examples=40)
@given(st.lists(st.integers(1, 300), min_size=1, max_size=6), st.lists(st.integers(1, 300), min_size=1, max_size=6))
def test_scores_by_length_are_those_of_the_formulas(lengths_a, lengths_b):
    a, b = np.array(lengths_a, float), np.array(lengths_b, float)
    band, shapes = full_band(len(a), len(b)), BeadShapes.of(SHAPES)
    priors, model = np.log(shapes.start), np.array([0.1, 6.8, 0.01])
    blocks_a, blocks_b = np.zeros(len(a), np.int64), np.zeros(len(b), np.int64)
    alone_a, alone_b = fit_alone(a), fit_alone(b)
    given_ = (sums(a), sums(b), sums(alone_a), sums(alone_b), shapes.array, priors, model, blocks_a, blocks_b, 0.0)
    given_ += (blocks_a - 1, blocks_b - 1, 0.0)
    scores = kernels.length_scores(*given_, *band)
    classic = kernels.gale_church_scores(sums(a), sums(b), shapes.array, priors, 1.1, 6.8, *band)
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            for k, (da, db) in enumerate(shapes.array.tolist()):
                if da > i or db > j:
                    assert scores[band.start[i] + j, k] == -np.inf
                    continue
                side_a, side_b = slice(i - da, i), slice(j - db, j)
                expected = priors[k]
                if da and db:
                    expected += reference.length_score(
                        a[side_a], b[side_b], alone_a[side_a], alone_b[side_b], (0.1, 6.8, 0.01)
                    )
                assert scores[band.start[i] + j, k] == pytest.approx(expected)
                if abs(a[side_a].sum() * 1.1 - b[side_b].sum()) < 100:  # the twin has no expansion of the tail
                    expected = reference.gale_church_score(a[side_a].sum(), b[side_b].sum(), shapes.start[k], 1.1, 6.8)
                    if expected > -100:
                        assert classic[band.start[i] + j, k] == pytest.approx(expected, abs=1e-4)


SENTENCES = st.lists(st.lists(st.integers(0, 5), max_size=4), min_size=1, max_size=5)


@settings(max_examples=40)
@given(SENTENCES, SENTENCES, st.randoms(use_true_random=False))
def test_words_explain_each_other_as_in_the_formula(x, y, random):
    gain = {(e, f): random.uniform(0, 9) for e in range(6) for f in range(6) if random.random() < 0.5}
    base = [random.uniform(0, 1) for _ in range(6)]
    links = sorted(gain)
    starts = np.searchsorted([e for e, _ in links], np.arange(7))
    to = np.array([f for _, f in links], np.int32)
    flat = [
        (np.array([w for s in side for w in s], np.int32), sums([len(s) for s in side]).astype(int)) for side in (x, y)
    ]
    band = full_band(len(x), len(y))
    found = kernels.explain_words(
        *flat[0],
        *flat[1],
        starts,
        to,
        np.array([gain[link] for link in links], np.float32),
        np.array(base, np.float32),
        *band,
        3,
        0.7,
    )
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            for d in range(1, min(3, i) + 1):
                words = [word for sentence in x[i - d : i] for word in sentence]
                expected = reference.explained(words, y[j - 1], base, gain, 0.7)
                assert found[band.start[i] + j, d - 1] == pytest.approx(expected, abs=1e-4)


def test_gale_church_scores_are_those_of_the_paper():
    """δ = 0 leaves the prior; at δ = 1.96 the two tails are 5 % (any table of the normal distribution)."""
    band, shapes = full_band(1, 1), BeadShapes.of(GALE_CHURCH_SHAPES)
    long = 100 + 1.96 * math.sqrt(6.8 * 100)
    for length_b, tail in ((100.0, 1.0), (long, 0.05)):
        variance = 6.8 * 100 / ((100 + length_b) / 2)
        scores = kernels.gale_church_scores(
            sums([100.0]), sums([length_b]), shapes.array, np.log(shapes.start), 1.0, variance, *band
        )
        assert scores[3, 0] - math.log(0.89 / 0.9999) == pytest.approx(math.log(tail), abs=1e-3)


def test_a_side_never_joins_two_blocks():
    a, b = np.array([20.0, 20.0]), np.array([40.0])
    shapes, band = BeadShapes.of(SHAPES), full_band(2, 1)
    kind = shapes.names.index("2-1")
    for blocks, joined in (([0, 0], True), ([0, 1], False)):
        scores = kernels.length_scores(
            sums(a), sums(b), sums(fit_alone(a)), sums(fit_alone(b)), shapes.array, np.log(shapes.start),
            LengthModel().array(), np.array(blocks), np.zeros(1, np.int64), 1.0,
            np.full(2, -1), np.full(1, -1), 0.0, *band,
        )  # fmt: skip
        assert np.isfinite(scores[-1, kind]) == joined


def test_anchors_add_and_take_off():
    """Blocks 0-1 and 2-0 are partners: three beads gain, are left alone, or lose by the weight."""
    lengths, shapes, band = np.full(3, 20.0), BeadShapes.of(SHAPES), full_band(3, 3)
    given_ = (sums(lengths), sums(lengths), sums(fit_alone(lengths)), sums(fit_alone(lengths)), shapes.array)
    given_ += (np.log(shapes.start), LengthModel().array(), np.arange(3), np.arange(3), 0.0)
    partners = np.array([1, -1, 0]), np.array([2, 0, -1])
    scores = [kernels.length_scores(*given_, *partners, weight, *band) for weight in (0.0, 1.5)]
    before, after = (each.reshape(4, 4, -1)[1:, 1:, shapes.names.index("1-1")] for each in scores)
    assert np.allclose(after - before, [[-1.5, 1.5, -1.5], [-1.5, -1.5, 0], [1.5, -1.5, -1.5]])


@settings(max_examples=60)
@given(
    st.integers(0, 30),
    st.integers(0, 30),
    st.integers(1, 9),
    st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29))),
)
def test_bands_are_connected_and_turn_twice_into_themselves(n, m, width, anchors):
    inside = np.array([(i, j) for i, j in anchors if i < n and j < m], np.int64).reshape(-1, 2)
    band = first_band(inside, n, m, width)
    assert band.low[0] == 0
    assert band.high[-1] == m + 1
    assert np.all(np.diff(band.low) >= 0)
    assert np.all(np.diff(band.high) >= 0)
    assert np.all(band.low[1:] < band.high[:-1])
    other, order = turned(band)
    again, back = turned(other)
    assert [again.low.tolist(), again.high.tolist()] == [band.low.tolist(), band.high.tolist()]
    assert sorted(order.tolist()) == list(range(band.n_cells))
    assert order[back].tolist() == list(range(band.n_cells))


def test_a_path_along_the_edge_is_seen():
    band = around(np.array([0, 10]), np.array([0, 10]), 10, 10, 2)
    straight = np.array([[i, i + 1, i, i + 1] for i in range(10)])
    assert not touches(band, straight)
    edge = straight.copy()
    edge[4:6, 3] = band.high[edge[4:6, 1]] - 1
    assert touches(band, edge)
    assert not touches(full_band(10, 10), edge)


def test_the_band_keeps_to_the_longest_rising_chain():
    right = np.array([(i, i + 20) for i in range(10, 60, 5)])
    wrong = np.array([(12, 75), (55, 3)])
    band = first_band(np.concatenate([right, wrong]), 70, 90, 2)
    assert all(band.low[i] <= j < band.high[i] for i, j in right)
    assert not band.low[12] <= 75 < band.high[12]
    assert isinstance(band, Band)


@pytest.mark.parametrize(
    "names", [{"1-1": 1}, {"1-0": 1, "0-1": 1, "x": 1}, {"1-0": 1, "0-1": 1, "0-0": 1}], ids=["no gap", "name", "empty"]
)
def test_shapes_that_cannot_be_are_refused(names):
    with pytest.raises(ConfigError):
        BeadShapes.of(names)
