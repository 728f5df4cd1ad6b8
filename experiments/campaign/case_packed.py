"""Compressed bodies whose decompression takes time or memory, or fails."""

from __future__ import annotations

import gzip
import zlib

import brotli
from backports import zstd

from experiments.campaign.cases import FULL, KEPT, Hostile, dropped, like, same
from experiments.campaign.web import Answer

__all__ = ["PACKED_CASES", "bombs", "empty_members", "heavy_page", "members_twice", "nested_gzip", "packed"]

TEXT = b"<!DOCTYPE html><title>x</title><p>some words</p>"
MANY_TAGS = 2_500_000
ZEROS = bytes(2**20)


def nested_gzip(body: bytes, times: int) -> bytes:
    """Compress a body several times."""
    for _ in range(times):
        body = gzip.compress(body, 9, mtime=0)
    return body


def empty_members(n_bytes: int) -> bytes:
    """Return a number of bytes of empty gzip members."""
    member = gzip.compress(b"", mtime=0)
    return member * (n_bytes // len(member))


def heavy_page(n_tags: int = MANY_TAGS) -> Answer:
    """Return a compressed page of many tags."""
    body = TEXT + b"<p>" * n_tags
    return packed(gzip.compress(body, 1, mtime=0), "gzip")


def packed(body: bytes, encoding: str) -> Answer:
    """Return a response with its Content-Encoding."""
    return Answer(body, headers={"Content-Encoding": encoding})


def raw_deflate(body: bytes) -> bytes:
    """Compress without a header, as some servers do."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def gzip_bomb(n_megabytes: int) -> bytes:
    """Return gzip data that decompresses to a number of megabytes."""
    packer = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    return b"".join(packer.compress(ZEROS) for _ in range(n_megabytes)) + packer.flush()


def bombs(n_megabytes: int = 3_000, n_other: int = 100) -> Hostile:
    """Return small bodies that decompress to large ones: gzip to ``n_megabytes``, br to ``n_other``."""
    big = b"<p>" + b"x" * 12_000_000
    large = {
        "/gzip": packed(gzip_bomb(n_megabytes), "gzip"),
        "/gzip-of-gzip": packed(nested_gzip(gzip_bomb(n_megabytes // 3), 1), "gzip, gzip"),
        "/ten-times": packed(nested_gzip(big, 10), ", ".join(["gzip"] * 10)),
        "/deflate": packed(zlib.compress(big), "deflate"),
        "/raw-deflate": packed(raw_deflate(big), "deflate"),
        "/br": packed(brotli.compress(b" " * (n_other * 10**6), quality=1), "br"),
        "/zstd": packed(zstd.compress(big), "zstd"),
        "/members": packed(gzip.compress(b"<p>" + b"x" * 9_000) * 2_000, "gzip"),
    }
    return like(large, "too-large", "bad-encoding")


def members_twice() -> Hostile:
    """Return 26 kB that decompress to endless members, behind two encodings."""
    answers = {f"/{n}": packed(nested_gzip(empty_members(10_000_000), 1), "gzip, gzip") for n in range(2)}
    return like(answers, KEPT, "too-large", "bad-encoding")


def members_plain() -> Hostile:
    """Return 2 MB of empty members."""
    return like({"/members": packed(empty_members(2_000_000), "gzip")}, KEPT, "too-large", "bad-encoding")


def damaged_packing() -> Hostile:
    """Return bodies that do not have their declared encoding."""
    gz = gzip.compress(TEXT * 50, mtime=0)
    bad = {
        "/cut": packed(gz[:30], "gzip"),
        "/flipped": packed(gz[:15] + b"\xff" * 50, "gzip"),
        "/unknown": packed(b"\x01\x02\x03", "x-secret"),
        "/br": packed(b"\xff" * 500, "br"),
        "/zstd": packed(b"\x28\xb5\x2f\xfd" + b"\xff" * 500, "zstd"),
        "/deflate": packed(b"\xff" * 500, "deflate"),
    }
    found = like(bad, "bad-encoding")
    plain = {"/plain": packed(TEXT, "gzip"), "/empty": packed(b"", "gzip")}
    return Hostile(
        {**found.answers, **plain}, {**found.expected, "/plain": dropped(KEPT), "/empty": dropped(KEPT, "not-html")}
    )


PACKED_CASES = (
    same("gzip, deflate, br and zstd bombs", "packed bodies", bombs, FULL),
    same("empty gzip members, packed twice", "packed bodies", members_twice, FULL),
    same("empty gzip members, 2 MB", "packed bodies", members_plain, FULL),
    same("packed bodies that are damaged or none", "packed bodies", damaged_packing),
)
