"""The stage: page pairs of a run become segments, the same ones for any number of workers."""

from __future__ import annotations

import shutil
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lxml import etree
from msgspec.structs import replace

from tests.finished import matched_town
from tests.made_sites import BASE, TOWN_NOUNS, write_three_languages
from twinlink.align.formats.sentence_pairs import PairFile
from twinlink.align.prior_pairs import warm_knowledge
from twinlink.align.segment_files import export_rows
from twinlink.align.stage import align_run
from twinlink.align.workers import align_pages
from twinlink.config import Config
from twinlink.config.align import BitextSettings, SegmentFilterSettings
from twinlink.errors import InputError, MissingStageError
from twinlink.ingest.stage import ingest
from twinlink.match.stage import match
from twinlink.rundir.directory import RunDirectory
from twinlink.tables import PAGE_ALIGNMENTS, PAGES, SEGMENTS, iter_parts, read_table

CREATED = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def matched(tmp_path_factory) -> Path:
    return matched_town(tmp_path_factory.mktemp("align"), 20)


def bytes_of(run: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(run)): file.read_bytes() for file in sorted((run / "align").rglob("*")) if file.is_file()
    }


def test_segments_are_right_and_keep_their_places(matched):
    run = RunDirectory(matched)
    align_run(run, BitextSettings(formats=("tmx", "tsv", "moses", "jsonl")), created=CREATED)
    segments = read_table(matched / "align" / "segments", SEGMENTS).to_pylist()
    pages = read_table(matched / "ingest" / "pages", PAGES, ("url", "blocks"))
    blocks = dict(zip(pages["url"].to_pylist(), pages["blocks"].to_pylist(), strict=True))
    good = [row for row in segments if row["verdict"] == "segment"]
    assert len(good) > 25  # the sentences of 20 pages that differ in more than a year
    for row in segments:
        assert blocks[row["url_a"]][row["block_a"]][row["start_a"] : row["end_a"]] == row["source"]
        assert blocks[row["url_b"]][row["block_b"]][row["start_b"] : row["end_b"]] == row["target"]
    years = [
        [word for word in row[side].replace(".", " ").split() if word.isdigit()]
        for row in good
        for side in ("source", "target")
    ]
    assert years[::2] == years[1::2]
    supports = read_table(matched / "align" / "pages", PAGE_ALIGNMENTS)["support"].to_pylist()
    assert min(supports) > 0.9
    n_units = len(list(etree.parse(matched / "align" / "en-fr.tmx").iter("tu")))
    assert n_units == len(good) == len(list(export_rows(matched / "align" / "segments", ("en", "fr"))))
    assert {file.name for file in (matched / "align").iterdir()} == {
        "en-fr.tmx", "en-fr.tsv", "en-fr.en", "en-fr.fr", "en-fr.jsonl", "en-fr.lexicon.tsv", "segments", "pages",
        "signature.json", "exports.json",
    }  # fmt: skip
    lexicon = [line.split("\t")[:2] for line in (matched / "align" / "en-fr.lexicon.tsv").read_text().splitlines()[1:]]
    assert ["bridge", "pont"] in lexicon


def test_any_number_of_workers_gives_the_same(matched):
    run, settings = RunDirectory(matched), BitextSettings(compress="gzip")
    shutil.rmtree(matched / "align", ignore_errors=True)
    align_run(run, settings, created=CREATED)
    alone = bytes_of(matched)
    assert any(name.endswith(".tmx.gz") for name in alone)
    (matched / "align" / "signature.json").unlink()
    counts = []
    with ProcessPoolExecutor(2) as executor:
        align_run(run, settings, created=CREATED, executor=executor, on_pairs=lambda *done: counts.append(done))
    assert bytes_of(matched) == alone
    assert counts[-1] == (20 * 3, 20 * 3, "files of sentence pairs")
    rounds = ["what is known before", "en-fr: known words"]
    rounds += ["en-fr: round 1 of 2", "en-fr: round 2 of 2", "en-fr: sentence pairs"]
    rounds += ["en-fr: filters, 0 of 20", "en-fr: repeated sentences", "en-fr: tables", "en-fr: learned words"]
    rounds += ["files of sentence pairs"]
    assert list(dict.fromkeys(step for _, _, step in counts)) == rounds


def test_finished_stage_is_skipped(matched):
    run, settings = RunDirectory(matched), BitextSettings(compress="zstd")
    signature = align_run(run, settings, created=CREATED)
    before = {file: file.stat().st_mtime_ns for file in iter_parts(matched / "align")}
    assert align_run(run, settings) == signature
    assert {file: file.stat().st_mtime_ns for file in iter_parts(matched / "align")} == before


def test_other_formats_are_written_from_the_tables(matched):
    run = RunDirectory(matched)
    shutil.rmtree(matched / "align", ignore_errors=True)
    align_run(run, BitextSettings(formats=("tmx", "moses"), compress="gzip"), created=CREATED)
    tables = {file: file.stat().st_mtime_ns for file in (matched / "align").glob("*/*/*.parquet")}
    told = []
    align_run(run, BitextSettings(formats=("tsv",)), created=CREATED, on_pairs=lambda *done: told.append(done))
    assert not told  # nothing was aligned
    assert {file: file.stat().st_mtime_ns for file in (matched / "align").glob("*/*/*.parquet")} == tables
    names = {file.name for file in (matched / "align").iterdir() if file.is_file()}
    assert names == {"en-fr.tsv", "en-fr.lexicon.tsv", "exports.json", "signature.json"}
    lines = (matched / "align" / "en-fr.tsv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(list(export_rows(matched / "align" / "segments", ("en", "fr"))))
    assert "bridge\tpont" in (matched / "align" / "en-fr.lexicon.tsv").read_text(encoding="utf-8")


def test_a_deleted_file_is_written_again(matched):
    run, settings = RunDirectory(matched), BitextSettings(formats=("tmx", "moses"))
    align_run(run, settings, created=CREATED)
    before = bytes_of(matched)
    for name in ("en-fr.tmx", "en-fr.fr"):
        (matched / "align" / name).unlink()
        align_run(run, settings, created=CREATED)
        assert bytes_of(matched) == before


def test_files_can_be_cut_by_score_without_a_new_alignment(matched):
    run, told = RunDirectory(matched), []
    shutil.rmtree(matched / "align", ignore_errors=True)
    align_run(run, BitextSettings(formats=("tsv",)), created=CREATED)
    every = list(export_rows(matched / "align" / "segments", ("en", "fr")))
    scores = sorted(row.score for row in every)
    middle = scores[len(scores) // 2]
    assert scores[0] < middle
    settings = BitextSettings(formats=("tsv", "jsonl"), min_score=middle)
    align_run(run, settings, created=CREATED, on_pairs=lambda *done: told.append(done))
    assert not told
    for name, n_head in (("en-fr.tsv", 1), ("en-fr.jsonl", 0)):
        lines = (matched / "align" / name).read_text(encoding="utf-8").splitlines()
        assert len(lines) - n_head == sum(row.score >= middle for row in every)
    align_run(run, BitextSettings(formats=("tsv",)), created=CREATED)
    assert len((matched / "align" / "en-fr.tsv").read_text(encoding="utf-8").splitlines()) == 1 + len(every)


def test_a_stop_while_other_formats_are_written_is_made_good(matched, monkeypatch):
    run = RunDirectory(matched)
    align_run(run, BitextSettings(formats=("tmx",)), created=CREATED)
    with monkeypatch.context() as patched:
        patched.setattr("twinlink.align.segment_files.write_tsv", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            align_run(run, BitextSettings(formats=("tsv",)), created=CREATED)
    align_run(run, BitextSettings(formats=("tmx",)), created=CREATED)
    names = {file.name for file in (matched / "align").iterdir() if file.is_file()}
    assert names == {"en-fr.tmx", "en-fr.lexicon.tsv", "exports.json", "signature.json"}


def test_a_lexicon_counts(matched, tmp_path):
    lexicon = tmp_path / "lexicon.tsv"
    lexicon.write_text("".join(f"{b}\t{a}\n" for a, b in TOWN_NOUNS.items()), encoding="utf-8")
    align_run(RunDirectory(matched), BitextSettings(run_rounds=1), [lexicon], created=CREATED)
    rows = [line.split("\t")[:2] for line in (matched / "align" / "en-fr.lexicon.tsv").read_text().splitlines()]
    assert ["bridge", "pont"] in rows


def test_sentence_pairs_from_elsewhere_are_learned_first(matched, tmp_path):
    run, settings = RunDirectory(matched), BitextSettings(run_rounds=1)
    memory = tmp_path / "memory.tsv"
    memory.write_text("".join(f"The {a} is old.\tCe {b} est vieux.\n" for a, b in {"kiln": "four"}.items()) * 9)
    before = align_run(run, settings, created=CREATED)
    after = align_run(run, settings, warm=[PairFile(memory, ("en", "fr"))], created=CREATED)
    assert before != after
    rows = [line.split("\t")[:2] for line in (matched / "align" / "en-fr.lexicon.tsv").read_text().splitlines()]
    assert ["kiln", "four"] in rows
    align_run(run, settings, warm=[PairFile(memory, ("fr", "en"))], created=CREATED)
    rows = [line.split("\t")[:2] for line in (matched / "align" / "en-fr.lexicon.tsv").read_text().splitlines()]
    assert ["four", "kiln"] in rows
    with pytest.raises(InputError, match="no sentence pair in en-fr"):
        align_run(run, settings, warm=[PairFile(memory, ("en", "de"))])


@pytest.mark.parametrize(("name", "is_refused"), [("MEMORY.TMX", False), ("memory.tmx.tsv", True)])
def test_of_three_languages_only_a_tmx_need_not_name_its_own(tmp_path, name, is_refused):
    file = PairFile(tmp_path / name)
    sides = "".join(f'<tuv xml:lang="{lang}"><seg>{text}</seg></tuv>' for lang, text in (("en", "One."), ("fr", "Un.")))
    file.path.write_text(f"<tmx><body><tu>{sides}</tu></body></tmx>")
    languages = [("en", "fr"), ("en", "de")]
    if is_refused:
        with pytest.raises(InputError, match="its languages are not known"):
            warm_knowledge([file], languages, BitextSettings())
    else:
        found = warm_knowledge([file], languages, BitextSettings())
        assert found[languages[0]]
        assert found[languages[1]] is None


def test_anchors_read_the_pages_once_more(matched):
    run = RunDirectory(matched)
    align_run(run, BitextSettings(anchor_weight=1.0), created=CREATED)
    assert (matched / "shapes").is_dir()
    beads = read_table(matched / "align" / "segments", SEGMENTS, ("block_a", "block_b")).to_pylist()
    assert {(row["block_a"], row["block_b"]) for row in beads} == {(k, k) for k in range(5)}


def test_a_copy_below_the_minimum_chance_does_not_displace_a_better_one(matched, monkeypatch):
    def doubting_the_first(work, pairs):
        pages, forms = align_pages(work, pairs)
        pages = [replace(page, wrong=[(bytes([k]), 0.0) for k in range(20)]) for page in pages]
        pages[0] = replace(pages[0], segments=[one._replace(held_out=0.0) for one in pages[0].segments])
        return pages, forms

    monkeypatch.setattr("twinlink.align.stage.align_pages", doubting_the_first)
    settings = BitextSettings(filters=SegmentFilterSettings(min_chance=0.5))
    align_run(RunDirectory(matched), settings, created=CREATED)
    rows = read_table(matched / "align" / "segments", SEGMENTS).to_pylist()
    assert {row["verdict"] for row in rows if row["url_a"] == rows[0]["url_a"]} == {"unsure"}
    titles = Counter(row["verdict"] for row in rows if row["source"].startswith("News of"))
    assert titles == {"segment": 1, "unsure": 3, "digits": 16}  # one page of each of the three tasks is doubted


@pytest.mark.parametrize(("verdict", "counts"), [("segment", True), ("words", True), ("numbers", False)])
def test_wrong_segments_are_not_filtered_by_their_words(matched, monkeypatch, verdict, counts):
    """The model has not learned from them, so the filter would be stricter for them than for the others."""
    wrong = []

    def kept(work, pairs):
        pages, forms = align_pages(work, pairs)
        wrong.extend(score for page in pages for score in page.wrong)
        return pages, forms

    monkeypatch.setattr("twinlink.align.stage.align_pages", kept)
    monkeypatch.setattr("twinlink.align.workers.judge", lambda *_: verdict)
    shutil.rmtree(matched / "align", ignore_errors=True)
    align_run(RunDirectory(matched), BitextSettings(), created=CREATED)
    assert bool(wrong) == counts


def test_a_run_without_pairs_is_reported(tmp_path):
    with pytest.raises(MissingStageError):
        align_run(RunDirectory.create(tmp_path / "run"), BitextSettings())


def test_three_languages_are_aligned_two_by_two(tmp_path):
    write_three_languages(tmp_path / "site", 12)
    config = Config().override({"langs": ["en", "fr", "de"], "ingest.base_url": BASE})
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [tmp_path / "site"], config.ingest)
    match(run, config)
    counts = []
    align_run(run, BitextSettings(), created=CREATED, on_pairs=lambda *done: counts.append(done))
    found = {folder.name for folder in (run.path / "align" / "segments").iterdir()}
    assert found == {folder.name.removesuffix(".tmx") for folder in (run.path / "align").glob("*.tmx")}
    assert found == {"en-de", "fr-de", "en-fr"}
    assert counts[-1][0] == counts[-1][1]
    for name in found:
        segments = read_table(run.path / "align" / "segments" / name, SEGMENTS).to_pylist()
        assert {(row["lang_a"], row["lang_b"]) for row in segments} == {tuple(name.split("-"))}
        assert sum(row["verdict"] == "segment" for row in segments) > 15
