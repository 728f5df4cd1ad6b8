"""Routes of the link graph: a page, its partner, and their neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from twinlink.errors import MissingStageError
from twinlink.review.app.answers import show, state_of
from twinlink.review.app.filters import page_number
from twinlink.review.report.data import Chart
from twinlink.review.report.process import graph_charts
from twinlink.review.report.reading import site_graph
from twinlink.review.views.neighbourhood import around, draw

__all__ = ["routes"]

_FOUND_SHOWN = 12
_FIRST_SHOWN = 5
_SITES_NAMED = 20


def search(request: Request) -> Response:
    """Show the links of a site, and a search for a page."""
    run = state_of(request).session.run
    text = request.query_params.get("q", "").strip()[:200]
    found = run.read(lambda tables: tables.find(text, "", _FOUND_SHOWN)) if text else ()
    best = run.pairs["page_a"].head(_FIRST_SHOWN).tolist()
    first = run.read(lambda tables: [page for page in map(tables.page, best) if page])
    sites = run.pairs["site"].value_counts().index[:_SITES_NAMED].tolist()
    site = request.query_params.get("site", "") or next(iter(sites), "")
    charts = () if text else _charts_of(request, site)
    return show(
        request,
        "review_graph.html",
        nav="graph",
        text=text,
        found=found,
        first=first,
        page=None,
        site=site,
        sites=sites,
        charts=charts,
    )


def _charts_of(request: Request, site: str) -> Sequence[Chart]:
    """Return charts of the links of a site, kept as long as the pairs are the same; none while its pages are read."""
    state = state_of(request)
    run, pairs = state.session.run, state.session.run.pairs
    if state.charts[0] != site or state.charts[1] is not pairs:
        try:
            graph = run.read(lambda _: site_graph(run.directory, site))
        except MissingStageError:
            return ()
        state.charts = site, pairs, tuple(graph_charts(0, graph, 1, is_in_review=True)) if graph else ()
    return state.charts[2]


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
        charts=(),
    )


routes = [Route("/graph", search), Route("/graph/{page}", explore)]
