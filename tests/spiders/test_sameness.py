"""Endless addresses of the same page."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.loopback import Answer, serving
from twinlink.config import CrawlSettings
from twinlink.spiders.crawling import crawl
from twinlink.spiders.frontier import FrontierReader
from twinlink.spiders.traps import MAX_ALIKE, MAX_TRIALS, Sameness, form, text_digest

TEXT = "What this page says is the same under every address that leads to it, and there are many such addresses."


def test_a_form_is_a_trap_after_so_many_pages_that_say_the_same() -> None:
    sameness = Sameness()
    for n in range(MAX_ALIKE + MAX_TRIALS):
        assert sameness.is_trap("http://a.org/list?sort=any") == (n >= MAX_ALIKE)
        sameness.see(f"http://a.org/list?sort={n}", text_digest([TEXT]))
    assert sameness.is_trap("http://a.org/list?sort=any")
    assert not sameness.is_trap("http://a.org/list?sort=any&page=2")


def test_fewer_and_fewer_addresses_of_a_trap_are_tried_and_in_the_end_none() -> None:
    sameness = Sameness()
    tried = []
    for n in range(10_000):
        if not sameness.is_trap(f"http://a.org/p/{n}.html"):
            sameness.see(f"http://a.org/p/{n}.html", text_digest([TEXT]))
            tried.append(n)
    assert tried[:MAX_ALIKE] == [*range(MAX_ALIKE)]
    assert len(tried) == MAX_ALIKE + MAX_TRIALS
    assert tried[-1] > 300, "trials reach behind many placeholders"
    assert sameness.take_lifted() == []


def test_a_trial_that_says_something_else_lifts_the_suspicion_once() -> None:
    sameness = Sameness()
    for n in range(MAX_ALIKE + 5):
        sameness.see(f"http://a.org/p/{n}.html", text_digest([TEXT]))
    sameness.see("http://a.org/p/66.html", text_digest([TEXT[::-1]]))
    assert not any(sameness.is_trap(f"http://a.org/p/{n}.html") for n in range(99))
    assert (sameness.take_lifted(), sameness.take_lifted()) == (["http://a.org/p/#.html"], [])


def test_a_trap_whose_one_page_has_changed_is_found_again() -> None:
    sameness = Sameness()
    for text in (TEXT, TEXT[::-1]):
        for n in range(MAX_ALIKE + MAX_TRIALS):
            sameness.see(f"http://a.org/p/{n}.html", text_digest([text]))
        assert all(sameness.is_trap(f"http://a.org/p/{n}.html") for n in range(99))


@pytest.mark.parametrize("at", [0, 7, MAX_ALIKE - 1, MAX_ALIKE + 3])
def test_one_other_page_clears_a_form_for_good(at: int) -> None:
    sameness = Sameness()
    for n in range(3 * MAX_ALIKE):
        sameness.see(f"http://a.org/p/{n}.html", text_digest([TEXT if n != at else TEXT[::-1]]))
    assert not sameness.is_trap("http://a.org/p/99.html")


def test_pages_that_say_next_to_nothing_are_no_trap() -> None:
    sameness = Sameness()
    for n in range(3 * MAX_ALIKE):
        sameness.see(f"http://a.org/p/{n}.html", text_digest(["A frame"]))
    assert not sameness.is_trap("http://a.org/p/99.html")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/s/9f3a0c1d2e/", "/s/0a1b2c3d4e/"),
        ("/list?sort=a&dir=b", "/list?dir=up&sort=down"),
        ("/p/1.html", "/p/22.html"),
    ],
)
def test_addresses_of_one_form(one: str, other: str) -> None:
    assert form(f"http://a.org{one}") == form(f"http://a.org{other}")


def test_addresses_of_other_forms() -> None:
    paths = ("/", "/about.html", "/about-us/", "/p/1.html", "/p/1/", "/p?id=1", "/p?id=1&lang=fr")
    assert len({form(f"http://a.org{path}") for path in paths}) == len(paths)


SLOW = re.compile(r"(?=[a-z_-]*\d)[0-9a-z_-]{8,}", re.IGNORECASE)
PATHS = st.lists(st.text("ab-_9.x", max_size=12), min_size=1, max_size=5).map("/".join)


@given(PATHS)
def test_tokens_with_digits_are_blanked(path: str) -> None:
    blanked = re.sub(r"\d+", "#", SLOW.sub("##", path))
    assert form(f"http://a.org/{path}") == f"http://a.org/{blanked}"


@pytest.mark.parametrize("letters", ["x", "x-", "x_9", "9"])
def test_a_long_token_is_looked_at_once(letters: str) -> None:
    path = letters * 100_000  # from each of its characters to its end would be 10^10 steps
    assert len(form(f"http://a.org/{path}")) <= len(path) + 13


def test_a_crawl_ends_where_one_page_has_endless_addresses(tmp_path: Path) -> None:
    fresh = count(10_000)

    def answer(path: str) -> Answer:
        hrefs = "".join(f"<a href='/s{next(fresh)}/home'>on</a>" for _ in range(3))
        own = "".join(f"<a href='/real/{n}.html'>{n}</a>" for n in range(60)) if path == "/" else ""
        text = f"{path} {TEXT}" if path.startswith("/real") else TEXT
        return Answer(f"<p>{text}</p>{hrefs}{own}".encode())

    with serving(answer) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings(max_pages=1_000, concurrency=2))
        fetched, log = site.fetched(), list(site.log)
        assert crawl([site.url], tmp_path, CrawlSettings(max_pages=1_000)).reasons == progress.reasons
        assert site.log == log  # the crawl is complete, and remembers them
    assert sum(path.startswith("/real/") for path in fetched) == 60
    assert sum(path.startswith("/s") for path in fetched) <= MAX_ALIKE + MAX_TRIALS + 2
    assert progress.queued == 0
    traps = [reject for reject in FrontierReader(tmp_path).rejects() if reject.reason == "trap"]
    assert progress.reasons == {"trap": len(traps)}
    assert all("the same page" in trap.detail for trap in traps)


def test_real_pages_after_many_placeholders_are_fetched(tmp_path: Path) -> None:
    def answer(path: str) -> Answer:
        hrefs = "".join(f"<a href='/fr/p{n}.html'>{n}</a>" for n in range(100)) if path == "/" else ""
        own = "" if path in {f"/fr/p{n}.html" for n in range(2 * MAX_ALIKE)} else path
        return Answer(f"<p>{own} {TEXT}</p>{hrefs}".encode())

    with serving(answer) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings(max_pages=1_000, concurrency=2))
    assert (progress.fetched, progress.reasons) == (101, {})


def test_links_that_are_not_followed_stay_so_when_their_form_is_no_trap_any_more(tmp_path: Path) -> None:
    lists = {"/": range(2 * MAX_ALIKE), "/closed.html": range(100, 150), "/open.html": range(200, 250)}

    def answer(path: str) -> Answer:
        hrefs = [f"/p{n}.html" for n in lists.get(path, ())] + ["/closed.html", "/open.html"]
        wish = "nofollow" if path == "/closed.html" else ""
        own = "" if path in {f"/p{n}.html" for n in lists["/"]} else path
        body = "".join(f"<a href='{href}'>{href}</a>" for href in hrefs)
        return Answer(f"<meta name=robots content='{wish}'><p>{own} {TEXT}</p>{body if path in lists else ''}".encode())

    with serving(answer) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings(max_pages=1_000, concurrency=1))
    assert progress.reasons == {"nofollow": 50}
    assert progress.fetched == 3 + 2 * MAX_ALIKE + 50
