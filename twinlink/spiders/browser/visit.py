"""One page in the browser: its requests, its time limit, and the HTML that its scripts build."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from twinlink.pages.decoding import decode

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page, Request, Route

MAX_PARTS = 200
"""Requests of one page that are answered; further ones are refused."""
MAX_MOVES = 20
"""Navigations that one page may attempt."""

_QUIET = 0.5  # seconds without a request and without a new element until a page counts as built
_POLL = 0.1
_PATIENCE = 10.0  # seconds for what the browser does by itself
_SLACK = 4  # a page whose parts wait for slow hosts gets so many times its time

# The two kinds that texts and links come from. Style sheets are answered with nothing: some scripts wait for them.
_FETCHED = frozenset(("script", "xhr", "fetch"))
_DROPPED = frozenset(
    "content-encoding content-length content-disposition transfer-encoding connection keep-alive set-cookie link"
    " alt-svc".split()
)
_SENT = re.compile(r"accept|referer|origin|content-type|authorization|x-.*", re.IGNORECASE)
# Text is read in an isolated world, where the page's scripts cannot change what functions do.
_COUNT = "[document.readyState, document.getElementsByTagName('*').length]"
_WRITE = """(() => {
  const type = document.doctype ? '<!DOCTYPE ' + document.doctype.name + '>' : '';
  const html = type + (document.documentElement ? document.documentElement.outerHTML : '');
  if (html.length > %d) return null;
  return [html, document.characterSet, document.querySelector('base[href]') ? '' : document.baseURI];
})()"""
_HEAD = re.compile(r"<head(?:\s[^>]*)?>", re.IGNORECASE)
# Encodings that browsers also write the queries of a page's links in, by their names, and Python's.
_CODECS = {"big5": "big5hkscs", "gbk": "gb18030", "gb18030": "gb18030", "shift_jis": "cp932", "euc-jp": "euc_jp",
           "euc-kr": "cp949", "windows-1251": "cp1251", "windows-1252": "cp1252", "koi8-r": "koi8-r"}  # fmt: skip
_LABELS = {"utf-8": "utf-8"} | {codec: label for label, codec in _CODECS.items()}


class BrowserError(Exception):
    """A page could not be built.

    Attributes
    ----------
    reason : str
        ``needs-browser`` (the browser does not run), ``browser-failed`` or ``too-large``.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class Answer(NamedTuple):
    """A response of a server, without its content encoding."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class PartRequest(NamedTuple):
    """A request of a page that is being built: a script, or data that a script asks for; always GET."""

    url: str
    headers: tuple[tuple[str, str], ...]


class Built(NamedTuple):
    """A page as its scripts left it."""

    body: bytes
    content_type: str
    n_parts: int
    """Requests that were answered."""
    n_refused: int
    """Requests that were refused, without pictures, fonts and style sheets."""


Fetch = Callable[[PartRequest], Awaitable[Answer | None]]
"""Answers a request of a page; None refuses it."""


class Visit:
    """One page, from its opening to its text; the parameters are those of `Browser` and of its method ``build``."""

    def __init__(self, url: str, answer: Answer, fetch: Fetch, timeout: float, delay: float, max_bytes: int) -> None:
        self._url = url
        self._answer: Answer | None = _labelled(answer)  # until it was given
        self._fetch = fetch
        self._timeout = timeout
        self._delay = delay
        self._max_bytes = max_bytes
        self._page: Page | None = None
        self._n_waiting = 0  # requests that are being answered
        self._n_parts = 0
        self._n_refused = 0
        self._changed = time.monotonic()  # when it last asked for something, or got it, or grew
        self._moves: dict[str, None] = {}

    async def run(self, context: BrowserContext) -> Built:
        """Build the page in a new browser context; exceptions of Playwright and asyncio are passed on unchanged."""
        await context.route("**/*", self._answer_request)
        await context.add_init_script("window.open = () => null; window.print = () => {};")
        self._page = page = await asyncio.wait_for(context.new_page(), _PATIENCE)
        await page.goto(self._url, wait_until="commit", timeout=1000 * self._timeout)
        world = await self._world(context, page)
        await self._settle(world)
        written = await asyncio.wait_for(world(_WRITE % self._max_bytes), _PATIENCE)
        if written is None:
            raise BrowserError("too-large", "built by scripts")
        html, charset, base = written
        body, charset = _encoded(self._marked(html, base), charset)
        if len(body) > self._max_bytes:
            raise BrowserError("too-large", "built by scripts")
        return Built(body, f"text/html; charset={charset}", self._n_parts, self._n_refused)

    async def _world(self, context: BrowserContext, page: Page) -> Callable[[str], Awaitable[Any]]:
        """Return a function that evaluates expressions beside the page's own scripts."""
        session: CDPSession = await asyncio.wait_for(context.new_cdp_session(page), _PATIENCE)
        tree = await asyncio.wait_for(session.send("Page.getFrameTree"), _PATIENCE)
        frame = {"frameId": tree["frameTree"]["frame"]["id"], "worldName": "reader"}

        async def evaluate(expression: str) -> Any:
            world = await session.send("Page.createIsolatedWorld", frame)  # the same again while the document is
            place = {"contextId": world["executionContextId"], "returnByValue": True}
            result = await session.send("Runtime.evaluate", {"expression": expression, **place})
            return result["result"].get("value")

        return evaluate

    async def _settle(self, world: Callable[[str], Awaitable[Any]]) -> None:
        """Wait until the page is quiet, or its time is over."""
        began = self._changed = time.monotonic()
        size: object = None
        while time.monotonic() < began + min(self._timeout + self._delay * self._n_parts, _SLACK * self._timeout):
            state, now = await asyncio.wait_for(world(_COUNT), self._timeout)
            if self._n_waiting or state != "complete" or now != size:
                self._changed, size = time.monotonic(), now
            if time.monotonic() > self._changed + _QUIET:
                return
            await asyncio.sleep(_POLL)

    async def _answer_request(self, route: Route, request: Request) -> None:
        from playwright.async_api import Error

        with suppress(Error):  # the page is gone
            if request.is_navigation_request():
                await self._navigate(route, request)
            elif request.resource_type == "stylesheet":
                await route.fulfill(status=200, content_type="text/css", body="")
            elif request.resource_type in _FETCHED:
                await self._answer_part(route, request)
            else:
                await route.abort()

    async def _navigate(self, route: Route, request: Request) -> None:
        """Answer the navigation to the page; record other navigations and refuse them."""
        answer, self._answer = self._answer, None
        if answer is not None:
            await route.fulfill(status=answer.status, headers=_kept(answer.headers), body=answer.body)
            return
        is_main = request.frame.parent_frame is None and request.frame.page == self._page
        if is_main and request.method == "GET" and len(self._moves) < MAX_MOVES:
            self._moves[request.url] = None
        await route.fulfill(status=204)

    async def _answer_part(self, route: Route, request: Request) -> None:
        answer: Answer | None = None
        self._changed = time.monotonic()
        if request.method == "GET" and request.url.startswith(("http://", "https://")) and self._n_parts < MAX_PARTS:
            self._n_parts += 1
            self._n_waiting += 1
            try:
                sent = {name: value for name, value in request.headers.items() if _SENT.fullmatch(name)}
                answer = await self._fetch(PartRequest(request.url, tuple(sorted(sent.items()))))
            finally:
                self._n_waiting -= 1
                self._changed = time.monotonic()
        if answer is None:
            self._n_refused += 1
            await route.abort()
        else:
            await route.fulfill(status=answer.status, headers=_kept(answer.headers), body=answer.body)

    def _marked(self, html: str, base: str) -> str:
        """Add elements to the page for a navigation that its scripts tried, and for the base of its links."""
        marks = [f'<meta http-equiv="refresh" content="0; url={escape(move)}">' for move in self._moves]
        if base and base.partition("#")[0] != self._url:
            marks.insert(0, f'<base href="{escape(base)}">')
        head = _HEAD.search(html)
        place = head.end() if head else 0
        return f"{html[:place]}{''.join(marks)}{html[place:]}" if marks else html


def _labelled(answer: Answer) -> Answer:
    """Make the browser decode a page as `decode` does, and as HTML: a wrong label would destroy its text."""
    content_type = next((value for name, value in answer.headers if name.lower() == "content-type"), "")
    text, charset = decode(answer.body, content_type)
    label = _LABELS.get(charset)
    others = tuple(pair for pair in answer.headers if pair[0].lower() != "content-type")
    body = answer.body if label else text.encode("utf-8", "replace")
    return Answer(answer.status, (*others, ("content-type", f"text/html; charset={label or 'utf-8'}")), body)


def _kept(headers: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return the headers that still hold for a body which is whole; repeated ones joined."""
    kept: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        if key not in _DROPPED:
            kept[key] = f"{kept[key]}, {value}" if key in kept else value
    return kept


def _encoded(html: str, charset: str) -> tuple[bytes, str]:
    """Encode a page: as it was served where that says how the queries of its links are written, else in UTF-8."""
    codec = _CODECS.get(charset.lower())
    if codec is not None:
        return html.encode(codec, "xmlcharrefreplace"), charset.lower()
    return html.encode("utf-8", "replace"), "utf-8"
