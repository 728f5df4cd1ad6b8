"""Downloads that are broken off, over real HTTP, however an answer says where its body ends."""

from __future__ import annotations

import gzip
import logging
import random
import socket
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loopback import Answer, Handler, links, serving
from tests.talking import Talk, talking
from twinlink.config import CrawlSettings
from twinlink.pages.content_encoding import beginning
from twinlink.run_files import CRAWL_LOG
from twinlink.spiders.crawler import MAX_ALIKE, MAX_MESSAGE_LENGTH, log_handler
from twinlink.spiders.crawling import crawl, crawl_parts
from twinlink.spiders.early_end import SMALL_BODY
from twinlink.spiders.frontier import FrontierReader

SETTINGS = CrawlSettings(retries=0, timeout=20, sitemaps=False)
NOISE = random.Random(1).randbytes(2**16)
N_PARTS = 160  # 10 MB
VIDEO = b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n"
UNKNOWN = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
UNTYPED = b"HTTP/1.1 200 OK\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CLOSED = b"Connection: close\r\n"
GZIP = b"Content-Encoding: gzip\r\n"
SIZED = b"Content-Length: %d\r\n" % (N_PARTS * len(NOISE))


def plain_parts() -> Iterator[bytes]:
    for _ in range(N_PARTS):
        yield NOISE


def packed_parts() -> Iterator[bytes]:
    stream = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    for part in plain_parts():
        yield stream.compress(part)
    yield stream.flush()


class Sender:
    """Sends long answers and counts what left this side: send buffers are small, so that is about what was received."""

    def __init__(self) -> None:
        self.sent: Counter[bytes] = Counter()

    def talk(self, head: bytes) -> Talk:
        def talk(connection: socket.socket) -> None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**14)
            connection.sendall(head + b"\r\n")
            for part in packed_parts() if GZIP in head else plain_parts():
                if part:
                    connection.sendall(b"%x\r\n%s\r\n" % (len(part), part) if CHUNKED in head else part)
                    self.sent[head] += len(part)
            if CHUNKED in head:
                connection.sendall(b"0\r\n\r\n")

        return talk


HEADS = [kind + way for kind in (VIDEO, UNKNOWN, UNTYPED) for way in (CHUNKED, CLOSED, CHUNKED + GZIP, CLOSED + GZIP)]
HEADS += [VIDEO + SIZED, UNKNOWN + SIZED, UNTYPED + SIZED]


def test_long_answers_that_are_no_pages_are_broken_off_after_little(tmp_path: Path) -> None:
    sender = Sender()
    videos = {f"/chunked{n}": sender.talk(VIDEO + CHUNKED) for n in range(20)}
    with talking(videos | {f"/other{n}": sender.talk(head) for n, head in enumerate(HEADS)}) as url:
        progress = crawl([url], tmp_path, SETTINGS)
    assert progress.reasons == {"not-html": 20 + len(HEADS)}
    assert progress.fetched == 2  # the start page and /fine
    assert max(n / (21 if head == VIDEO + CHUNKED else 1) for head, n in sender.sent.items()) < 2**20
    assert "Traceback" not in (tmp_path / CRAWL_LOG).read_text()


@pytest.mark.parametrize("concurrency", [1, 4])
def test_nothing_is_requested_on_a_connection_that_is_about_to_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, concurrency: int
) -> None:
    monkeypatch.setattr(Handler, "wbufsize", 2**16)  # head and body come together: the end is there when it is aborted
    sheet, page = Answer(b"p { color: red }", type="text/css"), Answer(b"<html>no style sheet")
    paths = [f"/{n}.css" for n in range(60)]
    settings = CrawlSettings(retries=0, delay=0, autothrottle=False, concurrency=concurrency)
    with serving(lambda path: page if path[1] in "13" else sheet) as site:
        progress = crawl_parts([site.url + path for path in paths], [site.url], tmp_path, settings)
    assert progress.reasons["not-a-part"] == 22
    assert site.fetched() == dict.fromkeys(paths, 1)


PAGE = b"<!DOCTYPE html><title>x</title>" + b"<p>some words of a long page" * 9_000


def test_long_pages_come_in_whole_whatever_says_their_length_and_type(tmp_path: Path) -> None:
    packed = gzip.compress(NOISE.hex().encode())
    pages = {
        "/chunked": Answer(PAGE, chunked=True),
        "/unknown-chunked": Answer(PAGE, type="application/octet-stream", chunked=True),
        "/untyped": Answer(PAGE, type=""),
        "/untyped-chunked": Answer(PAGE, type="", chunked=True),
        "/two-types": Answer(PAGE, type="text/html", headers={"Content-Type": "text/html; charset=utf-8"}),
        "/packed": Answer(gzip.compress(PAGE + NOISE), type="", headers={"Content-Encoding": "gzip"}, chunked=True),
        "/utf-16": Answer(PAGE.decode().encode("utf-16"), type="", chunked=True),
        "/picture": Answer(packed, type="image/png", chunked=True),
        "/late": Answer(b" " * 3_000 + PAGE, type="application/octet-stream", chunked=True),
    }
    assert len(packed) > SMALL_BODY
    with serving(lambda path: links(*pages) if path == "/" else pages[path]) as site:
        progress = crawl([site.url], tmp_path, SETTINGS)
        rejects = {reject.url.removeprefix(site.url) for reject in FrontierReader(tmp_path).rejects()}
    assert rejects == {"/picture", "/late"}
    assert progress.reasons == {"not-html": 2}
    assert progress.bytes > 5 * len(PAGE)


TEXT = PAGE[:200]
BEGINNINGS = {
    "plain": (TEXT, "", True),
    "identity": (TEXT, "identity", True),
    "less packed than said": (TEXT, "gzip", True),
    "gzip": (gzip.compress(TEXT)[:60], "GZIP", True),
    "deflate": (zlib.compress(TEXT)[:60], "deflate", True),
    "raw deflate": (zlib.compress(TEXT, wbits=-zlib.MAX_WBITS)[:60], "deflate", True),
    "damaged": (b"\x1f\x8b\x08\xff damaged", "gzip", False),
    "another": (b"\x01\x02", "br", False),
    "two": (gzip.compress(gzip.compress(TEXT)), "gzip, gzip", False),
}


@pytest.mark.parametrize("name", BEGINNINGS)
def test_beginnings_of_packed_bodies(name: str) -> None:
    body, encoding, is_found = BEGINNINGS[name]
    assert (beginning(body, encoding, 10) or None) == (TEXT[:10] if is_found else None)


def test_the_log_holds_few_messages_of_one_kind_and_no_long_ones(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger(__name__)
    logger.propagate = False
    logger.addHandler(log_handler())
    for number in range(5 * MAX_ALIKE):
        logger.warning("alike %d", number)
    logger.error("another %s", "x" * 10 * MAX_MESSAGE_LENGTH)
    logger.info("not worth it")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == MAX_ALIKE + 1
    assert lines[0].endswith("alike 0")
    assert lines[-2].endswith("(the last message of this kind)")
    assert len(lines[-1]) < 2 * MAX_MESSAGE_LENGTH


def test_the_log_of_a_crawl_is_bounded(tmp_path: Path) -> None:
    paths = [f"/{n}" for n in range(2 * MAX_ALIKE)]
    with serving(lambda path: links(*paths) if path == "/" else Answer(PAGE)) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings(retries=0, sitemaps=False, max_page_bytes=20_000))
    assert progress.reasons == {"too-large": len(paths)}
    assert len((tmp_path / CRAWL_LOG).read_text().splitlines()) == MAX_ALIKE
