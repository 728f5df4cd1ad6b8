"""How many pages a crawl will have fetched in the end, as far as that can be said while it runs."""

from __future__ import annotations

from twinlink.config.crawl import CrawlSettings
from twinlink.spiders.crawling import CrawlProgress
from twinlink.spiders.frontier import is_failure

MANY_FAILURES = 20
"""Requests that fail after the last page, until the known addresses say nothing about pages to come."""


class Outlook:
    """Expects pages by what a crawl has reported so far."""

    def __init__(self) -> None:
        self._fetched = -1
        self._failed = 0  # when the last page came

    def expected_pages(self, progress: CrawlProgress, settings: CrawlSettings) -> int | None:
        """Return the number of pages at the end: all known ones, within the budgets; None while only failures come."""
        failed = sum(n for reason, n in progress.reasons.items() if is_failure(reason))
        if progress.fetched != self._fetched:
            self._fetched, self._failed = progress.fetched, failed
        if progress.end:
            return progress.fetched
        if progress.queued and failed - self._failed >= MANY_FAILURES:
            return None
        known = progress.fetched + progress.queued
        of_sites = known if settings.max_site_pages is None else progress.n_sites * settings.max_site_pages
        return max(progress.fetched, min(known, settings.max_pages, of_sites))
