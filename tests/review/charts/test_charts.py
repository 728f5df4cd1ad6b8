"""Charts: well-formed SVG whose lengths and places are those of the numbers, with words for those who do not see it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from markupsafe import Markup
from scipy.sparse import csgraph, csr_array

from twinlink.review.charts.charts import (
    MAX_POINTS,
    Bar,
    Curve,
    Series,
    Stack,
    bars,
    dumbbells,
    histogram,
    lines,
    stacks,
)
from twinlink.review.charts.facing import MAX_ARCS, facing, facing_chart, spectral_order
from twinlink.review.charts.link_matrix import MAX_LINKS_PER_PAIR, is_dense, link_matrix_chart
from twinlink.review.charts.svg import Alternative, Frame, Scale, ticks

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</title><script>alert(1)</script>\x00\x1b\u202e\ufffe & \"quoted\" 'x' <b>"
SAID = Alternative("one", HOSTILE, HOSTILE)


def parsed(svg: str) -> etree._Element:
    """Parse as XML, which forgives nothing."""
    return etree.fromstring(str(svg).encode())


def found(svg: str, tag: str, class_: str = "") -> list[etree._Element]:
    return [
        each for each in parsed(svg).iter(f"{SVG}{tag}") if class_ in (each.get("class") or "").split() or not class_
    ]


def number(element: etree._Element, name: str) -> float:
    return float(element.get(name) or "nan")


def a_facing(titles: str = "title") -> Markup:
    found_ = facing(np.arange(3), np.arange(10, 13), np.array([0, 1, 10, 11]), np.array([1, 2, 11, 12]))
    return facing_chart(SAID, found_, [titles] * 3, [titles] * 3, (titles, titles))


ALL: dict[str, Callable[[str], Markup]] = {
    "histogram": lambda text: histogram(
        SAID, np.array([0.0, 0.5, 1.0]), [Series(text, np.array([3.0, 1.0]))], text, text
    ),
    "lines": lambda text: lines(
        SAID, [Curve(text, np.arange(3.0), np.arange(3.0), dots=True)], text, text, (0, 2), (0, 2)
    ),
    "bars": lambda text: bars(SAID, [Bar(text, 3.0, note=text), Bar(text, 0.0)]),
    "dumbbells": lambda text: dumbbells(SAID, [text], np.array([0.2]), np.array([0.7])),
    "stacks": lambda text: stacks(SAID, [Stack(text, (1.0, 2.0), line=3.0)], [("a", text), ("b", text)], text, text),
    "facing": a_facing,
}


@pytest.mark.parametrize("name", ALL)
def test_charts_are_well_formed_whatever_texts_say(name: str) -> None:
    root = parsed(ALL[name](HOSTILE))
    assert root.tag == f"{SVG}svg"
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
        "svg", "title", "desc", "rect", "line", "polyline", "circle", "text", "path"
    }  # fmt: skip
    assert not any(
        str(name).startswith("on") or name in ("style", "href") for each in root.iter() for name in each.attrib
    )


@pytest.mark.parametrize("name", ALL)
def test_charts_have_a_title_and_a_description(name: str) -> None:
    root = parsed(ALL[name]("label"))
    assert root.get("role") == "img"
    names = [each.get("id") for each in root if each.tag in (f"{SVG}title", f"{SVG}desc")]
    assert root.get("aria-labelledby") == " ".join(map(str, names)) == "one-title one-desc"
    assert "alert(1)" in (root[0].text or "")


@pytest.mark.parametrize("name", ALL)
def test_colours_are_named_by_the_style_sheet_alone(name: str) -> None:
    assert not re.search(r'(fill|stroke)="|#[0-9a-f]{3,6}\b|rgb\(', ALL[name]("label"))


@pytest.mark.parametrize("name", ALL)
def test_everything_lies_within_the_picture(name: str) -> None:
    root = parsed(ALL[name]("label"))
    _, _, width, height = map(float, root.get("viewBox", "").split())
    for each in root.iter():
        for axis, end in (("x", width), ("y", height)):
            for place in (axis, f"{axis}1", f"{axis}2", f"c{axis}"):
                if each.get(place) is not None:
                    assert 0 <= number(each, place) <= end


def test_columns_are_as_high_as_their_counts() -> None:
    svg = histogram(SAID, np.array([0.0, 1.0, 2.0, 3.0]), [Series("n", np.array([10.0, 0.0, 5.0]))], "x", "y")
    first, second = found(svg, "rect", "bar")
    assert number(first, "height") == pytest.approx(2 * number(second, "height"), abs=0.2)
    assert number(first, "y") + number(first, "height") == pytest.approx(number(second, "y") + number(second, "height"))


def test_a_small_count_is_still_seen() -> None:
    svg = histogram(SAID, np.array([0.0, 1.0, 2.0]), [Series("n", np.array([100_000.0, 1.0]))], "x", "y")
    assert number(found(svg, "rect", "bar")[1], "height") >= 1


def test_counts_have_no_ticks_between_whole_numbers() -> None:
    svg = histogram(SAID, np.array([0.0, 1.0]), [Series("n", np.array([1.0]))], "x", "y")
    assert [each.text for each in found(svg, "text") if each.get("text-anchor") == "end"] == ["0", "1"]


def test_a_long_curve_is_thinned_out_but_keeps_its_ends() -> None:
    x = np.linspace(0, 1, 100_000)
    (curve,) = found(lines(SAID, [Curve("c", x, x)], "x", "y", (0, 1), (0, 1)), "polyline")
    points = [tuple(map(float, point.split(","))) for point in curve.get("points", "").split()]
    assert len(points) == MAX_POINTS
    assert (points[0][0], points[-1][0]) == (70, 432)  # the ends of the plane
    assert points[0][1] > points[-1][1]


def test_intervals_stand_at_their_points() -> None:
    curve = Curve("c", np.array([0.5]), np.array([0.5]), "good", np.array([0.25]), np.array([1.0]), dots=True)
    svg = lines(SAID, [curve], "x", "y", (0, 1), (0, 1))
    (dot,) = found(svg, "circle", "dot")
    (whisker,) = found(svg, "path", "interval")
    x, low, high = map(float, re.findall(r"M([\d.]+) ([\d.]+)h8m-4 0V([\d.]+)", whisker.get("d", ""))[0])
    assert x + 4 == pytest.approx(number(dot, "cx"))
    assert low > number(dot, "cy") > high  # y grows downwards


def test_bars_are_as_long_as_their_values() -> None:
    long, short = found(bars(SAID, [Bar("a", 8.0), Bar("b", 2.0), Bar("c", 0.0)]), "rect")
    assert number(long, "width") == pytest.approx(4 * number(short, "width"), abs=0.3)


def test_what_is_not_known_is_not_drawn() -> None:
    svg = dumbbells(SAID, ["both", "one", "none"], np.array([0.0, np.nan, np.nan]), np.array([1.0, 0.5, np.nan]))
    assert [each.get("class") for each in found(svg, "circle")] == ["end quiet", "end full", "end full"]
    places = [number(each, "cx") for each in found(svg, "circle")]
    assert places[2] == pytest.approx((places[0] + places[1]) / 2)


def test_parts_of_a_column_stand_on_each_other() -> None:
    columns = [Stack("0", (3.0, 1.0), line=5.0), Stack("1", (0.0, 2.0), line=9.0)]
    svg = stacks(SAID, columns, [("good", "added"), ("bad", "dead")], "sites", "pairs")
    below, above, alone = found(svg, "rect", "bar")
    assert number(above, "y") + number(above, "height") == pytest.approx(number(below, "y"), abs=0.2)
    assert alone.get("class") == "bar bad"
    assert [bar[0].text for bar in (below, above, alone)] == ["0: 3 added", "0: 1 dead", "1: 2 dead"]
    assert len(found(svg, "circle", "dot")) == 2


@pytest.mark.parametrize(
    "svg",
    [
        lambda: histogram(SAID, np.array([0.0, 1.0]), [Series("n", np.zeros(1))], "x", "y"),
        lambda: lines(SAID, [], "x", "y", (0, 1), (0, 1)),
        lambda: lines(SAID, [Curve("c", np.zeros(0), np.zeros(0))], "x", "y", (0, 0), (0, 0)),
        lambda: bars(SAID, []),
        lambda: dumbbells(SAID, [], np.zeros(0), np.zeros(0)),
        lambda: stacks(SAID, [], [], "y", "line"),
    ],
)
def test_nothing_at_all_can_be_drawn(svg: Callable[[], Markup]) -> None:
    assert parsed(svg()).tag == f"{SVG}svg"


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_round_and_within(low: float, width: float) -> None:
    high = low + width
    found_ = ticks(low, high)
    assert len(found_) <= 8
    assert all(low - 1e-6 * abs(high - low) - 1e-9 <= value <= high + 1e-6 * abs(high - low) + 1e-9 for value in found_)
    steps = np.diff(found_)
    assert (steps > 0).all()
    if len(steps):
        mantissa = steps[0] / 10 ** math.floor(math.log10(steps[0]) + 1e-9)
        rounding = 4 * np.spacing(max(abs(low), abs(high))) / steps[0]
        assert min(abs(mantissa - k) for k in (1, 2, 5, 10)) < 1e-3 + 10 * rounding


def test_a_scale_keeps_to_its_ends() -> None:
    scale = Scale(0.0, 2.0, 100.0, 200.0)
    assert [scale(value) for value in (-1, 0, 1, 2, 3)] == [100, 100, 150, 200, 200]
    assert Scale(1.0, 1.0, 0.0, 10.0)(1.0) == 5
    assert Frame.of((0, 1), (0, 1)).y(1) < Frame.of((0, 1), (0, 1)).y(0)


# Two chains of five pages that face each other: 0 → 1 → 2 → 3 → 4 and 10 → 11 → 12 → 13 → 14
CHAIN_A, CHAIN_B = np.arange(5), np.arange(10, 15)
SOURCE, TARGET = np.array([0, 1, 2, 3, 10, 11, 12, 13]), np.array([1, 2, 3, 4, 11, 12, 13, 14])


def test_halves_that_mirror_each_other_are_mirrored_wholly() -> None:
    found_ = facing(CHAIN_A, CHAIN_B, SOURCE, TARGET)
    assert (found_.n_links, found_.n_mirrored, found_.mirrored, found_.n_menu) == (8, 8, 1.0, 0)
    assert sorted(found_.rows) == [0, 1, 2, 3, 4]
    assert {tuple(link) for link in found_.links_a.tolist()} == {tuple(link) for link in found_.links_b.tolist()}


def test_a_link_that_is_missing_on_one_side_has_no_mirror_image() -> None:
    found_ = facing(CHAIN_A, CHAIN_B, SOURCE[:-1], TARGET[:-1])
    assert (found_.n_links, found_.n_mirrored) == (7, 6)


def test_a_link_is_counted_once_and_links_to_others_not_at_all() -> None:
    source = np.array([0, 0, 0, 0, 99, 0])
    target = np.array([1, 1, 10, 0, 1, 99])  # twice, across, to itself, from and to a page in no pair
    found_ = facing(CHAIN_A, CHAIN_B, source, target)
    assert (found_.n_links, found_.n_mirrored) == (1, 0)


def test_pairs_the_wrong_way_round_mirror_little() -> None:
    assert facing(CHAIN_A, CHAIN_B[[2, 0, 4, 1, 3]], SOURCE, TARGET).n_mirrored == 0


def test_links_to_the_menu_are_left_out() -> None:
    pages_a, pages_b = np.arange(20), np.arange(100, 120)
    source = np.concatenate([pages_a, pages_b, [3]])
    target = np.concatenate([np.zeros(20, int), np.full(20, 100), [4]])  # all link to the first page of their half
    found_ = facing(pages_a, pages_b, source, target)
    assert (found_.n_links, found_.n_menu) == (1, 38)


def test_the_most_linked_are_shown_and_neighbours_stand_near() -> None:
    n = 200
    ring = np.arange(n)
    found_ = facing(
        ring,
        ring + 1000,
        np.concatenate([ring, ring + 1000]),
        np.concatenate([(ring + 1) % n, (ring + 1) % n + 1000]),
        20,
    )
    assert len(found_.rows) == 20
    assert found_.n_pairs == n
    assert found_.n_links == 2 * n  # counted among all pairs
    assert np.abs(np.diff(found_.links_a, axis=1)).max() == 1  # a piece of the ring, in its order


def test_a_site_without_pairs_or_links() -> None:
    nothing = np.zeros(0, np.int64)
    found_ = facing(nothing, nothing, nothing, nothing)
    assert (len(found_.rows), found_.mirrored) == (0, None)
    assert parsed(facing_chart(SAID, found_, [], [], ("en", "fr"))).tag == f"{SVG}svg"


def test_mirrored_links_are_coloured_and_others_dashed() -> None:
    found_ = facing(CHAIN_A, CHAIN_B, SOURCE[:-1], TARGET[:-1])
    svg = facing_chart(SAID, found_, list("abcde"), list("vwxyz"), ("en", "fr"))
    arcs = [str(each.get("class")) for each in found(svg, "path", "arc")]
    assert sorted(arcs) == ["arc"] + ["arc a"] * 3 + ["arc b"] * 3
    assert [each.text for each in found(svg, "text")[:2]] == ["en", "fr"]
    assert len(found(svg, "circle", "node")) == 10


def test_very_many_links_are_not_all_drawn() -> None:
    n = 26
    rows, columns = (np.repeat(np.arange(n), n), np.tile(np.arange(n), n))
    found_ = facing(np.arange(7), np.arange(100, 107), rows, columns)
    assert found_.n_links == 42  # too few pairs for a menu
    dense = type(found_)(np.arange(n), np.stack([rows, columns], 1)[rows != columns], np.zeros((0, 2), int), n, 1, 0, 0)
    svg = facing_chart(SAID, dense, ["t"] * n, ["t"] * n, ("en", "fr"))
    assert len(found(svg, "path", "arc")) == MAX_ARCS


def test_long_titles_do_not_run_into_each_other() -> None:
    found_ = facing(CHAIN_A, CHAIN_B, SOURCE, TARGET)
    svg = facing_chart(SAID, found_, ["word " * 50] * 5, ["中文字" * 50] * 5, ("en", "zh"))
    names = [str(each.text) for each in found(svg, "text", "halo")]
    assert all(name.endswith("…") for name in names)
    assert {len(name) < 45 for name in names[::2]} == {len(name) < 25 for name in names[1::2]} == {True}


def test_matrix_has_a_full_cell_for_mirrored_links_and_half_a_cell_for_others() -> None:
    # a: 0 → 1 → 2; b: only 10 → 11, and 12 → 10 besides
    found_ = facing(np.arange(3), np.arange(10, 13), np.array([0, 1, 10, 12]), np.array([1, 2, 11, 10]))
    svg = parsed(link_matrix_chart(SAID, found_))
    cells = [each.get("class") for each in svg.iter() if str(each.get("class")).startswith("bar")]
    assert sorted(cells) == ["bar", "bar a", "bar b"]
    (full,) = (each for each in svg.iter() if each.get("class") == "bar")
    place = {int(row): number for number, row in enumerate(found_.rows)}
    size = float(full.get("width")) + 2
    at = [round((float(full.get(axis)) - 29) / size) for axis in ("y", "x")]
    assert at == [place[0], place[1]]
    numbers = [each.text for each in svg.iter() if str(each.get("class")).endswith("tick")]
    assert sorted(numbers) == ["1", "1", "2", "2", "3", "3"]


def test_dense_is_what_has_many_links_for_each_pair() -> None:
    rows, columns = (ends.ravel() for ends in np.indices((7, 7)))
    whole = facing(np.arange(7), np.arange(100, 107), rows, columns)
    assert len(whole.links_a) == 42
    assert not is_dense(whole)
    both = facing(np.arange(7), np.arange(100, 107), np.r_[rows, rows + 100], np.r_[columns, columns + 100])
    assert len(both.links_a) + len(both.links_b) == 84 > MAX_LINKS_PER_PAIR * 7
    assert is_dense(both)


def test_matrix_without_pairs_is_empty() -> None:
    nothing = np.zeros(0, np.int64)
    svg = parsed(link_matrix_chart(SAID, facing(nothing, nothing, nothing, nothing)))
    assert not [each for each in svg.iter() if str(each.get("class")).startswith("bar")]


def length_of_links(order: np.ndarray, ends: np.ndarray) -> float:
    """Return the mean number of places between linked pages."""
    place = np.argsort(order)
    return float(np.abs(place[ends[0]] - place[ends[1]]).mean())


def symmetric(ends: np.ndarray, n: int) -> csr_array:
    return csr_array((np.ones(2 * ends.shape[1]), (ends.ravel(), ends[::-1].ravel())), shape=(n, n))


@given(st.integers(0, 2**32 - 1), st.integers(1, 26))
def test_pages_of_a_chain_come_one_after_another(seed: int, n: int) -> None:
    pages = np.random.default_rng(seed).permutation(n)
    order = spectral_order(symmetric(np.stack([pages[:-1], pages[1:]]), n)).tolist()
    assert order in (pages.tolist(), pages[::-1].tolist())
    assert 2 * order.index(0) <= n


@given(st.integers(0, 2**32 - 1))
def test_linked_pages_are_closer_than_in_a_breadth_first_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pages = rng.permutation(26)
    ends = pages[np.array([(row, rng.integers(max(0, row - 4), row)) for row in range(1, 26)]).T]
    links = symmetric(ends, 26)
    breadth_first = csgraph.reverse_cuthill_mckee(links, symmetric_mode=True)
    assert length_of_links(spectral_order(links), ends) <= length_of_links(breadth_first, ends) + 0.5


@given(st.integers(0, 2**32 - 1), st.integers(0, 26))
def test_each_page_has_one_place_also_where_few_are_linked(seed: int, n: int) -> None:
    ends = np.random.default_rng(seed).integers(0, max(n, 1), (2, n // 3))
    assert sorted(spectral_order(symmetric(ends, n)).tolist()) == list(range(n))
