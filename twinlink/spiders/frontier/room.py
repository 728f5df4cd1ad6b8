"""Limit of the ledger: further links of a site are dropped once its addresses have reached a size."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twinlink.spiders.frontier.records import FrontierEntry

_ROOM = "SELECT ? - address_bytes FROM sites WHERE site = ?"
_KNOWN = "SELECT 1 FROM frontier WHERE key = ? AND reason <> 'too-many-links'"
_SAID = "SELECT n FROM tally WHERE site = ? AND reason = 'too-many-links'"

MAX_SAID = 1_000
"""Dropped links that stand in the ledger for those of a site: they take up room themselves."""


def with_room(db: sqlite3.Connection, links: Iterable[FrontierEntry], limit: int) -> Iterator[FrontierEntry]:
    """Yield the links for which the ledger has room, one by one while they are recorded; those that it knows need none.

    Behind them comes one for each site that had no room for some: it is dropped, and says how many it stands for. Once
    there are `MAX_SAID` of a site, no more come.

    Parameters
    ----------
    db : sqlite3.Connection
        The ledger, inside the transaction that records them.
    links : iterable of FrontierEntry
        As a page or a sitemap brings them.
    limit : int
        Characters of the addresses of one site, and of their keys.
    """
    rooms: dict[str, int] = {}  # site → what is left, if all links so far were new
    dropped: dict[
        str, tuple[FrontierEntry, int]
    ] = {}  # site → the first link without room, and how many came behind it
    for link in links:
        size = len(link.key) + len(link.url)
        if rooms.get(link.site, 0) < size:
            rooms[link.site] = _room(db, link.site, limit)
        if rooms[link.site] >= size or db.execute(_KNOWN, (link.key,)).fetchone():
            rooms[link.site] -= size
            yield link
        else:
            first, n_behind = dropped.get(link.site, (link, -1))
            dropped[link.site] = first, n_behind + 1
    for first, n_behind in dropped.values():
        row = db.execute(_SAID, (first.site,)).fetchone()
        if row is None or row[0] < MAX_SAID:
            detail = f"it and {n_behind} links after it: the addresses of {first.site} reached {limit} bytes"
            yield first._replace(reason="too-many-links", detail=detail)


def _room(db: sqlite3.Connection, site: str, limit: int) -> int:
    row = db.execute(_ROOM, (limit, site)).fetchone()
    return row[0] if row else limit
