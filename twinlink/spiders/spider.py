"""The spider: judges each response, and yields the outcome of its address and the links of its page."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy import signals

from twinlink.sources.documents import REDIRECTS
from twinlink.sources.resources import kind_of
from twinlink.spiders.early_end import EarlyEnd, is_whole, received
from twinlink.spiders.failures import failure_reason
from twinlink.spiders.frontier import SAME_PAGE, FrontierEntry, Outcome
from twinlink.spiders.frontier.partners import UNWANTED
from twinlink.spiders.frontier.urgency import ASKED_LATER, LAST, SURE, UNLIKELY
from twinlink.spiders.items import AddressItem, LinksItem
from twinlink.spiders.reader.page_facts import PageFacts
from twinlink.spiders.responses import header
from twinlink.spiders.revisits import conditions, is_unmodified
from twinlink.spiders.robots.robots import directives, product_token, user_agent
from twinlink.spiders.sitemap_queue import LISTING_REASONS
from twinlink.spiders.sitemaps import MAX_SITEMAP_BYTES
from twinlink.spiders.stalls import Stalls
from twinlink.spiders.state import ASKED, EARLIER, LISTED, READ, UNBUILT
from twinlink.urls import join

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response
    from twisted.python.failure import Failure

    from twinlink.spiders.frontier import Body
    from twinlink.spiders.state import CrawlState

AT_ONCE = 2_000
"""Links of a page that are recorded before other responses have their turn: a tenth of a second."""
_BUSY = frozenset((429, 503))
_BUSY_IN_A_ROW = 5
_BUSY_REST = 600.0  # seconds that a host is left alone which answers so many requests in a row that it is busy
_STALLED_SHARE = 0.1  # of the time for a response: when the crawl itself was held up for so long, it is requested again


class SiteSpider(scrapy.Spider):
    """Fetches what the ledger queues; it has no start requests, for start pages are in the ledger.

    Parameters
    ----------
    crawl_state : CrawlState
        What it shares with the scheduler and the middlewares.
    """

    name = "twinlink"

    def __init__(self, crawl_state: CrawlState) -> None:
        super().__init__()
        self.crawl_state = crawl_state
        self._scope = crawl_state.scope
        self._limits = crawl_state.limits
        self._sides = crawl_state.sides
        self._busy: dict[str, int] = {}  # host → answers in a row that it is busy
        self._agent = product_token(user_agent(crawl_state.limits))
        self._early = EarlyEnd()
        self._stalls = Stalls()
        self._later: Counter[str] = Counter()  # key of an address → how often it was queued again behind all others

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build it, and listen to headers and bytes as they come in."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._early.headers_received, signals.headers_received)
        crawler.signals.connect(spider._early.bytes_received, signals.bytes_received)
        crawler.signals.connect(spider._stalls.watch, signals.spider_opened)
        crawler.signals.connect(spider._stalls.close, signals.spider_closed)
        return spider

    def request(self, entry: FrontierEntry) -> Request:
        """Return the request for an entry."""
        # verbatim_url: the address is normalised as browsers do; Scrapy would write some characters differently.
        meta: dict[str, Any] = {"page": entry, "dont_redirect": True, "verbatim_url": True, ASKED: time.monotonic()}
        if entry.kind == "sitemap":
            meta["download_maxsize"] = max(MAX_SITEMAP_BYTES, self._limits.max_page_bytes)
        earlier = meta[EARLIER] = self.crawl_state.frontier.earlier(entry)
        headers = conditions(earlier)
        callback = {"sitemap": self.listed, "part": self.loaded}.get(entry.kind, self.answered)
        return scrapy.Request(
            entry.url, callback=callback, errback=self.failed, headers=headers, meta=meta, dont_filter=True
        )

    async def answered(self, response: Response) -> AsyncIterator[AddressItem | LinksItem]:
        """Yield the items of a response; those of a page with very many links in turn with other responses."""
        entry: FrontierEntry = response.meta["page"]
        self._mind(entry, response.status)
        try:
            entry, outcome, links = self._judge(entry, response)
            if outcome.state == "done" and UNBUILT in response.meta:  # next to nothing without its scripts
                reason, detail = response.meta[UNBUILT]
                outcome = outcome._replace(state="rejected", reason=reason, detail=detail)
        except Exception as error:  # noqa: BLE001  # whatever is wrong with one page, the crawl goes on and counts it
            outcome, links = Outcome("rejected", *failure_reason(error), status=response.status), []
        *portions, links = _portions(links)
        for portion in portions:
            yield LinksItem(entry, portion)
            await asyncio.sleep(0)
        yield _item(entry, outcome, links, response)

    async def listed(self, response: Response) -> AsyncIterator[AddressItem | LinksItem]:
        """Yield the addresses of a sitemap in portions, in turn with other responses; then its outcome."""
        entry: FrontierEntry = response.meta["page"]
        self._mind(entry, response.status)
        outcome: Outcome | None = None
        links: list[FrontierEntry] = []
        try:
            unusual = self._unusual(entry, response)
            if unusual is not None:
                outcome, links = unusual
            else:
                async for portion in self.crawl_state.listing.read(entry, response.meta[LISTED], self._goes_on):
                    if isinstance(portion, Outcome):
                        outcome = portion
                    else:
                        yield portion
        except Exception as error:  # noqa: BLE001  # whatever is wrong with one sitemap, the crawl goes on
            outcome = Outcome("aside", *failure_reason(error), status=response.status)
        if outcome is not None:
            yield _item(entry, outcome, links, response)

    def loaded(self, response: Response) -> Iterator[AddressItem]:
        """Yield the item of a response with a part of pages: a style sheet or a picture."""
        entry: FrontierEntry = response.meta["page"]
        self._mind(entry, response.status)
        unusual = self._unusual(entry, response)
        yield _item(entry, *(unusual or (_part(response), [])), response)

    def _goes_on(self) -> bool:
        return self.crawler.crawling and self.crawl_state.fatal is None

    def failed(self, failure: Failure) -> Iterator[AddressItem]:
        """Yield the items of a request without a response, or with one that must not be stored."""
        entry: FrontierEntry = failure.request.meta["page"]  # type: ignore[attr-defined]  # set by Scrapy
        assert failure.value is not None
        reason, detail = failure_reason(failure.value)
        if self._later[entry.key] < self._more_tries(entry.host, reason, failure.request.meta[ASKED]):  # type: ignore[attr-defined]
            self._later[entry.key] += 1
            yield AddressItem(entry._replace(urgency=min(entry.urgency, ASKED_LATER)), Outcome("queued"))
        elif detail == SAME_PAGE and not self._scope.is_trap(entry.url):  # it was a trap a moment ago
            yield AddressItem(entry, Outcome("queued"))
        else:
            n_bytes = received(failure.request)  # type: ignore[attr-defined]
            yield _item(entry, Outcome("rejected", reason, detail, bytes=n_bytes), (), None)

    def _more_tries(self, host: str, reason: str, start: float) -> int:
        """Return how often a request that failed may be made again when nothing else is queued.

        Once at least where this process itself was stalled while it waited for the response.
        """
        retries = self._limits.retries
        if reason == "timeout":
            stalled = self._stalls.seconds(start, time.monotonic())
            return max(retries, 1) if stalled >= _STALLED_SHARE * self._limits.timeout else retries
        is_long_pause = reason == "busy" and self.crawl_state.rest_of(host) is None
        return min(retries, 1) if is_long_pause else 0

    def _mind(self, entry: FrontierEntry, status: int) -> None:
        """Leave a host alone that is busy again and again."""
        if status not in _BUSY:
            self._busy.pop(entry.host, None)
            return
        self._busy[entry.host] = self._busy.get(entry.host, 0) + 1
        if self._busy[entry.host] >= _BUSY_IN_A_ROW:
            why = f"the server answered {_BUSY_IN_A_ROW} times in a row that it is busy (http-{status})"
            self.crawl_state.rest(entry.host, _BUSY_REST, why)

    def _judge(self, entry: FrontierEntry, response: Response) -> tuple[FrontierEntry, Outcome, list[FrontierEntry]]:
        """Return the outcome of an entry, and its links; the entry itself with what its page says of its language."""
        page = self._page(entry, response)
        if not isinstance(page, PageFacts):
            return entry, *page
        self._scope.see(entry.url, page.text_digest)
        if self._sides is None:
            return entry, *self._obey(entry, page, response.headers)
        entry = entry._replace(side=self._sides.of_page(page.declared_lang, page.sample, entry.side))
        outcome, links = self._obey(entry, page, response.headers)
        tagged = ((link.url, link.tag) for link in page.links)
        return entry, outcome, _to_partners(entry, links, self._sides.partners(tagged, page.declared_lang, entry.side))

    def _page(self, entry: FrontierEntry, response: Response) -> PageFacts | tuple[Outcome, list[FrontierEntry]]:
        unusual = self._unusual(entry, response)
        if unusual is not None:
            return unusual
        page: PageFacts | None = response.meta.get(READ)
        if page is None:
            content_type = header(response.headers, "Content-Type")
            return Outcome("rejected", "not-html", content_type, status=response.status), []
        return page

    def _unusual(self, entry: FrontierEntry, response: Response) -> tuple[Outcome, list[FrontierEntry]] | None:
        """Return the outcome of a response with neither page nor sitemap; None for others."""
        status = response.status
        location = header(response.headers, "Location")
        if status in REDIRECTS and location:
            return self._follow(entry, status, location)
        earlier: Body | None = response.meta.get(EARLIER)
        if earlier is not None and is_unmodified(earlier, status):
            return Outcome("done", status=status, lang=earlier.lang), []  # its links are in the ledger
        if status != 200:
            reason, detail = ("busy", f"http-{status}") if status in _BUSY else (f"http-{status}", "")
            return Outcome("rejected", reason, detail, status=status), []
        return None

    def _obey(self, entry: FrontierEntry, page: PageFacts, headers: Headers) -> tuple[Outcome, list[FrontierEntry]]:
        """Take a page and its links, as far as it wants them to be taken."""
        wishes: frozenset[str] = frozenset()
        if self._limits.obey_meta_robots:
            tags = [value.decode("latin-1") for value in headers.getlist("X-Robots-Tag")]
            wishes = directives(page.robots, tags, self._agent)
        outcome = (
            Outcome("rejected", "noindex", status=200)
            if "noindex" in wishes
            else Outcome("done", status=200, lang=page.declared_lang)
        )
        if "nofollow" in wishes:
            return outcome, _not_followed(self._scope.links(entry, (link.url for link in page.links)))
        if not self._limits.obey_rel_nofollow:
            return outcome, self._scope.links(entry, (link.url for link in page.links))
        followed = [link.url for link in page.links if not link.nofollow]
        others = [link.url for link in page.links if link.nofollow]
        return outcome, self._scope.links(entry, followed) + _not_followed(self._scope.links(entry, others))

    def _follow(self, entry: FrontierEntry, status: int, location: str) -> tuple[Outcome, list[FrontierEntry]]:
        url = join(entry.url, location)
        moved = Outcome("moved", detail=f"to {url or location}", status=status)
        target = self._scope.redirect(entry, url) if url else None
        if target is None:
            return moved._replace(detail=f"{moved.detail}, off the sites"), []
        if target.key != entry.key:
            return moved, [target]
        state = "rejected" if target.reason else "queued"
        return Outcome(state, target.reason, target.detail, status=status), [target]


def _item(
    entry: FrontierEntry, outcome: Outcome, links: Sequence[FrontierEntry], response: Response | None
) -> AddressItem:
    if response is not None and response.request is not None:
        outcome = outcome._replace(bytes=received(response.request))
    if outcome.state == "queued":  # the same key in another spelling
        return AddressItem(links[0], outcome, (), response)
    if entry.kind == "sitemap" and outcome.state != "aside" and outcome.reason not in LISTING_REASONS:
        outcome = outcome._replace(state="aside", reason=outcome.reason or outcome.state)
    return AddressItem(entry, outcome, links, response)


def _portions(links: list[FrontierEntry]) -> Iterator[list[FrontierEntry]]:
    """Yield links in portions; those to partners in the last one: they are recorded with their page's outcome."""
    if len(links) <= AT_ONCE:
        yield links
        return
    others = [link for link in links if link.urgency != SURE]
    for start in range(0, len(others), AT_ONCE):
        yield others[start : start + AT_ONCE]
    yield [link for link in links if link.urgency == SURE]


def _part(response: Response) -> Outcome:
    content_type = header(response.headers, "Content-Type")
    if is_whole(response) and kind_of(response.body, content_type):
        return Outcome("done", status=response.status)
    return Outcome("rejected", "not-a-part", content_type, status=response.status)


def _to_partners(page: FrontierEntry, links: list[FrontierEntry], partners: Mapping[str, int]) -> list[FrontierEntry]:
    """Mark the links that lead to a page's partners, and those to languages that nobody wants."""
    if not partners:
        return links
    marked = []
    for link in links:
        side = partners.get(link.url)
        if side == UNWANTED:
            link = link._replace(side=side, urgency=LAST)  # noqa: PLW2901
        elif side is not None and link.urgency != UNLIKELY:
            link = link._replace(side=side, urgency=SURE, place=page.place)  # noqa: PLW2901
        marked.append(link)
    return marked


def _not_followed(links: list[FrontierEntry]) -> list[FrontierEntry]:
    # A link to the same page again is not followed either when its form is no trap any more.
    return [
        link if link.reason and link.detail != SAME_PAGE else link._replace(reason="nofollow", detail="")
        for link in links
    ]
