"""The item pipeline: archive and ledger agree after every item, and nothing is written after a write that fails."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from scrapy.http import HtmlResponse, Request, Response

from tests.archives import captures
from twinlink.config import CrawlSettings
from twinlink.spiders.archive import Archive
from twinlink.spiders.frontier import LEDGER_NAME, Frontier, FrontierEntry, Outcome
from twinlink.spiders.guard import AddressGuard
from twinlink.spiders.items import AddressItem, LinksItem
from twinlink.spiders.middlewares.answers import KeepRaw
from twinlink.spiders.pipelines import LedgerPipeline
from twinlink.spiders.scope import Scope
from twinlink.spiders.state import RAW, CrawlState

START = "http://a.org/"


def entry(url: str) -> FrontierEntry:
    return FrontierEntry(url, url, "a.org", site="a.org")


def page(url: str, links: Sequence[str] = (), reason: str = "") -> AddressItem:
    """Return the item of a page, or of an answer that is dropped for a reason."""
    request = Request(url, meta={"page": entry(url)})
    response = request.meta[RAW] = HtmlResponse(url, body=b"<p>words", request=request)
    outcome = Outcome("rejected" if reason else "done", reason, status=200)
    return AddressItem(entry(url), outcome, [entry(link) for link in links], response)


class Crawl:
    """A pipeline on a real ledger and archive, and how often it closed the spider."""

    def __init__(self, folder: Path, frontier: Frontier) -> None:
        limits = CrawlSettings()
        archive = Archive(folder / "warc", frontier)
        self.state = CrawlState(frontier, archive, Scope([START], limits), AddressGuard([START], False), limits, 0.0)
        self.pipeline = LedgerPipeline(self.state, self._close)
        self.closed = 0
        self.end = ExitStack()
        self.end.callback(frontier.close)
        self.end.callback(archive.close)
        self.end.callback(self.state.reading.close)

    async def _close(self) -> None:
        self.closed += 1

    def write(self, *items: AddressItem | LinksItem) -> None:
        async def run() -> None:
            for item in items:
                assert self.pipeline.process_item(item) is item
            await asyncio.sleep(0)

        asyncio.run(run())


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    frontier = Frontier(tmp_path / LEDGER_NAME)
    frontier.seed([entry(START)], 50, 30)
    made = Crawl(tmp_path, frontier)
    with made.end:
        yield made


def archived(folder: Path) -> list[str]:
    return [url for path in sorted((folder / "warc").iterdir()) for url, _, _ in captures(path)]


def test_a_page_is_archived_and_booked_with_its_links(crawl: Crawl, tmp_path: Path) -> None:
    frontier = crawl.state.frontier
    assert frontier.take(9) == entry(START)
    crawl.write(page(START, ["http://a.org/b", "http://a.org/c"]))
    assert frontier.counts()[:3] == (2, 0, 1)
    (stop,) = frontier.archives().values()
    assert stop == (tmp_path / "warc" / "crawl-00001.warc.gz").stat().st_size
    assert archived(tmp_path) == [START]
    assert crawl.closed == 0


def test_responses_without_a_page_are_recorded_but_not_archived(crawl: Crawl, tmp_path: Path) -> None:
    crawl.state.frontier.take(9)
    crawl.write(page(START, reason="noindex"))
    assert crawl.state.frontier.counts().rejected == 1
    assert archived(tmp_path) == []


def test_portions_of_a_sitemap_are_recorded_with_their_size(crawl: Crawl) -> None:
    frontier = crawl.state.frontier
    before = frontier.room_for_sitemaps("a.org")
    crawl.write(LinksItem(entry(START), [entry("http://a.org/b")]), LinksItem(entry(START), (), 7, 30))
    assert frontier.counts().queued == 2
    assert frontier.room_for_sitemaps("a.org") == (before[0] - 7, before[1] - 30)


@pytest.mark.parametrize("error", [sqlite3.OperationalError("disk I/O error"), OSError(28, "No space left on device")])
def test_after_a_write_that_fails_nothing_is_written_and_the_spider_is_closed_once(
    crawl: Crawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """What was archived and not booked is cut off by the next run, which asks for its address again."""
    frontier = crawl.state.frontier
    frontier.take(9)
    crawl.write(page(START, ["http://a.org/b", "http://a.org/c"]))
    book_links = frontier._book_links

    def fail(*_: Any) -> None:
        raise error

    for _ in range(2):
        frontier.take(9)
    monkeypatch.setattr(frontier, "_book_links", fail)  # in the middle of the transaction
    crawl.write(page("http://a.org/b"))
    monkeypatch.setattr(frontier, "_book_links", book_links)
    crawl.write(page("http://a.org/c"), LinksItem(entry(START), [entry("http://a.org/d")]))
    robots = Request("http://a.org/robots.txt")
    KeepRaw(crawl.state).process_response(robots, Response(robots.url, body=b"User-agent: *"))
    assert crawl.state.fatal is error
    assert crawl.closed == 1
    assert archived(tmp_path) == [START, "http://a.org/b"]
    crawl.end.close()
    with closing(Frontier(tmp_path / LEDGER_NAME)) as again:
        Archive(tmp_path / "warc", again)
        assert again.counts()[:3] == (2, 0, 1)
    assert archived(tmp_path) == [START]
