"""Menus of all pages are left out of the words, other frames are not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from twinlink.config import MatchSettings
from twinlink.match.evidence import Side, read_words
from twinlink.match.menus import without_menus

TITLES = [f"Name{k}" for k in range(8)]


def with_frame(frame: Sequence[str]) -> list[list[str]]:
    return [[title, *frame, f"{title} is here."] for title in TITLES]


def test_a_menu_of_all_pages_is_left_out_but_for_the_title() -> None:
    expected = [[title, f"{title} is here."] for title in TITLES]
    assert [list(side) for side in without_menus(with_frame(TITLES), with_frame(TITLES))] == [expected] * 2


def test_a_smaller_frame_stays() -> None:
    pages = with_frame(["Home", "Search"])
    assert without_menus(pages, pages) == [pages, pages]


def test_the_frames_of_all_sides_decide_together() -> None:
    """Eight texts on the pages of one side are half as many as the pages of both."""
    menu, none = with_frame(TITLES), with_frame([])
    assert without_menus(menu, none) == [menu, none]


def test_texts_on_three_pages_are_no_frame() -> None:
    pages = [["a", *map(str, range(9))]] * 3
    assert without_menus(pages, pages) == [pages, pages]


def test_pages_without_texts_stay_without() -> None:
    menu = [f"{k}" for k in range(20)]
    assert [*without_menus([menu, [], menu, menu, menu, menu])[0]] == [["0"], [], *[["0"]] * 4]


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), max_size=9))
def test_first_texts_and_the_order_of_texts_stay(pages: list[list[str]]) -> None:
    (found,) = without_menus(pages)
    for page, kept in zip(pages, found, strict=True):
        assert kept[:1] == page[:1]
        rest = iter(page)
        assert all(text in rest for text in kept)


def test_the_words_of_titles_are_counted_where_they_stand() -> None:
    """With a menu of all titles, each word of a title would be on all pages."""
    n, pages = len(TITLES), with_frame(TITLES)
    urls, links = [f"http://x.example/{k}" for k in range(n)], csr_array((n, n), dtype=np.bool_)
    side_a, side_b = (Side(lang, np.arange(n), urls, pages, [b""] * n, links) for lang in ("en", "fr"))
    words = read_words(side_a, side_b, [], MatchSettings())
    column = words.a.vocabulary.index("name3")
    assert np.flatnonzero(words.a.counts[:, [column]].toarray().ravel()).tolist() == [3]
