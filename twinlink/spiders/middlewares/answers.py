"""Downloader middlewares for responses: keep the raw body, decompress it, set sitemaps aside, parse pages."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from scrapy import signals

from twinlink.spiders.early_end import is_whole
from twinlink.spiders.reader.page_facts import Job
from twinlink.spiders.responses import content_encoding, header, links_of, unpacked
from twinlink.spiders.state import LISTED, PART, RAW, READ, CrawlState, state_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from twinlink.spiders.frontier import FrontierEntry


class KeepRaw:
    """Keeps each response as received, still compressed, for the archive; its place is next to the downloader."""

    def __init__(self, state: CrawlState) -> None:
        self._state = state

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware."""
        return cls(state_of(crawler))

    def process_response(self, request: Request, response: Response) -> Response:
        """Keep the response of a page until it is recorded; archive that of robots.txt at once."""
        if "page" in request.meta:
            request.meta[RAW] = response.copy()  # Scrapy's decompression takes Content-Encoding out of the original
        elif PART not in request.meta:
            self._archive(request, response)
        return response

    def _archive(self, request: Request, response: Response) -> None:
        if self._state.fatal is not None:  # what the ledger could not book must not be committed with this
            return
        try:
            self._state.archive.write(request.url, request, response)
        except (OSError, sqlite3.Error) as error:
            self._state.fatal = error  # the next answer stops the crawl


class Unpack:
    """Decompresses all responses except those of pages, up to the size limit; `Reading` decompresses those."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware."""
        return cls(crawler.settings.getint("DOWNLOAD_MAXSIZE"))

    def process_response(self, request: Request, response: Response) -> Response:
        """Decompress the body of a response; refuse a body that is damaged, or too large when decompressed."""
        entry = request.meta.get("page")
        if (entry is not None and entry.kind == "page") or not is_whole(response):
            return response
        return unpacked(response, request.meta.get("download_maxsize", self._max_bytes))


class SetAside:
    """Downloader middleware that takes the body of a sitemap out of its response.

    Sitemaps are read in portions, and Scrapy makes no further requests while large bodies wait in memory.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:  # noqa: ARG003  (Scrapy passes it)
        """Create the middleware."""
        return cls()

    def process_response(self, request: Request, response: Response) -> Response:
        """Put the body into the request's meta."""
        entry = request.meta.get("page")
        if entry is None or entry.kind != "sitemap" or response.status != 200:
            return response
        request.meta[LISTED] = response.body
        return response.replace(body=b"")


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
        entry: FrontierEntry | None = request.meta.get("page")
        if entry is not None and entry.kind == "page" and response.status == 200 and is_whole(response):
            link, refresh = links_of(response.headers)
            job = Job(
                "page",
                entry.url,
                response.body,
                self._limits.max_page_bytes,
                header(response.headers, "Content-Type"),
                encoding=content_encoding(response.headers),
                looks_at_scripts=self._limits.browser != "never",
                link=link,
                refresh=refresh,
            )
            request.meta[READ] = await self._queue.read(entry.host, job)
        return response
