"""What a crawl knows of its addresses: which are queued, which are fetched and where they lie, which were dropped, why.

One SQLite file. An answer and the links that it brought are booked in one transaction, together with the place in the
archive up to which everything is known; so a crawl that is killed at any moment goes on from its last answer.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from twinlink.errors import MissingStageError, RunError
from twinlink.spiders.ledger_schema import INSERT, LOSE, NEXT_HOST, REQUEUE, SCHEMA, SETTLE, SPEND, TAKE, VERSION
from twinlink.spiders.partners import UNWANTED, Sides
from twinlink.spiders.urgency import book_pairwise
from twinlink.tables import Reject

__all__ = [
    "LEDGER_NAME",
    "Budget",
    "Counts",
    "Entry",
    "Ledger",
    "LedgerSummary",
    "Outcome",
    "SiteCounts",
    "ledger_counts",
    "ledger_failures",
    "ledger_langs",
    "ledger_rejects",
    "ledger_report",
    "ledger_sites",
    "ledger_summary",
    "ledger_tally",
]

LEDGER_NAME = "ledger.sqlite"

_LATER = ("robots-unreachable", "busy")
"""Reasons that only hold for a while: the next run tries again."""
_UNLIMITED = 2**62


class Entry(NamedTuple):
    """One address of the frontier."""

    key: str
    """`page_key` of the address: each key is fetched once."""
    url: str
    host: str
    """Requests are spread over hosts, and limited by host."""
    depth: int = 0
    """Links followed from a start page."""
    chain: int = 0
    """Links followed in a row between addresses of one shape; -1 where the address itself is the trap."""
    hops: int = 0
    """Redirects followed in a row."""
    reason: str = ""
    """Why it is dropped unfetched; empty: it is to be fetched."""
    detail: str = ""
    site: str = ""
    """Sites take turns, and have budgets."""
    kind: str = "page"
    """page or sitemap."""
    suspect: str = ""
    """What trap its address looks like; such addresses come after all others of their host."""
    side: int = 0
    """Number of its language among the wanted ones, as far as known, see `twinlink.spiders.partners.Sides`."""
    urgency: int = 0
    """What is more urgent comes first, see `twinlink.spiders.urgency`."""
    place: int = 0
    """Where it stands on its site: pages that are linked alike in two languages share it; 0: not known."""


class Outcome(NamedTuple):
    """What became of an address that was taken."""

    state: str
    """done, moved, rejected, aside (a sitemap); or queued again."""
    reason: str = ""
    detail: str = ""
    status: int | None = None
    """HTTP status; None when there was no answer."""
    archive: str | None = None
    """Name of the archive that the answer was written to; None when it was not."""
    start: int | None = None
    stop: int | None = None
    """First byte of its records, and first byte behind them."""
    bytes: int = 0
    """Size of the body as transferred."""
    lang: str = ""
    """Language that a page declares."""


class Counts(NamedTuple):
    """Addresses by state, and bytes received."""

    queued: int = 0
    flight: int = 0
    done: int = 0
    moved: int = 0
    rejected: int = 0
    bytes: int = 0


class Budget(NamedTuple):
    """What one site may cost at most; `None`: no limit."""

    pages: int | None = None
    bytes: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class SiteCounts:
    """One site of a crawl."""

    site: str
    pages: int
    redirects: int
    queued: int
    rejected: int
    bytes: int
    """As transferred."""
    seconds: float
    """From its first request to its last answer, pauses between runs left out."""
    ended: str
    """budget-pages, budget-bytes or budget-minutes when that ended it before everything was fetched; else empty."""


@dataclass(frozen=True, slots=True)
class LedgerSummary:
    """What a crawl came to."""

    counts: Counts
    reasons: dict[str, int]
    """Dropped addresses by reason, the most frequent first; queued ones that a limit left over by its name."""
    finished: bool
    """False when the crawl was stopped before its end."""


class Ledger:
    """The ledger opened for writing; one process at a time (the caller holds the crawl's lock).

    Opening puts what was in flight back into the queue.

    Raises
    ------
    RunError
        If the file is not a ledger of this version.
    sqlite3.OperationalError
        If it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._turn = 0
        self._pairs = False
        self._budget = _bound(Budget())
        self._seen: dict[str, float] = {}  # site → when its last answer came, or its first request went
        try:
            self._prepare(path)
        except BaseException:
            self._db.close()
            raise

    def _prepare(self, path: Path) -> None:
        db = self._db
        try:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                db.execute("PRAGMA journal_mode = WAL")
                db.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
            elif version != VERSION:
                raise RunError(f"{path}: ledger of version {version}, expected {VERSION}; crawl into a new folder")
            # NORMAL: a commit survives the death of the process at once, that of the machine after the next checkpoint.
            db.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.OperationalError:
            raise  # a full disk, a folder that is locked: the file is not to blame
        except sqlite3.DatabaseError as error:
            raise RunError(f"{path}: not a usable ledger ({error}); crawl into a new folder") from error
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE frontier SET state = 'queued' WHERE state = 'flight'")
        db.execute("UPDATE sites SET turn = 0")
        db.execute("UPDATE hosts SET turn = 0, room = 1000000")
        db.execute("DELETE FROM notes WHERE name = 'finished'")
        db.execute("COMMIT")

    def seed(
        self,
        entries: Sequence[Entry],
        max_depth: int,
        max_chain: int,
        budget: Budget | None = None,
        again: Callable[[str, str], bool] = lambda reason, url: False,
        langs: Sequence[str] | None = None,
    ) -> None:
        """Add start pages, set the budgets, and put back into the queue what today's settings no longer drop.

        While no page at all has been fetched, start pages that failed are tried again: a second run after a broken
        network must not repeat the first one's failure from memory.

        Parameters
        ----------
        entries : sequence of Entry
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
        """
        db = self._db
        self._budget = _bound(budget or Budget())
        db.create_function("again", 2, lambda reason, url: reason in _LATER or again(reason, url))
        self._begin()
        self._put_in_order(langs)
        db.executemany(INSERT, entries)
        db.execute(REQUEUE, {"max_depth": max_depth, "max_chain": max_chain})
        for (site,) in db.execute("SELECT site FROM sites").fetchall():
            db.execute(SPEND, {**self._budget, "gap": 0.0, "site": site})
        db.execute("COMMIT")

    def _put_in_order(self, langs: Sequence[str] | None) -> None:
        """Forget what earlier settings said of sides and urgency, if they were others."""
        db = self._db
        self._pairs = langs is not None
        order = "breadth" if langs is None else ",".join(["pairs", *langs])
        if _note(db, "order") != order:
            sides = Sides(langs or ())
            db.create_function("side_of", 1, sides.of_tag, deterministic=True)
            db.execute("UPDATE frontier SET side = side_of(iif(state = 'done', lang, '')), urgency = 0")
            db.execute("DELETE FROM rules")
            db.execute("INSERT OR REPLACE INTO notes VALUES ('order', ?)", (order,))

    def add(self, entries: Sequence[Entry]) -> None:
        """Queue addresses that no page brought (sitemaps that robots.txt names)."""
        self._begin()
        self._db.executemany(INSERT, entries)

    def take(self, per_host: int) -> Entry | None:
        """Hand out the next address: sites take turns, in a site its hosts; on a host what is most urgent first.

        What is equally urgent comes from the side with the fewest pages; then breadth first.

        Addresses that look like a trap come after all others of their host.

        Parameters
        ----------
        per_host : int
            Addresses in flight to one host at most.

        Returns
        -------
        Entry or None
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
        return Entry(*row)

    def limit_host(self, host: str, room: int | None) -> None:
        """Let at most ``room`` addresses of a host be in flight, until this ledger is closed; None: no limit."""
        self._begin()
        self._db.execute("UPDATE hosts SET room = ? WHERE host = ?", (1_000_000 if room is None else room, host))

    def has_more(self) -> bool:
        """Return whether anything is queued for a site that has not ended."""
        row = self._db.execute("SELECT 1 FROM sites WHERE queued > 0 AND ended = '' LIMIT 1").fetchone()
        return row is not None

    def known(self, site: str) -> int:
        """Return how many pages of a site are fetched or queued."""
        row = self._db.execute("SELECT done + flight + queued FROM sites WHERE site = ?", (site,)).fetchone()
        return row[0] if row else 0

    def settle(self, entry: Entry, outcome: Outcome, links: Iterable[Entry] = ()) -> None:
        """Book what became of an address, and the links that it brought, in one transaction.

        An outcome ``queued`` puts the address back, as ``entry`` spells it: a redirect that only rewrites its query
        leads to the same key.
        """
        db = self._db
        self._begin()
        db.execute(SETTLE, (*outcome, entry.url, entry.hops, entry.side, entry.key))
        if self._pairs:
            book_pairwise(db, entry, outcome.state == "done", links)
        else:
            db.executemany(INSERT, links)
        now = time.monotonic()
        gap = now - self._seen.get(entry.site, now)
        self._seen[entry.site] = now
        db.execute(SPEND, {**self._budget, "gap": gap, "site": entry.site})
        if outcome.archive is not None:
            db.execute("UPDATE archives SET stop = ? WHERE name = ?", (outcome.stop, outcome.archive))
        db.execute("COMMIT")

    def counts(self) -> Counts:
        """Count the addresses by state."""
        return _counts(self._db)

    def archives(self) -> dict[str, int]:
        """Return the archives, and up to which byte each is known."""
        return dict(self._db.execute("SELECT name, stop FROM archives ORDER BY name"))

    def book_archive(self, name: str, stop: int) -> None:
        """Book an archive, before its file is made, and its length when it is closed or cut."""
        if self._db.in_transaction:
            self._db.execute("COMMIT")
        self._db.execute("INSERT OR REPLACE INTO archives VALUES (?, ?)", (name, stop))

    def lose_archive(self, name: str, size: int) -> int:
        """Queue the pages again that an archive of ``size`` bytes does not hold; return where its last record ends.

        This is for a machine that went down, or a file that somebody removed: a killed process leaves archives at least
        as long as the ledger says.
        """
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        db.execute(LOSE, (name, size))
        stop: int = db.execute("SELECT coalesce(max(stop), 0) FROM frontier WHERE archive = ?", (name,)).fetchone()[0]
        db.execute("UPDATE archives SET stop = ? WHERE name = ?", (stop, name))
        db.execute("COMMIT")
        return stop

    def finish(self, note: str) -> None:
        """Note that the crawl came to its end, and how: ``complete``, ``page-limit`` or ``budget``."""
        self._begin()
        self._db.execute(
            "UPDATE frontier SET state = 'aside', reason = 'not-needed' WHERE kind = 'sitemap' AND state = 'queued'"
        )
        self._db.execute("INSERT OR REPLACE INTO notes VALUES ('finished', ?)", (note,))
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the file; what was taken and not settled goes back into the queue."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._db.close()

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")


def ledger_counts(folder: Path) -> Counts:
    """Count the addresses of the crawl in ``folder`` by state; all zero when it has no ledger yet."""
    try:
        with _reader(folder) as db:
            return _counts(db)
    except (MissingStageError, RunError):  # not made yet; or broken, which the crawler will say
        return Counts()


def ledger_rejects(folder: Path) -> Iterator[Reject]:
    """Yield every address that the crawl in ``folder`` knows of and has no page of, redirects and sitemaps apart.

    Addresses still queued come with the limit that ended their site (``budget-pages``, ``budget-bytes``,
    ``budget-minutes``) or the crawl (``page-limit``), and with ``interrupted`` when it was stopped. A folder without a
    ledger has no rejects.
    """
    if not (folder / LEDGER_NAME).is_file():
        return
    with _reader(folder) as db:
        for row in db.execute(
            "SELECT url, 'crawl', iif(state = 'rejected', reason, coalesce(nullif(ended, ''), ?)), detail"
            " FROM frontier JOIN sites USING (site)"
            " WHERE state NOT IN ('done', 'moved', 'aside') AND kind = 'page' ORDER BY id",
            (_left_over(db),),
        ):
            yield Reject(*row)


def ledger_summary(folder: Path) -> LedgerSummary:
    """Summarise the crawl in ``folder``.

    Raises
    ------
    MissingStageError
        If the folder holds no ledger.
    """
    with _reader(folder) as db:
        return LedgerSummary(_counts(db), _reasons(db), finished=_note(db, "finished") is not None)


def ledger_tally(folder: Path) -> dict[str, int]:
    """Count the dropped addresses of the crawl in ``folder`` by reason, the most frequent first; cheap at any size."""
    try:
        with _reader(folder) as db:
            return dict(db.execute(_TALLY))
    except (MissingStageError, RunError):
        return {}


def ledger_langs(folder: Path) -> dict[str, int]:
    """Count the pages of the crawl in ``folder`` by the language that they declare (``und``: none), most first."""
    try:
        with _reader(folder) as db:
            return dict(db.execute(_LANGS))
    except (MissingStageError, RunError):
        return {}


def ledger_sites(folder: Path, limit: int = -1) -> list[SiteCounts]:
    """Return the sites of the crawl in ``folder``, those with the most pages first; at most ``limit``, -1 for all."""
    try:
        with _reader(folder) as db:
            return [SiteCounts(*row) for row in db.execute(_SITES, (limit,))]
    except (MissingStageError, RunError):
        return []


def ledger_report(folder: Path) -> dict[str, Any]:
    """Return the crawl in ``folder`` as plain values, for ``crawl.json``.

    Raises
    ------
    MissingStageError
        If the folder holds no ledger.
    """
    with _reader(folder) as db:
        counts = _counts(db)
        rejects = _by_site(db, "SELECT site, reason, n FROM tally WHERE n > 0 ORDER BY site, n DESC, reason")
        langs = _by_site(db, "SELECT site, iif(lang = '', 'und', lang), n FROM langs WHERE n > 0 ORDER BY site, n DESC")
        sites = [asdict(SiteCounts(*row)) for row in db.execute(_SITES, (-1,))]
        sitemaps = db.execute(
            "SELECT iif(state = 'aside', iif(reason = '', 'read', reason), state), count(*)"
            " FROM frontier WHERE kind = 'sitemap' GROUP BY 1 ORDER BY 1"
        )
        suspects = db.execute("SELECT suspect, count(*) FROM frontier WHERE suspect <> '' GROUP BY 1 ORDER BY 1")
        return {
            "end": _note(db, "finished") or "interrupted",
            "pages": counts.done,
            "redirects": counts.moved,
            "queued": counts.queued + counts.flight,
            "rejected": counts.rejected,
            "bytes": counts.bytes,
            "langs": dict(db.execute(_LANGS)),
            "rejects": _reasons(db),
            "sitemaps": dict(sitemaps),
            "suspects": dict(suspects),
            "unwanted": dict(zip(("pages", "put_last"), db.execute(_UNWANTED, (UNWANTED,)).fetchone(), strict=True)),
            "sites": [
                {**site, "langs": langs.get(site["site"], {}), "rejects": rejects.get(site["site"], {})}
                for site in sites
            ],
        }


def ledger_failures(folder: Path, limit: int = 3) -> list[Reject]:
    """Return the first addresses that gave no page, redirects (reason ``moved``) with them.

    They say why a crawl found nothing.
    """
    with _reader(folder) as db:
        rows = db.execute(
            "SELECT url, 'crawl', iif(state = 'moved', state, reason), detail FROM frontier"
            " WHERE state IN ('rejected', 'moved') AND kind = 'page' ORDER BY state = 'moved', depth, id LIMIT ?",
            (limit,),
        )
        return [Reject(*row) for row in rows]


@contextmanager
def _reader(folder: Path) -> Iterator[sqlite3.Connection]:
    path = folder / LEDGER_NAME
    if not path.is_file():
        raise MissingStageError(f"{folder}: no crawl here (no {LEDGER_NAME}); crawl first")
    try:
        # Not mode=ro: a connection that may not write leaves SQLite's two helper files behind.
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True)) as db:
            yield db
    except sqlite3.Error as error:
        raise RunError(f"{path}: not a usable ledger ({error}); crawl into a new folder") from error


def _counts(db: sqlite3.Connection) -> Counts:
    return Counts(*db.execute("SELECT queued, flight, done, moved, rejected, bytes FROM total").fetchone())


_TALLY = "SELECT reason, sum(n) FROM tally GROUP BY reason HAVING sum(n) > 0 ORDER BY 2 DESC, 1"
_LANGS = "SELECT iif(lang = '', 'und', lang), sum(n) FROM langs GROUP BY 1 HAVING sum(n) > 0 ORDER BY 2 DESC, 1"
_UNWANTED = """
SELECT (SELECT count(*) FROM frontier WHERE state = 'done' AND side = ?1),
    (SELECT count(*) FROM frontier WHERE state = 'queued' AND urgency < 0)
"""
_SITES = """
SELECT site, done, moved, queued + flight, rejected, bytes, round(seconds, 3), iif(queued + flight > 0, ended, '')
FROM sites
ORDER BY done DESC, site LIMIT ?
"""


def _by_site(db: sqlite3.Connection, query: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for site, name, n in db.execute(query):
        found.setdefault(site, {})[name] = n
    return found


def _reasons(db: sqlite3.Connection) -> dict[str, int]:
    """Count what has no page by reason, with what a limit left over."""
    reasons = dict(db.execute(_TALLY))
    left = db.execute(
        "SELECT coalesce(nullif(ended, ''), ?), count(*) FROM frontier JOIN sites USING (site)"
        " WHERE state IN ('queued', 'flight') AND kind = 'page' GROUP BY 1",
        (_left_over(db),),
    )
    return {**reasons, **dict(left)}


def _bound(budget: Budget) -> dict[str, float]:
    return {name: _UNLIMITED if value is None else value for name, value in budget._asdict().items()}


def _note(db: sqlite3.Connection, name: str) -> str | None:
    row = db.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def _left_over(db: sqlite3.Connection) -> str:
    return "page-limit" if _note(db, "finished") == "page-limit" else "interrupted"
