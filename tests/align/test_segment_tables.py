"""The chance of a segment: told from wrong ones that pass the same filters."""

from __future__ import annotations

import pytest

from twinlink.align.filters import UNSURE, Segment, pair_key
from twinlink.align.page_pairs import PairTexts
from twinlink.align.segment_tables import LEAST_COMPARED, segment_table, translation_probabilities
from twinlink.align.workers import AlignedPage
from twinlink.tables import SEGMENT


def aligned(scores: list[float], wrong: list[float], texts: str = "t") -> AlignedPage:
    segments = [Segment(f"s{'x' * k}", f"{texts}{'x' * k}", "1-1", 1.0, 1.0, score) for k, score in enumerate(scores)]
    keys = [(pair_key(f"w{'x' * k}", "v"), score) for k, score in enumerate(wrong)]
    return AlignedPage(segments, (len(scores), len(scores)), 1.0, keys)


def test_segments_that_score_like_wrong_ones_have_a_low_probability() -> None:
    page = aligned([4.0 + k / 100 for k in range(80)] + [0.1] * 20, [0.1 + k / 1000 for k in range(50)])
    probabilities = translation_probabilities([page], [[SEGMENT] * 100])
    right, doubtful = probabilities[:80], probabilities[80:]
    assert all(chance is not None and chance > 0.95 for chance in right)
    assert all(chance is not None and chance < 0.3 for chance in doubtful)


def test_only_kept_segments_have_a_translation_probability() -> None:
    page = aligned([4.0, 4.0, 0.1], [0.1] * LEAST_COMPARED)
    assert [chance is None for chance in translation_probabilities([page], [[SEGMENT, "copy", SEGMENT]])] == [
        False,
        True,
        False,
    ]


def test_too_few_wrong_segments_give_no_probability() -> None:
    page = aligned([4.0, 4.0], [0.1] * (LEAST_COMPARED - 1))
    assert translation_probabilities([page], [[SEGMENT] * 2]) == [None, None]
    assert translation_probabilities([], []) == []


def test_wrong_pairs_found_on_another_page_are_not_counted_as_wrong() -> None:
    page = aligned([4.0, 4.0], [0.1] * LEAST_COMPARED)
    there = [(pair_key(one.source, one.target), 0.1) for one in page.segments]
    fewer = AlignedPage(page.segments, page.sentences, 1.0, [*there, *page.wrong[2:]])
    assert translation_probabilities([fewer], [[SEGMENT] * 2]) == [None, None]


@pytest.mark.parametrize(("least", "said"), [(0.0, SEGMENT), (0.9, UNSURE)])
def test_segments_below_the_minimum_chance_are_dropped(least: float, said: str) -> None:
    page = aligned([4.0] * 80 + [0.1] * 20, [0.1] * 50)
    pair = PairTexts("http://x.org/a", "http://x.org/b", [], [])
    table = segment_table("x.org", ("en", "fr"), [pair], [page], [[SEGMENT] * 100], least)
    assert set(table["verdict"].to_pylist()[:80]) == {SEGMENT}
    assert set(table["verdict"].to_pylist()[80:]) == {said}
    assert table["chance"].null_count == 0
