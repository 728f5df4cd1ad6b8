"""Folders of saved pages: wget and HTTrack mirrors, or any folder whose address is given."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace

from twinlink.errors import InputError
from twinlink.pages.decoding import is_html
from twinlink.pages.parser import parse_page
from twinlink.redaction import redacted
from twinlink.rejects import Reject
from twinlink.sources.addresses import (
    ORIGINAL,
    PAGE_SUFFIXES,
    Addresses,
    host_folders,
    original_of,
    reconcile,
    recorded_address,
    suffix_of,
)
from twinlink.sources.documents import Document
from twinlink.sources.files import Unusable, UnusableError, read_file, source_of, walk
from twinlink.sources.httrack import cache_refused, has_cache, read_cache
from twinlink.urls import MAX_URL_LENGTH, normalise, page_id

# Documents that are counted as rejects. Files of all other kinds are skipped silently.
_DOCUMENT_SUFFIXES = frozenset(".pdf .doc .docx .rtf .odt .xls .xlsx .ods .ppt .pptx .odp .ps .txt".split())
_ASSET_SUFFIXES = frozenset(
    ".css .js .mjs .json .map .xml .rss .atom .xsl .dtd .gif .jpg .jpeg .png .webp .avif .svg .ico .bmp .tif .tiff"
    " .woff .woff2 .ttf .otf .eot .swf .mp3 .mp4 .m4a .wav .ogg .webm .avi .mov .wmv .rm .ram .zip .gz .bz2 .xz .7z"
    " .rar .tar .tgz .zst .exe .msi .dmg .iso .warc .arc .wacz .orig .tmp .listing".split()
)
_TOOL_FILES = frozenset(("robots.txt", "hts-log.txt", "cookies.txt"))
_TOOL_FOLDERS = frozenset(("hts-cache",))
_ADDED = (".html", ".htm")  # by wget -E
_SAMPLE = 20  # number of pages sampled to detect how the mirror was made


def read_mirror(
    folder: Path, base_url: str, max_page_bytes: int, without: Path | None = None
) -> Iterator[Document | Reject]:
    """Yield the pages of a folder, and the redirects that make their links resolve.

    The address of a file is, from the strongest:

    1. what HTTrack or a browser wrote into the page (``<!-- Mirrored from … by HTTrack … -->``);
    2. a folder on top that is named as a host (``www.example.org/…``, as wget and HTTrack do) with the path below it,
       where ``base_url`` is empty or names one of these hosts;
    3. ``base_url`` with the path below ``folder``;
    4. where ``base_url`` is empty and ``folder`` itself is named as a host: that host with the path below.

    In a path, ``page.php?id=3.html`` and ``page.php@id=3.html`` stand for ``page.php?id=3``, and ``page.php.html`` for
    ``page.php`` (``wget -E``), but not ``page.pl.html`` beside ``page.html`` or ``page.en.html``, which is in Polish;
    so does ``page.html`` for ``page`` where the first pages link to that and the folder is named as a host. In a folder
    that ``base_url`` stands for, ``page.html`` keeps its name, and ``page`` leads there.
    The name of a file leads to its page by a redirect, for the links of converted mirrors use it; so do ``dir/`` and
    ``dir`` to ``dir/index.html``, as on a server. Where an address in the page lies in another folder than its file,
    relative links would break: then the file's address is the page's, and the other one the redirect.

    Where HTTrack left its cache (``hts-cache/new.zip``), the pages in it are read from there, as the server sent them,
    and of the files only those that it does not have. Where wget kept the original of a page whose links it converted
    (``-K``: ``page.html.orig``, or ``page.orig`` where ``.html`` was added to the name), that is read.

    Parameters
    ----------
    folder : Path
        Read in the order of names. Links to folders and to places outside are not followed.
    base_url : str
        Address that ``folder`` stands for; empty: recover it.
    max_page_bytes : int
        Largest page.
    without : Path, optional
        A folder inside that is not read.

    Yields
    ------
    Document or Reject
        Documents have no Content-Type, but those from HTTrack's cache: only the page itself names its encoding. Rejects
        (stage ``ingest``): ``not-html`` (PDF, Word, text and other documents), ``too-large``, ``unreadable``,
        ``no-address``. Images, style sheets, scripts and other files are passed over without one. A file is a page by
        its extension, or by its first bytes where the extension is unknown or missing.

    Raises
    ------
    InputError
        If the folder cannot be read, has no page in it, or its address is unknown.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: expected a folder of saved pages")
    n_pages = 0
    covered: set[int] = set()
    if refused := cache_refused(folder):
        yield refused
    for item in read_cache(folder, max_page_bytes) if has_cache(folder) else ():
        n_pages += isinstance(item, Document)
        covered.add(page_id(item.url))
        yield item
    files = _Files(folder, max_page_bytes, without)
    for item in _read_files(folder, base_url, files, covered):
        n_pages += isinstance(item, Document)
        yield item
    if not n_pages:
        raise _no_page(folder)


def mirror_addresses(folder: Path, base_url: str, max_page_bytes: int) -> Addresses:
    """Return the addresses of the paths of a mirror, as used by `read_mirror`.

    Raises
    ------
    InputError
        If they are unknown.
    """
    return _find_addresses(folder, base_url, _Files(folder, max_page_bytes))


def _read_files(folder: Path, base_url: str, files: _Files, covered: set[int]) -> Iterator[Document | Reject]:
    """Yield the documents of files whose addresses are not ``covered`` by a cache."""
    try:
        addresses = _find_addresses(folder, base_url, files)
        addresses = replace(addresses, is_bare=_is_bare(folder, addresses, files))
    except InputError:
        if covered:
            return  # the cache knows the addresses, no file does
        raise
    for entry in files.walk():
        if isinstance(entry, Reject):
            yield entry
        else:
            yield from _read_file(entry, files, addresses, covered)


def _no_page(folder: Path) -> InputError:
    return InputError(f"{folder}: expected saved pages, found no HTML file that can be read")


class _Entry(NamedTuple):
    """A file of the mirror."""

    parts: tuple[str, ...]  # path below the folder
    siblings: frozenset[str]  # names in the same folder, its own among them

    @property
    def source(self) -> str:
        return source_of(self.parts)


class _Files:
    """The files below a folder that may be pages."""

    def __init__(self, folder: Path, max_page_bytes: int, without: Path | None = None) -> None:
        self._folder = folder
        self._without = without
        self._root = folder.resolve()
        self._max_page_bytes = max_page_bytes
        # HTTrack puts an index of its own on top; the sites are in folders.
        self._skips_top = (folder / "hts-cache").exists() or (folder / "hts-log.txt").exists()

    def walk(self) -> Iterator[_Entry | Reject]:
        """Yield the files in the order of their names, and a reject for each folder that cannot be read."""
        problems: list[Unusable] = []
        for found in walk(self._folder, _TOOL_FOLDERS, self._without):
            if isinstance(found, Unusable):
                problems.append(found)
            elif found.parts or not self._skips_top:
                siblings = frozenset(found.names)
                yield from (_Entry((*found.parts, name), siblings) for name in found.names if may_be_page(name))
        for problem in problems:
            yield Reject(source_of(problem.parts or (self._folder.name,)), "ingest", "unreadable", problem.detail)

    def sample(self) -> Iterator[bytes]:
        """Yield the first pages."""
        for _, body in self.sampled_entries():
            yield body

    def sampled_entries(self) -> Iterator[tuple[_Entry, bytes]]:
        """Yield the first pages with their places."""
        entries = (entry for entry in self.walk() if isinstance(entry, _Entry))
        pages = (entry for entry in entries if suffix_of(entry.parts[-1]) in PAGE_SUFFIXES)
        for entry in islice(pages, _SAMPLE):
            try:
                yield entry, self.read(entry)
            except UnusableError:
                continue

    def has_page(self) -> bool:
        """Return whether there is a page at all."""
        if any(True for _ in self.sample()):
            return True
        for entry in self.walk():
            if isinstance(entry, _Entry):
                try:
                    self.read(entry)
                except UnusableError:
                    continue
                return True
        return False

    def read(self, entry: _Entry) -> bytes:
        """Return a page.

        Raises
        ------
        UnusableError
            If it is none, too large or not readable. The reason is empty where it need not be counted.
        """
        limit = self._max_page_bytes
        suffix = suffix_of(entry.parts[-1])
        if suffix in _DOCUMENT_SUFFIXES:
            raise UnusableError("not-html", suffix)
        name = original_of(entry.parts[-1], entry.siblings) or entry.parts[-1]
        body = read_file("/".join((str(self._folder), *entry.parts[:-1], name)), self._root, limit)
        if suffix not in PAGE_SUFFIXES and not is_html("", body):
            raise UnusableError("", "")
        if len(body) > limit:
            raise UnusableError("too-large", f"more than {limit} bytes")
        return body


def may_be_page(name: str) -> bool:
    """Return whether a file of a mirror is looked at, by its name: no picture, style sheet or file of a tool."""
    is_asset = suffix_of(name) in _ASSET_SUFFIXES or name.endswith(ORIGINAL)
    return not is_asset and name.lower() not in _TOOL_FILES


def _read_file(entry: _Entry, files: _Files, addresses: Addresses, covered: set[int]) -> Iterator[Document | Reject]:
    known = addresses.of(entry.parts, entry.siblings)
    if _are_covered(known, covered):
        return
    try:
        body = files.read(entry)
    except UnusableError as error:
        if error.reason:
            yield Reject(known[0] if known else entry.source, "ingest", error.reason, error.detail)
        return
    known = reconcile(known, recorded_address(body))
    if _are_covered(known, covered):
        return
    if not known:
        detail = f"neither its path nor the page gives an address of at most {MAX_URL_LENGTH} characters"
        yield Reject(entry.source, "ingest", "no-address", detail)
        return
    url, *others = known
    yield Document(url, 200, "", "", "", body, None, entry.source, -1)
    for other in others:
        yield Document(other, 301, "", "", url, b"", None, entry.source, -1)


def _are_covered(addresses: list[str], covered: set[int]) -> bool:
    return bool(covered) and any(page_id(address) in covered for address in addresses)


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
            f"{folder}: the address of these pages is not known (no folder is named like a host, no HTTrack comment);"
            " pass it with --base-url, for example --base-url http://www.example.org/"
        )
    return Addresses({}, base, is_given=bool(base_url))


def _is_bare(folder: Path, addresses: Addresses, files: _Files) -> bool:
    """Return whether ``.html`` was added to the names of the pages: the first ones link to addresses without it."""
    n_bare = n_named = 0
    for entry, body in files.sampled_entries():
        known = addresses.of(entry.parts, entry.siblings)
        for link in parse_page(body, known[0]).links if known else ():
            path = addresses.path_of(link.url)
            if path and not path.endswith("/"):
                n_named += path.endswith(_ADDED) and _is_file(folder / path)
                n_bare += not suffix_of(path) and _is_file(folder / f"{path}.html") and not _is_there(folder / path)
    return n_bare > n_named


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # too long a name
        return False


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _folder_address(base_url: str) -> str:
    url = normalise(base_url)
    if url is None:
        raise InputError(f"--base-url {redacted(base_url)!r}: expected an address such as http://www.example.org/")
    return url.partition("?")[0].rstrip("/") + "/"


def _scheme(host: str, files: _Files) -> str:
    """Return the scheme that the first pages use more often for their host; http by default."""
    secure = plain = 0
    for body in files.sample():
        secure += body.count(f"https://{host}".encode())
        plain += body.count(f"http://{host}".encode())
    return "https" if secure > plain else "http"
