"""The records of a web archive, whatever state it is in: warcio reads them, this module finds them and survives damage.

A compressed archive is read member by member, so that a damaged member costs only itself, one member around all records
is read as well, and nothing is unpacked beyond what is asked for.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, Literal, NamedTuple, TypeVar

from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord

__all__ = ["Problem", "read_records"]

T = TypeVar("T")

_GZIP_MAGIC = b"\x1f\x8b\x08"
_MARK = b"WARC/"
_MEMBER = re.compile(re.escape(_GZIP_MAGIC) + rb"[\x00-\x1f]")
_RECORD = re.compile(rb"(?<=\n)WARC/\d\.\d")
_BLOCK_BYTES = 2**16
_OVERLAP = 16  # longer than both patterns


class Problem(NamedTuple):
    """A place where an archive cannot be read."""

    reason: Literal["damaged-record", "truncated"]
    """Truncated: the archive ends in the middle of a record."""
    start: int
    """Where the record starts."""
    detail: str
    """What was found there."""


class _DamagedError(Exception):
    """A record cannot be read."""


class _TruncatedError(Exception):
    """The archive ends within a record."""


def read_records(file: BinaryIO, take: Callable[[ArcWarcRecord, int], T]) -> Iterator[T | Problem]:
    """Yield what ``take`` makes of each record of an open archive, and the problems met.

    Parameters
    ----------
    file : BinaryIO
        A WARC file, compressed or not, that can seek.
    take : callable
        Called with each record and the place where it starts (or its gzip member). It may read as much of the record as
        it likes; its result is dropped where the record proves damaged afterwards.
    """
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    packed = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
    start: int | None = 0
    while start is not None and start < size:
        section = _Section(file, start, size, packed)
        try:
            yield from section.read(take)
            start = section.end()
        except _TruncatedError:
            yield Problem("truncated", section.record_start, f"the archive ends at {size}")
            start = None
        except _DamagedError as error:
            start = _find(file, section.record_start + 1, packed)
            cut = start is None and not packed and _is_cut_head(file, section.record_start)
            yield Problem("truncated" if cut else "damaged-record", section.record_start, str(error))


class _Section:
    """Records without compression up to the end of the file, or the records (as a rule one) of a gzip member."""

    def __init__(self, file: BinaryIO, start: int, size: int, packed: bool) -> None:
        self.record_start = start
        self._size = size
        self._member = _Member(file, start) if packed else None
        file.seek(start)
        self._records = ArchiveIterator(self._member or file)

    def read(self, take: Callable[[ArcWarcRecord, int], T]) -> Iterator[T]:
        n_records = 0
        while (record := self._next()) is not None:
            n_records += 1
            if not (record.rec_headers.get_header("Content-Length") or "").isdecimal():
                raise _DamagedError("no Content-Length")
            item = take(record, self.record_start)
            if missing := _skip_rest(record):
                # Without compression bytes can only be missing at the end of the file.
                raise _DamagedError(f"{missing} bytes missing") if self._member else _TruncatedError
            self._records.read_to_end()
            if self._records.err_count:
                raise _DamagedError("no empty line behind the record, as if its Content-Length were wrong")
            yield item
        if self._member is None:
            if self._records.offset < self._size:  # warcio takes a record whose content is missing for the end
                raise _TruncatedError
        elif not n_records and self._member.tell():
            raise _DamagedError("no record in this part")

    def end(self) -> int:
        return self._size if self._member is None else self._member.skip()

    def _next(self) -> ArcWarcRecord | None:
        if self._member is None:
            self.record_start = self._records.offset
        try:
            return next(self._records, None)
        except (_DamagedError, _TruncatedError):
            raise
        except Exception as error:  # on malformed headers warcio raises whatever happens to go wrong
            raise _DamagedError(f"{type(error).__name__}: {error}".splitlines()[0]) from error


class _Member:
    """The plain bytes of one gzip member, read as a stream."""

    def __init__(self, file: BinaryIO, start: int) -> None:
        self._file = file
        self._next = start  # first byte not read yet; the file's own position is not ours alone
        self._stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
        self._n_given = 0

    def read(self, size: int = _BLOCK_BYTES) -> bytes:
        """Return up to ``size`` bytes, none at the end of the member."""
        while not self._stream.eof:
            packed = self._stream.unconsumed_tail or self._read_file()
            try:
                plain = self._stream.decompress(packed, size)
            except zlib.error as error:
                raise _DamagedError(str(error)) from error
            if plain:
                self._n_given += len(plain)
                return plain
        return b""

    def tell(self) -> int:
        """Return how many bytes have been given."""
        return self._n_given

    def skip(self) -> int:
        """Read to the end of the member, and return where in the file that is."""
        while self.read():
            pass
        return self._next - len(self._stream.unused_data)

    def _read_file(self) -> bytes:
        self._file.seek(self._next)
        packed = self._file.read(_BLOCK_BYTES)
        if not packed:
            raise _TruncatedError
        self._next += len(packed)
        return packed


def _skip_rest(record: ArcWarcRecord) -> int:
    """Read what is left of a record; return how many bytes it lacks."""
    while record.raw_stream.read(_BLOCK_BYTES):
        pass
    return int(record.raw_stream.limit)


def _is_cut_head(file: BinaryIO, start: int) -> bool:
    """Tell whether the file ends within the headers of a record: warcio reads on as if they were whole."""
    file.seek(start)
    head = file.read(_BLOCK_BYTES)
    return head.startswith(_MARK[: len(head)]) and b"\n\r\n" not in head


def _find(file: BinaryIO, start: int, packed: bool) -> int | None:
    """Return where the next record (packed: gzip member with a record) starts, None if there is none."""
    position = start - 1  # the line break before a record may be the byte before
    while True:
        file.seek(position)
        block = file.read(_BLOCK_BYTES)
        for found in (_MEMBER if packed else _RECORD).finditer(block):
            place = position + found.start()
            if place >= start and (not packed or _begins_record(file, place)):
                return place
        if len(block) < _BLOCK_BYTES:
            return None
        position += len(block) - _OVERLAP


def _begins_record(file: BinaryIO, start: int) -> bool:
    try:
        return _Member(file, start).read(len(_MARK)) == _MARK
    except (_DamagedError, _TruncatedError):
        return False
