"""Routes of the link graph: a page, its partner, and their neighbours."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from twinlink.review.app.answers import show, state_of
from twinlink.review.app.filters import page_number
from twinlink.review.views.neighbourhood import around, draw

__all__ = ["routes"]

_FOUND_SHOWN = 12
_FIRST_SHOWN = 5


def search(request: Request) -> Response:
    """Show a search for a page."""
    run = state_of(request).session.run
    text = request.query_params.get("q", "").strip()[:200]
    found = run.read(lambda tables: tables.find(text, "", _FOUND_SHOWN)) if text else ()
    best = run.pairs["page_a"].head(_FIRST_SHOWN).tolist()
    first = run.read(lambda tables: [page for page in map(tables.page, best) if page])
    return show(request, "review_graph.html", nav="graph", text=text, found=found, first=first, page=None)


def explore(request: Request) -> Response:
    """Show the neighbours of a page and its partner."""
    run = state_of(request).session.run
    number = page_number(request.path_params["page"])
    facing = page_number(request.query_params.get("facing", ""))
    shown = None if number is None else run.read(lambda tables: around(tables, number, facing))
    if shown is None:
        raise HTTPException(404, "There is no such page in this run.")
    page_id = shown.page.page_id
    partners = run.read(lambda tables: [page for page in map(tables.page, tables.partners(page_id)) if page])
    return show(
        request,
        "review_graph.html",
        nav="graph",
        page=shown.page,
        shown=shown,
        picture=draw(shown, lambda page_id: f"/graph/{page_id}"),
        partners=partners,
        text="",
        found=(),
        first=(),
    )


routes = [Route("/graph", search), Route("/graph/{page}", explore)]
