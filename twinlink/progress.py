"""How long work is shown: a live line on a terminal, a plain line now and then elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["reporter"]

Report = Callable[[str, int, int | None], None]
PLAIN_SECONDS = 5.0  # between two lines of one stage where there is no terminal


@contextmanager
def reporter(quiet: bool) -> Iterator[Report]:
    """Give a function that shows (stage, done, total) on standard error."""
    if quiet:
        yield lambda stage, done, total: None
    elif sys.stderr.isatty():
        with _live() as report:
            yield report
    else:
        with _plain() as report:
            yield report


@contextmanager
def _live() -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description:<7}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
    )
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as progress:
        tasks: dict[str, tuple[int, float, int]] = {}  # number, start, what was done before the start

        def report(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = int(progress.add_task(stage, total=total, rate="")), time.monotonic(), done
            task, start, before = tasks[stage]
            rate = f"{(done - before) / max(time.monotonic() - start, 1e-3):,.0f}/s"
            progress.update(TaskID(task), completed=done, total=total, rate=rate)

        yield report


@contextmanager
def _plain() -> Iterator[Report]:
    shown: dict[str, float] = {}
    last: dict[str, tuple[int, int | None]] = {}
    told: dict[str, tuple[int, int | None]] = {}

    def tell(stage: str) -> None:
        done, total = told[stage] = last[stage]
        print(f"{stage}: {done}" + (f" of {total}" if total is not None else ""), file=sys.stderr, flush=True)

    def report(stage: str, done: int, total: int | None) -> None:
        last[stage] = done, total
        now = time.monotonic()
        if now - shown.setdefault(stage, now) >= PLAIN_SECONDS:
            shown[stage] = now
            tell(stage)

    yield report
    for stage, state in last.items():
        if told.get(stage) != state:
            tell(stage)
