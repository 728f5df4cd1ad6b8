"""Style sheets and pictures of a run: one pass over its archives, kept as long as they are the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.archives import respond, write_saved
from twinlink.config import IngestSettings
from twinlink.ingest.stage import ingest
from twinlink.review.reading import resources as page_resources
from twinlink.review.reading.resources import RESOURCES_NAME, PageResources
from twinlink.review.records import Resource
from twinlink.rundir.directory import RunDirectory

CSS = [("Content-Type", "text/css")]
SHEET = Resource(b"p{}", "text/css")
URL = "http://a.example/s.css"


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    archive = tmp_path / "a.warc.gz"
    respond(archive, "http://a.example/", b"<html><p>text of a page")
    respond(archive, URL, b"p{}", headers=CSS)
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [archive], IngestSettings())
    return run


def test_what_the_archives_hold_is_read(run: RunDirectory) -> None:
    read = PageResources(run, patience=60)
    assert read(URL) == SHEET
    assert read("HTTP://a.example:80/s.css#top") == SHEET
    assert read("http://a.example/none.css") is None
    assert read("http://a.example/") is None
    assert read("javascript:x") is None
    assert not list((run.path / "review").glob("*.tmp"))


def test_archives_are_gone_through_once(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert PageResources(run, patience=60)(URL) == SHEET
    monkeypatch.setattr(page_resources, "find_resources", lambda path: pytest.fail("again"))
    assert PageResources(run, patience=60)(URL) == SHEET


def test_changed_archive_is_gone_through_again(run: RunDirectory, tmp_path: Path) -> None:
    assert PageResources(run, patience=60)("http://a.example/new.css") is None
    respond(tmp_path / "a.warc.gz", "http://a.example/new.css", b"b{}", headers=CSS)
    assert PageResources(run, patience=60)("http://a.example/new.css") == Resource(b"b{}", "text/css")


def test_last_capture_counts(run: RunDirectory, tmp_path: Path) -> None:
    respond(tmp_path / "a.warc.gz", URL, b"new{}", headers=CSS)
    assert PageResources(run, patience=60)(URL) == Resource(b"new{}", "text/css")


@pytest.mark.parametrize("content", [b"", b"PAR1 nonsense PAR1"])
def test_broken_table_is_made_anew(run: RunDirectory, content: bytes) -> None:
    write_saved(run.path, {RESOURCES_NAME: content})
    assert PageResources(run, patience=60)(URL) == SHEET


def test_archives_that_are_gone_have_nothing(run: RunDirectory, tmp_path: Path) -> None:
    assert PageResources(run, patience=60)(URL) == SHEET
    (tmp_path / "a.warc.gz").unlink()
    assert PageResources(run, patience=60)(URL) is None


def test_run_moves_with_its_own_archives(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run")
    (run.path / "warc").mkdir()
    respond(run.path / "warc" / "crawl-00001.warc.gz", URL, b"p{}", headers=CSS)
    assert PageResources(run, patience=60)(URL) == SHEET
    moved = tmp_path / "moved"
    run.path.rename(moved)
    assert PageResources(RunDirectory(moved), patience=60)(URL) == SHEET


def test_mirrors_are_read_as_they_lie(tmp_path: Path) -> None:
    files = {"a.example.org/index.html": b"<html><p>text of a page", "a.example.org/s.css": b"p{}"}
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [write_saved(tmp_path / "mirror", files)], IngestSettings())
    assert PageResources(run, patience=60)("http://a.example.org/s.css") == SHEET
