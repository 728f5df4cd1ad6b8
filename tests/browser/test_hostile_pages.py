"""Hostile pages, mined and shown as all others are: they run nothing, ask for nothing and lead nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import twinlink
from tests.browser.test_review_pages import Reviewing, home
from tests.browser.watching import watched
from tests.loopback import Answer, Server, serving
from tests.review.hostile import VECTORS, hostile_page
from twinlink.review.reading.run_view import RunView

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Frame, Page

    from tests.browser.watching import Watch

BASE = "http://hostile.example/"
TABLE = "table"
TABLE_ROWS = 10_000
MARK = "window.marker instanceof Node ? null : window.marker ?? null"  # an element of that name is no mark
TOUCH = """const active = document.querySelectorAll("a, area, button, input, select, summary, #click");
for (const node of [...active].slice(0, 40)) {
    node.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}));
    node.focus();
    node.click();
}"""
# Of each kind the ones that need a person, or a frame, or that lead away.
SHOWN = (
    "script",
    "javascript-link",
    "data-link",
    "target-top",
    "iframe-srcdoc",
    "form-action",
    "meta-refresh",
    "base",
    "css-exfiltration-has",
    "svg-animate",
    "clobber",
    "bidi",
)


@pytest.fixture(scope="module")
def trap() -> Iterator[Server]:
    """A server that nothing may be asked of."""
    with serving(lambda path: Answer(b"caught")) as server:
        yield server


@pytest.fixture(scope="module")
def hostile_run(trap: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each vector on a page of its own, with an innocent translation, and a table of 5 MB, mined."""
    folder = tmp_path_factory.mktemp("hostile")
    for lang in ("en", "tc"):
        (folder / "mirror" / lang).mkdir(parents=True)
    for number, name in enumerate((*VECTORS, TABLE), 2000):
        evil = big_table() if name == TABLE else hostile_page(name, trap.url)
        english = (
            f"<html lang=en><title>Notice {number}</title><h1>Notice {number}</h1><p>This is notice {number} "
            f"of the office: fee {number * 7}, form K-{number}.</p><p>Opening hours {number * 3}.</p>{evil}"
        )
        chinese = (
            f"<html lang=zh-Hant><title>公告 {number}</title><h1>公告 {number}</h1><p>這是本署的公告 {number}："
            f"費用 {number * 7}，表格 K-{number}。</p><p>辦公時間 {number * 3}。</p>"
        )
        (folder / "mirror" / "en" / f"{name}.html").write_text(english, encoding="utf-8")
        (folder / "mirror" / "tc" / f"{name}.html").write_text(chinese, encoding="utf-8")
    twinlink("mine", folder / "mirror", "--base-url", BASE, "--langs", "en,zh", "-o", folder / "run", "-q")
    return folder / "run"


def big_table() -> str:
    long = "a long remark " * 27
    cells = "".join(
        f"<tr onmouseover=window.marker=1><td>row {row}</td><td style='background:url(//x.example/{row})'>fee {row}"
        f"</td><td><a href=javascript:window.marker=1>{row * row}</a></td><td>{long}</td></tr>\n"
        for row in range(TABLE_ROWS)
    )
    assert len(cells) > 5_000_000
    return f"<table>{cells}</table>"


def numbers(run: Path, name: str) -> tuple[int, int]:
    tables = RunView(run).read(lambda tables: tables)
    a, b = (tables.page_of(f"{BASE}{lang}/{name}.html") for lang in ("en", "tc"))
    assert a is not None
    assert b is not None
    return a, b


def marks(page: Page) -> list[object]:
    return [mark for frame in page.frames if (mark := frame.evaluate(MARK)) is not None]


def touch(frame: Frame) -> None:
    """Do to a page what a person may do to it; not by Playwright's clicks, which need a script in the page."""
    frame.evaluate(TOUCH)


def steady(watch: Watch) -> list[str]:
    """Return where a page will go from now on."""
    went: list[str] = []
    page = watch.page
    page.on("framenavigated", lambda frame: went.append(frame.url))
    return went


def test_the_trap_would_notice(chromium: Browser, trap: Server) -> None:
    with watched(chromium, trap.url) as watch:
        watch.page.goto(f"{trap.url}/")
        watch.page.set_content(hostile_page("img", trap.url) + hostile_page("img-onerror", trap.url))
        watch.page.wait_for_function("window.marker")
        assert marks(watch.page) == [1]
    assert "/img" in trap.log


def test_they_are_pairs_as_others_are(hostile_run: Path) -> None:
    pairs = RunView(hostile_run).pairs
    found = set(zip(pairs["url_a"], pairs["url_b"], strict=True))
    right = {(f"{BASE}en/{name}.html", f"{BASE}tc/{name}.html") for name in (*VECTORS, TABLE)}
    assert found <= right
    assert len(found) > 0.8 * len(right)


def test_every_one_in_its_frame(chromium: Browser, hostile_run: Path, trap: Server, reviewing: Reviewing) -> None:
    pages = {name: numbers(hostile_run, name)[0] for name in VECTORS}
    with reviewing(hostile_run) as address, watched(chromium, home(address)) as watch:
        page = watch.page
        page.goto(address)
        del trap.log[:]
        page.evaluate(
            """async pages => {
                const frames = pages.map(number => {
                    const frame = document.createElement("iframe");
                    frame.setAttribute("sandbox", "");
                    frame.src = `/look/${number}`;
                    return frame;
                });
                await Promise.all(frames.map(frame => new Promise(resolve => {
                    frame.addEventListener("load", resolve);
                    document.body.append(frame);
                })));
            }""",
            [str(number) for number in pages.values()],  # a number of JavaScript's would not hold them
        )
        went = steady(watch)
        assert [frame.url for frame in page.frames[1:]] == [f"{home(address)}look/{each}" for each in pages.values()]
        for frame in page.frames[1:]:
            touch(frame)
        page.wait_for_load_state("networkidle")
        assert marks(page) == []
        assert went == []
        assert watch.faults == []
    assert trap.log == []


def test_views_of_hostile_pairs(chromium: Browser, hostile_run: Path, trap: Server, reviewing: Reviewing) -> None:
    with reviewing(hostile_run) as address, watched(chromium, home(address)) as watch:
        page = watch.page
        page.goto(address)
        del trap.log[:]
        for name in SHOWN:
            a, b = numbers(hostile_run, name)
            for view in ("look", "text", "tags"):
                shown = f"{home(address)}pair/{a}/{b}?view={view}"
                page.goto(shown, wait_until="networkidle" if view == "look" else "load")
                went = steady(watch)
                for frame in page.frames[1:]:
                    touch(frame)
                assert len(page.frames) == (3 if view == "look" else 1), (name, view)
                assert marks(page) == [], (name, view)
                assert (page.url, went) == (shown, []), (name, view)
                assert watch.faults == [], (name, view)
        watch.check()
    assert trap.log == []


def test_a_table_of_five_megabytes(chromium: Browser, hostile_run: Path, trap: Server, reviewing: Reviewing) -> None:
    a, b = numbers(hostile_run, TABLE)
    with reviewing(hostile_run) as address, watched(chromium, home(address)) as watch:
        page = watch.page
        page.set_default_timeout(60_000)
        page.goto(address)
        del trap.log[:]
        for view in ("text", "tags"):
            page.goto(f"{home(address)}pair/{a}/{b}?view={view}")
            assert page.locator("main tr").count() < 2_000, view
            watch.check()
        page.goto(f"{home(address)}pair/{a}/{b}?view=look")
        page.wait_for_load_state("networkidle")
        frame = page.frames[1]
        assert frame.locator("tr").count() > 1_000
        touch(frame)
        assert marks(page) == []
        watch.check()
    assert trap.log == []
