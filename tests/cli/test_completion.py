"""Shell completion: asked for as bash, zsh and fish ask for it."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from pathlib import Path
from unittest.mock import patch

import pytest
import typer.main
from msgspec import to_builtins

from twinlink.baselines.verify import VERIFIERS
from twinlink.cli import app, main
from twinlink.config import Config

# The program's name must be `twinlink`: shells name the variable of their question after it.
CODE = "import sys; sys.argv[0] = 'twinlink'; from twinlink.cli import main; main()"
HEAVY = ("numba", "numpy", "pandas", "pyarrow", "scipy", "scrapy", "starlette", "jinja2", "lxml")
VERBS = list(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
METHODS = ["bitextor2010", "jangeldin", "liu2014", "urls", "webmining", "weighed"]


@dataclass
class Done:
    """How a question ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two runs, another folder, and a file."""
    for name in ("run-1", "jobs/run-2", "odd run"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "config.toml").touch()
    (tmp_path / "other").mkdir()
    (tmp_path / "rough.tsv").touch()
    return tmp_path


def asked(folder: Path, **variables: str) -> Done:
    """Ask in this process: that saves a second a question."""
    out, err, code = io.StringIO(), io.StringIO(), None
    with (
        contextlib.chdir(folder),
        patch.dict(os.environ, variables),
        patch.object(sys, "argv", ["twinlink"]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    return Done(int(str(code or 0)), out.getvalue(), err.getvalue())


def bash(folder: Path, *words: str) -> list[str]:
    """Return what bash gets for the last of some words, cut as bash cuts them."""
    done = asked(
        folder,
        _TWINLINK_COMPLETE="complete_bash",
        COMP_WORDS="\n".join(["twinlink", *words]),
        COMP_CWORD=str(len(words)),
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_verbs_in_the_order_of_the_help(folder: Path) -> None:
    assert bash(folder, "") == VERBS
    assert bash(folder, "re") == ["report", "review", "recover"]


def test_options(folder: Path) -> None:
    assert {"--langs", "--method", "--set", "--json", "--quiet", "--align"} <= set(bash(folder, "mine", "--"))
    assert bash(folder, "review", "--no-") == ["--no-open"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["match", "r"], ["run-1"]),
        (["match", "jobs/"], ["jobs/run-2"]),
        (["match", "{folder}/jobs/r"], ["{folder}/jobs/run-2"]),
        (["match", "o"], []),  # a folder that is no run: the shell's own completion has it
        (["match", "od"], []),  # only the shell can quote it
        (["match", "nowhere/"], []),
        (["mine", "https", ":", "//www.example.org", "-o", "r"], ["run-1"]),
        (["evaluate", "run-1", "--gold", "r"], []),  # files are the shell's
        (["match", "run-1", "--method", ""], METHODS),
        (["match", "run-1", "--method", "we"], ["webmining", "weighed"]),
        (["match", "run-1", "--method", "=", "we"], ["webmining", "weighed"]),
        (["verify", "x.tsv", "--method", ""], list(VERIFIERS)),
        (["verify", "x.tsv", "--method", "hc"], ["hc1", "hc2"]),
        (["match", "run-1", "--langs", "en,zh"], ["en,zh", "en,zh-Hans", "en,zh-Hant"]),
        (["match", "run-1", "--langs", "=", "f"], ["fi", "fr"]),
        (["crawl", "--site-by", ""], ["domain", "host", "path"]),
        (["align", "run-1", "--format", "tmx,t"], ["tmx,tsv"]),
        (["match", "run-1", "--set", "match.ets.r"], ["match.ets.rounds=", "match.ets.rarity="]),
        (["match", "run-1", "--set", "match.method", "="], METHODS),
        (["match", "run-1", "--set", "match.method", "=", "l"], ["liu2014"]),
        (["match", "run-1", "--set", "match.ets.rarity", "=", ""], ["true", "false"]),
        (["match", "run-1", "--set", "match.ets.al"], ["match.ets.alpha=", "match.ets.alpha=0.6"]),
        (["match", "run-1", "--set", "match.ets.alpha", "=", ""], ["0.6"]),
        (["match", "run-1", "--set", "match.max_pairs", "=", ""], []),
        (["match", "run-1", "--set", "no.such", "=", ""], []),
    ],
)
def test_completions_for_bash(folder: Path, words: list[str], expected: list[str]) -> None:
    words, expected = ([text.format(folder=folder) for text in texts] for texts in (words, expected))
    assert sorted(bash(folder, *words)) == sorted(expected)


def test_all_settings_are_offered(folder: Path) -> None:
    names = bash(folder, "match", "run-1", "--set", "")
    assert len(names) > 60
    defaults = to_builtins(Config())
    for name in names:
        reduce(getitem, name.removesuffix("=").split("."), defaults)  # KeyError for one that does not exist


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_script_for_bash_works_in_bash(folder: Path) -> None:
    (folder / "bin").mkdir()
    program = folder / "bin" / "twinlink"
    program.write_text(f"#!{sys.executable}\n{CODE}\n")
    program.chmod(0o755)
    script = asked(folder, _TWINLINK_COMPLETE="source_bash").stdout
    assert "complete -o default -F _twinlink_completion twinlink" in script
    question = "COMP_WORDS=(twinlink match run-1 --set match.method = we); COMP_CWORD=6; _twinlink_completion twinlink"
    environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", f'{script}\n{question}; printf "%s\\n" "${{COMPREPLY[@]}}"'],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["webmining", "weighed"], done.stderr


def test_completions_for_zsh(folder: Path) -> None:
    def zsh(line: str) -> str:
        return asked(folder, _TWINLINK_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=line).stdout

    assert '"run-1"' in zsh("twinlink match r")
    assert '"match.ets.neighbours=out"' in zsh("twinlink match run-1 --set match.ets.neighbours=o")
    assert '"--min-precision"' in zsh("twinlink match run-1 --min")
    assert zsh("twinlink evaluate run-1 --gold r").strip() == "_files"


def test_completions_for_fish(folder: Path) -> None:
    def fish(line: str, action: str) -> Done:
        return asked(
            folder,
            _TWINLINK_COMPLETE="complete_fish",
            _TYPER_COMPLETE_ARGS=line,
            _TYPER_COMPLETE_FISH_ACTION=action,
        )

    assert fish("twinlink match run-1 --set match.ets.al", "get-args").stdout.splitlines() == [
        "match.ets.alpha=\tdefault 0.6",
        "match.ets.alpha=0.6\tdefault 0.6",
    ]
    assert fish("twinlink match r", "is-args").returncode == 0
    assert fish("twinlink evaluate run-1 --gold r", "is-args").returncode == 1  # then fish completes files


@pytest.mark.parametrize(("shell", "file"), [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", ".config/fish")])
def test_completion_can_be_installed_and_shown(tmp_path: Path, shell: str, file: str) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    for option in ("--install-completion", "--show-completion"):
        done = subprocess.run(
            [sys.executable, "-c", CODE.replace("'twinlink';", f"'twinlink'; sys.argv[1:] = ['{option}', '{shell}'];")],
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / file).exists()
    assert "_TWINLINK_COMPLETE=complete_" + shell in done.stdout


def test_completion_loads_nothing_heavy(folder: Path) -> None:
    start = CODE.replace("main()", "")
    code = f"{start}\ntry:\n    main()\nfinally:\n    print(*(name for name in {HEAVY!r} if name in sys.modules))"
    variables = {"_TWINLINK_COMPLETE": "complete_bash", "COMP_WORDS": "twinlink\nmatch\n--set\n", "COMP_CWORD": "3"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True
    )
    assert "match.method=" in done.stdout, done.stderr
    assert done.stdout.splitlines()[-1].strip() == ""
