"""Stage shapes and the methods by structure, on a site whose pages have structures of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.made_sites import BASE, write_pages
from twinlink.baselines import methods as structural
from twinlink.config import Config
from twinlink.errors import ConfigError, InputError, MissingStageError
from twinlink.ingest.shapes import linearise_pages, read_shapes
from twinlink.ingest.stage import ingest
from twinlink.jobs.stages import match_stage
from twinlink.match.counts import why_none
from twinlink.match.stage import match
from twinlink.pages.linearise import linearise
from twinlink.run import Run
from twinlink.rundir.directory import RunDirectory
from twinlink.urls import page_id

CONFIG = Config().override({"langs": ["en", "zh"], "ingest.base_url": BASE})
ENGLISH = (
    "The committee met in the town hall to talk about the budget for the schools.",
    "The library opens at nine in the morning and closes at eight in the evening.",
    "New trains will run between the harbour and the airport from next summer on.",
    "People who are older than sixty may visit the museum without paying anything.",
    "Heavy rain is expected on the coast, and the beaches will be closed tomorrow.",
    "The hospital looks for nurses who would like to work at night and on holidays.",
    "Farmers sell their vegetables on the market square every Saturday before noon.",
    "The bridge over the river was built a hundred years ago and will be repaired.",
)
CHINESE = (
    "委員會在市政廳開會討論各學校的財政預算安排問題以及其他有關事項。",
    "圖書館每天早上九時開門晚上八時關門歡迎市民前來借閱各類圖書資料。",
    "由明年夏天起新列車將會行走海港與機場之間方便旅客往來兩地旅遊。",
    "六十歲以上的長者可以免費參觀博物館無須支付任何入場費用歡迎參觀。",
    "預料沿岸地區將會有大雨明天各個泳灘將會關閉請市民留意天氣消息。",
    "醫院正在招聘願意在晚上及假日工作的護士有興趣人士請盡快提出申請。",
    "農民每逢星期六上午都會在市集廣場售賣自己種植的新鮮蔬菜和水果。",
    "這座橫跨河流的大橋建於一百年前現在將會進行維修工程請繞道而行。",
)
PAGES = range(1, 9)


def made_page(lang: str, number: int) -> str:
    """Page n has n lists of n + 1 items, and 9 - n paragraphs."""
    text = (ENGLISH if lang == "en" else CHINESE)[number - 1]
    lists = f"<ul>{f'<li>{text}</li>' * (number + 1)}</ul>" * number
    paragraphs = "".join(f"<p>{text}</p>" for _ in range(9 - number))
    return f"<html><head><meta charset=utf-8><title>{number}</title></head><body>{paragraphs}{lists}</body></html>"


def write_site(folder: Path) -> Path:
    """Eight pages in two languages: ``en/page-3.html`` and ``tc/page-3.html``."""
    names = {("en", "en"), ("tc", "zh")}
    return write_pages(folder, {f"{path}/page-{n}.html": made_page(lang, n) for path, lang in names for n in PAGES})


def mined(tmp_path: Path, method: str, **overrides: object) -> Run:
    config = CONFIG.override({"match.method": method, **{f"match.{k}": v for k, v in overrides.items()}})
    run = RunDirectory.create(tmp_path / "run")
    run.config_file.write_text(config.to_toml())
    ingest(run, [write_site(tmp_path / "site")], config.ingest)
    match_stage(run, config)
    return Run(run.path)


def pairs_of(run: Run) -> set[tuple[str, str]]:
    short = [[url.removeprefix(f"{BASE}/") for url in run.pairs[column]] for column in ("url_a", "url_b")]
    return set(zip(*short, strict=True))


RIGHT = {(f"en/page-{n}.html", f"tc/page-{n}.html") for n in PAGES}


@pytest.mark.parametrize("method", ["bitextor2010", "webmining", "jangeldin"])
def test_pages_of_one_structure_are_paired(tmp_path, method):
    run = mined(tmp_path, method)
    assert pairs_of(run) <= RIGHT
    assert len(run.pairs) >= 7  # WebMining's line is fitted on these few pairs and leaves one out
    assert run.pairs["probability"].isna().all()
    assert run.filters["n_pairs"].sum() == len(run.candidates)
    assert (run.pairs["score"] > 0).all()
    lines = (run.path / "pairs.tsv").read_text().splitlines()
    assert {line.split("\t")[4] for line in lines[1:]} == {""}


@pytest.mark.parametrize("use_urls", [True, False])
def test_bitextor_compares_what_the_url_rule_lets_through_or_all(tmp_path, use_urls):
    run = mined(tmp_path, "bitextor2010", **{"bitextor.use_urls": use_urls})
    assert len(run.candidates) == (8 if use_urls else 64)
    assert pairs_of(run) == RIGHT


@pytest.mark.parametrize("method", ["bitextor2010", "jangeldin"])
def test_pages_that_the_bound_of_the_url_rule_leaves_without_candidate_are_rejected_for_it(tmp_path, method):
    """Of eight files in one folder for each language, one differs from all others in its name alone."""
    run = flat(tmp_path, method, 3)
    assert len(run.candidates) == 0
    assert run.rejects.loc[run.rejects["stage"] == "match", "reason"].tolist() == ["crowded-address"] * 16
    assert why_none(["en", "zh"], ["en", "zh"], set(run.rejects["reason"])).endswith("(match.url_rule.max_others)")
    assert len(flat(tmp_path / "unbounded", method, 0).candidates) == 64


def flat(tmp_path: Path, method: str, max_others: int) -> Run:
    """Match a site whose pages are all in one folder, with names that say nothing."""
    words = ("home", "news", "jobs", "maps", "laws", "kids", "arts", "food")
    pages = {f"{word}.html": made_page("en", n) for n, word in enumerate(words, 1)}
    pages |= {f"{word[::-1]}.html": made_page("zh", n) for n, word in enumerate(words, 1)}
    site = write_pages(tmp_path / "site", pages)
    config = CONFIG.override({"match.method": method, "match.url_rule.max_others": max_others})
    run = RunDirectory.create(tmp_path / "run")
    run.config_file.write_text(config.to_toml())
    ingest(run, [site], config.ingest)
    match_stage(run, config)
    return Run(run.path)


def test_jangeldin_tells_its_two_numbers(tmp_path):
    run = mined(tmp_path, "jangeldin")
    assert run.pairs["cost_share"].tolist() == [0.0] * 8
    assert run.pairs["length_difference"].between(0.1, 0.9).all()  # the English texts are longer
    assert run.filters.set_index("filter")["n_pairs"].to_dict() == {"kept": 8, "not-parallel": 0}


def test_of_too_many_pairs_the_nearest_in_their_tags_are_candidates(tmp_path, monkeypatch):
    monkeypatch.setattr(structural, "MAX_ALL_PAIRS", 10)
    run = mined(tmp_path, "webmining", **{"candidates.per_page": 2})
    assert len(run.candidates) < 64
    assert pairs_of(run) <= RIGHT
    assert len(run.pairs) >= 7


def test_an_expected_precision_is_refused_where_none_is_reported(tmp_path):
    with pytest.raises(ConfigError, match="webmining gives no probabilities"):
        mined(tmp_path, "webmining", min_precision=0.9)
    assert not (tmp_path / "run" / "shapes").exists()


def test_shapes_are_those_of_the_pages(tmp_path):
    site = write_site(tmp_path / "site")
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [site], CONFIG.ingest)
    with pytest.raises(MissingStageError):
        read_shapes(run, "none.parquet")
    linearise_pages(run)
    (part,) = (run.path / "shapes" / "tokens").glob("*.parquet")
    shapes = read_shapes(run, part.name)
    assert len(shapes) == 16
    body = (site / "tc/page-3.html").read_bytes()
    shape, expected = shapes[page_id(f"{BASE}/tc/page-3.html")], linearise(body)
    assert np.array_equal(shape.tokens, expected.tokens)
    assert np.array_equal(shape.words, expected.words)
    assert shape.n_bytes == len(body)


def test_pages_are_linearised_once(tmp_path):
    run = mined(tmp_path, "webmining")
    before = (run.path / "shapes" / "signature.json").stat().st_mtime_ns
    match_stage(RunDirectory(run.path), CONFIG.override({"match.method": "jangeldin"}))
    assert (run.path / "shapes" / "signature.json").stat().st_mtime_ns == before


@pytest.mark.parametrize("harm", ["changed", "gone"])
def test_pages_that_are_no_longer_there_are_reported(tmp_path, harm):
    site = write_site(tmp_path / "site")
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [site], CONFIG.ingest)
    if harm == "changed":
        (site / "en/page-2.html").write_text("<p>another page")
    else:
        (site / "en/page-2.html").unlink()
    with pytest.raises(InputError, match=r"1 of its pages are no longer"):
        linearise_pages(run)
    assert not (run.path / "shapes").exists()


def test_matching_without_shapes_is_refused(tmp_path):
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [write_site(tmp_path / "site")], CONFIG.ingest)
    with pytest.raises(MissingStageError, match="not linearised"):
        match(run, CONFIG.override({"match.method": "webmining"}))


def test_the_default_method_needs_no_shapes(tmp_path):
    run = mined(tmp_path, "weighed")
    assert not (run.path / "shapes").exists()
    assert run.filters.empty
    shutil.rmtree(tmp_path / "site")
    match_stage(RunDirectory(run.path), CONFIG)


def test_shapes_of_pages_before_they_changed_are_not_used(tmp_path):
    site = write_site(tmp_path / "site")
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [site], CONFIG.ingest)
    linearise_pages(run)
    (site / "en/page-2.html").write_text(made_page("en", 2).replace("library", "theatre"))
    ingest(run, [site], CONFIG.ingest)
    with pytest.raises(MissingStageError, match="not linearised"):
        match(run, CONFIG.override({"match.method": "webmining"}))


def test_a_source_that_was_moved_is_reported(tmp_path):
    site = write_site(tmp_path / "site")
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [site], CONFIG.ingest)
    site.rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"not found, but methods that compare structure"):
        linearise_pages(run)


def test_every_page_without_a_pair_has_the_filter_that_stopped_it(tmp_path):
    write_pages(tmp_path / "site", {"en/lone.html": f"<title>x</title><p>{ENGLISH[0]}<p>{ENGLISH[1]}"})
    run = mined(tmp_path, "webmining")
    reasons = run.rejects[run.rejects["stage"] == "match"].set_index("url")["reason"].to_dict()
    assert reasons[f"{BASE}/en/lone.html"] in {"filter-size", "filter-tags", "filter-paragraphs"}
    assert run.candidates["filter"].isna().sum() == run.filters.set_index("filter")["n_pairs"]["kept"]


def test_pairs_over_the_limit_are_not_called_doubtful(tmp_path):
    run = mined(tmp_path, "jangeldin", max_pairs=5)
    assert len(run.pairs) == 5
    assert set(run.rejects["reason"]) == {"over-limit"}
