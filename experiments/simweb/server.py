"""A server for all hosts of a simulated web: an HTTP proxy on this machine, in a separate process.

A crawler with ``http_proxy=http://127.0.0.1:PORT`` in its environment requests ``http://HOST/…`` from it; no name is
resolved, and no request leaves the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from msgspec.structs import asdict

from experiments.simweb.pages import Answers
from experiments.simweb.world import WorldSettings, make_world

__all__ = ["proxied", "serving"]

_PHRASES = {200: b"OK", 403: b"Forbidden", 404: b"Not Found", 405: b"Method Not Allowed"}
_PROXY = "http_proxy"


class _Connection(asyncio.Protocol):
    """A connection to the proxy; requests are answered one after the other."""

    def __init__(self, answers: Answers, asked: Counter[str]) -> None:
        self._answers, self._asked = answers, asked
        self._waiting = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Parse requests."""
        self._waiting += data
        while b"\r\n\r\n" in self._waiting:
            head, _, self._waiting = self._waiting.partition(b"\r\n\r\n")
            method, url, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
            self._answer(method, url)

    def _answer(self, method: str, url: str) -> None:
        self._asked[url] += 1
        answer = self._answers.get(url)
        if answer is None:
            self._transport.abort()
            return
        status, body, kind = (405, b"", "text/plain") if method not in ("GET", "HEAD") else answer
        head = f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        self._transport.write(b"HTTP/1.1 %d %s\r\n" % (status, _PHRASES[status]) + head)
        if method != "HEAD":
            self._transport.write(body)


async def _serve(settings: WorldSettings, log: Path) -> None:
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    asked: Counter[str] = Counter()
    answers = Answers(make_world(settings))
    server = await loop.create_server(partial(_Connection, answers, asked), "127.0.0.1", 0, backlog=512)
    gc.freeze()
    print(server.sockets[0].getsockname()[1], flush=True)
    await ended.wait()
    log.write_text("".join(f"{url}\t{count}\n" for url, count in asked.items()))


@contextmanager
def serving(settings: WorldSettings, log: Path) -> Iterator[str]:
    """Serve a simulated web within a context; yield the address of the proxy. The log is written at the end.

    Parameters
    ----------
    settings : WorldSettings
    log : Path
        Gets one line per address: address, tab, number of requests.
    """
    command = [sys.executable, "-m", "experiments.simweb.server", str(log), json.dumps(asdict(settings))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


@contextmanager
def proxied(address: str) -> Iterator[None]:
    """Send the requests of this process and its child processes to a proxy, within a context."""
    before = os.environ.get(_PROXY)
    os.environ[_PROXY] = address
    try:
        yield
    finally:
        if before is None:
            del os.environ[_PROXY]
        else:
            os.environ[_PROXY] = before


def main() -> None:
    """Run the server process of `serving`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("log", type=Path)
    parser.add_argument("settings", help="`WorldSettings` as JSON")
    given = parser.parse_args()
    asyncio.run(_serve(WorldSettings(**json.loads(given.settings)), given.log))


if __name__ == "__main__":
    main()
