"""Records of web archives, damaged ones included: this module finds them, warcio reads them.

Archives are WARC (ISO 28500) or ARC, their predecessor, which warcio shows as WARC.

A compressed archive is read member by member of gzip or frame by frame of Zstandard, so that a damaged member costs
only itself, one member around all records is read as well, and nothing is unpacked beyond what is requested.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, Literal, NamedTuple, TypeVar

from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord

from twinlink.sources.warc_digests import digested, is_altered
from twinlink.sources.warc_streams import GZIP, DamagedStreamError, RecordPacking, Stream, behind_notes, packing_at

__all__ = ["Problem", "read_record", "read_records"]

# Its warning of an address with spaces has the address as it stands in the archive, escapes and all.
logging.getLogger("warcio").setLevel(logging.ERROR)

T = TypeVar("T")

_MARK = b"WARC/"
_MARKS = (_MARK, b"http:", b"https", b"filed")  # a record of ARC begins with its address; all of one length
# The whole head: what lacks its end or has a line that is no header is none. Heads cannot lie over each other, so that
# to look for one takes no longer than to read the file.
# The line break before it may be damaged itself.
_RECORD = re.compile(
    rb"(?:(?<=\n)|(?<=\r\n\r[\x00-\xff]))"
    rb"WARC/\d\.\d\r?\n(?:[^\s:][^\n:]*+:[^\n]*+\n|[ \t]++[^\s][^\n]*+\n)*+\r?\n"
)
_BEFORE = 4  # bytes before a record that tell it from the same words elsewhere
_ONCE = frozenset(("warc-type", "warc-record-id", "warc-target-uri"))  # headers that no record has twice (ISO 28500)
_BLOCK_BYTES = 2**16
_FIRST_BLOCK_BYTES = 2**12  # of a gzip member: many are not longer
_OVERLAP = 2**14  # longer than the usual head of a record
_MAX_HEAD_BYTES = 2**18  # of a record and of the response in it; servers allow some 2**16
# Behind damage, records are looked for within what was read already. One archive may be read this many times over: it
# would take a file that was made to be slow.
_MAX_READINGS = 8
_FREE_BYTES = 2**26  # whatever the size of the archive
_UNPACKED_SHARE = 64  # unpacked bytes that cost as much as one byte read
_EMPTY_BYTES = 2**15  # what a member without a record costs: 20 bytes take as long as so many of records
# A member that holds more than this many times its size is a bomb: HTML makes 5 to 20, deflate up to 1,032.
_MAX_RATIO = 100
_HARMLESS_BYTES = 2**26  # whatever the ratio
_PEEK_BYTES = 2**9  # of a gzip member, to see whether it begins a record


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
    packed = packing_at(file, 0)
    budget = _MAX_READINGS * size + _FREE_BYTES
    start: int | None = behind_notes(file, 0) if packed else 0
    while start is not None and start < size:
        if budget <= 0:
            yield Problem("damaged-record", start, "too much damage: the rest is not read")
            return
        section = _Section(file, start, size, packed)
        try:
            yield from section.read(take)
            start = section.end()
            start = behind_notes(file, start) if packed else start
            budget -= _EMPTY_BYTES if section.is_empty else 0
        except (_TruncatedError, _DamagedError) as error:
            budget -= section.cost
            start = _find_behind(file, section, packed) if budget > 0 else section.record_start
            if start is None and not packed and section.is_nothing:  # its own beginning may be damaged
                start = _find(file, 0, GZIP)
                packed = GZIP if start is not None else None
            # A record that goes beyond the end has a wrong length if there are records behind it.
            yield _problem(error, file, section.record_start, packed, is_last=start is None)


def read_record(file: BinaryIO, start: int, take: Callable[[ArcWarcRecord, int], T]) -> T | Problem:
    """Return what ``take`` makes of the record that starts at a place (as an index says), or the problem met there.

    Parameters
    ----------
    file : BinaryIO
        As for `read_records`.
    start : int
        First byte of the record, or of its gzip member.
    take : callable
        As for `read_records`.
    """
    size = file.seek(0, io.SEEK_END)
    if not 0 <= start < size:
        return Problem("damaged-record", start, f"the archive ends at {size}")
    section = _Section(file, start, size, packing_at(file, start))
    try:
        for item in section.read(take):
            return item
    except _TruncatedError:
        return Problem("truncated", start, f"the archive ends at {size}")
    except _DamagedError as error:
        return Problem("damaged-record", start, str(error))
    return Problem("damaged-record", start, "no record")


def _find_behind(file: BinaryIO, section: _Section, packed: RecordPacking | None) -> int | None:
    """Return where the next record starts: within the last one if what follows that is none, else behind the damage."""
    found = _find(file, section.last_record + 1, packed)
    return _find(file, found + 1, packed) if found == section.record_start else found


def _problem(error: Exception, file: BinaryIO, start: int, packed: RecordPacking | None, is_last: bool) -> Problem:
    size = file.seek(0, io.SEEK_END)
    is_short = isinstance(error, _TruncatedError)
    is_cut = is_last and (is_short or (not packed and _is_cut_head(file, start)))
    detail = f"the archive ends at {size}" if is_short else str(error)
    return Problem("truncated" if is_cut else "damaged-record", start, detail)


_HTTP_SCHEMES = tuple(f"{spelling}:" for scheme in ("http", "https") for spelling in (scheme, scheme.upper()))
"""Beginnings of addresses whose records have HTTP headers; some programs write them as they stood in a link."""


class _Records(ArchiveIterator):  # type: ignore[misc]
    """Reader of records that leaves it to us to speak of damage."""

    INC_RECORD = ""  # what it would write to the error stream at each


class _Section:
    """Records without compression up to the end of the file, or the records (as a rule one) of a gzip member."""

    def __init__(self, file: BinaryIO, start: int, size: int, packed: RecordPacking | None) -> None:
        self.record_start = start
        self.last_record = start
        """Where the last record starts whose head could be read: it may have taken in the one behind it."""
        self._size = size
        self._source = _Member(file, start, packed) if packed else _Plain(file, start)
        self._packed = packed is not None
        self._n_records = 0
        self._guard = _Guard(self._source)
        # gzip has a checksum of each member, so that digests would tell nothing more about damage.
        self._records = _Records(self._guard, arc2warc=True, check_digests=packed is not GZIP)
        self._records.loader.HTTP_SCHEMES = _HTTP_SCHEMES
        self._records.loader.wrap_digest_verifying_stream = digested  # warcio's checks payloads, too

    @property
    def cost(self) -> int:
        """What reading it has taken so far, in bytes read."""
        return self._source.cost

    @property
    def is_nothing(self) -> bool:
        """Whether no record begins where the archive does."""
        return self.is_empty and self.record_start == 0

    @property
    def is_empty(self) -> bool:
        """Whether it has been read and holds no record."""
        return not self._n_records

    def read(self, take: Callable[[ArcWarcRecord, int], T]) -> Iterator[T]:
        while (record := self._next()) is not None:
            if not (record.rec_headers.get_header("Content-Length") or "").isdecimal():
                raise _DamagedError("no Content-Length")  # perhaps no record: warcio takes some junk for a head
            self._n_records += 1
            if _is_double(record):
                raise _DamagedError("two records in one")
            item = take(record, self.record_start)
            if missing := _skip_rest(record):
                # Without compression bytes can only be missing at the end of the file.
                raise _DamagedError(f"{missing} bytes missing") if self._packed else _TruncatedError
            if is_altered(record):
                raise _DamagedError("its content does not fit its WARC-Block-Digest")
            self._guard.allow(_MAX_HEAD_BYTES)  # for empty lines, of which a few bytes of gzip can hold millions
            self._records.read_to_end()
            if self._records.err_count:
                raise _DamagedError("no empty line after the record; its Content-Length may be wrong")
            yield item
        if not self._packed:
            if self._records.offset < self._size:  # warcio takes a record whose content is missing for the end
                raise _TruncatedError
        elif self.is_empty and self._source.tell():
            raise _DamagedError("no record in this part")

    def end(self) -> int:
        return self._source.skip()

    def _next(self) -> ArcWarcRecord | None:
        if not self._packed:
            self.record_start = self._records.offset
        self._guard.allow(_MAX_HEAD_BYTES)
        try:
            record: ArcWarcRecord | None = next(self._records, None)
        except (_DamagedError, _TruncatedError):
            raise
        except Exception as error:  # on malformed headers warcio raises whatever happens to go wrong
            raise _DamagedError(f"{type(error).__name__}: {error}".splitlines()[0]) from error
        self._guard.allow(None)
        if record is not None:
            self.last_record = self.record_start
        return record


class _Guard:
    """Gives out the bytes of a section: between the contents of records, no more of them than a head may have."""

    def __init__(self, source: _Plain | _Member) -> None:
        self._source = source
        self._n_allowed: int | None = None
        self.tell = source.tell

    def allow(self, n_bytes: int | None) -> None:
        self._n_allowed = n_bytes

    def read(self, size: int) -> bytes:
        data = self._source.read(size)
        if self._n_allowed is not None:
            self._n_allowed -= len(data)
            if self._n_allowed < 0:
                raise _DamagedError(f"more than {_MAX_HEAD_BYTES} bytes of headers or empty lines")
        return data


class _Plain:
    """The bytes of an archive without compression, from a place on."""

    def __init__(self, file: BinaryIO, start: int) -> None:
        self._file = file
        self._start = self._next = start  # the file's own position is not ours alone

    @property
    def cost(self) -> int:
        return self._next - self._start

    def read(self, size: int) -> bytes:
        self._file.seek(self._next)
        data = self._file.read(size)
        self._next += len(data)
        return data

    def tell(self) -> int:
        return self._next

    def skip(self) -> int:
        """Return where the file ends."""
        return self._file.seek(0, io.SEEK_END)


class _Member:
    """The plain bytes of one gzip member or Zstandard frame, read as a stream."""

    def __init__(
        self, file: BinaryIO, start: int, packing: RecordPacking, block_bytes: int = _FIRST_BLOCK_BYTES
    ) -> None:
        self._file = file
        self._block_bytes = block_bytes  # read next: more each time
        self._start = self._next = start  # first byte not read yet; the file's own position is not ours alone
        self._packing = packing
        self._stream: Stream | None = None  # until something is read
        self._n_given = 0

    @property
    def cost(self) -> int:
        return self._next - self._start + self._n_given // _UNPACKED_SHARE

    def read(self, size: int = _BLOCK_BYTES) -> bytes:
        """Return up to ``size`` bytes, none at the end of the member."""
        try:
            plain = self._unpack(size)
        except DamagedStreamError as error:
            raise _DamagedError(str(error)) from error
        self._n_given += len(plain)
        if self._n_given > max(_HARMLESS_BYTES, _MAX_RATIO * (self._next - self._start)):
            raise _DamagedError(f"more than {_HARMLESS_BYTES} bytes, {_MAX_RATIO} times the packed size")
        return plain

    def _unpack(self, size: int) -> bytes:
        if self._stream is None:
            self._stream = self._packing.open()
        while not self._stream.eof:
            plain = self._stream.decompress(self._read_file() if self._stream.needs_input else b"", size)
            if plain:
                return plain
        return b""

    def tell(self) -> int:
        """Return how many bytes have been given."""
        return self._n_given

    def skip(self) -> int:
        """Read to the end of the member, and return where in the file that is."""
        while self.read():
            pass
        assert self._stream is not None
        return self._next - self._stream.n_unused

    def _read_file(self) -> bytes:
        self._file.seek(self._next)
        packed = self._file.read(self._block_bytes)
        if not packed:
            raise _TruncatedError
        self._block_bytes = min(2 * self._block_bytes, _BLOCK_BYTES)
        self._next += len(packed)
        return packed


def _is_double(record: ArcWarcRecord) -> bool:
    """Return whether the head of a record runs into that of another one, which begins within it."""
    names = [name.lower() for name, _ in record.rec_headers.headers]
    return any(names.count(name) > 1 for name in _ONCE)


def _skip_rest(record: ArcWarcRecord) -> int:
    """Read what is left of a record; return how many bytes it lacks."""
    while record.raw_stream.read(_BLOCK_BYTES):
        pass
    return int(record.raw_stream.limit)


def _is_cut_head(file: BinaryIO, start: int) -> bool:
    """Return whether the file ends within the headers of a record: warcio reads on as if they were whole."""
    file.seek(start)
    head = file.read(_BLOCK_BYTES)
    return head.startswith(_MARK[: len(head)]) and b"\n\r\n" not in head


def _find(file: BinaryIO, start: int, packed: RecordPacking | None) -> int | None:
    """Return where the next record (packed: member with a record) starts, None if there is none."""
    position = max(0, start - _BEFORE)
    while True:
        file.seek(position)
        block = file.read(_BLOCK_BYTES)
        # The expression for a head is slow where no head is.
        for found in packed.mark.finditer(block) if packed else _RECORD.finditer(block) if _MARK in block else ():
            place = position + found.start()
            if place >= start and (not packed or _begins_record(file, place, packed)):
                return place
        if len(block) < _BLOCK_BYTES:
            return None
        position += len(block) - _OVERLAP


def _begins_record(file: BinaryIO, start: int, packed: RecordPacking) -> bool:
    try:
        return _Member(file, start, packed, _PEEK_BYTES).read(len(_MARK)) in _MARKS
    except (_DamagedError, _TruncatedError):
        return False
