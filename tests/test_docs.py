"""The documentation is executed: what it shows must run, and every command must be in it."""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
import typer.main

from tests.calling import twinlink
from twinlink.cli import app

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^(?P<note>[^\n]*)\n```(?P<kind>[\w-]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (?:\.venv/bin/)?(twinlink\b(?:\\\n|.)*)", re.MULTILINE)
IS_OURS = re.compile(r"(?:\.venv/bin/)?twinlink\b")
NOT_RUN = re.compile(r"<!-- not run: \S.* -->")
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """One fenced block of a page; ``runs`` is false where the line before it says why it is not run."""

    page: str
    line: int
    kind: str
    text: str
    runs: bool


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page in order."""
    source = "\n" + page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix()
    for found in BLOCK.finditer(source):
        line = source.count("\n", 0, found.start("text"))
        yield Block(name, line, found["kind"], found["text"], not NOT_RUN.search(found["note"]))


def commands(block: Block) -> list[str]:
    """Return the command lines for twinlink in a block, continued lines joined."""
    return [re.sub(r"\\\n\s*", "", found[1]) for found in COMMAND.finditer(block.text)]


ALL = [block for page in PAGES for block in blocks(page)]
SHOWN = [pytest.param(c, id=f"{b.page}:{b.line} {c[:60]}") for b in ALL for c in commands(b)]
# typer may bring a click of its own, so nothing is imported from click here.
ROOT_COMMAND: Any = typer.main.get_command(app)
UsageError: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "UsageError")
VERBS = sorted(ROOT_COMMAND.commands)


@pytest.mark.parametrize("line", SHOWN)
def test_command_in_the_documentation_exists(line: str) -> None:
    check_command(line)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_every_command_has_an_example_that_exists(verb: str) -> None:
    command = ROOT_COMMAND.commands[verb]
    examples = re.findall(r"^Example: (twinlink .*)$", command.help or "", re.MULTILINE)
    assert examples, f"`twinlink {verb} --help` has no line `Example: twinlink {verb} …`"
    for example in examples:
        assert shlex.split(example)[1] == verb
        check_command(example)


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_says_what_it_does(verb: str) -> None:
    silent = [
        parameter.name
        for parameter in ROOT_COMMAND.commands[verb].params
        if not getattr(parameter, "help", None) and not getattr(parameter, "hidden", False)
    ]
    assert silent == []


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_is_in_the_documentation(verb: str) -> None:
    assert any(re.search(rf"twinlink {verb}\b", page.read_text(encoding="utf-8")) for page in PAGES)


def test_checker_refuses_what_does_not_exist() -> None:
    for wrong in ("twinlink frobnicate RUN", "twinlink mine --no-such-option", "twinlink mine"):
        with pytest.raises(UsageError):
            check_command(wrong)


def check_command(line: str) -> None:
    """Parse a command line as the program would, without running it."""
    words = shlex.split(line.partition(" #")[0])[1:]
    with ROOT_COMMAND.context_class(ROOT_COMMAND, info_name="twinlink") as context:
        verbs = [word for word in words if not word.startswith("-")]
        if not verbs:
            assert set(words) <= {"--version", "--help", "-h"}
            return
        verb, command, rest = ROOT_COMMAND.resolve_command(context, words)
        assert command is not None
        if not {"--help", "-h"} & set(rest):
            with patch.dict(os.environ, {"_TWINLINK_COMPLETE": ""}):  # else an address would ask its store
                command.make_context(verb, rest, parent=context)


def test_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the README's blocks in order, in one empty folder: a later one may use what an earlier one left."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "readme"}
    for block in blocks(ROOT / "README.md"):
        if block.runs and block.kind in ("python", "pycon"):
            run_python(block, names)
        elif block.runs:
            run_console(block, tmp_path)


def run_python(block: Block, names: dict[str, object]) -> None:
    """Run a Python block; one with prompts must also print what it shows."""
    place = f"{block.page}:{block.line}"
    if ">>>" not in block.text:
        exec(compile("\n" * block.line + block.text, block.page, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, place, block.page, block.line)
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    runner.run(test, out=told.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, "".join(told)


def run_console(block: Block, folder: Path) -> None:
    """Run the `$ twinlink` lines of a block that shows what one of them prints; `...` stands for anything.

    Blocks without output are commands to choose from: `test_command_in_the_documentation_exists` parses them.
    """
    parts = re.split(r"^\$ ", block.text.replace("\\\n", ""), flags=re.MULTILINE)[1:]
    steps = [(line, shown) for line, _, shown in (part.partition("\n") for part in parts) if IS_OURS.match(line)]
    for line, shown in steps if any(shown.strip() for _, shown in steps) else []:
        words = shlex.split(line.partition(" #")[0])
        with contextlib.chdir(folder):
            done = twinlink(*words[1:])
        assert done.returncode == 0, f"{block.page}:{block.line} {line}\n{done.stdout}{done.stderr}"
        if shown.strip():
            fits = doctest.OutputChecker().check_output(shown.strip() + "\n", done.stdout.strip() + "\n", OPTIONS)
            assert fits, f"{block.page}:{block.line} {line}\nshown:\n{shown}\nprinted:\n{done.stdout}"
