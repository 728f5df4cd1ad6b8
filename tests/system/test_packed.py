"""Packed bytes: what was packed comes back, and no body costs more than its size and the limit."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from itertools import count

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from twinlink.system.packed import BZIP2, GZIP, MAX_MEMBERS, XZ, ZSTD, CompressedForm, PackedError, unpack

PACKINGS: list[tuple[Callable[[bytes], bytes], CompressedForm]] = [
    (lambda data: gzip.compress(data, mtime=0), GZIP),
    (bz2.compress, BZIP2),
    (lzma.compress, XZ),
    (zstd.compress, ZSTD),
]
EMPTY = gzip.compress(b"", mtime=0)


@pytest.mark.parametrize(("pack", "packing"), PACKINGS)
def test_concatenated_members(pack: Callable[[bytes], bytes], packing: CompressedForm) -> None:
    assert unpack(pack(b"one ") + pack(b"") + pack(b"two"), 100, packing) == b"one two"
    assert unpack(pack(b"one ") + pack(b"two"), 5, packing) == b"one t"
    assert unpack(pack(b"one") + b"what is no member", 100, packing) == b"one"


@pytest.mark.parametrize(("pack", "packing"), PACKINGS)
def test_damage_and_an_early_end(pack: Callable[[bytes], bytes], packing: CompressedForm) -> None:
    whole = pack(b"page " * 500)
    for body in (whole[:-9], whole + whole[:-9], packing.mark + b"no more than the mark"):
        with pytest.raises(PackedError):
            unpack(body, 10_000, packing)


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=60), st.integers(1, 5_000))
def test_any_members_give_their_first_bytes(parts: list[bytes], size: int) -> None:
    for pack, packing in PACKINGS[:2]:
        assert unpack(b"".join(map(pack, parts)), size, packing) == b"".join(parts)[:size]


class Counted:
    """A stream of gzip that counts the bytes that are handed to it, and handed back."""

    n_bytes = 0

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        Counted.n_bytes += len(self._stream.unused_data)
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        Counted.n_bytes += len(data)
        return self._stream.decompress(data, max_length)


@pytest.mark.parametrize("member", [EMPTY, gzip.compress(b"x", mtime=0)])
def test_twice_as_many_members_are_twice_the_work(member: bytes) -> None:
    work = []
    for n in (2_000, 4_000, 8_000):
        Counted.n_bytes = 0
        unpack(member * n, 10**6, CompressedForm(GZIP.mark, Counted))
        work.append(Counted.n_bytes)
    assert work[2] < 2.1 * work[1] < 4.5 * work[0]


def test_members_are_bounded() -> None:
    opened = count()

    def stream() -> Counted:
        next(opened)
        return Counted()

    assert unpack(EMPTY * MAX_MEMBERS, 100, GZIP) == b""
    with pytest.raises(PackedError, match=f"more than {MAX_MEMBERS} members"):
        unpack(EMPTY * 500_000, 100, CompressedForm(GZIP.mark, stream))
    assert next(opened) == MAX_MEMBERS


def test_a_frame_of_zstandard_that_asks_for_much_memory_is_refused() -> None:
    options: dict[int, int] = {
        zstd.CompressionParameter.window_log: 27,
        zstd.CompressionParameter.enable_long_distance_matching: 1,
    }
    packer = zstd.ZstdCompressor(options=options)  # without the size: so that the window counts
    body = packer.compress(b"page " * 50) + packer.flush()
    with pytest.raises(PackedError, match="too much memory"):
        unpack(body, 1_000, ZSTD)
