"""What the command line adds to a result: the next command, colours, and nothing that a page could do to a terminal."""

from __future__ import annotations

import io
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.calling import mine_toy, twinlink
from twinlink import errors
from twinlink.cli.app import EXIT_CODES, GROUPS, app
from twinlink.cli.colours import Styled, coloured, visible, wants_colours
from twinlink.cli.lines import lines
from twinlink.cli.output import command
from twinlink.cli.results.record import Record
from twinlink.errors import TwinlinkError

NEXT = re.compile(r"^next: (.*)$", re.MULTILINE)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("a toy")  # a path that a shell must have quoted
    done = mine_toy(folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def run(toy: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(toy / "run", tmp_path / "my run"))


def test_the_next_command_can_be_copied(run: Path) -> None:
    steps = {}
    for verb in ("match", "align", "report", "patterns"):
        done = twinlink(verb, run)
        (steps[verb],) = (shlex.split(line) for line in NEXT.findall(done.stderr))
        assert "next:" not in done.stdout  # that is for results
        for option in ("-q", "--json"):
            assert "next:" not in twinlink(verb, run, option).stderr
    assert steps["match"] == ["twinlink", "align", str(run)]
    assert steps["align"] == steps["report"] == ["twinlink", "review", str(run)]
    assert steps["patterns"] == ["twinlink", "recover", str(run), "--dry-run"]
    assert twinlink(*steps["match"][1:]).returncode == 0
    assert twinlink(*steps["patterns"][1:]).returncode == 0


def test_a_run_whose_name_begins_with_a_dash_is_no_option(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(toy / "run", tmp_path / "-run")
    monkeypatch.chdir(tmp_path)
    done = twinlink("report", "--", "-run")
    assert NEXT.findall(done.stderr) == ["twinlink review ./-run"]
    (other,) = NEXT.findall(twinlink("match", "./-run", "--langs", "en,fr").stderr)
    assert shlex.split(other)[:3] == ["twinlink", "match", "./-run"]
    shutil.rmtree("-run/match")
    assert "run `twinlink match ./-run`" in twinlink("align", "./-run").stderr


def test_an_error_says_what_to_do(run: Path, tmp_path: Path) -> None:
    (run / "match" / "signature.json").unlink()
    missing = twinlink("align", run)
    found = re.search(r"`(twinlink match .*?)`", missing.stderr)
    assert missing.returncode == 3
    assert found is not None
    assert shlex.split(found[1]) == ["twinlink", "match", str(run)]
    nothing = twinlink("match", run, "--langs", "en,fr")
    (step,) = NEXT.findall(nothing.stderr)
    assert shlex.split(step) == ["twinlink", "match", str(run), "--langs", "en,zh-Hant"]
    assert twinlink(*shlex.split(step)[1:]).returncode == 0


@pytest.mark.parametrize(
    ("environment", "is_terminal", "wanted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
    ],
)
def test_who_wants_colours(environment: dict[str, str], is_terminal: bool, wanted: bool) -> None:
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return is_terminal

    assert wants_colours(Stream(), environment) is wanted


def test_colours_are_asked_for_by_the_environment(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    done = twinlink("match", run)
    assert "\x1b[1m5\x1b[0m pairs, expected precision \x1b[1m0." in done.stdout
    assert done.stderr.endswith(f"\x1b[36mnext\x1b[0m: twinlink align '{run}'\n")
    assert "\x1b" not in twinlink("match", run, "--json").stdout
    assert "\x1b[33mtwinlink: error\x1b[0m: " in twinlink("match", run / "none").stderr
    monkeypatch.setenv("NO_COLOR", "1")
    done = twinlink("match", run)
    assert "\x1b" not in done.stdout + done.stderr


def test_nothing_in_a_text_is_markup() -> None:
    line = "https://www.example.org/?a[]=1&b[red]=2 [/] [bold]x[/bold]"
    assert coloured(line) == coloured(Styled(line)) == line


def test_only_parts_with_a_style_and_labels_are_coloured() -> None:
    assert coloured(Styled(("5", "bold"), " pairs \x1b[2J")) == "\x1b[1m5\x1b[0m pairs \\x1b[2J"
    assert coloured("note: 5 pairs") == "\x1b[33mnote\x1b[0m: 5 pairs"
    assert coloured("5 pages of another site, precision 0.5") == "5 pages of another site, precision 0.5"


def test_every_result_has_lines() -> None:
    def below(kind: type[Record]) -> set[type[Record]]:
        return {kind, *(each for child in kind.__subclasses__() for each in below(child))}

    assert below(Record) - {Record} <= set(lines.registry)
    with pytest.raises(TypeError, match="no lines for int"):
        lines(5)


def test_a_text_of_others_does_nothing_to_a_terminal(run: Path) -> None:
    done = twinlink("explain", run, "/\x1b[2Jx\u202e\r")
    assert done.returncode == 2
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.stderr)
    assert "%1B[2Jx%E2%80%AE" in done.stderr  # as an address has them
    assert visible("a\tb\nc") == "a\tb\nc"
    assert visible("a\u061cb\u2028c\u2029") == r"a\u061cb\u2028c\u2029"


def test_the_main_help_lists_every_verb_once_and_all_exit_codes() -> None:
    shown = twinlink("--help").stdout
    verbs = [verb for group in GROUPS.values() for verb in group]
    assert verbs == [command.callback.__name__ for command in app.registered_commands if command.callback]
    for verb in verbs:
        assert len(re.findall(rf"^  {verb} +[A-Z]", shown, re.MULTILINE)) == 1
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, TwinlinkError)]
    codes = {0, 130, *(kind.exit_code for kind in kinds)}
    assert {int(code) for code in re.findall(r"^  (\d+) ", EXIT_CODES, re.MULTILINE)} == codes
    for code in codes:
        assert re.search(rf"^    {code} +\w", shown, re.MULTILINE)
    assert max(map(len, shown.splitlines())) <= 80


def test_next_command_is_called_as_this_one_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "bin" / "twinlink"
    script.parent.mkdir()
    script.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["bin/twinlink", "demo"])
    monkeypatch.setenv("PATH", "/usr/bin")
    assert command("review", Path("run")) == "bin/twinlink review run"
    monkeypatch.setenv("PATH", str(script.parent))  # a shell finds it
    assert command("review", Path("run")) == "twinlink review run"
