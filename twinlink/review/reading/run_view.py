"""A run in review: reads its newest tables, also while another process works in it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import pandas as pd
import pyarrow as pa

from twinlink.errors import DamagedError, RunError
from twinlink.review.reading.background import is_ending, start_thread
from twinlink.review.reading.live import LiveView
from twinlink.review.reading.snapshot import Snapshot
from twinlink.review.records import Live
from twinlink.rundir.commit import SIGNATURE
from twinlink.rundir.directory import RunDirectory
from twinlink.system import pausing

__all__ = ["RunView"]

T = TypeVar("T")

_TRIES = 3  # a finished stage replaces its folder, perhaps while it is read
_GONE = (OSError, DamagedError, pa.ArrowException)
"""Errors raised when a table is removed or replaced while it is read."""

_WATCHED = (*(f"{stage}/{SIGNATURE}" for stage in ("ingest", "match", "align")), "page_parts/fetched.json")
"""Files that are replaced when a stage has been done again, or page parts have been fetched."""


class RunView:
    """A run in review: its newest tables, whatever process writes them, and its progress.

    The run's lock is not needed. Tables are read again when a stage has been done again, or page parts were fetched.

    Parameters
    ----------
    folder : Path
        A run directory, with any stages done.

    Raises
    ------
    RunError
        If it is not a run directory.

    Examples
    --------
    ``run.read(lambda tables: tables.page(page_id))`` calls `Snapshot.page` on the newest tables.
    """

    def __init__(self, folder: Path) -> None:
        self._run = RunDirectory.existing(folder)
        self._guard = threading.RLock()
        self._live = LiveView(self._run, lambda: self.pairs)
        self._state: tuple[object, ...] = ()
        self._snapshot: Snapshot | None = None

    @property
    def name(self) -> str:
        """Name of the run directory."""
        return self._run.path.resolve().name

    @property
    def directory(self) -> RunDirectory:
        """The run directory."""
        return self._run

    @property
    def pairs(self) -> pd.DataFrame:
        """`Snapshot.pairs`; the same object as long as the run has not changed."""
        return self.read(lambda tables: tables.pairs)

    def read(self, question: Callable[[Snapshot], T]) -> T:
        """Return the answer to a question about the newest tables.

        Parameters
        ----------
        question : callable
            Called with the newest tables, and again if one of them was replaced meanwhile; it must only read.

        Raises
        ------
        RunError, DamagedError
            If a table cannot be read.
        """
        for _ in range(_TRIES - 1):
            try:
                return question(self._now())
            except _GONE:
                self._forget()
        try:
            return question(self._now())
        except DamagedError:
            raise
        except _GONE as error:
            text = " ".join(str(error).split())
            raise RunError(f"{self._run.path}: a table of this run cannot be read ({text})") from error

    def live(self) -> Live:
        """Return the progress of the mining."""
        return self._live.now()

    def pause(self, wanted: bool) -> None:
        """Ask the process that works in the run to wait, or to go on.

        Raises
        ------
        RunError
            If the run cannot be written to.
        """
        self._ask_to_wait(pausing.ask if wanted else pausing.take_back)

    def hold(self, wanted: bool) -> None:
        """Ask the process to wait for a short time while a reviewer looks, or to go on. A requested pause stays.

        Raises
        ------
        RunError
            If the run cannot be written to.
        """
        self._ask_to_wait(pausing.hold if wanted else pausing.let_go)

    def _ask_to_wait(self, how: Callable[[Path], None]) -> None:
        file = self._run.pause_file
        try:
            with self._guard:
                how(file)
        except OSError as error:
            raise RunError(f"{file}: cannot be written to ({error.strerror})") from error

    def _now(self) -> Snapshot:
        with self._guard:
            state = _state(self._run.path)
            if self._snapshot is None or state != self._state:
                self._snapshot = Snapshot(self._run)
                self._state = state
                start_thread(partial(_warm, self._snapshot, self._live))
            return self._snapshot

    def _forget(self) -> None:
        with self._guard:
            self._snapshot = None


def _warm(snapshot: Snapshot, live: LiveView) -> None:
    with suppress(*_GONE):  # the tables were replaced: another snapshot follows
        for _ in snapshot.warm():
            if is_ending():
                return
        live.now()


def _state(folder: Path) -> tuple[object, ...]:
    """Return a value that changes whenever a stage has been done again, or page parts have been fetched."""
    found: list[object] = []
    for name in _WATCHED:
        try:
            status = (folder / name).stat()
            found.append((status.st_ino, status.st_mtime_ns))
        except OSError:
            found.append(None)
    return tuple(found)
