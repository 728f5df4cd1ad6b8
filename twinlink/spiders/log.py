"""The crawler's log: warnings and errors to standard error, with a limit per kind that keeps the log small."""

from __future__ import annotations

import logging
from collections import Counter

__all__ = ["MAX_ALIKE", "MAX_MESSAGE_LENGTH", "log_handler"]

MAX_ALIKE = 100
"""Messages of one kind (from one line of code) that are logged."""
MAX_MESSAGE_LENGTH = 10_000
"""Characters of a message that are logged, its traceback included."""

_FORMAT = "%(asctime)s [%(name)s] %(levelname)s: %(message)s"


def log_handler() -> logging.Handler:
    """Return a handler that writes warnings and errors to standard error."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.addFilter(_Few())
    handler.setFormatter(_Short(_FORMAT, "%Y-%m-%d %H:%M:%S"))
    return handler


class _Few(logging.Filter):
    """Passes `MAX_ALIKE` messages of each kind; the last one says that it is the last."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: Counter[tuple[str, int]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        kind = (record.pathname, record.lineno)
        self._seen[kind] += 1
        if self._seen[kind] == MAX_ALIKE:
            record.msg, record.args = f"{record.getMessage()} (the last message of this kind)", None
        return self._seen[kind] <= MAX_ALIKE


class _Short(logging.Formatter):
    """Cuts long messages."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return text if len(text) <= MAX_MESSAGE_LENGTH else f"{text[:MAX_MESSAGE_LENGTH]} …"
