"""What a site asks of robots, against real servers on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.loopback import Answer, Server, keeps_pace, links, redirect, serving
from twinlink.config import CrawlSettings
from twinlink.errors import CrawlError
from twinlink.run_files import CRAWL_LOG
from twinlink.spiders.crawling import CrawlProgress, crawl
from twinlink.spiders.frontier import FrontierReader
from twinlink.spiders.middlewares.retry_after import MAX_LONG, MAX_WAIT, retry_after

PAGES = [f"/{n}.html" for n in range(5)]


def star(path: str) -> Answer:
    """A start page that links to five others."""
    return links(*PAGES) if path == "/" else Answer(b"<p>page")


def robots(text: str) -> Answer:
    return Answer(text.encode(), type="text/plain")


def run(site: Server, folder: Path, **settings: object) -> CrawlProgress:
    return crawl([site.url], folder, CrawlSettings(**settings))  # type: ignore[arg-type]


def rejected(site: Server, folder: Path) -> dict[str, str]:
    return {reject.url.removeprefix(site.url): reject.reason for reject in FrontierReader(folder).rejects()}


def test_crawl_delay_sets_the_pace_and_one_request_at_a_time(tmp_path: Path) -> None:
    with serving(star, robots("User-agent: *\nCrawl-delay: 0.2")) as site:
        assert run(site, tmp_path).fetched == 6
    page_times = [moment for moment, path in zip(site.times, site.log, strict=True) if path != "/robots.txt"]
    assert len(page_times) == 7  # the guess for a sitemap keeps the pace, too
    assert keeps_pace(page_times, 0.2)


def test_the_larger_delay_counts_and_a_crawl_delay_has_a_cap(tmp_path: Path) -> None:
    patient, hasty = (robots(f"User-agent: *\nCrawl-delay: {seconds}") for seconds in (3600, 0.001))
    with serving(star, patient) as long, serving(star, hasty) as short:
        settings = CrawlSettings(delay=0.1, autothrottle=False, max_crawl_delay=0.2)
        assert crawl([long.url, short.url], tmp_path, settings).fetched == 12
    assert keeps_pace(long.times[1:], 0.2)  # and not an hour
    assert keeps_pace(short.times[1:], 0.05)  # Scrapy varies a delay by half


CLOSED = "User-agent: *\nDisallow: /"
RULES: dict[str, tuple[Answer, int]] = {
    "by name before by star": (
        robots(f"{CLOSED}\n\nUser-agent: Twinlink\nDisallow: /1\nAllow: /1.html$\nDisallow: /2"),
        5,
    ),
    "moved": (redirect("/elsewhere"), 5),
    "odd bytes": (Answer(bytes(range(256)) * 40 + b"\nUser-agent: *\nDisallow: /1", type="text/plain"), 5),
    **{f"http-{status}": (Answer(CLOSED.encode(), status=status), 6) for status in (401, 403, 404, 410)},
    "empty": (robots(""), 6),
}


def test_what_robots_txt_says(tmp_path: Path) -> None:
    def answer(path: str) -> Answer:
        return robots("User-agent: *\nDisallow: /4") if path == "/elsewhere" else star(path)

    with ExitStack() as stack:
        sites = {name: stack.enter_context(serving(answer, found)) for name, (found, _) in RULES.items()}
        settings = CrawlSettings(contact="https://example.org/bot")
        progress = crawl([site.url for site in sites.values()], tmp_path, settings)
    pages = {site.site: site.pages for site in progress.sites}
    assert {name: pages[site.url.partition("//")[2]] for name, site in sites.items()} == {
        name: expected for name, (_, expected) in RULES.items()
    }
    assert rejected(sites["by name before by star"], tmp_path)["/2.html"] == "robots"
    assert set.union(*(site.agents for site in sites.values())) == {
        "twinlink (parallel page finder; https://example.org/bot)"
    }


def test_a_server_that_cannot_give_its_robots_txt_is_asked_again_by_the_next_run(tmp_path: Path) -> None:
    with serving(star, Answer(status=500)) as site:
        with pytest.raises(CrawlError, match=r"robots-unreachable \(robots.txt: http-500\)"):
            run(site, tmp_path, retries=0)
        assert site.log == ["/robots.txt"]
        site.robots = robots("User-agent: *\nDisallow: /3")
        assert run(site, tmp_path, retries=0).fetched == 5
        assert rejected(site, tmp_path) == {"/3.html": "robots"}


META = b"<meta name=ROBOTS content='%s'><a href=/next-%d.html>next</a>"
WISHES: dict[str, Answer] = {
    "/": links("/0.html", "/1.html", "/2.html", "/3.html", "/4.html", "/5.html"),
    "/0.html": Answer(META % (b"NOINDEX", 0)),
    "/1.html": Answer(META % (b"index, nofollow", 1)),
    "/2.html": Answer(META % (b"none", 2)),
    "/3.html": Answer(META % (b"all", 3), headers={"X-Robots-Tag": "otherbot: noindex"}),
    "/4.html": Answer(META % (b"", 4), headers={"X-Robots-Tag": "noarchive, noindex"}),
    "/5.html": Answer(b"<a rel='external nofollow' href=/next-5.html>a</a>"),
}


def test_noindex_and_nofollow(tmp_path: Path) -> None:
    with serving(lambda path: WISHES.get(path, Answer(b"<p>next")), robots("User-agent: *\nDisallow: /next-5")) as site:
        progress = run(site, tmp_path)
        assert rejected(site, tmp_path) == {
            "/next-5.html": "robots",
            "/0.html": "noindex",
            "/2.html": "noindex",
            "/4.html": "noindex",
            "/next-1.html": "nofollow",
            "/next-2.html": "nofollow",
        }
        assert progress.fetched == 4 + 3  # the start, 1, 3, 5; next-0, 3, 4
        assert progress.reasons == {"noindex": 3, "nofollow": 2, "robots": 1}
        assert run(site, tmp_path, obey_meta_robots=False, obey_robots=False).fetched == 13
        assert rejected(site, tmp_path) == {}  # what an earlier run left out is made good


def test_rel_nofollow_is_obeyed_when_asked_for(tmp_path: Path) -> None:
    with serving(lambda path: WISHES.get(path, Answer(b"<p>next"))) as site:
        run(site, tmp_path, obey_rel_nofollow=True)
    assert rejected(site, tmp_path)["/next-5.html"] == "nofollow"


def once(path: str, first: Answer) -> Callable[[str], Answer]:
    """Answer one path with ``first`` the first time."""
    answers = iter([first])
    return lambda asked: next(answers, star(asked)) if asked == path else star(asked)


def test_nothing_is_sent_while_the_server_wants_none(tmp_path: Path) -> None:
    with serving(once("/0.html", Answer(status=429, headers={"Retry-After": "1"}))) as site:
        assert run(site, tmp_path, concurrency=1).fetched == 6
    refused = site.log.index("/0.html")
    assert site.times[refused + 1] - site.times[refused] > 0.8
    assert site.fetched()["/0.html"] == 2


LONG = Answer(status=503, headers={"Retry-After": str(int(MAX_WAIT) + 1)})
NEVER = Answer(status=429, headers={"Retry-After": "9" * 20})


def test_a_page_that_asks_for_long_is_tried_again_last(tmp_path: Path) -> None:
    with serving(once("/0.html", LONG)) as site:
        assert run(site, tmp_path, concurrency=1).fetched == 6
    assert [path for path in site.log if path in PAGES] == [*PAGES, "/0.html"]


def test_a_page_that_asks_for_long_each_time_costs_no_other_one(tmp_path: Path) -> None:
    with serving(lambda path: NEVER if path == "/0.html" else star(path)) as site:
        progress = run(site, tmp_path, concurrency=1)
        (left,) = FrontierReader(tmp_path).rejects()
        assert (progress.fetched, progress.end) == (5, "later")
        assert (left.reason, left.detail) == ("busy", f"http-429, Retry-After: {'9' * 20}")
        assert site.fetched()["/0.html"] == 2
        site.answer = star
        assert (run(site, tmp_path).fetched, FrontierReader(tmp_path).end()) == (6, "complete")


def test_a_server_that_asks_for_long_is_left_alone_and_tried_by_the_next_run(tmp_path: Path) -> None:
    with serving(lambda path: star(path) if path == "/" else LONG) as site:
        assert run(site, tmp_path, concurrency=1).fetched == 1
        assert rejected(site, tmp_path) == dict.fromkeys(PAGES, "busy")
        assert site.fetched() == dict.fromkeys(["/", *PAGES[:MAX_LONG]], 1)
        assert "503" in next(left.detail for left in FrontierReader(tmp_path).rejects() if left.url.endswith("4.html"))
        assert "127.0.0.1: the server asked for a longer pause" in (tmp_path / CRAWL_LOG).read_text()
        site.answer = star
        assert run(site, tmp_path).fetched == 6
        assert rejected(site, tmp_path) == {}


def test_a_page_that_does_not_come_in_time_is_tried_again_last(tmp_path: Path) -> None:
    tries = iter((1.5, 1.5))

    def answer(path: str) -> Answer:
        if path == "/0.html":
            time.sleep(next(tries, 0.0))
        return star(path)

    with serving(answer, robots("User-agent: *\nCrawl-delay: 0.01")) as site:
        assert run(site, tmp_path, timeout=0.8, retries=2).fetched == 6
    assert [path for path in site.log if path in PAGES] == [*PAGES, "/0.html", "/0.html"]


@pytest.mark.parametrize("zone", ["GMT", "-0000", ""])
def test_a_date_until_which_to_wait_is_in_utc(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Hong_Kong")
    time.tzset()
    try:
        assert retry_after(f"Thu, 14 May 2026 00:01:00 {zone}", 1_778_716_800.0) == 60.0
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_server_that_is_busy_each_time_is_left_alone(tmp_path: Path) -> None:
    def answer(path: str) -> Answer:
        return links(*(f"/{n}" for n in range(20))) if path == "/" else Answer(status=429)

    with serving(answer) as site:
        progress = run(site, tmp_path, retries=0, concurrency=1)
    assert progress.reasons == {"busy": 20}
    assert len(site.fetched()) <= 1 + 5


def test_a_robots_txt_that_cannot_be_had_closes_its_host_for_now(tmp_path: Path) -> None:
    with serving(star, Answer(b"#" * 70_000 + b"\n", type="text/plain")) as site:
        site.robots.body *= 200  # beyond what is received at all
        with pytest.raises(CrawlError, match="robots-unreachable"):
            run(site, tmp_path, retries=0)
        site.robots = robots("User-agent: *\nDisallow: /3")
        assert run(site, tmp_path, retries=0).fetched == 5  # asked again, though its page was rejected


def test_robots_txt_in_a_redirect_loop_counts_as_missing(tmp_path: Path) -> None:
    with serving(star, redirect("/robots.txt")) as site:
        assert run(site, tmp_path, retries=0).fetched == 6
