"""Scope, budgets, several sites at once, seed files, and the report of a crawl."""

from __future__ import annotations

import errno
import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.loopback import Answer, Server, keeps_pace, links, redirect, serving
from twinlink.config import Config, CrawlSettings
from twinlink.errors import CrawlError, InputError
from twinlink.jobs.stages import crawl_stage
from twinlink.run_files import CRAWL_REPORT
from twinlink.rundir.directory import RunDirectory
from twinlink.spiders.crawling import CrawlProgress, crawl
from twinlink.spiders.dead_forms import MAX_FAILED
from twinlink.spiders.frontier import SPARE_PAGES, FrontierReader
from twinlink.spiders.seeds import read_seeds, seeds_of


def chain(n: int, width: int = 4, weight: int = 0) -> object:
    """Make a site of ``n`` pages, each of which links to the next ones."""

    def answer(path: str) -> Answer:
        here = int(path[2:] or 0) if path != "/" else 0
        found = links(*(f"/p{m}" for m in range(here + 1, min(here + 1 + width, n))))
        return Answer(found.body + b" " * weight)

    return answer


def report(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / CRAWL_REPORT).read_text(encoding="utf-8"))
    return found


def named(site: Server) -> str:
    return urlsplit(site.url).netloc


def test_a_site_ends_at_its_pages_and_the_others_go_on(tmp_path: Path) -> None:
    with serving(chain(30)) as big, serving(chain(5)) as small:  # type: ignore[arg-type]
        starts = [big.url, small.url]
        progress = crawl(starts, tmp_path, CrawlSettings(max_site_pages=8))
        assert {site.site: (site.pages, site.ended) for site in progress.sites} == {
            named(big): (8, "budget-pages"),
            named(small): (5, ""),
        }
        assert sum(big.fetched().values()) == 8
        left = Counter(reject.reason for reject in FrontierReader(tmp_path).rejects())
        assert left == {"budget-pages": progress.queued}
        assert FrontierReader(tmp_path).summary().reasons == left
        assert report(tmp_path)["end"] == "budget"
        log = list(big.log)
        assert crawl(starts, tmp_path, CrawlSettings(max_site_pages=8)).fetched == 13
        assert big.log == log  # nothing is asked again
        assert crawl(starts, tmp_path, CrawlSettings()).fetched == 35
        assert big.fetched() == Counter(["/", *(f"/p{n}" for n in range(1, 30))])
    assert report(tmp_path)["end"] == "complete"


def test_a_site_ends_at_its_bytes(tmp_path: Path) -> None:
    with serving(chain(30, weight=10_000)) as site:  # type: ignore[arg-type]
        progress = crawl([site.url], tmp_path, CrawlSettings(max_site_bytes=50_000, concurrency=1))
    assert (progress.fetched, progress.sites[0].ended) == (5, "budget-bytes")
    assert {reject.reason for reject in FrontierReader(tmp_path).rejects()} == {"budget-bytes"}


@pytest.mark.parametrize("answer", [
    Answer(b"<meta name=robots content=noindex>" + b" " * 10_000),
    Answer(b" " * 30_000, chunked=True),  # too large: broken off behind the limit
    Answer(b" " * 10_000, type="text/plain"),
    Answer(b" " * 10_000, status=404),
], ids=["noindex", "too-large", "not-html", "http-404"])  # fmt: skip
def test_what_is_no_page_counts_in_the_bytes_of_a_site(tmp_path: Path, answer: Answer) -> None:
    start = links(*(f"/p{n}" for n in range(30)))
    with serving(lambda path: start if path == "/" else answer) as site:
        settings = CrawlSettings(max_site_bytes=50_000, max_page_bytes=20_000, concurrency=1, sitemaps=False)
        progress = crawl([site.url], tmp_path, settings)
    assert progress.sites[0].ended == "budget-bytes"
    assert 50_000 < progress.bytes < 100_000
    assert len(site.log) < 10


def test_a_site_ends_at_its_minutes(tmp_path: Path) -> None:
    with serving(chain(1_000)) as slow, serving(chain(3), host="127.0.0.2") as small:  # type: ignore[arg-type]
        settings = CrawlSettings(max_site_minutes=0.04, delay=0.1, autothrottle=False)
        progress = crawl([slow.url, small.url], tmp_path, settings)
    ended = {site.site: site.ended for site in progress.sites}
    assert ended == {named(slow): "budget-minutes", named(small): ""}
    assert 3 < progress.fetched < 60
    assert {reject.reason for reject in FrontierReader(tmp_path).rejects()} == {"budget-minutes"}


def test_a_big_site_starves_no_small_one(tmp_path: Path) -> None:
    with ExitStack() as stack:
        big = stack.enter_context(serving(chain(500, width=100)))  # type: ignore[arg-type]
        small = [stack.enter_context(serving(chain(6))) for _ in range(5)]  # type: ignore[arg-type]
        starts = [big.url, *(site.url for site in small)]
        progress = crawl(starts, tmp_path, CrawlSettings(max_pages=60))
    pages = {site.site: site.pages for site in progress.sites}
    assert [pages[named(site)] for site in small] == [6] * 5
    assert pages[named(big)] == 30
    assert progress.n_sites == 6


def test_sites_without_a_page_are_counted(tmp_path: Path) -> None:
    moved = redirect("http://elsewhere.invalid/")
    with serving(lambda path: links("/")) as site, serving(lambda path: moved) as off:
        assert crawl([site.url, off.url], tmp_path, CrawlSettings()).n_without_pages == 1


def test_include_and_exclude(tmp_path: Path) -> None:
    pages = ("/en/a", "/en/b?print=1", "/tc/a", "/fr/a")
    with serving(lambda path: links(*pages)) as site:
        settings = CrawlSettings(include=("/en/", "/tc/"), exclude=(r"[?&]print=",))
        assert crawl([site.url], tmp_path, settings).fetched == 3
        rejects = {reject.url.removeprefix(site.url): reject.reason for reject in FrontierReader(tmp_path).rejects()}
        assert rejects == {"/en/b?print=1": "excluded", "/fr/a": "excluded"}
        assert crawl([site.url], tmp_path, CrawlSettings(exclude=("/fr/",))).fetched == 4
        assert site.fetched() == Counter(["/", "/en/a", "/tc/a", "/en/b?print=1"])


@pytest.mark.parametrize("name", ["include", "exclude"])
def test_invalid_pattern_is_no_setting(name: str) -> None:
    with pytest.raises(InputError, match=rf"crawl\.{name}: '\(' is not a regular expression"):
        CrawlSettings(**{name: ("/", "(")})  # type: ignore[arg-type]


def test_a_site_by_its_folder(tmp_path: Path) -> None:
    pages = ("/en/a.html", "/en/deep/b", "/tc/a.html", "/", "/english/x", "/kids/c")
    with serving(lambda path: links(*pages), sitemap=Answer(b"<urlset/>", type="text/xml")) as site:
        starts = [f"{site.url}/en/index.html", f"{site.url}/kids/"]
        progress = crawl(starts, tmp_path, CrawlSettings(site_by="path"))
        assert set(site.fetched()) == {"/en/index.html", "/en/a.html", "/en/deep/b", "/kids/", "/kids/c"}
        assert {found.site for found in progress.sites} == {f"{named(site)}/en/", f"{named(site)}/kids/"}
        assert "/sitemap.xml" in site.log


def test_the_report_adds_up(tmp_path: Path) -> None:
    first = links("/a", "/gone", "/x.pdf", "/deep/deep/deep/deep/", "/list?sort=name", "/away")
    answers = {"/": first, "/away": Answer(status=302, headers={"Location": "http://elsewhere.example/"})}

    def answer(path: str) -> Answer:
        return answers.get(path, Answer(b"<html lang=zh-hk><p>page") if path != "/gone" else Answer(status=404))

    seen: list[CrawlProgress] = []
    with serving(answer) as one, serving(chain(9, width=1)) as two:  # type: ignore[arg-type]
        progress = crawl([one.url, two.url], tmp_path, CrawlSettings(max_depth=4), seen.append)
    found = report(tmp_path)
    assert found["format"] == 1
    assert (found["end"], found["pages"], found["redirects"], found["queued"]) == ("complete", 8, 1, 0)
    expected = {"depth": 1, "http-404": 1, "not-html": 1, "trap": 1}
    assert found["rejects"] == expected == dict(progress.reasons)
    assert found["suspects"] == {"sort-order": 1}
    assert found["sitemaps"] == {"http-404": 2}
    assert found["langs"] == {"und": 6, "zh-HK": 2} == dict(progress.langs)
    sites = {site["site"]: site for site in found["sites"]}  # type: ignore[attr-defined]
    assert sites[named(one)]["rejects"] == {"http-404": 1, "not-html": 1, "trap": 1}
    assert sites[named(two)]["rejects"] == {"depth": 1}
    assert sites[named(two)]["langs"] == {"und": 5}
    for name in ("pages", "redirects", "queued", "rejected", "bytes"):
        assert sum(site[name] for site in sites.values()) == found[name]
    assert found["bytes"] == progress.bytes == seen[-1].bytes
    assert not list(tmp_path.glob(f"{CRAWL_REPORT}.*"))


def test_a_report_that_the_disk_has_no_room_for_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(path: Path, text: str, **_: object) -> None:
        path.write_bytes(text[:10].encode())
        raise OSError(errno.ENOSPC, "No space left on device")

    with serving(chain(3)) as site:  # type: ignore[arg-type]
        monkeypatch.setattr(Path, "write_text", fill)
        assert crawl([site.url], tmp_path, CrawlSettings()).fetched == 3
    assert not list(tmp_path.glob(f"{CRAWL_REPORT}*"))


def test_a_crawl_that_was_stopped_has_a_report(tmp_path: Path) -> None:
    def stop(progress: CrawlProgress) -> None:
        if progress.fetched:
            raise KeyboardInterrupt

    with serving(chain(400, width=1)) as site, pytest.raises(KeyboardInterrupt):  # type: ignore[arg-type]
        crawl([site.url], tmp_path, CrawlSettings(delay=0.05), stop)
    assert report(tmp_path)["end"] == "interrupted"


def test_a_crawl_that_found_nothing_has_a_report(tmp_path: Path) -> None:
    with serving(lambda path: Answer(status=404)) as site, pytest.raises(CrawlError):
        crawl([site.url], tmp_path, CrawlSettings())
    assert report(tmp_path)["rejects"] == {"http-404": 1}


def test_seeds(tmp_path: Path) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text("\ufeff# sites\n\nhttp://A.org\t12 pages\nwww.b.org/en/\n  http://a.org/ \n", encoding="utf-8")
    assert read_seeds(path) == ["http://a.org/", "http://www.b.org/en/"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"http://a.org\nftp://b.org/\n", r"line 2: not a web address: 'ftp://b.org/'"),
        (b"a.org\ngarbage\n", "line 2: not a web address: 'garbage'"),
        (b"a.org, b.org\n", "line 1: not a web address: 'a.org,'"),
        (b"# nothing\n", "it has no address"),
        (b"http://a.org/\xff\n", "line 1: not UTF-8"),
        (None, "cannot be read"),
    ],
)
def test_invalid_seeds(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "seeds.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_seeds(path)


def test_a_site_where_a_file_of_seeds_is_expected() -> None:
    with pytest.raises(InputError, match=r"no such file; if a site is meant, write https://www\.example\.org"):
        seeds_of(["www.example.org"])


def test_seeds_with_a_password_are_used_without(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "seeds.txt"
    path.write_text("http://me:secret@a.org/\nhttp://me:secret@b.org/\n")
    assert read_seeds(path) == seeds_of([str(path)]) == ["http://a.org/", "http://b.org/"]
    assert seeds_of(["http://me:secret@a.org/"]) == ["http://a.org/"]
    said = "http://…@a.org/: the user name and the password in the address are not sent"
    assert [record.getMessage() for record in caplog.records] == [said] * 3
    with pytest.raises(InputError, match=r"'http://…@a:b/'"):
        seeds_of(["http://me:secret@a:b/"])


def test_later_exclude_applies_to_queued_addresses(tmp_path: Path) -> None:
    with serving(chain(9, width=9)) as site:  # type: ignore[arg-type]
        assert crawl([site.url], tmp_path, CrawlSettings(max_site_pages=1)).queued == 8
        progress = crawl([site.url], tmp_path, CrawlSettings(exclude=("/p[1-4]$",)))
        assert (progress.fetched, progress.queued, progress.reasons) == (5, 0, {"excluded": 4})
        assert set(site.fetched()) == {"/", "/p5", "/p6", "/p7", "/p8"}
        assert crawl([site.url], tmp_path, CrawlSettings()).fetched == 9


def test_smaller_depth_applies_to_queued_addresses(tmp_path: Path) -> None:
    with serving(chain(9, width=1)) as site:  # type: ignore[arg-type]
        crawl([site.url], tmp_path, CrawlSettings(max_site_pages=3))
        assert crawl([site.url], tmp_path, CrawlSettings(max_depth=2)).fetched == 3
        (left,) = FrontierReader(tmp_path).rejects()
        assert (left.reason, left.detail) == ("depth", "3 links from a start page")
        assert crawl([site.url], tmp_path, CrawlSettings()).fetched == 9


def test_while_it_runs_it_says_how_many_sites_a_budget_has_ended(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []

    def tell(stage: str, done: int, total: int | None, detail: str = "") -> None:
        told.append((stage, detail))

    with ExitStack() as stack:
        sites = [stack.enter_context(serving(chain(n))) for n in (30, 30, 3)]  # type: ignore[arg-type]
        config = Config().override({"crawl.max_site_pages": 8, "crawl.browser": "never"})
        progress = crawl_stage([site.url for site in sites], RunDirectory.create(tmp_path), config, tell)
    assert progress.ended == {"budget-pages": 2}
    assert told[-1][1].endswith("3 sites · 2 ended by budget (budget-pages 2)")
    assert "ended" not in told[0][1]


@pytest.mark.parametrize("budget", ["max_pages", "max_site_pages"])
def test_its_total_is_what_the_budget_leaves(tmp_path: Path, budget: str) -> None:
    seen: list[tuple[int, int | None, str]] = []

    def report(stage: str, done: int, total: int | None, detail: str = "") -> None:
        seen.append((done, total, detail))

    with serving(chain(30, width=5)) as site:  # type: ignore[arg-type]
        config = Config().override({f"crawl.{budget}": 5, "crawl.browser": "never"})
        crawl_stage([site.url], RunDirectory.create(tmp_path), config, report)
    assert seen[-1][:2] == (5, 5)
    assert all(total is not None and total <= 5 for _, total, _ in seen)
    assert not any("declared" in detail for *_, detail in seen)  # these pages declare no language


def test_a_site_of_dead_links_ends(tmp_path: Path) -> None:
    def answer(path: str) -> Answer:
        if path == "/":
            return links(*(f"/gone{n}" for n in range(2_000)), *(f"/p{n}" for n in range(30)))
        return Answer(status=404) if path.startswith("/gone") else links("/")

    with serving(answer) as site:
        progress = crawl([site.url], tmp_path, CrawlSettings(max_failed_per_page=1))
    n_failed = progress.reasons["http-404"]
    assert (progress.fetched, progress.ended) == (31, {"budget-failures": 1})
    assert SPARE_PAGES + 31 <= n_failed < SPARE_PAGES + 31 + 5
    assert FrontierReader(tmp_path).reasons() == {"http-404": n_failed, "budget-failures": 2_000 - n_failed}


def test_a_form_of_dead_links_comes_last_until_one_has_a_page(tmp_path: Path) -> None:
    """Of 100 addresses the last 10 have pages, and the others of the site are fetched before."""

    def answer(path: str) -> Answer:
        if path == "/":
            return links(*(f"/d{n}" for n in range(100)), *(f"/p{n}" for n in range(30)))
        return Answer(status=404) if path.startswith("/d") and int(path[2:]) < 90 else Answer(b"<p>page")

    with serving(answer) as site:
        settings = CrawlSettings(order="breadth", concurrency=1)
        progress = crawl([site.url], tmp_path, settings)
        asked = [path for path in site.log if path.startswith(("/d", "/p"))]
    assert asked[:MAX_FAILED] == [f"/d{n}" for n in range(MAX_FAILED)]
    assert asked[MAX_FAILED : MAX_FAILED + 30] == [f"/p{n}" for n in range(30)]
    assert (progress.fetched, progress.reasons) == (1 + 30 + 10, {"http-404": 90})


def test_without_a_budget_none_has_ended(tmp_path: Path) -> None:
    with serving(chain(5)) as site:  # type: ignore[arg-type]
        assert crawl([site.url], tmp_path, CrawlSettings(max_site_pages=5)).ended == {}  # nothing was left over


def test_a_delay_holds_for_each_host_and_not_for_all(tmp_path: Path) -> None:
    """Read from the log of the servers; Scrapy varies a delay by half."""
    delay, n_pages, hosts = 0.3, 5, [f"127.0.0.{n}" for n in range(2, 8)]
    with ExitStack() as stack:
        sites = [stack.enter_context(serving(chain(n_pages), host=host)) for host in hosts]  # type: ignore[arg-type]
        settings = CrawlSettings(delay=delay, autothrottle=False, concurrency=4)
        assert crawl([site.url for site in sites], tmp_path, settings).fetched == n_pages * len(sites)
    assert [len(site.times[1:]) for site in sites] == [n_pages + 1] * len(sites)  # with the guess for a sitemap
    assert all(keeps_pace(site.times[1:], delay / 2) for site in sites)
    ends = [site.times[-1] for site in sites]
    starts = [site.times[1] for site in sites]
    assert max(starts) < min(ends)  # all at the same time: no host waits for another


def test_a_site_that_gave_no_answer_is_tried_by_the_next_run(tmp_path: Path) -> None:
    """Though another one has pages; an answer that says no is an answer."""
    with serving(chain(3)) as up, serving(chain(3)) as down, serving(lambda path: Answer(status=404)) as empty:  # type: ignore[arg-type]
        down.answer = lambda path: None
        starts, settings = [up.url, down.url, empty.url], CrawlSettings(retries=0)
        assert crawl(starts, tmp_path, settings).reasons == {"connection": 1, "http-404": 1}
        down.answer = up.answer
        n_asked = len(up.log), len(empty.log)
        progress = crawl(starts, tmp_path, settings)
        assert (progress.fetched, progress.reasons) == (6, {"http-404": 1})
        assert (len(up.log), len(empty.log)) == n_asked
