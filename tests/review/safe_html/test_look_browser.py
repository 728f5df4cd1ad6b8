"""Hostile pages in Chromium without a sandbox and without a policy: nothing runs, nothing is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browsers import needs_browser
from tests.loopback import Answer, Server, serving
from tests.review.hostile import OWN_PICTURE, VECTORS, hostile_page
from twinlink.review.records import Document
from twinlink.review.safe_html.look import look
from twinlink.spiders.browser.chromium import find_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = needs_browser

# The last line of defence is taken away: what is tested is the page itself.
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
_READ_MARK = "window.marker instanceof Node ? null : window.marker"  # an element of that name is no mark
_PAGE_WIDE = ("plaintext", "script-unclosed")  # swallow what comes behind them


def cleaned(text: str, trap: str) -> str:
    page = look(Document(f"{trap}/dir/", text), lambda url: OWN_PICTURE)
    assert _POLICY.search(page)
    return _POLICY.sub("", page)


@pytest.fixture(scope="module")
def trap() -> Iterator[Server]:
    """A server that has each hostile page cleaned, and as it is; whatever else is asked for is in its log."""

    def answer(path: str) -> Answer | None:
        kind, _, name = path.strip("/").partition("/")
        if kind == "frames":
            return Answer("".join(f"<iframe name={name} src=/clean/{name}></iframe>" for name in VECTORS).encode())
        if kind == "clean" and name == "all":
            return Answer(cleaned(everything(site.url), site.url).encode())
        if kind in {"clean", "raw"} and name in VECTORS:
            text = hostile_page(name, site.url)
            return Answer((cleaned(text, site.url) if kind == "clean" else text).encode())
        return Answer(status=404)

    with serving(answer) as site:
        yield site


def everything(url: str) -> str:
    return "\n".join(hostile_page(name, url) for name in VECTORS if name not in _PAGE_WIDE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with pytest.importorskip("playwright.sync_api").sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield opened
        opened.close()


def visit(browser: Browser, trap: Server, path: str) -> tuple[object, list[str]]:
    """Open a page, do what a person may do to it, and return its mark and all that was asked for."""
    del trap.log[:]
    context = browser.new_context()
    page = context.new_page()
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.goto(f"{trap.url}{path}", wait_until="load")
    for element in page.query_selector_all("a, button, input, select, [id=click], summary"):
        element.evaluate("node => node.scrollIntoView()")
        element.dispatch_event("click")
        element.dispatch_event("mouseover")
        element.dispatch_event("focus")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_load_state("networkidle")
    mark = page.evaluate(_READ_MARK)
    context.close()
    outside = [url for url in asked if not url.startswith("data:") and url != f"{trap.url}{path}"]
    return mark, outside + [line for line in trap.log if line not in {path, "/favicon.ico"}]


@pytest.mark.parametrize("name", ["script", "img-onerror", "css-url", "svg-onload", "iframe-srcdoc"])
def test_trap_catches_what_is_not_cleaned(browser: Browser, trap: Server, name: str) -> None:
    mark, asked = visit(browser, trap, f"/raw/{name}")
    assert mark or asked


def test_all_hostile_pages_at_once_run_nothing_and_ask_for_nothing(browser: Browser, trap: Server) -> None:
    assert visit(browser, trap, "/clean/all") == (None, [])


def test_each_hostile_page_runs_nothing_and_asks_for_nothing(browser: Browser, trap: Server) -> None:
    """Each in a frame of its own, without a sandbox: what it does shows in requests and marks."""
    del trap.log[:]
    context = browser.new_context()
    page = context.new_page()
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page.goto(f"{trap.url}/frames/", wait_until="load")
    click = "for (const node of document.querySelectorAll('#click, [id=click]')) node.click()"
    marks = {frame.name: frame.evaluate(f"{click}; {_READ_MARK}") for frame in page.frames}
    page.wait_for_load_state("networkidle")
    where = {frame.url for frame in page.frames}
    mark_of_top = page.evaluate("window.marker ?? null")
    context.close()
    assert {name for name in marks if name} == set(VECTORS)
    assert {name for name, mark in marks.items() if mark} == set()
    assert mark_of_top is None
    clean = {f"{trap.url}/clean/{name}" for name in VECTORS} | {f"{trap.url}/frames/"}
    assert where == clean
    assert [url for url in asked if url not in clean and not url.startswith("data:")] == []
    assert {f"{trap.url}{path}" for path in trap.log} - clean <= {f"{trap.url}/favicon.ico"}


def test_links_go_nowhere_and_pictures_of_ours_are_shown(browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    text = "<style>a:link{color:rgb(1,2,3)} p{position:fixed}</style><a href=http://a.example/>x</a><img src=a><p>y"
    page.set_content(look(Document("http://www.example.org/", text), lambda url: OWN_PICTURE))
    page.click("a")
    assert page.url == "about:blank"
    assert page.evaluate("document.images[0].naturalWidth") == 1
    assert page.evaluate("getComputedStyle(document.querySelector('a')).color") == "rgb(1, 2, 3)"
    assert page.evaluate("getComputedStyle(document.querySelector('p')).position") == "absolute"
    assert page.get_attribute("a", "title") == "http://a.example/"
    context.close()
