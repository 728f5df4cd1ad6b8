"""A pause holds the process that crawls, too; and whoever ends while it lasts leaves no process behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.calling import twinlink
from tests.loopback import Answer, Server, links, serving
from tests.made_sites import BASE, write_town
from tests.processes import HAS_CHILDREN, are_gone, children, happens, session
from twinlink.config import CrawlSettings
from twinlink.errors import RunLockedError
from twinlink.rundir.directory import RunDirectory
from twinlink.spiders.crawling import CrawlProgress, crawl
from twinlink.spiders.frontier import FrontierReader

PAGES = {f"/{n}.html": links(f"/{n + 1}.html") for n in range(12)} | {"/": links("/0.html"), "/12.html": links()}
SLOWLY = CrawlSettings(delay=0.1, retries=1)
proc = pytest.mark.skipif(not HAS_CHILDREN, reason="needs /proc with children")


@pytest.fixture
def pause(tmp_path: Path) -> Path:
    (tmp_path / "review").mkdir()
    return RunDirectory(tmp_path).pause_file


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a town's pages."""
    folder = tmp_path_factory.mktemp("mined")
    site = write_town(folder / "site", 20)
    assert twinlink("mine", site, "--base-url", BASE, "-o", folder / "run", "--langs", "en,fr").returncode == 0
    return folder / "run"


def pausing_at(path: str, pause: Path, status: int = 200) -> Callable[[str], Answer | None]:
    """Answer, but ask for a pause as soon as a page is asked for that is answered with a status the first time."""
    asked: list[str] = []

    def answer(asked_for: str) -> Answer | None:
        if asked_for != path or asked:
            return PAGES.get(asked_for)
        asked.append(path)
        pause.touch()
        time.sleep(0.5)  # longer than the crawler takes to notice
        return PAGES[path] if status == 200 else Answer(b"busy", status)

    return answer


def test_what_is_in_flight_comes_in_during_a_pause_and_nothing_else_is_asked_for(tmp_path: Path, pause: Path) -> None:
    asked: list[list[str]] = []

    def on_progress(progress: CrawlProgress) -> None:
        if pause.exists() and not asked and progress.fetched == 4:  # with /2.html, whose answer comes in the pause
            for _ in range(2):
                asked.append(list(site.log))
                assert not happens_once_more(site)
            pause.unlink()

    with serving(pausing_at("/2.html", pause)) as site:
        found = crawl([site.url], tmp_path, SLOWLY, on_progress, pause)
    assert asked
    assert asked[0] == asked[-1]
    assert "/3.html" not in asked[0]
    assert found.fetched == len(PAGES)
    assert set(site.fetched().values()) == {1}


def happens_once_more(site: Server) -> bool:
    """Return whether a crawl that asks ten times a second asks for anything within a second."""
    before = len(site.log)
    time.sleep(1)
    return len(site.log) > before


def test_a_request_that_is_to_be_tried_again_waits_as_well(tmp_path: Path, pause: Path) -> None:
    seen: list[int] = []

    def on_progress(progress: CrawlProgress) -> None:
        if pause.exists() and not seen:
            assert not happens_once_more(site)
            seen.append(site.fetched()["/2.html"])
            pause.unlink()

    with serving(pausing_at("/2.html", pause, 500)) as site:
        found = crawl([site.url], tmp_path, SLOWLY, on_progress, pause)
    assert seen == [1]
    assert site.fetched()["/2.html"] == 2
    assert found.fetched == len(PAGES)


@contextmanager
def paused(site: Server, run: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Mine a site until it waits in a pause."""
    command = [sys.executable, "-m", "twinlink", *words, site.url, "-o", str(run), "--set", "crawl.delay=0.1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stderr is not None
            assert any(line.startswith("paused: crawl waits") for line in process.stderr)
            assert happens(lambda: not happens_once_more(site))
            yield process
        finally:
            process.kill()


def archived(run: Path, site: Server) -> list[str]:
    """Return what the archives have an answer of, as often as they have one."""
    found = []
    for path in (run / "warc").iterdir():
        with path.open("rb") as file:
            answers = [record.rec_headers for record in ArchiveIterator(file) if record.rec_type == "response"]
        found += [headers["WARC-Target-URI"].removeprefix(site.url) for headers in answers]
    return sorted(path for path in found if path in PAGES)


@proc
@pytest.mark.parametrize("end", ["SIGHUP", "SIGKILL", "SIGINT"])
def test_job_ended_in_a_pause_leaves_no_process(tmp_path: Path, pause: Path, end: str) -> None:
    with serving(pausing_at("/2.html", pause)) as site:
        with paused(site, tmp_path, "crawl") as process:
            crawlers = children(process.pid)
            assert crawlers
            process.send_signal(signal.Signals[end])
            assert process.wait(60) == (130 if end == "SIGINT" else -signal.Signals[end])
            assert happens(lambda: are_gone(crawlers))
            assert happens(lambda: not session(crawlers))
        n_asked = len(site.log)
        assert len(site.fetched()) < len(PAGES)
        pause.unlink()
        done = twinlink("crawl", site.url, "-o", tmp_path)
        assert (done.returncode, done.stderr.count("another crawl")) == (0, 0)
        assert n_asked < len(site.log)
        assert FrontierReader(tmp_path).counts().done == len(PAGES)
        assert site.fetched() == dict.fromkeys(PAGES, 1)
        assert archived(tmp_path, site) == sorted(PAGES)
    assert FrontierReader(tmp_path).tally() == {}


@proc
def test_a_second_crawl_names_the_first(tmp_path: Path, pause: Path) -> None:
    with serving(pausing_at("/2.html", pause)) as site, paused(site, tmp_path, "crawl") as process:
        (crawler,) = children(process.pid)
        done = twinlink("crawl", site.url, "-o", tmp_path)
        assert done.returncode == 3
        assert f"(process {process.pid}, since 20" in done.stderr
        assert f": twinlink crawl {site.url} -o" in done.stderr
        assert f"`kill {process.pid}`" in done.stderr
        with pytest.raises(RunLockedError) as error:
            crawl([site.url], tmp_path, SLOWLY)
        assert f"another crawl is running here (process {crawler}, since 20" in str(error.value)
        assert f"crawler of process {process.pid} (twinlink crawl" in str(error.value)
        os.kill(crawler, signal.SIGTERM)  # as the message says
        assert happens(lambda: are_gone([crawler]))
        pause.unlink()
        assert process.wait(60) == 4
        assert twinlink("crawl", site.url, "-o", tmp_path).returncode == 0
    assert FrontierReader(tmp_path).counts().done == len(PAGES)


@proc
@pytest.mark.parametrize("end", ["SIGTERM", "SIGKILL", "SIGINT"])
def test_workers_end_with_the_one_they_work_for(mined: Path, tmp_path: Path, end: str) -> None:
    run = RunDirectory(Path(shutil.copytree(mined, tmp_path / "run")))
    run.pause_file.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "twinlink", "align", str(run.path), "--workers", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        try:
            assert happens(lambda: len(children(process.pid)) == 2)
            run.pause_file.touch()  # before, the stage would wait before it starts its workers
            assert any(line.startswith("paused: align waits") for line in process.stderr)
            workers = children(process.pid)
            assert len(workers) == 2
        except AssertionError:
            process.kill()
            raise
        process.send_signal(signal.Signals[end])
        process.wait(60)
        assert happens(lambda: are_gone(workers))
    run.pause_file.unlink()
    done = twinlink("align", run.path)
    assert done.returncode == 0, done.stderr
