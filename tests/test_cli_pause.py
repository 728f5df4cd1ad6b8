"""A pause holds the process that crawls, too, although it is not the one that reports."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.loopback import links, serving
from twinlink.config import CrawlSettings
from twinlink.spiders.crawl import CrawlProgress, crawl

CHILDREN = Path("/proc/self/task")
pytestmark = pytest.mark.skipif(not any(CHILDREN.glob("*/children")), reason="needs /proc with children")


def states() -> Iterator[str]:
    """Yield the states of this process's children, T for one that stands still."""
    for file in CHILDREN.glob("*/children"):
        for number in file.read_text().split():
            with suppress(OSError):  # it has just ended
                yield Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2][0]


def stands_still() -> bool:
    """Wait until a child stands still."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if "T" in states():
            return True
        time.sleep(0.05)
    return False


# It takes longer than the second after which a report counts as held up.
PAGES = {f"/{n}.html": links(f"/{n + 1}.html") for n in range(12)} | {"/": links("/0.html")}
SLOWLY = CrawlSettings(delay=0.3, retries=0)


def test_a_crawl_stands_still_while_its_report_is_held_up(tmp_path: Path) -> None:
    still: list[bool] = []

    def on_progress(progress: CrawlProgress) -> None:
        if not still:
            still.append(stands_still())

    with serving(PAGES.get) as site:
        found = crawl([site.url], tmp_path, SLOWLY, on_progress)
    assert still == [True]
    assert found.fetched == 13  # it goes on afterwards


def test_ctrl_c_in_a_pause_ends_the_crawl(tmp_path: Path) -> None:
    def on_progress(progress: CrawlProgress) -> None:
        assert stands_still()
        raise KeyboardInterrupt

    with serving(PAGES.get) as site, pytest.raises(KeyboardInterrupt):
        crawl([site.url], tmp_path, SLOWLY, on_progress)
    assert "T" not in states()
