"""Nothing damages a finished run: a command that fails leaves every table, list and setting as it was."""

from __future__ import annotations

import random
import resource
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.calling import twinlink
from tests.finished import PLAIN, copied, finish, served, state
from tests.killing import Killer, killer
from tests.made_sites import page, write_pages, write_toy
from twinlink.rundir.directory import RunDirectory

pytestmark = pytest.mark.xdist_group("damage")


class Place(NamedTuple):
    """A finished run that is tried upon, and files that are given to commands."""

    pristine: Path
    run: Path
    tmp: Path
    url: str
    before: dict[str, object]

    def words(self, words: Sequence[str]) -> list[str]:
        """Return a command line with the names of this place in it."""
        return [word.format(run=self.run, tmp=self.tmp, url=self.url) for word in words]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    tmp = tmp_path_factory.mktemp("damage")
    with served() as url:
        finish(tmp / "pristine", url)
        run = copied(tmp / "pristine", tmp / "run")
        _write_files(tmp)
        place = Place(tmp / "pristine", run, tmp, url, state(run))
        assert len(place.before) > 30, "there is something to lose"
        for words in PLAIN.values():
            assert twinlink(*place.words(words)).returncode == 0, words
        assert state(run) == place.before, "plain calls change nothing"
        yield place


def _write_files(tmp: Path) -> None:
    write_toy(tmp / "other")
    write_pages(tmp / "one-language", {f"{n}.html": page(f"Page {n} of a library that is open") for n in range(3)})
    (tmp / "folder").mkdir()
    (tmp / "empty").touch()
    (tmp / "empty.tsv").touch()
    for name in ("garbage", "garbage.tsv", "garbage.warc.gz", "garbage.wacz", "garbage.parquet", "garbage.toml"):
        (tmp / name).write_bytes(b"\x1f\x8b\x08\x00\xff\xfe\x00[[[[" + bytes(range(256)) * 20)
    (tmp / "wrong.toml").write_text("[match]\nnothing = 1\n")


@pytest.fixture
def place(finished: Place) -> Place:
    shutil.rmtree(finished.run / "replacement", ignore_errors=True)
    if state(finished.run) != finished.before:  # another test has failed
        copied(finished.pristine, finished.run)
    return finished


def check_unchanged(place: Place, verb: str, *, go_on: bool = True) -> None:
    """Check the run, and that the next plain command works and changes nothing either."""
    assert state(place.run) == place.before
    left = [path.name for path in place.run.iterdir() if path.name.startswith(".") and path.name != ".lock"]
    assert left == []
    if not go_on:
        return
    done = twinlink(*place.words(PLAIN.get(verb, PLAIN["match"])))
    assert done.returncode == 0, done
    assert state(place.run) == place.before


FAILURES = {
    "missing file": [
        "mine {tmp}/none -o {run}",
        "mine {url} {tmp}/none -o {run}",
        "mine {url} -o {run} --lexicon {tmp}/none",
        "mine {url} -o {run} --seeds {tmp}/none",
        "crawl -o {run} --seeds {tmp}/none",
        "ingest {tmp}/none -o {run}",
        "ingest {tmp}/none -o {run} --add",
        "ingest {tmp}/none -o {run} --replace",
        "match {run} --lexicon {tmp}/none",
        "align {run} --lexicon {tmp}/none",
        "align {run} --warm {tmp}/none",
        "patterns {run} --library {tmp}/none",
        "rank {run} --common-crawl {tmp}/none-vertices --common-crawl {tmp}/none-edges",
        "recover {run} --library {tmp}/none",
        "discover {tmp}/none -o {run}",
        "evaluate {run} --gold {tmp}/none",
        "report {run} --gold {tmp}/none",
        "verify {tmp}/none --run {run}",
    ],
    "folder instead of a file": [
        "mine {url} -o {run} --lexicon {tmp}/folder",
        "crawl {url} -o {run} --seeds {tmp}/folder",
        "match {run} --lexicon {tmp}/folder",
        "align {run} --lexicon {tmp}/folder",
        "patterns {run} --library {tmp}/folder",
        "patterns {run} --export {tmp}/folder",
        "rank {run} --export {tmp}/folder",
        "evaluate {run} --gold {tmp}/folder",
        "report {run} -o {tmp}/folder",
        "verify {run}/pairs.tsv --run {run} -o {tmp}/folder",
        "review {run} --export {tmp}/folder",
        "match {run} -c {tmp}/folder",
    ],
    "garbage": [
        "mine {tmp}/garbage -o {run} --add",
        "mine {tmp}/garbage.wacz -o {run} --add",
        "mine {tmp}/garbage.warc.gz -o {run} --replace",
        "ingest {tmp}/garbage.wacz -o {run} --add",
        "ingest {tmp}/garbage -o {run} --replace",
        "mine {url} -o {run} --lexicon {tmp}/garbage",
        "match {run} --lexicon {tmp}/garbage",
        "align {run} --lexicon {tmp}/garbage",
        "align {run} --warm {tmp}/garbage",
        "patterns {run} --library {tmp}/garbage.parquet",
        "recover {run} --library {tmp}/garbage.parquet",
        "evaluate {run} --gold {tmp}/garbage",
        "report {run} --gold {tmp}/garbage",
        "verify {tmp}/garbage --run {run} -o {tmp}/verdicts.tsv",
        "crawl {url} -o {run} --seeds {tmp}/garbage",
        "match {run} -c {tmp}/garbage.toml",
    ],
    "empty file": [
        "ingest {tmp}/empty -o {run} --add",
        "crawl {url} -o {run} --seeds {tmp}/empty",
        "evaluate {run} --gold {tmp}/empty.tsv",
        "discover {tmp}/empty -o {run}",
        "mine {tmp}/folder -o {run} --replace",
    ],
    "no language tag": [
        "mine {url} -o {run} --langs en;zh",
        "match {run} --langs en_zh!,x",
        "discover {url} -o {run} --langs e",
    ],
    "one language": ["mine {url} -o {run} --langs en", "match {run} --langs zh,zh"],
    "language that the site has not": [
        "mine {url} -o {run} --langs en,rus",
        "mine {tmp}/other -o {run} --base-url http://x.example --langs en,rus --replace",
        "match {run} --langs en,rus",
        "match {run} --langs fr,de --method jangeldin",
        "evaluate {run} --gold {run}/pairs.tsv --langs en,rus",
    ],
    "wrong setting name": [
        f"{verb} --set match.nothing=1"
        for verb in (
            "mine {url} -o {run}",
            "crawl {url} -o {run}",
            "ingest -o {run}",
            "match {run}",
            "align {run}",
            "patterns {run}",
            "rank {run}",
            "recover {run}",
            "discover {url} -o {run}",
            "verify {run}/pairs.tsv --run {run}",
        )
    ],
    "wrong setting value": [
        "mine {url} -o {run} --set crawl.delay=soon",
        "crawl {url} -o {run} --set crawl.order=random",
        "crawl {url} -o {run} --include (",
        "crawl {url} -o {run} --set crawl.browser=always --set crawl.browser_path=/nowhere/browser",
        "ingest -o {run} --set ingest.max_page_bytes=0",
        "match {run} --set match.min_precision=2",
        "match {run} --method urls --min-precision 0.9",
        "align {run} --format pdf",
        "patterns {run} --set match.patterns.libraries=3",
        "rank {run} --set ranking.graph.memory=-1",
        "recover {run} --set recover.max_site_addresses=x",
        "discover {url} -o {run} --set discover.top=0",
    ],
    "no NAME=VALUE": ["match {run} --set match.ets.alpha", "align {run} --set bitext"],
    "wrong settings file": ["mine {url} -o {run} -c {tmp}/none.toml", "match {run} -c {tmp}/wrong.toml"],
    "wrong name to forget": ["match {run} --forget match.nothing", "mine {url} -o {run} --forget lang"],
    "wrong option": [
        "match {run} --min-probability 2",
        "match {run} --method best",
        "mine {url} -o {run} --nothing",
        "align {run} --workers 0",
        "crawl {url} -o {run} --max-pages 0",
        "review {run} --port 99999",
        "mine {url} -o {run} --add --replace",
    ],
    "foreign source": [
        "mine {tmp}/other --base-url http://x.example -o {run}",
        "mine http://127.0.0.1:9/ -o {run}",
        "mine {tmp}/one-language --base-url http://x.example -o {run} --replace",
        "mine http://127.0.0.1:9/ -o {run} --replace --set crawl.retries=0",
        "crawl http://127.0.0.1:9/ -o {run}",
        "ingest {tmp}/other --base-url http://x.example -o {run}",
        "discover http://127.0.0.1:9/ -o {run}",
    ],
    "no address": ["mine ftp://x.example/ -o {run}", "crawl {tmp}/other -o {run}", "mine www.x.example -o {run}"],
    "nothing left": [
        "ingest -o {run} --url-prefix http://nowhere.example/",
        "mine {url} -o {run} --set ingest.max_page_bytes=1",
        "mine {url} -o {run} --min-probability 1",
        "match {run} --set match.max_pairs=0 --method liu2014",
        "align {run} --set bitext.filters.min_words=99",
    ],
    "target that is the run's": [
        "report {run} -o {run}/pairs.tsv",
        "report {run} -o {run}/match",
        "review {run} --export {run}/config.toml",
        "review {run} --export {run}/replacement/x",
        "evaluate {run}",
    ],
    "page that is not there": ["explain {run} {url}/nowhere", "explain {run} {url}/en/a.html {url}/en/a.html"],
    "another run": [
        f"{verb} {{tmp}}/folder" for verb in ("match", "align", "patterns", "rank", "recover", "report", "review")
    ],
}


GO_FAR = {"garbage", "language that the site has not", "foreign source", "nothing left"}
"""Kinds of failure that come late."""


@pytest.mark.parametrize(
    ("kind", "words"), [(kind, words) for kind, all_words in FAILURES.items() for words in all_words]
)
def test_a_command_that_fails_leaves_the_run_as_it_was(place: Place, kind: str, words: str) -> None:
    done = twinlink(*place.words(words.split()))
    assert done.returncode not in (0, 1), (kind, done)
    assert "Traceback" not in done.stderr
    check_unchanged(place, words.split(maxsplit=1)[0], go_on=kind in GO_FAR)


@pytest.mark.parametrize("verb", [verb for verb in PLAIN if verb not in ("report", "review", "explain", "evaluate")])
@pytest.mark.parametrize("text", ["[[[[", "[match]\nnothing = 1\n", "\xff", '[match]\nmethod = "best"\n'])
def test_damaged_settings_are_named_and_damage_nothing_else(place: Place, verb: str, text: str) -> None:
    file = place.run / "config.toml"
    whole = file.read_bytes()
    file.write_bytes(text.encode("latin-1"))
    try:
        done = twinlink(*place.words(PLAIN[verb]))
    finally:
        file.write_bytes(whole)
    assert done.returncode == 2, done
    assert f"{file}" in done.stderr
    assert "correct it, or remove it to use the defaults" in done.stderr
    check_unchanged(place, verb, go_on=False)


@pytest.mark.parametrize("verb", [verb for verb in PLAIN if verb not in ("report", "review", "explain", "evaluate")])
def test_a_run_that_another_process_holds_is_left_alone(place: Place, verb: str) -> None:
    with RunDirectory(place.run).lock():
        done = twinlink(*place.words(PLAIN[verb]))
    assert done.returncode == 3, done
    assert "another twinlink process" in done.stderr
    check_unchanged(place, verb, go_on=False)


CHANGES = {
    "match": "match {run} --method liu2014",
    "align": "align {run} --set bitext.run_rounds=1",
    "formats": "align {run} --format jsonl,moses",
    "ingest": "ingest -o {run} --url-prefix {url}/en/ --url-prefix {url}/zh/a.html",
    "patterns": "patterns {run} --set match.patterns.min_pairs=1",
    "rank": "rank {run} --set ranking.damping=0.5",
    "mine": "mine {url} -o {run} --method liu2014 --align",
    "replace": "mine {tmp}/other -o {run} --replace --base-url https://toy.example --langs en,zh",
}
"""Commands that change a finished run when nothing comes between."""


@contextmanager
def largest_file(n_bytes: int) -> Iterator[None]:
    """Let no file grow beyond a size, as on a disk that is full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("n_bytes", [0, 600, 2500])
def test_a_full_disk_leaves_the_run_as_it_was(place: Place, name: str, n_bytes: int) -> None:
    with largest_file(n_bytes):
        done = twinlink(*place.words(CHANGES[name].split()))
    assert done.returncode in (2, 3, 4), done
    assert "Traceback" not in done.stderr
    assert str(place.run) in done.stderr.partition("twinlink: error: ")[2]
    check_unchanged(place, CHANGES[name].split()[0])


@pytest.fixture(scope="module")
def kills() -> Iterator[Killer]:
    with killer() as found:
        yield found


@pytest.fixture(scope="module")
def changed(finished: Place, kills: Killer) -> Callable[[str], Changed]:
    """Give what a command of `CHANGES` comes to when nothing comes between."""

    @cache
    def done(name: str) -> Changed:
        copied(finished.pristine, finished.run)
        began = time.monotonic()
        told = kills.run(finished.words(CHANGES[name].split()))
        seconds = time.monotonic() - began
        assert told["code"] == 0
        after = state(finished.run)
        assert after != finished.before, "a command that changes nothing would prove nothing"
        return Changed(after, told["renames"], seconds)

    return done


class Changed(NamedTuple):
    """How a run is after a command."""

    after: dict[str, object]
    renames: int
    seconds: float


def check_killed(place: Place, name: str, done: Changed, kills: Killer) -> None:
    """Check that each result is wholly the earlier or wholly the later one, and that the same command goes on."""
    explained = twinlink("explain", place.run, f"{place.url}/en/a.html")
    assert explained.returncode == 0 or "read again" in explained.stderr or name == "replace", explained
    now = state(place.run)
    for stage in {key.partition("/")[0] for key in now} - {"report.html"}:  # which says when it was written
        part, before, after = (_of_stage(whole, stage) for whole in (now, place.before, done.after))
        if name == "formats":  # files that are made of the tables at any time come and go one by one
            assert all(value in (before.get(file), after.get(file)) for file, value in part.items())
        else:
            assert part in (before, after), stage
    assert kills.run(place.words(CHANGES[name].split()))["code"] == 0
    assert {**state(place.run), "report.html": ""} == {**done.after, "report.html": ""}
    assert sorted(path.name for path in place.run.iterdir() if path.name[0] in ".r") == VISIBLE[name == "replace"]


def _of_stage(whole: dict[str, object], stage: str) -> dict[str, object]:
    return {name: value for name, value in whole.items() if name.partition("/")[0] == stage}


VISIBLE = (
    [".lock", "rank", "recover", "recover.sqlite", "report.html"],
    [".lock", "report.html"],
)


@pytest.mark.parametrize("name", CHANGES)
def test_killed_at_a_rename_a_run_is_as_before_or_as_after(
    finished: Place, kills: Killer, changed: Callable[[str], Changed], name: str
) -> None:
    done = changed(name)
    numbers = range(1, done.renames + 1)
    assert len(numbers) > 2
    for number in {"mine": numbers[::8], "replace": (*numbers[:-8:8], *numbers[-8:])}.get(name, numbers):
        copied(finished.pristine, finished.run)
        told = kills.run(finished.words(CHANGES[name].split()), rename=number)
        assert told["code"] == -signal.SIGKILL
        check_killed(finished, name, done, kills)


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("name", ["match", "align", "ingest"])
def test_killed_at_any_moment_a_run_is_as_before_or_as_after(
    finished: Place, kills: Killer, changed: Callable[[str], Changed], name: str, sign: signal.Signals
) -> None:
    done = changed(name)
    copied(finished.pristine, finished.run)
    told = kills.run(finished.words(CHANGES[name].split()), seconds=random.uniform(0, done.seconds), sign=sign)
    assert told["code"] in (0, 130, -sign)
    check_killed(finished, name, done, kills)
