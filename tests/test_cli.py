"""The command line as a person uses it: what it says, what it leaves behind, and how it ends."""

from __future__ import annotations

import gzip
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.sites import BASE, page, write_pages, write_toy
from twinlink.demo import serve, write_site
from twinlink.run import open_run

TWINLINK = [sys.executable, "-m", "twinlink"]


def twinlink(*args: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*TWINLINK, *map(str, args)], capture_output=True, text=True, cwd=cwd, check=False)


def mined(tmp_path: Path) -> Path:
    done = twinlink("mine", write_toy(tmp_path / "toy"), "--base-url", BASE, "-o", tmp_path / "run", "--langs", "en,zh")
    assert done.returncode == 0, done.stderr
    return tmp_path / "run"


def pairs_of(run: Path) -> list[str]:
    """Return the lines of pairs.tsv without the signature, in which the times of the input files are."""
    lines = (run / "pairs.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0].endswith("\tsignature")
    return [line.rpartition("\t")[0] for line in lines]


def test_mine_says_what_came_out_and_where(tmp_path):
    done = twinlink("mine", write_toy(tmp_path / "toy"), "--base-url", BASE, "-o", tmp_path / "run", "--langs", "en,zh")
    assert done.returncode == 0, done.stderr
    assert "10 pages (" in done.stdout
    assert re.search(r"pairs, expected precision [01]\.\d+ → .*pairs\.tsv$", done.stdout.strip())
    assert (tmp_path / "run" / "pairs.tsv").is_file()


def test_quiet_shows_no_progress(tmp_path):
    toy = write_toy(tmp_path / "toy")
    assert twinlink("mine", toy, "--base-url", BASE, "-o", tmp_path / "a", "-q").stderr == ""
    assert "ingest: 10" in twinlink("mine", toy, "--base-url", BASE, "-o", tmp_path / "b").stderr


def test_the_stages_alone_do_what_mine_does(tmp_path):
    toy, run = write_toy(tmp_path / "toy"), tmp_path / "run"
    assert twinlink("ingest", toy, "--base-url", BASE, "-o", run).returncode == 0
    assert twinlink("match", run, "--langs", "en,zh").returncode == 0
    (tmp_path / "other").mkdir()
    assert pairs_of(run) == pairs_of(mined(tmp_path / "other"))


def test_match_keeps_the_settings_of_the_run_and_changes_those_given(tmp_path):
    run = mined(tmp_path)
    assert twinlink("match", run, "--set", "match.ets.alpha=0.25").returncode == 0
    config = open_run(run).config
    assert (config.match.ets.alpha, config.langs) == (0.25, ("en", "zh"))


def test_a_settings_file_and_options_over_it(tmp_path):
    (tmp_path / "c.toml").write_text('langs = ["en", "fr"]\n[match.ets]\nalpha = 0.2\n')
    toy = write_toy(tmp_path / "toy")
    args = ("-c", tmp_path / "c.toml", "--langs", "en,zh", "--set", "match.ets.rounds=1", "-q")
    assert twinlink("mine", toy, "--base-url", BASE, "-o", tmp_path / "run", *args).returncode == 0
    config = open_run(tmp_path / "run").config
    assert (config.langs, config.match.ets.alpha, config.match.ets.rounds) == (("en", "zh"), 0.2, 1)


def test_evaluate_scores_and_notes_what_is_missing(tmp_path):
    run = mined(tmp_path)
    (tmp_path / "gold.tsv").write_text("/en/a.html\t/zh/a.html\n/en/x.html\t/zh/x.html\n")
    done = twinlink("evaluate", run, "--gold", tmp_path / "gold.tsv", "--curve")
    assert done.returncode == 0
    assert "note: 2 of 4 gold addresses are not in the run" in done.stdout
    assert re.search(r"precision [\d.]+ +recall 0\.5000 +F1", done.stdout)
    assert "probability  precision  recall" in done.stdout


def test_explain_a_pair_a_page_and_a_stranger(tmp_path):
    run = mined(tmp_path)
    row = open_run(run).pairs.iloc[0]
    assert "a pair: probability" in twinlink("explain", run, row["url_a"], row["url_b"]).stdout
    assert "paired: " in twinlink("explain", run, row["url_a"].removeprefix(BASE)).stdout
    stranger = twinlink("explain", run, f"{BASE}/nowhere.html")
    assert stranger.returncode == 2
    assert "has seen no such page" in stranger.stderr


def one_language(tmp_path: Path) -> list[object]:
    pages = {f"{n}.html": page(f"This is page number {n} about the library and its opening hours.") for n in range(5)}
    return ["mine", write_pages(tmp_path / "site", pages), "--base-url", BASE, "-o", tmp_path / "run"]


def empty_folder(tmp_path: Path) -> list[object]:
    (tmp_path / "site").mkdir()
    return ["mine", tmp_path / "site", "--base-url", BASE, "-o", tmp_path / "run"]


def no_base_url(tmp_path: Path) -> list[object]:
    return ["mine", write_toy(tmp_path / "site"), "-o", tmp_path / "run"]


def closed_port(tmp_path: Path) -> list[object]:
    return ["mine", "http://127.0.0.1:9/", "-o", tmp_path / "run"]


def unknown_gold(tmp_path: Path) -> list[object]:
    (tmp_path / "gold.tsv").write_text("/other/a\t/other/b\n")
    return ["evaluate", mined(tmp_path), "--gold", tmp_path / "gold.tsv"]


def unmatched_run(tmp_path: Path) -> list[object]:
    twinlink("ingest", write_toy(tmp_path / "toy"), "--base-url", BASE, "-o", tmp_path / "run")
    return ["explain", tmp_path / "run", f"{BASE}/en/a.html"]


@pytest.mark.parametrize(
    ("make", "code", "message"),
    [
        (empty_folder, 2, "found no HTML file"),
        (one_language, 5, "0 pairs: all pages are in one language"),
        (no_base_url, 2, "--base-url"),
        (closed_port, 4, "127.0.0.1:9"),
        (unknown_gold, 2, "none of its 2 addresses is in the run"),
        (unmatched_run, 3, "no match here yet"),
        (lambda tmp: ["mine", "www.example.org", "-o", tmp / "run"], 2, "write https://www.example.org"),
        (lambda tmp: ["mine", "ftp://example.org/", "-o", tmp / "run"], 2, "not a usable address"),
        (lambda tmp: ["mine", tmp / "none", "-o", tmp / "run"], 2, "no such file or folder"),
        (lambda tmp: ["mine", tmp, "-o", tmp / "run", "--set", "match.alpha=1"], 2, "no setting 'match.alpha'"),
        (lambda tmp: ["mine", tmp, "-o", tmp / "run", "--set", "match.ets.alpha"], 2, "expected NAME=VALUE"),
        (lambda tmp: ["crawl", tmp, "-o", tmp / "run"], 2, "takes addresses"),
        (lambda tmp: ["match", tmp], 3, "not a run directory"),
    ],
)
def test_bad_input_gives_one_clear_line_and_an_exit_code(tmp_path, make, code, message):
    done = twinlink(*make(tmp_path))
    assert message in done.stderr
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_a_warc_cut_in_the_middle_gives_what_is_before_the_cut(tmp_path):
    site = write_site(tmp_path / "demo", pages=60)
    with serve(site.folder) as base:
        crawled = twinlink("crawl", *(base + path for path in site.seeds), "-o", tmp_path / "run", "-q")
    assert crawled.returncode == 0, crawled.stderr
    n_whole = int(crawled.stdout.split()[0])
    (archive,) = (tmp_path / "run" / "warc").glob("*.warc.gz")
    whole = archive.read_bytes()
    (tmp_path / "cut.warc.gz").write_bytes(whole[: len(whole) * 2 // 3])
    done = twinlink("mine", tmp_path / "cut.warc.gz", "-o", tmp_path / "cut", "--langs", "en,zh")
    assert done.returncode == 0, done.stderr
    assert "rejected in ingest: truncated 1" in done.stdout
    assert 0 < len(open_run(tmp_path / "cut").pages) < n_whole
    with pytest.raises(EOFError), gzip.open(tmp_path / "cut.warc.gz") as stream:
        stream.read()


def kill_group(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(ready: object, process: subprocess.Popen[bytes]) -> None:
    """Wait until a path exists or the process ends."""
    while not Path(str(ready)).exists() and process.poll() is None:
        time.sleep(0.01)


def test_a_killed_job_goes_on_and_comes_to_the_same_pairs(tmp_path):
    site = write_site(tmp_path / "demo", pages=60)
    with serve(site.folder) as base:
        starts = [base + path for path in site.seeds]
        whole = ["mine", *starts, "--langs", "en,zh", "-q", "-o"]
        assert twinlink(*whole, tmp_path / "whole").returncode == 0
        killed = tmp_path / "killed"
        for milestone in ("warc", ".ingest.tmp", ".match.tmp"):
            process = subprocess.Popen([*TWINLINK, *whole, str(killed)], start_new_session=True)
            wait_for(killed / milestone, process)
            time.sleep(0.3 if milestone == "warc" else 0)
            kill_group(process)
        assert twinlink(*whole, killed).returncode == 0
    assert pairs_of(killed) == pairs_of(tmp_path / "whole")
    assert not list(killed.glob(".*.tmp"))


def test_two_processes_do_not_work_in_one_run(tmp_path):
    toy, run = write_toy(tmp_path / "toy"), tmp_path / "run"
    run.mkdir()
    code = (
        "import fcntl, sys; file = open(sys.argv[1], 'w'); fcntl.flock(file, fcntl.LOCK_EX)\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(run / ".lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    done = twinlink("mine", toy, "--base-url", BASE, "-o", run)
    holder.communicate(b"")
    assert done.returncode == 3
    assert "another twinlink process" in done.stderr


def test_version():
    assert re.fullmatch(r"twinlink \d+\.\d+\.\d+\S*\n", twinlink("--version").stdout)
