"""Large tables read quickly: columns of thousands of files at once, some rows of a file without the others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from twinlink.errors import SchemaError
from twinlink.tables import check_table, iter_parts

__all__ = ["RowFile", "ints", "read_parts", "read_sites"]

Ints = npt.NDArray[np.int64]


def ints(column: pa.ChunkedArray) -> Ints:
    """Return a column of page_ids as an array; none may be null, for every number may be that of a page."""
    if column.null_count:
        raise ValueError("a column with nulls; leave these rows out first")
    values: Ints = column.to_numpy()
    return values


def read_sites(folder: Path, schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """Return columns of all sites' files of a table, in the order of their names; a folder that is not there is empty.

    Raises
    ------
    SchemaError
        If a file goes away or cannot be read.
    """
    return read_parts(list(iter_parts(folder)), schema, columns)


def read_parts(parts: Sequence[Path], schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """Return columns of some files of a table, one behind the other; of no files it is empty.

    As `read_table` does, at a tenth of its time for thousands of files.

    Raises
    ------
    SchemaError
        If a file goes away or cannot be read.
    """
    names = schema.names if columns is None else columns
    wanted = pa.schema([schema.field(name) for name in names], metadata=schema.metadata)
    if not parts:
        return wanted.empty_table()
    try:
        table = ds.dataset([str(path) for path in parts], schema=wanted, format="parquet").to_table()
    except (pa.ArrowException, OSError) as error:
        raise SchemaError(f"{parts[0].parent}: no readable Parquet tables ({error})") from error
    return check_table(table, wanted)


class RowFile:
    """A table's file, of which columns are read whole and rows by their numbers.

    Parameters
    ----------
    path : Path
        A Parquet file.

    Raises
    ------
    OSError, pa.ArrowInvalid
        By the methods, where the file is gone or damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @cached_property
    def _metadata(self) -> pq.FileMetaData:
        return pq.read_metadata(self._path)

    @cached_property
    def _starts(self) -> Ints:
        """The first row of each group, and behind the last one the number of rows."""
        sizes = [self._metadata.row_group(group).num_rows for group in range(self._metadata.num_row_groups)]
        return np.cumsum([0, *sizes])

    def columns(self, *names: str) -> pa.Table:
        """Return whole columns; texts as codes of a dictionary."""
        texts = [name for name in names if self._metadata.schema.to_arrow_schema().field(name).type == pa.string()]
        return self._file(texts).read(columns=list(names))

    def take(self, rows: Sequence[int] | Ints, columns: Sequence[str]) -> pa.Table:
        """Return some rows in the order asked for; only the groups that they lie in are read."""
        wanted = np.asarray(rows, np.int64)
        groups, group_of = np.unique(np.searchsorted(self._starts, wanted, side="right") - 1, return_inverse=True)
        if not len(groups):
            return self._file().schema_arrow.empty_table().select(list(columns))
        read = self._file().read_row_groups(groups.tolist(), columns=list(columns))
        sizes = self._starts[groups + 1] - self._starts[groups]
        before = np.cumsum([0, *sizes[:-1]])
        return read.take(pa.array(before[group_of] + wanted - self._starts[groups][group_of]))

    def _file(self, dictionaries: Sequence[str] = ()) -> pq.ParquetFile:
        return pq.ParquetFile(self._path, metadata=self._metadata, read_dictionary=list(dictionaries))
