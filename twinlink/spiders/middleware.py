"""Downloader middlewares: what Scrapy's own chain leaves out."""

from __future__ import annotations

import asyncio
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from twinlink.spiders.spider import SiteSpider

__all__ = ["MIDDLEWARES", "KeepRaw", "RetryAfter", "RobotsAnswer", "retry_after"]

MAX_WAIT = 300.0
"""Seconds that a server can make us wait for one request; then it is tried all the same."""

_DISALLOW_ALL = b"User-agent: *\nDisallow: /\n"


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
        else:
            spider: SiteSpider = self._crawler.spider  # type: ignore[assignment]  # the crawl's only spider
            spider.archive_aside(request, response)
        return response


class RetryAfter:
    """Waits as long as a busy server (429, 503) asks for, before Scrapy's `RetryMiddleware` tries again.

    Without a ``Retry-After`` header it waits 1 s, then 2, 4, …
    """

    async def process_response(self, request: Request, response: Response) -> Response:
        """Hold the answer back while the server wants no further request."""
        if response.status in (429, 503):
            header = (response.headers.get("Retry-After") or b"").decode("latin-1")
            asked = retry_after(header, time.time())
            await asyncio.sleep(min(MAX_WAIT, 2.0 ** request.meta.get("retry_times", 0) if asked is None else asked))
        return response


class RobotsAnswer:
    """Reads the status of robots.txt as RFC 9309 does: 4xx is no restriction, a failing server forbids everything.

    Scrapy's own middleware reads every body as if it were the file. Redirects and retries are done with before this.
    """

    def process_response(self, request: Request, response: Response) -> Response:
        """Replace the body of an answer that is not the file."""
        if "page" in request.meta or response.status == 200:
            return response
        failed = response.status >= 500 or response.status == 429
        return response.replace(body=_DISALLOW_ALL if failed else b"")


MIDDLEWARES = {KeepRaw: 610, RetryAfter: 560, RobotsAnswer: 540}
"""Their places: beyond Scrapy's redirects (600) and decompression (590), before its retries (550), after these."""


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
