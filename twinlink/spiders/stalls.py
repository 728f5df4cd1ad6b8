"""Stalls of the crawl's own process: requests that time out during a stall are repeated."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress

_TICK = 0.25  # seconds between two looks at the clock
_SLACK = 0.25  # seconds by which a look may be late: timers are not exact
_MOST_KEPT = 1_000


class Stalls:
    """Looks at the clock again and again; where a look comes late, nothing else was done in time either.

    Examples
    --------
    >>> stalls = Stalls()
    >>> stalls.note(100.0, 104.0), stalls.note(110.0, 111.0)
    (None, None)
    >>> stalls.seconds(102.0, 120.0)
    3.0
    """

    def __init__(self) -> None:
        self._known: deque[tuple[float, float]] = deque(maxlen=_MOST_KEPT)
        self._task: asyncio.Task[None] | None = None

    def watch(self) -> None:
        """Begin; called within a running loop."""
        self._task = asyncio.get_running_loop().create_task(self._watch())

    async def close(self) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def note(self, began: float, ended: float) -> None:
        """Take a time in which nothing was done; monotonic, as all of them."""
        self._known.append((began, ended))

    def seconds(self, began: float, ended: float) -> float:
        """Return how long the process was held up between two moments."""
        return sum(max(0.0, min(stop, ended) - max(start, began)) for start, stop in self._known)

    async def _watch(self) -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(_TICK)
            now = time.monotonic()
            if now - began > _TICK + _SLACK:
                self.note(began + _TICK, now)
