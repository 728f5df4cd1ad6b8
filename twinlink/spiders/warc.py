"""Web archives (WARC, ISO 28500): reading those of any tool, writing those of the crawl."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from http.client import responses
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import quote, urlsplit

from warcio.bufferedreaders import ChunkedDataReader
from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from twinlink.errors import InputError, RunError
from twinlink.spiders.compression import EncodingError, decompress
from twinlink.spiders.documents import Document, is_html
from twinlink.spiders.records import Problem, read_records
from twinlink.spiders.urls import normalise
from twinlink.tables import Reject

__all__ = ["WarcWriter", "Written", "read_warc", "truncate_to"]

Headers = Sequence[tuple[str, str]]

_READ = frozenset(("response", "resource", "revisit"))
_MAX_HEADER_BYTES = 2**18
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_MAX_ARCHIVE_BYTES = 2**30  # ISO 28500, annex C.1: "it is recommended to use 1 GB as a practical target size"


def read_warc(path: Path, max_page_bytes: int) -> Iterator[Document | Reject]:
    """Yield the pages and redirects of an archive, and a reject for each answer that is neither.

    Read are ``response`` and ``resource`` records of http and https addresses; robots.txt and other kinds of records
    are passed over without a reject, for they are no pages. Damage costs the record that it hits: reading goes on at
    the next one that can be found.

    Parameters
    ----------
    path : Path
        A ``.warc`` or ``.warc.gz`` file; a single gzip member around all records is read too.
    max_page_bytes : int
        Largest body, before and after decompression.

    Yields
    ------
    Document or Reject
        A document for each HTML page with status 200 and for each redirect. A reject (stage ``ingest``) otherwise:
        ``http-404`` (any other status), ``not-html``, ``too-large``, ``bad-url``, ``bad-encoding`` (content encoding
        unknown or data damaged), ``revisit`` (the page lies in another record), ``damaged-record``, ``truncated`` (the
        archive ends within the record, or the record says that it was cut off).

    Raises
    ------
    InputError
        If the file cannot be opened or holds nothing of an archive.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    reader = _Reader(path.name, max_page_bytes)
    damaged = False
    with file:
        for item in read_records(file, reader.take):
            if isinstance(item, Problem):
                damaged = damaged or item.reason == "damaged-record"
                yield Reject(path.name, "ingest", item.reason, f"at {item.start}: {item.detail}")
            elif item is not None:
                yield item
    if damaged and not reader.n_records:
        raise InputError(f"{path}: expected a WARC file, found not one record in it")


def truncate_to(path: Path, end: int) -> None:
    """Cut an archive back to its first ``end`` bytes: what was written behind them was not booked.

    Raises
    ------
    RunError
        If the file is shorter than that or cannot be changed.
    """
    try:
        size = path.stat().st_size
        if size > end:
            os.truncate(path, end)
    except OSError as error:
        raise RunError(f"{path}: cannot be cut back to {end} bytes ({error.strerror})") from error
    if size < end:
        raise RunError(f"{path}: expected at least {end} bytes, found {size}; part of the archive is lost")


class Written(NamedTuple):
    """Where an exchange was written."""

    archive: str
    """Name of the file."""
    start: int
    """First byte of its response record."""
    end: int
    """First byte behind its request record: the length of the file by now."""


class WarcWriter:
    """Writes the exchanges of a crawl to ``PREFIX-00001.warc.gz`` and so on.

    WARC 1.1, one gzip member a record, each file opened by a ``warcinfo`` record; response and request of an exchange
    stand together, with payload and block digests. An existing file is never added to. What was written is in the hands
    of the operating system when `write` returns, so that killing the process loses nothing.

    Parameters
    ----------
    folder : Path
        Where the files go; it must exist.
    prefix : str
        Begins their names.
    on_new_file : callable, optional
        Called with the name of each file before it is created.
    max_bytes : int
        A new file is begun once one has reached this size.
    """

    def __init__(
        self,
        folder: Path,
        prefix: str,
        on_new_file: Callable[[str], None] | None = None,
        max_bytes: int = _MAX_ARCHIVE_BYTES,
    ) -> None:
        self._folder = folder
        self._prefix = prefix
        self._on_new_file = on_new_file
        self._max_bytes = max_bytes
        self._file: BinaryIO | None = None
        self._name = ""

    def write(
        self,
        url: str,
        request_line: str,
        request_headers: Headers,
        status: int,
        response_headers: Headers,
        body: bytes,
        fetched: datetime | None = None,
    ) -> Written:
        """Write one exchange.

        Parameters
        ----------
        url : str
            The address that was fetched.
        request_line : str
            ``GET /path HTTP/1.1``.
        request_headers, response_headers : sequence of (str, str)
            As they went over the line, bytes read as Latin-1. Transfer-Encoding is left out and Content-Length set
            right, because the body comes with its chunks joined.
        status : int
            Of the response.
        body : bytes
            As received: what Content-Encoding says still holds.
        fetched : datetime, optional
            With time zone; default is now.
        """
        if self._file is None or self._file.tell() >= self._max_bytes:
            self._begin()
        assert self._file is not None
        start = self._file.tell()
        writer = WARCWriter(self._file, gzip=True, warc_version="WARC/1.1")
        response = writer.create_warc_record(
            url,
            "response",
            payload=io.BytesIO(body),
            length=len(body),
            warc_headers_dict={"WARC-Date": _warc_date(fetched or datetime.now(UTC))},
            http_headers=StatusAndHeaders(
                f"{status} {responses.get(status, '')}".rstrip(),
                _stored_headers(response_headers, len(body)),
                "HTTP/1.1",
            ),
        )
        head = StatusAndHeaders(_ascii(request_line), _ascii_headers(request_headers), is_http_request=True)
        request = writer.create_warc_record(url, "request", http_headers=head)
        writer.write_request_response_pair(request, response)
        self._file.flush()
        return Written(self._name, start, self._file.tell())

    def close(self) -> None:
        """Close the file that is being written; the next `write` begins another."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self) -> None:
        self.close()
        number = 1
        while (self._folder / self._file_name(number)).exists():
            number += 1
        self._name = self._file_name(number)
        if self._on_new_file:
            self._on_new_file(self._name)
        self._file = (self._folder / self._name).open("xb")
        writer = WARCWriter(self._file, gzip=True, warc_version="WARC/1.1")
        about = {"software": f"twinlink/{version('twinlink')}", "format": "WARC File Format 1.1"}
        writer.write_record(writer.create_warcinfo_record(self._name, about))
        self._file.flush()

    def _file_name(self, number: int) -> str:
        return f"{self._prefix}-{number:05}.warc.gz"


def _stored_headers(headers: Headers, length: int) -> list[tuple[str, str]]:
    dropped = ("transfer-encoding", "content-length")
    kept = [(name, value) for name, value in _ascii_headers(headers) if name.lower() not in dropped]
    return [*kept, ("Content-Length", str(length))]


def _ascii_headers(headers: Headers) -> list[tuple[str, str]]:
    return [(_ascii(name), _ascii(value)) for name, value in headers]


# warcio would do that too, but to a whole value: a Location would lose its "://".
def _ascii(text: str) -> str:
    """Percent-encode what is not printable ASCII, so that no header breaks its record."""
    return "".join(c if " " <= c <= "~" else quote(c.encode("latin-1", "replace")) for c in text)


def _warc_date(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class _Reader:
    """Makes documents of records."""

    def __init__(self, name: str, max_page_bytes: int) -> None:
        self.n_records = 0
        self._name = name
        self._max_page_bytes = max_page_bytes

    def take(self, record: ArcWarcRecord, start: int) -> Document | Reject | None:
        """Return what a record holds, None if nothing of interest."""
        self.n_records += 1
        target = record.rec_headers.get_header("WARC-Target-URI") or ""
        if record.rec_type not in _READ or not target.lower().startswith(("http:", "https:")):
            return None
        url = normalise(target)
        if url is None:
            return Reject(target, "ingest", "bad-url")
        return None if urlsplit(url).path == "/robots.txt" else self._read(record, url, start)

    def _read(self, record: ArcWarcRecord, url: str, start: int) -> Document | Reject:
        if record.rec_type == "revisit":
            return Reject(url, "ingest", "revisit")
        if cause := record.rec_headers.get_header("WARC-Truncated"):
            return Reject(url, "ingest", "truncated", f"WARC-Truncated: {cause}")
        if record.rec_type == "resource":
            return self._page(record, url, start, record.rec_headers.get_header("Content-Type") or "")
        return self._response(record, url, start)

    def _response(self, record: ArcWarcRecord, url: str, start: int) -> Document | Reject:
        headers = record.http_headers
        if headers is None or not headers.get_statuscode().isdecimal():
            return Reject(url, "ingest", "damaged-record", "no HTTP status")
        status = int(headers.get_statuscode())
        location = headers.get_header("Location") or ""
        if status in _REDIRECTS and location:
            return Document(url, status, "", "", location, b"", _fetched(record), self._name, start)
        if status != 200:
            return Reject(url, "ingest", f"http-{status}")
        return self._page(record, url, start, headers.get_header("Content-Type") or "")

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
        return Document(url, 200, content_type, language, "", body, _fetched(record), self._name, start)

    def _body(self, record: ArcWarcRecord) -> bytes:
        """Return the body without its content encoding, or more bytes than are allowed."""
        limit = self._max_page_bytes
        stream = record.raw_stream
        chunked = "chunked" in _http_header(record, "Transfer-Encoding").lower()
        if chunked and record.length <= limit + _MAX_HEADER_BYTES:  # whole chunks are read: one may be the whole record
            stream = ChunkedDataReader(stream)
        body: bytes = stream.read(limit + 1)
        return body if len(body) > limit else decompress(body, _http_header(record, "Content-Encoding"), limit)


def _http_header(record: ArcWarcRecord, name: str) -> str:
    value: str | None = record.http_headers.get_header(name) if record.http_headers else None
    return value or ""


def _fetched(record: ArcWarcRecord) -> datetime | None:
    try:
        moment = datetime.fromisoformat(record.rec_headers.get_header("WARC-Date") or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
