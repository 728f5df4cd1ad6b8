"""The same pages from any source give the same tables, byte for byte but for the columns that tell the source."""

from __future__ import annotations

import gzip
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from tests.archives import (
    cache_member,
    captures,
    pack_members,
    respond,
    write_cache,
    write_cdxj,
    write_saved,
    write_wacz,
)
from twinlink.config import IngestSettings
from twinlink.errors import InputError
from twinlink.ingest.stage import ingest, read_source
from twinlink.rundir.directory import RunDirectory
from twinlink.sources.documents import Document
from twinlink.sources.reading import source_files
from twinlink.tables import LINKS, PAGES, REJECTS, Reject, read_table

HOST = "www.example.org"
BASE = f"http://{HOST}/"
SOURCE_COLUMNS = ["source", "offset", "fetched"]


def page(text: str, links: str, charset: str = "utf-8", codec: str = "") -> bytes:
    head = f"<html lang=en><head><meta charset={charset}><title>{text[:9]}</title></head>"
    return f"{head}<body><h1>{text}</h1>{links}<p>{text * 3}</p><img src=/i/a.gif></body></html>".encode(
        codec or charset
    )


SITE = {
    "index.html": page("Welcome to the library", "<a href=/en/>English</a> <a href='tc/page.php?id=3'>中文</a>"),
    "en/index.html": page("Opening hours", "<a href='../tc/page.php?id=3' hreflang=zh>中文</a><a href=gone.html>x</a>"),
    "en/page.php?id=3": page("A page with a query", "<a href='page.php?b=2&amp;a=1'>next</a>"),
    "en/page.php?b=2&a=1": page("Another with two", "<a href='http://other.example/'>o</a><a href=/en/>home</a>"),
    "tc/page.php?id=3": page("立法會的會議紀錄在這裡", "<a href=/en/>English</a>", "big5"),
    "tc/hkscs.html": page("佢哋嘅嘢喺咗嚟啲度", "<a href='/index.html#top'>首頁</a>", "big5", "big5hkscs"),
    "kz/тест.html": page("Қазақстан Республикасы ның тың", "<a href=../index.html>x</a>", "windows-1251", "kz1048"),
}
FOLDER_REDIRECTS = {"": "index.html", "en/": "en/index.html", "en": "en/index.html"}
ORDER = [*SITE]


def archive(path: Path, packed: bool = True, order: list[str] = ORDER) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    html = [("Content-Type", "text/html")]
    for name in order:
        respond(path, BASE + name, SITE[name], headers=html, packed=packed)
    for name, target in FOLDER_REDIRECTS.items():
        respond(path, BASE + name, b"moved", "301 Moved", [*html, ("Location", "/" + target)], packed)
    respond(path, BASE + "gone.html", b"<html>gone", "404 Not Found", html, packed)
    return path


def backwards(folder: Path) -> Path:
    order = ORDER[::-1]
    random.Random(1).shuffle(order)
    return archive(folder / "x.warc.gz", order=order)


def one_member(folder: Path) -> Path:
    path = archive(folder / "x.warc", packed=False)
    packed = folder / "whole.warc.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return packed


def arc(folder: Path) -> Path:
    about = b"1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n"
    pieces = [b"filedesc://x.arc 0.0.0.0 20010101000000 text/plain %d\n%b\n" % (len(about), about)]
    answers = [(name, b"200 OK", b"", body) for name, body in SITE.items()]
    answers += [(name, b"301 Moved", b"Location: /%b\r\n" % to.encode(), b"") for name, to in FOLDER_REDIRECTS.items()]
    for name, status, headers, body in answers:
        payload = b"HTTP/1.0 %b\r\nContent-Type: text/html\r\n%b\r\n%b" % (status, headers, body)
        pieces.append(f"{BASE}{name} 1.2.3.4 20010203040506 text/html {len(payload)}\n".encode() + payload + b"\n")
    (folder / "x.arc.gz").write_bytes(pack_members(pieces))
    return folder / "x.arc.gz"


def written_once(folder: Path) -> Path:
    """Write an archive whose pages are all revisit records of the pages of another host."""
    path = folder / "x.warc.gz"
    for number, (name, body) in enumerate(SITE.items()):
        digest = f"sha1:{number}"
        respond(
            path, BASE + name, b"", kind="revisit", headers=[("Content-Type", "text/html")], WARC_Payload_Digest=digest
        )
        respond(path, f"http://copy.example.net/{name}", body, headers=[], WARC_Payload_Digest=digest)
    for name, to in FOLDER_REDIRECTS.items():
        respond(path, BASE + name, b"", "301 Moved", [("Location", "/" + to)], kind="revisit")
    return path


def wacz(folder: Path) -> Path:
    return write_wacz(folder / "x.wacz", [archive(folder / "tmp" / "data.warc.gz")], [BASE])


def packed_wacz(folder: Path) -> Path:
    whole = archive(folder / "tmp" / "data.warc", packed=False)
    return write_wacz(folder / "x.wacz", [whole], pack=zipfile.ZIP_DEFLATED)


def cdxj(folder: Path) -> Path:
    path = archive(folder / "archive" / "x.warc.gz")
    respond(path, "http://unwanted.example/", b"<html>no")
    (folder / "indexes").mkdir()
    return write_cdxj(folder / "indexes" / "index.cdxj", [path])


def cdx(folder: Path) -> Path:
    path = archive(folder / "x.warc", packed=False)
    lines = [f"- 2026 {url} text/html 200 - - - {start} {path.name}\n" for url, start, _ in captures(path)]
    (folder / "x.cdx").write_text(" CDX N b a m s k r M V g\n" + "".join(lines))
    return folder / "x.cdx"


def wget_name(name: str) -> str:
    return f"{HOST}/{name}" if name.endswith(".html") else f"{HOST}/{name}.html"  # -E


def converted(body: bytes) -> bytes:
    return body.replace(b"href=", b"href=converted")


def wget(folder: Path) -> Path:
    return write_saved(folder, {f"{HOST}/{name}": body for name, body in SITE.items()})


def wget_adjusted(folder: Path) -> Path:
    return write_saved(folder, {wget_name(name): body for name, body in SITE.items()})


def wget_converted(folder: Path) -> Path:
    write_saved(folder, {wget_name(name): converted(body) for name, body in SITE.items()})
    # -K: behind the name, or in the place of an ending that -E added.
    return write_saved(folder, {f"{HOST}/{name}.orig": body for name, body in SITE.items()})


def httrack(folder: Path) -> Path:
    members = [cache_member(BASE + name, body) for name, body in SITE.items()]
    members += [cache_member(BASE + name, b"", 301, Location="/" + to) for name, to in FOLDER_REDIRECTS.items()]
    write_cache(folder, members)
    note = "<!-- Mirrored from {}/{} by HTTrack Website Copier/3.x -->"
    return write_saved(
        folder,
        {
            f"{HOST}/{number:04x}.html": note.format(HOST, name).encode() + converted(body)
            for number, (name, body) in enumerate(SITE.items())
        },
    )


def plain_folder(folder: Path) -> Path:
    return write_saved(folder, SITE)


def listed(folder: Path) -> Path:
    write_saved(folder, {f"files/{number}": body for number, body in enumerate(SITE.values())})
    places = {name: f"files/{number}" for number, name in enumerate(SITE)}
    lines = [f"{BASE}{name}\t{places[name]}\n" for name in SITE]
    lines += [f"{BASE}{name}\t{places[target]}\n" for name, target in FOLDER_REDIRECTS.items() if name != "en"]
    (folder / "pages.txt").write_text("".join(lines), encoding="utf-8")
    return folder / "pages.txt"


SOURCES: dict[str, Callable[[Path], Path]] = {
    "WARC": lambda folder: archive(folder / "x.warc", packed=False),
    "WARC in another order": backwards,
    "one gzip member": one_member,
    "ARC": arc,
    "revisit records": written_once,
    "WACZ": wacz,
    "WACZ, packed": packed_wacz,
    "CDXJ": cdxj,
    "CDX": cdx,
    "wget": wget,
    "wget -E": wget_adjusted,
    "wget -E -k -K": wget_converted,
    "HTTrack with its cache": httrack,
    "folder": plain_folder,
    "list": listed,
}
SETTINGS = IngestSettings(base_url=BASE, url_prefixes=(HOST,))


def tables(folder: Path, source: Path) -> tuple[bytes, bytes]:
    """Return the tables made of a source, as bytes."""
    run = RunDirectory.create(folder / "run")
    ingest(run, [source], SETTINGS)
    stage = run.stage_folder("ingest")
    pages = read_table(stage / "pages" / "example.org.parquet", PAGES).drop_columns(SOURCE_COLUMNS)
    links = read_table(stage / "links" / "example.org.parquet", LINKS)
    return _bytes(pages), _bytes(links)


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return sink.getvalue().to_pybytes()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    folder = tmp_path_factory.mktemp("expected")
    return tables(folder, archive(folder / "in" / "x.warc.gz"))


def test_the_tables_have_what_the_site_has(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [archive(tmp_path / "x.warc.gz")], SETTINGS)
    stage = run.stage_folder("ingest")
    pages = read_table(stage / "pages", PAGES).to_pylist()
    assert len(pages) == len(SITE)
    assert {row["charset"] for row in pages} == {"utf-8", "big5hkscs", "kz1048"}
    assert sum("立法會" in row["title"] or "嘢喺咗嚟" in row["blocks"][0] for row in pages) == 2
    assert not [row["url"] for row in pages if "\ufffd" in "".join(row["blocks"])]
    targets = [row["target"] for row in read_table(stage / "links", LINKS).to_pylist()]
    assert (len(targets), targets.count(None)) == (10, 2)  # gone.html and the other site
    rejects = read_table(stage / "rejects.parquet", REJECTS).to_pylist()
    assert sorted(row["reason"] for row in rejects) == ["http-404", *["redirect"] * 3]


@pytest.mark.parametrize("name", SOURCES)
def test_the_tables_are_the_same(tmp_path: Path, expected: tuple[bytes, bytes], name: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    assert tables(tmp_path, SOURCES[name](folder)) == expected


# ---- what a source is


def read(path: Path, **settings: object) -> list[Document | Reject]:
    return list(read_source(path, IngestSettings(**settings)))


def test_all_archives_of_a_folder_are_read(tmp_path: Path) -> None:
    respond(tmp_path / "a.warc.gz", BASE + "1", SITE["index.html"], WARC_Payload_Digest="sha1:X")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    respond(tmp_path / "deep/er/b.WARC", BASE + "2", b"", kind="revisit", WARC_Payload_Digest="sha1:X")
    (tmp_path / "empty.warc.gz").write_bytes(b"")
    (tmp_path / "bad.warc.gz").write_bytes(b"bad")
    (tmp_path / "bad.wacz").write_bytes(b"bad")
    other = tmp_path / "elsewhere.warc.gz"
    respond(other, BASE + "3", SITE["index.html"])
    write_wacz(tmp_path / "c.wacz", [other])
    other.unlink()
    (tmp_path / "index.html").write_bytes(b"<html>beside")
    items = read(tmp_path)
    assert sorted(item.url for item in items if isinstance(item, Document)) == [BASE + "1", BASE + "2", BASE + "3"]
    reasons = [(item.url, item.reason) for item in items if isinstance(item, Reject)]
    assert set(reasons) == {
        ("bad.warc.gz", "damaged-record"),
        (tmp_path.name, "damaged-record"),  # bad.wacz
        (tmp_path.name, "beside-archives"),
    }
    assert [file.name for file in source_files(tmp_path)] == [
        "a.warc.gz", "bad.wacz", "bad.warc.gz", "c.wacz", "b.WARC", "empty.warc.gz",
    ]  # fmt: skip


def test_links_out_of_a_folder_of_archives_are_counted(tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    (outside / "more").mkdir(parents=True)
    for number, name in enumerate(("a.warc.gz", "more/b.warc.gz")):
        respond(outside / name, f"{BASE}{number}", SITE["index.html"])
    write_wacz(outside / "c.wacz", [outside / "a.warc.gz"])
    (folder / "own").mkdir(parents=True)
    respond(folder / "own/d.warc.gz", BASE + "d", SITE["index.html"])
    links: dict[str, str | Path] = {
        "p.warc": "/etc/passwd", "a.warc.gz": outside / "a.warc.gz", "c.wacz": outside / "c.wacz", "more": outside,
        "gone.warc": "nothing", "circle.wacz": "circle.wacz", "e.warc.gz": "own/d.warc.gz", "same": "own",
    }  # fmt: skip
    for name, target in links.items():
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "pipe.warc")
    items = read(folder)
    refused = {item.url: item.reason for item in items if isinstance(item, Reject)}
    names = ["a.warc.gz", "c.wacz", "circle.wacz", "gone.warc", "more", "p.warc", "pipe.warc"]
    assert refused == dict.fromkeys(names, "unreadable")
    assert [item.url for item in items if isinstance(item, Document)] == [BASE + "d"] * 2  # a link inside is a file
    assert [file.name for file in source_files(folder)] == ["e.warc.gz", "d.warc.gz"]


def test_a_folder_whose_archives_are_links_says_so(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/p.wacz").symlink_to("/etc/passwd")
    for base_url in ("", BASE):
        with pytest.raises(InputError, match=r"not read: p.wacz \(link to a place outside the folder\)"):
            read(tmp_path / "folder", base_url=base_url)
    (tmp_path / "folder/a.html").write_text("a", encoding="utf-8")
    items = read(tmp_path / "folder", base_url=BASE)
    assert [item.url for item in items] == ["p.wacz", BASE + "a.html"]


def test_a_folder_of_bad_archives_is_an_error(tmp_path: Path) -> None:
    for name in ("a.warc.gz", "b.wacz"):
        (tmp_path / name).write_bytes(b"bad")
    with pytest.raises(InputError):
        read(tmp_path)


@pytest.mark.parametrize("name", SOURCES)
def test_only_wanted_addresses_come(tmp_path: Path, name: str) -> None:
    source = SOURCES[name](tmp_path)
    items = read(source, base_url=BASE, url_prefixes=(BASE + "tc/", BASE + "en/page"))
    documents = {item.url for item in items if isinstance(item, Document) and not item.location}
    assert documents == {BASE + page for page in SITE if page.startswith(("tc/", "en/page"))}
    assert not [item for item in items if isinstance(item, Reject) and item.url.startswith("http")]


def test_the_files_of_a_source(tmp_path: Path) -> None:
    for name, count in (("CDXJ", 2), ("list", 1 + len(SITE) + 2), ("wget", len(SITE)), ("WACZ", 1)):
        folder = tmp_path / name
        folder.mkdir()
        assert len(source_files(SOURCES[name](folder))) == count


@pytest.mark.parametrize(
    ("text", "is_list"),
    [
        (b"http://a.org/\tx.html\n", True),
        (b"# pages\n\nhttps://a.org/\tx.html", True),
        (b"http://a.org/\nhttp://b.org/\n", False),  # addresses to begin a crawl with
        (b"some\ttable\n", False),
        (b"", False),
    ],
)
def test_a_list_is_known_by_its_first_line(tmp_path: Path, text: bytes, is_list: bool) -> None:
    path = tmp_path / "pages.txt"
    path.write_bytes(text)
    with pytest.raises(InputError, match="unknown kind of file") if not is_list else pytest.MonkeyPatch.context():
        assert len(read(path)) == 1


@pytest.mark.parametrize("name", ["x.warc.gz", "x.wacz", "x.cdxj", "x.tsv", "x.zip", "folder"])
def test_a_source_that_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        read(tmp_path / name)
    with pytest.raises(InputError, match="no such file or folder"):
        source_files(tmp_path / name)


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz", "a.wacz", "a.cdxj", "a.tsv"])
def test_a_pipe_and_a_link_in_a_circle_are_no_sources(tmp_path: Path, name: str) -> None:
    run = RunDirectory.create(tmp_path / "run")
    pipe, circle = tmp_path / name, tmp_path / f"circle-{name}"
    os.mkfifo(pipe)
    circle.symlink_to(circle.name)
    with pytest.raises(InputError, match="not a regular file"):  # and does not wait for somebody who writes into it
        ingest(run, [pipe], IngestSettings())
    with pytest.raises(InputError, match="no such file"):
        ingest(run, [circle], IngestSettings())


DATES = ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "0000-00-00T00:00:00Z", "2020-01-01T24:00:00Z", "-1"]


@pytest.mark.parametrize("date", DATES)
def test_page_with_an_invalid_date_is_read(tmp_path: Path, date: str) -> None:
    """Also one that is a date, but in UTC before the first day or behind the last one."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>page"
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {BASE}\r\nWARC-Date: {date}\r\n"
    types = f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(answer)}\r\n\r\n"
    (tmp_path / "a.warc").write_bytes(f"{head}{types}".encode() + answer + b"\r\n\r\n")
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "a.warc"], IngestSettings())
    pages = read_table(run.stage_folder("ingest") / "pages", PAGES)
    assert (pages["url"].to_pylist(), pages["fetched"].to_pylist()) == ([BASE], [None])


def test_a_site_whose_name_is_as_long_as_names_can_be(tmp_path: Path) -> None:
    host = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 57, "org"])
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "a.html").write_bytes(page("A page", ""))
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "saved"], IngestSettings(base_url=f"http://{host}/"), site_by="host")
    (found,) = read_table(run.stage_folder("ingest") / "pages", PAGES).to_pylist()
    assert (found["url"], found["site"]) == (f"http://{host}/a.html", host)
