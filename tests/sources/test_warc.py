"""Archives of other tools: their record kinds, pages that are written only once, ARC, and what wget really writes."""

from __future__ import annotations

import functools
import gzip
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from tests.archives import HTML, add_record, captures, pack_members, respond
from twinlink.errors import InputError
from twinlink.sources.documents import Document
from twinlink.sources.warc import Exchanges, archive_of, read_archives, read_warc
from twinlink.tables import Reject

LIMIT = 100_000
URL = "http://www.example.org/"
ONE, TWO = b"<html><p>one</p>", b"<html><p>two</p>"
DIGEST = "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"

Item = tuple[str, str]


def outcome(*paths: Path) -> tuple[list[tuple[str, bytes]], list[Item]]:
    """Return the documents (address, body) and the rejects (address, reason) of archives."""
    items = list(read_archives([archive_of(path) for path in paths], LIMIT))
    return (
        [(item.url, item.body) for item in items if isinstance(item, Document)],
        [(item.url, item.reason) for item in items if isinstance(item, Reject)],
    )


# ---- pages that are written once


def first_visit(path: Path, url: str = URL + "a", body: bytes = ONE) -> Path:
    respond(path, url, body, WARC_Payload_Digest=DIGEST)
    return path


def revisit(path: Path, url: str = URL + "b", status: str = "200 OK", headers=HTML, **fields: str) -> Path:
    fields = {"WARC_Payload_Digest": DIGEST, "WARC_Profile": IDENTICAL, **fields}
    respond(path, url, b"", status, headers, kind="revisit", **fields)
    return path


def test_the_same_page_at_another_address(tmp_path: Path) -> None:
    path = revisit(first_visit(tmp_path / "a.warc.gz"))
    assert outcome(path) == ([(URL + "a", ONE), (URL + "b", ONE)], [])
    place = captures(path)[1][1]
    assert list(read_warc(path, LIMIT))[1].offset == place  # its own record, which has its time


@pytest.mark.parametrize("order", [1, -1])
def test_the_page_may_lie_in_another_archive(tmp_path: Path, order: int) -> None:
    paths = [first_visit(tmp_path / "a.warc.gz"), revisit(tmp_path / "b.warc.gz")][::order]
    assert outcome(*paths) == ([(URL + "a", ONE), (URL + "b", ONE)], [])


def test_headers_of_the_visit_count_before_those_of_the_first(tmp_path: Path) -> None:
    path = first_visit(tmp_path / "a.warc.gz")
    revisit(path, headers=[("Content-Type", "text/html; charset=big5"), ("Content-Language", "zh")])
    add_record(path, "revisit", URL + "c", b"", WARC_Payload_Digest=DIGEST)  # no headers, as the standard allows
    documents = {item.url: item for item in read_warc(path, LIMIT)}
    assert (documents[URL + "b"].content_type, documents[URL + "b"].content_language) == (
        "text/html; charset=big5",
        "zh",
    )
    assert documents[URL + "c"].content_type == "text/html; charset=utf-8"


@pytest.mark.parametrize(
    ("fields", "first", "reasons"),
    [
        ({"url": URL + "a"}, True, [(URL + "a", "revisit")]),  # unchanged: the page is there already
        ({"url": URL + "a", "WARC_Refers_To_Target_URI": URL + "a"}, False, [(URL + "a", "revisit")]),
        (
            {"WARC_Profile": NOT_MODIFIED, "status": "304 Not Modified", "WARC_Payload_Digest": "sha1:OTHER"},
            True,
            [(URL + "b", "revisit")],
        ),
        ({"WARC_Payload_Digest": "sha1:OTHER"}, True, [(URL + "b", "revisit")]),
        ({}, False, [(URL + "b", "revisit")]),
        ({"headers": [("Content-Type", "image/png")]}, True, [(URL + "b", "not-html")]),
        ({"status": "404 Not Found"}, True, [(URL + "b", "http-404")]),
    ],
)
def test_other_revisits_are_counted(tmp_path: Path, fields, first: bool, reasons: list[Item]) -> None:
    path = tmp_path / "a.warc.gz"
    if first:
        first_visit(path)
    revisit(path, **fields)
    assert outcome(path) == ([(URL + "a", ONE)] if first else [], reasons)


def test_an_unmodified_page_of_another_address(tmp_path: Path) -> None:
    path = revisit(
        first_visit(tmp_path / "a.warc.gz"), status="304 Not Modified", headers=[], WARC_Profile=NOT_MODIFIED
    )
    assert outcome(path) == ([(URL + "a", ONE), (URL + "b", ONE)], [])


def test_a_redirect_that_was_seen_before(tmp_path: Path) -> None:
    path = revisit(tmp_path / "a.warc.gz", status="301 Moved", headers=[("Location", "/c")])
    (redirect,) = read_warc(path, LIMIT)
    assert (redirect.url, redirect.status, redirect.location) == (URL + "b", 301, "/c")


def test_a_page_that_was_no_page_is_none_at_another_address_either(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    respond(path, URL + "a", b"x" * (LIMIT + 1), WARC_Payload_Digest=DIGEST)
    assert outcome(revisit(path)) == ([], [(URL + "a", "too-large"), (URL + "b", "revisit")])


def test_archives_that_vanish_are_no_crash(tmp_path: Path) -> None:
    exchanges = Exchanges(LIMIT)
    path = revisit(first_visit(tmp_path / "a.warc.gz"))
    assert len(list(exchanges.read(archive_of(path)))) == 1
    path.unlink()
    assert [item.reason for item in exchanges.finish()] == ["revisit"]


# ---- other kinds of records and files


def test_a_segmented_record_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    respond(path, URL, ONE, WARC_Segment_Number="1")
    assert outcome(path) == ([], [(URL, "truncated")])


def test_a_scheme_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    respond(path, URL.replace("http:", "HTTP:"), ONE)
    assert outcome(path) == ([(URL, ONE)], [])


def test_what_a_browser_crawler_writes(tmp_path: Path) -> None:
    path = tmp_path / "rec.warc.gz"
    add_record(path, "resource", "urn:pageinfo:http://www.example.org/", b"{}", Content_Type="application/json")
    add_record(path, "resource", "urn:text:http://www.example.org/", b"text", Content_Type="text/plain")
    # The body as the browser had it, the header of its packing renamed; no reason phrase, as in HTTP/2.
    respond(path, URL, ONE, "200", [*HTML, ("x-orig-content-encoding", "br"), ("X-Orig-Transfer-Encoding", "chunked")])
    assert outcome(path) == ([(URL, ONE)], [])


def test_what_common_crawl_writes(tmp_path: Path) -> None:
    path = tmp_path / "CC-MAIN-20260101000000-00000.warc.gz"
    kept = [*HTML, ("X-Crawler-Content-Encoding", "gzip"), ("Content-Length", str(len(ONE)))]
    respond(path, URL, ONE, headers=kept, WARC_Identified_Payload_Type="text/html")
    respond(path, URL + "long", ONE, WARC_Truncated="length")
    add_record(path, "metadata", URL, b"fetchTimeMs: 1\r\n")
    assert outcome(path) == ([(URL, ONE)], [(URL + "long", "truncated")])


def arc_members() -> list[bytes]:
    """Return an ARC file, the form of the Internet Archive's files before WARC, as pieces."""
    about = b"1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n"
    pieces = [b"filedesc://x.arc 0.0.0.0 20010101000000 text/plain %d\n%b\n" % (len(about), about)]
    for name, body in ((b"a", ONE), (b"b", TWO)):
        payload = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
        head = b"%b%b 1.2.3.4 20010203040506 text/html %d\n" % (URL.encode(), name, len(payload))
        pieces.append(head + payload + b"\n")
    return pieces


def test_arc(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.arc", tmp_path / "b.arc.gz"
    plain.write_bytes(b"".join(arc_members()))
    packed.write_bytes(pack_members(arc_members()))
    pages = [(URL + "a", ONE), (URL + "b", TWO)]
    assert outcome(plain) == outcome(packed) == (pages, [])
    first = next(iter(read_warc(packed, LIMIT)))
    assert first.fetched is not None
    assert first.fetched.isoformat() == "2001-02-03T04:05:06+00:00"


def test_an_arc_head_that_swallows_a_page_is_counted(tmp_path: Path) -> None:
    """The head's line runs into a piece of another record, which ends in a length; a page lies within that length."""
    about, one, two = arc_members()
    path = tmp_path / "a.arc"
    path.write_bytes(about[:40] + b"TYPE html><p>x</p> 1.2 x text/html %d\n" % (len(one) - 1) + one + two)
    pages, rejects = outcome(path)
    assert pages == [(URL + "b", TWO)]
    assert rejects == [(path.name, "damaged-record")]


def test_damage_in_arc_costs_one_record(tmp_path: Path) -> None:
    about, one, two = map(functools.partial(gzip.compress, mtime=0), arc_members())
    path = tmp_path / "a.arc.gz"
    path.write_bytes(about + one[:12] + b"\xaa" * (len(one) - 20) + one[-8:] + two)
    assert outcome(path) == ([(URL + "b", TWO)], [(path.name, "damaged-record")])


def test_one_bad_file_of_several_is_counted(tmp_path: Path) -> None:
    good, bad, gone = tmp_path / "good.warc.gz", tmp_path / "bad.warc.gz", tmp_path / "gone.warc.gz"
    respond(good, URL, ONE)
    bad.write_bytes(b"no archive")
    assert outcome(bad, good, gone) == (
        [(URL, ONE)],
        [(bad.name, "damaged-record"), (bad.name, "damaged-record"), (gone.name, "damaged-record")],
    )
    with pytest.raises(InputError, match=r"bad\.warc\.gz: expected a WARC file"):
        outcome(bad, gone)


# ---- the tool itself

SITE = {
    "index.html": "<html><meta charset=utf-8><p>Welcome</p><a href=en/a.html>a</a> <a href='en/p.html?id=3'>p</a>",
    "en/a.html": "<html><meta charset=utf-8><p>立法會</p><a href=/bare>bare</a> <a href=/gone.html>gone</a>",
    "bare": "<html><meta charset=utf-8><p>no ending</p><a href=index.html>home</a>",
    "en/p.html": "<html><meta charset=utf-8><p>query</p>",
    "image.png": "x",
}


class _Handler(SimpleHTTPRequestHandler):
    extensions_map: ClassVar[dict[str, str]] = {**SimpleHTTPRequestHandler.extensions_map, "": "text/html"}

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    for name, text in SITE.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    handler = functools.partial(_Handler, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}/"
        http.shutdown()
        thread.join()


def wget(folder: Path, *arguments: str) -> None:
    folder.mkdir(exist_ok=True)
    command = ["wget", "-q", "--no-config", "-r", "-e", "robots=off", "-e", "use_proxy=no", *arguments]
    subprocess.run(command, cwd=folder, check=False, timeout=60)  # its exit code tells of the 404


@pytest.mark.skipif(not shutil.which("wget"), reason="needs wget")
def test_an_archive_of_wget(tmp_path: Path, server: str) -> None:
    wget(tmp_path / "out", "--warc-file=site", "--warc-cdx", server + "index.html")
    documents, rejects = outcome(tmp_path / "out" / "site.warc.gz")
    assert dict(documents) == {
        server + "index.html": SITE["index.html"].encode(),
        server + "en/a.html": SITE["en/a.html"].encode(),
        server + "en/p.html?id=3": SITE["en/p.html"].encode(),
        server + "bare": SITE["bare"].encode(),
    }
    assert rejects == [(server + "gone.html", "http-404")]


@pytest.mark.skipif(not shutil.which("wget"), reason="needs wget")
@pytest.mark.parametrize("options", [(), ("-k",), ("-E", "-k"), ("-E", "-k", "-K"), ("--restrict-file-names=windows",)])
def test_a_mirror_of_wget(tmp_path: Path, server: str, options: tuple[str, ...]) -> None:
    from twinlink.pages.parser import parse_page
    from twinlink.sources.mirror import read_mirror

    wget(tmp_path / "out", *options, server + "index.html")
    documents = list(read_mirror(tmp_path / "out", "", LIMIT))
    pages = {item.url: item for item in documents if not item.location}
    # -k makes links of names: without -K, nothing says that -E added an ending.
    bare = "bare.html" if options == ("-E", "-k") else "bare"
    assert set(pages) == {server + name for name in ("index.html", "en/a.html", "en/p.html?id=3", bare)}
    aliases = {item.url: item.location for item in documents if item.location}
    start = pages[server + "index.html"]
    targets = [link.url for link in parse_page(start.body, start.url).links]
    assert [aliases.get(target, target) for target in targets] == [server + "en/a.html", server + "en/p.html?id=3"]
    if "-K" in options:
        assert start.body == SITE["index.html"].encode()
