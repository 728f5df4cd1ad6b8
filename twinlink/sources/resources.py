"""Style sheets and pictures that archives and mirrors hold beside the pages: found in one pass, read one by one.

Nothing is fetched. The type of a file is detected by its first bytes; the claimed type is not sufficient.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from twinlink.errors import InputError
from twinlink.pages.content_encoding import EncodingError, decompress
from twinlink.sources.addresses import Addresses
from twinlink.sources.files import UnusableError, locate, read_file
from twinlink.sources.mirror import mirror_addresses
from twinlink.sources.reading import source_files
from twinlink.sources.stored import archives_in
from twinlink.sources.wacz import HOLDS_ARCHIVES
from twinlink.urls import normalise

if TYPE_CHECKING:
    from warcio.recordloader import ArcWarcRecord

MAX_RESOURCE_BYTES = 4_000_000
"""Largest style sheet or picture that is read; a photograph from a camera has as much."""

_CSS = "text/css"
_MAGIC = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"....ftypavi[fs]", re.DOTALL), "image/avif"),
    (re.compile(rb"\x00\x00\x01\x00[\x01-\xff]\x00"), "image/x-icon"),
)
_MARKUP = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<")  # a page that says that there is no such style sheet
_MAYBE = re.compile(r"text/css|image/(?!svg)|application/octet-stream|$", re.IGNORECASE)


class StoredResource(NamedTuple):
    """A style sheet or picture."""

    content: bytes
    content_type: str
    """``text/css``, or the type of picture that its first bytes tell; never SVG, which is a page in itself."""


class FoundResource(NamedTuple):
    """Location of a style sheet or picture."""

    url: str
    """Normalised address."""
    archive: str
    """Name of the archive, as `Archive.name` has it."""
    offset: int


def kind_of(content: bytes, claimed: str) -> str | None:
    """Return the type of a style sheet or picture, None if it is neither.

    Parameters
    ----------
    content : bytes
        All of it, or its beginning.
    claimed : str
        Content-Type, which only a style sheet needs.

    Examples
    --------
    >>> kind_of(b"GIF89a...", "image/png"), kind_of(b"p { color: red }", "text/css; charset=utf-8")
    ('image/gif', 'text/css')
    >>> kind_of(b"<svg/>", "image/svg+xml"), kind_of(b"<html>", "text/css"), kind_of(b"GIF89a", "text/html")
    (None, None, None)
    """
    if not may_be_resource(claimed):
        return None
    for magic, kind in _MAGIC:
        if magic.match(content):
            return kind
    is_css = claimed.partition(";")[0].strip().lower() == _CSS
    return _CSS if is_css and b"\0" not in content and not _MARKUP.match(content) else None


def may_be_resource(claimed: str) -> bool:
    """Return whether a Content-Type may be that of a style sheet or picture; an empty one may be."""
    return _MAYBE.match(claimed.strip()) is not None


def archive_files(source: Path) -> list[Path]:
    """Return the archives that belong to a source: none for a mirror, a list, or what is no longer there."""
    try:
        return [file for file in source_files(source) if HOLDS_ARCHIVES.search(file.name)]
    except InputError:
        return []


def find_resources(path: Path, stop: Callable[[], bool] | None = None) -> Iterator[FoundResource]:
    """Yield the style sheets and pictures of an archive or WACZ file, in its order; damaged records are skipped.

    Parameters
    ----------
    path : Path
        The file.
    stop : callable, optional
        Called at each record; the rest is left out when it returns True.
    """
    from twinlink.sources.warc_records import Problem, read_records  # warcio, only for archives

    with ExitStack() as stack:
        try:
            for archive in archives_in(path, stack):
                with closing(archive.open()) as file:
                    for found in read_records(file, _seen):
                        if stop is not None and stop():
                            return
                        if found is not None and not isinstance(found, Problem):
                            yield FoundResource(found[0], archive.name, found[1])
        except (OSError, InputError):
            return


def read_resource(path: Path, archive: str, offset: int) -> StoredResource | None:
    """Return what lies at a place that `find_resources` named; None: it is not there any more, or is no such thing."""
    from twinlink.sources.warc_records import read_record

    with ExitStack() as stack:
        try:
            for each in archives_in(path, stack):
                if each.name == archive:
                    with closing(each.open()) as file:
                        found = read_record(file, offset, _content)
                        return found if isinstance(found, StoredResource) else None
        except (OSError, InputError):
            return None
    return None


class MirrorResources:
    """Style sheets and pictures of a mirror.

    Parameters
    ----------
    folder : Path
        Of saved pages.
    base_url : str
        Address that it stands for, see `twinlink.sources.mirror.read_mirror`.
    max_page_bytes : int
        Largest page.
    """

    def __init__(self, folder: Path, base_url: str, max_page_bytes: int) -> None:
        self._folder = folder
        self._addresses = _addresses(folder, base_url, max_page_bytes)

    def read(self, url: str) -> StoredResource | None:
        """Return the style sheet or picture of an address, None where there is none inside the folder."""
        for name in self._names(url):
            try:
                content = read_file(locate(name, self._folder), self._folder.resolve(), MAX_RESOURCE_BYTES)
            except UnusableError:
                continue
            kind = kind_of(content, _CSS if name.partition("?")[0].lower().endswith(".css") else "")
            if kind and len(content) <= MAX_RESOURCE_BYTES:
                return StoredResource(content, kind)
        return None

    def _names(self, url: str) -> Iterator[str]:
        """Yield where tools save an address: with its query behind ``?`` or ``@``, or without."""
        plain, _, query = url.partition("?")
        path = self._addresses.path_of(plain) if self._addresses else None
        if path is None or Path(path).is_absolute() or ".." in path.split("/"):
            return
        if query and "/" not in query:
            yield f"{path}?{query}"
            yield f"{path}@{query}"
        yield path


def _addresses(folder: Path, base_url: str, max_page_bytes: int) -> Addresses | None:
    try:
        return mirror_addresses(folder, base_url, max_page_bytes)
    except (InputError, OSError):
        return None


def _seen(record: ArcWarcRecord, start: int) -> tuple[str, int] | None:
    """Return address and place of a record that may be a style sheet or picture."""
    if record.rec_type not in {"response", "resource"} or not _is_whole(record):
        return None
    claimed = _header(record, "Content-Type").strip()
    target = record.rec_headers.get_header("WARC-Target-URI") or ""
    if not claimed or not may_be_resource(claimed) or not target.lower().startswith(("http:", "https:")):
        return None
    url = normalise(target)
    return None if url is None or urlsplit(url).path == "/robots.txt" else (url, start)


def _content(record: ArcWarcRecord, start: int) -> StoredResource | None:
    from warcio.bufferedreaders import ChunkedDataReader

    if _seen(record, start) is None:
        return None
    stream = record.raw_stream
    if "chunked" in _header(record, "Transfer-Encoding").lower() and record.length <= 2 * MAX_RESOURCE_BYTES:
        stream = ChunkedDataReader(stream)
    body = stream.read(MAX_RESOURCE_BYTES + 1)
    try:
        content = decompress(body, _header(record, "Content-Encoding"), MAX_RESOURCE_BYTES)
    except EncodingError:
        return None
    kind = kind_of(content, _header(record, "Content-Type"))
    return StoredResource(content, kind) if kind and len(content) <= MAX_RESOURCE_BYTES else None


def _is_whole(record: ArcWarcRecord) -> bool:
    headers = record.rec_headers
    is_cut = headers.get_header("WARC-Truncated") or headers.get_header("WARC-Segment-Number")
    status = record.http_headers.get_statuscode() if record.http_headers else "200"
    return not is_cut and (status == "200" or record.rec_type == "resource")


def _header(record: ArcWarcRecord, name: str) -> str:
    """Return a header of the response; a record without a response has its type in its own headers."""
    value: str | None = record.http_headers.get_header(name) if record.http_headers else None
    if value is None and record.rec_type == "resource" and name == "Content-Type":
        value = record.rec_headers.get_header(name)
    return value or ""
