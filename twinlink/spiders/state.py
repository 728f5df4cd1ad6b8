"""State shared by the parts of a running crawl: spider, scheduler, middlewares and item pipeline."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, NamedTuple

from twinlink.spiders.frontier.partners import Sides
from twinlink.spiders.reader.queue import ReadingQueue
from twinlink.spiders.sitemap_queue import Listing

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from twinlink.config import CrawlSettings
    from twinlink.spiders.archive import Archive
    from twinlink.spiders.frontier import Frontier
    from twinlink.spiders.guard import AddressGuard
    from twinlink.spiders.scope import Scope
    from twinlink.system.pausing import Pause

logger = logging.getLogger(__name__)

# Keys of a request's ``meta``. ``page`` holds the `Entry` of the ledger that the request is for; robots.txt and the
# files that a page loads in the browser have none.
ASKED = "asked"
"""When the request was made (monotonic time)."""
EARLIER = "earlier"
"""The page that an earlier visit found, or None."""
RAW = "raw"
"""The response as it came, still compressed."""
READ = "read"
"""What was read of the response (`PageFacts`)."""
LISTED = "listed"
"""The body of a sitemap."""
BUILT = "built"
"""The page as its scripts built it."""
UNBUILT = "unbuilt"
"""Why a page that needs the browser was not built: reason and detail."""
PART = "part"
"""Set on a request that a page made in the browser: the bytes that came, a list."""


class Rest(NamedTuple):
    """A host that is left alone."""

    until: float
    """Monotonic time."""
    why: str


class CrawlState:
    """The state of one crawl.

    Parameters
    ----------
    frontier, archive, scope
        Where outcomes go, where answers go, and which links are followed.
    guard : AddressGuard
        Knows which hosts may have private addresses.
    limits : CrawlSettings
        The crawl's settings.
    delay : float
        Seconds between two requests to a host.
    pause : Pause, optional
        As long as it is requested, no further request is made.

    Attributes
    ----------
    fatal : Exception or None
        Why the crawl has to stop: ledger or archive could not be written.
    resting : dict
        Hosts that asked to be left alone, and until when.
    held : dict
        Hosts that get no request for now because their server is busy: until when, and why.
    paces : dict
        Hosts whose pace robots.txt sets, and what it asks for.
    sides : Sides or None
        The wanted languages, if pages in them come first.
    reading : ReadingQueue
        Answers that wait to be read.
    listing : Listing
        Reads sitemaps in portions.
    """

    def __init__(
        self,
        frontier: Frontier,
        archive: Archive,
        scope: Scope,
        guard: AddressGuard,
        limits: CrawlSettings,
        delay: float,
        pause: Pause | None = None,
    ) -> None:
        self.frontier = frontier
        self.archive = archive
        self.scope = scope
        self.guard = guard
        self.limits = limits
        self.delay = delay
        self.pause = pause
        self.fatal: Exception | None = None
        self.resting: dict[str, Rest] = {}
        self.held: dict[str, tuple[float, str]] = {}
        self.paces: dict[str, str] = {}
        self.sides = Sides(limits.langs) if limits.order == "pairs" else None
        self.reading = ReadingQueue(limits)
        self.listing = Listing(frontier, scope, self.sides, limits.max_pages)

    def rest(self, host: str, seconds: float, why: str) -> None:
        """Leave a host alone for a while, or for as long as it asked before if that is longer."""
        if host not in self.resting:
            logger.warning("%s: %s; its other addresses are left for the next run", host, why)
        rest = Rest(time.monotonic() + seconds, why)
        self.resting[host] = max(self.resting.get(host, rest), rest)

    def rest_of(self, host: str) -> Rest | None:
        """Return why and how long a host is left alone at the moment; None if it is not."""
        rest = self.resting.get(host)
        return rest if rest is not None and rest.until > time.monotonic() else None


def state_of(crawler: Crawler) -> CrawlState:
    """Return the state of the crawl that a crawler does; its spider holds it."""
    state: CrawlState = crawler.spider.crawl_state  # type: ignore[union-attr]  # set by `SiteSpider`
    return state
