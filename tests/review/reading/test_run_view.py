"""A run as the review sees it: every answer on the toy site, and a run that changes or goes away meanwhile."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.archives import respond
from tests.made_sites import BASE, LANGS
from twinlink.align.stage import align_run
from twinlink.config import Config
from twinlink.errors import RunError, TwinlinkError
from twinlink.ingest.stage import ingest
from twinlink.ingest.twin_addresses import twin_addresses
from twinlink.match.stage import match
from twinlink.pages.parser import parse_page
from twinlink.pages.tags import TAG_CODES
from twinlink.review.reading.columns import RowFile
from twinlink.review.reading.pages import PageIndex
from twinlink.review.reading.run_view import RunView
from twinlink.review.reading.snapshot import Snapshot
from twinlink.review.records import Compared, Resource
from twinlink.run import Run
from twinlink.rundir.directory import RunDirectory
from twinlink.similarity.filter_checks import MEANINGS
from twinlink.tables import CANDIDATES, CHECKS, GROUP_ROWS, LINKS, PAIRS, read_table, write_table
from twinlink.toy import toy_site
from twinlink.urls import page_id

CONFIG = Config().override({"langs": list(LANGS), "match.method": "liu2014", "match.min_score": 0.0})
PAGES = toy_site().pages
A, X = toy_site().pairs[0]
BIG5 = f"{BASE}/big5.html"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy site from an archive, matched and aligned, with a page in Big5 and a visit that brought nothing new."""
    folder = tmp_path_factory.mktemp("reviewing")
    for url, html in PAGES.items():
        respond(folder / "toy.warc.gz", url, html.encode())
    body = "<title>香港</title><p>嘅嘢咁多".encode("big5hkscs")
    respond(folder / "toy.warc.gz", BIG5, body, headers=[("Content-Type", "text/html; charset=big5")])
    run = RunDirectory.create(folder / "run")
    run.config_file.write_text(CONFIG.to_toml())
    ingest(run, [folder / "toy.warc.gz"], CONFIG.ingest)
    match(run, CONFIG)
    align_run(run, CONFIG.bitext, [])
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of the run, to be changed."""
    shutil.copytree(made / "run", tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture(scope="module")
def tables(made: Path) -> Snapshot:
    return tables_of(made / "run")


def tables_of(folder: Path) -> Snapshot:
    return RunView(folder).read(lambda tables: tables)


def test_name(made: Path) -> None:
    assert RunView(made / "run").name == "run"


def test_pairs_are_those_of_the_run_and_one_object(made: Path) -> None:
    run = RunView(made / "run")
    assert list(run.pairs.columns) == PAIRS.names
    assert run.pairs["url_a"].tolist() == Run(made / "run").pairs["url_a"].tolist()
    assert run.pairs is run.pairs


def test_a_page_is_what_the_parser_made_of_it(tables: Snapshot) -> None:
    parsed = parse_page(PAGES[A].encode(), A)
    page = tables.page(page_id(A))
    assert page is not None
    assert (page.url, page.title, page.blocks, page.lang) == (A, parsed.title, parsed.blocks, "en")
    assert bytes(TAG_CODES[name] for name in page.tags) == parsed.tags
    assert tables.page(12345) is None
    assert tables.page(2**70) is None


def test_a_document_is_the_page_as_it_was_sent(tables: Snapshot) -> None:
    for url, html in PAGES.items():
        document = tables.document(page_id(url))
        assert document is not None
        assert (document.url, document.text) == (url, html)
    big5 = tables.document(page_id(BIG5))
    assert big5 is not None
    assert big5.text == "<title>香港</title><p>嘅嘢咁多"
    assert tables.document(12345) is None


def test_a_document_of_an_archive_that_is_gone(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "run", tmp_path / "run")
    sources = tmp_path / "run" / "ingest" / "sources.txt"
    sources.write_text(f"{tmp_path}/moved.warc.gz\n")
    tables = tables_of(tmp_path / "run")
    assert tables.document(page_id(A)) is None
    assert tables.page(page_id(A)) is not None


def test_a_document_of_an_archive_that_has_another_page_there_now(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "run", tmp_path / "run")
    for url in PAGES:
        respond(tmp_path / "toy.warc.gz", url, b"<p>something else")
    (tmp_path / "run" / "ingest" / "sources.txt").write_text(f"{tmp_path}/toy.warc.gz\n")
    assert tables_of(tmp_path / "run").document(page_id(A)) is None


def test_a_page_whose_visit_brought_no_body(tmp_path: Path) -> None:
    """The second address has a revisit record: its body is that of the first address."""
    first, second = "https://a.example/1", "https://a.example/2"
    digest = "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    respond(tmp_path / "a.warc.gz", first, b"<p>one text", WARC_Payload_Digest=digest)
    respond(
        tmp_path / "a.warc.gz",
        second,
        b"",
        kind="revisit",
        WARC_Refers_To_Target_URI=first,
        WARC_Payload_Digest=digest,
    )
    run = RunDirectory.create(tmp_path / "run")
    run.config_file.write_text(CONFIG.to_toml())
    ingest(run, [tmp_path / "a.warc.gz"], CONFIG.ingest)
    document = tables_of(run.path).document(page_id(second))
    assert document is not None
    assert (document.url, document.text) == (second, "<p>one text")


def test_addresses_lead_to_pages(tables: Snapshot) -> None:
    assert tables.page_of(A) == page_id(A)
    assert tables.page_of(A.replace("https://", "HTTP://www.") + "#top") == page_id(A)
    assert tables.page_of("https://nowhere.example/") is None
    assert tables.page_of("no address") is None


def test_twins_of_an_address() -> None:
    twins = list(twin_addresses("https://www.a.example/x/index.html?q=1"))
    assert "http://a.example/x/?q=1" in twins
    assert "https://www.a.example/x/index.html?q=1" not in twins
    assert len(set(twins)) == len(twins)


def test_find_in_addresses_and_titles(tables: Snapshot) -> None:
    every = {page.url for page in tables.find("", limit=100)}
    assert every == {*PAGES, BIG5}
    name = A.rpartition("/")[2].upper()
    assert A in {page.url for page in tables.find(name)}
    assert {page.url for page in tables.find("香港")} == {BIG5}
    assert tables.find("nothing has this in it") == []
    assert len(tables.find("", limit=3)) == 3
    assert {page.lang for page in tables.find("", lang="en", limit=100)} == {"en"}
    assert tables.find("", lang="xx") == []
    assert tables.find("")[0].blocks == ()


def test_find_does_not_look_across_two_texts(tmp_path: Path) -> None:
    respond(tmp_path / "a.warc.gz", "https://a.example/1", b"<title>ab</title><p>x")
    respond(tmp_path / "a.warc.gz", "https://a.example/2", b"<title>cd abc</title><p>y")
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "a.warc.gz"], CONFIG.ingest)
    index = PageIndex(run.path / "ingest" / "pages", run.path / "none")
    assert index.find("bc", "", 9) == [1]
    assert index.find("abcd", "", 9) == []
    assert index.find("a", "", 9) == [0, 1]


def test_partners(tables: Snapshot) -> None:
    assert tables.partners(page_id(A)) == (page_id(X),)
    assert tables.partners(page_id(X)) == (page_id(A),)
    assert tables.partners(12345) == ()


def test_rivals_are_the_candidates_that_share_a_page(tables: Snapshot, made: Path) -> None:
    a, x = page_id(A), page_id(X)
    found = tables.rivals(a, x)
    candidates = Run(made / "run").candidates
    sharing = candidates[(candidates["page_a"] == a) | (candidates["page_b"] == x)]
    assert list(found.columns) == [*CANDIDATES.names, "url_a", "url_b", "title_a", "title_b", "pair"]
    assert sorted(found["score"], reverse=True) == found["score"].tolist()
    assert set(zip(found["page_a"], found["page_b"], strict=True)) == set(
        zip(sharing["page_a"], sharing["page_b"], strict=True)
    )
    assert found.loc[found["pair"], ["url_a", "url_b"]].to_numpy().tolist() == [[A, X]]


def test_the_pair_itself_is_always_among_its_rivals(tables: Snapshot) -> None:
    worst = tables.rivals(page_id(A), page_id(X), limit=100).iloc[-1]
    found = tables.rivals(int(worst["page_a"]), int(worst["page_b"]), limit=2)
    assert len(found) == 2
    assert (int(worst["page_a"]), int(worst["page_b"])) in set(zip(found["page_a"], found["page_b"], strict=True))
    assert tables.rivals(1, 2).empty


def test_checks_are_those_of_the_pair_in_either_order(folder: Path) -> None:
    """The table has the size of one pair, which passed, and the structure of another one, which was too far."""
    a, x = page_id(A), page_id(X)
    assert list(tables_of(folder).checks(a, x)) == []
    rows = [
        {"page_a": a, "page_b": x, "check": "size", "value": 0.1, "relation": "<=", "bound": 0.3, "passed": True},
        {"page_a": a, "page_b": 5, "check": "structure", "relation": "<=", "bound": 9.0, "passed": False},
    ]
    (candidates,) = (folder / "match" / "candidates").iterdir()
    write_table(pa.Table.from_pylist(rows, schema=CHECKS), CHECKS, folder / "match" / "checks" / candidates.name)
    tables = tables_of(folder)
    assert tables.checks(a, x) == [Compared("size", 0.1, "<=", 0.3, "passed", MEANINGS["size"])]
    assert tables.checks(x, a) == tables.checks(a, x)
    assert tables.checks(a, 5) == [Compared("structure", None, "<=", 9.0, "failed", MEANINGS["structure"])]
    assert tables.checks(1, 2) == []


def test_weights_are_those_of_site_and_languages(tables: Snapshot) -> None:
    pair = tables.pairs.iloc[0]
    weights = tables.weights(pair["site"], pair["lang_a"], pair["lang_b"])
    assert sum(weights.values()) == pytest.approx(1)
    assert list(weights.values()) == sorted(weights.values(), reverse=True)
    assert tables.weights("none.example", "en", "zh") == {}


@pytest.mark.parametrize("url", PAGES)
def test_neighbours_are_the_links_in_both_directions(tables: Snapshot, made: Path, url: str) -> None:
    """Numbers of pages are signed: half of those of these pages are below zero."""
    links = Run(made / "run").links.dropna(subset=["target"])
    number = page_id(url)
    forth = set(links.loc[links["source"] == number, "target"]) - {number}
    back = set(links.loc[links["target"] == number, "source"]) - {number}
    found = tables.neighbours(number)
    assert {each.page_id for each in found if each.outgoing} == forth
    assert {each.page_id for each in found if not each.outgoing} == back
    assert tables.count_neighbours(number) == len(forth | back)
    for each in found:
        ends = (number, each.page_id) if each.outgoing else (each.page_id, number)
        assert each.anchor in set(links.loc[(links["source"] == ends[0]) & (links["target"] == ends[1]), "anchor"])
        assert each.partners == tables.partners(each.page_id)
    some = {each.page_id for each in found[:1]}
    assert {each.page_id for each in tables.neighbours(number, without=some)} == (forth | back) - some
    assert tables.count_neighbours(number, some) == len((forth | back) - some)


def test_neighbours_as_far_as_they_fit(tables: Snapshot) -> None:
    busy = tables.neighbours(page_id(f"{BASE}/en/c.html"))
    assert {each.outgoing for each in busy} == {True, False}
    assert len(busy) > 2
    assert {each.outgoing for each in tables.neighbours(page_id(f"{BASE}/en/c.html"), limit=2)} == {True, False}
    assert len(tables.neighbours(page_id(f"{BASE}/en/c.html"), limit=2)) == 2
    assert tables.neighbours(12345) == []
    assert tables.count_neighbours(12345) == 0


def test_segments_are_the_beads_of_the_pair(tables: Snapshot, made: Path) -> None:
    every = Run(made / "run").segments
    for url_a, url_b in toy_site().pairs:
        wanted = every[(every["url_a"] == url_a) & (every["url_b"] == url_b)]
        found = tables.segments(url_a, url_b)
        assert [each.source for each in found] == wanted["source"].tolist()
        assert [each.end_b for each in found] == wanted["end_b"].tolist()
    assert len(tables.segments(A, X)) > 0
    assert tables.segments(A, toy_site().pairs[1][1]) == []
    assert tables.segments("https://nowhere.example/", X) == []


def test_nothing_done_yet(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").touch()
    tables = tables_of(tmp_path)
    assert tables.pairs.empty
    assert list(tables.pairs.columns) == PAIRS.names
    assert tables.page(1) is None
    assert tables.document(1) is None
    assert tables.find("a") == []
    assert tables.neighbours(1) == []
    assert tables.rivals(1, 2).empty
    assert tables.segments("a", "b") == []
    assert tables.page_of(A) is None


def test_before_match_and_align(folder: Path) -> None:
    shutil.rmtree(folder / "match")
    shutil.rmtree(folder / "align")
    tables = tables_of(folder)
    assert tables.pairs.empty
    page = tables.page(page_id(A))
    assert page is not None
    assert page.lang == "und"
    assert tables.partners(page_id(A)) == ()
    assert tables.neighbours(page_id(A))


def test_a_new_match_is_noticed(folder: Path) -> None:
    run = RunView(folder)
    before = run.pairs
    match(RunDirectory(folder), CONFIG.override({"match.max_pairs": 2}))
    assert len(before) == 5
    assert len(run.pairs) == 2
    assert run.read(lambda tables: tables.partners(page_id(run.pairs["url_a"][0]))) == (page_id(run.pairs["url_b"][0]),)


def test_a_stage_that_goes_away_is_noticed(folder: Path) -> None:
    run = RunView(folder)
    assert len(run.pairs) == 5
    (folder / "match").rename(folder / ".match.earlier")
    assert run.pairs.empty


def test_a_table_that_goes_away_while_it_is_read(folder: Path) -> None:
    run = RunView(folder)
    assert run.read(lambda tables: tables.neighbours(page_id(A)))
    for file in (folder / "ingest" / "pages").iterdir():
        file.unlink()
    assert run.read(lambda tables: tables.page(page_id(A))) is None


def test_it_works_while_another_process_has_the_lock(folder: Path) -> None:
    with RunDirectory(folder).lock():
        run = RunView(folder)
        assert len(run.pairs) == 5
        assert run.read(lambda tables: tables.document(page_id(A))) is not None


def test_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run directory"):
        RunView(tmp_path)


def test_resources_come_from_the_archives(tmp_path: Path) -> None:
    respond(tmp_path / "a.warc.gz", "https://a.example/", b"<p>x")
    respond(tmp_path / "a.warc.gz", "https://a.example/a.css", b"p {}", headers=[("Content-Type", "text/css")])
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "a.warc.gz"], CONFIG.ingest)
    tables = tables_of(run.path)
    assert tables.resource("https://a.example/a.css") == Resource(b"p {}", "text/css")
    assert tables.resource("https://a.example/b.css") is None


def test_hold_is_for_a_while_and_leaves_a_pause_alone(folder: Path) -> None:
    view, run = RunView(folder), RunDirectory(folder)
    view.hold(wanted=True)
    assert run.paused
    os.utime(run.pause_file, (0, 0))  # nobody has looked for long
    assert not run.paused
    view.pause(wanted=True)
    view.hold(wanted=False)
    assert run.paused
    view.pause(wanted=False)
    assert not run.paused


@pytest.mark.parametrize("name", ["match/pairs", "ingest/pages"])
def test_a_damaged_table_is_reported_as_what_it_is(folder: Path, name: str) -> None:
    for file in (folder / name).iterdir():
        content = file.read_bytes()
        file.write_bytes(content[:4] + bytes(len(content) - 2000) + content[-1996:])  # the footer is whole
    run = RunView(folder)
    with pytest.raises(TwinlinkError, match=str(folder)):
        run.read(lambda tables: tables.page(int(tables.pairs["page_a"][0])))


def test_pause(folder: Path) -> None:
    run = RunView(folder)
    run.pause(wanted=True)
    assert RunDirectory(folder).paused
    run.pause(wanted=True)
    run.pause(wanted=False)
    run.pause(wanted=False)
    assert not RunDirectory(folder).paused


def test_files_of_much_text_have_small_groups(tmp_path: Path) -> None:
    texts = dict.fromkeys(("target_url", "target_site", "anchor", "rel", "hreflang"), ["x"] * 20_000)
    links = pa.table({"source": [1] * 20_000, "target": pa.array([2] * 20_000, pa.int64()), **texts})
    write_table(links, LINKS, tmp_path / "links.parquet")
    metadata = pq.read_metadata(tmp_path / "links.parquet")
    sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    assert max(sizes) == GROUP_ROWS["links"]
    assert sum(sizes) == 20_000
    assert read_table(tmp_path / "links.parquet", LINKS).num_rows == 20_000


def test_rows_of_a_file_with_many_groups(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    table = pa.table({"n": np.arange(1000), "text": [f"t{n % 7}" for n in range(1000)]})
    pq.write_table(table, path, row_group_size=64)
    file = RowFile(path)
    wanted = [999, 0, 63, 64, 500, 0]
    assert file.take(wanted, ("n",))["n"].to_pylist() == wanted
    assert file.take([], ("n", "text")).num_rows == 0
    texts = file.columns("text").to_pandas()["text"].astype(str)
    assert pd.Series(texts).tolist() == table["text"].to_pylist()
