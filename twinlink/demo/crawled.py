"""Truth of a crawl of the demo site: that of its pages, and the months of its calendar that were crawled.

The calendar has no end, so no list can have all of its months. A crawl has some; two pages that the server makes for
the same month, one in each language, say the same by construction.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from twinlink.demo.layout import LANGUAGES
from twinlink.demo.odd import CALENDAR, REGISTER
from twinlink.demo.site import DemoSite
from twinlink.demo.values import YEAR

_FIRST = f"month={YEAR}-01"  # the month of a calendar's address without a query


class CrawledTruth(NamedTuple):
    """The gold list of a crawl of the demo site."""

    gold: Path
    n_months: int
    """Pairs in it that are months of the calendar."""
    n_calendar_pages: int
    """Pages of the calendar that were crawled, in both languages."""


def write_crawled_truth(site: DemoSite, urls: Iterable[str]) -> CrawledTruth:
    """Write the gold list of a crawl, and the files beside it, into the folder ``crawled`` of a demo site.

    Parameters
    ----------
    site : DemoSite
        Its own files remain as they are: they fit the pages in its folder.
    urls : iterable of str
        Addresses of the pages that were crawled, on any host.
    """
    months = _months(urls)
    both = sorted(months[0].keys() & months[1].keys())
    pages = [(side, month, url) for side in (0, 1) for month, url in sorted(months[side].items())]
    twins = [(side, url) for side, month, url in pages if month in ("", _FIRST) and {"", _FIRST} <= months[side].keys()]
    added: dict[str, list[tuple[object, ...]]] = {
        "gold.tsv": [(months[0][month], months[1][month]) for month in both],
        "ignore.tsv": [],
        "equiv.tsv": [(f"calendar-{side}", "AB"[side], url) for side, url in twins],
        "pages.tsv": [(url, "AB"[side], LANGUAGES[side], 0, 0, "", "calendar") for side, _, url in pages if "?" in url],
    }
    folder = site.folder / "crawled"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, rows in added.items():
        text = (site.folder / name).read_text(encoding="utf-8")
        more = "".join("\t".join(map(str, row)) + "\n" for row in rows)
        (folder / name).write_text(text + more, encoding="utf-8")
    (folder / "unscored.txt").write_text("".join(f"{url}\n" for url in REGISTER), encoding="utf-8")
    return CrawledTruth(folder / "gold.tsv", len(both), len(pages))


def _months(urls: Iterable[str]) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the query → address without host of each page of the calendar, by side."""
    found: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for parts in map(urlsplit, urls):
        if parts.path in CALENDAR:
            query = f"?{parts.query}" if parts.query else ""
            found[CALENDAR.index(parts.path)][parts.query] = parts.path + query
    return found
