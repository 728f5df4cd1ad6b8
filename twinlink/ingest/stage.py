"""Stage `ingest`: from documents of any source to the tables pages, links and rejects, one file per site.

Pages become parts of tables as they are parsed, and the parts go to disk when they are large together: memory grows
with the number of kept pages' addresses, not with their text. Of several captures of one address the latest counts. At
the end each site's parts are sorted by address: the same pages give the same tables, independent of source and
order.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, closing
from functools import partial
from itertools import chain
from pathlib import Path

import msgspec

from twinlink.config import Config, IngestSettings
from twinlink.damage import SOURCES_NAME
from twinlink.errors import DamagedError, NothingFoundError
from twinlink.files import write_text
from twinlink.ingest.archive_notes import ArchiveNotes
from twinlink.ingest.file_states import FileState, source_mark, states_of
from twinlink.ingest.page_spool import Spool
from twinlink.ingest.read_share import OnPages, ReadShare
from twinlink.ingest.reuse import NOTES_NAME, reusable
from twinlink.run_files import REJECTS_FILE
from twinlink.rundir.commit import REPLACEMENT
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import keep_with, remember
from twinlink.rundir.rounds import site_rounds
from twinlink.rundir.signature import Signature, file_digest
from twinlink.sources.documents import Document, Revisit
from twinlink.sources.reading import read_path, source_files, wanted_addresses
from twinlink.sources.warc import Exchanges
from twinlink.spiders.frontier import (
    LEDGER_NAME,
    Counts,
    FrontierReader,
    guess_rejects,
    guess_state,
    so_far,
    waiting_guesses,
)
from twinlink.system.workers import n_forked, n_workers
from twinlink.tables import LINKS, PAGES, REJECTS, Reject, count_rows, read_table
from twinlink.urls import SiteBy

__all__ = [
    "ingest",
    "ingest_settings",
    "is_behind_crawl",
    "own_folder",
    "read_source",
    "source_marks",
    "source_paths",
]

_log = logging.getLogger("twinlink.ingest")

MARKS_NAME = "sources.json"
"""File of the stage with the mark of each source, see `source_mark`."""
CRAWL = "crawl"
"""Name of the run's own crawl in it; its mark is how much the crawl has fetched."""
LARGE_INPUT = 5_000_000
"""Bytes of all sources from which the compiled parser is worth the seconds that it takes to compile once."""
LARGE_WITH_CODE = 1_000_000
"""The same where it was compiled before: it takes less than .05 s to load, and saves .02 s for a megabyte."""

_ORDER = "files by name"  # of packs: tables in another order are written again
_RESULT = "visible text"  # part of the signature; changed when the same input gives another result within one version
_SITE_BY = "site_by"  # crawl.site_by, among the settings of the signature
_SHOWN = 4  # reasons


def ingest(
    run: RunDirectory,
    sources: Iterable[Path],
    settings: IngestSettings,
    on_pages: OnPages | None = None,
    config: Config | None = None,
    executor: Executor | None = None,
    meanwhile: Callable[[], None] = lambda: None,
    site_by: SiteBy = "domain",
) -> Signature:
    """Read ``sources`` (and what the run's own crawl fetched) into the run's tables.

    Parameters
    ----------
    run : RunDirectory
        Run that receives the tables.
    sources : iterable of Path
        Sources for `read_source`: archives and their indexes, lists, folders of archives, mirror folders.
    settings : IngestSettings
        How they are read.
    on_pages : callable, optional
        Called with the number of documents done so far, the expected number of all (None: not known yet), and what is
        being done.
    config : Config, optional
        All settings of the call: the run remembers those that this stage uses.
    executor : Executor, optional
        Parses the pages; the result does not depend on it. By default this process parses them.
    meanwhile : callable, optional
        Called once while the executor parses the last pages, for work that has nothing to do with this stage.
    site_by : {"domain", "host", "path"}
        What a site is, see `twinlink.urls.site_of`.

    Returns
    -------
    Signature
        Of the result, new or reused.

    Raises
    ------
    InputError
        If a source does not exist or holds neither archives nor pages.
    NothingFoundError
        If no page could be kept, and the run has pages; the earlier pages are kept.
    """
    sources = list(sources)
    rounds = site_rounds(run)
    # First, to report missing files and circular links.
    files = {path: list(states_of(source_files(path, own_folder(run)))) for path in sources}
    inputs = [*_inputs(run, files), *(f"{site}|{number}" for site, number in sorted(rounds.items()))]
    signature = Signature.of("ingest", {"ingest": {**msgspec.to_builtins(settings), _SITE_BY: site_by}}, inputs)
    if run.is_done(signature):
        if config is not None:
            remember(run, config, "ingest")
        return signature
    work = _Ingest(run, sources, files, settings, site_by, rounds, on_pages, config, executor, meanwhile)
    earlier = reusable(run, signature)
    try:
        work.write(signature, earlier)
    except DamagedError:  # what is to be used again cannot be read
        if earlier is None:
            raise
        _log.info("ingest: the earlier tables are damaged; all is read again", exc_info=True)
        work.write(signature, None)
    return signature


class _Ingest(msgspec.Struct, frozen=True):
    """What is read, and how."""

    run: RunDirectory
    sources: Sequence[Path]
    files: Mapping[Path, Sequence[FileState]]
    """Of each source."""
    settings: IngestSettings
    site_by: SiteBy
    rounds: Mapping[str, int]
    on_pages: OnPages | None
    config: Config | None
    executor: Executor | None
    meanwhile: Callable[[], None]

    def write(self, signature: Signature, earlier: Path | None) -> None:
        """Write the tables; what has not changed comes from the folder of an earlier ingest."""
        run = self.run
        if earlier is None and (n_workers(self.executor) == 1 or n_forked(self.executor) > 1):
            _load_parser(chain(self.own_files(), *self.files.values()))
        crawled = _crawl_mark(run)
        with run.writing(signature) as folder, ExitStack() as stack:
            memory = (self.config or Config()).memory
            spool = Spool(folder, self.settings, self.site_by, self.rounds, self.executor, memory, earlier)
            stack.enter_context(closing(spool))
            notes = ArchiveNotes(folder / NOTES_NAME, earlier and earlier / NOTES_NAME, run.path / "warc")
            stack.enter_context(closing(notes))
            self._read(spool, notes)
            _check_pages(run, folder)
            write_text(folder / SOURCES_NAME, "".join(f"{path.resolve()}\n" for path in self.sources))
            marks = {str(path.resolve()): source_mark(path, files) for path, files in self.files.items()}
            write_text(folder / MARKS_NAME, json.dumps(marks | {CRAWL: crawled}, indent=1))
            if self.config is not None:
                keep_with(run, folder, self.config, "ingest")

    def own_files(self) -> Iterator[FileState]:
        """Yield the archives of the run's own crawl."""
        return states_of(self.run.archives())

    def _read(self, spool: Spool, notes: ArchiveNotes) -> None:
        run = self.run
        if (run.path / LEDGER_NAME).is_file():
            for reject in FrontierReader(run.path).rejects():
                spool.reject_of_crawl(reject)
        spool.ignore(waiting_guesses(run.path))  # before the others: what comes in meanwhile is one of them
        for reject in guess_rejects(run.path):
            spool.reject_of_guess(reject)
        exchanges = Exchanges(self.settings.max_page_bytes, notes)
        own = {archive.path: [archive] for archive in self.own_files()}
        share = ReadShare({**own, **self.files}, self.on_pages)
        for is_own, paths in ((True, own), (False, self.sources)):
            for path, item in _items(paths, self.settings, exchanges, share, own_folder(run)):
                spool.add(item, is_own=is_own)
                share.read(path, item, spool.count, spool.n_parsed)
        on_site = partial(share.tables, spool.count)
        spool.finish(on_site, lambda: share.parsed(spool.count, spool.n_parsed), self.meanwhile)
        notes.finish()
        share.finish(spool.count)


def _load_parser(files: Iterable[FileState]) -> None:
    """Load the compiled parser if there is much to read: before the workers are forked, so that it is done once."""
    total = 0
    for file in files:
        total += file.size
        if total >= LARGE_INPUT:
            break
    if total < LARGE_WITH_CODE:
        return
    from twinlink.pages import libxml2_callbacks

    if total >= LARGE_INPUT or libxml2_callbacks.are_compiled():
        from twinlink.pages import libxml2  # now: pages are parsed with it wherever it is imported

        libxml2.compiled_parser()


def _check_pages(run: RunDirectory, folder: Path) -> None:
    """Refuse to replace pages by none."""
    if count_rows(folder / "pages"):
        return
    try:
        before = count_rows(run.path / "ingest" / "pages")
    except DamagedError:  # unreadable results are not kept
        return
    if before:
        reasons = read_table(folder / REJECTS_FILE, REJECTS, ("reason",))["reason"].to_pylist()
        counts = ", ".join(f"{reason} {n}" for reason, n in Counter(reasons).most_common(_SHOWN)) or "none"
        raise NothingFoundError(f"0 pages (rejected: {counts}). The run keeps its {before} pages")


def read_source(
    path: Path, settings: IngestSettings, exchanges: Exchanges | None = None, without: Path | None = None
) -> Iterator[Document | Reject]:
    """Yield the documents of one source, see `twinlink.sources.reading.read_path`."""
    return read_path(path, settings.max_page_bytes, settings.base_url, settings.url_prefixes, exchanges, without)


def own_folder(run: RunDirectory) -> Path:
    """Return the folder of a run that is not read where it lies in a source: its report is no page of a site.

    A run that grows to take the place of another one lies in that one.
    """
    return run.path.parent if run.path.name == REPLACEMENT else run.path


def ingest_settings(run: RunDirectory) -> IngestSettings:
    """Return the settings that a run was ingested with."""
    signature = run.read_signature("ingest")
    signed = signature.settings["ingest"] if signature else {}
    return msgspec.convert({name: value for name, value in signed.items() if name != _SITE_BY}, IngestSettings)


def source_paths(run: RunDirectory) -> list[Path]:
    """Return the sources that a run was ingested from, besides its own crawl."""
    names = run.path / "ingest" / SOURCES_NAME
    listed = names.read_text(encoding="utf-8", errors="surrogateescape") if names.is_file() else ""
    return [Path(name) for name in listed.split("\n") if name]


def source_marks(run: RunDirectory) -> dict[Path, str]:
    """Return the marks that the sources of a run had when they were read."""
    return {Path(name): mark for name, mark in _marks(run).items() if name != CRAWL}


def _marks(run: RunDirectory) -> dict[str, str]:
    try:  # not msgspec, which refuses names that are not UTF-8
        marks: dict[str, str] = json.loads((run.path / "ingest" / MARKS_NAME).read_bytes())
        return dict(marks)
    except (OSError, ValueError, TypeError):
        return {}


def is_behind_crawl(run: RunDirectory) -> bool:
    """Return whether the crawl has fetched anything since its pages were read; False for a run without this mark."""
    known = _marks(run).get(CRAWL)
    return known is not None and known != _crawl_mark(run)


def _crawl_mark(run: RunDirectory) -> str:
    counts = so_far(run.path, FrontierReader.counts, Counts())
    return f"{counts.done} pages, {counts.bytes} bytes"


def _items(
    paths: Iterable[Path], settings: IngestSettings, exchanges: Exchanges, share: ReadShare, without: Path
) -> Iterator[tuple[Path, Document | Reject | Revisit]]:
    """Yield the items of related sources, with their sources: revisits without body come after all bodies."""
    path = Path()
    for path in paths:
        yield from ((path, item) for item in read_source(path, settings, exchanges, without))
        share.end(path)
    is_wanted = wanted_addresses(settings.url_prefixes)
    yield from ((path, revisit) for revisit in exchanges.revisits() if is_wanted(revisit.url))


def _inputs(run: RunDirectory, sources: Mapping[Path, Sequence[FileState]]) -> Iterator[str]:
    """Yield what the tables depend on; the run's own archives only by name, because a run may be moved."""
    yield ",".join([*PAGES.names, *LINKS.names, _ORDER, _RESULT])
    for archive in run.archives():
        yield file_digest(archive, archive.name)
    if (run.path / LEDGER_NAME).is_file():
        yield str(FrontierReader(run.path).summary())
    if state := guess_state(run.path):
        yield state
    yield from (file.digest for file in chain.from_iterable(sources.values()))
