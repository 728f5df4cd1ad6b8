"""Writer of web archives (WARC, ISO 28500); `twinlink.sources.warc` reads them."""

from __future__ import annotations

import base64
import hashlib
import io
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from http.client import responses
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import quote

from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from twinlink.errors import RunError
from twinlink.version import __version__

__all__ = ["NOT_MODIFIED", "Conversion", "Earlier", "WarcWriter", "Written", "payload_digest", "truncate_to"]

Headers = Sequence[tuple[str, str]]

NOT_MODIFIED = 304
_SERVER_NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_MAX_ARCHIVE_BYTES = 2**30  # ISO 28500, annex C.1: "it is recommended to use 1 GB as a practical target size"


def truncate_to(path: Path, end: int) -> None:
    """Truncate an archive to its first ``end`` bytes; the rest is not recorded in the ledger.

    Raises
    ------
    RunError
        If the file is shorter or cannot be changed.
    """
    try:
        size = path.stat().st_size
        if size > end:
            os.truncate(path, end)
    except OSError as error:
        raise RunError(f"{path}: cannot be cut back to {end} bytes ({error.strerror})") from error
    if size < end:
        raise RunError(f"{path}: expected at least {end} bytes, found {size}; part of the archive is lost")


class Conversion(NamedTuple):
    """A page rendered from a response by its scripts; `twinlink.sources.warc` returns it instead of the response."""

    content_type: str
    body: bytes


class Earlier(NamedTuple):
    """An earlier response with the same payload as a new one."""

    url: str
    date: str
    """WARC-Date of its record."""
    digest: str
    """WARC-Payload-Digest of its record."""


class Written(NamedTuple):
    """Position of an exchange in an archive."""

    archive: str
    """Name of the file."""
    start: int
    """First byte of its response record."""
    end: int
    """First byte after its request record, which is the length of the file when it was written."""
    date: str = ""
    """WARC-Date of its response record."""
    digest: str = ""
    """WARC-Payload-Digest of its response record."""


class WarcWriter:
    """Write the exchanges of a crawl to ``PREFIX-00001.warc.gz``, ``PREFIX-00002.warc.gz`` and so on.

    The format is WARC 1.1 with one gzip member per record; each file begins with a ``warcinfo`` record. The response
    and the request of an exchange are adjacent, with payload and block digests. Existing files are not appended to.
    When `write` returns, the data has been passed to the operating system, so that killing the process loses nothing.

    Parameters
    ----------
    folder : Path
        Folder of the files; it must exist.
    prefix : str
        Prefix of their names.
    on_new_file : callable, optional
        Called with the name of each file before it is created.
    max_bytes : int
        When a file has reached this size, the next one is started.
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
        conversion: Conversion | None = None,
    ) -> Written:
        """Write one exchange.

        Parameters
        ----------
        url : str
            The address that was fetched.
        request_line : str
            ``GET /path HTTP/1.1``.
        request_headers, response_headers : sequence of (str, str)
            As transferred, decoded as Latin-1. Transfer-Encoding is removed and Content-Length corrected, because the
            chunks of the body have been joined.
        status : int
            Status of the response.
        body : bytes
            As received, still in its Content-Encoding.
        fetched : datetime, optional
            Time with time zone; default is now.
        conversion : Conversion, optional
            The rendered page: its record is written before the response and refers to it. It repeats the headers of the
            response that say something of the page itself: Content-Language and Link.
        """
        writer = self._writer()
        date = _warc_date(fetched or datetime.now(UTC))
        response = writer.create_warc_record(
            url,
            "response",
            payload=io.BytesIO(body),
            length=len(body),
            warc_headers_dict={"WARC-Date": date},
            http_headers=_answer_head(status, _stored_headers(response_headers, len(body))),
        )
        if conversion is not None:
            refers = {"WARC-Date": date, "WARC-Refers-To": response.rec_headers.get_header("WARC-Record-ID")}
            fields = {**refers, **_page_fields(response_headers)}
            writer.write_record(_conversion_record(writer, url, conversion, fields))
        return self._write(writer, request_line, request_headers, response)

    def write_revisit(
        self,
        url: str,
        request_line: str,
        request_headers: Headers,
        status: int,
        response_headers: Headers,
        earlier: Earlier,
        fetched: datetime | None = None,
    ) -> Written:
        """Write an exchange with the same payload as an earlier one, as a record that refers to it and has no body.

        Parameters
        ----------
        url, request_line, request_headers, status, response_headers, fetched
            As for `write`. With status 304 the profile is ``server-not-modified``, with any other status
            ``identical-payload-digest``.
        earlier : Earlier
            The response that has the body.
        """
        writer = self._writer()
        revisit = writer.create_revisit_record(
            url,
            earlier.digest,
            earlier.url,
            earlier.date,
            _answer_head(status, _ascii_headers(response_headers)),
            {"WARC-Date": _warc_date(fetched or datetime.now(UTC))},
        )
        if status == NOT_MODIFIED:
            revisit.rec_headers.replace_header("WARC-Profile", _SERVER_NOT_MODIFIED)
        return self._write(writer, request_line, request_headers, revisit)

    def _writer(self) -> WARCWriter:
        if self._file is None or self._file.tell() >= self._max_bytes:
            self._begin()
        return WARCWriter(self._file, gzip=True, warc_version="WARC/1.1")

    def _write(
        self, writer: WARCWriter, request_line: str, request_headers: Headers, response: ArcWarcRecord
    ) -> Written:
        assert self._file is not None
        start = self._file.tell()
        head = StatusAndHeaders(_ascii(request_line), _ascii_headers(request_headers), is_http_request=True)
        fields = response.rec_headers
        request = writer.create_warc_record(fields.get_header("WARC-Target-URI"), "request", http_headers=head)
        writer.write_request_response_pair(request, response)
        self._file.flush()
        date, digest = fields.get_header("WARC-Date"), fields.get_header("WARC-Payload-Digest") or ""
        return Written(self._name, start, self._file.tell(), date, digest)

    def close(self) -> None:
        """Close the current file; the next `write` starts another one."""
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
        about = {"software": f"twinlink/{__version__}", "format": "WARC File Format 1.1"}
        writer.write_record(writer.create_warcinfo_record(self._name, about))
        self._file.flush()

    def _file_name(self, number: int) -> str:
        return f"{self._prefix}-{number:05}.warc.gz"


def _conversion_record(writer: WARCWriter, url: str, made: Conversion, headers: dict[str, str]) -> ArcWarcRecord:
    return writer.create_warc_record(
        url,
        "conversion",
        payload=io.BytesIO(made.body),
        length=len(made.body),
        warc_content_type=made.content_type,
        warc_headers_dict=headers,
    )


def _page_fields(headers: Headers) -> dict[str, str]:
    """Return the headers of a response that hold for the page, however it was sent; WARC allows extension fields.

    Of several Content-Language the last one counts, as for other pages; a WARC field must not be repeated.
    """
    given = [(name.lower(), value) for name, value in _ascii_headers(headers)]
    languages, links = ([value for name, value in given if name == wanted] for wanted in ("content-language", "link"))
    fields = {"Content-Language": "".join(languages[-1:]), "Link": ", ".join(links)}
    return {name: value for name, value in fields.items() if value}


def payload_digest(body: bytes) -> str:
    """Return the digest of a body in the form of WARC-Payload-Digest.

    >>> payload_digest(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return f"sha1:{base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()}"


def _answer_head(status: int, headers: Headers) -> StatusAndHeaders:
    return StatusAndHeaders(f"{status} {responses.get(status, '')}".rstrip(), list(headers), "HTTP/1.1")


def _stored_headers(headers: Headers, length: int) -> list[tuple[str, str]]:
    dropped = ("transfer-encoding", "content-length")
    kept = [(name, value) for name, value in _ascii_headers(headers) if name.lower() not in dropped]
    return [*kept, ("Content-Length", str(length))]


def _ascii_headers(headers: Headers) -> list[tuple[str, str]]:
    return [(_ascii(name), _ascii(value)) for name, value in headers]


# warcio percent-encodes the whole value, so that a Location would lose its "://".
def _ascii(text: str) -> str:
    """Percent-encode characters that are not printable ASCII, so that no header breaks its record."""
    return "".join(c if " " <= c <= "~" else quote(c.encode("latin-1", "replace")) for c in text)


def _warc_date(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
