"""The crawler's process: ``python -m twinlink.spiders.process``, started by `twinlink.spiders.crawling.crawl`.

It reads its job as one JSON line from standard input. A further line ``stop`` ends the crawl gently; the end of the
input means that the parent is gone, and ends it at once, also while it is paused. An error goes to standard output as
one JSON line (class, message), the log to standard error.
"""

from __future__ import annotations

import ipaddress
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from twinlink.config import CrawlSettings
from twinlink.errors import CrawlError, RunError, RunLockedError, TwinlinkError
from twinlink.spiders.archive import Archive
from twinlink.spiders.browser.chromium import missing_browser
from twinlink.spiders.frontier import (
    ARCHIVE_FOLDER,
    CHOSEN_LEDGER,
    CHOSEN_PREFIX,
    LATER,
    LEDGER_NAME,
    PARTS_PREFIX,
    Budget,
    Frontier,
    ledger_error,
)
from twinlink.spiders.scope import ChosenScope, PartScope, Scope
from twinlink.system.disk import disk_problem
from twinlink.system.locks import BlockedError, locked
from twinlink.system.open_files import raise_file_limit
from twinlink.system.orphans import end_with_parent
from twinlink.system.pausing import Pause

__all__ = ["main"]

PUBLIC_DELAY = 0.25
"""Seconds between requests to a public host when the settings name none: a browser asks for more at once to show one
page, and AutoThrottle lengthens it for slow servers."""

_KINDS: dict[str, tuple[str, str, type[Scope]]] = {
    "site": (LEDGER_NAME, "crawl", Scope),
    "chosen": (CHOSEN_LEDGER, CHOSEN_PREFIX, ChosenScope),
    "parts": (LEDGER_NAME, PARTS_PREFIX, PartScope),
}
"""Kinds of crawls: their ledger, the prefix of their archives, and their scope."""
_LOCK_NAME = "crawl.lock"
_LOCK_PATIENCE = 5.0


def main() -> int:
    """Run the job on standard input; return the exit code."""
    line, rest = _read_line()
    job = json.loads(line)
    end_with_parent(job["parent"])  # a process that it forked may hold this one's input open
    watch = _Watch(rest)
    try:
        _crawl(job, msgspec.convert(job["settings"], CrawlSettings), watch)
    except TwinlinkError as error:
        sys.stdout.write(json.dumps([type(error).__name__, str(error)]))
        return error.exit_code
    return 0


def _read_line() -> tuple[bytes, bytes]:
    """Read a line from standard input; return it, and what was read with it: sys.stdin would keep that to itself."""
    line = bytearray()
    while part := os.read(0, 2**16):
        head, end, rest = part.partition(b"\n")
        line += head
        if end:
            return bytes(line), rest
    return bytes(line), b""


class _Watch:
    """Listens to the parent.

    Parameters
    ----------
    heard : bytes
        What it has said since the job.
    """

    def __init__(self, heard: bytes) -> None:
        self.stopped = False
        self.stop: Callable[[], object] | None = None
        """Stops a running crawl gracefully; may be called from another thread."""
        threading.Thread(target=self._listen, args=(heard,), daemon=True).start()

    def _listen(self, heard: bytes) -> None:
        # Not sys.stdin: at exit, Python waits in vain for its lock, which a thread that reads holds.
        while heard or os.read(0, 4096):
            heard = b""
            self.stopped = True
            if self.stop is None:
                break
            self.stop()
        os._exit(1)  # as good as any other end: the ledger loses nothing


def _crawl(job: dict[str, Any], settings: CrawlSettings, watch: _Watch) -> None:
    starts: Sequence[str] = job["starts"]
    chosen: Sequence[str] = job["chosen"]
    folder = Path(job["folder"])
    name, prefix, scope_of = _KINDS[job["kind"]]
    try:
        with _locked(folder, job["command"]), closing(Frontier(folder / name)) as frontier:
            scope = scope_of(starts, settings)
            budget = _budget(settings)
            entries = [scope.start(url) for url in (starts if job["kind"] == "site" else chosen)]
            with closing(Archive(folder / ARCHIVE_FOLDER, frontier, prefix)) as archive:
                if settings.again:
                    frontier.queue_again()
                again = _again(settings, scope, _unfinished(frontier, settings))
                # After the archive, which may have found pages missing that counted against a budget.
                langs = settings.langs if settings.order == "pairs" else None
                excluded = (lambda url: not scope.wants(url)) if settings.include or settings.exclude else None
                limits = (settings.max_depth, settings.max_trap_chain, budget)
                frontier.seed(entries, *limits, again, langs, excluded, scope.reading())
                if _unfinished(frontier, settings):
                    pause = Pause(Path(job["pause"])) if job["pause"] else None
                    _fetch(frontier, archive, scope, settings, starts, watch, pause)
            _conclude(frontier, settings, watch)
    except (sqlite3.Error, msgspec.MsgspecError) as error:
        raise ledger_error(folder / name, error) from error
    except OSError as error:
        why = disk_problem(error, folder) or f"{error.strerror or error}"
        raise RunError(f"{error.filename or folder}: cannot read or write the crawl: {why}") from error


def _again(settings: CrawlSettings, scope: Scope, goes_on: bool) -> Callable[[str, str], bool]:
    """Return a function for addresses that an earlier run dropped by settings or a robots.txt that may have changed."""

    def again(reason: str, url: str) -> bool:
        return {
            "excluded": lambda: scope.wants(url),
            "robots": lambda: goes_on or not settings.obey_robots,
            "noindex": lambda: not settings.obey_meta_robots,
            "nofollow": lambda: not (settings.obey_meta_robots or settings.obey_rel_nofollow),
            "private-address": lambda: settings.allow_private,
            "needs-browser": lambda: settings.browser == "never" or not missing_browser(settings.browser_path),
        }.get(reason, lambda: False)()

    return again


def _budget(limits: CrawlSettings) -> Budget:
    return Budget(
        pages=limits.max_site_pages,
        bytes=limits.max_site_bytes,
        seconds=_seconds(limits.max_site_minutes),
        listed=limits.max_site_listed,
        listed_bytes=limits.max_site_listed_bytes,
        address_bytes=limits.max_site_address_bytes,
        failures=limits.max_failed_per_page,
    )


def _seconds(minutes: float | None) -> float | None:
    return None if minutes is None else 60.0 * minutes


def _fetch(
    frontier: Frontier,
    archive: Archive,
    scope: Scope,
    settings: CrawlSettings,
    starts: Sequence[str],
    watch: _Watch,
    pause: Pause | None,
) -> None:
    # Here, for Scrapy takes a second to load, and a finished crawl needs it not.
    from twinlink.spiders.crawler import crawler_process
    from twinlink.spiders.guard import AddressGuard
    from twinlink.spiders.state import CrawlState

    raise_file_limit()
    scope.recall(frontier.pages())
    guard = AddressGuard(starts, settings.allow_private)
    state = CrawlState(frontier, archive, scope, guard, settings, _delay(starts, settings), pause)
    process = crawler_process(state)
    from twisted.internet import reactor

    watch.stop = lambda: reactor.callFromThread(process.stop)
    process.start()
    if state.fatal is not None:
        raise state.fatal


def _conclude(frontier: Frontier, settings: CrawlSettings, watch: _Watch) -> None:
    counts = frontier.counts()
    if watch.stopped:
        return
    if counts.queued + counts.flight == 0:
        frontier.finish("later" if any(frontier.tally().get(reason) for reason in LATER) else "complete")
    elif not _unfinished(frontier, settings) and counts.flight == 0:
        frontier.finish("page-limit" if counts.done >= settings.max_pages else "budget")
    else:
        raise CrawlError(f"the crawler ended with {counts.queued + counts.flight} addresses open; its log has details")


def _unfinished(frontier: Frontier, settings: CrawlSettings) -> bool:
    counts = frontier.counts()
    return counts.queued > 0 and counts.done < settings.max_pages and frontier.has_more()


def _delay(starts: Sequence[str], settings: CrawlSettings) -> float:
    if settings.delay is not None:
        return settings.delay
    return 0.0 if all(_is_loopback(start) for start in starts) else PUBLIC_DELAY


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextmanager
def _locked(folder: Path, command: str) -> Iterator[None]:
    """Hold the lock of the folder; wait briefly for an earlier crawler that is about to end with its parent."""
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder / _LOCK_NAME, _LOCK_PATIENCE, command))
        except BlockedError as error:
            raise RunLockedError(error.say(f"{folder}: another crawl is running here", "use another folder")) from None
        yield


if __name__ == "__main__":
    sys.exit(main())
