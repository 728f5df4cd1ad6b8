"""Plain values of options come to a verb as typer gives them, and wrong ones have its messages."""

from __future__ import annotations

import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.core import TyperCommand
from typer.testing import CliRunner

from twinlink.cli.plain_values import Verb


class Fruit(StrEnum):
    """A choice."""

    APPLE = "apple"


def quoted(text: str) -> str:
    if not text:
        raise ValueError("empty")
    return f"<{text}>"


def verb(
    words: Annotated[list[str], typer.Argument()] = [],  # noqa: B006  (typer reads the default)
    *,
    text: str = "",
    maybe: Annotated[str | None, typer.Option()] = None,
    parsed: Annotated[str | None, typer.Option(parser=quoted)] = None,
    number: Annotated[int | None, typer.Option(min=1, max=10**20)] = None,
    share: Annotated[float, typer.Option(min=0.0, max=1.0)] = 0.5,
    path: Annotated[Path | None, typer.Option()] = None,
    paths: Annotated[list[Path], typer.Option()] = [],  # noqa: B006
    fruit: Annotated[Fruit | None, typer.Option()] = None,
    is_on: Annotated[bool, typer.Option("--on/--off")] = False,
) -> None:
    typer.echo(repr((words, text, maybe, parsed, number, share, path, paths, fruit, is_on)))


_WORDING = re.compile("(?<=: )(?:expected|Input should be) .*")  # of a wrong number: ours says what came


def outcome(kind: type[TyperCommand], line: str) -> tuple[int, str]:
    app = typer.Typer(rich_markup_mode=None)
    app.command(cls=kind)(verb)
    done = CliRunner().invoke(app, [word.replace("EMPTY", "") for word in line.split()])
    return done.exit_code, done.output


@pytest.mark.parametrize(
    "line",
    [
        "", "a b --text x --maybe y --parsed z --on", "--number 3 --share 0.25", "--number 0", "--number -1",
        "--number 1000000000000000000000", "--number x", "--number +2", "--number 007", "--number 1_0",
        "--number EMPTY", "--number ٣", "--share 1", "--share 2", "--share nan", "--share .5", "--share 1e-3",
        "--share x", "--parsed EMPTY", "--path a --paths b --paths c", "--fruit apple", "--fruit pear",
        "--text EMPTY", "--nothing",
    ],
)  # fmt: skip
def test_values_are_those_of_typer(line: str) -> None:
    code, printed = outcome(Verb, line)
    typers = outcome(TyperCommand, line)
    assert (code, _WORDING.sub("", printed)) == (typers[0], _WORDING.sub("", typers[1]))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--number 0", "'--number': expected a whole number from 1 to 100000000000000000000, got '0'"),
        ("--share x", "'--share': expected a number from 0.0 to 1.0, got 'x'"),
    ],
)
def test_a_wrong_number_is_told_with_what_was_expected(line: str, message: str) -> None:
    assert message in outcome(Verb, line)[1]


def test_plain_values_are_not_validated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typer._adapters", None)  # then its import fails
    code, printed = outcome(Verb, "a --text x --number 3 --share 0.25 --parsed z --on")
    assert (code, printed) == (0, "(['a'], 'x', None, '<z>', 3, 0.25, None, [], None, True)\n")
