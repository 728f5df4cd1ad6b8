"""Downloader middlewares of the crawl, and their places in Scrapy's chain.

`Gate` and `RobotsGate` refuse requests; `RetryAfter` waits for busy servers, and `Retry` makes requests again;
`KeepRaw`, `Unpack` and `SetAside` keep, decompress and take out the bodies of responses; `Reading` parses them, and
`PageBuilder` renders a page with its scripts if needed. All of them access the crawl through its `CrawlState`.

`RobotsGate` replaces Scrapy's ``RobotsTxtMiddleware``, which keeps every robots.txt in memory forever, treats a
robots.txt that cannot be fetched as permission (RFC 9309 requires the opposite), and does not return sitemaps.
"""

from __future__ import annotations

from twinlink.spiders.middlewares.answers import KeepRaw, Reading, SetAside, Unpack
from twinlink.spiders.middlewares.gate import Gate
from twinlink.spiders.middlewares.page_builder import PageBuilder
from twinlink.spiders.middlewares.retry import Retry
from twinlink.spiders.middlewares.retry_after import RetryAfter
from twinlink.spiders.middlewares.robots import RobotsGate

__all__ = ["MIDDLEWARES"]

MIDDLEWARES = {
    PageBuilder: 80, Reading: 83, SetAside: 85, Gate: 90, RobotsGate: 100, KeepRaw: 610, Unpack: 590, RetryAfter: 560,
    Retry: 550,
}  # fmt: skip
"""Their places: before all others, which is after them for responses; next to the downloader; where Scrapy's unpacking
is; where its retries are (550), and before these."""
