"""A mirror that HTTrack itself made of a site on this machine: cache and files, and what is rejected."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.loopback import Answer, Server, serving
from twinlink.config import Config
from twinlink.ingest.stage import ingest
from twinlink.rundir.directory import RunDirectory
from twinlink.sources.documents import Document
from twinlink.sources.mirror import read_mirror
from twinlink.tables import LINKS, PAGES, REJECTS, read_table

pytestmark = pytest.mark.skipif(shutil.which("httrack") is None, reason="needs httrack (make httrack)")

LIMIT = 1_000_000
BIG5 = "text/html; charset=big5"


def page(text: str, *links: str) -> bytes:
    anchors = "".join(f"<a href='{link}'>{link}</a>" for link in links)
    return f"<html><body><p>{text}</p>{anchors}</body></html>".encode()


PAGES_OF_SITE = {
    "/": Answer(page("start", "/en/", "/tc/", "/news.php?id=1&lang=en", "/news.php?id=1&lang=tc", "/old", "/gone")),
    "/en/": Answer(page("The library opens at nine", "about.html")),
    "/en/about.html": Answer(page("About the library", "/", "http://other.example.org/x")),
    "/tc/": Answer("<html><body><p>圖書館</p><a href='about.html'>a</a></body></html>".encode("big5"), type=BIG5),
    "/tc/about.html": Answer("<html><body><p>關於圖書館</p></body></html>".encode("big5"), type=BIG5),
    "/news.php?id=1&lang=en": Answer(page("news in English")),
    "/news.php?id=1&lang=tc": Answer(page("news in Chinese")),
    "/old": Answer(b"", status=301, headers={"Location": "/en/about.html"}),
    "/gone": Answer(b"gone", status=404),
}
FETCHED = [path for path, answer in PAGES_OF_SITE.items() if answer.status == 200]


def mirrored(site: Server, folder: Path, *options: str) -> Path:
    """Run HTTrack on a site, without its user's settings."""
    command = ["httrack", f"{site.url}/", "-O", str(folder), "--quiet", "--robots=0", "--retries=0", *options]
    environment = {**os.environ, "HOME": str(folder.parent), "http_proxy": ""}
    subprocess.run(
        command, check=True, timeout=60, env=environment, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    )
    return folder


def test_pages_of_the_cache_are_those_of_the_server(tmp_path: Path) -> None:
    with serving(PAGES_OF_SITE.get) as site:
        folder = mirrored(site, tmp_path / "mirror")
    found = {
        item.url: item.body
        for item in read_mirror(folder, "", LIMIT)
        if isinstance(item, Document) and not item.location and item.body
    }
    assert found == {f"{site.url}{path}": PAGES_OF_SITE[path].body for path in FETCHED}


def test_without_its_cache_the_files_give_the_same_addresses(tmp_path: Path) -> None:
    with serving(PAGES_OF_SITE.get) as site:
        folder = mirrored(site, tmp_path / "mirror")
    shutil.rmtree(folder / "hts-cache")
    found = {item.url for item in read_mirror(folder, "", LIMIT) if isinstance(item, Document) and item.body}
    assert {f"{site.url}{path}" for path in FETCHED} <= found


def test_a_mirror_is_ingested_with_links_and_charsets(tmp_path: Path) -> None:
    with serving(PAGES_OF_SITE.get) as site:
        folder = mirrored(site, tmp_path / "mirror")
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [folder], Config().ingest)
    pages = {row["url"]: row for row in read_table(run.path / "ingest" / "pages", PAGES).to_pylist()}
    assert set(pages) == {f"{site.url}{path}" for path in FETCHED}
    assert pages[f"{site.url}/tc/about.html"]["blocks"] == ["關於圖書館"]
    links = read_table(run.path / "ingest" / "links", LINKS)["target_url"].to_pylist()
    assert f"{site.url}/news.php?id=1&lang=tc" in links
    assert "http://other.example.org/x" in links
    rejects = read_table(run.path / "ingest" / "rejects.parquet", REJECTS).to_pylist()
    assert {row["url"]: row["reason"] for row in rejects if row["url"].endswith(("/old", "/gone"))} == {
        f"{site.url}/old": "redirect",
        f"{site.url}/gone": "http-404",
    }
