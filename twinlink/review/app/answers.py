"""Shared by the routes: the application's state, reading forms, and answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import msgspec
import pandas as pd
from jinja2 import Environment
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from twinlink.review.app.filters import Selection, page_number
from twinlink.review.app.listing import Session
from twinlink.review.app.pace import Pace
from twinlink.review.app.security import Entrance, has_token
from twinlink.review.app.watch import Watch
from twinlink.review.report.data import Chart

__all__ = ["AppState", "Notice", "go_to", "pages_in", "posting", "show", "show_error", "state_of"]

_MOST_FORM_BYTES = 64_000
_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 40

Form = Mapping[str, str]


class Notice(msgspec.Struct, frozen=True):
    """A message at the top of the next page."""

    text: str
    kind: str = "good"
    can_undo: bool = False


@dataclass
class AppState:
    """State of the application, shared by its routes."""

    session: Session
    entrance: Entrance
    templates: Environment
    watch: Watch = field(default_factory=Watch)
    pace: Pace = field(default_factory=Pace)
    charts: tuple[str, pd.DataFrame | None, Sequence[Chart]] = ("", None, ())
    """Site, pairs of the run, and charts of the links that were shown last."""
    report: tuple[str, str] = ("", "")
    """Stamp and text of the report that was shown last."""
    notices: deque[Notice] = field(default_factory=lambda: deque(maxlen=3))
    """Messages that have not been shown yet."""


def state_of(request: Request) -> AppState:
    """Return the state of the application that received a request."""
    state: AppState = request.app.state.review
    return state


def show(request: Request, template: str, status: int = 200, **context: Any) -> Response:
    """Return a page."""
    state = state_of(request)
    is_read = request.method == "GET" and status == 200 and not _is_part(request)
    notices = _taken(state.notices) if is_read else []
    text = state.templates.get_template(template).render(
        token=state.entrance.token,
        who=state.session.who,
        run=state.session.run.name,
        notices=notices,
        here=request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        **{"selection": Selection(), "nav": "", **context},
    )
    return HTMLResponse(text, status)


def _taken(notices: deque[Notice]) -> list[Notice]:
    """Take all messages, of which another thread may take some at the same time."""
    taken: list[Notice] = []
    with suppress(IndexError):
        while True:
            taken.append(notices.popleft())
    return taken


def _is_part(request: Request) -> bool:
    """Return whether htmx asks for a part of a page, such as the live view that updates itself."""
    return "hx-request" in request.headers and "hx-boosted" not in request.headers


def show_error(request: Request, status: int, title: str, text: str) -> Response:
    """Return a page with an error and a link to continue."""
    return show(request, "review_error.html", status, title=title, text=text, has_entered=_has_entered(request))


def _has_entered(request: Request) -> bool:
    return state_of(request).entrance.has_entered(request.headers.get("cookie", ""))


def go_to(path: str) -> Response:
    """Redirect the browser to another page of the application, after a form."""
    if not path.startswith("/") or path.startswith(("//", "/\\")):
        path = "/"
    return RedirectResponse(path, 303)


def pages_in(request: Request) -> tuple[int, int]:
    """Return the two page numbers in a path.

    Raises
    ------
    HTTPException
        404 if one of them is not a page number.
    """
    return _page(request.path_params["a"]), _page(request.path_params["b"])


def _page(text: str) -> int:
    number = page_number(text)
    if number is None:
        raise HTTPException(404, "There is no such page in this run.")
    return number


def posting(answer: Callable[[Request, Form], Response]) -> Callable[[Request], Any]:
    """Wrap a function that takes a form as a route, which reads the form and checks its token first."""

    async def route(request: Request) -> Response:
        try:
            form = await _form(request)
        except ClientDisconnect:  # the browser has closed the connection
            return Response(status_code=400)
        if not has_token(state_of(request).entrance, form.get("token", ""), request.headers):
            raise HTTPException(
                403, "This form belongs to another server, or the server was restarted. Load the page again."
            )
        return await run_in_threadpool(answer, request, form)

    return route


async def _form(request: Request) -> Form:
    """Read a form of limited length."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != _FORM:
        raise HTTPException(415, f"A form of type {_FORM} was expected.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MOST_FORM_BYTES:
            raise HTTPException(413, "The form is too long.")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise HTTPException(400, "The form cannot be read.") from error
    return dict(pairs)
