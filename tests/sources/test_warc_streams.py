"""Archives packed with Zstandard: with and without a dictionary, damaged, hostile."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
from pathlib import Path

import pytest
from backports import zstd

from tests.archives import respond, write_wacz
from twinlink.errors import InputError
from twinlink.sources.documents import Document
from twinlink.sources.reading import read_path
from twinlink.sources.warc import archive_of, read_warc
from twinlink.sources.warc_streams import behind_notes, packing_at
from twinlink.tables import Reject

LIMIT = 100_000
URL = "http://www.example.org/"
WORDS = b"<!DOCTYPE html><title>Library hours</title><p>The library opens at 9:30 and closes at 20:00. Room %d."


def records(folder: Path, n: int = 6) -> list[bytes]:
    """Return records as they stand in an archive that is not packed."""
    found = []
    for number in range(n):
        path = folder / f"{number}.warc"
        respond(path, f"{URL}{number}", WORDS % number, packed=False)
        found.append(path.read_bytes())
        path.unlink()
    return found


def note(mark: bytes, content: bytes) -> bytes:
    return mark + b"\x2a\x4d\x18" + struct.pack("<I", len(content)) + content


def dictionary() -> zstd.ZstdDict:
    samples = [b"WARC/1.0\r\nWARC-Type: response\r\n" + WORDS % n * (1 + n % 3) for n in range(300)]
    return zstd.train_dict(samples, 4_000)


def pack(folder: Path, parts: list[bytes], known: zstd.ZstdDict | None = None, head: bytes = b"") -> Path:
    path = folder / "a.warc.zst"
    path.write_bytes(head + b"".join(zstd.compress(part, zstd_dict=known) for part in parts))
    return path


def read(path: Path) -> tuple[list[str], list[tuple[str, str]]]:
    items = list(read_path(path, LIMIT))
    assert all(item.body == WORDS % int(item.url[-1]) for item in items if isinstance(item, Document))
    pages = [item.url[-1] for item in items if isinstance(item, Document)]
    return pages, [(item.reason, item.detail) for item in items if isinstance(item, Reject)]


ALL = [str(n) for n in range(6)]


def test_a_frame_for_each_record(tmp_path: Path) -> None:
    assert read(pack(tmp_path, records(tmp_path))) == (ALL, [])


def test_one_frame_for_all_records(tmp_path: Path) -> None:
    assert read(pack(tmp_path, [b"".join(records(tmp_path))])) == (ALL, [])


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("is_raw", [False, True])
def test_the_dictionary_frame_is_used(tmp_path: Path, is_packed: bool, is_raw: bool) -> None:
    known = zstd.ZstdDict(WORDS * 3, is_raw=True) if is_raw else dictionary()
    content = bytes(known.dict_content)
    head = note(b"\x5d", zstd.compress(content) if is_packed else content)
    path = pack(tmp_path, records(tmp_path), known, head)
    assert len(path.read_bytes()) - len(head) < len(pack(tmp_path, records(tmp_path)).read_bytes())  # it is of use
    assert read(pack(tmp_path, records(tmp_path), known, head)) == (ALL, [])


def test_frames_to_be_skipped_are_skipped(tmp_path: Path) -> None:
    first, *others = records(tmp_path)
    head = note(b"\x50", b"whatever") + zstd.compress(first) + note(b"\x5f", b"") + note(b"\x51", b"x")
    path = pack(tmp_path, others, head=head)
    path.write_bytes(path.read_bytes() + note(b"\x50", b"at the end"))
    assert read(path) == (ALL, [])


def test_an_index_selects_records_of_it(tmp_path: Path) -> None:
    known = dictionary()
    parts = [zstd.compress(part, zstd_dict=known) for part in records(tmp_path)]
    head = note(b"\x5d", bytes(known.dict_content))
    (tmp_path / "a.warc.zst").write_bytes(head + b"".join(parts))
    start = len(head) + sum(map(len, parts[:4]))
    entry = {"url": f"{URL}4", "offset": str(start), "length": str(len(parts[4])), "filename": "a.warc.zst"}
    (tmp_path / "index.cdxj").write_text(f"org,example,www)/4 20260102030405 {json.dumps(entry)}\n")
    assert read(tmp_path / "index.cdxj") == (["4"], [])


def test_it_is_read_from_a_folder_and_from_a_wacz(tmp_path: Path) -> None:
    path = pack(tmp_path, records(tmp_path))
    assert read(tmp_path)[0] == ALL
    assert read(write_wacz(tmp_path / "x.wacz", [path], []))[0] == ALL


def test_what_another_zstd_program_writes_is_read(tmp_path: Path) -> None:
    """Streamed: without the size of the content, with a checksum, in several blocks."""
    option = zstd.CompressionParameter
    path = tmp_path / "a.warc.zst"
    with path.open("wb") as file:
        for part in records(tmp_path):
            packer = zstd.ZstdCompressor(options={option.checksum_flag: 1, option.content_size_flag: 0})
            for piece in (part[:50], part[50:]):
                file.write(packer.compress(piece, packer.FLUSH_BLOCK))
            file.write(packer.flush())
    assert read(path) == (ALL, [])


def test_damage_costs_one_record(tmp_path: Path) -> None:
    parts = [zstd.compress(part) for part in records(tmp_path)]
    middle = bytearray(parts[2])
    middle[len(middle) // 2 :] = b"\xff" * (len(middle) - len(middle) // 2)
    path = tmp_path / "a.warc.zst"
    path.write_bytes(b"".join([*parts[:2], bytes(middle), *parts[3:]]))
    pages, problems = read(path)
    assert pages == [n for n in ALL if n != "2"]
    assert [reason for reason, _ in problems] == ["damaged-record"]


def test_an_archive_that_was_cut_says_so(tmp_path: Path) -> None:
    path = pack(tmp_path, records(tmp_path))
    path.write_bytes(path.read_bytes()[:-20])
    pages, problems = read(path)
    assert pages == ALL[:-1]
    assert [reason for reason, _ in problems] == ["truncated"]


@pytest.mark.parametrize("content", [b"", b"\x37\xa4\x30\xecnonsense", b"\x28\xb5\x2f\xfdnonsense", b"other" * 9])
def test_a_wrong_dictionary_is_damage_not_a_crash(tmp_path: Path, content: bytes) -> None:
    path = pack(tmp_path, records(tmp_path), dictionary(), note(b"\x5d", content))
    with pytest.raises(InputError, match="found no record in it"):
        list(read_warc(path, LIMIT))


def test_a_bomb_takes_little_memory(tmp_path: Path) -> None:
    respond(tmp_path / "big.warc", URL, b"<p>" + bytes(60_000_000), packed=False)
    path = tmp_path / "a.warc.zst"
    path.write_bytes(zstd.compress((tmp_path / "big.warc").read_bytes(), level=1))
    (tmp_path / "big.warc").unlink()
    tracemalloc.start()
    items = list(read_warc(path, LIMIT))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [item.reason for item in items if isinstance(item, Reject)] == ["too-large"]
    assert peak < 5_000_000


@pytest.mark.parametrize("data", [b"", b"\x28\xb5", b"\x5d\x2a\x4d", b"\x5d\x2a\x4d\x18\xff\xff\xff\xff", b"WARC/1.0"])
def test_odd_beginnings(data: bytes) -> None:
    file = io.BytesIO(data)
    packing = packing_at(file, 0)
    assert (packing is not None) == data.startswith(b"\x5d\x2a\x4d\x18")
    assert behind_notes(file, 0) == (8 + 0xFFFFFFFF if packing else 0)


def test_a_note_that_reaches_beyond_the_end_is_no_loop(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.zst"
    path.write_bytes(zstd.compress(records(tmp_path)[0]) + b"\x50\x2a\x4d\x18\xff\xff\xff\xffrest")
    pages, problems = read(path)
    assert pages == ["0"]
    assert archive_of(path).name == "a.warc.zst"
    assert [reason for reason, _ in problems] in ([], ["truncated"])
