"""Scope of a crawl of chosen addresses: it fetches these, and follows no links."""

from __future__ import annotations

from collections.abc import Iterable

from twinlink.spiders.frontier import Entry
from twinlink.spiders.scope import Scope, host_of
from twinlink.urls import page_key

__all__ = ["ChosenScope"]


class ChosenScope(Scope):
    """The sites of the start pages, of which only chosen addresses are fetched; the limits apply as for links.

    A redirect is recorded and not followed: the caller decides about its target.
    """

    def start(self, url: str) -> Entry:
        """Return the entry of a chosen address."""
        root = "/".join(url.split("/", 3)[:3]) + "/"
        home = Entry("", root, host_of(url), site=self.site(root))
        found = super().links(home, [url])
        if found:
            return found[0]._replace(chain=0, side=0, urgency=0, place=0)
        off = "" if self.site(url) else "it belongs to none of the sites"
        return Entry(page_key(url), url, host_of(url), 1, reason="excluded", detail=off, site=self.site(url))

    def links(self, page: Entry, urls: Iterable[str]) -> list[Entry]:  # noqa: ARG002  (as the other scope has it)
        """Follow nothing."""
        return []

    def redirect(self, page: Entry, url: str) -> Entry | None:
        """Follow only to another spelling of the same address."""
        target = super().redirect(page, url)
        return target if target is not None and target.key == page.key else None
