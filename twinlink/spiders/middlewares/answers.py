"""Downloader middlewares for responses: keep the raw body, decompress it, remove the body of a sitemap."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from twinlink.spiders.early_end import is_whole
from twinlink.spiders.request_meta import LISTED, PART, RAW
from twinlink.spiders.responses import unpacked
from twinlink.spiders.state import CrawlState, state_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["KeepRaw", "SetAside", "Unpack"]


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
