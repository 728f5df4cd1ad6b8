"""Progress of `ingest`: how many bytes of its sources are read, how many pages to expect by that, how many are done.

A page counts in part when it is read, and in whole when it is parsed, because other processes may parse it much later.
The tables are the rest of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from twinlink.ingest.file_states import FileState
from twinlink.sources.documents import Document, Revisit
from twinlink.sources.mirror import may_be_page
from twinlink.sources.reading import is_index
from twinlink.sources.warc import name_of
from twinlink.tables import Reject

OnPages = Callable[[int, int | None, str], None]
"""Receives the number of documents done, the expected number of all (None: not known yet), and what is being done."""

_SHARE_KNOWN = 0.02
"""Share of the bytes from which the number of documents is extrapolated."""
_READING_SHARE = 0.55
"""Part of a page that is done when it is read; the time left fits best on two sites of 1,700 and 4,900 pages."""
_TABLES_SHARE = 0.08
"""Share of the time that the tables take: 5 to 10 % on four sites of 600 to 4,900 pages."""


class ReadShare:
    """The bytes read of several sources, by the places of the documents that come out of them.

    Parameters
    ----------
    sources : mapping
        The files of each source, in the order in which they are read. Of a folder of saved pages, those that may be
        pages count. An index names parts of archives, so with one among the sources the share stays unknown.
    on_pages : callable, optional
        Called after every document.
    """

    def __init__(self, sources: Mapping[Path, Sequence[FileState]], on_pages: OnPages | None) -> None:
        self._on_pages = on_pages
        self._knows = on_pages is not None and not any(is_index(source) for source in sources)
        self._places: dict[Path, dict[str, int]] = {}  # source → name of a file → where it begins
        self._ends: dict[Path, int] = {}
        self._size = 0
        for source, files in sources.items() if self._knows else ():
            begins, is_folder = self._places.setdefault(source, {}), source.is_dir()
            for file in files:
                if not is_folder or may_be_page(file.path.name):
                    begins.setdefault(name_of(file.path), self._size)
                    self._size += file.size
            self._ends[source] = self._size
        self._position = 0
        self._n_before = 0  # documents that end before the position

    def read(self, source: Path, item: Document | Reject | Revisit, n_read: int, n_parsed: int) -> None:
        """Report a document, the ``n_read``-th; the position moves to its record, or behind its file."""
        if self._on_pages is None:
            return
        if self._knows and isinstance(item, Document):
            place, self._n_before = self._position + len(item.body), n_read
            if item.offset >= 0:
                self._n_before = n_read - 1  # the place is where its record begins
                begins = self._places[source].get(item.source.partition("/")[0], self._position)
                place = begins + item.offset
            self._position = min(max(self._position, place), self._ends[source])
        done = _done(n_read, n_parsed) if self._knows else n_read
        self._on_pages(done, self._expected(n_read), _megabytes(self._position, self._size))

    def parsed(self, n_read: int, n_parsed: int) -> None:
        """Report that so many documents are parsed, after all were read."""
        if self._on_pages is not None:
            self._on_pages(_done(n_read, n_parsed), n_read, f"{n_parsed} of {n_read} parsed")

    def end(self, source: Path) -> None:
        """Move the position to the end of a source."""
        self._position = self._ends.get(source, self._position)

    def tables(self, n_read: int, number: int, n_sites: int) -> None:
        """Report that the tables of a site come next, the ``number``-th."""
        if self._on_pages is not None:
            written = (number - 1) / n_sites
            done = int(n_read * (1 - _TABLES_SHARE * (1 - written)))
            self._on_pages(done, n_read, f"tables of site {number} of {n_sites}")

    def finish(self, n_read: int) -> None:
        """Report that all is done."""
        if self._on_pages is not None:
            self._on_pages(n_read, n_read, "")

    def _expected(self, n_read: int) -> int | None:
        if not self._size or self._position < _SHARE_KNOWN * self._size:
            return None
        return max(n_read, round(self._n_before * self._size / self._position))


def _done(n_read: int, n_parsed: int) -> int:
    """Return how many documents the work so far is worth.

    >>> _done(100, 100), _done(100, 0)
    (92, 50)
    """
    return int((1 - _TABLES_SHARE) * (_READING_SHARE * n_read + (1 - _READING_SHARE) * n_parsed))


def _megabytes(done: int, size: int) -> str:
    """Return how much is read; empty where that is little, or its size is unknown.

    >>> _megabytes(2_500_000, 9_900_000), _megabytes(2_500_000, 99_000_000), _megabytes(0, 0)
    ('2.5 of 9.9 MB read', '2 of 99 MB read', '')
    """
    digits = 1 if size < 10**7 else 0
    return f"{done / 1e6:.{digits}f} of {size / 1e6:.{digits}f} MB read" if size >= 10**5 else ""
