"""The crawl's archives, in step with its ledger."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from twinlink.spiders.warc_writer import Conversion, Earlier, WarcWriter, Written, truncate_to

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Headers, Response

    from twinlink.spiders.frontier import Frontier

_PREFIX = "crawl"


class Archive:
    """Writes exchanges to ``crawl-00001.warc.gz`` and so on; the first exchange of each run begins a new file.

    What an earlier run wrote and did not record is cut off first, so that the files match the ledger: no
    response is lost, and none is stored twice.

    Parameters
    ----------
    folder : Path
        Where the files lie; created if needed.
    frontier : Frontier
        Has the length of each file.
    prefix : str
        Prefix of their names: two ledgers must not write files with the same name.

    Raises
    ------
    OSError
        If the folder cannot be written to.
    """

    def __init__(self, folder: Path, frontier: Frontier, prefix: str = _PREFIX) -> None:
        self._folder = folder
        self._frontier = frontier
        self._last: Written | None = None
        folder.mkdir(exist_ok=True)
        for name, stop in frontier.archives().items():
            self._cut(name, stop)
        self._writer = WarcWriter(folder, prefix, on_new_file=self._begin)

    def write(self, url: str, request: Request, response: Response, conversion: Conversion | None = None) -> Written:
        """Write request and response; recording them is the caller's task.

        Parameters
        ----------
        url : str
            The address as the ledger spells it.
        request, response
            As transferred, the body still compressed.
        conversion : Conversion, optional
            The page that scripts built of the response.
        """
        self._last = self._writer.write(
            url,
            *_request(url, request),
            response.status,
            _pairs(response.headers),
            response.body,
            conversion=conversion,
        )
        return self._last

    def write_revisit(self, url: str, request: Request, response: Response, earlier: Earlier) -> Written:
        """Write an exchange without a new body, like `write`; the record refers to the body of ``earlier``."""
        head = _request(url, request)
        self._last = self._writer.write_revisit(url, *head, response.status, _pairs(response.headers), earlier)
        return self._last

    def disown(self) -> None:
        """Do not record the last exchange, because its page could not be recorded: the next run cuts it off."""
        self._last = None

    def close(self) -> None:
        """Close the file that is being written, and book its length."""
        self._writer.close()
        self._book_last()

    def _begin(self, name: str) -> None:
        self._book_last()
        self._frontier.book_archive(name, 0)  # before it is made: a file that the ledger does not know is never cut

    def _book_last(self) -> None:
        if self._last is not None:
            self._frontier.book_archive(self._last.archive, self._last.end)

    def _cut(self, name: str, stop: int) -> None:
        path = self._folder / name
        size = path.stat().st_size if path.exists() else 0
        if size < stop:
            stop = self._frontier.lose_archive(name, size)
        if stop == 0:
            path.unlink(missing_ok=True)
        elif size > stop:
            truncate_to(path, stop)


def _request(url: str, request: Request) -> tuple[str, list[tuple[str, str]]]:
    """Return the first line and the headers of a request as transferred."""
    parts = urlsplit(url)
    target = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    return f"GET {target} HTTP/1.1", [("Host", parts.netloc), *_pairs(request.headers)]


def _pairs(headers: Headers) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, values in headers.items() for value in values]
