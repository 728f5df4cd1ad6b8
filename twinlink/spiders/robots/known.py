"""Cache of the robots rules of hosts, in bounded memory."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import NamedTuple

from twinlink.spiders.failures import RefusedError
from twinlink.spiders.robots.robots import RobotsRules

MAX_HOSTS = 10_000
"""Maximum number of hosts whose rules are kept; robots.txt of an evicted host is requested again."""
MAX_BYTES = 64 * 2**20
"""Maximum memory for all rules: those of an ordinary host take some 10 kB, the largest 5 to 27 MB."""

RulesOrRefusal = RobotsRules | RefusedError
"""The rules of a host, or why nothing may be requested from it."""


class Known(NamedTuple):
    """The robots.txt of a host, requested or received."""

    answer: asyncio.Future[RulesOrRefusal]
    until: float = float("inf")
    """When it has to be requested again (monotonic time)."""
    size: int = 0
    """Memory of its rules in bytes."""


class KnownRules:
    """Cache of rules by origin; the least recently used ones are evicted first."""

    def __init__(self, max_hosts: int = MAX_HOSTS, max_bytes: int = MAX_BYTES) -> None:
        self._max_hosts = max_hosts
        self._max_bytes = max_bytes
        self._by_origin: OrderedDict[str, Known] = OrderedDict()
        self._size = 0

    def get(self, origin: str) -> Known | None:
        """Return the rules of an origin, or None if they are not known."""
        if origin in self._by_origin:
            self._by_origin.move_to_end(origin)
        return self._by_origin.get(origin)

    def put(self, origin: str, known: Known) -> None:
        """Store the rules of an origin, and evict others if the cache is full."""
        earlier = self._by_origin.pop(origin, None)
        self._by_origin[origin] = known
        self._size += known.size - (earlier.size if earlier else 0)
        while self._is_full():
            oldest = next((name for name, other in self._by_origin.items() if other.until < float("inf")), None)
            if oldest is None:  # all are still being requested
                break
            self._size -= self._by_origin.pop(oldest).size

    def settle(self, origin: str, until: float, size: int) -> None:
        """Record that the response has arrived."""
        self.put(origin, self._by_origin[origin]._replace(until=until, size=size))

    def _is_full(self) -> bool:
        return len(self._by_origin) > self._max_hosts or self._size > self._max_bytes
