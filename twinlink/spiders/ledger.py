"""What a crawl knows of its addresses: which are queued, which are fetched and where they lie, which were dropped, why.

One SQLite file. An answer and the links that it brought are booked in one transaction, together with the place in the
archive up to which everything is known; so a crawl that is killed at any moment goes on from its last answer.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from twinlink.errors import MissingStageError, RunError
from twinlink.tables import Reject

__all__ = [
    "LEDGER_NAME",
    "Counts",
    "Entry",
    "Ledger",
    "LedgerSummary",
    "Outcome",
    "ledger_counts",
    "ledger_failures",
    "ledger_rejects",
    "ledger_summary",
]

LEDGER_NAME = "ledger.sqlite"

_VERSION = 1

# States: queued; flight: handed to the downloader; done: a page, in the archive; moved: a redirect, in the archive;
# rejected: dropped, `reason` says why (its answer, if there was one, is in the archive all the same).
# `hosts` counts the rows of `frontier` by triggers: progress and the choice of the next host never scan.
_SCHEMA = """
CREATE TABLE frontier (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    depth INTEGER NOT NULL,
    chain INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    status INTEGER,
    archive TEXT,
    start INTEGER,
    stop INTEGER,
    bytes INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX frontier_queue ON frontier (host, depth, id) WHERE state = 'queued';
CREATE TABLE archives (name TEXT PRIMARY KEY, stop INTEGER NOT NULL);
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE hosts (
    host TEXT PRIMARY KEY,
    queued INTEGER NOT NULL DEFAULT 0,
    flight INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    moved INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TRIGGER frontier_insert AFTER INSERT ON frontier BEGIN
    INSERT INTO hosts (host) VALUES (new.host) ON CONFLICT DO NOTHING;
    UPDATE hosts SET
        queued = queued + (new.state = 'queued'),
        rejected = rejected + (new.state = 'rejected')
    WHERE host = new.host;
END;
CREATE TRIGGER frontier_update AFTER UPDATE OF state, bytes ON frontier BEGIN
    UPDATE hosts SET
        queued = queued + (new.state = 'queued') - (old.state = 'queued'),
        flight = flight + (new.state = 'flight') - (old.state = 'flight'),
        done = done + (new.state = 'done') - (old.state = 'done'),
        moved = moved + (new.state = 'moved') - (old.state = 'moved'),
        rejected = rejected + (new.state = 'rejected') - (old.state = 'rejected'),
        bytes = bytes + new.bytes - old.bytes
    WHERE host = new.host;
END;
"""

# A link that was dropped for the way it was reached (too deep, or at the end of a long chain) counts anew when it is
# reached by a better way. Everything else that is known stays as it is.
_INSERT = """
INSERT INTO frontier (key, url, host, depth, chain, hops, state, reason, detail)
VALUES (?, ?, ?, ?, ?, ?, iif(?7 = '', 'queued', 'rejected'), ?7, ?8)
ON CONFLICT (key) DO UPDATE
    SET depth = excluded.depth, chain = excluded.chain, state = 'queued', reason = '', detail = ''
    WHERE frontier.reason IN ('depth', 'trap') AND excluded.state = 'queued'
"""

_TAKE = """
UPDATE frontier SET state = 'flight'
WHERE id = (
    SELECT id FROM frontier
    WHERE state = 'queued' AND host = (SELECT host FROM hosts WHERE queued > 0 AND flight < ? ORDER BY flight LIMIT 1)
    ORDER BY depth, id LIMIT 1
)
RETURNING key, url, host, depth, chain, hops
"""

_REQUEUE = """
UPDATE frontier SET state = 'queued', reason = '', detail = '', hops = 0
WHERE state = 'rejected' AND (
    reason = 'depth' AND depth <= :max_depth
    OR reason = 'trap' AND chain BETWEEN 0 AND :max_chain AND depth <= :max_depth
    OR reason NOT IN ('depth', 'trap') AND depth = 0 AND (SELECT coalesce(sum(done), 0) FROM hosts) = 0
)
"""

_LOSE = """
UPDATE frontier SET state = 'queued', reason = '', detail = '', hops = 0, archive = NULL, bytes = 0
WHERE archive = ? AND stop > ?
"""

_SETTLE = """
UPDATE frontier
SET state = ?, reason = ?, detail = ?, status = ?, archive = ?, start = ?, stop = ?, bytes = ?, url = ?, hops = ?
WHERE key = ?
"""


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


class Outcome(NamedTuple):
    """What became of an address that was taken."""

    state: str
    """done, moved, rejected; or queued again."""
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


class Counts(NamedTuple):
    """Addresses by state, and bytes received."""

    queued: int = 0
    flight: int = 0
    done: int = 0
    moved: int = 0
    rejected: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class LedgerSummary:
    """What a crawl came to."""

    counts: Counts
    reasons: dict[str, int]
    """Dropped addresses by reason, the most frequent first; queued ones that `max_pages` left over as `page-limit`."""
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
                db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")
            elif version != _VERSION:
                raise RunError(f"{path}: ledger of version {version}, expected {_VERSION}; crawl into a new folder")
            # NORMAL: a commit survives the death of the process at once, that of the machine after the next checkpoint.
            db.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.OperationalError:
            raise  # a full disk, a folder that is locked: the file is not to blame
        except sqlite3.DatabaseError as error:
            raise RunError(f"{path}: not a usable ledger ({error}); crawl into a new folder") from error
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE frontier SET state = 'queued' WHERE state = 'flight'")
        db.execute("DELETE FROM notes WHERE name = 'finished'")
        db.execute("COMMIT")

    def seed(self, entries: Sequence[Entry], max_depth: int, max_chain: int) -> None:
        """Add start pages, and put back into the queue what today's settings no longer drop.

        While no page at all has been fetched, start pages that failed are tried again: a second run after a broken
        network must not repeat the first one's failure from memory.
        """
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        db.executemany(_INSERT, entries)
        db.execute(_REQUEUE, {"max_depth": max_depth, "max_chain": max_chain})
        db.execute("COMMIT")

    def take(self, per_host: int) -> Entry | None:
        """Hand out the next address: breadth first, from the host that has the fewest in flight.

        Parameters
        ----------
        per_host : int
            Addresses in flight to one host at most.

        Returns
        -------
        Entry or None
            None when nothing is queued for a host that has room.
        """
        # Left uncommitted on purpose: what is taken and not settled is in the queue again after a kill either way.
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")
        row = self._db.execute(_TAKE, (per_host,)).fetchone()
        return Entry(*row) if row else None

    def settle(self, entry: Entry, outcome: Outcome, links: Iterable[Entry] = ()) -> None:
        """Book what became of an address, and the links that it brought, in one transaction.

        An outcome ``queued`` puts the address back, as ``entry`` spells it: a redirect that only rewrites its query
        leads to the same key.
        """
        db = self._db
        if not db.in_transaction:
            db.execute("BEGIN IMMEDIATE")
        db.execute(_SETTLE, (*outcome, entry.url, entry.hops, entry.key))
        db.executemany(_INSERT, links)
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
        db.execute(_LOSE, (name, size))
        stop: int = db.execute("SELECT coalesce(max(stop), 0) FROM frontier WHERE archive = ?", (name,)).fetchone()[0]
        db.execute("UPDATE archives SET stop = ? WHERE name = ?", (stop, name))
        db.execute("COMMIT")
        return stop

    def finish(self, note: str) -> None:
        """Note that the crawl came to its end, and how: ``complete`` or ``page-limit``."""
        if self._db.in_transaction:
            self._db.execute("COMMIT")
        self._db.execute("INSERT OR REPLACE INTO notes VALUES ('finished', ?)", (note,))

    def close(self) -> None:
        """Close the file; what was taken and not settled goes back into the queue."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._db.close()


def ledger_counts(folder: Path) -> Counts:
    """Count the addresses of the crawl in ``folder`` by state; all zero when it has no ledger yet."""
    try:
        with _reader(folder) as db:
            return _counts(db)
    except (MissingStageError, RunError):  # not made yet; or broken, which the crawler will say
        return Counts()


def ledger_rejects(folder: Path) -> Iterator[Reject]:
    """Yield every address that the crawl in ``folder`` knows of and has no page of, redirects apart.

    Addresses still queued come with the reason ``page-limit`` when the crawl ended there, ``interrupted`` when it was
    stopped. A folder without a ledger has no rejects.
    """
    if not (folder / LEDGER_NAME).is_file():
        return
    with _reader(folder) as db:
        left = _left_over(db)
        for url, state, reason, detail in db.execute(
            "SELECT url, state, reason, detail FROM frontier WHERE state NOT IN ('done', 'moved') ORDER BY id"
        ):
            yield Reject(url, "crawl", reason if state == "rejected" else left, detail)


def ledger_summary(folder: Path) -> LedgerSummary:
    """Summarise the crawl in ``folder``.

    Raises
    ------
    MissingStageError
        If the folder holds no ledger.
    """
    with _reader(folder) as db:
        counts = _counts(db)
        rows = db.execute(
            "SELECT reason, count(*) FROM frontier WHERE state = 'rejected' GROUP BY reason ORDER BY 2 DESC, 1"
        )
        reasons = dict(rows)
        waiting = counts.queued + counts.flight
        if waiting:
            reasons[_left_over(db)] = waiting
        return LedgerSummary(counts, reasons, finished=_note(db, "finished") is not None)


def ledger_failures(folder: Path, limit: int = 3) -> list[Reject]:
    """Return the first addresses that gave no page, redirects (reason ``moved``) with them.

    They say why a crawl found nothing.
    """
    with _reader(folder) as db:
        rows = db.execute(
            "SELECT url, 'crawl', iif(state = 'moved', state, reason), detail FROM frontier"
            " WHERE state IN ('rejected', 'moved') ORDER BY state = 'moved', depth, id LIMIT ?",
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
    row = db.execute("SELECT sum(queued), sum(flight), sum(done), sum(moved), sum(rejected), sum(bytes) FROM hosts")
    return Counts(*(value or 0 for value in row.fetchone()))


def _note(db: sqlite3.Connection, name: str) -> str | None:
    row = db.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def _left_over(db: sqlite3.Connection) -> str:
    return "page-limit" if _note(db, "finished") == "page-limit" else "interrupted"
