"""Tables on disk: Parquet files that are checked against their schema on write and on read."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from twinlink.errors import SchemaError
from twinlink.files import replacing
from twinlink.tables.parts import located, pack_metadata, pack_of, readable, table_files

GROUP_ROWS = {"pages": 512, "segments": 2**12, "links": 2**13, "candidates": 2**13}
"""Rows of a group of a table's file, where a row has much text or single rows are asked for: reading one takes a group,
some 10 ms."""

_OTHER_GROUP_ROWS = 2**16


def check_table(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return ``table`` in the form of ``schema``, or raise an error.

    Columns may come in any order; their types must be the schema's or cast to them without loss. Nulls are accepted
    only where the schema accepts them.

    Raises
    ------
    SchemaError
        If a column is missing, unknown, of another type, or null where it must not be.

    Examples
    --------
    >>> from twinlink.tables import REJECTS
    >>> table = pa.table({"url": ["u"], "stage": ["crawl"], "reason": ["robots"]})
    >>> check_table(table, REJECTS)
    Traceback (most recent call last):
    ...
    twinlink.errors.SchemaError: table 'rejects': missing column(s) detail
    """
    name = (schema.metadata or {}).get(b"table", b"?").decode()
    wanted, given = schema.names, table.column_names
    missing = [column for column in wanted if column not in given]
    unknown = [column for column in given if column not in wanted]
    if missing or unknown:
        problems = [
            f"{kind} column(s) {', '.join(columns)}"
            for kind, columns in (("missing", missing), ("unknown", unknown))
            if columns
        ]
        raise SchemaError(f"table {name!r}: {'; '.join(problems)}")
    try:
        table = table.select(wanted).cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise SchemaError(f"table {name!r}: {error}") from error
    for field in schema:
        if not field.nullable and table.column(field.name).null_count:
            raise SchemaError(
                f"table {name!r}: column {field.name!r} has {table.column(field.name).null_count} null(s)"
            )
    return table


def write_table(
    table: pa.Table, schema: pa.Schema, path: Path, *, has_folder: bool = False, group_rows: int | None = None
) -> None:
    """Check ``table`` against ``schema`` and write it to ``path`` (Parquet, zstd) through a temporary name.

    Its row groups are small, so that some of its rows can be read quickly: see `GROUP_ROWS`. The temporary name is
    unique, since a worker that was given up may still write the table that another one writes in its place.

    Parameters
    ----------
    table : pa.Table
    schema : pa.Schema
    path : Path
    has_folder : bool, optional
        The folder is there, or it was removed and must not be made again. By default it is made if need be.
    group_rows : int, optional
        Rows of a row group. Default: those of the table's kind.
    """
    write_tables([table], schema, path, has_folder=has_folder, group_rows=group_rows)


def write_tables(
    tables: Iterable[pa.Table],
    schema: pa.Schema,
    path: Path,
    *,
    has_folder: bool = False,
    group_rows: int | None = None,
) -> None:
    """Write the rows of several tables to one file, as `write_table` writes them all; some rows are in memory."""
    rows = group_rows or group_rows_of(schema)
    checked = (check_table(table, schema) for table in tables)
    first = next(checked, schema.empty_table())
    if not has_folder:
        path.parent.mkdir(parents=True, exist_ok=True)
    with (
        replacing(path, secrets.token_hex(4)) as temporary,
        file_writer(temporary, first.schema) as writer,
    ):
        for table in in_groups(chain([first], checked), rows):
            writer.write_table(table, row_group_size=rows)


def file_writer(file: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Open a file for the rows of a table.

    Columns of fractions have no dictionary. Fractions hardly repeat: with dictionaries, a table of candidates takes
    more than twice the time and a quarter more room.
    """
    repeating = [
        f"{field.name}.list.element" if pa.types.is_list(field.type) else field.name
        for field in schema
        if not pa.types.is_floating(field.type)
    ]
    return pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True, use_dictionary=repeating)


def group_rows_of(schema: pa.Schema) -> int:
    """Return the rows of a row group of a table's kind."""
    name = (schema.metadata or {}).get(b"table", b"").decode()
    return GROUP_ROWS.get(name, _OTHER_GROUP_ROWS)


def in_groups(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Yield the rows of tables in tables of whole groups; the last one has the rest."""
    rest: list[pa.Table] = []
    for table in tables:
        rest.append(table)
        n_rows = sum(map(len, rest))
        if n_rows >= rows:
            joined, n_whole = pa.concat_tables(rest), n_rows // rows * rows
            yield joined.slice(0, n_whole)
            rest = [joined.slice(n_whole)] if n_whole < n_rows else []
    if rest:
        yield pa.concat_tables(rest)


SIX_DIGITS = ".6g"
"""Form of fractions whose size differs much: six digits, wherever the point is."""


def tsv_lines(table: pa.Table, fractions: str = ".4f") -> Iterator[str]:
    """Yield a table as lines of tab-separated values, names first; nulls are empty, fractions have four digits.

    >>> [line.split() for line in tsv_lines(pa.table({"url": ["u", None], "score": [0.5, 1.0]}))]
    [['url', 'score'], ['u', '0.5000'], ['1.0000']]
    >>> list(tsv_lines(pa.table({"pagerank": [0.0000123456, 12.0]}), SIX_DIGITS))
    ['pagerank', '1.23456e-05', '12']
    """
    yield "\t".join(table.column_names)
    for batch in table.to_batches(_ROWS_AT_A_TIME):
        cells = [_cells(column, fractions) for column in batch.columns]
        yield from pc.binary_join_element_wise(*cells, "\t").to_pylist()


_ROWS_AT_A_TIME = 2**14


def _cells(column: pa.Array, fractions: str) -> pa.Array:
    """Return the cells of a column; a call in Python for each would take most of the time that a stage takes."""
    if pa.types.is_string(column.type) or pa.types.is_integer(column.type):
        return column.cast(pa.string()).fill_null("")
    if column.type not in (pa.float32(), pa.float64()):
        return pa.array([_cell(value, fractions) for value in column.to_pylist()], pa.string())
    values = column.fill_null(0).to_numpy(zero_copy_only=False)
    bits, places = np.unique(values.view(f"i{values.itemsize}"), return_inverse=True)  # 0.0 and -0.0 differ
    texts = pa.array([_cell(value, fractions) for value in bits.view(values.dtype).tolist()], pa.string())
    return pc.if_else(column.is_valid(), texts.take(pa.array(places)), "")


def _cell(value: object, fractions: str) -> str:
    if value is None:
        return ""
    return format(value, fractions) if isinstance(value, float) else str(value)


def read_table(path: Path, schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a table from a file, a part of one, or all Parquet files below a folder, and check it.

    Parameters
    ----------
    path : Path
        A file, a part (`twinlink.tables.parts`), or a folder; a folder without files is an empty table.
    schema : pa.Schema
        One of `twinlink.tables.schemas`.
    columns : sequence of str, optional
        Only these columns (the check covers them alone).

    Raises
    ------
    DamagedError
        If a file cannot be read, or does not fit the schema.
    """
    wanted = columns_of(schema, columns)
    parts = [path] if pack_of(path) else table_files(path)
    return concat_tables([_read_part(part, wanted) for part in parts], wanted)


def _read_part(path: Path, schema: pa.Schema) -> pa.Table:
    with readable(path):
        file, groups = open_part(path)
        table = file.read_row_groups(groups, columns=schema.names)
        table.validate(full=True)  # texts are UTF-8
        return check_table(table, schema)


def iter_batches(path: Path, schema: pa.Schema, rows: int = 2**16) -> Iterator[pa.Table]:
    """Yield the columns of a schema from a table's file in parts of some rows, each checked.

    The file is not buffered ahead: what is in memory are the row groups that the rows are in. It is read by this thread
    alone, because Arrow's threads keep the memory that they took, even from `give_back`: 30 MB for 4,900 pages.

    Raises
    ------
    DamagedError
        If the file cannot be read, or does not fit the schema.
    """
    with readable(path):
        file, groups = open_part(path, pre_buffer=False)
        batches = file.iter_batches(rows, groups, columns=schema.names, use_threads=False)
    while True:
        with readable(path):
            batch = next(batches, None)
            if batch is None:
                return
            table = pa.Table.from_batches([batch])
            table.validate(full=True)
            table = check_table(table, schema)
        yield table


def table_metadata(path: Path) -> pq.FileMetaData:
    """Return the metadata of a table's file: rows, groups, columns.

    Raises
    ------
    DamagedError
        If it cannot be read.
    """
    with readable(path):
        return pq.read_metadata(path)


def row_groups(path: Path) -> list[pq.RowGroupMetaData]:
    """Return the metadata of the row groups of a file, or of those of a part.

    Raises
    ------
    DamagedError
        If it cannot be read.
    """
    with readable(path):
        file, groups = located(path)
        metadata = pq.read_metadata(file) if groups is None else pack_metadata(file)
        there = range(metadata.num_row_groups) if groups is None else groups
        return [metadata.row_group(group) for group in there]


def table_bytes(path: Path) -> int:
    """Return the size of the data in a table's file or in a part, uncompressed.

    Raises
    ------
    DamagedError
        If it cannot be read.
    """
    return sum(int(group.total_byte_size) for group in row_groups(path))


def columns_of(schema: pa.Schema, columns: Sequence[str] | None) -> pa.Schema:
    """Return a schema with some of its columns; None: with all."""
    return schema if columns is None else pa.schema([schema.field(c) for c in columns], metadata=schema.metadata)


def open_table(path: Path, **options: Any) -> pq.ParquetFile:
    """Open a table's file with checksums verified on read; use it within `readable`."""
    return pq.ParquetFile(path, page_checksum_verification=True, **options)


def open_part(path: Path, **options: Any) -> tuple[pq.ParquetFile, range]:
    """Open the file of a part as `open_table` does, and return it and the row groups of the part in it."""
    place, groups = located(path)
    if groups is None:
        file = open_table(place, **options)
        return file, range(file.num_row_groups)
    return open_table(place, **{"metadata": pack_metadata(place), **options}), groups


def count_rows(path: Path) -> int:
    """Return the number of rows of a table, a file, a part or a folder; a folder without files has none.

    Raises
    ------
    DamagedError
        If a file is not a table.
    """
    if pack_of(path):
        return sum(int(group.num_rows) for group in row_groups(path))
    return sum(int(table_metadata(file).num_rows) for file in table_files(path))


def concat_tables(parts: Sequence[pa.Table], schema: pa.Schema) -> pa.Table:
    """Concatenate tables of one schema; without tables, return an empty one."""
    return pa.concat_tables(parts) if parts else schema.empty_table()
