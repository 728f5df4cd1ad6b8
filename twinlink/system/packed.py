"""Decompression up to a size limit, in linear time for any input."""

from __future__ import annotations

import bz2
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, Protocol

GZIP_MARK = b"\x1f\x8b"
"""Begins a gzip member."""
ZSTD_MARK = b"\x28\xb5\x2f\xfd"
"""Begins a Zstandard frame."""
MAX_MEMBERS = 10_000
"""Members of one packed body. Each costs some 2 µs, though it may be 20 bytes long and empty. Tools write one; those
that write one per block (bgzip, 64 kB) write 800 for the largest sitemap that the protocol allows."""

_FIRST_BLOCK_BYTES = 2**12  # of a further member: bytes after its end are copied
_BLOCK_BYTES = 2**18
_XZ_MEMORY = 2**27  # xz -9 asks for 65 MB
_ZSTD_WINDOW_LOG = 23  # RFC 9659: a window of 8 MB at most, so that readers need not set more memory aside


class PackedError(Exception):
    """The bytes cannot be unpacked: they are damaged, end early, or have too many members."""


class _Stream(Protocol):
    """Unpacks one member; this is what zlib, bz2, lzma and zstd have in common."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: Any, max_length: int, /) -> bytes: ...


class CompressedForm(NamedTuple):
    """A way of packing whose data consist of members, one behind the other."""

    mark: bytes
    """Begins each member."""
    open: Callable[[], _Stream]


def unpack(packed: bytes, size: int, packing: CompressedForm) -> bytes:
    """Unpack the members of a body, and return the first ``size`` bytes of what is in them.

    Trailing bytes that are not a member are ignored, as in gzip.

    Parameters
    ----------
    packed : bytes
        Begins with a member.
    size : int
        Positive.
    packing : CompressedForm
        One of `GZIP`, `ZSTD`, `BZIP2` and `XZ`.

    Raises
    ------
    PackedError
        If a member is damaged or ends early, or there are more than `MAX_MEMBERS`.

    Examples
    --------
    >>> unpack(bz2.compress(b"one ") + bz2.compress(b"two"), 100, BZIP2)
    b'one two'
    """
    plain = bytearray()
    end = n_members = 0
    while len(plain) < size and packed.startswith(packing.mark, end):
        n_members += 1
        if n_members > MAX_MEMBERS:
            raise PackedError(f"more than {MAX_MEMBERS} members")
        # Usually there is one member.
        first_block = len(packed) if n_members == 1 else _FIRST_BLOCK_BYTES
        end = _unpack_member(packing.open(), memoryview(packed), end, first_block, plain, size)
    return bytes(plain)


def gzip_parts(packed: bytes, size: int) -> Iterator[bytes]:
    """Unpack the members of a gzip body part by part; the parts but the last have ``size`` bytes at least.

    Use this for data that are read in a stream: each part is decompressed when it is requested.

    Raises
    ------
    PackedError
        As `unpack` does, when the parts in front have been taken.

    Examples
    --------
    >>> list(gzip_parts(zlib.compress(b"one ", wbits=31) + zlib.compress(b"two three", wbits=31), 5))
    [b'one two t', b'hree']
    """
    waiting = bytearray()
    damage: PackedError | None = None
    try:
        for plain in _gzip_pieces(packed, size):
            waiting += plain
            if len(waiting) >= size:
                yield bytes(waiting)
                waiting.clear()
    except PackedError as error:
        damage = error
    if waiting:
        yield bytes(waiting)
    if damage is not None:
        raise damage


def _gzip_pieces(packed: bytes, size: int) -> Iterator[bytes]:
    end = n_members = 0
    while packed.startswith(GZIP_MARK, end):
        n_members += 1
        if n_members > MAX_MEMBERS:
            raise PackedError(f"more than {MAX_MEMBERS} members")
        stream = zlib.decompressobj(16 + zlib.MAX_WBITS)
        block, given = _FIRST_BLOCK_BYTES, b""
        while not stream.eof:
            if not given:
                given = packed[end : end + block]
                end += len(given)
                block = min(2 * block, _BLOCK_BYTES)
            if not given:
                raise PackedError("compressed data end early")
            try:
                yield stream.decompress(given, size)
            except zlib.error as error:
                raise PackedError(str(error)) from error
            given = stream.unconsumed_tail
        end -= len(stream.unused_data)


def inflate(packed: bytes, size: int, window: int) -> bytes:
    """Unpack one zlib stream and return the first ``size`` bytes of it; ``window`` as `zlib.decompressobj` has it.

    Raises
    ------
    PackedError
        If it is damaged or ends early.
    """
    plain = bytearray()
    _unpack_member(zlib.decompressobj(window), memoryview(packed), 0, max(1, len(packed)), plain, size)
    return bytes(plain)


def _unpack_member(stream: _Stream, packed: memoryview, start: int, block: int, plain: bytearray, size: int) -> int:
    """Add what a member holds to ``plain``, up to ``size`` bytes; return where the member ends."""
    at = start
    try:
        while not stream.eof and len(plain) < size:
            given = packed[at : at + block]
            if not given:
                raise PackedError("compressed data end early")
            plain += stream.decompress(given, size - len(plain))
            at += len(given)
            block = min(2 * block, _BLOCK_BYTES)
    except _damages() as error:
        raise PackedError(str(error)) from error
    return at - len(stream.unused_data) if stream.eof else at


def _damages() -> tuple[type[Exception], ...]:
    """Return the exceptions of the libraries on damage; that of zstd only if it is loaded."""
    loaded = sys.modules.get(_ZSTD_MODULE)
    return (zlib.error, OSError, ValueError, lzma.LZMAError, EOFError, *((loaded.ZstdError,) if loaded else ()))


_ZSTD_MODULE = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"


def zstd_module() -> Any:
    """Return the module of Zstandard: that of the standard library, which Python has from 3.14 on, or its backport."""
    return import_module(_ZSTD_MODULE)


def _zstd_stream() -> _Stream:
    zstd = zstd_module()
    options: Mapping[Any, int] = {zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_LOG}
    stream: _Stream = zstd.ZstdDecompressor(options=options)
    return stream


GZIP = CompressedForm(GZIP_MARK, lambda: zlib.decompressobj(16 + zlib.MAX_WBITS))
ZSTD = CompressedForm(ZSTD_MARK, _zstd_stream)
BZIP2 = CompressedForm(b"BZh", bz2.BZ2Decompressor)
XZ = CompressedForm(b"\xfd7zXZ", lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY))
