"""Scrapy's scheduler on the ledger: the queue is on disk, so memory is bounded and a killed crawl can be resumed."""

from __future__ import annotations

import sqlite3
from collections import deque
from typing import TYPE_CHECKING

import msgspec
from scrapy.core.scheduler import BaseScheduler

from twinlink.spiders.frontier import Outcome
from twinlink.spiders.frontier.urgency import UNLIKELY

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from twinlink.spiders.frontier import FrontierEntry
    from twinlink.spiders.spider import SiteSpider


_MAX_PUT_OFF = 500  # addresses at once: nothing else is done meanwhile


class SqliteScheduler(BaseScheduler):
    """Hands out the addresses of the spider's frontier, sites in turn, and ends at ``max_pages``.

    A host has at most ``concurrency`` addresses in flight, from here until its response is recorded; so that is also
    how many can be fetched twice when the crawl is killed.

    It knows no duplicates filter: in the ledger the key of an address is unique, and stays so from run to run. Scrapy's
    filter keeps a fingerprint of each request in memory, or in a file that no transaction joins to the queue.
    """

    def __init__(self, spider: SiteSpider) -> None:
        self._spider = spider
        self._state = spider.crawl_state
        self._frontier = self._state.frontier
        self._per_host = self._state.limits.concurrency
        self._max_pages = self._state.limits.max_pages
        self._retries: deque[Request] = deque()
        self._paused = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it for the crawler's spider, which must be a `SiteSpider`."""
        return cls(crawler.spider)  # type: ignore[arg-type]  # Scrapy knows only that it is a spider

    def enqueue_request(self, request: Request) -> bool:
        """Accept a request that will be retried; Scrapy has no others here, because links go through the ledger."""
        self._retries.append(request)
        return True

    def next_request(self) -> Request | None:
        """Return the next request; None in a pause, and when all are busy, nothing waits or the crawl is to end."""
        if self._state.fatal is not None or self._waits() or self._state.reading.is_full:
            return None
        if self._retries:
            return self._retries.popleft()
        if not self._wants_more():
            return None
        try:
            n_put_off = 0
            while entry := self._frontier.take(self._per_host):
                if n_put_off < _MAX_PUT_OFF and self._is_put_off(entry):
                    n_put_off += 1
                elif request := self._request(entry):
                    return request
        except (sqlite3.Error, msgspec.MsgspecError) as error:  # Scrapy would log it and wait forever
            self._state.fatal = error
        return None

    def _request(self, entry: FrontierEntry) -> Request | None:
        """Return the request for an address; None for one that cannot be requested, which is recorded."""
        try:
            return self._spider.request(entry)
        except ValueError as error:  # no crawl queues such an address: the ledger has been changed
            self._frontier.settle(entry, Outcome("rejected", "bad-url", str(error)))
            return None

    def _is_put_off(self, entry: FrontierEntry) -> bool:
        """Return whether an address goes back into the queue, behind all others: more is known than at its link."""
        if entry.urgency == UNLIKELY or not self._state.scope.is_unlikely(entry):
            return False
        self._frontier.settle(entry._replace(urgency=UNLIKELY), Outcome("queued"))
        return True

    def has_pending_requests(self) -> bool:
        """Return whether the crawl has to go on."""
        return self._state.fatal is None and (bool(self._retries) or self._wants_more())

    def _waits(self) -> bool:
        """Return whether a pause is requested; at its end the sites' time resumes from now."""
        was_paused, self._paused = self._paused, self._state.pause is not None and self._state.pause.waits()
        if was_paused and not self._paused:
            self._frontier.skip_time()
        return self._paused

    def _wants_more(self) -> bool:
        counts = self._frontier.counts()
        return counts.queued > 0 and counts.done + counts.flight < self._max_pages and self._frontier.has_more()
