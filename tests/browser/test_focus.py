"""By keyboard alone: everything is reached, and what has the focus is to be seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.test_review_pages import Reviewing, home
from tests.browser.watching import SIZES, watched

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_FOCUS = """() => {
    const focused = document.activeElement, bar = document.querySelector(".act").getBoundingClientRect();
    const box = focused.getBoundingClientRect(), style = getComputedStyle(focused);
    const isCovered = box.top >= bar.top - 2 && box.bottom <= bar.bottom + 2 && !focused.closest(".act");
    return {
        place: window.reachable.indexOf(focused),
        name: focused.outerHTML.slice(0, 120),
        isMarked: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
        isSeen: !isCovered && box.bottom > 0 && box.top < innerHeight,
    };
}"""
_REACHABLE = """() => {
    document.querySelectorAll("details").forEach(each => { each.open = true; });
    const all = document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']");
    // of the choices of a fieldset one takes the focus
    window.reachable = [...all].filter(each => each.checkVisibility() && !(each.type === "radio" && !each.checked));
    return window.reachable.length;
}"""


def focused_ones(page: Page, key: str, times: int) -> list[dict[str, Any]]:
    found = []
    for _ in range(times):
        page.keyboard.press(key)
        found.append(page.evaluate(_FOCUS))
    return [each for each in found if each["place"] >= 0]


@pytest.mark.parametrize("size", SIZES)
def test_what_has_the_focus_is_seen(chromium: Browser, demo_run: Path, reviewing: Reviewing, size: str) -> None:
    with reviewing(demo_run) as address, watched(chromium, home(address), size, reduced_motion="reduce") as watch:
        page = watch.page
        page.goto(address)
        page.goto(home(address) + "next")
        n_reachable = page.evaluate(_REACHABLE)
        for key in ("Tab", "Shift+Tab"):
            found = focused_ones(page, key, n_reachable + 5)
            assert {each["place"] for each in found} == set(range(n_reachable))
            assert [each["name"] for each in found if not (each["isMarked"] and each["isSeen"])] == []
        watch.check()
