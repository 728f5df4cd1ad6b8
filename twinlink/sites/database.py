"""DuckDB for data larger than memory: connections and errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from twinlink.errors import InputError, RunError


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
            raise _problem(str(error), folder) from error


def _problem(text: str, folder: Path) -> InputError | RunError:
    if "No space left" in text or "max_temp_directory_size" in text:
        return RunError(f"{folder}: the disk is full; free some space, and run the same command again")
    return InputError(_one_line(text, folder))


def _one_line(text: str, folder: Path) -> str:
    r"""Return an error of the database in one line: the file and the cause, without advice.

    >>> _one_line("CSV Error on Line: 1\nPossible solutions:\n* Guess\n\n  file = e.txt\n", Path("spill"))
    'e.txt: CSV Error on Line: 1'
    """
    file = re.search(r"^  file = (.+)$", text, re.MULTILINE)
    wrong = re.split(r"This type was auto-detected|Possible solution|Stack Trace", text, flags=re.IGNORECASE)[0]
    return f"{file[1] if file else folder}: {' '.join(wrong.split())[:300]}"


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
