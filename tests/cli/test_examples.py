"""The example in each verb's help is run, with a site on this machine in the place of the one that it names."""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
import typer.main

from tests.calling import twinlink
from twinlink.cli import app
from twinlink.demo import serve, write_site
from twinlink.run import open_run

pytestmark = pytest.mark.xdist_group("examples")  # they share the mined site

VERBS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
SITE = "https://www.example.gov.hk"
LEFT = {  # what the example leaves behind, beside a run
    "mine": "RUN/pairs.tsv",
    "crawl": "RUN/crawl.json",
    "ingest": "RUN/ingest/rejects.parquet",
    "match": "RUN/pairs.tsv",
    "align": "RUN/align/en-zh-Hant.tmx",
    "report": "report.html",
    "verify": "pairs.verdicts.tsv",
    "export": "RUN/export/pages.wacz",
    "patterns": "mine.tsv",
    "rank": "sites.graphml",
    "discover": "RUN/discover/rounds.tsv",
    "demo": "demo-run/pairs.tsv",
}


class World(NamedTuple):
    """A served site, and what examples name beside it."""

    url: str
    folder: Path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A small site on this machine, mined."""
    folder = tmp_path_factory.mktemp("world")
    site = write_site(folder / "made", pages=60)
    with serve(site.folder) as base:
        url = base.rstrip("/")
        shutil.copytree(site.folder / "site", folder / "files" / "mirror")
        (folder / "files" / "seeds.txt").write_text("".join(f"{url}{path}\n" for path in site.seeds))
        shutil.copy(site.gold, folder / "files" / "gold.tsv")
        with contextlib.chdir(folder):  # the first example is run here, once for all
            done = twinlink(*(word.replace(SITE, url) for word in shlex.split(example_of("mine"))[1:]))
        assert done.returncode == 0, done.stderr
        assert (folder / LEFT["mine"]).is_file()
        run = open_run(folder / "RUN")
        lines = "".join(f"{row.url_a}\t{row.url_b}\n" for row in run.pairs.itertuples())
        (folder / "files" / "pairs.tsv").write_text(lines)
        done = twinlink("patterns", folder / "RUN", "-q", "--export", folder / "files" / "others.tsv")
        assert done.returncode == 0, done.stderr
        yield World(url, folder)


def example_of(verb: str) -> str:
    found = re.findall(r"^Example: (twinlink .*)$", VERBS[verb].help, re.MULTILINE)
    assert len(found) == 1, f"`twinlink {verb} --help` wants one example"
    return str(found[0])


def words_of(verb: str, world: World, folder: Path) -> list[str]:
    """Return the words of an example with the served site in it, and lay out the files that it names."""
    shutil.copytree(world.folder / "files", folder, dirs_exist_ok=True)
    example = example_of(verb)
    words = shlex.split(example)[1:]
    if "-o RUN" not in example:
        shutil.copytree(world.folder / "RUN", folder / "RUN")
    if verb == "compare":
        done = twinlink("match", folder / "RUN", "-o", "liu2014", "--method", "liu2014", "-q")
        assert done.returncode == 0, done.stderr
    page = open_run(world.folder / "RUN").pairs.url_a[0]
    return [page if re.match(rf"{SITE}/\w", word) else word.replace(SITE, world.url) for word in words]


@pytest.mark.parametrize("verb", sorted(set(VERBS) - {"mine", "review"}))
def test_example_runs(verb: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = words_of(verb, world, tmp_path)
    monkeypatch.chdir(tmp_path)
    with patch("twinlink.demo.write_site", partial(write_site, pages=60)):  # the demo's own site takes longer
        done = twinlink(*words)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}{done.stderr}"
    assert done.stdout.strip()
    assert verb not in LEFT or Path(LEFT[verb]).is_file()


def test_example_of_review_runs_until_ctrl_c(world: World, tmp_path: Path) -> None:
    words = words_of("review", world, tmp_path)
    words[words.index("8765")] = "0"  # another port: somebody may have a review open
    command = [sys.executable, "-m", "twinlink", *words, "--no-open"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        said = process.stdout.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/\S*", said)
        assert address is not None, said + process.communicate()[1]
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(address[0], timeout=20) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, err) == (0, "")
    assert out == "review ended; no labels yet\n"
