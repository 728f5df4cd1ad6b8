"""Processes of tests: which are there, and whether they have ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

HAS_CHILDREN = any(Path("/proc/self/task").glob("*/children"))
_WATCHDOG = 60.0  # seconds


def happens(what: Callable[[], object]) -> bool:
    """Wait until something holds; return False if that takes far too long."""
    end = time.monotonic() + _WATCHDOG
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.05)
    return False


def children(pid: int) -> list[int]:
    """Return the processes that a process has started, and that have not ended."""
    found: list[int] = []
    with suppress(OSError):
        for file in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, file.read_text().split())
    return [each for each in found if _state(each)[0] not in "-Z"]


def session(leaders: Iterable[int]) -> set[int]:
    """Return the processes of the sessions that some processes lead, and that have not ended."""
    wanted = set(leaders)
    pids = (int(folder.name) for folder in Path("/proc").glob("[0-9]*"))
    states = {pid: _state(pid) for pid in pids}
    return {pid for pid, state in states.items() if state[0] not in "-Z" and int(state[3]) in wanted}


def are_gone(pids: Iterable[int]) -> bool:
    """Return whether processes have ended; who started them need not have taken note."""
    return all(_state(pid)[0] in "-Z" for pid in pids)


def _state(pid: int) -> list[str]:
    """Return state, parent, group and session of a process; the state ``-`` for one that is gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[:4]
    return ["-", "0", "0", "0"]
