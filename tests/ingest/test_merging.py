"""Sorted parts of a site's tables, merged from disk, beside one sort of all rows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from twinlink.ingest import merging, table_parts
from twinlink.ingest.table_parts import Parts
from twinlink.lookup import SortedNumbers
from twinlink.tables import LINKS, PAGES, table_metadata, write_table, write_tables

Part = tuple[pa.Table, pa.Table]
KNOWN = {"fetched": datetime(2026, 1, 1, tzinfo=UTC), "canonical_url": None}


def made_row(schema: pa.Schema, **known: object) -> dict[str, object]:
    """A row of a table; what is not given is empty."""
    row = {field.name: 0 if pa.types.is_integer(field.type) else "" for field in schema}
    row |= {field.name: [] for field in schema if pa.types.is_list(field.type)}
    row |= {name: value for name, value in KNOWN.items() if name in row}
    return row | known


def made_part(rng: np.random.Generator, part: int, n_pages: int) -> Part:
    """Some of twenty pages in any order, with up to five links; the anchors say which part they are of."""
    numbers = rng.permutation(20)[:n_pages].tolist()
    pages = [made_row(PAGES, page_id=n, url=f"u{n * 7 % 20:02}", title=f"part {part}", tags=b"") for n in numbers]
    sources = [n for n in numbers for _ in range(rng.integers(0, 6))]
    links = [made_row(LINKS, source=n, target=None, anchor=f"{part}-{k}") for k, n in enumerate(sources)]
    return pa.Table.from_pylist(pages, PAGES), pa.Table.from_pylist(links, LINKS)


def expected_rows(parts: list[Part], kept: set[int]) -> tuple[list[tuple[str, str]], list[str]]:
    """Address and title of the pages, and anchors of the links, from dictionaries."""
    pages: dict[int, tuple[str, str]] = {}
    links: dict[int, list[str]] = {}
    for of_page, of_link in parts:
        for row in of_page.to_pylist():
            pages[row["page_id"]], links[row["page_id"]] = (row["url"], row["title"]), []
        for row in of_link.to_pylist():
            links[row["source"]].append(row["anchor"])
    order = sorted(kept & set(pages), key=lambda number: pages[number])
    return [pages[number] for number in order], [anchor for number in order for anchor in links[number]]


@pytest.mark.parametrize("most", [2, 3, 200])
@pytest.mark.parametrize("seed", range(5))
def test_merged_parts_equal_dictionaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, most: int) -> None:
    """With few parts at most, they are merged in stages."""
    rng = np.random.default_rng(seed)
    monkeypatch.setitem(merging.GROUP_ROWS, "pages", 3)
    monkeypatch.setattr(merging, "_LINKS", 4)
    monkeypatch.setattr(table_parts, "MAX_PARTS", most)
    made = [made_part(rng, part, int(rng.integers(1, 12))) for part in range(4)]
    kept = set(rng.permutation(20)[: rng.integers(0, 21)].tolist())
    parts = Parts(tmp_path, 0)
    for part in made:
        parts.add("site", *part)
    files = parts.files("site")
    assert len(files) == {2: 1, 3: 2, 200: 4}[most]
    assert len(list(tmp_path.iterdir())) == 2 * len(files)
    of_part = [SortedNumbers.of(pa.array(kept, pa.int64()))] * len(files)
    pages, links = (list(found) for found in merging.merged_tables(files, of_part))
    found = [(row["url"], row["title"]) for table in pages for row in table.to_pylist()]
    assert (found, [row["anchor"] for table in links for row in table.to_pylist()]) == expected_rows(made, kept)
    assert max((len(table) for table in pages), default=0) <= 3


def test_only_parts_on_disk_are_merged(tmp_path: Path) -> None:
    """Also when the last part of the site is still in memory."""
    rng = np.random.default_rng(0)
    one, two = made_part(rng, 1, 5), made_part(rng, 2, 5)
    in_memory = Parts(tmp_path / "memory")
    in_memory.add("site", *one)
    assert in_memory.files("site") == []
    assert len(in_memory.take("site")[0]) == 5
    both = Parts(tmp_path / "both", 2**14)
    both.add("site", *one)
    both._held_bytes = 2**25
    both.add("site", *two)
    assert len(both.files("site")) == 2


@pytest.mark.parametrize("sizes", [[], [0], [7], [2, 3, 2], [4, 4], [1] * 9, [0, 9, 0]])
def test_a_table_in_parts_gives_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sizes: list[int]
) -> None:
    monkeypatch.setitem(merging.GROUP_ROWS, "links", 4)
    whole = pa.Table.from_pylist([made_row(LINKS, source=k, target=k) for k in range(sum(sizes))], LINKS)
    ends = np.cumsum([0, *sizes]).tolist()
    write_tables((whole.slice(end, size) for end, size in zip(ends, sizes, strict=False)), LINKS, tmp_path / "parts")
    write_table(whole, LINKS, tmp_path / "whole")
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()


def test_merging_holds_a_small_share_of_the_parts(tmp_path: Path) -> None:
    """Each of 16 parts is read some rows at a time, so what Arrow has allocated stays far below their size."""
    rng = np.random.default_rng(0)
    parts = Parts(tmp_path, 2**23)
    n_parts, n_pages, size = 16, 256, 2**13
    for numbers in rng.permutation(n_parts * n_pages).reshape(n_parts, n_pages).tolist():
        pages = [made_row(PAGES, page_id=n, url=f"u{n:04}", tags=rng.bytes(size)) for n in numbers]
        parts.add("site", pa.Table.from_pylist(pages, PAGES), LINKS.empty_table())
        parts._write()
    files = parts.files("site")
    assert len(files) == n_parts
    before = pa.total_allocated_bytes()
    kept = SortedNumbers.of(pa.array(range(n_parts * n_pages), pa.int64()))
    merged, _ = merging.merged_tables(files, [kept] * len(files))
    held = [pa.total_allocated_bytes() - before for _ in merged]
    assert max(held) < n_parts * n_pages * size / 2


@pytest.mark.parametrize("held_bytes", [0, 2**12, 2**16, 2**20])
def test_row_groups_of_parts_follow_what_is_held(tmp_path: Path, held_bytes: int) -> None:
    """One group of each of the most parts that are merged fits into it; one row is the least."""
    pages = pa.Table.from_pylist([made_row(PAGES, page_id=n, url=f"u{n}", tags=b"x" * 999) for n in range(99)], PAGES)
    parts = Parts(tmp_path, held_bytes)
    parts.add("site", pages, LINKS.empty_table())
    parts._write()
    metadata = table_metadata(parts._files_of(1).pages)
    rows = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
    assert sum(rows) == 99
    assert rows[0] == 1 or rows[0] * pages.nbytes / 99 <= held_bytes / merging.MAX_PARTS
