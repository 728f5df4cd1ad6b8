"""The short names of errors."""

from __future__ import annotations

import pytest
from OpenSSL import SSL
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from twisted.internet.error import ConnectionLost, NoRouteError, TCPTimedOutError
from twisted.python.failure import Failure
from twisted.web.client import ResponseNeverReceived

from twinlink.spiders.failures import HeadersTooLargeError, RefusedError, failure_reason


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


HANDSHAKE = SSL.Error([("SSL routines", "", "wrong version number")])


@pytest.mark.parametrize(
    ("error", "reason", "detail"),
    [
        (CannotResolveHostError("no such host"), "dns", "no such host"),
        (DownloadTimeoutError("too slow"), "timeout", "too slow"),
        (TCPTimedOutError(), "timeout", "timed out"),
        (NoRouteError(), "connection", "No route to host"),
        (ResponseDataLossError(), "connection", "ResponseDataLossError"),
        (DownloadCancelledError("expected 5 bytes"), "too-large", "expected 5 bytes"),
        (RefusedError("too-large", "decompressed"), "too-large", "decompressed"),
        (RefusedError("robots"), "robots", ""),
        (RefusedError("busy", "asked for an hour"), "busy", "asked for an hour"),
        (
            caused(DownloadFailedError("…"), ResponseNeverReceived([Failure(HeadersTooLargeError("300000 bytes"))])),
            "too-large",
            "300000 bytes",
        ),
        (caused(DownloadFailedError("…"), ResponseNeverReceived([Failure(HANDSHAKE)])), "tls", "wrong version number"),
        (caused(DownloadFailedError("…"), ResponseNeverReceived([Failure(ConnectionLost())])), "connection", "lost"),
        (ZeroDivisionError("x" * 1000), "error", "ZeroDivisionError: xxx"),
    ],
)
def test_reasons(error: Exception, reason: str, detail: str) -> None:
    found, text = failure_reason(error)
    assert found == reason
    assert detail in text
    assert len(text) < 300


def test_error_that_is_its_own_cause_does_not_loop() -> None:
    error = DownloadFailedError("round and round")
    error.__cause__ = caused(DownloadFailedError("again"), error)
    assert failure_reason(error)[0] == "connection"
