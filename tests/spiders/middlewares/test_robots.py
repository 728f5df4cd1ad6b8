"""Robots.txt that cannot be read."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from unittest.mock import AsyncMock, Mock

import pytest
from scrapy import Request
from scrapy.http import TextResponse

from twinlink.config import CrawlSettings
from twinlink.spiders.failures import RefusedError
from twinlink.spiders.frontier import FrontierEntry
from twinlink.spiders.middlewares.robots import RobotsGate

URL = "http://a.org/"


def gate_of(answer: TextResponse) -> RobotsGate:
    """Return the middleware of a crawl in which each request has one answer."""
    spider = SimpleNamespace(crawl_state=SimpleNamespace(limits=CrawlSettings(), guard=Mock()))
    engine = SimpleNamespace(download_async=AsyncMock(return_value=answer))
    return RobotsGate(SimpleNamespace(spider=spider, engine=engine))  # type: ignore[arg-type]


def test_an_error_while_robots_txt_is_read_closes_its_host_for_now(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = Mock(side_effect=OverflowError("too large"))
    monkeypatch.setattr("twinlink.spiders.middlewares.robots.read_robots", reading)
    gate = gate_of(TextResponse(f"{URL}robots.txt", body=b"User-agent: *"))

    async def ask_twice() -> list[RefusedError]:
        requests = [Request(URL, meta={"page": FrontierEntry(URL, URL, "a.org")}) for _ in range(2)]
        outcomes = await asyncio.gather(*map(gate.process_request, requests), return_exceptions=True)
        return [outcome for outcome in outcomes if isinstance(outcome, RefusedError)]

    refused = asyncio.run(ask_twice())
    assert [error.reason for error in refused] == ["robots-unreachable"] * 2
    assert str(refused[0]) == "robots.txt: error OverflowError: too large"
    known = gate._known.get("http://a.org")
    assert known is not None
    assert known.until < float("inf")  # it is asked again
