"""A server on this machine that sends what it is given: responses, streams, bytes that are not HTTP."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Literal

import msgspec

HTML = "text/html; charset=utf-8"

Talk = Callable[[socket.socket], object]
"""Function called with the connection after the request has been read; the connection is closed afterwards."""

_SEND_BUFFER = 2**15  # bytes that the system buffers for a disconnected client count as sent
_LONGEST_TALK = 120.0


class Answer(msgspec.Struct, frozen=True):
    """An HTTP response."""

    body: bytes | Callable[[], Iterable[bytes]] = b""
    """The body, or a function that yields its parts."""
    status: str = "200 OK"
    type: str = HTML
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    framing: Literal["length", "chunked", "close"] = "length"
    """How the end of the body is marked: by its length, by chunks, or by closing the connection."""
    wait: float = 0.0
    """Seconds until the response is sent."""

    def __call__(self, connection: socket.socket) -> None:
        """Send the response."""
        time.sleep(self.wait)
        head = [f"HTTP/1.1 {self.status}", "Connection: close"]
        head += [f"Content-Type: {self.type}"] * bool(self.type)
        head += [f"{name}: {value}" for name, value in self.headers.items()]
        if self.framing == "length" and isinstance(self.body, bytes):
            head.append(f"Content-Length: {len(self.body)}")
        elif self.framing == "chunked":
            head.append("Transfer-Encoding: chunked")
        connection.sendall("\r\n".join([*head, "", ""]).encode("latin-1"))
        for piece in (self.body,) if isinstance(self.body, bytes) else self.body():
            connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece) if self.framing == "chunked" and piece else piece)
        if self.framing == "chunked":
            connection.sendall(b"0\r\n\r\n")


Reply = Answer | Talk


def page(text: str = "page", *hrefs: str) -> Answer:
    """Return a page with a paragraph and some links."""
    anchors = "".join(f"<p><a href='{href}'>{href}</a>" for href in hrefs)
    return Answer(f"<!DOCTYPE html><title>{text}</title><p>{text}</p>{anchors}".encode())


def links(*hrefs: str) -> Answer:
    """Return a page that links to others."""
    return page("links", *hrefs)


def redirect(location: str, status: str = "302 Found") -> Answer:
    """Return a redirect."""
    return Answer(status=status, headers={"Location": location})


def said(data: bytes) -> Talk:
    """Return a function that sends these bytes and closes the connection."""
    return lambda connection: connection.sendall(data)


def endless(head: bytes, part: bytes, pause: float = 0.0) -> Talk:
    """Return a function that sends ``head``, and then ``part`` repeatedly until the client disconnects."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(head)
        end = time.monotonic() + _LONGEST_TALK
        while time.monotonic() < end:
            connection.sendall(part)
            time.sleep(pause)

    return talk


class _Counted(socket.socket):
    """A connection that counts the bytes sent."""

    n_sent = 0

    def sendall(self, data: bytes, flags: int = 0) -> None:  # type: ignore[override]
        view = memoryview(data)
        while view:
            n = self.send(view[:_SEND_BUFFER], flags)
            self.n_sent += n
            view = view[n:]


class Site:
    """A server with responses by path, which records its requests."""

    def __init__(self, answer: Callable[[str], Reply | None], host: str, port: int = 0) -> None:
        self._listener = socket.create_server((host, port), backlog=256)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://{host}:{self.port}"
        self.answer = answer
        self.asked: Counter[str] = Counter()
        """Requests by path."""
        self.sent: Counter[str] = Counter()
        """Bytes sent by path."""
        self.moments: list[float] = []
        """When each request came."""
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Accept no more connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                counted = _Counted(fileno=connection.detach())
                threading.Thread(target=self._serve, args=(counted,), daemon=True).start()

    def _serve(self, connection: _Counted) -> None:
        path = ""
        with connection, suppress(OSError, ValueError, IndexError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
            connection.settimeout(_LONGEST_TALK)
            path = _head(connection).split()[1].decode("latin-1")
            self.moments.append(time.monotonic())
            self.asked[path] += 1
            reply = self.answer(path)
            if reply is not None:  # None: the connection is closed without a response
                reply(connection)
            with suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
        self.sent[path] += connection.n_sent


def _head(connection: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head and len(head) < 2**16:
        data = connection.recv(2**16)
        if not data:
            break
        head += data
    return head


@contextmanager
def serving(answer: Callable[[str], Reply | None], host: str = "127.0.0.1", port: int = 0) -> Iterator[Site]:
    """Serve within a context."""
    site = Site(answer, host, port)
    try:
        yield site
    finally:
        site.close()
