"""Style sheets and pictures of the pages of pairs: which are fetched, how, and that the review shows them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.loopback import Answer, Server, redirect, serving
from tests.made_sites import town_page
from twinlink.config import Config
from twinlink.jobs.mine import mine_stages
from twinlink.jobs.page_parts import fetch_page_parts
from twinlink.progress import Report
from twinlink.review.reading.resources import PageResources
from twinlink.review.reading.run_view import RunView
from twinlink.rundir.directory import RunDirectory
from twinlink.spiders.crawling import CrawlProgress, crawl_parts
from twinlink.spiders.frontier import LEDGER_NAME

N_PAIRS = 5
CONFIG = Config().override(
    {"langs": ["en", "fr"], "crawl.browser": "never", "crawl.retries": 0, "crawl.page_parts": "sites"}
)
GIF = Answer(b"GIF89a" + b"\1" * 20, type="image/gif")
CSS = Answer(b"h1 { background: url(banner.gif) } p { background: url(/closed/b.gif) }", type="text/css")
PARTS = {
    "/look/site.css": CSS,
    "/look/banner.gif": GIF,
    "/look/gone.css": Answer(status=404),
    "/look/page.css": Answer(b"<html>no style sheet", type="text/html"),
    "/look/moved.gif": redirect("/look/banner.gif"),
    "/crest.gif": GIF,
    "/closed/a.gif": GIF,
    "/closed/b.gif": GIF,
}
HEAD = "".join(f"<link rel=stylesheet href=/look/{name}.css>" for name in ("site", "gone", "page"))
PICTURES = (
    "<img src=/crest.gif><img src=/closed/a.gif><img src=/look/moved.gif><img src=/drawn.svg>"
    "<img src='http://localhost:9/elsewhere.gif'>"
)


def answer(path: str) -> Answer | None:
    if path == "/":
        return Answer("".join(f"<a href=/{lang}/{n}>{n}</a>" for lang in ("en", "fr") for n in range(N_PAIRS)).encode())
    if path in PARTS:
        return PARTS[path]
    lang, _, name = path[1:].partition("/")
    if not name.isdigit():
        return Answer(status=404)
    page = town_page(lang, int(name)).replace("</head>", f"{HEAD}</head>").replace("<body>", f"<body>{PICTURES}")
    return Answer(page.encode())


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(answer, robots=Answer(b"User-agent: *\nDisallow: /closed/\n", type="text/plain")) as served:
        yield served


def ignored(*args: object) -> None:
    """Show nothing."""


def asked(server: Server) -> list[str]:
    return sorted(path for path in server.log if path in PARTS or "drawn" in path)


def outcomes(run: RunDirectory) -> dict[str, str]:
    with closing(sqlite3.connect(run.parts_folder / LEDGER_NAME)) as db:
        rows = db.execute("SELECT url, iif(reason = '', state, reason) FROM frontier").fetchall()
    return {url.split("/", 3)[3]: outcome for url, outcome in rows}


def test_parts_of_pairs_are_fetched_politely_once_and_shown(server: Server, tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path)
    mine_stages([server.url], run, CONFIG)
    assert asked(server) == [path for path in sorted(PARTS) if not path.startswith("/closed/")]
    expected = {
        "look/site.css": "done", "look/banner.gif": "done", "crest.gif": "done", "look/moved.gif": "moved",
        "look/gone.css": "http-404", "look/page.css": "not-a-part", "closed/a.gif": "robots", "closed/b.gif": "robots",
        "elsewhere.gif": "excluded",
    }  # fmt: skip
    assert outcomes(run) == expected
    show = PageResources(run, patience=60)
    sheet, picture = show(f"{server.url}/look/site.css"), show(f"{server.url}/look/banner.gif")
    assert [part and part.content for part in (sheet, picture)] == [CSS.body, GIF.body]
    before = list(server.log)
    mine_stages([server.url], run, CONFIG)  # pages and parts are there; nothing is read again either
    assert server.log == before


def test_an_open_review_shows_parts_that_are_fetched_later(server: Server, tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path)
    mine_stages([server.url], run, CONFIG.override({"crawl.page_parts": "none"}))
    review = RunView(run.path)
    assert review.read(lambda tables: tables.resource(f"{server.url}/look/site.css")) is None
    fetch_page_parts(run, CONFIG, ignored)
    shown = review.read(lambda tables: tables.resource(f"{server.url}/look/site.css"))
    assert shown is not None
    assert shown.content == CSS.body


def test_ingest_does_not_see_parts(server: Server, tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path)
    mine_stages([server.url], run, CONFIG)
    assert run.part_archives()
    signature = run.read_signature("match")
    mine_stages([server.url], run, CONFIG)
    assert run.read_signature("match") == signature
    assert all("page_parts" not in path.parts for path in run.archives())


def test_off_by_default(server: Server, tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path)
    mine_stages([server.url], run, CONFIG.override({"crawl.page_parts": "none"}))
    assert not asked(server)
    assert not run.parts_folder.exists()
    mine_stages([server.url], run, CONFIG)  # asked for later, on a finished run
    assert "/look/site.css" in asked(server)


def test_limit_takes_style_sheets_first_and_a_larger_one_goes_on(server: Server, tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path)
    few = CONFIG.override({"crawl.max_site_parts": 1, "crawl.concurrency": 1})
    mine_stages([server.url], run, few)
    assert outcomes(run)["look/site.css"] == "done"
    assert list(outcomes(run).values()).count("done") == 1
    mine_stages([server.url], run, CONFIG)
    assert list(outcomes(run).values()).count("done") == 3
    assert asked(server).count("/look/site.css") == 1


def test_killed_fetch_goes_on_where_it_was(server: Server, tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path)
    mine_stages([server.url], run, CONFIG.override({"crawl.page_parts": "none"}))

    def killed(stage: str, done: int, total: int | None, detail: str = "") -> None:
        if stage == "page parts" and "looking" not in detail and done:
            raise OSError("killed")

    slow = CONFIG.override({"crawl.delay": 0.3, "crawl.concurrency": 1, "crawl.autothrottle": False})
    report: Report = killed
    with pytest.raises(OSError, match="killed"):
        fetch_page_parts(run, slow, report)
    n_done = len(asked(server))
    assert n_done < len(PARTS) - 2
    fetch_page_parts(run, CONFIG, ignored)
    assert outcomes(run)["look/banner.gif"] == "done"
    assert len(asked(server)) <= len(PARTS) - 2 + 1  # what was in flight may come twice


def test_parts_of_other_hosts_only_if_wanted(tmp_path: Path) -> None:
    with serving(lambda path: GIF, host="127.0.0.2") as other:
        settings = CONFIG.crawl
        everywhere = CONFIG.override({"crawl.page_parts": "all", "crawl.allow_private": True}).crawl
        seen: list[CrawlProgress] = []
        crawl_parts([f"{other.url}/a.gif"], ["http://127.0.0.1/"], tmp_path / "a", settings, seen.append)
        assert not other.fetched()
        progress = crawl_parts([f"{other.url}/a.gif"], ["http://127.0.0.1/"], tmp_path / "a", everywhere)
        assert other.fetched() == {"/a.gif": 1}
        assert progress.fetched == 1


def test_patterns_of_pages_do_not_keep_parts_out_but_exclude_does(server: Server, tmp_path: Path) -> None:
    urls = [f"{server.url}{path}" for path in ("/look/site.css", "/crest.gif")]
    settings = CONFIG.override({"crawl.include": ["/en/"], "crawl.exclude": ["crest"]}).crawl
    crawl_parts(urls, [f"{server.url}/en/"], tmp_path, settings)
    assert asked(server) == ["/look/site.css"]


def test_part_that_is_too_large_or_no_part_is_not_received(tmp_path: Path) -> None:
    answers = {
        "/large.gif": Answer(b"GIF89a" + b"\0" * 5_000_000, type="image/gif"),
        "/film.gif": Answer(b"\0" * 5_000_000, type="video/mp4"),
    }
    with serving(answers.get) as server:
        urls = [f"{server.url}{path}" for path in answers]
        progress = crawl_parts(urls, [server.url], tmp_path, CONFIG.crawl)
    assert progress.reasons == {"not-a-part": 1, "too-large": 1}
    assert progress.bytes == 0
