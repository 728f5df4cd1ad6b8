"""Places of pages in the archives, and repeated visits: the part of the ledger that outlives a visit.

A finished crawl can be repeated: all addresses that it requested go back into the queue in one transaction. Their pages
remain known, so that nothing is lost if the visit is aborted or fails for a temporary reason.
"""

from __future__ import annotations

import re
import sqlite3

import msgspec

from twinlink.spiders.frontier.records import Body, Outcome

_VISIT = re.compile(r"[1-9]\d{0,8}")
VISIT_AGAIN = 4
"""Urgency of addresses that are requested again: they come before new ones, so that a limit of pages keeps them."""

# Except addresses that were dropped without a request, because of the address or the link to it.
_AGAIN = """
UPDATE frontier SET state = 'queued', reason = '', detail = '', hops = 0, bytes = 0, urgency = ?
WHERE state IN ('done', 'moved', 'aside') OR state = 'rejected' AND (
    status IS NOT NULL OR reason NOT IN (
        'not-html', 'excluded', 'trap', 'depth', 'nofollow', 'redirect-loop', 'too-many-links'
    )
)
"""
# Reasons without a status that hold for good; all others without one are failures that may pass.
_FOR_GOOD = frozenset(("robots", "too-large", "private-address", "blocked-port"))
_PASSING = frozenset((304, 408, 425, 429))  # 304: said of a page that was requested without conditions
_NOT_BUILT = frozenset(("needs-browser", "browser-failed"))  # the response came, but not what scripts make of it

_BODY = [name for name in Body._fields if name != "lang"]  # that one is the page's, in `frontier`
_EARLIER = f"""
SELECT {", ".join(f"bodies.{name}" for name in _BODY)}, frontier.lang FROM bodies JOIN frontier USING (id)
WHERE key = ? AND bodies.archive <> ''
"""  # noqa: S608  (our own names)
_BOOK = f"""
INSERT OR REPLACE INTO bodies (id, {", ".join(_BODY)}, visit)
SELECT id, {", ".join(f":{name}" for name in _BODY)}, :visit FROM frontier WHERE key = :key
"""  # noqa: S608  (our own names)
_KEPT = "UPDATE bodies SET found = 'kept', visit = ? WHERE id = (SELECT id FROM frontier WHERE key = ?)"
_GONE = """
UPDATE bodies SET archive = '', stop = 0, date = '', digest = '', etag = '', modified = '', found = 'gone', visit = ?
WHERE id = (SELECT id FROM frontier WHERE key = ?) AND archive <> ''
"""
_LOSE_RECORDS = """
UPDATE frontier SET state = 'queued', reason = '', detail = '', hops = 0, archive = NULL, bytes = 0
WHERE archive = ?1 AND stop > ?2
    OR state = 'done' AND id IN (SELECT id FROM bodies WHERE bodies.archive = ?1 AND bodies.stop > ?2)
"""
_END = """
SELECT max(
    (SELECT coalesce(max(stop), 0) FROM frontier WHERE archive = ?1),
    (SELECT coalesce(max(stop), 0) FROM bodies WHERE archive = ?1)
)
"""


def note(db: sqlite3.Connection, name: str) -> str | None:
    """Return a note of the ledger."""
    row = db.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
    if row and not isinstance(row[0], str):
        raise sqlite3.DataError(f"note {name!r} is no text")
    return row[0] if row else None


def known_starts(db: sqlite3.Connection) -> list[str]:
    """Return the start pages stored in a ledger; none before the first are added."""
    return msgspec.json.decode(note(db, "starts") or "[]", type=list[str])


def ledger_version(db: sqlite3.Connection) -> int:
    """Return the version of a ledger's tables; 0 for an empty file."""
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    return version


def queue_again(db: sqlite3.Connection) -> bool:
    """Queue all addresses that were requested, in one transaction; not while a crawl is open, which must be resumed.

    Returns
    -------
    bool
        Whether a new visit begins.
    """
    db.execute("BEGIN IMMEDIATE")
    is_open, is_new = db.execute(
        "SELECT queued + flight > 0, queued + flight + done + moved + rejected = 0 FROM total"
    ).fetchone()
    begins = not is_new and (not is_open or note(db, "finished") is not None)
    if begins:
        db.execute(_AGAIN, (VISIT_AGAIN,))
        db.execute("UPDATE sites SET seconds = 0, ended = '', listed = 0, listed_bytes = 0")
        db.execute("INSERT OR REPLACE INTO notes VALUES ('visit', ?)", (str(visit_number(db) + 1),))
        db.execute("DELETE FROM notes WHERE name = 'finished'")
    db.execute("COMMIT")
    return begins


def reads_whole(db: sqlite3.Connection, reading: str, visit: int) -> bool:
    """Return whether a visit asks for whole pages, for the one before read them otherwise; note how they are read.

    A ledger that does not say how is taken at its word. What was read in two ways is read anew by the next visit.
    """
    if note(db, f"reading-{visit}") not in (None, reading):
        reading = "mixed"
    db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (f"reading-{visit}", reading))
    before = note(db, f"reading-{visit - 1}")
    return before is not None and before != reading


def visit_number(db: sqlite3.Connection) -> int:
    """Return the number of the current or last visit, from 1."""
    number = note(db, "visit") or "1"
    if not _VISIT.fullmatch(number):
        raise sqlite3.DataError(f"visit {number[:20]!r}")
    return int(number)


def earlier_body(db: sqlite3.Connection, key: str) -> Body | None:
    """Return the place of the page of an address that is requested again."""
    row = db.execute(_EARLIER, (key,)).fetchone()
    return msgspec.convert(row, Body) if row else None


def keep_earlier(db: sqlite3.Connection, key: str, outcome: Outcome) -> Outcome:
    """Return the outcome to record: a temporary failure leaves the page of an earlier visit in place."""
    if outcome.state != "rejected" or not _may_pass(outcome):
        return outcome
    earlier = earlier_body(db, key)
    return outcome._replace(state="done", lang=earlier.lang) if earlier else outcome


def _may_pass(outcome: Outcome) -> bool:
    if outcome.status is None or outcome.reason in _NOT_BUILT:
        return outcome.reason not in _FOR_GOOD
    return outcome.status >= 500 or outcome.status in _PASSING


def book_body(db: sqlite3.Connection, key: str, outcome: Outcome, visit: int) -> None:
    """Record the new place of the page of an address, inside the transaction that records its outcome."""
    if outcome.state == "done" and outcome.body:
        db.execute(_BOOK, {**outcome.body._asdict(), "visit": visit, "key": key})
    elif visit > 1 and outcome.state == "done":
        db.execute(_KEPT, (visit, key))
    elif visit > 1 and outcome.state in ("moved", "rejected"):
        db.execute(_GONE, (visit, key))


def lose_bodies(db: sqlite3.Connection, name: str, size: int) -> int:
    """Queue pages that an archive of ``size`` bytes does not contain; return the end of its last record."""
    db.execute(_LOSE_RECORDS, (name, size))
    db.execute("DELETE FROM bodies WHERE archive = ? AND stop > ?", (name, size))
    stop: int = db.execute(_END, (name,)).fetchone()[0]
    return stop
