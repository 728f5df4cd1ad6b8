"""The frontier of a crawl, open for writing: what is queued, in which order it is taken, and what became of it.

One SQLite file, the ledger. A response and the links that it brought are recorded in one transaction, together with the
place in the archive up to which everything is known; so a crawl that is killed at any moment resumes from its last
response.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from twinlink.spiders.frontier.bodies import (
    VISIT_AGAIN,
    book_body,
    earlier_body,
    keep_earlier,
    known_starts,
    ledger_version,
    lose_bodies,
    note,
    queue_again,
    reads_whole,
    visit_number,
)
from twinlink.spiders.frontier.faults import broken_ledger, check_ledger, usable
from twinlink.spiders.frontier.partners import Sides
from twinlink.spiders.frontier.reading import Questions
from twinlink.spiders.frontier.records import LATER, Body, Budget, FrontierEntry, Outcome
from twinlink.spiders.frontier.room import with_room
from twinlink.spiders.frontier.schema import (
    DROP,
    DROP_SITEMAPS,
    INSERT,
    KNOWN,
    MAX_DROPPED,
    NEXT_HOST,
    READMIT,
    RENAME_SITEMAPS,
    REQUEUE,
    SCHEMA,
    SETTLE,
    SPEND,
    TAKE,
    VERSION,
    settled,
)
from twinlink.spiders.frontier.urgency import URGE_FORM, book_pairwise
from twinlink.spiders.traps import form

_UNLIMITED = 2**62
_OPEN = nullcontext()  # a frontier is open as long as it lives


class Frontier(Questions):
    """The frontier of a crawl, open for writing by one process at a time (the caller holds the crawl's lock).

    Opening it queues requests that were in flight again.

    Parameters
    ----------
    path : Path
        Its ledger, which is made if it is missing.

    Raises
    ------
    RunError
        If the file is not a ledger of this version, is damaged, or cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        with usable(path):
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.create_function("form", 1, form, deterministic=True)
        self._turn = 0
        self._visit = 1
        self._pairs = False
        self._whole = False  # this visit asks for whole pages: their links were read under other settings
        self._budget = _bound(Budget())
        self._seen: dict[str, float] = {}  # site → when its last response came, or its first request went
        try:
            with usable(path):
                self._prepare(path)
        except BaseException:
            self._db.close()
            raise

    def _prepare(self, path: Path) -> None:
        db = self._db
        version = ledger_version(db)
        if version == 0:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
        elif version != VERSION:
            raise broken_ledger(path, f"it is of version {version}, expected {VERSION}")
        else:
            check_ledger(db)
        # NORMAL: a commit survives the death of the process at once, that of the machine after the next checkpoint.
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE frontier SET state = 'queued' WHERE state = 'flight'")
        db.execute(RENAME_SITEMAPS)
        db.execute("UPDATE sites SET turn = 0")
        db.execute("UPDATE hosts SET turn = 0, room = 1000000")
        db.execute("COMMIT")
        self._visit = visit_number(db)

    def queue_again(self) -> bool:
        """Begin another visit: queue all requested addresses, if the crawl has ended; else it must be resumed.

        Returns
        -------
        bool
            Whether it begins.
        """
        begins = queue_again(self._db)
        self._visit = visit_number(self._db)
        return begins

    def earlier(self, entry: FrontierEntry) -> Body | None:
        """Return the page of an address from an earlier visit.

        Without ETag and date where that one was read for other sites or otherwise (`seed`): a response that it is
        unmodified would hide the links that were left out then.
        """
        body = earlier_body(self._db, entry.key) if self._visit > 1 and entry.kind == "page" else None
        return body._replace(etag="", modified="") if body and self._whole else body

    def seed(
        self,
        entries: Sequence[FrontierEntry],
        max_depth: int,
        max_chain: int,
        budget: Budget | None = None,
        again: Callable[[str, str], bool] = lambda reason, url: False,
        langs: Sequence[str] | None = None,
        is_excluded: Callable[[str], bool] | None = None,
        reading: str = "",
    ) -> None:
        """Add start pages, set the budgets, and apply the current settings to known addresses.

        Addresses that they no longer drop are queued again; queued ones that they drop (patterns, depth) are removed.

        While no page at all has been fetched, start pages that failed are tried again, and those of a site without a
        page that gave no response always: a second run after a broken network must not repeat the first one's failure
        from memory.

        Parameters
        ----------
        entries : sequence of FrontierEntry
            The start pages.
        max_depth, max_chain : int
            Links too deep, and links at the end of a chain, are dropped beyond these.
        budget : Budget, optional
            Of each site; without it there is none.
        again : callable
            Tells for a reason and an address whether it is dropped no longer. What holds only for a while
            (``robots-unreachable``, ``busy``) is always tried again.
        langs : sequence of str, optional
            Wanted languages, perhaps none: likely partners come first. Without it the order is breadth first.
        is_excluded : callable, optional
            Returns whether the patterns keep an address out; start pages are always in.
        reading : str, optional
            Names the settings by which pages are read and links are kept that leave no trace where they are dropped.
        """
        db = self._db
        self._budget = _bound(budget or Budget())
        db.create_function("again", 2, lambda reason, url: reason in LATER or again(reason, url))
        self._begin()
        db.execute("DELETE FROM notes WHERE name IN ('finished', 'wait')")
        starts = dict.fromkeys([*known_starts(db), *(entry.url for entry in entries)])
        db.execute("INSERT OR REPLACE INTO notes VALUES ('starts', ?)", (json.dumps([*starts]),))
        self._put_in_order(langs)
        self._whole = reads_whole(db, reading, self._visit)
        db.executemany(INSERT, entries)
        db.execute(REQUEUE, {"max_depth": max_depth, "max_chain": max_chain, **self._budget})
        db.create_function("is_excluded", 1, is_excluded or (lambda url: False))
        db.execute(DROP, {"max_depth": max_depth, "has_patterns": is_excluded is not None})
        for (site,) in db.execute("SELECT site FROM sites").fetchall():
            db.execute(SPEND, {**self._budget, "gap": 0.0, "site": site})
        db.execute("COMMIT")

    def _put_in_order(self, langs: Sequence[str] | None) -> None:
        """Clear sides and urgency if the settings have changed."""
        db = self._db
        self._pairs = langs is not None
        order = "breadth" if langs is None else ",".join(["pairs", *langs])
        if note(db, "order") != order:
            sides = Sides(langs or ())
            db.create_function("side_of", 1, sides.of_tag, deterministic=True)
            db.execute(
                "UPDATE frontier SET side = side_of(iif(state = 'done', lang, '')),"
                " urgency = iif(state = 'queued' AND urgency = ?1, ?1, 0) WHERE kind = 'page'",
                (VISIT_AGAIN,),
            )
            db.execute("DELETE FROM rules")
            db.execute("INSERT OR REPLACE INTO notes VALUES ('order', ?)", (order,))

    def add(self, entries: Sequence[FrontierEntry]) -> None:
        """Queue addresses that no page links to (sitemaps of robots.txt)."""
        self._begin()
        self._db.executemany(INSERT, entries)

    def bring(self, entry: FrontierEntry, links: Sequence[FrontierEntry]) -> None:
        """Record links that an address has brought which is not settled yet: those of a sitemap come in portions."""
        if links:
            self._begin()
            self._book_links(entry, False, links)
            self._db.execute("COMMIT")

    def readmit(self, is_lifted: Callable[[str], bool], max_depth: int) -> None:
        """Queue the addresses again that pass a test, and were dropped because they seemed to bring one page."""
        self._begin()
        self._db.create_function("is_lifted", 1, is_lifted)
        self._db.execute(READMIT, (max_depth,))

    def put_form_last(self, entry: FrontierEntry, is_last: bool) -> None:
        """Put the queued addresses of an entry's form (`twinlink.spiders.traps.form`) behind all others, or back."""
        self._begin()
        self._db.execute(URGE_FORM, {"is_last": is_last, **entry._asdict()})

    def pages(self) -> Iterator[str]:
        """Yield the addresses of the pages that were fetched."""
        for (url,) in self._db.execute("SELECT url FROM frontier WHERE state = 'done' AND kind = 'page'"):
            yield url

    def take(self, per_host: int) -> FrontierEntry | None:
        """Return the next address: sites take turns, in a site its hosts; on a host what is most urgent first.

        Equally urgent addresses come from the side with the fewest pages; then breadth first.

        Addresses that look like traps come after all others of their host.

        Parameters
        ----------
        per_host : int
            Addresses in flight to one host at most.

        Returns
        -------
        FrontierEntry or None
            None when nothing is queued for a host that has room, of a site that has not ended.
        """
        # Left uncommitted on purpose: what is taken and not settled is in the queue again after a kill either way.
        self._begin()
        limits = {"per_host": per_host, "max_pages": self._budget["pages"]}
        rows = self._db.execute(NEXT_HOST, limits)
        place = next(((site, host) for site, host in rows if host is not None), None)
        rows.close()
        if place is None:
            return None
        row = self._db.execute(TAKE, place).fetchone()
        self._turn += 1
        self._db.execute("UPDATE sites SET turn = ? WHERE site = ?", (self._turn, place[0]))
        self._db.execute("UPDATE hosts SET turn = ? WHERE site = ? AND host = ?", (self._turn, *place))
        self._seen.setdefault(place[0], time.monotonic())
        return FrontierEntry._make(row)

    def limit_host(self, host: str, room: int | None) -> None:
        """Limit the addresses of a host in flight to ``room`` until the frontier is closed; None: no limit."""
        self._begin()
        self._db.execute("UPDATE hosts SET room = ? WHERE host = ?", (1_000_000 if room is None else room, host))

    def has_more(self) -> bool:
        """Return whether a site that has not ended has queued addresses."""
        row = self._db.execute("SELECT 1 FROM sites WHERE queued > 0 AND ended = '' LIMIT 1").fetchone()
        return row is not None

    def known(self, site: str) -> int:
        """Return the number of pages of a site that are fetched or queued."""
        row = self._db.execute(KNOWN, (site,)).fetchone()
        return row[0] if row else 0

    def room_for_sitemaps(self, site: str) -> tuple[int, int]:
        """Return the numbers of addresses and bytes that may still be read in sitemaps of a site; 0: none."""
        row = self._db.execute("SELECT listed, listed_bytes FROM sites WHERE site = ?", (site,)).fetchone() or (0, 0)
        limits = (int(self._budget["listed"]), int(self._budget["listed_bytes"]))
        return max(0, limits[0] - row[0]), max(0, limits[1] - row[1])

    def spend_on_sitemaps(self, site: str, addresses: int, n_bytes: int) -> None:
        """Add to the counts of addresses and bytes read in sitemaps of a site."""
        self._begin()
        spent = (addresses, n_bytes, site)
        self._db.execute("UPDATE sites SET listed = listed + ?, listed_bytes = listed_bytes + ? WHERE site = ?", spent)

    def drop_sitemaps(self, entry: FrontierEntry, outcome: Outcome) -> None:
        """Record the outcome of a sitemap also for up to a thousand that are queued after it."""
        self._begin()
        settled = (outcome.state, outcome.reason, outcome.detail)
        self._db.execute(DROP_SITEMAPS, (*settled, entry.site, entry.host, entry.side, MAX_DROPPED))

    def settle(self, entry: FrontierEntry, outcome: Outcome, links: Iterable[FrontierEntry] = ()) -> None:
        """Record the outcome of an address, and the links that it brought, in one transaction.

        An outcome ``queued`` puts the address back, as ``entry`` spells it and with its urgency: a redirect that only
        rewrites its query leads to the same key. A failure that may pass (no response, 5xx, 408, 425, 429) leaves an
        address ``done`` that has the page of an earlier visit.
        """
        db = self._db
        self._begin()
        if self._visit > 1:
            outcome = keep_earlier(db, entry.key, outcome)
        db.execute(SETTLE, settled(entry, outcome))
        book_body(db, entry.key, outcome, self._visit)
        self._book_links(entry, outcome.state == "done", links)
        now = time.monotonic()
        gap = now - self._seen.get(entry.site, now)
        self._seen[entry.site] = now
        db.execute(SPEND, {**self._budget, "gap": gap, "site": entry.site})
        if outcome.archive is not None:
            db.execute("UPDATE archives SET stop = ? WHERE name = ?", (outcome.stop, outcome.archive))
        db.execute("COMMIT")

    def skip_time(self) -> None:
        """Exclude the time since their last responses from the time of the sites: the crawl was paused."""
        self._seen.clear()

    def _book_links(self, entry: FrontierEntry, done: bool, links: Iterable[FrontierEntry]) -> None:
        links = with_room(self._db, links, int(self._budget["address_bytes"]))
        if self._pairs:
            book_pairwise(self._db, entry, done, links)
        else:
            self._db.executemany(INSERT, links)

    def archives(self) -> dict[str, int]:
        """Return the archives, and the recorded length of each."""
        return dict(self._db.execute("SELECT name, stop FROM archives ORDER BY name"))

    def book_archive(self, name: str, stop: int) -> None:
        """Record an archive, before its file is made, and its length when it is closed or cut."""
        if self._db.in_transaction:
            self._db.execute("COMMIT")
        self._db.execute("INSERT OR REPLACE INTO archives VALUES (?, ?)", (name, stop))

    def lose_archive(self, name: str, size: int) -> int:
        """Queue the pages again that an archive of ``size`` bytes does not hold; return where its last record ends.

        This is for a machine that went down, or a file that was removed by hand: a killed process leaves archives at
        least as long as the ledger says.
        """
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        stop = lose_bodies(db, name, size)
        db.execute("UPDATE archives SET stop = ? WHERE name = ?", (stop, name))
        db.execute("COMMIT")
        return stop

    def adopt(self, pages: Iterable[tuple[FrontierEntry, Outcome]], archives: Mapping[str, int]) -> int:
        """Record pages as if this crawl had fetched them, and the archives with them; return the number of new ones."""
        db, known = self._db, self.keys("pages")
        new = [(entry, outcome) for entry, outcome in pages if entry.key not in known]
        db.execute("BEGIN IMMEDIATE")
        if new:
            db.executemany("INSERT OR REPLACE INTO archives VALUES (?, ?)", archives.items())
        for entry, outcome in new:
            db.execute(INSERT, entry)
            db.execute(SETTLE, settled(entry, outcome))
            book_body(db, entry.key, outcome, self._visit)
        db.execute("COMMIT")
        return len(new)

    def note_wait(self, why: str) -> None:
        """Record why the crawl waits, for those who read the ledger meanwhile; empty: it does not."""
        self._begin()
        self._db.execute("INSERT OR REPLACE INTO notes VALUES ('wait', ?)", (why,))
        self._db.execute("COMMIT")

    def finish(self, note: str) -> None:
        """Record the end of the crawl, as `Questions.end` returns it."""
        self._begin()
        self._db.execute(
            "UPDATE frontier SET state = 'aside', reason = 'not-needed' WHERE kind = 'sitemap' AND state = 'queued'"
        )
        self._db.execute("INSERT OR REPLACE INTO notes VALUES ('finished', ?)", (note,))
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the file; addresses without an outcome go back into the queue."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._db.close()

    def _moment(self) -> AbstractContextManager[object]:
        return _OPEN

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")


def _bound(budget: Budget) -> dict[str, float]:
    return {name: _UNLIMITED if value is None else value for name, value in budget._asdict().items()}
