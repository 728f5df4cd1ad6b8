"""The benchmark of a cluster compares tables row by row."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from experiments.bench.bench_cluster import same_tables


def write(run: Path, name: str, values: list[int]) -> Path:
    (run / "match").mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"page_a": values}), run / "match" / name)
    return run


def test_tables_with_equal_rows_are_the_same(tmp_path: Path) -> None:
    first, second = (write(tmp_path / name, "pairs.parquet", [1, 2]) for name in ("first", "second"))
    assert same_tables(first, second)


def test_another_row_or_one_more_table_is_a_difference(tmp_path: Path) -> None:
    first, second = (
        write(tmp_path / "first", "pairs.parquet", [1, 2]),
        write(tmp_path / "second", "pairs.parquet", [1, 3]),
    )
    assert not same_tables(first, second)
    write(second, "pairs.parquet", [1, 2])
    assert same_tables(first, second)
    write(second, "rejects.parquet", [1])
    assert not same_tables(first, second)
    assert not same_tables(second, first)
