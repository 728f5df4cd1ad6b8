"""Hints at a page's language outside its text."""

from __future__ import annotations

import pyarrow as pa

from twinlink.language.hints import page_hints, switch_names


def test_hints_of_addresses_and_links() -> None:
    urls = [f"http://example.org/{part}/page{i}.html?lang=2" for part in ("tc", "en") for i in range(3)]
    pages = pa.table({"page_id": range(6), "url": urls})
    links = pa.table(
        {
            "source": [0, 0, 0, 1],
            "target": pa.array([3, 4, 5, None], pa.int64()),
            "hreflang": ["en-GB", "x-default", "", "fr"],
            "switch": ["", "", "zh-Hant", ""],
        }
    )
    found = page_hints(pages, links)
    assert found[0] == ("url:tc",)
    assert found[3] == ("named:en-gb", "url:en")
    assert found[4] == ("url:en",)
    assert found[5] == ("named:zh-hant", "url:en")


def test_hints_of_addresses_are_whole_words() -> None:
    parts = ("activities/p", "english/p", "p?languages=en&", "p?id=123456789&")
    urls = [f"http://example.org/{part}{i}.html" for part in parts for i in range(3)]
    pages = pa.table({"page_id": range(len(urls)), "url": urls})
    links = pa.table({"target": pa.array([], pa.int64())})
    found = page_hints(pages, links)
    assert [found[row] for row in range(0, len(urls), 3)] == [
        ("url:activities",),
        ("url:english",),
        ("url:languages=en",),
        ("url:id",),
    ]


def test_only_whole_link_texts_name_a_language() -> None:
    anchors = pa.chunked_array([[" ENGLISH ", "English teachers", "简体", ""]])
    assert switch_names(anchors).to_pylist() == ["en", "", "zh-Hans", ""]
