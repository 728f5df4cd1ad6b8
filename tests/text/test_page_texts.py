"""The texts of pages, against plain lists of them."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.text.cutting import cut_texts
from twinlink.text.numbered import incidence
from twinlink.text.page_texts import PageTexts, TextSource, ended_texts, page_texts, titled_texts

Pages = list[list[str]]
texts = st.sampled_from(["a", "b", "c", "", "é"])
some_pages = st.lists(st.lists(texts, max_size=5), max_size=5)


def assert_is(found: PageTexts, pages: Pages) -> None:
    """The lists, the distinct texts in the order of their first appearance, and how often each page has each."""
    assert list(found) == pages
    assert found.distinct == list(dict.fromkeys(text for page in pages for text in page))
    assert found.counts.shape == (len(pages), len(found.distinct))
    rows = found.counts.toarray()
    assert [{found.distinct[j]: int(n) for j, n in enumerate(row) if n} for row in rows] == [
        dict(Counter(page)) for page in pages
    ]


@given(some_pages)
def test_any_pages(pages: Pages) -> None:
    found = page_texts(pages)
    assert_is(found, pages)
    assert page_texts(found) is found
    assert_is(page_texts(iter(page) for page in pages), pages)


@given(some_pages)
def test_any_pages_in_a_row(pages: Pages) -> None:
    assert_is(ended_texts(text for page in pages for text in [*page, "\n"]), pages)


@given(some_pages, st.data())
def test_some_pages_in_any_order(pages: Pages, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(pages) - 1), max_size=6)) if pages else []
    assert_is(page_texts(pages).of_pages(np.array(chosen, np.int64)), [pages[page] for page in chosen])


@given(some_pages, st.data())
def test_some_texts_of_all_pages(pages: Pages, data: st.DataObject) -> None:
    keep = data.draw(st.lists(st.booleans(), min_size=(n := sum(map(len, pages))), max_size=n))
    marks = iter(keep)
    kept = [[text for text in page if next(marks)] for page in pages]
    assert_is(page_texts(pages).where(np.array(keep, np.bool_)), kept)


@given(st.lists(st.tuples(st.none() | texts, st.none() | st.lists(texts, max_size=4)), max_size=6), st.integers(0, 6))
def test_titles_and_blocks(rows: list[tuple[str | None, list[str] | None]], cut: int) -> None:
    """In any number of chunks; a title that is missing or empty is no text."""
    parts = rows[:cut], rows[cut:]
    titles = pa.chunked_array([pa.array([title for title, _ in part], pa.string()) for part in parts])
    blocks = pa.chunked_array([pa.array([block for _, block in part], pa.list_(pa.string())) for part in parts])
    expected = [([title] if title else []) + (block or []) for title, block in rows]
    assert_is(titled_texts(titles, blocks.chunks), expected)


def test_pages_are_a_sequence() -> None:
    found = page_texts([["a"], [], ["b", "a"]])
    assert found[-1] == ["b", "a"]
    assert found[1:] == [[], ["b", "a"]]
    with pytest.raises(IndexError):
        found[3]


def test_incidence_counts_repeated_numbers() -> None:
    found = incidence(np.array([0, 3, 3]), np.array([2, 0, 2]), 3)
    assert found.toarray().tolist() == [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]
    assert found.indices.dtype == np.int32


def test_each_text_is_cut_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[str] = []
    module = sys.modules[PageTexts.__module__]
    real = cut_texts
    monkeypatch.setattr(module, "cut_texts", lambda texts, form: cut.extend(texts) or real(texts, form))
    whole = page_texts([["One", "two"], ["One"], ["three One"]])
    some = whole.of_pages(np.array([2, 1])).cut
    assert (some.tokens, some.counts.toarray().tolist()) == (["one", "three"], [[1.0, 1.0], [1.0, 0.0]])
    assert whole.cut.tokens == ["one", "two", "three"]
    assert cut == ["One", "two", "three One"]


def test_a_source_reads_again_what_it_forgot() -> None:
    n_read = []
    source = TextSource(lambda: n_read.append(1) or page_texts([["a"], ["b", "a"], []]))
    some = source.of_pages(np.array([1, 2]))
    assert (len(some), len(n_read)) == (2, 0)
    assert (some[0], some[-1], some[:], list(some)) == (["b", "a"], [], [["b", "a"], []], [["b", "a"], []])
    assert len(n_read) == 1
    source.forget()
    assert page_texts(some).distinct == ["b", "a"]
    assert len(n_read) == 2
