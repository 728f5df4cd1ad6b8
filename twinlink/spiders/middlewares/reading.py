"""Downloader middleware that parses the responses of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals

from twinlink.spiders.early_end import is_whole
from twinlink.spiders.reader.page_facts import Job
from twinlink.spiders.request_meta import READ
from twinlink.spiders.responses import content_encoding, header
from twinlink.spiders.state import CrawlState, state_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from twinlink.spiders.frontier import Entry

__all__ = ["Reading"]


class Reading:
    """Reads the responses of pages, and puts what was read aside (`READ`) until they are recorded."""

    def __init__(self, state: CrawlState) -> None:
        self._queue = state.reading
        self._limits = state.limits

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it, and end the reading with the crawl."""
        state = state_of(crawler)
        crawler.signals.connect(state.reading.close, signals.spider_closed)
        return cls(state)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Read a response, if it brings a page."""
        entry: Entry | None = request.meta.get("page")
        if entry is not None and entry.kind == "page" and response.status == 200 and is_whole(response):
            job = Job(
                "page",
                entry.url,
                response.body,
                self._limits.max_page_bytes,
                header(response.headers, "Content-Type"),
                encoding=content_encoding(response.headers),
                looks_at_scripts=self._limits.browser != "never",
            )
            request.meta[READ] = await self._queue.read(entry.host, job)
        return response
