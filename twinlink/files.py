"""Atomic writing of files, paths in commands, and errors of JSON decoding."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
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


def shell_word(path: Path | str) -> str:
    """Return a path as a word of a command; without ``./``, a name that begins with a dash would be an option.

    >>> shell_word(Path("my run")), shell_word(Path("-run"))
    ("'my run'", './-run')
    """
    text = str(path)
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def is_utf8(path: Path) -> bool:
    r"""Return whether the names of a path and of all folders above it are UTF-8: Arrow opens no others.

    >>> is_utf8(Path("run")), is_utf8(Path("run\udcff"))
    (True, False)
    """
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:
        return False
    except FileNotFoundError:  # the working directory was removed; whoever opens the path meets that
        pass
    return True


@contextmanager
def removing_new(folders: Iterable[Path]) -> Iterator[None]:
    """After an error, remove those folders that were not there before the block, unless something is in them.

    Parameters
    ----------
    folders : iterable of Path
        Inner ones first.
    """
    new = [folder for folder in folders if not folder.exists()]
    try:
        yield
    except BaseException:
        for folder in new:
            with suppress(OSError):  # it is not empty, or was never made
                folder.rmdir()
        raise


@contextmanager
def replacing(path: Path, attempt: str = "") -> Iterator[Path]:
    """Yield a temporary name beside a file; after the block it is renamed to the file, after an error it is removed.

    An error of Python that names the temporary file names the file instead.

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
    except BaseException as error:
        with suppress(OSError):  # where nothing could be written, nothing can be removed
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(temporary):
            error.filename = str(path)
            if error.filename2 == str(path):  # renamed: else it would read as a file that takes its own place
                error.filename2 = None
        raise


def write_text(path: Path, text: str, attempt: str = "") -> None:
    """Write a text file through a temporary name; special files (a pipe, ``/dev/stdout``) are written directly.

    The text may name files, whose names need not be UTF-8: they are written as they are (``surrogateescape``).
    ``attempt`` is that of `replacing`.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):  # /dev/stdout leads to a plain file at times
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        return
    with replacing(path, attempt) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="surrogateescape")
