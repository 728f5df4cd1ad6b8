"""Records chosen by an index."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.archives import captures, respond, write_cdxj
from twinlink.errors import InputError
from twinlink.sources import files, warc_records
from twinlink.sources.cdx import archives_of_index, read_cdx
from twinlink.sources.documents import Document
from twinlink.sources.reading import wanted_addresses
from twinlink.sources.warc import read_warc
from twinlink.tables import Reject

LIMIT = 100_000
URL = "http://www.example.org/"
NAMES = ("en/1", "en/2", "other", "zh/1", "zh/2")


def body(name: str) -> bytes:
    return b"<!DOCTYPE html><p>page " + name.encode()


@pytest.fixture(params=[True, False])
def archive(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / ("data.warc.gz" if request.param else "data.warc")
    for name in NAMES:
        respond(path, URL + name, body(name), packed=request.param)
    return path


def read(path: Path, *prefixes: str) -> list[Document | Reject]:
    return list(read_cdx(path, wanted_addresses(prefixes), LIMIT))


def names(path: Path, *prefixes: str) -> list[str]:
    return [item.url.removeprefix(URL) for item in read(path, *prefixes) if isinstance(item, Document)]


def rejects(path: Path, *prefixes: str) -> list[tuple[str, str]]:
    return [(item.url, item.reason) for item in read(path, *prefixes) if isinstance(item, Reject)]


def write_cdx(path: Path, archive: Path, columns: str, header: bool = True) -> Path:
    lines = [f" CDX {' '.join(columns)}\n"] if header else []
    for url, start, length in captures(archive):
        values = {"a": url, "V": str(start), "S": str(length), "g": archive.name, "s": "200", "m": "text/html"}
        lines.append(" ".join(values.get(column, "-") for column in columns) + "\n")
    path.write_text("".join(lines))
    return path


def test_what_an_index_names_is_what_the_archive_holds(archive: Path) -> None:
    assert read(write_cdxj(archive.with_name("x.cdxj"), [archive])) == list(read_warc(archive, LIMIT))


def test_only_what_is_wanted_is_read(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts = []
    whole = warc_records.read_record
    monkeypatch.setattr(
        warc_records, "read_record", lambda file, start, take: starts.append(start) or whole(file, start, take)
    )
    assert names(write_cdxj(archive.with_name("x.cdxj"), [archive]), URL + "zh/") == ["zh/1", "zh/2"]
    assert starts == [start for url, start, _ in captures(archive) if "/zh/" in url]


@pytest.mark.parametrize("columns", ["NbamskrMSVg", "NbamskrMVg", "NbamskrVg"])
@pytest.mark.parametrize("header", [True, False])
def test_cdx(archive: Path, columns: str, header: bool) -> None:
    path = write_cdx(archive.with_name("x.cdx"), archive, columns, header)
    assert names(path, "www.example.org/en/") == ["en/1", "en/2"]


def test_columns_in_another_order(archive: Path) -> None:
    assert names(write_cdx(archive.with_name("x.cdx"), archive, "gVab")) == list(NAMES)


def test_a_packed_index_of_several_members(archive: Path) -> None:
    path = write_cdxj(archive.with_name("x.cdxj"), [archive])
    packed = path.with_name("cdx-00000.gz.cdxj.gz")
    packed.write_bytes(b"".join(gzip.compress(line) for line in path.read_bytes().splitlines(keepends=True)))
    assert names(packed) == list(NAMES)
    packed.write_bytes(packed.read_bytes()[:-5])
    assert names(packed)[:4] == list(NAMES[:4])
    assert ("cdx-00000.gz.cdxj.gz", "truncated") in rejects(packed)
    packed.write_bytes(gzip.compress(path.read_bytes()) + b"junk")
    assert (names(packed), [reason for _, reason in rejects(packed)]) == (list(NAMES), ["damaged-record"])


@pytest.mark.parametrize("folder", [".", "archive", "../archive"])
@pytest.mark.parametrize("named", ["{}", "crawl-data/CC-MAIN-2026-04/segments/1/warc/{}", "../archive/{}", "C:\\x\\{}"])
def test_where_archives_are_found(tmp_path: Path, archive: Path, folder: str, named: str) -> None:
    index = tmp_path / "collection" / "indexes" / "index.cdxj"
    place = index.parent / folder / archive.name
    for path in (index, place):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_cdxj(index, [archive], filename=named.format(archive.name))
    archive.rename(place)
    assert names(index) == list(NAMES)
    assert [path.resolve() for path in archives_of_index(index)] == [place.resolve()]


@pytest.mark.parametrize("name", ["../../outside/{}", "/{}", "link/{}", "\0{}", "", "x" * 300])
def test_names_that_lead_out_are_refused(tmp_path: Path, archive: Path, name: str) -> None:
    index = tmp_path / "collection" / "indexes" / "index.cdxj"
    outside = tmp_path / "outside" / archive.name
    for path in (index, outside):
        path.parent.mkdir(parents=True, exist_ok=True)
    (index.parent / "link").symlink_to(outside.parent)
    write_cdxj(index, [archive], filename=str(outside) if name == "/{}" else name.format(archive.name))
    archive.rename(outside)
    with pytest.raises(InputError, match="not one of the archives"):
        read(index)
    respond(index.parent / "here.warc.gz", URL + "here", body("here"))
    with index.open("a") as file:
        file.write(write_cdxj(tmp_path / "more.cdxj", [index.parent / "here.warc.gz"]).read_text())
    assert names(index) == ["here"]
    assert {reason for _, reason in rejects(index)} <= {"unreadable", "no-archive"}
    assert len(rejects(index)) == len(NAMES)


def test_an_index_that_is_out_of_date(archive: Path) -> None:
    index = write_cdxj(archive.with_name("x.cdxj"), [archive])
    lines = [json.loads(line[line.index("{") :]) for line in index.read_text().splitlines()]
    lines[0]["offset"], lines[1]["offset"] = lines[1]["offset"], 10**9
    lines[2]["offset"] = int(lines[2]["offset"]) + 3
    lines.append({**lines[0], "offset": 10**40})
    index.write_text("".join(f"key 2026 {json.dumps(line)}\n" for line in lines))
    assert names(index) == ["zh/1", "zh/2"]
    found = [item for item in read(index) if isinstance(item, Reject)]
    assert [item.reason for item in found] == ["damaged-record"] * 4
    assert "the record at this position is of" in found[0].detail


def test_invalid_lines_are_counted(archive: Path) -> None:
    index = write_cdxj(archive.with_name("x.cdxj"), [archive])
    bad = [
        "one two",
        'k 1 {"url": "http://x/"}',
        "k 1 {broken",
        'k 1 {"url": 1, "filename": "a", "offset": 0}',
        "é " * 7,
    ]
    bad.append("x" * 2**20 + "y" * 50)
    ignored = ["", "!meta 1", "# comment", 'k 1 {"url": "dns:x", "filename": "data", "offset": 1}']
    index.write_text("\n".join([*ignored, *bad]) + "\n" + index.read_text(), encoding="utf-8")
    assert names(index) == list(NAMES)
    assert rejects(index) == [("x.cdxj", "bad-line")] * len(bad)


def test_answers_to_forms_and_other_records_are_counted(tmp_path: Path) -> None:
    archive, index = tmp_path / "a.warc.gz", tmp_path / "x.cdxj"
    respond(archive, URL + "form", body("x"))
    respond(archive, URL + "request", b"", "GET / HTTP/1.1", [], kind="metadata")
    entries = [
        {"url": URL + "form?__wb_method=POST&a=1", "offset": 0, "filename": archive.name},
        {"url": URL + "request", "offset": captures(archive, ["metadata"])[0][1], "filename": archive.name},
        {"url": "http://example.org:99999/", "offset": 0, "filename": archive.name},
    ]
    index.write_text("".join(f"k 1 {json.dumps(entry)}\n" for entry in entries))
    assert [reason for _, reason in rejects(index)] == ["post", "damaged-record", "bad-url"]


def test_a_page_that_is_written_once(tmp_path: Path) -> None:
    archive = tmp_path / "a.warc.gz"
    respond(archive, URL + "a", body("a"), WARC_Payload_Digest="sha1:X")
    respond(archive, URL + "b", b"", kind="revisit", WARC_Payload_Digest="sha1:X")
    index = write_cdxj(tmp_path / "x.cdxj", [archive])
    assert [(item.url, item.body) for item in read(index)] == [(URL + "a", body("a")), (URL + "b", body("a"))]
    assert rejects(index, URL + "b") == [(URL + "b", "revisit")]  # the first one is not wanted


def test_an_index_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "x.cdxj")


@pytest.mark.parametrize("prefix", ["", " ", "ftp://example.org/", "http://"])
def test_invalid_prefix(prefix: str) -> None:
    with pytest.raises(InputError, match="beginning of an address"):
        wanted_addresses([prefix])


def test_lines_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_SKIPPED_BYTES", 3 * 2**20)
    archive = tmp_path / "a.warc.gz"
    respond(archive, URL + "a", body("a"))
    good = write_cdxj(tmp_path / "good.cdxj", [archive]).read_text()
    index = tmp_path / "x.cdxj"
    index.write_text("x" * 2**21 + "\n" + good + "x" * 2**23 + "\n" + good * 2)
    # What stands behind so much of nothing is not read.
    assert [(item.url, getattr(item, "reason", "")) for item in read(index)] == [
        ("x.cdxj", "bad-line"),
        (URL + "a", ""),
        ("x.cdxj", "bad-line"),
    ]


@pytest.mark.parametrize("size", [100, 2**22])
def test_file_that_is_not_an_index(tmp_path: Path, size: int) -> None:
    index = tmp_path / "x.cdx"
    index.write_bytes(bytes(size))
    with pytest.raises(InputError, match="expected an index of an archive"):
        read(index)
