"""Server for a web of several hosts on this machine: an HTTP proxy that responds for all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from twinlink.demo.manysites import DEAD, FAILS, REFUSES, DemoWeb, WebSite
from twinlink.demo.server import QuietHandler, QuietServer, running

__all__ = ["serve_web"]

_VARIABLES = {"http_proxy": "{}", "no_proxy": "", "NO_PROXY": ""}
"""Environment variables that make crawlers use the proxy, over any earlier values."""


class _Handler(QuietHandler):
    def __init__(self, sites: Mapping[str, WebSite], *args: Any) -> None:
        self._sites = sites
        super().__init__(*args)

    def do_GET(self) -> None:  # noqa: N802 (the name that the base class uses)
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
    server = QuietServer(("127.0.0.1", 0), partial(_Handler, {site.host: site for site in web.sites}))
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
