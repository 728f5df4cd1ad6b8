"""Report and review in Firefox; the other tests of this room show in Chromium what each page does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.browser.foxes import Fox, firefox, missing_firefox
from tests.browser.walks import VIEWS, home
from twinlink.labels.book import LabelBook

pytestmark = pytest.mark.skipif(bool(missing_firefox()), reason=missing_firefox())

Reviewing = Callable[[Path], AbstractContextManager[str]]


@pytest.fixture
def fox() -> Iterator[Fox]:
    with firefox() as opened:
        yield opened


def test_an_error_is_noticed(fox: Fox, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<script>missing()</script><p style='width: 9999px'>wide", encoding="utf-8")
    fox.open(page.as_uri())
    assert fox.run("return document.scrollingElement.scrollWidth") > 9000
    with pytest.raises(AssertionError, match=r"page\.html"):
        fox.check(page.as_uri())
    fox.run("document.querySelector('p').remove()")
    with pytest.raises(AssertionError, match="missing is not defined"):
        fox.check(page.as_uri())


def test_report(fox: Fox, demo_run: Path) -> None:
    address = (demo_run / "report.html").as_uri()
    fox.open(address)
    fox.check(address)
    before = fox.run("return [...document.querySelectorAll('th[aria-sort]')].map(each => each.ariaSort)")
    fox.run("[...document.querySelectorAll('table th button')].at(-1).click()")
    assert fox.run("return [...document.querySelectorAll('th[aria-sort]')].map(each => each.ariaSort)") != before
    fox.narrow()
    fox.check(address)


def test_review(fox: Fox, own_run: Path, reviewing: Reviewing) -> None:
    with reviewing(own_run) as address:
        fox.open(address)
        fox.check(home(address))
        fox.go("\ue007")  # Enter opens the first pair
        pair = fox.driver.get_url()
        assert "/pair/" in pair
        for key, verdict in (("a", "accept"), ("r", "reject")):
            fox.go(key)
            assert max(LabelBook(own_run).current().values(), key=lambda each: each.when).verdict == verdict
        fox.narrow()
        path = pair.partition("?")[0]
        views = [f"{path}?view={view}" for view in VIEWS]
        for place in (*views, *(home(address) + name for name in ("", "labels", "report", "graph", "live"))):
            fox.open(place)
            fox.check(home(address))
