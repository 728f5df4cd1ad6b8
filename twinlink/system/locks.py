"""Locks between processes, released when the holder ends, with a note on the holder."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from twinlink.redaction import redacted

_LOOK_SECONDS = 0.005
_LONGEST_COMMAND = 200  # characters
_LONGEST_NOTE = 4096  # characters


class Holder(NamedTuple):
    """The process that holds a lock."""

    pid: int
    since: str
    command: str


class BlockedError(Exception):
    """Another process holds the lock.

    Parameters
    ----------
    holder : Holder or None
        Which one; None: its note cannot be read.
    """

    def __init__(self, holder: Holder | None) -> None:
        super().__init__()
        self.holder = holder

    def say(self, what: str, instead: str) -> str:
        """Return a message: what holds the lock, which process that is, and what can be done about it.

        >>> print(BlockedError(None).say("run: in use", "choose another"))
        run: in use; wait for it to end, or choose another
        >>> print(BlockedError(Holder(7, "2026-01-31 10:00:00", "twinlink mine")).say("run: in use", "choose another"))
        run: in use (process 7, since 2026-01-31 10:00:00: twinlink mine); wait for it,
        end it with `kill 7` (completed work is kept), or choose another
        """
        if self.holder is None:
            return f"{what}; wait for it to end, or {instead}"
        pid, since, command = self.holder
        end = f"end it with `kill {pid}` (completed work is kept)"
        return f"{what} (process {pid}, since {since}: {command}); wait for it, {end}, or {instead}"


def own_command() -> str:
    """Return the command line of this process without passwords, cut if it is long."""
    path = Path(sys.argv[0] if sys.argv else "")
    name = path.parent.name if path.name == "__main__.py" else path.name
    command = shlex.join([name, *map(redacted, sys.argv[1:])])
    return command if len(command) <= _LONGEST_COMMAND else f"{command[: _LONGEST_COMMAND - 1]}…"


@contextmanager
def locked(path: Path, patience: float, command: str = "") -> Iterator[None]:
    """Hold the lock on a file, which is created if missing.

    Parameters
    ----------
    path : Path
        The file. It holds a note of who has the lock, for others to read.
    patience : float
        Seconds to wait for another process.
    command : str, optional
        Description of this process in the note; its command line by default.

    Raises
    ------
    BlockedError
        If another process holds the lock all the time.
    OSError
        If the file cannot be written to.
    """
    # Not "w", which would remove the holder's note; unbuffered, so that nothing is left to fail when it is closed.
    with path.open("ab+", buffering=0) as file:
        deadline = time.monotonic() + patience
        while not _take(file):
            if time.monotonic() > deadline:
                raise BlockedError(_read_note(file))
            time.sleep(_LOOK_SECONDS)
        if not _is_in_place(file, path):  # its holder did nothing, and has just removed it
            raise BlockedError(None)
        _write_note(file, command or own_command())
        _HELD.add(file)
        try:
            yield
        finally:
            _HELD.discard(file)


def is_held(path: Path) -> bool:
    """Return whether a process holds the lock on a file, by acquiring and releasing it."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _is_in_place(file: FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _close_inherited() -> None:
    """Close the locks' files in a process that was forked: it must not hold on to them when this one has ended."""
    for file in _HELD:
        file.close()
    _HELD.clear()


_HELD: set[FileIO] = set()
os.register_at_fork(after_in_child=_close_inherited)


def _take(file: FileIO) -> bool:
    """Take the lock; return whether it was free."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # some systems raise EACCES
        return False
    return True


def _write_note(file: FileIO, command: str) -> None:
    since = f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}"
    with suppress(OSError):  # the lock holds on a full disk, too
        file.truncate(0)
        file.write(json.dumps(Holder(os.getpid(), since, command)._asdict()).encode() + b"\n")


def _read_note(file: FileIO) -> Holder | None:
    try:
        file.seek(0)
        note = json.loads(file.read(_LONGEST_NOTE))
        return Holder(int(note["pid"]), str(note["since"]), str(note["command"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):  # half written, or by another version
        return None
