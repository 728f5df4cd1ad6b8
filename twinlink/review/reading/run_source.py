"""A run as the review sees it: always as it is now, also while another process works in it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import pandas as pd
import pyarrow as pa

from twinlink.errors import DamagedError, RunError
from twinlink.review.reading.live import LiveView
from twinlink.review.reading.resources import PageResources
from twinlink.review.reading.snapshot import Snapshot
from twinlink.review.source import Document, Live, LookAlikes, Neighbour, Page, Resource, Segment
from twinlink.rundir.directory import RunDirectory
from twinlink.system import pausing

__all__ = ["ResourceReader", "RunSource"]

T = TypeVar("T")
ResourceReader = Callable[[str], Resource | None]
"""Returns a style sheet or picture by its address, from the archives."""

_TRIES = 3  # a stage that is finished just now takes its folder's place while it is read
_GONE = (OSError, DamagedError, pa.ArrowException)
"""What reading raises when a table goes away, or another one takes its place."""

_WATCHED = ("ingest", "match", "align")


class RunSource:
    """A `Source`: the answers of the run's newest tables, whatever process writes them.

    The run's lock is not needed. What has been read is read anew when a stage has been done again.

    Parameters
    ----------
    folder : Path
        A run directory, of which any stages have been done.
    resources : callable, optional
        Makes the reader of style sheets and pictures, see `ResourceReader`.

    Raises
    ------
    RunError
        If it is no run directory.
    """

    def __init__(self, folder: Path, resources: Callable[[RunDirectory], ResourceReader] = PageResources) -> None:
        self._run = RunDirectory.existing(folder)
        self._make_reader = resources
        self._guard = threading.RLock()
        self._live = LiveView(self._run, lambda: self.pairs)
        self._state: tuple[object, ...] = ()
        self._snapshot: Snapshot | None = None
        self._reader: ResourceReader | None = None

    @property
    def name(self) -> str:
        """See `Source.name`."""
        return self._run.path.resolve().name

    @property
    def pairs(self) -> pd.DataFrame:
        """See `Source.pairs`; the same object as long as the run is the same."""
        return self._ask(lambda now: now.pairs)

    def page(self, page_id: int) -> Page | None:
        """See `Source.page`."""
        return self._ask(lambda now: now.page(page_id))

    def titles(self, page_ids: Sequence[int]) -> Sequence[str]:
        """See `Source.titles`."""
        return self._ask(lambda now: now.titles(page_ids))

    def document(self, page_id: int) -> Document | None:
        """See `Source.document`."""
        return self._ask(lambda now: now.document(page_id))

    def resource(self, url: str) -> Resource | None:
        """See `Source.resource`."""
        self._now()
        return None if self._reader is None else self._reader(url)

    def page_of(self, url: str) -> int | None:
        """See `Source.page_of`."""
        return self._ask(lambda now: now.page_of(url))

    def find(self, text: str, lang: str = "", limit: int = 20) -> Sequence[Page]:
        """See `Source.find`."""
        return self._ask(lambda now: now.find(text, lang, limit))

    def partners(self, page_id: int) -> tuple[int, ...]:
        """See `Source.partners`."""
        return self._ask(lambda now: now.partners(page_id))

    def rivals(self, page_a: int, page_b: int, limit: int = 10) -> pd.DataFrame:
        """See `Source.rivals`."""
        return self._ask(lambda now: now.rivals(page_a, page_b, limit))

    def weights(self, site: str, lang_a: str, lang_b: str) -> Mapping[str, float]:
        """See `Source.weights`."""
        return self._ask(lambda now: now.weights(site, lang_a, lang_b))

    def neighbours(self, page_id: int, limit: int = 200, without: Collection[int] = ()) -> Sequence[Neighbour]:
        """See `Source.neighbours`."""
        return self._ask(lambda now: now.neighbours(page_id, limit, without))

    def count_neighbours(self, page_id: int, without: Collection[int] = ()) -> int:
        """See `Source.count_neighbours`."""
        return self._ask(lambda now: now.count_neighbours(page_id, without))

    def look_alikes(self, page_id: int, facing_lang: str, limit: int = 50) -> LookAlikes | None:
        """See `Source.look_alikes`."""
        return self._ask(lambda now: now.look_alikes(page_id, facing_lang, limit))

    def group_sizes(self, page_ids: Sequence[int]) -> Sequence[int]:
        """See `Source.group_sizes`."""
        return self._ask(lambda now: now.group_sizes(page_ids))

    def segments(self, url_a: str, url_b: str) -> Sequence[Segment]:
        """See `Source.segments`."""
        return self._ask(lambda now: now.segments(url_a, url_b))

    def live(self) -> Live:
        """See `Source.live`."""
        return self._live.now()

    def pause(self, wanted: bool) -> None:
        """See `Source.pause`.

        Raises
        ------
        RunError
            If the run cannot be written to.
        """
        self._ask_to_wait(pausing.ask if wanted else pausing.take_back)

    def hold(self, wanted: bool) -> None:
        """See `Source.hold`.

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

    def _ask(self, question: Callable[[Snapshot], T]) -> T:
        """Answer from the tables; once more from newer ones, where these went away meanwhile."""
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

    def _now(self) -> Snapshot:
        with self._guard:
            state = _state(self._run.path)
            if self._snapshot is None or state != self._state:
                self._snapshot = Snapshot(self._run)
                self._reader = self._make_reader(self._run)
                self._state = state
                threading.Thread(target=_warm, args=(self._snapshot, self._live), daemon=True).start()
            return self._snapshot

    def _forget(self) -> None:
        with self._guard:
            self._snapshot = None


def _warm(snapshot: Snapshot, live: LiveView) -> None:
    with suppress(*_GONE):  # the tables went away: there will be another snapshot
        snapshot.warm()
        live.now()


def _state(folder: Path) -> tuple[object, ...]:
    """Return what changes when a stage has been done again."""
    found: list[object] = []
    for stage in _WATCHED:
        try:
            status = (folder / stage / "signature.json").stat()
            found.append((status.st_ino, status.st_mtime_ns))
        except OSError:
            found.append(None)
    return tuple(found)
