"""What a crawl knows: every question to its ledger, also while the crawl writes it.

`Questions` are the questions; `FrontierReader` asks them about the crawl in a folder, and `Frontier` answers them, too.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Literal, ParamSpec, Self, TypeVar
from urllib.parse import quote

import msgspec
from msgspec.structs import asdict

from twinlink.errors import MissingStageError, RunError
from twinlink.rejects import Reject
from twinlink.run_files import LEDGER_NAME
from twinlink.spiders.frontier.bodies import known_starts, ledger_version, note, visit_number
from twinlink.spiders.frontier.faults import broken_ledger, usable
from twinlink.spiders.frontier.partners import UNWANTED
from twinlink.spiders.frontier.records import Counts, LedgerSummary, SiteCounts
from twinlink.spiders.frontier.schema import VERSION

__all__ = ["FrontierReader", "Questions", "so_far"]

T = TypeVar("T")
P = ParamSpec("P")
Q = TypeVar("Q", bound="Questions")

# Without those that have a page of an earlier visit: that one is kept.
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
_LATEST = """
SELECT bodies.url, coalesce(frontier.archive, ''), coalesce(frontier.start, 0) FROM bodies JOIN frontier USING (id)
WHERE bodies.archive <> '' ORDER BY date DESC, bodies.id DESC LIMIT ?
"""
_LANGS = "SELECT iif(lang = '', 'und', lang), sum(n) FROM langs GROUP BY 1 HAVING sum(n) > 0 ORDER BY 2 DESC, 1"
_UNWANTED = """
SELECT 'pages', count(*) FROM frontier WHERE state = 'done' AND side = ?1
UNION ALL SELECT 'put_last', count(*) FROM frontier WHERE state = 'queued' AND urgency = -1
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
_WITHOUT_PAGES = "SELECT count(*) FROM sites WHERE done = 0 AND queued + flight = 0"
_FAILURES = """
SELECT url, 'crawl', iif(state = 'moved', state, reason), detail FROM frontier
WHERE state IN ('rejected', 'moved') AND kind = 'page' ORDER BY state = 'moved', depth, id LIMIT ?
"""
_SITE_TALLY = "SELECT site, reason, n FROM tally WHERE n > 0 ORDER BY site, n DESC, reason"
_SITE_LANGS = "SELECT site, iif(lang = '', 'und', lang), n FROM langs WHERE n > 0 ORDER BY site, n DESC"
_SITEMAPS = """
SELECT iif(state IN ('aside', 'rejected'), iif(reason = '', 'read', reason), state), count(*)
FROM frontier WHERE kind = 'sitemap' GROUP BY 1 ORDER BY 1
"""
_KEYS = {
    "all": "SELECT key FROM frontier",
    "requested": "SELECT key FROM frontier WHERE state IN ('done', 'moved', 'aside') OR status IS NOT NULL",
    "pages": "SELECT key FROM frontier WHERE state = 'done'",
}
_SUSPECTS = "SELECT suspect, count(*) FROM frontier WHERE suspect <> '' GROUP BY 1 ORDER BY 1"


def _of_one_moment(question: Callable[Concatenate[Q, P], T]) -> Callable[Concatenate[Q, P], T]:
    """Let a question with several parts be answered as of one moment."""

    @wraps(question)
    def ask(self: Q, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._moment():
            return question(self, *args, **kwargs)

    return ask


class Questions(ABC):
    """What a crawl knows: counts, reports, addresses."""

    _db: sqlite3.Connection

    @_of_one_moment
    def counts(self) -> Counts:
        """Count the addresses by state."""
        row = self._db.execute("SELECT queued, flight, done, moved, rejected, bytes FROM total").fetchone()
        return msgspec.convert(row, Counts)

    @_of_one_moment
    def tally(self) -> dict[str, int]:
        """Count the dropped addresses by reason, the most frequent first; cheap at any size."""
        return self._numbers(_TALLY)

    @_of_one_moment
    def reasons(self) -> dict[str, int]:
        """Count what has no page by reason, with what a limit left over."""
        return {**self.tally(), **self._numbers(_OPEN, self._left_over())}

    @_of_one_moment
    def langs(self) -> dict[str, int]:
        """Count the pages by the language that they declare (``und``: none), most first; cheap at any size."""
        return self._numbers(_LANGS)

    @_of_one_moment
    def latest(self, limit: int) -> list[tuple[str, str, int]]:
        """Return the pages that were fetched last, the newest first: address, archive, and place of the response."""
        return msgspec.convert(list(self._db.execute(_LATEST, (limit,))), list[tuple[str, str, int]])

    @_of_one_moment
    def sites(self, limit: int = -1) -> list[SiteCounts]:
        """Return the sites, those with the most pages first; at most ``limit``, -1 for all."""
        cursor = self._db.cursor()
        cursor.row_factory = sqlite3.Row
        return msgspec.convert([dict(row) for row in cursor.execute(_SITES, (limit,))], list[SiteCounts])

    @_of_one_moment
    def n_without_pages(self) -> int:
        """Count the sites that gave no page and have no address queued."""
        return self._number(_WITHOUT_PAGES)

    @_of_one_moment
    def ended(self) -> dict[str, int]:
        """Count the sites that a budget has ended before all was fetched, by that budget."""
        return self._numbers(_ENDED)

    @_of_one_moment
    def again(self) -> dict[str, int]:
        """Count the pages by what the latest visit found; empty when there was but one.

        ``unchanged``, ``changed``, ``new``, ``gone``; ``kept``: the visit failed, and the page of an earlier one is
        kept; ``open``: not visited again.
        """
        visit = visit_number(self._db)
        if visit == 1:
            return {}
        found = self._numbers("SELECT found, count(*) FROM bodies WHERE visit = ? GROUP BY 1", visit)
        rest = "SELECT 'open', count(*) FROM bodies WHERE visit < ? AND archive <> ''"
        names = ("unchanged", "changed", "new", "gone", "kept")
        return {**{name: found.get(name, 0) for name in names}, **self._numbers(rest, visit)}

    @_of_one_moment
    def starts(self) -> list[str]:
        """Return the start pages."""
        return known_starts(self._db)

    @_of_one_moment
    def end(self) -> str:
        """Return how the crawl ended; ``interrupted`` if it did not.

        ``complete``; ``later``: nothing is queued, but servers were busy, and the next crawl asks them again;
        ``page-limit``; ``budget``.
        """
        return note(self._db, "finished") or "interrupted"

    @_of_one_moment
    def wait(self) -> str:
        """Return why the crawl waits, as last recorded by a crawl at work; empty: it does not."""
        return note(self._db, "wait") or ""

    def rejects(self) -> Iterator[Reject]:
        """Yield every address that the crawl knows of and has no page of, redirects and sitemaps apart.

        Addresses still queued come with the limit that ended their site (``budget-pages``, ``budget-bytes``,
        ``budget-minutes``, ``budget-failures``) or the crawl (``page-limit``), and with ``interrupted`` when it was
        stopped; those that have a page of an earlier visit do not come, for that one is kept.
        """
        with self._moment():
            for row in self._db.execute(_REJECTS, (self._left_over(),)):
                yield msgspec.convert(row, Reject)

    @_of_one_moment
    def keys(self, which: Literal["all", "requested", "pages"]) -> set[str]:
        """Return the keys of the addresses that the crawl knows, has requested, or has a page of."""
        return set(self._texts(_KEYS[which]))

    @_of_one_moment
    def failures(self, limit: int = 3) -> list[Reject]:
        """Return the first addresses that gave no page, redirects (reason ``moved``) with them.

        They say why a crawl found nothing.
        """
        return msgspec.convert(list(self._db.execute(_FAILURES, (limit,))), list[Reject])

    @_of_one_moment
    def summary(self) -> LedgerSummary:
        """Summarise the crawl."""
        return LedgerSummary(self.counts(), self.reasons(), finished=note(self._db, "finished") is not None)

    @_of_one_moment
    def report(self) -> dict[str, Any]:
        """Return the crawl as plain values, for ``crawl.json``."""
        counts = self.counts()
        rejects, langs = self._by_site(_SITE_TALLY), self._by_site(_SITE_LANGS)
        return {
            "end": self.end(),
            "pages": counts.done,
            "redirects": counts.moved,
            "queued": counts.queued + counts.flight,
            "rejected": counts.rejected,
            "bytes": counts.bytes,
            "langs": self.langs(),
            "rejects": self.reasons(),
            **({"visit": visit_number(self._db), "again": again} if (again := self.again()) else {}),
            "sitemaps": self._numbers(_SITEMAPS),
            "suspects": self._numbers(_SUSPECTS),
            "unwanted": self._numbers(_UNWANTED, UNWANTED),
            "sites": [
                {**asdict(one), "langs": langs.get(one.site, {}), "rejects": rejects.get(one.site, {})}
                for one in self.sites()
            ],
        }

    @abstractmethod
    def _moment(self) -> AbstractContextManager[object]:
        """Return a context that keeps the ledger open during a query."""

    def _left_over(self) -> str:
        return "page-limit" if note(self._db, "finished") == "page-limit" else "interrupted"

    def _number(self, query: str) -> int:
        return msgspec.convert(self._db.execute(query).fetchone()[0], int)

    def _numbers(self, query: str, *given: object) -> dict[str, int]:
        """Return counts by their names."""
        return msgspec.convert(dict(self._db.execute(query, given)), dict[str, int])

    def _texts(self, query: str, *given: object) -> list[str]:
        return [text for (text,) in msgspec.convert(list(self._db.execute(query, given)), list[tuple[str]])]

    def _by_site(self, query: str) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        for site, name, n in msgspec.convert(list(self._db.execute(query)), list[tuple[str, str, int]]):
            found.setdefault(site, {})[name] = n
        return found


class FrontierReader(Questions):
    """The ledger of a crawl, to be read; each answer is of one moment, and within ``with`` all are of the same.

    Parameters
    ----------
    folder : Path
        Folder of the crawl.

    Raises
    ------
    MissingStageError
        If the folder holds no ledger.
    RunError
        By each question, if it is damaged, of another version, or cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LEDGER_NAME
        if not self._path.is_file():
            raise MissingStageError(f"{folder}: no crawl here (no {LEDGER_NAME}); crawl first")
        self._stack: ExitStack | None = None

    def __enter__(self) -> Self:
        """Open the file."""
        with ExitStack() as stack:
            stack.enter_context(usable(self._path))
            # Not mode=ro: a connection that may not write leaves SQLite's two helper files behind.
            address = f"file:{quote(str(self._path))}?mode=rw"
            self._db = stack.enter_context(closing(sqlite3.connect(address, uri=True, isolation_level=None)))
            if (version := ledger_version(self._db)) != VERSION:
                raise broken_ledger(self._path, f"it is of version {version}, expected {VERSION}")
            self._db.execute("BEGIN")
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Close the file; what SQLite cannot read becomes a `RunError`."""
        assert self._stack is not None
        stack, self._stack = self._stack, None
        return stack.__exit__(kind, error, trace)

    def _moment(self) -> AbstractContextManager[object]:
        return self if self._stack is None else nullcontext()


def so_far(folder: Path, question: Callable[[FrontierReader], T], otherwise: T) -> T:
    """Ask about a crawl that may have no ledger yet, or a broken one, which the crawler will say: then ``otherwise``.

    >>> so_far(Path("nowhere"), FrontierReader.tally, {})
    {}
    """
    try:
        return question(FrontierReader(folder))
    except (MissingStageError, RunError):
        return otherwise
