"""Urgency of addresses: likely partners of fetched pages come first, addresses that only unwanted pages link to last.

Everything happens in the transaction that records a page, and looks only at the page, at addresses that its links bring
for the first time, and at their likely partners; so it costs little and survives a kill.

Two addresses are likely partners when a page says so (hreflang, a link that names a language), when their addresses
differ like those of pages that were found to be partners, or when they have the same *place*: the same link, by its
number, led to them from pages of the same place. The start pages of a site have the same place, and so have pages of
which one says that the other is its partner.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

from twinlink.spiders.frontier.partners import UNWANTED, difference, swap
from twinlink.spiders.frontier.schema import ADD
from twinlink.urls import page_key

if TYPE_CHECKING:
    from twinlink.spiders.frontier.records import Entry

__all__ = ["ASKED_LATER", "LAST", "PLAIN", "SURE", "book_pairwise"]

SURE = 3
"""The partner of a fetched page, by a link or by its address."""
_SAME_PLACE = 2
"""The partner of a fetched page, by its place."""
_PROMISING = 1
"""Its likely partner is queued, too."""
PLAIN = 0
LAST = -1
"""Only pages in unwanted languages link to it, or links say that it is in one."""

ASKED_LATER = -2
"""It timed out while the crawl itself was stalled; it is requested once more when the queue is empty."""

_MAX_RULES = 4
_MAX_SAME = 8  # addresses of one place that are looked at

_RULES = "SELECT before, after, side FROM rules WHERE site = ? ORDER BY n DESC LIMIT ?"
_LEARN = """
INSERT INTO rules VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET n = n + 1, side = iif(side = 0, excluded.side, side)
"""
_BY_KEY = "SELECT id, url, state, side FROM frontier WHERE key = ? AND kind = 'page'"
# Said to be no 0, for otherwise SQLite must not use the index, which leaves these out.
_BY_PLACE = "SELECT id, url, state, side FROM frontier WHERE place = ? AND place <> 0 AND id <> ? LIMIT ?"
_RAISE = "UPDATE frontier SET urgency = ? WHERE id = ? AND state = 'queued' AND urgency < ?"
_INSERT = f"""
{ADD}
SET depth = iif(state = 'rejected', excluded.depth, depth),
    chain = iif(state = 'rejected', excluded.chain, chain),
    state = 'queued', reason = '', detail = '',
    side = iif(side = 0 OR excluded.urgency = 3, excluded.side, side),
    place = iif(place = 0 OR excluded.urgency = 3, excluded.place, place),
    urgency = max(urgency, excluded.urgency)
WHERE excluded.state = 'queued' AND (
    frontier.state = 'rejected' AND frontier.reason IN ('depth', 'trap', 'nofollow', 'too-many-links')
    OR frontier.state = 'queued' AND frontier.kind = 'page' AND (
        frontier.place = 0 AND excluded.place <> 0
        OR frontier.side = 0 AND excluded.side > 0
        OR frontier.urgency < excluded.urgency AND (frontier.urgency < 0 OR excluded.urgency = 3)
    )
)
RETURNING id, url, side, place, urgency, state
"""
_Rules = list[tuple[str, str, int]]


def book_pairwise(db: sqlite3.Connection, page: Entry, done: bool, links: Iterable[Entry]) -> None:
    """Queue the links of a page, and raise the urgency of its likely partners.

    Parameters
    ----------
    db : sqlite3.Connection
        The ledger, inside a transaction; ``page`` is recorded already.
    page : Entry
        Where the links are from; its ``side`` is the one that was found, its ``place`` that in the ledger.
    done : bool
        Whether it is a page that was fetched.
    links : iterable of Entry
        Those with urgency `SURE` lead to the page's partners.
    """
    rules: _Rules = db.execute(_RULES, (page.site, _MAX_RULES * 2)).fetchall()
    if done and page.side != UNWANTED:
        _meet(db, page, rules)
    fresh = []
    for link in links:
        if done and link.urgency == SURE:  # a redirect keeps the urgency of its address
            _learn(db, page, link.url, link.side)
        row = db.execute(_INSERT, link).fetchone()
        if row and row[-1] == "queued":
            fresh.append(row)
    for row in fresh:
        _weigh(db, rules, *row[:5])


def _meet(db: sqlite3.Connection, page: Entry, rules: _Rules) -> None:
    """Raise the urgency of likely partners of a fetched page, and learn from partners that were fetched before."""
    paired = False
    for before, after, _ in rules:
        other = swap(page.url, before, after)
        row = db.execute(_BY_KEY, (page_key(other),)).fetchone() if other else None
        if row and _opposite(page.side, row[3]):
            if row[2] == "done":
                paired = True
                _learn(db, page, row[1], row[3])
            else:
                db.execute("UPDATE frontier SET place = ? WHERE id = ? AND state = 'queued'", (page.place, row[0]))
                db.execute(_RAISE, (SURE, row[0], SURE))
    if paired or not page.place:
        return
    own = db.execute("SELECT id FROM frontier WHERE key = ?", (page.key,)).fetchone()[0]
    for row_id, url, state, side in db.execute(_BY_PLACE, (page.place, own, _MAX_SAME)).fetchall():
        if state == "done" and _opposite(page.side, side):
            _learn(db, page, url, side)
        elif state != "done" and side != UNWANTED:  # its side is a guess, and often that of a page that was misjudged
            db.execute(_RAISE, (_SAME_PLACE, row_id, _SAME_PLACE))


def _weigh(db: sqlite3.Connection, rules: _Rules, row_id: int, url: str, side: int, place: int, urgency: int) -> None:
    """Find the likely partners of a new address, and raise its urgency and that of queued partners."""
    if urgency in (LAST, SURE):
        return
    best, guess = urgency, side
    for before, after, of in rules:
        other = swap(url, before, after)
        if not other:
            continue
        guess = of or guess
        row = db.execute(_BY_KEY, (page_key(other),)).fetchone()
        if row:
            best = max(best, _with(db, row, SURE))
    if place and best < _SAME_PLACE:
        for row in db.execute(_BY_PLACE, (place, row_id, _MAX_SAME)).fetchall():
            if row[3] != UNWANTED:
                best = max(best, _with(db, row, _SAME_PLACE))
    if best != urgency or guess != side:
        db.execute("UPDATE frontier SET urgency = ?, side = ? WHERE id = ?", (best, guess, row_id))


def _with(db: sqlite3.Connection, other: tuple[int, str, str, int], fetched: int) -> int:
    """Return the urgency of an address by the state of its likely partner; ``fetched``: that of a fetched one."""
    if other[2] == "done":
        return fetched
    if other[2] in ("queued", "flight"):
        db.execute(_RAISE, (_PROMISING, other[0], _PROMISING))
        return _PROMISING
    return PLAIN


def _opposite(side: int, other: int) -> bool:
    return UNWANTED not in (side, other) and (side != other or side == 0)


def _learn(db: sqlite3.Connection, page: Entry, other: str, side: int) -> None:
    """Store the difference of the addresses of two partners, in both directions."""
    if side == UNWANTED:
        return
    found = difference(page.url, other)
    if found:
        db.execute(_LEARN, (page.site, *found, page.side))
        db.execute(_LEARN, (page.site, *reversed(found), side))
