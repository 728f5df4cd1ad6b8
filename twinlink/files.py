"""Atomic writing of text files, and errors of JSON decoding."""

from __future__ import annotations

from pathlib import Path

import msgspec

__all__ = ["NOT_JSON", "write_text"]

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What `msgspec.json.decode` raises for what is no JSON of the type; the last one for a thousand nested brackets."""


def write_text(path: Path, text: str) -> None:
    """Write a text file through a temporary name; special files (a pipe, ``/dev/stdout``) are written directly.

    The text may name files, whose names need not be UTF-8: they are written as they are (``surrogateescape``).
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):  # /dev/stdout leads to a plain file at times
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        return
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.write_text(text, encoding="utf-8", errors="surrogateescape")
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
