"""WebMining's filters: one pair for each reason, the fitted line, and counts that add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.baselines.distance_line import DistanceLine
from twinlink.baselines.filters import (
    SideShapes,
    fit_line_unlabelled,
    languages_fit,
    relative_difference,
    size_verdicts,
    structure_verdicts,
)
from twinlink.config.baselines import WebminingSettings
from twinlink.errors import ShapeError
from twinlink.similarity.filter_verdicts import all_kept, with_filter
from twinlink.sparse import entries

P, P_END, B = -1, -2, -3


def page(n_tags: int, n_texts: int, words: int = 10) -> NDArray[np.int32]:
    return np.array([P] * n_tags + [words] * n_texts, np.int32)


def side(*pages: tuple[NDArray[np.int32], int, str]) -> SideShapes:
    tokens, sizes, languages = zip(*pages, strict=True)
    return SideShapes(tokens, np.array(sizes, np.int64), languages)


class TestInOrder:
    """One English page of 1,000 bytes, 100 tags, 10 texts, against French pages each of which fails one filter."""

    english = side((page(100, 10), 1000, "en"))
    everything = csr_array(np.ones((1, 1)))

    @pytest.mark.parametrize(
        ("n_bytes", "n_tags", "n_texts", "language", "reason"),
        [
            (1000, 100, 10, "fr", ""),
            (700, 80, 6, "fr", ""),
            (699, 100, 10, "fr", "size"),
            (1429, 100, 10, "fr", "size"),
            (1428, 100, 10, "fr", ""),
            (1000, 79, 10, "fr", "tags"),
            (1000, 126, 10, "fr", "tags"),
            (1000, 100, 5, "fr", "paragraphs"),
            (1000, 100, 17, "fr", "paragraphs"),
            (1000, 100, 10, "en", "language"),
            (1000, 100, 10, "de", "language"),
            (1000, 100, 10, "und", "language"),
            (1, 1, 1, "en", "size"),
            (1000, 1, 1, "en", "tags"),
            (1000, 100, 1, "en", "paragraphs"),
        ],
    )
    def test_first_reason(self, n_bytes: int, n_tags: int, n_texts: int, language: str, reason: str) -> None:
        other = side((page(n_tags, n_texts), n_bytes, language))
        verdicts = size_verdicts(self.english, other, self.everything, ["en", "fr"])
        assert verdicts.reasons() == [reason]
        assert np.isnan(verdicts.scores).all()

    def test_thresholds_are_settings(self) -> None:
        other = side((page(50, 2), 400, "fr"))
        loose = WebminingSettings(size_difference=0.6, tag_difference=0.5, paragraph_difference=0.8)
        assert size_verdicts(self.english, other, self.everything, settings=loose).reasons() == [""]

    def test_structure_comes_last(self) -> None:
        """The line at 100 tags is 3: distances 0, 2 (twenty words), 3 and 4, and one that fell before."""
        pages = [page(100, 10), page(100, 9), page(99, 8), page(97, 9)]
        french = side(
            (pages[0], 1000, "fr"),
            (np.concatenate([pages[1], [30]]).astype(np.int32), 1000, "fr"),
            (pages[2], 1000, "fr"),
            (pages[3], 1000, "fr"),
            (pages[0], 100, "fr"),
        )
        verdicts = size_verdicts(self.english, french, csr_array(np.ones((1, 5))))
        verdicts = structure_verdicts(self.english, french, verdicts, DistanceLine(1.0, 0.02))
        assert verdicts.reasons() == ["", "", "", "structure", "size"]
        assert verdicts.scores[:4] == pytest.approx([1, 1 / 3, 0, 0], abs=1e-6)
        assert np.isnan(verdicts.scores[4])
        assert verdicts.counts() == {
            "kept": 3,
            "size": 1,
            "tags": 0,
            "paragraphs": 0,
            "language": 0,
            "structure": 1,
        }
        assert verdicts.kept().indices.tolist() == [0, 1, 2]

    def test_a_line_at_zero_lets_equal_pages_through(self) -> None:
        french = side((page(100, 10), 1000, "fr"), (page(100, 10, 11), 1000, "fr"))
        verdicts = size_verdicts(self.english, french, csr_array(np.ones((1, 2))))
        verdicts = structure_verdicts(self.english, french, verdicts, DistanceLine(0.0, 0.0))
        assert verdicts.reasons() == ["", "structure"]
        assert verdicts.scores.tolist() == [1, 0]


class TestLanguages:
    def test_without_wish_every_language_differs_from_the_others(self) -> None:
        pattern = csr_array(np.ones((2, 4)))
        found = languages_fit(["zh-Hant", "und"], ["zh-Hans", "zh-hant", "", "en"], pattern)
        assert found.tolist() == [True, False, False, True, False, False, False, False]

    def test_a_wanted_language_takes_in_its_kinds_and_no_others(self) -> None:
        pattern = csr_array(np.ones((1, 4)))
        found = languages_fit(["EN-GB"], ["zh-Hant", "zhx", "en-US", "zh"], pattern, ["en", "zh"])
        assert found.tolist() == [True, False, False, True]


def test_relative_difference() -> None:
    assert relative_difference([0, 0, 5, 70, 100], [0, 5, 0, 100, 70]).tolist() == [0, 1, 1, 0.3, 0.3]


@given(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), max_size=4), st.data())
def test_every_pair_is_counted_once_under_its_first_filter(filters: list[list[bool]], data: st.DataObject) -> None:
    places = sorted(data.draw(st.sets(st.integers(0, 11), min_size=6, max_size=6)))
    pattern = csr_array((np.ones(6), np.divmod(places, 4)), shape=(3, 4))
    verdicts = all_kept(pattern)
    for k, passed in enumerate(filters):
        verdicts = with_filter(verdicts, f"f{k}", np.array(passed), np.full(6, float(k)))
    first = [next((k for k, passed in enumerate(filters) if not passed[pair]), None) for pair in range(6)]
    assert verdicts.reasons() == ["" if k is None else f"f{k}" for k in first]
    assert sum(verdicts.counts().values()) == 6
    rows, columns = entries(verdicts.kept())
    assert (rows * 4 + columns).tolist() == [place for place, k in zip(places, first, strict=True) if k is None]


def test_one_value_for_each_pair() -> None:
    with pytest.raises(ShapeError, match="one value for each of 2 pairs"):
        with_filter(all_kept(csr_array(np.ones((1, 2)))), "x", np.array([True]))


def test_sides_must_fit() -> None:
    english = side((page(1, 1), 1, "en"))
    with pytest.raises(ShapeError, match="does not fit 1 and 1 pages"):
        size_verdicts(english, english, csr_array(np.ones((2, 1))))
    broken = SideShapes([page(1, 1)], np.array([1, 2]), ["en"])
    with pytest.raises(ShapeError, match="of the same pages"):
        size_verdicts(broken, english, csr_array(np.ones((1, 1))))


def test_no_pages() -> None:
    nothing = SideShapes([], np.zeros(0, np.int64), [])
    verdicts = size_verdicts(nothing, nothing, csr_array((0, 0)))
    line = fit_line_unlabelled(nothing, nothing, verdicts)
    assert structure_verdicts(nothing, nothing, verdicts, line).counts()["kept"] == 0


class TestLineWithoutLabels:
    """A site of random skeletons: its translations move each text by a few words and drop one tag in fifty."""

    @pytest.fixture
    def sides(self) -> tuple[SideShapes, SideShapes]:
        rng = np.random.default_rng(7)
        english, french = [], []
        for _ in range(40):
            tokens = rng.choice([P, P_END, B, 10, 25], rng.integers(100, 130)).astype(np.int32)
            moved = np.where(tokens >= 0, tokens + rng.integers(-3, 4, len(tokens)), tokens)
            english.append((tokens, 1000, "en"))
            french.append((moved[rng.random(len(tokens)) > 0.02].astype(np.int32), 1000, "fr"))
        return side(*english), side(*french)

    def test_parts_right_from_wrong(self, sides: tuple[SideShapes, SideShapes]) -> None:
        verdicts = size_verdicts(*sides, csr_array(np.ones((40, 40))))
        line = fit_line_unlabelled(*sides, verdicts)
        assert line.separation == 1
        assert line.n_right == 40
        kept = structure_verdicts(*sides, verdicts, line).kept()
        rows, columns = entries(kept)
        assert rows.tolist() == columns.tolist() == list(range(40))

    def test_a_sample_of_the_rows_does_as_well(self, sides: tuple[SideShapes, SideShapes]) -> None:
        verdicts = size_verdicts(*sides, csr_array(np.ones((40, 40))))
        line = fit_line_unlabelled(*sides, verdicts, WebminingSettings(fit_pairs=400))
        assert line.separation == 1
        assert 5 <= line.n_right <= 20

    def test_pages_of_one_template_cannot_be_parted(self) -> None:
        english, french = ([(page(100, 10), 1000, lang)] * 10 for lang in ("en", "fr"))
        sides = side(*english), side(*french)
        line = fit_line_unlabelled(*sides, size_verdicts(*sides, csr_array(np.eye(10))))
        assert line.n_right == 10
        assert line.separation == 0
