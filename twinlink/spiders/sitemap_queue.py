"""Sitemaps during the crawl: their requests, and the listed addresses, added to the ledger in portions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING

from twinlink.spiders.failures import RefusedError
from twinlink.spiders.frontier import Outcome
from twinlink.spiders.items import LinksItem
from twinlink.spiders.scope import versions_together
from twinlink.spiders.sitemaps import MAX_SITEMAP_BYTES, Portion, SitemapLimits, SitemapReader

if TYPE_CHECKING:
    from twinlink.spiders.frontier import Frontier, FrontierEntry
    from twinlink.spiders.frontier.partners import Sides
    from twinlink.spiders.scope import Scope

LISTING_REASONS = frozenset(("sitemap-budget", "sitemap-cut"))
"""Why a sitemap, or the rest of it, was not read."""

_LEAST = 100  # minimum number of addresses that a sitemap counts for, because it takes a request
_NESTED = 900  # additional count of an index within an index, which the protocol does not allow: loops have thousands
_AT_ONCE = 500  # addresses recorded before other tasks run
_MAX_INDEX_DEPTH = 3  # nesting of indexes; the protocol allows 1


class Listing:
    """Read sitemaps in portions.

    Parameters
    ----------
    frontier : Frontier
        Has the number of addresses that a site may still list.
    scope : Scope
        Decides which addresses are followed.
    sides : Sides or None
        The wanted languages, if pages in them are preferred.
    max_pages : int
        Limit of the crawl: if as many pages of a site are known, further sitemaps are not needed.
    """

    def __init__(self, frontier: Frontier, scope: Scope, sides: Sides | None, max_pages: int) -> None:
        self._frontier = frontier
        self._scope = scope
        self._sides = sides
        self._max_pages = max_pages

    def check(self, entry: FrontierEntry) -> None:
        """Refuse a sitemap if its site needs no more or has reached a limit, and with it up to a thousand of its host.

        Raises
        ------
        RefusedError
            ``not-needed``: more pages are known than can be fetched; ``sitemap-budget``: a limit is reached.
        """
        if self._frontier.known(entry.site) >= self._max_pages:
            refused = Outcome("aside", "not-needed")
        elif not all(self._frontier.room_for_sitemaps(entry.site)):
            refused = Outcome("rejected", "sitemap-budget", "sitemaps of its site were read up to the limit")
        else:
            return
        self._frontier.drop_sitemaps(entry, refused)
        raise RefusedError(refused.reason, refused.detail)

    async def read(
        self, entry: FrontierEntry, body: bytes, goes_on: Callable[[], bool]
    ) -> AsyncIterator[LinksItem | Outcome]:
        """Yield the addresses of a sitemap; other tasks of the crawler run in between.

        Parameters
        ----------
        entry : FrontierEntry
            The sitemap.
        body : bytes
            Its body.
        goes_on : callable
            Returns whether the crawl continues; reading ends when it returns False.

        Yields
        ------
        LinksItem or Outcome
            Addresses in portions, then the outcome. There is no outcome if the crawl ends before, because the sitemap
            has to be read again.
        """
        addresses, n_bytes = self._frontier.room_for_sitemaps(entry.site)
        limits = SitemapLimits(min(SitemapLimits().addresses, addresses), n_bytes=min(MAX_SITEMAP_BYTES, n_bytes))
        reader = SitemapReader(entry.url, limits)
        yield LinksItem(entry, n_addresses=_LEAST)
        n_addresses = n_bytes = n_nested = 0
        for portion in reader.portions(body):
            for links in self._links(entry, portion):
                yield LinksItem(entry, links)
                await asyncio.sleep(0)
            if portion.sitemaps and entry.depth and not n_nested:
                n_nested = _NESTED
            spent = reader.n_addresses + n_nested
            yield LinksItem(entry, n_addresses=spent - n_addresses, n_bytes=reader.n_bytes - n_bytes)
            n_addresses, n_bytes = spent, reader.n_bytes
            await asyncio.sleep(0)
            if not goes_on():
                return
        if not reader.is_sitemap:
            yield Outcome("aside", "not-a-sitemap", status=200)
        else:
            yield Outcome("rejected", "sitemap-cut", reader.cut, 200) if reader.cut else Outcome("aside", status=200)

    def _links(self, entry: FrontierEntry, portion: Portion) -> Iterator[list[FrontierEntry]]:
        for start in range(0, len(portion.pages), _AT_ONCE):
            links = self._scope.links(entry, portion.pages[start : start + _AT_ONCE])
            if self._sides is not None and portion.versions:
                links = versions_together(entry, links, portion.versions, self._sides)
            yield links
        if entry.depth < _MAX_INDEX_DEPTH:
            further = (self._scope.sitemap(url, entry.url, entry.site) for url in portion.sitemaps)
            yield [inner._replace(depth=entry.depth + 1) for inner in further if inner]
