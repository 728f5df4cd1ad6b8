"""DuckDB for what does not fit into memory: one place that says how it is opened and how its errors look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from twinlink.errors import InputError

__all__ = ["opened", "quoted", "write_parquet"]


@contextmanager
def opened(folder: Path, megabytes: int) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory that spills to ``folder``; its errors become an `InputError`."""
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"SET memory_limit = '{megabytes}MB'")
        connection.execute(f"SET temp_directory = {quoted(folder / '.spill')}")
        connection.execute("SET preserve_insertion_order = false")  # else whole results wait in memory
        try:
            yield connection
        except duckdb.Error as error:
            raise InputError(f"{folder}: {' '.join(str(error).split())[:300]}") from error


def quoted(path: Path | Sequence[Path]) -> str:
    """Return a path, or several, as SQL.

    >>> quoted(Path("it's")), quoted([Path("a"), Path("b")])
    ("'it''s'", "['a', 'b']")
    """
    if isinstance(path, Path):
        return "'" + str(path).replace("'", "''") + "'"
    return f"[{', '.join(map(quoted, path))}]"


def write_parquet(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    """Write the rows of a query to a Parquet file."""
    connection.execute(f"COPY ({query}) TO {quoted(path)} (FORMAT parquet, COMPRESSION zstd)")
