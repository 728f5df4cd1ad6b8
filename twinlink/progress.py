"""How long work is shown: a live line on a terminal, a plain line now and then elsewhere, nothing when quiet."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

__all__ = ["Report", "reporter"]


class Report(Protocol):
    """Takes a stage's name, how much of it is done, out of how much (None: not known), and what else is to be said."""

    def __call__(self, stage: str, done: int, total: int | None, detail: str = "") -> None:
        """Show it."""


PLAIN_SECONDS = 5.0  # between two lines of one stage where there is no terminal


@contextmanager
def reporter(quiet: bool) -> Iterator[Report]:
    """Give a function that shows (stage, done, total) on standard error, and heeds a Ctrl-C that went unheard."""
    with _heed_interrupt() as check, _shown(quiet) as show:

        def report(stage: str, done: int, total: int | None, detail: str = "") -> None:
            check()
            show(stage, done, total, detail)

        yield report


def _shown(quiet: bool) -> AbstractContextManager[Report]:
    if quiet:
        return nullcontext(lambda stage, done, total, detail="": None)
    return _live() if sys.stderr.isatty() else _plain()


@contextmanager
def _heed_interrupt() -> Iterator[Callable[[], None]]:
    """Give a function that raises KeyboardInterrupt once more if there was one.

    Libraries that try imports with a bare ``except`` swallow the one that comes just then.
    """
    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's
        yield lambda: None
        return
    asked: list[int] = []

    def interrupt(number: int, _frame: object) -> None:
        asked.append(number)
        raise KeyboardInterrupt

    def check() -> None:
        if asked:
            raise KeyboardInterrupt

    earlier = signal.signal(signal.SIGINT, interrupt)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, earlier)


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
    after = TextColumn("{task.fields[detail]}")
    with Progress(*columns, TimeElapsedColumn(), after, console=Console(stderr=True)) as progress:
        tasks: dict[str, tuple[int, float, int]] = {}  # number, start, what was done before the start

        def report(stage: str, done: int, total: int | None, detail: str = "") -> None:
            if stage not in tasks:
                new = int(progress.add_task(stage, total=total, rate="", detail=""))
                tasks[stage] = new, time.monotonic(), done
            task, start, before = tasks[stage]
            rate = f"{(done - before) / max(time.monotonic() - start, 1e-3):,.0f}/s"
            progress.update(TaskID(task), completed=done, total=total, rate=rate, detail=detail)

        yield report


@contextmanager
def _plain() -> Iterator[Report]:
    shown: dict[str, float] = {}
    last: dict[str, tuple[int, int | None, str]] = {}
    told: dict[str, tuple[int, int | None, str]] = {}

    def tell(stage: str) -> None:
        done, total, detail = told[stage] = last[stage]
        line = f"{stage}: {done}" + (f" of {total}" if total is not None else "") + (f" · {detail}" if detail else "")
        print(line, file=sys.stderr, flush=True)

    def report(stage: str, done: int, total: int | None, detail: str = "") -> None:
        last[stage] = done, total, detail
        now = time.monotonic()
        if now - shown.setdefault(stage, now) >= PLAIN_SECONDS:
            shown[stage] = now
            tell(stage)

    yield report
    for stage, state in last.items():
        if told.get(stage) != state:
            tell(stage)
