"""The review in a browser, from the command that a person gives: judge pairs, stop, come back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.conftest import twinlink
from tests.browser.walks import home, walk
from twinlink.labels.book import Label, LabelBook

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.browser.watching import Watch

from tests.browser.watching import SCHEMES, SIZES, watched

Reviewing = Callable[[Path], AbstractContextManager[str]]


def labels(run: Path) -> list[Label]:
    return sorted(LabelBook(run).current().values(), key=lambda label: label.when)


def entered(watch: Watch, address: str) -> Page:
    watch.page.goto(address)
    return watch.page


def judge(page: Page, how: str, key: str) -> None:
    """Press a key, or the button that has it, and wait for the pair that comes next."""
    before = page.url
    if how == "key":
        page.keyboard.press(key)
    else:
        page.locator(f"button[data-key='{key}']").click()
    page.wait_for_function("url => location.href !== url", arg=before)
    page.wait_for_load_state()


def test_every_page_in_both_sizes_and_both_schemes(chromium: Browser, own_run: Path, reviewing: Reviewing) -> None:
    with reviewing(own_run) as address:
        for size, scheme in zip(SIZES, reversed(SCHEMES), strict=True):  # the real site is seen in the other two
            with watched(chromium, home(address), size, scheme) as watch:
                walk(watch, address)


def judge_and_undo(watch: Watch, address: str, run: Path, how: str) -> None:
    """Judge some pairs, and take the last judgement back."""
    page = entered(watch, address)
    page.goto(home(address) + "next")
    place = page.locator("button[data-key='a']").bounding_box()
    for key in ("a", "r", "s", "r"):
        judge(page, how, key)
        assert page.locator("button[data-key='a']").bounding_box() == place  # the mouse stays on the button
    assert [each.verdict for each in labels(run)] == ["accept", "reject", "reject"]
    assert {each.who for each in labels(run)} == {"tester"}
    judge(page, how, "u")
    assert [each.verdict for each in labels(run)] == ["accept", "reject"]
    watch.check()


def test_buttons_judge_as_keys_do(chromium: Browser, own_run: Path, reviewing: Reviewing) -> None:
    with reviewing(own_run) as address, watched(chromium, home(address)) as watch:
        judge_and_undo(watch, address, own_run, "button")


def test_judge_undo_restart(chromium: Browser, own_run: Path, reviewing: Reviewing) -> None:
    with reviewing(own_run) as address, watched(chromium, home(address)) as watch:
        judge_and_undo(watch, address, own_run, "key")
    with reviewing(own_run) as address, watched(chromium, home(address)) as watch:
        page = entered(watch, address)
        page.goto(home(address) + "labels")
        assert page.locator("main").inner_text().count("tester") >= 2
        assert [each.verdict for each in labels(own_run)] == ["accept", "reject"]
        page.locator(".history button", has_text="Accept instead").click()
        page.locator(".notices", has_text="Accepted").wait_for()
        assert page.url == home(address) + "labels"
        assert [each.verdict for each in labels(own_run)] == ["accept", "accept"]
        page.locator(".history button", has_text="Reject instead").first.click()
        page.locator(".notices", has_text="Rejected").wait_for()
        watch.check()
        found = twinlink("evaluate", own_run, "--labels", "--json").stdout
        assert (json.loads(found)["right"], json.loads(found)["wrong"]) == (1, 1)
        watch.check()


def test_a_better_partner(chromium: Browser, own_run: Path, reviewing: Reviewing) -> None:
    with reviewing(own_run) as address, watched(chromium, home(address)) as watch:
        page = entered(watch, address)
        page.goto(home(address) + "next")
        page.keyboard.press("p")
        before = page.url
        page.locator("#partner form button", has_text="Choose").first.click()
        page.wait_for_function("url => location.href.split('#')[0] !== url.split('#')[0]", arg=before)
        old, new = labels(own_run)
        assert (old.verdict, new.verdict) == ("reject", "accept")
        assert len({old.url_a, new.url_a}) + len({old.url_b, new.url_b}) == 3  # one page stays
        watch.check()


def test_search_for_a_partner(chromium: Browser, own_run: Path, reviewing: Reviewing) -> None:
    with reviewing(own_run) as address, watched(chromium, home(address)) as watch:
        page = entered(watch, address)
        page.goto(home(address) + "next")
        page.keyboard.press("/")
        page.keyboard.type("calendar?month=2027")
        page.locator("#found li").first.wait_for()
        assert all("month=2027" in each for each in page.locator("#found li").all_inner_texts())
        watch.check()


def test_pages_are_shown_as_they_look(chromium: Browser, own_run: Path, reviewing: Reviewing) -> None:
    with reviewing(own_run) as address, watched(chromium, home(address)) as watch:
        page = entered(watch, address)
        page.goto(home(address) + "next")
        page.goto(page.url.partition("?")[0] + "?view=look")
        assert [frame.get_attribute("sandbox") for frame in page.locator("iframe").all()] == ["", ""]
        texts = [frame.locator("body").inner_text() for frame in page.frames[1:]]
        assert len(texts) == 2
        assert all(len(text) > 100 for text in texts)
        assert re.search("[一-鿿]", texts[1])
        watch.check()
