"""Reading the ledger of a crawl, also while the crawl writes it: counts, rejects, reports."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from twinlink.errors import MissingStageError, RunError
from twinlink.spiders.frontier.bodies import known_starts, note, visit_number
from twinlink.spiders.frontier.faults import broken_ledger, usable
from twinlink.spiders.frontier.partners import UNWANTED
from twinlink.spiders.frontier.records import LEDGER_NAME, Counts, LedgerSummary, SiteCounts
from twinlink.spiders.frontier.schema import VERSION
from twinlink.spiders.frontier.upgrade import upgrade
from twinlink.tables import Reject

__all__ = [
    "count_states",
    "ledger_again",
    "ledger_counts",
    "ledger_ended",
    "ledger_failures",
    "ledger_langs",
    "ledger_latest",
    "ledger_rejects",
    "ledger_report",
    "ledger_sites",
    "ledger_starts",
    "ledger_summary",
    "ledger_tally",
]


def ledger_counts(folder: Path) -> Counts:
    """Count the addresses of the crawl in ``folder`` by state; all zero when it has no ledger yet."""
    try:
        with _reader(folder) as db:
            return count_states(db)
    except (MissingStageError, RunError):  # not made yet; or broken, which the crawler will say
        return Counts()


def ledger_rejects(folder: Path) -> Iterator[Reject]:
    """Yield every address that the crawl in ``folder`` knows of and has no page of, redirects and sitemaps apart.

    Addresses still queued come with the limit that ended their site (``budget-pages``, ``budget-bytes``,
    ``budget-minutes``) or the crawl (``page-limit``), and with ``interrupted`` when it was stopped; those that have a
    page of an earlier visit do not come, for that one holds on. A folder without a ledger has no rejects.
    """
    if not (folder / LEDGER_NAME).is_file():
        return
    with _reader(folder) as db:
        for row in db.execute(_REJECTS, (_left_over(db),)):
            yield msgspec.convert(row, Reject)


def ledger_summary(folder: Path) -> LedgerSummary:
    """Summarise the crawl in ``folder``.

    Raises
    ------
    MissingStageError
        If the folder holds no ledger.
    """
    with _reader(folder) as db:
        return LedgerSummary(count_states(db), _reasons(db), finished=note(db, "finished") is not None)


def ledger_tally(folder: Path) -> dict[str, int]:
    """Count the dropped addresses of the crawl in ``folder`` by reason, the most frequent first; cheap at any size."""
    try:
        with _reader(folder) as db:
            return _numbers(db, _TALLY)
    except (MissingStageError, RunError):
        return {}


def ledger_langs(folder: Path) -> dict[str, int]:
    """Count the pages of the crawl in ``folder`` by the language that they declare (``und``: none), most first."""
    try:
        with _reader(folder) as db:
            return _numbers(db, _LANGS)
    except (MissingStageError, RunError):
        return {}


def ledger_latest(folder: Path, limit: int) -> list[str]:
    """Return the addresses of the pages that the crawl in ``folder`` fetched last, the newest first."""
    try:
        with _reader(folder) as db:
            return _texts(db, _LATEST, (limit,))
    except (MissingStageError, RunError):
        return []


def ledger_sites(folder: Path, limit: int = -1) -> list[SiteCounts]:
    """Return the sites of the crawl in ``folder``, those with the most pages first; at most ``limit``, -1 for all."""
    try:
        with _reader(folder) as db:
            return _sites(db, limit)
    except (MissingStageError, RunError):
        return []


def ledger_ended(folder: Path) -> dict[str, int]:
    """Count the sites of the crawl in ``folder`` that a budget has ended before all was fetched, by that budget."""
    try:
        with _reader(folder) as db:
            return _numbers(db, _ENDED)
    except (MissingStageError, RunError):
        return {}


def ledger_report(folder: Path) -> dict[str, Any]:
    """Return the crawl in ``folder`` as plain values, for ``crawl.json``.

    Raises
    ------
    MissingStageError
        If the folder holds no ledger.
    """
    with _reader(folder) as db:
        counts = count_states(db)
        rejects = _by_site(db, "SELECT site, reason, n FROM tally WHERE n > 0 ORDER BY site, n DESC, reason")
        langs = _by_site(db, "SELECT site, iif(lang = '', 'und', lang), n FROM langs WHERE n > 0 ORDER BY site, n DESC")
        sites = [asdict(site) for site in _sites(db, -1)]
        sitemaps = _numbers(
            db,
            "SELECT iif(state IN ('aside', 'rejected'), iif(reason = '', 'read', reason), state), count(*)"
            " FROM frontier WHERE kind = 'sitemap' GROUP BY 1 ORDER BY 1",
        )
        suspects = _numbers(db, "SELECT suspect, count(*) FROM frontier WHERE suspect <> '' GROUP BY 1 ORDER BY 1")
        return {
            "end": note(db, "finished") or "interrupted",
            "pages": counts.done,
            "redirects": counts.moved,
            "queued": counts.queued + counts.flight,
            "rejected": counts.rejected,
            "bytes": counts.bytes,
            "langs": _numbers(db, _LANGS),
            "rejects": _reasons(db),
            **({"visit": visit_number(db), "again": again} if (again := _again(db)) else {}),
            "sitemaps": sitemaps,
            "suspects": suspects,
            "unwanted": dict(zip(("pages", "put_last"), db.execute(_UNWANTED, (UNWANTED,)).fetchone(), strict=True)),
            "sites": [
                {**site, "langs": langs.get(site["site"], {}), "rejects": rejects.get(site["site"], {})}
                for site in sites
            ],
        }


def ledger_again(folder: Path) -> dict[str, int]:
    """Count the pages of the crawl in ``folder`` by what its latest visit found; empty when there was but one.

    ``unchanged``, ``changed``, ``new``, ``gone``; ``kept``: the visit failed, and the page of an earlier one holds on;
    ``open``: not visited again.
    """
    try:
        with _reader(folder) as db:
            return _again(db)
    except (MissingStageError, RunError):
        return {}


def ledger_starts(folder: Path) -> list[str]:
    """Return the start pages of the crawl in ``folder``.

    Raises
    ------
    MissingStageError
        If the folder holds no ledger.
    """
    with _reader(folder) as db:
        kept = known_starts(db)
        if kept is not None:
            return kept
        return _texts(db, "SELECT url FROM frontier WHERE depth = 0 AND kind = 'page' ORDER BY id")


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
        return msgspec.convert(list(rows), list[Reject])


@contextmanager
def _reader(folder: Path) -> Iterator[sqlite3.Connection]:
    path = folder / LEDGER_NAME
    if not path.is_file():
        raise MissingStageError(f"{folder}: no crawl here (no {LEDGER_NAME}); crawl first")
    # Not mode=ro: a connection that may not write leaves SQLite's two helper files behind.
    with usable(path), closing(sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True)) as db:
        if (version := upgrade(db)) != VERSION:
            raise broken_ledger(path, f"it is of version {version}, expected {VERSION}")
        yield db


def count_states(db: sqlite3.Connection) -> Counts:
    """Count the addresses of an open ledger by state."""
    row = db.execute("SELECT queued, flight, done, moved, rejected, bytes FROM total").fetchone()
    return msgspec.convert(row, Counts)


def _numbers(db: sqlite3.Connection, query: str, given: tuple[object, ...] = ()) -> dict[str, int]:
    """Return counts by their names."""
    return msgspec.convert(dict(db.execute(query, given)), dict[str, int])


def _texts(db: sqlite3.Connection, query: str, given: tuple[object, ...] = ()) -> list[str]:
    return [text for (text,) in msgspec.convert(list(db.execute(query, given)), list[tuple[str]])]


def _sites(db: sqlite3.Connection, limit: int) -> list[SiteCounts]:
    cursor = db.cursor()
    cursor.row_factory = sqlite3.Row
    return msgspec.convert([dict(row) for row in cursor.execute(_SITES, (limit,))], list[SiteCounts])


# Without those that have a page of an earlier visit: that one holds on.
_REJECTS = """
SELECT url, 'crawl', iif(state = 'rejected', reason, coalesce(nullif(ended, ''), ?)), detail
FROM frontier JOIN sites USING (site)
WHERE state NOT IN ('done', 'moved', 'aside') AND (kind = 'page' OR state = 'rejected')
    AND NOT EXISTS (SELECT 1 FROM bodies WHERE bodies.id = frontier.id AND bodies.archive <> '')
ORDER BY frontier.id
"""
_OPEN = """
SELECT coalesce(nullif(ended, ''), ?), count(*) FROM frontier JOIN sites USING (site)
WHERE state IN ('queued', 'flight') AND kind = 'page'
    AND NOT EXISTS (SELECT 1 FROM bodies WHERE bodies.id = frontier.id AND bodies.archive <> '')
GROUP BY 1
"""
_TALLY = "SELECT reason, sum(n) FROM tally GROUP BY reason HAVING sum(n) > 0 ORDER BY 2 DESC, 1"
_LATEST = "SELECT url FROM bodies WHERE archive <> '' ORDER BY date DESC, id DESC LIMIT ?"
_LANGS = "SELECT iif(lang = '', 'und', lang), sum(n) FROM langs GROUP BY 1 HAVING sum(n) > 0 ORDER BY 2 DESC, 1"
_UNWANTED = """
SELECT (SELECT count(*) FROM frontier WHERE state = 'done' AND side = ?1),
    (SELECT count(*) FROM frontier WHERE state = 'queued' AND urgency < 0)
"""
_ENDED = """
SELECT ended, count(*) FROM sites WHERE ended <> '' AND queued + flight > 0 GROUP BY 1 ORDER BY 2 DESC, 1
"""
_SITES = """
SELECT site, done AS pages, moved AS redirects, queued + flight AS queued, rejected, bytes,
    round(seconds, 3) AS seconds, iif(queued + flight > 0, ended, '') AS ended
FROM sites
ORDER BY done DESC, site LIMIT ?
"""


def _again(db: sqlite3.Connection) -> dict[str, int]:
    visit = visit_number(db)
    if visit == 1:
        return {}
    found = _numbers(db, "SELECT found, count(*) FROM bodies WHERE visit = ? GROUP BY 1", (visit,))
    open_ = db.execute("SELECT count(*) FROM bodies WHERE visit < ? AND archive <> ''", (visit,)).fetchone()[0]
    names = ("unchanged", "changed", "new", "gone", "kept")
    return {**{name: found.get(name, 0) for name in names}, "open": open_}


def _by_site(db: sqlite3.Connection, query: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for site, name, n in msgspec.convert(list(db.execute(query)), list[tuple[str, str, int]]):
        found.setdefault(site, {})[name] = n
    return found


def _reasons(db: sqlite3.Connection) -> dict[str, int]:
    """Count what has no page by reason, with what a limit left over."""
    return {**_numbers(db, _TALLY), **_numbers(db, _OPEN, (_left_over(db),))}


def _left_over(db: sqlite3.Connection) -> str:
    return "page-limit" if note(db, "finished") == "page-limit" else "interrupted"
