"""Safe reading of files named by users, with one clear error message.

A pipe may never give a byte, a device gives bytes for ever, and a disk image may have the name of a list.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO, NamedTuple

from twinlink.errors import InputError

MAX_TEXT_BYTES = 2**27
"""Largest text that is read as a whole: a million pairs of addresses of 60 characters each."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe; write it to a file first"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class InputFile(NamedTuple):
    """What a file is expected to be, for error messages."""

    problem: str = "cannot be read"
    """Message for an unreadable file; the cause follows in brackets."""
    missing: str = "cannot be read (no such file)"
    """Message for a missing file."""
    error: type[InputError] = InputError
    limit: int = MAX_TEXT_BYTES
    """Bytes up to which it is read."""


ANY_FILE = InputFile()


def named_languages(text: str) -> tuple[str, str]:
    """Split ``LANG-LANG=FILE`` into the two languages and the file; a ``FILE`` alone has no languages.

    >>> named_languages("en-fr=memory.tsv"), named_languages("memory.tmx")
    (('en-fr', 'memory.tsv'), ('', 'memory.tmx'))
    """
    names, equals, path = text.partition("=")
    if not equals or "-" not in names or "/" in names or Path(text).exists():
        return "", text
    return names, path


def kind_of_file(mode: int) -> str:
    """Return the kind of a special file, by its ``st_mode``; empty for a regular file.

    >>> kind_of_file(stat.S_IFDIR), kind_of_file(stat.S_IFREG)
    ('a folder', '')
    """
    if stat.S_ISREG(mode):
        return ""
    return next((kind for is_kind, kind in _KINDS if is_kind(mode)), "no regular file")


def open_input(path: Path, expected: InputFile) -> BinaryIO:
    """Open a regular file for reading. Its size is not limited here.

    Raises
    ------
    InputError
        Of the class that is ``expected``, if there is no such file, it is a folder, a pipe, a socket or a device, or it
        cannot be opened.
    """
    try:
        _refuse(path, path.stat().st_mode, expected)
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")  # opening a pipe would block
    except FileNotFoundError:
        raise expected.error(f"{path}: {expected.missing}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise expected.error(f"{path}: {expected.problem} ({_reason(error)})") from error
    try:
        _refuse(path, os.fstat(file.fileno()).st_mode, expected)
    except InputError:
        file.close()
        raise
    return file


def read_input(path: Path, expected: InputFile) -> bytes:
    """Return the content of a file.

    Raises
    ------
    InputError
        As in `open_input`, or if the file is larger than the limit of ``expected``.
    """
    with open_input(path, expected) as file:
        size = os.fstat(file.fileno()).st_size
        if size > expected.limit:
            raise expected.error(
                f"{path}: {expected.problem} (it has {size} bytes, expected at most {expected.limit} bytes)"
            )
        try:
            return file.read(expected.limit)  # it may grow in the meantime
        except OSError as error:
            raise expected.error(f"{path}: {expected.problem} ({_reason(error)})") from error


def read_input_text(path: Path, expected: InputFile) -> str:
    """Return the text of a file in UTF-8, without a byte order mark.

    Raises
    ------
    InputError
        As in `read_input`, or if the file is not UTF-8.
    """
    raw = read_input(path, expected)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise expected.error(f"{path}, line {line}: not UTF-8; convert the file, e.g. with iconv") from None


def _refuse(path: Path, mode: int, expected: InputFile) -> None:
    if kind := kind_of_file(mode):
        raise expected.error(f"{path}: {expected.problem} (it is {kind})")


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)
