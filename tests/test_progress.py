"""Reports of long work, and the interrupt that must not be lost."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

import twinlink as tl
from tests.calling import twinlink
from tests.made_sites import BASE, write_toy
from tests.processes import happens
from twinlink.progress import Latest, is_watched, read_latest, reporter
from twinlink.rundir.directory import RunDirectory
from twinlink.system.pausing import hold


def test_swallowed_interrupt_is_raised_at_the_next_report() -> None:
    before = signal.getsignal(signal.SIGINT)  # ignored where the tests run in the background
    with pytest.raises(KeyboardInterrupt), reporter(quiet=True) as report:  # noqa: PT012
        report("match", 0, 2)
        with suppress(KeyboardInterrupt):  # as the bare excepts of some libraries do
            signal.raise_signal(signal.SIGINT)
        report("match", 1, 2)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("takes_long", [False, True])
def test_work_that_takes_long_to_stop_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, takes_long: bool
) -> None:
    monkeypatch.setattr("twinlink.progress.STOP_SECONDS", 0.0 if takes_long else 60.0)
    said: list[str] = []
    with suppress(KeyboardInterrupt), reporter(quiet=True):
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            if takes_long:
                happens(lambda: said.append(capsys.readouterr().err) or "".join(said).startswith("stopping: waits"))
    happens(lambda: not any(isinstance(thread, threading.Timer) for thread in threading.enumerate()))
    assert "".join(said).count("stopping") == takes_long
    assert capsys.readouterr().err == ""


def test_reports_of_another_thread_leave_signals_alone() -> None:
    def work() -> None:
        with reporter(quiet=True) as report:
            report("match", 0, 2)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


class Clock:
    """A clock that tests set; sleeping moves it on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.at_sleep: list[Callable[[], object]] = []
        of_clock = SimpleNamespace(monotonic=lambda: self.now, sleep=self.sleep, time=time.time)
        for module in ("twinlink.progress", "twinlink.system.pausing"):
            monkeypatch.setattr(f"{module}.time", of_clock)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.at_sleep.pop(0)()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


class Terminal(io.StringIO):
    """A terminal that remembers what was written."""

    def isatty(self) -> bool:
        return True


def test_lines_of_a_log_have_share_rate_and_times(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with reporter(quiet=False) as report:
        report("crawl", 100, 500)  # an earlier call fetched 100: they say nothing of the rate
        clock.now += 4
        report("crawl", 140, 500)
        clock.now += 6
        report("crawl", 200, 500, "queued 300")
        clock.now += 3
        report("crawl", 230, 500, "queued 270")
    assert capsys.readouterr().err.splitlines() == [
        "crawl: 200 of 500 · 40 % · 10/s · 0:10 · 0:30 left · queued 300",
        "crawl: 230 of 500 · 46 % · 10/s · 0:13 · 0:27 left · queued 270",
    ]


def test_compilation_is_said_and_does_not_count_for_the_rate(
    clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = [(5.0, 0.0)]  # seconds before the stage
    monkeypatch.setattr("twinlink.progress._compilation", lambda: compiled[-1])
    with reporter(quiet=False) as report:
        report("match", 0, 40)
        clock.now += 24
        compiled.append((25.0, 20.0))
        report("match", 20, 40, "weighed")
        clock.now += 6
        compiled.append((25.0, 0.0))
        report("match", 30, 40)
    assert capsys.readouterr().err.splitlines() == [
        "match: 20 of 40 · 50 % · 5.0/s · 0:24 · compiling, only once · weighed",
        "match: 30 of 40 · 75 % · 3.0/s · 0:30 · 0:03 left",
    ]


def test_line_is_shown_while_no_report_comes(
    clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twinlink.progress.HEARTBEAT_SECONDS", 0.001)
    monkeypatch.setattr("twinlink.progress._compilation", lambda: (7.0, 7.0))
    with reporter(quiet=False) as report:
        report("match", 0, 40, "candidates")
        clock.now += 7
        shown: list[str] = []
        assert happens(lambda: shown.append(capsys.readouterr().err) or "".join(shown))  # type: ignore[func-returns-value]
    assert "match: 0 of 40 · 0 % · 0:07 · compiling, only once · candidates\n" in "".join(shown)


def test_work_of_unknown_size_has_a_rate_and_no_end(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with reporter(quiet=False) as report:
        report("ingest", 0, None)
        clock.now += 4000
        report("ingest", 1000, None)
    assert capsys.readouterr().err == "ingest: 1000 · 15/min · 1:06:40\n"


def test_work_that_is_not_counted_has_no_number(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with reporter(quiet=False) as report:
        report("report", 0, None, "drawing")
        clock.now += 2
        report("report", 0, None, "drawing")
    assert capsys.readouterr().err == "report: 0:02 · drawing\n"


def test_long_work_does_not_fill_a_log(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with reporter(quiet=False) as report:
        for done in range(10 * 3600):
            report("crawl", done, None)
            clock.now += 1
    assert 600 <= len(capsys.readouterr().err.splitlines()) <= 700  # one a minute, and some more at the beginning


def test_quiet_is_silent(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with reporter(quiet=True) as report:
        report("crawl", 0, 2)
        clock.now += 100
        report("crawl", 2, 2)
    assert capsys.readouterr() == ("", "")


def test_a_program_without_standard_error_has_no_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    (tmp_path / "pause").touch()
    with reporter(quiet=False, pause=tmp_path / "pause") as report:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: (time.sleep(0.1), (tmp_path / "pause").unlink()))
            report("match", 1, 2)
        report("match", 2, 2)
    assert capsys.readouterr().out == ""
    assert not is_watched()


@pytest.mark.parametrize("columns", ["20", "60", "200"])
def test_a_terminal_has_a_line_that_fits(monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    with reporter(quiet=False) as report:
        report("crawl", 10, 40, "rejected [red]2[/red] \x1b[2J http://x/?a[]=1")
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())
    lines = [line for line in re.split(r"[\r\n]+", shown) if line]
    assert "crawl: 10 of 40" in lines[-1]
    assert max(map(len, lines)) <= int(columns)
    if columns == "200":
        assert "25 %" in lines[-1]
        assert "rejected [red]2[/red] �[2J http://x/?a[]=1" in lines[-1]  # neither markup nor a cleared screen


def test_a_dumb_terminal_has_plain_lines(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "dumb")
    with reporter(quiet=False) as report:
        report("crawl", 0, 40)
        clock.now += 10
        report("crawl", 20, 40)
    assert terminal.getvalue() == "crawl: 20 of 40 · 50 % · 2.0/s · 0:10 · 0:10 left\n"


@pytest.mark.parametrize("quiet", [False, True])
def test_work_waits_for_the_pause_to_end_and_says_so(
    clock: Clock, capsys: pytest.CaptureFixture[str], tmp_path: Path, quiet: bool
) -> None:
    pause = tmp_path / "pause"
    with reporter(quiet, pause) as report:
        report("match", 0, 2)
        assert capsys.readouterr().err == ""
        pause.touch()
        os.utime(pause, (0, 0))  # it was left there long ago
        clock.now += 1  # the file is not looked for at every report
        clock.at_sleep = [lambda: None, lambda: None, pause.unlink]
        report("match", 1, 2)
        assert clock.at_sleep == []
        said = capsys.readouterr().err
        assert f"paused: match waits while {pause} exists (since 19" in said
        assert said.endswith("match resumes\n")
        report("match", 2, 2)


def test_work_goes_on_when_who_looked_at_each_pair_has_gone(
    clock: Clock, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pause = tmp_path / "pause"
    hold(pause)
    clock.at_sleep = [lambda: None, lambda: os.utime(pause, (0, 0))]  # no look for a long time
    with reporter(True, pause) as report:
        report("match", 1, 2)
    assert clock.at_sleep == []
    assert pause.exists()
    said = capsys.readouterr().err
    assert "paused: match waits while a reviewer looks at each pair" in said
    assert said.endswith("match resumes\n")


def test_ctrl_c_ends_a_pause(clock: Clock, tmp_path: Path) -> None:
    pause = tmp_path / "pause"
    pause.touch()
    clock.at_sleep = [lambda: None, lambda: signal.raise_signal(signal.SIGINT)]
    with pytest.raises(KeyboardInterrupt), reporter(quiet=True, pause=pause) as report:
        report("match", 0, 2)
    assert pause.exists()


def test_a_pause_left_in_a_run_makes_no_command_hang_in_silence(clock: Clock, tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run")
    run.pause_file.parent.mkdir()
    run.pause_file.touch()
    assert run.paused
    clock.at_sleep = [run.pause_file.unlink]
    done = twinlink("mine", write_toy(tmp_path / "toy"), "--base-url", BASE, "-o", run.path, "--langs", "en,zh", "-q")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("paused: ingest waits")
    assert not run.paused


def test_nor_a_notebook(clock: Clock, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = RunDirectory.create(tmp_path / "run")
    run.pause_file.parent.mkdir()
    run.pause_file.touch()
    clock.at_sleep = [run.pause_file.unlink]
    tl.mine(write_toy(tmp_path / "toy"), out=run.path, langs="en,zh", ingest__base_url=BASE)
    said = capsys.readouterr().err
    assert clock.at_sleep == []
    assert f"waits while {run.pause_file} exists" in said
    assert len(said.splitlines()) == 2


def test_latest_report_is_in_the_file_as_long_as_the_job_works(clock: Clock, tmp_path: Path) -> None:
    file = tmp_path / "progress.json"
    file.write_text('{"stage":"crawl","done":1,"total":2,"detail":"","rate":1.0,"seconds_left":1.0}')  # of a killed job
    with reporter(quiet=True, latest=file) as report:
        assert read_latest(file) is None
        report("match", 0, 400)
        clock.now += 10
        report("match", 100, 400, "round 1 of 4")
        assert read_latest(file) == Latest("match", 100, 400, "round 1 of 4", 10.0, 30.0)
        clock.now += 0.1
        report("match", 101, 400)  # not written again so soon
        assert read_latest(file) == Latest("match", 100, 400, "round 1 of 4", 10.0, 30.0)
        report("report", 0, None, "drawing")  # the first one of its stage, and the only one
        assert read_latest(file) == Latest("report", 0, None, "drawing", 0.0, None)
    assert not file.exists()
    assert read_latest(file) is None
    file.write_text("{")
    assert read_latest(file) is None


def test_callable_gets_each_report(tmp_path: Path) -> None:
    seen: list[str] = []
    toy = write_toy(tmp_path / "toy")
    show = lambda stage, done, total, detail="": seen.append(stage)  # noqa: E731
    tl.mine(str(toy), out=tmp_path / "run", langs="en,zh", base_url=BASE, progress=show)
    assert {"ingest", "match", "report"} <= set(seen)
