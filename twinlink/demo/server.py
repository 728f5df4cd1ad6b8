"""Servers on this machine: for the demo site, which behaves like a real server, and a proxy for a web of many hosts.

Redirects, pages that do not declare their charset, a calendar without end, a page of 12 MiB that has no file, gzip for
clients that accept it, and a page for addresses that lead nowhere.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from twinlink.demo.manysites import DEAD, FAILS, REFUSES, DemoWeb, WebSite
from twinlink.demo.odd import CALENDAR, MARK, REGISTER, calendar_body
from twinlink.demo.site import read_site
from twinlink.demo.values import YEAR
from twinlink.errors import InputError

__all__ = ["REGISTER_BYTES", "QuietHandler", "QuietServer", "running", "serve", "serve_web"]

REGISTER_BYTES = 12 * 2**20  # more than the largest page that a crawl takes
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")
_TYPES = {
    ".html": "text/html",
    ".htm": "text/html",
    ".pdf": "application/pdf",
    ".txt": "text/plain",
    ".xml": "application/xml",
    ".css": "text/css; charset=utf-8",
    ".png": "image/png",
}
_NOT_FOUND = "<html><head><title>404 Not Found</title></head><body><p>Not found. 找不到網頁。</p></body></html>"
_VARIABLES = {"http_proxy": "{}", "no_proxy": "", "NO_PROXY": ""}
"""Environment variables that make crawlers use the proxy, over any earlier values."""


class Answer(NamedTuple):
    """A response to a client."""

    status: int
    content_type: str = ""
    body: bytes = b""
    location: str = ""
    compress: bool = True
    """Whether the body is sent compressed to clients that accept it."""


class Pages:
    """All responses of a demo site, by path; reads the folder once, so no path can lead out of it."""

    def __init__(self, folder: Path) -> None:
        site = read_site(folder).site
        settings = json.loads((folder / "server.json").read_text(encoding="utf-8"))
        self._files = {f"/{path.relative_to(site).as_posix()}": path for path in site.rglob("*") if path.is_file()}
        self._types: Mapping[str, str] = settings["content_types"]
        self._redirects: Mapping[str, tuple[int, str]] = settings["redirects"]
        self._calendars = tuple(_shell(folder, "calendar", side) for side in (0, 1))
        self._registers = tuple(_register(_shell(folder, "register", side)) for side in (0, 1))

    def answer(self, target: str) -> Answer:
        """Answer a request target (path and query)."""
        parts = urlsplit(target)
        path = unquote(parts.path)
        if path in self._redirects:
            status, location = self._redirects[path]
            return Answer(status, location=location)
        if path in CALENDAR:
            return self._calendar(CALENDAR.index(path), parse_qs(parts.query).get("month", [f"{YEAR}-01"])[0])
        if path in REGISTER:
            side = REGISTER.index(path)
            # One comes compressed, small on the wire and large afterwards; the other is large on the wire.
            return Answer(200, _utf8("text/html"), self._registers[side], compress=side == 0)
        if path in self._files:
            file = self._files[path]
            return Answer(200, self._types.get(path) or _TYPES[file.suffix], file.read_bytes())
        return _not_found()

    def _calendar(self, side: int, month: str) -> Answer:
        found = _MONTH.fullmatch(month)
        if not found or not 1 < int(found[1]) < 9999:
            return _not_found()
        body = calendar_body(side, int(found[1]), int(found[2]))
        return Answer(200, _utf8("text/html"), self._calendars[side].replace(MARK, body).encode())


def _utf8(content_type: str) -> str:
    return f"{content_type}; charset=utf-8"


def _not_found() -> Answer:
    return Answer(404, _utf8("text/html"), _NOT_FOUND.encode())


def _shell(folder: Path, kind: str, side: int) -> str:
    return (folder / "shells" / f"{kind}_{side}.html").read_text(encoding="utf-8")


def _register(shell: str) -> bytes:
    head, rows, tail = (part.encode() for part in shell.split(MARK))
    return head + rows * (REGISTER_BYTES // len(rows) + 1) + tail


class QuietHandler(BaseHTTPRequestHandler):
    """Base class of the handlers of the demo's servers."""

    protocol_version = "HTTP/1.1"
    server_version = "demo"
    sys_version = ""
    timeout = 30  # seconds until an idle connection is given up

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name that the base class uses)
        """Log nothing: the crawler reports what it fetches."""


class _Handler(QuietHandler):
    def __init__(self, pages: Pages, *args: Any) -> None:
        self._pages = pages
        super().__init__(*args)

    def do_GET(self) -> None:
        self._send(self._pages.answer(self.path), with_body=True)

    def do_HEAD(self) -> None:
        self._send(self._pages.answer(self.path), with_body=False)

    def _send(self, answer: Answer, *, with_body: bool) -> None:
        body = answer.body
        packed = answer.compress and body and "gzip" in self.headers.get("Accept-Encoding", "")
        if packed:
            body = gzip.compress(body, compresslevel=1, mtime=0)
        self.send_response(answer.status)
        headers = {"Content-Type": answer.content_type, "Location": answer.location, "Content-Length": str(len(body))}
        for name, value in (headers | ({"Content-Encoding": "gzip"} if packed else {})).items():
            if value:
                self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body)


class QuietServer(ThreadingHTTPServer):
    """A server that does not report failed connections."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that close the connection early, as crawlers do on the large page."""


@contextmanager
def running(server: QuietServer) -> Iterator[str]:
    """Handle requests in the background while the context lasts; yield the address of the server."""
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serve(folder: Path, port: int = 0) -> Iterator[str]:
    """Serve a demo site on 127.0.0.1 while the context lasts.

    Parameters
    ----------
    folder : Path
        What `write_site` wrote.
    port : int
        0 takes any free port.

    Yields
    ------
    str
        The base address, without a slash at its end.

    Raises
    ------
    InputError
        If the folder holds no demo site, or the port cannot be used.
    """
    pages = Pages(folder)
    try:
        server = QuietServer(("127.0.0.1", port), partial(_Handler, pages))
    except (OSError, OverflowError) as error:
        raise InputError(f"port {port} of 127.0.0.1 cannot be used: {error}; port 0 takes any free one") from error
    with running(server) as base:
        yield base


class _ProxyHandler(QuietHandler):
    def __init__(self, sites: Mapping[str, WebSite], *args: Any) -> None:
        self._sites = sites
        super().__init__(*args)

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        site = self._sites.get(parts.hostname or "")
        if site is None or site.state == DEAD:
            self.close_connection = True
            return
        if parts.path == "/robots.txt":
            self._send(200, f"User-agent: *\nDisallow:{' /' if site.state == REFUSES else ''}\n", "text/plain")
        elif site.state == FAILS:
            self._send(403, "forbidden", "text/plain")
        else:
            page = site.pages.get(f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}")
            self._send(200 if page else 404, page or "not found", "text/html" if page else "text/plain")

    def _send(self, status: int, text: str, content_type: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{content_type}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serve_web(web: DemoWeb) -> Iterator[str]:
    """Serve a small web while the context lasts: crawls of this process are sent to it by ``http_proxy``.

    No name is looked up, and nothing leaves this machine; hosts that are not in the web do not answer.

    Parameters
    ----------
    web : DemoWeb
        What `make_web` made.

    Yields
    ------
    str
        The proxy's address.
    """
    server = QuietServer(("127.0.0.1", 0), partial(_ProxyHandler, {site.host: site for site in web.sites}))
    with running(server) as address:
        before = {name: os.environ.get(name) for name in _VARIABLES}
        os.environ.update({name: value.format(address) for name, value in _VARIABLES.items()})
        try:
            yield address
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
