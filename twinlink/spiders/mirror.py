"""Folders of saved pages: wget and HTTrack mirrors, or any folder whose address is given."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from twinlink.errors import InputError
from twinlink.spiders.addresses import (
    PAGE_SUFFIXES,
    Addresses,
    host_folders,
    reconcile,
    recorded_address,
    suffix_of,
)
from twinlink.spiders.documents import Document, is_html
from twinlink.spiders.urls import normalise
from twinlink.tables import Reject

__all__ = ["read_mirror"]

# Documents that a reader of the site would miss: they are counted. Files of all these kinds are passed over.
_DOCUMENT_SUFFIXES = frozenset(".pdf .doc .docx .rtf .odt .xls .xlsx .ods .ppt .pptx .odp .ps .txt".split())
_ASSET_SUFFIXES = frozenset(
    ".css .js .mjs .json .map .xml .rss .atom .xsl .dtd .gif .jpg .jpeg .png .webp .avif .svg .ico .bmp .tif .tiff"
    " .woff .woff2 .ttf .otf .eot .swf .mp3 .mp4 .m4a .wav .ogg .webm .avi .mov .wmv .rm .ram .zip .gz .bz2 .xz .7z"
    " .rar .tar .tgz .exe .msi .dmg .iso .warc .orig .tmp .listing".split()
)
_TOOL_FILES = frozenset(("robots.txt", "hts-log.txt", "cookies.txt"))
_TOOL_FOLDERS = frozenset(("hts-cache",))
_SAMPLE = 20  # pages that are looked at first, to learn how the mirror was made


def read_mirror(folder: Path, base_url: str, max_page_bytes: int) -> Iterator[Document | Reject]:
    """Yield the pages of a folder, and the redirects that make their links resolve.

    The address of a file is, from the strongest:

    1. what HTTrack or a browser wrote into the page (``<!-- Mirrored from … by HTTrack … -->``);
    2. a folder on top that is named as a host (``www.example.org/…``, as wget and HTTrack do) with the path below it,
       where ``base_url`` is empty or names one of these hosts;
    3. ``base_url`` with the path below ``folder``;
    4. where ``base_url`` is empty and ``folder`` itself is named as a host: that host with the path below.

    In a path, ``page.php?id=3.html`` and ``page.php@id=3.html`` stand for ``page.php?id=3``, and ``page.php.html`` for
    ``page.php`` (``wget -E``). The name of the file leads there by a redirect, for the links of converted mirrors use
    it; so do ``dir/`` and ``dir`` to ``dir/index.html``, as on a server. Where an address in the page lies in another
    folder than its file, relative links would break: then the file's address is the page's, and the other one the
    redirect.

    Parameters
    ----------
    folder : Path
        Read in the order of names. Links to folders and to places outside are not followed.
    base_url : str
        Address that ``folder`` stands for; empty: recover it.
    max_page_bytes : int
        Largest page.

    Yields
    ------
    Document or Reject
        Documents have no Content-Type: only the page itself names its encoding. Rejects (stage ``ingest``):
        ``not-html`` (PDF, Word, text and other documents), ``too-large``, ``unreadable``, ``no-address``. Images, style
        sheets, scripts and other files are passed over without one. A file is a page by its extension, or by its first
        bytes where the extension is unknown or missing.

    Raises
    ------
    InputError
        If the folder cannot be read, has no page in it, or nothing tells its address.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: expected a folder of saved pages")
    files = _Files(folder, max_page_bytes)
    addresses = _find_addresses(folder, base_url, files)
    n_pages = 0
    for entry in files.walk():
        if isinstance(entry, Reject):
            yield entry
            continue
        for item in _read_file(entry, files, addresses):
            n_pages += isinstance(item, Document)
            yield item
    if not n_pages:
        raise _no_page(folder)


def _no_page(folder: Path) -> InputError:
    return InputError(f"{folder}: expected saved pages, found no HTML file that can be read")


class _Entry(NamedTuple):
    """A file of the mirror."""

    parts: tuple[str, ...]  # path below the folder
    siblings: frozenset[str]  # names in the same folder, its own among them

    @property
    def source(self) -> str:
        return os.fsencode("/".join(self.parts)).decode("utf-8", "replace")


class _UnusableError(Exception):
    """A file that is no page for us: reason and detail of its reject."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class _Files:
    """The files below a folder that may be pages."""

    def __init__(self, folder: Path, max_page_bytes: int) -> None:
        self._folder = folder
        self._root = folder.resolve()
        self._max_page_bytes = max_page_bytes
        # HTTrack puts an index of its own on top; the sites are in folders.
        self._skips_top = (folder / "hts-cache").exists() or (folder / "hts-log.txt").exists()

    def walk(self) -> Iterator[_Entry | Reject]:
        """Yield the files in the order of their names, and a reject for each folder that cannot be read."""
        errors: list[OSError] = []
        for place, folders, names in os.walk(self._folder, onerror=errors.append):
            folders[:] = sorted(set(folders) - _TOOL_FOLDERS)
            parts = Path(place).relative_to(self._folder).parts
            if not (self._skips_top and not parts):
                siblings = frozenset(names)
                yield from (_Entry((*parts, name), siblings) for name in sorted(names) if _may_be_page(name))
        for error in errors:
            yield Reject(str(error.filename), "ingest", "unreadable", error.strerror or "")

    def sample(self) -> Iterator[bytes]:
        """Yield the first pages."""
        entries = (entry for entry in self.walk() if isinstance(entry, _Entry))
        pages = (entry for entry in entries if suffix_of(entry.parts[-1]) in PAGE_SUFFIXES)
        for entry in islice(pages, _SAMPLE):
            try:
                yield self.read(entry)
            except _UnusableError:
                continue

    def has_page(self) -> bool:
        """Tell whether there is a page at all."""
        if any(True for _ in self.sample()):
            return True
        for entry in self.walk():
            if isinstance(entry, _Entry):
                try:
                    self.read(entry)
                except _UnusableError:
                    continue
                return True
        return False

    def read(self, entry: _Entry) -> bytes:
        """Return a page.

        Raises
        ------
        _UnusableError
            If it is none, too large or not readable. The reason is empty where it need not be counted.
        """
        path = self._folder.joinpath(*entry.parts)
        limit = self._max_page_bytes
        suffix = suffix_of(entry.parts[-1])
        if suffix in _DOCUMENT_SUFFIXES:
            raise _UnusableError("not-html", suffix)
        try:
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                if not path.resolve().is_relative_to(self._root):
                    raise _UnusableError("unreadable", "link to a place outside the folder")
                status = path.stat()
            if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for ever
                raise _UnusableError("unreadable", "no regular file")
            with path.open("rb") as file:
                # To read up to a limit, Python sets that much memory aside each time.
                body = file.read(limit + 1) if status.st_size > limit else file.read()
        except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
            raise _UnusableError("unreadable", getattr(error, "strerror", None) or str(error)) from error
        if suffix not in PAGE_SUFFIXES and not is_html("", body):
            raise _UnusableError("", "")
        if len(body) > limit:
            raise _UnusableError("too-large", f"more than {limit} bytes")
        return body


def _may_be_page(name: str) -> bool:
    return suffix_of(name) not in _ASSET_SUFFIXES and name.lower() not in _TOOL_FILES


def _read_file(entry: _Entry, files: _Files, addresses: Addresses) -> Iterator[Document | Reject]:
    known = addresses.of(entry.parts, entry.siblings)
    try:
        body = files.read(entry)
    except _UnusableError as error:
        if error.reason:
            yield Reject(known[0] if known else entry.source, "ingest", error.reason, error.detail)
        return
    known = reconcile(known, recorded_address(body))
    if not known:
        yield Reject(entry.source, "ingest", "no-address", "neither its path nor the page tells its address")
        return
    url, *others = known
    yield Document(url, 200, "", "", "", body, None, entry.source, -1)
    for other in others:
        yield Document(other, 301, "", "", url, b"", None, entry.source, -1)


def _find_addresses(folder: Path, base_url: str, files: _Files) -> Addresses:
    base = _folder_address(base_url) if base_url else ""
    try:
        tops = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror})") from error
    hosts = host_folders(tops, base)
    if hosts:
        scheme = urlsplit(base).scheme
        return Addresses({top: f"{scheme or _scheme(host, files)}://{host}/" for top, host in hosts.items()}, "")
    if not base and host_folders([folder.resolve().name], ""):
        host = folder.resolve().name.lower().replace("+", ":")
        base = f"{_scheme(host, files)}://{host}/"
    if not base and not any(recorded_address(body) for body in files.sample()):
        if not files.has_page():
            raise _no_page(folder)
        raise InputError(
            f"{folder}: nothing tells which address these pages had (no folder named as a host, no note of HTTrack);"
            " pass it with --base-url, for example --base-url http://www.example.org/"
        )
    return Addresses({}, base)


def _folder_address(base_url: str) -> str:
    url = normalise(base_url)
    if url is None:
        raise InputError(f"--base-url {base_url!r}: expected an address such as http://www.example.org/")
    return url.partition("?")[0].rstrip("/") + "/"


def _scheme(host: str, files: _Files) -> str:
    """Return the scheme by which the first pages speak of their host more often; http if they do not."""
    secure = plain = 0
    for body in files.sample():
        secure += body.count(f"https://{host}".encode())
        plain += body.count(f"http://{host}".encode())
    return "https" if secure > plain else "http"
