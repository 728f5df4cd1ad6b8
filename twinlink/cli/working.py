"""Runs as verbs use them: held while there is work to do, or opened to look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twinlink.progress import Report
    from twinlink.run import Run
    from twinlink.rundir import RunDirectory

__all__ = ["opened", "working"]


@contextmanager
def working(out: Path, quiet: bool) -> Iterator[tuple[RunDirectory, Report]]:
    """Hold a run directory and show how the work in it goes on."""
    from twinlink.progress import reporter
    from twinlink.rundir import RunDirectory

    run = RunDirectory.create(out)
    with run.lock(), reporter(quiet, run.pause_file) as report:
        yield run, report


def opened(path: Path) -> Run:
    """Open a run that is there."""
    from twinlink.run import open_run

    return open_run(path)
