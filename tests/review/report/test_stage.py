"""The report of a run: its numbers are those of the tables, and it is written when there is something new to say."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import lxml.html
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.baselines.test_methods import write_site
from tests.made_sites import BASE, write_toy
from twinlink.config import Config
from twinlink.errors import DamagedError, GoldError, InputError, MissingStageError, RunError
from twinlink.jobs.mine import mine_stages
from twinlink.jobs.stages import align_stage, ingest_stage
from twinlink.labels.book import Label, LabelBook
from twinlink.patterns.stage import learn_run
from twinlink.review.report import stage
from twinlink.review.report.data import ReportData
from twinlink.review.report.reading import (
    candidate_sums,
    count_look_alikes,
    count_pages,
    count_rejects,
    read_example_titles,
    read_titles,
    site_graphs,
)
from twinlink.review.report.stage import refresh_report, report_data, write_report
from twinlink.review.report.trust import CUTS
from twinlink.run import Run
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.rounds import Rounds
from twinlink.tables import (
    CANDIDATES,
    EVIDENCE_FIELDS,
    LOOK_ALIKES,
    PAIRS,
    ROUNDS,
    SEGMENT,
    SEGMENTS,
    read_table,
    write_table,
)

CONFIG = Config().override({"langs": ["en", "zh"], "ingest.base_url": BASE, "match.min_score": 0.0})


def mined(folder: Path, **overrides: object) -> RunDirectory:
    """Mine the toy site of ten pages, of which all five pairs are reported."""
    run = RunDirectory.create(folder / "run")
    config = CONFIG.override({f"match.{name}": value for name, value in overrides.items()})
    mine_stages([str(write_toy(folder / "toy"))], run, config)
    return run


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    return mined(tmp_path_factory.mktemp("toy"))


@pytest.fixture
def run(toy: RunDirectory, tmp_path: Path) -> RunDirectory:
    """A copy that may be changed."""
    shutil.copytree(toy.path, tmp_path / "run")
    return RunDirectory(tmp_path / "run")


def words(path: Path, section: str = "") -> str:
    root: Any = lxml.html.document_fromstring(path.read_bytes())
    found = root.xpath(f"//section[@id='{section}']" if section else "//body")
    return " ".join(" ".join(each.text_content().split()) for each in found).replace("\xa0", " ")


def test_mining_ends_with_a_report(toy: RunDirectory) -> None:
    said = words(toy.report_file, "found")
    expected = Run(toy.path).pairs["probability"].mean()
    assert "read 10 pages of 1 site and found 5 pairs of pages" in said
    assert f"{100 * expected:.1f} % of them expected" in said
    assert "100 % of them in a pair" in said
    assert "Library hours" in words(toy.report_file, "pairs")
    assert not list(toy.path.glob("*.tmp"))


def test_it_is_not_written_again_without_need(run: RunDirectory) -> None:
    run.report_file.write_bytes(run.report_file.read_bytes() + b"<!-- mark -->")
    assert refresh_report(run) == run.report_file
    assert run.report_file.read_bytes().endswith(b"<!-- mark -->")


def test_mining_again_what_is_done_does_not_write_it_again(tmp_path: Path) -> None:
    run = mined(tmp_path)
    run.report_file.write_bytes(run.report_file.read_bytes() + b"<!-- mark -->")
    mine_stages([str(tmp_path / "toy")], run, CONFIG)
    assert run.report_file.read_bytes().endswith(b"<!-- mark -->")
    mine_stages([str(tmp_path / "toy")], run, CONFIG.override({"match.min_score": 0.1}))
    assert not run.report_file.read_bytes().endswith(b"<!-- mark -->")


def test_labels_rounds_and_settings_are_something_new(run: RunDirectory) -> None:
    mark = b"<!-- mark -->"

    def is_written_again() -> bool:
        written = not refresh_report(run).read_bytes().endswith(mark)
        run.report_file.write_bytes(run.report_file.read_bytes() + mark)
        return written

    is_written_again()  # sets the mark
    assert not is_written_again()
    pair = Run(run.path).pairs.iloc[0]
    LabelBook(run.path).add(Label(pair["url_a"], pair["url_b"], "accept", "ann", datetime.now(UTC)))
    assert is_written_again()
    run.config_file.write_text("# another\n")
    assert is_written_again()
    (run.path / "crawl.json").write_text('{"end": "complete", "pages": 10}')
    assert is_written_again()
    assert not is_written_again()


def test_a_label_that_comes_while_the_report_is_made_is_in_the_next_one(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = Run(run.path).pairs.iloc[0]

    def read_and_label(run: RunDirectory, gold: Path | None = None) -> ReportData:
        found = report_data(run, gold)
        LabelBook(run.path).add(Label(pair["url_a"], pair["url_b"], "accept", "ann", datetime.now(UTC)))
        return found

    with monkeypatch.context() as patched:
        patched.setattr(stage, "report_data", read_and_label)
        before = write_report(run).read_bytes()
    assert refresh_report(run).read_bytes() != before


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe" * 9000, b"<html>"])
def test_a_report_that_is_damaged_or_gone_is_written(run: RunDirectory, content: bytes | None) -> None:
    if content is None:
        run.report_file.unlink()
    else:
        run.report_file.write_bytes(content)
    assert "5 pairs" in words(refresh_report(run))


def test_a_cleared_run_has_no_report(run: RunDirectory) -> None:
    run.clear()
    assert not run.report_file.exists()
    with pytest.raises(MissingStageError, match="ingest"):
        write_report(run)


def test_pages_that_are_read_anew_have_no_pairs_in_the_report(tmp_path: Path) -> None:
    run = mined(tmp_path)
    (tmp_path / "toy" / "new.html").write_text("<p>one more")
    ingest_stage([tmp_path / "toy"], run, CONFIG)
    assert "found 5 pairs" in words(run.report_file), "it is that of the last match"
    assert "have not been matched yet" in words(write_report(run))


def test_it_goes_where_it_is_wanted(toy: RunDirectory, tmp_path: Path) -> None:
    before = toy.report_file.read_bytes()
    assert write_report(toy, tmp_path / "other.html") == tmp_path / "other.html"
    assert toy.report_file.read_bytes() == before
    with pytest.raises(InputError, match="cannot be written"):
        write_report(toy, tmp_path / "no" / "such" / "folder.html")


def test_two_commands_may_write_it_at_the_same_time(
    toy: RunDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, replace = tmp_path / "report.html", Path.replace

    def replace_late(path: Path, wanted: Path) -> Path:
        monkeypatch.setattr(Path, "replace", replace)
        write_report(toy, target)
        return path.replace(wanted)

    monkeypatch.setattr(Path, "replace", replace_late)
    assert write_report(toy, target).read_text().endswith("</html>")
    assert list(tmp_path.iterdir()) == [target]


def test_links_in_a_circle_are_no_place_for_it(toy: RunDirectory, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="loop: cannot be written"):
        write_report(toy, tmp_path / "loop")
    with pytest.raises(InputError, match="this is the list of known pairs"):
        write_report(toy, tmp_path / "loop", tmp_path / "loop")


def test_a_full_disk_is_told_with_what_to_do(
    toy: RunDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(RunError, match=r"report.html: the disk is full; free some space"):
        write_report(toy, tmp_path / "report.html")


def test_means_of_others_are_those_of_candidates_that_are_no_pairs(toy: RunDirectory) -> None:
    table = read_table(toy.path / "match" / "pairs", PAIRS)
    pairs = table.to_pandas()
    candidates = read_table(toy.path / "match" / "candidates", CANDIDATES).to_pandas()
    scores, evidence, n = candidate_sums(toy, table)
    chosen = candidates.merge(pairs[["page_a", "page_b"]], how="left", indicator=True)["_merge"] == "both"
    assert n == len(candidates) > len(pairs) == chosen.sum()
    measured = [field.name for field in EVIDENCE_FIELDS if candidates[field.name].notna().any()]
    assert list(evidence) == measured
    for name in measured:
        assert evidence[name].pairs == pytest.approx(candidates.loc[chosen, name].mean(), rel=1e-5)
        assert evidence[name].others == pytest.approx(candidates.loc[~chosen, name].mean(), rel=1e-5, abs=1e-6)
    assert scores is not None
    assert scores.pairs.tolist() == np.histogram(candidates.loc[chosen, "score"], scores.edges)[0].tolist()
    assert scores.others.tolist() == np.histogram(candidates.loc[~chosen, "score"], scores.edges)[0].tolist()


def test_the_halves_of_the_toy_site_mirror_each_other(toy: RunDirectory) -> None:
    (graph,) = site_graphs(toy, read_table(toy.path / "match" / "pairs", PAIRS))
    links = Run(toy.path).links
    langs = Run(toy.path).pages.set_index("page_id")["lang"]
    inside = links.dropna(subset=["target"])
    same = langs.loc[inside["source"]].to_numpy() == langs.loc[inside["target"].astype("int64")].to_numpy()
    assert graph.found.n_links == same.sum()
    assert graph.langs == ("en", "zh-Hant")
    assert "Library hours" in graph.titles_a


def test_titles_are_those_of_the_pages(toy: RunDirectory) -> None:
    pages = Run(toy.path).pages
    titles = read_titles(toy, *(pa.chunked_array([pa.array(pages[name])]) for name in ("site", "page_id")))
    assert titles == dict(zip(pages["page_id"], pages["title"], strict=True))


def test_known_pairs_tell_how_right_it_is(toy: RunDirectory, tmp_path: Path) -> None:
    gold = tmp_path / "gold.tsv"
    gold.write_text("".join(f"/en/{name}.html\t/zh/{name}.html\n" for name in "abcd") + "/en/e.html\t/zh/none.html\n")
    target = write_report(toy, tmp_path / "report.html", gold)
    found = {(a.rsplit("/", 1)[1], b.rsplit("/", 1)[1]) for a, b in Run(toy.path).pairs[["url_a", "url_b"]].to_numpy()}
    right = sum(a == b and a != "e.html" for a, b in found)
    assert f"By the list gold.tsv, {100 * right / 5:.1f} % of the pairs are right; 5 were judged." in words(
        target, "trust"
    )
    (measured,) = report_data(toy, gold).measured
    assert measured.coverage.tolist() == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert measured.precisions[-1] == measured.precision == right / 5
    with pytest.raises(GoldError):
        write_report(toy, tmp_path / "report.html", tmp_path / "none.tsv")


def test_known_pairs_tell_how_right_each_cut_is(toy: RunDirectory, tmp_path: Path) -> None:
    """What the list leaves out takes no place: a cut is judged by its own pairs."""
    pairs = Run(toy.path).pairs
    ends = list(zip(pairs["url_a"], pairs["url_b"], strict=True))
    (tmp_path / "gold.tsv").write_text(f"{ends[2][1]}\t{ends[2][0]}\n{ends[4][0]}\t{ends[4][1]}\n")
    (tmp_path / "ignore.tsv").write_text("\t".join(ends[0]) + "\n" + "\t".join(ends[1]))
    (measured,) = report_data(toy, tmp_path / "gold.tsv").measured
    is_right = np.array([np.nan, np.nan, 1, 0, 1])
    probabilities = pairs["probability"].to_numpy(np.float64)
    for cut in CUTS:
        judged = is_right[(probabilities >= cut) & ~np.isnan(is_right)]
        assert measured.cuts.get(cut) == (pytest.approx(judged.mean()) if len(judged) else None)
    assert measured.coverage.tolist() == [0.6, 0.8, 1.0]
    assert measured.precisions.tolist() == [1.0, 0.5, pytest.approx(2 / 3)]


def test_an_accepted_pair_without_a_probability_leaves_the_cuts(run: RunDirectory, tmp_path: Path) -> None:
    (part,) = (run.path / "match" / "pairs").iterdir()
    rows = read_table(part, PAIRS).to_pylist()
    (tmp_path / "gold.tsv").write_text(f"{rows[0]['url_a']}\t{rows[0]['url_b']}\n")
    write_table(pa.Table.from_pylist([{**rows[0], "probability": None}, *rows[1:]], PAIRS), PAIRS, part)
    signature = run.path / "match" / "signature.json"
    signature.write_text(json.dumps({**json.loads(signature.read_text()), "tables": {}}))
    (measured,) = report_data(run, tmp_path / "gold.tsv").measured
    assert measured.precisions[0] == 1, "it is the first of the list"
    assert set(measured.cuts) == set(CUTS)


def test_two_labels_are_too_few_everywhere(run: RunDirectory) -> None:
    pairs = Run(run.path).pairs
    LabelBook(run.path).add(Label(pairs["url_a"][1], pairs["url_b"][1], "accept", "ann", datetime.now(UTC)))
    said = words(write_report(run))
    assert "By labels, the precision is too uncertain" in said
    assert "right by labels: too few" in said
    assert "too few labels" in str(Run(run.path).score_labels())


def test_labels_are_shown_at_their_pairs_and_estimate_precision(run: RunDirectory) -> None:
    pairs = Run(run.path).pairs
    for number, (a, b) in enumerate(zip(pairs["url_a"], pairs["url_b"], strict=True)):
        verdict: Literal["accept", "reject"] = "reject" if number == 4 else "accept"
        LabelBook(run.path).add(Label(b, a, verdict, "ann", datetime.now(UTC)))  # turned round: the same pair
    said = words(write_report(run))
    assert "By labels, 80.0 % of the pairs are right (95 % interval: 80.0 % to 80.0 %); 5 were judged." in said
    assert (said.count("accepted"), said.count("rejected")) == (4, 1)


@pytest.mark.parametrize("method", ["liu2014", "urls", "bitextor2010"])
def test_other_methods_have_a_report_too(tmp_path: Path, method: str) -> None:
    run = RunDirectory.create(tmp_path / "run")
    config = CONFIG.override({"match.method": method, "match.min_score": None})
    mine_stages([str(write_site(tmp_path / "site"))], run, config)
    pairs = Run(run.path).pairs
    assert len(pairs) > 0
    said = words(run.report_file)
    assert f"found {len(pairs)} pairs of pages" in said
    assert ("have no probabilities" in said) == bool(pairs["probability"].isna().all())


def test_a_run_without_pairs(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run")
    mine_stages([str(write_toy(tmp_path / "toy"))], run, CONFIG.override({"langs": ["fr", "de"]}))
    said = words(run.report_file)
    assert "read 10 pages of 1 site and found no pairs" in said
    assert "other-language" in words(run.report_file, "rejects")


def test_sentences_are_counted_as_they_are_reported(run: RunDirectory) -> None:
    align_stage(run, CONFIG)
    segments = read_table(run.path / "align" / "segments", SEGMENTS).to_pandas()
    given = segments[segments["verdict"] == SEGMENT]
    (row,) = report_data(run).sentences.to_pylist()
    assert row == {
        "site": "toy.example",
        "lang_a": "en",
        "lang_b": "zh-Hant",
        "n": len(given),
        "n_known": given["chance"].notna().sum(),
        "chance": pytest.approx(given["chance"].sum()),
    }
    assert 0 < len(given) < len(segments)
    assert f"{len(given)} pairs of sentences" in words(refresh_report(run), "found")


def test_patterns_are_shown_when_they_were_learned(run: RunDirectory) -> None:
    assert words(run.report_file, "patterns") == ""
    learn_run(run, CONFIG)
    said = words(refresh_report(run), "patterns")
    assert "/en/ ↔ /zh/" in said
    assert "Of 1: 1 credible." in said


def test_rounds_are_shown_when_there_are_any(run: RunDirectory) -> None:
    rounds = Rounds(run)
    for number in range(2):
        rounds.of(number).mkdir(parents=True)
        rounds.count(number, dict.fromkeys(ROUNDS.names, 3) | {"round": number, "tried": 8, "all_pairs": 40 + number})
    rounds.write_tables()
    said = words(refresh_report(run), "rounds")
    assert "2 rounds tried 16 sites and added 6 of them" in said
    assert "41" in said


def test_rejects_are_counted_by_stage_and_reason(tmp_path: Path) -> None:
    folder = write_toy(tmp_path / "toy")
    (folder / "en" / "picture.png").write_bytes(b"\x89PNG\r\n")
    (folder / "en" / "empty.html").write_text("")
    run = RunDirectory.create(tmp_path / "run")
    mine_stages([str(folder)], run, CONFIG)
    table = Run(run.path).rejects
    expected = table.groupby(["stage", "reason"]).size().to_dict()
    assert expected
    found = count_rejects(run)
    assert {(row["stage"], row["reason"]): row["n"] for row in found.to_pylist()} == expected
    assert set(found["url"].to_pylist()) <= set(table["url"])


def test_pages_are_counted_by_site_and_their_times_are_in_order(toy: RunDirectory) -> None:
    sites, fetched = count_pages(toy)
    assert sites.to_pylist() == [{"site": "toy.example", "n_pages": 10}]
    assert len(fetched) == 0  # files have no time of fetching


def test_the_example_of_a_group_is_a_page_in_a_pair(run: RunDirectory) -> None:
    pairs, pages = Run(run.path).pairs, Run(run.path).pages
    pair, titles = pairs.iloc[0], dict(zip(pages["url"], pages["title"], strict=True))
    columns = set(report_data(run).look_alikes.column_names)
    alone = pages[~pages["page_id"].isin([pair.page_a])].iloc[0]
    common = {"site": "toy.example", "lang": "en", "facing_lang": pair.lang_b, "group": 1, "n_pages": 2, "n_paired": 1}
    rows = [
        {**common, "page_id": alone.page_id, "url": alone.url, "state": "unpaired"},
        {**common, "page_id": pair.page_a, "url": pair.url_a, "state": "paired"},
    ]
    part = run.path / "match" / "look_alikes" / "toy.example.parquet"  # without groups, there was none
    write_table(pa.Table.from_pylist(rows, LOOK_ALIKES), LOOK_ALIKES, part)
    (found,) = count_look_alikes(run, read_table(run.path / "match" / "pairs", PAIRS)).to_pylist()
    assert (found["url"], found["partner"], found["n_facing"]) == (pair.url_a, pair.url_b, 0)
    assert set(found) == columns
    wanted = [pair.url_a, "https://toy.example/none", pair.url_b]
    assert read_example_titles(run, wanted) == {url: titles[url] for url in (pair.url_a, pair.url_b)}


def test_a_damaged_table_is_reported(run: RunDirectory) -> None:
    (part,) = (run.path / "match" / "weights").iterdir()
    part.write_bytes(b"no table")
    with pytest.raises(DamagedError, match="weights"):
        write_report(run)


def test_damaged_candidates_are_reported(run: RunDirectory) -> None:
    (part,) = (run.path / "match" / "candidates").iterdir()
    part.write_bytes(part.read_bytes()[:400])
    with pytest.raises(DamagedError, match="candidates"):
        write_report(run)


def test_settings_that_are_no_text_do_not_matter(run: RunDirectory) -> None:
    run.config_file.write_bytes(b"\xff\xfe[crawl]\n")
    assert "[crawl]" in words(write_report(run))


def test_a_list_of_another_site_is_refused(run: RunDirectory, tmp_path: Path) -> None:
    gold = tmp_path / "gold.tsv"
    gold.write_text("http://other.example/a\thttp://other.example/b\n")
    before = run.report_file.read_bytes()
    with pytest.raises(GoldError, match="is it this site's gold"):
        write_report(run, gold=gold)
    assert run.report_file.read_bytes() == before


def test_where_no_pair_is_in_the_list_no_share_of_right_ones_is_reported(run: RunDirectory, tmp_path: Path) -> None:
    gold, page = tmp_path / "gold.tsv", next(iter(Run(run.path).pages["url"]))
    gold.write_text(f"{page}\t{page}.none\n")
    (tmp_path / "unscored.txt").write_text("".join(f"{url}\n" for url in Run(run.path).pages["url"]))
    shown = words(write_report(run, gold=gold))
    assert "no pair was judged" in shown
    assert "By the list gold.tsv, none of the pairs can be judged." in shown


def test_candidates_of_another_version_are_reported(run: RunDirectory) -> None:
    (part,) = (run.path / "match" / "candidates").iterdir()
    pq.write_table(pq.read_table(part).drop_columns(["contrast", "ets"]), part)
    signature = run.path / "match" / "signature.json"  # which had no list of tables then
    signature.write_text(json.dumps({**json.loads(signature.read_text()), "tables": {}}))
    with pytest.raises(DamagedError, match="contrast, ets"):
        write_report(run)


def test_mining_does_not_fail_for_its_report(tmp_path: Path) -> None:
    run = mined(tmp_path)
    run.report_file.unlink()
    run.report_file.mkdir()  # cannot be written to
    said: list[tuple[str, str]] = []
    mine_stages(
        [str(tmp_path / "toy")], run, CONFIG, lambda stage, done, total, detail="": said.append((stage, detail))
    )
    assert [stage for stage, detail in said if detail.startswith("not written: ")] == ["report"]


def test_a_damaged_crawl_report_is_passed_over(run: RunDirectory) -> None:
    (run.path / "crawl.json").write_text("[1, 2")
    assert words(write_report(run), "crawl") == ""


def test_titles_of_others_are_text(tmp_path: Path) -> None:
    folder = write_toy(tmp_path / "toy")
    for path in folder.rglob("*.html"):
        title = "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;"
        path.write_text(re.sub("<title>.*?</title>", f"<title>{title}</title>", path.read_text()))
    run = RunDirectory.create(tmp_path / "run")
    mine_stages([str(folder)], run, CONFIG)
    root: Any = lxml.html.document_fromstring(run.report_file.read_bytes())
    assert len(root.xpath("//script")) == 1
    assert "<script>alert(1)</script>" in words(run.report_file, "pairs")


def test_the_first_columns_of_the_tables_are_enough(toy: RunDirectory) -> None:
    data = report_data(toy)
    assert [list(row.values()) for row in data.languages.to_pylist()] == [["en", 5, 5], ["zh-Hant", 5, 5]]
    assert data.signatures.keys() == {"ingest", "match"}
