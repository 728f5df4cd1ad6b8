"""The chance of a segment: told from wrong ones that pass the same filters."""

from __future__ import annotations

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


def test_a_repeated_segment_counts_once_and_each_copy_has_its_own_probability() -> None:
    scores = [4.0 + k / 100 for k in range(80)] + [0.1 + k / 50 for k in range(20)]
    page = aligned(scores, [0.1 + k / 50 for k in range(50)])
    once = translation_probabilities([page], [[SEGMENT] * 100])
    copies = [
        AlignedPage([page.segments[80]._replace(held_out=held_out)], (1, 1), 1.0, []) for held_out in (4.4, 0.1, 9.0)
    ]
    probabilities = translation_probabilities([page, *copies], [[SEGMENT] * 100, *[[SEGMENT]] * 3])
    assert probabilities[:100] == once
    assert probabilities[100:] == [once[40], once[80], once[79]]


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


def test_repeated_segments_have_no_chance_in_the_table() -> None:
    page, verdicts = aligned([4.0] * 4, []), [SEGMENT, UNSURE, "duplicate", "copy"]
    pair = PairTexts("http://x.org/a", "http://x.org/b", [], [])
    table = segment_table("x.org", ("en", "fr"), [pair], [page], [verdicts], [0.5, 0.25, 0.5, None])
    assert table["verdict"].to_pylist() == verdicts
    assert table["chance"].to_pylist() == [0.5, 0.25, None, None]
