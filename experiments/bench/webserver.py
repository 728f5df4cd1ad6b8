"""A web server for benchmarks, in a separate process: generated sites on many addresses of this machine, and a log.

Each address 127.x.y.z (`address`) is one site of the same number of pages. Every request is logged with its site, its
path, and when it came and was answered, so that the manners of a crawler can be read from the server's side.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import msgspec

WORDS = "water library school council hospital weather market harbour railway garden museum licence permit tax".split()
NAVIGATION = 10
"""Number of pages that every page of a site links to."""
ROBOTS = b"User-agent: *\nDisallow: /private/\n"


def address(number: int) -> str:
    """Return the address of a site, counted from 127.1.0.1.

    >>> address(0), address(300)
    ('127.1.0.1', '127.1.1.51')
    """
    return f"127.{1 + number // 62_500}.{number // 250 % 250}.{number % 250 + 1}"


def path_of(page: int) -> str:
    """Return the path of a page."""
    return f"/p{page}.html" if page else "/"


def made_page(site: int, page: int, n_pages: int, paragraphs: int) -> bytes:
    """Return a page with a navigation, its own paragraphs, and links to three child pages and some siblings."""
    near = [3 * page + 1, 3 * page + 2, 3 * page + 3, page - 1, page + 1, 7 * page + 11, page // 3]
    numbers = dict.fromkeys([*range(min(NAVIGATION, n_pages)), *(n % n_pages for n in near)])
    anchors = "".join(f'<li><a href="{path_of(n)}">Page {n} about {WORDS[n % len(WORDS)]}</a></li>\n' for n in numbers)
    at = site * 7919 + page * 104_729
    text = "".join(
        f"<p>{' '.join(WORDS[(at // (k + 1) + k * p) % len(WORDS)] for k in range(40))} {at + p}</p>\n"
        for p in range(paragraphs)
    )
    head = f"<!DOCTYPE html><html lang='en'><head><title>Site {site}, page {page}</title></head>"
    return f"{head}<body><ul>{anchors}</ul><h1>Page {page}</h1>{text}</body></html>".encode()


class Site(msgspec.Struct, frozen=True):
    """What is served on each address."""

    n_pages: int
    paragraphs: int
    latency: float
    """Seconds until a response is sent."""
    slow: int
    """Number of sites that respond after ``slow_latency``, the first ones."""
    slow_latency: float

    def answer(self, number: int, path: str) -> tuple[bytes, bytes]:
        """Return the status and the body of a response."""
        if path == "/robots.txt":
            return b"200 OK", ROBOTS
        name = path.removeprefix("/p").removesuffix(".html")
        page = int(name) if name.isdigit() else 0 if path == "/" else -1
        if not 0 <= page < self.n_pages:
            return b"404 Not Found", b"none"
        return b"200 OK", made_page(number, page, self.n_pages, self.paragraphs)


class Connection(asyncio.Protocol):
    """A connection: requests are answered one after the other, each after the latency of its site."""

    def __init__(self, number: int, site: Site, log: list[str]) -> None:
        self._number, self._site, self._log = number, site, log
        self._waiting = b""
        self._latency = site.slow_latency if number < site.slow else site.latency

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Parse requests."""
        self._waiting += data
        while b"\r\n\r\n" in self._waiting:
            head, _, self._waiting = self._waiting.partition(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode("latin-1")
            came = time.monotonic()
            if self._latency:
                asyncio.get_running_loop().call_later(self._latency, self._send, path, came)
            else:
                self._send(path, came)

    def _send(self, path: str, came: float) -> None:
        status, body = self._site.answer(self._number, path)
        kind = b"text/plain" if path == "/robots.txt" else b"text/html; charset=utf-8"
        head = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (status, kind, len(body))
        self._transport.write(head + body)
        self._log.append(f"{self._number}\t{path}\t{came:.6f}\t{time.monotonic():.6f}\n")


async def serve(n_sites: int, site: Site, log: Path) -> None:
    """Serve until the process is terminated; then write the log."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    lines: list[str] = []
    port = 0
    for number in range(n_sites):
        server = await loop.create_server(partial(Connection, number, site, lines), address(number), port, backlog=64)
        port = server.sockets[0].getsockname()[1]
    gc.freeze()
    print(port, flush=True)
    await ended.wait()
    log.write_text("".join(lines))


class Request(msgspec.Struct, frozen=True):
    """One line of the log."""

    site: int
    path: str
    came: float
    answered: float


@contextmanager
def serving(log: Path, n_sites: int, site: Site) -> Iterator[list[str]]:
    """Serve sites within a context and yield their start pages; the log is complete afterwards."""
    command = [sys.executable, "-m", "experiments.bench.webserver", str(log), str(n_sites), str(site.n_pages)]
    command += [str(n) for n in (site.paragraphs, site.latency, site.slow, site.slow_latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        try:
            yield [f"http://{address(number)}:{port}/" for number in range(n_sites)]
        finally:
            server.terminate()
            server.wait()


def read_log(log: Path) -> list[Request]:
    """Read a log, in the order of the responses."""
    rows = (line.split("\t") for line in log.read_text().splitlines())
    return [Request(int(site), path, float(came), float(answered)) for site, path, came, answered in rows]


def main() -> None:
    """Run the server process of `serving`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("log", type=Path)
    for name in ("n_sites", "n_pages", "paragraphs"):
        parser.add_argument(name, type=int)
    parser.add_argument("latency", type=float)
    parser.add_argument("slow", type=int)
    parser.add_argument("slow_latency", type=float)
    given = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    site = Site(given.n_pages, given.paragraphs, given.latency, given.slow, given.slow_latency)
    asyncio.run(serve(given.n_sites, site, given.log))


if __name__ == "__main__":
    main()
