"""Stage patterns and method urls: from a run's pages to its patterns, its library, its pairs, its rejects."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.baselines.test_methods import CHINESE, ENGLISH, PAGES, made_page, write_site
from tests.made_sites import BASE, write_pages
from twinlink.cli import app
from twinlink.cli.lines import lines as lines_of_result
from twinlink.cli.results.sites import PatternsResult
from twinlink.config import Config
from twinlink.config.patterns import PatternSettings
from twinlink.errors import DamagedError, InputError, MissingStageError
from twinlink.ingest.stage import ingest
from twinlink.jobs.stages import match_stage
from twinlink.match.stage import match
from twinlink.patterns.credibility import pairs_of_patterns, url_clues
from twinlink.patterns.keys import Key
from twinlink.patterns.library import PARTS, KeySums, PatternLibrary, read_library, write_library
from twinlink.patterns.stage import (
    CROWDED_FILE,
    PAIRS_FILE,
    PATTERNS_FILE,
    export_library,
    learn_run,
    n_crowded,
    paired_by_patterns,
)
from twinlink.run import Run
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.remembered import remembered
from twinlink.tables import PATTERNS, read_table

CONFIG = Config().override({"langs": ["en", "zh"], "ingest.base_url": BASE})
HOSTS = ("a.example.org", "b.example.net", "c.example.com")


def ingested(tmp_path: Path, *folders: Path) -> RunDirectory:
    run = RunDirectory.create(tmp_path / "run")
    run.config_file.write_text(CONFIG.to_toml())
    ingest(run, folders or [write_site(tmp_path / "site")], CONFIG.ingest)
    return run


def patterns_of(run: RunDirectory) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = read_table(run.path / "patterns" / "patterns", PATTERNS).to_pylist()
    return rows


def test_patterns_of_a_site_are_written(tmp_path: Path) -> None:
    run = ingested(tmp_path)
    learn_run(run, CONFIG)
    (row,) = patterns_of(run)
    assert (row["rule"], row["source"], row["target"], row["verdict"]) == ("/en/ ↔ /tc/", "en", "tc", "credible")
    assert (row["n_pages"], row["n_pairs"], row["site_pages"]) == (16, 8, 16)
    assert (row["local"], row["global"], row["mean"], row["site_credibility"]) == (1.0, 16.0, 1.0, 1.0)
    assert (row["source_lang"], row["rescued"]) == ("", False)
    lines = (run.path / "patterns" / PATTERNS_FILE).read_text().splitlines()
    assert len(lines) == 2
    assert lines[0].split("\t") == PATTERNS.names
    pairs = (run.path / "patterns" / PAIRS_FILE).read_text().splitlines()
    assert pairs[0].split("\t") == [f"{BASE}/en/page-1.html", f"{BASE}/tc/page-1.html", "/en/ ↔ /tc/"]
    assert len(pairs) == 8
    head, rule, counts = lines_of_result(PatternsResult.of(run))
    assert head == "pages  sites  credibility  pattern"
    assert rule == "   16      1           16  /en/ ↔ /tc/"
    assert counts.startswith("patterns: credible 1, rescued 0, weak 0; 1 of 1 site with a pattern that counts")


def test_rules_of_one_key_are_counted_one_by_one(tmp_path: Path) -> None:
    """Two sites name the language in a folder, one in the names of files: three have the key, two of them one rule."""
    shapes = (f"{HOSTS[0]}/{{}}/{{}}.html", f"{HOSTS[1]}/{{}}/{{}}.html", f"{HOSTS[2]}/p{{1}}_{{0}}.html")
    made = {shape.format(lang, n): made_page(lang, n) for shape in shapes for lang in ("en", "tc") for n in PAGES}
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [write_pages(tmp_path / "mirror", made)], Config().ingest)
    learn_run(run, Config())
    assert {row["n_sites"] for row in patterns_of(run)} == {3}
    rules = PatternsResult.of(run).rules
    assert [(rule.rule, rule.n_sites, rule.n_pages, rule.credibility) for rule in rules] == [
        ("/en/ ↔ /tc/", 2, 4 * len(PAGES), 4.0 * len(PAGES)),
        ("_en. ↔ _tc.", 1, 2 * len(PAGES), 2.0 * len(PAGES)),
    ]


def test_languages_that_were_found_are_respected(tmp_path: Path) -> None:
    run = ingested(tmp_path)
    first = learn_run(run, CONFIG)
    match(run, CONFIG)
    assert learn_run(run, CONFIG) != first
    (row,) = patterns_of(run)
    assert (row["source_lang"], row["target_lang"]) == ("en", "zh-Hant")


def test_stage_is_done_once_and_again_when_a_setting_changes(tmp_path: Path) -> None:
    run = ingested(tmp_path)
    steps: list[tuple[int, int]] = []
    first = learn_run(run, CONFIG, lambda *step: steps.append(step))
    assert steps == [(1, 1)]
    assert learn_run(run, CONFIG, lambda *step: steps.append(step)) == first
    assert len(steps) == 1
    learn_run(run, CONFIG.override({"match.patterns.min_pairs": 9}), lambda *step: steps.append(step))
    assert len(steps) == 2
    assert patterns_of(run) == []


def test_run_without_pages_is_reported(tmp_path: Path) -> None:
    with pytest.raises(MissingStageError, match="ingest"):
        learn_run(RunDirectory.create(tmp_path / "run"), CONFIG)


def many_sites(folder: Path, weak_host: str) -> Path:
    """Three sites with en and tc everywhere, and one where a single pair of 31 pages has them."""
    pages = {
        f"{host}/{lang}/{n}.html": made_page(lang, n) for host in HOSTS for lang in ("en", "tc") for n in range(1, 5)
    }
    pages |= {f"{weak_host}/{lang}/p.html": made_page(lang, 1) for lang in ("en", "tc")}
    pages |= {f"{weak_host}/{n}/{n}.html": made_page("en", 1 + n % 8) for n in range(30)}
    return write_pages(folder, pages)


def test_weak_key_is_rescued_by_the_other_sites_of_the_run(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [many_sites(tmp_path / "mirror", "d.example.edu")], Config().ingest)
    steps: list[tuple[int, int]] = []
    learn_run(run, Config(), lambda *step: steps.append(step))
    assert steps == [(k, 8) for k in range(1, 9)]
    rows = {row["site"]: row for row in patterns_of(run) if row["source"] == "en"}
    assert {site for site, row in rows.items() if row["verdict"] == "credible"} == {
        "example.org",
        "example.net",
        "example.com",
    }
    weak = rows["example.edu"]
    assert (weak["rescued"], weak["n_pages"], weak["n_sites"]) == (True, 2, 3)
    assert any("rescued" in line for line in lines_of_result(PatternsResult.of(run)))
    learn_run(run, Config().override({"match.patterns.rescue": "none"}))
    assert {row["site"] for row in patterns_of(run) if row["verdict"] == "rescued"} == set()


def test_the_run_remembers_with_which_settings_patterns_were_learned(tmp_path: Path) -> None:
    run = ingested(tmp_path)
    learn_run(run, CONFIG.override({"match.patterns.max_tokens": 1}))
    assert remembered(run).match.patterns.max_tokens == 1
    assert remembered(run).langs == CONFIG.langs


def two_sites(folder: Path) -> Path:
    """Two sites of four pairs each, in en and tc and in en and sc."""
    shapes = ((HOSTS[0], ("en", "tc")), (HOSTS[1], ("en", "sc")))
    return write_pages(
        folder, {f"{host}/{lang}/{n}.html": made_page(lang, n) for host, both in shapes for lang in both for n in PAGES}
    )


def test_two_sites_are_several_and_their_pairs_are_in_one_file(tmp_path: Path) -> None:
    """Each is learned twice. The files have a line for every pattern and every pair of both sites."""
    run = RunDirectory.create(tmp_path / "run")
    ingest(run, [two_sites(tmp_path / "mirror")], Config().ingest)
    steps: list[tuple[int, int]] = []
    learn_run(run, Config(), lambda *step: steps.append(step))
    assert steps == [(k, 4) for k in range(1, 5)]
    sites = zip(HOSTS[:2], ("tc", "sc"), strict=True)
    assert sorted(paired_by_patterns(run)) == sorted(
        (
            *sorted(f"http://{host}/{lang}/{n}.html" for lang in ("en", other)),
            " ↔ ".join(sorted(["/en/", f"/{other}/"])),
        )
        for host, other in sites
        for n in PAGES
    )
    header, *rows = (run.path / "patterns" / PATTERNS_FILE).read_text().splitlines()
    assert header.split("\t") == PATTERNS.names
    assert sorted(row.split("\t")[0] for row in rows) == ["example.net", "example.org"]


@pytest.mark.parametrize("text", ["a\tb\trule\na\tb\n", "a\tb\trule\na\tb\trule\tmore\n"])
def test_a_damaged_list_of_pairs_is_reported_with_its_line(tmp_path: Path, text: str) -> None:
    run = ingested(tmp_path)
    learn_run(run, CONFIG)
    (run.path / "patterns" / PAIRS_FILE).write_text(text)
    pairs = paired_by_patterns(run)
    assert next(pairs) == ("a", "b", "rule")
    with pytest.raises(DamagedError, match=r"line 2: expected two addresses and a rule, got [24] columns"):
        next(pairs)


def test_a_list_of_pairs_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    run = ingested(tmp_path)
    learn_run(run, CONFIG)
    file = run.path / "patterns" / PAIRS_FILE
    file.write_bytes(b"\xff\n")
    with pytest.raises(DamagedError, match=PAIRS_FILE):
        list(paired_by_patterns(run))
    file.unlink()
    with pytest.raises(DamagedError, match=PAIRS_FILE):
        list(paired_by_patterns(run))


def test_a_library_that_changed_makes_the_patterns_anew(tmp_path: Path) -> None:
    """Its name stays: three sites rescue en and tc on this one, no site does not."""
    pages = {f"{lang}/p.html": made_page(lang, 1) for lang in ("en", "tc")}
    pages |= {f"{n}/{n}.html": made_page("en", 1 + n % 8) for n in range(30)}
    run = ingested(tmp_path, write_pages(tmp_path / "small", pages))
    library = tmp_path / "mine.tsv"
    config = CONFIG.override({"match.patterns.libraries": [str(library)]})
    write_library(PatternLibrary(), library)
    first = learn_run(run, config)
    assert patterns_of(run) == []
    write_library(PatternLibrary({Key("en", "tc"): KeySums(3, 3, 24, 24 * PARTS)}), library)
    assert learn_run(run, config) != first
    assert [row["verdict"] for row in patterns_of(run)] == ["rescued"]


@pytest.mark.parametrize("name", ["library.tsv", "library.parquet"])
def test_library_of_one_run_helps_another(tmp_path: Path, name: str) -> None:
    run = RunDirectory.create(tmp_path / "many")
    ingest(run, [many_sites(tmp_path / "mirror", "d.example.edu")], Config().ingest)
    learn_run(run, Config())
    assert export_library(run, tmp_path / name) == len(read_library(tmp_path / name))
    assert read_library(tmp_path / name)[Key("en", "tc")].n_credible == 3

    pages = {"en/p.html": made_page("en", 1), "tc/p.html": made_page("tc", 1)}
    pages |= {f"{n}/{n}.html": made_page("en", 1 + n % 8) for n in range(30)}
    small = ingested(tmp_path, write_pages(tmp_path / "small", pages))
    learn_run(small, CONFIG)
    assert patterns_of(small) == []
    learn_run(small, CONFIG.override({"match.patterns.libraries": [str(tmp_path / name)]}))
    (row,) = patterns_of(small)
    assert (row["verdict"], row["n_pages"], row["n_sites"]) == ("rescued", 2, 4)  # itself included


def test_wrong_library_leaves_the_stage_as_it_was(tmp_path: Path) -> None:
    run = ingested(tmp_path)
    learn_run(run, CONFIG)
    with pytest.raises(InputError, match=r"none\.tsv"):
        learn_run(run, CONFIG.override({"match.patterns.libraries": [str(tmp_path / "none.tsv")]}))
    assert len(patterns_of(run)) == 1


def matched(tmp_path: Path, pages: dict[str, str], **overrides: object) -> Run:
    run = ingested(tmp_path, write_pages(tmp_path / "site", pages))
    match_stage(run, CONFIG.override({"match.method": "urls", **overrides}))
    return Run(run.path)


def test_command_says_what_came_out_and_exports(tmp_path: Path) -> None:
    run = ingested(tmp_path)
    file = tmp_path / "mine.tsv"
    done = CliRunner().invoke(app, ["patterns", str(run.path), "--export", str(file), "-q"])
    assert done.exit_code == 0, done.output
    assert "   16      1           16  /en/ ↔ /tc/" in done.output
    assert done.output.splitlines()[-1] == f"1 key → {file}"
    again = CliRunner().invoke(app, ["patterns", str(run.path), "--library", str(file), "-q"])
    assert "   16      1           16  /en/ ↔ /tc/" in again.output  # sites of the run, not of the library
    twice = CliRunner().invoke(app, ["patterns", str(run.path), *["--library", str(file)] * 2, "-q"])
    assert twice.output == again.output


def test_command_says_that_a_bound_was_met(tmp_path: Path) -> None:
    """Forty files of one folder differ in one place; thirty-two are compared at most."""
    pages = {f"all/f{n}x.html": "<p>text</p>" for n in range(40)}
    run = ingested(tmp_path, write_pages(tmp_path / "site", pages))
    done = CliRunner().invoke(app, ["patterns", str(run.path), "-q"])
    assert "more addresses differ than are compared (match.patterns.max_group)" in done.output
    (row,) = (run.path / "patterns" / CROWDED_FILE).read_text().splitlines()[1:]
    assert int(row.split("\t")[1]) == n_crowded(run) > 0
    more = CliRunner().invoke(app, ["patterns", str(run.path), "-q", "--set", "match.patterns.max_group=100"])
    assert "than are compared" not in more.output
    assert n_crowded(run) == 0


@pytest.mark.parametrize("text", ["", "site\tplaces\taddresses\nx\n", "site\tplaces\taddresses\nx\tmany\t2\n"])
def test_a_damaged_count_of_crowded_places_is_reported(tmp_path: Path, text: str) -> None:
    run = ingested(tmp_path)
    learn_run(run, CONFIG)
    file = run.path / "patterns" / CROWDED_FILE
    if text:
        file.write_text(text)
    else:
        file.unlink()
    with pytest.raises(DamagedError, match=r"crowded\.tsv"):
        n_crowded(run)


def test_export_that_cannot_be_written_is_reported_before_the_work(tmp_path: Path) -> None:
    run = ingested(tmp_path)
    for name in ("no/mine.tsv", "mine.foo"):
        done = CliRunner().invoke(app, ["patterns", str(run.path), "--export", str(tmp_path / name), "-q"])
        assert isinstance(done.exception, InputError)
    assert run.read_signature("patterns") is None


def test_method_urls_pairs_what_patterns_join(tmp_path: Path) -> None:
    run = matched(
        tmp_path,
        {f"{path}/page-{n}.html": made_page(lang, n) for path, lang in (("en", "en"), ("tc", "zh")) for n in PAGES},
    )
    assert sorted(zip(run.pairs["url_a"], run.pairs["url_b"], strict=True)) == [
        (f"{BASE}/en/page-{n}.html", f"{BASE}/tc/page-{n}.html") for n in PAGES
    ]
    assert set(run.pairs["pattern"]) == {1.0}
    assert run.pairs["probability"].isna().all()


def test_pair_that_content_contradicts_is_rejected_with_a_reason(tmp_path: Path) -> None:
    """Page 3 in Chinese is no version of page 3 in English: it has the structure and the numbers of no other page."""
    pages = {f"en/{n}.html": numbered("en", n) for n in PAGES} | {f"tc/{n}.html": numbered("zh", n) for n in PAGES}
    pages["tc/3.html"] = (
        f"<html><head><meta charset=utf-8></head><body><h1>{CHINESE[6]}</h1><pre>{CHINESE[5]}</pre></body></html>"
    )
    run = matched(tmp_path, pages)
    assert len(run.pairs) == len(PAGES) - 1
    assert reasons_of(run) == {"en/3.html": "filter-content", "tc/3.html": "filter-content"}


def reasons_of(run: Run) -> dict[str, str]:
    rows = zip(run.rejects["url"].tolist(), run.rejects["reason"].tolist(), strict=True)
    return {str(url).removeprefix(f"{BASE}/"): str(reason) for url, reason in rows}


def numbered(lang: str, n: int) -> str:
    text = (ENGLISH if lang == "en" else CHINESE)[n - 1]
    lists = f"<ul>{f'<li>{text} {n}{n}7</li>' * (n + 1)}</ul>" * n
    return f"<html><head><meta charset=utf-8></head><body>{f'<p>{text} 10{n}</p>' * (9 - n)}{lists}</body></html>"


def test_pair_of_a_weak_pattern_is_rejected_with_a_reason(tmp_path: Path) -> None:
    pages = {f"en/{n}-{n}/{n}.html": numbered("en", 1 + n % 8) for n in range(50)}
    pages |= {f"zh/{n * n}/x{n}y.html": numbered("zh", 1 + n % 8) for n in range(20)}
    pages |= {f"{n}/{lang}.html": numbered(lang, n) for lang in ("en", "zh") for n in (1, 2)}
    run = matched(tmp_path, pages)
    reasons = reasons_of(run)
    assert {reasons[f"{n}/{lang}.html"] for lang in ("en", "zh") for n in (1, 2)} == {"filter-weak-pattern"}
    assert {reason for url, reason in reasons.items() if url.count("/") > 1} == {"no-candidate"}


def test_evidence_for_candidates_is_the_credibility_of_their_pattern() -> None:
    english, chinese = ([f"{BASE}/{folder}/{n}.html" for n in range(5)] for folder in ("en", "tc"))
    values = url_clues(english, chinese, ("en", "zh-Hant")).pairs
    assert values.toarray().tolist() == np.eye(5).tolist()
    assert values.dtype == np.float32


def test_pairs_of_weak_patterns_are_joined_without_credibility() -> None:
    """Two pairs among 44 pages: 4/44 is below the limit. They are among the joined pairs, not the credible ones."""
    english = [f"{BASE}/{n}/en.html" for n in range(2)] + [f"{BASE}/{n}/a{n}.html" for n in range(2, 42)]
    chinese = [f"{BASE}/{n}/tc.html" for n in range(2)]
    given = english, chinese, ("en", "zh-Hant"), PatternSettings()
    joined, credibility = pairs_of_patterns(*given)
    assert joined.toarray().tolist() == np.eye(42, 2, dtype=np.bool_).tolist()
    assert credibility.toarray().sum() == 0
    assert url_clues(*given).pairs.nnz == 0


def test_an_address_given_twice_keeps_its_evidence() -> None:
    english, chinese = ([f"{BASE}/{folder}/{n}.html" for n in range(5)] for folder in ("en", "tc"))
    joined, credibility = pairs_of_patterns([*english, english[0]], chinese, ("en", "zh-Hant"))
    assert joined.toarray()[0, 0]
    assert credibility.toarray()[0, 0] == 1


def test_pages_whose_pattern_gives_an_address_that_no_page_has_are_marked() -> None:
    """Pages 0 to 4 are paired; /en/7 and /tc/8 should have partners, and two addresses follow no pattern."""
    english = [f"{BASE}/en/{n}.html" for n in (0, 1, 2, 3, 4, 7)] + [f"{BASE}/news-1.html"]
    chinese = [f"{BASE}/tc/{n}.html" for n in (0, 1, 2, 3, 4, 8)] + [f"{BASE}/x/news-2.html"]
    clues = url_clues(english, chinese, ("en", "zh-Hant"), PatternSettings())
    assert (clues.pairs.toarray() > 0).tolist() == (np.diag([1, 1, 1, 1, 1, 0, 0]) > 0).tolist()
    assert np.flatnonzero(clues.missing_a).tolist() == [5]
    assert np.flatnonzero(clues.missing_b).tolist() == [5]


@pytest.mark.parametrize(
    ("english_host", "chinese_host"), [("en.x.hk", "tc.x.hk"), ("x.hk", "tc.x.hk"), ("en.x.hk:8080", "tc.x.hk:8080")]
)
def test_pages_are_marked_where_hosts_name_the_language(english_host: str, chinese_host: str) -> None:
    english = [f"http://{english_host}/{name}.html" for name in ("a", "b", "c", "d", "map")]
    chinese = [f"http://{chinese_host}/{name}.html" for name in ("a", "b", "c", "d", "jobs")]
    clues = url_clues(english, chinese, ("en", "zh-Hant"), PatternSettings())
    assert clues.pairs.nnz == 4
    assert np.flatnonzero(clues.missing_a).tolist() == [4]
    assert np.flatnonzero(clues.missing_b).tolist() == [4]


def test_pages_on_a_host_that_no_pattern_changes_are_not_marked() -> None:
    english = [f"http://en.x.hk/{n}.html" for n in range(4)] + ["http://blog.x.hk/7.html"]
    chinese = [f"http://tc.x.hk/{n}.html" for n in range(4)]
    assert not url_clues(english, chinese, ("en", "zh-Hant"), PatternSettings()).missing_a.any()


def test_weak_patterns_miss_no_page() -> None:
    english = [f"{BASE}/{n}/en.html" for n in range(3)] + [f"{BASE}/{n}/a{n}.html" for n in range(3, 63)]
    chinese = [f"{BASE}/{n}/tc.html" for n in range(2)]
    clues = url_clues(english, chinese, ("en", "zh-Hant"), PatternSettings())
    assert clues.pairs.nnz == 0
    assert not clues.missing_a.any()
