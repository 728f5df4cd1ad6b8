"""The server of the application, on 127.0.0.1."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from starlette.applications import Starlette

from twinlink.errors import InputError

__all__ = ["listen", "serve", "server_of"]

HOST = "127.0.0.1"
"""The only address on which the server listens."""

_PORTS = range(65_536)
_SECONDS_TO_END = 2  # for answers in progress at Ctrl-C


def serve(app: Starlette, port: int, on_ready: Callable[[str], None] | None = None) -> None:
    """Answer requests on 127.0.0.1 until Ctrl-C.

    Parameters
    ----------
    app : Starlette
        The application, from `twinlink.review.app.app.make_app`.
    port : int
        Port to listen on; 0: any free port.
    on_ready : callable, optional
        Called with the address to open, which contains the access key, when the server is ready.

    Raises
    ------
    InputError
        If the port is in use or not permitted.
    """
    with listen(port) as listening:
        app.state.review.entrance.port = listening.getsockname()[1]
        if on_ready is not None:
            on_ready(app.state.review.entrance.address)
        with suppress(KeyboardInterrupt):
            server_of(app).run(sockets=[listening])


def server_of(app: Starlette) -> uvicorn.Server:
    """Return a server without identifying headers, proxy support and web sockets."""
    settings = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_SECONDS_TO_END,
    )
    return uvicorn.Server(settings)


def listen(port: int) -> socket.socket:
    """Return a listening socket on 127.0.0.1.

    Raises
    ------
    InputError
        If the port is in use or not permitted.
    """
    if port not in _PORTS:
        raise InputError(f"--port {port}: a port is a number from 0 to 65535 (0: any that is free)")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            message = f"port {port} is in use, perhaps by another review; choose another with --port (0: any)"
            raise InputError(message) from error
        raise InputError(f"port {port} cannot be used ({error.strerror}); choose another with --port") from error
    return listening
