"""Items that the spider yields and `LedgerPipeline` writes: dataclasses, which Scrapy takes as items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from twinlink.spiders.frontier import FrontierEntry, Outcome

if TYPE_CHECKING:
    from scrapy.http import Response


@dataclass(frozen=True, slots=True)
class AddressItem:
    """The outcome of an address that was requested: a page, a redirect, a sitemap read to its end, a reject."""

    entry: FrontierEntry
    outcome: Outcome
    links: Sequence[FrontierEntry] = field(default=(), repr=False)
    """Links of the page that no `LinksItem` has brought, or the target of the redirect; dropped ones have a reason."""
    response: Response | None = field(default=None, repr=False)
    """The response; None when there was none."""


@dataclass(frozen=True, slots=True)
class LinksItem:
    """A portion of the links of a page or a sitemap without an outcome yet."""

    entry: FrontierEntry
    """The page or the sitemap."""
    links: Sequence[FrontierEntry] = field(default=(), repr=False)
    n_addresses: int = 0
    """Addresses that the portion counts for in the budget of its site."""
    n_bytes: int = 0
    """Bytes that it counts for."""
