"""Content encodings."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twinlink.pages.content_encoding import MAX_ENCODINGS, EncodingError, decompress

brotli = pytest.importorskip("brotli")
zstd = pytest.importorskip("backports.zstd")

PAGE = b"<!DOCTYPE html><p>page</p>" * 50
LIMIT = 10_000


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data, wbits=-zlib.MAX_WBITS)


PACKERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    " Deflate ": raw_deflate,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "identity": bytes,
    "": bytes,
}


@pytest.mark.parametrize(("name", "pack"), PACKERS.items())
@pytest.mark.parametrize("page", [PAGE, b"", b"x"])
def test_compressed_bodies_are_decompressed(name: str, pack: Callable[[bytes], bytes], page: bytes) -> None:
    assert decompress(pack(page), name, LIMIT) == page


def test_several_encodings_are_undone_in_turn() -> None:
    assert decompress(brotli.compress(gzip.compress(PAGE)), "gzip, br", LIMIT) == PAGE


def test_members_of_gzip_are_put_together() -> None:
    assert decompress(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip", LIMIT) == b"one two"


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_page_that_was_unpacked_already(name: str) -> None:
    assert decompress(PAGE, name, LIMIT) == PAGE


@pytest.mark.parametrize(("name", "pack"), [(n, p) for n, p in PACKERS.items() if p is not bytes])
def test_a_packed_flood_costs_no_more_than_the_limit(name: str, pack: Callable[[bytes], bytes]) -> None:
    flood = pack(b"\0" * 50_000_000)
    tracemalloc.start()
    unpacked = decompress(flood, name, LIMIT)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert unpacked == b"\0" * (LIMIT + 1)
    assert peak < 2_000_000


@pytest.mark.parametrize(("name", "pack"), [(n, p) for n, p in PACKERS.items() if p is not bytes])
def test_data_that_end_early(name: str, pack: Callable[[bytes], bytes]) -> None:
    with pytest.raises(EncodingError):
        decompress(pack(PAGE)[:-9], name, LIMIT)


@pytest.mark.parametrize("name", ["compress", "sdch", "gzip, nonsense"])
def test_unknown_encodings(name: str) -> None:
    with pytest.raises(EncodingError, match="not known"):
        decompress(zlib.compress(PAGE), name, LIMIT)


@pytest.mark.parametrize("name", ["utf-8", "UTF-8", "ISO-8859-1", "text/html", "gzip, utf-8"])
@pytest.mark.parametrize("text", [PAGE, b"User-agent: *\nDisallow:\n", "<p>中文".encode("utf-16"), b""])
def test_a_text_with_an_unknown_encoding_is_not_encoded(name: str, text: bytes) -> None:
    assert decompress(text, name, LIMIT) == text


@given(st.binary(max_size=200), st.sampled_from(list(PACKERS)), st.booleans())
def test_any_bytes_give_a_page_or_the_error(data: bytes, name: str, marked: bool) -> None:
    marks = {"gzip": b"\x1f\x8b\x08\0", "zstd": b"\x28\xb5\x2f\xfd"}
    body = marks.get(name, b"") + data if marked else data
    try:
        unpacked = decompress(body, name, 100)
    except EncodingError:
        return
    assert len(unpacked) <= 101


def test_encodings_over_each_other_are_bounded() -> None:
    body = PAGE
    for _ in range(MAX_ENCODINGS):
        body = gzip.compress(body)
    assert decompress(body, ", ".join(["gzip", "identity"] * MAX_ENCODINGS), LIMIT) == PAGE
    with pytest.raises(EncodingError, match=f"{MAX_ENCODINGS + 1} nested content encodings"):
        decompress(gzip.compress(body), ", ".join(["gzip"] * (MAX_ENCODINGS + 1)), LIMIT)


@pytest.mark.parametrize("twice", [False, True])
def test_a_body_of_empty_members_is_refused(twice: bool) -> None:
    body = gzip.compress(b"", mtime=0) * 500_000
    with pytest.raises(EncodingError, match="members"):
        decompress(gzip.compress(body) if twice else body, "gzip, gzip" if twice else "gzip", 10**7)


def test_all_frames_of_zstandard_are_read() -> None:
    assert decompress(zstd.compress(PAGE) + zstd.compress(PAGE), "zstd", LIMIT) == 2 * PAGE
