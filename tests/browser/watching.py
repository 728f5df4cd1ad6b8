"""A page that is watched: nothing may go wrong in it that a person who looks at it would not see."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Error, Page, Request

__all__ = ["SCHEMES", "SIZES", "Scheme", "Watch", "watched"]

SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
GRAVE = {"serious", "critical"}
LOCAL = {"data", "blob", "about"}
_CUT_CAPTIONS = """[...document.querySelectorAll(".scroll caption, .scrolling caption")].filter(each =>
    each.getBoundingClientRect().right > each.closest(".scroll, .scrolling").getBoundingClientRect().right + 1
).map(each => each.innerText)"""


class Watch:
    """What went wrong in a page since it was opened.

    Parameters
    ----------
    page : Page
        An empty page.
    home : str
        What the addresses of all its requests begin with.
    """

    def __init__(self, page: Page, home: str) -> None:
        self.page, self.home = page, home
        self.faults: list[str] = []
        self.requests: list[str] = []
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)
        page.on("request", self._on_request)
        page.on("dialog", self._on_dialog)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.faults.append(f"console {message.type}: {message.text} ({message.location.get('url')})")

    def _on_error(self, error: Error) -> None:
        self.faults.append(f"script: {error}")

    def _on_dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _on_request(self, request: Request) -> None:
        self.requests.append(request.url)
        if urlsplit(request.url).scheme not in LOCAL and not request.url.startswith(self.home):
            self.faults.append(f"outside request: {request.url}")

    def check(self, *, wide: bool = False) -> None:
        """Fail if anything went wrong, if axe finds a grave fault, if a caption is cut, or if the page is too wide."""
        assert self.faults == []
        assert grave_findings(self.page) == []
        assert self.page.evaluate(_CUT_CAPTIONS) == []
        if not wide:
            assert self.page.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0, self.page.url


def grave_findings(page: Page) -> list[str]:
    """Return what axe-core finds serious or critical, one readable line each."""
    # A page that is shown is as its author made it; a path to each element, which takes long, nobody reads here.
    options = {"resultTypes": ["violations"], "iframes": False, "selectors": False}
    page.evaluate(Axe().axe_script)
    violations: list[dict[str, Any]] = page.evaluate("async options => (await axe.run(options)).violations", options)
    return [
        f"{found['id']}: {found['help']}: {node['html'][:200]} ({node['failureSummary']})"
        for found in violations
        if found["impact"] in GRAVE
        for node in found["nodes"]
    ]


@contextmanager
def watched(
    browser: Browser, home: str, size: str = "desktop", scheme: Scheme = "light", **options: Any
) -> Iterator[Watch]:
    """Give a page of a browser context of its own."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **options)
    context.set_default_timeout(20_000)
    try:
        yield Watch(context.new_page(), home)
    finally:
        context.close()
