"""A server on this machine whose answers are bytes on a connection: for what no server library would send."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tests.loopback import links

Talk = Callable[[socket.socket], None]


@contextmanager
def talking(ways: dict[str, Talk]) -> Iterator[str]:
    """Serve links to ``ways``; a request for one of these gives its function the connection."""
    stopped = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            path = connection.recv(65_536).split()[1].decode()
            if path in ways:
                ways[path](connection)
            else:
                body = links(*ways, "/fine").body if path in ("/", "/fine") else b""
                status = b"200 OK" if body else b"404 Not Found"
                head = b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
                connection.sendall(head % (status, len(body)) + body)

    def accept() -> None:
        with suppress(OSError):
            while not stopped.is_set():
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        stopped.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def endless(head: bytes, part: bytes, pause: float) -> Talk:
    def talk(connection: socket.socket) -> None:
        connection.sendall(head)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            connection.sendall(part)
            time.sleep(pause)

    return talk
