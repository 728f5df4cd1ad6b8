"""A person watches the mining: pages come, it waits when told to, and each pair is looked at as it is found."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.archives import respond
from tests.browser.test_review_pages import Reviewing, home, judge, labels
from tests.browser.watching import grave_findings, watched
from tests.loopback import Answer, serving
from tests.review.conftest import serving as serving_review
from tests.review.fakes import FakeRun
from twinlink.errors import RunError
from twinlink.labels.book import LabelBook
from twinlink.review.app import routes_pair
from twinlink.review.records import Live

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

N_NOTICES = 30  # in each language of the patient site: more than it lets go before a person has pressed a key
N_LET_GO, N_IN_FLIGHT = 5, 4
N_PATIENCE = 600  # seconds that the crawl waits for an answer
PATIENTLY = [
    f"--set=crawl.{each}" for each in (f"timeout={N_PATIENCE}", f"concurrency={N_IN_FLIGHT}", "autothrottle=false")
]
N_SITES = 80  # in the archive: matching them takes longer than the test needs to see the first pairs
N_SETTLING = 30  # seconds that a pause may take on a machine with much to do
LOOKS = 2


def notice(lang: str, number: int) -> bytes:
    if lang == "en":
        text = f"<title>Notice {number}</title><p>This is notice {number}: fee {number * 7}, form K-{number}.</p>"
    else:
        text = f"<title>公告 {number}</title><p>這是公告 {number}：費用 {number * 7}，表格 K-{number}。</p>"
    return f"<html lang={lang}>{text}<p>{number * 3} / {number * 11}</p>".encode()


def patient_site(allowed: threading.Semaphore) -> Callable[[str], Answer | None]:
    """Return the answers of a site: each waits until it is allowed, so that a crawl never ends too early for the test.

    How fast the machine is decides nothing.
    """
    pages = {f"/{lang}/{k}.html": Answer(notice(lang, 90_000 + k)) for lang in ("en", "zh") for k in range(N_NOTICES)}
    pages["/"] = Answer("".join(f"<a href={path}>{path}</a> " for path in pages).encode())

    def answer(path: str) -> Answer | None:
        allowed.acquire(timeout=N_PATIENCE)
        return pages.get(path, Answer(status=404))

    return answer


def many_sites(archive: Path) -> Path:
    for site in range(N_SITES):
        for lang in ("en", "zh"):
            for number in range(1000 * site, 1000 * site + 3):
                respond(archive, f"http://site{site}.example/{lang}/{number % 1000}.html", notice(lang, number + 17))
    return archive


@contextmanager
def mining(run: Path, *inputs: str | Path) -> Iterator[subprocess.Popen[str]]:
    """Mine in a process of its own, and wait until it has begun."""
    command = [sys.executable, "-m", "twinlink", "mine", *map(str, inputs), "-o", str(run), "--langs", "en,zh"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            while not (run / "config.toml").exists():
                assert process.poll() is None, process.stdout and process.stdout.read()
                time.sleep(0.02)
            yield process
        finally:
            process.kill()


@contextmanager
def held_at_pairs(process: subprocess.Popen[str], pairs: Path) -> Iterator[None]:
    """Stop a process as soon as its first pairs are stored, and let it go on afterwards.

    The live view asks for a pause when it looks the next time; a fast machine has matched all sites by then.
    """
    while not (pairs.is_dir() and any(pairs.iterdir())):
        assert process.poll() is None, process.stdout and process.stdout.read()
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)


def fetched(page: Page) -> int:
    """Return how many pages the live view says that the crawl has fetched."""
    counts = page.locator("ol.stages li", has_text="fetch pages").first.inner_text()
    found = re.search(r"fetched\s+([\d\s,]+)", counts)
    return int(re.sub(r"\D", "", found[1])) if found else 0


def shows_fetched(page: Page, n: int) -> None:
    """Wait until the live view says that the crawl has fetched so many pages."""
    page.wait_for_function(r"n => Number(document.body.innerText.match(/fetched\s+(\d+)/i)?.[1]) === n", arg=n)


def stays(page: Page, count: Callable[[], int]) -> int:
    """Wait until a number has stopped to grow, look at it some times more, and return it."""
    for _ in range(N_SETTLING):
        before = count()
        page.wait_for_timeout(1000)
        if count() == before:
            break
    for _ in range(LOOKS):
        with page.expect_response(lambda response: response.url.endswith("/live")):
            pass
        assert count() == before
    return before


def test_mining_is_watched(chromium: Browser, tmp_path: Path, reviewing: Reviewing) -> None:
    run, allowed = tmp_path / "run", threading.Semaphore(N_LET_GO)
    archive = many_sites(tmp_path / "sites.warc.gz")
    with (
        serving(patient_site(allowed)) as site,
        mining(run, site.url, archive, *PATIENTLY) as process,
        reviewing(run) as address,
        watched(chromium, home(address)) as watch,
    ):
        page = watch.page
        page.set_default_timeout(60_000)
        page.goto(address)
        assert page.url == home(address) + "live"
        page.evaluate("window.isSamePage = true")
        page.locator("section", has_text="Latest pages").locator("li").first.wait_for()
        assert fetched(page) <= N_LET_GO
        allowed.release(N_LET_GO)
        shows_fetched(page, 2 * N_LET_GO)
        n_pages = 2 * N_LET_GO + N_IN_FLIGHT
        while len(site.fetched()) < n_pages:  # as many as it may have in flight
            assert process.poll() is None
            page.wait_for_timeout(20)

        page.keyboard.press("p")
        page.get_by_role("heading", name="Mining is paused").wait_for()
        n_asked = stays(page, lambda: len(site.log))
        assert fetched(page) == 2 * N_LET_GO
        allowed.release(N_IN_FLIGHT)
        shows_fetched(page, n_pages)  # what was in flight is completed
        assert stays(page, lambda: fetched(page)) == len(site.fetched()) == n_pages < 2 * N_NOTICES
        assert len(site.log) == n_asked  # and nothing more is asked for
        assert process.poll() is None
        watch.check()

        page.keyboard.press("w")
        page.get_by_role("button", name="Do not stop at pairs").wait_for()
        page.keyboard.press("p")
        page.get_by_role("button", name="Pause").wait_for()
        assert page.evaluate("window.isSamePage")  # all of that came in without a reload
        allowed.release(2 * N_NOTICES)
        with held_at_pairs(process, run / ".match.tmp" / "pairs"):
            page.wait_for_url("**/pair/**", timeout=180_000)
        assert len(site.log) > n_asked

        assert page.locator("h1").inner_text() == "A pair that was just found"
        assert (run / "review" / "pause").exists()
        assert len(list((run / ".match.tmp" / "pairs").iterdir())) < N_SITES
        watch.check()
        for key in ("a", "s", "r"):
            judge(page, "key", key)
            assert page.locator("h1").inner_text() == "A pair that was just found"
        assert [each.verdict for each in labels(run)] == ["accept", "reject"]
        assert process.poll() is None

        page.keyboard.press("w")
        page.wait_for_url("**/live")
        page.evaluate("window.isSamePage = true")
        page.get_by_role("heading", name="Mining is done").wait_for(timeout=180_000)
        page.get_by_role("heading", name=re.compile(r"Pairs: \d+")).wait_for()
        assert page.evaluate("window.isSamePage")
        assert process.wait(60) == 0
        page.keyboard.press("Enter")
        page.wait_for_url("**/queue")
        assert page.locator("main").inner_text().count("accepted") >= 1
        watch.check()


class FailingRun(FakeRun):
    """A run whose progress cannot be told at times."""

    fails = False

    def live(self) -> Live:
        if self.fails:
            raise RunError("a table of this run cannot be read")
        return super().live()


def test_view_tells_an_error_and_goes_on(chromium: Browser, tmp_path: Path) -> None:
    run = FailingRun(working=True)
    with serving_review(run, LabelBook(tmp_path)) as served, watched(chromium, served.base) as watch:
        page = watch.page
        page.goto(served.address)
        page.goto(f"{served.base}/live")
        page.get_by_role("heading", name="Mining", exact=True).wait_for()
        page.evaluate("window.isSamePage = true")
        watch.check()

        run.fails = True
        problem = page.get_by_role("alert").filter(has_text="a table of this run cannot be read")
        problem.wait_for()
        with page.expect_response(lambda response: response.status == 500):  # it asks again
            pass
        assert page.get_by_role("heading", name="Mining", exact=True).is_visible()
        assert page.title() == "Live – twinlink"
        assert watch.faults
        assert all("status of 500" in fault for fault in watch.faults)  # as the browser says it
        watch.faults.clear()
        assert grave_findings(page) == []

        run.fails, run.working = False, False
        page.get_by_role("heading", name="Nothing is being mined").wait_for()
        assert problem.count() == 0
        assert page.evaluate("window.isSamePage")
        watch.faults.clear()
        watch.check()


def test_pair_whose_page_takes_long_is_shown(
    chromium: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, ready = FakeRun(0, working=True), threading.Event()
    judging = routes_pair._judging

    def slowly(*of_pair: Any) -> dict[str, Any]:
        ready.wait(60)
        return judging(*of_pair)

    monkeypatch.setattr(routes_pair, "_judging", slowly)
    with serving_review(run, LabelBook(tmp_path)) as served, watched(chromium, served.base) as watch:
        page = watch.page
        page.goto(served.address)
        page.wait_for_url("**/live")
        page.keyboard.press("w")
        page.get_by_role("button", name="Do not stop at pairs").wait_for()
        with page.expect_request("**/pair/**"):
            run.live_pairs = 1
        before = len(watch.requests)
        page.wait_for_timeout(LOOKS * 1500)  # the view would ask again, and be sent to the pair once more
        assert watch.requests[before:] == []
        ready.set()
        page.wait_for_url("**/pair/**")
        assert page.locator("h1").inner_text() == "A pair that was just found"
        watch.check()
