"""Web archives: written and read back, from other tools, and damaged in every way."""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from twinlink.errors import InputError, RunError
from twinlink.pages.decoding import is_html
from twinlink.sources import warc_records as records
from twinlink.sources.documents import Document
from twinlink.sources.warc import read_warc
from twinlink.spiders.warc_writer import Conversion, WarcWriter, Written, truncate_to
from twinlink.tables import Reject

LIMIT = 100_000
HTML = [("Content-Type", "text/html; charset=utf-8")]
MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def page_body(number: int) -> bytes:
    return f"<!DOCTYPE html><p>page {number} {'x' * number}</p>".encode()


def write_page(writer: WarcWriter, number: int) -> Written:
    url = f"http://www.example.org/{number}"
    return writer.write(url, f"GET /{number} HTTP/1.1", [("Host", "x")], 200, HTML, page_body(number), MOMENT)


def read(path: Path) -> list[Document | Reject]:
    return list(read_warc(path, LIMIT))


def documents(path: Path) -> list[Document]:
    return [item for item in read(path) if isinstance(item, Document)]


def rejects(path: Path) -> list[tuple[str, str]]:
    return [(item.url, item.reason) for item in read(path) if isinstance(item, Reject)]


class Foreign:
    """An archive such as other tools write, record by record."""

    def __init__(self, path: Path, packed: bool = True) -> None:
        self.path = path
        self.packed = packed

    def add(self, kind: str, url: str, payload: bytes, **warc_headers: str) -> Foreign:
        with self.path.open("ab") as file:
            writer = WARCWriter(file, gzip=self.packed)
            headers = {name.replace("_", "-"): value for name, value in warc_headers.items()}
            record = writer.create_warc_record(
                url, kind, payload=io.BytesIO(payload), length=len(payload), warc_headers_dict=headers
            )
            writer.write_record(record)
        return self

    def respond(self, url: str, status: str, headers: list[tuple[str, str]], body: bytes = b"") -> Foreign:
        head = StatusAndHeaders(status, headers, protocol="HTTP/1.1").to_bytes()
        return self.add("response", url, head + body)


@pytest.fixture
def foreign(tmp_path: Path) -> Foreign:
    return Foreign(tmp_path / "foreign.warc.gz")


@pytest.fixture
def archive(tmp_path: Path) -> tuple[Path, list[Written]]:
    writer = WarcWriter(tmp_path, "crawl")
    written = [write_page(writer, number) for number in range(6)]
    writer.close()
    return tmp_path / written[0].archive, written


# ---- writing


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path, "crawl")
    packed = gzip.compress(page_body(1))
    places = [
        writer.write(
            "http://www.example.org/",
            "GET / HTTP/1.1",
            [("Host", "www.example.org")],
            200,
            [*HTML, ("Content-Encoding", "gzip"), ("Content-Language", "zh-HK")],
            packed,
            MOMENT,
        ),
        writer.write("http://www.example.org/old", "GET /old HTTP/1.1", [], 301, [("Location", "/new?q=\xe4")], b""),
    ]
    writer.close()
    path = tmp_path / "crawl-00001.warc.gz"
    page, redirect = documents(path)
    assert page == Document(
        "http://www.example.org/", 200, HTML[0][1], "zh-HK", "", page_body(1), MOMENT, path.name, places[0].start
    )
    assert (redirect.url, redirect.status) == ("http://www.example.org/old", 301)
    assert redirect.location == "/new?q=%E4"
    assert redirect.offset == places[1].start
    assert [place.archive for place in places] == [path.name, path.name]
    assert places[1].end == path.stat().st_size


def test_records_are_as_the_field_expects(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path, "crawl")
    packed = gzip.compress(page_body(1))
    headers = [*HTML, ("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked"), ("Content-Length", "7")]
    headers.append(("X-Line", "a\r\nInjected: yes"))
    writer.write("http://www.example.org/", "GET / HTTP/1.1", [("Host", "x"), ("Cookie", "é")], 200, headers, packed)
    writer.close()
    with (tmp_path / "crawl-00001.warc.gz").open("rb") as file:
        records = []
        for record in ArchiveIterator(file, check_digests="raise"):
            records.append((record.rec_type, dict(record.rec_headers.headers), record.http_headers))
            stored = record.raw_stream.read()
            if record.rec_type == "response":
                assert stored == packed
    kinds, warc_headers, http_headers = zip(*records, strict=True)
    assert kinds == ("warcinfo", "response", "request")
    assert warc_headers[0]["WARC-Filename"] == "crawl-00001.warc.gz"
    assert warc_headers[2]["WARC-Concurrent-To"] == warc_headers[1]["WARC-Record-ID"]
    assert {"WARC-Payload-Digest", "WARC-Block-Digest"} <= warc_headers[1].keys()
    assert http_headers[1].headers == [
        *HTML,
        ("Content-Encoding", "gzip"),
        ("X-Line", "a%0D%0AInjected: yes"),
        ("Content-Length", str(len(packed))),
    ]
    assert http_headers[2].get_header("Cookie") == "%E9"


def test_a_rendered_page_keeps_the_headers_of_its_response_that_hold_for_it(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path, "crawl")
    headers = [
        *HTML,
        ("Content-Language", "en"),
        ("Link", '</fr>; rel="alternate"; hreflang="fr"'),
        ("link", "</\xc3\xa9>; rel=canonical"),
        ("Content-Encoding", "gzip"),
        ("Content-Length", "7"),
        ("Transfer-Encoding", "chunked"),
        ("Set-Cookie", "a=b"),
    ]
    built = Conversion(HTML[0][1], page_body(1))
    packed = gzip.compress(b"<html><script src=/app.js></script>")
    writer.write("http://www.example.org/", "GET / HTTP/1.1", [], 200, headers, packed, MOMENT, built)
    writer.close()
    path = tmp_path / "crawl-00001.warc.gz"
    (page,) = documents(path)
    assert (page.body, page.content_type, page.content_language) == (built.body, built.content_type, "en")
    assert page.link == '</fr>; rel="alternate"; hreflang="fr", </%C3%A9>; rel=canonical'
    with path.open("rb") as file:
        (stored,) = (record.rec_headers.headers for record in ArchiveIterator(file) if record.rec_type == "conversion")
    names = {name for name, _ in stored if not name.startswith("WARC-")}
    assert names == {"Content-Type", "Content-Length", "Content-Language", "Link"}
    assert dict(stored)["Content-Length"] == str(len(built.body))


def test_each_record_is_a_gzip_member_of_its_own(archive: tuple[Path, list[Written]]) -> None:
    path, written = archive
    data = path.read_bytes()
    starts = []
    while data:
        starts.append(path.stat().st_size - len(data))
        member = zlib.decompressobj(31)
        assert member.decompress(data).startswith(b"WARC/1.1\r\n")
        data = member.unused_data
    assert len(starts) == 1 + 2 * len(written)
    assert starts[1::2] == [place.start for place in written]


def test_an_independent_reader_agrees(archive: tuple[Path, list[Written]]) -> None:
    warc = pytest.importorskip("fastwarc.warc")
    path, written = archive
    with path.open("rb") as file:
        records = [
            (record.headers["WARC-Target-URI"], record.stream_pos, record.reader.read())
            for record in warc.ArchiveIterator(file, record_types=warc.WarcRecordType.response, verify_digests=True)
        ]
    assert records == [
        (f"http://www.example.org/{number}", place.start, page_body(number)) for number, place in enumerate(written)
    ]


def test_a_file_that_is_there_is_never_added_to(tmp_path: Path) -> None:
    announced: list[tuple[str, bool]] = []
    for _ in range(2):
        writer = WarcWriter(tmp_path, "crawl", lambda name: announced.append((name, (tmp_path / name).exists())))
        write_page(writer, 1)
        writer.close()
        before = (tmp_path / "crawl-00001.warc.gz").stat().st_size
    assert announced == [("crawl-00001.warc.gz", False), ("crawl-00002.warc.gz", False)]
    assert (tmp_path / "crawl-00001.warc.gz").stat().st_size == before
    assert len(documents(tmp_path / "crawl-00002.warc.gz")) == 1


def test_no_file_without_an_exchange(tmp_path: Path) -> None:
    WarcWriter(tmp_path, "crawl").close()
    assert list(tmp_path.iterdir()) == []


def test_a_full_file_is_followed_by_another(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path, "crawl", max_bytes=1_500)
    names = [write_page(writer, number).archive for number in range(6)]
    writer.close()
    assert names == sorted(names)
    assert 1 < len(set(names)) < 6
    assert [d.url[-1] for name in sorted(set(names)) for d in documents(tmp_path / name)] == list("012345")


def test_written_exchanges_survive_the_writer(tmp_path: Path) -> None:
    writer = WarcWriter(tmp_path, "crawl")
    place = write_page(writer, 1)
    assert (tmp_path / place.archive).stat().st_size == place.end  # nothing waits in a buffer
    assert len(documents(tmp_path / place.archive)) == 1
    writer.close()


def test_truncate_to(archive: tuple[Path, list[Written]]) -> None:
    path, written = archive
    truncate_to(path, written[-1].end)
    assert len(documents(path)) == len(written)
    truncate_to(path, written[2].end)
    assert [document.url[-1] for document in documents(path)] == ["0", "1", "2"]
    assert rejects(path) == []
    with pytest.raises(RunError, match="expected at least"):
        truncate_to(path, written[3].end)
    with pytest.raises(RunError, match="cannot be cut"):
        truncate_to(path.with_name("missing"), 5)


# ---- what becomes of an answer


@pytest.mark.parametrize(
    ("status", "headers", "body", "reason"),
    [
        ("404 Not Found", HTML, b"<html>", "http-404"),
        ("206 Partial Content", HTML, b"<html>", "http-206"),
        ("304 Not Modified", [], b"", "http-304"),
        ("302 Found", HTML, b"<html>", "http-302"),  # leads nowhere
        ("OK", HTML, b"<html>", "damaged-record"),
        ("200 OK", [("Content-Type", "image/png")], b"<html>", "not-html"),
        ("200 OK", [("Content-Type", "application/pdf")], b"%PDF", "not-html"),
        ("200 OK", [], b"GIF89a", "not-html"),
        ("200 OK", HTML, b"<html>" + b"x" * LIMIT, "too-large"),
        ("200 OK", [*HTML, ("Content-Encoding", "gzip")], gzip.compress(b"x" * 10 * LIMIT, mtime=0), "too-large"),
        ("200 OK", [*HTML, ("Content-Encoding", "gzip")], gzip.compress(page_body(9), mtime=0)[:-9], "bad-encoding"),
        ("200 OK", [*HTML, ("Content-Encoding", "secret")], b"\1\2\3", "bad-encoding"),
    ],
)
def test_rejects(foreign: Foreign, status: str, headers: list[tuple[str, str]], body: bytes, reason: str) -> None:
    foreign.respond("http://example.org/a#b", status, headers, body)
    assert rejects(foreign.path) == [("http://example.org/a", reason)]
    assert documents(foreign.path) == []


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (HTML, page_body(9)),
        ([("content-type", "TEXT/HTML")], page_body(9)),
        ([("Content-Type", "application/xhtml+xml")], page_body(9)),
        ([("Content-Type", "image/png"), ("content-type", "text/html")], page_body(9)),
        ([], page_body(9)),
        ([*HTML, ("Content-Encoding", "gzip")], gzip.compress(page_body(9), mtime=0)),
        ([*HTML, ("Content-Encoding", "GZIP")], page_body(9)),  # unpacked by the tool, header kept
        ([*HTML, ("Transfer-Encoding", "chunked")], page_body(9)),  # chunks joined by the tool, header kept
        ([*HTML, ("Transfer-Encoding", "chunked")], b"%x\r\n%s\r\n0\r\n\r\n" % (len(page_body(9)), page_body(9))),
        (
            [*HTML, ("Transfer-Encoding", "Chunked"), ("Content-Encoding", "deflate")],
            b"%x\r\n%s\r\n0\r\n\r\n" % (len(zlib.compress(page_body(9))), zlib.compress(page_body(9))),
        ),
    ],
)
def test_pages(foreign: Foreign, headers: list[tuple[str, str]], body: bytes) -> None:
    foreign.respond("http://example.org/", "200 OK", headers, body)
    assert [document.body for document in documents(foreign.path)] == [page_body(9)]
    assert rejects(foreign.path) == []


def test_the_largest_page(foreign: Foreign) -> None:
    body = b"<html>".ljust(LIMIT)
    foreign.respond("http://example.org/", "200 OK", HTML, body)
    assert [document.body for document in documents(foreign.path)] == [body]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects(foreign: Foreign, status: int) -> None:
    foreign.respond("http://example.org/", f"{status} Moved", [*HTML, ("Location", "../b c")], b"<html>moved")
    (document,) = documents(foreign.path)
    assert (document.status, document.location, document.body) == (status, "../b c", b"")


def test_other_records(foreign: Foreign) -> None:
    response = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"
    foreign.add("warcinfo", "", b"software: x\r\n")
    foreign.add("request", "http://example.org/", b"GET / HTTP/1.1\r\n\r\n")
    foreign.add("metadata", "http://example.org/", b"a: b\r\n")
    foreign.add("response", "dns:example.org", b"1.2.3.4")
    foreign.add("response", "http://example.org/robots.txt", response)
    foreign.add("response", "http://example.org:99999/", response)
    foreign.add("response", "http://example.org/cut", response, WARC_Truncated="length")
    foreign.add("response", "http://example.org/empty", b"")
    foreign.add("revisit", "http://example.org/again", b"HTTP/1.1 200 OK\r\n\r\n")
    foreign.add("resource", "http://example.org/saved", page_body(1), Content_Type="text/html")
    foreign.add("resource", "http://example.org/i.png", b"x", Content_Type="image/png")
    foreign.add("resource", "file:///etc/passwd", page_body(1), Content_Type="text/html")
    assert [(document.url, document.body) for document in documents(foreign.path)] == [
        ("http://example.org/saved", page_body(1))
    ]
    assert rejects(foreign.path) == [
        ("http://example.org:99999/", "bad-url"),
        ("http://example.org/cut", "truncated"),
        ("http://example.org/empty", "damaged-record"),
        ("http://example.org/i.png", "not-html"),
        ("http://example.org/again", "revisit"),
    ]


def test_invalid_date_is_ignored(foreign: Foreign) -> None:
    response = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"
    foreign.add("response", "http://example.org/", response, WARC_Date="yesterday")
    assert documents(foreign.path)[0].fetched is None


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("text/html", b"", True),
        ("Text/HTML ; charset=x", b"", True),
        ("text/plain", b"<html>", False),
        ("", b"", False),
        ("", b"\xef\xbb\xbf <!-- x -->\n<!doctype HTML>", True),
        ("", "<html>".encode("utf-16"), True),
        ("application/octet-stream", b"<title>x</title>", True),
        ("application/xml", b'<?xml version="1.0"?><html xmlns="x">', True),
        ("application/xml", b'<?xml version="1.0"?><rss>', False),
        ("", b"a <htmlish> text", False),
        ("text/html, text/html; charset=utf-8", b"", True),
        ("text/html, charset=utf-8", b"", True),
        ("text/html charset=utf-8", b"", True),
        ("image/png, text/html", b"", True),
        ("text/html, image/png", b"<html>", False),
        ("text/html, */*", b"", True),
        ('image/png; name="a, text/html"', b"<html>", False),
        ("*/*", b"<html>", True),
        ("html", b"<html>", True),
    ],
)
def test_is_html(content_type: str, body: bytes, expected: bool) -> None:
    assert is_html(content_type, body) is expected


# ---- damage


def plain_copy(path: Path) -> tuple[Path, list[int]]:
    """Unpack an archive; return it and where its response records start."""
    data = gzip.decompress(path.read_bytes())
    copy = path.with_name("plain.warc")
    copy.write_bytes(data)
    with copy.open("rb") as file:
        iterator = ArchiveIterator(file)
        return copy, [iterator.get_record_offset() for record in iterator if record.rec_type == "response"]


def test_an_archive_without_compression(archive: tuple[Path, list[Written]]) -> None:
    packed, _ = archive
    plain, starts = plain_copy(packed)
    assert [document.body for document in documents(plain)] == [document.body for document in documents(packed)]
    assert [document.offset for document in documents(plain)] == starts
    assert rejects(plain) == []


def test_one_gzip_member_around_everything(archive: tuple[Path, list[Written]]) -> None:
    packed, written = archive
    whole = packed.with_name("whole.warc.gz")
    whole.write_bytes(gzip.compress(gzip.decompress(packed.read_bytes())))
    assert [document.body for document in documents(whole)] == [page_body(number) for number in range(len(written))]
    assert {document.offset for document in documents(whole)} == {0}
    assert rejects(whole) == []


def test_an_archive_cut_anywhere_loses_only_its_end(archive: tuple[Path, list[Written]]) -> None:
    path, written = archive
    data = path.read_bytes()
    responses_end = [starts_of_members(data)[2 + 2 * number] for number in range(len(written))]
    for size in range(20, len(data), 23):
        path.write_bytes(data[:size])
        items = read(path)
        n_whole = sum(end <= size for end in responses_end)
        assert [item.body for item in items if isinstance(item, Document)] == [page_body(n) for n in range(n_whole)]
        at_boundary = size in {*starts_of_members(data), len(data)}
        assert [item.reason for item in items if isinstance(item, Reject)] == [] if at_boundary else ["truncated"]


def starts_of_members(data: bytes) -> list[int]:
    starts = []
    rest = data
    while rest:
        starts.append(len(data) - len(rest))
        member = zlib.decompressobj(31)
        member.decompress(rest)
        rest = member.unused_data
    return starts


def test_a_plain_archive_cut_anywhere_loses_only_its_end(archive: tuple[Path, list[Written]]) -> None:
    plain, _ = plain_copy(archive[0])
    data = plain.read_bytes()
    starts = [match.start() for match in re.finditer(b"WARC/1.1\r\n", data)]
    ends = [start - len("\r\n\r\n") for start in [*starts[1:], len(data)]]
    for size in range(20, len(data), 41):
        plain.write_bytes(data[:size])
        items = read(plain)
        n_pages = sum(end <= size for end in ends[1::2])
        assert [item.body for item in items if isinstance(item, Document)] == [page_body(n) for n in range(n_pages)]
        cut = any(start < size < end for start, end in zip(starts, ends, strict=True))
        assert [item.reason for item in items if isinstance(item, Reject)] == ["truncated"] * cut


@pytest.mark.parametrize("length", [b"99999999", b"9" * 20])
def test_a_length_beyond_the_end_costs_one_record(archive: tuple[Path, list[Written]], length: bytes) -> None:
    plain, n_pages = plain_copy(archive[0])[0], len(archive[1])
    data = plain.read_bytes()
    lengths = [found.span(1) for found in re.finditer(rb"Content-Length: (\d+)\r\n\r\nHTTP", data)]
    for number, (start, end) in enumerate(lengths):
        plain.write_bytes(data[:start] + length + data[end:])
        assert [document.body for document in documents(plain)] == [page_body(n) for n in range(n_pages) if n != number]
        is_last = number == n_pages - 1 and b"WARC/" not in data[end:]
        assert [reason for _, reason in rejects(plain)] == ["truncated" if is_last else "damaged-record"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"WARC-Type: response", b"WARC-Type: resp0nse"),
        (b"WARC-Type: response\r\n", b""),
        (b"WARC-Type", b"WARC%Type"),
        (b"WARC-Target-URI", b"WARC-Target-ORI"),
        (b"WARC-Target-URI: http:", b"WARC-Target-URI: \x1b http:"),
        (b"WARC-Target-URI", b"WARC-Target-URI: http://example.org/9\r\nWARC-Target-URI"),
    ],
)
def test_a_record_that_does_not_say_what_it_is_is_counted(foreign: Foreign, before: bytes, after: bytes) -> None:
    for number in range(3):
        response = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page_body(number)
        foreign.add("response", f"http://example.org/{number}", response)
    members = [gzip.decompress(part) for part in split_members(foreign.path.read_bytes())]
    members[1] = members[1].replace(before, after)
    foreign.path.write_bytes(b"".join(map(gzip.compress, members)))
    assert [document.body for document in documents(foreign.path)] == [page_body(0), page_body(2)]
    assert [reason for _, reason in rejects(foreign.path)] == ["damaged-record"]


def test_a_record_that_was_swallowed_by_the_one_before_it_is_found(archive: tuple[Path, list[Written]]) -> None:
    """The length of a record reaches a few bytes into the next one."""
    plain, n_pages = plain_copy(archive[0])[0], len(archive[1])
    data = plain.read_bytes()
    start, end = next(found.span(1) for found in re.finditer(rb"Content-Length: (\d+)\r\n\r\nHTTP", data))
    body = data.index(page_body(0)) + len(page_body(0))
    lines = body + len(b"\r\n\r\nWARC/1.1")
    assert data[body:lines] == b"\r\n\r\nWARC/1.1"
    plain.write_bytes(data[:start] + b"%d" % (int(data[start:end]) + lines - body) + data[end:])
    # Behind the response comes its request: what is swallowed here is no page, but all that follows is read.
    assert [document.body for document in documents(plain)][-n_pages + 1 :] == [page_body(n) for n in range(1, n_pages)]
    assert "damaged-record" in [reason for _, reason in rejects(plain)]


def test_a_record_behind_a_damaged_line_break_is_found(archive: tuple[Path, list[Written]]) -> None:
    plain, starts = plain_copy(archive[0])
    data = bytearray(plain.read_bytes())
    data[starts[2] - 1] = 0x0B  # behind the request of the page before it
    plain.write_bytes(bytes(data))
    assert [document.body for document in documents(plain)] == [page_body(n) for n in range(len(archive[1]))]
    assert [reason for _, reason in rejects(plain)] == ["damaged-record"]


def test_a_head_that_runs_into_the_next_one_costs_itself_alone(foreign: Foreign) -> None:
    plain = Foreign(foreign.path.with_suffix(".warc"), packed=False)
    for name in "abc":
        plain.respond(f"http://a.org/{name}", "200 OK", HTML, b"<p>%b" % name.encode())
    data = plain.path.read_bytes()
    start = data.index(b"WARC-Type: response", data.index(b"http://a.org/a"))
    second = data.rindex(b"WARC/1.", 0, start)
    plain.path.write_bytes(data[: start + 14] + b"\r\n" + data[second:])  # the first ends amid its head
    assert [document.url for document in documents(plain.path)][-2:] == ["http://a.org/b", "http://a.org/c"]
    assert [reason for _, reason in rejects(plain.path)] == ["damaged-record"]


@pytest.mark.parametrize("n_bytes", [1, 200])
def test_packed_records_behind_a_damaged_beginning_are_found(foreign: Foreign, n_bytes: int) -> None:
    for name in "abc":
        foreign.respond(f"http://a.org/{name}", "200 OK", HTML, b"<p>%b" % name.encode())
    foreign.path.write_bytes(b"O" * n_bytes + foreign.path.read_bytes()[n_bytes:])
    assert [document.url for document in documents(foreign.path)] == ["http://a.org/b", "http://a.org/c"]
    assert [reason for _, reason in rejects(foreign.path)] == ["damaged-record"]


def test_junk_that_reads_like_an_old_head_is_no_record(foreign: Foreign) -> None:
    """warcio takes a line of five words for the head of an ARC record."""
    foreign.respond("http://a.org/a", "200 OK", HTML, b"<p>a")
    foreign.path.write_bytes(b"http://x.org/ 1.2.3.4 20200101000000 text/html x\n" + foreign.path.read_bytes())
    assert [document.url for document in documents(foreign.path)] == ["http://a.org/a"]
    assert [reason for _, reason in rejects(foreign.path)] == ["damaged-record"]


def test_records_of_other_kinds_are_not_counted_as_lost(foreign: Foreign) -> None:
    foreign.add("screenshot", "urn:view:http://example.org/", b"x", Content_Type="image/png")
    foreign.add("metadata", "http://example.org/", b"a: b")
    assert read(foreign.path) == []


def split_members(data: bytes) -> list[bytes]:
    starts = [*starts_of_members(data), len(data)]
    return [data[start:end] for start, end in pairwise(starts)]


@pytest.mark.parametrize("broken", range(6))
def test_damage_costs_one_record(archive: tuple[Path, list[Written]], broken: int) -> None:
    path, written = archive
    data = bytearray(path.read_bytes())
    start, end = written[broken].start, starts_of_members(bytes(data))[2 + 2 * broken]
    for place in range(start + 12, end - 8):  # a member with its header and trailer in place, and junk between
        data[place] = 0xAA
    path.write_bytes(data)
    assert [document.url[-1] for document in documents(path)] == [str(n) for n in range(6) if n != broken]
    assert [(item.reason, item.detail.split(":")[0]) for item in read(path) if isinstance(item, Reject)] == [
        ("damaged-record", f"at {start}")
    ]


def test_a_wrong_checksum_is_damage(archive: tuple[Path, list[Written]]) -> None:
    path, written = archive
    data = bytearray(path.read_bytes())
    data[starts_of_members(bytes(data))[2] - 8] ^= 1
    path.write_bytes(data)
    assert [reason for _, reason in rejects(path)] == ["damaged-record"]
    assert len(documents(path)) == len(written) - 1


def test_only_records_in_a_lost_part_are_lost(archive: tuple[Path, list[Written]]) -> None:
    path, written = archive
    data = path.read_bytes()
    path.write_bytes(data[: written[1].start + 30] + data[written[3].start + 30 :])
    assert [document.url[-1] for document in documents(path)] == ["0", "4", "5"]


@pytest.mark.parametrize("error", [40, -10])
def test_a_wrong_length_in_a_plain_archive(archive: tuple[Path, list[Written]], error: int) -> None:
    plain, starts = plain_copy(archive[0])
    data = plain.read_bytes()
    head, tail = data[: starts[2]], data[starts[2] :]
    length = int(tail.split(b"Content-Length: ", 1)[1].split(b"\r\n", 1)[0])
    tail = tail.replace(b"Content-Length: %d" % length, b"Content-Length: %d" % (length + error), 1)
    plain.write_bytes(head + tail)
    assert [document.url[-1] for document in documents(plain)] == ["0", "1", "3", "4", "5"]
    assert [reason for _, reason in rejects(plain)] == ["damaged-record"]


@pytest.mark.parametrize(
    "record",
    [
        b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 20\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx\r\n\r\n",  # no address
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.org/\r\nContent-Length: -5\r\n\r\n\r\n\r\n",
        b"WARC/1.0\r\n\r\n",
        b"no record at all",
        b"",
    ],
)
def test_malformed_records_between_good_ones(archive: tuple[Path, list[Written]], record: bytes) -> None:
    path, written = archive
    data = path.read_bytes()
    start = written[3].start
    path.write_bytes(data[:start] + gzip.compress(record) + data[start:])
    assert len(documents(path)) == len(written)
    assert {reason for _, reason in rejects(path)} <= {"damaged-record"}


def test_file_that_is_not_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    for data in (b"no archive", gzip.compress(b"no archive"), b"\x1f\x8b\x08 broken"):
        path.write_bytes(data)
        with pytest.raises(InputError, match="expected a WARC file"):
            read(path)
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "missing.warc.gz")


def test_an_empty_archive_has_no_pages(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"")
    assert read(path) == []


# ---- archives that were made to be slow


HEAD = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.org/\r\nContent-Length: %d\r\n\r\n"
LINES = b"X: a\r\n" * 1_000_000


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("lines.warc", lambda: b"WARC/1.0\n" * 100_000),  # each might begin a record whose head is the rest of the file
        ("heads.warc", lambda: b"".join(HEAD % (95_000 - 95 * n) for n in range(1_000)) + b"x"),  # records in records
        ("magic.warc.gz", lambda: b"\x1f\x8b\x08\0" * 20_000),
        ("empty.warc.gz", lambda: gzip.compress(b"", mtime=0) * 5_000),
        ("blank.warc.gz", lambda: gzip.compress(HEAD % 0 + b"\r\n" * 10_000_000, mtime=0)),
        ("head.warc.gz", lambda: gzip.compress(b"WARC/1.0\r\n" + LINES, mtime=0)),
        ("line.warc.gz", lambda: gzip.compress(b"WARC/1.0\r\nX: " + b"a" * 50_000_000, mtime=0)),
        ("answer.warc.gz", lambda: gzip.compress(HEAD % 6_000_017 + b"HTTP/1.1 200 OK\r\n" + LINES, mtime=0)),
        (
            "body.warc.gz",
            lambda: gzip.compress(HEAD % 50_000_019 + b"HTTP/1.1 200 OK\r\n\r\n" + b"a" * 50_000_000, mtime=0),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_archive_that_was_made_to_be_slow(tmp_path: Path, name: str, made: Callable[[], bytes]) -> None:
    path = tmp_path / name
    path.write_bytes(made())
    tracemalloc.start()
    with contextlib.suppress(InputError):  # of some of them: not one record
        assert documents(path) == []
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_members_without_a_record_end_the_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []
    member = records._Member
    monkeypatch.setattr(
        records, "_Member", lambda file, start, *rest: opened.append(start) or member(file, start, *rest)
    )
    path = tmp_path / "x.warc.gz"
    path.write_bytes(gzip.compress(b"", mtime=0) * 50_000)
    with pytest.raises(InputError, match="expected a WARC file"):
        read(path)
    assert len(opened) < 3_000  # 64 MB, and the file eight times over


def test_a_member_that_unpacks_to_a_hundred_times_its_size_is_left(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    length = 2**27
    packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    bomb = packer.compress(HEAD % length + b"HTTP/1.1 200 OK\r\n\r\n")
    path.write_bytes(bomb + b"".join(packer.compress(bytes(2**20)) for _ in range(2**7)) + packer.flush())
    with path.open("ab") as file:
        file.write(gzip.compress(HEAD % 3 + b"<p>\r\n\r\n"))
    assert next(item.reason for item in read(path) if isinstance(item, Reject)) == "damaged-record"
    assert "times the packed size" in next(item.detail for item in read(path) if isinstance(item, Reject))


def test_too_much_damage_ends_the_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(b"".join(HEAD % 300 for _ in range(1_000)))
    whole = len(rejects(path))
    monkeypatch.setattr(records, "_MAX_READINGS", 1)
    monkeypatch.setattr(records, "_FREE_BYTES", 0)
    found = [item for item in read(path) if isinstance(item, Reject)]
    assert len(found) < whole
    assert "the rest is not read" in found[-1].detail


def test_damage_is_not_spoken_of_on_the_screen(
    archive: tuple[Path, list[Written]], capsys: pytest.CaptureFixture[str]
) -> None:
    plain, starts = plain_copy(archive[0])
    data = plain.read_bytes()
    plain.write_bytes(data[: starts[2] + 400] + b"x" * 30 + data[starts[2] + 400 :])
    assert rejects(plain)
    assert capsys.readouterr() == ("", "")


def test_an_address_that_steers_a_terminal_is_not_spoken_of_on_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "escapes.warc"
    foreign = Foreign(path, packed=False)
    foreign.respond("http://a.org/x", "200 OK", HTML, b"<p>page")
    path.write_bytes(path.read_bytes().replace(b"http://a.org/x", b"http://a.org/a b\x1b[2J\x07"))
    words = "import sys, pathlib; from twinlink.sources.warc import read_warc;"
    words += "print([item.url for item in read_warc(pathlib.Path(sys.argv[1]), 10_000)])"
    done = subprocess.run([sys.executable, "-c", words, path], capture_output=True, text=True, check=True)
    assert done.stdout == "['http://a.org/a%20b%1B[2J']\n"
    assert done.stderr == ""
