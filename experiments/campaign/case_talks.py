"""Hostile connections: responses that end late, never or too early, or are not HTTP."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from functools import partial

from experiments.campaign.cases import KEPT, Case, Hostile, dropped
from experiments.campaign.web import Reply, Talk, endless, said

__all__ = ["TALK_CASES"]

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
BODY = b"<title>x</title><p>some words</p>"


def reset(connection: socket.socket, data: bytes) -> None:
    """Send something, and reset the connection."""
    connection.sendall(data)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing it resets


SLOW: Mapping[str, tuple[Talk, tuple[str, ...]]] = {
    "/status": (endless(b"H", b"T", 0.2), ("timeout", "connection")),
    "/head": (endless(OK, b"X", 0.2), ("timeout",)),
    "/headers": (endless(OK, b"X-A: b\r\n", 0.2), ("timeout",)),
    "/body": (endless(OK + b"Content-Length: 5000\r\n\r\n", b"x", 0.2), ("timeout",)),
    "/chunks": (endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", 0.2), ("timeout",)),
    "/silence": (endless(b"", b"", 0.5), ("timeout",)),
    "/continue": (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.2), ("timeout",)),
}
ENDLESS: Mapping[str, tuple[Talk, tuple[str, ...]]] = {
    "/body": (endless(OK + b"\r\n", b"x" * 9_000), ("too-large", "timeout")),
    "/chunks": (endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\nhello\r\n" * 500), ("too-large", "timeout")),
    "/one-chunk": (
        endless(OK + b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\n", b"x" * 9_000),
        ("too-large", "timeout"),
    ),
    "/extension": (
        endless(OK + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x" * 9_000),
        ("too-large", "connection", "timeout"),
    ),
    "/trailers": (
        endless(OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", b"X-A: b\r\n" * 500),
        ("too-large", "connection", "timeout", KEPT),
    ),
    "/headers": (endless(OK, b"X-A: " + b"b" * 500 + b"\r\n"), ("too-large", "timeout")),
    "/header-line": (endless(OK, b"b" * 9_000), ("connection", "too-large", "timeout")),
    "/status-line": (endless(b"HTTP/1.1 200 ", b"b" * 9_000), ("connection", "too-large", "timeout")),
    "/continue": (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 50), ("too-large", "timeout")),
    "/length": (endless(OK + b"Content-Length: 99999999999999999999\r\n\r\n", b"x" * 9_000), ("too-large", "timeout")),
    "/old": (endless(b"", b"<p>HTTP/0.9 without end" * 400), ("connection", "too-large", "timeout")),
}
WRONG: Mapping[str, tuple[Talk, tuple[str, ...]]] = {
    "/nothing": (said(b""), ("connection",)),
    "/http-0.9": (said(BODY), ("connection",)),
    "/ssh": (said(b"SSH-2.0-OpenSSH_9.2\r\n"), ("connection",)),
    "/tls": (said(b"\x15\x03\x01\x00\x02\x02\x46"), ("connection",)),
    "/tls-hello": (said(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500)), ("connection",)),
    "/no-number": (said(b"HTTP/1.1 abc OK\r\n\r\n" + BODY), ("connection",)),
    "/big-number": (said(b"HTTP/1.1 99999 OK\r\nContent-Length: 0\r\n\r\n"), ("connection", "http-99999")),
    "/negative-length": (said(OK + b"Content-Length: -5\r\n\r\n" + BODY), ("connection",)),
    "/word-length": (said(OK + b"Content-Length: many\r\n\r\n" + BODY), ("connection",)),
    "/two-lengths": (said(OK + b"Content-Length: 5\r\nContent-Length: 50\r\n\r\n" + BODY), ("connection", KEPT)),
    "/length-and-chunks": (
        said(OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<p>ab\r\n0\r\n\r\n"),
        ("connection", KEPT),
    ),
    "/too-short": (said(OK + b"Content-Length: 5000\r\n\r\n" + BODY), ("connection",)),
    "/too-long": (said(OK + b"Content-Length: 5\r\n\r\n" + BODY), (KEPT, "connection")),
    "/bad-chunk": (said(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n"), ("connection",)),
    "/negative-chunk": (said(OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n"), ("connection",)),
    "/cut-chunk": (said(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n99\r\nhe"), ("connection",)),
    "/coding": (said(OK + b"Transfer-Encoding: gzip\r\n\r\n" + BODY), ("connection", KEPT)),
    "/folded": (said(OK + b"X-A: a\r\n b\r\n\tc\r\nContent-Length: 3\r\n\r\n<p>"), (KEPT, "connection")),
    "/no-colon": (said(OK + b"nonsense\r\nContent-Length: 3\r\n\r\n<p>"), (KEPT, "connection")),
    "/nul-header": (said(OK + b"X-\0A: b\0c\r\nContent-Length: 3\r\n\r\n<p>"), (KEPT, "connection")),
    "/line-feeds": (said((OK + b"Content-Length: 3\r\n\r\n<p>").replace(b"\r\n", b"\n")), (KEPT, "connection")),
    "/reset": (partial(reset, data=OK + b"Content-Length: 5000\r\n\r\n" + BODY), ("connection",)),
    "/reset-early": (partial(reset, data=b""), ("connection",)),
    "/upgrade": (
        said(b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n" + bytes(50)),
        ("connection", "http-101", "timeout"),
    ),
    "/http-2": (said(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(50)), ("connection",)),
}


def _of(talks: Mapping[str, tuple[Talk, tuple[str, ...]]]) -> Hostile:
    answers: dict[str, Reply] = {path: talk for path, (talk, _) in talks.items()}
    return Hostile(answers, {path: dropped(*reasons) for path, (_, reasons) in talks.items()})


TALK_CASES = (
    Case("answers that come byte by byte", "connections", lambda origin: _of(SLOW), {"retries": 0, "timeout": 4}),
    Case("answers without end", "connections", lambda origin: _of(ENDLESS), {"retries": 0}),
    Case("answers that are no HTTP, cut or reset", "connections", lambda origin: _of(WRONG), is_quick=True),
)
