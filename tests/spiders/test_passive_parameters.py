"""Parameters of addresses that never change the page, and those that do."""

from __future__ import annotations

import re
from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from tests.loopback import Answer, serving
from twinlink.config import CrawlSettings
from twinlink.spiders.crawling import crawl
from twinlink.spiders.frontier import FrontierReader
from twinlink.spiders.passive_parameters import MIN_PAGES, Parameter, PassiveParameters
from twinlink.spiders.traps import MAX_ALIKE, MAX_TRIALS

SITE = "http://a.org"
ENOUGH = "This is what the page says, with enough words for a digest of its text, which tells it from other pages."
N_VISITS = MAX_ALIKE + 1  # the first visit of a page has nothing to be compared with


def visited(n_visits: int = N_VISITS, n_pages: int = MIN_PAGES, name: str = "sid") -> PassiveParameters:
    """Return what visits to some pages teach, each visit with a session of its own."""
    parameters = PassiveParameters()
    for visit in range(n_visits):
        for page in range(n_pages):
            parameters.see(f"{SITE}/{page}.html?{name}={visit}", f"text of {page}")
    return parameters


def dropped(parameters: PassiveParameters, page: str = "/1.html?sid=") -> bool:
    """Return whether any further address of a page is dropped; some are trials."""
    return any(parameters.is_repeat(f"{SITE}{page}x{n}") for n in range(20))


def test_a_parameter_that_changes_no_page_makes_repeats() -> None:
    parameters = visited()
    assert dropped(parameters)
    assert not parameters.is_repeat(f"{SITE}/1.html?sid=0"), "the address that was fetched"
    assert not parameters.is_repeat(f"{SITE}/new.html?sid=77")
    assert not parameters.is_repeat(f"{SITE}/1.html?page=77")
    assert not parameters.is_repeat("http://b.org/1.html?sid=77")


@pytest.mark.parametrize(("n_visits", "n_pages"), [(N_VISITS - 1, MIN_PAGES), (N_VISITS, MIN_PAGES - 1)])
def test_few_values_or_few_pages_prove_nothing(n_visits: int, n_pages: int) -> None:
    assert not dropped(visited(n_visits, n_pages))


def test_placeholders_of_one_address_prove_nothing() -> None:
    parameters = PassiveParameters()
    for n in range(10 * MAX_ALIKE):
        parameters.see(f"{SITE}/view?id={n}", "there is nothing here yet")
    assert not dropped(parameters, "/view?id=")


def test_pages_that_all_say_the_same_prove_nothing() -> None:
    parameters = PassiveParameters()
    for n in range(10 * MAX_ALIKE):
        parameters.see(f"{SITE}/{n % 7}.html?id={n}", "closed")
    assert not dropped(parameters, "/1.html?id=")


def test_texts_that_are_too_short_prove_nothing() -> None:
    parameters = PassiveParameters()
    for n in range(10 * MAX_ALIKE):
        parameters.see(f"{SITE}/{n % 7}.html?id={n}", "")
    assert not dropped(parameters, "/1.html?id=")


def test_one_page_that_it_changes_clears_a_parameter_for_good() -> None:
    parameters = visited()
    parameters.see(f"{SITE}/0.html?sid=trial", "something else")
    assert parameters.take_lifted() == [Parameter(SITE, "sid")]
    assert parameters.take_lifted() == []
    for visit in range(N_VISITS):
        parameters.see(f"{SITE}/1.html?sid=further{visit}", "text of 1")
    assert not dropped(parameters)


def test_after_some_trials_there_are_no_more() -> None:
    parameters = visited()
    assert not parameters.is_settled(f"{SITE}/1.html?sid=77")
    for n in range(MAX_TRIALS):
        parameters.see(f"{SITE}/1.html?sid=trial{n}", "text of 1")
    assert parameters.is_settled(f"{SITE}/1.html?sid=77")
    assert not parameters.is_settled(f"{SITE}/new.html?sid=77")


def test_a_page_is_recognised_beside_other_parameters_and_without_any() -> None:
    parameters = visited()
    parameters.see(f"{SITE}/view?id=7&sid=1", "article 7")
    parameters.see(f"{SITE}/clean.html", "no session here")
    assert dropped(parameters, "/view?id=7&sid=")
    assert dropped(parameters, "/clean.html?sid=")
    assert not parameters.is_repeat(f"{SITE}/view?id=8&sid=2")
    assert not parameters.is_repeat(f"{SITE}/1.html"), "the clean address is worth a request"


def test_values_of_one_address_are_not_compared_with_each_other() -> None:
    parameters = PassiveParameters()
    for n in range(10 * MAX_ALIKE):
        parameters.see(f"{SITE}/{n}.html?tag={n}&tag=x", f"text of {n}")
    assert not dropped(parameters, "/1.html?tag=x&tag=")


def test_pages_of_an_earlier_run_are_known_though_not_their_texts() -> None:
    parameters = PassiveParameters()
    parameters.see(f"{SITE}/old.html?sid=1", "")
    parameters.see(f"{SITE}/old.html?sid=2", "any text")  # no contradiction
    for visit in range(N_VISITS):
        for page in range(MIN_PAGES):
            parameters.see(f"{SITE}/{page}.html?sid={visit}", f"text of {page}")
    assert dropped(parameters, "/old.html?sid=")


def test_the_parameter_of_a_site_is_found_in_its_addresses() -> None:
    parameter = Parameter(SITE, "sid")
    assert parameter.is_in(f"{SITE}/a?x=1&sid=2")
    assert not parameter.is_in(f"{SITE}/a?x=sid")
    assert not parameter.is_in("http://b.org/a?sid=2")


class Sessions:
    """A site of 40 pages each of which writes a new session id into its links."""

    def __init__(self, name: str, value: str = "{:016x}", clock: bool = False) -> None:
        self.name = name
        self.value = value
        self.clock = clock  # a text that changes with each response
        self.fresh = count(2**50)

    def __call__(self, path: str) -> Answer:
        number = int((re.findall(r"/p(\d+)", path) or ["0"])[0])
        session = self.value.format(next(self.fresh))
        near = range(30) if path == "/" else (number + step for step in (-1, 1, 2, 3))
        hrefs = "".join(f"<a href='/p{n % 40}.html?{self.name}={session}'>{n}</a>" for n in near)
        return Answer(f"<p>Page {number}: {ENOUGH}</p>{hrefs}{session if self.clock else ''}".encode())


def pages(fetched: Counter[str]) -> Counter[str]:
    return Counter(path.partition("?")[0] for path in fetched.elements())


@pytest.mark.parametrize("order", ["pairs", "breadth"])
@pytest.mark.parametrize("name", ["sid", "id", "t"])
def test_a_crawl_ends_where_each_link_has_a_session_of_its_own(tmp_path: Path, name: str, order: str) -> None:
    with serving(Sessions(name)) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings(max_pages=2_000, order=order))  # type: ignore[arg-type]
        found = pages(site.fetched())
    assert len(found) == 41
    assert found.total() < 300
    assert (FrontierReader(tmp_path).end(), progress.queued) == ("complete", 0)
    assert progress.reasons["trap"] > 0


def test_a_crawl_that_goes_on_knows_the_pages_it_has(tmp_path: Path) -> None:
    with serving(Sessions("id")) as site:
        crawl([site.url], tmp_path, CrawlSettings(max_pages=60))
        crawl([site.url], tmp_path, CrawlSettings(max_pages=2_000))
        found = pages(site.fetched())
    assert len(found) == 41
    assert found.total() < 400


@pytest.mark.parametrize("clock", [False, True])
def test_a_page_that_was_not_fetched_yet_comes_before_one_in_another_session(tmp_path: Path, clock: bool) -> None:
    with serving(Sessions("sid", "{:032x}", clock)) as site:
        crawl([site.url], tmp_path, CrawlSettings(max_pages=45, concurrency=1))
        found = pages(site.fetched())
    assert len(found) == 41, found


def test_parameters_that_change_the_page_lose_no_page(tmp_path: Path) -> None:
    """Lists of several pages, a language by a parameter that some pages ignore, and articles by number."""
    lists = [f"/list{n}?page={page}" for n in range(6) for page in range(30)]
    shared = [f"/about{n}?lang={lang}" for n in range(6) for lang in ("en", "fr", "de")]
    views = [f"/view?id={n}" for n in range(60)]

    def answer(path: str) -> Answer:
        own = path.partition("?")[0] if path.startswith("/about") and "/about5" not in path else path
        hrefs = "".join(f"<a href='{href}'>on</a>" for href in (*lists, *shared, *views)) if path == "/" else ""
        return Answer(
            f"<p>What {own} says, at such length that its text has a digest, and so can be told.{hrefs}".encode()
        )

    with serving(answer) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings())
    assert (progress.fetched, progress.reasons) == (1 + len(lists) + len(shared) + len(views), {})


def test_what_was_taken_for_a_session_and_is_none_is_fetched_after_all(tmp_path: Path) -> None:
    """The first 30 values change nothing on six pages; then they do."""
    early = [f"/p{n}?v={value}" for value in range(30) for n in range(6)]
    late = [f"/p{n}?v={value}" for value in range(30, 60) for n in range(6)]

    def answer(path: str) -> Answer:
        own = path.partition("?")[0] if path in early else path
        hrefs = "".join(f"<a href='{href}'>on</a>" for href in early + late) if path == "/" else ""
        return Answer(
            f"<p>What {own} says, at such length that its text has a digest, and so can be told.{hrefs}".encode()
        )

    with serving(answer) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings(order="breadth", concurrency=1))
        asked = set(site.fetched())
    assert asked.issuperset(late)
    assert (progress.fetched, progress.reasons) == (1 + len(early) + len(late), {})
