"""Page pairs and sentence pairs as JSON Lines and Parquet, one file for each two languages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from twinlink.export.chosen_pairs import ChosenPairs
from twinlink.files import replacing
from twinlink.rundir.directory import RunDirectory
from twinlink.tables import SEGMENT, SEGMENTS, columns_of, iter_batches, iter_parts

SENTENCE_PAIRS = columns_of(
    SEGMENTS, ("url_a", "url_b", "lang_a", "lang_b", "source", "target", "chance", "probability", "kind", "site")
)
"""Columns of exported sentence pairs."""


class TableFile(NamedTuple):
    """A file of two languages."""

    path: Path
    langs: tuple[str, str]
    n_rows: int


class TableFiles:
    """Files of one form, one for each two languages; renamed when ``stack`` is closed without an error.

    Parameters
    ----------
    folder : Path
    stem : str
        Start of the names of the files, e.g. ``pairs.``; the languages and the ending follow.
    form : {"jsonl", "parquet"}
    stack : ExitStack
    """

    def __init__(self, folder: Path, stem: str, form: str, stack: ExitStack) -> None:
        self._folder = folder
        self._stem = stem
        self._form = form
        self._stack = stack
        self._open: dict[tuple[str, str], _JsonLines | _Parquet] = {}
        self._rows: dict[tuple[str, str], int] = {}

    def add(self, langs: tuple[str, str], table: pa.Table) -> None:
        """Append rows to the file of two languages."""
        if langs not in self._open:
            path = self._path(langs)
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = self._stack.enter_context(replacing(path))
            kind = _JsonLines if self._form == "jsonl" else _Parquet
            self._open[langs] = kind(temporary, table.schema, self._stack)
        self._open[langs].write(table)
        self._rows[langs] = self._rows.get(langs, 0) + table.num_rows

    def written(self) -> list[TableFile]:
        """Return the files with their numbers of rows, by languages."""
        return [TableFile(self._path(langs), langs, n) for langs, n in sorted(self._rows.items())]

    def _path(self, langs: tuple[str, str]) -> Path:
        return self._folder / f"{self._stem}{'-'.join(langs)}.{self._form}"


class _JsonLines:
    def __init__(self, path: Path, schema: pa.Schema, stack: ExitStack) -> None:  # noqa: ARG002  (as `_Parquet`)
        self._file = stack.enter_context(path.open("wb"))

    def write(self, table: pa.Table) -> None:
        for row in table.to_pylist():
            self._file.write(msgspec.json.encode(row) + b"\n")


class _Parquet:
    def __init__(self, path: Path, schema: pa.Schema, stack: ExitStack) -> None:
        self._file = stack.enter_context(pq.ParquetWriter(path, schema, compression="zstd"))

    def write(self, table: pa.Table) -> None:
        self._file.write_table(table)


def sentence_tables(run: RunDirectory, chosen: ChosenPairs) -> Iterator[tuple[tuple[str, str], pa.Table]]:
    """Yield the kept sentence pairs (`SENTENCE_PAIRS`) of chosen page pairs by languages; none before `align`."""
    if run.read_signature("align") is None:
        return
    pairs = {pair for _, table in chosen.by_site() for pair in _addresses(table)}
    for part in iter_parts(run.stage_folder("align") / "segments"):
        for table in iter_batches(part, columns_of(SEGMENTS, (*SENTENCE_PAIRS.names, "verdict"))):
            verdicts = table["verdict"].to_pylist()
            kept = [v == SEGMENT and pair in pairs for v, pair in zip(verdicts, _addresses(table), strict=True)]
            rows = table.filter(pa.array(kept, pa.bool_())).select(SENTENCE_PAIRS.names)
            if rows.num_rows:
                yield (rows["lang_a"][0].as_py(), rows["lang_b"][0].as_py()), rows.cast(SENTENCE_PAIRS)


def _addresses(table: pa.Table) -> list[tuple[str, str]]:
    return list(zip(table["url_a"].to_pylist(), table["url_b"].to_pylist(), strict=True))
