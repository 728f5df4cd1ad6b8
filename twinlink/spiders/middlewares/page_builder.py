"""Downloader middleware that builds pages in the browser and fetches the requests of these pages."""

from __future__ import annotations

import asyncio
import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import scrapy
from scrapy import signals
from scrapy.http.request import NO_CALLBACK

from twinlink.spiders.browser.browser import Browser
from twinlink.spiders.browser.chromium import find_browser, missing_browser
from twinlink.spiders.browser.visit import Answer, BrowserError, Built, PartRequest
from twinlink.spiders.early_end import count
from twinlink.spiders.failures import RefusedError
from twinlink.spiders.reader.page_facts import Job, PageFacts, Result
from twinlink.spiders.responses import links_of, unpacked
from twinlink.spiders.state import BUILT, PART, READ, UNBUILT, state_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from twinlink.spiders.frontier import FrontierEntry

SURE_PAGES = 3
"""Pages of a host that needed the browser until all of its pages are built there."""

_CONCURRENCY = 2  # pages in the browser at once: each may keep a processor busy
_KEPT_BYTES = 32 * 2**20  # of scripts and data that pages ask for: those of a site are much the same on each page


class PageBuilder:
    """Builds a page with its scripts, and replaces the data of the response by those of the built page.

    Which pages: see ``browser`` and ``browser_sites`` of `twinlink.config.CrawlSettings`. What a page asks for in the
    browser goes the way of every other request (robots.txt, pace, address guard, limits), each address once as long as
    it is remembered. A page that needs the browser and cannot have it is marked, and rejected by the spider.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._state = state_of(crawler)
        self._limits = self._state.limits
        self._missing = missing_browser(self._limits.browser_path)
        self._browser: Browser | None = None
        self._needed: Counter[str] = Counter()  # host → pages that needed the browser
        self._parts = _Parts(_KEPT_BYTES)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it, and end the browser with the crawl."""
        middleware = cls(crawler)
        crawler.signals.connect(middleware.close, signals.spider_closed)
        return middleware

    async def process_response(self, request: Request, response: Response) -> Response:
        """Build the page, if it is one, and needs it."""
        if PART in request.meta:
            request.meta[PART].append(len(response.body))
        read = request.meta.get(READ)
        if self._limits.browser == "never" or not isinstance(read, PageFacts):
            return response
        entry: FrontierEntry = request.meta["page"]
        if read.needs_scripts and len(self._needed) < 100_000:
            self._needed[entry.host] += 1
        if read.needs_scripts or (not self._missing and self._is_always(entry)):
            plain = unpacked(response, self._limits.max_page_bytes)
            await self._build(entry, request, plain, read.needs_scripts)
        return response

    async def close(self) -> None:
        """End the browser."""
        if self._browser is not None:
            await self._browser.close()

    def _is_always(self, entry: FrontierEntry) -> bool:
        host = urlsplit(entry.url).hostname or ""
        named = any(host == site or host.endswith(f".{site}") for site in self._limits.browser_sites)
        return named or self._limits.browser == "always" or self._needed[entry.host] >= SURE_PAGES

    async def _build(self, entry: FrontierEntry, request: Request, response: Response, is_empty: bool) -> None:
        received: list[int] = []

        async def fetch(wanted: PartRequest) -> Answer | None:
            return await self._parts.get(wanted, lambda: self._fetch(wanted, received))

        try:
            built = await self._opened().build(entry.url, _answer(response), fetch, self._pace(entry))
            facts = await self._read(entry, built, links_of(response.headers)[0])
        except BrowserError as error:
            if error.reason == "too-large":
                raise RefusedError("too-large", str(error)) from error
            if is_empty:  # any other page is what it is without its scripts
                request.meta[UNBUILT] = (error.reason, str(error))
            return
        finally:
            count(request, sum(received))
        request.meta[BUILT] = built
        request.meta[READ] = facts

    async def _read(self, entry: FrontierEntry, built: Built, link: str) -> Result:
        job = Job("built", entry.url, built.body, self._limits.max_page_bytes, built.content_type, link=link)
        facts = await self._state.reading.read(entry.host, job)
        if isinstance(facts, PageFacts) and facts.is_blank:
            refused = f"; {built.n_refused} of its requests were not answered" if built.n_refused else ""
            raise BrowserError("browser-failed", f"blank even after its scripts ran{refused}")
        return facts

    def _opened(self) -> Browser:
        if self._browser is None:
            path = find_browser(self._limits.browser_path)
            if self._missing or path is None:
                raise BrowserError("needs-browser", self._missing)
            limits = self._limits
            is_root = os.geteuid() == 0
            self._browser = Browser(path, limits.timeout, limits.max_page_bytes, _CONCURRENCY, sandbox=not is_root)
        return self._browser

    def _pace(self, entry: FrontierEntry) -> float:
        """Return the seconds between two requests to a page's host."""
        assert self._crawler.engine is not None
        slot = self._crawler.engine.downloader.slots.get(urlsplit(entry.url).hostname or "")
        return slot.delay if slot is not None else self._state.delay

    async def _fetch(self, wanted: PartRequest, received: list[int]) -> Answer | None:
        meta = {PART: received, "verbatim_url": True, "dont_retry": True}
        headers = dict(wanted.headers)
        request = scrapy.Request(wanted.url, headers=headers, callback=NO_CALLBACK, priority=100, meta=meta)
        assert self._crawler.engine is not None
        try:
            response = await self._crawler.engine.download_async(request)
        except Exception:  # noqa: BLE001  # whatever keeps it away, the page has to do without it
            return None
        return _answer(response)


_FetchPart = Callable[[], Coroutine[object, object, Answer | None]]


class _Parts:
    """Responses to requests of pages: each is requested once, and stored while there is room."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._n_bytes = 0
        self._known: OrderedDict[PartRequest, asyncio.Future[Answer | None]] = OrderedDict()

    async def get(self, wanted: PartRequest, fetch: _FetchPart) -> Answer | None:
        """Return the answer to a request, from memory or by ``fetch``."""
        wanted = wanted._replace(headers=tuple(pair for pair in wanted.headers if pair[0] != "referer"))
        known = self._known.get(wanted)
        if known is None:
            known = self._known[wanted] = asyncio.ensure_future(fetch())
            known.add_done_callback(lambda done: self._keep(wanted, done))
        else:
            self._known.move_to_end(wanted)
        # Shielded: a page whose time is over must not take the response from another that waits with it.
        return await asyncio.shield(known)

    def _keep(self, wanted: PartRequest, done: asyncio.Future[Answer | None]) -> None:
        answer = None if done.cancelled() else done.result()
        if answer is None or answer.status != 200 or _is_private(answer):
            self._known.pop(wanted, None)
            return
        self._n_bytes += _size(answer)
        while self._n_bytes > self._max_bytes:
            other, oldest = next(item for item in self._known.items() if item[1].done())
            del self._known[other]
            forgotten = oldest.result()
            self._n_bytes -= _size(forgotten) if forgotten else 0


def _size(answer: Answer) -> int:
    """Return the memory that a response takes, with the overhead of small ones."""
    return len(answer.body) + sum(len(name) + len(value) + 150 for name, value in answer.headers) + 1_000


def _is_private(answer: Answer) -> bool:
    return any(name.lower() == "cache-control" and "no-store" in value.lower() for name, value in answer.headers)


def _answer(response: Response) -> Answer:
    pairs = ((name, value) for name, values in response.headers.items() for value in values)
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs)
    return Answer(response.status, headers, response.body)
