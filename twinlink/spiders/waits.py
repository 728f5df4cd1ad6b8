"""Scrapy extension that notes why the crawl waits: the pace of its hosts, busy servers, answers that are late."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from twinlink.spiders.state import state_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.core.downloader import Slot
    from scrapy.crawler import Crawler

    from twinlink.spiders.state import CrawlState

__all__ = ["Wait", "WaitNotes", "summary", "wait_of"]

logger = logging.getLogger(__name__)

NOTICED = 1.0
"""Seconds between two requests, or before a late answer, from which a person wonders why nothing happens."""
_LOOK_SECONDS = 1.0


class Wait(NamedTuple):
    """Why one host gets no request at the moment, or few."""

    kind: str
    """Each kind is logged once for a host."""
    text: str


class WaitNotes:
    """Looks once a second at what the hosts wait for; notes it in the ledger, and in the log when it is new.

    While any host gets requests without a wait, nothing is noted: the crawl goes on.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._noted = ""
        self._logged: set[tuple[str, str]] = set()
        self._timer = create_looping_call(self._look)
        crawler.signals.connect(self._begin, signals.engine_started)
        crawler.signals.connect(self._end, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the extension."""
        return cls(crawler)

    def _begin(self) -> None:
        self._timer.start(_LOOK_SECONDS, now=False)

    def _end(self) -> None:
        if self._timer.running:
            self._timer.stop()

    def _look(self) -> None:
        state, now = state_of(self._crawler), time.monotonic()
        if state.fatal is not None:
            return
        assert self._crawler.engine is not None
        slots = self._crawler.engine.downloader.slots.items()
        waits = {host: wait_of(host, slot, state, now) for host, slot in slots if slot.active}
        waits |= {host: Wait("busy", why) for host, (until, why) in state.held.items() if until > now}
        for host, wait in waits.items():
            if wait and (host, wait.kind) not in self._logged:
                self._logged.add((host, wait.kind))
                logger.warning("%s: %s", host, wait.text)
        why = summary(waits)
        if why != self._noted:
            self._noted = why
            state.frontier.note_wait(why)


def wait_of(host: str, slot: Slot, state: CrawlState, now: float) -> Wait | None:
    """Return why a host that has requests gets none, or few; None: it does not wait.

    Parameters
    ----------
    host : str
    slot : Slot
        Its queue in Scrapy's downloader.
    state : CrawlState
    now : float
        Monotonic time.
    """
    silent = now - slot.lastseen
    if slot.transferring and silent >= slot.delay + NOTICED:
        return Wait("late", f"the server has not answered for {silent:.0f} s")
    if slot.delay < NOTICED:
        return None
    if host in state.paces:
        return Wait("robots", state.paces[host])
    if slot.delay > state.delay:
        return Wait("slow", f"the server answers slowly: {slot.delay:.1f} s between requests")
    return Wait("delay", f"crawl.delay asks for {state.delay:g} s between requests")


def summary(waits: Mapping[str, Wait | None]) -> str:
    """Return what to say of the waits of all hosts; empty if there is none, or if any host does not wait.

    Examples
    --------
    >>> slow = Wait("slow", "the server answers slowly: 3.0 s between requests")
    >>> summary({"a.org": slow}), summary({"a.org": slow, "b.org": None})
    ('the server answers slowly: 3.0 s between requests', '')
    >>> summary({"a.org": slow, "b.org": Wait("robots", "robots.txt asks for 2 s between requests")})
    '2 hosts wait, a.org: the server answers slowly: 3.0 s between requests'
    """
    found = [(host, wait.text) for host, wait in waits.items() if wait is not None]
    if not found or len(found) < len(waits):
        return ""
    host, text = found[0]
    if len(found) == 1:
        return text
    return f"{len(found)} hosts wait, {text if _are_equal(found) else f'{host}: {text}'}"


def _are_equal(found: Iterable[tuple[str, str]]) -> bool:
    return len({text for _, text in found}) == 1
