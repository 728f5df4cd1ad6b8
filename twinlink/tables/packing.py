"""Writing the parts of tables: files of large sites, and packs of small ones."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from twinlink.errors import RunError
from twinlink.files import replacing
from twinlink.tables.parquet import check_table, file_writer, group_rows_of, in_groups, write_tables
from twinlink.tables.parts import PARTS_KEY, file_of, pack_name, pack_of

__all__ = ["Packing", "PartWriter", "part_writer"]

FEW_SITES = 50
"""Up to so many sites, each has files of its own."""
PACK_SITES = 256
"""Most sites of a pack: its metadata, which each reader reads, have some kilobytes for each."""
PACK_PAGES = (250, 8_000)
"""Bounds of the pages of a pack. Workers match one as a task, so there are to be many; half a second to twenty."""
PACKS = 128
"""Packs that all pages together would fill, between these bounds."""


class Packing:
    """Puts the sites of a run into packs, in their order.

    Parameters
    ----------
    n_sites, n_pages : int
        Of the run.

    Examples
    --------
    >>> packing = Packing(5_000, 1_000_000)
    >>> [packing.place(name, n).as_posix() for name, n in (("a.parquet", 5_000), ("b.parquet", 9_000))]
    ['+0000.parquet/a.parquet', 'b.parquet']
    >>> [packing.place(name, n).as_posix() for name, n in (("c.parquet", 2_000), ("d.parquet", 5_000))]
    ['+0000.parquet/c.parquet', '+0001.parquet/d.parquet']
    """

    def __init__(self, n_sites: int, n_pages: int) -> None:
        least, most = PACK_PAGES
        self.most_pages = min(most, max(least, n_pages // PACKS)) if n_sites > FEW_SITES else 0
        """Most pages of a site that is put into a pack."""
        self._pack, self._n_sites, self._n_pages = 0, 0, 0

    def is_alone(self, n_pages: int) -> bool:
        """Return whether a site has files of its own."""
        return n_pages > self.most_pages

    def place(self, name: str, n_pages: int) -> Path:
        """Return the path of a site's part in the folder of each table, given the name of its own file."""
        if self.is_alone(n_pages):
            return Path(name)
        if self._n_sites == PACK_SITES or self._n_pages + n_pages > self.most_pages:
            self._pack, self._n_sites, self._n_pages = self._pack + 1, 0, 0
        self._n_sites, self._n_pages = self._n_sites + 1, self._n_pages + n_pages
        return Path(pack_name(self._pack), name)


class PartWriter:
    """Writes parts; of each table, one pack is open at a time. Use `part_writer`, which closes it."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._packs: dict[Path, tuple[_Pack, ExitStack]] = {}  # by folder
        self._closed: set[Path] = set()

    def write(self, tables: Iterable[pa.Table], schema: pa.Schema, part: Path, *, has_folder: bool = False) -> None:
        """Write the rows of some tables as one part, with ``has_folder`` as in `write_table`.

        Parts of one pack of a table come one after the other, but for parts with files of their own.

        Raises
        ------
        RunError
            If a pack is begun a second time, which would replace the first one.
        """
        if pack_of(part):
            self._pack(part, schema, has_folder=has_folder).add(part.name, tables)
        else:
            write_tables(tables, schema, part, has_folder=has_folder)

    def _pack(self, part: Path, schema: pa.Schema, *, has_folder: bool) -> _Pack:
        file = file_of(part)
        if file.parent in self._packs:
            pack, closing = self._packs[file.parent]
            if pack.file == file:
                return pack
            closing.close()
            self._closed.add(pack.file)
        if file in self._closed:
            raise RunError(f"{file}: the sites of this pack are not together; read the pages again (`twinlink ingest`)")
        closing = self._stack.enter_context(ExitStack())
        pack = closing.enter_context(_opened(file, schema, has_folder=has_folder))
        self._packs[file.parent] = pack, closing
        return pack


@contextmanager
def part_writer() -> Iterator[PartWriter]:
    """Yield a writer of parts; its packs are whole when the block has ended, and absent after an error."""
    with ExitStack() as stack:
        yield PartWriter(stack)


class _Pack:
    """A pack that is being written."""

    def __init__(self, file: Path, schema: pa.Schema, writer: pq.ParquetWriter) -> None:
        self.file = file
        self._schema, self._writer = schema, writer
        self._group_rows = group_rows_of(schema)
        self._n_groups = 0
        self.parts: dict[str, tuple[int, int]] = {}
        """First and last row group of each part; without rows, the last one comes before the first."""

    def add(self, name: str, tables: Iterable[pa.Table]) -> None:
        """Write a part."""
        first = self._n_groups
        for table in in_groups((check_table(table, self._schema) for table in tables), self._group_rows):
            if len(table):  # else it would be a group, too
                self._writer.write_table(table, row_group_size=self._group_rows)
                self._n_groups += -(-len(table) // self._group_rows)
        self.parts[name] = first, self._n_groups - 1


@contextmanager
def _opened(file: Path, schema: pa.Schema, *, has_folder: bool) -> Iterator[_Pack]:
    if not has_folder:
        file.parent.mkdir(parents=True, exist_ok=True)
    with (
        replacing(file, secrets.token_hex(4)) as temporary,
        file_writer(temporary, schema) as writer,
    ):
        pack = _Pack(file, schema, writer)
        yield pack
        writer.add_key_value_metadata({PARTS_KEY: json.dumps(pack.parts)})
