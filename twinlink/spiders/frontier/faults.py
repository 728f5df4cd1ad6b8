"""Damaged ledgers: checks before use, and errors that distinguish damage from a full disk."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import msgspec

from twinlink.errors import DamagedError, RunError
from twinlink.files import shell_word
from twinlink.run_files import LEDGER_NAME
from twinlink.spiders.frontier.bodies import known_starts, visit_number
from twinlink.spiders.frontier.records import ARCHIVE_FOLDER
from twinlink.spiders.frontier.schema import SCHEMA
from twinlink.system.disk import disk_problem

_LONGEST_PROBLEM = 200  # characters
_NOT_ITS_FAULT = frozenset(
    (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
)
_ODD_VALUES = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)
_ARCHIVE_NAME = re.compile(r"[\w-]+(\.[\w-]+)*\.warc\.gz")


def broken_ledger(path: Path, problem: object) -> DamagedError:
    """Return the error for an unusable ledger, with advice on how to save its crawl."""
    message = " ".join(str(problem).split())[:_LONGEST_PROBLEM]
    archives = path.parent / ARCHIVE_FOLDER
    if path.name != LEDGER_NAME:
        advice = f"remove {shell_word(path)}: the pages found are in the run, the others are requested again"
    elif any(archives.glob("*.warc.gz")):
        reads = f"`twinlink ingest {shell_word(archives)} -o NEW`"
        advice = f"its pages are in the archives: {reads} reads them into a new run"
    else:
        advice = "crawl into a new folder"
    return DamagedError(f"{path}: not a usable ledger ({message}); {advice}")


def ledger_error(path: Path, error: BaseException) -> RunError:
    """Return the error to raise for an error of a ledger: damage, a full disk, or another cause."""
    if problem := disk_problem(error, path):
        return RunError(f"{path}: cannot read or write the ledger: {problem}")
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NOT_ITS_FAULT:
        return RunError(f"{path}: cannot read or write the ledger ({error})")
    return broken_ledger(path, error)


@contextmanager
def usable(path: Path) -> Iterator[None]:
    """Turn errors of a damaged ledger, or of its disk, in the block into a `RunError`."""
    try:
        yield
    except (sqlite3.Error, *_ODD_VALUES) as error:
        raise ledger_error(path, error) from error


def check_ledger(db: sqlite3.Connection) -> None:
    """Raise an error for a ledger with invalid values, which could make a crawl wait forever or cut archives.

    This reads all addresses once, which takes a second per million.

    Raises
    ------
    sqlite3.DataError, msgspec.ValidationError
        With the mistake in the message.
    """
    for table, columns in _expected().items():
        fits = " AND ".join(f"typeof({name}) IN ({kinds})" for name, kinds in columns.items())
        if db.execute(f"SELECT 1 FROM {table} WHERE NOT ({fits}) LIMIT 1").fetchone():  # noqa: S608  (our own names)
            raise sqlite3.DataError(f"invalid values in table {table}")
    for problem, query in _CONTRADICTIONS.items():
        if db.execute(query).fetchone():
            raise sqlite3.DataError(problem)
    for (name,) in db.execute("SELECT name FROM archives"):
        if not _ARCHIVE_NAME.fullmatch(name):
            raise sqlite3.DataError(f"an archive is called {name!r}")
    visit_number(db)
    known_starts(db)
    if {name for (name,) in db.execute(_TRIGGERS)} != _expected_triggers():
        raise sqlite3.DataError("unexpected triggers")


_CONTRADICTIONS = {
    "no sums": "SELECT 1 WHERE (SELECT count(*) FROM total) <> 1",
    "wrong sums": """
        SELECT queued, flight, done, moved, rejected FROM total
        EXCEPT SELECT coalesce(sum(state = 'queued'), 0), coalesce(sum(state = 'flight'), 0),
            coalesce(sum(state = 'done'), 0), coalesce(sum(state = 'moved'), 0), coalesce(sum(state = 'rejected'), 0)
        FROM frontier""",
    "wrong sums of sites": """
        SELECT site, sum(state = 'queued'), sum(state = 'flight'), sum(state = 'done') FROM frontier GROUP BY 1
        EXCEPT SELECT site, queued, flight, done FROM sites""",
    "wrong sums of hosts": """
        SELECT site, host, sum(state = 'queued'), sum(state = 'flight') FROM frontier GROUP BY 1, 2
        EXCEPT SELECT site, host, queued, flight FROM hosts""",
    "sites without addresses": "SELECT 1 FROM sites WHERE queued > 0 AND site NOT IN (SELECT site FROM frontier)",
    "hosts without addresses": "SELECT site, host FROM hosts WHERE queued > 0 EXCEPT SELECT site, host FROM frontier",
    "sides that are not known": "SELECT site, side FROM frontier EXCEPT SELECT site, side FROM sides",
    "positions after the end of an archive": """
        SELECT 1 FROM archives
        WHERE stop < max(
            (SELECT coalesce(max(stop), 0) FROM frontier WHERE archive = archives.name),
            (SELECT coalesce(max(stop), 0) FROM bodies WHERE archive = archives.name)
        )""",
}
_TRIGGERS = "SELECT name FROM sqlite_master WHERE type = 'trigger'"


@cache
def _expected() -> dict[str, dict[str, str]]:
    """Return the columns of each table with the types that their values may have, as SQL."""
    kinds = {"TEXT": "'text'", "INTEGER": "'integer'", "REAL": "'real', 'integer'"}
    with closing(_empty()) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            table: {
                name: kinds[kind] + ("" if is_set or is_key else ", 'null'")
                for _, name, kind, is_set, _, is_key in db.execute(f"PRAGMA table_info({table})")
            }
            for table in tables
        }


@cache
def _expected_triggers() -> set[str]:
    with closing(_empty()) as db:
        return {name for (name,) in db.execute(_TRIGGERS)}


def _empty() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.executescript(SCHEMA)
    return db
