"""The benchmark of parsers compares what it says."""

from __future__ import annotations

import random

import pytest

from experiments.bench import bench_parsers as bench

PAGE = (
    "<!DOCTYPE html><title>T</title><meta name=robots content=noindex><p>a <b>b</b><br>c<script>d</script>"
    "<a href=e rel=Next>f<img src=g.png alt=h></a><new>i</new></p><!-- j --><p><a href=k><img alt=l></a>中"
).encode()


def test_ways_that_find_all_agree_with_the_target() -> None:
    expected = bench.by_target(PAGE)
    assert expected.blocks == ("a b cfi", "中")
    assert expected.links == (("e", "f", "next", ""), ("k", "l", "", ""))
    assert bench.by_style_sheet(PAGE) == bench.by_events(PAGE) == bench.by_compiled_callbacks(PAGE) == expected


def test_a_page_without_anything_is_found_the_same() -> None:
    for way in (bench.by_style_sheet, bench.by_events, bench.by_paths):
        assert way(b"") == bench.by_target(b"") == ((), b"", ())


def test_differences_and_failures_are_not_counted() -> None:
    def fails(_page: bytes) -> None:
        raise ValueError

    assert bench.count_same(bench.by_paths, [PAGE, b"<p>x"]) == 1  # it does not know the alternative text of images
    assert bench.count_same(fails, [PAGE]) == 0


def test_characters_that_part_the_output_are_removed() -> None:
    assert bench.utf8("a\ufdd0b&#xFDD1;c&#64978;".encode()) == b"ab1;c78;"


def test_each_way_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bytes] = []
    monkeypatch.setattr(bench, "ALL", {"bare": calls.append, "other": calls.append})
    seconds = bench.measure([b"x", b"y"], 3, random.Random(0))
    assert list(seconds) == ["bare", "other"]
    assert sorted(calls) == [b"x"] * 6 + [b"y"] * 6
