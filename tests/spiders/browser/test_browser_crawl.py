"""Crawls of sites that scripts build, on this machine: what is fetched, archived, read back and mined; what is left."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.cli import main as warcio_main

import twinlink as tl
from tests.browsers import chromium_processes, needs_browser, parents
from tests.loopback import Answer, Server, keeps_pace, links, serving
from twinlink.config import CrawlSettings, IngestSettings
from twinlink.errors import CrawlError, InputError
from twinlink.ingest.stage import ingest
from twinlink.pages.parser import parse_page
from twinlink.rundir.directory import RunDirectory
from twinlink.sources.documents import Document
from twinlink.sources.warc import read_warc
from twinlink.spiders.browser.chromium import check_browser, find_browser, missing_browser
from twinlink.spiders.browser.visit import Answer as PageAnswer
from twinlink.spiders.browser.visit import PartRequest
from twinlink.spiders.crawling import crawl
from twinlink.spiders.frontier import FrontierReader
from twinlink.spiders.middlewares import page_builder as building
from twinlink.toy import BASE, toy_site

SHELL = Answer(
    b"<!DOCTYPE html><html><head><title>...</title></head><body><div id=root></div><script src=/app.js></script>"
)
APP = Answer(
    b"""fetch('/data' + location.pathname).then(answer => answer.json()).then(page => {
      document.title = page.title; document.documentElement.lang = page.lang;
      document.getElementById('root').innerHTML = page.html;
    });""",
    type="text/javascript",
)
TOY = {url.removeprefix(BASE): html for url, html in toy_site().pages.items()}
STARTS = ("/en/a.html", "/en/b.html", "/zh/a.html", "/zh/b.html")
QUICK = CrawlSettings(timeout=10, retries=0, sitemaps=False)


def json_of(html: str, lang: str) -> Answer:
    title = html.partition("<title>")[2].partition("</title>")[0]
    body = html.partition("<body>")[2].partition("</body>")[0]
    data = {"title": title, "lang": lang, "html": body}
    return Answer(json.dumps(data).encode(), type="application/json")


def toy_answer(path: str) -> Answer:
    """The toy site as an application: each address has the same shell, texts and links come as data."""
    if path == "/app.js":
        return APP
    if path.startswith("/data"):
        path = path.removeprefix("/data")
        return json_of(TOY[path], path[1:3])
    return SHELL if path in TOY else Answer(b"<p>not found", status=404)


def rejects(folder: Path, site: Server) -> dict[str, str]:
    return {reject.url.removeprefix(site.url): reject.reason for reject in FrontierReader(folder).rejects()}


def documents(folder: Path, site: Server) -> dict[str, Document]:
    found = [item for path in sorted((folder / "warc").iterdir()) for item in read_warc(path, 10**6)]
    assert all(isinstance(item, Document) for item in found), found
    pages = [item for item in found if isinstance(item, Document)]
    assert len({page.url for page in pages}) == len(pages)  # each once
    return {page.url.removeprefix(site.url): page for page in pages}


@needs_browser
def test_a_site_built_by_scripts_is_mined_to_its_pairs(tmp_path: Path) -> None:
    with serving(toy_answer) as site:
        starts = [site.url + path for path in STARTS]
        run = tl.mine(starts, out=tmp_path / "run", langs=("en", "zh"), match__min_score=0.0, crawl__timeout=10.0)
    expected = {tuple(url.replace(BASE, site.url) for url in pair) for pair in toy_site().pairs}
    assert set(zip(run.pairs["url_a"], run.pairs["url_b"], strict=True)) == expected
    asked = site.fetched()
    assert {path for path in asked if not path.startswith("/data")} == {*TOY, "/app.js"}
    assert set(asked.values()) == {1}  # the script once for all pages, and no page twice
    assert all(agent.startswith("twinlink") for agent in site.agents)


@needs_browser
def test_the_archive_holds_what_was_served_and_what_was_built(tmp_path: Path) -> None:
    with serving(toy_answer) as site:
        progress = crawl([f"{site.url}/en/c.html"], tmp_path, QUICK)
        assert crawl([f"{site.url}/en/c.html"], tmp_path, QUICK).fetched == progress.fetched  # and nothing again
    assert chromium_processes(os.getpid()) == set()
    assert progress.fetched == 3
    (path,) = (tmp_path / "warc").iterdir()
    with pytest.raises(SystemExit) as done:
        warcio_main(["check", str(path)])
    assert not done.value.code
    with path.open("rb") as file:
        records = [
            (record.rec_type, record.rec_headers["WARC-Target-URI"] or "", record.raw_stream.read(), record.rec_headers)
            for record in ArchiveIterator(file)
        ]
    kinds = Counter(kind for kind, url, *_ in records if not url.endswith("/robots.txt"))
    assert kinds == {"warcinfo": 1, "conversion": 3, "response": 3, "request": 3}
    built = {record[3]["WARC-Refers-To"]: record for record in records if record[0] == "conversion"}
    served = {record[3]["WARC-Record-ID"]: record for record in records if record[0] == "response"}
    assert all(b"<h1>" in record[2] for record in built.values())
    assert all(served[number][2] == SHELL.body and served[number][1] == built[number][1] for number in built)
    pages = documents(tmp_path, site)
    assert set(pages) == {"/en/c.html", "/en/d.html", "/en/e.html"}
    page = parse_page(pages["/en/c.html"].body, f"{site.url}/en/c.html", pages["/en/c.html"].content_type)
    assert (page.title, page.declared_lang) == ("Around town", "en")
    assert [link.url for link in page.links] == [f"{site.url}/en/{name}.html" for name in "de"]


@needs_browser
def test_links_in_the_headers_of_a_built_page_are_links_of_it(tmp_path: Path) -> None:
    header = "</fr>; rel=alternate; hreflang=fr, </home>; rel=canonical"
    script = b"<div id=root></div><script>document.body.innerHTML = '<p>built'</script>"
    pages = {"/": Answer(script, headers={"Link": header}), "/fr": Answer(b"<p>texte")}
    run = RunDirectory.create(tmp_path / "run")
    with serving(lambda path: pages.get(path, Answer(status=404))) as site:
        crawl([site.url], run.path, QUICK)
        ingest(run, [], IngestSettings())
    (table,) = (run.stage_folder("ingest") / "links").glob("*.parquet")
    found = pq.read_table(table)
    assert found["target_url"].to_pylist() == [f"{site.url}/fr", f"{site.url}/home"]
    assert found["hreflang"].to_pylist() == ["fr", ""]


@needs_browser
def test_ordinary_pages_start_no_browser_unless_it_is_asked_for(tmp_path: Path) -> None:
    page = links("/a").body + b"<p>Opens at 9:30.<script>document.body.append('added')</script>"
    pages = {"/": Answer(page), "/a": Answer(b"<p>short")}
    settings = {
        "auto": QUICK,
        "always": CrawlSettings(timeout=10, sitemaps=False, browser="always"),
        "site": CrawlSettings(timeout=10, sitemaps=False, browser_sites=("a.example", "127.0.0.1")),
    }
    with serving(pages.__getitem__) as site:
        added = {}
        for name, wanted in settings.items():
            crawl([site.url], tmp_path / name, wanted)
            added[name] = b"added</body>" in documents(tmp_path / name, site)["/"].body
    assert added == {"auto": False, "always": True, "site": True}


@needs_browser
def test_a_host_with_several_such_pages_is_built_whole(tmp_path: Path) -> None:
    """The last page has text of its own, but its link comes from a script."""
    chain = [f"/{n}" for n in range(building.SURE_PAGES)]
    scripted = b"<div id=root></div><script>document.body.innerHTML = '<a href=%s>on</a>'</script>"
    pages = {path: Answer(scripted % f"/{n + 1}".encode()) for n, path in enumerate(chain)}
    pages[f"/{len(chain)}"] = Answer(
        b"<p>A page of its own.<script>document.body.innerHTML += '<a href=/end>x'</script>"
    )
    pages["/end"] = Answer(b"<p>The end.")
    with serving(pages.__getitem__) as site:
        assert crawl([f"{site.url}/0"], tmp_path, QUICK).fetched == len(chain) + 2


HARMFUL = {
    "/polls": b"<p>polls<script>(async () => { while (true) await fetch('/poll') })()</script>",
    "/hangs": b"<script>while (true);</script>",
    "/talks": b"<script>alert(1); confirm(2); open('/popup'); print(); document.body.append('talked')</script>",
    "/downloads": b"<script>const a = document.createElement('a'); a.href = '/report.zip'; a.download = 'r.zip';"
    b"document.body.append(a, 'tried'); a.click()</script>",
    "/spies": b"<script>for (const host of ['127.0.0.2', '10.0.0.1', '169.254.169.254', '[::1]', 'localhost'])"
    b"fetch(`http://${host}:%d/secret`).catch(() => document.body.append('refused '))</script>",
    "/leaves": b"<script>location.href = 'http://127.0.0.2:%d/elsewhere'</script>",
    "/moves": b"<script>location.replace('/moved')</script>",
    "/forbidden": b"<script>fetch('/private/data').catch(() => document.body.append('robots'))</script>",
    "/blank": b"<script>fetch('/private/data')</script>",
    "/huge": b"<script>document.body.append('x'.repeat(300000))</script>",
    "/huge-part": b"<script>fetch('/huge.json').catch(() => document.body.append('cut'))</script>",
    "/endless-part": b"<script>fetch('/endless.json').catch(() => document.body.append('cut'))</script>",
    "/turned": b"<script>fetch('/turn').then(r => r.text()).then(t => document.body.append(t))</script>",
}


@needs_browser
def test_harmful_pages_cost_little_and_reach_nobody(tmp_path: Path) -> None:
    spied: list[str] = []

    def secret(path: str) -> Answer:
        spied.append(path)
        return Answer(b"secret")

    def answer(path: str) -> Answer | None:
        fixed = {
            "/poll": Answer(b"1", type="text/plain", headers={"Cache-Control": "no-store"}),
            "/moved": Answer(b"<p>moved here"),
            "/huge.json": Answer(b"x" * 400_000, type="application/json"),
            "/turn": Answer(status=302, headers={"Location": f"http://127.0.0.2:{other.server_port}/secret"}),
        }
        if path == "/endless.json":
            time.sleep(0.2)
            return None
        if path == "/":
            return links(*HARMFUL)
        if path in HARMFUL:
            script = HARMFUL[path]
            return Answer(b"<div id=root></div>" + (script % other.server_port if b"%d" in script else script))
        return fixed.get(path, Answer(b"{}", status=404))

    robots = Answer(b"User-agent: *\nDisallow: /private/\n", type="text/plain")
    settings = CrawlSettings(timeout=6, retries=0, sitemaps=False, max_page_bytes=200_000)
    with serving(secret, host="127.0.0.2") as other, serving(answer, robots) as site:
        crawl([site.url], tmp_path, settings)
        found = rejects(tmp_path, site)
        pages = {path: page.body.decode() for path, page in documents(tmp_path, site).items()}
    assert found == {
        **dict.fromkeys(("/hangs", "/blank", "/turned"), "browser-failed"), "/huge": "too-large",
        "/report.zip": "not-html",
    }  # fmt: skip
    assert set(pages) == {"/", *HARMFUL, "/moved"} - set(found)
    assert "talked</body>" in pages["/talks"]
    assert "tried</body>" in pages["/downloads"]
    assert pages["/spies"].count("refused </body>") == 1
    assert pages["/spies"].endswith("refused " * 5 + "</body></html>")
    assert "/elsewhere" in pages["/leaves"]
    assert all(word in pages[path] for path, word in (("/forbidden", "robots</body>"), ("/huge-part", "cut</body>")))
    assert spied == []
    assert not {"/private/data", "/popup", "/report.zip", "/elsewhere"} & set(site.log)


@needs_browser
def test_parts_count_against_the_budget_of_a_site(tmp_path: Path) -> None:
    def answer(path: str) -> Answer:
        if path.endswith(".json"):
            return Answer(b" " * 50_000 + b"[1]", type="application/json", headers={"Cache-Control": "no-store"})
        n = int(path.strip("/") or 0)
        script = f"fetch('/{n}.json').then(() => document.body.innerHTML = '<a href=/{n + 1}>next</a>')"
        return Answer(f"<div id=root></div><script>{script}</script>".encode())

    settings = CrawlSettings(timeout=10, retries=0, sitemaps=False, max_site_bytes=120_000, concurrency=1)
    with serving(answer) as site:
        progress = crawl([site.url], tmp_path, settings)
    assert progress.fetched == 3
    assert list(rejects(tmp_path, site).values()) == ["budget-bytes"]


@needs_browser
def test_a_slow_host_with_one_request_at_a_time_does_not_lock_up(tmp_path: Path) -> None:
    robots = Answer(b"User-agent: *\nCrawl-delay: 0.2\n", type="text/plain")
    with serving(toy_answer, robots) as site:
        assert crawl([f"{site.url}/en/c.html"], tmp_path, QUICK).fetched == 3
    assert keeps_pace(site.times[1:], 0.2)  # the pages' own requests, too


def started(folder: Path, site: Server) -> subprocess.Popen[bytes]:
    """Start a crawl in a process of its own; return once its browser runs."""
    program = (
        "import sys; from pathlib import Path; from twinlink.config import CrawlSettings;"
        "from twinlink.spiders.crawling import crawl;"
        "crawl([sys.argv[1]], Path(sys.argv[2]), CrawlSettings(timeout=10, sitemaps=False))"
    )
    return subprocess.Popen([sys.executable, "-c", program, f"{site.url}/en/c.html", str(folder)])


def gone(processes: set[int]) -> bool:
    def runs(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    return not any(runs(pid) for pid in processes)


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@needs_browser
@pytest.mark.parametrize("how", ["crawl", "crawler", "interrupt"])
def test_no_browser_outlives_its_crawl_and_a_killed_one_goes_on(tmp_path: Path, how: str) -> None:
    """Killed is the process that asked for the crawl, or the crawler itself; or somebody presses Ctrl-C."""
    hold = True

    def answer(path: str) -> Answer:
        if path == "/data/en/d.html":
            wait_for(lambda: not hold)  # the page waits in the browser until the crawl is gone
        return toy_answer(path)

    with serving(answer) as site:
        process = started(tmp_path, site)
        wait_for(lambda: "/data/en/d.html" in site.log)
        browser = chromium_processes(process.pid)
        assert len(browser) > 2
        if how == "interrupt":
            process.send_signal(signal.SIGINT)
            hold = False  # Ctrl-C takes in what is on its way
        else:
            (crawler,) = (pid for pid, parent in parents() if parent == process.pid)
            os.kill(process.pid if how == "crawl" else crawler, signal.SIGKILL)
        wait_for(lambda: gone(browser))
        hold = False
        process.wait()
        assert crawl([f"{site.url}/en/c.html"], tmp_path, QUICK).fetched == 3
    pages = documents(tmp_path, site)
    assert set(pages) == {"/en/c.html", "/en/d.html", "/en/e.html"}
    assert all(b"<h1>" in page.body for page in pages.values())


@needs_browser
def test_a_later_visit_finds_what_has_changed_though_the_shell_has_not(tmp_path: Path) -> None:
    """And one without a browser loses nothing of what an earlier one has built."""
    texts = ["The fare is 5 dollars.", "The fare is 6 dollars."]

    def answer(path: str) -> Answer:
        if path.startswith("/data"):
            return json_of(f"<title>Fares</title><body><h1>Fares</h1><p>{texts[0]}</body>", "en")
        found = toy_answer(path)
        return Answer(found.body, found.status, found.type, headers={"ETag": '"same for ever"'})

    run = RunDirectory.create(tmp_path / "run")
    again = msgspec.structs.replace(QUICK, again=True)

    def read() -> list[str]:
        ingest(run, [], IngestSettings())
        (table,) = (run.stage_folder("ingest") / "pages").glob("*.parquet")
        (blocks,) = pq.read_table(table)["blocks"].to_pylist()
        return list(blocks)

    with serving(answer) as site:
        start = [f"{site.url}/en/d.html"]
        crawl(start, run.path, QUICK)
        assert read() == ["Fares", "The fare is 5 dollars."]
        texts.pop(0)
        crawl(start, run.path, again)
        assert read() == ["Fares", "The fare is 6 dollars."]
        crawl(start, run.path, msgspec.structs.replace(again, browser_path="no-such-browser"))
        assert read() == ["Fares", "The fare is 6 dollars."]


def test_without_a_browser_such_pages_are_counted_and_left_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = CrawlSettings(timeout=10, retries=0, sitemaps=False, browser_path="no-such-browser")
    pages = {"/": links("/en/c.html", "/plain"), "/plain": Answer(b"<p>plain")}
    with serving(lambda path: pages.get(path) or toy_answer(path)) as site:
        assert crawl([site.url], tmp_path, nowhere).fetched == 2
        assert rejects(tmp_path, site) == {"/en/c.html": "needs-browser"}
        assert set(documents(tmp_path, site)) == {"/", "/plain"}
        assert FrontierReader(tmp_path).summary().reasons == {"needs-browser": 1}
        n_asked = len(site.log)
        crawl([site.url], tmp_path, nowhere)
        assert len(site.log) == n_asked  # not again as long as there is none
        if not missing_browser():
            assert crawl([site.url], tmp_path, QUICK).fetched == 5
            assert rejects(tmp_path, site) == {}


def test_a_site_of_such_pages_alone_says_what_to_install(tmp_path: Path) -> None:
    settings = CrawlSettings(timeout=10, retries=0, sitemaps=False, browser_path="no-such-browser")
    with serving(toy_answer) as site, pytest.raises(CrawlError, match=r"needs-browser.*apt-get install chromium"):
        crawl([f"{site.url}/en/a.html"], tmp_path, settings)
    with serving(toy_answer) as site:
        progress = crawl([f"{site.url}/en/a.html"], tmp_path / "never", CrawlSettings(sitemaps=False, browser="never"))
    assert progress.fetched == 1


@pytest.mark.parametrize("settings", [CrawlSettings(browser="always"), CrawlSettings(browser_sites=("a.example",))])
def test_settings_that_ask_for_a_browser_are_refused_where_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: CrawlSettings
) -> None:
    find_spec = importlib.util.find_spec
    with monkeypatch.context() as patched:
        patched.setattr(importlib.util, "find_spec", lambda name: None if name == "playwright" else find_spec(name))
        with pytest.raises(InputError, match=r"needs a browser, but .*pip install 'twinlink\[browser\]'"):
            crawl(["http://127.0.0.1:1/"], tmp_path / "run", settings)
    assert not (tmp_path / "run").exists()


def test_a_browser_is_found_by_path_by_name_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "google-chrome"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_browser() == find_browser("google-chrome") == find_browser(str(program)) == str(program)
    assert find_browser("chromium") is None
    shell = program.rename(tmp_path / "chromium-headless-shell")
    shutil.copy(shell, tmp_path / "chromium")
    assert find_browser() == str(shell)  # the faster one
    (tmp_path / "chromium").unlink()
    shell.unlink()
    assert find_browser() is None
    if importlib.util.find_spec("playwright"):
        assert missing_browser() == (
            "no Chromium is installed: sudo apt-get install chromium-headless-shell (or chromium), "
            "or name one in crawl.browser_path"
        )
    check_browser(CrawlSettings())
    check_browser(CrawlSettings(browser="never", browser_sites=("a.example",)))


def test_many_small_answers_are_forgotten_like_few_large_ones() -> None:
    """Pages that put a new number into each address must not fill the memory with empty answers."""

    async def fetched() -> PageAnswer:
        return PageAnswer(200, (("content-type", "text/plain"),), b"")

    async def fill() -> int:
        parts = building._Parts(50_000)
        for n in range(1_000):
            await parts.get(PartRequest(f"http://a.org/?_={n}", ()), fetched)
        return len(parts._known)

    assert 10 < asyncio.run(fill()) <= 50
