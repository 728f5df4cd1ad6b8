"""Stage ingest: the same tables from any source, and nothing dropped in silence."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from tests.archives import write_toy_archive
from tests.made_sites import BASE, page, write_pages, write_toy
from twinlink.config import Config, IngestSettings
from twinlink.errors import InputError, MissingStageError, NothingFoundError
from twinlink.ingest import page_spool as spool
from twinlink.ingest import stage as module
from twinlink.ingest import table_parts as parts
from twinlink.ingest.file_states import states_of
from twinlink.ingest.stage import ingest, source_marks, source_paths
from twinlink.match.stage import match
from twinlink.pages import libxml2, libxml2_callbacks
from twinlink.rundir.directory import RunDirectory
from twinlink.sources.documents import Document
from twinlink.system.workers import worker_processes
from twinlink.tables import LINKS, PAGES, REJECTS, Reject, read_table
from twinlink.urls import page_id

SETTINGS = IngestSettings(base_url=BASE)


@pytest.fixture
def run(tmp_path):
    return RunDirectory.create(tmp_path / "run")


def tables(run):
    folder = run.stage_folder("ingest")
    return (
        read_table(folder / "pages", PAGES).to_pylist(),
        read_table(folder / "links", LINKS).to_pylist(),
        read_table(folder / "rejects.parquet", REJECTS).to_pylist(),
    )


def document(url, body, **changes):
    fields = {
        "url": url, "status": 200, "content_type": "text/html", "content_language": "", "location": "",
        "body": body.encode(), "fetched": datetime(2026, 1, 2, tzinfo=UTC), "source": "x.warc", "offset": 7,
    }  # fmt: skip
    return Document(**{**fields, **changes})


def read_from(monkeypatch, *items):
    monkeypatch.setattr(module, "read_source", lambda *_: iter(items))


def test_a_mirror_becomes_pages_and_links(run, tmp_path):
    ingest(run, [write_toy(tmp_path / "toy")], SETTINGS)
    pages, links, rejects = tables(run)
    assert [row["url"] for row in pages] == [f"{BASE}/{side}/{name}.html" for side in ("en", "zh") for name in "abcde"]
    assert pages[0]["title"] == "Library hours"
    assert pages[0]["blocks"][0] == "Library hours"
    assert {row["site"] for row in pages} == {"toy.example"}
    ids = {row["page_id"]: row["url"] for row in pages}
    ends = {(ids[row["source"]][-9:], ids[row["target"]][-9:]) for row in links}
    assert ends == {(f"{s}/{a}.html", f"{s}/{b}.html") for s in ("en", "zh") for a, b in ("ac", "bc", "cd", "ce")}
    assert rejects == []


def test_links_in_the_headers_of_a_page_are_links_of_it(run, tmp_path, monkeypatch):
    header = "</fr>; rel=alternate; hreflang=fr, </x>; rel=canonical"
    read_from(monkeypatch, document(f"{BASE}/en", "<p>text", link=header), document(f"{BASE}/fr", "<p>texte"))
    ingest(run, [tmp_path], SETTINGS)
    pages, links, _ = tables(run)
    assert [row["canonical_url"] for row in pages] == [f"{BASE}/x", None]
    assert [(row["target_url"], row["hreflang"]) for row in links] == [(f"{BASE}/fr", "fr"), (f"{BASE}/x", "")]


def test_ids_keep_all_their_digits_where_some_targets_are_not_kept(run, tmp_path):
    folder = write_pages(tmp_path / "site", {"a.html": page("text", "b.html", "gone.html"), "b.html": page("more")})
    ingest(run, [folder], SETTINGS)
    _, links, _ = tables(run)
    assert [(row["target_url"], row["target"]) for row in links] == [
        (f"{BASE}/b.html", page_id(f"{BASE}/b.html")),
        (f"{BASE}/gone.html", None),
    ]


def test_a_redirect_is_followed_and_counted(run, monkeypatch):
    read_from(
        monkeypatch,
        document(f"{BASE}/a", page("text", "/old", "/circle")),
        document(f"{BASE}/old", "", status=301, location="/older"),
        document(f"{BASE}/older", "", status=302, location=f"{BASE}/b"),
        document(f"{BASE}/b", page("more")),
        document(f"{BASE}/circle", "", status=301, location="/circle"),
    )
    ingest(run, [run.path], SETTINGS)
    _, links, rejects = tables(run)
    assert [row["target"] for row in links] == [page_id(f"{BASE}/b"), None]
    assert [row["reason"] for row in rejects] == ["redirect"] * 3


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ([document(f"{BASE}/a", page("same")), document(f"{BASE}/a", page("same"))], "duplicate-url"),
        ([document(f"{BASE}/", page("same")), document(f"{BASE}/index.html", page("same"))], "duplicate-page"),
        ([document(f"{BASE}/a", page("x")), document("ftp://toy.example/", page("x"))], "bad-url"),
        ([document(f"{BASE}/a", page("x")), document(f"{BASE}/b", "")], "empty-page"),
        ([document(f"{BASE}/a", page("x")), document(f"{BASE}/b", "x" * 3000)], "too-large"),
        ([document(f"{BASE}/a", page("x")), Reject("file", "ingest", "damaged-record")], "damaged-record"),
    ],
)
def test_what_is_dropped_has_a_reason(run, monkeypatch, items, reason):
    read_from(monkeypatch, *items)
    ingest(run, [run.path], IngestSettings(max_page_bytes=2000))
    pages, _, rejects = tables(run)
    assert len(pages) == 1
    assert [row["reason"] for row in rejects] == [reason]


def test_the_order_of_documents_and_the_size_of_parts_change_nothing(tmp_path, monkeypatch):
    items = [document(f"{BASE}/{n}", page(f"page {n}", f"/{(n * 7) % 20}", f"/{(n * 3) % 20}")) for n in range(20)]
    results = []
    for name, order, size, held in (
        ("whole", items, 2000, 2**26),
        ("in memory", items[::-1], 3, 2**26),
        ("on disk", items[::-1], 3, 0),
        ("both", items[::-1], 3, 50_000),
        ("merged in stages", items[::-1], 3, 0),
    ):
        monkeypatch.setattr(parts, "MAX_PARTS", 4 if name == "merged in stages" else 200)
        run = RunDirectory.create(tmp_path / name)
        monkeypatch.setattr(spool, "BATCH_PAGES", size)
        monkeypatch.setattr(parts, "HELD_BYTES", held)
        read_from(monkeypatch, *order)
        ingest(run, [tmp_path], SETTINGS)
        results.append(tables(run))
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("n", [2, 4])
def test_any_number_of_workers_gives_the_same(tmp_path, monkeypatch, n):
    """Pages that come again, change, move and vanish, with large and empty ones between them."""
    day = [datetime(2026, 1, k + 1, tzinfo=UTC) for k in range(4)]
    items = []
    for k in range(60):
        url = f"{BASE}/{k % 20}"
        if k % 7 == 3:
            items.append(document(url, "", fetched=day[k % 4]))
        elif k % 7 == 5:
            items.append(document(url, "", status=301, location=f"{BASE}/{(k + 1) % 20}", fetched=day[k % 4]))
        else:
            items.append(document(url, page(f"page {k} " + "x" * 900 * (k % 2), f"/{k % 9}"), fetched=day[k % 4]))
    monkeypatch.setattr(spool, "BATCH_PAGES", 4)
    monkeypatch.setattr(spool, "LARGE_PAGE", 1_000)
    read_from(monkeypatch, *items)
    alone = RunDirectory.create(tmp_path / "alone")
    ingest(alone, [tmp_path], SETTINGS)
    shared = RunDirectory.create(tmp_path / "shared")
    with worker_processes(n) as executor:
        ingest(shared, [tmp_path], SETTINGS, executor=executor)
    assert tables(alone) == tables(shared)
    assert len(tables(alone)[0]) > 5


@pytest.mark.parametrize(("n", "batch", "n_calls"), [(2, 4, 1), (2, 100, 0), (1, 4, 0)])
def test_something_else_is_done_while_workers_parse(tmp_path, monkeypatch, n, batch, n_calls):
    monkeypatch.setattr(spool, "BATCH_PAGES", batch)
    read_from(monkeypatch, *(document(f"{BASE}/{k}", page(f"page {k}")) for k in range(10)))
    run, calls = RunDirectory.create(tmp_path / "run"), []
    with worker_processes(n) as executor:
        ingest(run, [tmp_path], SETTINGS, executor=executor, meanwhile=lambda: calls.append(None))
    assert len(calls) == n_calls
    assert len(tables(run)[0]) == 10


def test_large_pages_are_parsed_elsewhere_with_the_same_result(tmp_path, monkeypatch):
    items = [document(f"{BASE}/{n}", page(f"Page {n} " + "words " * 30, f"/{n + 1}")) for n in range(5)]
    read_from(monkeypatch, *items)
    whole = RunDirectory.create(tmp_path / "here")
    ingest(whole, [tmp_path], SETTINGS)
    monkeypatch.setattr(spool, "LARGE_PAGE", 10)
    monkeypatch.setattr(spool, "parse_batch", lambda *_, **__: pytest.fail("parsed here"))
    apart = RunDirectory.create(tmp_path / "apart")
    ingest(apart, [tmp_path], SETTINGS)
    assert tables(whole) == tables(apart)


def test_others_are_read_while_a_large_page_is_parsed(run, tmp_path, monkeypatch):
    others_are_read, ask = threading.Event(), spool.ReaderProcess.ask

    def items():
        for k in range(6):
            yield document(f"{BASE}/{k}", page(f"page {k} " + "x" * 2_000 * (k == 1)))
        others_are_read.set()

    def asked(reader, job):
        assert others_are_read.wait(30)
        return ask(reader, job)

    monkeypatch.setattr(spool, "LARGE_PAGE", 1_000)
    monkeypatch.setattr(spool.ReaderProcess, "ask", asked)
    monkeypatch.setattr(module, "read_source", lambda *_: items())
    ingest(run, [tmp_path], SETTINGS)
    assert [row["url"] for row in tables(run)[0]] == [f"{BASE}/{k}" for k in range(6)]


def test_a_page_that_takes_too_long_is_counted_and_the_others_are_kept(run, tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "LARGE_PAGE", 2**20)
    heavy = "<title>x</title>" + "<p>" * 1_500_000
    items = [document(f"{BASE}/{n}", heavy if n == 1 else page(f"Page {n}")) for n in range(3)]
    read_from(monkeypatch, *items)
    ingest(run, [tmp_path], msgspec.structs.replace(SETTINGS, parse_seconds=0.05))
    pages, _, rejects = tables(run)
    assert [row["url"] for row in pages] == [f"{BASE}/0", f"{BASE}/2"]
    assert [(row["url"], row["reason"]) for row in rejects] == [(f"{BASE}/1", "parse-timeout")]


def test_few_large_pages_are_held_at_once(run, tmp_path, monkeypatch):
    held = []
    monkeypatch.setattr(spool, "BATCH_BYTES", 30_000)
    submit = spool.Spool._submit
    monkeypatch.setattr(spool.Spool, "_submit", lambda self, *rest: held.append(self._n_bytes) or submit(self, *rest))
    read_from(monkeypatch, *(document(f"{BASE}/{n}", f"<p>page {n} " + "x" * 10_000) for n in range(9)))
    ingest(run, [tmp_path], SETTINGS)
    assert len(tables(run)[0]) == 9
    assert len(held) == 4
    assert max(held) < 41_000


@pytest.mark.parametrize("n", [1, 2])
def test_what_is_held_is_planned_by_the_memory(tmp_path, monkeypatch, caplog, n):
    """With little of it, tasks are smaller and rows go to disk; the tables are the same."""
    caplog.set_level("INFO", "twinlink.memory")
    items = [document(f"{BASE}/{k % 50}", page(f"page {k} " + "word " * 900, f"/{k % 7}")) for k in range(70)]
    n_tasks, n_written, results = [], [], []
    submit, write = spool.Spool._submit, parts.Parts._write
    monkeypatch.setattr(spool.Spool, "_submit", lambda self, *rest: n_tasks.append(1) or submit(self, *rest))
    monkeypatch.setattr(parts.Parts, "_write", lambda self: n_written.append(1) or write(self))
    monkeypatch.setattr(spool, "LEAST_BYTES", 40_000)
    read_from(monkeypatch, *items)
    for memory in ("1MB", "900GB"):
        n_tasks.clear()
        n_written.clear()
        run = RunDirectory.create(tmp_path / memory)
        with worker_processes(n) as executor:
            config = Config().override({"run.memory": memory})
            ingest(run, [tmp_path], SETTINGS, config=config, executor=executor)
        results.append((tables(run), len(n_tasks), len(n_written)))
    (small, tasks, written), (large, few_tasks, no_written) = results
    assert small == large
    assert tasks > 5
    assert written > 3
    assert (few_tasks, no_written) == (2, 0)  # a page that comes again begins another task
    assert "ingest, memory 1 MB: tasks of 40 kB of pages" in caplog.text
    assert "ingest, memory 900 GB: tasks of 4.19 MB of pages" in caplog.text


def test_sites_are_kept_apart(run, monkeypatch):
    read_from(
        monkeypatch,
        document("https://en.a.example.com/", page("one", "https://b.example.org/")),
        document("https://b.example.org/", page("two")),
    )
    ingest(run, [run.path], SETTINGS)
    folder = run.stage_folder("ingest")
    assert sorted(path.name for path in (folder / "pages").iterdir()) == ["example.com.parquet", "example.org.parquet"]
    _, links, _ = tables(run)
    assert (links[0]["target"], links[0]["target_site"]) == (page_id("https://b.example.org/"), "example.org")


def test_a_second_call_does_nothing_until_the_input_changes(run, tmp_path, monkeypatch):
    folder = write_toy(tmp_path / "toy")
    first = ingest(run, [folder], SETTINGS)
    calls = []
    real = module.read_source
    monkeypatch.setattr(module, "read_source", lambda *args: calls.append(args) or real(*args))
    assert ingest(run, [folder], SETTINGS) == first
    assert not calls
    write_pages(folder, {"new.html": page("one more")})
    assert ingest(run, [folder], SETTINGS) != first
    assert calls


def test_a_run_inside_the_folder_that_is_read_is_no_input(tmp_path):
    folder = write_toy(tmp_path / "toy")
    run = RunDirectory.create(folder / "run")
    first = ingest(run, [folder], SETTINGS)
    (run.path / "pairs.tsv").touch()
    assert ingest(run, [folder], SETTINGS) == first


def test_nothing_in_a_run_is_read_where_it_lies_in_the_folder_that_is_read(tmp_path):
    folder = write_toy(tmp_path / "toy")
    run = RunDirectory.create(folder / "run")
    ingest(run, [folder], SETTINGS)
    n_pages = len(tables(run)[0])
    write_pages(run.path, {"report.html": page("the report of the run")})
    (run.path / "export").mkdir()
    write_toy_archive(run.path / "export" / "pages.warc.gz")
    write_pages(folder, {"new.html": page("one more")})
    ingest(run, [folder], SETTINGS)
    assert len(tables(run)[0]) == n_pages + 1
    assert {row["reason"] for row in tables(run)[2]} == set()
    for again in (RunDirectory.create(run.replacement), run):
        ingest(again, [folder], SETTINGS)
        assert len(tables(again)[0]) == n_pages + 1


def test_pairs_of_earlier_pages_stay_but_do_not_count(run, tmp_path):
    folder = write_toy(tmp_path / "toy")
    ingest(run, [folder], SETTINGS)
    config = Config().override({"match.method": "liu2014", "match.min_score": 0.0})
    match(run, config)
    listed = run.pairs_file.read_text()
    for _ in range(2):  # what is done already changes nothing
        ingest(run, [folder], SETTINGS)
        assert run.read_signature("match") is not None
    write_pages(folder, {"new.html": page("one more")})
    ingest(run, [folder], SETTINGS)
    assert run.read_signature("match") is None
    with pytest.raises(MissingStageError, match="read again since the last match; run `twinlink match"):
        run.stage_folder("match")
    assert run.pairs_file.read_text() == listed
    (folder / "new.html").unlink()
    ingest(run, [folder], SETTINGS)
    assert run.read_signature("match") is not None, "the pages are those of before"


def test_no_page_does_not_take_the_place_of_pages(run, tmp_path):
    folder = write_toy(tmp_path / "toy")
    first = ingest(run, [folder], SETTINGS)
    with pytest.raises(NothingFoundError, match=r"0 pages \(rejected: none\). The run keeps its 10 pages"):
        ingest(run, [folder], msgspec.structs.replace(SETTINGS, url_prefixes=("https://nowhere.example/",)))
    assert run.read_signature("ingest") == first.stored()
    assert len(tables(run)[0]) == 10


def test_every_damage_of_an_archive_is_counted(run, monkeypatch):
    damages = [Reject("x.warc", "ingest", "damaged-record", f"at {n}") for n in range(2)]
    read_from(monkeypatch, document(f"{BASE}/a", page("x")), *damages)
    ingest(run, [run.path], SETTINGS)
    assert len(tables(run)[2]) == 2


def test_a_path_that_is_not_there_is_refused_and_leaves_no_result(run, tmp_path):
    with pytest.raises(InputError, match="no such file or folder"):
        ingest(run, [tmp_path / "none"], SETTINGS)
    assert run.read_signature("ingest") is None


def test_a_file_of_another_kind_is_refused(run, tmp_path):
    (tmp_path / "x.zip").touch()
    with pytest.raises(InputError, match=r"\.warc"):
        ingest(run, [tmp_path / "x.zip"], SETTINGS)


def test_every_column_has_a_value(run, monkeypatch):
    read_from(monkeypatch, document(f"{BASE}/a", page("text")))
    ingest(run, [run.path], SETTINGS)
    (row,) = tables(run)[0]
    assert row["fetched"] == datetime(2026, 1, 2, tzinfo=UTC)
    assert (row["source"], row["offset"], row["charset"], row["bytes"]) == ("x.warc", 7, "utf-8", len(page("text")))
    assert pa.types.is_binary(PAGES.field("tags").type)
    assert len(row["digest"]) == 32


@pytest.mark.parametrize("name", [b"m\xff", "m\u2028\x0c".encode()])
def test_what_it_was_read_from_may_have_any_name(run, tmp_path, name):
    folder = write_toy(tmp_path / "toy").rename(tmp_path / os.fsdecode(name))
    ingest(run, [folder], SETTINGS)
    assert source_paths(run) == [folder]
    assert set(source_marks(run)) == {folder}


def test_the_name_of_an_archive_need_not_be_utf_8(run, tmp_path):
    archive = write_toy_archive(tmp_path / os.fsdecode(b"m\xff.warc.gz"))
    ingest(run, [archive], SETTINGS)
    assert source_paths(run) == [archive]
    assert {row["source"] for row in tables(run)[0]} == {"m\ufffd.warc.gz"}


@pytest.mark.parametrize(
    ("sizes", "is_compiled", "loads"),
    [
        ([400_000, 500_000], True, False),
        ([400_000, 700_000], True, True),
        ([400_000, 700_000], False, False),
        ([3_000_000, 2_000_000], False, True),
        ([], True, False),
    ],
)
def test_the_compiled_parser_is_loaded_for_much_and_sooner_where_it_is_compiled(
    sizes: list[int], is_compiled: bool, loads: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = list[str]()
    monkeypatch.setattr(libxml2, "compiled_parser", lambda: calls.append("loaded"))
    monkeypatch.setattr(libxml2_callbacks, "are_compiled", lambda: is_compiled)
    files = [tmp_path / f"{number}.html" for number in range(len(sizes))]
    for file, size in zip(files, sizes, strict=True):
        with file.open("wb") as written:
            written.truncate(size)
    module._load_parser(states_of(files))
    assert calls == ["loaded"] * loads


def test_python_parses_where_the_parser_would_have_to_be_compiled_for_little(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(b" " * 2_000_000)
    program = (
        "import sys; from pathlib import Path\n"
        "from twinlink.ingest import stage; from twinlink.pages.parser import loaded_parser\n"
        "stage._load_parser(stage.states_of([Path(sys.argv[1])])); print(loaded_parser(), 'numba' in sys.modules)"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    call = [sys.executable, "-c", program, str(file)]
    assert subprocess.run(call, env=env, capture_output=True, text=True, check=True).stdout == "None False\n"
