"""Files of sources as they were before they were read: each is looked at once."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from twinlink.rundir.signature import state_digest

__all__ = ["FileState", "source_mark", "states_of"]


class FileState(NamedTuple):
    """A file of a source, its size and its time."""

    path: Path
    place: str
    """Where it really is: an absolute path without links."""
    size: int
    """Bytes."""
    changed: int
    """Time of its last change, in nanoseconds since 1970."""

    @property
    def digest(self) -> str:
        """Digest of its place, size and time."""
        return state_digest(self.place, self.size, self.changed)


def states_of(files: Iterable[Path]) -> Iterator[FileState]:
    """Yield the state of each file; what holds for its folder is looked up once.

    Raises
    ------
    FileNotFoundError
        If there is no such file any more.
    """
    folders: dict[str, str] = {}
    for file in files:
        name = str(file)  # a text saves the time that pathlib takes for each of many files
        status = os.lstat(name)
        if stat.S_ISLNK(status.st_mode):
            status, place = file.stat(), str(file.resolve())
        else:
            folder, own = os.path.split(name)
            if folder not in folders:
                folders[folder] = os.path.join(file.parent.resolve(), "")  # noqa: PTH118  ("" for a slash at the end)
            place = folders[folder] + own
        yield FileState(file, place, status.st_size, status.st_mtime_ns)


def source_mark(path: Path, files: Iterable[FileState]) -> str:
    """Return a digest of the names and sizes of a source's files, which stays the same when it is moved."""
    own = path if path.is_dir() else path.parent
    start = f"{own}{os.sep}"
    marks = sorted(f"{_name_below(str(file.path), own, start)}|{file.size}" for file in files)
    return hashlib.blake2b("\0".join(marks).encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _name_below(file: str, folder: Path, start: str) -> str:
    """Return the path of a file from a folder; ``start`` is that of the files in the folder."""
    return file.removeprefix(start) if file.startswith(start) else os.path.relpath(file, folder)
