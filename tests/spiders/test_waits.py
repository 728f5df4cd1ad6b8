"""Why a crawl waits: on the progress, in the log, and by host."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.loopback import Answer, links, serving
from twinlink.config import CrawlSettings
from twinlink.run_files import CRAWL_LOG
from twinlink.spiders.crawling import crawl
from twinlink.spiders.waits import Wait, summary, wait_of

PAGES = [f"/{n}.html" for n in range(3)]


def star(path: str) -> Answer:
    return links(*PAGES) if path == "/" else Answer(b"<p>page")


def slot(delay: float = 0.0, last: float = 100.0, transferring: int = 0) -> Any:
    return SimpleNamespace(delay=delay, lastseen=last, transferring=set(range(transferring)))


def state(delay: float = 0.0, **paces: str) -> Any:
    return SimpleNamespace(delay=delay, paces=paces)


@pytest.mark.parametrize(
    ("slot", "state", "kind", "text"),
    [
        (slot(), state(), "", ""),
        (slot(0.5), state(0.5, a="robots.txt asks for 0.5 s"), "", ""),  # nobody wonders about half a second
        (slot(2.0), state(0.25, a="robots.txt asks for 2 s"), "robots", "robots.txt asks for 2 s"),
        (slot(3.04), state(0.25), "slow", "the server answers slowly: 3.0 s between requests"),
        (slot(2.0), state(2.0), "delay", "crawl.delay asks for 2 s between requests"),
        (slot(0.25, 96.0, 1), state(0.25), "late", "the server has not answered for 4 s"),
        (slot(9.0, 96.0, 1), state(0.25), "slow", "the server answers slowly: 9.0 s between requests"),
        (slot(0.25, 96.0, 0), state(0.25), "", ""),
    ],
)
def test_each_wait_has_its_reason(slot: Any, state: Any, kind: str, text: str) -> None:
    assert wait_of("a", slot, state, 100.0) == (Wait(kind, text) if kind else None)


def test_hosts_that_wait_alike_are_counted() -> None:
    alike = Wait("robots", "robots.txt asks for 2 s")
    assert summary({}) == ""
    assert summary({"a": alike, "b": alike, "c": alike}) == "3 hosts wait, robots.txt asks for 2 s"


def waits(answer: Any, folder: Path, robots: Answer, **settings: object) -> list[str]:
    """Return what a crawl says why it waits, each reason once."""
    said: dict[str, None] = {}
    with serving(answer, robots) as site:
        crawl([site.url], folder, CrawlSettings(**settings), lambda now: said.update({now.wait: None}))  # type: ignore[arg-type]
    return [text for text in said if text]


def test_a_crawl_delay_is_reported_on_the_progress_and_in_the_log(tmp_path: Path) -> None:
    robots = Answer(b"User-agent: *\nCrawl-delay: 1.5", type="text/plain")
    assert waits(star, tmp_path, robots, sitemaps=False) == ["robots.txt asks for 1.5 s between requests"]
    log = (tmp_path / CRAWL_LOG).read_text()
    assert log.count("127.0.0.1: robots.txt asks for 1.5 s between requests") == 1


def test_a_delay_beyond_the_limit_names_the_limit(tmp_path: Path) -> None:
    robots = Answer(b"User-agent: *\nCrawl-delay: 600", type="text/plain")
    text = "robots.txt asks for 600 s between requests, crawl.max_crawl_delay allows 1 s"
    assert waits(star, tmp_path, robots, sitemaps=False, max_crawl_delay=1.0, max_pages=3) == [text]


def test_a_late_answer_and_a_busy_server_are_reported(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(path: str) -> Answer:
        asked.append(path)
        if path == PAGES[0]:
            time.sleep(3.5)
        if path == PAGES[2] and asked.count(path) == 1:
            return Answer(status=503, headers={"Retry-After": "2"})
        return star(path)

    said = waits(answer, tmp_path, Answer(status=404), sitemaps=False, autothrottle=False, concurrency=1)
    assert "the server asks for a pause (http-503): no request for 2 s" in said
    assert any(text.startswith("the server has not answered for ") for text in said)


def test_a_crawl_without_waits_says_nothing(tmp_path: Path) -> None:
    assert waits(star, tmp_path, Answer(status=404)) == []
    assert (tmp_path / CRAWL_LOG).read_text() == ""
