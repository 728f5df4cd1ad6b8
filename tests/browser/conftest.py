"""Debian's Chromium for all tests of this room, and a demo run to look at; one worker has them all."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browsers import needs_browser
from twinlink.demo import serve, write_site
from twinlink.demo.site import MIN_PAGES
from twinlink.spiders.browser.chromium import find_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOM = Path(__file__).parent
SWITCHES = ("--no-sandbox", "--disable-features=IsolateSandboxedIframes")
"""All frames of a page share one process: what a sandboxed one may do is the same, and a hundred load faster."""
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\S*")


@pytest.hookimpl(tryfirst=True)  # before the marks are looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if ROOM in item.path.parents:
            item.add_marker(needs_browser)
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="module")  # as long as it is open, nothing else in this process can run an event loop
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=SWITCHES)
        yield browser
        browser.close()


def twinlink(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "twinlink", *map(str, arguments)], capture_output=True, text=True, check=True
    )


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a small demo site with its sentences; not to be written to."""
    folder = tmp_path_factory.mktemp("demo")
    site = write_site(folder / "site", MIN_PAGES)
    with serve(site.folder) as base:
        starts = [base.rstrip("/") + path for path in site.seeds]
        twinlink("mine", *starts, "-o", folder / "run", "--lexicon", site.lexicon, "--langs", "en,zh", "--align", "-q")
    return folder / "run"


@pytest.fixture
def own_run(demo_run: Path, tmp_path: Path) -> Path:
    """A demo run that a test may write to."""
    return Path(shutil.copytree(demo_run, tmp_path / "run"))


@pytest.fixture
def reviewing() -> Callable[[Path], AbstractContextManager[str]]:
    """Start the command that a person would, and give the address that it tells."""

    @contextmanager
    def start(run: Path) -> Iterator[str]:
        command = [sys.executable, "-m", "twinlink", "review", str(run), "--no-open", "--port", "0", "--who", "tester"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            try:
                assert process.stdout is not None
                said = ""
                for line in process.stdout:
                    said += line
                    if found := ADDRESS.search(line):
                        yield found[0]
                        return
                raise AssertionError(f"no address told:\n{said}")
            finally:
                process.terminate()

    return start
