"""Digests of records: whether a record's content is what was written.

Only ``WARC-Block-Digest`` is compared. Programs disagree on the payload of a response that came in chunks, so that a
right ``WARC-Payload-Digest`` may look wrong.
"""

from __future__ import annotations

import base64
import hashlib
from typing import IO, Any

from warcio.limitreader import LimitReader
from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders

_COMPARED = frozenset(("response", "resource", "conversion"))  # revisit: the content that it leaves out may be meant
_ALGORITHMS = {"md5": hashlib.md5, "sha1": hashlib.sha1, "sha256": hashlib.sha256, "sha512": hashlib.sha512}


class _Digested(LimitReader):  # type: ignore[misc]
    """Reads the content of a record, and digests it on the way."""

    def __init__(self, stream: IO[bytes], length: int, algorithm: str, expected: str) -> None:
        super().__init__(stream, length)
        self._digest = _ALGORITHMS[algorithm](usedforsecurity=False)
        self._expected = expected

    def _update(self, buff: bytes) -> bytes:
        self.limit -= len(buff)
        self._digest.update(buff)
        return buff

    def begin_payload(self) -> None:
        """Do nothing: warcio calls this behind the HTTP headers."""

    def is_altered(self) -> bool:
        """Return whether the content, which was read to its end, has another digest than expected."""
        value, expected = self._digest.digest(), self._expected.rstrip("=")
        if len(expected) == 2 * len(value):
            return value.hex() != expected.lower()
        encode = base64.b32encode if 5 * len(expected) >= 8 * len(value) else base64.b64encode  # bits of a letter
        right = encode(value).decode().rstrip("=")
        return expected not in (right, right.lower())


def digested(
    stream: IO[bytes], kind: str, headers: StatusAndHeaders, _checker: Any, length: int
) -> tuple[IO[bytes] | _Digested, bool]:
    """Return the stream of a record's content, and whether it digests what is read; for warcio's loader of records."""
    algorithm, _, expected = (headers.get_header("WARC-Block-Digest") or "").partition(":")
    algorithm = algorithm.strip().lower().replace("-", "")
    if kind not in _COMPARED or algorithm not in _ALGORITHMS or not expected:
        return stream, False
    return _Digested(stream, length, algorithm, expected.strip()), True


def is_altered(record: ArcWarcRecord) -> bool:
    """Return whether the content of a record, which was read to its end, has another digest than its head says."""
    return isinstance(record.raw_stream, _Digested) and record.raw_stream.is_altered()
