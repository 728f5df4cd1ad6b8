"""The crawl against real servers on this machine: what is fetched, what is not and why; killing it loses nothing."""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.cli import main as warcio_main

from tests.loopback import Answer, Server, links, redirect, serving
from twinlink.config import CrawlSettings
from twinlink.errors import CrawlError, InputError, RunError, RunLockedError
from twinlink.spiders import crawling as crawl_module
from twinlink.spiders import process as child
from twinlink.spiders.crawling import CrawlProgress, crawl
from twinlink.spiders.frontier import Frontier, FrontierReader

N_PAGES = 40


def numbered(path: str) -> Answer | None:
    """Forty pages, each of which links to the start, to three others, and to itself."""
    n = 0 if path == "/" else int(path[3:9])
    time.sleep(0.005)
    return links("/", path, *(f"/p/{target % N_PAGES:06}.html" for target in (3 * n + 1, 3 * n + 2, 3 * n + 3)))


NUMBERED = {"/", *(f"/p/{n:06}.html" for n in range(N_PAGES))}

ODD: dict[str, Answer] = {
    "/": links(
        *("/private/secret.html", "/moved", "/loop1", "/hop/0", "/self?b=1&a=2", "/away", "/gone.html", "/broken"),
        *("/nowhere", "/report", "/small-report", "/paper.PDF", "/logo.png", "/huge.html", "/huge-chunked.html"),
        *("/bomb.html", "/calendar?month=0", "/zipped.html", "/refresh.html", "/untyped", "/untyped-text", "/busy"),
        *("http://example.invalid/", "mailto:someone@example.invalid", "/a/a/a/a/a/", "/deep/1", "/chunked.html"),
        *("/empty.html", "/%7Etilde?q=%A4%A4&x=|"),
    ),
    "/moved": redirect("/target.html"),
    "/target.html": links("/"),
    "/loop1": redirect("/loop2"),
    "/loop2": redirect("/loop1"),
    **{f"/hop/{n}": redirect(f"/hop/{n + 1}") for n in range(20)},
    "/self?b=1&a=2": redirect("/self?a=2&b=1"),
    "/self?a=2&b=1": links("/only-from-self.html"),
    "/only-from-self.html": Answer(),
    "/away": redirect("http://example.invalid/"),
    "/nowhere": Answer(status=302),
    "/broken": Answer(b"<p>out of order", status=500),
    "/report": Answer(b"%PDF-1.4" + bytes(500_000), type="application/pdf"),
    "/small-report": Answer(b"%PDF-1.4", type="application/pdf"),
    "/huge.html": Answer(b"<p>" + b"x" * 30_000),
    "/huge-chunked.html": Answer(b"<p>" + b"x" * 30_000, chunked=True),
    "/bomb.html": Answer(gzip.compress(b"<p>" + b"x" * 1_000_000), headers={"Content-Encoding": "gzip"}),
    "/zipped.html": Answer(
        gzip.compress(b"<a href='/only-from-zipped.html'>x</a>"), headers={"Content-Encoding": "gzip", "X-Mark": "é"}
    ),
    "/only-from-zipped.html": Answer(),
    "/refresh.html": Answer(b"<meta http-equiv=refresh content='0; url=/refreshed.html'>"),
    "/refreshed.html": Answer(),
    "/untyped": Answer(b"<!DOCTYPE html><p>a page without a type", type=""),
    "/untyped-text": Answer(b"no page at all", type=""),
    "/chunked.html": Answer(b"<p>in chunks", chunked=True),
    "/empty.html": Answer(),
    "/%7Etilde?q=%A4%A4&x=|": Answer(),
    **{f"/deep/{n}": links(f"/deep/{n + 1}") for n in range(1, 20)},
}
ODD_SETTINGS = CrawlSettings(max_page_bytes=20_000, max_trap_chain=5, max_depth=8, retries=1, timeout=20)
ROBOTS = Answer(b"User-agent: *\nDisallow: /private/\n", type="text/plain")


class Crawled(msgspec.Struct, frozen=True):
    folder: Path
    site: Server
    progress: CrawlProgress

    def rejected(self) -> dict[str, str]:
        return {
            reject.url.removeprefix(self.site.url): reject.reason for reject in FrontierReader(self.folder).rejects()
        }


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """One crawl of a site that has everything that goes wrong."""
    busy = iter([Answer(status=503, headers={"Retry-After": "1"}), Answer(b"<p>back")])

    def answer(path: str) -> Answer | None:
        if path.startswith("/calendar"):
            return links(f"/calendar?month={int(path.rpartition('=')[2]) + 1}")
        return next(busy) if path == "/busy" else ODD.get(path, Answer(b"<p>not found", status=404))

    with serving(answer, ROBOTS) as site:
        folder = tmp_path_factory.mktemp("odd")
        yield Crawled(folder, site, crawl([site.url], folder, ODD_SETTINGS))


def responses(folder: Path) -> Counter[str]:
    """Count the responses in the archives by address, checking each digest on the way."""
    found: Counter[str] = Counter()
    for path in sorted((folder / "warc").iterdir()):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.raw_stream.read()
                if record.rec_type == "response":
                    found[record.rec_headers["WARC-Target-URI"]] += 1
    return found


def warcio_check(path: Path) -> int:
    """Run ``warcio check``, which also refuses files whose records are no gzip members of their own."""
    with pytest.raises(SystemExit) as done:
        warcio_main(["check", str(path)])
    return int(done.value.code or 0)


def test_every_address_has_its_reason(odd: Crawled) -> None:
    expected = {
        "/private/secret.html": "robots",
        "/hop/11": "redirect-loop",
        "/gone.html": "http-404",
        "/broken": "http-500",
        "/nowhere": "http-302",
        "/report": "not-html",
        "/small-report": "not-html",
        "/paper.PDF": "not-html",
        "/huge.html": "too-large",
        "/huge-chunked.html": "too-large",
        "/bomb.html": "too-large",
        "/untyped-text": "not-html",
        "/calendar?month=6": "trap",
        "/a/a/a/a/a/": "trap",
        "/deep/9": "depth",
    }
    assert odd.rejected() == expected
    assert odd.progress.queued == 0
    assert FrontierReader(odd.folder).summary().finished


def test_pages_are_found_through_redirects_refreshes_and_compression(odd: Crawled) -> None:
    pages = {
        *("/", "/target.html", "/self?a=2&b=1", "/only-from-self.html", "/zipped.html", "/only-from-zipped.html"),
        *(
            "/busy",
            "/refresh.html",
            "/refreshed.html",
            "/untyped",
            "/chunked.html",
            "/empty.html",
            "/%7Etilde?q=%A4%A4&x=|",
        ),
        *(f"/calendar?month={n}" for n in range(6)),
        *(f"/deep/{n}" for n in range(1, 9)),
    }
    moved = {"/moved", "/loop1", "/loop2", "/away", *(f"/hop/{n}" for n in range(11))}
    fetched = set(odd.site.fetched()) - {path for path, reason in odd.rejected().items()} - {"/self?b=1&a=2"}
    assert fetched == pages | moved
    assert (odd.progress.fetched, odd.progress.redirects) == (len(pages), len(moved))


def test_nothing_is_fetched_twice_nor_against_robots(odd: Crawled) -> None:
    fetched = odd.site.fetched()
    twice = {path: count for path, count in fetched.items() if count > 1}
    assert twice == {"/broken": 2, "/busy": 2}  # tried again, as the settings say
    assert not {"/private/secret.html", "/paper.PDF", "/logo.png", "/a/a/a/a/a/"} & set(fetched)
    assert odd.site.log.count("/robots.txt") == 1


def test_the_archive_holds_every_answer_but_dropped_bodies(odd: Crawled) -> None:
    archived = {url.removeprefix(odd.site.url) for url in responses(odd.folder)}
    bodies_dropped = {"/report", "/small-report", "/untyped-text", "/huge.html", "/huge-chunked.html", "/bomb.html"}
    assert archived == set(odd.site.log) - bodies_dropped - {"/sitemap.xml"}


def test_the_archive_is_sound(odd: Crawled) -> None:
    (path,) = (odd.folder / "warc").iterdir()
    assert warcio_check(path) == 0
    with path.open("rb") as file:
        kinds = Counter(record.rec_type for record in ArchiveIterator(file))
        assert kinds["warcinfo"] == 1
        assert kinds["request"] == kinds["response"] == sum(responses(odd.folder).values())


def test_the_ledger_knows_where_each_answer_lies(odd: Crawled) -> None:
    (path,) = (odd.folder / "warc").iterdir()
    frontier = Frontier(odd.folder / "ledger.sqlite")
    rows = list(frontier._db.execute("SELECT url, start, stop FROM frontier WHERE archive IS NOT NULL"))
    frontier.finish("complete")
    frontier.close()
    assert len(rows) > 30
    for url, start, stop in rows:
        records = gzip.decompress(path.read_bytes()[start:stop])
        assert f"WARC-Target-URI: {url}\r\n".encode() in records


def test_archived_bodies_are_as_transferred(odd: Crawled) -> None:
    (path,) = (odd.folder / "warc").iterdir()
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "response" and record.rec_headers["WARC-Target-URI"].endswith("/zipped.html"):
                assert record.http_headers["Content-Encoding"] == "gzip"
                assert record.raw_stream.read() == ODD["/zipped.html"].body
                return
    pytest.fail("no such record")


def test_a_finished_crawl_fetches_nothing(odd: Crawled) -> None:
    before = list(odd.site.log)
    files = {path: path.read_bytes() for path in (odd.folder / "warc").iterdir()}
    seen: list[CrawlProgress] = []
    progress = crawl([odd.site.url], odd.folder, ODD_SETTINGS, seen.append)
    assert odd.site.log == before
    assert {path: path.read_bytes() for path in (odd.folder / "warc").iterdir()} == files
    assert seen[-1] == progress
    assert progress.fetched == odd.progress.fetched


def test_the_end_of_the_page_limit_is_reported_and_can_be_moved(tmp_path: Path) -> None:
    with serving(numbered) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings(max_pages=10))
        assert progress.fetched == len(site.fetched()) == 10
        assert FrontierReader(tmp_path).summary().reasons == {"page-limit": progress.queued}
        assert {reject.reason for reject in FrontierReader(tmp_path).rejects()} == {"page-limit"}
        assert crawl([site.url], tmp_path, CrawlSettings()).fetched == len(NUMBERED)
        assert site.fetched() == Counter(NUMBERED)


def test_sites_of_earlier_calls_are_crawled_to_their_end_with_new_ones(tmp_path: Path) -> None:
    with serving(numbered) as first, serving(lambda path: links("/")) as second:
        crawl([first.url], tmp_path, CrawlSettings(max_pages=3))
        progress = crawl([second.url], tmp_path, CrawlSettings())
        assert first.fetched() == Counter(NUMBERED)
    assert (progress.fetched, progress.n_sites) == (len(NUMBERED) + 1, 2)


def test_failures_that_are_no_answers(tmp_path: Path) -> None:
    awake = threading.Event()

    def answer(path: str) -> Answer | None:
        if path == "/slow":
            awake.wait(30)
        return None if path == "/dropped" else links("/dropped", "/slow")

    with serving(answer) as site, serving(answer, robots=Answer(status=500)) as closed:
        no_tls = site.url.replace("http:", "https:")
        crawl([site.url, no_tls, closed.url], tmp_path, CrawlSettings(timeout=1.5, retries=0))
        awake.set()
        assert {reject.url: reject.reason for reject in FrontierReader(tmp_path).rejects()} == {
            f"{site.url}/dropped": "connection",
            f"{site.url}/slow": "timeout",
            f"{no_tls}/": "tls",
            f"{closed.url}/": "robots-unreachable",  # a server that cannot say what it forbids
        }
        assert closed.log == ["/robots.txt"]


def test_a_wrong_address_says_so(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(CrawlError, match=rf"{url}/: connection \(.*refused"):
            crawl([url], tmp_path, CrawlSettings(retries=0))


@pytest.mark.parametrize(
    ("first", "robots", "advice"),
    [
        (redirect("http://www.example.org/"), Answer(status=404), "Start at the address that it moved to"),
        (links(), Answer(b"User-agent: *\nDisallow: /"), "robots.txt forbids it"),
        (Answer(status=404), Answer(status=404), "Check the address"),
        (Answer(status=401), Answer(status=404), "names and passwords in addresses are not sent"),
        (redirect("/"), Answer(status=404), "may want cookies"),
    ],
)
def test_a_start_page_that_gives_none_says_what_to_do(
    tmp_path: Path, first: Answer, robots: Answer, advice: str
) -> None:
    with serving(lambda path: first, robots=robots) as site, pytest.raises(CrawlError, match=advice):
        crawl([site.url], tmp_path, CrawlSettings(retries=0))


def test_links_and_redirections_in_headers_are_followed(tmp_path: Path) -> None:
    link = '</fr.html>; rel="alternate"; hreflang="fr", </de.html>; rel=alternate; hreflang=de'
    answers = {
        "/": Answer(headers={"Refresh": "0; url=/en.html"}),
        "/en.html": Answer(b"<p>page", headers={"Link": link}),
    }
    with serving(lambda path: answers.get(path, Answer(b"<p>page"))) as site:
        crawl([site.url], tmp_path, CrawlSettings())
        assert site.fetched() == Counter(["/", "/en.html", "/fr.html", "/de.html"])


def test_a_full_disk_stops_the_crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    with serving(numbered) as site:
        monkeypatch.setattr(crawl_module.subprocess, "Popen", partial(subprocess.Popen, preexec_fn=limit))
        with pytest.raises(RunError, match="cannot read or write"):
            crawl([site.url], tmp_path, CrawlSettings())
        assert len(site.fetched()) < len(NUMBERED)


@pytest.mark.parametrize(
    ("start", "given", "expected"),
    [
        ("http://www.example.org/", None, child.PUBLIC_DELAY),
        ("http://127.8.0.1:8000/", None, 0.0),
        ("http://[::1]/", None, 0.0),
        ("http://localhost/", None, 0.0),
        ("http://localhost.example.org/", None, child.PUBLIC_DELAY),
        ("http://localhost/", 2.0, 2.0),
    ],
)
def test_public_hosts_are_given_time(start: str, given: float | None, expected: float) -> None:
    assert child._delay([start], CrawlSettings(delay=given)) == expected


@pytest.mark.parametrize("starts", [[], ["example.org"], ["http://a.org", "ftp://a.org/"], ["http://"]])
def test_starts_that_are_no_web_addresses(starts: list[str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="http://"):
        crawl(starts, tmp_path / "run", CrawlSettings())
    assert not (tmp_path / "run").exists()


def test_two_crawls_in_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "_LOCK_PATIENCE", 0.0)
    by_name = rf"another crawl is running here \(process {os.getpid()}, since .*: the first\); .*`kill {os.getpid()}`"
    first, second = child._locked(tmp_path, "the first"), child._locked(tmp_path, "the second")
    with first, pytest.raises(RunLockedError, match=by_name), second:
        pass


def test_file_that_is_not_a_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("something else" * 1000)
    with pytest.raises(RunError, match="not a usable ledger"):
        crawl(["http://127.0.0.1:1/"], tmp_path, CrawlSettings())
    with pytest.raises(RunError, match="cannot be written"):
        crawl(["http://127.0.0.1:1/"], tmp_path / "ledger.sqlite", CrawlSettings())


def test_ctrl_c_completes_requests_in_flight(tmp_path: Path) -> None:
    def interrupt(progress: CrawlProgress) -> None:
        if progress.fetched >= 3:
            raise KeyboardInterrupt

    with serving(slowly(numbered)) as site:
        with pytest.raises(KeyboardInterrupt):
            crawl([site.url], tmp_path, CrawlSettings(), interrupt)
        assert 3 <= len(site.fetched()) < len(NUMBERED)
        assert not FrontierReader(tmp_path).summary().finished
        assert crawl([site.url], tmp_path, CrawlSettings()).fetched == len(NUMBERED)
        assert site.fetched() == responses_of_pages(tmp_path, site) == Counter(NUMBERED)


def test_a_crawler_that_dies_is_an_error_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    children: list[subprocess.Popen[bytes]] = []

    class Popen(subprocess.Popen[bytes]):
        def __init__(self, *args: object, **kwargs: object) -> None:
            super().__init__(*args, **kwargs)  # type: ignore[call-overload]
            children.append(self)

    monkeypatch.setattr(crawl_module.subprocess, "Popen", Popen)

    def kill(progress: CrawlProgress) -> None:
        if progress.fetched >= 3:
            children[0].kill()

    with serving(slowly(numbered)) as site:
        with pytest.raises(CrawlError, match=r"signal 9.*same call resumes"):
            crawl([site.url], tmp_path, CrawlSettings(), kill)
        assert crawl([site.url], tmp_path, CrawlSettings()).fetched == len(NUMBERED)
        assert responses_of_pages(tmp_path, site) == Counter(NUMBERED)


def slowly(answer: Callable[[str], Answer | None]) -> Callable[[str], Answer | None]:
    """Slow enough for the parent's looks at the ledger to fall into the crawl."""

    def slow(path: str) -> Answer | None:
        time.sleep(0.06)
        return answer(path)

    return slow


def responses_of_pages(folder: Path, site: Server) -> Counter[str]:
    found = Counter({url.removeprefix(site.url): count for url, count in responses(folder).items()})
    del found["/robots.txt"]
    return found


CRAWL_SCRIPT = """
import json, sys, msgspec
from pathlib import Path
from twinlink.config import CrawlSettings
from twinlink.spiders.crawling import crawl
start, folder, settings = json.loads(sys.argv[1])
crawl([start], Path(folder), msgspec.convert(settings, CrawlSettings))
"""


def test_killed_at_any_moment_it_loses_nothing_and_repeats_only_what_was_in_flight(tmp_path: Path) -> None:
    settings = CrawlSettings(concurrency=3)
    moments = sorted(random.Random(2014).sample(range(1, len(NUMBERED)), 3))
    with serving(numbered) as site:
        job = json.dumps([site.url, str(tmp_path), msgspec.to_builtins(settings)])
        for moment in moments:
            parent = subprocess.Popen([sys.executable, "-c", CRAWL_SCRIPT, job], start_new_session=True)
            while sum(site.fetched().values()) < moment and parent.poll() is None:
                time.sleep(0.001)
            os.killpg(parent.pid, signal.SIGKILL)
            assert parent.wait() == -signal.SIGKILL
        progress = crawl([site.url], tmp_path, settings)
        fetched = site.fetched()
    assert progress.fetched == len(NUMBERED)
    assert set(fetched) == NUMBERED
    assert sum(fetched.values()) - len(NUMBERED) <= settings.concurrency * len(moments)
    assert responses_of_pages(tmp_path, site) == Counter(NUMBERED)  # cut back to what was booked: each page once
    for path in (tmp_path / "warc").iterdir():
        assert warcio_check(path) == 0
