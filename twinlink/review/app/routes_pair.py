"""Routes of a pair: the two pages side by side, the evidence, and the rivals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from twinlink.languages import UNDETERMINED
from twinlink.review.app.answers import go_to, pages_in, show, state_of
from twinlink.review.app.evidence import Evidence, Rival, evidence_of, number, rivals_of
from twinlink.review.app.filters import VIEWS, Selection, page_number, part_number, selection_of
from twinlink.review.app.listing import Listing, Session
from twinlink.review.app.routes_queue import pair_path, path_of_row
from twinlink.review.reading.snapshot import Snapshot
from twinlink.review.records import Alike, Page
from twinlink.review.views.views import view_of
from twinlink.wording import DOUBTS

__all__ = ["ShownPair", "routes", "shown_pair"]

_FOUND_SHOWN = 12


class ShownPair(msgspec.Struct, frozen=True):
    """Two pages that are shown as a pair."""

    page_a: Page
    page_b: Page
    row: int | None
    """Their row in the pairs; None: the run did not pair them."""
    numbers: Mapping[str, Any]
    """Their measurements: columns of pairs or candidates; empty: never compared."""
    url_a: str
    url_b: str


def shown_pair(session: Session, listing: Listing, a: int, b: int) -> ShownPair:
    """Return two pages as a pair.

    Raises
    ------
    HTTPException
        404 if the run does not have both pages.
    """
    pages = session.run.read(lambda tables: [page for page in map(tables.page, (a, b)) if page])
    if len(pages) < 2 or a == b:
        raise HTTPException(404, "This run does not have both of these pages.")
    row = listing.table.row_of(a, b)
    numbers = _just_found(session, a, b) if row is None else listing.table.records([row])[0]
    first, second = (_of_lang(page, numbers.get(side)) for page, side in zip(pages, ("lang_a", "lang_b"), strict=True))
    return ShownPair(first, second, row, numbers, first.url, second.url)


def _of_lang(page: Page, lang: str | None) -> Page:
    """Return a page with the pair's language; in a run that is being matched, pages have no language yet."""
    return replace(page, lang=lang) if lang and page.lang == UNDETERMINED else page


def _just_found(session: Session, a: int, b: int) -> dict[str, Any]:
    """Return the measurements of a pair that the running match has found; empty: it has not."""
    pairs = session.run.live().pairs
    found = pairs[(pairs["page_a"] == a) & (pairs["page_b"] == b)]
    return {name: found[name].iloc[0] for name in found.columns} if len(found) else {}


def pair(request: Request) -> Response:
    """Show a pair."""
    session = state_of(request).session
    listing, selection = session.listing(), selection_of(request.query_params)
    a, b = pages_in(request)
    if listing.table.row_of(a, b) is None and listing.table.row_of(b, a) is not None:
        return go_to(pair_path(b, a, selection))
    shown = shown_pair(session, listing, a, b)
    previous, following, place, n_rows = (
        (None, None, 0, 0) if shown.row is None else listing.around(selection, shown.row)
    )
    instead, part = _instead(request), part_number(request.query_params.get("part", ""))
    return show(
        request,
        "review_pair.html",
        nav="queue",
        selection=selection,
        pair=shown,
        label=listing.label(shown.url_a, shown.url_b),
        previous=None if previous is None else path_of_row(listing, previous, selection),
        following=None if following is None else path_of_row(listing, following, selection),
        place=place,
        n_rows=n_rows,
        progress=listing.progress(selection),
        instead=instead,
        back=pair_path(*instead, selection) if instead else "",
        views_named=VIEWS,
        view=session.run.read(lambda tables: view_of(tables, shown.page_a, shown.page_b, selection.view, part)),
        **_judging(session, listing, shown),
        **_search(request, session, shown),
        look_alikes=session.run.read(lambda tables: _look_alikes(tables, shown, selection)),
    )


def _judging(session: Session, listing: Listing, shown: ShownPair) -> dict[str, Any]:
    """Return the evidence for the pair, and its rivals."""
    a, b = shown.page_a, shown.page_b
    table = session.run.read(lambda tables: tables.rivals(a.page_id, b.page_id))
    rivals = rivals_of(table, a.page_id, b.page_id)
    records = [dict(zip(table.columns, row, strict=True)) for row in table.itertuples(index=False, name=None)]
    own = next((row for row, rival in zip(records, rivals, strict=True) if rival.is_this), {})
    best = next((row for row, rival in zip(records, rivals, strict=True) if not rival.is_this), None)
    numbers = shown.numbers or own
    lang_a, lang_b = (str(numbers.get(f"lang_{side}", page.lang)) for side, page in (("a", a), ("b", b)))
    weights = session.run.read(lambda tables: tables.weights(a.site, lang_a, lang_b))
    below = listing.table.share_below if len(listing.pairs) else None
    evidence: list[Evidence] = evidence_of(numbers, weights, best, below)
    others: list[Rival] = [rival for rival in rivals if not rival.is_this]
    return {
        "evidence": evidence,
        "rivals": others,
        "score": number(numbers, "score"),
        "probability": number(numbers, "probability"),
        "doubt": "" if shown.row is None else DOUBTS.get(listing.reason(shown.row), ""),
    }


class _Group(msgspec.Struct, frozen=True):
    """The near-duplicates of one of the two pages, for display."""

    n_pages: int
    n_paired: int
    others: list[tuple[str, str]]
    """Some of the others: address in the review, and name."""

    @property
    def n_more(self) -> int:
        """Number of others that are not listed."""
        return self.n_pages - 1 - len(self.others)


def _look_alikes(tables: Snapshot, shown: ShownPair, selection: Selection) -> dict[str, _Group]:
    """Return the groups of near-duplicates of the two pages by side, with links to pairs."""
    found = {}
    for side, page, other in (("a", shown.page_a, "lang_b"), ("b", shown.page_b, "lang_a")):
        facing = str(shown.numbers.get(other, shown.page_b.lang if side == "a" else shown.page_a.lang))
        group = tables.look_alikes(page.page_id, facing)
        if group is not None:
            named = [(_alike_path(each, side, selection), each.title or each.url) for each in group.others]
            found[side] = _Group(group.n_pages, group.n_paired, named)
    return found


def _alike_path(each: Alike, side: str, selection: Selection) -> str:
    """Return the address of a near-duplicate's pair, or of its links if it has no partner."""
    if each.partner is None:
        return f"/graph/{each.page_id}"
    ends = (each.page_id, each.partner) if side == "a" else (each.partner, each.page_id)
    return pair_path(*ends, selection)


def _search(request: Request, session: Session, shown: ShownPair) -> dict[str, Any]:
    """Return the pages found in a search for another partner."""
    text = request.query_params.get("q", "").strip()[:200]
    side = "a" if request.query_params.get("side") == "a" else "b"
    own = {shown.page_a.page_id, shown.page_b.page_id}
    lang = shown.page_a.lang if side == "a" else shown.page_b.lang
    found = session.run.read(lambda tables: tables.find(text, lang, _FOUND_SHOWN + 1)) if text else ()
    return {"text": text, "side": side, "found": [page for page in found if page.page_id not in own][:_FOUND_SHOWN]}


def _instead(request: Request) -> tuple[int, int] | None:
    """Return the pair that this one may replace."""
    first, _, second = request.query_params.get("instead", "").partition(".")
    a, b = page_number(first), page_number(second)
    return None if a is None or b is None else (a, b)


routes = [Route("/pair/{a}/{b}", pair)]
