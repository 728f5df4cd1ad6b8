"""Tags side by side: what both have in common faces itself, nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.review.views.tags import MAX_TAGS, TagView, tags_side_by_side

PAGE = "html head title body h1 p ul li a li a table tr td td tr td td".split()


def expanded(view: TagView, side: str) -> int:
    return sum(row.times for row in view.rows if row.kind == "folded" or getattr(row, side))


def test_equal_pages_are_equal_throughout() -> None:
    view = tags_side_by_side(PAGE, PAGE, folds=False)
    assert {row.kind for row in view.rows} == {"equal"}
    assert view.share == 1
    assert view.common == len(PAGE)


def test_pages_without_anything_in_common() -> None:
    view = tags_side_by_side(["p", "p"], ["a", "a", "a"])
    assert [row.kind for row in view.rows] == ["other", "other", "only_b"]
    assert view.share == 0


def test_distance_counts_insertions_and_deletions() -> None:
    assert tags_side_by_side(PAGE, PAGE).distance == 0
    assert tags_side_by_side(["p", "p"], ["a", "a", "a"]).distance == 5
    assert tags_side_by_side(["p", "a"], ["p", "b", "a"]).distance == 1


def test_empty_pages() -> None:
    view = tags_side_by_side([], [])
    assert view.rows == ()
    assert view.share == 1
    assert [row.kind for row in tags_side_by_side(["p"], []).rows] == ["only_a"]


def test_depth_is_guessed_from_what_may_stand_where() -> None:
    rows = tags_side_by_side(PAGE, PAGE, folds=False).rows
    depth = dict(enumerate(row.indent_a for row in rows))
    assert [depth[k] for k in range(6)] == [0, 1, 2, 1, 2, 2]
    assert depth[7] == depth[9] == depth[6] + 1  # li in ul
    assert depth[12] == depth[15] == depth[11] + 1  # tr in table
    assert depth[13] == depth[14] == depth[16] == depth[12] + 1  # td in tr


def test_long_runs_are_folded_but_beside_differences() -> None:
    tags = ["p"] * 100
    view = tags_side_by_side([*tags, "a", *tags], [*tags, "b", *tags])
    assert [row.kind for row in view.rows] == ["folded", *["equal"] * 3, "other", *["equal"] * 3, "folded"]
    assert expanded(view, "a") == 201


def test_pages_are_compared_up_to_a_bound() -> None:
    view = tags_side_by_side(["p"] * (MAX_TAGS + 3), ["p"] * 5)
    assert (view.left_a, view.left_b) == (3, 0)
    assert view.compared_a == MAX_TAGS


def test_two_large_pages_of_different_tags() -> None:
    tags = [f"t{k % 97}" for k in range(MAX_TAGS)]
    view = tags_side_by_side(tags, tags[::-1])
    assert expanded(view, "a") == expanded(view, "b") == MAX_TAGS


@pytest.mark.parametrize("folds", [False, True])
@given(st.lists(st.sampled_from(["p", "a", "td", "tr", "html"]), max_size=40), st.data())
def test_each_tag_stands_in_one_row(folds: bool, a: list[str], data: st.DataObject) -> None:
    b = data.draw(st.lists(st.sampled_from(["p", "a", "td", "tr", "html"]), max_size=40))
    view = tags_side_by_side(a, b, folds)
    assert expanded(view, "a") == len(a)
    assert expanded(view, "b") == len(b)
    if not folds:
        assert [row.a for row in view.rows if row.a] == a
        assert [row.b for row in view.rows if row.b] == b
        assert sum(row.kind == "equal" for row in view.rows) == view.common
    assert all(row.a == row.b for row in view.rows if row.kind == "equal")
    assert 0 <= view.share <= 1
    assert view.common == _longest_common(a, b)


def _longest_common(a: list[str], b: list[str]) -> int:
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, tag_a in enumerate(a):
        for j, tag_b in enumerate(b):
            best = max(lengths[i][j + 1], lengths[i + 1][j])
            lengths[i + 1][j + 1] = lengths[i][j] + 1 if tag_a == tag_b else best
    return lengths[-1][-1]
