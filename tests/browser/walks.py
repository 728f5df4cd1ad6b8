"""The ways that a person goes through the review."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from tests.browser.watching import Watch

__all__ = ["home", "walk"]

VIEWS = ("look", "text", "tags", "sentences")


def home(address: str) -> str:
    """Return what the addresses of a server begin with."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}/"


def walk(watch: Watch, address: str) -> None:
    """Enter, go through the pages of every kind, and check each."""
    page = watch.page
    page.goto(address)
    watch.check()
    page.goto(home(address) + "next")
    pair = page.url.partition("?")[0]
    for view in VIEWS:
        page.goto(f"{pair}?view={view}")
        watch.check()
    for path in ("labels", "report", "graph", f"graph/{pair.split('/')[-1]}", "live"):
        page.goto(home(address) + path)
        watch.check()
