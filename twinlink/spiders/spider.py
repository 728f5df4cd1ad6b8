"""The spider: books each answer, archives it, and queues the links of each page."""

from __future__ import annotations

import logging
import resource
import sqlite3
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import CloseSpider

from twinlink.spiders.browser.middleware import BUILT, UNBUILT
from twinlink.spiders.early_end import EarlyEnd, is_whole
from twinlink.spiders.failures import failure_reason
from twinlink.spiders.frontier.ledger import Entry, Outcome
from twinlink.spiders.frontier.partners import UNWANTED, Sides
from twinlink.spiders.frontier.urgency import ASKED_LATER, LAST, SURE
from twinlink.spiders.guard import AddressGuard, GuardedHandler, guarded_resolver
from twinlink.spiders.log import log_handler
from twinlink.spiders.middleware import MIDDLEWARES
from twinlink.spiders.reader.middleware import READ, ReadingQueue, header
from twinlink.spiders.reader.page_facts import PageFacts
from twinlink.spiders.revisits import archive_page, conditions, is_unmodified
from twinlink.spiders.robots.robots import directives, product_token, user_agent
from twinlink.spiders.scheduler import SqliteScheduler
from twinlink.spiders.sitemap_queue import LISTED, LISTING_REASONS, Listing
from twinlink.spiders.sitemaps import MAX_SITEMAP_BYTES
from twinlink.spiders.stalls import Stalls
from twinlink.spiders.warc_writer import Conversion
from twinlink.urls import join

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response
    from twisted.python.failure import Failure

    from twinlink.config import CrawlSettings
    from twinlink.spiders.archive import Archive
    from twinlink.spiders.browser.visit import Built
    from twinlink.spiders.frontier.ledger import Body, Ledger
    from twinlink.spiders.scope import Scope
    from twinlink.system.pausing import Pause

__all__ = ["SiteSpider", "crawler_process"]

_REDIRECTS = frozenset((301, 302, 303, 307, 308))

# So many that slow hosts starve no fast ones: one process gets through some 250 pages a second, so if every request
# took 15 s, still as many would come in as it can take. Each needs a file, and those that rest need some, too.
_IN_FLIGHT = 4096
# Threads that look names up: with Scrapy's 10, a few dead name servers would hold up all names.
_RESOLVING = 32

_BUSY = frozenset((429, 503))
_BUSY_IN_A_ROW = 5
_BUSY_REST = 600.0  # seconds that a host is left alone which answers so many requests in a row that it is busy
_ASKED = "asked"  # key of a request's meta: when it was made (monotonic time)
_STALLED_SHARE = 0.1  # of the time for an answer: when the crawl itself was held up for so long, it is asked for again
_EARLIER = "earlier"  # key of a request's meta: the page that an earlier visit found
_NOT_ARCHIVED = frozenset(("not-html", "noindex", "needs-browser", "browser-failed"))

# No Accept-Language: a site must not choose a language for us. Only encodings that every WARC reader unpacks.
_REQUEST_HEADERS = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5", "Accept-Encoding": "gzip, deflate"}


class SiteSpider(scrapy.Spider):
    """Fetches what the ledger queues; it has no start requests, for start pages are in the ledger.

    Parameters
    ----------
    ledger, archive, scope
        Where outcomes go, where answers go, and which links are followed.
    guard : AddressGuard
        Knows which hosts may have private addresses.
    limits : CrawlSettings
        The crawl's settings.
    delay : float
        Seconds between two requests to a host.
    pause : Pause, optional
        As long as it is asked for, no further request is made.

    Attributes
    ----------
    fatal : Exception or None
        Why the crawl had to stop: ledger or archive could not be written.
    resting : dict
        Hosts that asked to be left alone, and until when (monotonic time).
    """

    name = "twinlink"

    def __init__(
        self,
        ledger: Ledger,
        archive: Archive,
        scope: Scope,
        guard: AddressGuard,
        limits: CrawlSettings,
        delay: float,
        pause: Pause | None = None,
    ) -> None:
        super().__init__()
        self.ledger = ledger
        self.pause = pause
        self.guard = guard
        self.limits = limits
        self.delay = delay
        self.fatal: Exception | None = None
        self.resting: dict[str, float] = {}
        self._busy: dict[str, int] = {}  # host → answers in a row that it is busy
        self._agent = product_token(user_agent(limits))
        self._archive = archive
        self.scope = scope
        self._early = EarlyEnd()
        self.reading = ReadingQueue(limits)
        self.stalls = Stalls()
        self._asked_later: set[str] = set()  # keys of addresses that are asked again for a stall
        self._sides = Sides(limits.langs) if limits.order == "pairs" else None
        self.listing = Listing(ledger, scope, self._sides, limits.max_pages, lambda: self.crawler.crawling)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build it, and listen to headers and bytes as they come in."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._early.headers_received, signals.headers_received)
        crawler.signals.connect(spider._early.bytes_received, signals.bytes_received)
        crawler.signals.connect(spider.reading.close, signals.spider_closed)
        crawler.signals.connect(spider.stalls.watch, signals.spider_opened)
        crawler.signals.connect(spider.stalls.close, signals.spider_closed)
        return spider

    def request(self, entry: Entry) -> Request:
        """Return the request for an entry."""
        # verbatim_url: the address is normalised as browsers do; Scrapy would write some characters differently.
        meta: dict[str, Any] = {"page": entry, "dont_redirect": True, "verbatim_url": True, _ASKED: time.monotonic()}
        if entry.kind == "sitemap":
            meta["download_maxsize"] = max(MAX_SITEMAP_BYTES, self.limits.max_page_bytes)
        earlier = meta[_EARLIER] = self.ledger.earlier(entry)
        headers = conditions(earlier)
        callback = self.listed if entry.kind == "sitemap" else self.answered
        return scrapy.Request(
            entry.url, callback=callback, errback=self.failed, headers=headers, meta=meta, dont_filter=True
        )

    def answered(self, response: Response) -> None:
        """Book an answer."""
        entry: Entry = response.meta["page"]
        self._mind(entry, response.status)
        try:
            entry, outcome, links = self._judge(entry, response)
            if outcome.state == "done" and UNBUILT in response.meta:  # next to nothing without its scripts
                reason, detail = response.meta[UNBUILT]
                outcome = outcome._replace(state="rejected", reason=reason, detail=detail)
        except Exception as error:  # noqa: BLE001  # whatever is wrong with one page, the crawl goes on and counts it
            outcome, links = Outcome("rejected", *failure_reason(error), status=response.status), []
        self._book(entry, outcome, links, response)

    async def listed(self, response: Response) -> None:
        """Book the answer for a sitemap, and what it lists, while other answers have their turns."""
        entry: Entry = response.meta["page"]
        self._mind(entry, response.status)
        outcome: Outcome | None
        links: list[Entry] = []
        try:
            unusual = self._unusual(entry, response)
            outcome, links = unusual or (await self.listing.read(entry, response.meta[LISTED]), [])
        except sqlite3.Error as error:
            self.fatal = error
            outcome = Outcome("aside")
        except Exception as error:  # noqa: BLE001  # whatever is wrong with one sitemap, the crawl goes on
            outcome = Outcome("aside", *failure_reason(error), status=response.status)
        if outcome is not None:
            self._book(entry, outcome, links, response)

    def failed(self, failure: Failure) -> None:
        """Book a request that got no answer, or none that may be kept."""
        entry: Entry = failure.request.meta["page"]  # type: ignore[attr-defined]  # set by Scrapy
        assert failure.value is not None
        reason, detail = failure_reason(failure.value)
        if reason == "dns" and self.guard.refused(entry.url):
            reason = "private-address"
        if reason == "timeout" and self._was_stalled(entry, failure.request.meta[_ASKED]):  # type: ignore[attr-defined]
            later = entry._replace(urgency=ASKED_LATER)
            return self._book(entry, Outcome("queued"), [later], None)
        return self._book(entry, Outcome("rejected", reason, detail), [], None)

    def _was_stalled(self, entry: Entry, asked: float) -> bool:
        """Return whether this process was held up while it waited for an answer, which is to be asked for once more."""
        stalled = self.stalls.seconds(asked, time.monotonic())
        if stalled < _STALLED_SHARE * self.limits.timeout or entry.key in self._asked_later:
            return False
        self._asked_later.add(entry.key)
        return True

    def rest(self, host: str, seconds: float) -> None:
        """Leave a host alone for a while."""
        self.resting[host] = time.monotonic() + seconds

    def found_sitemaps(self, origin: str, site: str, named: Sequence[str]) -> None:
        """Queue the sitemaps of a host that is asked for the first time: those that robots.txt names, or the usual one.

        Parameters
        ----------
        origin : str
            Scheme, host and port.
        site : str
            Site of the page that was to be fetched.
        named : sequence of str
            As robots.txt writes them.
        """
        if not self.limits.sitemaps:
            return
        root = f"{origin}/"
        urls = [join(root, address) for address in named] or [f"{root}sitemap.xml"]
        entries = [self.scope.sitemap(url, root, site) for url in urls if url]
        try:
            self.ledger.add([entry for entry in entries if entry])
        except sqlite3.Error as error:
            self.fatal = error  # the next answer stops the crawl

    def archive_aside(self, request: Request, response: Response) -> None:
        """Archive an exchange that is no page's (robots.txt)."""
        try:
            self._archive.write(request.url, request, response)
        except (OSError, sqlite3.Error) as error:
            self.fatal = error  # the next answer stops the crawl

    def _mind(self, entry: Entry, status: int) -> None:
        """Leave a host alone that is busy again and again."""
        if status not in _BUSY:
            self._busy.pop(entry.host, None)
            return
        self._busy[entry.host] = self._busy.get(entry.host, 0) + 1
        if self._busy[entry.host] >= _BUSY_IN_A_ROW:
            self.rest(entry.host, _BUSY_REST)

    def _judge(self, entry: Entry, response: Response) -> tuple[Entry, Outcome, list[Entry]]:
        """Return what became of an entry, and its links; the entry itself with what its page says of its language."""
        page = self._page(entry, response)
        if not isinstance(page, PageFacts):
            return entry, *page
        self.scope.sameness.see(entry.url, page.said)
        if self._sides is None:
            return entry, *self._obey(entry, page, response.headers)
        entry = entry._replace(side=self._sides.of_page(page.declared_lang, page.sample, entry.side))
        outcome, links = self._obey(entry, page, response.headers)
        tagged = ((link.url, link.tag) for link in page.links)
        return entry, outcome, _to_partners(entry, links, self._sides.partners(tagged, page.declared_lang, entry.side))

    def _page(self, entry: Entry, response: Response) -> PageFacts | tuple[Outcome, list[Entry]]:
        unusual = self._unusual(entry, response)
        if unusual is not None:
            return unusual
        page: PageFacts | None = response.meta.get(READ)
        if page is None:
            content_type = header(response.headers, "Content-Type")
            return Outcome("rejected", "not-html", content_type, status=response.status), []
        return page

    def _unusual(self, entry: Entry, response: Response) -> tuple[Outcome, list[Entry]] | None:
        """Return what an answer comes to that brings no page and no sitemap; None for others."""
        status = response.status
        location = header(response.headers, "Location")
        if status in _REDIRECTS and location:
            return self._follow(entry, status, location)
        earlier: Body | None = response.meta.get(_EARLIER)
        if earlier is not None and is_unmodified(earlier, status):
            return Outcome("done", status=status, lang=earlier.lang), []  # its links are in the ledger
        if status != 200:
            reason, detail = ("busy", f"http-{status}") if status in _BUSY else (f"http-{status}", "")
            return Outcome("rejected", reason, detail, status=status), []
        return None

    def _obey(self, entry: Entry, page: PageFacts, headers: Headers) -> tuple[Outcome, list[Entry]]:
        """Take a page and its links, as far as it wants them to be taken."""
        said: frozenset[str] = frozenset()
        if self.limits.obey_meta_robots:
            tags = [value.decode("latin-1") for value in headers.getlist("X-Robots-Tag")]
            said = directives(page.robots, tags, self._agent)
        outcome = (
            Outcome("rejected", "noindex", status=200)
            if "noindex" in said
            else Outcome("done", status=200, lang=page.declared_lang)
        )
        if "nofollow" in said:
            return outcome, _not_followed(self.scope.links(entry, (link.url for link in page.links)))
        if not self.limits.obey_rel_nofollow:
            return outcome, self.scope.links(entry, (link.url for link in page.links))
        followed = [link.url for link in page.links if not link.nofollow]
        others = [link.url for link in page.links if link.nofollow]
        return outcome, self.scope.links(entry, followed) + _not_followed(self.scope.links(entry, others))

    def _follow(self, entry: Entry, status: int, location: str) -> tuple[Outcome, list[Entry]]:
        url = join(entry.url, location)
        moved = Outcome("moved", detail=f"to {url or location}", status=status)
        target = self.scope.redirect(entry, url) if url else None
        if target is None:
            return moved._replace(detail=f"{moved.detail}, off the sites"), []
        if target.key != entry.key:
            return moved, [target]
        state = "rejected" if target.reason else "queued"
        return Outcome(state, target.reason, target.detail, status=status), [target]

    def _book(self, entry: Entry, outcome: Outcome, links: list[Entry], response: Response | None) -> None:
        if outcome.state == "queued":  # the same key in another spelling
            entry, links = links[0], []
        elif entry.kind == "sitemap" and outcome.state != "aside" and outcome.reason not in LISTING_REASONS:
            outcome = outcome._replace(state="aside", reason=outcome.reason or outcome.state)
        try:
            if self.fatal is None:
                if response is not None and is_whole(response) and outcome.reason not in _NOT_ARCHIVED:
                    outcome = self._archived(entry, outcome, response)
                self.ledger.settle(entry, outcome, links)
        except (OSError, sqlite3.Error) as error:
            self.fatal = error
            self._archive.disown()
        if self.fatal is not None:  # what cannot be booked must not be fetched
            raise CloseSpider("cannot write")

    def _archived(self, entry: Entry, outcome: Outcome, response: Response) -> Outcome:
        raw: Response = response.meta["raw"]
        if entry.kind == "sitemap":  # no page: what it lists is in the ledger
            return outcome._replace(bytes=len(raw.body))
        assert response.request is not None
        built: Built | None = response.meta.get(BUILT)
        conversion = built and Conversion(built.content_type, header(raw.headers, "Content-Language"), built.body)
        url, request = response.meta["page"].url, response.request
        if outcome.state == "done":
            written, body = archive_page(self._archive, url, request, raw, response.meta.get(_EARLIER), conversion)
            outcome = outcome._replace(body=body)
        else:
            written = self._archive.write(url, request, raw, conversion)
        size = len(raw.body) + (built.n_bytes if built else 0)
        if built and outcome.state == "done":
            outcome = outcome._replace(detail=f"built by scripts: {built.n_parts} requests, {built.n_refused} refused")
        return outcome._replace(archive=written.archive, start=written.start, stop=written.end, bytes=size)


def crawler_process(
    ledger: Ledger,
    archive: Archive,
    scope: Scope,
    guard: AddressGuard,
    limits: CrawlSettings,
    delay: float,
    pause: Pause | None = None,
) -> CrawlerProcess:
    """Return Scrapy's process with the spider in it, ready to start; the parameters are those of `SiteSpider`."""
    logging.root.addHandler(log_handler())
    process = CrawlerProcess(_scrapy_settings(limits, delay, guard))
    process.crawl(SiteSpider, ledger, archive, scope, guard, limits, delay, pause)
    return process


def _scrapy_settings(limits: CrawlSettings, delay: float, guard: AddressGuard) -> dict[str, Any]:
    handlers: dict[str, Any] = {**dict.fromkeys(("data", "file", "ftp", "s3")), "http": GuardedHandler}
    return {
        "COOKIES_ENABLED": False,
        "COMPRESSION_ENABLED": False,  # `Unpack` does
        "METAREFRESH_ENABLED": False,  # a link like any other
        "EXTENSIONS_BASE": {"scrapy.extensions.throttle.AutoThrottle": 0},  # no telnet console, no statistics
        "DOWNLOAD_HANDLERS": {**handlers, "https": GuardedHandler},
        "TWISTED_DNS_RESOLVER": guarded_resolver(guard),
        "SCHEDULER": SqliteScheduler,
        "DOWNLOADER_MIDDLEWARES": MIDDLEWARES,
        "HTTPERROR_ALLOW_ALL": True,
        "CONCURRENT_ITEMS": 1,  # Scrapy makes so many tasks for each page, though the spider yields no items
        "CONCURRENT_REQUESTS": max(_in_flight(), limits.concurrency),
        "REACTOR_THREADPOOL_MAXSIZE": _RESOLVING,
        "DNS_TIMEOUT": limits.timeout,
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
        "ROBOTSTXT_OBEY": False,  # `RobotsGate` does
        "USER_AGENT": user_agent(limits),
        "DEFAULT_REQUEST_HEADERS": _REQUEST_HEADERS,
        "LOG_INSTALL_ROOT_HANDLER": False,  # `crawler_process` does
    }


def _in_flight() -> int:
    """Return how many requests may be in flight: idle connections are kept as well."""
    return min(_IN_FLIGHT, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 3)


def _to_partners(page: Entry, links: list[Entry], partners: Mapping[str, int]) -> list[Entry]:
    """Mark the links that lead to a page's partners, and those to languages that nobody wants."""
    if not partners:
        return links
    marked = []
    for link in links:
        side = partners.get(link.url)
        if side == UNWANTED:
            link = link._replace(side=side, urgency=LAST)  # noqa: PLW2901
        elif side is not None:
            link = link._replace(side=side, urgency=SURE, place=page.place)  # noqa: PLW2901
        marked.append(link)
    return marked


def _not_followed(links: list[Entry]) -> list[Entry]:
    return [link if link.reason else link._replace(reason="nofollow") for link in links]
