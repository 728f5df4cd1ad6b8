"""A crawl of a hostile and a good site: outcomes of the pages of both, and of the crawler.

The good site has as many pages as a crawl takes in a minute, answered at a slow pace for as long as the hostile one has
open addresses, and at once afterwards. So there is something to do all the time, and a gap between two requests shows
that the crawler was stalled.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from experiments.campaign.cases import KEPT, LIMITS, UNKNOWN, Case, Hostile
from experiments.campaign.table import Trial
from experiments.campaign.watched import Ended, command, watch
from experiments.campaign.web import Answer, Reply, Site, links, page, serving
from twinlink.spiders.frontier import LEDGER_NAME

__all__ = ["Crawled", "crawl_case", "outcomes"]

BEATS = tuple(f"/beat/{number}.html" for number in range(300))
GOOD = tuple(f"/good/{number}.html" for number in range(10))
WATCHDOG = 90.0
MOST_LOGGED = 100_000
"""Maximum number of log bytes that a hostile site may cause."""
MOST_STORED = 250 * 10**6
"""Maximum number of bytes on disk for a run of such a small site."""
_PACE = 0.8  # seconds until the good site responds: with four requests at a time, one every fifth of a second
_PORTS = (1_100, 3_200)
"""Ports to which a digit can be appended."""


@dataclass
class Crawled:
    """Summary of a crawl."""

    ended: Ended
    outcomes: dict[str, str]
    """From an address to `KEPT`, or to the reason why there is no page."""
    silence: float
    stored: int
    """Bytes on disk."""
    log: str
    sites: dict[str, Site] = field(default_factory=dict)


def crawl_case(case: Case, folder: Path, limit: float = WATCHDOG, n_beats: int = len(BEATS)) -> Trial:
    """Crawl a case into a new folder; return the outcomes.

    Parameters
    ----------
    case : Case
    folder : Path
        Folder of the run.
    limit : float
        Seconds after which the crawl is stopped.
    n_beats : int
        Pages of the good site. With fewer than the default, the crawl is shorter and detects fewer stalls.
    """
    beats = BEATS[:n_beats]
    with ExitStack() as stack:
        hostile_site, hostile, others = stack.enter_context(_hostile(case))
        over = [False]
        good = stack.enter_context(serving(_beating(beats, over), host="127.0.0.2"))
        sites = [hostile_site, good, *others]
        watcher = _Silence(folder, sites, hostile_site.url, over)
        given = {**LIMITS, **case.settings}
        options = [word for name, value in given.items() for word in ("--set", f"crawl.{name}={json.dumps(value)}")]
        ended = watch(
            command("crawl", f"{hostile_site.url}/", f"{good.url}/", "-o", folder, "-q", "--json", *options),
            limit,
            watcher.look,
        )
        found = Crawled(ended, outcomes(folder), watcher.longest(), _size(folder), _log(folder))
        lost = [
            *_wrong(hostile, hostile_site, found),
            *_missing(beats, good, found),
            *_asked_in_vain(hostile, others),
            *_untidy(found),
        ]
        extra = sum(count - 1 for path, count in good.asked.items() if path in beats)
    return Trial(
        case.name,
        ended.in_time and ended.code == 0 and not ended.has_traceback,
        tuple(lost),
        extra,
        ended.crawler_peak,
        found.silence,
        ended.seconds,
    )


@contextmanager
def _hostile(case: Case) -> Iterator[tuple[Site, Hostile, list[Site]]]:
    """Serve a case; yield its server, its responses, and its other servers."""
    made: list[Hostile] = [Hostile()]

    def answer(path: str) -> Reply | None:
        hostile = made[0]
        if path == "/":
            paths = [p for p in hostile.answers if p not in ("/robots.txt", "/sitemap.xml")]
            wanted = list(hostile.linked) if hostile.linked is not None else paths
            return links(*GOOD[:5], *wanted, *GOOD[5:])
        if path in GOOD:
            return page(path)
        if path in hostile.answers:
            return hostile.answers[path]
        if path in ("/robots.txt", "/sitemap.xml"):
            return Answer(b"none", "404 Not Found", "text/plain")
        return hostile.others(path)

    with ExitStack() as stack:
        site, others = _ports(stack, answer) if case.other_port else (stack.enter_context(serving(answer)), [])
        made[0] = case.make(site.url)
        yield site, made[0], others


def _ports(stack: ExitStack, answer: Callable[[str], Reply | None]) -> tuple[Site, list[Site]]:
    """Serve at a port and at the port whose number has a 1 appended."""
    for port in range(*_PORTS):
        with suppress(OSError):
            site = stack.enter_context(serving(answer, port=port))
            return site, [stack.enter_context(serving(page, port=10 * port + 1))]
    raise OSError("no two such ports are free")


def _beating(beats: Sequence[str], over: list[bool]) -> Callable[[str], Reply | None]:
    def answer(path: str) -> Reply | None:
        if path == "/":
            return links(*beats)
        if path in beats:
            return Answer(f"<title>{path}</title><p>good".encode(), wait=0.0 if over[0] else _PACE)
        return Answer(b"none", "404 Not Found", "text/plain")

    return answer


class _Silence:
    """Watches the progress of a crawl: requests to any server, and changes of the ledger's counts."""

    def __init__(self, folder: Path, sites: list[Site], hostile: str, over: list[bool]) -> None:
        self._folder, self._sites, self._over = folder, sites, over
        self._hostile = hostile.removeprefix("http://")
        self._moments: list[float] = []
        self._counts: object = None
        self._last_look = 0.0

    def look(self) -> None:
        now = time.monotonic()
        if now - self._last_look < 0.2:
            return
        self._last_look = now
        with suppress(sqlite3.Error, OSError), closing(_open(self._folder)) as db:
            counts = db.execute("SELECT queued, flight, done, moved, rejected FROM total").fetchone()
            row = db.execute("SELECT queued + flight, ended FROM sites WHERE site = ?", (self._hostile,)).fetchone()
            if counts != self._counts:
                self._counts = counts
                self._moments.append(now)
            if row is not None:
                self._over[0] = not row[0] or bool(row[1])

    def longest(self) -> float:
        """Return the longest gap, from the first request to the end of the crawl."""
        requests = sorted(moment for site in self._sites for moment in site.moments)
        if not requests:
            return 0.0
        moments = sorted([*requests, *(m for m in self._moments if m > requests[0]), time.monotonic()])
        return max(after - before for before, after in pairwise(moments))


def outcomes(folder: Path) -> dict[str, str]:
    """Return the outcome of each address of a crawl: `KEPT`, the reason of its reject, or its state.

    If there are very many, links to documents are left out.
    """
    with suppress(sqlite3.Error, OSError), closing(_open(folder)) as db:
        rows = db.execute("SELECT url, state, reason FROM frontier WHERE kind = 'page' AND url NOT LIKE '%.pdf'")
        return {url: KEPT if state == "done" else reason or state for url, state, reason in rows}
    return {}


def _open(folder: Path) -> sqlite3.Connection:
    path = folder / LEDGER_NAME
    if not path.is_file():
        raise OSError(f"{path} is not there")
    return sqlite3.connect(path, timeout=0.1)


def _wrong(hostile: Hostile, site: Site, found: Crawled) -> Iterator[str]:
    """Yield addresses with outcomes that are not allowed."""
    for path in GOOD:
        outcome = found.outcomes.get(site.url + path, UNKNOWN)
        if outcome not in hostile.good:
            yield f"good page {path}: {outcome}"
    for path, allowed in hostile.expected.items():
        outcome = found.outcomes.get(site.url + path, UNKNOWN)
        if outcome not in allowed:
            yield f"{path}: {outcome} instead of {' or '.join(sorted(allowed))}"
    if hostile.most_sent is not None:
        sent = sum(n for path, n in site.sent.items() if path in hostile.answers)
        if sent > hostile.most_sent:
            yield f"{sent / 1e6:.0f} MB over the line"


def _missing(beats: Sequence[str], good: Site, found: Crawled) -> Iterator[str]:
    n_lost = sum(found.outcomes.get(good.url + path) != KEPT for path in beats)
    if n_lost:
        yield f"{n_lost} of {len(beats)} pages of the other site"


def _asked_in_vain(hostile: Hostile, others: list[Site]) -> Iterator[str]:
    for site in others:
        for path in site.asked:
            if site.url + path in hostile.never:
                yield f"{path} asked for at another port"


def _untidy(found: Crawled) -> Iterator[str]:
    """Yield files and processes that should not be left behind."""
    if "Traceback" in found.log:
        yield f"{found.log.count('Traceback')} tracebacks in the log, {found.log.strip().rpartition(chr(10))[2][:120]}"
    if len(found.log) > MOST_LOGGED:
        yield f"{len(found.log):,} bytes of log"
    if found.stored > MOST_STORED:
        yield f"{found.stored / 1e6:.0f} MB on disk"
    if not found.ended.is_said_plainly:
        yield "terminal escapes in what it says"


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _log(folder: Path) -> str:
    with suppress(OSError):
        return (folder / "crawl.log").read_text(errors="replace")
    return ""
