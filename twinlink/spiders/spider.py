"""The spider: books each answer, archives it, and queues the links of each page."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import CloseSpider, StopDownload

from twinlink.spiders.documents import is_html
from twinlink.spiders.failures import failure_reason
from twinlink.spiders.ledger import Entry, Outcome
from twinlink.spiders.middleware import MIDDLEWARES
from twinlink.spiders.parser import parse_page
from twinlink.spiders.scheduler import SqliteScheduler
from twinlink.spiders.urls import join

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response
    from twisted.python.failure import Failure

    from twinlink.config import CrawlSettings
    from twinlink.spiders.archive import Archive
    from twinlink.spiders.ledger import Ledger
    from twinlink.spiders.scope import Scope

__all__ = ["SiteSpider", "crawler_process"]

_REDIRECTS = frozenset((301, 302, 303, 307, 308))

# A body of another type up to this size is received and thrown away: cheaper than a new connection.
_SMALL_BODY = 32 * 1024

_HOSTS_AT_ONCE = 16

# No Accept-Language: a site must not choose a language for us. Only encodings that every WARC reader unpacks.
_REQUEST_HEADERS = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5", "Accept-Encoding": "gzip, deflate"}


class SiteSpider(scrapy.Spider):
    """Fetches what the ledger queues; it has no start requests, for start pages are in the ledger.

    Parameters
    ----------
    ledger, archive, scope
        Where outcomes go, where answers go, and which links are followed.
    limits : CrawlSettings
        The crawl's settings.

    Attributes
    ----------
    fatal : Exception or None
        Why the crawl had to stop: ledger or archive could not be written.
    """

    name = "twinlink"

    def __init__(self, ledger: Ledger, archive: Archive, scope: Scope, limits: CrawlSettings) -> None:
        super().__init__()
        self.ledger = ledger
        self.limits = limits
        self.fatal: Exception | None = None
        self._archive = archive
        self._scope = scope

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build it, and listen to headers as they come in."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.refuse_early, signals.headers_received)
        return spider

    def request(self, entry: Entry) -> Request:
        """Return the request for an entry."""
        # verbatim_url: the address is normalised as browsers do; Scrapy would write some characters differently.
        meta = {"page": entry, "dont_redirect": True, "verbatim_url": True}
        return scrapy.Request(entry.url, callback=self.answered, errback=self.failed, meta=meta, dont_filter=True)

    def refuse_early(self, headers: Headers, body_length: int, request: Request) -> None:
        """Break a download off whose type cannot be HTML whatever its body, unless it is short."""
        unknown_or_large = not 0 <= body_length <= _SMALL_BODY
        if "page" in request.meta and unknown_or_large and not is_html(_header(headers, "Content-Type"), b"<html>"):
            raise StopDownload(fail=False)

    def answered(self, response: Response) -> None:
        """Book an answer."""
        entry: Entry = response.meta["page"]
        try:
            outcome, links = self._judge(entry, response)
        except Exception as error:  # noqa: BLE001  # whatever is wrong with one page, the crawl goes on and counts it
            outcome, links = Outcome("rejected", *failure_reason(error), status=response.status), []
        self._book(entry, outcome, links, response)

    def failed(self, failure: Failure) -> None:
        """Book a request that got no answer, or none that may be kept."""
        entry: Entry = failure.request.meta["page"]  # type: ignore[attr-defined]  # set by Scrapy
        assert failure.value is not None
        reason, detail = failure_reason(failure.value)
        self._book(entry, Outcome("rejected", reason, detail), [], None)

    def archive_aside(self, request: Request, response: Response) -> None:
        """Archive an exchange that is no page's (robots.txt)."""
        try:
            self._archive.write(request.url, request, response)
        except (OSError, sqlite3.Error) as error:
            self.fatal = error  # the next answer stops the crawl

    def _judge(self, entry: Entry, response: Response) -> tuple[Outcome, list[Entry]]:
        status = response.status
        location = _header(response.headers, "Location")
        if status in _REDIRECTS and location:
            return self._follow(entry, status, location)
        if status != 200:
            return Outcome("rejected", f"http-{status}", status=status), []
        content_type = _header(response.headers, "Content-Type")
        if not is_html(content_type, response.body):
            return Outcome("rejected", "not-html", content_type, status=status), []
        page = parse_page(response.body, entry.url, content_type)
        return Outcome("done", status=status), self._scope.links(entry, (link.url for link in page.links))

    def _follow(self, entry: Entry, status: int, location: str) -> tuple[Outcome, list[Entry]]:
        url = join(entry.url, location)
        moved = Outcome("moved", detail=f"to {url or location}", status=status)
        target = self._scope.redirect(entry, url) if url else None
        if target is None:
            return moved._replace(detail=f"{moved.detail}, off the sites"), []
        if target.key != entry.key:
            return moved, [target]
        state = "rejected" if target.reason else "queued"
        return Outcome(state, target.reason, target.detail, status=status), [target]

    def _book(self, entry: Entry, outcome: Outcome, links: list[Entry], response: Response | None) -> None:
        if outcome.state == "queued":  # the same key in another spelling
            entry, links = links[0], []
        try:
            if self.fatal is None:
                if response is not None and _is_whole(response) and outcome.reason != "not-html":
                    outcome = self._archived(outcome, response)
                self.ledger.settle(entry, outcome, links)
        except (OSError, sqlite3.Error) as error:
            self.fatal = error
        if self.fatal is not None:  # what cannot be booked must not be fetched
            raise CloseSpider("cannot write")

    def _archived(self, outcome: Outcome, response: Response) -> Outcome:
        raw: Response = response.meta["raw"]
        entry: Entry = response.meta["page"]
        assert response.request is not None
        written = self._archive.write(entry.url, response.request, raw)
        return outcome._replace(archive=written.archive, start=written.start, stop=written.end, bytes=len(raw.body))


def crawler_process(spider_arguments: tuple[Ledger, Archive, Scope, CrawlSettings], delay: float) -> CrawlerProcess:
    """Return Scrapy's process with the spider in it, ready to start.

    Parameters
    ----------
    spider_arguments : tuple
        What `SiteSpider` is made from.
    delay : float
        Seconds between two requests to a host.
    """
    process = CrawlerProcess(_scrapy_settings(spider_arguments[-1], delay))
    process.crawl(SiteSpider, *spider_arguments)
    return process


def _scrapy_settings(limits: CrawlSettings, delay: float) -> dict[str, Any]:
    return {
        "COOKIES_ENABLED": False,
        "METAREFRESH_ENABLED": False,  # a link like any other
        "EXTENSIONS_BASE": {"scrapy.extensions.throttle.AutoThrottle": 0},  # no telnet console, no statistics
        "DOWNLOAD_HANDLERS": dict.fromkeys(("data", "file", "ftp", "s3")),
        "SCHEDULER": SqliteScheduler,
        "DOWNLOADER_MIDDLEWARES": MIDDLEWARES,
        "HTTPERROR_ALLOW_ALL": True,
        "CONCURRENT_ITEMS": 1,  # Scrapy makes so many tasks for each page, though the spider yields no items
        "CONCURRENT_REQUESTS": _HOSTS_AT_ONCE * limits.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": limits.concurrency,
        "DOWNLOAD_DELAY": delay,
        "AUTOTHROTTLE_ENABLED": limits.autothrottle,
        "AUTOTHROTTLE_START_DELAY": delay,
        "AUTOTHROTTLE_TARGET_CONCURRENCY": limits.concurrency,
        "DOWNLOAD_TIMEOUT": limits.timeout,
        "DOWNLOAD_MAXSIZE": limits.max_page_bytes,
        "DOWNLOAD_WARNSIZE": 0,
        "RETRY_TIMES": limits.retries,
        "RETRY_HTTP_CODES": [500, 502, 503, 504, 408, 429],
        "ROBOTSTXT_OBEY": limits.obey_robots,
        "USER_AGENT": limits.user_agent,
        "DEFAULT_REQUEST_HEADERS": _REQUEST_HEADERS,
        "LOG_LEVEL": "WARNING",
    }


def _is_whole(response: Response) -> bool:
    """Tell whether the body came in: `SiteSpider.refuse_early` may have broken it off."""
    return "download_stopped" not in response.flags


def _header(headers: Headers, name: str) -> str:
    """Return a header, empty when there is none; UTF-8 where it is that, as servers write addresses into Location."""
    value = headers.get(name) or b""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
