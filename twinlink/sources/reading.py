"""Readers for all sources, by name and content: archives, their indexes, lists, folders of archives or pages."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from twinlink.errors import InputError
from twinlink.rejects import Reject
from twinlink.sources.addresses import PAGE_SUFFIXES, suffix_of
from twinlink.sources.cdx import archives_of_index, read_cdx
from twinlink.sources.documents import Document
from twinlink.sources.files import Unusable, refusal, source_of, walk
from twinlink.sources.listed import files_of_list, read_list
from twinlink.sources.mirror import read_mirror
from twinlink.sources.wacz import HOLDS_ARCHIVES, is_wacz, read_wacz
from twinlink.sources.warc import ARCHIVE_NAME, Exchanges, archive_of, read_archives
from twinlink.urls import normalise

_INDEX = re.compile(r"\.cdxj?(\.gz)?$", re.IGNORECASE)
_LIST = re.compile(r"\.tsv$", re.IGNORECASE)
_LIST_LINE = re.compile(rb"(?:#[^\n]*\n|\s)*https?://[^\s]+\t[^\n]", re.IGNORECASE)
_LIST_SAMPLE = 2**12
_KINDS = "a folder of pages or archives, a .warc(.gz, .zst), .arc, .wacz, .cdx or .cdxj file, or a list of URL<TAB>file"


def read_path(
    path: Path,
    max_page_bytes: int,
    base_url: str = "",
    url_prefixes: Sequence[str] = (),
    exchanges: Exchanges | None = None,
    without: Path | None = None,
) -> Iterator[Document | Reject]:
    """Yield the documents of one source, and a reject for each page that could not be read.

    Parameters
    ----------
    path : Path
        - a web archive: ``.warc``, ``.warc.gz``, ``.warc.zst``, ``.arc``, ``.arc.gz``, ``.wacz``;
        - an index of archives: ``.cdx``, ``.cdxj``, both also ``.gz``;
        - a list: ``.tsv``, or any other file whose first line is an address, a tab and a file name;
        - a folder with web archives anywhere below: all of them are read (and its other files are not);
        - a folder of saved pages: wget, HTTrack, or any with a ``base_url``.
    max_page_bytes : int
        Largest page.
    base_url : str, optional
        Address that a folder of saved pages stands for, see `read_mirror`.
    url_prefixes : sequence of str, optional
        Only addresses that begin with one of these, see `wanted_addresses`.
    exchanges : Exchanges, optional
        Reads the archives of several sources that belong together, see `read_archives`.
    without : Path, optional
        A folder inside of a folder that is read, such as the run itself: nothing in it is read.

    Raises
    ------
    InputError
        If the source does not exist, or nothing in it can be read.
    """
    is_wanted = wanted_addresses(url_prefixes)
    for item in _read(path, max_page_bytes, base_url, is_wanted, exchanges, without):
        if is_wanted(item.url) or not item.url.startswith(("http://", "https://")):  # a reject of a file
            yield item


def source_files(path: Path, without: Path | None = None) -> list[Path]:
    """Return the files that `read_path` would read, without those of a folder.

    Raises
    ------
    InputError
        If there is no such source.
    """
    _check(path)
    if path.is_dir():
        return _found(path, HOLDS_ARCHIVES, without).files or _found(path, None, without).files
    if is_index(path):
        return [path, *archives_of_index(path)]
    return [path, *files_of_list(path)] if _is_list(path) else [path]


def is_index(path: Path) -> bool:
    """Return whether a path is named as an index of archives.

    >>> is_index(Path("2024-10.cdxj.gz")), is_index(Path("a.warc.gz"))
    (True, False)
    """
    return _INDEX.search(path.name) is not None


def _read(
    path: Path,
    limit: int,
    base_url: str,
    is_wanted: Callable[[str], bool],
    exchanges: Exchanges | None,
    without: Path | None,
) -> Iterator[Document | Reject]:
    _check(path)
    if path.is_dir():
        return _read_folder(path, limit, base_url, exchanges, without)
    if ARCHIVE_NAME.search(path.name):
        return read_archives([archive_of(path)], limit, exchanges)
    if is_wacz(path):
        return read_wacz(path, limit, exchanges)
    return read_cdx(path, is_wanted, limit, exchanges) if is_index(path) else read_list(path, limit)


def _read_folder(
    path: Path, limit: int, base_url: str, exchanges: Exchanges | None, without: Path | None
) -> Iterator[Document | Reject]:
    """Read a folder of archives, or else of saved pages; unreadable files are counted."""
    archives = _found(path, HOLDS_ARCHIVES, without)
    refused = archives.refused[:1]
    yield from archives.refused
    if archives.files:
        yield from archives.unread
        yield from _read_archives(path, archives.files, limit, exchanges, without)
        return
    try:
        for item in read_mirror(path, base_url, limit, without):
            if not refused and isinstance(item, Reject) and item.reason == "unreadable":
                refused.append(item)
            yield item
    except InputError as error:
        if not refused:
            raise
        raise InputError(f"{error}; not read: {refused[0].url} ({refused[0].detail})") from error


def _check(path: Path) -> None:
    if not path.exists():
        raise InputError(f"{path}: no such file or folder; expected a URL, {_KINDS}")
    if not (path.is_dir() or path.is_file()):  # opening a pipe would wait forever
        raise InputError(f"{path}: not a regular file; expected {_KINDS}")
    if not (path.is_dir() or HOLDS_ARCHIVES.search(path.name) or _INDEX.search(path.name) or _is_list(path)):
        raise InputError(f"{path}: unknown kind of file; expected {_KINDS}")


def _is_list(path: Path) -> bool:
    if HOLDS_ARCHIVES.search(path.name) or _INDEX.search(path.name) or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return _LIST.search(path.name) is not None or _LIST_LINE.match(file.read(_LIST_SAMPLE)) is not None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def _read_archives(
    folder: Path, files: Sequence[Path], limit: int, exchanges: Exchanges | None, without: Path | None
) -> Iterator[Document | Reject]:
    """Read all archives of a folder; plain ones together, because they may refer to each other."""
    plain = [archive_of(file) for file in files if not is_wacz(file)]
    readers = [partial(read_archives, plain, limit, exchanges)] if plain else []
    readers += [partial(read_wacz, file, limit, exchanges) for file in files if is_wacz(file)]
    errors = []
    for read in readers:
        try:
            yield from read()
        except InputError as error:
            errors.append(error)
    if len(errors) == len(readers):
        raise errors[0]
    yield from (Reject(folder.name, "ingest", "damaged-record", str(error)) for error in errors)
    n_pages = sum(suffix_of(file.name) in PAGE_SUFFIXES for file in _found(folder, None, without).files)
    if n_pages:
        yield Reject(folder.name, "ingest", "beside-archives", f"{n_pages} saved pages not read: archives were")


class _Found(NamedTuple):
    """The files of some names below a folder."""

    files: list[Path]
    """In the order of their paths."""
    refused: list[Reject]
    """Links to places outside of the folder, and what is no regular file."""
    unread: list[Reject]
    """Folders that cannot be read, and links to such outside."""


def _found(folder: Path, wanted: re.Pattern[str] | None, without: Path | None) -> _Found:
    """Return the files of such names below a folder, without those of another; links to folders are not followed."""
    root = folder.resolve()
    files, refused, unread = [], [], []
    for below in walk(folder, without=without):
        if isinstance(below, Unusable):
            unread.append(Reject(source_of(below.parts or (folder.name,)), "ingest", "unreadable", below.detail))
            continue
        for name in below.names:
            if wanted is not None and not wanted.search(name):
                continue
            path = folder.joinpath(*below.parts, name)
            detail = "" if name in below.plain else refusal(path, root) or _problem_of(path)
            if not detail:
                files.append(path)
            else:
                refused.append(Reject(source_of((*below.parts, name)), "ingest", "unreadable", detail))
    return _Found(sorted(files, key=lambda file: file.parts), refused, unread)


def _problem_of(path: Path) -> str:
    """Return why a path cannot be read as a file; empty for one that can."""
    try:
        return "" if stat.S_ISREG(path.stat().st_mode) else "no regular file"
    except OSError as error:  # too long a path, a link to nothing
        return error.strerror or str(error)


def wanted_addresses(prefixes: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that tests whether a normalised address begins with one of ``prefixes``.

    Parameters
    ----------
    prefixes : iterable of str
        ``https://www.example.org/en/``; without a scheme, ``www.example.org/en/``, it includes http and https. A
        host alone selects exactly this host. Without prefixes, every address is selected.

    Raises
    ------
    InputError
        If one is no beginning of an address.

    Examples
    --------
    >>> is_wanted = wanted_addresses(["Example.org", "https://www.example.org/en"])
    >>> [is_wanted(url) for url in ("http://example.org/a", "http://example.organic/", "https://www.example.org/en/b")]
    [True, False, True]
    """
    beginnings = tuple(beginning for prefix in prefixes for beginning in _beginnings(prefix))
    return (lambda url: url.startswith(beginnings)) if beginnings else (lambda _: True)


def _beginnings(prefix: str) -> list[str]:
    schemes = ("",) if "://" in prefix else ("http://", "https://")
    urls = [normalise(scheme + prefix.strip()) for scheme in schemes]
    if not prefix.strip() or None in urls:
        raise InputError(f"{prefix!r}: expected the beginning of an address, such as https://www.example.org/en/")
    return [url for url in urls if url is not None]
