"""Answers that wait to be read: which are read here, which in turn, and what comes of them in a crawl."""

from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from tests.loopback import Answer, links, serving
from twinlink.config import CrawlSettings
from twinlink.spiders import crawling as crawl_module
from twinlink.spiders.crawling import crawl
from twinlink.spiders.failures import RefusedError
from twinlink.spiders.frontier import FrontierReader
from twinlink.spiders.reader import queue as reading_queue
from twinlink.spiders.reader.page_facts import Job, PageFacts, Result, UnreadError, perform
from twinlink.spiders.reader.queue import SMALL_BYTES, ReadingQueue
from twinlink.spiders.stalls import Stalls

HTML = "text/html"
LARGE = b"<p>large" * SMALL_BYTES
HEAVY = Answer(gzip.compress(b"<title>x</title>" + b"<p>" * 2_500_000, 1), headers={"Content-Encoding": "gzip"})


class Fake:
    """In the place of a process: notes what it is asked."""

    def __init__(self, *_: object) -> None:
        self.asked: list[str] = []
        self.fails = False

    def ask(self, job: Job) -> Result:
        self.asked.append(job.url)
        if self.fails:
            raise UnreadError("parse-timeout", "too long")
        return perform(job)

    def close(self) -> None: ...


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    one = Fake()
    monkeypatch.setattr(reading_queue, "ReaderProcess", lambda *_: one)
    return one


def job(url: str, body: bytes = LARGE, limit: int = 10**7, encoding: str = "") -> Job:
    return Job("page", url, body, limit, HTML, encoding=encoding)


def with_queue(work: Callable[[ReadingQueue], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        queue = ReadingQueue(CrawlSettings())
        await work(queue)
        queue.close()

    asyncio.run(run())


def test_small_answers_are_read_here(fake: Fake) -> None:
    async def work(queue: ReadingQueue) -> None:
        for body, encoding in ((b"<p>a", ""), (gzip.compress(b"<p>a"), "gzip"), (b"<p>a".ljust(SMALL_BYTES), "")):
            facts = await queue.read("a", job("http://a/", body, encoding=encoding))
            assert isinstance(facts, PageFacts)
            assert facts.sample == "a"

    with_queue(work)
    assert fake.asked == []


@pytest.mark.parametrize("encoding", ["", "gzip", "gzip, gzip"])
def test_large_answers_are_read_elsewhere(fake: Fake, encoding: str) -> None:
    body = LARGE
    for _ in range(encoding.count("gzip")):
        body = gzip.compress(body)

    async def work(queue: ReadingQueue) -> None:
        assert await queue.read("a", job("http://a/", body, encoding=encoding)) == perform(job("http://a/"))

    with_queue(work)
    assert fake.asked == ["http://a/"]


def test_an_answer_beyond_a_small_limit_is_not_read_at_all(fake: Fake) -> None:
    async def work(queue: ReadingQueue) -> None:
        with pytest.raises(RefusedError) as error:
            await queue.read("a", job("http://a/", gzip.compress(b"x" * 200), 100, "gzip"))
        assert error.value.reason == "too-large"

    with_queue(work)
    assert fake.asked == []


def test_hosts_take_turns(fake: Fake) -> None:
    async def work(queue: ReadingQueue) -> None:
        urls = [f"http://{host}/{n}" for host in "aab" for n in range(2)] + ["http://c/0"]
        await asyncio.gather(*(queue.read(url[7], job(url)) for url in urls))

    with_queue(work)
    assert "".join(url[7] for url in fake.asked) == "a" + "abc" + "ab" + "a"  # the first was begun at once


def test_waiting_bytes_are_bounded(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_queue, "_MAX_WAITING_BYTES", 2 * len(LARGE))

    async def work(queue: ReadingQueue) -> None:
        waiting = [asyncio.ensure_future(queue.read("a", job(f"http://a/{n}"))) for n in range(3)]
        await asyncio.sleep(0)
        assert queue.is_full
        await asyncio.gather(*waiting)
        assert not queue.is_full

    with_queue(work)


def test_a_page_that_takes_too_long_is_refused_and_the_next_is_read(fake: Fake) -> None:
    async def work(queue: ReadingQueue) -> None:
        fake.fails = True
        with pytest.raises(RefusedError) as error:
            await queue.read("a", job("http://a/"))
        assert (error.value.reason, str(error.value)) == ("parse-timeout", "too long")
        fake.fails = False
        assert await queue.read("a", job("http://a/"))

    with_queue(work)


def test_heavy_pages_beside_good_ones(tmp_path: Path) -> None:
    good = [f"/good{n}.html" for n in range(13)]
    heavy = [f"/heavy{n}.html" for n in range(6)]

    def answer(path: str) -> Answer:
        return links(*heavy[:3], *good, *heavy[3:]) if path == "/" else HEAVY if path in heavy else Answer(b"<p>good")

    with serving(answer) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings(timeout=6, retries=1, sitemaps=False))
        assert site.fetched() == dict.fromkeys(["/", *good, *heavy], 1)
    assert (progress.fetched, progress.rejected) == (20, 0)


def test_pages_that_take_too_long_are_counted(tmp_path: Path) -> None:
    def answer(path: str) -> Answer:
        return links("/heavy.html", "/good.html", "/large.html") if path == "/" else {
            "/heavy.html": HEAVY, "/large.html": Answer(b"<p>large" * 10_000)
        }.get(path, Answer(b"<p>good"))  # fmt: skip

    with serving(answer) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings(parse_seconds=0.05, sitemaps=False))
        rejects = [(reject.url, reject.reason, reject.detail) for reject in FrontierReader(tmp_path).rejects()]
        assert rejects == [(f"{site.url}/heavy.html", "parse-timeout", "more than 0.05 s of processor time")]
        assert site.fetched()["/heavy.html"] == 1
    assert progress.fetched == 3


# ---- a crawl that was held up itself


def test_stalls_are_noticed_and_added_up() -> None:
    async def run() -> tuple[Stalls, float, float]:
        stalls = Stalls()
        stalls.watch()
        await asyncio.sleep(0.1)
        began = time.monotonic()
        time.sleep(1.0)
        ended = time.monotonic()
        await asyncio.sleep(0.6)
        await stalls.close()
        return stalls, began, ended

    stalls, began, ended = asyncio.run(run())
    assert stalls.seconds(began - 5, ended + 5) > 0.5
    assert stalls.seconds(began - 50, began - 40) == 0


BUSY = """
import runpy, sys, time
from twinlink.spiders import crawling as crawl_module
from twinlink.spiders.reader import queue as reading_queue
read = reading_queue.perform
def perform(job):
    if job.url.endswith("/busy.html"):
        time.sleep(5)
    return read(job)
reading_queue.perform = perform
sys.argv = ["child"]
runpy.run_module("twinlink.spiders.process", run_name="__main__")
"""


@pytest.mark.parametrize("is_busy", [True, False])
def test_an_answer_that_came_late_while_the_crawl_was_held_up_is_asked_for_again(
    tmp_path: Path, child_script: Callable[[str], None], is_busy: bool
) -> None:
    seen: list[str] = []

    def answer(path: str) -> Answer:
        seen.append(path)
        if path == "/late.html" and seen.count(path) == 1:
            time.sleep(8)
        return links("/late.html", "/busy.html", "/last.html") if path == "/" else Answer(b"<p>page")

    if is_busy:
        child_script(BUSY)
    with serving(answer) as site:
        crawl([site.url], tmp_path, CrawlSettings(timeout=2, retries=0, sitemaps=False))
    rejects = [(reject.url.rpartition("/")[2], reject.reason) for reject in FrontierReader(tmp_path).rejects()]
    assert seen.count("/late.html") == 1 + is_busy
    assert rejects == ([] if is_busy else [("late.html", "timeout")])


@pytest.fixture
def child_script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let crawls run a script in the place of their process."""
    popen = subprocess.Popen

    def replace(script: str) -> None:
        def named(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
            return popen([sys.executable, "-c", script], **options)

        monkeypatch.setattr(f"{crawl_module.__name__}.subprocess.Popen", named)

    return replace
