"""The chance of a segment, estimated from wrong ones that pass the same filters."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from twinlink.align.filters import UNSURE, Segment, pair_key
from twinlink.align.page_pairs import PairTexts
from twinlink.align.segment_tables import (
    LEAST_COMPARED,
    LOW,
    segment_table,
    share_of_wrong,
    translation_probabilities,
)
from twinlink.align.workers import AlignedPage
from twinlink.tables import SEGMENT

Floats = NDArray[np.float64]


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


def chances_of(given: Floats, wrong: Floats) -> Floats:
    """Chances of different segments with the scores ``given``, in their order."""
    page = aligned(given.tolist(), wrong.tolist())
    return np.array(translation_probabilities([page], [[SEGMENT] * len(given)]), np.float64)


@pytest.mark.parametrize("n", [20, 100, 1000])
def test_segments_distributed_like_the_wrong_ones_are_wrong(n: int) -> None:
    rng = np.random.default_rng(0)
    assert chances_of(rng.normal(size=n), rng.normal(size=500)).mean() < 0.1


@pytest.mark.parametrize(("n", "least"), [(20, 0.95), (100, 0.99), (1000, 0.999)])
def test_segments_far_above_the_wrong_ones_are_right(n: int, least: float) -> None:
    """As sure as their number permits: 1 - ½/n."""
    rng = np.random.default_rng(0)
    assert chances_of(rng.normal(12, 1, n), rng.normal(size=500)).min() > least


def test_where_half_are_wrong_the_chance_is_half_at_the_crossing_of_the_densities() -> None:
    """N(0, 1) and N(3, 1) cross at 1.5."""
    rng = np.random.default_rng(0)
    given = np.sort(np.r_[rng.normal(0, 1, 1000), rng.normal(3, 1, 1000)])
    found = chances_of(given, rng.normal(size=2000))
    assert np.interp(1.5, given, found) == pytest.approx(0.5, abs=0.1)
    assert found.mean() == pytest.approx(0.5, abs=0.05)


def test_few_wrong_segments_are_found_whatever_the_right_ones_look_like() -> None:
    """Right scores have two hills, so the ratio of the densities is not logistic; 3 % are wrong."""
    rng = np.random.default_rng(0)
    right = np.r_[rng.normal(3, 1, 1000), rng.normal(8, 1, 1000)]
    given, wrong = np.r_[rng.normal(-1, 0.5, 60), right], rng.normal(-1, 0.5, 1000)
    found = chances_of(given, wrong)
    assert (1 - found).sum() == pytest.approx(60, abs=15)
    assert found[:60].mean() < 0.2
    assert found[60:].mean() > 0.99


def test_the_order_of_the_scores_is_that_of_the_chances() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 20, 300):
        found = chances_of(np.sort(rng.normal(2, 2, n)), rng.normal(size=50))
        assert ((found >= 0) & (found < 1)).all()
        assert (np.diff(found) >= -1e-12).all()


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
def test_the_share_of_wrong_segments(share: float) -> None:
    rng = np.random.default_rng(0)
    n_wrong = int(4000 * share)
    given = np.r_[rng.normal(0, 1, n_wrong), rng.normal(9, 1, 4000 - n_wrong)]
    assert share_of_wrong(given, rng.normal(size=2000)) == pytest.approx(share, abs=0.03)


def test_the_share_of_wrong_segments_where_none_scores_low() -> None:
    """One counts, so that few segments are not reported as sure."""
    assert share_of_wrong(np.full(20, 9.0), np.arange(5.0)) == pytest.approx(1 / (20 * LOW))
    assert share_of_wrong(np.full(1, 9.0), np.zeros(30)) == 1
