"""Downloader middlewares: what Scrapy's own chain leaves out."""

from __future__ import annotations

import asyncio
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from twinlink.spiders.browser.middleware import PART, PageBuilder
from twinlink.spiders.early_end import is_whole
from twinlink.spiders.failures import RefusedError
from twinlink.spiders.guard import blocked_port
from twinlink.spiders.reader.middleware import Reading, unpacked
from twinlink.spiders.robots.middleware import RobotsGate
from twinlink.spiders.scope import SAME_PAGE, host_of
from twinlink.spiders.sitemap_queue import SetAside

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from twinlink.spiders.spider import SiteSpider

__all__ = ["MIDDLEWARES", "Gate", "KeepRaw", "RetryAfter", "Unpack", "retry_after"]

MAX_WAIT = 300.0
"""Seconds that a server can make us wait for one request; one that asks for more is left alone until then."""


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
        if "page" in request.meta and request.meta["page"].kind == "sitemap":
            self._spider.listing.check(request.meta["page"])
        until = self._spider.resting.get(host_of(request.url))
        if until is not None and until > time.monotonic():
            raise RefusedError("busy", "the server asked to be left alone")


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
    """Undoes the content encoding of all answers but those for pages, up to the size limit; `Reading` does theirs."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it."""
        return cls(crawler.settings.getint("DOWNLOAD_MAXSIZE"))

    def process_response(self, request: Request, response: Response) -> Response:
        """Unpack an answer's body; refuse what is damaged, or too large without its packing."""
        entry = request.meta.get("page")
        if (entry is not None and entry.kind == "page") or not is_whole(response):
            return response
        return unpacked(response, request.meta.get("download_maxsize", self._max_bytes))


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


MIDDLEWARES = {
    PageBuilder: 80, Reading: 83, SetAside: 85, Gate: 90, RobotsGate: 100, KeepRaw: 610, Unpack: 590, RetryAfter: 560,
}  # fmt: skip
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
