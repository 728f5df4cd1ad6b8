"""Route of the report, with links to the pairs in the review."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from twinlink.errors import MissingStageError
from twinlink.review.app.answers import state_of
from twinlink.review.report.document import report_policy
from twinlink.review.report.stage import report_in_review, report_stamp

__all__ = ["routes"]


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


routes = [Route("/report", report)]
