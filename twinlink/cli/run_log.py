"""The log of a run, ``RUN/log.txt``: what each command did there, step by step, and how it ended."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING

from twinlink.errors import TwinlinkError
from twinlink.redaction import redacted
from twinlink.system.locks import own_command

if TYPE_CHECKING:
    from twinlink.rundir.directory import RunDirectory


logger = logging.getLogger("twinlink")
"""The logger that all others of the package are children of."""

_MOST_BYTES = 1_000_000  # then the log becomes log.txt.1, and a new one is begun
_FORMAT = "%(asctime)s %(levelname)s %(message)s"


@contextmanager
def logged(run: RunDirectory, show: Callable[[str], None], level: int = logging.WARNING) -> Iterator[None]:
    """Write what is logged while the context lasts to the log of a run, with the command and its end.

    A command that leaves no run leaves no log either.

    Parameters
    ----------
    run : RunDirectory
    show : callable
        Gets the lines that are not shown otherwise, except the progress.
    level : int
        Only lines from this level on are shown.
    """
    is_new = not run.log_file.exists()
    began = time.monotonic()
    with ExitStack() as stack:
        stack.enter_context(_handled(_file_handler(run)))
        stack.enter_context(_handled(_Lines(show, level)))
        try:
            logger.info("%s", own_command(), extra={"is_shown": True})
            yield
        except BaseException as error:
            _log_end(error)
            raise
        else:
            logger.info("done in %.1f s", time.monotonic() - began)
        finally:
            stack.close()
            if is_new and not run.is_begun():
                run.log_file.unlink(missing_ok=True)


def _log_end(error: BaseException) -> None:
    """Log why a command ended; with the traceback if nobody expected that."""
    if isinstance(error, (TwinlinkError, OSError)):
        logger.error("%s: %s", type(error).__name__, error, extra={"is_shown": True})
    elif isinstance(error, KeyboardInterrupt):
        logger.warning("stopped by Ctrl-C", extra={"is_shown": True})
    else:
        logger.error("defect", exc_info=error, extra={"is_shown": True})


def _file_handler(run: RunDirectory) -> logging.Handler:
    handler = _Quiet(
        run.log_file, maxBytes=_MOST_BYTES, backupCount=1, encoding="utf-8", delay=True, errors="backslashreplace"
    )
    handler.setFormatter(_Redacting(_FORMAT, "%Y-%m-%d %H:%M:%S"))
    return handler


class _Redacting(logging.Formatter):
    """Leaves out passwords of addresses, which errors and tracebacks may quote."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return redacted(super().format(record))


@contextmanager
def _handled(handler: logging.Handler) -> Iterator[None]:
    """Let a handler get what is logged, from information on."""
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()
        logger.setLevel(level)


class _Quiet(RotatingFileHandler):
    """Writes lines to a file; a full disk does not end the work."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (logging's name)
        """Do without this line."""


class _Lines(logging.Handler):
    """Hands messages over as lines."""

    def __init__(self, show: Callable[[str], None], level: int) -> None:
        super().__init__(level)
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        """Hand a message over, unless it is shown anyway."""
        if not getattr(record, "is_shown", False) and record.name != "twinlink.progress":
            self._show(record.getMessage())
