"""Downloader middleware for robots.txt: fetches it once per host, and refuses the requests that it forbids."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import scrapy
from scrapy.http.request import NO_CALLBACK

from twinlink.spiders.failures import RefusedError, failure_reason
from twinlink.spiders.robots.known import Known, KnownRules, RulesOrRefusal
from twinlink.spiders.robots.robots import (
    MAX_ROBOTS_BYTES,
    NO_RULES,
    RobotsRules,
    product_token,
    read_robots,
    user_agent,
)
from twinlink.spiders.scope import host_of
from twinlink.spiders.state import PART, state_of
from twinlink.urls import join, origin_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from twinlink.spiders.frontier import FrontierEntry

__all__ = ["RobotsGate"]

logger = logging.getLogger(__name__)

ROBOTS_FRESH = 86_400.0
"""Seconds that a robots.txt is valid: RFC 9309 recommends no more than a day."""
ROBOTS_REST = 600.0
"""Seconds until a robots.txt that could not be fetched is requested again; until then its host is closed."""


class RobotsGate:
    """Obeys robots.txt (RFC 9309), and queues the sitemaps that it names.

    2xx: its rules hold. 4xx: nothing is forbidden. 429, 5xx, no response: everything is forbidden for a while
    (``robots-unreachable``, or what kept the response away). A Crawl-delay (or Request-rate) that is longer than the
    crawl's own delay sets the pace of the host, one request at a time.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._state = state_of(crawler)
        self._limits = self._state.limits
        self._agent = product_token(user_agent(self._limits))
        self._known = KnownRules()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware."""
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        """Refuse requests that robots.txt forbids."""
        entry = request.meta.get("page")
        if entry is None and PART not in request.meta:  # robots.txt itself
            return
        origin = origin_of(request.url)
        rules = await self._rules_of(origin, entry.site if entry else "")
        if isinstance(rules, RefusedError):
            raise RefusedError(rules.reason, str(rules))
        if not rules.allows(request.url):
            raise RefusedError("robots")
        if rules.delay > self._state.delay:
            request.meta["autothrottle_dont_adjust_delay"] = True
            self._slow(request.url, rules.delay)

    async def _rules_of(self, origin: str, site: str) -> RulesOrRefusal:
        known = self._known.get(origin)
        if known is None or known.until < time.monotonic():
            known = Known(asyncio.ensure_future(self._fetch(origin, site, known)))
            self._known.put(origin, known)
        # Shielded: one request that is cancelled must not take the response from those that wait with it.
        return await asyncio.shield(known.answer)

    async def _fetch(self, origin: str, site: str, earlier: Known | None) -> RulesOrRefusal:
        rules = await self._ask(origin) if self._limits.obey_robots else NO_RULES
        kept = earlier.answer.result() if earlier else None
        if isinstance(rules, RefusedError) and isinstance(kept, RobotsRules):
            rules = kept  # the last known rules hold on
        elif isinstance(rules, RobotsRules) and not isinstance(kept, RobotsRules):
            self._queue_sitemaps(origin, site, rules.sitemaps)
        fresh = ROBOTS_REST if isinstance(rules, RefusedError) else ROBOTS_FRESH
        self._known.settle(origin, time.monotonic() + fresh, rules.size if isinstance(rules, RobotsRules) else 0)
        return rules

    def _queue_sitemaps(self, origin: str, site: str, named: Sequence[str]) -> None:
        """Queue the sitemaps of a host that is requested the first time: those that robots.txt names, or the usual one.

        The usual one also where robots.txt names only others that are off the sites.

        Parameters
        ----------
        origin : str
            Scheme, host and port.
        site : str
            Site of the page that was to be fetched.
        named : sequence of str
            As robots.txt writes them.
        """
        if not self._limits.sitemaps:
            return
        root = f"{origin}/"
        entries = self._sitemaps(root, site, named) or self._sitemaps(root, site, ["/sitemap.xml"])
        try:
            self._state.frontier.add(entries)
        except sqlite3.Error as error:
            self._state.fatal = error  # the next answer stops the crawl

    def _sitemaps(self, root: str, site: str, addresses: Iterable[str]) -> list[FrontierEntry]:
        """Return the entries of sitemaps, without those that are off the sites."""
        urls = (join(root, address) for address in addresses)
        entries = (self._state.scope.sitemap(url, root, site) for url in urls if url)
        return [entry for entry in entries if entry]

    async def _ask(self, origin: str) -> RobotsRules | RefusedError:
        # Above the page's own limit, so that it is cut and not refused.
        meta = {"verbatim_url": True, "download_maxsize": max(2 * MAX_ROBOTS_BYTES, self._limits.max_page_bytes)}
        request = scrapy.Request(f"{origin}/robots.txt", callback=NO_CALLBACK, priority=1000, meta=meta)
        assert self._crawler.engine is not None
        try:
            return self._rules(origin, await self._crawler.engine.download_async(request))
        except Exception as error:  # noqa: BLE001  # whatever keeps the rules away, nothing may be fetched
            reason, detail = failure_reason(error)
            if reason == "error" and "max redirections" in detail:
                return NO_RULES  # RFC 9309, section 2.3.1.2: as if it were not there
            is_own = reason == "private-address" and self._state.guard.refused(origin)
            refused = isinstance(error, RefusedError) and reason in ("busy", "private-address", "blocked-port")
            if (refused and not is_own) or reason in (
                "too-large",
                "error",
            ):  # it, not the page; and the next run asks again
                reason, detail = "robots-unreachable", f"{reason} {detail}".strip()
            return RefusedError(reason, f"robots.txt: {detail}")

    def _rules(self, origin: str, response: Response) -> RobotsRules | RefusedError:
        if response.status == 200:
            if len(response.body) > MAX_ROBOTS_BYTES:
                logger.warning("%s/robots.txt: only the first %d bytes are read", origin, MAX_ROBOTS_BYTES)
            return read_robots(response.body, self._agent)
        if response.status >= 500 or response.status == 429:
            return RefusedError("robots-unreachable", f"robots.txt: http-{response.status}")
        return NO_RULES

    def _slow(self, url: str, wanted: float) -> None:
        """Set the pace of a host; the downloader forgets it when the host rests, and then takes it from here."""
        host = urlsplit(url).hostname or ""
        delay = max(self._state.delay, min(wanted, self._limits.max_crawl_delay))
        assert self._crawler.engine is not None
        downloader: Any = self._crawler.engine.downloader
        allowed = f", crawl.max_crawl_delay allows {delay:g} s" if delay < wanted else ""
        self._state.paces[host] = f"robots.txt asks for {wanted:g} s between requests{allowed}"
        if host not in downloader.per_slot_settings:
            downloader.per_slot_settings[host] = {"concurrency": 1, "delay": delay, "jitter": 0.0}
            self._state.frontier.limit_host(host_of(url), 1)
        slot = downloader.slots.get(host)
        if slot is not None:
            slot.concurrency, slot.delay, slot.jitter = 1, delay, 0.0
