"""Reproducible damage to files, which depends only on a number and a seed."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable, Mapping

_FOREIGN = (
    b"\x1f\x8b\x08", b"PK\x01\x02", b"PK\x03\x04", b"\r\n\r\n", b"\n", b"\0", b"\xff" * 8, b"-1", b"9" * 20, b"../",
    b"{", b'"', b"\t", b"WARC/1.0\r\n", b"Content-Length: 0\r\n", b"Content-Length: 99999999999\r\n",
    b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: gzip\r\n", b"ffffffff\r\n", b"\x1b[2J", b"\x28\xb5\x2f\xfd",
)  # fmt: skip
_HEADERS = (
    (rb"Content-Length: \d+", b"Content-Length: 99999999"), (rb"Content-Length: \d+", b"Content-Length: 0"),
    (rb"Content-Length: \d+", b"Content-Length: -5"), (rb"Content-Length: \d+\r\n", b""),
    (rb"WARC-Date: [^\r]*", b"WARC-Date: 32 Smarch"), (rb"WARC-Date: [^\r]*", b"WARC-Date: 99999-01-01T00:00:00Z"),
    (rb"WARC-Target-URI: [^\r]*", b"WARC-Target-URI: http://["), (rb"WARC-Target-URI: [^\r]*\r\n", b""),
    (rb"HTTP/1\.\d 200", b"HTTP/1.1 abc"), (rb"HTTP/1\.\d 200 OK\r\n", b""), (rb"WARC/1\.\d", b"WARC/9.9"),
    (rb"text/html", b"text/" + b"x" * 70_000), (rb"\r\n\r\n", b"\r\n"), (rb"\r\n", b"\n"),
    (rb'"offset": "\d+"', b'"offset": "-7"'), (rb'"length": "\d+"', b'"length": "x"'), (rb"2001\d+", b"20019999999999"),
    (rb'"filename": "', b'"filename": "../../'),
)  # fmt: skip
_MEMBER = b"\x1f\x8b\x08"


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _flip(data: bytes, rng: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def _block(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(data))
    return start, min(len(data), start + rng.choice((1, 16, 100, 512, 4096)))


def _zero(data: bytes, rng: random.Random) -> bytes:
    start, end = _block(data, rng)
    return data[:start] + bytes(end - start) + data[end:]


def _noise(data: bytes, rng: random.Random) -> bytes:
    start, end = _block(data, rng)
    return data[:start] + rng.randbytes(end - start) + data[end:]


def _lose(data: bytes, rng: random.Random) -> bytes:
    start, end = _block(data, rng)
    return data[:start] + data[end:]


def _double(data: bytes, rng: random.Random) -> bytes:
    start, end = _block(data, rng)
    return data[:end] + data[start:]


def _swap(data: bytes, rng: random.Random) -> bytes:
    size = min(rng.choice((16, 100, 512)), len(data) // 2)
    first, second = sorted(rng.randrange(len(data) - size + 1) for _ in range(2))
    if second - first < size:
        return _double(data, rng)
    pieces = data[:first], data[second : second + size], data[first + size : second], data[first : first + size]
    return b"".join([*pieces, data[second + size :]])


def _insert(data: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(_FOREIGN) * rng.choice((1, 1, 1, 50)) + data[place:]


def _header(data: bytes, rng: random.Random) -> bytes:
    """Change a header, within its gzip member where there are such."""
    starts = [found.start() for found in re.finditer(re.escape(_MEMBER), data)]
    if starts and data.startswith(_MEMBER):
        number = rng.randrange(len(starts))
        start, end = starts[number], [*starts[1:], len(data)][number]
        try:
            plain = gzip.decompress(data[start:end])
        except (OSError, EOFError):  # a magic number within a member
            return _flip(data, rng)
        return data[:start] + gzip.compress(_changed(plain, rng), mtime=0) + data[end:]
    return _changed(data, rng)


def _changed(data: bytes, rng: random.Random) -> bytes:
    pattern, put = rng.choice(_HEADERS)
    places = list(re.finditer(pattern, data))
    if not places:
        return _flip(data, rng)
    found = rng.choice(places)
    return data[: found.start()] + put + data[found.end() :]


DAMAGES: Mapping[str, Callable[[bytes, random.Random], bytes]] = {
    "cut": _cut, "flip": _flip, "zero": _zero, "noise": _noise, "lose": _lose, "double": _double, "swap": _swap,
    "insert": _insert, "header": _header,
}  # fmt: skip


def damaged(data: bytes, kind: str, rng: random.Random) -> bytes:
    """Return a file with damage of one kind at one to three positions."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = DAMAGES[kind](data or b"\0", rng)
    return data
