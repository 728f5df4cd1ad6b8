"""Downloader middleware that refuses requests that must not be sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twinlink.spiders.failures import RefusedError
from twinlink.spiders.frontier import SAME_PAGE
from twinlink.spiders.guard import blocked_port
from twinlink.spiders.scope import host_of
from twinlink.spiders.state import state_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class Gate:
    """Refuses requests that must not be sent.

    These are requests to a private IP address, to a port that browsers block, or to a server that asked for
    a longer pause.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._state = state_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Refuse requests that must not be sent."""
        if not self._state.guard.allows_literal(request.url):
            raise RefusedError("private-address", "")
        port = blocked_port(request.url)
        if port is not None:
            raise RefusedError("blocked-port", f"port {port} belongs to another protocol")
        if "page" in request.meta and self._state.scope.is_trap(request.meta["page"].url):
            raise RefusedError("trap", SAME_PAGE)
        if "page" in request.meta and request.meta["page"].kind == "sitemap":
            self._state.listing.check(request.meta["page"])
        rest = self._state.rest_of(host_of(request.url))
        if rest is not None:
            raise RefusedError("busy", rest.why)
