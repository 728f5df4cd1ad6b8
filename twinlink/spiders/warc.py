"""Web archives (WARC, ISO 28500): written by the crawl; `twinlink.spiders.responses` reads those of any tool."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from http.client import responses
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import quote

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from twinlink.errors import RunError
from twinlink.spiders.responses import read_warc

__all__ = ["WarcWriter", "Written", "read_warc", "truncate_to"]

Headers = Sequence[tuple[str, str]]

_MAX_ARCHIVE_BYTES = 2**30  # ISO 28500, annex C.1: "it is recommended to use 1 GB as a practical target size"


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
