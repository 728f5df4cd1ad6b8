"""WACZ files (a zip with archives, a list of pages and an index in it), read without unpacking to disk.

A collection of several crawls is a WACZ file that has WACZ files in it ("multi-WACZ").
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, cast

import msgspec

from twinlink.errors import InputError
from twinlink.files import NOT_JSON
from twinlink.rejects import Reject
from twinlink.sources.documents import Document
from twinlink.sources.warc import ARCHIVE_NAME, Archive, Exchanges, name_of, read_archives
from twinlink.sources.zips import BROKEN, open_zip
from twinlink.urls import normalise, page_id

HOLDS_ARCHIVES = re.compile(rf"{ARCHIVE_NAME.pattern}|\.wacz$", re.IGNORECASE)
"""Names of web archives and of WACZ files."""
_PACKAGE = ".wacz"
_MAX_NESTING = 1  # collections have packages, packages have archives
_PAGE_LISTS = ("pages/pages.jsonl", "pages/extraPages.jsonl")
_MAX_LIST_BYTES = 2**28  # of pages: some million lines without the text of the pages
_MAX_LINE_BYTES = 2**24  # of which one may hold a page's whole text
# A member that is to unpack to more than this many times its size is a bomb: HTML makes 5 to 20, deflate up to 1,032.
_MAX_RATIO = 100
_HARMLESS_BYTES = 2**26  # whatever the ratio
# Damage makes the reader go back, and a packed member has to be unpacked again from its start for it.
_MAX_READINGS = 8
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_MAX_DIRECTORY_BYTES = 2**23  # of the list of members: collections of some hundred packages have 2**16
_MAX_LISTED = 100_000  # addresses in lists of pages that are looked for: more would fill the memory


class _PageEntry(msgspec.Struct):
    """Used fields of a line of ``pages.jsonl``."""

    url: str = ""


def read_wacz(path: Path, max_page_bytes: int, exchanges: Exchanges | None = None) -> Iterator[Document | Reject]:
    """Yield what `twinlink.sources.warc.read_archives` does for the archives in a WACZ file.

    Parameters
    ----------
    path : Path
        The file. Its archives are the members with names of web archives, and those of members that are WACZ files
        themselves.
    max_page_bytes : int
        Largest body.
    exchanges : Exchanges, optional
        As for `read_archives`.

    Yields
    ------
    Document or Reject
        Rejects as for archives, and ``missing-page`` (named in a list of pages, but no archive has it),
        ``damaged-record`` (also: a member that cannot be read), ``too-large`` (also: a member that would unpack to more
        than 100 times its size).

    Raises
    ------
    InputError
        If the file cannot be read as a zip, or has no archive in it.
    """
    with ExitStack() as stack:
        contents = _contents_of(path, stack)
        yield from contents.rejects
        listed = contents.listed
        if contents.archives:
            for item in read_archives(contents.archives, max_page_bytes, exchanges):
                listed.see(item.url)
                yield item
            for url in exchanges.waiting() if exchanges else ():
                listed.see(url)
        for url in listed.rest():
            yield Reject(url, "ingest", "missing-page", "in the list of pages, but in no archive")
        if listed.is_full:
            detail = f"its lists name more than {_MAX_LISTED} pages: further ones were not looked up"
            yield Reject(name_of(path), "ingest", "missing-page", detail)


def is_wacz(path: Path) -> bool:
    """Return whether a file is a WACZ file by its name."""
    return path.name.lower().endswith(_PACKAGE)


@contextmanager
def open_archives(path: Path) -> Iterator[list[Archive]]:
    """Open the archives in a WACZ file, by the names in their documents; for use within the block.

    Raises
    ------
    InputError
        If the file cannot be read as a zip, or has no archive in it.
    """
    with ExitStack() as stack:
        yield _contents_of(path, stack).archives


def _contents_of(path: Path, stack: ExitStack) -> _Contents:
    contents = _Contents([], [], _Listed())
    _gather(_Holder(name_of(path), lambda: path.open("rb")), str(path), contents, stack)
    return contents


class _Holder(NamedTuple):
    """A file that holds a zip, on disk or inside another one."""

    name: str
    open: Callable[[], BinaryIO]
    """Opens it again; the file can seek. Raises OSError."""


class _Contents(NamedTuple):
    """Contents of a WACZ file, nested ones included."""

    archives: list[Archive]
    rejects: list[Reject]
    listed: _Listed


def _gather(holder: _Holder, where: str, contents: _Contents, stack: ExitStack, nesting: int = 0) -> None:
    """Add the contents of a WACZ file, open until the stack is closed. Raises InputError if it is invalid."""
    container = _opened(holder, where, stack)
    members = [info for info in container.infolist() if HOLDS_ARCHIVES.search(info.filename)]
    if not members:
        raise InputError(f"{where}: expected a WACZ file, found no archive (.warc.gz) in it")
    for info in sorted(members, key=lambda info: info.filename):
        inner = _Holder(f"{holder.name}/{info.filename}", partial(_open, container, holder, info))
        is_package = info.filename.lower().endswith(_PACKAGE)
        if _is_bomb(info):
            detail = f"{info.compress_size} bytes would unpack to {info.file_size}"
            contents.rejects.append(Reject(inner.name, "ingest", "too-large", detail))
        elif not is_package:
            contents.archives.append(Archive(*inner))
        elif nesting < _MAX_NESTING:
            try:
                _gather(inner, inner.name, contents, stack, nesting + 1)
            except InputError as error:
                contents.rejects.append(Reject(inner.name, "ingest", "damaged-record", str(error)))
        else:
            contents.rejects.append(Reject(inner.name, "ingest", "damaged-record", "packages nest too deeply"))
    contents.listed.add(container)


def _opened(holder: _Holder, where: str, stack: ExitStack) -> zipfile.ZipFile:
    try:
        return stack.enter_context(open_zip(stack.enter_context(holder.open()), _MAX_DIRECTORY_BYTES))
    except OSError as error:
        raise InputError(f"{where}: cannot be read ({error.strerror or error})") from error
    except BROKEN as error:
        raise InputError(f"{where}: expected a WACZ file, cannot be read as a zip ({error})") from error


def _is_bomb(info: zipfile.ZipInfo) -> bool:
    return info.file_size > max(_HARMLESS_BYTES, _MAX_RATIO * info.compress_size)


class _Listed:
    """The addresses in the lists of pages that have not been met, `_MAX_LISTED` at most."""

    def __init__(self) -> None:
        self._urls: dict[int, str] = {}
        self.is_full = False

    def add(self, container: zipfile.ZipFile) -> None:
        for name in _PAGE_LISTS:
            for url in _listed_addresses(container, name):
                if len(self._urls) >= _MAX_LISTED:
                    self.is_full = True
                    return
                self._urls.setdefault(page_id(url), url)

    def see(self, url: str) -> None:
        if self._urls:
            self._urls.pop(page_id(url), None)

    def rest(self) -> list[str]:
        return sorted(self._urls.values())


def _listed_addresses(container: zipfile.ZipFile, name: str) -> Iterator[str]:
    try:
        with container.open(name) as file:
            n_bytes = 0
            while n_bytes < _MAX_LIST_BYTES and (line := file.readline(_MAX_LINE_BYTES)):
                n_bytes += len(line)
                try:
                    url = normalise(msgspec.json.decode(line, type=_PageEntry).url)
                except NOT_JSON:
                    continue
                if url:
                    yield url
    except (KeyError, OSError, *BROKEN):  # missing or damaged lists are ignored: they serve only as a check
        return


def _open(container: zipfile.ZipFile, holder: _Holder, info: zipfile.ZipInfo) -> BinaryIO:
    """Open a member as a file that can seek."""
    try:
        if info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1:
            raw: io.RawIOBase = _Window(holder.open(), info)
        else:
            raw = _unpacked(container, holder, info)
    except BROKEN as error:
        raise OSError(str(error)) from error
    return cast("BinaryIO", io.BufferedReader(raw, 2**16))


def _unpacked(container: zipfile.ZipFile, holder: _Holder, info: zipfile.ZipInfo) -> _Unpacked:
    if container.fp:
        return _Unpacked(container.open(info), info.file_size)
    with ExitStack() as stack:  # a revisit comes when the package is closed: opened again, till the member ends
        package = stack.enter_context(holder.open())
        member = stack.enter_context(zipfile.ZipFile(package)).open(info)
        return _Unpacked(member, info.file_size, stack.pop_all())


class _Seekable(io.RawIOBase):
    """A file of a known size with a position."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def readinto(self, buffer: Any) -> int:
        n_wanted = min(len(buffer), max(0, self._size - self._position))
        data = self._read_at(self._position, n_wanted) if n_wanted else b""
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def _read_at(self, position: int, size: int) -> bytes:
        raise NotImplementedError


class _Window(_Seekable):
    """A member that is stored as it is: a piece of the file."""

    def __init__(self, file: BinaryIO, info: zipfile.ZipInfo) -> None:
        super().__init__(info.compress_size)
        self._file = file
        self._file.seek(info.header_offset)
        mark, name_length, extra_length = _LOCAL_HEADER.unpack(self._file.read(_LOCAL_HEADER.size))
        if mark != b"PK\3\4":
            self._file.close()
            raise zipfile.BadZipFile("no member at its position")
        self._start = info.header_offset + _LOCAL_HEADER.size + name_length + extra_length

    def _read_at(self, position: int, size: int) -> bytes:
        self._file.seek(self._start + position)
        return self._file.read(size)

    def close(self) -> None:
        self._file.close()
        super().close()


class _Unpacked(_Seekable):
    """A member that is compressed: unpacked as it is read, and again from its start to go back; damage is its end."""

    def __init__(self, file: IO[bytes], size: int, package: ExitStack | None = None) -> None:
        super().__init__(size)
        self._file = file
        self._package = package or ExitStack()
        self._budget = _MAX_READINGS * size + _HARMLESS_BYTES

    def _read_at(self, position: int, size: int) -> bytes:
        here = self._file.tell()
        self._budget -= size + (position - here if position >= here else position)
        if self._budget < 0:
            return b""
        try:
            if position != here:
                self._file.seek(position)
            return self._file.read(size)
        except (OSError, *BROKEN):
            return b""

    def close(self) -> None:
        self._file.close()
        self._package.close()
        super().close()
