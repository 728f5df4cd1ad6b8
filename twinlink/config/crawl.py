"""Settings of the crawl."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from msgspec import Meta

from twinlink.config.settings import HEADER_TEXT, Natural, Positive, Settings
from twinlink.errors import ConfigError
from twinlink.urls import SiteBy


class CrawlSettings(Settings, frozen=True):
    """Fetching of pages."""

    order: Literal["pairs", "breadth"] = "pairs"
    """Order of requests: likely partners of fetched pages, the wanted languages in balance, so that a budget yields
    many pairs; or breadth first. A crawl to the end fetches the same pages."""
    langs: tuple[str, ...] = ()
    """Wanted languages. With them pages in others are not expanded before all else is fetched, and the languages are
    kept in balance. A run fills in its own; empty: only links and addresses suggest pairs."""
    site_by: SiteBy = "domain"
    """Definition of a site: the registered domain (Public Suffix List), the host, or the folder of the start page."""
    include: tuple[str, ...] = ()
    """Regular expressions, searched for in addresses: only those that one of them fits are fetched. Empty: all."""
    exclude: tuple[str, ...] = ()
    """Regular expressions: addresses that one of them fits are not fetched (`excluded`). Start pages always are."""
    max_pages: Positive = 100_000
    """Maximum number of pages over all sites; reaching it is reported."""
    max_site_pages: Positive | None = None
    """Maximum number of pages per site (`budget-pages`). Default: no limit, as with the next two."""
    max_site_bytes: Positive | None = None
    """A site ends once this much was received of it, as transferred (`budget-bytes`)."""
    max_site_minutes: Annotated[float, Meta(gt=0)] | None = None
    """A site ends this long after its first request (`budget-minutes`); pauses between runs do not count."""
    max_site_listed: Positive = 1_000_000
    """Addresses read in the sitemaps of one site, where a sitemap counts for 100 at least, and an index within an index
    for 1,000; its other sitemaps are not asked for (`sitemap-budget`). The default: ten languages of the pages that
    ``max_pages`` lets in."""
    max_site_listed_bytes: Positive = 512 * 2**20
    """The same in bytes of these sitemaps, unpacked: ten of the largest that the protocol allows."""
    max_site_address_bytes: Positive = 128 * 2**20
    """Characters of the addresses of one site that are kept, and of their keys: further links are dropped
    (`too-many-links`). The default has room for 900,000 addresses of 70 characters; the ledger then takes 450 MB."""
    max_failed_per_page: Positive | None = 5
    """A site ends once so many requests have failed (an error of the server, no response) per page fetched, and for
    100 pages more (`budget-failures`): by default after 500 failures at the earliest."""
    max_depth: Natural = 50
    """Maximum number of links followed from a start page."""
    max_page_bytes: Positive = 10 * 2**20
    """A larger body is cut off and rejected (`too-large`), before and after decompression."""
    parse_seconds: Annotated[float, Meta(gt=0)] = 20.0
    """Processor time that unpacking and parsing one page may take (`parse-timeout`). The slowest pages of 10 MB that
    were made to be slow take 1.2 s on a machine of 2023."""
    max_trap_chain: Positive = 30
    """Links followed in a row between addresses that differ in their query or date alone (a calendar)."""
    delay: Annotated[float, Meta(ge=0)] | None = None
    """Seconds between requests to a host. Default: 0.25, and none on loopback."""
    concurrency: Positive = 4
    """Requests in flight to one host."""
    autothrottle: bool = True
    """Slow down when the server does (Scrapy's AutoThrottle)."""
    timeout: Annotated[float, Meta(gt=0)] = 30.0
    """Seconds until an answer counts as failed."""
    max_crawl_delay: Annotated[float, Meta(ge=0)] = 30.0
    """A longer Crawl-delay in robots.txt counts as this many seconds: more than search engines keep to."""
    retries: Natural = 2
    """Further tries after a time-out, a reset connection or one of 500, 502, 503, 504, 408, 429."""
    obey_robots: bool = True
    """Keep to robots.txt."""
    obey_meta_robots: bool = True
    """Keep to ``noindex`` (the page is rejected) and ``nofollow`` (its links are) of ``<meta name=robots>`` and of
    X-Robots-Tag."""
    obey_rel_nofollow: bool = False
    """Follow no link with ``rel=nofollow``. Off: it asks search engines not to rank, forbids nobody to read, and stands
    on many language switches."""
    sitemaps: bool = True
    """Read the sitemaps named in robots.txt, and /sitemap.xml."""
    page_parts: Literal["none", "sites", "all"] = "none"
    """Style sheets and pictures of the pages of pairs, which `mine` fetches after the match into `RUN/page_parts`, so
    that the review shows the pages as they look: none, those on the hosts of the sites, or all. robots.txt, pace and
    limits of sites apply as for pages."""
    max_site_parts: Positive = 1_000
    """Maximum number of such files per site: style sheets first, then the pictures that most pages show."""
    again: bool = False
    """Repeat a finished crawl: pages are fetched only if they have changed, as far as the server reports it;
    deleted pages are dropped, unreachable ones are kept. A stopped crawl is first completed."""
    allow_private: bool = False
    """Fetch from private, loopback and link-local addresses, too. Without it only a start page's own host may have such
    an address, and only when its name says so (an IP address, ``localhost``, a name without a dot, ``.local`` …)."""
    browser: Literal["auto", "never", "always"] = "auto"
    """Build pages in a browser (extra ``browser``, and Chromium): those that are empty without their scripts, none, or
    all. Where there is no browser, ``auto`` counts the pages that need one (`needs-browser`), and a later run that has
    one fetches them."""
    browser_sites: tuple[str, ...] = ()
    """Hosts, and domains with all their hosts, whose pages are all built in the browser, unless it is ``never``."""
    browser_path: str = ""
    """The browser to use: a path or a command. Empty: Chromium's headless shell, Chromium or Chrome, the first that is
    installed."""
    contact: Annotated[str, Meta(pattern=HEADER_TEXT)] = ""
    """Your mail or web address: site owners find it in the User-Agent."""
    user_agent: Annotated[str, Meta(pattern=HEADER_TEXT)] = "twinlink (parallel page finder; contact not set)"
    """Name of the crawler; its first word is looked up in robots.txt."""

    def __post_init__(self) -> None:
        """Check the regular expressions, too.

        Raises
        ------
        ConfigError
            If one cannot be compiled, or see `Settings`.
        """
        super().__post_init__()
        for name in ("include", "exclude"):
            for pattern in getattr(self, name):
                _check_expression(f"crawl.{name}", pattern)


def _check_expression(name: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"{name}: {pattern!r} is not a regular expression ({error})") from None
