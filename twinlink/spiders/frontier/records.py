"""Records that the ledger of a crawl stores and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = [
    "ARCHIVE_FOLDER",
    "CHOSEN_LEDGER",
    "CHOSEN_PREFIX",
    "LEDGER_NAME",
    "Body",
    "Budget",
    "Counts",
    "Entry",
    "LedgerSummary",
    "Outcome",
    "SiteCounts",
]

LEDGER_NAME = "ledger.sqlite"
ARCHIVE_FOLDER = "warc"
"""Folder of a crawl's archives, beside its ledger."""
CHOSEN_LEDGER = "recover.sqlite"
"""Ledger of a crawl of chosen addresses in a run directory, beside that of its ordinary crawl."""
CHOSEN_PREFIX = "recover"
"""What the names of the archives of such a crawl begin with."""


class Body(NamedTuple):
    """Where the page of an address lies, and what tells whether it has changed since."""

    archive: str
    """Name of the archive."""
    stop: int
    """First byte behind its records."""
    url: str
    """As it was fetched."""
    date: str = ""
    """When it was fetched, as WARC-Date says; empty: not known."""
    digest: str = ""
    """Of the payload, as WARC-Payload-Digest says; empty: not known."""
    etag: str = ""
    modified: str = ""
    """ETag and Last-Modified of the answer; empty: it had none."""
    found: Literal["new", "unchanged", "changed", "kept"] = "new"
    """What the latest visit found it to be; kept: it failed, and the page of an earlier one holds on."""
    lang: str = ""
    """Language that the page declares."""


class Entry(NamedTuple):
    """One address of the frontier."""

    key: str
    """`page_key` of the address: each key is fetched once."""
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
    """Why it is dropped unfetched; empty: it is to be fetched."""
    detail: str = ""
    site: str = ""
    """Sites take turns, and have budgets."""
    kind: str = "page"
    """page or sitemap."""
    suspect: str = ""
    """What trap its address looks like; such addresses come after all others of their host."""
    side: int = 0
    """Number of its language among the wanted ones, as far as known, see `twinlink.spiders.frontier.partners.Sides`."""
    urgency: int = 0
    """What is more urgent comes first, see `twinlink.spiders.frontier.urgency`."""
    place: int = 0
    """Where it stands on its site: pages that are linked alike in two languages share it; 0: not known."""


class Outcome(NamedTuple):
    """What became of an address that was taken."""

    state: str
    """done, moved, rejected, aside (a sitemap); or queued again."""
    reason: str = ""
    detail: str = ""
    status: int | None = None
    """HTTP status; None when there was no answer."""
    archive: str | None = None
    """Name of the archive that the answer was written to; None when it was not."""
    start: int | None = None
    stop: int | None = None
    """First byte of its records, and first byte behind them."""
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
    """What one site may cost at most; `None`: no limit."""

    pages: int | None = None
    bytes: int | None = None
    seconds: float | None = None
    listed: int | None = None
    """Addresses read in its sitemaps."""
    listed_bytes: int | None = None
    """Bytes read of its sitemaps, unpacked."""
    address_bytes: int | None = None
    """Characters of its addresses and their keys."""


@dataclass(frozen=True, slots=True)
class SiteCounts:
    """One site of a crawl."""

    site: str
    pages: int
    redirects: int
    queued: int
    rejected: int
    bytes: int
    """As transferred."""
    seconds: float
    """From its first request to its last answer, pauses between runs left out."""
    ended: str
    """budget-pages, budget-bytes or budget-minutes when that ended it before everything was fetched; else empty."""


@dataclass(frozen=True, slots=True)
class LedgerSummary:
    """What a crawl came to."""

    counts: Counts
    reasons: dict[str, int]
    """Dropped addresses by reason, the most frequent first; queued ones that a limit left over by its name."""
    finished: bool
    """False when the crawl was stopped before its end."""
