"""Several captures of one address: the latest counts, whatever the order of files and records."""

from __future__ import annotations

import itertools
import random
import shutil
import subprocess
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.archives import HTML, add_record, respond, write_wacz
from tests.loopback import Answer, serving
from twinlink.config import CrawlSettings, IngestSettings
from twinlink.ingest import page_spool as spool
from twinlink.ingest import table_parts as parts
from twinlink.ingest.captures import Kind, rank
from twinlink.ingest.stage import ingest
from twinlink.rundir.directory import RunDirectory
from twinlink.spiders.crawling import crawl
from twinlink.tables import LINKS, PAGES, REJECTS, read_table

BASE = "http://www.example.org/"
DIGEST = "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
Rows = list[dict[str, object]]


def date(day: int) -> str:
    return f"2026-01-{day:02}T03:04:05Z"


def tables(folder: Path, *sources: Path) -> tuple[Rows, Rows, Rows]:
    run = RunDirectory.create(folder)
    ingest(run, sources, IngestSettings())
    stage = run.stage_folder("ingest")
    return (
        read_table(stage / "pages", PAGES).to_pylist(),
        read_table(stage / "links", LINKS).to_pylist(),
        read_table(stage / "rejects.parquet", REJECTS).to_pylist(),
    )


def said(rejects: Rows) -> list[tuple[object, ...]]:
    return [(str(row["url"]).removeprefix(BASE), row["reason"], row["detail"]) for row in rejects]


def text(row: dict[str, object]) -> str:
    blocks = row["blocks"]
    assert isinstance(blocks, list)
    return " ".join(blocks)


def page(words: str, *hrefs: str) -> bytes:
    return f"<html><p>{words}</p>{' '.join(f'<a href={href}>{href}</a>' for href in hrefs)}".encode()


def put(
    path: Path, name: str, day: int, body: bytes, status: str = "200 OK", packed: bool = True, **more: object
) -> Path:
    headers = [*HTML, *([("Location", str(more.pop("location")))] if "location" in more else [])]
    fields = {key: str(value) for key, value in more.items()}
    kind = fields.pop("kind", "response")
    respond(path, BASE + name, body, status, headers, packed, kind, WARC_Date=date(day), **fields)
    return path


ANSWERS: list[tuple[str, int, bytes, dict[str, Any]]] = [
    ("a", 1, page("first a", "b"), {}),
    ("a", 3, page("third a", "b", "c"), {}),
    ("a", 2, page("second a"), {}),
    ("b", 1, page("b"), {}),
    ("b", 5, b"", {"status": "404 Not Found"}),
    ("c", 4, b"", {"status": "410 Gone"}),
    ("c", 5, page("c is back"), {}),
    ("d", 1, page("d"), {}),
    ("d", 2, b"", {"status": "301 Moved", "location": "/a"}),
    ("e", 1, page("e", "d", "b", "c"), {}),
    ("e", 2, b"", {"status": "503 Busy"}),
    ("f", 1, page("f"), {}),
    ("f", 2, b"<html>", {}),
    ("x?b=1&a=1", 1, page("x one"), {}),
    ("x?a=1&b=1", 2, page("x two"), {}),
    ("y/", 1, page("twin"), {}),
    ("y/index.html", 1, page("twin"), {}),
    ("z/", 1, page("no twins any more"), {}),
    ("z/index.html", 1, page("no twins any more"), {}),
    ("z/", 2, page("the first of them has changed"), {}),
    ("same", 1, page("same"), {}),
    ("same", 2, page("same"), {}),
]


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_files_and_records_changes_nothing(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = [*ANSWERS]
    random.Random(seed).shuffle(order)
    monkeypatch.setattr(spool, "BATCH_PAGES", (1, 2, 5, 1000)[seed])
    monkeypatch.setattr(parts, "HELD_BYTES", 0 if seed % 2 else 2**25)
    files = [tmp_path / f"{number}.warc.gz" for number in range(3)]
    for number, (name, day, body, fields) in enumerate(order):
        put(files[number % 3], name, day, body, **fields)
    pages, links, rejects = tables(tmp_path / "run", *files[:: 1 if seed % 2 else -1])
    found = {str(row["url"]).removeprefix(BASE): text(row) for row in pages}
    assert found == {
        "a": "third a b c",
        "c": "c is back",
        "e": "e d b c",
        "x?a=1&b=1": "x two",
        "y/index.html": "twin",
        "z/": "the first of them has changed",
        "z/index.html": "no twins any more",
        "same": "same",
    }
    urls = {row["page_id"]: str(row["url"]).removeprefix(BASE) for row in pages}
    assert {(urls[row["source"]], str(row["target_url"])[len(BASE) :], urls.get(row["target"])) for row in links} == {
        ("a", "b", None),
        ("a", "c", "c"),
        ("e", "d", "a"),
        ("e", "b", None),
        ("e", "c", "c"),
    }
    assert said(rejects) == [
        ("a", "older-capture", "changed"),
        ("a", "older-capture", "changed"),
        ("b", "http-404", ""),
        ("b", "older-capture", "changed"),
        ("c", "older-capture", "gone"),
        ("d", "older-capture", "changed"),
        ("d", "redirect", BASE + "a"),
        ("e", "http-503", ""),
        ("f", "empty-page", ""),
        ("f", "older-capture", "changed"),
        ("same", "older-capture", "same"),
        ("x?a=1&b=1", "older-capture", "changed"),
        ("y/", "duplicate-page", BASE + "y/index.html"),
        ("z/", "older-capture", "changed"),
    ]


def test_a_file_without_a_date_is_older_than_any_capture(tmp_path: Path) -> None:
    folder = tmp_path / "www.example.org"
    folder.mkdir()
    (folder / "a").write_bytes(page("saved"))
    archive = put(tmp_path / "x.warc.gz", "a", 1, page("fetched"))
    for number, sources in enumerate(((folder, archive), (archive, folder))):
        pages, _, rejects = tables(tmp_path / str(number), *sources)
        assert [text(row) for row in pages] == ["fetched"]
        assert said(rejects) == [("a", "older-capture", "changed")]


@pytest.mark.parametrize("moment", [None, datetime(2026, 1, 1, tzinfo=UTC)])
def test_ranks_go_by_date_then_kind(moment: datetime | None) -> None:
    later = datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC)
    kinds = [rank(kind, moment, b"", "u", "p") for kind in (Kind.GONE, Kind.REDIRECT, Kind.EMPTY, Kind.PAGE)]
    assert kinds == sorted(kinds)
    assert max(kinds) < rank(Kind.GONE, later, b"", "u", "p")
    assert {len(one) for one in kinds} == {45}


# ---- visits that brought no body


def revisit(
    path: Path,
    name: str,
    day: int,
    of: tuple[str, int] | None,
    status: str = "200 OK",
    packed: bool = True,
    **fields: str,
) -> Path:
    refers = {}
    if of:
        refers = {"WARC_Refers_To_Target_URI": BASE + of[0], "WARC_Refers_To_Date": date(of[1])}
    profile = NOT_MODIFIED if status.startswith("304") else IDENTICAL
    return put(path, name, day, b"", status, packed, kind="revisit", WARC_Profile=profile, **refers, **fields)


DIGESTS: dict[str, Any] = {"WARC_Payload_Digest": DIGEST}
UNMODIFIED: dict[str, Any] = {"status": "304 Not Modified"}


@pytest.mark.parametrize(
    ("of", "fields"),
    [
        (("a", 1), DIGESTS),
        (("a", 1), UNMODIFIED),
        (("a", 1), DIGESTS | UNMODIFIED),
        (None, UNMODIFIED),  # older tools say no more than that
        (None, DIGESTS),
    ],
)
@pytest.mark.parametrize("order", list(itertools.permutations(range(2))))
def test_a_page_that_is_unchanged_stays_what_it_is(
    tmp_path: Path, of: tuple[str, int] | None, fields: dict[str, Any], order: tuple[int, ...]
) -> None:
    paths = [tmp_path / "a.warc.gz", tmp_path / "b.warc.gz"]
    put(paths[0], "a", 1, page("a"), WARC_Payload_Digest=DIGEST)
    revisit(paths[1], "a", 3, of, **fields)
    pages, _, rejects = tables(tmp_path / "run", *(paths[number] for number in order))
    assert [(text(row), row["source"]) for row in pages] == [("a", "a.warc.gz")]
    assert said(rejects) == [("a", "revisit", "unchanged")]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_page_that_is_again_what_it_was(tmp_path: Path, order: tuple[int, ...]) -> None:
    paths = [tmp_path / f"{number}.warc.gz" for number in range(3)]
    put(paths[0], "a", 1, page("one"), WARC_Payload_Digest=DIGEST)
    put(paths[1], "a", 2, page("two"), WARC_Payload_Digest="sha1:B")
    revisit(paths[2], "a", 3, ("a", 1), **DIGESTS)
    pages, _, rejects = tables(tmp_path / "run", *(paths[number] for number in order))
    assert [(text(row), row["source"]) for row in pages] == [("one", "2.warc.gz")]
    assert said(rejects) == [("a", "older-capture", "changed"), ("a", "older-capture", "same")]


def test_a_visit_does_not_hold_against_a_later_change(tmp_path: Path) -> None:
    path = put(tmp_path / "a.warc.gz", "a", 1, page("one"), WARC_Payload_Digest=DIGEST)
    revisit(path, "a", 2, ("a", 1), **DIGESTS)
    put(path, "a", 3, page("two"), WARC_Payload_Digest="sha1:B")
    pages, _, rejects = tables(tmp_path / "run", path)
    assert [text(row) for row in pages] == ["two"]
    assert said(rejects) == [("a", "older-capture", "changed"), ("a", "older-capture", "revisit")]


@pytest.mark.parametrize("fields", [DIGESTS, UNMODIFIED])
def test_a_visit_whose_page_is_not_in_the_input_is_counted(tmp_path: Path, fields: dict[str, Any]) -> None:
    path = put(tmp_path / "a.warc.gz", "b", 1, page("b"))
    revisit(path, "a", 2, ("a", 1), **fields)
    pages, _, rejects = tables(tmp_path / "run", path)
    assert len(pages) == 1
    assert said(rejects) == [("a", "revisit", "no page with its payload in these archives")]


def test_a_payload_of_another_address_in_another_source(tmp_path: Path) -> None:
    first = put(tmp_path / "a.warc.gz", "a", 1, page("a"), WARC_Payload_Digest=DIGEST)
    second = revisit(tmp_path / "b.warc.gz", "b", 2, ("a", 1), **DIGESTS)
    add_record(second, "metadata", BASE, b"x: y\r\n")
    pages, _, rejects = tables(tmp_path / "run", second, first)
    assert [(row["url"], text(row)) for row in pages] == [(BASE + "a", "a"), (BASE + "b", "a")]
    assert rejects == []


def test_a_payload_that_lies_in_a_packed_member(tmp_path: Path) -> None:
    inner = put(tmp_path / "data.warc", "a", 1, page("a"), packed=False, WARC_Payload_Digest=DIGEST)
    revisit(inner, "c", 2, ("a", 1), packed=False, **DIGESTS)
    package = write_wacz(tmp_path / "x.wacz", [inner], [BASE + "a", BASE + "c"], zipfile.ZIP_DEFLATED)
    inner.unlink()
    other = revisit(tmp_path / "b.warc.gz", "b", 2, ("a", 1), **DIGESTS)
    for number, sources in enumerate(((package, other), (other, package))):
        pages, _, rejects = tables(tmp_path / str(number), *sources)
        assert [(row["url"], text(row)) for row in pages] == [(BASE + name, "a") for name in "abc"]
        assert rejects == []


@pytest.mark.skipif(shutil.which("wget") is None, reason="needs wget")
def test_what_wget_writes_once(tmp_path: Path) -> None:
    """With ``--warc-dedup``, wget writes a revisit record; the first one is found by its digest."""
    with serving(lambda path: Answer(page("hello"))) as server:
        for name, option in (("a", "--warc-cdx"), ("b", "--warc-dedup=a.cdx")):
            command = ["wget", "-q", f"--warc-file={name}", option, "-O", "saved", server.url + "/"]
            subprocess.run(command, cwd=tmp_path, check=True)
    paths = [tmp_path / "a.warc.gz", tmp_path / "b.warc.gz"]
    for number, sources in enumerate((paths, paths[::-1])):
        pages, _, rejects = tables(tmp_path / str(number), *sources)
        assert [(text(row), row["source"]) for row in pages] == [("hello", "a.warc.gz")]
        assert [(row["reason"], row["detail"]) for row in rejects] == [("revisit", "unchanged")]
    pages, _, rejects = tables(tmp_path / "alone", paths[1])
    assert pages == []
    assert [row["reason"] for row in rejects] == ["revisit"]


# ---- the run's own crawl


def test_a_crawl_that_was_done_again(tmp_path: Path) -> None:
    settings = CrawlSettings(retries=0, browser="never")

    def html(words: str, *hrefs: str, tag: str = "") -> Answer:
        return Answer(page(words, *hrefs), headers={"ETag": f'"{tag}"'} if tag else {})

    names = ["/same", "/plain", "/changed", "/gone", "/hidden", "/broken", "/moved"]
    site = {"/": html("start", *names, tag="1"), **{name: html(name, tag=name) for name in names}}
    site["/plain"] = html("plain")
    run = RunDirectory.create(tmp_path)
    with serving(lambda path: site.get(path, Answer(status=404))) as server:
        crawl([server.url], tmp_path, settings)
        before = tables(tmp_path)
        assert {row["reason"] for row in before[2]} == set()
        site |= {
            "/changed": html("is another", "/new", tag="2"),
            "/new": html("new"),
            "/hidden": Answer(b"<meta name=robots content=noindex><p>hidden"),
            "/broken": Answer(status=500),
            "/moved": Answer(status=301, headers={"Location": "/new"}),
        }
        del site["/gone"]
        crawl([], tmp_path, CrawlSettings(retries=0, browser="never", again=True))
        pages, links, rejects = tables(tmp_path)
    assert len(run.archives()) == 2
    by_path = {"/" + str(row["url"]).split("/", 3)[3]: row for row in pages}
    old = {"/" + str(row["url"]).split("/", 3)[3]: row for row in before[0]}
    assert by_path.keys() == {"/", "/same", "/plain", "/changed", "/broken", "/new"}
    for path in ("/", "/same", "/plain", "/broken"):
        assert by_path[path] == old[path]
    assert text(by_path["/changed"]) == "is another /new"
    targets = {str(row["target_url"]).removeprefix(server.url): row["target"] for row in links}
    assert targets["/gone"] is targets["/hidden"] is None
    assert targets["/moved"] == targets["/new"] == by_path["/new"]["page_id"]
    reasons = sorted((str(row["url"]).removeprefix(server.url), row["stage"], row["reason"]) for row in rejects)
    assert reasons == [
        ("/", "ingest", "revisit"),
        ("/broken", "ingest", "http-500"),
        ("/changed", "ingest", "older-capture"),
        ("/gone", "crawl", "http-404"),
        ("/gone", "ingest", "older-capture"),
        ("/hidden", "crawl", "noindex"),
        ("/hidden", "ingest", "older-capture"),
        ("/moved", "ingest", "older-capture"),
        ("/moved", "ingest", "redirect"),
        ("/plain", "ingest", "revisit"),
        ("/same", "ingest", "revisit"),
    ]
