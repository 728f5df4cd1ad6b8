"""Stage recover against real servers: deep pages are found and matched, all that only looks like one is not taken."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from tests.baselines.test_methods import CHINESE, ENGLISH
from tests.loopback import Answer, Server, redirect, serving
from tests.made_sites import write_pages
from twinlink.cli import app
from twinlink.cli.lines import lines as lines_of_result
from twinlink.cli.results.sites import RecoveredResult
from twinlink.config import Config
from twinlink.ingest.stage import ingest, source_paths
from twinlink.jobs.stages import crawl_stage, ingest_stage, match_stage
from twinlink.patterns.keys import Key
from twinlink.patterns.library import KeySums, PatternLibrary, write_library
from twinlink.recover.stage import open_guesses, recover
from twinlink.run import Run
from twinlink.rundir.directory import RunDirectory
from twinlink.spiders.frontier import CHOSEN_LEDGER, GuessBook, Guessed
from twinlink.tables import RECOVERED, read_table

CONFIG = Config().override({"langs": ["en", "zh"], "crawl.browser": "never", "crawl.retries": 0})
N_PAGES = 12
DEEP = range(7, N_PAGES + 1)
MENU = "<ul><li>Home<li>About us<li>Contact the office<li>首頁<li>關於我們<li>聯絡本辦事處</ul>"


def text_of(lang: str, n: int) -> str:
    texts = ENGLISH if lang == "en" else CHINESE
    return f"{texts[(n - 1) % 8]} {texts[(3 * n) % 8]} {n * 1117}"


def page(lang: str, n: int, *hrefs: str) -> Answer:
    links = "".join(f"<p><a href='{href}'>{n * 31}</a>" for href in hrefs)
    body = f"<title>{n}</title>{MENU}<p>{text_of(lang, n)}</p>{f'<p>{n}.{n}</p>' * n}{links}"
    return Answer(body.encode())


def pages(deep: range = DEEP) -> dict[str, Answer]:
    """Pages in English, and in Chinese; to the Chinese ones of some numbers nothing links."""
    made = {"/": page("en", 1, *(f"/en/p{n}.htm" for n in range(1, N_PAGES + 1)))}
    for n in range(1, N_PAGES + 1):
        made[f"/en/p{n}.htm"] = page("en", n, *([] if n in deep else [f"/tc/p{n}.htm"]))
        made[f"/tc/p{n}.htm"] = page("zh", n, f"/en/p{n}.htm")
    return made


@dataclass
class Site:
    """A server's pages, and what it answers to any other address."""

    pages: dict[str, Answer]
    wrong: Callable[[str], Answer] = field(default=lambda path: Answer(b"<p>not found", status=404))

    def answer(self, path: str) -> Answer:
        return self.pages.get(path) or self.wrong(path)


def mined(folder: Path, server: Server) -> RunDirectory:
    run = RunDirectory.create(folder)
    crawl_stage([server.url], run, CONFIG)
    ingest_stage([], run, CONFIG)
    match_stage(run, CONFIG)
    return run


def read(folder: Path, server: Server, deep: range = DEEP) -> RunDirectory:
    """Make a run of the pages that a crawl would have found, without the crawl."""
    hidden = {"/", *(f"/tc/p{n}.htm" for n in deep)}
    seen = {path[1:]: answer.body.decode() for path, answer in pages(deep).items() if path not in hidden}
    run = RunDirectory.create(folder / "run")
    config = CONFIG.override({"ingest.base_url": server.url})
    run.config_file.write_text(config.to_toml())
    ingest(run, [write_pages(folder / "mirror", seen)], config.ingest)
    return run


def outcomes(run: RunDirectory) -> dict[str, str]:
    rows = read_table(run.path / "recover" / "tried.parquet", RECOVERED).to_pylist()
    return {"/" + row["url"].split("/", 3)[3]: row["outcome"] for row in rows if row["outcome"] != "made-up"}


def deep(*numbers: int, outcome: str = "found") -> dict[str, str]:
    return {f"/tc/p{n}.htm": outcome for n in numbers or DEEP}


def pairs_of(run: RunDirectory) -> set[tuple[str, str]]:
    table = Run(run.path).pairs
    return {
        ("/" + a.split("/", 3)[3], "/" + b.split("/", 3)[3])
        for a, b in zip(table["url_a"], table["url_b"], strict=True)
    }


ALL_PAIRS = {(f"/en/p{n}.htm", f"/tc/p{n}.htm") for n in range(1, N_PAGES + 1)}


def test_deep_pages_are_found_and_matched(tmp_path: Path) -> None:
    site = Site(pages())
    with serving(site.answer) as server:
        run = mined(tmp_path / "run", server)
        asked = len(server.log)
        recover(run, CONFIG)
        assert outcomes(run) == deep()
        fetched = Counter(server.log[asked:])
        assert {path: n for path, n in fetched.items() if path in deep()} == dict.fromkeys(deep(), 1)
        assert set(fetched) - set(deep()) - {"/robots.txt"} == made_up(run)
        asked = len(server.log)
        recover(run, CONFIG)
        assert server.log[asked:] == []
        assert outcomes(run) == deep()
    before = pairs_of(run)
    ingest_stage([], run, CONFIG)
    match_stage(run, CONFIG)
    assert pairs_of(run) == ALL_PAIRS
    assert before < ALL_PAIRS
    rejects = Run(run.path).rejects
    assert Counter(rejects["reason"][rejects["stage"] == "recover"]) == {"made-up": 2}
    assert len(rejects["url"]) == len(set(rejects["url"]))


def made_up(run: RunDirectory) -> set[str]:
    rows = read_table(run.path / "recover" / "tried.parquet", RECOVERED).to_pylist()
    return {"/" + row["url"].split("/", 3)[3] for row in rows if row["outcome"] == "made-up"}


def recovered(folder: Path, site: Site, robots: Answer | None = None) -> dict[str, str]:
    """Read a site, recover, and return the outcomes; what was found is a page of the run, and nothing else."""
    with serving(site.answer, robots) as server:
        run = read(folder, server)
        recover(run, CONFIG)
        ingest(run, [folder / "mirror"], CONFIG.override({"ingest.base_url": server.url}).ingest)
    kept = {"/" + url.split("/", 3)[3] for url in Run(run.path).pages["url"]}
    found = outcomes(run)
    assert {path for path in found if path in kept} == {path for path, outcome in found.items() if outcome == "found"}
    assert not kept & made_up(run)
    return found


def without(numbers: range) -> dict[str, Answer]:
    """All pages but some of the deep ones."""
    return {path: answer for path, answer in pages().items() if path not in {f"/tc/p{n}.htm" for n in numbers}}


def error_page(path: str) -> Answer:
    """Status 200, the site's frame, an apology with the address in it, the time, and news that change."""
    news = CHINESE[len(path) % 3]
    return Answer(f"<title>Sorry</title>{MENU}<p>找不到網頁 {path} {time.time_ns()}</p><p>{news}</p>".encode())


def test_error_pages_with_status_200_are_distinguished_from_pages(tmp_path: Path) -> None:
    found = recovered(tmp_path, Site(without(range(10, 13)), error_page))
    assert found == deep(7, 8, 9) | deep(10, 11, 12, outcome="soft-404")


def test_redirects_to_the_home_page_are_no_pages(tmp_path: Path) -> None:
    found = recovered(tmp_path, Site(without(range(10, 13)), lambda path: redirect("/")))
    assert found == deep(7, 8, 9) | deep(10, 11, 12, outcome="redirected")


def test_redirects_to_where_all_wrong_addresses_lead_are_no_pages(tmp_path: Path) -> None:
    made = {**without(range(10, 13)), "/sorry.htm": page("zh", 3)}
    found = recovered(tmp_path, Site(made, lambda path: redirect("/sorry.htm")))
    assert found == deep(7, 8, 9) | deep(10, 11, 12, outcome="redirected")


def test_redirects_to_the_page_itself_are_no_pages(tmp_path: Path) -> None:
    """A site that answers what it has not in Chinese with the English page."""
    found = recovered(tmp_path, Site(without(range(10, 13)), lambda path: redirect(path.replace("/tc/", "/en/"))))
    assert found == deep(7, 8, 9) | deep(10, 11, 12, outcome="redirected")


def test_a_redirect_to_an_unknown_page_is_followed(tmp_path: Path) -> None:
    made = pages()
    made |= {f"/tc/new/{n}/": made[f"/tc/p{n}.htm"] for n in (7, 8)}
    made |= {f"/tc/p{n}.htm": redirect(f"/tc/new/{n}/") for n in (7, 8)}
    made["/tc/p9.htm"] = redirect("/tc/loop.htm")
    made["/tc/loop.htm"] = redirect("/tc/loop2.htm")
    found = recovered(tmp_path, Site(made))
    moved = {"/tc/new/7/": "found", "/tc/new/8/": "found", "/tc/loop.htm": "redirected", "/tc/loop2.htm": "not-found"}
    assert found == deep(10, 11, 12) | deep(7, 8, 9, outcome="redirected") | moved


def test_answers_in_the_wrong_language_are_no_pages(tmp_path: Path) -> None:
    made = pages()
    made["/tc/p7.htm"] = made["/en/p7.htm"]
    made["/tc/p8.htm"] = page("en", 8, "/another-link")
    made["/tc/p9.htm"] = page("en", 3, "/another-link")
    made["/tc/p10.htm"] = made["/en/p2.htm"]
    found = recovered(tmp_path, Site(made))
    wrong = deep(7, 8, 9, outcome="wrong-language") | deep(10, outcome="known-page")
    assert found == deep(11, 12) | wrong


def test_robots_failures_and_other_types_have_their_outcomes(tmp_path: Path) -> None:
    made: dict[str, Any] = pages()
    made["/tc/p8.htm"] = Answer(b"%PDF-1.4", type="application/pdf")
    made["/tc/p9.htm"] = Answer(b"<p>out of order", status=500)
    made["/tc/p10.htm"] = Answer(b"<meta name=robots content=noindex><p>hidden")
    made["/tc/p11.htm"] = Answer()
    robots = Answer(b"User-agent: *\nDisallow: /tc/p7.htm\n", type="text/plain")
    site = Site(made)
    with serving(site.answer, robots) as server:
        run = read(tmp_path, server)
        recover(run, CONFIG)
        assert "/tc/p7.htm" not in server.log
    expected = {7: "robots", 8: "not-html", 9: "http-500", 10: "noindex", 11: "empty-page", 12: "found"}
    assert outcomes(run) == {f"/tc/p{n}.htm": outcome for n, outcome in expected.items()}
    told = list(lines_of_result(RecoveredResult.of(run)))
    assert told[0] == "  /en/ → /tc/   1 found"
    assert {f"  not taken: {outcome} 1" for outcome in expected.values() if outcome != "found"} <= set(told)
    assert told[-1].startswith("6 addresses tried (and 2 made up), 1 page found")
    assert source_paths(run) == [tmp_path / "mirror"]


def test_a_server_that_hangs_costs_its_page_alone(tmp_path: Path) -> None:
    made = pages()

    def answer(path: str) -> Answer:
        if path == "/tc/p9.htm":
            time.sleep(1.5)
        return Site(made).answer(path)

    with serving(answer) as server:
        run = read(tmp_path, server)
        recover(run, CONFIG.override({"crawl.timeout": 0.7}))
        asked = len(server.log)
        recover(run, CONFIG.override({"crawl.timeout": 0.7}))
        assert server.log[asked:] == []
    assert outcomes(run) == deep() | deep(9, outcome="timeout")


def test_what_a_page_links_to_is_left_to_the_crawl(tmp_path: Path) -> None:
    made = pages()
    made["/en/p7.htm"] = page("en", 7, "/tc/p7.htm", "/tc/p8.htm")
    config = CONFIG.override({"crawl.max_pages": 19})  # the last of all pages is not fetched any more
    with serving(Site(made).answer) as server:
        run = RunDirectory.create(tmp_path)
        crawl_stage([server.url], run, config)
        ingest_stage([], run, config)
        missing = {f"/tc/p{n}.htm" for n in range(1, 9)} - set(server.log)
        assert missing
        recover(run, CONFIG)
        found = outcomes(run)
        assert {path for path, outcome in found.items() if outcome == "linked"} == missing
        assert not missing & set(server.log)
        recover(run, CONFIG.override({"recover.linked": True}))
        assert missing <= set(server.log)
    assert {outcomes(run)[path] for path in missing} == {"found"}


def test_a_budget_is_kept_and_can_be_raised(tmp_path: Path) -> None:
    with serving(Site(pages()).answer) as server:
        run = read(tmp_path, server)
        before = len(server.log)
        recover(run, CONFIG.override({"recover.max_site_addresses": 5}))
        assert len([path for path in server.log[before:] if path != "/robots.txt"]) == 5
        assert Counter(outcomes(run).values()) == {"found": 3, "over-budget": 3}
        recover(run, CONFIG)
        assert outcomes(run) == deep()
        assert max(server.fetched().values()) == 1


def test_a_pattern_that_finds_nothing_is_given_up(tmp_path: Path) -> None:
    with serving(Site(without(DEEP)).answer) as server:
        run = read(tmp_path, server)
        recover(run, CONFIG.override({"recover.trial": 2}))
    assert Counter(outcomes(run).values()) == {"not-found": 2, "given-up": 4}


def guesses_of(run: RunDirectory, config: Config) -> list[Guessed]:
    return [guess for site in open_guesses(run, config) for guess in site.guesses]


def test_dry_run_lists_addresses_and_fetches_nothing(tmp_path: Path) -> None:
    with serving(Site(pages()).answer) as server:
        run = read(tmp_path, server)
        asked = len(server.log)
        guesses = guesses_of(run, CONFIG)
        assert [(guess.url, guess.rule, guess.page) for guess in guesses] == [
            (f"{server.url}/tc/p{n}.htm", "/en/ → /tc/", f"{server.url}/en/p{n}.htm")
            for n in sorted(DEEP, key=lambda n: f"p{n}.")
        ]
        assert server.log[asked:] == []
        assert not (run.path / "recover.sqlite").exists()
        done = CliRunner().invoke(app, ["recover", str(run.path), "--dry-run", "-q"])
        lines = [f"{each.url}\t{each.rule}\t{each.credibility:.4f}\t{each.page}\n" for each in guesses]
        assert (done.exit_code, done.output) == (0, "".join(lines))
        done = CliRunner().invoke(app, ["recover", str(run.path), "--dry-run", "--json"])
        assert [each["credibility"] for each in json.loads(done.stdout)["addresses"]] == [
            guess.credibility for guess in guesses
        ]


def test_dry_run_lists_no_more_than_would_be_asked_for(tmp_path: Path) -> None:
    with serving(Site(pages()).answer) as server:
        run = read(tmp_path, server)
    guesses = guesses_of(run, CONFIG)
    limited = CONFIG.override({"recover.max_site_addresses": 2})
    assert len(guesses) > 2
    assert guesses_of(run, limited) == guesses[:2]


def test_dry_run_leaves_out_what_was_asked_for_in_another_spelling(tmp_path: Path) -> None:
    with serving(Site(pages()).answer) as server:
        run = read(tmp_path, server)
    first, *rest = guesses_of(run, CONFIG)
    with GuessBook(run.path) as book:
        book.add([first._replace(url=f"{first.url}?PHPSESSID=8a7b6c", hops=1)])
    assert guesses_of(run, CONFIG) == rest


def test_dry_run_says_what_is_left_to_the_crawl(tmp_path: Path) -> None:
    """Pages link to all pages of the second language, of which some have not been fetched."""
    known = {path: answer for path, answer in pages(range(0)).items() if path in without(DEEP) and path != "/"}
    run = RunDirectory.create(tmp_path / "run")
    run.config_file.write_text(CONFIG.to_toml())
    ingest(
        run, [write_pages(tmp_path / "x.hk", {path[1:]: a.body.decode() for path, a in known.items()})], CONFIG.ingest
    )
    done = CliRunner().invoke(app, ["recover", str(run.path), "--dry-run", "-q"])
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "not asked for: linked 6; crawl these pages first, or use --set recover.linked=true\n"
    done = CliRunner().invoke(app, ["recover", str(run.path), "--dry-run", "--json"])
    assert json.loads(done.stdout)["n_linked"] == 6


def test_dry_run_without_an_address_says_so(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run")
    run.config_file.write_text(CONFIG.to_toml())
    ingest(run, [write_pages(tmp_path / "x.hk", {"index.htm": f"<p>{text_of('en', 1)}"})], CONFIG.ingest)
    done = CliRunner().invoke(app, ["recover", str(run.path), "--dry-run", "-q"])
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.startswith("0 addresses")


def test_a_whole_language_that_is_deep_is_found_by_what_other_sites_teach(tmp_path: Path) -> None:
    made = pages(range(1, N_PAGES + 1))
    library = PatternLibrary()
    library.sums[Key("en", "tc")] = KeySums(9, 8, 4_000, 3_000 << 40)
    library.sums[Key("english", "tc_chi")] = KeySums(9, 8, 4_000, 3_500 << 40)
    write_library(library, tmp_path / "others.tsv")
    with serving(Site(made).answer) as server:
        run = read(tmp_path, server, range(1, N_PAGES + 1))
        config = CONFIG.override({"match.patterns.libraries": [str(tmp_path / "others.tsv")]})
        recover(run, config.override({"recover.other_sites": False}))
        assert outcomes(run) == {}
        recover(run, config)
    assert outcomes(run) == deep(*range(1, N_PAGES + 1))


def test_a_run_that_was_read_from_files_asks_the_network_and_says_so(tmp_path: Path) -> None:
    with serving(Site(pages()).answer) as server:
        run, folder = read(tmp_path, server), tmp_path / "mirror"
        done = CliRunner().invoke(app, ["recover", str(run.path)])
        assert done.exit_code == 0, done.output
        assert "read from files: the partners of its pages are now fetched over the network" in done.output
        assert f"next: twinlink ingest -o {run.path} && twinlink match {run.path}\n" in done.output
        assert outcomes(run) == deep()
        assert not (run.path / "ledger.sqlite").exists()
    config = CONFIG.override({"ingest.base_url": server.url})
    ingest_stage([folder], run, config)
    match_stage(run, config)
    assert pairs_of(run) == ALL_PAIRS


def test_what_was_found_belongs_to_the_crawl_from_then_on(tmp_path: Path) -> None:
    site = Site(without(range(10, 13)), error_page)
    with serving(site.answer) as server:
        run = mined(tmp_path, server)
        recover(run, CONFIG)
        asked = len(server.log)
        crawl_stage([server.url], run, CONFIG)
        assert server.log[asked:] == []
        crawl_stage([], run, CONFIG.override({"crawl.again": True}))
        again = set(server.log[asked:])
        assert deep(7, 8, 9).keys() <= again
        assert not deep(10, 11, 12).keys() & again
        # Later the site has a page where there was none, and links to it.
        site.pages["/tc/p10.htm"] = page("zh", 10)
        site.pages["/en/p10.htm"] = page("en", 10, "/tc/p10.htm")
        crawl_stage([], run, CONFIG.override({"crawl.again": True}))
        ingest_stage([], run, CONFIG)
    assert {f"{server.url}/tc/p{n}.htm" for n in (7, 8, 9, 10)} <= set(Run(run.path).pages["url"])
    assert f"{server.url}/tc/p11.htm" not in set(Run(run.path).pages["url"])


def test_a_busy_server_is_asked_again_by_the_next_call(tmp_path: Path) -> None:
    site = Site({**pages(), "/tc/p9.htm": Answer(status=503)})
    with serving(site.answer) as server:
        run = read(tmp_path, server)
        recover(run, CONFIG)
        assert outcomes(run) == deep() | deep(9, outcome="busy")
        site.pages = pages()
        asked = len(server.log)
        recover(run, CONFIG)
        assert set(server.log[asked:]) == {"/robots.txt", "/tc/p9.htm"}
    assert outcomes(run) == deep()


def test_a_response_that_was_archived_but_not_recorded_is_no_page(tmp_path: Path) -> None:
    """So a kill between the two leaves it; the next call requests it again."""
    with serving(Site(without(range(10, 13)), error_page).answer) as server:
        run = read(tmp_path, server)
        recover(run, CONFIG)
        with closing(sqlite3.connect(run.path / CHOSEN_LEDGER)) as db:
            db.execute("UPDATE guesses SET outcome = ''")
            db.execute("UPDATE frontier SET state = 'flight'")
            db.commit()
        ingesting = CONFIG.override({"ingest.base_url": server.url}).ingest
        ingest(run, [tmp_path / "mirror"], ingesting)
        urls = {"/" + url.split("/", 3)[3] for url in Run(run.path).pages["url"]}
        assert urls == without(DEEP).keys() - {"/"}
        recover(run, CONFIG)
    assert outcomes(run) == deep(7, 8, 9) | deep(10, 11, 12, outcome="soft-404")


SCRIPT = """
import json, sys
from pathlib import Path
from twinlink.config import Config
from twinlink.recover.stage import recover
from twinlink.rundir.directory import RunDirectory
from twinlink.spiders.frontier import CHOSEN_LEDGER, GuessBook
folder, settings = json.loads(sys.argv[1])
recover(RunDirectory(Path(folder)), Config().override(settings))
"""


def test_killed_at_any_moment_it_goes_on(tmp_path: Path) -> None:
    site = Site(without(range(10, 13)), error_page)

    def answer(path: str) -> Answer:
        time.sleep(0.02)
        return site.answer(path)

    settings = {"langs": ["en", "zh"], "crawl.browser": "never", "crawl.retries": 0, "crawl.concurrency": 2}
    job = json.dumps([str(tmp_path / "run"), settings])
    with serving(answer) as server:
        run = read(tmp_path, server)
        ingesting = CONFIG.override({"ingest.base_url": server.url}).ingest
        before = len(server.log)
        for moment in (1, 4):
            parent = subprocess.Popen([sys.executable, "-c", SCRIPT, job], start_new_session=True)
            while len(server.log) - before < moment and parent.poll() is None:
                time.sleep(0.001)
            os.killpg(parent.pid, signal.SIGKILL)
            assert parent.wait() == -signal.SIGKILL
            ingest(run, [tmp_path / "mirror"], ingesting)  # what has not been judged is no page
            kept = {"/" + url.split("/", 3)[3] for url in Run(run.path).pages["url"]}
            assert not kept & set(deep(10, 11, 12))
        recover(run, Config().override(settings))
        asked = Counter(path for path in server.log[before:] if path != "/robots.txt")
    assert outcomes(run) == deep(7, 8, 9) | deep(10, 11, 12, outcome="soft-404")
    assert set(asked) == set(deep()) | made_up(run)
    assert sum(asked.values()) - len(asked) <= 2 * 2
    ingest(run, [tmp_path / "mirror"], ingesting)
    urls = {"/" + url.split("/", 3)[3] for url in Run(run.path).pages["url"]}
    assert urls & set(deep()) == set(deep(7, 8, 9))
