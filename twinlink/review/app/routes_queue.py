"""Routes of the queue of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import msgspec
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from twinlink.labels.book import Label
from twinlink.labels.precision import MAX_INTERVAL_WIDTH
from twinlink.review.app.answers import Notice, go_to, show, state_of
from twinlink.review.app.filters import SHOWN, Selection, part_number, selection_of
from twinlink.review.app.listing import Listing, Session
from twinlink.review.reading.orders import ORDERS
from twinlink.wording import DOUBTS

__all__ = ["pair_path", "path_of_row", "routes"]

_ON_A_PAGE = 25

_ORDER_WORDS = {
    "teach": "most informative first",
    "doubt": "most doubtful first",
    "random": "at random: best for the estimate",
    "site": "by site",
    "reason": "by reason for doubt",
    "probable": "most probable first",
}
_SHOWN_WORDS = {"": "all", "open": "without a label", "accept": "accepted", "reject": "rejected"}


class QueueEntry(msgspec.Struct, frozen=True):
    """A line of the queue."""

    place: int
    path: str
    url_a: str
    url_b: str
    title_a: str
    title_b: str
    lang_a: str
    lang_b: str
    probability: float | None
    doubt: str
    """Why it may be wrong, in words; empty: no special reason."""
    n_alike: int
    """Size of the larger group of near-duplicates of its pages; 1: they have none."""
    label: Label | None


def start(request: Request) -> Response:
    """Redirect to the queue, or to the live view if there are no pairs yet."""
    return go_to("/live" if state_of(request).session.run.pairs.empty else "/queue")


def queue(request: Request) -> Response:
    """Show a part of the queue."""
    session = state_of(request).session
    listing, selection = session.listing(), selection_of(request.query_params)
    rows = listing.rows(selection)
    n_pages = max(ceil(len(rows) / _ON_A_PAGE), 1)
    page = min(part_number(request.query_params.get("page", "")), n_pages)
    first = (page - 1) * _ON_A_PAGE
    return show(
        request,
        "review_queue.html",
        nav="queue",
        selection=selection,
        entries=_entries(session, listing, selection, rows[first : first + _ON_A_PAGE].tolist(), first),
        n_rows=len(rows),
        page=page,
        n_pages=n_pages,
        progress=listing.progress(selection),
        orders={by: _ORDER_WORDS[by] for by in ORDERS},
        shown={name: _SHOWN_WORDS[name] for name in SHOWN},
        sites=listing.table.sites,
        lang_pairs=listing.table.lang_pairs,
        is_narrowed=bool(selection.site or selection.langs),
        widest_told=MAX_INTERVAL_WIDTH,
    )


def _entries(
    session: Session, listing: Listing, selection: Selection, rows: Sequence[int], first: int
) -> list[QueueEntry]:
    pages = [page for row in rows for page in listing.table.ends(row)]
    titles, sizes = session.run.read(lambda tables: (tables.titles(pages), tables.group_sizes(pages)))
    n_alike = map(max, sizes[::2], sizes[1::2])
    parts = zip(rows, listing.table.records(rows), titles[::2], titles[1::2], n_alike, strict=True)
    return [
        QueueEntry(
            place=place,
            path=path_of_row(listing, row, selection),
            url_a=pair["url_a"],
            url_b=pair["url_b"],
            title_a=title_a,
            title_b=title_b,
            lang_a=pair["lang_a"],
            lang_b=pair["lang_b"],
            probability=listing.table.probability(row),
            doubt=DOUBTS.get(listing.reason(row), ""),
            n_alike=alike,
            label=listing.label(pair["url_a"], pair["url_b"]),
        )
        for place, (row, pair, title_a, title_b, alike) in enumerate(parts, first + 1)
    ]


def pair_path(page_a: int, page_b: int, selection: Selection, **more: str) -> str:
    """Return the address of a pair."""
    return f"/pair/{page_a}/{page_b}{replace(selection, show='').query(**more)}"


def path_of_row(listing: Listing, row: int, selection: Selection) -> str:
    """Return the address of a row's pair."""
    page_a, page_b = listing.table.ends(row)
    return pair_path(page_a, page_b, selection)


def next_pair(request: Request) -> Response:
    """Redirect to the first pair without a label."""
    state, selection = state_of(request), selection_of(request.query_params)
    listing = state.session.listing()
    row = listing.next_open(selection)
    if row is None:
        state.notices.append(Notice("All of these pairs have a label."))
        return go_to("/queue" + selection.query())
    return go_to(path_of_row(listing, row, selection))


routes = [Route("/", start), Route("/queue", queue), Route("/next", next_pair)]
