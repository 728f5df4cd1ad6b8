"""Failures of requests: short names for the errors of Scrapy, Twisted and OpenSSL, as they are counted."""

from __future__ import annotations

from collections.abc import Iterator

from OpenSSL import SSL
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from twisted.internet.error import ConnectError, ConnectionClosed, TCPTimedOutError
from twisted.internet.error import TimeoutError as ConnectTimeoutError


class RefusedError(IgnoreRequest):
    """A request is not sent: its reason and detail."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(detail)
        self.reason = reason


class HeadersTooLargeError(Exception):
    """The headers of a response do not end."""


# The first that fits decides: TCPTimedOutError is a ConnectError, too.
_REASONS: tuple[tuple[str, tuple[type[BaseException], ...]], ...] = (
    ("tls", (SSL.Error,)),
    ("timeout", (DownloadTimeoutError, ConnectTimeoutError, TCPTimedOutError)),
    ("dns", (CannotResolveHostError,)),
    ("too-large", (DownloadCancelledError, HeadersTooLargeError)),
    (
        "connection",
        (DownloadConnectionRefusedError, DownloadFailedError, ResponseDataLossError, ConnectError, ConnectionClosed),
    ),
)
_MAX_DETAIL = 200


def failure_reason(error: BaseException) -> tuple[str, str]:
    """Return the short name of an error, and its text.

    The names are too-large, timeout, dns, tls, connection, that of a `RefusedError`, and error for anything else.

    Examples
    --------
    >>> failure_reason(DownloadTimeoutError("Getting http://a.org/ took longer than 30 seconds."))
    ('timeout', 'Getting http://a.org/ took longer than 30 seconds.')
    """
    if isinstance(error, RefusedError):
        return error.reason, _text(error) if error.args[0] else ""
    causes = tuple(_causes(error))
    for reason, classes in _REASONS:
        for cause in causes:
            if isinstance(cause, classes):
                return reason, _text(causes[-1] if reason == "connection" else cause)
    return "error", f"{type(error).__name__}: {_text(error)}"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, and what it was made from, the deepest last."""
    seen: set[int] = set()
    step: BaseException | None = error
    while step is not None and id(step) not in seen:
        seen.add(id(step))
        yield step
        failures = getattr(step, "reasons", None)  # of Twisted's ResponseFailed
        step = failures[0].value if failures else step.__cause__


def _text(error: BaseException) -> str:
    if isinstance(error, SSL.Error) and error.args and isinstance(error.args[0], list):
        text = ", ".join(str(entry[-1]) for entry in error.args[0])  # OpenSSL's queue of (library, function, reason)
    else:
        text = str(error)
    return " ".join((text or type(error).__name__).split())[:_MAX_DETAIL]
