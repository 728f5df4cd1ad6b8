"""Reuse of results: sites whose input has not changed are not matched again.

The stage keeps, in ``match/sites.json``, a digest of all that each site's result depends on: settings, version,
lexicons, and the columns read of its pages and links. The next match reuses the result of a site with the same
digest, with the new signature in its pairs.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from twinlink.damage import damaged, lost_tables, read_json
from twinlink.errors import DamagedError, RunError
from twinlink.files import write_text
from twinlink.match.site_tables import TABLES
from twinlink.run_files import REJECTS_FILE
from twinlink.rundir.commit import SIGNATURE
from twinlink.rundir.directory import RunDirectory, site_file
from twinlink.tables import (
    PAGES,
    PAIRS,
    REJECTS,
    Reject,
    columns_of,
    is_part,
    iter_batches,
    read_table,
)

BODY_COLUMNS = ("page_id", "digest", "charset")
"""Further columns that the shape of a page depends on."""

_BLOCKS = columns_of(PAGES, ["blocks"])
_NAME = "sites.json"
RESULT_COLUMNS = ",".join(f"{name}.{column}" for name, schema in TABLES.items() for column in schema.names)
"""Columns of all result tables: results of a version with other columns are not reused."""


def site_digest(shared: str, part: Path, tables: Iterable[pa.Table], *, with_bodies: bool) -> str:
    """Return a digest of all that the match of a site depends on.

    Parameters
    ----------
    shared : str
        Digest of what all sites depend on.
    part : Path
        Part of the site's pages; their text blocks count.
    tables : iterable of pa.Table
        Other columns read of its pages and links.
    with_bodies : bool
        Whether the method compares structure, and so depends on the bodies themselves.
    """
    hasher = _Hasher()
    hasher.write(shared.encode())
    bodies = [read_table(part, PAGES, BODY_COLUMNS)] if with_bodies else []
    for table in (*tables, *bodies):
        with pa.ipc.new_stream(pa.PythonFile(hasher, "w"), table.schema) as writer:
            writer.write_table(table.combine_chunks())
    for table in iter_batches(part, _BLOCKS):  # those of a large site would take much memory together
        with pa.ipc.new_stream(pa.PythonFile(hasher, "w"), _BLOCKS) as writer:
            writer.write_table(table.combine_chunks())
    return hasher.digest.hexdigest()


class _Hasher(io.RawIOBase):
    """A file object that computes a digest of what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.digest = hashlib.blake2b(digest_size=16)

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return len(data)


def write_digests(folder: Path, digests: Mapping[str, str]) -> None:
    """Write the digests of all sites beside their results."""
    write_text(folder / _NAME, msgspec.json.format(msgspec.json.encode(digests, order="sorted").decode(), indent=1))


class EarlierMatch:
    """The result of an earlier `match` of a run, even if pages have been ingested since.

    Parameters
    ----------
    run : RunDirectory
    """

    def __init__(self, run: RunDirectory) -> None:
        self._folder = run.path / "match"
        try:
            self._digests = read_json(self._folder / _NAME, dict[str, str])
        except RunError:
            self._digests = {}
        self._lost = {table.relative_to(self._folder).parts[0] for table in lost_tables(self._folder / SIGNATURE)}

    def find(self, site: str, digest: str, urls: pa.ChunkedArray, signature: str) -> dict[str, Any] | None:
        """Return the tables of a site and its rejects by their names, if the digest is the same.

        Parameters
        ----------
        site, digest : str
            As `site_digest` returns it.
        urls : pa.ChunkedArray
            Addresses of its pages.
        signature : str
            Signature to write with every pair.
        """
        if self._digests.get(site) != digest:
            return None
        try:
            found: dict[str, Any] = {name: self._table(name, site) for name in TABLES}
            found["rejects"] = _of_urls(self._rejects, urls)
        except DamagedError:  # part of it is gone
            return None
        pairs = found["pairs"]
        column = pa.array([signature] * pairs.num_rows, pa.string())
        found["pairs"] = pairs.set_column(pairs.column_names.index("signature"), PAIRS.field("signature"), column)
        return found

    def _table(self, name: str, site: str) -> pa.Table:
        """Return a table of a site; one that was never written has no rows, one that is gone is damaged.

        A pack that is gone does not say which sites it had: where files of a table are gone, no site without a part of
        it is known to have no rows.
        """
        part = site_file(self._folder / name, site)
        if name in self._lost and not is_part(part):
            raise damaged(part, "this table is missing")
        return read_table(part, TABLES[name])

    @cached_property
    def _rejects(self) -> pa.Table:
        return read_table(self._folder / REJECTS_FILE, REJECTS)


def _of_urls(rejects: pa.Table, urls: pa.ChunkedArray) -> Sequence[Reject]:
    chosen = rejects.filter(pc.is_in(rejects["url"], urls.combine_chunks()))
    return [Reject(**row) for row in chosen.to_pylist()]
