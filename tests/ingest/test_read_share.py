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
    *reading, tables = progress(tmp_path, make(tmp_path / "www.warc"))
    assert [n for n, _, _ in reading] == list(range(1, N_PAGES + 1))
    known = [(n, total) for n, total, _ in reading if total is not None]
    assert len(known) >= N_PAGES - 2
    assert all(abs(total - N_PAGES) <= N_PAGES / n + 1 for n, total in known)  # the page in work is not counted yet
    assert reading[0][2] == "0.0 of 0.4 MB read"
    assert tables == (N_PAGES, N_PAGES, "tables of site 1 of 1")


def test_two_sources_count_together(tmp_path: Path) -> None:
    *reading, _ = progress(tmp_path, archive(tmp_path / "a.warc"), mirror(tmp_path / "saved"))
    assert [text for n, _, text in reading if n == N_PAGES + 1] == ["0.4 of 0.8 MB read"]
    assert max(total for _, total, _ in reading if total is not None) <= 3 * N_PAGES


def test_an_index_names_parts_of_archives_so_that_the_total_is_unknown(tmp_path: Path) -> None:
    *reading, tables = progress(tmp_path, write_cdxj(tmp_path / "a.cdxj", [archive(tmp_path / "a.warc")]))
    assert {total for _, total, _ in reading} == {None}
    assert {text for _, _, text in reading} == {""}
    assert tables[:2] == (N_PAGES, N_PAGES)
