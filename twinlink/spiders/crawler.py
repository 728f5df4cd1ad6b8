"""Scrapy's process for a crawl: its settings (scheduler, middlewares, spider) and its log."""

from __future__ import annotations

import logging
import resource
from collections import Counter
from typing import TYPE_CHECKING, Any

from scrapy.crawler import CrawlerProcess

from twinlink.spiders.guard import guarded_handler, guarded_resolver
from twinlink.spiders.middlewares import MIDDLEWARES
from twinlink.spiders.pipelines import PIPELINES
from twinlink.spiders.robots.robots import user_agent
from twinlink.spiders.scheduler import SqliteScheduler
from twinlink.spiders.spider import SiteSpider
from twinlink.spiders.waits import WaitNotes

if TYPE_CHECKING:
    from twinlink.spiders.state import CrawlState

# So many that slow hosts do not delay fast ones: one process gets through some 250 pages a second, so if every request
# took 15 s, still as many would come in as it can take. Each needs a file, and those that rest need some, too.
_IN_FLIGHT = 4096
# Threads that look names up: with Scrapy's 10, a few dead name servers would hold up all names.
_RESOLVING = 32

# No Accept-Language: a site must not choose a language for us. Only encodings that every WARC reader unpacks.
_REQUEST_HEADERS = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5", "Accept-Encoding": "gzip, deflate"}

# No cookies, cache and statistics; `RobotsGate` reads robots.txt, `Unpack` decompresses, `Retry` retries, and redirects
# by meta elements are links like any other. Scrapy imports also the middlewares that its settings turn off: a tenth of
# the start.
MIDDLEWARES_OF_SCRAPY = {
    "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,
    "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware": 400,
    "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": 500,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": 600,
    "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware": 750,
}
MAX_ALIKE = 100
"""Messages of one kind (from one line of code) that are logged."""
MAX_MESSAGE_LENGTH = 10_000
"""Characters of a message that are logged, its traceback included."""

_FORMAT = "%(asctime)s [%(name)s] %(levelname)s: %(message)s"


def crawler_process(state: CrawlState) -> CrawlerProcess:
    """Return Scrapy's process with the spider in it, ready to start."""
    logging.root.addHandler(log_handler())
    process = CrawlerProcess(_scrapy_settings(state))
    process.crawl(SiteSpider, state)
    return process


def _scrapy_settings(state: CrawlState) -> dict[str, Any]:
    limits, delay = state.limits, state.delay
    handler = guarded_handler(state.guard)
    handlers: dict[str, Any] = {**dict.fromkeys(("data", "file", "ftp", "s3")), "http": handler, "https": handler}
    return {
        "EXTENSIONS_BASE": {"scrapy.extensions.throttle.AutoThrottle": 0},  # no telnet console
        "EXTENSIONS": {WaitNotes: 0},
        "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",  # the ledger counts
        "DOWNLOAD_HANDLERS": handlers,
        "TWISTED_DNS_RESOLVER": guarded_resolver(state.guard),
        "SCHEDULER": SqliteScheduler,
        "DOWNLOADER_MIDDLEWARES_BASE": MIDDLEWARES_OF_SCRAPY,
        "DOWNLOADER_MIDDLEWARES": MIDDLEWARES,
        # The others look after requests that a spider yields, and ours yields items; redirects of robots.txt need this.
        "SPIDER_MIDDLEWARES_BASE": {"scrapy.spidermiddlewares.referer.RefererMiddleware": 700},
        "ITEM_PIPELINES": PIPELINES,
        "CONCURRENT_ITEMS": 1,  # tasks for each response: a sitemap's portions are written in their order
        "WARN_ON_GENERATOR_RETURN_VALUE": False,  # it parses the callback's source anew for each response
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
        "USER_AGENT": user_agent(limits),
        "DEFAULT_REQUEST_HEADERS": _REQUEST_HEADERS,
        "LOG_INSTALL_ROOT_HANDLER": False,  # `crawler_process` does
    }


def _in_flight() -> int:
    """Return how many requests may be in flight: idle connections are kept as well."""
    return min(_IN_FLIGHT, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 3)


def log_handler() -> logging.Handler:
    """Return a handler that writes warnings and errors to standard error."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.addFilter(_Few())
    handler.setFormatter(_Short(_FORMAT, "%Y-%m-%d %H:%M:%S"))
    return handler


class _Few(logging.Filter):
    """Passes `MAX_ALIKE` messages of each kind; the last one says that it is the last."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: Counter[tuple[str, int]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        kind = (record.pathname, record.lineno)
        self._seen[kind] += 1
        if self._seen[kind] == MAX_ALIKE:
            record.msg, record.args = f"{record.getMessage()} (the last message of this kind)", None
        return self._seen[kind] <= MAX_ALIKE


class _Short(logging.Formatter):
    """Cuts long messages."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return text if len(text) <= MAX_MESSAGE_LENGTH else f"{text[:MAX_MESSAGE_LENGTH]} …"
