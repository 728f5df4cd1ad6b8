"""The links of a page: a page with very many of them holds no other response up, and each is recorded once."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.loopback import Answer, serving
from twinlink.config import CrawlSettings
from twinlink.spiders.crawling import crawl
from twinlink.spiders.frontier import LEDGER_NAME, FrontierEntry, Outcome
from twinlink.spiders.frontier.urgency import SURE
from twinlink.spiders.items import AddressItem, LinksItem
from twinlink.spiders.spider import AT_ONCE, SiteSpider


def entry(name: str, urgency: int = 0) -> FrontierEntry:
    url = f"http://a.example/{name}"
    return FrontierEntry(url, url, "a.example", urgency=urgency)


def test_pages_with_very_many_links_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    n_links = {"wide": 3 * AT_ONCE + 1, "other": 2 * AT_ONCE, "small": AT_ONCE, "bare": 0}
    links = {name: [entry(f"{name}/{n}", SURE if n == 7 else 0) for n in range(many)] for name, many in n_links.items()}

    def judge(spider: SiteSpider, page: FrontierEntry, response: Mock) -> tuple[FrontierEntry, Outcome, object]:
        return page, Outcome("done", status=200), links[page.url.rpartition("/")[2]]

    monkeypatch.setattr(SiteSpider, "_judge", judge)
    spider = SiteSpider(crawl_state=Mock(sides=None, limits=CrawlSettings()))
    items: list[AddressItem | LinksItem] = []

    async def answer(name: str) -> None:
        async for item in spider.answered(Mock(meta={"page": entry(name)}, status=200, request=None)):
            items.append(item)  # noqa: PERF401  (the order shows whose turn it was)

    async def answer_all() -> None:
        await asyncio.gather(*map(answer, n_links))

    asyncio.run(answer_all())
    order = [(item.entry.url.rpartition("/")[2], type(item)) for item in items]
    assert order == [
        ("wide", LinksItem), ("other", LinksItem), ("small", AddressItem), ("bare", AddressItem),
        ("wide", LinksItem), ("other", LinksItem),
        ("wide", LinksItem), ("other", AddressItem),
        ("wide", AddressItem),
    ]  # fmt: skip
    assert all(len(item.links) <= AT_ONCE for item in items)
    for name in ("wide", "other"):
        parts = [item.links for item in items if item.entry == entry(name)]
        assert Counter(link for part in parts for link in part) == Counter(links[name])
        assert parts[-1] == [entry(f"{name}/7", SURE)]  # recorded with the outcome of its page, whose partner it is


def test_all_links_of_a_page_are_recorded_and_its_partner_comes_first(tmp_path: Path) -> None:
    anchors = "".join(f"<a href='/{n}'>{n}</a>" for n in range(AT_ONCE + 100))
    start = Answer(f"<html lang=en><link rel=alternate hreflang=fr href='/fr'>{anchors}<p>words".encode())
    with serving(lambda path: start if path == "/" else Answer(b"<p>page")) as site:
        crawl([site.url], tmp_path, CrawlSettings(langs=("en", "fr"), max_pages=3, concurrency=1, delay=0))
        asked = [path for path in site.log if path not in ("/robots.txt", "/sitemap.xml")]
    assert asked[:2] == ["/", "/fr"]
    with closing(sqlite3.connect(tmp_path / LEDGER_NAME)) as db:
        known = {url.removeprefix(site.url) for (url,) in db.execute("SELECT url FROM frontier WHERE kind = 'page'")}
    assert known == {"/", "/fr", *(f"/{n}" for n in range(AT_ONCE + 100))}
