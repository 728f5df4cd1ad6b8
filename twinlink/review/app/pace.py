"""The rate of the running stage and the time that it still needs, from the counts of the last minute."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from threading import Lock

import msgspec

from twinlink.progress import Latest
from twinlink.review.records import Live, LiveStage

_SECONDS = 60.0
_COUNTED = {"crawl": "fetched", "ingest": "pages", "match": "sites", "align": "segments"}
"""The count that measures the progress of a stage."""


class Progress(msgspec.Struct, frozen=True):
    """How far the running stage is."""

    share: float | None
    """Part that is done; None: the total is not known."""
    rate: float | None
    """Counted per second; None: not known yet."""
    unit: str
    """What is counted: fetched, pages, sites, segments; empty: it has no name."""
    seconds_left: int | None
    """None: not known."""
    step: str = ""
    """The present step of the stage."""
    stage: str = ""
    """Name of the stage. The process may report one that has just ended, while none is running."""

    @property
    def left(self) -> str:
        """Return the time left.

        >>> Progress(None, 1.0, "pages", 125).left
        '2:05'
        """
        return "" if self.seconds_left is None else f"{self.seconds_left // 60}:{self.seconds_left % 60:02d}"


class Pace:
    """Notes the counts of the running stage each time that it is asked.

    Parameters
    ----------
    clock : callable, optional
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._guard = Lock()
        self._stage = ""
        self._seen: deque[tuple[float, int]] = deque()

    def now(self, live: Live) -> Progress | None:
        """Return the progress of the running stage; None: no stage with a count is running.

        What the process itself reports counts; without such a report, it is the counts of the files.
        """
        if live.latest is not None:
            return _reported(live.latest)
        stage = next((each for each in live.stages if each.state == "running"), None)
        if stage is None or _COUNTED.get(stage.name, "") not in stage.counts:
            return None
        unit = _COUNTED[stage.name]
        done, total = stage.counts[unit], _total(stage, live)
        rate = self._rate(stage.name, done)
        share = min(done / total, 1.0) if total else None
        left = round(max(total - done, 0) / rate) if total and rate else None
        return Progress(share, rate, unit, left, stage=stage.name)

    def _rate(self, stage: str, done: int) -> float | None:
        """Return what was counted per second in the last minute."""
        at = self._clock()
        with self._guard:
            if stage != self._stage or (self._seen and done < self._seen[-1][1]):
                self._stage, self._seen = stage, deque()
            self._seen.append((at, done))
            while at - self._seen[0][0] > _SECONDS:
                self._seen.popleft()
            begun, before = self._seen[0]
        return (done - before) / (at - begun) if at - begun >= 1.0 else None


def _reported(latest: Latest) -> Progress:
    share = min(latest.done / latest.total, 1.0) if latest.total else None
    left = None if latest.seconds_left is None else round(latest.seconds_left)
    return Progress(share, latest.rate or None, "", left, latest.detail, latest.stage)


def _total(stage: LiveStage, live: Live) -> int:
    """Return what the count of a stage ends with; 0: not known."""
    if stage.name == "crawl":
        return stage.counts["fetched"] + stage.counts.get("queued", 0)
    if stage.name == "ingest":
        crawled = next((each for each in live.stages if each.name == "crawl"), None)
        return crawled.counts.get("fetched", 0) if crawled else 0
    return stage.counts.get("of", 0)
