"""A web server on this machine for tests of the crawl: answers by path, and what was asked."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast

HTML = "text/html; charset=utf-8"


@dataclass
class Answer:
    body: bytes = b""
    status: int = 200
    type: str = HTML
    headers: dict[str, str] = field(default_factory=dict)
    chunked: bool = False


def links(*hrefs: str) -> Answer:
    return Answer("".join(f"<p><a href='{href}'>{href}</a>" for href in hrefs).encode())


def redirect(location: str) -> Answer:
    return Answer(status=302, headers={"Location": location})


def keeps_pace(times: Sequence[float], delay: float) -> bool:
    """Tell whether requests came ``delay`` seconds apart, by the whole: one that is held up on its way comes late.

    The one after it then seems early, so that on a busy machine a single gap says nothing.
    """
    return times[-1] - times[0] > delay * (len(times) - 3)


class Handler(BaseHTTPRequestHandler):
    """Sends what the server's `answer` gives for a path; breaks the connection off where that is None.

    Counted and timed are all requests.
    """

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server = cast("Server", self.server)
        server.log.append(self.path)
        server.times.append(time.monotonic())
        server.agents.add(self.headers["User-Agent"])
        special = {"/robots.txt": server.robots, "/sitemap.xml": server.sitemap}
        found = special.get(self.path) or server.answer(self.path)
        server.conditions.append((self.path, self.headers["If-None-Match"], self.headers["If-Modified-Since"]))
        if found is not None and found.status == 200 and self.is_known(found):
            self.send_not_modified(found)
        elif found is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self.send_head(found)
            self.send_body(found)

    def is_known(self, found: Answer) -> bool:
        """Tell whether the client has the answer already, as RFC 9110 says: an ETag counts before a date."""
        asked, date = self.headers["If-None-Match"], self.headers["If-Modified-Since"]
        if asked is not None:
            return asked == found.headers.get("ETag")
        return date is not None and date == found.headers.get("Last-Modified")

    def send_not_modified(self, found: Answer) -> None:
        self.send_response(304)
        for name in ("ETag", "Last-Modified"):
            if name in found.headers:
                self.send_header(name, found.headers[name])
        self.end_headers()

    def send_head(self, found: Answer) -> None:
        self.send_response(found.status)
        if found.type:
            self.send_header("Content-Type", found.type)
        for name, value in found.headers.items():
            self.send_header(name, value)
        if found.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(len(found.body)))
        self.end_headers()

    def send_body(self, found: Answer) -> None:
        if not found.chunked:
            self.wfile.write(found.body)
            return
        for start in range(0, len(found.body), 5_000):
            part = found.body[start : start + 5_000]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """A server whose answers are given by path, with its request log."""

    daemon_threads = True

    def __init__(
        self,
        answer: Callable[[str], Answer | None],
        robots: Answer,
        sitemap: Answer | None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        super().__init__((host, port), Handler)
        self.answer = answer
        self.robots = robots
        self.sitemap = sitemap
        self.log: list[str] = []
        self.times: list[float] = []
        self.agents: set[str] = set()
        self.conditions: list[tuple[str, str | None, str | None]] = []
        self.url = f"http://{host}:{self.server_port}"

    def handle_error(self, *args: object) -> None:
        """Say nothing: the crawler breaks connections off, on purpose."""

    def fetched(self) -> Counter[str]:
        return Counter(path for path in self.log if path not in ("/robots.txt", "/sitemap.xml"))


@contextmanager
def serving(
    answer: Callable[[str], Answer | None],
    robots: Answer | None = None,
    sitemap: Answer | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
) -> Iterator[Server]:
    """Serve while the context lasts; without ``robots`` and ``sitemap`` the two are not there."""
    missing = Answer(status=404)
    site = Server(answer, robots or missing, sitemap or missing, host, port)
    thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        site.shutdown()
        thread.join()
        site.server_close()
