"""Files of a site folder: pages by their address, and tables of tab-separated values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = ["append_rows", "page_file", "read_rows", "write_rows"]


def page_file(folder: Path, address: str) -> Path:
    """Return the file of a page below the folder ``site`` of a site folder.

    >>> page_file(Path("made"), "/fr/").as_posix()
    'made/site/fr/index.html'
    """
    return folder / "site" / (address.lstrip("/") + "index.html" * address.endswith("/"))


def read_rows(file: Path) -> list[list[str]]:
    """Return the rows of a table; none if there is no such file."""
    if not file.exists():
        return []
    return [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if line]


def write_rows(file: Path, rows: Sequence[Sequence[str]]) -> None:
    """Write a table."""
    file.write_text(_lines(rows), encoding="utf-8")


def append_rows(file: Path, rows: Sequence[Sequence[str]]) -> None:
    """Add rows to a table."""
    with file.open("a", encoding="utf-8") as table:
        table.write(_lines(rows))


def _lines(rows: Sequence[Sequence[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)
