"""Downloader middleware that keeps to robots.txt: asks each host for it once, and refuses what it forbids."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import scrapy
from scrapy.http.request import NO_CALLBACK

from twinlink.spiders.browser.middleware import PART
from twinlink.spiders.failures import RefusedError, failure_reason
from twinlink.spiders.robots.robots import (
    MAX_ROBOTS_BYTES,
    NO_RULES,
    RobotsRules,
    product_token,
    read_robots,
    user_agent,
)
from twinlink.spiders.scope import host_of
from twinlink.urls import origin_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from twinlink.spiders.spider import SiteSpider

__all__ = ["Known", "KnownRules", "RobotsGate"]

logger = logging.getLogger(__name__)

ROBOTS_FRESH = 86_400.0
"""Seconds that a robots.txt is relied on: RFC 9309 asks to use none older than a day."""
ROBOTS_REST = 600.0
"""Seconds until a robots.txt that could not be fetched is asked for again; until then its host is closed."""

MAX_HOSTS = 10_000
"""Hosts whose rules are kept in memory; one that was forgotten is asked again."""
MAX_BYTES = 64 * 2**20
"""Memory for all rules that are kept: those of an ordinary host take a few thousand bytes, the largest some 6 MB."""


class RobotsGate:
    """Keeps to robots.txt as RFC 9309 says, and passes on the sitemaps that it names.

    2xx: its rules hold. 4xx: nothing is forbidden. 429, 5xx, no answer: everything is forbidden for a while
    (``robots-unreachable``, or what kept the answer away). A Crawl-delay (or Request-rate) that is longer than the
    crawl's own delay sets the pace of the host, one request at a time.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._spider: SiteSpider = crawler.spider  # type: ignore[assignment]  # the crawl's only spider
        self._limits = self._spider.limits
        self._agent = product_token(user_agent(self._limits))
        self._known = KnownRules()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Refuse what robots.txt forbids."""
        entry = request.meta.get("page")
        if entry is None and PART not in request.meta:  # robots.txt itself
            return
        origin = origin_of(request.url)
        rules = await self._rules_of(origin, entry.site if entry else "")
        if isinstance(rules, RefusedError):
            raise RefusedError(rules.reason, str(rules))
        if not rules.allows(request.url):
            raise RefusedError("robots")
        if rules.delay > self._spider.delay:
            request.meta["autothrottle_dont_adjust_delay"] = True
            self._slow(request.url, rules.delay)

    async def _rules_of(self, origin: str, site: str) -> _Answer:
        known = self._known.get(origin)
        if known is None or known.until < time.monotonic():
            known = Known(asyncio.ensure_future(self._fetch(origin, site, known)))
            self._known.put(origin, known)
        # Shielded: one request that is cancelled must not take the answer from those that wait with it.
        return await asyncio.shield(known.answer)

    async def _fetch(self, origin: str, site: str, earlier: Known | None) -> _Answer:
        rules = await self._ask(origin) if self._limits.obey_robots else NO_RULES
        kept = earlier.answer.result() if earlier else None
        if isinstance(rules, RefusedError) and isinstance(kept, RobotsRules):
            rules = kept  # the last known rules hold on
        elif isinstance(rules, RobotsRules) and not isinstance(kept, RobotsRules):
            self._spider.found_sitemaps(origin, site, rules.sitemaps)
        fresh = ROBOTS_REST if isinstance(rules, RefusedError) else ROBOTS_FRESH
        self._known.settle(origin, time.monotonic() + fresh, rules.size if isinstance(rules, RobotsRules) else 0)
        return rules

    async def _ask(self, origin: str) -> RobotsRules | RefusedError:
        # Above the page's own limit, so that it is cut and not refused.
        meta = {"verbatim_url": True, "download_maxsize": max(2 * MAX_ROBOTS_BYTES, self._limits.max_page_bytes)}
        request = scrapy.Request(f"{origin}/robots.txt", callback=NO_CALLBACK, priority=1000, meta=meta)
        assert self._crawler.engine is not None
        try:
            response = await self._crawler.engine.download_async(request)
        except Exception as error:  # noqa: BLE001  # whatever keeps the answer away, nothing may be fetched
            reason, detail = failure_reason(error)
            if reason == "error" and "max redirections" in detail:
                return NO_RULES  # RFC 9309, section 2.3.1.2: as if it were not there
            refused = isinstance(error, RefusedError) and reason in ("busy", "private-address", "blocked-port")
            if refused or reason in ("too-large", "error"):  # it, not the page; and the next run asks again
                reason, detail = "robots-unreachable", f"{reason} {detail}".strip()
            if reason == "dns" and self._spider.guard.refused(origin):
                reason = "private-address"
            return RefusedError(reason, f"robots.txt: {detail}")
        if response.status == 200:
            if len(response.body) > MAX_ROBOTS_BYTES:
                logger.warning("%s/robots.txt: what stands behind %d bytes is not read", origin, MAX_ROBOTS_BYTES)
            return read_robots(response.body, self._agent)
        if response.status >= 500 or response.status == 429:
            return RefusedError("robots-unreachable", f"robots.txt: http-{response.status}")
        return NO_RULES

    def _slow(self, url: str, asked: float) -> None:
        """Set the pace of a host; the downloader forgets it when the host rests, and then takes it from here."""
        host = urlsplit(url).hostname or ""
        delay = max(self._spider.delay, min(asked, self._limits.max_crawl_delay))
        assert self._crawler.engine is not None
        downloader: Any = self._crawler.engine.downloader
        if host not in downloader.per_slot_settings:
            downloader.per_slot_settings[host] = {"concurrency": 1, "delay": delay, "jitter": 0.0}
            self._spider.ledger.limit_host(host_of(url), 1)
        slot = downloader.slots.get(host)
        if slot is not None:
            slot.concurrency, slot.delay, slot.jitter = 1, delay, 0.0


class Known(NamedTuple):
    """The robots.txt of a host: asked for, or known."""

    answer: asyncio.Future[_Answer]
    until: float = float("inf")
    """When it is to be asked for again (monotonic time)."""
    size: int = 0
    """Memory that its rules take."""


class KnownRules:
    """Rules by origin, as many as there is room for; those that were not looked at for longest go first."""

    def __init__(self, max_hosts: int = MAX_HOSTS, max_bytes: int = MAX_BYTES) -> None:
        self._max_hosts = max_hosts
        self._max_bytes = max_bytes
        self._by_origin: OrderedDict[str, Known] = OrderedDict()
        self._size = 0

    def get(self, origin: str) -> Known | None:
        """Return what is known, if it is."""
        if origin in self._by_origin:
            self._by_origin.move_to_end(origin)
        return self._by_origin.get(origin)

    def put(self, origin: str, known: Known) -> None:
        """Remember what is known of an origin, and forget others."""
        earlier = self._by_origin.pop(origin, None)
        self._by_origin[origin] = known
        self._size += known.size - (earlier.size if earlier else 0)
        while self._is_full():
            oldest = next((name for name, other in self._by_origin.items() if other.until < float("inf")), None)
            if oldest is None:  # all are waited for
                break
            self._size -= self._by_origin.pop(oldest).size

    def settle(self, origin: str, until: float, size: int) -> None:
        """Note that an answer has come."""
        self.put(origin, self._by_origin[origin]._replace(until=until, size=size))

    def _is_full(self) -> bool:
        return len(self._by_origin) > self._max_hosts or self._size > self._max_bytes


_Answer = RobotsRules | RefusedError
