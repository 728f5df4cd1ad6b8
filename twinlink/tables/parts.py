"""Parts: the rows of one site in a table. A part has a file of its own or, in a run of many sites, shares a pack.

A *pack* is a Parquet file in which small sites have row groups of their own; its metadata lists them. The path of a
part says where it is: ``pages/SITE.parquet`` is a file, ``pages/+0007.parquet/SITE.parquet`` a part of a pack. No
site's file begins with ``+``, because names of sites are percent-encoded. In all tables of a run, the same sites share
a pack.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from twinlink.damage import damaged
from twinlink.errors import RunError, SchemaError

__all__ = [
    "PARTS_KEY",
    "Located",
    "by_file",
    "file_of",
    "is_part",
    "iter_parts",
    "located",
    "named_part",
    "pack_metadata",
    "pack_name",
    "pack_of",
    "part_folder",
    "part_like",
    "part_rows",
    "part_size",
    "readable",
    "table_files",
]

PARTS_KEY = b"parts"
"""Key of a pack's metadata under which its parts are listed: JSON, the name of each and its first and last group."""

_PACK = "+"
_FOLDERS_KEPT, _LISTS_KEPT, _METADATA_KEPT = 32, 1024, 16  # of folders and packs, in memory

_DAMAGE = (None, errno.ENOENT, errno.ENOTDIR, errno.EISDIR)
"""Error numbers of tables that are damaged or gone; Arrow's own errors have none."""

Stamp = tuple[int, int, int]


class Located(NamedTuple):
    """Where a part is: a file, and the row groups that belong to it; None: all."""

    file: Path
    groups: range | None


def pack_of(part: Path) -> str:
    """Return the name of the pack that a part is in, empty for a part with a file of its own.

    >>> pack_of(Path("pages/+0007.parquet/a.example.parquet")), pack_of(Path("pages/a.example.parquet"))
    ('+0007.parquet', '')
    """
    return part.parent.name if part.parent.name.startswith(_PACK) else ""


def part_like(folder: Path, part: Path) -> Path:
    """Return the path of the same site's part in another table's folder, where it shares the same pack.

    >>> part_like(Path("pairs"), Path("pages/+0007.parquet/a.example.parquet")).as_posix()
    'pairs/+0007.parquet/a.example.parquet'
    """
    return folder / pack_of(part) / part.name


def pack_name(number: int) -> str:
    """Return the name of a pack.

    >>> pack_name(7)
    '+0007.parquet'
    """
    return f"{_PACK}{number:04}.parquet"


def file_of(part: Path) -> Path:
    """Return the file that a part is in."""
    return part.parent if pack_of(part) else part


def table_files(path: Path) -> Iterator[Path]:
    """Yield the Parquet files of a table (a file, or a folder of them), in the order of their names; packs first."""
    if path.is_file():
        yield path
    else:
        yield from sorted(path.rglob("*.parquet"))


def iter_parts(path: Path) -> Iterator[Path]:
    """Yield the parts of a table (a file, a part, or a folder), in the order of the names of their files."""
    if pack_of(path) or path.is_file():
        yield path
        return
    parts: list[Path] = []
    for file in path.rglob("*.parquet"):
        parts += [file / name for name in _parts_of(file)] if file.name.startswith(_PACK) else [file]
    yield from sorted(parts, key=lambda part: (part_folder(part), part.name))


def part_folder(part: Path) -> Path:
    """Return the folder of the table that a part belongs to."""
    return file_of(part).parent


def by_file(parts: Iterable[Path]) -> list[list[Path]]:
    """Return parts in lists, each of one file, in the order of these files."""
    return [list(group) for _, group in groupby(sorted(parts, key=lambda part: (file_of(part), part.name)), file_of)]


def named_part(folder: Path, name: str) -> Path:
    """Return the part of a name in a table's folder; if there is none, the file that it would be.

    Raises
    ------
    DamagedError
        If a pack cannot be read.
    """
    try:
        pack = _packs(folder, _stamp(folder)).get(name)
    except FileNotFoundError:
        return folder / name
    return folder / name if pack is None else pack / name


def is_part(path: Path) -> bool:
    """Return whether a part is there."""
    if not pack_of(path):
        return path.is_file()
    return path.parent.is_file() and path.name in _parts_of(path.parent)


def located(path: Path) -> Located:
    """Return where a part is; a path that is no part of a pack is a file.

    Raises
    ------
    DamagedError
        If its pack cannot be read, or does not have it.
    """
    if not pack_of(path):
        return Located(path, None)
    with readable(path):
        return Located(path.parent, _parts_of(path.parent)[path.name])


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Convert all errors of reading a damaged table into one.

    Raises
    ------
    DamagedError
        With the file, and the command that rebuilds it.
    RunError
        If the table may be whole, but the system does not let it be read.
    """
    try:
        yield
    except MemoryError:  # that of Arrow is one of its exceptions, too
        raise
    except OSError as error:
        if error.errno in _DAMAGE:
            raise damaged(path, error) from error
        raise RunError(f"{path}: cannot be read ({os.strerror(error.errno)})") from error
    except (pa.ArrowException, SchemaError, KeyError, UnicodeDecodeError) as error:
        raise damaged(path, error) from error


def part_rows(part: Path) -> range | None:
    """Return which rows of its file are those of a part; None: all."""
    file, groups = located(part)
    if groups is None:
        return None
    metadata = pack_metadata(file)
    first = sum(int(metadata.row_group(group).num_rows) for group in range(groups.start))
    return range(first, first + sum(int(metadata.row_group(group).num_rows) for group in groups))


def part_size(part: Path) -> int:
    """Return the bytes that a part takes on disk; of a pack, without the metadata."""
    file, groups = located(part)
    if groups is None:
        return file.stat().st_size
    metadata = pack_metadata(file)
    columns = (metadata.row_group(group).column(k) for group in groups for k in range(metadata.num_columns))
    return sum(int(column.total_compressed_size) for column in columns)


def pack_metadata(pack: Path) -> pq.FileMetaData:
    """Return the metadata of a pack; those of the packs that were asked for last stay in memory."""
    return _metadata(pack, _stamp(pack))


def _parts_of(pack: Path) -> Mapping[str, range]:
    return _listed(pack, _stamp(pack))


def _stamp(path: Path) -> Stamp:
    """Return what changes when a file is replaced, or when a folder gets or loses a file."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


@lru_cache(_METADATA_KEPT)
def _metadata(pack: Path, _: Stamp) -> pq.FileMetaData:
    with readable(pack):
        return pq.read_metadata(pack)


@lru_cache(_LISTS_KEPT)
def _listed(pack: Path, stamp: Stamp) -> Mapping[str, range]:
    try:
        parts = json.loads((_metadata(pack, stamp).metadata or {})[PARTS_KEY])
        return MappingProxyType({name: range(first, last + 1) for name, (first, last) in parts.items()})
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(pack, error) from error


@lru_cache(_FOLDERS_KEPT)
def _packs(folder: Path, _: Stamp) -> Mapping[str, Path]:
    """Return the pack of each part in a folder that has one."""
    packs = sorted(folder.glob(f"{_PACK}*.parquet"))
    return MappingProxyType({name: pack for pack in packs for name in _parts_of(pack)})
