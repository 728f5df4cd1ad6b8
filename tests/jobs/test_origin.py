"""What a run was made from: the same source by another name, more of it, and something else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.archives import write_toy_archive
from tests.calling import Done, twinlink
from tests.loopback import Answer, links, serving
from tests.made_sites import BASE, page, write_pages, write_toy
from twinlink import mine
from twinlink.config import Config
from twinlink.errors import RunError
from twinlink.ingest.stage import source_paths
from twinlink.jobs.origin import Origin, agreed_paths, origin_of
from twinlink.run import open_run
from twinlink.rundir.directory import RunDirectory
from twinlink.spiders.frontier import FrontierReader

OPTIONS = ("--base-url", BASE, "--langs", "en,zh")


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return write_toy(tmp_path / "toy")


@pytest.fixture
def run(toy: Path, tmp_path: Path) -> Path:
    """The run of the toy site."""
    assert twinlink("mine", toy, "-o", tmp_path / "run", *OPTIONS).returncode == 0
    return tmp_path / "run"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """An archive of another site."""
    return write_toy_archive(tmp_path / "other.warc.gz", ("http://other.example",))


def sites(run: Path) -> set[str]:
    return set(open_run(run).pages["site"])


def did(done: Done) -> str:
    assert done.returncode == 0, done
    return done.stderr


def by_a_relative_path(toy: Path, patch: pytest.MonkeyPatch) -> str:
    patch.chdir(toy.parent)
    return f"./x/../{toy.name}"


def by_a_link(toy: Path, patch: pytest.MonkeyPatch) -> str:
    (toy.parent / "link").symlink_to(toy)
    return str(toy.parent / "link")


def with_more_pages(toy: Path, patch: pytest.MonkeyPatch) -> str:
    write_pages(toy, {"new.html": page("one more page of the library")})
    return str(toy)


@pytest.mark.parametrize("named", [by_a_relative_path, by_a_link, with_more_pages])
def test_the_same_source(
    run: Path, toy: Path, monkeypatch: pytest.MonkeyPatch, named: Callable[[Path, pytest.MonkeyPatch], str]
) -> None:
    (toy.parent / "x").mkdir()
    n_pages = len(open_run(run).pages)
    for verb in ("mine", "ingest"):
        said = did(twinlink(verb, named(toy, monkeypatch) if verb == "mine" else toy, "-o", run))
        assert "gets more sources" not in said
    assert len(open_run(run).pages) == n_pages + (named is with_more_pages)
    assert source_paths(RunDirectory(run)) == [toy.resolve()]


def test_a_source_that_was_moved_is_known_by_its_files(run: Path, toy: Path, tmp_path: Path) -> None:
    toy.rename(tmp_path / "elsewhere")
    said = did(twinlink("mine", tmp_path / "elsewhere", "-o", run))
    assert f"{tmp_path}/elsewhere holds the same files as {toy}, which no longer exists" in said
    assert source_paths(RunDirectory(run)) == [tmp_path / "elsewhere"]
    assert len(open_run(run).pairs) == 5
    (tmp_path / "elsewhere").rename(toy)
    (toy / "en" / "a.html").write_text("<p>something else")
    done = twinlink("mine", toy, "-o", run)
    assert (done.returncode, "was made from" in done.stderr) == (3, True)


def test_a_link_in_a_circle_is_named(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    done = twinlink("ingest", tmp_path / "loop", "-o", tmp_path / "run")
    assert done.returncode == 2
    assert f"{tmp_path}/loop: no such file or folder" in done.stderr


@pytest.mark.parametrize("verb", ["mine", "ingest"])
def test_another_source_is_refused_and_the_ways_out_are_named(run: Path, other: Path, verb: str) -> None:
    before = (run / "pairs.tsv").read_text()
    done = twinlink(verb, other, "-o", run)
    assert done.returncode == 3
    for words in (f"not from {other}", "another run directory", "--add", "--replace", "removes 10 pages, 5 pairs"):
        assert words in done.stderr
    assert (run / "pairs.tsv").read_text() == before


def test_added_sources_belong_to_the_run_from_then_on(run: Path, toy: Path, other: Path) -> None:
    first = set((run / "pairs.tsv").read_text().splitlines()[1].split("\t")[:2])
    said = did(twinlink("mine", other, "-o", run, "--add"))
    assert f"gets more sources: {other}" in said
    assert "ingest is done again (its input has changed); match/ must be rebuilt after it" in said
    for named in ((toy,), (other,), (other, toy)):
        assert "is done again" not in did(twinlink("mine", *named, "-o", run))
        assert sites(run) == {"toy.example", "other.example"}
    assert "is done again" not in did(twinlink("ingest", "-o", run))
    assert len(open_run(run).pairs) == 10
    assert first <= {*open_run(run).pairs["url_a"], *open_run(run).pairs["url_b"]}


def test_new_sources_with_known_ones_need_no_option(run: Path, toy: Path, other: Path) -> None:
    assert "gets more sources" in did(twinlink("ingest", toy, other, "-o", run))
    assert sites(run) == {"toy.example", "other.example"}


def test_a_folder_is_not_added_under_an_address_that_would_move_the_others(run: Path, tmp_path: Path) -> None:
    more = write_pages(tmp_path / "more", {"x.html": page("another page")})
    done = twinlink("mine", more, "-o", run, "--add", "--base-url", "http://x.example")
    assert done.returncode == 2
    assert f"ingest.base_url: {run} was read with {BASE}" in done.stderr
    assert sites(run) == {"toy.example"}


def test_a_source_that_is_gone_is_reported_by_its_name(run: Path, toy: Path, other: Path) -> None:
    shutil.rmtree(toy)
    done = twinlink("mine", other, "-o", run, "--add")
    assert done.returncode == 2
    assert f"{toy}: was read into {run} and no longer exists" in done.stderr
    assert len(open_run(run).pairs) == 5


def test_replace_starts_anew_and_drops_what_was_there_when_it_is_done(run: Path, other: Path) -> None:
    assert twinlink("align", run).returncode == 0
    assert twinlink("match", run, "--min-precision", "0.3").returncode == 0
    (run / "review").mkdir()
    (run / "review" / "labels.jsonl").touch()
    (run / "notes.txt").touch()
    said = did(twinlink("mine", other, "-o", run, "--replace", "--langs", "en,zh"))
    assert f"{run} is rebuilt; on success, 10 pages, 5 pairs, 5 aligned pairs from" in said
    assert sites(run) == {"other.example"}
    assert open_run(run).config == Config().override({"langs": ["en", "zh"]}), "settings start anew, too"
    left = sorted(path.name for path in run.iterdir())
    expected = ["config.toml", "ingest", "log.txt", "match", "notes.txt", "pairs.tsv", "report.html", "review"]
    assert left == [".lock", *expected]
    assert "run" in (run / "report.html").read_text()
    assert "replacement" not in (run / "report.html").read_text()


def test_failed_replacement_changes_nothing_and_is_resumed(run: Path, other: Path) -> None:
    files = (path for path in run.rglob("*") if path.is_file() and path.name not in {".lock", "log.txt"})
    before = {path: path.read_bytes() for path in files}
    done = twinlink("mine", other, "-o", run, "--replace", "--langs", "en,rus")
    assert done.returncode == 5
    assert f"The run is unchanged; the new result is in {run}/replacement" in done.stderr
    assert f"next: twinlink match {run}/replacement --langs en,zh-Hant" in done.stderr
    assert {path: path.read_bytes() for path in before} == before
    assert sites(run / "replacement") == {"other.example"}, "it is a run of its own"
    strange = twinlink("mine", run / "ingest" / "sources.txt", "-o", run, "--replace")
    assert (strange.returncode, "holds a replacement that was begun from" in strange.stderr) == (3, True)
    said = did(twinlink("mine", other, "-o", run, "--replace", "--langs", "en,zh"))
    assert "ingest" not in [line.partition(":")[0] for line in said.splitlines()], "what was read is not read again"
    assert sites(run) == {"other.example"}
    assert not (run / "replacement").exists()


def test_a_replacement_without_a_page_leaves_no_trace(run: Path, tmp_path: Path) -> None:
    empty = write_toy_archive(tmp_path / "empty.warc.gz", ())
    assert twinlink("ingest", empty, "-o", run, "--replace").returncode != 0
    assert not (run / "replacement").exists()
    assert len(open_run(run).pairs) == 5


def test_an_empty_folder_is_no_further_source(run: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = twinlink("mine", tmp_path / "empty", "-o", run, "--add", *OPTIONS)
    assert done.returncode == 2
    assert "the folder is empty" in done.stderr
    assert len(open_run(run).pairs) == 5


@pytest.mark.parametrize("verb", ["mine", "ingest"])
def test_the_folder_that_is_read_cannot_be_the_run(toy: Path, verb: str) -> None:
    before = sorted(toy.rglob("*"))
    done = twinlink(verb, toy, "-o", toy, "--base-url", BASE)
    assert (done.returncode, "cannot be the folder that is read" in done.stderr) == (2, True)
    assert sorted(toy.rglob("*")) == before


def test_labels_count_in_a_replacement(run: Path, toy: Path) -> None:
    row = open_run(run).pairs.iloc[0]
    said = {"url_a": row["url_a"], "url_b": row["url_b"], "verdict": "reject"}
    text = json.dumps({"step": "1", "who": "ann", "when": "2026-01-01T00:00:00Z", "labels": [said]}) + "\n"
    (run / "review").mkdir()
    (run / "review" / "labels.jsonl").write_text(text)
    assert twinlink("mine", toy, "-o", run, "--replace", "--labels", *OPTIONS).returncode == 0
    assert len(open_run(run).pairs) == 4
    assert (run / "review" / "labels.jsonl").read_text() == text


def test_one_of_add_and_replace(run: Path, toy: Path) -> None:
    assert "choose one of them" in twinlink("mine", toy, "-o", run, "--add", "--replace").stderr


def test_a_notebook_has_the_same_words(run: Path, toy: Path, other: Path) -> None:
    with pytest.raises(RunError, match="was made from"):
        mine(str(other), out=run)
    assert set(mine(str(other), out=run, add=True).pages["site"]) == {"toy.example", "other.example"}
    assert set(mine(str(other), out=run, replace=True, langs="en,zh").pages["site"]) == {"other.example"}


def answer(path: str) -> Answer | None:
    return {"/": links("/en.html"), "/zh.html": links("/"), "/en.html": Answer(page("The library").encode())}.get(path)


def test_seeds_of_a_crawl_grow(tmp_path: Path) -> None:
    out, seeds = tmp_path / "run", tmp_path / "seeds.txt"
    with serving(answer) as one, serving(answer, host="127.0.0.2") as two, serving(answer, host="127.0.0.3") as three:
        seeds.write_text(f"{one.url}/\n{two.url}/\n")
        crawl = ("crawl", "-o", out, "--site-by", "host", "-q")
        did(twinlink(*crawl, "--seeds", seeds))
        did(twinlink(*crawl, f"{one.url}/zh.html"))  # another page of a known site
        did(twinlink(*crawl, f"{two.url}/"))  # some of them
        did(twinlink(*crawl, "--again"))
        seeds.write_text(f"{seeds.read_text()}{three.url}/\n")
        with serving(answer, host="127.0.0.4") as stranger:
            done = twinlink(*crawl, f"{stranger.url}/")
            assert (done.returncode, "was made from" in done.stderr) == (3, True)
            did(twinlink(*crawl, "--seeds", seeds))
            did(twinlink(*crawl, f"{stranger.url}/", "--add"))
            hosts = {url.split("/")[2] for url in FrontierReader(out).starts()}
            assert hosts == {server.url.removeprefix("http://") for server in (one, two, three, stranger)}


def test_a_crawl_and_files_are_different_sources(run: Path, toy: Path, tmp_path: Path) -> None:
    with serving(answer) as server:
        done = twinlink("mine", f"{server.url}/", "-o", run)
        assert (done.returncode, "was made from" in done.stderr) == (3, True)
        did(twinlink("crawl", f"{server.url}/", "-o", tmp_path / "crawled", "-q"))
        done = twinlink("ingest", toy, "-o", tmp_path / "crawled", "--base-url", BASE)
        assert (done.returncode, "was made from" in done.stderr) == (3, True)
        did(twinlink("mine", f"{server.url}/", "-o", run, "--add"))
    assert {"toy.example", server.url.removeprefix("http://")} == sites(run)
    assert origin_of(RunDirectory(run)) == Origin((f"{server.url}/",), (toy.resolve(),))


def test_run_without_pages_accepts_any_source(tmp_path: Path) -> None:
    out = tmp_path / "run"
    out.mkdir()
    (out / "notes.txt").touch()
    assert twinlink("mine", "http://127.0.0.1:9/", "-o", out, "--set", "crawl.retries=0").returncode == 4
    assert [path.name for path in out.iterdir()] == ["notes.txt"]
    with serving(answer) as server:
        did(twinlink("crawl", f"{server.url}/", "-o", out, "-q"))
    assert FrontierReader(out).starts() == [f"{server.url}/"]


def test_a_run_that_is_held_back_by_its_ledger_keeps_its_archives(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with serving(answer) as server:
        did(twinlink("crawl", f"{server.url}/", "-o", out, "-q"))
        kept = [path.read_bytes() for path in sorted((out / "warc").iterdir())]
        for damage in ("broken", "gone"):
            for file in out.glob("ledger.sqlite*"):
                file.unlink()
            if damage == "broken":
                (out / "ledger.sqlite").write_bytes(b"x" * 5000)
            assert twinlink("crawl", "http://127.0.0.1:9/", "-o", out, "--set", "crawl.retries=0").returncode != 0
            assert [path.read_bytes() for path in sorted((out / "warc").iterdir())][: len(kept)] == kept


def test_paths_keep_their_order(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run")
    files = [write_toy(tmp_path / name) for name in ("b", "a")]
    assert agreed_paths(run, [], files, Config()) == files
