"""An ingest of sources that have changed: the same tables as if all were read for the first time, with less work."""

from __future__ import annotations

import gzip
import os
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.archives import HTML, respond, write_wacz
from tests.made_sites import BASE, write_pages
from tests.made_sites import page as saved_page
from twinlink.config import Config, IngestSettings
from twinlink.errors import DamagedError, InputError
from twinlink.ingest import growing_table, reuse, stage
from twinlink.ingest import page_spool as spool
from twinlink.ingest import table_parts as parts
from twinlink.ingest.captures import Capture
from twinlink.ingest.page_columns import ParsedBatch
from twinlink.ingest.stage import ingest
from twinlink.rundir import signature as signatures
from twinlink.rundir.directory import RunDirectory
from twinlink.sources import warc
from twinlink.spiders.warc_writer import payload_digest
from twinlink.system.workers import worker_processes
from twinlink.tables import LINKS, PAGES, REJECTS, iter_parts, packing, part_like, read_table
from twinlink.urls import SiteBy

SETTINGS = IngestSettings()
HOSTS = ("a.example", "b.example", "www.c.example")
NAMES = ("", "index.html", "1", "2", "3", "4?x=1&y=2", "4?y=2&x=1")
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
Tables = tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]


def tables(run: RunDirectory) -> Tables:
    """Return the rows of pages and links of each site, and the rejects."""
    folder = run.stage_folder("ingest")
    sites = sorted(iter_parts(folder / "pages"), key=lambda part: part.name)
    return (
        {part.name: read_table(part, PAGES).to_pylist() for part in sites},
        {part.name: read_table(part_like(folder / "links", part), LINKS).to_pylist() for part in sites},
        read_table(folder / "rejects.parquet", REJECTS).to_pylist(),
    )


def fresh(folder: Path, sources: list[Path], settings: IngestSettings = SETTINGS) -> Tables:
    run = RunDirectory.create(folder)
    ingest(run, sources, settings)
    return tables(run)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses of the pages that were parsed."""
    seen: list[str] = []
    parse = spool.parse_batch

    def counted(captures: Sequence[Capture], site_by: SiteBy) -> ParsedBatch:
        seen.extend(capture.url for capture in captures)
        return parse(captures, site_by)

    monkeypatch.setattr(spool, "parse_batch", counted)
    return seen


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the archives that were read."""
    seen: list[str] = []
    found = warc.Exchanges._found

    def counted(self: warc.Exchanges, archive: warc.Archive) -> Any:
        seen.append(archive.name)
        return found(self, archive)

    monkeypatch.setattr(warc.Exchanges, "_found", counted)
    return seen


def body(words: str, *hrefs: str, canonical: str = "") -> bytes:
    head = f'<link rel="canonical" href="{canonical}">' if canonical else ""
    return f"<html>{head}<p>{words}</p>{' '.join(f'<a href={href}>{href}</a>' for href in hrefs)}".encode()


def put(path: Path, url: str, day: int, content: bytes, status: str = "200 OK", **fields: str) -> None:
    headers = [*HTML, *([("Location", fields.pop("location"))] if "location" in fields else [])]
    kind = fields.pop("kind", "response")
    known = {"WARC_Date": f"2026-01-{day:02}T03:04:05Z", **fields}
    respond(path, url, content, status, headers, True, kind, **known)


def put_any(path: Path, rng: random.Random) -> None:
    """Add a random answer to an archive."""
    url, other = (f"http://{rng.choice(HOSTS)}/{rng.choice(NAMES)}" for _ in range(2))
    day = rng.randrange(1, 6)
    what = rng.random()
    canonical = other if rng.random() < 0.2 else ""
    content = body(
        f"text {rng.randrange(3)}", *(f"/{name}" for name in rng.sample(NAMES, 2)), other, canonical=canonical
    )
    digest = {"WARC_Payload_Digest": payload_digest(content)}
    if what < 0.6:
        put(path, url, day, content, **digest)
    elif what < 0.7:
        put(path, url, day, b"", "301 Moved", location=other)
    elif what < 0.8:
        put(path, url, day, b"", rng.choice(("404 Not Found", "503 Busy")))
    elif what < 0.85:
        put(path, url, day, b"<html>")
    else:
        refers = {"WARC_Refers_To_Target_URI": rng.choice((url, other)), "WARC_Refers_To_Date": "2026-01-02T03:04:05Z"}
        put(path, url, day, b"", kind="revisit", WARC_Profile=IDENTICAL, **digest, **refers)


@pytest.mark.parametrize("seed", [3, 4, 5, 7])  # together they have each value of each setting below
def test_a_grown_ingest_equals_a_fresh_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Archives come, go, grow and are written anew; their pages change, move, vanish and come back."""
    rng = random.Random(seed)
    monkeypatch.setattr(spool, "BATCH_PAGES", rng.choice((1, 3, 400)))
    monkeypatch.setattr(growing_table, "GROUP_ROWS", rng.choice((2, 7, 4096)))
    monkeypatch.setattr(spool, "LEAST_BYTES", 1)
    monkeypatch.setattr(parts, "HELD_BYTES", rng.choice((0, 3_000, 2**25)))
    monkeypatch.setattr(packing, "FEW_SITES", rng.choice((0, 50)))
    monkeypatch.setattr(packing, "PACK_PAGES", (4, 8))
    archives = tmp_path / "archives"
    archives.mkdir()
    put(archives / "stays.warc.gz", "http://a.example/stays", 1, body("stays", "/1", "http://b.example/"))
    run = RunDirectory.create(tmp_path / "run")
    for step in range(6):
        there = sorted(archives.glob("?.warc.gz"))
        change = rng.choice(("new", "more", "anew", "less")) if there else "new"
        path = archives / f"{step}.warc.gz" if change == "new" else rng.choice(there)
        if change in ("anew", "less"):
            path.unlink()
        if change != "less":
            for _ in range(12 if step < 2 else 2):
                put_any(path, rng)
        ingest(run, [archives], SETTINGS)
        check(tables(run), fresh(tmp_path / f"fresh {step}", [archives]), f"step {step}")


def check(found: Tables, expected: Tables, when: str = "") -> None:
    for rows, wanted in zip(found[:2], expected[:2], strict=True):
        assert list(rows) == list(wanted), when
        for site in rows:
            assert (beyond(rows[site], wanted[site]), beyond(wanted[site], rows[site])) == ([], []), (when, site)
    assert (beyond(found[2], expected[2]), beyond(expected[2], found[2])) == ([], []), when
    assert found == expected


def beyond(rows: list[dict[str, Any]], others: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows that the others do not have."""
    return [row for row in rows if row not in others]


def test_only_what_is_new_is_read_and_parsed(tmp_path: Path, parsed: list[str], read: list[str]) -> None:
    first, second = tmp_path / "1.warc.gz", tmp_path / "2.warc.gz"
    put(first, "http://a.example/", 1, body("a", "/gone"))
    put(first, "http://a.example/gone", 1, b"", "404 Not Found")
    put(first, "http://b.example/", 1, body("b"))
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [first], SETTINGS)
    before = run.path / "ingest" / "pages" / "b.example.parquet"
    inode = before.stat().st_ino
    put(second, "http://a.example/new", 1, body("new"))
    del parsed[:], read[:]
    ingest(run, [first, second], SETTINGS)
    assert (read, parsed) == (["2.warc.gz"], ["http://a.example/new"])
    assert before.stat().st_ino == inode
    check(tables(run), fresh(tmp_path / "fresh", [first, second]))


def test_links_of_a_site_that_has_not_changed_lead_to_new_pages_and_no_longer_to_old_ones(
    tmp_path: Path, parsed: list[str]
) -> None:
    names = ("page", "moved", "canonical")
    first, second, third = (tmp_path / f"{number}.warc.gz" for number in range(3))
    put(first, "http://a.example/", 1, body("a", *(f"http://b.example/{name}" for name in names)))
    put(second, "http://b.example/other", 1, body("b", canonical="http://b.example/canonical"))
    put(second, "http://b.example/moved", 1, b"", "301 Moved", location="/other")
    put(third, "http://b.example/page", 1, body("page"))
    run = RunDirectory.create(tmp_path / "run")
    for number, sources in enumerate(([first], [first, second, third], [first, third], [first, second])):
        del parsed[:]
        ingest(run, sources, SETTINGS)
        assert number == 0 or "http://a.example/" not in parsed
        check(tables(run), fresh(tmp_path / f"fresh {number}", sources))


def test_a_page_whose_rows_were_not_kept_is_read_again_when_it_counts(tmp_path: Path, parsed: list[str]) -> None:
    """An older capture, and another address of the same page."""
    first, second = tmp_path / "1.warc.gz", tmp_path / "2.warc.gz"
    put(first, "http://a.example/", 1, body("a"))
    put(first, "http://a.example/x", 1, body("x"))
    put(second, "http://a.example/index.html", 1, body("a"))
    put(second, "http://a.example/x", 2, body("x, later"))
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [second, first], SETTINGS)
    del parsed[:]
    ingest(run, [first], SETTINGS)
    assert sorted(parsed) == ["http://a.example/", "http://a.example/x"]
    check(tables(run), fresh(tmp_path / "fresh", [first]))


def test_saved_pages_are_read_and_only_those_that_changed_are_parsed(tmp_path: Path, parsed: list[str]) -> None:
    settings = IngestSettings(base_url=BASE)
    folder = write_pages(tmp_path / "site", {f"{n}.html": saved_page(f"page {n}", "0.html") for n in range(5)})
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [folder], settings)
    write_pages(folder, {"3.html": saved_page("another page", "1.html"), "9.html": saved_page("new")})
    (folder / "0.html").unlink()
    del parsed[:]
    ingest(run, [folder], settings)
    assert sorted(parsed) == [f"{BASE}/3.html", f"{BASE}/9.html"]
    check(tables(run), fresh(tmp_path / "fresh", [folder], settings))


@pytest.mark.parametrize("change", ["settings", "version", "notes", "table", "damage", "damaged notes"])
def test_an_ingest_that_was_another_or_is_damaged_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parsed: list[str], change: str
) -> None:
    first, second = tmp_path / "1.warc.gz", tmp_path / "2.warc.gz"
    put(first, "http://a.example/", 1, body("a"))
    put(first, "http://b.example/", 1, body("b"))
    put(second, "http://b.example/new", 1, body("new"))
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [first], SETTINGS)
    folder, settings = run.path / "ingest", SETTINGS
    if change == "settings":
        settings = IngestSettings(max_page_bytes=10_000)
    elif change == "version":
        monkeypatch.setattr(signatures, "__version__", "0.0.1")
    elif change == "notes":
        shutil.rmtree(folder / "notes")
    elif change == "table":
        (folder / "pages" / "a.example.parquet").unlink()
    else:
        file = folder / ("pages/b.example.parquet" if change == "damage" else "notes/archives.parquet")
        data = bytearray(file.read_bytes())
        data[4:40] = bytes(36)
        file.write_bytes(data)
    del parsed[:]
    ingest(run, [first, second], settings)
    assert set(parsed) == {"http://a.example/", "http://b.example/", "http://b.example/new"}
    monkeypatch.undo()
    check(tables(run), fresh(tmp_path / "fresh", [first, second], settings))


@pytest.mark.parametrize("kind", ["damaged", "one member"])
def test_an_archive_whose_records_cannot_be_read_one_by_one_is_read_again(
    tmp_path: Path, read: list[str], kind: str
) -> None:
    first, second = tmp_path / "1.warc.gz", tmp_path / "2.warc.gz"
    for name in "abc":
        put(first, f"http://a.example/{name}", 1, body(name))
    data = first.read_bytes()
    first.write_bytes(data[:-30] if kind == "damaged" else gzip.compress(gzip.decompress(data)))
    put(second, "http://a.example/a", 2, b"", "404 Not Found")
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [first], SETTINGS)
    del read[:]
    ingest(run, [first, second], SETTINGS)
    assert read == ["1.warc.gz", "2.warc.gz"]
    check(tables(run), fresh(tmp_path / "fresh", [first, second]))


def test_an_archive_that_is_cut_meanwhile_ends_with_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "1.warc.gz", tmp_path / "2.warc.gz"
    put(second, "http://a.example/", 2, body("later"))
    put(first, "http://a.example/", 1, body("a"))
    put(first, "http://a.example/b", 1, body("b"))
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [second, first], SETTINGS)
    status = first.stat()
    first.write_bytes(first.read_bytes()[::-1])
    os.utime(first, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(InputError, match="changed while it was read"):
        ingest(run, [first], SETTINGS)


def test_without_hard_links_files_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(reuse.os, "link", refuse)
    first, second = tmp_path / "1.warc.gz", tmp_path / "2.warc.gz"
    put(first, "http://a.example/", 1, body("a", "http://b.example/"))
    put(second, "http://b.example/", 1, body("b"))
    third = tmp_path / "3.warc.gz"
    put(third, "http://c.example/", 1, body("c"))
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [first, second], SETTINGS)
    ingest(run, [first, second, third], SETTINGS)
    check(tables(run), fresh(tmp_path / "fresh", [first, second, third]))


def test_a_round_that_is_known_later_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parsed: list[str]) -> None:
    first = tmp_path / "1.warc.gz"
    for site in "ab":
        put(first, f"http://{site}.example/", 1, body(site))
    run = RunDirectory.create(tmp_path / "run")
    for rounds in ({}, {"a.example": 2}, {"a.example": 2, "b.example": 3}, {"b.example": 1}):
        del parsed[:]
        monkeypatch.setattr(stage, "site_rounds", lambda _, rounds=rounds: rounds)
        ingest(run, [first], SETTINGS)
        pages, _, _ = tables(run)
        assert {rows[0]["site"]: rows[0]["round"] for rows in pages.values()} == {
            "a.example": 0, "b.example": 0, **rounds
        }  # fmt: skip
        assert parsed == ([] if rounds else ["http://a.example/", "http://b.example/"])


@pytest.mark.parametrize("n", [1, 2])
def test_a_large_site_grows_in_little_memory_with_any_number_of_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n: int
) -> None:
    """Its earlier rows are merged with the new ones some rows at a time."""
    monkeypatch.setattr(spool, "BATCH_PAGES", 5)
    monkeypatch.setattr(spool, "LEAST_BYTES", 1_000)
    first, second, third = (tmp_path / f"{number}.warc.gz" for number in range(3))
    for number in range(60):
        put(first, f"http://a.example/{number}", 1, body(f"page {number}", f"/{number * 7 % 70}"))
    for number in range(50, 70):
        put(second, f"http://a.example/{number}", 2, body(f"new {number}", f"/{number * 3 % 60}"))
    put(third, "http://a.example/59", 3, b"", "410 Gone")
    memory = Config().override({"run.memory": 1_000_000})
    run = RunDirectory.create(tmp_path / "run")
    for sources in ([first], [first, second], [first, second, third], [first]):
        with worker_processes(n) as executor:
            ingest(run, sources, SETTINGS, config=memory, executor=executor)
        check(tables(run), fresh(tmp_path / f"fresh {len(sources)}", sources))
        shutil.rmtree(tmp_path / f"fresh {len(sources)}")


def test_the_archives_of_a_run_that_was_moved_are_not_read_again(tmp_path: Path, read: list[str]) -> None:
    run = RunDirectory.create(tmp_path / "run")
    (run.path / "warc").mkdir()
    put(run.path / "warc" / "1.warc.gz", "http://a.example/", 1, body("a"))
    ingest(run, [], SETTINGS)
    moved = RunDirectory(run.path.rename(tmp_path / "moved"))
    put(moved.path / "warc" / "2.warc.gz", "http://a.example/2", 1, body("b"))
    del read[:]
    ingest(moved, [], SETTINGS)
    assert read == ["2.warc.gz"]
    assert [row["url"] for row in tables(moved)[0]["a.example.parquet"]] == ["http://a.example/", "http://a.example/2"]


def test_pages_in_packages_are_read_but_not_parsed_again(tmp_path: Path, read: list[str], parsed: list[str]) -> None:
    inner = tmp_path / "data.warc.gz"
    put(inner, "http://a.example/", 1, body("a"))
    package = write_wacz(tmp_path / "x.wacz", [inner])
    second = tmp_path / "2.warc.gz"
    put(second, "http://b.example/", 1, body("b"))
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [package], SETTINGS)
    del read[:], parsed[:]
    ingest(run, [package, second], SETTINGS)
    assert (read, parsed) == (["x.wacz/archive/data.warc.gz", "2.warc.gz"], ["http://b.example/"])
    check(tables(run), fresh(tmp_path / "fresh", [package, second]))


def test_hidden_damage_in_the_files_of_an_unchanged_site_is_not_linked_on(tmp_path: Path) -> None:
    one, two = tmp_path / "1.warc.gz", tmp_path / "2.warc.gz"
    put(one, "http://a.example/1", 1, body("first " * 500))
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [one], SETTINGS)
    put(two, "http://b.example/1", 1, body("second"))
    (part,) = iter_parts(run.stage_folder("ingest") / "pages")
    chunk = next(
        column
        for column in map(pq.ParquetFile(part).metadata.row_group(0).column, range(len(PAGES)))
        if column.path_in_schema.startswith("blocks")
    )
    content = bytearray(part.read_bytes())
    content[chunk.data_page_offset + chunk.total_compressed_size - 3] ^= 255
    part.write_bytes(content)
    with pytest.raises(DamagedError):
        read_table(part, PAGES)
    ingest(run, [one, two], SETTINGS)
    check(tables(run), fresh(tmp_path / "fresh", [one, two]))


@pytest.mark.parametrize("n_workers", [1, 2])
@pytest.mark.parametrize(("batch", "large"), [(1, 10**9), (400, 10**9), (400, 10)])
def test_a_page_and_the_redirect_of_a_file_at_its_address_are_counted_in_any_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int, large: int, n_workers: int
) -> None:
    monkeypatch.setattr(spool, "BATCH_PAGES", batch)
    monkeypatch.setattr(spool, "LARGE_PAGE", large)
    one, two, mirror = tmp_path / "1.warc.gz", tmp_path / "2.warc.gz", tmp_path / "mirror"
    put(one, "http://a.example/sub/", 1, body("archived"))
    put(two, "http://b.example/", 1, body("other"))
    (mirror / "sub").mkdir(parents=True)
    (mirror / "sub" / "index.html").write_bytes(body("saved"))
    settings = IngestSettings(base_url="http://a.example/")
    run = RunDirectory.create(tmp_path / "run")
    with worker_processes(n_workers) as executor:
        ingest(run, [one, mirror], settings, executor=executor)
        ingest(run, [one, mirror, two], settings, executor=executor)
    assert tables(run)[2] == []  # the redirect stands for no answer of the server
    check(tables(run), fresh(tmp_path / "fresh", [two, mirror, one], settings))
