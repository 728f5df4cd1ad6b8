"""The chart of the rounds of discovery, in the report's page and as a file that stands alone."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from lxml import etree

from twinlink.review.charts.rounds import LEGEND, rounds_chart, rounds_file
from twinlink.tables import ROUNDS

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def rounds() -> pa.Table:
    row = dict.fromkeys(ROUNDS.names, 0)
    first = {**row, "tried": 4, "added": 4, "all_pairs": 10}
    return pa.Table.from_pylist(
        [first, {**row, "round": 1, "tried": 4, "added": 1, "one_language": 2, "dead": 1, "all_pairs": 30}]
    )


def marks(svg: str, tag: str, class_: str) -> list[etree._Element]:
    root = etree.fromstring(str(svg).encode())
    return [each for each in root.iter(f"{SVG}{tag}") if class_ in (each.get("class") or "").split()]


def test_parts_are_as_high_as_their_sites_are_many(rounds: pa.Table) -> None:
    bars = marks(rounds_chart(rounds), "rect", "bar")
    assert [bar[0].text for bar in bars] == ["0: 4 added", "1: 1 added", "1: 2 not bilingual", "1: 1 dead"]
    heights = [float(bar.get("height") or 0) for bar in bars]
    assert heights == pytest.approx([heights[0], heights[0] / 4, heights[0] / 2, heights[0] / 4], abs=0.2)


def test_the_line_goes_up_with_the_pairs(rounds: pa.Table) -> None:
    first, second = (float(dot.get("cy") or 0) for dot in marks(rounds_chart(rounds), "circle", "dot"))
    assert first > second


def test_the_file_has_its_colours_and_its_legend(rounds: pa.Table) -> None:
    """Every class of a mark has a rule, no rule refers to a variable, and all parts are named."""
    svg = rounds_file(rounds)
    root = etree.fromstring(svg.encode())
    style = "".join(each.text or "" for each in root.iter(f"{SVG}style"))
    assert "var(" not in style
    assert "svg.plot .bar.good { fill: #" in style
    classes = {each.get("class") for each in root.iter() if each.get("class")} - {"plot"}
    for class_ in classes:
        assert f"svg.plot .{str(class_).replace(' ', '.')} " in style, class_
    labels = [each.text for each in marks(svg, "text", "label")]
    assert labels[-len(LEGEND) :] == [label for _, label in LEGEND]
    places = [float(each.get("y") or 0) for each in root.iter(f"{SVG}text")]
    assert max(places) < float(root.get("height") or 0)
    assert re.match(r"0 0 \d+ \d+$", root.get("viewBox") or "")


def test_the_ground_lies_behind_everything(rounds: pa.Table) -> None:
    root = etree.fromstring(rounds_file(rounds).encode())
    drawn = [each.get("class") for each in root if each.tag not in (f"{SVG}style", f"{SVG}title", f"{SVG}desc")]
    assert drawn[0] == "ground"


def test_no_round_is_done_yet() -> None:
    assert etree.fromstring(rounds_file(ROUNDS.empty_table()).encode()).tag == f"{SVG}svg"
