"""Files of a web graph as Common Crawl publishes them, read in batches."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from twinlink.errors import ConfigError, InputError
from twinlink.inputs import ANY_FILE, open_input
from twinlink.sites.web_hosts import HostNames
from twinlink.system.packed import BZIP2, GZIP, ZSTD

__all__ = ["OnRead", "Reader", "WebFiles", "find_graph_files", "n_columns", "read_members"]

BLOCK = 2**24
"""Bytes of text that are parsed at a time."""

_PACKED = {GZIP.mark: "gzip", ZSTD.mark: "zstd", BZIP2.mark: "bz2"}
"""First bytes of packed files."""
_MAX_LINE_BYTES = 2**20

OnRead = Callable[[int, int], None]
Numbers = NDArray[np.int32]


class WebFiles(NamedTuple):
    """The files of a web graph, as Common Crawl publishes them: tab-separated, plain or packed."""

    vertices: Sequence[str | Path]
    """Lines ``number, host with its labels reversed``; numbers from 0, without gaps."""
    edges: Sequence[str | Path]
    """Lines ``number of the linking host, number of the linked host``, all links of a host together."""


class Reader:
    """Reads tab-separated files in batches, and reports its progress."""

    def __init__(self, files: Sequence[Path], on_read: OnRead | None = None) -> None:
        self._total = sum(file.stat().st_size for file in files if file.is_file())
        self._on_read, self._done = on_read, 0

    def batches(self, files: Sequence[Path], columns: Mapping[str, pa.DataType]) -> Iterator[list[pa.Array]]:
        """Yield the first columns of the files, some rows at a time."""
        if not files:
            raise InputError("host graph: expected at least one vertices file and one edges file")
        for file in files:
            width = n_columns(file)
            if width and width < len(columns):
                raise InputError(f"{file}: expected {len(columns)} tab-separated columns, got {width}")
            try:
                yield from self._of_file(file, width, columns) if width else ()
            except (pa.ArrowException, OSError, EOFError) as error:
                raise InputError(f"{file}: cannot be read ({' '.join(str(error).split())[:300]})") from error

    def _of_file(self, file: Path, width: int, columns: Mapping[str, pa.DataType]) -> Iterator[list[pa.Array]]:
        names = [*columns, *(f"more-{k}" for k in range(width - len(columns)))]
        with open_input(file, ANY_FILE) as plain:
            rows = csv.open_csv(
                _unpacked(plain),
                csv.ReadOptions(column_names=names, block_size=BLOCK),
                csv.ParseOptions(delimiter="\t", quote_char=False),
                csv.ConvertOptions(column_types=dict(columns), include_columns=list(columns), null_values=[]),
            )
            for batch in rows:
                yield batch.columns
                if self._on_read is not None:
                    self._on_read(self._done + plain.tell(), self._total)
        self._done += file.stat().st_size


def read_members(reader: Reader, vertices: Sequence[Path], names: HostNames) -> tuple[NDArray[np.int64], Numbers, int]:
    """Read the hosts of a graph; return the numbers of those of some sites, the groups of these, and all numbers.

    Raises
    ------
    InputError
        If a file cannot be read, a host comes twice, or the numbers are not those from 0 without gaps.
    """
    found, n_hosts, last, latest = [(np.zeros(0, np.int64), np.zeros(0, np.int32))], 0, -1, "\n"
    for ids, hosts in reader.batches(vertices, {"id": pa.int64(), "host": pa.string()}):
        number = ids.to_numpy()
        if len(number) and number.min() < 0:
            raise InputError(f"host graph: number {number.min()} of a host is negative")
        n_hosts, last = n_hosts + len(number), max(last, int(number.max(initial=-1)))
        latest = _last_of_different(hosts, latest)
        group = names.groups_of(hosts)
        found.append((number[group >= 0], group[group >= 0]))
    if last >= max(2 * n_hosts, 1) + BLOCK or last >= 2**31 - 1:  # a few lines must not claim any amount of memory
        raise InputError(f"host graph: expected numbers of hosts from 0 without gaps, got {last} among {n_hosts} hosts")
    if n_hosts > last + 1:  # more hosts than numbers
        raise InputError(f"host graph: expected one host for each number, got {n_hosts} hosts with {last + 1} numbers")
    members, groups = (np.concatenate(column) for column in zip(*found, strict=True))
    return members, groups, last + 1


def _last_of_different(hosts: pa.Array, before: str) -> str:
    """Return the last host of a piece of the sorted hosts.

    Raises
    ------
    InputError
        If a host follows itself, perhaps the last one ``before`` this piece; its links would be those of two hosts.
    """
    hosts = pa.concat_arrays([pa.array([before], hosts.type), hosts])
    twice = np.flatnonzero(np.asarray(pc.fill_null(pc.equal(hosts[1:], hosts[:-1]), False)))
    if len(twice):
        raise InputError(f"host graph: expected each host once, got {hosts[int(twice[0])]} twice in the vertices files")
    return str(hosts[-1])


def n_columns(file: Path) -> int:
    """Return the number of columns of a file's first line; 0 for an empty file."""
    try:
        with open_input(file, ANY_FILE) as plain, _unpacked(plain) as lines:
            first = io.BufferedReader(lines).readline(_MAX_LINE_BYTES)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise InputError(f"{file}: cannot be read ({error})") from error
    if len(first) == _MAX_LINE_BYTES:
        raise InputError(f"{file}: expected tab-separated columns, its first line has {_MAX_LINE_BYTES} bytes and more")
    return first.count(b"\t") + 1 if first else 0


def _unpacked(file: BinaryIO) -> pa.NativeFile:
    """Return the text of a file, by its first bytes, whatever its name."""
    start = file.read(max(map(len, _PACKED)))
    file.seek(0)
    kind = next((kind for mark, kind in _PACKED.items() if start.startswith(mark)), None)
    return pa.input_stream(file, compression=kind)


def find_graph_files(setting: str, names: Sequence[str | Path]) -> tuple[list[Path], list[Path]]:
    """Return the vertices files and the edges files of a web graph that a setting names.

    A file is one of the vertices or one of the edges by the word in its name, or else in that of its folder: the parts
    of Common Crawl's graph are ``vertices/part-00000-….txt.gz``. A folder stands for all such texts below it, in the
    order of their paths.

    Raises
    ------
    ConfigError
        If the files are not both of vertices and of edges, or a name says neither.
    InputError
        If all files of a kind are empty, or one cannot be read.
    """
    paths = [file for name in names for file in _below(Path(name))]
    vertices, edges = ([path for path in paths if _kind(path) == kind] for kind in _KINDS)
    if bool(vertices) != bool(edges) or len(vertices) + len(edges) != len(paths) or (names and not paths):
        got = ", ".join(path.name for path in paths) or f"none below {names[0]}"
        expected = "expected files with `vertices` and with `edges` in their names, or in those of their folders"
        raise ConfigError(f"{setting}: {expected}, got {got}")
    for kind in (vertices, edges):
        if kind and not max(map(n_columns, kind)):
            raise InputError(f"{kind[0]}: expected tab-separated columns, got an empty file")
    return vertices, edges


_KINDS = ("vertices", "edges")


def _kind(path: Path) -> str:
    """Return of which kind a file is; empty if its name and that of its folder say none, or both.

    >>> _kind(Path("host/edges/part-00000.txt.gz")), _kind(Path("edges/cc-vertices.txt")), _kind(Path("ranks.txt"))
    ('edges', 'vertices', '')
    """
    for name in (path.name, path.absolute().parent.name):
        named = [kind for kind in _KINDS if kind in name]
        if named:
            return named[0] if len(named) == 1 else ""
    return ""


def _below(path: Path) -> list[Path]:
    """Return a file, or the texts of a graph below a folder."""
    if not path.is_dir():
        return [path]
    return [file for file in sorted(path.rglob("*.txt*")) if file.is_file() and _kind(file)]
