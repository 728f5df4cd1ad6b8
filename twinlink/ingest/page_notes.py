"""Notes of the pages that were parsed, for the next ingest: what was found out about them, and which have rows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from twinlink.ingest.captures import Facts
from twinlink.ingest.growing_table import GrowingTable
from twinlink.tables import open_table, readable

__all__ = ["EarlierPages", "PageNotes"]

_PARSED_NAME = "parsed.parquet"
_KEPT_NAME = "kept.parquet"
_PARSED = pa.schema(
    [("capture", pa.int64()), ("is_empty", pa.bool_()), ("cut", pa.bool_()), ("canonical", pa.string())]
)


class PageNotes:
    """Writes the notes of an ingest.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._table = GrowingTable(folder / _PARSED_NAME, _PARSED)

    def add(self, capture: int, facts: Facts) -> None:
        """Note what was found out about a capture, given its number (`twinlink.ingest.captures.capture_number`)."""
        self._table.add((capture, facts.is_empty, facts.cut, facts.canonical))

    def finish(self, kept: Iterable[int]) -> None:
        """Complete the notes with the captures that have rows in the tables."""
        self._table.finish()
        captures = pa.array(np.sort(np.fromiter(kept, np.int64)))
        pq.write_table(pa.table({"capture": captures}), self._folder / _KEPT_NAME, write_page_checksum=True)

    def close(self) -> None:
        """Close the file; nobody will read one that is not complete."""
        self._table.close()


class EarlierPages:
    """What is known of the captures that have rows in the tables of an earlier ingest, and of those of empty pages.

    Parameters
    ----------
    folder : Path or None
        With its notes; None: nothing is known.
    """

    def __init__(self, folder: Path | None) -> None:
        self._captures: NDArray[np.int64] = np.array([], np.int64)
        self._facts = _PARSED.empty_table()
        if folder is not None:
            parsed = _read(folder / _PARSED_NAME)
            usable = pc.or_(
                parsed["is_empty"], pc.is_in(parsed["capture"], _read(folder / _KEPT_NAME)["capture"].combine_chunks())
            )
            self._facts = parsed.filter(usable).sort_by("capture").combine_chunks()
            self._captures = self._facts["capture"].to_numpy()

    def facts(self, capture: int) -> Facts | None:
        """Return what is known of a capture."""
        if not len(self._captures):  # as in each first ingest
            return None
        place = int(np.searchsorted(self._captures, capture))
        if place == len(self._captures) or self._captures[place] != capture:
            return None
        return Facts(*(self._facts[name][place].as_py() for name in Facts._fields))


def _read(path: Path) -> pa.Table:
    with readable(path):
        table = open_table(path).read()
        table.validate(full=True)
        return table
