"""The crawl's archives, in step with its ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from warcstub import WarcWriter, truncate_to

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Headers, Response

    from twinlink.spiders.ledger import Ledger

__all__ = ["Archive"]

MAX_BYTES = 2**30
"""A new file is begun beyond this size (ISO 28500, annex C, recommends 1 GB)."""


class Archive:
    """Writes exchanges to ``crawl-00001.warc.gz`` and so on; each run begins a new file.

    What an earlier run wrote and did not book is cut off first, so that the files hold exactly what the ledger knows.

    Parameters
    ----------
    folder : Path
        Where the files lie.
    ledger : Ledger
        Knows how long each may be.
    """

    def __init__(self, folder: Path, ledger: Ledger) -> None:
        self._folder = folder
        self._ledger = ledger
        self._name = ""
        self._writer: WarcWriter | None = None
        self._stop = 0
        folder.mkdir(exist_ok=True)
        for name, stop in ledger.archives().items():
            self._cut(name, stop)

    def write(self, url: str, request: Request, response: Response) -> tuple[str, int, int]:
        """Write request and response.

        Parameters
        ----------
        url : str
            The address as the ledger spells it.
        request, response
            As they went over the line, the body still compressed.

        Returns
        -------
        tuple of str, int and int
            Name of the file, first byte of the records, first byte behind them. Nothing is booked yet.
        """
        if self._writer is None or self._stop > MAX_BYTES:
            self._begin()
        assert self._writer is not None
        start, self._stop = self._writer.write(
            url,
            *_request_head(url, request),
            response.status,
            _response_headers(response),
            response.body,
        )
        return self._name, start, self._stop

    def close(self) -> None:
        """Close the file that is being written, and book its length."""
        if self._writer is not None:
            self._writer.close()
            self._ledger.book_archive(self._name, self._stop)
            self._writer = None

    def _begin(self) -> None:
        self.close()
        self._name = f"crawl-{len(self._ledger.archives()) + 1:05}.warc.gz"
        self._ledger.book_archive(self._name, 0)  # first: a file that the ledger does not know would never be cut
        self._writer = WarcWriter(self._folder / self._name)

    def _cut(self, name: str, stop: int) -> None:
        path = self._folder / name
        size = path.stat().st_size if path.exists() else 0
        if size < stop:
            stop = self._ledger.lose_archive(name, size)
        if stop == 0:
            path.unlink(missing_ok=True)
        elif size > stop:
            truncate_to(path, stop)


def _request_head(url: str, request: Request) -> tuple[str, list[tuple[str, str]]]:
    parts = urlsplit(url)
    target = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    return f"GET {target} HTTP/1.1", [("Host", parts.netloc), *_pairs(request.headers)]


def _response_headers(response: Response) -> list[tuple[str, str]]:
    """Return the headers as received; Content-Length is that of the body, whose chunks Twisted has put together."""
    pairs = [(name, value) for name, value in _pairs(response.headers) if name.lower() != "content-length"]
    return [*pairs, ("Content-Length", str(len(response.body)))]


def _pairs(headers: Headers) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, values in headers.items() for value in values]
