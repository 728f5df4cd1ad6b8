"""A run whose sites share packs, beside the same run with a file for each site: the same rows everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.archives import respond
from tests.made_sites import write_town
from tests.matched_sites import matched_from_now
from twinlink.align.stage import align_run
from twinlink.config import Config
from twinlink.errors import RunError
from twinlink.ingest.shapes import linearise_pages
from twinlink.ingest.stage import ingest
from twinlink.jobs.stages import match_stage
from twinlink.language.stage import identify_pages
from twinlink.match import stage as module
from twinlink.patterns.stage import learn_run
from twinlink.review.reading.snapshot import Snapshot
from twinlink.rundir.directory import RunDirectory
from twinlink.sites.stage import rank
from twinlink.system.workers import worker_processes
from twinlink.tables import LINKS, PAGES, PAIRS, SEGMENTS, iter_parts, named_part, pack_of, packing, read_table

CONFIG = Config().override({"langs": ["en", "fr"]})
SITES = [f"town{n}.org" for n in range(5)]
SIZES = (3, 4, 20, 3, 5)
"""Pairs of pages of each; the third one is too large for a pack."""
TABLES = {"ingest/pages": PAGES, "ingest/links": LINKS, "match/pairs": PAIRS, "align/segments/en-fr": SEGMENTS}


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """The sites, and a page that links to all of them."""
    for n, (site, size) in enumerate(zip(SITES, SIZES, strict=True)):
        write_town(tmp_path / "sites" / f"www.{site}", size, first=20 * n)
    links = "".join(f'<a href="http://www.{site}/">{site}</a>' for site in SITES)
    respond(tmp_path / "links.warc.gz", f"http://www.{SITES[0]}/links.html", f"<html>Links {links}".encode())
    return [tmp_path / "sites", tmp_path / "links.warc.gz"]


def packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "FEW_SITES", 1)
    monkeypatch.setattr(packing, "PACK_PAGES", (20, 20))


def made(path: Path, sources: list[Path]) -> RunDirectory:
    run = RunDirectory.create(path)
    ingest(run, sources, CONFIG.ingest)
    module.match(run, CONFIG)
    learn_run(run, CONFIG)
    align_run(run, CONFIG.bitext)
    rank(run, CONFIG)
    return run


def rows(run: RunDirectory) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The rows of each table and site."""
    return {
        name: {part.name: read_table(part, schema).to_pylist() for part in iter_parts(run.path / name)}
        for name, schema in TABLES.items()
    }


def digests(run: RunDirectory) -> dict[str, bytes]:
    files = (path for stage in ("ingest", "match") for path in (run.path / stage).rglob("*.parquet"))
    return {str(path.relative_to(run.path)): path.read_bytes() for path in files}


def test_packs_have_the_rows_of_files(tmp_path: Path, sources: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    alone = made(tmp_path / "alone", sources)
    packed(monkeypatch)
    run = made(tmp_path / "packed", sources)
    assert rows(run) == rows(alone)
    assert run.pairs_file.read_text() == alone.pairs_file.read_text()
    for name in ("patterns/patterns.tsv", "rank/sites.tsv", "patterns/pairs.tsv"):
        assert (run.path / name).read_text() == (alone.path / name).read_text()
    packs = {name: pack_of(named_part(run.path / "match" / "pairs", f"{name}.parquet")) for name in SITES}
    assert list(packs.values()) == ["+0000.parquet", "+0000.parquet", "", "+0001.parquet", "+0001.parquet"]
    for name in (*TABLES, "match/languages", "match/candidates", "patterns/patterns"):
        assert len(list((run.path / name).iterdir())) == 3


def test_packs_keep_their_sites_where_the_names_of_files_sort_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of town.com.au comes before that of town.com, and the first pack ends between them."""
    packed(monkeypatch)
    monkeypatch.setattr(packing, "PACK_SITES", 2)
    sites = ["able.org", "town.com", "town.com.au", "zoo.org"]
    for n, site in enumerate(sites):
        write_town(tmp_path / "sites" / f"www.{site}", 3, first=20 * n)
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "sites"], CONFIG.ingest)
    learn_run(run, CONFIG)
    identify_pages(run)
    linearise_pages(run)
    for table in ("ingest/pages", "patterns/patterns", "languages", "shapes/tokens"):
        assert [part.name for part in iter_parts(run.path / table)] == [
            "able.org.parquet", "town.com.au.parquet", "town.com.parquet", "zoo.org.parquet"
        ], table  # fmt: skip


def test_a_pack_is_not_begun_again(tmp_path: Path) -> None:
    rows = PAIRS.empty_table()
    with packing.part_writer() as writer:
        for pack, name in ((0, "a.parquet"), (1, "b.parquet")):
            writer.write([rows], PAIRS, tmp_path / packing.pack_name(pack) / name)
        with pytest.raises(RunError, match="not together"):
            writer.write([rows], PAIRS, tmp_path / packing.pack_name(0) / "c.parquet")


def test_a_review_answers_the_same(tmp_path: Path, sources: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    alone = made(tmp_path / "alone", sources)
    packed(monkeypatch)
    run = made(tmp_path / "packed", sources)
    first, second = Snapshot(alone), Snapshot(run)
    for pair in read_table(run.path / "match" / "pairs", PAIRS).to_pylist():
        a, b = pair["page_a"], pair["page_b"]
        assert first.page(a) == second.page(a)
        assert first.neighbours(b) == second.neighbours(b)
        assert first.rivals(a, b).equals(second.rivals(a, b))
        assert first.segments(pair["url_a"], pair["url_b"]) == second.segments(pair["url_a"], pair["url_b"])


def test_workers_write_the_same_packs(tmp_path: Path, sources: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    packed(monkeypatch)
    monkeypatch.setattr(module, "TASK_BYTES", 1)
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, sources, CONFIG.ingest)
    module.match(run, CONFIG)
    alone = digests(run)
    (run.path / "match" / "signature.json").unlink()
    (run.path / "match" / "sites.json").unlink()
    with worker_processes(2) as executor:
        module.match(run, CONFIG, executor=executor)
    assert digests(run) == alone


@pytest.mark.parametrize("lost", ["", "match/pairs/+0000.parquet", "match/weights/+0000.parquet"])
def test_only_changed_sites_are_matched_again(
    tmp_path: Path, sources: list[Path], monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    packed(monkeypatch)
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, sources, CONFIG.ingest)
    match_stage(run, CONFIG)
    more = tmp_path / "more.warc.gz"
    respond(more, f"http://www.{SITES[3]}/new.html", b"<html>A page that was not there before")
    matched = matched_from_now(monkeypatch)
    if lost:
        (run.path / lost).unlink()
    ingest(run, [*sources, more], CONFIG.ingest)
    match_stage(run, CONFIG)
    assert matched == [*(SITES[:2] if lost else []), SITES[3]]
    new = RunDirectory.create(tmp_path / "new")
    ingest(new, [*sources, more], CONFIG.ingest)
    match_stage(new, CONFIG)
    assert {name: rows(run)[name] for name in ("ingest/pages", "match/pairs")} == {
        name: rows(new)[name] for name in ("ingest/pages", "match/pairs")
    }
