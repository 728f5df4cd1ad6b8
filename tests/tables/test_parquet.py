"""Tables are checked on write and on read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from twinlink.errors import DamagedError, RunError, SchemaError
from twinlink.tables import REJECTS, SIX_DIGITS, check_table, iter_parts, parquet, read_table, tsv_lines, write_table
from twinlink.tables import schemas as tables
from twinlink.tables.parquet import _cell
from twinlink.tables.parts import readable

ROW = {"url": "http://a/", "stage": "crawl", "reason": "robots", "detail": ""}


def rejects(**changes: object) -> pa.Table:
    return pa.Table.from_pylist([{**ROW, **changes}])


def test_round_trip_keeps_rows_and_puts_columns_in_order(tmp_path):
    path = tmp_path / "deep" / "rejects.parquet"
    write_table(rejects().select(["detail", "reason", "stage", "url"]), REJECTS, path)
    assert read_table(path, REJECTS).to_pylist() == [ROW]
    assert read_table(path, REJECTS).column_names == REJECTS.names
    assert [file.name for file in path.parent.iterdir()] == ["rejects.parquet"]


def test_texts_have_a_dictionary_and_fractions_have_none(tmp_path):
    rows = pa.table({"lang": ["en", "fr"], "tokens": [["a"], ["a", "b"]], "score": pa.array([0.5, 0.5], pa.float32())})
    write_table(rows, rows.schema, tmp_path / "scores.parquet")
    group = pq.read_metadata(tmp_path / "scores.parquet").row_group(0)
    columns = [group.column(k) for k in range(group.num_columns)]
    assert [column.has_dictionary_page for column in columns] == [True, True, False]


def test_two_writers_of_one_table_leave_it_whole(tmp_path):
    path = tmp_path / "rejects.parquet"
    urls = {letter: [letter] * 5_000 for letter in "ab"}

    def write(letter: str) -> None:
        table = pa.Table.from_pylist([{**ROW, "url": url} for url in urls[letter]])
        for _ in range(20):
            write_table(table, REJECTS, path)
            assert read_table(path, REJECTS)["url"].to_pylist() in urls.values()

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(write, urls))
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_table_that_cannot_be_written_leaves_the_one_before(tmp_path, monkeypatch):
    path = tmp_path / "rejects.parquet"
    write_table(rejects(), REJECTS, path)

    class Full(pq.ParquetWriter):  # its first bytes are on disk
        def write_table(self, table: pa.Table, row_group_size: int | None = None) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "ParquetWriter", Full)
    with pytest.raises(OSError, match="No space"):
        write_table(rejects(url="http://b/"), REJECTS, path)
    assert read_table(path, REJECTS).to_pylist() == [ROW]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_folder_is_one_table_in_the_order_of_its_files(tmp_path):
    for name in ("b", "a"):
        write_table(rejects(url=name), REJECTS, tmp_path / f"{name}.parquet")
    assert read_table(tmp_path, REJECTS)["url"].to_pylist() == ["a", "b"]
    assert [part.name for part in iter_parts(tmp_path)] == ["a.parquet", "b.parquet"]


def test_an_empty_folder_is_an_empty_table(tmp_path):
    assert read_table(tmp_path, REJECTS).num_rows == 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (rejects().drop_columns(["detail"]), "missing column"),
        (rejects(extra=1), "unknown column"),
        (rejects(url=None), "null"),
        (rejects(url=[1, 2]), "rejects"),
    ],
)
def test_what_does_not_fit_is_refused_on_write(tmp_path, table, message):
    with pytest.raises(SchemaError, match=message):
        write_table(table, REJECTS, tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())


def test_what_does_not_fit_is_refused_on_read(tmp_path):
    pq.write_table(pa.table({"url": ["a"]}), tmp_path / "x.parquet")
    with pytest.raises(DamagedError, match=r"x\.parquet: damaged .*missing column"):
        read_table(tmp_path / "x.parquet", REJECTS)


def test_a_file_that_is_no_table_is_refused(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(DamagedError, match=r"x\.parquet: damaged"):
        read_table(tmp_path / "x.parquet", REJECTS)


def test_a_table_that_may_not_be_read_is_not_called_damaged(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "[Errno 13] Failed to open local file")

    (tmp_path / "x.parquet").touch()
    monkeypatch.setattr(pq, "ParquetFile", refuse)
    with pytest.raises(RunError, match=r"x\.parquet: cannot be read \(Permission denied\)") as raised:
        read_table(tmp_path / "x.parquet", REJECTS)
    assert not isinstance(raised.value, DamagedError)


def test_little_memory_is_no_damage(tmp_path):
    with pytest.raises(MemoryError), readable(tmp_path / "x.parquet"):
        raise pa.ArrowMemoryError("malloc of size 64 failed")


def test_only_some_columns(tmp_path):
    write_table(rejects(), REJECTS, tmp_path / "x.parquet")
    assert read_table(tmp_path / "x.parquet", REJECTS, ["reason"]).column_names == ["reason"]


def test_every_column_of_every_table_is_described():
    schemas = [value for value in vars(tables).values() if isinstance(value, pa.Schema)]
    assert len(schemas) >= 6
    assert all(field.metadata[b"description"] for schema in schemas for field in schema)


def test_lossy_casts_are_refused():
    table = pa.table({"page_id": [1], "lang": ["en"], "lang_score": ["high"]})
    with pytest.raises(SchemaError):
        check_table(table, tables.LANGUAGES)


def test_lines_are_those_of_a_format_of_each_cell():
    """The literal twin: one call per cell. NaN and infinity, -0.0, nulls, truth values and lists keep their forms."""
    numbers = [0.0, -0.0, 1 / 3, 1e-12, 123456789.0, float("nan"), float("inf"), None, 2.0, 1 / 3]
    table = pa.table(
        {
            "url": ["a", None, "é", "", "b", "c", "d", "e", "f", "g"],
            "single": pa.array(numbers, pa.float32()),
            "double": pa.array(numbers, pa.float64()),
            "whole": pa.array([1, None, -3, *range(7)], pa.int16()),
            "is_good": [True, None, *[False] * 8],
            "words": [["a"], None, *[[]] * 8],
        }
    )
    for fractions in (".4f", SIX_DIGITS):
        rows = [[_cell(value, fractions) for value in row.values()] for row in table.to_pylist()]
        expected = ["\t".join(cells) for cells in [table.column_names, *rows]]
        assert list(tsv_lines(table, fractions)) == expected
        assert list(tsv_lines(table.slice(0, 0), fractions)) == expected[:1]
        assert list(tsv_lines(pa.concat_tables([table.slice(0, 3), table.slice(3)]), fractions)) == expected


def test_many_lines_take_a_call_for_each_different_number(monkeypatch):
    calls = []
    monkeypatch.setattr(parquet, "_cell", lambda value, fractions: calls.append(value) or format(value, fractions))
    assert len(list(tsv_lines(pa.table({"score": [0.5, 0.25] * 1_000, "n": range(2_000)})))) == 2_001
    assert sorted(calls) == [0.25, 0.5]
