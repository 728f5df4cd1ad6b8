"""Untrusted zip files: their lists of members are read into memory, and members may lie."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import BinaryIO

BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error)
"""What reading a damaged zip raises, besides `OSError`."""

_END = struct.Struct("<4s8xII2x")  # mark, size and place of the list of members
_END_MARK = b"PK\5\6"
_MAX_COMMENT_BYTES = 2**16
_LOCATOR = struct.Struct("<4s4xQ4x")  # of the end record for large files
_LOCATOR_MARK = b"PK\6\7"
_LARGE_MARK = b"PK\6\6"
_LARGE_END = struct.Struct("<4s36xQ8x")


def open_zip(file: BinaryIO, max_list_bytes: int) -> zipfile.ZipFile:
    """Open a zip whose list of members is of a usual size, and whose members do not lie over each other.

    Parameters
    ----------
    file : binary file
        Can seek.
    max_list_bytes : int
        Largest list of members; Python takes some ten times as much memory for it.

    Raises
    ------
    zipfile.BadZipFile
        If it is no such zip. Damage raises the others of `BROKEN`, too.
    OSError
        If it cannot be read.
    """
    size = file.seek(0, io.SEEK_END)
    n_bytes = _list_bytes(file, size)
    if n_bytes > max_list_bytes:
        raise zipfile.BadZipFile(f"its list of members has {n_bytes} bytes, expected at most {max_list_bytes}")
    container = zipfile.ZipFile(file)
    if sum(info.compress_size for info in container.infolist()) > size:
        container.close()
        raise zipfile.BadZipFile("members that overlap")
    return container


def _list_bytes(file: BinaryIO, size: int) -> int:
    """Return how large the list of members says that it is; 0 where `zipfile` will find none."""
    start = max(0, size - _END.size - _MAX_COMMENT_BYTES - _LOCATOR.size)
    file.seek(start)
    tail = file.read()
    at = len(tail) - _END.size  # without a comment it is there, whatever its fields look like
    if not (tail.startswith(_END_MARK, max(0, at)) and tail.endswith(b"\0\0")):
        at = tail.rfind(_END_MARK)
    if at < 0 or at + _END.size > len(tail):
        return 0
    n_bytes: int = _END.unpack_from(tail, at)[1]
    if at >= _LOCATOR.size and tail.startswith(_LOCATOR_MARK, at - _LOCATOR.size):
        large = _LOCATOR.unpack_from(tail, at - _LOCATOR.size)[1]
        # zipfile looks for it right before its locator, whatever that says.
        for place in (large, start + at - _LOCATOR.size - _LARGE_END.size):
            file.seek(max(0, min(place, size)))
            head = file.read(_LARGE_END.size)
            if len(head) == _LARGE_END.size and head.startswith(_LARGE_MARK):
                n_bytes = max(n_bytes, _LARGE_END.unpack(head)[1])
    return n_bytes
