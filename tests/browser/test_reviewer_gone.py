"""Mining that stops at each pair waits for somebody who looks, and for nobody else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.test_review_pages import home
from tests.browser.watching import watched
from twinlink.rundir.directory import RunDirectory

if TYPE_CHECKING:
    from playwright.sync_api import Browser

UNTIL_NEXT_LOOK = 21_000  # milliseconds, of the page's own clock


@pytest.fixture
def matching(own_run: Path) -> Iterator[Path]:
    """A run that is being matched, by this process; its pairs are still to come."""
    with RunDirectory(own_run).lock():
        (own_run / "match").rename(own_run / ".match.tmp")
        (own_run / ".match.tmp" / "pairs").rename(own_run / "later")
        (own_run / ".match.tmp" / "pairs").mkdir()
        yield own_run


@contextmanager
def server(run: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Start a review as on a desktop, and give the file that it opens a browser with."""
    command = [sys.executable, "-m", "twinlink", "review", str(run), "--port", "0"]
    screen = {**os.environ, "DISPLAY": ":0", "BROWSER": "echo opened %s"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=screen) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("opened "):
                    yield process, Path(line.split("file://")[1].strip())
                    return
            raise AssertionError("no browser was opened")
        finally:
            process.kill()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_mining_waits_while_a_reviewer_looks_and_not_longer(
    chromium: Browser, matching: Path, end: signal.Signals
) -> None:
    run = RunDirectory(matching)
    with server(matching) as (process, door):
        text = door.read_text(encoding="utf-8")
        address = text.split('href="')[1].split('"')[0]
        with watched(chromium, home(address)) as watch:
            page = watch.page
            page.goto(door.as_uri())
            page.wait_for_url("**/live")
            assert watch.faults == [f"outside request: {door.as_uri()}"]
            watch.faults.clear()
            page.clock.install()
            page.keyboard.press("w")
            page.get_by_role("button", name="Do not stop at pairs").wait_for()
            assert not waits(run)
            for file in (matching / "later").iterdir():
                file.rename(matching / ".match.tmp" / "pairs" / file.name)
            with page.expect_navigation(url="**/pair/**"):
                page.clock.run_for(5_000)
            assert waits(run)
            nobody_has_looked_for_long(run)
            assert not waits(run)
            with page.expect_response("**/looking"):
                page.clock.run_for(UNTIL_NEXT_LOOK)
            assert waits(run)
            watch.check()
        process.send_signal(end)
        process.wait(30)
    if end == signal.SIGKILL:
        nobody_has_looked_for_long(run)
    assert not waits(run)


def waits(run: RunDirectory) -> bool:
    return run.paused


def nobody_has_looked_for_long(run: RunDirectory) -> None:
    os.utime(run.pause_file, (0, 0))
