"""A table of notes that grows row by row, written in row groups while it grows."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

GROUP_ROWS = 2**12
"""Rows of a row group: what is held in memory."""


class GrowingTable:
    """A Parquet file that gets single rows.

    Parameters
    ----------
    file : Path
        Written below a folder that nobody reads before it is complete; its own folder is made if need be.
    schema : pa.Schema
    """

    def __init__(self, file: Path, schema: pa.Schema) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._schema = schema
        self._writer = pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True)
        self._rows: list[tuple[Any, ...]] = []
        self._n_written = 0

    def __len__(self) -> int:
        """Return the number of rows so far."""
        return self._n_written + len(self._rows)

    def add(self, row: tuple[Any, ...]) -> None:
        """Add a row: its values in the order of the columns."""
        self._rows.append(row)
        if len(self._rows) == GROUP_ROWS:
            self._write()

    def finish(self, metadata: Mapping[bytes, str] | None = None) -> None:
        """Complete the file, with some metadata."""
        self._write()
        self._writer.add_key_value_metadata(metadata or {})
        self._writer.close()

    def close(self) -> None:
        """Close the file; nobody will read one that is not complete."""
        with suppress(OSError, pa.ArrowException):  # another error has led here, which counts
            self._writer.close()

    def _write(self) -> None:
        if self._rows:
            columns = zip(*self._rows, strict=True)
            arrays = [pa.array(values, field.type) for values, field in zip(columns, self._schema, strict=True)]
            self._writer.write_table(pa.Table.from_arrays(arrays, schema=self._schema), row_group_size=GROUP_ROWS)
            self._n_written += len(self._rows)
            self._rows = []
