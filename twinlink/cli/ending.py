"""How the command line ends: errors become one clear line and an exit code, and an object where JSON is wanted."""

from __future__ import annotations

import io
import os
import sys
from typing import NoReturn

import typer

from twinlink.cli.root import app
from twinlink.cli.saying import echo, say_error, wants_json
from twinlink.errors import RunError, TwinlinkError

__all__ = ["main"]

# typer may bring a click of its own, so nothing is imported from click here.
Misused: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
INTERRUPTED = 130  # exit code after Ctrl-C, as shells have it
STOPPED = "stopped; the same command goes on where it stopped"


def main() -> None:
    """Run the command line: errors of twinlink become one clear line and an exit code."""
    # Our matrices are small: more threads than one wait for each other, and on a busy machine that is most of the time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # an arrow where only ASCII can be shown, a name in Big5
    if "_TWINLINK_COMPLETE" in os.environ:
        from twinlink.cli.bashwords import mend_bash_words

        mend_bash_words(os.environ)
    try:
        code = app(prog_name="twinlink", standalone_mode=False)
    except TwinlinkError as error:
        _fail(error, str(error), error.exit_code)
    except OSError as error:  # a full disk, a file that may not be read
        message = f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}"
        _fail(error, message, RunError.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        _stop()
    except Misused as error:  # a command line that cannot be understood
        error.show()  # type: ignore[attr-defined]
        _say_object(error.format_message(), type(error).__name__, error.exit_code)  # type: ignore[attr-defined]
        sys.exit(error.exit_code)  # type: ignore[attr-defined]
    if code == INTERRUPTED:  # typer makes one of Ctrl-C
        _stop()
    sys.exit(code)


def _fail(error: Exception, message: str, code: int) -> NoReturn:
    say_error(message)
    for note in () if {"-q", "--quiet", "--json"} & set(sys.argv) else getattr(error, "__notes__", ()):
        echo(note, err=True)
    _say_object(message, type(error).__name__, code)
    sys.exit(code)


def _stop() -> NoReturn:
    echo(f"twinlink: {STOPPED}", err=True)
    _say_object(STOPPED, "Interrupted", INTERRUPTED)
    sys.exit(INTERRUPTED)


def _say_object(message: str, kind: str, code: int) -> None:
    """Say an error on standard output as JSON, if that is wanted: there is always just one object."""
    if wants_json(sys.argv[1:]):
        from twinlink.telling.record import error_object, json_text

        typer.echo(json_text(error_object(message, kind, code)))
