"""Spool of documents between the sources and the tables: selects captures, parses pages, sorts by site and address."""

from __future__ import annotations

import hashlib
import logging
from base64 import b32encode
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import cached_property, partial
from itertools import chain
from pathlib import Path

import pyarrow as pa

from twinlink.config import IngestSettings
from twinlink.ingest import table_parts
from twinlink.ingest.captures import Capture, Captures, Facts, Kind, as_kind, capture_number, rank
from twinlink.ingest.page_columns import ParsedBatch, forget_repeated
from twinlink.ingest.page_notes import EarlierPages, PageNotes
from twinlink.ingest.parsing import add_page, facts_of, parse_batch
from twinlink.ingest.reuse import NOTES_NAME, KnownRows, known_rows, link_files
from twinlink.ingest.site_rows import SiteRows
from twinlink.ingest.table_parts import Parts, Rows, without_pages
from twinlink.ingest.twin_addresses import Twins
from twinlink.lookup import SortedNumbers
from twinlink.pages.parser import ParsedPage
from twinlink.run_files import REJECTS_FILE
from twinlink.rundir.directory import site_name
from twinlink.sources.documents import Document, Gone, Recalled, Revisit
from twinlink.spiders.reader.client import ReaderProcess, reader_memory
from twinlink.spiders.reader.page_facts import Job, Result, UnreadError
from twinlink.system.memory import Memory, in_words
from twinlink.system.workers import TaskQueue
from twinlink.tables import LINKS, PAGES, REJECTS, Packing, PartWriter, Reject, part_writer, write_table
from twinlink.urls import SiteBy, join, normalise, page_id, page_key

__all__ = ["Spool", "body_digest"]

_log = logging.getLogger("twinlink.memory")
_reuse_log = logging.getLogger("twinlink.ingest")
BATCH_PAGES = 400  # pages that are parsed as one task: a tenth of a second or more
BATCH_BYTES = 2**22  # of these pages at most: few if they are large
LEAST_BYTES = 2**20  # of a batch, and of what is held in memory, however little memory there is
LARGE_PAGE = 2**23  # bytes; of more, a page is parsed alone in a process with limits
MAX_REDIRECTS = 10  # followed when a link is resolved; as in the crawl


def body_digest(body: bytes) -> str:
    """Return the digest of a page's body as `PAGES` has it."""
    return b32encode(_sha1(body)).decode()


def _sha1(body: bytes) -> bytes:
    return hashlib.sha1(body, usedforsecurity=False).digest()


def _order(document: Document, url: str, digest: bytes) -> bytes:
    """Return the sort key of a page."""
    place = f"{document.source} {document.offset} {document.fetched} {url} {digest.hex()}"
    declared = f"{document.content_type} {document.content_language}{document.link and f' {document.link}'}"
    return rank(Kind.PAGE, document.fetched, digest, url, f"{place} {declared}")


def _with_round(pages: pa.Table, number: int) -> pa.Table:
    """Set the round of the pages of a site."""
    field = PAGES.field("round")
    return pages.set_column(pages.column_names.index("round"), field, pa.array([number] * len(pages), field.type))


def _beginning(tables: Iterator[pa.Table], n_rows: int) -> list[pa.Table]:
    """Take the first tables, until they have more than some rows together."""
    taken: list[pa.Table] = []
    for table in tables:
        taken.append(table)
        if sum(map(len, taken)) > n_rows:
            break
    return taken


class Spool:
    """Collects rows by site in parts, and merges the parts at the end.

    Parameters
    ----------
    folder : Path
        Gets the tables.
    settings : IngestSettings
    site_by : {"domain", "host", "path"}
        What a site is, see `twinlink.urls.site_of`.
    rounds : mapping, optional
        Round of discovery that brought a site; 0 for others.
    executor : Executor, optional
        Parses the pages; by default this process does.
    memory : Memory, optional
        What is held before it is written, and the size of the tasks. Default: half of the machine's.
    earlier : Path, optional
        Folder of an earlier ingest (`twinlink.ingest.reuse.reusable`), whose rows are used again where they are right.
    """

    def __init__(
        self,
        folder: Path,
        settings: IngestSettings,
        site_by: SiteBy = "domain",
        rounds: Mapping[str, int] | None = None,
        executor: Executor | None = None,
        memory: Memory | None = None,
        earlier: Path | None = None,
    ) -> None:
        self.folder = folder
        memory = memory or Memory.of(0)
        self._held = held = memory.part(32, LEAST_BYTES, table_parts.HELD_BYTES)
        self._batch_bytes = memory.part(256, LEAST_BYTES, BATCH_BYTES)
        self._rounds = rounds or {}
        self.settings = settings
        self._site_by = site_by
        self.count = 0
        self._parts = Parts(folder / "parts", held)
        self._tasks = TaskQueue(executor, partial(parse_batch, site_by=site_by))
        texts = in_words(self._batch_bytes), self._tasks.n_at_once, in_words(held)
        _log.info("ingest, memory %s: tasks of %s of pages, %d at once; up to %s of rows are held", memory, *texts)
        self._batch: list[Capture] = []
        self._numbers: set[int] = set()  # of the pages in it
        self._n_bytes = 0  # of these
        self._n_unparsed = 0  # pages in it, and in the tasks whose results were not taken
        self._rejects: list[Reject] = []
        self._of_crawl: set[str] = set()
        self._guessed: set[str] = set()
        self._captures = Captures()
        self._reject_of: dict[int, Reject] = {}  # page_id → data of the current capture
        self._aliases: dict[int, int] = {}  # page_id of an address → page_id of its target
        self._twins = Twins()
        self._canonical: dict[int, int] = {}  # page_id of a page → page_id of the address that it calls canonical
        self._earlier = earlier
        self._known = EarlierPages(earlier and earlier / NOTES_NAME)
        self._reused: set[int] = set()  # page_id of the pages whose rows the earlier ingest has
        self._notes = PageNotes(folder / NOTES_NAME)
        self._reader = ReaderProcess(settings.parse_seconds, reader_memory(settings.max_page_bytes))
        self._asking = ThreadPoolExecutor(1)
        self._large: tuple[Capture, Future[Result]] | None = None  # the page that the process is parsing

    @property
    def n_parsed(self) -> int:
        """Number of items that are done: of pages, those that are parsed."""
        return self.count - self._n_unparsed

    def close(self) -> None:
        """End the process that parses large pages, close what is written, and release what pages had in common."""
        self._reader.close()
        self._asking.shutdown()
        self._notes.close()
        forget_repeated()

    def add(self, item: Document | Reject | Revisit, *, is_own: bool = False) -> None:
        """Add an item; ``is_own``: of the run's own crawl, whose rejects take precedence."""
        self.count += 1
        if is_own and item.url in self._guessed:
            return
        if isinstance(item, Gone):
            self._add_gone(item)
        elif isinstance(item, Reject):
            if item.url not in self._of_crawl:  # the crawl has counted its failed answers, which are in its archive too
                self.reject(item)
        elif is_own and item.url in self._of_crawl and not getattr(item, "location", ""):
            self.reject(Reject(item.url, "ingest", "older-capture", "a later visit of the crawl found no page"))
        elif isinstance(item, Revisit):
            self._add_revisit(item)
        elif item.location:
            self._add_redirect(item)
        else:
            self._add_page(item)

    def reject(self, reject: Reject) -> None:
        """Count a reject."""
        self._rejects.append(reject)

    def reject_of_crawl(self, reject: Reject) -> None:
        """Count an address that the run's own crawl has no page of."""
        self._of_crawl.add(reject.url)
        self.reject(reject)

    def ignore(self, urls: Iterable[str]) -> None:
        """Leave out guessed addresses that are not judged yet, though the run's archive may hold their response."""
        self._guessed.update(urls)

    def reject_of_guess(self, reject: Reject) -> None:
        """Count a guessed address that is not a page; its response is in the run's archive."""
        self._guessed.add(reject.url)
        self.reject(reject)

    def _add_gone(self, gone: Gone) -> None:
        reject = None if gone.url in self._of_crawl else gone
        order = rank(Kind.GONE, gone.fetched, b"", gone.url, "")
        self._take(page_id(gone.url), gone.url, order, reject)

    def _add_redirect(self, document: Document) -> None:
        target = join(document.url, document.location)
        is_answer = document.offset >= 0  # else it is another name of a saved file, not a response of the server
        reject = Reject(document.url, "ingest", "redirect", target or document.location) if is_answer else None
        if self._large:  # the order of a page and a redirect counts
            self._drain()
        number = page_id(document.url)
        end = page_id(target) if target else number
        if end == number:
            if reject:
                self.reject(reject)
            return
        place = f"{target} {document.source}"
        order = rank(Kind.REDIRECT, document.fetched, b"", document.url, place)
        if self._take(number, document.url, order, reject, counted=is_answer):
            self._aliases[number] = end

    def _add_page(self, document: Document) -> None:
        """Take a page into the batch that is parsed next, unless a later capture of it is known."""
        capture = self._capture(document)
        if capture is None:
            return
        if capture.number in self._numbers:  # a batch has one capture of a page
            self._submit()
        if not self._may_count(capture) or self._is_known(capture):
            return
        if isinstance(document, Recalled):
            document = document.load()
            capture = capture._replace(document=document)
        if len(document.body) > LARGE_PAGE:
            self._parse_large(capture)
            return
        self._batch.append(capture)
        self._n_unparsed += 1
        self._numbers.add(capture.number)
        self._n_bytes += len(document.body)
        if len(self._batch) >= BATCH_PAGES or self._n_bytes >= self._batch_bytes:
            self._submit()

    def _capture(self, document: Document) -> Capture | None:
        """Return what a page is captured as; None if it is rejected."""
        url = normalise(document.url)
        n_bytes = document.n_bytes if isinstance(document, Recalled) else len(document.body)
        if url is None:
            self.reject(Reject(document.url, "ingest", "bad-url"))
        elif n_bytes > self.settings.max_page_bytes:
            self.reject(Reject(url, "ingest", "too-large", f"{n_bytes} bytes"))
        else:
            digest = document.digest if isinstance(document, Recalled) else _sha1(document.body)
            return Capture(document, url, page_id(url), digest, _order(document, url, digest))
        return None

    def _is_known(self, capture: Capture) -> bool:
        """Take a page that an earlier ingest has parsed, if it still has what is needed of it."""
        facts = self._known.facts(capture_number(capture.order))
        if facts is None:
            return False
        if self._counts(capture, facts):
            self._reused.add(capture.number)
        return True

    def _may_count(self, capture: Capture) -> bool:
        """Return whether no later capture is known; else count this one as older."""
        if self._captures.would_win(capture.number, capture.order):
            return True
        self._take(capture.number, capture.url, capture.order, None)
        return False

    def _submit(self, on_parsed: Callable[[], None] = lambda: None) -> None:
        """Have the batch parsed, and take the results of earlier ones."""
        batch, self._batch, self._numbers, self._n_bytes = self._batch, [], set(), 0
        if batch:
            self._add_results(self._tasks.put(batch), on_parsed)

    def _drain(self, on_parsed: Callable[[], None] = lambda: None) -> None:
        """Take the results of all batches; ``on_parsed`` is called after each."""
        self._submit(on_parsed)
        self._add_results(self._tasks.drain(), on_parsed)
        self._take_large()

    def _add_results(
        self,
        results: Iterable[tuple[Sequence[Capture], ParsedBatch[Facts]]],
        on_parsed: Callable[[], None] = lambda: None,
    ) -> None:
        for batch, parsed in results:
            self._n_unparsed -= len(batch)
            both = zip(batch, parsed.facts, strict=True)
            kept = [self._may_count(capture) and self._counts(capture, facts) for capture, facts in both]
            dropped = [capture.number for capture, keep in zip(batch, kept, strict=True) if not keep]
            for site, tables in parsed.tables.items():
                self._parts.add(site, *without_pages(tables, dropped))
            on_parsed()

    def _parse_large(self, capture: Capture) -> None:
        """Have a large page parsed in a process with limits of time and memory, while others are read and parsed."""
        self._take_large()
        document = capture.document
        declared = document.content_type, document.content_language
        job = Job("whole", capture.url, document.body, self.settings.max_page_bytes, *declared, link=document.link)
        self._n_unparsed += 1
        self._large = capture, self._asking.submit(self._reader.ask, job)

    def _take_large(self) -> None:
        """Take the large page that is being parsed, if there is one."""
        if self._large is None:
            return
        (capture, answer), self._large, rows = self._large, None, dict[str, Rows]()
        self._n_unparsed -= 1
        try:
            page = answer.result()
        except UnreadError as error:
            reject = Reject(capture.url, "ingest", error.reason, error.detail)
            self._take(capture.number, capture.url, as_kind(capture.order, Kind.EMPTY), reject)
            return
        assert isinstance(page, ParsedPage)
        if self._counts(capture, facts_of(page)):
            add_page(rows, capture, page, self._site_by)
            for site, of_site in rows.items():
                self._parts.add(site, *of_site.tables(self._site_by))

    def _counts(self, capture: Capture, facts: Facts) -> bool:
        """Add the capture of a parsed page; return whether it is a page, and the current capture."""
        number, url, order = capture.number, capture.url, capture.order
        self._notes.add(capture_number(order), facts)
        if facts.is_empty:
            self._take(number, url, as_kind(order, Kind.EMPTY), Reject(url, "ingest", "empty-page"))
            return False
        cut = Reject(url, "ingest", "page-cut", "cut where its markup would take too long to parse")
        if not self._take(number, url, order, cut if facts.cut else None):
            return False
        self._twins.add(url, capture.digest, facts.canonical)
        self._canonical.pop(number, None)
        if facts.canonical:
            self._canonical[number] = page_id(facts.canonical)
        return True

    def _add_revisit(self, revisit: Revisit) -> None:
        number = page_id(revisit.url)
        if number in self._numbers or self._tasks.is_busy or self._large:  # it may confirm one of these
            self._drain()
        if self._captures.is_after(number, revisit.fetched):
            return self.reject(Reject(revisit.url, "ingest", "older-capture", "revisit"))
        if revisit.first is not None and revisit.is_own and self._captures.is_page(number, revisit.first):
            return self._confirm(number, revisit)
        found = revisit.load()
        if isinstance(found, Document) and not self._captures.is_page(number, digest=_sha1(found.body)):
            return self._add_page(found)
        if isinstance(found, Document) or (revisit.first is None and revisit.is_own and self._captures.is_page(number)):
            return self._confirm(number, revisit)
        return self.reject(found)

    def _confirm(self, number: int, revisit: Revisit) -> None:
        self._captures.confirm(number, revisit.fetched)
        self.reject(Reject(revisit.url, "ingest", "revisit", "unchanged"))

    def _take(self, number: int, url: str, order: bytes, reject: Reject | None, *, counted: bool = True) -> bool:
        """Add a capture with its data; return whether it is the current one."""
        wins = self._captures.add(number, page_key(url), order, counted=counted)
        if wins:
            self._reject_of.pop(number, None)
            self._aliases.pop(number, None)
            self._reused.discard(number)
            if reject:
                self._reject_of[number] = reject
        return wins

    def finish(
        self,
        on_site: Callable[[int, int], None] = lambda _number, _n_sites: None,
        on_parsed: Callable[[], None] = lambda: None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """Write the tables.

        Parameters
        ----------
        on_site : callable
            Receives the number of a site, from 1, and of all sites, before the tables of the site are written.
        on_parsed : callable
            Called whenever `n_parsed` rises.
        meanwhile : callable
            Called once while worker processes parse the last pages; not where this process parses them.
        """
        self._submit(on_parsed)
        if self._tasks.has_submitted:
            meanwhile()
        self._add_results(self._tasks.drain(), on_parsed)
        self._take_large()
        self._settle_twins()
        known = dict(known_rows(self._earlier, self._again)) if self._earlier and len(self._again) else {}
        # In the order of their files, in which later stages read them: so the parts of a pack stay together.
        sites = sorted({*self._parts.sites(), *known}, key=site_name)
        packing = Packing(len(sites), len(self._kept))
        with part_writer() as writer:
            for number, site in enumerate(sites, 1):
                on_site(number, len(sites))
                self._finish_site(site, known.get(site), packing, writer)
        self._parts.remove()
        _reuse_log.info("ingest: %d of %d pages have the rows of the earlier ingest", len(self._again), len(self._kept))
        rows = [*self._rejects, *self._reject_of.values(), *self._captures.rejects()]
        rejects = pa.Table.from_pylist([reject._asdict() for reject in rows], schema=REJECTS)
        order = [(name, "ascending") for name in ("url", "reason", "stage", "detail")]
        write_table(rejects.sort_by(order), REJECTS, self.folder / REJECTS_FILE)
        self._notes.finish(self._captures.numbers(self._kept.to_pylist()))

    def _settle_twins(self) -> None:
        """Select one of several addresses of one page."""
        for digest, urls in self._twins.groups():
            numbers = {url: page_id(url) for url in urls}
            there = sorted(
                {url for url in urls if self._captures.is_page(numbers[url], digest=digest)}, key=self._twins.rank
            )
            for url in there[1:]:
                kept, number = numbers[there[0]], numbers[url]
                if number != kept and number not in self._aliases:
                    self._aliases[number] = kept
                    self.reject(Reject(url, "ingest", "duplicate-page", there[0]))

    def _finish_site(self, site: str, known: KnownRows | None, packing: Packing, writer: PartWriter) -> None:
        """Write the tables of a site; those that are the same as before are linked."""
        rounds = self._rounds.get(site, 0)
        alone = known is not None and packing.is_alone(len(known.numbers))
        if known and alone and self._is_same(site, known, rounds) and link_files(known, self.folder):
            return
        pages, links = self._rows.of(site, known)
        first = _beginning(pages, packing.most_pages)
        if not first:
            return
        in_round = (_with_round(table, rounds) for table in chain(first, pages))
        place = packing.place(site_name(site), sum(map(len, first)))
        writer.write(in_round, PAGES, self.folder / "pages" / place)
        writer.write(map(self._resolved, links), LINKS, self.folder / "links" / place)

    def _is_same(self, site: str, known: KnownRows, rounds: int) -> bool:
        """Return whether the rows of a site are those that an earlier ingest has written."""
        is_same = known.is_whole and known.round == rounds and site not in self._parts
        return is_same and known.leads_where_it_led(self._resolve)

    def _resolved(self, links: pa.Table) -> pa.Table:
        """Return links with the pages that they lead to."""
        place = links.column_names.index("target")
        return links.set_column(place, LINKS.field("target"), self._resolve(links["target"]))

    def _resolve(self, targets: pa.ChunkedArray) -> pa.ChunkedArray:
        """Follow redirects and aliases; targets that are not kept pages become null."""
        known, finals = self._finals
        places = known.places(targets)
        return pa.chunked_array([finals.take(pa.array(places, mask=places < 0))])

    @cached_property
    def _kept(self) -> pa.Array:
        """The page_id of every kept page."""
        return pa.array([number for number in self._captures.pages() if number not in self._aliases], pa.int64())

    @cached_property
    def _again(self) -> SortedNumbers:
        """The page_id of those whose rows an earlier ingest has."""
        again = [number for number in self._reused if number not in self._aliases]
        return SortedNumbers.of(pa.array(again, pa.int64()))

    @cached_property
    def _rows(self) -> SiteRows:
        is_new = pa.array(self._again.places(self._kept) < 0)
        return SiteRows(self._parts, SortedNumbers.of(self._kept.filter(is_new)), self._held)

    def _unread_canonicals(self, kept: Container[int]) -> list[tuple[int, int]]:
        """Return the addresses that were not read and that one kept page alone calls its canonical one, with it.

        An address claimed by several pages is ignored: language versions often name one of them by mistake.
        """
        claims = {page: named for page, named in self._canonical.items() if page in kept}
        n_claims = Counter(claims.values())
        return [(named, page) for page, named in claims.items() if n_claims[named] == 1 and named not in self._captures]

    @cached_property
    def _finals(self) -> tuple[SortedNumbers, pa.Array]:
        """The page_id of every address that leads to a kept page, and that page's. Arrow keeps 64 bits beside nulls."""
        final = {number: number for number in self._kept.to_pylist()}
        unread = self._unread_canonicals(final)
        for alias in self._aliases:
            end = alias
            for _ in range(MAX_REDIRECTS):
                if end not in self._aliases:
                    break
                end = self._aliases[end]
            if final.get(end) == end:
                final.setdefault(alias, end)
        for canonical, page in unread:
            final.setdefault(canonical, page)
        return SortedNumbers.of(pa.array(final.keys(), pa.int64())), pa.array(final.values(), pa.int64())
