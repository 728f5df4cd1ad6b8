"""A command under observation: its output, duration and memory, and a time limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

__all__ = ["ROOT", "Ended", "command", "crawlers", "processes", "watch"]

ROOT = Path(__file__).resolve().parents[2]
PROC = Path("/proc")
_LOOK = 0.05  # seconds between two samples of the processes
_CRAWLER = b"twinlink.spiders.process"
_MOST_HELD = 4 * 10**9  # bytes above which a command is killed, to protect other work on the machine
_MOST_SAID = 2**20  # bytes kept of each stream


class Ended(msgspec.Struct, frozen=True):
    """How a command ended."""

    code: int
    """Exit code; negative: ended by a signal."""
    stdout: bytes
    stderr: bytes
    seconds: float
    in_time: bool
    """False: it was killed because it exceeded the time or memory limit."""
    peak: int
    """Sampled peak memory of all its processes, at least the peak of a single one (`os.wait4`)."""
    crawler_peak: int
    """The same for the crawler process and its children only."""

    @property
    def has_traceback(self) -> bool:
        """Whether the output contains a Python traceback."""
        return b"Traceback (most recent call last)" in self.stdout + self.stderr

    @property
    def is_said_plainly(self) -> bool:
        """Whether the output has no terminal control sequences."""
        return not any(byte in self.stdout + self.stderr for byte in (b"\x1b", b"\x9b[", b"\x07", b"\x08"))


def command(*arguments: object) -> list[str]:
    """Return the command line of twinlink with these arguments."""
    return [sys.executable, "-m", "twinlink", *map(str, arguments)]


def watch(
    arguments: Sequence[str],
    limit: float,
    each: Callable[[], object] = lambda: None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Ended:
    """Run a command in a new session and watch it.

    Parameters
    ----------
    arguments : sequence of str
    limit : float
        Seconds after which the command and its child processes are killed.
    each : callable
        Called at each sample, about 20 times per second.
    environment : mapping, optional
        Variables that override those of this process.
    folder : Path, optional
        Working folder.
    """
    began = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True, cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
        )  # fmt: skip
        ended, memory = threading.Event(), _Memory(child.pid)
        status, rusage, in_time = None, None, True
        while status is None:
            pid, found, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                status, rusage = found, used
                break
            memory.look()
            each()
            if in_time and (time.monotonic() - began > limit or memory.peak > _MOST_HELD):
                in_time = False
                memory.kill_all()
            ended.wait(_LOOK)
        child.returncode = os.waitstatus_to_exitcode(status)  # so that it is not waited for again
        if not in_time:
            memory.kill_all()
        said, told = _read(out), _read(err)
    peak = max(memory.peak, 1024 * rusage.ru_maxrss if rusage else 0)
    return Ended(child.returncode, said, told, time.monotonic() - began, in_time, peak, memory.crawler_peak)


class _Memory:
    """Samples the memory of a process and its descendants; crawlers have their own sessions."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._crawlers: set[int] = set()
        self.peak = self.crawler_peak = 0

    def look(self) -> None:
        below = processes(self._pid)
        self._crawlers |= {
            pid for pid, parent in below.items() if parent in self._crawlers or _CRAWLER in _command_line(pid)
        }
        held = {pid: _held(pid) for pid in below}
        self.peak = max(self.peak, sum(held.values()))
        crawling = [pid for pid in below if pid in self._crawlers]
        self.crawler_peak = max(
            self.crawler_peak, sum(held[pid] for pid in crawling), *(_high_water(pid) for pid in crawling)
        )

    def kill_all(self) -> None:
        left = {pid for pid in self._crawlers if _CRAWLER in _command_line(pid)}  # their parent has ended before
        for pid in {*processes(self._pid), *left}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def processes(root: int) -> dict[int, int]:
    """Return a process and its descendants, parents first, each with its parent."""
    found, waiting = {root: 0}, [root]
    while waiting:
        pid = waiting.pop(0)
        for children in PROC.glob(f"{pid}/task/*/children"):
            with suppress(OSError):
                for child in map(int, children.read_text().split()):
                    found[child] = pid
                    waiting.append(child)
    return found


def crawlers(folder: Path) -> list[int]:
    """Return the processes with an open file in a folder, for example crawlers left over from a run."""
    found = []
    for entry in PROC.iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if any(os.readlink(fd).startswith(f"{folder.resolve()}/") for fd in (entry / "fd").iterdir()):  # noqa: PTH115
                    found.append(int(entry.name))
    return found


def _command_line(pid: int) -> bytes:
    with suppress(OSError):
        return (PROC / str(pid) / "cmdline").read_bytes()
    return b""


def _held(pid: int) -> int:
    """Return the proportional set size of a process in bytes."""
    return _kilobytes(PROC / str(pid) / "smaps_rollup", "Pss:")


def _high_water(pid: int) -> int:
    """Return the peak memory of a process in bytes."""
    return _kilobytes(PROC / str(pid) / "status", "VmHWM:")


def _kilobytes(file: Path, name: str) -> int:
    with suppress(OSError):  # it has ended
        for line in file.read_text().splitlines():
            if line.startswith(name):
                return 1024 * int(line.split()[1])
    return 0


def _read(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read(_MOST_SAID)
