"""The progress of a run that is being mined, read from its files while they change."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from twinlink.errors import TwinlinkError
from twinlink.match.so_far import read_so_far
from twinlink.pages.parser import parse_page
from twinlink.progress import read_latest
from twinlink.review.records import Live, LiveStage
from twinlink.run_files import CRAWL_REPORT, REJECTS_FILE
from twinlink.rundir.commit import SIGNATURE
from twinlink.rundir.directory import RunDirectory
from twinlink.sources.documents import Document
from twinlink.sources.warc import Exchanges, archive_of
from twinlink.spiders.frontier import ARCHIVE_FOLDER, LEDGER_NAME, Counts, FrontierReader, so_far
from twinlink.system.locks import is_held
from twinlink.tables import PAIRS, REJECTS, iter_parts, read_table, table_files

__all__ = ["LiveView"]

T = TypeVar("T")
_STAGES = ("crawl", "ingest", "shapes", "match", "align", "patterns", "recover", "rank")
_ALWAYS = ("ingest", "match")
_TABLES = {"ingest": "pages", "match": "pairs", "align": "segments"}
"""The table whose rows measure the progress of a stage."""

_N_PAGES = 20
_LARGEST_PAGE = 2**20  # bytes: the title of a larger one is not looked for
_GONE = (OSError, pa.ArrowInvalid, TwinlinkError, ValueError)
"""Errors raised when a file is removed or written while it is read."""


class LiveView:
    """Reads the progress of a run repeatedly. It needs no lock and writes nothing.

    Parameters
    ----------
    run : RunDirectory
    pairs : callable, optional
        Returns the pairs of the last finished match; by default they are read again.
    """

    def __init__(self, run: RunDirectory, pairs: Callable[[], pd.DataFrame] | None = None) -> None:
        self._run = run
        self._all_pairs = pairs
        self._guard = threading.Lock()
        self._pairs = _GrowingPairs()
        self._counts: dict[Path, tuple[int, int]] = {}  # file → time of its last change, number of rows
        self._done: dict[str, tuple[int, dict[str, int]]] = {}  # stage → when it was done, its counts
        self._rejects: tuple[object, Mapping[str, int]] = (None, {})
        self._titles: dict[str, str] = {}  # of the pages that the crawl fetched last

    def now(self) -> Live:
        """Return the progress of the mining."""
        with self._guard:
            working = is_held(self._run.lock_file)
            running = self._running() if working else ""
            pages: dict[str, str] = _read_or(lambda: self._latest(running), {})
            return Live(
                working=working,
                paused=self._run.paused,
                stages=tuple(stage for name in _STAGES if (stage := self._stage(name, running)) is not None),
                pages=tuple(pages),
                pairs=self._found_pairs(running),
                so_far=_read_so_far(self._run.path, running),
                rejects=_read_or(self._count_rejects, self._rejects[1]),
                latest=read_latest(self._run.progress_file) if working else None,
                titles=pages,
            )

    def _found_pairs(self, running: str) -> pd.DataFrame:
        if self._all_pairs is not None and running != "match":
            return self._all_pairs()
        return self._pairs.read(self._folder("match", running) / "pairs")

    def _running(self) -> str:
        """Return the stage that is running; empty if this cannot be determined."""
        for name in reversed(_STAGES):
            if (self._run.path / f".{name}.tmp").is_dir():
                return name
        begun = _changed(self._run.lock_file)
        is_fetching = _changed(self._run.path / LEDGER_NAME) >= begun
        is_told = _changed(self._run.path / CRAWL_REPORT) >= begun
        return "crawl" if is_fetching and not is_told else ""

    def _folder(self, stage: str, running: str) -> Path:
        """Return the folder of a stage's tables, finished or growing."""
        return self._run.path / (f".{stage}.tmp" if stage == running else stage)

    def _stage(self, name: str, running: str) -> LiveStage | None:
        """Return the progress of a stage; None: it has not begun and is optional."""
        done = (self._run.path / CRAWL_REPORT).is_file() if name == "crawl" else self._is_done(name)
        if not (done or name in _ALWAYS or name == running):
            return None
        state = "running" if name == running else "done" if done else "waiting"
        return LiveStage(name, state, _read_or(lambda: self._known(name, running), {}))

    def _known(self, name: str, running: str) -> dict[str, int]:
        """Return the counts of a stage; for a stage that is not running, its final counts."""
        if name in (running, "crawl"):
            return self._count(name, running)
        changed = _changed(self._run.path / name / SIGNATURE)
        if self._done.get(name, (-1, {}))[0] != changed:
            self._done[name] = changed, self._count(name, running)
        return self._done[name][1]

    def _is_done(self, name: str) -> bool:
        return self._run.read_signature(name) is not None

    def _count(self, name: str, running: str) -> dict[str, int]:
        if name == "crawl":
            counts = so_far(self._run.path, FrontierReader.counts, Counts())
            return {"fetched": counts.done, "queued": counts.queued + counts.flight, "rejected": counts.rejected}
        if name not in _TABLES:
            return {}
        folder, table = self._folder(name, running), _TABLES[name]
        files = [*table_files(folder / table), *(folder / "parts").glob(f"{table}-*.parquet")]
        found = {table: sum(self._rows(file) for file in files)}
        if name == "match":
            return {**found, "sites": _n_parts(folder / table), "of": _n_parts(self._run.path / "ingest" / "pages")}
        return found

    def _rows(self, file: Path) -> int:
        """Return the number of rows of a file; 0 if it was removed or is incomplete."""
        changed = _changed(file)
        if self._counts.get(file, (-1, 0))[0] != changed:
            self._counts[file] = changed, _read_or(lambda: int(pq.read_metadata(file).num_rows), 0)
        return self._counts[file][1]

    def _latest(self, running: str) -> dict[str, str]:
        """Return the latest pages, newest first: their addresses and titles."""
        if running == "ingest":
            folder = self._folder("ingest", running)
            files = sorted([*folder.glob("parts/pages-*.parquet"), *folder.glob("pages/*.parquet")], key=_changed)
            if files:
                pages = pq.read_table(files[-1], columns=["url", "title"])
                last = pages.slice(max(0, len(pages) - _N_PAGES)).to_pylist()
                return {page["url"]: page["title"] for page in reversed(last)}
        found: list[tuple[str, str, int]] = so_far(self._run.path, lambda frontier: frontier.latest(_N_PAGES), [])
        self._titles = {url: self._titles.get(url) or self._title(archive, start) for url, archive, start in found}
        return self._titles

    def _title(self, archive: str, start: int) -> str:
        """Return the title of a page that the crawl has fetched; empty: it has none, or cannot be read."""
        path = self._run.path / ARCHIVE_FOLDER / archive
        if not path.is_file():
            return ""
        return _read_or(lambda: _title_at(path, start), "")

    def _count_rejects(self) -> Mapping[str, int]:
        """Count rejects by reason; those of the crawl until the pages have been read."""
        folders = [self._run.path / stage for stage in ("ingest", "match") if self._is_done(stage)]
        state = tuple(_changed(folder / REJECTS_FILE) for folder in folders)
        if not folders:
            return so_far(self._run.path, FrontierReader.tally, {})
        if state != self._rejects[0]:
            tables = [read_table(folder / REJECTS_FILE, REJECTS, ["reason"]) for folder in folders]
            counts: Counter[str] = Counter()
            for table in tables:
                counts.update({row["values"]: row["counts"] for row in table["reason"].value_counts().to_pylist()})
            self._rejects = state, dict(counts.most_common())
        return self._rejects[1]


def _title_at(archive: Path, start: int) -> str:
    found = Exchanges(_LARGEST_PAGE).read_at(archive_of(archive), start)
    pages = (each for each in found if isinstance(each, Document))
    return next((parse_page(page.body, page.url, page.content_type).title for page in pages), "")


def _n_parts(folder: Path) -> int:
    """Return the number of sites in a table; 0 if a file was removed meanwhile."""
    return _read_or(lambda: sum(1 for _ in iter_parts(folder)), 0)


class _GrowingPairs:
    """The pairs in a folder to which files are added; each file is read once."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, str]] = set()
        self._frame = _no_pairs()

    def read(self, folder: Path) -> pd.DataFrame:
        """Return all pairs so far, in the order in which they were found; the same object until there are more."""
        there: list[Path] = _read_or(lambda: list(folder.glob("*.parquet")), [])
        files = {(_changed(file), file.name): file for file in there}
        if not self._seen <= files.keys():  # another match, or a file is gone
            self._seen, self._frame = set(), _no_pairs()
        fresh = []
        for key, file in sorted(files.items()):
            if key not in self._seen and (frame := _read_or(partial(_pairs_of, file), None)) is not None:
                self._seen.add(key)
                fresh.append(frame)
        if fresh := [frame for frame in fresh if len(frame)]:
            self._frame = pd.concat([*([self._frame] if len(self._frame) else []), *fresh], ignore_index=True)
        return self._frame


def _pairs_of(file: Path) -> pd.DataFrame | None:
    frame: pd.DataFrame = read_table(file, PAIRS).to_pandas()
    return frame


def _read_so_far(run: Path, running: str) -> pd.DataFrame:
    return read_so_far(run, run / f".{running}.tmp" / "pairs") if running == "match" else _no_pairs()


def _no_pairs() -> pd.DataFrame:
    frame: pd.DataFrame = PAIRS.empty_table().to_pandas()
    return frame


def _changed(path: Path) -> int:
    """Return the time of a file's last change, 0 if it does not exist."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _read_or(read: Callable[[], T], otherwise: T) -> T:
    """Return the result of ``read``; ``otherwise`` if a file was removed meanwhile."""
    try:
        return read()
    except _GONE:
        return otherwise
