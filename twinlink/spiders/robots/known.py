"""The robots rules that a crawl knows, host by host, in bounded memory."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import NamedTuple

from twinlink.spiders.failures import RefusedError
from twinlink.spiders.robots.robots import RobotsRules

__all__ = ["MAX_BYTES", "MAX_HOSTS", "Known", "KnownRules", "RulesOrRefusal"]

MAX_HOSTS = 10_000
"""Hosts whose rules are kept in memory; one that was forgotten is asked again."""
MAX_BYTES = 64 * 2**20
"""Memory for all rules that are kept: those of an ordinary host take a few thousand bytes, the largest some 6 MB."""

RulesOrRefusal = RobotsRules | RefusedError
"""The rules of a host, or why it must not be asked at all."""


class Known(NamedTuple):
    """The robots.txt of a host: asked for, or known."""

    answer: asyncio.Future[RulesOrRefusal]
    until: float = float("inf")
    """When it is to be requested again (monotonic time)."""
    size: int = 0
    """Memory that its rules take."""


class KnownRules:
    """Rules by origin, as many as there is room for; those that were not looked at for longest go first."""

    def __init__(self, max_hosts: int = MAX_HOSTS, max_bytes: int = MAX_BYTES) -> None:
        self._max_hosts = max_hosts
        self._max_bytes = max_bytes
        self._by_origin: OrderedDict[str, Known] = OrderedDict()
        self._size = 0

    def get(self, origin: str) -> Known | None:
        """Return what is known, if it is."""
        if origin in self._by_origin:
            self._by_origin.move_to_end(origin)
        return self._by_origin.get(origin)

    def put(self, origin: str, known: Known) -> None:
        """Remember what is known of an origin, and forget others."""
        earlier = self._by_origin.pop(origin, None)
        self._by_origin[origin] = known
        self._size += known.size - (earlier.size if earlier else 0)
        while self._is_full():
            oldest = next((name for name, other in self._by_origin.items() if other.until < float("inf")), None)
            if oldest is None:  # all are waited for
                break
            self._size -= self._by_origin.pop(oldest).size

    def settle(self, origin: str, until: float, size: int) -> None:
        """Record that a response has arrived."""
        self.put(origin, self._by_origin[origin]._replace(until=until, size=size))

    def _is_full(self) -> bool:
        return len(self._by_origin) > self._max_hosts or self._size > self._max_bytes
