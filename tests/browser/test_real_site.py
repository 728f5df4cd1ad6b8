"""Report and review of a real site, where there is one: `.ci/run` looks for real sites beside the checkout."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import twinlink
from tests.browser.walks import home, walk
from twinlink.labels.book import LabelBook

if TYPE_CHECKING:
    from playwright.sync_api import Browser

from tests.browser.watching import Scheme, watched

SITES = os.environ.get("TWINLINK_SITES", "")
MIRROR = Path(SITES, "instguide-en-zhcn-opaque", "site")
DRESSES: tuple[tuple[str, Scheme], ...] = (("desktop", "light"), ("phone", "dark"))

pytestmark = pytest.mark.skipif(not SITES or not MIRROR.is_dir(), reason="TWINLINK_SITES names no folder of real sites")


@pytest.fixture(scope="module")
def real_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a real site with its sentences."""
    run = tmp_path_factory.mktemp("real") / "run"
    base = "http://instguide.example.org/"
    twinlink("mine", MIRROR, "--base-url", base, "-o", run, "--langs", "en,zh", "--align", "-q")
    return run


@pytest.mark.parametrize(("size", "scheme"), DRESSES)
def test_its_report(chromium: Browser, real_run: Path, size: str, scheme: Scheme) -> None:
    address = (real_run / "report.html").as_uri()
    with watched(chromium, address, size, scheme) as watch:
        watch.page.goto(address)
        assert "84 pairs" in " ".join(watch.page.locator("main").inner_text().split())
        watch.check()
        assert watch.requests == [address]


def test_its_review(
    chromium: Browser, real_run: Path, reviewing: Callable[[Path], AbstractContextManager[str]]
) -> None:
    with reviewing(real_run) as address:
        with watched(chromium, home(address), *DRESSES[-1]) as watch:  # where there is least room
            walk(watch, address)
        with watched(chromium, home(address)) as watch:
            watch.page.goto(address)
            watch.page.goto(home(address) + "next")
            before = watch.page.url
            watch.page.keyboard.press("a")
            watch.page.wait_for_function("url => location.href !== url", arg=before)
            watch.check()
    assert [label.verdict for label in LabelBook(real_run).current().values()] == ["accept"]
