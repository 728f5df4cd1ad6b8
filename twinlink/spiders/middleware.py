"""Downloader middlewares: what Scrapy's own chain leaves out."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import scrapy
from scrapy.http.request import NO_CALLBACK

from twinlink.spiders.building import PART, PageBuilder
from twinlink.spiders.compression import EncodingError, decompress
from twinlink.spiders.early import is_whole
from twinlink.spiders.failures import RefusedError, failure_reason
from twinlink.spiders.guard import blocked_port
from twinlink.spiders.robots import MAX_ROBOTS_BYTES, NO_RULES, RobotsRules, product_token, read_robots, user_agent
from twinlink.spiders.scope import SAME_PAGE, host_of
from twinlink.spiders.urls import origin_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from twinlink.spiders.spider import SiteSpider

__all__ = ["MIDDLEWARES", "Gate", "KeepRaw", "RetryAfter", "RobotsGate", "Unpack", "retry_after"]

MAX_WAIT = 300.0
"""Seconds that a server can make us wait for one request; one that asks for more is left alone until then."""
ROBOTS_FRESH = 86_400.0
"""Seconds that a robots.txt is relied on: RFC 9309 asks to use none older than a day."""
ROBOTS_REST = 600.0
"""Seconds until a robots.txt that could not be fetched is asked for again; until then its host is closed."""

_MAX_HOSTS = 10_000
"""Hosts whose rules are kept in memory; one that was forgotten is asked again."""


class Gate:
    """Lets no request through that must not be sent.

    That is one to an IP address that is not public, to a port that browsers block, or to a server that asked to be left
    alone.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._spider: SiteSpider = crawler.spider  # type: ignore[assignment]  # the crawl's only spider

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Refuse what must not be sent."""
        if not self._spider.guard.allows_literal(request.url):
            raise RefusedError("private-address", "")
        port = blocked_port(request.url)
        if port is not None:
            raise RefusedError("blocked-port", f"port {port} is another protocol's")
        if "page" in request.meta and self._spider.scope.sameness.is_trap(request.meta["page"].url):
            raise RefusedError("trap", SAME_PAGE)
        until = self._spider.resting.get(host_of(request.url))
        if until is not None and until > time.monotonic():
            raise RefusedError("busy", "the server asked to be left alone")


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
        self._rules: OrderedDict[str, tuple[float, asyncio.Future[RobotsRules | RefusedError]]] = OrderedDict()

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

    async def _rules_of(self, origin: str, site: str) -> RobotsRules | RefusedError:
        known = self._rules.get(origin)
        if known is None or known[0] < time.monotonic():
            known = (float("inf"), asyncio.ensure_future(self._fetch(origin, site, known)))
            self._rules[origin] = known
        self._rules.move_to_end(origin)
        # Shielded: one request that is cancelled must not take the answer from those that wait with it.
        return await asyncio.shield(known[1])

    async def _fetch(
        self, origin: str, site: str, earlier: tuple[float, asyncio.Future[RobotsRules | RefusedError]] | None
    ) -> RobotsRules | RefusedError:
        rules = await self._ask(origin) if self._limits.obey_robots else NO_RULES
        kept: RobotsRules | RefusedError | None = earlier[1].result() if earlier else None
        if isinstance(rules, RefusedError) and isinstance(kept, RobotsRules):
            rules = kept  # the last known rules hold on
        elif isinstance(rules, RobotsRules) and not isinstance(kept, RobotsRules):
            self._spider.found_sitemaps(origin, site, rules.sitemaps)
        fresh = ROBOTS_REST if isinstance(rules, RefusedError) else ROBOTS_FRESH
        self._rules[origin] = (time.monotonic() + fresh, self._rules[origin][1])
        while len(self._rules) > _MAX_HOSTS:
            self._rules.popitem(last=False)
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


class KeepRaw:
    """Keeps each answer as it came, still compressed: the archive takes that one. It stands next to the downloader."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it."""
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Put a page's answer aside until it is booked; archive that of robots.txt, which nobody books, at once."""
        if "page" in request.meta:
            request.meta["raw"] = response.copy()  # Scrapy's decompression takes Content-Encoding out of the original
        elif PART not in request.meta:
            spider: SiteSpider = self._crawler.spider  # type: ignore[assignment]  # the crawl's only spider
            spider.archive_aside(request, response)
        return response


class Unpack:
    """Undoes the content encoding as the reader of the archive will, up to the size limit."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it."""
        return cls(crawler.settings.getint("DOWNLOAD_MAXSIZE"))

    def process_response(self, request: Request, response: Response) -> Response:
        """Unpack an answer's body; refuse what is damaged, or too large without its packing."""
        encoding = b", ".join(response.headers.getlist("Content-Encoding")).decode("latin-1")
        if not encoding or not response.body or not is_whole(response):
            return response
        limit = request.meta.get("download_maxsize", self._max_bytes)
        try:
            body = decompress(response.body, encoding, limit)
        except EncodingError as error:
            raise RefusedError("bad-encoding", str(error)) from error
        if len(body) > limit:
            raise RefusedError("too-large", "decompressed")
        response = response.replace(body=body)
        del response.headers["Content-Encoding"]
        return response


class RetryAfter:
    """Waits as long as a busy server (429, 503) asks for, before Scrapy's `RetryMiddleware` tries again.

    Meanwhile nothing new is sent to its host. Without a ``Retry-After`` header it waits 1 s, then 2, 4, … A server that
    asks for more than `MAX_WAIT` is left alone so long: what is queued for it meanwhile is rejected as ``busy``, and
    queued again by the next run.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._spider: SiteSpider = crawler.spider  # type: ignore[assignment]  # the crawl's only spider
        self._waiting: dict[str, int] = {}  # host → requests that wait

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it."""
        return cls(crawler)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Hold the answer back while the server wants no further request."""
        if response.status not in (429, 503):
            return response
        header = (response.headers.get("Retry-After") or b"").decode("latin-1")
        asked = retry_after(header, time.time())
        host = host_of(request.url)
        if asked is not None and asked > MAX_WAIT:
            self._spider.rest(host, asked)
            raise RefusedError("busy", f"http-{response.status}, Retry-After: {header.strip()[:50]}")
        if request.meta.get("retry_times", 0) < self._spider.limits.retries:
            await self._hold(request, host, 2.0 ** request.meta.get("retry_times", 0) if asked is None else asked)
        return response

    async def _hold(self, request: Request, host: str, seconds: float) -> None:
        ledger = self._spider.ledger
        self._waiting[host] = self._waiting.get(host, 0) + 1
        ledger.limit_host(host, 0)
        assert self._crawler.engine is not None
        downloader = self._crawler.engine.downloader
        slot = downloader.slots.get(request.meta.get("download_slot", ""))
        if slot is not None:  # what waits there for its turn waits as long
            slot.lastseen = max(slot.lastseen, time.monotonic() + seconds)
        try:
            await asyncio.sleep(seconds)
        finally:
            self._waiting[host] -= 1
            if not self._waiting[host]:
                del self._waiting[host]
                paced = request.meta.get("download_slot") in downloader.per_slot_settings
                ledger.limit_host(host, 1 if paced else None)


MIDDLEWARES = {PageBuilder: 80, Gate: 90, RobotsGate: 100, KeepRaw: 610, Unpack: 590, RetryAfter: 560}
"""Their places: before all others, which is after them for answers; next to the downloader; where Scrapy's unpacking
is; before its retries (550)."""


def retry_after(header: str, now: float) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks for; None when it says nothing usable.

    Parameters
    ----------
    header : str
        A number of seconds, or a date.
    now : float
        The time, in seconds since 1970.

    Examples
    --------
    >>> retry_after("120", 0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 50.0), retry_after("soon", 0.0)
    (120.0, 10.0, None)
    """
    header = header.strip()
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - now)
    except (ValueError, OverflowError):
        return None
