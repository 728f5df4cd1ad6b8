"""Documents from the records of WARC and ARC files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from twinlink.errors import InputError
from twinlink.pages.content_encoding import EncodingError, decompress
from twinlink.pages.decoding import is_html
from twinlink.rejects import Reject
from twinlink.sources.documents import REDIRECTS, Document, Gone, Revisit, status_of
from twinlink.urls import normalise

if TYPE_CHECKING:
    from warcio.recordloader import ArcWarcRecord

    from twinlink.sources.warc_records import Problem

_READ = frozenset(("response", "resource", "revisit", "conversion"))
ARCHIVE_NAME = re.compile(r"\.w?arc(?:\.gz|\.zst)?$", re.IGNORECASE)
"""Names of web archives."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_KINDS = _READ | {"warcinfo", "request", "metadata", "continuation"}  # ISO 28500; others may come, but not of pages
_MAX_HEADER_BYTES = 2**18
_GONE = frozenset((404, 410))


class Archive(msgspec.Struct, frozen=True):
    """A WARC or ARC file, on disk or inside another file."""

    name: str
    """``source`` of its documents."""
    open: Callable[[], BinaryIO]
    """Opens it again; the file can seek. Raises OSError."""
    path: Path | None = None
    """Of a separate file."""


def archive_of(path: Path) -> Archive:
    """Return the archive as a separate file."""
    return Archive(name_of(path), lambda: path.open("rb"), path)


def name_of(path: Path) -> str:
    """Return the name of a file as it stands in tables: what is no UTF-8 in it is replaced."""
    return path.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def read_warc(path: Path, max_page_bytes: int) -> Iterator[Document | Reject]:
    """Yield the items of `read_archives` for one archive on disk."""
    yield from read_archives([archive_of(path)], max_page_bytes)


def read_archives(
    archives: Sequence[Archive], max_page_bytes: int, exchanges: Exchanges | None = None
) -> Iterator[Document | Reject]:
    """Yield the pages and redirects of related archives, and a reject for each other response.

    Reads ``response``, ``resource`` and ``revisit`` records of http and https addresses; robots.txt and other kinds of
    records are skipped without a reject, because they are not pages. A ``conversion`` record that is HTML stands for
    the record that it refers to, if that comes behind it: so the crawl writes pages that scripts have built. A damaged
    record is lost; reading continues at the next record found.

    A ``revisit`` record says that a response equals an earlier one. Where that came from another address (tools
    write each payload only once), the page is the earlier one's under the new address; it comes when all archives have
    been read. Where it came from the same address, the page is there already.

    Parameters
    ----------
    archives : sequence of Archive
        WARC or ARC, plain or gzip; a single gzip member around all records is read too.
    max_page_bytes : int
        Largest body, before and after decompression.
    exchanges : Exchanges, optional
        Reads several sources that belong together: what its `Exchanges.revisits` gives does not come here.

    Yields
    ------
    Document or Reject
        A document for each HTML page with status 200 and for each redirect. A reject (stage ``ingest``) otherwise:
        ``http-404`` (any other status), ``not-html``, ``too-large``, ``bad-url``, ``bad-encoding`` (content encoding
        unknown or data damaged), ``revisit`` (the page is there from an earlier visit, or in none of the archives),
        ``damaged-record``, ``truncated`` (the archive ends within the record, or the record says that it was cut off).

    Raises
    ------
    InputError
        If no archive can be opened, or none holds anything of one.
    """
    shared, exchanges = exchanges is not None, exchanges or Exchanges(max_page_bytes)
    errors: list[tuple[Archive, str]] = []
    for archive in archives:
        n_records = exchanges.n_records
        try:
            yield from exchanges.read(archive)
        except OSError as error:
            errors.append((archive, f"cannot be read ({error.strerror or error})"))
            continue
        if exchanges.damaged and exchanges.n_records == n_records:
            errors.append((archive, "expected a WARC file, found no record in it"))
    if errors and len(errors) == len(archives):
        raise InputError("; ".join(f"{archive.name}: {text}" for archive, text in errors[:3]))
    for archive, text in errors:
        yield Reject(archive.name, "ingest", "damaged-record", text)
    if not shared:
        yield from exchanges.finish()


class ArchiveFindings(NamedTuple):
    """Content of a record."""

    item: Document | Reject
    digest: str = ""  # of the payload as it was sent, where the record says it
    waits: bool = False  # the item is a page without its body, which another record has
    first: datetime | None = None  # when the body was fetched
    is_own: bool = False  # the body comes from the same address, as far as the record says


class Notes(Protocol):
    """What archives gave, so that those that have not changed need not be read again."""

    def recall(
        self, archive: Archive, load: Callable[[int], Document | Reject | None]
    ) -> Iterable[ArchiveFindings] | None:
        """Return what an archive gave at an earlier reading; None: it has to be read.

        Parameters
        ----------
        archive : Archive
        load : callable
            Takes the place where a record starts, and reads it.
        """

    def begin(self, archive: Archive) -> Callable[[ArchiveFindings], None]:
        """Return a function that notes what an archive gives, in this order."""

    def end(self, archive: Archive) -> None:
        """Note that this was all. It is not called for an archive whose records cannot all be read one by one."""


_Place = tuple[Archive, int]


class Exchanges:
    """Reads records of archives that belong together, and finds the pages that revisit records leave out.

    Parameters
    ----------
    max_page_bytes : int
        Largest body.
    notes : Notes, optional
        Recalls archives that were read before, and notes what others give.

    Attributes
    ----------
    n_records : int
        Records read so far, of any kind.
    damaged : bool
        Whether the archive that was read last has a damaged record.
    """

    def __init__(self, max_page_bytes: int, notes: Notes | None = None) -> None:
        self.n_records = 0
        self.damaged = False
        self._notes = notes
        self._start = -1  # of the last record
        self._share_places = False  # two records of the archive start at one place: a gzip member around several
        self._max_page_bytes = max_page_bytes
        self._places: dict[int, _Place] = {}  # hash of a payload's digest → first page that has it
        self._waiting: list[ArchiveFindings] = []

    @property
    def n_waiting(self) -> int:
        """Pages that wait for another record."""
        return len(self._waiting)

    def waiting(self) -> Iterator[str]:
        """Yield the addresses of these pages."""
        for found in self._waiting:
            yield found.item.url

    def read(self, archive: Archive) -> Iterator[Document | Reject]:
        """Yield the items of `read_archives` for one archive, except pages that wait for another record.

        Raises
        ------
        OSError
            If it cannot be opened or read.
        """
        self.damaged = False
        known = self._notes.recall(archive, partial(self._item_at, archive)) if self._notes else None
        for found in self._found(archive) if known is None else known:
            if isinstance(found, ArchiveFindings):
                yield from self._keep(archive, found)
            else:
                self.damaged = self.damaged or found.reason == "damaged-record"
                yield _problem(archive, found)

    def _found(self, archive: Archive) -> Iterator[ArchiveFindings | Problem]:
        """Read an archive, and note what it gives."""
        from twinlink.sources.warc_records import Problem, read_records  # warcio, only for archives

        note = self._notes.begin(archive) if self._notes else None
        is_whole, self._start, self._share_places = True, -1, False
        with closing(archive.open()) as file:
            for found in read_records(file, self._taker(archive)):
                if isinstance(found, Problem):
                    is_whole = False
                elif note and found is not None:
                    note(found)
                if found is not None:
                    yield found
        if self._notes and is_whole and not self._share_places:
            self._notes.end(archive)

    def _item_at(self, archive: Archive, start: int) -> Document | Reject | None:
        found = self._find(archive, start)
        return found.item if isinstance(found, ArchiveFindings) else None

    def read_at(self, archive: Archive, start: int) -> Iterator[Document | Reject]:
        """Yield the same for the one record that starts at a place.

        Raises
        ------
        OSError
            If the archive cannot be opened or read.
        """
        found = self._find(archive, start)
        if isinstance(found, ArchiveFindings):
            yield from self._keep(archive, found)
        elif found is not None:
            yield _problem(archive, found)

    def revisits(self) -> Iterator[Revisit]:
        """Yield the visits without body, the latest first; to be called once all bodies have been read."""
        waiting, self._waiting = self._waiting, []
        for found in sorted(waiting, key=_moment, reverse=True):
            page = found.item
            if isinstance(page, Document):
                load = partial(self._whole, page, found.digest)
                yield Revisit(page.url, page.fetched, found.first, found.is_own, load)

    def finish(self) -> Iterator[Document | Reject]:
        """Yield the pages that waited for another record, and a reject for those that are there already."""
        waiting, self._waiting = self._waiting, []
        for found in waiting:
            page = found.item
            if not isinstance(page, Document):
                continue
            whole = self._whole(page, found.digest)
            is_there = isinstance(whole, Document) and self._is_of(page, found.digest)
            yield Reject(page.url, "ingest", "revisit", "unchanged") if is_there else whole

    def _find(self, archive: Archive, start: int) -> ArchiveFindings | Problem | None:
        from twinlink.sources.warc_records import read_record

        with closing(archive.open()) as file:
            return read_record(file, start, self._taker(archive))

    def _taker(self, archive: Archive) -> Callable[[ArcWarcRecord, int], ArchiveFindings | None]:
        reader = _Reader(archive.name, self._max_page_bytes)

        def take(record: ArcWarcRecord, start: int) -> ArchiveFindings | None:
            self.n_records += 1
            self._share_places = self._share_places or start == self._start
            self._start = start
            return reader.take(record, start)

        return take

    def _keep(self, archive: Archive, found: ArchiveFindings) -> Iterator[Document | Reject]:
        item = found.item
        if found.waits and isinstance(item, Document):
            self._waiting.append(found)
            return
        if found.digest and isinstance(item, Document) and not item.location:
            self._places.setdefault(hash(found.digest), (archive, item.offset))
        yield item

    def _is_of(self, page: Document, digest: str) -> bool:
        """Return whether the first record with a payload is of the same address."""
        found = self._find(*self._places[hash(digest)])
        return isinstance(found, ArchiveFindings) and found.item.url == page.url

    def _whole(self, page: Document, digest: str) -> Document | Reject:
        place = self._places.get(hash(digest)) if digest else None
        if place is None:
            return Reject(page.url, "ingest", "revisit", "no page with its payload in these archives")
        try:
            found = self._find(*place)
        except OSError:
            found = None
        if not isinstance(found, ArchiveFindings) or not isinstance(found.item, Document) or found.digest != digest:
            return Reject(page.url, "ingest", "revisit", "the page with its payload cannot be read again")
        first = found.item
        return replace(
            page,
            content_type=page.content_type or first.content_type,
            content_language=page.content_language or first.content_language,
            body=first.body,
            link=page.link or first.link,
        )


def _moment(found: ArchiveFindings) -> float:
    moment = found.item.fetched if isinstance(found.item, Document) else None
    return moment.timestamp() if moment else 0.0


def _problem(archive: Archive, problem: Problem) -> Reject:
    return Reject(archive.name, "ingest", problem.reason, f"at {problem.start}: {problem.detail}")


class _Reader:
    """Makes documents of the records of one archive."""

    def __init__(self, name: str, max_page_bytes: int) -> None:
        self._name = name
        self._max_page_bytes = max_page_bytes
        self._replaced = ""  # the record that a conversion stood for

    def take(self, record: ArcWarcRecord, start: int) -> ArchiveFindings | None:
        """Return what a record holds, None if nothing of interest."""
        target = record.rec_headers.get_header("WARC-Target-URI") or ""
        if missing := _missing(record, target):
            return ArchiveFindings(Reject(target or self._name, "ingest", "damaged-record", f"at {start}: {missing}"))
        is_page = record.rec_type in _READ and target.lower().startswith(("http:", "https:"))
        if not is_page or self._is_replaced(record):
            return None
        url = normalise(target)
        if url is None:
            return ArchiveFindings(Reject(target, "ingest", "bad-url"))
        if urlsplit(url).path == "/robots.txt":
            return None
        if record.rec_type == "conversion":
            return self._conversion(record, url, start)
        digest = record.rec_headers.get_header("WARC-Payload-Digest") or ""
        is_revisit = record.rec_type == "revisit"
        return (
            self._revisit(record, url, start, digest)
            if is_revisit
            else ArchiveFindings(self._answer(record, url, start), digest)
        )

    def _answer(self, record: ArcWarcRecord, url: str, start: int) -> Document | Reject:
        if cause := record.rec_headers.get_header("WARC-Truncated"):
            return Reject(url, "ingest", "truncated", f"WARC-Truncated: {cause}")
        if record.rec_headers.get_header("WARC-Segment-Number"):
            return Reject(url, "ingest", "truncated", "the record is one of several segments")
        if record.rec_type == "resource":
            return self._page(record, url, start, record.rec_headers.get_header("Content-Type") or "")
        headers = record.http_headers
        if headers is None or not headers.get_statuscode().isdecimal():
            return Reject(url, "ingest", "damaged-record", "no HTTP status")
        head = self._head(record, url, start)
        return head if isinstance(head, Reject) or head.location else self._page(record, url, start, head.content_type)

    def _is_replaced(self, record: ArcWarcRecord) -> bool:
        return bool(self._replaced) and record.rec_headers.get_header("WARC-Record-ID") == self._replaced

    def _conversion(self, record: ArcWarcRecord, url: str, start: int) -> ArchiveFindings | None:
        content_type = record.rec_headers.get_header("Content-Type") or ""
        if not content_type or not is_html(content_type, b""):  # the mere text of a page, as in WET files
            return None
        self._replaced = record.rec_headers.get_header("WARC-Refers-To") or ""
        page = self._page(record, url, start, content_type)
        language, link = (record.rec_headers.get_header(name) or "" for name in ("Content-Language", "Link"))
        return ArchiveFindings(
            replace(page, content_language=language, link=link) if isinstance(page, Document) else page
        )

    def _revisit(self, record: ArcWarcRecord, url: str, start: int, digest: str) -> ArchiveFindings:
        headers = record.rec_headers
        head = self._head(record, url, start)
        if isinstance(head, Reject) and head.reason == "http-304":  # the server found the page unmodified
            head = Document(url, 200, "", "", "", b"", _fetched(record), self._name, start)
        if isinstance(head, Reject) or head.location:
            return ArchiveFindings(head)
        first = normalise(headers.get_header("WARC-Refers-To-Target-URI") or "")
        moment = _moment_of(headers.get_header("WARC-Refers-To-Date") or "")
        return ArchiveFindings(head, digest, waits=True, first=moment, is_own=first in (None, url))

    def _head(self, record: ArcWarcRecord, url: str, start: int) -> Document | Reject:
        """Return what the headers of a response say: a redirect, a page without its body, or a reject."""
        headers = record.http_headers
        said = headers.get_statuscode() if headers else ""
        status = status_of(said) if said.isdecimal() else 200
        location = _http_header(record, "Location")
        moment = _fetched(record)
        if status in REDIRECTS and location:
            return Document(url, status, "", "", location, b"", moment, self._name, start)
        if status in _GONE:
            return Gone.at(url, f"http-{status}", moment)
        if status is None:
            return Reject(url, "ingest", "damaged-record", "no HTTP status")
        if status != 200:
            return Reject(url, "ingest", f"http-{status}")
        content_type, language = _http_header(record, "Content-Type"), _http_header(record, "Content-Language")
        if not is_html(content_type, b"<html>"):
            return Reject(url, "ingest", "not-html", content_type)
        return Document(url, 200, content_type, language, "", b"", moment, self._name, start, _links(record))

    def _page(self, record: ArcWarcRecord, url: str, start: int, content_type: str) -> Document | Reject:
        if not is_html(content_type, b"<html>"):
            return Reject(url, "ingest", "not-html", content_type)
        try:
            body = self._body(record)
        except EncodingError as error:
            return Reject(url, "ingest", "bad-encoding", str(error))
        if len(body) > self._max_page_bytes:
            return Reject(url, "ingest", "too-large", f"more than {self._max_page_bytes} bytes")
        if not is_html(content_type, body):
            return Reject(url, "ingest", "not-html", content_type)
        language = _http_header(record, "Content-Language")
        fetched = _fetched(record)
        return Document(url, 200, content_type, language, "", body, fetched, self._name, start, _links(record))

    def _body(self, record: ArcWarcRecord) -> bytes:
        """Return the body without its content encoding, or more bytes than are allowed."""
        from warcio.bufferedreaders import ChunkedDataReader

        limit = self._max_page_bytes
        stream = record.raw_stream
        chunked = "chunked" in _http_header(record, "Transfer-Encoding").lower()
        if chunked and record.length <= limit + _MAX_HEADER_BYTES:  # whole chunks are read: one may be the whole record
            stream = ChunkedDataReader(stream)
        body: bytes = stream.read(limit + 1)
        return body if len(body) > limit else decompress(body, _http_header(record, "Content-Encoding"), limit)


def _missing(record: ArcWarcRecord, target: str) -> str:
    """Return what a record lacks to say what it is; empty if nothing, or if nobody would miss it."""
    kind = record.rec_type or ""
    if kind not in _KINDS and (not kind or target.lower().startswith(("http:", "https:"))):
        return f"unknown kind of record: {kind!r}" if kind else "no WARC-Type"
    if kind == "warcinfo" and _is_odd_arc(record):
        return "the first line of an ARC file has more than five fields"  # its length may be another record's
    if kind in _READ and not _SCHEME.match(target):
        return "no WARC-Target-URI"
    return ""


def _is_odd_arc(record: ArcWarcRecord) -> bool:
    """Return whether a warcinfo record is warcio's version of the first line of an ARC file, with an invalid name."""
    headers = record.rec_headers
    return bool(headers.get_header("WARC-IP-Address")) and " " in (headers.get_header("WARC-Filename") or "")


def _http_header(record: ArcWarcRecord, name: str) -> str:
    """Return a header of the response, empty if there is none; of several the last one, as in a crawl."""
    given = record.http_headers.headers if record.http_headers else ()
    return next((value for key, value in reversed(given) if key.lower() == name.lower()), "")


def _links(record: ArcWarcRecord) -> str:
    """Return all Link headers of the response."""
    given = record.http_headers.headers if record.http_headers else ()
    return ", ".join(value for key, value in given if key.lower() == "link")


def _fetched(record: ArcWarcRecord) -> datetime | None:
    return _moment_of(record.rec_headers.get_header("WARC-Date") or "")


def _moment_of(date: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(date)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):  # the latter: before the first day or behind the last one in UTC
        return None
