"""Files that hold pages, read with care: none outside their folder, none too large, none that waits for ever."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["MAX_SKIPPED_BYTES", "UnusableError", "locate", "number_of", "read_file", "short_lines"]

_MOST_DIGITS = 18  # of a number of 64 bits

MAX_SKIPPED_BYTES = 2**26
"""Bytes of lines that are too long: what stands behind so many of them is not read. No list has such lines."""


class UnusableError(Exception):
    """A file that is no page for us: reason and detail of its reject.

    Attributes
    ----------
    reason : str
        Empty where it need not be counted.
    detail : str
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


def number_of(text: str) -> int | None:
    """Return the number that digits stand for; None for anything else, and for one that no file or answer can have.

    >>> number_of("200"), number_of("-1"), number_of("9" * 5000)
    (200, None, None)
    """
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None


def locate(name: str, root: Path) -> Path:
    """Return the file that ``name`` (as a list or an index writes it) stands for below ``root``.

    Raises
    ------
    UnusableError
        If it leads out of the folder, by its name or by links, or cannot be a name.
    """
    try:
        path = root / name
        inside = path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle, a NUL in the name
        raise UnusableError("unreadable", str(error)) from error
    if not inside:
        raise UnusableError("unreadable", "leads to a place outside the folder")
    return path


def short_lines(file: BinaryIO, max_bytes: int) -> Iterator[bytes | None]:
    r"""Yield the lines of a file, and None for each that is longer than ``max_bytes``, as far as `MAX_SKIPPED_BYTES`.

    >>> import io
    >>> list(short_lines(io.BytesIO(b"one\nsomething longer\ntwo"), 5))
    [b'one\n', None, b'two']
    """
    n_skipped = 0
    while line := file.readline(max_bytes):
        if len(line) < max_bytes or line.endswith(b"\n"):
            yield line
            continue
        yield None
        while line and not line.endswith(b"\n"):
            n_skipped += len(line)
            if n_skipped > MAX_SKIPPED_BYTES:
                return
            line = file.readline(max_bytes)


def read_file(path: Path, root: Path, limit: int) -> bytes:
    """Return what is in a file, or ``limit + 1`` bytes of it.

    Parameters
    ----------
    path : Path
        A file below ``root``.
    root : Path
        Links to places outside this folder are not followed; resolved.
    limit : int
        Size up to which it is read whole.

    Raises
    ------
    UnusableError
        If it cannot be read.
    """
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            if not path.resolve().is_relative_to(root):
                raise UnusableError("unreadable", "link to a place outside the folder")
            status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for ever
            raise UnusableError("unreadable", "no regular file")
        with path.open("rb") as file:
            # To read up to a limit, Python sets that much memory aside each time.
            return file.read(limit + 1) if status.st_size > limit else file.read()
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise UnusableError("unreadable", getattr(error, "strerror", None) or str(error)) from error
