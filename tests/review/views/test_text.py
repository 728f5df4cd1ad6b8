"""Two pages as text: every block in one row, sentences with their partners, what stands alone marked."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.review.records import Page, Segment
from twinlink.review.views.blocks import align_blocks, number_key
from twinlink.review.views.invariants import invariants, keys_of
from twinlink.review.views.text import MAX_BLOCK_CHARACTERS, MAX_CHARACTERS, MAX_ROWS, Cell, Row, side_by_side


def page(*blocks: str, lang: str = "en") -> Page:
    return Page(1, "http://a.example/", "a.example", "", lang, blocks, ())


def bead(place_a: tuple[int, int, int] | None, place_b: tuple[int, int, int] | None, kind: str = "1-1") -> Segment:
    none = (-1, 0, 0)
    return Segment("", "", kind, None, "segment", *(place_a or none), *(place_b or none))


def cells(row: Row, side: int) -> tuple[Cell, ...]:
    return row.b if side else row.a


def texts(rows: Sequence[Row], side: int) -> list[str]:
    return ["".join(span.text for cell in cells(row, side) for span in cell.spans) for row in rows]


def blocks_of(rows: Sequence[Row], side: int) -> list[int]:
    return [cell.block for row in rows for cell in cells(row, side)]


class TestWithoutSentences:
    def test_blocks_with_the_same_numbers_face_each_other(self) -> None:
        a = page(
            "Welcome", "Tel. 2808 3456", "A very long text that has no partner on the other page at all", "In 1998"
        )
        b = page("歡迎", "電話 2808 3456", "1998 年")
        rows = side_by_side(a, b)
        assert texts(rows, 0) == list(a.blocks)
        assert texts(rows, 1) == ["歡迎", "電話 2808 3456", "", "1998 年"]
        assert [row.kind for row in rows] == ["aligned", "aligned", "only_a", "aligned"]

    def test_equal_pages_face_themselves(self) -> None:
        rows = side_by_side(page("a", "b 12", "c"), page("a", "b 12", "c"))
        assert [row.differs for row in rows] == [False] * 3

    def test_empty_pages(self) -> None:
        assert side_by_side(page(), page()) == ()
        assert [row.kind for row in side_by_side(page("x"), page())] == ["only_a"]


class TestSentences:
    def test_beads_have_the_same_number_on_both_sides(self) -> None:
        a, b = page("One. Two."), page("一。二。")
        (row,) = side_by_side(a, b, [bead((0, 0, 4), (0, 0, 2)), bead((0, 5, 9), (0, 2, 4))])
        assert [(span.text, span.bead) for span in row.a[0].spans] == [("One.", 1), (" ", 0), ("Two.", 2)]
        assert [(span.text, span.bead) for span in row.b[0].spans] == [("一。", 1), ("二。", 2)]
        assert not row.differs

    def test_sentence_without_partner_is_marked(self) -> None:
        (row,) = side_by_side(
            page("One. Two."), page("一。"), [bead((0, 0, 4), (0, 0, 2)), bead((0, 5, 9), None, "1-0")]
        )
        assert [(span.text, span.missing) for span in row.a[0].spans] == [("One.", False), (" ", False), ("Two.", True)]
        assert row.differs

    def test_block_without_partner_stands_alone(self) -> None:
        segments = [bead((0, 0, 1), (0, 0, 1)), bead((1, 0, 1), None, "1-0"), bead((2, 0, 1), (1, 0, 1))]
        rows = side_by_side(page("a", "x", "b"), page("甲", "乙"), segments)
        assert [(texts(rows, 0)[k], texts(rows, 1)[k]) for k in range(3)] == [("a", "甲"), ("x", ""), ("b", "乙")]
        assert rows[1].kind == "only_a"

    def test_blocks_that_share_beads_share_a_row(self) -> None:
        segments = [bead((0, 0, 1), (0, 0, 1)), bead((1, 0, 1), (0, 1, 2)), bead((1, 1, 2), (1, 0, 1))]
        rows = side_by_side(page("a", "bc", "d"), page("甲乙", "丙", "丁"), segments)
        assert [cell.block for cell in rows[0].a] == [0, 1]
        assert [cell.block for cell in rows[0].b] == [0, 1]
        assert texts(rows, 1) == ["甲乙丙", "丁"]

    def test_crossing_and_overlapping_beads_lose_no_text(self) -> None:
        segments = [bead((0, 0, 3), (1, 0, 3)), bead((1, 0, 3), (0, 0, 3)), bead((0, 1, 2), (1, 1, 2))]
        rows = side_by_side(page("aaa", "bbb"), page("ccc", "ddd"), segments)
        assert sorted(texts(rows, 0)) == ["aaa", "bbb"]
        assert sorted(texts(rows, 1)) == ["ccc", "ddd"]

    def test_segments_of_other_pages_are_passed_over(self) -> None:
        rows = side_by_side(page("a"), page("b"), [bead((7, 0, 4), (0, 0, 1)), bead((0, 5, 90), (0, -3, 99))])
        assert texts(rows, 0) == ["a"]
        assert texts(rows, 1) == ["b"]


class TestTelltales:
    def test_number_on_one_side_alone_is_marked(self) -> None:
        (row,) = side_by_side(page("Fee 1,200 in 1998"), page("費用 1200 元，1999 年"))
        assert [span.text for span in row.a[0].spans if span.alone] == ["1998"]
        assert [span.text for span in row.b[0].spans if span.alone] == ["1999"]
        assert row.differs

    def test_each_number_has_one_partner(self) -> None:
        (row,) = side_by_side(page("5 5"), page("5 個"))
        assert [(span.text, span.alone) for span in row.a[0].spans] == [("5 ", False), ("5", True)]

    @pytest.mark.parametrize(
        ("a", "b"),
        [
            ("1,200,300", "1200300"),
            ("１２３", "123"),
            ("007", "7"),
            ("1 200", "1 200"),
            ("a@b.example.", "A@b.example"),
        ],
    )
    def test_same_thing_in_other_forms(self, a: str, b: str) -> None:
        assert [found.key for found in invariants(a)] == [found.key for found in invariants(b)]

    def test_foreign_words_are_looked_for_on_the_other_side(self) -> None:
        (row,) = side_by_side(page("Use Windows or Linux"), page("使用 Windows 或 Solaris"))
        assert [span.text for span in row.b[0].spans if span.alone] == ["Solaris"]
        assert [span for span in row.a[0].spans if span.alone] == []

    @given(st.text(max_size=60))
    def test_telltales_lie_in_their_order_within_the_text(self, text: str) -> None:
        places = [(found.start, found.end) for found in invariants(text)]
        assert all(0 <= start < end <= len(text) for start, end in places)
        assert places == sorted(places)
        keys = keys_of(text)
        assert all(keys[found.key] > 0 for found in invariants(text))


class TestBounds:
    def test_long_block_is_cut(self) -> None:
        (row,) = side_by_side(page("x" * (MAX_BLOCK_CHARACTERS + 5)), page("y"))
        assert row.a[0].left_out == 5
        assert sum(len(span.text) for span in row.a[0].spans) == MAX_BLOCK_CHARACTERS

    def test_long_pages_end_with_a_note(self) -> None:
        rows = side_by_side(page(*(["block"] * (MAX_ROWS + 7))), page(*(["block"] * (MAX_ROWS + 7))))
        assert rows[-1].kind == "cut"
        assert len(rows) == MAX_ROWS + 1
        assert len(blocks_of(rows, 0)) + rows[-1].left_a == MAX_ROWS + 7

    def test_much_text_ends_with_a_note(self) -> None:
        rows = side_by_side(page(*(["x" * 5_000] * 200)), page())
        assert rows[-1].kind == "cut"
        assert sum(map(len, texts(rows, 0))) <= MAX_CHARACTERS


_WORDS = st.lists(st.sampled_from(["a 12", "b 34", "long text of a block", "x", ""]), max_size=8)


@given(_WORDS, _WORDS, st.data())
def test_every_character_stands_in_one_row(a: list[str], b: list[str], data: st.DataObject) -> None:
    place = st.tuples(st.integers(-1, 8), st.integers(-2, 25), st.integers(-2, 25))
    segments = [bead(*pair) for pair in data.draw(st.lists(st.tuples(place, place), max_size=8))]
    rows = side_by_side(page(*a), page(*b), segments)
    for side, blocks in enumerate((a, b)):
        assert sorted(blocks_of(rows, side)) == list(range(len(blocks)))
        shown = {cell.block: "".join(span.text for span in cell.spans) for row in rows for cell in cells(row, side)}
        assert [shown[place] for place in range(len(blocks))] == blocks
    for row in rows:
        assert row.a or row.b
        assert all(span.text for cell in (*row.a, *row.b) for span in cell.spans)


@given(_WORDS, _WORDS)
def test_without_segments_the_blocks_of_both_sides_are_in_order(a: list[str], b: list[str]) -> None:
    rows = side_by_side(page(*a), page(*b), [])
    for side, blocks in enumerate((a, b)):
        assert blocks_of(rows, side) == list(range(len(blocks)))


@given(_WORDS, _WORDS)
def test_alignment_of_blocks_is_in_order_and_complete(a: list[str], b: list[str]) -> None:
    aligned = align_blocks(a, b)
    assert [place for place, _ in aligned if place is not None] == list(range(len(a)))
    assert [place for _, place in aligned if place is not None] == list(range(len(b)))
    assert (None, None) not in aligned


def test_large_pages_are_aligned_in_pieces() -> None:
    blocks = [f"text {'x' * (k % 17)}" for k in range(3_000)]
    aligned = align_blocks(blocks, blocks)
    assert sum(a == b for a, b in aligned) > 2_900


def test_key_of_numbers() -> None:
    assert number_key("7 of 12, 1998") == ("12", "1998")
    assert number_key("no number") == ()
