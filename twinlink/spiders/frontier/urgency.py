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
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from twinlink.spiders.frontier.partners import UNWANTED, difference, swap
from twinlink.spiders.frontier.schema import ADD
from twinlink.urls import page_key

if TYPE_CHECKING:
    from twinlink.spiders.frontier.records import FrontierEntry

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
"""It timed out, or its server asked for a long pause; it is requested again when nothing else is queued."""

UNLIKELY = -3
"""By all that is known it brings nothing new: its page was fetched under another session id, or addresses of its form
have failed again and again."""

_MAX_RULES = 4
_MAX_SAME = 8  # addresses of one place that are looked at


# Puts the queued addresses of a form last, or back.
URGE_FORM = f"""
UPDATE frontier SET urgency = iif(:is_last, {UNLIKELY}, {PLAIN})
WHERE state = 'queued' AND site = :site AND host = :host AND kind = 'page'
    AND (urgency = {UNLIKELY}) <> :is_last AND form(url) = form(:url)
"""  # noqa: S608  (our own names)


class _Rule(NamedTuple):
    """How the addresses of partners differ on a site, see `difference`."""

    before: str
    after: str
    side: int
    """Of addresses with ``after``; 0: not known."""


class _Known(NamedTuple):
    """An address in the ledger that may be the partner of a page."""

    id: int
    url: str
    state: str
    side: int


class _Link(NamedTuple):
    """An address that a link has brought or changed."""

    id: int
    url: str
    side: int
    place: int
    urgency: int
    state: str


_RULES = f"SELECT {', '.join(_Rule._fields)} FROM rules WHERE site = ? ORDER BY n DESC LIMIT ?"  # noqa: S608  (our own names)
_LEARN = """
INSERT INTO rules VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET n = n + 1, side = iif(side = 0, excluded.side, side)
"""
_KNOWN = f"SELECT {', '.join(_Known._fields)} FROM frontier"  # noqa: S608  (our own names)
BY_KEY = f"{_KNOWN} WHERE key = ? AND kind = 'page'"
# Said to be no 0, for otherwise SQLite must not use the index, which leaves these out.
BY_PLACE = f"{_KNOWN} WHERE place = ? AND place <> 0 AND id <> ? LIMIT ?"
_RAISE = f"""
UPDATE frontier SET urgency = ? WHERE id = ? AND state = 'queued' AND urgency < ? AND urgency <> {UNLIKELY}
"""  # noqa: S608  (our own names)
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
RETURNING {", ".join(_Link._fields)}
"""


def book_pairwise(db: sqlite3.Connection, page: FrontierEntry, done: bool, links: Iterable[FrontierEntry]) -> None:
    """Queue the links of a page, and raise the urgency of its likely partners.

    Parameters
    ----------
    db : sqlite3.Connection
        The ledger, inside a transaction; ``page`` is recorded already.
    page : FrontierEntry
        Where the links are from; its ``side`` is the one that was found, its ``place`` that in the ledger.
    done : bool
        Whether it is a page that was fetched.
    links : iterable of FrontierEntry
        Those with urgency `SURE` lead to the page's partners.
    """
    rules = [_Rule._make(row) for row in db.execute(_RULES, (page.site, _MAX_RULES * 2))]
    if done and page.side != UNWANTED:
        _meet(db, page, rules)
    fresh = []
    for link in links:
        if done and link.urgency == SURE:  # a redirect keeps the urgency of its address
            _learn(db, page, link.url, link.side)
        row = db.execute(_INSERT, link).fetchone()
        if row:
            fresh.append(_Link._make(row))
    for brought in fresh:
        if brought.state == "queued" and brought.urgency not in (UNLIKELY, LAST, SURE):
            _weigh(db, rules, brought)


def _meet(db: sqlite3.Connection, page: FrontierEntry, rules: Sequence[_Rule]) -> None:
    """Raise the urgency of likely partners of a fetched page, and learn from partners that were fetched before."""
    paired = False
    for rule in rules:
        other = _at_address(db, swap(page.url, rule.before, rule.after))
        if other is None or not _opposite(page.side, other.side):
            continue
        if other.state == "done":
            paired = True
            _learn(db, page, other.url, other.side)
        else:
            db.execute("UPDATE frontier SET place = ? WHERE id = ? AND state = 'queued'", (page.place, other.id))
            db.execute(_RAISE, (SURE, other.id, SURE))
    if paired or not page.place:
        return
    own = db.execute("SELECT id FROM frontier WHERE key = ?", (page.key,)).fetchone()[0]
    for other in _at_place(db, page.place, own):
        if other.state == "done" and _opposite(page.side, other.side):
            _learn(db, page, other.url, other.side)
        elif other.state != "done" and other.side != UNWANTED:  # a guess, and often that of a page that was misjudged
            db.execute(_RAISE, (_SAME_PLACE, other.id, _SAME_PLACE))


def _weigh(db: sqlite3.Connection, rules: Sequence[_Rule], link: _Link) -> None:
    """Find the likely partners of a new address, and raise its urgency and that of queued partners."""
    best, side = link.urgency, link.side
    for rule in rules:
        address = swap(link.url, rule.before, rule.after)
        if not address:
            continue
        side = rule.side or side
        if other := _at_address(db, address):
            best = max(best, _with(db, other, SURE))
    if link.place and best < _SAME_PLACE:
        for other in _at_place(db, link.place, link.id):
            if other.side != UNWANTED:
                best = max(best, _with(db, other, _SAME_PLACE))
    if best != link.urgency or side != link.side:
        db.execute("UPDATE frontier SET urgency = ?, side = ? WHERE id = ?", (best, side, link.id))


def _at_address(db: sqlite3.Connection, url: str) -> _Known | None:
    """Return what the ledger knows of an address; None for an empty one, too."""
    row = db.execute(BY_KEY, (page_key(url),)).fetchone() if url else None
    return _Known._make(row) if row else None


def _at_place(db: sqlite3.Connection, place: int, but: int) -> list[_Known]:
    """Return addresses of a place, all but one."""
    return [_Known._make(row) for row in db.execute(BY_PLACE, (place, but, _MAX_SAME)).fetchall()]


def _with(db: sqlite3.Connection, other: _Known, fetched: int) -> int:
    """Return the urgency of an address by the state of its likely partner; ``fetched``: that of a fetched one."""
    if other.state == "done":
        return fetched
    if other.state in ("queued", "flight"):
        db.execute(_RAISE, (_PROMISING, other.id, _PROMISING))
        return _PROMISING
    return PLAIN


def _opposite(side: int, other: int) -> bool:
    return UNWANTED not in (side, other) and (side != other or side == 0)


def _learn(db: sqlite3.Connection, page: FrontierEntry, other: str, side: int) -> None:
    """Store the difference of the addresses of two partners, in both directions."""
    if side == UNWANTED:
        return
    found = difference(page.url, other)
    if found:
        db.execute(_LEARN, (page.site, *found, page.side))
        db.execute(_LEARN, (page.site, *reversed(found), side))
