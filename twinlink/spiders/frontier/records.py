"""Records that the ledger of a crawl stores and returns."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

ARCHIVE_FOLDER = "warc"
"""Folder of a crawl's archives, beside its ledger."""
CHOSEN_PREFIX = "recover"
"""What the names of the archives of a crawl of chosen addresses begin with."""
PARTS_PREFIX = "parts"
"""The same for a crawl of page parts, which has a folder of its own."""
LATER = ("robots-unreachable", "busy")
"""Temporary reasons: the next crawl requests the address again."""
FAILURES = ("timeout", "dns", "tls", "connection")
"""Reasons of requests without a response; `is_failure` has those with one, too."""
SAME_PAGE = "addresses of this form return the same page"
"""Detail of a trap that `twinlink.spiders.scope.Scope.is_trap` found."""
SITEMAP_KEY = "sitemap "
"""What the keys of sitemaps begin with."""


class Body(NamedTuple):
    """Place of the page of an address, and data that show whether it has changed."""

    archive: str
    """Name of the archive."""
    stop: int
    """First byte after its records."""
    url: str
    """As it was fetched."""
    date: str = ""
    """When it was fetched, as WARC-Date says; empty: not known."""
    digest: str = ""
    """Of the payload, as WARC-Payload-Digest says; empty: not known."""
    etag: str = ""
    modified: str = ""
    """ETag and Last-Modified of the response; empty: it had none."""
    found: Literal["new", "unchanged", "changed", "kept"] = "new"
    """Result of the latest visit; kept: the visit failed, and the page of an earlier one is kept."""
    lang: str = ""
    """Language that the page declares."""


class FrontierEntry(NamedTuple):
    """One address of the frontier."""

    key: str
    """`page_key` of the address, for a sitemap after `SITEMAP_KEY`: each key is fetched once."""
    url: str
    host: str
    """Requests are spread over hosts, and limited by host."""
    depth: int = 0
    """Links followed from a start page."""
    chain: int = 0
    """Links followed in a row between addresses of one shape; -1 where the address itself is the trap."""
    hops: int = 0
    """Redirects followed in a row."""
    reason: str = ""
    """Reason for dropping it without a request; empty: it is queued."""
    detail: str = ""
    site: str = ""
    """Sites take turns, and have budgets."""
    kind: str = "page"
    """page, sitemap, or part (a style sheet or picture of a page)."""
    suspect: str = ""
    """Kind of trap that its address looks like; such addresses come after all others of their host."""
    side: int = 0
    """Number of its language among the wanted ones, as far as known, see `twinlink.spiders.frontier.partners.Sides`."""
    urgency: int = 0
    """More urgent addresses come first, see `twinlink.spiders.frontier.urgency`."""
    place: int = 0
    """Its place on the site: pages with the same links in two languages share it; 0: not known."""


class Outcome(NamedTuple):
    """The outcome of an address."""

    state: str
    """done, moved, rejected, aside (a sitemap); or queued again."""
    reason: str = ""
    detail: str = ""
    status: int | None = None
    """HTTP status; None when there was no response."""
    archive: str | None = None
    """Name of the archive that the response was written to; None when it was not."""
    start: int | None = None
    stop: int | None = None
    """First byte of its records, and first byte after them."""
    bytes: int = 0
    """Size of the body as transferred."""
    lang: str = ""
    """Language that a page declares."""
    body: Body | None = None
    """Where its page lies, when it is one."""


class Counts(NamedTuple):
    """Addresses by state, and bytes received."""

    queued: int = 0
    flight: int = 0
    done: int = 0
    moved: int = 0
    rejected: int = 0
    bytes: int = 0


class Budget(NamedTuple):
    """Limits of one site; `None`: no limit."""

    pages: int | None = None
    bytes: int | None = None
    seconds: float | None = None
    listed: int | None = None
    """Addresses read in its sitemaps."""
    listed_bytes: int | None = None
    """Bytes read of its sitemaps, unpacked."""
    address_bytes: int | None = None
    """Characters of its addresses and their keys."""
    failures: int | None = None
    """Failed requests for each page that was fetched, and for `SPARE_PAGES` more."""


SPARE_PAGES = 100
"""Pages that a site is given credit for: its failures are counted before its first pages are fetched."""


class SiteCounts(msgspec.Struct, frozen=True):
    """One site of a crawl."""

    site: str
    pages: int
    redirects: int
    queued: int
    rejected: int
    bytes: int
    """As transferred."""
    seconds: float
    """From its first request to its last response, pauses between runs left out."""
    ended: str
    """budget-pages, budget-bytes, budget-minutes or budget-failures when that ended it before everything was fetched;
    else empty."""


class LedgerSummary(msgspec.Struct, frozen=True):
    """Summary of a crawl."""

    counts: Counts
    reasons: dict[str, int]
    """Dropped addresses by reason, the most frequent first; queued ones that a limit left over by its name."""
    finished: bool
    """False when the crawl was stopped before its end."""


def is_failure(reason: str) -> bool:
    """Return whether a reason to have no page says that the server gave no page, or no response.

    >>> is_failure("http-404"), is_failure("timeout"), is_failure("robots")
    (True, True, False)
    """
    return reason.startswith("http-") or reason in FAILURES
