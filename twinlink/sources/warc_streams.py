"""The two ways in which the records of an archive are packed: each a gzip member, or each a Zstandard frame.

Zstandard archives may begin with a frame that holds a dictionary (IIPC, "Zstandard Compression for WARC Files 1.0").
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any, BinaryIO, NamedTuple, Protocol

from twinlink.system.packed import GZIP_MARK, ZSTD_MARK, zstd_module

_GZIP_MAGIC = GZIP_MARK + b"\x08"  # deflate, the only method there is
# A frame that decompressors skip, with 16 marks; one of them is for the dictionary.
_NOTE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
_NOTE_HEAD = struct.Struct("<4sI")
_DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
_FORMATTED = b"\x37\xa4\x30\xec"  # a dictionary of the zstd library; any other is plain content
_MAX_DICTIONARY_BYTES = 2**24  # those in use have 2**17 to 2**20


class DamagedStreamError(Exception):
    """Packed data is damaged, or needs a dictionary that is missing."""


class Stream(Protocol):
    """Unpacks one member or frame."""

    @property
    def eof(self) -> bool:
        """Whether its end was reached."""

    @property
    def needs_input(self) -> bool:
        """Whether more packed bytes are needed to go on."""

    @property
    def n_unused(self) -> int:
        """Bytes that were given behind its end."""

    def decompress(self, packed: bytes, size: int) -> bytes:
        """Return up to ``size`` plain bytes; raise `DamagedStreamError`."""


class RecordPacking(NamedTuple):
    """How the records of an archive are packed."""

    mark: re.Pattern[bytes]
    """Begins each member or frame, and stands by chance elsewhere, too."""
    open: Callable[[], Stream]


def packing_at(file: BinaryIO, start: int) -> RecordPacking | None:
    """Return how what begins at a place of an archive is packed, None if it is not."""
    file.seek(start)
    head = file.read(len(ZSTD_MARK))
    if head.startswith(_GZIP_MAGIC):
        return GZIP
    if head == ZSTD_MARK or (start == 0 and _NOTE.match(head)):
        dictionary = _dictionary_of(file)
        return RecordPacking(_FRAME, lambda: _ZstdStream(dictionary))
    return None


def behind_notes(file: BinaryIO, start: int) -> int:
    """Return where the frames end that begin at a place and are to be skipped."""
    while True:
        file.seek(start)
        head = file.read(_NOTE_HEAD.size)
        if len(head) < _NOTE_HEAD.size or not _NOTE.match(head):
            return start
        start += _NOTE_HEAD.size + _NOTE_HEAD.unpack(head)[1]


class _GzipStream:
    """A gzip member."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail

    @property
    def n_unused(self) -> int:
        return len(self._stream.unused_data)

    def decompress(self, packed: bytes, size: int) -> bytes:
        try:
            return self._stream.decompress(self._stream.unconsumed_tail + packed, size)
        except zlib.error as error:
            raise DamagedStreamError(str(error)) from error


class _ZstdStream:
    """A Zstandard frame. The library refuses windows over 128 MiB."""

    def __init__(self, dictionary: bytes) -> None:
        try:
            self._stream = zstd_module().ZstdDecompressor(_loaded(dictionary) if dictionary else None)
        except (zstd_module().ZstdError, ValueError) as error:
            raise DamagedStreamError(f"its dictionary cannot be used: {error}") from error

    @property
    def eof(self) -> bool:
        return bool(self._stream.eof)

    @property
    def needs_input(self) -> bool:
        return bool(self._stream.needs_input)

    @property
    def n_unused(self) -> int:
        return len(self._stream.unused_data)

    def decompress(self, packed: bytes, size: int) -> bytes:
        try:
            plain: bytes = self._stream.decompress(packed, size)
        except zstd_module().ZstdError as error:
            raise DamagedStreamError(str(error)) from error
        return plain


_FRAME = re.compile(re.escape(ZSTD_MARK))
GZIP = RecordPacking(re.compile(re.escape(_GZIP_MAGIC) + rb"[\x00-\x1f]"), _GzipStream)


def _dictionary_of(file: BinaryIO) -> bytes:
    """Return the dictionary that an archive begins with, perhaps packed itself; empty if there is none."""
    file.seek(0)
    head = file.read(_NOTE_HEAD.size)
    if len(head) < _NOTE_HEAD.size or not head.startswith(_DICTIONARY_MAGIC):
        return b""
    size = _NOTE_HEAD.unpack(head)[1]
    return file.read(size) if size <= _MAX_DICTIONARY_BYTES else b""


@lru_cache(maxsize=4)  # an index asks for thousands of records of one archive
def _loaded(content: bytes) -> Any:
    zstd = zstd_module()
    if content.startswith(ZSTD_MARK):
        content = zstd.ZstdDecompressor().decompress(content, _MAX_DICTIONARY_BYTES)
    return zstd.ZstdDict(content, is_raw=not content.startswith(_FORMATTED))
