"""Memory that this process and its workers may take, and what a stage plans to hold by it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

PROGRAM_BYTES = 250_000_000
"""Memory of the program itself, with the libraries that it loads."""
WORKER_BYTES = 400_000_000
"""Memory of a worker process that matches small sites, or has matched a large one: what it does not share with the
program."""
_UNITS = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
_NO_LIMIT = 2**60  # what cgroup v1 has for none is near 2^63
# Options of the C library's `mallopt`, by their numbers in malloc.h: from what size the free end of the heap is
# returned; from what size an array gets a mapping of its own, and how many do; how many heaps the threads have.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -3, -4, -8
_REUSING = {_MMAP_MAX: 0, _TRIM_THRESHOLD: 2**31 - 1}
_RETURNING = {_MMAP_MAX: 2**16, _MMAP_THRESHOLD: 2**25, _TRIM_THRESHOLD: 2**26}
"""Where the C library arrives by itself after large arrays."""


class Memory(msgspec.Struct, frozen=True):
    """Memory that a stage may take together with its workers.

    Examples
    --------
    >>> Memory(1_000_000_000).part(100, 1_000_000, 4_000_000), Memory(1_100_000_000).processes(8)
    (4000000, 2)
    """

    n_bytes: int

    @classmethod
    def of(cls, n_bytes: int) -> Memory:
        """Return the memory of a setting; 0: half of the machine's."""
        return cls(n_bytes or machine_memory() // 2)

    def part(self, divisor: int, least: int, most: int) -> int:
        """Return a share of the memory in bytes: at least some, and at most some others, which count more."""
        return min(most, max(least, self.n_bytes // divisor))

    def processes(self, wanted: int) -> int:
        """Return how many worker processes there is room for, up to a number; 1: this process does the work."""
        return max(1, min(wanted, (self.n_bytes - PROGRAM_BYTES) // WORKER_BYTES))

    def beside(self, n_workers: int) -> int:
        """Return the memory that remains for large tasks beside the program and some workers."""
        return max(0, self.n_bytes - PROGRAM_BYTES - n_workers * WORKER_BYTES)

    def to_keep(self) -> int:
        """Return what a large task may keep in memory between its steps: a sixteenth; the rest is for its steps."""
        return max(0, self.n_bytes - PROGRAM_BYTES) // 16

    def __str__(self) -> str:
        return in_words(self.n_bytes)


def machine_memory(root: Path = Path("/")) -> int:
    """Return the memory of this machine in bytes, or the limit of the cgroup (container) that this process is in.

    Parameters
    ----------
    root : Path, optional
        Where ``proc`` and ``sys`` are.
    """
    return min((_total_memory(), *_limits(root)))


def give_back() -> None:
    """Return memory that is free in this process to the system: what Arrow and the C library keep for later.

    It takes a few milliseconds, and can be 100 MB after much was read and freed.
    """
    import pyarrow as pa  # most that ask for the memory of the machine need no tables

    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # another C library has no such function
        ctypes.CDLL(None).malloc_trim(0)


def share_heap() -> None:
    """Let threads take memory from the heap of the process, from now on and in all of it.

    By default each has a heap of its own, which keeps what the thread has freed: on a site of 4,900 pages and two
    cores, that took 50 MB more at the peak, and the system took a fifth of a second to clear them.
    """
    _set_malloc({_ARENA_MAX: 1})


@contextmanager
def memory_reused() -> Iterator[None]:
    """Let the C library keep the memory of freed arrays for other arrays, until the end of the context.

    It would return that of each array of more than 32 MB, and the system would clear the memory of the next one. With
    100,000 pages per language, that takes a tenth of the time of a match; on one core the peak is the same.
    """
    _set_malloc(_REUSING)
    try:
        yield
    finally:
        _set_malloc(_RETURNING)
        give_back()


def _set_malloc(options: Mapping[int, int]) -> None:
    with suppress(OSError, AttributeError):  # another C library has no such function
        set_option = ctypes.CDLL(None).mallopt
        for option, value in options.items():
            set_option(option, value)


def _total_memory() -> int:
    """Return the memory of the machine; where the system does not say it, that of a small one."""
    with suppress(ValueError, OSError, AttributeError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 4 * 2**30


def _limits(root: Path) -> Iterator[int]:
    """Yield the limits of the cgroups of this process, version 2 and 1, and of those around them."""
    for line in _read(root / "proc/self/cgroup").splitlines():
        number, _, controllers_and_path = line.partition(":")
        controllers, _, path = controllers_and_path.partition(":")
        if number == "0":
            base, name = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            base, name = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        own = base / path.lstrip("/")
        for folder in (own, *own.parents):  # in a container, the path may be that of the machine around it
            limit = _read(folder / name).strip()
            if limit.isdigit() and 0 < int(limit) < _NO_LIMIT:
                yield int(limit)
            if folder == base:
                break


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def in_words(n_bytes: int) -> str:
    """Return a size with three digits and a unit.

    >>> in_words(12_345_678_900), in_words(4_000_000), in_words(12)
    ('12.3 GB', '4 MB', '12 bytes')
    """
    for size, unit in _UNITS:
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes} bytes"
