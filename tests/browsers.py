"""For tests that drive Chromium: a mark of their own, and skipped where there is none, unless it must be there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from twinlink.spiders.browser.chromium import missing_browser

__all__ = ["REQUIRED", "chromium_processes", "needs_browser", "parents", "skip_without_browser"]

REQUIRED = "TWINLINK_NEEDS_BROWSER"
"""Environment variable that makes tests fail where there is no browser; the gate sets it."""

needs_browser = pytest.mark.browser


def skip_without_browser(items: Iterable[pytest.Item]) -> None:
    """Skip the tests with this mark where there is no browser."""
    missing = missing_browser()
    skip = pytest.mark.skipif(bool(missing) and REQUIRED not in os.environ, reason=f"no browser: {missing}")
    for item in items:
        if item.get_closest_marker(needs_browser.name):
            item.add_marker(skip)


def processes() -> Iterator[tuple[int, int, str]]:
    """Yield number, parent and name of each process."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                status = (folder / "stat").read_text()
            except OSError:
                continue  # it has ended
            name, _, rest = status.partition("(")[2].rpartition(")")
            yield int(folder.name), int(rest.split()[1]), name


def parents() -> list[tuple[int, int]]:
    """Return all processes, each with its parent."""
    return [(pid, parent) for pid, parent, _ in processes()]


def chromium_processes(ancestor: int) -> set[int]:
    """Return the processes of the browser, and of what drives it, that descend from a process."""
    known = {pid: (parent, name) for pid, parent, name in processes()}

    def descends(pid: int) -> bool:
        while pid in known and pid != ancestor:
            pid = known[pid][0]
        return pid == ancestor

    return {pid for pid, (_, name) in known.items() if name.startswith(("chrom", "node")) and descends(pid)}
