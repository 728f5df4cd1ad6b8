"""Image files and addresses on other sites, as names that pages share."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from twinlink.match.shared_names import page_names, read_links, shared_names
from twinlink.tables import LINKS, write_table

LINK_ROWS = [
    (1, "http://a.org/x", "a.org"),
    (1, "https://www.b.org/c/?q=1", "b.org"),
    (2, "http://b.org/c", "b.org"),
    (9, "http://b.org/d", "b.org"),
]


def links() -> pa.Table:
    rows = [
        {
            "source": source,
            "target": None,
            "target_url": url,
            "target_site": site,
            "anchor": "",
            "rel": "",
            "hreflang": "",
        }
        for source, url, site in LINK_ROWS
    ]
    return pa.Table.from_pylist(rows, schema=LINKS)


def pages() -> pa.Table:
    return pa.table({"page_id": [1, 2], "site": ["a.org", "a.org"], "images": [["up.gif", "up.gif"], []]})


def test_names_of_pages() -> None:
    assert page_names(pages(), links()) == [("img:up.gif", "out:b.org/c"), ("out:b.org/c",)]
    assert page_names(pages().drop_columns(["images"]), links().drop_columns(["target_url"])) == [(), ()]


def test_links_read_from_a_file_give_the_same_names(tmp_path: Path) -> None:
    write_table(links(), LINKS, tmp_path / "links.parquet")
    table = read_links(tmp_path / "links.parquet", "a.org")
    assert page_names(pages(), table) == page_names(pages(), links())
    assert table["target_url"].to_pylist()[0] == ""


def test_names_of_the_frame_are_left_out() -> None:
    """A logo on every page tells nothing, and so does a name on one side only."""
    side_a, side_b = (
        [["img:logo", "img:1"], ["img:logo"], ["img:logo"], ["img:logo", "img:2"]],
        [["img:logo", "img:1"], [], [], []],
    )
    assert shared_names(side_a, side_b) == ([["img:1"], [], [], []], [["img:1"], [], [], []])
