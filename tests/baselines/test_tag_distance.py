"""Tag distances and fingerprints against the textbook recurrence, and against costs added up by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.baselines import tag_distance
from twinlink.baselines.tag_distance import (
    fingerprint_differences,
    fingerprint_distances,
    fit_text_tolerance,
    tag_distances,
    text_in_words,
    without_heading,
)
from twinlink.errors import ShapeError
from twinlink.pages.tags import TAG_CODES

Tokens = NDArray[np.int32]
Cost = Callable[[int, int], Fraction | float]

ONE = csr_array([[True]])
P, P_END, B, B_END = -1, -2, -3, -4

# Few tags and texts of 0 to 300: many equal ones, and texts on both sides of every threshold.
TOKEN = st.one_of(st.sampled_from([P, P_END, B, B_END]), st.integers(0, 9), st.integers(0, 300))
PAGE = st.lists(TOKEN, max_size=12).map(lambda tokens: np.array(tokens, np.int32))
TEXTS = st.lists(st.integers(0, 50), max_size=30).map(lambda tokens: np.array(tokens, np.int32))
TAGS = st.lists(st.sampled_from([P, B]), max_size=40).map(lambda tokens: np.array(tokens, np.int32))
PAGES = st.one_of(PAGE, TEXTS, TAGS)


def tokens(*values: int) -> Tokens:
    return np.array(values, np.int32)


def word_cost(x: int, y: int) -> Fraction | float:
    """Replace one token by another in WebMining: |n − m|/10 for texts, else 0 or 1."""
    if x >= 0 and y >= 0:
        return Fraction(abs(x - y), 10)
    return Fraction(x != y)


def ratio_cost(x: int, y: int) -> Fraction | float:
    """Replace one token by another in Bitextor: D for texts, 0 or 1 for tags, else never."""
    if (x < 0) != (y < 0):
        return math.inf
    if x < 0:
        return Fraction(x != y)
    return Fraction(abs(x - y), max(x, y, 1))


def threshold_cost(tolerance: float) -> Cost:
    def cost(x: int, y: int) -> Fraction | float:
        ratio = ratio_cost(x, y)
        return Fraction(ratio > tolerance) if x >= 0 and y >= 0 else ratio

    return cost


def by_the_book(x: Tokens, y: Tokens, cost: Cost) -> float:
    """Least cost of turning one list into the other, O(nm), exact fractions."""
    before: list[Fraction | float] = [Fraction(j) for j in range(len(y) + 1)]
    for i, a in enumerate(x.tolist()):
        row: list[Fraction | float] = [Fraction(i + 1)]
        for j, b in enumerate(y.tolist()):
            row.append(min(before[j] + cost(a, b), before[j + 1] + 1, row[j] + 1))
        before = row
    return float(before[-1])


def distance_of(x: Tokens, y: Tokens, limit: float = math.inf) -> float:
    return float(tag_distances([x], [y], ONE, limit).data[0])


def fingerprint_of(x: Tokens, y: Tokens, limit: float = math.inf) -> float:
    return float(fingerprint_distances([x], [y], ONE, limit).data[0])


def differences_of(x: Tokens, y: Tokens, tolerance: float, limit: float = math.inf) -> float:
    return float(fingerprint_differences([x], [y], ONE, tolerance, limit).data[0])


class TestByHand:
    """Costs added up by hand."""

    def test_texts_cost_a_tenth_for_each_word(self) -> None:
        assert distance_of(tokens(P, 12, P_END), tokens(P, 5, P_END)) == 0.7

    def test_texts_that_differ_by_more_than_twenty_words_cost_two(self) -> None:
        """A deletion and an insertion are cheaper than (100 − 10)/10."""
        assert distance_of(tokens(P, 100, P_END), tokens(P, 10, P_END)) == 2
        assert distance_of(tokens(P, 30, P_END), tokens(P, 10, P_END)) == 2
        assert distance_of(tokens(P, 29, P_END), tokens(P, 10, P_END)) == 1.9

    def test_tag_and_text_cost_one(self) -> None:
        assert distance_of(tokens(P, 12, P_END), tokens(P, B, P_END)) == 1

    def test_a_page_with_one_more_paragraph(self) -> None:
        """<p> ⟨text_20⟩ </p> is three insertions, and the texts left differ by 3 and by 1 words."""
        short, long = tokens(P, 10, P_END, P, 7, P_END), tokens(P, 13, P_END, P, 20, P_END, P, 8, P_END)
        assert distance_of(short, long) == 3.4

    def test_against_nothing(self) -> None:
        page = tokens(P, 10, P_END)
        for distance in (distance_of, fingerprint_of):
            assert distance(page, tokens()) == 3
            assert distance(tokens(), page) == 3
            assert distance(tokens(), tokens()) == 0

    def test_fingerprint_of_two_paragraphs(self) -> None:
        """D(30, 40) + D(10, 5) + tag <b> for <p> twice: 0.25 + 0.5 + 2."""
        x, y = tokens(P, 30, P_END, P, 10, P_END), tokens(P, 40, P_END, B, 5, B_END)
        assert fingerprint_of(x, y) == 2.75

    def test_text_never_becomes_a_tag(self) -> None:
        """A deletion and an insertion instead."""
        assert fingerprint_of(tokens(P, 30, P_END), tokens(P, B, P_END)) == 2
        assert differences_of(tokens(P, 30, P_END), tokens(P, B, P_END), 1.0) == 2

    def test_empty_texts(self) -> None:
        assert fingerprint_of(tokens(0), tokens(0)) == 0
        assert fingerprint_of(tokens(0), tokens(7)) == 1

    def test_texts_within_the_threshold_are_no_difference(self) -> None:
        """D is 0.25, 0.5 and 0.75."""
        x, y = tokens(P, 30, 10, 5), tokens(P, 40, 5, 20)
        assert [differences_of(x, y, t) for t in (0, 0.2, 0.25, 0.5, 0.75, 1)] == [3, 3, 2, 1, 0, 0]

    def test_skipping_a_text_can_be_cheaper_than_replacing_all(self) -> None:
        """[10 100 1000] and [100 1000]: one deletion, not D twice."""
        assert fingerprint_of(tokens(10, 100, 1000), tokens(100, 1000)) == 1


class TestAgainstTheRecurrence:
    @given(PAGES, PAGES)
    def test_words(self, x: Tokens, y: Tokens) -> None:
        assert distance_of(x, y) == by_the_book(x, y, word_cost)

    @given(PAGES, PAGES)
    def test_ratio(self, x: Tokens, y: Tokens) -> None:
        assert fingerprint_of(x, y) == pytest.approx(by_the_book(x, y, ratio_cost), abs=1e-7)

    @given(PAGES, PAGES, st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]))
    def test_threshold(self, x: Tokens, y: Tokens, tolerance: float) -> None:
        assert differences_of(x, y, tolerance) == by_the_book(x, y, threshold_cost(tolerance))

    @given(st.lists(PAGE, min_size=1, max_size=4), st.lists(PAGE, min_size=1, max_size=4), st.data())
    def test_many_pairs_at_once(self, a: list[Tokens], b: list[Tokens], data: st.DataObject) -> None:
        """Each pair as if it were alone, in the order of the pattern, unsorted as it may be."""
        entries = data.draw(st.lists(st.tuples(st.integers(0, len(a) - 1), st.integers(0, len(b) - 1)), unique=True))
        entries.sort(key=lambda entry: entry[0])
        starts = np.searchsorted([i for i, _ in entries], np.arange(len(a) + 1))
        columns = np.array([j for _, j in entries], np.int32)
        pattern = csr_array((np.zeros(len(entries)), columns, starts), shape=(len(a), len(b)))
        found = tag_distances(a, b, pattern)
        assert found.indices.tolist() == columns.tolist()
        assert found.indptr.tolist() == starts.tolist()
        assert found.data.tolist() == [distance_of(a[i], b[j]) for i, j in entries]

    @pytest.mark.parametrize("seed", range(4))
    def test_long_pages_with_a_block_more(self, seed: int) -> None:
        """Hundreds of tokens, some replaced, a block moved: the band must grow several times."""
        rng = np.random.default_rng(seed)
        x = rng.choice([P, P_END, B, 3, 40], 150).astype(np.int32)
        y = np.concatenate([x[100:], rng.choice([P, 7], 20).astype(np.int32), x[:100]])
        y[rng.integers(0, len(y), 10)] = B_END
        assert distance_of(x, y) == by_the_book(x, y, word_cost)
        assert fingerprint_of(x, y) == pytest.approx(by_the_book(x, y, ratio_cost), abs=1e-7)


class TestLimits:
    @given(PAGES, PAGES, st.integers(0, 300).map(lambda tenths: tenths / 10))
    def test_banded_form_equals_the_full_one(self, x: Tokens, y: Tokens, limit: float) -> None:
        full = distance_of(x, y)
        assert distance_of(x, y, limit) == (full if full <= limit else math.inf)
        full = fingerprint_of(x, y)
        assert fingerprint_of(x, y, limit) == (full if full <= limit + 1e-6 else math.inf)

    @given(PAGES, PAGES, st.integers(0, 20), st.sampled_from([0.0, 0.3, 1.0]))
    def test_at_most_n_differences(self, x: Tokens, y: Tokens, limit: int, tolerance: float) -> None:
        full = differences_of(x, y, tolerance)
        assert differences_of(x, y, tolerance, limit) == (full if full <= limit else math.inf)

    @pytest.mark.parametrize("others", [[10], [10, 10], [10] * 9])
    def test_a_distance_just_at_the_limit_is_within(self, others: list[int]) -> None:
        """D(7, 10) = 0.3 for each text."""
        x, y = tokens(*[7] * len(others)), tokens(*others)
        limit = 0.3 * len(others)
        assert fingerprint_of(x, y, limit) == pytest.approx(limit)
        assert distance_of(x, y, limit) == pytest.approx(limit)

    def test_a_limit_for_each_pair(self) -> None:
        found = tag_distances([tokens(P, 12), tokens(P, 12)], [tokens(P, 9)], csr_array([[1], [1]]), [0.3, 0.2])
        assert found.data.tolist() == [0.3, math.inf]

    def test_ten_differences_pass_and_eleven_do_not(self) -> None:
        x, ten, eleven = tokens(*[P] * 40), tokens(*[B] * 10, *[P] * 30), tokens(*[B] * 11, *[P] * 29)
        found = fingerprint_differences([x], [ten, eleven], csr_array([[1, 1]]), 0.5, 10)
        assert found.data.tolist() == [10, math.inf]

    def test_a_negative_limit_lets_nothing_through(self) -> None:
        assert distance_of(tokens(P), tokens(P), -0.5) == math.inf

    def test_texts_longer_than_any_page(self) -> None:
        huge = np.iinfo(np.int32).max
        assert distance_of(tokens(huge), tokens(0)) == 2
        assert fingerprint_of(tokens(huge), tokens(0)) == 1
        assert differences_of(tokens(huge), tokens(0), 0.99) == 1


class TestMetric:
    @given(PAGES, PAGES)
    def test_symmetric(self, x: Tokens, y: Tokens) -> None:
        assert distance_of(x, y) == distance_of(y, x)
        assert fingerprint_of(x, y) == fingerprint_of(y, x)
        assert differences_of(x, y, 0.3) == differences_of(y, x, 0.3)

    @given(PAGES, PAGES)
    def test_nothing_is_at_distance_zero_but_the_same(self, x: Tokens, y: Tokens) -> None:
        same = x.tolist() == y.tolist()
        assert (distance_of(x, y) == 0) == same
        assert (fingerprint_of(x, y) == 0) == same
        assert differences_of(x, x, 0) == 0

    @given(PAGES, PAGES, PAGES)
    def test_no_shorter_way_round(self, x: Tokens, y: Tokens, z: Tokens) -> None:
        assert distance_of(x, z) <= distance_of(x, y) + distance_of(y, z) + 1e-9
        assert fingerprint_of(x, z) <= fingerprint_of(x, y) + fingerprint_of(y, z) + 1e-7

    def test_thresholds_make_no_metric(self) -> None:
        """10 is near to 14, 14 to 20, but 10 is not near to 20."""
        x, y, z = tokens(10), tokens(14), tokens(20)
        assert [differences_of(*pair, 0.3) for pair in ((x, y), (y, z), (x, z))] == [0, 0, 1]


class TestPages:
    def test_texts_become_numbers_of_words(self) -> None:
        assert text_in_words(tokens(P, 30, P_END, 7), tokens(5, 0)).tolist() == [P, 5, P_END, 0]

    def test_words_must_fit(self) -> None:
        with pytest.raises(ShapeError, match="expected words of 2 texts, got 1"):
            text_in_words(tokens(P, 30, P_END, 7), tokens(5))

    def test_the_heading_goes(self) -> None:
        html, head = TAG_CODES["html"], TAG_CODES["head"]
        start, end = (-(2 * code + 1) for code in (html, head)), (-(2 * code + 2) for code in (html, head))
        (start_html, start_head), (end_html, end_head) = start, end
        page = tokens(start_html, start_head, 12, end_head, 40, end_html)
        assert without_heading(page).tolist() == [start_html, 40, end_html]
        assert without_heading(tokens(start_html, start_head, 12)).tolist() == [start_html, start_head, 12]
        assert without_heading(tokens(40)).tolist() == [40]

    def test_very_long_pages_are_compared_by_their_beginning(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tag_distance, "MAX_TOKENS", 3)
        assert distance_of(tokens(P, 2, B, 99), tokens(P, 3, B, P, P, P)) == 0.1

    def test_pattern_must_fit(self) -> None:
        with pytest.raises(ShapeError, match="does not fit 1 and 1 pages"):
            tag_distances([tokens()], [tokens()], csr_array((2, 2), dtype=bool))

    def test_limits_must_fit(self) -> None:
        with pytest.raises(ShapeError, match="expected limits of 1 pairs"):
            tag_distances([tokens()], [tokens()], ONE, [1, 2])

    def test_no_pairs(self) -> None:
        assert tag_distances([], [], csr_array((0, 0), dtype=bool)).nnz == 0


class TestTextTolerance:
    def test_from_candidates_with_equal_tags(self) -> None:
        """D of the texts are 0, 0.5 and 0.6; the second pair has other tags."""
        a, b = [tokens(P, 10, 20, 50), tokens(P, 10, 1)], [tokens(P, 10, 10, 20), tokens(B, 10, 1)]
        pattern = csr_array([[True, False], [False, True]])
        assert fit_text_tolerance(a, b, pattern, 1.0) == 0.6
        assert fit_text_tolerance(a, b, pattern, 0.5) == 0.5

    def test_without_equal_tags_or_without_text(self) -> None:
        assert fit_text_tolerance([tokens(P, 10)], [tokens(B, 10)], ONE, 0.9) is None
        assert fit_text_tolerance([tokens(P)], [tokens(P)], ONE, 0.9) is None


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    pages = [rng.integers(-6, 6, rng.integers(0, 30)).astype(np.int32) for _ in range(12)]
    pages = [np.where(page == 0, 1, page).astype(np.int32) for page in pages]
    pattern = csr_array(rng.random((12, 12)) < 0.5)
    whole = tag_distances(pages, pages, pattern)
    monkeypatch.setattr(tag_distance, "_BLOCK_CELLS", 500)
    blocks = list(tag_distance._row_blocks(pages, pages, pattern))
    assert len(blocks) > 3
    assert [first for first, _ in blocks] == [0, *(last for _, last in blocks[:-1])]
    assert blocks[-1][1] == 12
    assert tag_distances(pages, pages, pattern).data.tolist() == whole.data.tolist()
