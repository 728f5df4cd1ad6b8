"""Ledger of guessed addresses: requests, responses and verdicts, on disk.

A crawl of chosen addresses (`twinlink.spiders.crawling.crawl_chosen`) fetches them. Its answers lie in the run's
archive, but count as pages only when they have been judged: until then, and when the verdict is another one than
``found``, `guess_rejects` counts them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import msgspec

from twinlink.rejects import Reject
from twinlink.run_files import CHOSEN_LEDGER, LEDGER_NAME
from twinlink.spiders.frontier.faults import usable
from twinlink.spiders.frontier.reading import FrontierReader
from twinlink.spiders.frontier.records import Body, FrontierEntry, Outcome
from twinlink.spiders.frontier.writing import Frontier
from twinlink.urls import page_key

_SCHEMA = """
CREATE TABLE IF NOT EXISTS guesses (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    site TEXT NOT NULL,
    page TEXT NOT NULL,
    rule TEXT NOT NULL,
    credibility REAL NOT NULL,
    lang TEXT NOT NULL,
    page_lang TEXT NOT NULL,
    kind TEXT NOT NULL,
    hops INTEGER NOT NULL,
    outcome TEXT NOT NULL DEFAULT '',
    detail TEXT NOT NULL DEFAULT ''
)
"""
WAITING = ("queued", "flight")
"""States in the ledger of an address without a response."""


class Guessed(NamedTuple):
    """An address that is requested."""

    url: str
    site: str
    page: str
    """Address of the page whose partner it may be."""
    rule: str
    """As displayed."""
    credibility: float
    lang: str
    """Language that the response should have, empty: not known."""
    page_lang: str
    """Language of the page, empty: not known."""
    kind: str = "guess"
    """guess; or probe: made up, to see the response of the site to a wrong address."""
    hops: int = 0
    """Redirects that led there."""


_ADD = f"""
INSERT OR IGNORE INTO guesses (key, {", ".join(Guessed._fields)}) VALUES (?, {", ".join("?" * len(Guessed._fields))})
"""  # noqa: S608  (our own names)


class Answer(NamedTuple):
    """A guess and its response."""

    guess: Guessed
    outcome: str
    """Verdict, empty: not judged yet."""
    detail: str
    state: str
    """State in the ledger: done, moved, rejected; queued: not requested yet."""
    reason: str
    said: str
    """Detail of the reason in the ledger."""
    archive: str
    """Name of the archive that the response lies in, empty: in none."""


class GuessBook:
    """The guesses of a run, open for writing; the caller holds the lock of the run.

    Parameters
    ----------
    folder : Path
        The run directory. Its ledger for guesses is created if needed.

    Raises
    ------
    RunError
        If the file is not such a ledger, or cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / CHOSEN_LEDGER
        self._path = path
        with usable(path):
            with closing(Frontier(path)):
                pass
            self._db = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._db.execute(_SCHEMA)

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self._db.close()

    def add(self, guesses: Iterable[Guessed]) -> int:
        """Add guesses to request, best first; return the number of new ones."""
        before = self._db.total_changes
        rows = [(page_key(guess.url), *guess) for guess in guesses]
        with usable(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany(_ADD, rows)
            self._db.execute("COMMIT")
        return self._db.total_changes - before

    def answers(self) -> list[Answer]:
        """Return all guesses in the order in which they came."""
        with usable(self._path):
            return _answers(self._db)

    def n_answered(self) -> int:
        """Return the number of responses so far; fast, also during the crawl."""
        with usable(self._path):
            row = self._db.execute("SELECT count(*) FROM frontier WHERE state NOT IN ('queued', 'flight')").fetchone()
        return int(row[0])

    def book(self, verdicts: Iterable[tuple[str, str, str]]) -> None:
        """Record verdicts: address, outcome, detail."""
        rows = [(page_key(url), outcome, detail) for url, outcome, detail in verdicts]
        with usable(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("UPDATE guesses SET outcome = ?2, detail = ?3 WHERE key = ?1", rows)
            self._db.execute("COMMIT")

    def adopt(self, folder: Path) -> int:
        """Add the pages found to the ledger of the run's ordinary crawl, if it has one; return their number.

        So a crawl does not fetch them a second time, and a repeated crawl requests them, too.
        """
        if not (folder / LEDGER_NAME).is_file():
            return 0
        with usable(self._path):
            found = self._db.cursor()
            found.row_factory = sqlite3.Row
            pages = [_page(row) for row in found.execute(_FOUND)]
            archives = dict(self._db.execute("SELECT name, stop FROM archives"))
        with usable(folder / LEDGER_NAME), closing(Frontier(folder / LEDGER_NAME)) as frontier:
            return frontier.adopt(pages, archives)


_BODY = ("archive", "stop", "url", "date", "digest", "etag", "modified")
_FOUND = f"""
SELECT g.key, f.url, f.host, f.site, f.status, f.archive, f.start, f.stop, f.bytes, f.lang,
    {", ".join(f"b.{name} AS body_{name}" for name in _BODY)}
FROM guesses AS g JOIN frontier AS f USING (key) JOIN bodies AS b ON b.id = f.id
WHERE g.outcome = 'found' AND f.state = 'done'
"""  # noqa: S608  (our own names)
_ANSWERS = f"""
SELECT {", ".join(f"g.{name}" for name in Guessed._fields)}, g.outcome, g.detail,
    coalesce(f.state, 'queued'), coalesce(f.reason, ''), coalesce(f.detail, ''), coalesce(f.archive, '')
FROM guesses AS g LEFT JOIN frontier AS f USING (key) ORDER BY g.id
"""  # noqa: S608  (our own names)


def _answers(db: sqlite3.Connection) -> list[Answer]:
    n = len(Guessed._fields)
    rows = [(row[:n], *row[n:]) for row in db.execute(_ANSWERS)]
    return msgspec.convert(rows, list[Answer])


def _page(row: sqlite3.Row) -> tuple[FrontierEntry, Outcome]:
    """Return a page that was found, for the ordinary crawl."""
    body = Body(**{name: row[f"body_{name}"] for name in _BODY})
    fetched = {name: row[name] for name in ("status", "archive", "start", "stop", "bytes", "lang")}
    entry = FrontierEntry(row["key"], row["url"], row["host"], depth=1, site=row["site"])
    return entry, Outcome("done", detail="recovered", **fetched, body=body)


def guess_rejects(folder: Path) -> Iterator[Reject]:
    """Yield every guessed address of a run whose archived response is not a page, with the reason.

    Addresses whose page the ordinary crawl has are left out.
    """
    for answer in _without_page(folder):
        if answer.state not in WAITING:
            yield Reject(answer.guess.url, "recover", answer.outcome or "not-judged", answer.detail)


def waiting_guesses(folder: Path) -> set[str]:
    """Return the guessed addresses of a run that wait for a response.

    The archive may hold one all the same: of a crawl that was killed after it wrote the response and before it recorded
    it, or that is about to end. It is requested again, and judged then.
    """
    return {answer.guess.url for answer in _without_page(folder) if answer.state in WAITING}


def _without_page(folder: Path) -> Iterator[Answer]:
    path = folder / CHOSEN_LEDGER
    if not path.is_file():
        return
    known = FrontierReader(folder).keys("pages") if (folder / LEDGER_NAME).is_file() else set()
    with usable(path), closing(sqlite3.connect(path, timeout=30)) as db:
        answers = _answers(db) if db.execute(_IS_THERE).fetchone() else []
    for answer in answers:
        if answer.outcome != "found" and page_key(answer.guess.url) not in known:
            yield answer


_IS_THERE = "SELECT 1 FROM sqlite_master WHERE name = 'guesses'"


def guess_state(folder: Path) -> str:
    """Return a digest of the verdicts; empty: there are no guesses."""
    return " ".join(f"{reject.url} {reject.reason}" for reject in guess_rejects(folder))
