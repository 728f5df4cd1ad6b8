"""The progress of reading: documents read, and how many to expect by the bytes that are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.archives import respond, write_cdxj
from tests.made_sites import page, write_pages
from twinlink.config import IngestSettings
from twinlink.ingest.stage import ingest
from twinlink.rundir.directory import RunDirectory

N_PAGES = 40
HOST = "http://www.example.org"


def archive(path: Path) -> Path:
    for number in range(N_PAGES):
        respond(path, f"{HOST}/{number}.html", page("word " * 2000).encode(), packed=False)
    return path


def mirror(folder: Path) -> Path:
    pages = {f"{number:03}.html": page("word " * 2000) for number in range(N_PAGES)}
    write_pages(folder, pages)
    (folder / "picture.png").write_bytes(bytes(10**6))  # no page, so nothing of it counts
    return folder


def progress(tmp_path: Path, *sources: Path) -> list[tuple[int, int | None, str]]:
    said: list[tuple[int, int | None, str]] = []
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, sources, IngestSettings(base_url=HOST), lambda *line: said.append(line))
    return said


@pytest.mark.parametrize("make", [archive, mirror])
def test_pages_of_one_size_are_expected_from_the_first_share_on(tmp_path: Path, make) -> None:
    *said, parsed, tables, end = progress(tmp_path, make(tmp_path / "www.warc"))
    assert len(said) == N_PAGES  # a line for each document
    known = [(n, total) for n, (_, total, _) in enumerate(said, 1) if total is not None]
    assert len(known) >= N_PAGES - 2
    assert all(abs(total - N_PAGES) <= N_PAGES / n + 1 for n, total in known)  # the page in work is not counted yet
    assert said[0][2] == "0.0 of 0.4 MB read"
    assert parsed[1:] == (N_PAGES, f"{N_PAGES} of {N_PAGES} parsed")
    assert tables[1:] == (N_PAGES, "tables of site 1 of 1")
    assert end == (N_PAGES, N_PAGES, "")


def test_a_page_that_is_read_and_not_parsed_counts_in_part(tmp_path: Path) -> None:
    *said, parsed, tables, end = progress(tmp_path, archive(tmp_path / "www.warc"))
    done = [n for n, total, _ in said if total is not None]
    assert done == sorted(done)
    assert done[-1] < parsed[0] <= tables[0] < end[0]  # all pages are one batch, which is parsed after the reading


def test_the_tables_of_each_site_move_the_count(tmp_path: Path) -> None:
    for host in "abc":
        respond(tmp_path / "www.warc", f"http://www.{host}.org/", page("word " * 2000).encode(), packed=False)
    for number in range(97):
        respond(tmp_path / "www.warc", f"{HOST}/{number}", page("word").encode(), packed=False)
    tables = [n for n, _, text in progress(tmp_path, tmp_path / "www.warc") if text.startswith("tables of site")]
    assert len(tables) == len(set(tables)) > 1
    assert tables == sorted(tables)


def test_two_sources_count_together(tmp_path: Path) -> None:
    said = progress(tmp_path, archive(tmp_path / "a.warc"), mirror(tmp_path / "saved"))
    assert said[N_PAGES][2] == "0.4 of 0.8 MB read"
    assert max(total for _, total, _ in said if total is not None) <= 3 * N_PAGES


def test_an_index_names_parts_of_archives_so_that_the_total_is_unknown(tmp_path: Path) -> None:
    said = progress(tmp_path, write_cdxj(tmp_path / "a.cdxj", [archive(tmp_path / "a.warc")]))
    assert {(total, text) for _, total, text in said[:N_PAGES]} == {(None, "")}
    assert [n for n, _, _ in said[:N_PAGES]] == list(range(1, N_PAGES + 1))
    assert said[-1] == (N_PAGES, N_PAGES, "")
