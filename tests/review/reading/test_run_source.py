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
from twinlink.pages.parser import TAG_CODES, parse_page
from twinlink.review.reading.columns import RowFile
from twinlink.review.reading.pages import PageIndex
from twinlink.review.reading.run_source import RunSource
from twinlink.review.source import Resource, Source
from twinlink.run import Run
from twinlink.rundir.directory import RunDirectory
from twinlink.tables import CANDIDATES, GROUP_ROWS, LINKS, PAIRS, read_table, write_table
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
def source(made: Path) -> RunSource:
    return RunSource(made / "run")


def test_it_is_a_source(source: RunSource) -> None:
    as_source: Source = source
    assert as_source.name == "run"


def test_pairs_are_those_of_the_run_and_one_object(source: RunSource, made: Path) -> None:
    assert list(source.pairs.columns) == PAIRS.names
    assert source.pairs["url_a"].tolist() == Run(made / "run").pairs["url_a"].tolist()
    assert source.pairs is source.pairs


def test_a_page_is_what_the_parser_made_of_it(source: RunSource) -> None:
    parsed = parse_page(PAGES[A].encode(), A)
    page = source.page(page_id(A))
    assert page is not None
    assert (page.url, page.title, page.blocks, page.lang) == (A, parsed.title, parsed.blocks, "en")
    assert bytes(TAG_CODES[name] for name in page.tags) == parsed.tags
    assert source.page(12345) is None
    assert source.page(2**70) is None


def test_a_document_is_the_page_as_it_was_sent(source: RunSource) -> None:
    for url, html in PAGES.items():
        document = source.document(page_id(url))
        assert document is not None
        assert (document.url, document.text) == (url, html)
    big5 = source.document(page_id(BIG5))
    assert big5 is not None
    assert big5.text == "<title>香港</title><p>嘅嘢咁多"
    assert source.document(12345) is None


def test_a_document_of_an_archive_that_is_gone(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "run", tmp_path / "run")
    sources = tmp_path / "run" / "ingest" / "sources.txt"
    sources.write_text(f"{tmp_path}/moved.warc.gz\n")
    source = RunSource(tmp_path / "run")
    assert source.document(page_id(A)) is None
    assert source.page(page_id(A)) is not None


def test_a_document_of_an_archive_that_has_another_page_there_now(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "run", tmp_path / "run")
    for url in PAGES:
        respond(tmp_path / "toy.warc.gz", url, b"<p>something else")
    (tmp_path / "run" / "ingest" / "sources.txt").write_text(f"{tmp_path}/toy.warc.gz\n")
    assert RunSource(tmp_path / "run").document(page_id(A)) is None


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
    document = RunSource(run.path).document(page_id(second))
    assert document is not None
    assert (document.url, document.text) == (second, "<p>one text")


def test_addresses_lead_to_pages(source: RunSource) -> None:
    assert source.page_of(A) == page_id(A)
    assert source.page_of(A.replace("https://", "HTTP://www.") + "#top") == page_id(A)
    assert source.page_of("https://nowhere.example/") is None
    assert source.page_of("no address") is None


def test_twins_of_an_address() -> None:
    twins = list(twin_addresses("https://www.a.example/x/index.html?q=1"))
    assert "http://a.example/x/?q=1" in twins
    assert "https://www.a.example/x/index.html?q=1" not in twins
    assert len(set(twins)) == len(twins)


def test_find_in_addresses_and_titles(source: RunSource) -> None:
    every = {page.url for page in source.find("", limit=100)}
    assert every == {*PAGES, BIG5}
    name = A.rpartition("/")[2].upper()
    assert A in {page.url for page in source.find(name)}
    assert {page.url for page in source.find("香港")} == {BIG5}
    assert source.find("nothing has this in it") == []
    assert len(source.find("", limit=3)) == 3
    assert {page.lang for page in source.find("", lang="en", limit=100)} == {"en"}
    assert source.find("", lang="xx") == []
    assert source.find("")[0].blocks == ()


def test_find_does_not_look_across_two_texts(tmp_path: Path) -> None:
    respond(tmp_path / "a.warc.gz", "https://a.example/1", b"<title>ab</title><p>x")
    respond(tmp_path / "a.warc.gz", "https://a.example/2", b"<title>cd abc</title><p>y")
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "a.warc.gz"], CONFIG.ingest)
    index = PageIndex(run.path / "ingest" / "pages", run.path / "none")
    assert index.find("bc", "", 9) == [1]
    assert index.find("abcd", "", 9) == []
    assert index.find("a", "", 9) == [0, 1]


def test_partners(source: RunSource) -> None:
    assert source.partners(page_id(A)) == (page_id(X),)
    assert source.partners(page_id(X)) == (page_id(A),)
    assert source.partners(12345) == ()


def test_rivals_are_the_candidates_that_share_a_page(source: RunSource, made: Path) -> None:
    a, x = page_id(A), page_id(X)
    found = source.rivals(a, x)
    candidates = Run(made / "run").candidates
    sharing = candidates[(candidates["page_a"] == a) | (candidates["page_b"] == x)]
    assert list(found.columns) == [*CANDIDATES.names, "url_a", "url_b", "title_a", "title_b", "pair"]
    assert sorted(found["score"], reverse=True) == found["score"].tolist()
    assert set(zip(found["page_a"], found["page_b"], strict=True)) == set(
        zip(sharing["page_a"], sharing["page_b"], strict=True)
    )
    assert found.loc[found["pair"], ["url_a", "url_b"]].to_numpy().tolist() == [[A, X]]


def test_the_pair_itself_is_always_among_its_rivals(source: RunSource) -> None:
    worst = source.rivals(page_id(A), page_id(X), limit=100).iloc[-1]
    found = source.rivals(int(worst["page_a"]), int(worst["page_b"]), limit=2)
    assert len(found) == 2
    assert (int(worst["page_a"]), int(worst["page_b"])) in set(zip(found["page_a"], found["page_b"], strict=True))
    assert source.rivals(1, 2).empty


def test_weights_are_those_of_site_and_languages(source: RunSource) -> None:
    pair = source.pairs.iloc[0]
    weights = source.weights(pair["site"], pair["lang_a"], pair["lang_b"])
    assert sum(weights.values()) == pytest.approx(1)
    assert list(weights.values()) == sorted(weights.values(), reverse=True)
    assert source.weights("none.example", "en", "zh") == {}


@pytest.mark.parametrize("url", PAGES)
def test_neighbours_are_the_links_in_both_directions(source: RunSource, made: Path, url: str) -> None:
    """Numbers of pages are signed: half of those of these pages are below zero."""
    links = Run(made / "run").links.dropna(subset=["target"])
    number = page_id(url)
    forth = set(links.loc[links["source"] == number, "target"]) - {number}
    back = set(links.loc[links["target"] == number, "source"]) - {number}
    found = source.neighbours(number)
    assert {each.page_id for each in found if each.outgoing} == forth
    assert {each.page_id for each in found if not each.outgoing} == back
    assert source.count_neighbours(number) == len(forth | back)
    for each in found:
        ends = (number, each.page_id) if each.outgoing else (each.page_id, number)
        assert each.anchor in set(links.loc[(links["source"] == ends[0]) & (links["target"] == ends[1]), "anchor"])
        assert each.partners == source.partners(each.page_id)
    some = {each.page_id for each in found[:1]}
    assert {each.page_id for each in source.neighbours(number, without=some)} == (forth | back) - some
    assert source.count_neighbours(number, some) == len((forth | back) - some)


def test_neighbours_as_far_as_they_fit(source: RunSource) -> None:
    busy = source.neighbours(page_id(f"{BASE}/en/c.html"))
    assert {each.outgoing for each in busy} == {True, False}
    assert len(busy) > 2
    assert {each.outgoing for each in source.neighbours(page_id(f"{BASE}/en/c.html"), limit=2)} == {True, False}
    assert len(source.neighbours(page_id(f"{BASE}/en/c.html"), limit=2)) == 2
    assert source.neighbours(12345) == []
    assert source.count_neighbours(12345) == 0


def test_segments_are_the_beads_of_the_pair(source: RunSource, made: Path) -> None:
    every = Run(made / "run").segments
    for url_a, url_b in toy_site().pairs:
        wanted = every[(every["url_a"] == url_a) & (every["url_b"] == url_b)]
        found = source.segments(url_a, url_b)
        assert [each.source for each in found] == wanted["source"].tolist()
        assert [each.end_b for each in found] == wanted["end_b"].tolist()
    assert len(source.segments(A, X)) > 0
    assert source.segments(A, toy_site().pairs[1][1]) == []
    assert source.segments("https://nowhere.example/", X) == []


def test_nothing_done_yet(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").touch()
    source = RunSource(tmp_path)
    assert source.pairs.empty
    assert list(source.pairs.columns) == PAIRS.names
    assert source.page(1) is None
    assert source.document(1) is None
    assert source.find("a") == []
    assert source.neighbours(1) == []
    assert source.rivals(1, 2).empty
    assert source.segments("a", "b") == []
    assert source.page_of(A) is None


def test_before_match_and_align(folder: Path) -> None:
    shutil.rmtree(folder / "match")
    shutil.rmtree(folder / "align")
    source = RunSource(folder)
    assert source.pairs.empty
    page = source.page(page_id(A))
    assert page is not None
    assert page.lang == "und"
    assert source.partners(page_id(A)) == ()
    assert source.neighbours(page_id(A))


def test_a_new_match_is_noticed(folder: Path) -> None:
    source = RunSource(folder)
    before = source.pairs
    match(RunDirectory(folder), CONFIG.override({"match.max_pairs": 2}))
    assert len(before) == 5
    assert len(source.pairs) == 2
    assert source.partners(page_id(source.pairs["url_a"][0])) == (page_id(source.pairs["url_b"][0]),)


def test_a_stage_that_goes_away_is_noticed(folder: Path) -> None:
    source = RunSource(folder)
    assert len(source.pairs) == 5
    (folder / "match").rename(folder / ".match.earlier")
    assert source.pairs.empty


def test_a_table_that_goes_away_while_it_is_read(folder: Path) -> None:
    source = RunSource(folder)
    assert source.neighbours(page_id(A))
    for file in (folder / "ingest" / "pages").iterdir():
        file.unlink()
    assert source.page(page_id(A)) is None


def test_it_works_while_another_process_has_the_lock(folder: Path) -> None:
    with RunDirectory(folder).lock():
        source = RunSource(folder)
        assert len(source.pairs) == 5
        assert source.document(page_id(A)) is not None


def test_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run directory"):
        RunSource(tmp_path)


def test_resources_come_from_the_reader_that_is_given(folder: Path) -> None:
    assert RunSource(folder).resource("https://a.example/a.css") is None
    there = {"https://a.example/a.css": Resource(b"p {}", "text/css")}
    source = RunSource(folder, lambda run: there.get)
    assert source.resource("https://a.example/a.css") == Resource(b"p {}", "text/css")
    assert source.resource("https://a.example/b.css") is None


def test_hold_is_for_a_while_and_leaves_a_pause_alone(folder: Path) -> None:
    source, run = RunSource(folder), RunDirectory(folder)
    source.hold(wanted=True)
    assert run.paused
    os.utime(run.pause_file, (0, 0))  # nobody has looked for long
    assert not run.paused
    source.pause(wanted=True)
    source.hold(wanted=False)
    assert run.paused
    source.pause(wanted=False)
    assert not run.paused


@pytest.mark.parametrize("name", ["match/pairs", "ingest/pages"])
def test_a_damaged_table_is_told_as_what_it_is(folder: Path, name: str) -> None:
    for file in (folder / name).iterdir():
        content = file.read_bytes()
        file.write_bytes(content[:4] + bytes(len(content) - 2000) + content[-1996:])  # the footer is whole
    source = RunSource(folder)
    with pytest.raises(TwinlinkError, match=str(folder)):
        source.page(int(source.pairs["page_a"][0]))


def test_pause(folder: Path) -> None:
    source = RunSource(folder)
    source.pause(wanted=True)
    assert RunDirectory(folder).paused
    source.pause(wanted=True)
    source.pause(wanted=False)
    source.pause(wanted=False)
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
