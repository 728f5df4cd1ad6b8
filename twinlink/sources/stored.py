"""Random access to pages that have been read: by archive and offset, or by file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from twinlink.errors import InputError
from twinlink.sources.addresses import original_of
from twinlink.sources.documents import Document
from twinlink.sources.files import UnusableError, locate, read_file
from twinlink.sources.httrack import CACHE_NAME, read_cached
from twinlink.sources.reading import source_files
from twinlink.sources.wacz import is_wacz, open_archives
from twinlink.sources.warc import Archive, Exchanges, archive_of, name_of


class StoredPages:
    """Access to pages of sources that have been read before. Missing pages raise no error.

    Parameters
    ----------
    archives : sequence of Path
        The run's own.
    sources : sequence of Path
        As `twinlink.sources.reading.read_path` takes them.
    max_page_bytes : int
        Largest page.
    """

    def __init__(self, archives: Sequence[Path], sources: Sequence[Path], max_page_bytes: int) -> None:
        self._archives = archives
        self._sources = sources
        self._limit = max_page_bytes

    def bodies(self, source: str, offset: int) -> Iterator[bytes]:
        """Yield the possible bodies of a page: usually one, several if sources have archives of the same name.

        Parameters
        ----------
        source : str
            Name of the archive, or path of the file below its folder, as `Document.source` has it.
        offset : int
            Where its record starts, -1 for a file.
        """
        if offset < 0:
            yield from self._files(source)
        elif source == CACHE_NAME:
            yield from self._cached(offset)
        else:
            yield from self._records(source, offset)

    def _records(self, name: str, offset: int) -> Iterator[bytes]:
        for path in self._by_name.get(name.partition("/")[0], ()):
            with ExitStack() as stack:
                try:
                    for archive in archives_in(path, stack):
                        if archive.name == name:
                            found = Exchanges(self._limit).read_at(archive, offset)
                            yield from (item.body for item in found if isinstance(item, Document))
                except (OSError, InputError):
                    continue

    @cached_property
    def _by_name(self) -> dict[str, list[Path]]:
        """Where archives of a name lie; folders are looked through once."""
        found: dict[str, list[Path]] = {}
        for path in (*self._archives, *self._source_files()):
            found.setdefault(name_of(path), []).append(path)
        return found

    def _source_files(self) -> Iterator[Path]:
        for source in self._sources:
            try:
                yield from source_files(source)
            except InputError:
                continue

    def _files(self, name: str) -> Iterator[bytes]:
        for root in self._roots():
            for each in (*_originals(root, name), name):
                try:
                    yield read_file(locate(each, root), root.resolve(), self._limit)
                except UnusableError:
                    continue

    def _cached(self, offset: int) -> Iterator[bytes]:
        for root in self._roots():
            page = read_cached(root, offset, self._limit)
            if page is not None:
                yield page.body

    def _roots(self) -> Iterator[Path]:
        """Yield the folders that names of files begin at: a source itself, or that of a list."""
        for source in self._sources:
            yield source if source.is_dir() else source.parent


def archives_in(path: Path, stack: ExitStack) -> Sequence[Archive]:
    """Return the archives of a WACZ file, which ``stack`` closes, or the one that a file is itself."""
    return stack.enter_context(open_archives(path)) if is_wacz(path) else [archive_of(path)]


def _originals(root: Path, name: str) -> Iterator[str]:
    """Yield the name of what wget kept of the file before it converted its links."""
    place, slash, last = name.rpartition("/")
    try:
        siblings = [path.name for path in locate(place, root).iterdir()]
    except (UnusableError, OSError):
        return
    if original := original_of(last, siblings):
        yield f"{place}{slash}{original}"
