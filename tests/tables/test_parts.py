"""Parts of tables: files of sites and packs, written, found and read."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from twinlink.errors import DamagedError, SchemaError
from twinlink.tables import (
    Packing,
    by_file,
    count_rows,
    file_of,
    is_part,
    iter_batches,
    iter_parts,
    named_part,
    pack_of,
    packing,
    parquet,
    part_like,
    part_rows,
    part_size,
    part_writer,
    read_table,
    table_bytes,
)

SCHEMA = pa.schema([pa.field("n", pa.int64(), nullable=False)], metadata={"table": "pages"})
SITES = {"b.parquet": 3, "a.parquet": 0, "c.parquet": 5}
"""Rows of the parts in one pack."""


def rows(*numbers: int) -> pa.Table:
    return pa.table({"n": pa.array(numbers, pa.int64())})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table with a pack, whose row groups have two rows, and a file."""
    monkeypatch.setitem(parquet.GROUP_ROWS, "pages", 2)
    folder = tmp_path / "pages"
    with part_writer() as writer:
        for k, (name, n) in enumerate(SITES.items()):
            writer.write([rows(*range(10 * k, 10 * k + n))], SCHEMA, folder / "+0000.parquet" / name)
        writer.write([rows(7)], SCHEMA, folder / "aa.parquet")
        writer.write([rows(8, 9)], SCHEMA, folder / "+0001.parquet" / "d.parquet")
    return folder


def test_parts_are_read_as_files_are(folder: Path) -> None:
    names = ["a.parquet", "aa.parquet", "b.parquet", "c.parquet", "d.parquet"]
    parts = list(iter_parts(folder))
    assert [part.name for part in parts] == names
    assert [named_part(folder, name) for name in names] == parts
    expected = [[], [7], [0, 1, 2], [20, 21, 22, 23, 24], [8, 9]]
    assert [read_table(part, SCHEMA)["n"].to_pylist() for part in parts] == expected
    assert [
        [n for batch in iter_batches(part, SCHEMA, 2) for n in batch["n"].to_pylist()] for part in parts
    ] == expected
    assert [count_rows(part) for part in parts] == [0, 1, 3, 5, 2]
    assert [part_rows(part) for part in parts] == [range(3, 3), None, range(3), range(3, 8), range(2)]
    assert [list(iter_parts(part)) for part in parts] == [[part] for part in parts]
    assert all(map(is_part, parts))
    assert all(table_bytes(part) > 0 and part_size(part) > 0 for part in parts[1:])


def test_a_folder_is_read_from_its_files(folder: Path) -> None:
    assert sorted(read_table(folder, SCHEMA)["n"].to_pylist()) == [0, 1, 2, 7, 8, 9, 20, 21, 22, 23, 24]
    assert count_rows(folder) == pq.read_table(folder)["n"].length() == 11
    assert len(list(folder.iterdir())) == 3


def test_parts_that_are_not_there(folder: Path) -> None:
    assert named_part(folder, "e.parquet") == folder / "e.parquet"
    assert named_part(folder / "none", "e.parquet") == folder / "none" / "e.parquet"
    for part in (folder / "e.parquet", folder / "+0000.parquet" / "d.parquet", folder / "+0002.parquet" / "d.parquet"):
        assert not is_part(part)
    with pytest.raises(DamagedError):
        read_table(folder / "+0000.parquet" / "d.parquet", SCHEMA)
    with pytest.raises(DamagedError):
        read_table(folder / "+0002.parquet" / "d.parquet", SCHEMA)


def test_a_part_of_another_table_shares_the_pack(folder: Path) -> None:
    part = named_part(folder, "b.parquet")
    assert (pack_of(part), file_of(part)) == ("+0000.parquet", folder / "+0000.parquet")
    assert part_like(Path("links"), part) == Path("links", "+0000.parquet", "b.parquet")
    assert part_like(Path("links"), folder / "aa.parquet") == Path("links", "aa.parquet")
    assert [[part.name for part in parts] for parts in by_file(iter_parts(folder))] == [
        ["a.parquet", "b.parquet", "c.parquet"], ["d.parquet"], ["aa.parquet"],
    ]  # fmt: skip


def test_a_pack_that_was_replaced_is_read_anew(folder: Path) -> None:
    assert is_part(named_part(folder, "b.parquet"))
    with part_writer() as writer:
        writer.write([rows(1)], SCHEMA, folder / "+0000.parquet" / "x.parquet")
    assert [part.name for part in iter_parts(folder)] == ["aa.parquet", "d.parquet", "x.parquet"]
    assert named_part(folder, "b.parquet") == folder / "b.parquet"
    assert read_table(named_part(folder, "x.parquet"), SCHEMA)["n"].to_pylist() == [1]


def write_both(folder: Path, *columns: str) -> None:
    with part_writer() as writer:
        for column in columns:
            writer.write([pa.table({column: [1]})], SCHEMA, folder / "+0000.parquet" / f"{column}.parquet")


def test_an_error_leaves_no_pack(tmp_path: Path) -> None:
    with pytest.raises(SchemaError):
        write_both(tmp_path, "n", "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"damaged", None])
def test_a_damaged_pack_is_named(folder: Path, content: bytes | None) -> None:
    if content is None:  # a table that is no pack
        pq.write_table(rows(1), folder / "+0000.parquet")
    else:
        (folder / "+0000.parquet").write_bytes(content)
    with pytest.raises(DamagedError, match=r"\+0000"):
        list(iter_parts(folder))
    with pytest.raises(DamagedError, match=r"\+0000"):
        named_part(folder, "b.parquet")


def test_packs_have_bounded_numbers_of_pages_and_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "PACK_SITES", 3)
    few = Packing(packing.FEW_SITES, 10**6)
    assert [few.place(f"{n}.parquet", n).parent for n in (1, 10**5)] == [Path()] * 2
    many = Packing(packing.FEW_SITES + 1, 1)
    places = [many.place("s.parquet", n).parent.name for n in (250, 1, 1, 1, 1, 251, 1, 248, 1)]
    assert places == [f"+{n:04}.parquet" if n >= 0 else "" for n in (0, 1, 1, 1, 2, -1, 2, 2, 3)]
