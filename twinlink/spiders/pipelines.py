"""Item pipeline: writes each response to the archive, and its outcome and links to the ledger."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import TYPE_CHECKING

from twinlink.spiders.early_end import is_whole
from twinlink.spiders.frontier import is_failure
from twinlink.spiders.items import AddressItem, LinksItem
from twinlink.spiders.revisits import archive_page
from twinlink.spiders.state import BUILT, EARLIER, RAW, CrawlState, state_of
from twinlink.spiders.warc_writer import Conversion

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any, Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from twinlink.spiders.browser.visit import Built
    from twinlink.spiders.frontier import FrontierEntry, Outcome

_NOT_ARCHIVED = frozenset(("not-html", "not-a-part", "noindex", "needs-browser", "browser-failed"))


class LedgerPipeline:
    """Writes items one after another; the crawl survives a kill between any two steps.

    A response goes into the archive first. One transaction of the ledger then records its outcome, its links and the
    end of its records in the archive. After a kill before that transaction, the address is queued again, and the next
    run cuts the records off. The first write that fails closes the spider, and nothing is written after it.

    Parameters
    ----------
    state : CrawlState
        Its ``fatal`` gets the error of a write that fails.
    close : callable
        Returns a coroutine that closes the spider.
    """

    def __init__(self, state: CrawlState, close: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._state = state
        self._close = close
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the pipeline."""

        async def close() -> None:
            assert crawler.engine is not None
            await crawler.engine.close_spider_async(reason="cannot write")

        return cls(state_of(crawler), close)

    def process_item(self, item: AddressItem | LinksItem) -> AddressItem | LinksItem:
        """Write an item, or close the spider if that cannot be done or could not be done before."""
        if self._state.fatal is None:
            try:
                self._write(item)
            except (OSError, sqlite3.Error) as error:
                self._state.fatal = error
                self._state.archive.disown()
        if self._state.fatal is not None and self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        return item

    def _write(self, item: AddressItem | LinksItem) -> None:
        frontier = self._state.frontier
        if isinstance(item, LinksItem):
            frontier.bring(item.entry, item.links)
            if item.n_addresses or item.n_bytes:
                frontier.spend_on_sitemaps(item.entry.site, item.n_addresses, item.n_bytes)
            return
        outcome, response = item.outcome, item.response
        if response is not None and is_whole(response) and outcome.reason not in _NOT_ARCHIVED:
            outcome = self._archived(item.entry, outcome, response)
        frontier.settle(item.entry, outcome, item.links)
        self._learn(item.entry, outcome)

    def _learn(self, entry: FrontierEntry, outcome: Outcome) -> None:
        """Bring the queue up to date with what an outcome shows of other addresses."""
        frontier, scope = self._state.frontier, self._state.scope
        for is_lifted in scope.take_lifted():
            frontier.readmit(is_lifted, self._state.limits.max_depth)
        failed = is_failure(outcome.reason)
        if entry.kind == "page" and (failed or outcome.state == "done"):
            is_dead = scope.dead_forms.see(entry.url, failed=failed)
            if is_dead is not None:
                frontier.put_form_last(entry, is_dead)

    def _archived(self, entry: FrontierEntry, outcome: Outcome, response: Response) -> Outcome:
        """Archive a response, and return its outcome with where it lies."""
        raw: Response = response.meta[RAW]
        if entry.kind == "sitemap":  # no page: what it lists is in the ledger
            return outcome
        assert response.request is not None
        built: Built | None = response.meta.get(BUILT)
        conversion = built and Conversion(built.content_type, built.body)
        url, request = response.meta["page"].url, response.request
        archive = self._state.archive
        if outcome.state == "done":
            written, body = archive_page(archive, url, request, raw, response.meta.get(EARLIER), conversion)
            outcome = outcome._replace(body=body)
        else:
            written = archive.write(url, request, raw, conversion)
        if built and outcome.state == "done":
            outcome = outcome._replace(detail=f"built by scripts: {built.n_parts} requests, {built.n_refused} refused")
        return outcome._replace(archive=written.archive, start=written.start, stop=written.end)


PIPELINES = {LedgerPipeline: 100}
"""Scrapy's ``ITEM_PIPELINES``: there is one, for archive and ledger are written in one step."""
