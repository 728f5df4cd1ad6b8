"""The command line as a person uses it: what it says, what it leaves behind, and how it ends."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.archives import HTML, respond, write_toy_archive
from tests.calling import mine_toy, twinlink
from tests.loopback import Answer, links, serving
from tests.made_sites import BASE, page, town_page, write_pages, write_toy
from twinlink.cli import exit as exit_
from twinlink.cli.app import GROUPS
from twinlink.cli.results.pages import PairsResult
from twinlink.demo import serve, write_site
from twinlink.jobs.origin import Origin
from twinlink.run import open_run

TWINLINK = [sys.executable, "-m", "twinlink"]
shares_the_site = pytest.mark.xdist_group("served demo site")


@pytest.fixture(scope="module")
def toy_done(tmp_path_factory):
    """The toy site mined once: its folder, and how the command ended."""
    folder = tmp_path_factory.mktemp("toy")
    return folder, mine_toy(folder)


@pytest.fixture
def run(toy_done, tmp_path):
    """A copy of the toy site's run: a run is whole wherever it lies."""
    return Path(shutil.copytree(toy_done[0] / "run", tmp_path / "copy"))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A site of 60 pages per language on this machine, and the run of mining it."""
    folder = tmp_path_factory.mktemp("served")
    site = write_site(folder / "demo", pages=60)
    with serve(site.folder) as base:
        command = ["mine", *(base + path for path in site.seeds), "--langs", "en,zh", "-q", "-o"]
        done = twinlink(*command, folder / "run")
        assert done.returncode == 0, done.stderr
        yield command, folder / "run"


def pairs_of(run: Path) -> list[str]:
    """Return the lines of pairs.tsv without the signature, in which the times of the input files are."""
    lines = (run / "pairs.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0].endswith("\tsignature")
    return [line.rpartition("\t")[0] for line in lines]


def test_crawl_takes_seeds_and_says_what_came_of_each_site(tmp_path):
    pages = {"/": links("/one.html", "/print/one.html"), "/one.html": links("/gone.html"), "/print/one.html": links()}
    with serving(pages.get) as one, serving(pages.get) as other:
        (tmp_path / "sites.txt").write_text(f"# two sites\n{one.url}/\n{other.url}/\n")
        run = tmp_path / "run"
        done = twinlink(
            "crawl", "-o", run, "--seeds", tmp_path / "sites.txt", "--site-by", "host", "--exclude", "/print/"
        )
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"127\.0\.0\.1:\d+: 2 pages, 2 rejected, 0 queued", done.stdout)) == 2
    assert "rejected: excluded 2" in done.stdout
    assert "4 pages fetched" in done.stdout
    assert re.search(r"^crawl: 4 of 4 · 100 % · .*\d:\d\d · queued 0 · rejected 4 \(", done.stderr, re.MULTILINE)
    assert f"next: twinlink ingest -o {run}\n" in done.stderr
    assert json.loads((run / "crawl.json").read_text())["pages"] == 4


def test_mine_takes_seeds_alone(tmp_path):
    with serving(lambda path: links("/")) as site:
        (tmp_path / "sites.txt").write_text(f"{site.url}/\n")
        done = twinlink("mine", "--seeds", tmp_path / "sites.txt", "-o", tmp_path / "run")
    assert (done.returncode, "1 page" in done.stdout) == (5, True), done.stderr
    nothing = twinlink("mine", "-o", tmp_path / "other")
    assert (nothing.returncode, "no sources: expected" in nothing.stderr) == (2, True)
    assert "was made from" not in nothing.stderr
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("options", "end", "stop"),
    [(["--max-pages", "3"], "page-limit", "--max-pages"), (["--max-site-pages", "3"], "budget", "budget-pages")],
)
def test_a_crawl_says_which_limit_it_reached(tmp_path, options, end, stop):
    with serving(lambda path: links(*(f"/{n}.html" for n in range(9)))) as site:
        done = twinlink("crawl", site.url, "-o", tmp_path / "run", *options)
        as_json = twinlink("crawl", site.url, "-o", tmp_path / "run", *options, "--json")
    assert f"stopped at {stop}; addresses still queued: 7\n" in done.stdout
    assert json.loads(as_json.stdout)["end"] == end


def test_a_crawl_says_how_many_addresses_wait_for_a_busy_server(tmp_path):
    busy = Answer(status=429, headers={"Retry-After": "1000"})
    with serving(lambda path: links("/1.html", "/2.html") if path == "/" else busy) as site:
        done = twinlink("crawl", site.url, "-o", tmp_path / "run")
    assert "addresses that wait for their servers: 2; the same command asks for them again\n" in done.stdout
    assert "stopped at" not in done.stdout


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_whose_streams_are_closed_works_as_any_other(run, closed):
    expected = twinlink("match", run)
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh"]
    done = subprocess.run([*shell, *TWINLINK, "match", run], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("" if ">&-" in closed.split() else expected.stdout)
    assert ("next: " in done.stderr) == ("2>&-" not in closed)
    done = subprocess.run([*shell, *TWINLINK, "match", "no-run", "--json"], capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    assert ("RunError" in done.stdout) == (">&-" not in closed.split())
    assert ("twinlink: error" in done.stderr) == ("2>&-" not in closed)


@pytest.mark.parametrize("words", [["match", "no-run"], ["match", "--no-such-option"], ["explain", "RUN", "/"]])
def test_an_error_that_cannot_be_printed_as_json_ends_as_without(run, words):
    command = [*TWINLINK, *(str(run) if word == "RUN" else word for word in words)]
    with Path("/dev/full").open("w") as full:
        plain, as_json = (
            subprocess.run([*command, *option], stdout=full, stderr=subprocess.PIPE, text=True)
            for option in ([], ["--json"])
        )
    assert (as_json.returncode, as_json.stderr) == (plain.returncode, plain.stderr)
    assert plain.returncode in (2, 3)
    assert "Traceback" not in plain.stderr


def test_a_result_that_cannot_be_printed_is_an_error(run):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*TWINLINK, "match", run, "-q", "--json"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 3
    assert re.fullmatch("twinlink: error: the disk is full; .*\n", done.stderr)


@pytest.mark.parametrize(("words", "code"), [(["--langs", "en,zh"], 0), (["--langs", "en,fi"], 5), (["--no-such"], 2)])
def test_messages_that_cannot_be_printed_change_no_result(run, words, code):
    command = [*TWINLINK, "match", run, *words]
    expected = subprocess.run(command, capture_output=True, text=True)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, text=True)
    assert (done.returncode, done.stdout) == (expected.returncode, expected.stdout)
    assert done.returncode == code


def test_mine_says_what_came_out_and_where(toy_done):
    folder, done = toy_done
    assert done.returncode == 0, done.stderr
    assert "10 pages (" in done.stdout
    assert "ingest: 10" in done.stderr
    assert re.search(
        r"^5 pairs, expected precision [01]\.\d+ \(0\.\d+ to 1\.000\) → .*pairs\.tsv$", done.stdout, re.MULTILINE
    )
    assert done.stdout.splitlines()[-1] == f"report → {folder}/run/report.html"
    assert done.stderr.splitlines()[-1] == f"next: twinlink review {folder}/run"
    assert (folder / "run" / "pairs.tsv").is_file()


def test_a_run_names_its_own_sources_where_none_is_given(toy_done, tmp_path):
    folder, _ = toy_done
    done = twinlink("mine", "-o", folder / "run")
    assert done.returncode == 2
    assert f"{folder / 'run'} was made from {folder / 'toy'}, which can be named again" in done.stderr
    with serving(lambda path: links("/")) as site:
        twinlink("crawl", site.url, "-o", tmp_path / "run", "-q")
    done = twinlink("crawl", "-o", tmp_path / "run")
    assert done.returncode == 2
    assert f"such as {site.url}/, from which {tmp_path / 'run'} was crawled" in done.stderr


def test_a_working_directory_that_was_removed_is_named(run):
    shell = ["sh", "-c", 'rmdir ../gone; exec "$@"', "sh"]
    gone = run.parent / "gone"
    gone.mkdir()
    done = subprocess.run([*shell, *TWINLINK, "match", f"../{run.name}"], cwd=gone, capture_output=True, text=True)
    assert done.returncode == 3
    assert "the working directory was removed; change to another one" in done.stderr


def test_quiet_shows_no_progress(tmp_path):
    assert mine_toy(tmp_path, "-q").stderr == ""


def test_a_terminal_that_knows_few_characters_is_enough(run):
    done = twinlink("match", run, "-q", encoding="latin-1")
    assert done.returncode == 0, done.stderr
    assert "\\u2192" in done.stdout


def test_the_stages_alone_do_what_mine_does(toy_done, tmp_path):
    folder, run = toy_done[0], tmp_path / "run"
    assert twinlink("ingest", folder / "toy", "--base-url", BASE, "-o", run).returncode == 0
    assert twinlink("match", run, "--langs", "en,zh").returncode == 0
    assert pairs_of(run) == pairs_of(folder / "run")


def test_ingest_says_what_it_left_out(tmp_path):
    archive = write_toy_archive(tmp_path / "a.warc.gz")
    archive.write_bytes(archive.read_bytes()[:-50])
    done = twinlink("ingest", archive, "-o", tmp_path / "run", "-q")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "  rejected in ingest: truncated 1"
    told = twinlink("ingest", archive, "-o", tmp_path / "run", "--json").object
    assert told["rejects"] == [{"stage": "ingest", "reason": "truncated", "count": 1}]
    assert (told["n_rejects"], told["why_none"]) == (1, None)


def test_ingest_without_a_page_is_an_error(tmp_path):
    empty, other = tmp_path / "empty.warc.gz", tmp_path / "other.warc.gz"
    empty.touch()
    respond(other, BASE, b"", "404 Not Found")
    done = twinlink("ingest", empty, "-o", tmp_path / "run")
    assert done.returncode == 5
    assert "error: 0 pages: no page was kept; the sources hold none. Tables: " in done.stderr
    assert "next:" not in done.stderr
    told = twinlink("ingest", other, "-o", tmp_path / "other", "--json")
    assert (told.returncode, told.object["kind"], told.object["n_pages"]) == (5, "NothingFoundError", 0)
    assert "the reasons above count all that was dropped" in told.stderr
    assert "  rejected in ingest: http-404 1\n" in twinlink("ingest", "-o", tmp_path / "other").stdout


def test_match_keeps_the_settings_of_the_run_and_changes_those_given(run):
    assert twinlink("match", run, "--set", "match.ets.alpha=0.25").returncode == 0
    config = open_run(run).config
    assert (config.match.ets.alpha, config.langs) == (0.25, ("en", "zh"))


def test_mine_and_match_have_options_for_what_is_reported(run, tmp_path):
    given = ("--method", "liu2014", "--min-probability", "0", "--min-precision", "0.25")
    done = [mine_toy(tmp_path, *given), twinlink("match", run, *given)]
    assert [each.returncode for each in done] == [0, 0], done
    for path in (tmp_path / "run", run):
        settings = open_run(path).config.match
        assert (settings.method, settings.min_probability, settings.min_precision) == ("liu2014", 0.0, 0.25)


@pytest.mark.parametrize(
    "option", [("--method", "best"), ("--min-probability", "2"), ("--min-precision", "-1"), ("--min-precision", "x")]
)
def test_a_value_that_an_option_does_not_have_is_refused(run, option):
    done = twinlink("match", run, *option)
    assert done.returncode == 2
    assert option[0] in done.stderr


def test_a_settings_file_and_options_over_it(tmp_path):
    (tmp_path / "c.toml").write_text('langs = ["en", "fr"]\n[match.ets]\nalpha = 0.2\n')
    args = ("-c", tmp_path / "c.toml", "--set", "match.ets.rounds=1", "-q")
    assert mine_toy(tmp_path, *args).returncode == 0
    config = open_run(tmp_path / "run").config
    assert (config.langs, config.match.ets.alpha, config.match.ets.rounds) == (("en", "zh"), 0.2, 1)


def test_a_lexicon_is_found_from_another_folder(run, tmp_path, monkeypatch):
    (tmp_path / "words.tsv").write_text("library\t圖書館\nswimming\t游泳\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert twinlink("match", run, "--lexicon", "words.tsv").returncode == 0
    monkeypatch.chdir(run)
    done = twinlink("match", run)
    assert done.returncode == 0, done.stderr


def test_pairs_of_earlier_pages_are_not_told_as_those_of_the_new_ones(run, tmp_path):
    listed = (run / "pairs.tsv").read_text()
    other = write_pages(tmp_path / "other", {"a.html": page("Another text altogether.")})
    done = twinlink("ingest", other, "--base-url", BASE, "-o", run, "--add")
    assert done.returncode == 0
    assert "ingest is done again (its input has changed); match/ must be rebuilt after it" in done.stderr
    done = twinlink("explain", run, f"{BASE}/a.html")
    assert (done.returncode, "read again since the last match; run `twinlink match" in done.stderr) == (3, True)
    assert (run / "pairs.tsv").read_text() == listed


@pytest.mark.parametrize("langs", ["en, zh-Hant", ""])
def test_evaluate_counts_the_pairs_of_two_languages(run, langs):
    done = twinlink("evaluate", run, "--gold", run / "pairs.tsv", "--langs", langs)
    assert "gold 5, predicted 5, right 5" in done.stdout, done.stderr


def test_evaluate_leaves_out_gold_of_other_languages(tmp_path):
    russian = "Эта страница на русском языке рассказывает о погоде и о городской библиотеке."
    folder = write_toy(tmp_path / "toy")
    write_pages(folder, {f"ru/{n}.html": page(f"{russian} {n}") for n in range(5)})
    twinlink("mine", folder, "--base-url", BASE, "-o", tmp_path / "run", "--langs", "en,zh")
    gold = (tmp_path / "run" / "pairs.tsv").read_text() + "".join(
        f"{BASE}/ru/{n}.html\t{BASE}/a.html\n" for n in range(5)
    )
    (tmp_path / "gold.tsv").write_text(gold)
    done = twinlink("evaluate", tmp_path / "run", "--gold", tmp_path / "gold.tsv", "--langs", "en,zh")
    assert "gold 5, predicted 5, right 5" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("langs", "message"),
    [("en", "two languages"), ("en,en", "are the same language here (en)"), ("en,fr", "nothing in fr (French)")],
)
def test_evaluate_wants_two_languages_of_the_run(run, langs, message):
    done = twinlink("evaluate", run, "--gold", run / "pairs.tsv", "--langs", langs)
    assert done.returncode != 0
    assert message in done.stderr


def test_evaluate_a_run_without_pairs(tmp_path):
    assert "0 pairs" in mine_toy(tmp_path, "--min-probability", "1").stderr
    run, gold = tmp_path / "run", tmp_path / "gold.tsv"
    gold.write_text("/en/a.html\t/zh/a.html\n")
    assert "predicted 0" in twinlink("evaluate", run, "--gold", gold, "--langs", "en,zh").stdout


def test_a_number_may_begin_with_its_point(tmp_path: Path) -> None:
    assert twinlink("mine", *toy(tmp_path)[1:], "-q").returncode == 0
    assert twinlink("match", tmp_path / "run", "--set", "match.min_precision=.9", "-q").returncode == 0
    assert "min_precision = 0.9" in (tmp_path / "run" / "config.toml").read_text()


def one_language(tmp_path: Path) -> list[object]:
    pages = {f"{n}.html": page(f"This is page number {n} about the library and its opening hours.") for n in range(5)}
    return ["mine", write_pages(tmp_path / "site", pages), "--base-url", BASE, "-o", tmp_path / "run"]


def toy(tmp_path: Path, *args: object) -> list[object]:
    return ["mine", write_toy(tmp_path / "site"), "--base-url", BASE, "-o", tmp_path / "run", *args]


def folder_without_pages(tmp_path: Path, *args: object) -> list[object]:
    write_pages(tmp_path / "site", {"notes.dat": "no markup", "style.css": "p {}"})
    return ["mine", tmp_path / "site", *args, "-o", tmp_path / "run"]


def closed_port(tmp_path: Path) -> list[object]:
    return ["mine", "http://127.0.0.1:9/", "-o", tmp_path / "run", "--set", "crawl.retries=0"]


def unknown_gold(tmp_path: Path) -> list[object]:
    (tmp_path / "gold.tsv").write_text("/other/a\t/other/b\n")
    mine_toy(tmp_path, "-q")
    return ["evaluate", tmp_path / "run", "--gold", tmp_path / "gold.tsv"]


def one_address_for_two_languages(tmp_path: Path) -> list[object]:
    archive = tmp_path / "a.warc.gz"
    for day, lang in enumerate(("fr", "en"), 1):
        for number in range(4):
            body, fields = town_page(lang, number).encode(), {"WARC_Date": f"2026-01-0{day}T00:00:00Z"}
            respond(archive, f"{BASE}/{number}.html", body, headers=(*HTML, ("Content-Language", lang)), **fields)
    return ["mine", archive, "-o", tmp_path / "run", "--langs", "en,fr"]


def unmatched_run(tmp_path: Path) -> list[object]:
    twinlink("ingest", write_toy(tmp_path / "toy"), "--base-url", BASE, "-o", tmp_path / "run")
    return ["explain", tmp_path / "run", f"{BASE}/en/a.html"]


def unknown_page(tmp_path: Path) -> list[object]:
    mine_toy(tmp_path, "-q")
    return ["explain", tmp_path / "run", f"{BASE}/nowhere.html"]


def broken_ledger(tmp_path: Path) -> list[object]:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "ledger.sqlite").write_bytes(b"x" * 5000)
    return toy(tmp_path)


def test_a_site_that_asks_the_browser_for_the_language_is_named(tmp_path):
    pages = {f"/{n}.html": town_page("en", n) for n in range(4)} | {"/": page("", *(f"{n}.html" for n in range(4)))}

    def answer(path):
        return Answer(pages[path].encode(), headers={"Vary": "Accept-Language"}) if path in pages else None

    with serving(answer) as site:
        done = twinlink("mine", site.url, "-o", tmp_path / "run", "--langs", "en,fr", "-q")
        assert done.returncode == 5
        notes = twinlink("match", tmp_path / "run", "--langs", "en,fr").stderr
    assert "by what a browser sends (Vary: Accept-Language)" in notes
    assert "--header 'Accept-Language: …'" in notes
    assert f"add the address where it starts: twinlink mine ADDRESS --add -o {tmp_path / 'run'}" in notes


def one_language_a_site(tmp_path: Path, *args: object) -> list[object]:
    texts = {
        f"www.toy.{end}/{n}.html": town_page(lang, n) for lang, end in (("en", "com"), ("fr", "de")) for n in range(4)
    }
    return ["mine", write_pages(tmp_path / "sites", texts), "-o", tmp_path / "run", "--langs", "en,fr", *args]


def run_in_a_file(tmp_path: Path, command: str, *args: object) -> list[object]:
    (tmp_path / "run").touch()
    return [command, *args, "-o", tmp_path / "run"]


@pytest.mark.parametrize(
    ("make", "code", "message"),
    [
        (folder_without_pages, 2, "found no HTML file"),
        (lambda tmp: folder_without_pages(tmp, "--base-url", BASE), 2, "found no HTML file"),
        (one_language, 5, "0 pairs: all pages are in one language"),
        (one_language, 5, "note: if pages in another language are in another folder or archive, add it"),
        (one_address_for_two_languages, 5, f"({BASE}/0.html was captured in fr and in en)"),
        (one_language_a_site, 5, "0 pairs: no site has pages of two wanted languages"),
        (one_language_a_site, 5, "note: no --site-by makes one site of several registered domains"),
        (lambda tmp: one_language_a_site(tmp, "--site-by", "host"), 5, "note: with --site-by domain all hosts"),
        (
            lambda tmp: toy(tmp, "--langs", "en,fi"),
            5,
            "note: if pages in fi (Finnish) are in another folder or archive",
        ),
        (lambda tmp: toy(tmp, "--set", "match.min_precision=.9x"), 2, "match.min_precision"),
        (lambda tmp: toy(tmp, "--min-precision", "2"), 2, "'--min-precision': expected a number from 0 to 1, got '2'"),
        (lambda tmp: toy(tmp, "--workers", "1.5"), 2, "'--workers': expected a whole number, 1 or more, got '1.5'"),
        (lambda tmp: toy(tmp, "--contact", "müller@x"), 2, "only English letters, digits and signs"),
        (lambda tmp: toy(tmp, "--include", "["), 2, "crawl.include: '[' is not a regular expression"),
        (lambda tmp: ["match", "/dev/null"], 3, "/dev/null: expected a run directory, which is a folder"),
        (lambda tmp: ["align", one_language(tmp)[-1], "--format", "csv"], 2, "choose from jsonl, moses, tmx, tsv"),
        (lambda tmp: ["mine", write_toy(tmp / "site"), "-o", tmp / "run"], 2, "--base-url"),
        (closed_port, 4, "127.0.0.1:9"),
        (unknown_gold, 2, "none of its 2 addresses is in the run"),
        (unmatched_run, 3, "no match here yet"),
        (unknown_page, 2, "no such page in this run"),
        (broken_ledger, 3, "not a usable ledger"),
        (lambda tmp: ["mine", "www.example.org", "-o", tmp / "run"], 2, "write https://www.example.org"),
        (lambda tmp: ["mine", "localhost:8000/x", "-o", tmp / "run"], 2, "write https://localhost:8000"),
        (lambda tmp: ["mine", "ftp://example.org/", "-o", tmp / "run"], 2, "not a usable address"),
        (lambda tmp: ["mine", tmp / "none", "-o", tmp / "run"], 2, "no such file or folder"),
        (lambda tmp: ["mine", "x" * 300, "-o", tmp / "run"], 2, "no such file or folder"),
        (lambda tmp: ["mine", "", "-o", tmp / "run"], 2, "no such file or folder"),
        (lambda tmp: ["mine", "http://127.0.0.1:9/", tmp / "none", "-o", tmp / "run"], 2, "no such file or folder"),
        (lambda tmp: toy(tmp, "--langs", "en"), 2, "pairs need two languages"),
        (lambda tmp: toy(tmp, "--langs", "en,fi"), 5, "0 pairs: no page is in fi (Finnish)"),
        (lambda tmp: toy(tmp, "--lexicon", tmp / "none"), 2, "not a readable lexicon"),
        (lambda tmp: ["mine", "http://127.0.0.1:9/", "--lexicon", tmp, "-o", tmp / "run"], 2, "not a readable lexicon"),
        (lambda tmp: toy(tmp, "-c", tmp), 2, "cannot be read"),
        (lambda tmp: toy(tmp, "--set", "match.alpha=1"), 2, "no setting 'match.alpha'"),
        (lambda tmp: toy(tmp, "--set", "match.ets.alpha"), 2, "expected NAME=VALUE"),
        (lambda tmp: ["crawl", tmp, "-o", tmp / "run"], 2, "takes addresses"),
        (lambda tmp: ["ingest", "-o", tmp / "run"], 2, "nothing to read"),
        (lambda tmp: ["match", tmp], 3, "not a run directory"),
        (lambda _: ["mine", "-o", ""], 2, "expected a run directory, got an empty name"),
        (lambda _: ["match", ""], 2, "expected a run directory, got an empty name"),
        (lambda tmp: run_in_a_file(tmp, "mine", tmp), 3, "cannot be made a run directory"),
        (lambda tmp: run_in_a_file(tmp, "demo"), 3, "cannot be made a run directory"),
    ],
)
def test_bad_input_gives_one_clear_line_and_an_exit_code(tmp_path, make, code, message):
    done = twinlink(*make(tmp_path))
    assert message in done.stderr
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_a_crawl_without_a_language_is_advised_to_start_where_that_begins(run, monkeypatch):
    twinlink("match", run, "-o", "finnish", "--langs", "en,fi")
    monkeypatch.setattr("twinlink.jobs.origin.origin_of", lambda _: Origin(("http://127.0.0.1:9/",)))
    advice = PairsResult.of(open_run(run / "matches" / "finnish"), ["en", "fi"]).advice()
    assert advice.endswith(f"twinlink mine ADDRESS --add -o {run}")


def test_an_error_of_the_system_is_one_line_too(run):
    with patch("twinlink.cli.verbs.evaluate.opened", side_effect=PermissionError(13, "Permission denied", "x")):
        done = twinlink("explain", run, "/")
    assert (done.returncode, done.stderr) == (3, "twinlink: error: x: Permission denied\n")


@shares_the_site
def test_a_warc_cut_in_the_middle_gives_what_is_before_the_cut(served, tmp_path):
    (archive,) = (served[1] / "warc").glob("*.warc.gz")
    whole = archive.read_bytes()
    (tmp_path / "cut.warc.gz").write_bytes(whole[: len(whole) * 2 // 3])
    done = twinlink("mine", tmp_path / "cut.warc.gz", "-o", tmp_path / "cut", "--langs", "en,zh")
    assert done.returncode == 0, done.stderr
    assert "rejected in ingest: truncated 1" in done.stdout
    assert 0 < len(open_run(tmp_path / "cut").pages) < len(open_run(served[1]).pages)
    with pytest.raises(EOFError), gzip.open(tmp_path / "cut.warc.gz") as stream:
        stream.read()


def wait_for(ready: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a path exists or the process ends."""
    while not ready.exists() and process.poll() is None:
        time.sleep(0.01)


@shares_the_site
def test_a_job_that_is_killed_or_stopped_goes_on_and_comes_to_the_same_pairs(served, tmp_path):
    command, whole = served
    run = tmp_path / "run"
    for milestone, sign in (("warc", signal.SIGINT), ("warc", signal.SIGKILL), (".match.tmp", signal.SIGKILL)):
        process = subprocess.Popen(
            [*TWINLINK, *command, str(run)], start_new_session=True, stderr=subprocess.PIPE, text=True
        )
        wait_for(run / milestone, process)
        os.killpg(process.pid, sign)
        said = process.communicate()[1]
        if sign == signal.SIGINT:
            assert (process.returncode, said) == (130, "twinlink: stopped; the same command resumes where it stopped\n")
    assert twinlink(*command, run).returncode == 0
    assert pairs_of(run) == pairs_of(whole)
    assert not list(run.glob(".*.tmp"))


def test_an_interrupt_that_meets_a_compiled_function_is_no_defect(tmp_path):
    met = SystemError("a compiled function returned a result with an exception set")
    met.__cause__ = KeyboardInterrupt()
    with patch("twinlink.demo.write_site", side_effect=met):
        done = twinlink("demo", "-o", tmp_path / "demo", "-q")
    assert (done.returncode, done.stderr) == (130, "twinlink: stopped; the same command resumes where it stopped\n")


def test_the_demo_replaces_an_earlier_demo_and_no_other_run(run, tmp_path):
    refused = twinlink("demo", "-o", run)
    assert (refused.returncode, "not a demo" in refused.stderr) == (3, True)
    assert (run / "pairs.tsv").is_file()
    shutil.copytree(run, tmp_path / "plain", ignore=shutil.ignore_patterns("config.toml"))
    assert twinlink("demo", "-o", tmp_path / "plain").returncode == 3
    shutil.copytree(run, tmp_path / "demo")
    write_site(tmp_path / "demo" / "site", pages=60)
    before = (tmp_path / "demo" / "pairs.tsv").read_text()
    with patch("twinlink.demo.write_site", side_effect=OSError(28, "No space left on device")):
        assert twinlink("demo", "-o", tmp_path / "demo").returncode == 3
    assert (tmp_path / "demo" / "pairs.tsv").read_text() == before
    with patch("twinlink.demo.write_site", partial(write_site, pages=60)):
        assert twinlink("demo", "-o", tmp_path / "demo", "-q").returncode == 0
    assert (tmp_path / "demo" / "pairs.tsv").read_text() != before
    assert not (tmp_path / "demo" / "replacement").exists()


def test_two_processes_do_not_work_in_one_run(run):
    with (run / ".lock").open("w") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        done = twinlink("match", run)
    assert done.returncode == 3
    assert "another twinlink process" in done.stderr


def test_it_can_be_called_as_a_module():
    done = subprocess.run([*TWINLINK, "--version"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"twinlink \d+\.\d+\.\d+\S*\n", done.stdout)


@shares_the_site
def test_a_match_says_that_the_crawl_has_gone_on(served, tmp_path):
    run = Path(shutil.copytree(served[1], tmp_path / "copy"))
    behind = f"note: the crawl has gone on since its pages were read; to read them: twinlink ingest -o {run}"
    assert behind not in twinlink("match", run, "-q").stdout
    with serving({"/": links()}.get) as other:
        assert twinlink("crawl", other.url, "--add", "-o", run, "-q").returncode == 0
        assert behind in twinlink("match", run).stdout
    assert behind in twinlink("match", run, "-o", "second").stdout
    assert behind in twinlink("match", run, "--langs", "en,fr").stdout, "just then it may be why nothing was found"
    assert twinlink("ingest", "-o", run, "-q").returncode == 0
    assert behind not in twinlink("match", run).stdout


@shares_the_site
def test_align_a_run_and_say_what_came_out(served, tmp_path):
    run = Path(shutil.copytree(served[1], tmp_path / "copy"))
    done = twinlink("align", run, "--format", "tsv,moses", "-q")
    assert done.returncode == 0, done.stderr
    assert re.search(r"en-zh-Hant: \d+ sentence pairs; left out: ", done.stdout)
    lines = (run / "align" / "en-zh-Hant.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 50
    assert not list((run / "align").glob("*.tmx"))
    cut = twinlink("align", run, "--min-score", "0.95", "-q")
    told = re.search(r"(\d+) sentence pairs, (\d+) of score 0.95 or more in the files", cut.stdout)
    assert told is not None, cut.stdout
    lines = (run / "align" / "en-zh-Hant.tsv").read_text(encoding="utf-8").splitlines()
    assert int(told[1]) >= int(told[2]) == len(lines) - 1
    score = lines[0].split("\t").index("score")
    assert min((float(line.split("\t")[score]) for line in lines[1:]), default=1) >= 0.95


def test_align_two_texts(tmp_path):
    (tmp_path / "a.txt").write_text("The bridge was built in 1901.\nIt is open every day.\nThe road is closed.\n")
    (tmp_path / "b.txt").write_text(
        "Le pont fut construit en 1901.\nIl est ouvert tous les jours.\nLa route est barrée.\n"
    )
    beads = twinlink("align", tmp_path / "a.txt", tmp_path / "b.txt", "--format", "beads")
    assert beads.stdout.splitlines() == ["[0]:[0]", "[1]:[1]", "[2]:[2]"]
    table = twinlink("align", tmp_path / "a.txt", tmp_path / "b.txt")
    *texts, probability = table.stdout.splitlines()[2].split("\t")
    assert texts == ["The road is closed.", "La route est barrée."]
    assert 0.9 < float(probability) <= 1
    assert not twinlink("align", tmp_path / "a.txt", tmp_path / "b.txt", "--min-score", "1").stdout
    assert (
        "expected beads or tsv" in twinlink("align", tmp_path / "a.txt", tmp_path / "b.txt", "--format", "tmx").stderr
    )
    assert "cannot be read" in twinlink("align", tmp_path / "a.txt", tmp_path / "none.txt").stderr


def test_align_two_texts_with_blank_lines_and_a_lexicon(tmp_path):
    (tmp_path / "a.txt").write_text("\n\nBlip blop.\r\n\nKiln.\n")
    (tmp_path / "b.txt").write_text("Four.\n\n")
    (tmp_path / "lexicon.tsv").write_text("kiln\tfour\n")
    texts = ("align", tmp_path / "a.txt", tmp_path / "b.txt")
    assert twinlink(*texts, "--format", "beads").stdout.splitlines() == ["[2, 4]:[0]"]
    assert twinlink(*texts, "--lexicon", tmp_path / "lexicon.tsv").stdout != twinlink(*texts).stdout  # the scores
    missing = twinlink(*texts, "--lexicon", tmp_path / "none.tsv")
    assert missing.returncode == 2
    assert "not a readable lexicon" in missing.stderr


def test_align_two_texts_with_pairs_from_elsewhere(tmp_path):
    (tmp_path / "x.en").write_text("Blip blop.\nKiln.\n")
    (tmp_path / "x.fr").write_text("Four.\n")
    (tmp_path / "known.en").write_text("Kiln.\n" * 20)
    (tmp_path / "known.fr").write_text("Four.\n" * 20)
    texts = ("align", tmp_path / "x.en", tmp_path / "x.fr", "--format", "beads")
    assert twinlink(*texts, "--warm", tmp_path / "known").stdout.splitlines() == ["[0]:[]", "[1]:[0]"]
    assert "none: no such file of sentence pairs" in twinlink(*texts, "--warm", tmp_path / "none").stderr


def test_a_command_returns_memory_and_ends_without_a_search_for_garbage() -> None:
    code = """
import atexit, gc, sys
atexit.register(lambda: print("frozen:", gc.get_freeze_count() > 0))  # called after those registered later
from twinlink.cli import main
sys.argv = ["twinlink", "--help"]
try:
    main()
finally:
    import pyarrow
    print("pool:", pyarrow.default_memory_pool().backend_name)
"""
    env = {name: value for name, value in os.environ.items() if name != "ARROW_DEFAULT_MEMORY_POOL"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.splitlines()[-2:] == ["pool: system", "frozen: True"]


def test_a_command_that_used_duckdb_ends_in_silence() -> None:
    code = """
import sys
import duckdb
from twinlink.cli import main
duckdb.connect().execute("select 1").fetchall()
sys.argv = ["twinlink", "--help"]
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""


@pytest.mark.parametrize(("words", "verb"), [(["mine", "x"], "mine"), (["--help"], None), (["mien"], None), ([], None)])
def test_only_the_named_verb_is_made(words: list[str], verb: str | None) -> None:
    made = exit_._command(exit_._verb(words))
    assert set(made.commands) == ({"mine"} if verb else {name for verbs in GROUPS.values() for name in verbs})


def test_completion_knows_all_verbs(monkeypatch) -> None:
    monkeypatch.setenv("_TWINLINK_COMPLETE", "complete_bash")
    assert exit_._verb(["mine"]) is None
