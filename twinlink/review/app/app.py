"""The web application in which a reviewer labels pairs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from twinlink.errors import TwinlinkError
from twinlink.labels.book import LabelBook
from twinlink.review.app import (
    routes_files,
    routes_graph,
    routes_labels,
    routes_live,
    routes_pair,
    routes_queue,
)
from twinlink.review.app.answers import AppState, go_to, show_error, state_of
from twinlink.review.app.listing import Session
from twinlink.review.app.security import HEADERS, Entrance, refused
from twinlink.review.reading.run_view import RunView
from twinlink.review.templating import environment

__all__ = ["make_app"]

_TITLES = {
    400: "Invalid request",
    403: "Refused",
    404: "Not found",
    405: "Method not allowed",
    413: "Too long",
    415: "Form expected",
}
_STARLETTES_WORDS = {
    "Not Found": "There is nothing at this address.",
    "Method Not Allowed": "This address does not accept this method.",
}
_STEPPING = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><title>twinlink</title>'
_STEPPING += '<p><a href="/">Go to the run</a></p>'


def make_app(run: RunView, labels: LabelBook, who: str, port: int) -> Starlette:
    """Return the application.

    Parameters
    ----------
    run : RunView
        The run to review.
    labels : LabelBook
        Its labels.
    who : str
        Name of the reviewer, stored with each label.
    port : int
        Port of 127.0.0.1 on which the application is served; requests to any other host or port are refused. 0: not
        known yet, see `twinlink.review.app.serve.serve`.

    Returns
    -------
    Starlette
        Its ``state.review.entrance.address`` is the address to open first.
    """
    parts = (routes_queue, routes_pair, routes_labels, routes_live, routes_graph, routes_files)
    app = _Closed(
        routes=[Route("/enter", enter), *(route for part in parts for route in part.routes)],
        middleware=[Middleware(_Guard)],
        exception_handlers={HTTPException: on_http_error, TwinlinkError: on_own_error, Exception: on_bug},
    )
    app.state.review = AppState(Session(run, labels, who), Entrance(port), _templates())
    return app


@cache
def _templates() -> Environment:
    """Return the templates, compiled once per process."""
    return environment()


class _Closed(Starlette):
    """An application that adds the security headers to every answer, also to errors."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return

        async def send_closed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await super().__call__(scope, receive, send_closed)


class _Guard:
    """Middleware that answers refused requests."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        refusal = refused(state_of(request).entrance, scope["method"], scope["path"], _plain(request.headers))
        if refusal is None:
            await self.app(scope, receive, send)
        else:
            answer = show_error(request, refusal.status, refusal.title, refusal.text)
            await answer(scope, receive, send)


def _plain(headers: Headers) -> Mapping[str, str]:
    """Return headers by name; repeated ones are joined, so that they do not match any expected value."""
    joined: dict[str, str] = {}
    for name, value in headers.items():
        joined[name] = f"{joined[name]}, {value}" if name in joined and name != "cookie" else value
    return joined


def enter(request: Request) -> Response:
    """Set the access cookie for a browser that has the key, and redirect it to the start page.

    A browser that comes from another site would not send a strict cookie with a redirect, so it gets a page that
    reloads itself.
    """
    entrance = state_of(request).entrance
    if not entrance.opens(request.query_params.get("key", "")):
        raise HTTPException(403, "This key is not valid. Open the address that twinlink review has printed.")
    came_by_itself = request.headers.get("sec-fetch-site", "none") in {"none", "same-origin"}
    answer = go_to("/") if came_by_itself else HTMLResponse(_STEPPING)
    answer.set_cookie(entrance.cookie, entrance.key, path="/", httponly=True, samesite="strict")
    return answer


def on_http_error(request: Request, error: Exception) -> Response:
    """Return a page about an invalid request."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    text = error.detail if isinstance(error, HTTPException) else ""
    text = _STARLETTES_WORDS.get(text, text)
    return show_error(request, status, _TITLES.get(status, "Error"), text)


def on_own_error(request: Request, error: Exception) -> Response:
    """Return a page about an error of the run or the labels."""
    return show_error(request, 500, "Error", str(error))


def on_bug(request: Request, error: Exception) -> Response:
    """Return a page about a bug; the terminal shows its traceback."""
    text = (
        f"This is a bug in twinlink ({type(error).__name__}); the terminal shows the traceback. All labels are stored."
    )
    return show_error(request, 500, "Internal error", text)
