"""The accepted tag distance: lines known by argument, and a search over all lines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.baselines.distance_line import DistanceLine, fit_line, shifted_partners
from twinlink.errors import ShapeError

EXAMPLES = st.lists(
    st.tuples(st.integers(0, 200), st.integers(0, 400).map(lambda tenths: tenths / 10), st.booleans()), max_size=30
)


def separation(line: DistanceLine, examples: list[tuple[int, float, bool]]) -> float:
    under = {kind: [d <= line.at(max(t, 1)) for t, d, right in examples if right is kind] for kind in (True, False)}
    return float(np.mean(under[True]) - np.mean(under[False]))


class TestSeparating:
    def test_right_below_wrong_is_parted_halfway(self) -> None:
        """Right ones at 0.05 and 0.1 of the tags, wrong ones at 0.3: the line at 0.2."""
        line = fit_line([100, 40, 50], [10, 2, 15], [True, True, False])
        assert (line.intercept, line.separation) == (0.0, 1.0)
        assert line.slope == pytest.approx(0.2)
        assert (line.n_right, line.n_wrong) == (2, 1)

    def test_an_intercept_where_small_pages_need_one(self) -> None:
        """Right: 2 for 4 tags, 2 for 100. Wrong: 20 for 100 tags, 4 for 10. No line through the origin parts them."""
        examples = [(4, 2.0, True), (100, 2.0, True), (100, 20.0, False), (10, 4.0, False)]
        line = fit_line(*zip(*examples, strict=True))
        assert line.separation == 1
        assert separation(line, examples) == 1
        assert line.intercept > 0

    def test_alike_means_no_separation(self) -> None:
        line = fit_line([10, 20, 10, 20], [1, 2, 1, 2], [True, True, False, False])
        assert line.separation == 0

    def test_slopes_that_differ_by_rounding_are_alike(self) -> None:
        """No line through the origin parts 7.8 for 39 tags and 24 for 120; the one from 7.8 does."""
        examples = [(39, 7.8, True), (120, 24.0, False)]
        line = fit_line(*zip(*examples, strict=True))
        assert line.intercept == 7.8
        assert separation(line, examples) == line.separation == 1

    def test_all_at_zero(self) -> None:
        line = fit_line([10, 20, 10], [0, 0, 5], [True, True, False])
        assert line.separation == 1
        assert line.at([10, 20]).tolist() == [2.5, 5.0]

    @given(EXAMPLES.filter(lambda examples: len({right for *_, right in examples}) == 2))
    def test_no_line_through_the_origin_parts_them_better(self, examples: list[tuple[int, float, bool]]) -> None:
        line = fit_line(*zip(*examples, strict=True))
        assert separation(line, examples) == pytest.approx(line.separation)
        for t, d, _ in examples:
            other = DistanceLine(0.0, d / max(t, 1) + 1e-9)
            assert line.separation >= separation(other, examples) - 1e-9


class TestCovering:
    def test_only_right_examples(self) -> None:
        """Two in ten may lie above, so the two far out do not count."""
        tags = np.full(10, 100)
        distances = [1, 2, 3, 4, 5, 6, 7, 8, 50, 60]
        line = fit_line(tags, distances, np.ones(10, bool), share=0.75)
        assert line.at(100) == pytest.approx(8)
        assert math.isnan(line.separation)

    @given(EXAMPLES.filter(len), st.sampled_from([0.5, 0.9, 1.0]))
    def test_covers_the_share(self, examples: list[tuple[int, float, bool]], share: float) -> None:
        tags, distances, _ = zip(*examples, strict=True)
        line = fit_line(tags, distances, np.ones(len(tags), bool), share)
        covered = np.count_nonzero(np.array(distances) <= line.at(np.maximum(tags, 1)) + 1e-9)
        assert covered >= share * len(tags) - (1 - share) - 1e-9
        assert line.intercept >= 0
        assert line.slope >= 0

    def test_no_right_example_accepts_nothing_but_the_same(self) -> None:
        assert fit_line([], [], []).at([0, 100]).tolist() == [0, 0]
        assert fit_line([10], [0.5], [False]).at(10) == 0

    def test_arrays_must_fit(self) -> None:
        with pytest.raises(ShapeError, match="expected arrays of one length"):
            fit_line([1, 2], [1.0], [True])


class TestShifted:
    @given(st.lists(st.integers(0, 9), max_size=10))
    def test_neighbours_in_size_swap_partners(self, tags: list[int]) -> None:
        rows = np.arange(len(tags))
        columns = rows + 100
        wrong_rows, wrong_columns = shifted_partners(rows, columns, np.array(tags, np.int64))
        assert len(wrong_rows) == len(wrong_columns) == 2 * max(0, len(tags) - 1)
        assert not np.any(wrong_rows + 100 == wrong_columns)
        place = {page: k for k, page in enumerate(sorted(range(len(tags)), key=lambda k: tags[k]))}
        pairs = zip(wrong_rows.tolist(), (wrong_columns - 100).tolist(), strict=True)
        assert all(abs(place[row] - place[column]) == 1 for row, column in pairs)
