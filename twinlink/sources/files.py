"""Safe reading of files: never outside their folder, limited in size, no pipes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

OUTSIDE = "link to a place outside the folder"
"""Why a link in a foreign folder is not followed."""

_MOST_DIGITS = 18  # of a number of 64 bits

MAX_SKIPPED_BYTES = 2**26
"""Maximum number of bytes in too long lines, after which reading stops. No list has such lines."""


class UnusableError(Exception):
    """A file that is not used: reason and detail of its reject.

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
    """Return the number written in digits; None if invalid or out of range.

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


class Folder(NamedTuple):
    """A folder below one that a user named."""

    parts: tuple[str, ...]
    """Its path below that one."""
    names: list[str]
    """Its entries that are not folders, in order."""
    plain: frozenset[str]
    """Those that are regular files themselves, not links or pipes."""


class Unusable(NamedTuple):
    """A folder that cannot be read, or a link to one outside."""

    parts: tuple[str, ...]
    detail: str


def source_of(parts: Sequence[str]) -> str:
    r"""Return the path of a file below its folder as in tables: bytes that are not UTF-8 are replaced.

    >>> source_of(["en", "a\udcff.html"])
    'en/a\ufffd.html'
    """
    return os.fsencode("/".join(parts)).decode("utf-8", "replace")


def walk(root: Path, skipped: frozenset[str] = frozenset(), without: Path | None = None) -> Iterator[Folder | Unusable]:
    """Yield a folder and all folders below it, in the order of their names, at any depth.

    Links to folders are not followed: their targets inside are visited in their own places, links to the outside are
    yielded as `Unusable`. So is a folder that lies deeper than a path can be long.

    Parameters
    ----------
    root : Path
        The folder that a user named.
    skipped : frozenset of str
        Names of folders that are passed over, and of links to folders.
    without : Path, optional
        A folder that is passed over, wherever it lies.
    """
    waiting: list[tuple[str, ...]] = [()]
    real = root.resolve()
    left_out = _below(without, real)
    while waiting:
        parts = waiting.pop()
        try:
            with os.scandir(root.joinpath(*parts)) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except (OSError, ValueError) as error:
            yield Unusable(parts, getattr(error, "strerror", None) or str(error))
            continue
        folders = [entry for entry in found if _is_folder(entry)]
        names = [entry.name for entry in found if not _is_folder(entry)]
        yield Folder(parts, names, frozenset(entry.name for entry in found if entry.is_file(follow_symlinks=False)))
        below = [entry for entry in folders if entry.name not in skipped and (*parts, entry.name) != left_out]
        for entry in below:
            if entry.is_symlink() and (detail := refusal(Path(entry.path), real)):
                yield Unusable((*parts, entry.name), detail)
        waiting += [(*parts, entry.name) for entry in reversed(below) if not entry.is_symlink()]


def _below(folder: Path | None, real: Path) -> tuple[str, ...] | None:
    """Return the parts of a folder's path below a resolved one; None if it does not lie there."""
    place = None if folder is None else folder.resolve()
    return place.relative_to(real).parts if place is not None and place.is_relative_to(real) else None


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # links in a circle
        return False


def refusal(path: Path, root: Path) -> str:
    """Return why a link in a folder is not followed; empty where it leads to a place inside.

    Parameters
    ----------
    path : Path
        The link, or any other path.
    root : Path
        The folder; resolved.
    """
    try:
        return "" if path.resolve().is_relative_to(root) else OUTSIDE
    except (OSError, RuntimeError) as error:  # links in a circle
        return getattr(error, "strerror", None) or str(error)


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


def read_file(path: Path | str, root: Path, limit: int) -> bytes:
    """Return the content of a file, or its first ``limit + 1`` bytes.

    Parameters
    ----------
    path : Path or str
        A file below ``root``; a text saves the time that pathlib takes for each of many files.
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
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            if detail := refusal(Path(path), root):
                raise UnusableError("unreadable", detail)
            status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait forever
            raise UnusableError("unreadable", "no regular file")
        is_long = status.st_size > limit
        # What is read as a whole needs no buffer. To read up to a limit, Python sets that much memory aside each time.
        with open(path, "rb", buffering=-1 if is_long else 0) as file:  # noqa: PTH123  (the path may be text)
            return file.read(limit + 1) if is_long else file.read()
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise UnusableError("unreadable", getattr(error, "strerror", None) or str(error)) from error
