"""Atomic writing of files, and errors of JSON decoding."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What `msgspec.json.decode` raises for what is no JSON of the type; the last one for a thousand nested brackets."""


def real_path(path: Path) -> Path:
    """Return where a path leads to; unlike `Path.resolve`, links in a circle are no error: whoever opens it meets that.

    >>> real_path(Path("/usr/../etc"))
    PosixPath('/etc')
    """
    return Path(os.path.realpath(path))


@contextmanager
def replacing(path: Path, attempt: str = "") -> Iterator[Path]:
    """Yield a temporary name beside a file; after the block it is renamed to the file, after an error it is removed.

    Parameters
    ----------
    path : Path
        The file to write; its folder must exist.
    attempt : str, optional
        Part of the temporary name where several processes may write the same file. The last one that ends wins.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pairs.tsv"
    >>> with replacing(path) as temporary:
    ...     length = temporary.write_text("half")
    ...     path.exists()
    False
    >>> path.read_text(), temporary.exists()
    ('half', False)
    """
    temporary = path.with_name(".".join(filter(None, (path.name, attempt, "tmp"))))
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file through a temporary name; special files (a pipe, ``/dev/stdout``) are written directly.

    The text may name files, whose names need not be UTF-8: they are written as they are (``surrogateescape``).
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):  # /dev/stdout leads to a plain file at times
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        return
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="surrogateescape")
