"""What a crawl reads of an answer, here and in a process of its own."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.processes import HAS_CHILDREN, are_gone, children, happens
from twinlink.pages.parser import ParsedPage, parse_page
from twinlink.spiders.reader.client import ReaderProcess, reader_memory
from twinlink.spiders.reader.page_facts import Job, PageFacts, PageLink, Result, UnreadError, perform

URL = "http://www.example.org/en/"
HTML = "text/html; charset=utf-8"
LIMIT = 10 * 2**20
PAGE = (
    "<html lang=zh_hk><meta name=robots content='NoArchive'><title>頁</title>"
    "<p>行政長官今日說話。" + "立法會的會議紀錄。" * 20 + "</p><a href=/tc/ rel='nofollow x'>繁體</a>"
    "<a href=/fr/ hreflang=fr>x</a><a href=/news/>News</a>"
).encode()
HEAVY = gzip.compress(b"<p>" * 3_000_000, 1)
JOBS = {
    "page": Job("page", URL, PAGE, LIMIT, HTML),
    "packed": Job("page", URL, gzip.compress(PAGE), LIMIT, HTML, encoding="gzip"),
    "shell": Job("page", URL, b"<div id=root></div><script src=/main.js></script>", LIMIT, HTML),
    "built": Job("built", URL, b"<div id=root>Loading ...</div>", LIMIT, HTML),
    "whole": Job("whole", URL, PAGE, LIMIT, HTML, "en"),
    "picture": Job("page", URL, b"\x89PNG\r\n", LIMIT, "image/png"),
}


@pytest.fixture(scope="module")
def process() -> Iterator[ReaderProcess]:
    reader = ReaderProcess(20.0, reader_memory(LIMIT))
    yield reader
    reader.close()


def test_a_page_as_a_crawl_goes_by_it() -> None:
    facts = perform(JOBS["page"])
    assert isinstance(facts, PageFacts)
    assert (facts.declared_lang, facts.robots, facts.needs_scripts) == ("zh-HK", "noarchive", False)
    assert facts.links == (
        PageLink("http://www.example.org/tc/", "zh-Hant", True),
        PageLink("http://www.example.org/fr/", "fr"),
        PageLink("http://www.example.org/news/"),
    )
    assert facts.sample.startswith("行政長官今日說話。")
    assert facts.text_digest
    assert perform(JOBS["packed"]) == facts


def test_pages_that_are_built_by_scripts() -> None:
    shell, built = perform(JOBS["shell"]), perform(JOBS["built"])
    assert isinstance(shell, PageFacts)
    assert isinstance(built, PageFacts)
    assert (shell.needs_scripts, shell.is_blank, built.needs_scripts, built.is_blank) == (True, False, False, True)


def test_other_results() -> None:
    assert perform(JOBS["whole"]) == parse_page(PAGE, URL, HTML, "en")
    assert perform(JOBS["picture"]) is None


@pytest.mark.parametrize(
    ("body", "encoding", "limit", "reason"),
    [
        (gzip.compress(PAGE)[:-9], "gzip", LIMIT, "bad-encoding"),
        (b"\1" + PAGE, "klingon", LIMIT, "bad-encoding"),
        (gzip.compress(PAGE), "gzip", len(PAGE) - 1, "too-large"),
        (PAGE, "", len(PAGE) - 1, "too-large"),
    ],
    ids=["damaged", "unknown", "too large when unpacked", "too large"],
)
def test_bodies_that_cannot_be_read(
    body: bytes, encoding: str, limit: int, reason: str, process: ReaderProcess
) -> None:
    job = Job("page", URL, body, limit, HTML, encoding=encoding)
    for ask in (perform, process.ask):
        with pytest.raises(UnreadError) as error:
            ask(job)
        assert error.value.reason == reason


@pytest.mark.parametrize("name", JOBS)
def test_another_process_gives_the_same(name: str, process: ReaderProcess) -> None:
    assert process.ask(JOBS[name]) == perform(JOBS[name])


@given(st.binary(max_size=200), st.sampled_from(["page", "built", "whole"]), st.sampled_from(["", "gzip", HTML]))
def test_any_body_gives_the_same(process: ReaderProcess, body: bytes, kind: str, content_type: str) -> None:
    job = Job(kind, URL, body, LIMIT, content_type)  # type: ignore[arg-type]
    expected: type[Result] = {"page": PageFacts, "built": PageFacts, "whole": ParsedPage}[kind]
    found = process.ask(job)
    assert found == perform(job)
    assert found is None or isinstance(found, expected)


# ---- a process that is lost over a page


def test_a_page_that_takes_too_long_costs_the_process_and_no_more() -> None:
    reader = ReaderProcess(0.05, reader_memory(LIMIT))
    for _ in range(2):
        with pytest.raises(UnreadError, match=r"parse-timeout.*more than 0.05 s of processor time"):
            reader.ask(Job("page", URL, HEAVY, LIMIT, HTML, encoding="gzip"))
        assert reader.ask(JOBS["page"]) == perform(JOBS["page"])
    reader.close()


def test_a_page_that_takes_too_much_memory() -> None:
    reader = ReaderProcess(20.0, 2**24)
    text = b"<p>word word" * 600_000
    with pytest.raises(UnreadError, match="parse-failed"):
        reader.ask(Job("page", URL, text, LIMIT, HTML))
    assert reader.ask(JOBS["page"]) == perform(JOBS["page"])
    reader.close()


@pytest.mark.skipif(not HAS_CHILDREN, reason="asks the kernel for the processes that were started")
@pytest.mark.parametrize("when", ["idle", "busy"])
def test_killed_reader_process_loses_no_page(when: str) -> None:
    before = set(children(os.getpid()))
    reader = ReaderProcess(60.0, reader_memory(LIMIT))
    reader.ask(JOBS["page"])
    (pid,) = set(children(os.getpid())) - before
    killer = threading.Timer(0.1, os.kill, (pid, signal.SIGSEGV))
    if when == "idle":
        os.kill(pid, signal.SIGKILL)
        assert happens(lambda: are_gone([pid]))
    else:
        killer.start()
        while not are_gone([pid]):
            reader.ask(Job("page", URL, HEAVY, LIMIT, HTML, encoding="gzip"))
        killer.join()
    assert reader.ask(JOBS["page"]) == perform(JOBS["page"])
    reader.close()


def test_a_page_that_ends_two_processes_is_to_blame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(UnreadError, match=r"parse-failed.*ended with code 1"):
        ReaderProcess(60.0, reader_memory(LIMIT)).ask(JOBS["page"])


def test_a_reader_that_is_closed_reads_no_more() -> None:
    reader = ReaderProcess(20.0, reader_memory(LIMIT))
    reader.ask(JOBS["page"])
    reader.close()
    for _ in range(2):
        with pytest.raises(UnreadError, match="parse-failed"):
            reader.ask(JOBS["page"])


PARENT = """
import gzip, sys
from twinlink.spiders.reader.client import ReaderProcess
from twinlink.spiders.reader.page_facts import Job
reader = ReaderProcess(600.0, 2**30)
reader.ask(Job("page", "http://a.org/", b"<p>x", 10**7, "text/html"))
print("ready", flush=True)
while sys.argv[1] == "busy":
    reader.ask(Job("page", "http://a.org/", gzip.compress(b"<p>" * 3_000_000, 1), 10**7, "text/html", encoding="gzip"))
sys.stdin.read()
"""


@pytest.mark.skipif(not HAS_CHILDREN, reason="asks the kernel for the processes that were started")
@pytest.mark.parametrize("when", ["idle", "busy"])
def test_the_process_ends_with_its_parent(when: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, when], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        below = children(parent.pid)
        assert len(below) == 1
        parent.kill()
    assert happens(lambda: are_gone(below))
