"""Progress reports: a live line on a terminal, occasional plain lines elsewhere, nothing when quiet.

Work waits at a report while the pause file exists, see `twinlink.system.pausing`. The logger ``twinlink.progress`` gets
a line when a stage begins and ends, and once a minute. A file may get the latest report, for the review.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

import msgspec

from twinlink.files import replacing
from twinlink.system.pausing import Pause, is_lease, waits
from twinlink.system.streams import writing_messages

__all__ = ["Latest", "Report", "is_watched", "measures", "read_latest", "reporter"]

_log = logging.getLogger("twinlink.progress")
# A worker that is forked while the other thread prints would find standard error locked forever.
_beating = threading.Lock()
os.register_at_fork(before=_beating.acquire, after_in_parent=_beating.release, after_in_child=_beating.release)


class Report(Protocol):
    """Receives a stage's name, the amount done, the total (None: unknown), and a detail."""

    def __call__(self, stage: str, done: int, total: int | None, detail: str = "") -> None:
        """Show it."""


PLAIN_SECONDS = 5.0  # between the first lines of one stage where there is no terminal
STILL_SECONDS = 15.0  # between two lines that say the same
LONGEST_SECONDS = 60.0  # between two lines at most: the longer work takes, the fewer lines a minute
BAR_FROM = 100  # columns: a narrower terminal has no room for a bar
NOTEBOOK_SECONDS = 0.3  # between two updates of the line in a notebook
HEARTBEAT_SECONDS = 1.0  # between two looks at whether a line is due where no report comes
FILE_SECONDS = 0.5  # between two reports in the file for the review
PAUSE_SECONDS = 0.2  # between two looks at whether a pause is over
STOP_SECONDS = 1.0  # from the interrupt until a job says that it is stopping, if it has not ended
STOPPING = "stopping: waits for what is under way (open requests: up to 15 s); Ctrl-C again leaves it"
COMPILING_FROM = 1.0  # seconds in one go: kernels are loaded from the cache faster
COMPILING = "compiling, only once"


def is_watched() -> bool:
    """Return whether a person sees the progress: on a terminal, or in a notebook."""
    return _is_terminal() or _is_notebook()


def _is_terminal() -> bool:
    """Return whether standard error is a terminal. A program may have none: who started it has closed it."""
    return sys.stderr is not None and sys.stderr.isatty()


def _is_notebook() -> bool:
    """Return whether this code runs in a cell: a shell of IPython with a kernel."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


class Latest(msgspec.Struct, frozen=True):
    """The latest report of a job at work, as its file has it."""

    stage: str
    done: int
    total: int | None
    detail: str
    rate: float
    """Done per second; 0: not known yet."""
    seconds_left: float | None
    """None: not known."""


def read_latest(file: Path) -> Latest | None:
    """Return the latest report of a job; None: no job has written one."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Latest)
    except (OSError, msgspec.MsgspecError):
        return None


@contextmanager
def reporter(quiet: bool | Report, pause: Path | None = None, latest: Path | None = None) -> Iterator[Report]:
    """Provide a function that shows (stage, done, total) on standard error, and handles a swallowed Ctrl-C.

    Parameters
    ----------
    quiet : bool or callable
        True: show only pauses, and that work is stopping. A callable gets each report instead.
    pause : Path, optional
        While this file requests a pause, work waits at its next report.
    latest : Path, optional
        Gets the latest report while the job works.
    """
    with _heed_interrupt() as check, _shown(quiet) as show, _recorded(latest) as record:
        asked = None if pause is None else Pause(pause)

        def report(stage: str, done: int, total: int | None, detail: str = "") -> None:
            check()
            if asked is not None and asked.waits():
                show(stage, done, total, "paused")
                record(stage, done, total, "paused")
                _wait(asked.file, stage, check)
            show(stage, done, total, detail)
            record(stage, done, total, detail)

        yield report


def _wait(pause: Path, stage: str, check: Callable[[], None]) -> None:
    """Wait while the pause file exists, with a message, in case the file was left by an earlier session."""
    try:
        since = f"{datetime.fromtimestamp(pause.stat().st_mtime).astimezone():%Y-%m-%d %H:%M}"
    except OSError:  # gone already
        return
    say = f"paused: {stage} waits while {pause} exists (since {since}); resume it in the review, or remove the file"
    if is_lease(pause):
        say = f"paused: {stage} waits while a reviewer looks at each pair; it resumes afterwards"
    _print(say)
    while waits(pause):
        time.sleep(PAUSE_SECONDS)
        check()
    _print(f"{stage} resumes")


def _print(line: str) -> None:
    """Print a line on standard error, if there is one."""
    if sys.stderr is not None:
        with writing_messages():
            print(line, file=sys.stderr, flush=True)


def _say_stopping() -> None:
    with _beating:
        _print(STOPPING)


def _shown(quiet: bool | Report) -> AbstractContextManager[Report]:
    if callable(quiet):
        return nullcontext(quiet)
    if quiet:
        return nullcontext(lambda stage, done, total, detail="": None)
    if _is_notebook():
        return _in_notebook()
    return _live() if _is_terminal() and os.environ.get("TERM") != "dumb" else _plain()


@contextmanager
def _heed_interrupt() -> Iterator[Callable[[], None]]:
    """Provide a function that raises KeyboardInterrupt again if one was swallowed, and say when it takes long to stop.

    Libraries that try imports with a bare ``except`` swallow the one that comes just then.
    """
    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's
        yield lambda: None
        return
    interrupts: list[int] = []
    slow = threading.Timer(STOP_SECONDS, _say_stopping)
    slow.daemon = True

    def interrupt(number: int, _frame: object) -> None:
        interrupts.append(number)
        if len(interrupts) == 1:
            with suppress(RuntimeError):  # where no thread can be started, nothing is said
                slow.start()
        raise KeyboardInterrupt

    def check() -> None:
        if interrupts:
            raise KeyboardInterrupt

    earlier = signal.signal(signal.SIGINT, interrupt)
    try:
        yield check
    finally:
        slow.cancel()
        signal.signal(signal.SIGINT, earlier)


@dataclass
class _Stage:
    """A stage as it was first and last reported."""

    began: float
    before: int
    """Amount done when it was first reported, perhaps by an earlier call."""
    compiled: float
    """Seconds that this process had compiled when it was first reported."""
    shown: float
    """When a line of it was last shown."""
    last: tuple[int, int | None, str]
    told: tuple[int, int | None, str] | None = None

    def latest(self, name: str, now: float) -> Latest:
        """Return the last report with its rate and the time left."""
        done, total, detail = self.last
        seconds = now - self.began
        seconds -= min(_compilation()[0] - self.compiled, seconds)
        rate = max(0.0, (done - self.before) / seconds) if seconds > 0 else 0.0
        left = (total - done) / rate if total is not None and rate and done <= total else None
        return Latest(name, done, total, detail, rate, left)

    def line(self, name: str, now: float) -> str:
        """Return the line, the most important parts first; the rate is that of the time without compilation."""
        done, total, detail = self.last
        count = f"{done}" if total is None else f"{done} of {total}"
        compiled, compiling = _compilation()
        pause = min(compiled - self.compiled, now - self.began)
        parts = [
            *([count] if done or total else []),
            *measures(done, total, done - self.before, now - self.began, pause),
        ]
        if compiling >= COMPILING_FROM:  # nobody knows how long that takes
            parts = [*(part for part in parts if not part.endswith(" left")), COMPILING]
        return f"{name}: {' · '.join([*parts, *([_plainly(detail)] if detail else [])])}"


def _compilation() -> tuple[float, float]:
    """Return the seconds that this process has compiled kernels, and those since it began to compile the present one.

    The module of the kernels loads numpy, which most commands do without; so it is not imported here.
    """
    module = sys.modules.get("twinlink.compiled")
    times: tuple[float, float] = (0.0, 0.0) if module is None else module.Kernel.compiling.read()
    return times


def measures(done: int, total: int | None, gained: int, seconds: float, pause: float = 0.0) -> list[str]:
    """Return the share done, the rate, the time elapsed, and the remaining time at this rate.

    Parameters
    ----------
    done, total : int
        How much is done, of how much; None: not known.
    gained : int
        What was done in ``seconds``; negative where what counted as done must be done again: then there is no rate.
    pause : float
        Seconds among these that do not count for the rate.

    Examples
    --------
    >>> measures(150, 400, 120, 10.0)
    ['37 %', '12/s', '0:10', '0:20 left']
    >>> measures(3, None, 3, 90.0)
    ['2/min', '1:30']
    >>> measures(321, 409, -87, 5.0)
    ['78 %', '0:05']
    """
    rate = max(0.0, gained / (seconds - pause)) if seconds > pause else 0.0
    parts = [] if not total else [f"{100 * done // total} %"]
    parts += [_rate(rate)] if rate else []
    parts.append(_clock(seconds))
    if total is not None and rate and done < total:
        parts.append(f"{_clock((total - done) / rate)} left")
    return parts


def _rate(rate: float) -> str:
    if rate < 1:
        return f"{60 * rate:.2g}/min"
    return f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _plainly(text: str) -> str:
    """Return a text without control characters, because details may contain text of pages."""
    return "".join(sign if sign.isprintable() else "�" for sign in text)


@contextmanager
def _live() -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID
    from rich.text import Text

    stages: dict[str, tuple[TaskID, _Stage]] = {}
    latest = ""

    class Line(ProgressColumn):
        """A stage's line, whose clock runs on between two reports; the end is cut off where there is no room."""

        def render(self, task: Task) -> Text:
            name, state = task.description, stages[task.description][1]
            return Text(state.line(name, time.monotonic() if name == latest else state.shown), no_wrap=True, end="")

    console = Console(stderr=True)
    columns = (BarColumn(bar_width=20), Line()) if console.width >= BAR_FROM else (Line(),)
    with Progress(*columns, console=console) as progress:

        def report(stage: str, done: int, total: int | None, detail: str = "") -> None:
            nonlocal latest
            now = time.monotonic()
            if stage not in stages:  # it is shown when it can be rendered
                task = progress.add_task(stage, total=total, visible=False)
                stages[stage] = task, _Stage(now, done, _compilation()[0], now, (done, total, detail))
            task, state = stages[stage]
            latest, state.last, state.shown = stage, (done, total, detail), now
            progress.update(task, completed=done, total=total, visible=True)

        yield report


@contextmanager
def _in_notebook() -> Iterator[Report]:
    """Show the line of the present stage below the cell; at the end it is gone, so that a saved notebook is clean."""
    from IPython.display import display

    stages: dict[str, _Stage] = {}
    handle = display({"text/plain": ""}, raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def report(stage: str, done: int, total: int | None, detail: str = "") -> None:
        now = time.monotonic()
        state = stages.setdefault(stage, _Stage(now, done, _compilation()[0], 0.0, (done, total, detail)))
        state.last = done, total, detail
        if now - state.shown >= NOTEBOOK_SECONDS:
            state.shown = now
            handle.update({"text/plain": state.line(stage, now)}, raw=True)

    try:
        yield report
    finally:
        handle.update({"text/plain": ""}, raw=True)


@contextmanager
def _plain() -> Iterator[Report]:
    """Print a line every few seconds, also while no report comes; then the last line of each stage."""
    stages: dict[str, _Stage] = {}
    latest = ""
    guard = threading.RLock()

    def tell(stage: str, now: float) -> None:
        state = stages[stage]
        state.told, state.shown = state.last, now
        _print(state.line(stage, now))

    def is_due(state: _Stage, now: float, least: float = PLAIN_SECONDS) -> bool:
        return now - state.shown >= min(LONGEST_SECONDS, max(least, (now - state.began) / 20))

    def report(stage: str, done: int, total: int | None, detail: str = "") -> None:
        nonlocal latest
        now = time.monotonic()
        with guard:
            latest = stage
            state = stages.setdefault(stage, _Stage(now, done, _compilation()[0], now, (done, total, detail)))
            state.last = done, total, detail
            if is_due(state, now):
                tell(stage, now)

    def go_on() -> None:
        now = time.monotonic()
        with guard:
            state = stages.get(latest)
            if state and is_due(state, now, STILL_SECONDS if state.told == state.last else PLAIN_SECONDS):
                tell(latest, now)

    with _repeated(go_on):
        yield report
    for stage, state in stages.items():
        if state.told != state.last:
            tell(stage, time.monotonic())


@contextmanager
def _repeated(work: Callable[[], None]) -> Iterator[None]:
    """Call a function every second in another thread while the context lasts."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(HEARTBEAT_SECONDS):
            with _beating:
                work()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def _recorded(file: Path | None) -> Iterator[Report]:
    """Log the stages, and keep the latest report in a file, if there is to be one."""
    stages: dict[str, _Stage] = {}
    written = 0.0

    def tell(stage: str, state: _Stage, now: float) -> None:
        state.told, state.shown = state.last, now
        _log.info("%s", state.line(stage, now))

    def report(stage: str, done: int, total: int | None, detail: str = "") -> None:
        nonlocal written
        now = time.monotonic()
        state = stages.get(stage)
        begins = state is None
        if state is None:
            state = stages[stage] = _Stage(now, done, _compilation()[0], now, (done, total, detail))
            _log.info("%s begins", stage)
        state.last = done, total, detail
        if now - state.shown >= LONGEST_SECONDS:
            tell(stage, state, now)
        if file is not None and (begins or now - written >= FILE_SECONDS):  # it may be the only one of its stage
            written = now
            _write_latest(file, state.latest(stage, now))

    _remove(file)  # of a job that was killed
    try:
        yield report
    finally:
        for stage, state in stages.items():
            if state.told != state.last:
                tell(stage, state, time.monotonic())
        _remove(file)


def _remove(file: Path | None) -> None:
    if file is not None:
        with suppress(OSError):
            file.unlink(missing_ok=True)


def _write_latest(file: Path, latest: Latest) -> None:
    """Write the report in one step; a full disk is the job's business, not this file's."""
    with suppress(OSError), replacing(file) as temporary:
        temporary.write_bytes(msgspec.json.encode(latest))
