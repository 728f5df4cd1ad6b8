"""Notes of what each archive gave, so that the next ingest need not read those again that have not changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from twinlink.damage import damaged
from twinlink.errors import InputError
from twinlink.ingest.growing_table import GrowingTable
from twinlink.rejects import Reject
from twinlink.rundir.signature import file_digest
from twinlink.sources.documents import Document, Gone, Recalled
from twinlink.sources.warc import Archive, ArchiveFindings
from twinlink.tables import open_table, readable

__all__ = ["ARCHIVES_NAME", "ArchiveNotes"]

ARCHIVES_NAME = "archives.parquet"
"""Name of the file with these notes."""
_RANGES_KEY = b"archives"  # of its metadata: JSON, by the mark of an archive its first row and their number
_MOMENT = pa.timestamp("us", tz="UTC")
_SCHEMA = pa.schema(
    [
        ("kind", pa.string()),  # page, redirect, revisit, gone or reject
        ("url", pa.string()),
        ("status", pa.int16()),
        ("content_type", pa.string()),
        ("content_language", pa.string()),
        ("location", pa.string()),
        ("link", pa.string()),
        ("fetched", _MOMENT),
        ("offset", pa.int64()),
        ("sha1", pa.binary()),
        ("bytes", pa.int64()),
        ("payload", pa.string()),
        ("first", _MOMENT),
        ("is_own", pa.bool_()),
        ("reason", pa.string()),
        ("detail", pa.string()),
    ]
)

Load = Callable[[int], Document | Reject | None]


class ArchiveNotes:
    """Implements `twinlink.sources.warc.Notes` with a file of the ingest folder.

    Parameters
    ----------
    folder : Path
        Gets the notes of this ingest.
    earlier : Path or None
        Folder with those of an earlier one, which had the same settings.
    own : Path
        Folder of the archives of the run's own crawl: they are known by their names, because a run may be moved.
    """

    def __init__(self, folder: Path, earlier: Path | None, own: Path) -> None:
        self._earlier = _EarlierNotes(earlier / ARCHIVES_NAME) if earlier else None
        self._table = GrowingTable(folder / ARCHIVES_NAME, _SCHEMA)
        self._own = own
        self._begun = "", 0  # the mark of the archive that is read, and its first row
        self._ranges: dict[str, tuple[int, int]] = {}

    def recall(self, archive: Archive, load: Load) -> Iterator[ArchiveFindings] | None:
        """Return what an archive gave, if it has not changed since."""
        rows = self._earlier.rows(self._mark(archive)) if self._earlier else None
        return None if rows is None else self._recalled(archive, rows, load)

    def begin(self, archive: Archive) -> Callable[[ArchiveFindings], None]:
        """Return the function that notes what an archive gives."""
        self._begun = self._mark(archive), len(self._table)
        return lambda found: self._table.add(_row(found))

    def end(self, archive: Archive) -> None:  # noqa: ARG002  (there is one at a time)
        """Note that the archive has been read to its end."""
        mark, first = self._begun
        if mark:
            self._ranges[mark] = first, len(self._table) - first

    def finish(self) -> None:
        """Complete the file."""
        self._table.finish({_RANGES_KEY: json.dumps(self._ranges)})

    def close(self) -> None:
        """Close the file; nobody will read one that is not complete."""
        self._table.close()

    def _recalled(self, archive: Archive, rows: Iterator[tuple[Any, ...]], load: Load) -> Iterator[ArchiveFindings]:
        self.begin(archive)
        for row in rows:
            self._table.add(row)
            yield _found(row, archive, load)
        self.end(archive)

    def _mark(self, archive: Archive) -> str:
        """Return what changes when an archive does; empty for one that is no file of its own."""
        if archive.path is None:
            return ""
        name = f"own {archive.path.name}" if archive.path.parent == self._own else None
        try:
            said = file_digest(archive.path, name)
        except OSError:
            return ""
        return hashlib.blake2b(said.encode(errors="surrogatepass"), digest_size=16).hexdigest()


class _EarlierNotes:
    """The notes of an earlier ingest; one row group of them is in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with readable(path):
            self._file = open_table(path)
            if self._file.schema_arrow.names != _SCHEMA.names:
                raise damaged(path, "it has other columns")
            try:
                self._ranges = json.loads((self._file.metadata.metadata or {})[_RANGES_KEY])
            except ValueError as error:
                raise damaged(path, error) from error
        groups = self._file.metadata
        self._group_rows = groups.row_group(0).num_rows if groups.num_row_groups else 1
        self._group = -1, list[tuple[Any, ...]]()

    def rows(self, mark: str) -> Iterator[tuple[Any, ...]] | None:
        """Return the rows of an archive; None: it was not read, or was another one."""
        known = self._ranges.get(mark) if mark else None
        return self._between(known[0], sum(known)) if known else None

    def _between(self, start: int, end: int) -> Iterator[tuple[Any, ...]]:
        while start < end:
            group, place = divmod(start, self._group_rows)
            rows = self._rows_of(group)[place : place + end - start]
            if not rows:
                raise damaged(self._path, "rows are missing")
            yield from rows
            start += len(rows)

    def _rows_of(self, group: int) -> list[tuple[Any, ...]]:
        if self._group[0] != group:
            with readable(self._path):
                table = self._file.read_row_group(group)
                table.validate(full=True)
            self._group = group, list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        return self._group[1]


def _row(found: ArchiveFindings) -> tuple[Any, ...]:
    item = found.item
    rest = found.digest, found.first, found.is_own
    if isinstance(item, Reject):
        kind, moment = ("gone", item.fetched) if isinstance(item, Gone) else ("reject", None)
        return kind, item.url, 0, "", "", "", "", moment, -1, b"", 0, *rest, item.reason, item.detail
    kind = "revisit" if found.waits else "redirect" if item.location else "page"
    sha1 = hashlib.sha1(item.body, usedforsecurity=False).digest() if kind == "page" else b""
    head = kind, item.url, item.status, item.content_type, item.content_language, item.location, item.link
    return *head, item.fetched, item.offset, sha1, len(item.body), *rest, "", ""


def _found(row: tuple[Any, ...], archive: Archive, load: Load) -> ArchiveFindings:
    kind, url, status, content_type, language, location, link, fetched, offset, sha1, n_bytes, *rest = row
    payload, first, is_own, reason, detail = rest
    item: Document | Reject
    if kind == "gone":
        item = Gone.at(url, reason, fetched)
    elif kind == "reject":
        item = Reject(url, "ingest", reason, detail)
    else:
        known = url, status, content_type, language, location, b"", fetched, archive.name, offset, link
        if kind == "page":
            load_page = partial(_whole, archive, offset, sha1, load)
            item = Recalled(*known, digest=sha1, n_bytes=n_bytes, load=load_page)
        else:
            item = Document(*known)
    return ArchiveFindings(item, payload, kind == "revisit", first, is_own)


def _whole(archive: Archive, offset: int, sha1: bytes, load: Load) -> Document:
    """Read a page whose body was not read."""
    try:
        found = load(offset)
    except OSError as error:
        raise InputError(f"{archive.name}: cannot be read ({error.strerror or error})") from error
    if not isinstance(found, Document) or hashlib.sha1(found.body, usedforsecurity=False).digest() != sha1:
        raise InputError(f"{archive.name}: has changed while it was read; repeat the command")
    return found
