"""Printing: the result of a verb as lines of text or as one JSON object, and the command that may come next."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from twinlink.cli.colours import Styled, coloured, visible, wants_colours
from twinlink.system.streams import writing_messages

if TYPE_CHECKING:
    from twinlink.cli.results.record import Record


def wants_json(words: Iterable[str]) -> bool:
    """Return whether a command line asks for JSON, even one that cannot be parsed.

    >>> wants_json(["match", "run", "--json"]), wants_json(["explain", "run", "--", "--json"])
    (True, False)
    """
    for word in words:
        if word in {"--", "--json"}:
            return word == "--json"
    return False


def command(*words: str | Path) -> str:
    """Return a command that can be copied to a shell.

    >>> command("review", Path("my run"))
    "twinlink review 'my run'"
    >>> command("align", Path("-run"), "-q")
    'twinlink align ./-run -q'
    """
    from twinlink.files import shell_word
    from twinlink.rundir.stored import address_of

    quoted = (shell_word(address_of(word)) if isinstance(word, Path) else shlex.quote(word) for word in words)
    return " ".join((shlex.quote(_own_name()), *quoted))


def _own_name() -> str:
    """Return how the command was called: by its path, if a shell would not find it without."""
    called = Path(sys.argv[0]) if sys.argv else Path()
    is_found = called.name != "twinlink" or shutil.which("twinlink") == str(called.absolute()) or not called.is_file()
    return "twinlink" if is_found else str(called)


def echo(line: str, *, err: bool = False) -> None:
    """Print a line, in colours where they are wanted."""
    if err and not isinstance(line, Styled):
        line = with_addresses(line)
    in_colours = wants_colours(sys.stderr if err else sys.stdout, os.environ)
    with writing_messages() if err else nullcontext():
        typer.echo(coloured(line) if in_colours else visible(line), err=err, color=in_colours)


def with_addresses(line: str) -> str:
    """Return a message with the addresses of stored runs, as the user named them, for the folders of their copies."""
    stored = sys.modules.get("twinlink.rundir.stored")  # before it is loaded, no stored run is open
    return line if stored is None else str(stored.with_addresses(line))


def print_result(
    record: Record, as_json: bool, quiet: bool = False, then: Iterable[str] = (), *, raw: bool = False
) -> None:
    """Print a result; one that is an error, too, ends the command.

    Parameters
    ----------
    record : Record
        The result.
    as_json : bool
        Print it as one JSON object.
    quiet : bool
        Suggest nothing.
    then : iterable of str
        Commands that may come next; printed on standard error.
    raw : bool
        The lines are data for another program and are printed unchanged.
    """
    problem = record.problem()
    if as_json:
        from twinlink.cli.results.record import json_text

        typer.echo(json_text(record, problem))
        if problem is not None:
            print_error(str(problem))
            raise typer.Exit(problem.exit_code)
        return
    from twinlink.cli.lines import lines

    for line in lines(record):
        if raw:
            typer.echo(line, color=True)  # as it is, also where it looks like a colour
        else:
            echo(line)
    if quiet and not raw:
        _print_address(getattr(record, "run", None))
    if problem is not None:
        if advice := record.advice():
            problem.add_note(advice)
        if remedy := record.remedy():
            problem.add_note(f"next: {command(*remedy)}")
        raise problem
    for text in () if quiet else then:
        echo(f"next: {text}", err=True)


def _print_address(run: str | None) -> None:
    """Print the address of a stored run, which no message tells where only the result is printed."""
    from twinlink.rundir.stored import address_of

    if run is not None and (address := address_of(Path(run))) != run:
        echo(f"run → {address}")


def print_error(message: str) -> None:
    """Print an error on standard error."""
    echo(Styled(("twinlink: error", "yellow"), f": {message}"), err=True)
