"""Faults of servers, networks and disks, each brought about for real: nothing hangs, and everything is accounted for.

`experiments.faults` prints a table of these, and of those in `test_hostile`, `test_manners` and `test_crawl`.
"""

from __future__ import annotations

import datetime
import resource
import socket
import sqlite3
import ssl
import struct
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import brotli
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.archives import respond
from tests.loopback import Answer, links, redirect, serving
from tests.talking import Talk, talking
from twinlink.config import Config, CrawlSettings
from twinlink.errors import CrawlError, RunError
from twinlink.jobs.stages import ingest_stage
from twinlink.rundir.directory import RunDirectory
from twinlink.spiders import crawling as crawl_module
from twinlink.spiders.crawling import crawl
from twinlink.spiders.frontier import LEDGER_NAME, FrontierReader
from twinlink.tables import PAGES, REJECTS, read_table

SETTINGS = CrawlSettings(retries=0, timeout=10)


def tables(folder: Path, base: str) -> tuple[dict[str, str], dict[str, str]]:
    """Ingest a crawl; return its pages (titles by path) and its rejects (reasons by path).

    Every address that the crawl knows of must be in one of them.
    """
    run = RunDirectory.create(folder)
    ingest_stage([], run, Config())
    pages = read_table(run.stage_folder("ingest") / "pages", PAGES)
    rejects = read_table(run.stage_folder("ingest") / "rejects.parquet", REJECTS)
    kept = dict(zip(pages["url"].to_pylist(), pages["title"].to_pylist(), strict=True))
    dropped = dict(zip(rejects["url"].to_pylist(), rejects["reason"].to_pylist(), strict=True))
    with closing(sqlite3.connect(folder / LEDGER_NAME)) as db:
        known = {url for (url,) in db.execute("SELECT url FROM frontier WHERE kind = 'page'")}
    assert known - kept.keys() - dropped.keys() == set()
    return (
        {url.removeprefix(base): title for url, title in kept.items()},
        {url.removeprefix(base): reason for url, reason in dropped.items()},
    )


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
DOCTYPE = f'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY l0 "lol">{LAUGHS}<!ENTITY file SYSTEM "file:///etc/passwd">]>'
XHTML = "application/xhtml+xml"
TEXT = b"<title>x</title><p>some words</p>"
FAULTS: dict[str, Answer] = {
    "/xhtml": Answer(
        b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><title>x</title><p>words</p>', type=XHTML
    ),
    "/html-as-xhtml": Answer(b"<title>x</title><p>words never closed <br> <b><i></b></i>", type=XHTML),
    "/laughs": Answer(f"{DOCTYPE}<html><title>x</title><p>&l9;&file;</p></html>".encode(), type=XHTML),
    "/nul": Answer(TEXT + b"<p>a\0b</p>" * 2_000),
    "/nested": Answer(TEXT + b"<div>" * 100_000),
    "/nested-inline": Answer(TEXT + b"<b><a href=/fine>" * 100_000),
    "/links": Answer(TEXT + b"".join(b"<a href=%d.pdf>" % n for n in range(5_000))),
    "/dates": Answer(TEXT, headers={"Date": "32 Smarch", "Last-Modified": "\xff", "Expires": "0"}),
    "/wrong-charset": Answer(b"<title>x</title><p>words \xe4\xf6\xfc\xff\xfe", type="text/html; charset=utf-8"),
    "/no-charset": Answer(b"<title>x</title><p>words plain", type="text/html; charset=klingon"),
    "/pdf-as-html": Answer(b"%PDF-1.7\n" + bytes(range(256)) * 9),
    "/html-as-zip": Answer(TEXT, type="application/zip"),
    "/bomb": Answer(brotli.compress(b" " * 30_000_000, quality=1), headers={"Content-Encoding": "br"}),
    "/round": redirect("/round"),
    "/there": redirect("/back"),
    "/back": redirect("/there"),
    "/fine": Answer(TEXT),
}
MOVED = {"/there": "redirect", "/back": "redirect"}
NO_PAGES = {"/html-as-zip": "not-html", "/bomb": "too-large", "/round": "redirect-loop", **MOVED}


def test_every_hostile_answer_is_a_page_or_a_reject(tmp_path: Path) -> None:
    with serving(lambda path: links(*FAULTS) if path == "/" else FAULTS[path]) as site:
        crawl([site.url], tmp_path, SETTINGS)
    pages, rejects = tables(tmp_path, site.url)
    assert {path: reason for path, reason in rejects.items() if not path.endswith(".pdf")} == NO_PAGES
    assert sum(path.endswith(".pdf") for path in rejects) == 5_000
    assert pages.keys() == FAULTS.keys() - NO_PAGES.keys() | {"/"}
    assert {path for path, title in pages.items() if title != "x"} == {"/", "/pdf-as-html"}


def reset(connection: socket.socket, sent: bytes = b"x" * 100) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n" + sent)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing it resets


def cut(connection: socket.socket, head: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + head)


def test_connections_that_break_in_the_middle_of_a_body(tmp_path: Path) -> None:
    times = iter(range(9))

    def reset_once(connection: socket.socket) -> None:
        if next(times):
            cut(connection, b"Content-Length: 8\r\nConnection: close\r\n\r\n<p>whole")
        else:
            reset(connection)

    ways: dict[str, Talk] = {
        "/reset": reset,
        "/reset-early": partial(reset, sent=b""),
        "/cut": partial(cut, head=b"Content-Length: 5000\r\n\r\n<p>some"),
        "/cut-chunk": partial(cut, head=b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n99\r\nhe"),
        "/reset-once": reset_once,
    }
    with talking(ways) as url:
        crawl([url], tmp_path, CrawlSettings(retries=1, timeout=10, concurrency=9))
    pages, rejects = tables(tmp_path, url)
    assert pages.keys() == {"/", "/fine", "/reset-once"}
    assert rejects == dict.fromkeys(ways.keys() - {"/reset-once"}, "connection")


def test_a_robots_txt_that_changes_between_two_runs(tmp_path: Path) -> None:
    names = [f"/{n}.html" for n in range(5)]

    def robots(path: str) -> Answer:
        return Answer(f"User-agent: *\nDisallow: {path}".encode(), type="text/plain")

    with serving(lambda path: links(*names) if path == "/" else Answer(b"<p>page"), robots("/0")) as site:
        crawl([site.url], tmp_path, CrawlSettings(max_pages=2, concurrency=1))
        assert set(site.fetched()) == {"/", "/1.html"}
        site.robots = robots("/2")
        crawl([site.url], tmp_path, SETTINGS)
        assert sorted(site.fetched().items()) == [(path, 1) for path in ("/", *names) if path != "/2.html"]
        assert tables(tmp_path, site.url)[1] == {"/2.html": "robots"}
        site.robots = robots("/")
        log = list(site.log)
        crawl([site.url], tmp_path, SETTINGS)  # it had come to its end
        assert site.log == log


# Name servers as tests need them: 127.0.0.2 passes for public; a name leads somewhere else each time it is asked for.
NAMES = """
import runpy, socket, sys
addresses = {"www.example.org": ["127.0.0.2"], "turns.example.org": ["127.0.0.2", "127.0.0.1"],
             "intern.example.org": ["127.0.0.1"]}
known = socket.getaddrinfo
def look_up(name, *rest):
    if name.endswith(".invalid") or name == "gone.example.org":
        raise socket.gaierror(-2, "Name or service not known")
    found = addresses.get(name)
    return known(name if found is None else found.pop(0) if len(found) > 1 else found[0], *rest)
socket.getaddrinfo = look_up  # before Twisted takes it
from scrapy.utils.datatypes import LocalCache
from twinlink.spiders import guard
public = guard.is_public
guard.is_public = lambda address: address == "127.0.0.2" or public(address)
LocalCache.__getitem__ = lambda self, name: {}[name]  # what is remembered would hide the second answer
sys.argv = ["child"]
runpy.run_module("twinlink.spiders.process", run_name="__main__")
"""


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    popen = subprocess.Popen

    def start(command: list[str], **options: object) -> subprocess.Popen[bytes]:
        return popen([sys.executable, "-c", NAMES], **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(crawl_module.subprocess, "Popen", start)


@pytest.mark.usefixtures("named")
def test_names_that_lead_nowhere_or_inside(tmp_path: Path) -> None:
    apart = {"Connection": "close"}  # so that each request looks its name up

    def answer(path: str) -> Answer:
        if path == "/jump":
            return Answer(status=302, headers={"Location": f"http://intern.example.org:{inner}/", **apart})
        hosts = (f"turns.example.org:{port}", f"gone.example.org:{port}", f"intern.example.org:{inner}")
        return Answer(links("/jump", *(f"http://{host}/a" for host in hosts)).body, headers=apart)

    nothing = Answer(type="text/plain", headers=apart)
    with (
        serving(lambda path: links()) as inside,
        serving(answer, robots=nothing, sitemap=nothing, host="127.0.0.2") as site,
    ):
        inner, port = inside.server_port, site.server_port
        start = f"http://www.example.org:{port}/"
        crawl([start], tmp_path, CrawlSettings(retries=0, timeout=10, concurrency=1, delay=0))
    assert inside.log == []
    assert site.log.count("/robots.txt") == 2  # of www and of turns, which led to a public address at first
    assert site.fetched() == {"/": 1, "/jump": 1}
    pages, rejects = tables(tmp_path, start.rstrip("/"))
    assert pages.keys() == {"/"}
    assert rejects == {
        "/jump": "redirect",
        f"http://turns.example.org:{port}/a": "private-address",
        f"http://gone.example.org:{port}/a": "dns",
        f"http://intern.example.org:{inner}/a": "private-address",
        f"http://intern.example.org:{inner}/": "private-address",
    }


@pytest.mark.usefixtures("named")
def test_a_start_page_whose_name_is_not_known(tmp_path: Path) -> None:
    with pytest.raises(CrawlError, match=r"nowhere.invalid/: dns \(.*Check the address"):
        crawl(["http://nowhere.invalid/"], tmp_path, CrawlSettings(retries=0, timeout=10))
    assert {reject.reason for reject in FrontierReader(tmp_path).rejects()} == {"dns"}


def certificate(folder: Path) -> ssl.SSLContext:
    """Make a certificate that expired years ago, of another host, signed by nobody."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "elsewhere.example")])
    years = [datetime.datetime(year, 1, 1, tzinfo=datetime.UTC) for year in (2010, 2012)]
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(years[0]).not_valid_after(years[1])
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ) + made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    path = folder / "server.pem"
    path.write_bytes(pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def test_tls_that_fails_and_certificates_that_are_no_good(tmp_path: Path) -> None:
    """What cannot be read is rejected; an expired certificate keeps no public page from being read."""
    with serving(lambda path: links()) as plain, serving(lambda path: links("/a")) as expired:
        expired.socket = certificate(tmp_path).wrap_socket(expired.socket, server_side=True)
        starts = [site.url.replace("http:", "https:") for site in (plain, expired)]
        progress = crawl(starts, tmp_path / "run", SETTINGS)
    assert progress.fetched == 2
    assert {reject.url: reject.reason for reject in FrontierReader(tmp_path / "run").rejects()} == {
        f"{starts[0]}/": "tls"
    }


NAMED = [f"/{n}.html" for n in range(60)]


def limit_files(size: int) -> None:
    """Let no file of this process grow beyond a size: for it, the disk is full then."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [4_000, 150_000, 400_000])
def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """The limits are met while the ledger is made, by the ledger and its journal, and later on."""

    def answer(path: str) -> Answer:
        noise = bytes(33 + n * n * (len(path) + 7) % 89 for n in range(9_000))
        return Answer((links(*NAMED).body if path == "/" else b"") + noise.replace(b"<", b" ").replace(b"&", b" "))

    popen = subprocess.Popen
    with serving(answer) as site:
        monkeypatch.setattr(crawl_module.subprocess, "Popen", partial(popen, preexec_fn=partial(limit_files, size)))
        with pytest.raises(RunError, match="cannot read or write"):
            crawl([site.url], tmp_path, SETTINGS)
        before = set(site.fetched())
        assert len(before) <= len(NAMED)
        monkeypatch.setattr(crawl_module.subprocess, "Popen", popen)
        assert crawl([site.url], tmp_path, SETTINGS).fetched == 1 + len(NAMED)
        twice = {path for path, count in site.fetched().items() if count > 1}
    assert len(twice) <= SETTINGS.concurrency
    pages, rejects = tables(tmp_path, site.url)
    assert pages.keys() == {"/", *NAMED}
    assert rejects == {}


@pytest.mark.parametrize(
    "url",
    [
        "http://a.org/../../../../outside.html",
        "http://a.org/%2e%2e/%2e%2e/outside",
        "http://../outside/",
        "http://..%2f..%2foutside/",
        "file:///outside/x.html",
        "http://a.org\\..\\..\\outside",
        "http://a.org/\0/outside",
    ],
)
def test_addresses_in_archives_write_nothing_outside_the_run(tmp_path: Path, url: str) -> None:
    archive = tmp_path / "foreign.warc.gz"
    respond(archive, "http://a.org/fine", b"<p>fine")
    respond(archive, url, b"<title>outside</title>")
    run = RunDirectory.create(tmp_path / "deep" / "run")
    ingest_stage([archive], run, Config())
    outside = [path for path in tmp_path.rglob("*") if not path.is_relative_to(run.path) and path.is_file()]
    assert outside == [archive]
    pages = read_table(run.stage_folder("ingest") / "pages", PAGES)
    rejects = read_table(run.stage_folder("ingest") / "rejects.parquet", REJECTS)
    assert len(pages) + len(rejects) == 1 + url.startswith("http:")
