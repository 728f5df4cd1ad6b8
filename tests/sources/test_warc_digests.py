"""Records whose content does not fit the digest in their head."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.archives import respond
from twinlink.rejects import Reject
from twinlink.sources.documents import Document
from twinlink.sources.warc import read_warc

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
BODY = b"<html><p>one</p>"
HTML = (("Content-Type", "text/html"),)
SPELLINGS: dict[str, Callable[[bytes], str]] = {
    "base32": lambda value: base64.b32encode(value).decode(),
    "base32, small": lambda value: base64.b32encode(value).decode().lower(),
    "base32, bare": lambda value: base64.b32encode(value).decode().rstrip("="),
    "base64": lambda value: base64.b64encode(value).decode(),
    "hex": bytes.hex,
    "HEX": lambda value: value.hex().upper(),
}


def write(path: Path, **fields: str) -> Path:
    respond(path, "http://a.org/", BODY, headers=HTML, packed=False, **fields)
    respond(path, "http://a.org/b", BODY, headers=HTML, packed=False)
    return path


def outcome(path: Path) -> list[str]:
    return [item.reason if isinstance(item, Reject) else item.url for item in read_warc(path, 10_000)]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("algorithm", ["sha1", "SHA-256", "md5", "sha512"])
def test_right_digests_in_all_spellings(tmp_path: Path, algorithm: str, spelling: str) -> None:
    value = hashlib.new(algorithm.lower().replace("-", ""), HEAD + BODY).digest()
    path = write(tmp_path / "a.warc", WARC_Block_Digest=f"{algorithm}:{SPELLINGS[spelling](value)}")
    assert outcome(path) == ["http://a.org/", "http://a.org/b"]


@pytest.mark.parametrize("digest", ["sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", f"sha1:{'0' * 40}", "md5:x", "sha1:ü"])
def test_wrong_digest_costs_the_record(tmp_path: Path, digest: str) -> None:
    path = write(tmp_path / "a.warc", WARC_Block_Digest=digest)
    first, second = read_warc(path, 10_000)
    assert isinstance(first, Reject)
    assert first.reason == "damaged-record"
    assert first.detail == "at 0: its content does not fit its WARC-Block-Digest"
    assert isinstance(second, Document)


@pytest.mark.parametrize("digest", ["", "sha1", "sha1:", "crc32:00000000", ":AAAA"])
def test_digest_that_nobody_can_compare_costs_nothing(tmp_path: Path, digest: str) -> None:
    assert outcome(write(tmp_path / "a.warc", WARC_Block_Digest=digest)) == ["http://a.org/", "http://a.org/b"]


def test_changed_byte_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc")
    path.write_bytes(path.read_bytes().replace(b"<p>one", b"<p>two", 1))
    assert outcome(path) == ["damaged-record", "http://a.org/b"]


def test_payload_digest_alone_is_not_compared(tmp_path: Path) -> None:
    """Programs disagree on what the payload of a response in chunks is."""
    wrong = {"WARC_Payload_Digest": "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}
    assert outcome(write(tmp_path / "a.warc", **wrong)) == ["http://a.org/", "http://a.org/b"]
