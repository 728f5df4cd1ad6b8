"""The report in a browser: opened from a file, as people open it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

from tests.browser.watching import SCHEMES, SIZES, Scheme, watched


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", SIZES)
def test_report_of_the_demo(chromium: Browser, demo_run: Path, size: str, scheme: Scheme) -> None:
    address = (demo_run / "report.html").as_uri()
    with watched(chromium, address, size, scheme) as watch:
        watch.page.goto(address)
        assert watch.page.title()
        assert watch.page.locator("h1").count() == 1
        watch.check()
        assert watch.requests == [address]


def test_report_in_print(chromium: Browser, demo_run: Path) -> None:
    address = (demo_run / "report.html").as_uri()
    with watched(chromium, address) as watch:
        watch.page.emulate_media(media="print")
        watch.page.goto(address)
        watch.check()


@pytest.mark.parametrize("by", ["click", "key"])
def test_tables_sort(chromium: Browser, demo_run: Path, by: str) -> None:
    address = (demo_run / "report.html").as_uri()
    with watched(chromium, address) as watch:
        watch.page.goto(address)
        table = watch.page.locator("table:has(th button)").first
        button = table.locator("th button").last
        column = table.locator("th").count() - 1

        def cells() -> list[str]:
            rows = table.locator("tbody tr")
            return rows.evaluate_all("(rows, column) => rows.map(row => row.cells[column].innerText)", column)

        before = cells()
        for expected in ("ascending", "descending"):
            button.click() if by == "click" else button.press("Enter")
            sorts = {cell.get_attribute("aria-sort") for cell in table.locator("th[aria-sort]").all()}
            assert sorts & {"ascending", "descending"}, expected
            assert sorted(cells()) == sorted(before)
        watch.check()
