"""Decompression of HTTP content encodings, up to a size limit."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from twinlink.system.packed import GZIP, ZSTD, PackedError, inflate, unpack

MAX_ENCODINGS = 5
"""Maximum number of nested encodings of one body, as in curl."""


_SNIFFED = 1_445  # first bytes of a body that the MIME Sniffing Standard looks at
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


class EncodingError(Exception):
    """The body cannot be unpacked: an unknown encoding, or damaged data."""


def decompress(body: bytes, content_encoding: str, limit: int) -> bytes:
    """Undo the encodings that a Content-Encoding header names.

    Parameters
    ----------
    body : bytes
        As received, chunks already joined.
    content_encoding : str
        ``gzip``, ``deflate`` (both forms of it), ``br`` and ``zstd``; several separated by commas, in the order in
        which they were applied. The last two need their packages, ``brotli`` from 1.2 on and ``backports.zstd``.
    limit : int
        Unpacking ends soon after this many bytes.

    Returns
    -------
    bytes
        The plain body, or its first ``limit + 1`` bytes: a result that long means "too large". The body as it is where
        it does not begin as its encoding does: archives often keep the headers of a packed page with the unpacked one.
        So too for a text whose encoding is unknown, as in browsers: some servers send its charset as its encoding.

    Raises
    ------
    EncodingError
        If an encoding is unknown (and the body no text), there are more than `MAX_ENCODINGS`, or the data end early,
        are damaged, or have more than `twinlink.system.packed.MAX_MEMBERS` members.

    Examples
    --------
    >>> decompress(zlib.compress(b"page"), "deflate", 100), decompress(b"page", "gzip", 2)
    (b'page', b'pag')
    """
    names = [name.strip().lower() for name in content_encoding.split(",")]
    names = [name for name in names if name not in ("", "identity", "none")]
    if len(names) > MAX_ENCODINGS:
        raise EncodingError(f"{len(names)} nested content encodings, expected {MAX_ENCODINGS} at most")
    for name in reversed(names):
        if name not in _UNPACKERS and not _is_text(body):
            raise EncodingError(f"content encoding {name!r} is not known")
        try:
            body = _UNPACKERS.get(name, _keep)(body, limit + 1)
        except PackedError as error:
            raise EncodingError(str(error)) from error
        except ImportError as error:
            raise EncodingError(f"content encoding {name!r} needs a package: {error}") from error
    return body[: limit + 1]


def beginning(head: bytes, content_encoding: str, size: int) -> bytes | None:
    """Return the beginning of a body from its first received bytes.

    Parameters
    ----------
    head : bytes
        First bytes as received.
    content_encoding : str
        As in `decompress`.
    size : int
        Bytes that are returned at most.

    Returns
    -------
    bytes or None
        None where the first bytes cannot be unpacked by themselves: another encoding than ``gzip`` and ``deflate``, or
        damaged data.

    Examples
    --------
    >>> beginning(zlib.compress(b"a long page")[:14], "deflate", 4), beginning(b"plain", "", 9)
    (b'a lo', b'plain')
    """
    names = [name.strip().lower() for name in content_encoding.split(",")]
    packed = [name for name in names if name not in ("", "identity", "none")]
    if not packed or (packed[-1] in ("gzip", "x-gzip") and not head.startswith(b"\x1f\x8b")):
        return head[:size]
    if len(packed) > 1 or packed[0] not in ("gzip", "x-gzip", "deflate"):
        return None
    windows = (zlib.MAX_WBITS, -zlib.MAX_WBITS) if packed[0] == "deflate" else (16 + zlib.MAX_WBITS,)
    for window in windows:
        try:
            return zlib.decompressobj(window).decompress(head, size)
        except zlib.error:
            continue
    return None


def _is_text(body: bytes) -> bool:
    """Return whether a body begins like a text, by the MIME Sniffing Standard: packed data have other bytes."""
    return body.startswith((b"\xfe\xff", b"\xff\xfe")) or not _BINARY.search(body, 0, _SNIFFED)


def _keep(body: bytes, size: int) -> bytes:
    return body[:size]


def _unpack_gzip(body: bytes, size: int) -> bytes:
    return unpack(body, size, GZIP) if body.startswith(GZIP.mark) else body


def _unpack_zstd(body: bytes, size: int) -> bytes:
    return unpack(body, size, ZSTD) if body.startswith(ZSTD.mark) else body


def _unpack_deflate(body: bytes, size: int) -> bytes:
    for window in (zlib.MAX_WBITS, -zlib.MAX_WBITS):  # the latter without a header, which some servers send
        try:
            return inflate(body, size, window)
        except PackedError:
            continue
    return _plain_or_raise(body, "deflate")


def _unpack_brotli(body: bytes, size: int) -> bytes:
    brotli: Any = import_module("brotli")
    stream = brotli.Decompressor()
    try:
        plain = bytearray(stream.process(body, output_buffer_limit=size))
        while len(plain) < size and not stream.can_accept_more_data():
            plain += stream.process(b"", output_buffer_limit=size - len(plain))
    except TypeError as error:
        raise ImportError("brotli 1.2 or later") from error
    except brotli.error:
        return _plain_or_raise(body, "br")
    if not stream.is_finished() and len(plain) < size:
        return _plain_or_raise(body, "br")
    return bytes(plain)


def _plain_or_raise(body: bytes, name: str) -> bytes:
    """These encodings have no signature: a body that looks like markup was not encoded."""
    if not body or body.lstrip()[:1] == b"<":
        return body
    raise EncodingError(f"{name}: damaged data")


_UNPACKERS: Mapping[str, Callable[[bytes, int], bytes]] = {
    "gzip": _unpack_gzip,
    "x-gzip": _unpack_gzip,
    "deflate": _unpack_deflate,
    "br": _unpack_brotli,
    "zstd": _unpack_zstd,
}
