"""RUN/log.txt: what a command did in a run, and how it ended."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from tests.calling import mine_toy, twinlink
from tests.loopback import links, serving
from twinlink.cli import run_log
from twinlink.cli.run_log import logged
from twinlink.errors import TwinlinkError
from twinlink.rundir.directory import RunDirectory


def messages(run: Path) -> list[str]:
    lines = (run / "log.txt").read_text().splitlines()
    return [line[len("2026-01-01 00:00:00 ") :] for line in lines]


def test_commands_their_steps_and_ends_are_logged(tmp_path: Path) -> None:
    assert mine_toy(tmp_path, "-q").returncode == 0
    first = messages(tmp_path / "run")
    assert first[0].startswith("INFO twinlink mine ")
    assert "INFO ingest begins" in first
    assert any(line.startswith("INFO match: 10 of 10 · 100 %") for line in first)
    assert first[-1].startswith("INFO done in ")
    assert not logging.getLogger("twinlink").handlers
    assert twinlink("match", tmp_path / "run", "--min-probability", "0.4", "-q").returncode == 0
    assert any("match is done again" in line for line in messages(tmp_path / "run")[len(first) :])


def test_error_is_logged_and_a_command_without_a_run_leaves_no_log(tmp_path: Path) -> None:
    mine_toy(tmp_path, "-q")
    assert twinlink("match", tmp_path / "run", "--min-probability", "0.9", "-q").returncode == 5
    assert messages(tmp_path / "run")[-1].startswith("ERROR EmptyMatchError: 0 pairs")
    assert twinlink("mine", tmp_path / "none", "-o", tmp_path / "new", "-q").returncode == 2
    assert not (tmp_path / "new").exists()


def test_a_password_in_an_address_is_stored_nowhere_and_not_sent(tmp_path: Path) -> None:
    with serving(lambda path: links("/a")) as site:
        start = site.url.replace("://", "://me:TopSecret@")
        done = twinlink("crawl", start, "-o", tmp_path / "run", "-q")
        asked = site.url.replace("://", "://…@")
    assert done.returncode == 0
    assert done.stderr.count(f"{asked}: the user name and the password in the address are not sent") == 1
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"TopSecret" in file.read_bytes()]


def test_a_password_in_an_error_is_neither_shown_nor_logged(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path)
    (tmp_path / "ledger.sqlite").touch()
    with pytest.raises(TwinlinkError), logged(run, lambda line: None):
        raise TwinlinkError("http://me:TopSecret@a.org/: refused")
    assert messages(tmp_path)[-1] == "ERROR TwinlinkError: http://…@a.org/: refused"
    for words in ("mine http://me:TopSecret@a]/", "crawl me:TopSecret@a", "report -x:TopSecret@a"):
        done = twinlink(*words.split(), "-o", tmp_path / "new")
        assert done.returncode
        assert "TopSecret" not in done.stdout + done.stderr


def test_defect_is_logged_with_its_traceback_and_ctrl_c_in_a_line(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path)
    (tmp_path / "ledger.sqlite").touch()  # so that the run is begun
    shown: list[str] = []
    with pytest.raises(ZeroDivisionError), logged(run, shown.append):
        raise ZeroDivisionError
    with pytest.raises(KeyboardInterrupt), logged(run, shown.append):
        raise KeyboardInterrupt
    text = run.log_file.read_text()
    assert "ERROR defect\nTraceback (most recent call last):" in text
    assert "WARNING stopped by Ctrl-C" in text
    assert not shown


def test_warnings_are_shown_and_the_log_does_not_grow_forever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_log, "_MOST_BYTES", 500)
    run = RunDirectory.create(tmp_path)
    (tmp_path / "ledger.sqlite").touch()
    shown: list[str] = []
    with logged(run, shown.append):
        for number in range(30):
            run_log.logger.warning("warning %d", number)
    assert shown == [f"warning {number}" for number in range(30)]
    assert [path.name for path in sorted(tmp_path.glob("log*"))] == ["log.txt", "log.txt.1"]
    assert run.log_file.stat().st_size <= 500
