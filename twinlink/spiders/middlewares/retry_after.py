"""Downloader middleware that obeys ``Retry-After`` of busy servers before Scrapy retries."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from twinlink.spiders.failures import RefusedError
from twinlink.spiders.scope import host_of
from twinlink.spiders.state import state_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

MAX_WAIT = 300.0
"""Seconds that a server can delay one request; a page for which it asks for more is requested again last."""
MAX_LONG = 3
"""Responses in a row that ask for more than `MAX_WAIT`, until the whole server is left alone. A choice: one or two can
be broken pages; a server that is closed says so each time."""


class RetryAfter:
    """Obeys ``Retry-After`` of a busy server (429, 503), before Scrapy's `RetryMiddleware` retries.

    Meanwhile nothing new is sent to its host. Without a ``Retry-After`` header it waits 1 s, then 2, 4, … A page for
    which a server asks for more than `MAX_WAIT` is refused as ``busy``, and the spider queues it behind all others.
    After `MAX_LONG` such responses in a row the server is left alone for so long: what is queued for it meanwhile is
    rejected as ``busy``, and queued again by the next run.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._state = state_of(crawler)
        self._waiting: dict[str, int] = {}  # host → requests that wait
        self._long: Counter[str] = Counter()  # host → responses in a row that asked for a long pause

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware."""
        return cls(crawler)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Delay the response while the server wants no further request."""
        host = host_of(request.url)
        if response.status not in (429, 503):
            self._long.pop(host, None)
            return response
        header = (response.headers.get("Retry-After") or b"").decode("latin-1")
        pause = retry_after(header, time.time())
        if pause is not None and pause > MAX_WAIT:
            raise self._refusal(host, pause, f"http-{response.status}, Retry-After: {header.strip()[:50]}")
        if request.meta.get("retry_times", 0) < self._state.limits.retries:
            seconds = 2.0 ** request.meta.get("retry_times", 0) if pause is None else pause
            why = "answers that it is busy" if pause is None else "asks for a pause"
            why = f"the server {why} (http-{response.status}): no request for {seconds:g} s"
            self._state.held[host] = time.monotonic() + seconds, why
            await self._hold(request, host, seconds)
        return response

    def _refusal(self, host: str, pause: float, said: str) -> RefusedError:
        self._long[host] += 1
        if self._long[host] >= MAX_LONG:
            self._state.rest(host, pause, f"the server asked for a longer pause ({said})")
        return RefusedError("busy", said)

    async def _hold(self, request: Request, host: str, seconds: float) -> None:
        frontier = self._state.frontier
        self._waiting[host] = self._waiting.get(host, 0) + 1
        frontier.limit_host(host, 0)
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
                frontier.limit_host(host, 1 if paced else None)


def retry_after(header: str, now: float) -> float | None:
    """Return the seconds of a ``Retry-After`` header; None if it is not usable.

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
        moment = parsedate_to_datetime(header)
        return max(0.0, (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None
