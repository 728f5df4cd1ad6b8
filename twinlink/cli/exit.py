"""Exit of the command line: an error becomes one line and an exit code, or a JSON object with ``--json``."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, NoReturn, TypeVar

import typer
import typer.main
from typer.models import CommandInfo

from twinlink.cli.app import app
from twinlink.cli.colours import Styled
from twinlink.cli.output import echo, print_error, wants_json, with_addresses
from twinlink.errors import RunError, TwinlinkError
from twinlink.redaction import redacted
from twinlink.system.streams import lead_nowhere

__all__ = ["main"]

ResultT = TypeVar("ResultT")

# typer may bring a click of its own, so nothing is imported from click here.
Misused: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
INTERRUPTED = 130  # exit code after Ctrl-C, as shells have it
STOPPED = "stopped; the same command resumes where it stopped"
TRACEBACK = "TWINLINK_TRACEBACK"
"""Environment variable that prints unexpected errors with Python's traceback."""

_LONGEST_DEFECT = 300  # characters
_ROOM = 33_000
"""Objects, at 8 bytes: CPython takes the next power of two, 512 KB, and half of it is left for other frames."""


def main() -> None:
    """Run the command line: errors of twinlink become one line and an exit code."""
    _with_room(_main)()


def _with_room(function: Callable[[], ResultT]) -> Callable[[], ResultT]:
    """Return a function with room for the frames of all that it calls.

    CPython keeps frames in pieces of memory of 16 KB, or as large as one frame needs. It takes a piece from the system
    when a call needs it, and gives it back when the call returns: a loop at the end of a piece does so at each call.
    numpy makes its types for type checkers in loops, some of which were there: 4,000 times, a twentieth of a short
    command. The frame of this function begins a piece that is large enough for all others.
    """
    return FunctionType(function.__code__.replace(co_stacksize=_ROOM), function.__globals__)


def _main() -> None:
    """Run the command line."""
    _replace_closed_streams()
    # Our matrices are small: more threads than one wait for each other, and on a busy machine that is most of the time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Arrow's own allocator keeps what tables have left; the C library's serves all others from it, and gives it back.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    gc.set_threshold(20_000)  # what a command loads is no garbage: to search it takes a tenth of a short command
    atexit.register(_leave_garbage)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # an arrow where only ASCII can be shown, a name in Big5
    if "_TWINLINK_COMPLETE" in os.environ:
        from twinlink.cli.completion import mend_bash_words

        mend_bash_words(os.environ)
    try:
        code = _command(_verb(sys.argv[1:]))(prog_name="twinlink", standalone_mode=False)
    except TwinlinkError as error:
        _fail(error, str(error), error.exit_code)
    except OSError as error:  # a full disk, a file that may not be read
        _leave_full_output()
        _fail(error, _system_message(error), RunError.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        _stop()
    except Misused as error:  # a command line that cannot be understood
        _misused(error)
    except Exception as error:
        _unexpected(error)
        raise
    if code == INTERRUPTED:  # typer makes one of Ctrl-C
        _stop()
    sys.exit(code)


def _replace_closed_streams() -> None:
    """Let standard streams that the caller has closed, for which Python has None, lead nowhere.

    Otherwise the next file that is opened would take their place.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  (it stays open)


def _unexpected(error: Exception) -> None:
    """End after an unexpected error, or after Ctrl-C in a compiled function: numba makes such an error of it.

    Return if the traceback is wanted.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            _stop()
        cause = cause.__cause__
    if not os.environ.get(TRACEBACK):
        _fail(error, _defect(error), TwinlinkError.exit_code)


def _leave_garbage() -> None:
    """Let Python end without a search of all objects for cycles, which takes a sixth of a short command.

    DuckDB complains of objects that are not freed before the end.
    """
    if "duckdb" not in sys.modules:
        gc.freeze()


@cache
def _command(verb: str | None) -> Any:
    """Return the command with one verb, or with all: typer takes a millisecond for each, at every call."""
    chosen = copy(app)
    if verb is not None:
        chosen.registered_commands = [each for each in app.registered_commands if _name_of(each) == verb]
    return typer.main.get_command(chosen)


def _verb(words: Sequence[str]) -> str | None:
    """Return the verb that a command line begins with; None: it begins with something else, or needs all verbs."""
    known = {_name_of(each) for each in app.registered_commands}
    return words[0] if words and words[0] in known and "_TWINLINK_COMPLETE" not in os.environ else None


def _name_of(verb: CommandInfo) -> str | None:
    return verb.name or (verb.callback.__name__ if verb.callback else None)


def _fail(error: Exception, message: str, code: int) -> NoReturn:
    message = with_addresses(redacted(message))
    print_error(message)
    for note in () if {"-q", "--quiet", "--json"} & set(sys.argv) else getattr(error, "__notes__", ()):
        echo(note, err=True)
    _print_object(message, type(error).__name__, code)
    sys.exit(code)


def _system_message(error: OSError) -> str:
    """Return the message for an error of the operating system."""
    from twinlink.system.disk import disk_problem

    message = disk_problem(error, Path()) or error.strerror or str(error)
    if isinstance(error, FileNotFoundError) and not error.filename and not _has_working_directory():
        return "the working directory was removed; change to another one, and repeat the command"
    return f"{error.filename}: {message}" if error.filename else message


def _has_working_directory() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _defect(error: Exception) -> str:
    """Return the message for an unexpected error: where it was raised, and how to see more."""
    if isinstance(error, MemoryError):
        return "not enough memory; close other programs, or process the input in parts"
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    what = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST_DEFECT]
    return f"unexpected {what}{where}; please report it: with {TRACEBACK}=1 the same command prints the traceback"


def _misused(error: Exception) -> NoReturn:
    shown = io.StringIO()
    error.show(file=shown)  # type: ignore[attr-defined]
    for line in shown.getvalue().splitlines():
        echo(redacted(line), err=True)
    _print_object(redacted(error.format_message()), type(error).__name__, error.exit_code)  # type: ignore[attr-defined]
    sys.exit(error.exit_code)  # type: ignore[attr-defined]


def _stop() -> NoReturn:
    echo(Styled(("twinlink: stopped", "yellow"), STOPPED.removeprefix("stopped")), err=True)
    _print_object(STOPPED, "Interrupted", INTERRUPTED)
    sys.exit(INTERRUPTED)


def _print_object(message: str, kind: str, code: int) -> None:
    """Print an error on standard output as JSON, if that is wanted: there is always just one object."""
    if wants_json(sys.argv[1:]):
        from twinlink.cli.results.record import error_object, json_text

        with suppress(OSError):  # standard output is closed or full: that may be the error itself
            typer.echo(json_text(error_object(message, kind, code)))
        _leave_full_output()


def _leave_full_output() -> None:
    """Let standard output lead nowhere if it takes no more: Python would fail again to write the rest at the end."""
    try:
        sys.stdout.flush()
    except OSError:
        lead_nowhere(sys.stdout)
