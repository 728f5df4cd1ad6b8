"""What a large task keeps between its steps: in memory while it fits, in files beyond.

A task opens a scratch (`scratch_in`); its steps pass the arrays that later steps need to `kept` or `KeptParts`. These
return arrays with the same values, so no result depends on the memory. Files have no name: the system removes them
with the last array that lies in them, and when the process ends, even if it is killed.
"""

from __future__ import annotations

import mmap
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from twinlink.system.open_files import raise_file_limit

__all__ = ["KeptParts", "Scratch", "kept", "scratch_at_work", "scratch_in"]

ScalarT = TypeVar("ScalarT", bound=np.generic)

SMALL = 2**20
"""Bytes of an array that always stays in memory."""


class Scratch:
    """Arrays of one task, of which only some are in memory.

    Parameters
    ----------
    folder : Path
        Where the files are; it should not be in memory itself (``tmpfs``).
    n_bytes : int
        Memory that the arrays may take together; beyond it, they are in files.
    """

    def __init__(self, folder: Path, n_bytes: int) -> None:
        self.folder, self.n_bytes = folder, n_bytes
        self.in_memory = 0
        """Bytes of the arrays that are in memory."""
        self.on_disk = 0
        """Bytes of the arrays that are in files."""

    def has_room(self, n_bytes: int) -> bool:
        """Return whether an array of a size stays in memory."""
        return n_bytes <= SMALL or self.in_memory + n_bytes <= self.n_bytes

    def count(self, array: NDArray[Any]) -> None:
        """Count an array that stays in memory, until it is gone with all views of it."""
        self.in_memory += array.nbytes
        weakref.finalize(_owner(array), self._forget, array.nbytes, 0)

    def mapped(self, file: IO[bytes], dtype: np.dtype[ScalarT]) -> NDArray[ScalarT]:
        """Return the content of a file as an array; the file may be closed, but its descriptor is held by the array."""
        content = mmap.mmap(file.fileno(), 0)
        array = np.frombuffer(content, dtype)
        self.on_disk += array.nbytes
        weakref.finalize(content, self._forget, 0, array.nbytes)
        return array

    def _forget(self, in_memory: int, on_disk: int) -> None:
        self.in_memory -= in_memory
        self.on_disk -= on_disk


_scratch: ContextVar[Scratch | None] = ContextVar("_scratch", default=None)


@contextmanager
def scratch_in(folder: Path, n_bytes: int) -> Iterator[Scratch]:
    """Let the functions of this module use files in a folder within the context; outside of any, they use none."""
    raise_file_limit()
    scratch = Scratch(folder, n_bytes)
    token = _scratch.set(scratch)
    try:
        yield scratch
    finally:
        _scratch.reset(token)


def scratch_at_work() -> Scratch | None:
    """Return the scratch of this context, if there is one."""
    return _scratch.get()


def kept(array: NDArray[ScalarT]) -> NDArray[ScalarT]:
    """Return an array of one dimension itself, or the same values in a file if the memory is used up.

    Raises
    ------
    OSError
        If the disk is full.

    Examples
    --------
    >>> values = np.arange(SMALL)
    >>> with tempfile.TemporaryDirectory() as folder, scratch_in(Path(folder), n_bytes=0) as scratch:
    ...     same = kept(values)
    ...     print(np.array_equal(same, values), scratch.on_disk == values.nbytes, [*Path(folder).iterdir()])
    True True []
    """
    scratch = _scratch.get()
    if scratch is None or array.nbytes <= SMALL:
        return array
    if scratch.has_room(array.nbytes):
        scratch.count(array)
        return array
    with _file(scratch) as file:
        _append(file, array)
        return scratch.mapped(file, array.dtype)


class KeptParts:
    """Parts of an array that is `kept`: in memory until there is no more room for them."""

    def __init__(self) -> None:
        self._parts: list[NDArray[Any]] = []
        self._n_bytes = 0
        self._file: IO[bytes] | None = None
        self._dtype: np.dtype[Any] | None = None

    def append(self, part: NDArray[Any]) -> None:
        """Add a part, in the type of the first one."""
        self._dtype = self._dtype or part.dtype
        self._parts.append(part.astype(self._dtype, copy=False))
        self._n_bytes += part.nbytes
        scratch = _scratch.get()
        if scratch is None or (self._file is None and scratch.has_room(self._n_bytes)):
            return
        if self._file is None:
            self._file = _file(scratch)
        for each in self._parts:
            _append(self._file, each)
        self._parts = []

    def joined(self) -> NDArray[Any]:
        """Return the whole array; there must be at least one part."""
        scratch = _scratch.get()
        if self._file is None or scratch is None or self._dtype is None:
            parts, self._parts = self._parts, []
            return kept(np.concatenate(parts))
        with self._file:
            return scratch.mapped(self._file, self._dtype)


def _owner(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array that has the memory of a view; a matrix makes views of the arrays that it is made from."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _file(scratch: Scratch) -> IO[bytes]:
    """Open a file without a name."""
    return tempfile.TemporaryFile(dir=scratch.folder, buffering=0)


def _append(file: IO[bytes], array: NDArray[Any]) -> None:
    """Write an array to the end of a file."""
    rest = np.ascontiguousarray(array).view(np.uint8).data
    while rest:  # a single call writes 2 GB at most
        rest = rest[file.write(rest) :]
