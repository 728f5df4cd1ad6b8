"""Routes of files: the report, static files, pages of other sites for their frame, export of labels."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from twinlink.errors import MissingStageError
from twinlink.labels.book import export_labels
from twinlink.review.app.answers import state_of
from twinlink.review.app.filters import page_number
from twinlink.review.app.security import FRAME_POLICY
from twinlink.review.reading.snapshot import Snapshot
from twinlink.review.report.document import report_policy
from twinlink.review.report.stage import report_in_review, report_stamp
from twinlink.review.safe_html.embedding import look_offline
from twinlink.review.templating import static_text

__all__ = ["routes"]

_TYPES = {"css": "text/css", "js": "text/javascript"}
_FILES = {
    name: (static_text(name), _TYPES[name.rpartition(".")[2]])
    for name in ("base.css", "review.css", "review.js", "htmx.min.js")
}
_NOT_HELD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Not in the archives</title>
<p>The archives of this run do not contain this page (any more). The view “text” still shows its text.</p></html>"""
_EXPORTS = ("labels.tsv", "labels.gold.tsv")


def report(request: Request) -> Response:
    """Return the report; it is made again when the run or its labels have changed."""
    state = state_of(request)
    run = state.session.run
    stamp = report_stamp(run.directory)
    if state.report[0] != stamp:
        try:
            state.report = stamp, run.read(lambda _: report_in_review(run.directory))
        except MissingStageError as error:
            raise HTTPException(404, "There is no report yet: no pages have been read.") from error
    policy = f"{report_policy()}; frame-ancestors 'none'"
    return HTMLResponse(state.report[1], headers={"content-security-policy": policy})


def static(request: Request) -> Response:
    """Return a static file, by a name from a list."""
    found = _FILES.get(request.path_params["name"])
    if found is None:
        raise HTTPException(404, "There is no such file.")
    text, kind = found
    return Response(text, media_type=kind)


def icon(_: Request) -> Response:
    """Return an empty answer: there is no icon."""
    return Response(status_code=204)


def look_at(request: Request) -> Response:
    """Return the look of a page, for a sandboxed frame."""
    number = page_number(request.path_params["page"])
    run = state_of(request).session.run
    page = None if number is None else run.read(lambda tables: _look(tables, number))
    headers = {"content-security-policy": FRAME_POLICY}
    if page is None:
        return HTMLResponse(_NOT_HELD, 404, headers)
    return HTMLResponse(page, headers=headers)


def _look(tables: Snapshot, page_id: int) -> str | None:
    document = tables.document(page_id)
    return None if document is None else look_offline(document, tables.resource)


def export(request: Request) -> Response:
    """Return all labels as a file to download."""
    name = request.path_params["name"]
    if name not in _EXPORTS:
        raise HTTPException(404, "Labels can be downloaded as labels.tsv or labels.gold.tsv.")
    run_folder = state_of(request).session.labels.file.parent.parent
    with TemporaryDirectory() as folder:
        target = Path(folder) / name
        export_labels(run_folder, target)
        text = target.read_bytes()
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="text/tab-separated-values", headers=headers)


routes = [
    Route("/report", report),
    Route("/static/{name}", static),
    Route("/favicon.ico", icon),
    Route("/look/{page}", look_at),
    Route("/export/{name}", export),
]
