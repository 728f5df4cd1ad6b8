"""Indexes of web archives (CDX and CDXJ): only wanted records are read, by offset."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast
from urllib.parse import urlsplit

import msgspec

from twinlink.errors import InputError
from twinlink.files import NOT_JSON
from twinlink.inputs import ANY_FILE, open_input
from twinlink.rejects import Reject
from twinlink.sources.documents import Document
from twinlink.sources.files import UnusableError, locate, number_of, short_lines
from twinlink.sources.warc import Archive, Exchanges, archive_of
from twinlink.urls import normalise

_MAX_LINE_BYTES = 2**20
_TOO_LONG = f"more than {_MAX_LINE_BYTES} bytes"
_POST = "__wb_method="  # indexers put method and body of a POST request behind its address
_ARCHIVE_FOLDERS = (".", "archive", "../archive")  # beside the index, or as pywb and WACZ lay collections out
# Columns of CDX files without a header: those of the Internet Archive's indexers.
_COLUMNS = {11: "NbamskrMSVg", 10: "NbamskrMVg", 9: "NbamskrVg"}


class _Capture(NamedTuple):
    """One line of an index."""

    url: str
    archive: str
    start: int


class _Entry(msgspec.Struct):
    """Used fields of the JSON of a CDXJ line; some tools write numbers as strings."""

    url: str
    filename: str
    offset: int


def read_cdx(
    path: Path, is_wanted: Callable[[str], bool], max_page_bytes: int, exchanges: Exchanges | None = None
) -> Iterator[Document | Reject]:
    """Yield what `twinlink.sources.warc.read_archives` does for the records that an index names.

    Parameters
    ----------
    path : Path
        A ``.cdxj`` or ``.cdx`` file, plain or ``.gz``. The archives it names are looked for beside it, in ``archive/``
        below it and in ``../archive/``, with the path that it gives and with their names alone. Names that lead out of
        these folders are refused.
    is_wanted : callable
        Returns whether the record of a normalised address is read; other records are not counted.
    max_page_bytes : int
        Largest body.
    exchanges : Exchanges, optional
        As for `read_archives`.

    Yields
    ------
    Document or Reject
        Rejects as for archives, and ``bad-line`` (a line of the index that is none), ``no-archive`` (the file that it
        names is not there), ``damaged-record`` (also: the record there is another's).

    Raises
    ------
    InputError
        If the index cannot be read, not one of its lines can, or not one of the archives that it names is there.
    """
    shared, exchanges = exchanges is not None, exchanges or Exchanges(max_page_bytes)
    archives = _Archives(path.parent)
    n_captures = n_bad = 0
    for line in _captures(path):
        if isinstance(line, Reject):
            n_bad += 1
            yield line
            continue
        n_captures += 1
        url = normalise(line.url)
        if url is None:
            if line.url.lower().startswith(("http:", "https:")):
                yield Reject(line.url, "ingest", "bad-url")
        elif is_wanted(url):
            yield from _read_record(url, line, archives, exchanges)
    if n_bad and not n_captures:
        raise InputError(f"{path}: expected an index of an archive (CDX or CDXJ), found no line of an index")
    if archives.n_missing and not archives.n_found:
        raise InputError(
            f"{path}: not one of the archives that it names is here;"
            " expected them beside it, in archive/ or in ../archive/"
        )
    if not shared:
        yield from exchanges.finish()


def archives_of_index(path: Path) -> Iterator[Path]:
    """Yield the archives that an index names and that are there, each once."""
    archives = _Archives(path.parent)
    known: set[str] = set()
    for line in _captures(path):
        if isinstance(line, _Capture) and line.archive not in known:
            known.add(line.archive)
            try:
                yield archives.find(line.archive)
            except UnusableError:
                continue


class _Archives:
    """The archives that an index names."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, Path | UnusableError] = {}
        self.n_found = 0
        self.n_missing = 0

    def find(self, name: str) -> Path:
        """Return where an archive is.

        Raises
        ------
        UnusableError
            If it is not there, or its name leads elsewhere.
        """
        if name not in self._known:
            self._known[name] = self._look(name)
            missing = isinstance(self._known[name], UnusableError)
            self.n_missing += missing
            self.n_found += not missing
        found = self._known[name]
        if isinstance(found, UnusableError):
            raise found
        return found

    def _look(self, name: str) -> Path | UnusableError:
        problem = UnusableError("no-archive", f"{name}: not beside the index, in archive/ or in ../archive/")
        for short in dict.fromkeys((name, name.replace("\\", "/").rpartition("/")[2])):
            for folder in _ARCHIVE_FOLDERS:
                try:
                    path = locate(short, self._folder / folder)
                    if short and path.is_file():
                        return path
                except UnusableError as error:
                    problem = error
                except OSError:  # a name that is too long
                    continue
        return problem


def _read_record(url: str, line: _Capture, archives: _Archives, exchanges: Exchanges) -> Iterator[Document | Reject]:
    if _POST in line.url:
        yield Reject(url, "ingest", "post", "the response to a form, not a page with an address")
        return
    n_waiting = exchanges.n_waiting
    try:
        archive = archive_of(archives.find(line.archive))
        items = list(exchanges.read_at(archive, line.start))
    except UnusableError as error:
        yield Reject(url, "ingest", error.reason, error.detail)
        return
    except OSError as error:
        yield Reject(url, "ingest", "unreadable", f"{line.archive}: {error.strerror or error}")
        return
    if not items and exchanges.n_waiting == n_waiting and urlsplit(url).path != "/robots.txt":
        yield Reject(url, "ingest", "damaged-record", f"{archive.name}: no server response at this position")
    yield from (_checked(item, url, archive) for item in items)


def _checked(item: Document | Reject, url: str, archive: Archive) -> Document | Reject:
    if item.url not in {url, archive.name}:
        return Reject(url, "ingest", "damaged-record", f"{archive.name}: the record at this position is of {item.url}")
    return item


def _captures(path: Path) -> Iterator[_Capture | Reject]:
    """Yield the lines of an index."""
    columns = ""
    for number, line in enumerate(_lines(path), 1):
        if isinstance(line, Reject):
            yield line
        elif line.startswith((b" CDX ", b"CDX ")):
            columns = "".join(line.decode("ascii", "replace").split()[1:])
        elif line.strip() and not line.startswith((b"#", b"!")):
            yield _capture(line, columns) or Reject(path.name, "ingest", "bad-line", f"line {number}")


def _capture(line: bytes, columns: str) -> _Capture | None:
    _, brace, json = line.partition(b" {")
    if brace:
        try:
            entry = msgspec.json.decode(b"{" + json, type=_Entry, strict=False)
        except NOT_JSON:
            return None
        return _Capture(entry.url, entry.filename, entry.offset)
    values = line.decode("utf-8", "replace").split()
    columns = columns or _COLUMNS.get(len(values), "")
    fields = dict(zip(columns, values, strict=False))
    offset = number_of(fields.get("V", ""))
    if not {"a", "g"} <= fields.keys() or offset is None:
        return None
    return _Capture(fields["a"], fields["g"], offset)


def _lines(path: Path) -> Iterator[bytes | Reject]:
    """Yield the lines, and a reject for each that is too long and for damage, which ends the index."""
    try:
        with open_input(path, ANY_FILE) as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            for line in short_lines(cast("BinaryIO", gzip.GzipFile(fileobj=raw)) if packed else raw, _MAX_LINE_BYTES):
                yield Reject(path.name, "ingest", "bad-line", _TOO_LONG) if line is None else line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        yield Reject(path.name, "ingest", "truncated" if isinstance(error, EOFError) else "damaged-record", str(error))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
