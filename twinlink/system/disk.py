"""Errors of full or failing disks, and their messages."""

from __future__ import annotations

import errno
import resource
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FULL_BYTES = 2**20
"""A disk with less room is full: the next page may need more."""

_AGAIN = "free some space, and run the same command again: completed work is kept"
_PROBLEMS = {
    errno.ENOSPC: f"the disk is full; {_AGAIN}",
    errno.EDQUOT: f"the disk quota of this user is used up; {_AGAIN}",
    errno.EFBIG: "the file is too large: see `ulimit -f`, and run the same command again: completed work is kept",
    errno.EIO: "the disk fails (input/output error)",
    errno.EROFS: "the disk is mounted read-only",
}


def disk_problem(error: BaseException, place: Path) -> str:
    """Return the disk problem and what to do; empty for an error with another cause.

    Parameters
    ----------
    error : BaseException
        Raised by Python, Arrow, or SQLite (which gives less detail).
    place : Path
        Where something was to be written: a file or folder, which need not be there.

    Examples
    --------
    >>> disk_problem(OSError(errno.ENOSPC, "No space left on device"), Path("run"))
    'the disk is full; free some space, and run the same command again: completed work is kept'
    >>> disk_problem(FileNotFoundError(errno.ENOENT, "No such file or directory"), Path("run"))
    ''
    """
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return _PROBLEMS[errno.ENOSPC]
        return _PROBLEMS[_cause(place)] if code == sqlite3.SQLITE_IOERR else ""
    return _PROBLEMS.get(error.errno or 0, "") if isinstance(error, OSError) else ""


@contextmanager
def naming(place: Path) -> Iterator[None]:
    """Let a disk error that names no file, as those of writing to an open one, name the file or folder at work.

    >>> with naming(Path("run")):
    ...     raise OSError(errno.ENOSPC, "No space left on device")
    Traceback (most recent call last):
    ...
    OSError: [Errno 28] No space left on device: 'run'
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and disk_problem(error, place):
            error.filename = str(place)
        raise


def _cause(place: Path) -> int:
    """Return why SQLite could not read or write, which its error does not say."""
    there = next((path for path in (place, *place.absolute().parents) if path.exists()), Path("/"))
    if shutil.disk_usage(there).free < _FULL_BYTES:
        return errno.ENOSPC
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return errno.EIO if limit == resource.RLIM_INFINITY else errno.EFBIG
