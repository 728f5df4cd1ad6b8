"""Every verb with ``--json``: one object with documented keys, of the same content as the text."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer.main

from tests.calling import Done, mine_toy, twinlink
from tests.loopback import Answer, links, serving
from tests.made_sites import BASE, page, write_pages, write_toy
from twinlink.cli import app
from twinlink.cli.results import discovery, pages, record, sentences, sites
from twinlink.cli.results import evaluation as judged
from twinlink.cli.results import review as looking

VERBS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy site mined, aligned, and its patterns learned."""
    folder = tmp_path_factory.mktemp("json")
    done = mine_toy(folder)
    assert done.returncode == 0, done.stderr
    for verb in ("align", "patterns"):
        assert twinlink(verb, folder / "run", "-q").returncode == 0
    return folder


@pytest.fixture
def run(toy: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(toy / "run", tmp_path / "run"))


def both(*args: object) -> tuple[dict[str, Any], str]:
    """Call a command twice, for JSON and for text, and return what it says."""
    told, text = twinlink(*args, "--json"), twinlink(*args)
    assert told.returncode == text.returncode == 0, told.stderr
    assert "next:" not in told.stderr
    assert len(told.stdout.splitlines()) == 1
    return told.object, text.stdout


def numbers(value: object) -> list[float]:
    """Return the numbers anywhere in a JSON value."""
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, (int, float)):
        return [value]
    if isinstance(value, str):
        return []
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [number for part in parts for number in numbers(part)]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_it(verb: str) -> None:
    assert any("--json" in parameter.opts for parameter in VERBS[verb].params)


def test_match(run: Path) -> None:
    told, text = both("match", run)
    assert (told["n_pages"], told["n_pairs"], told["languages"]) == (10, 5, {"en": 5, "zh-Hant": 5})
    low, high = told["expected_interval"]
    assert low <= told["expected_precision"] <= high
    claim = f"{told['expected_precision']:.3f} ({low:.3f} to {high:.3f})"
    assert f"5 pairs, expected precision {claim} → {told['pairs']}" in text
    assert (told["run"], told["report"]) == (str(run), f"{run}/report.html")
    assert (told["sentences"], told["why_none"], told["filters"]) == (None, None, {})


def test_match_with_little_memory(run: Path) -> None:
    told, text = both("match", run, "--set", "run.memory=1MB")
    (note,) = told["notes"]
    assert "run.memory allows 0 bytes" in note
    assert f"note: {note}" in text


def test_mine_with_sentences(tmp_path: Path) -> None:
    toy = write_toy(tmp_path / "toy")
    told, text = both("mine", toy, "--base-url", BASE, "-o", tmp_path / "run", "--langs", "en,zh", "--align")
    assert told["n_pairs"] == 5
    assert told["sentences"]["n_sentence_pairs"] > 0
    lines = text.splitlines()
    assert lines[-2] == f"{told['sentences']['n_sentence_pairs']} sentence pairs → {tmp_path}/run/align"
    assert lines[-1] == f"report → {tmp_path}/run/report.html"
    assert (tmp_path / "run" / "align").is_dir()


def test_mine_aligns_nothing_by_itself(toy: Path, tmp_path: Path) -> None:
    told = twinlink("mine", toy / "toy", "--base-url", BASE, "-o", tmp_path / "run", "--langs", "en,zh", "--json")
    assert told.object["sentences"] is None
    assert not (tmp_path / "run" / "align").exists()


def test_no_pair_is_an_error_with_all_counts(run: Path) -> None:
    done = twinlink("match", run, "--min-probability", "1", "--json")
    assert done.returncode == done.object["exit_code"] == 5
    assert (done.object["kind"], done.object["n_pairs"], done.object["n_pages"]) == ("NothingFoundError", 0, 10)
    assert done.object["rejects"]
    assert done.object["why_none"] in done.object["error"]
    assert done.object["error"] in done.stderr
    assert done.object["why_none"].startswith("every pair that was found is below the limit")
    none = twinlink("match", run, "--set", "match.max_pairs=0", "--json").object["why_none"]
    assert none.startswith("every pair that was found is left out")


def test_crawl_and_ingest(tmp_path: Path) -> None:
    there = {"/": links("/one.html", "/gone.html"), "/one.html": links()}
    with serving(lambda path: there.get(path, Answer(status=404))) as site:
        crawled = twinlink("crawl", site.url, "-o", tmp_path / "run", "--json", "-q").object
    assert (crawled["fetched"], crawled["rejected"], crawled["queued"], crawled["n_sites"]) == (2, 1, 0, 1)
    assert crawled["rejects"] == {"http-404": 1}
    assert crawled["sites"][0]["pages"] == 2
    told, text = both("ingest", "-o", tmp_path / "run")
    assert told["n_pages"] == 1
    assert f"1 page, {told['n_links']} links, {told['n_rejects']} rejects → {told['tables']}" in text


def test_ingest_counts_its_own_rejects_after_a_match(run: Path) -> None:
    before = twinlink("ingest", "-o", run, "--json", "-q").object["n_rejects"]
    dropped = twinlink("match", run, "--min-probability", "0.99", "--json", "-q").object["rejects"]
    assert any(row["stage"] == "match" for row in dropped)
    assert twinlink("ingest", "-o", run, "--json", "-q").object["n_rejects"] == before


def test_align(run: Path) -> None:
    told, text = both("align", run)
    (langs,) = told["by_languages"]
    assert langs["langs"] == "en-zh-Hant"
    assert f"{langs['langs']}: {langs['kept']} sentence pairs" in text
    assert told["n_sentence_pairs"] == langs["kept"] > 0
    assert langs["without_chance"] == langs["kept"], "so small a site has too few wrong pairs to compare with"
    assert f"{langs['langs']}: chance not known; the score is the probability of the alignment" in text


def test_align_two_texts(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The bridge was built in 1901.\nThe road is closed.\n")
    (tmp_path / "b.txt").write_text("Le pont fut construit en 1901.\nLa route est barrée.\n")
    told, text = both("align", tmp_path / "a.txt", tmp_path / "b.txt")
    assert [f"{pair['a']}\t{pair['b']}\t{pair['probability']:.4f}" for pair in told["pairs"]] == text.splitlines()
    told, text = both("align", tmp_path / "a.txt", tmp_path / "b.txt", "--format", "beads")
    assert told["beads"] == [[[0], [0]], [[1], [1]]]
    assert text == "[0]:[0]\n[1]:[1]\n"


def test_evaluate_with_its_curve(run: Path, tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_text("/en/a.html\t/zh/a.html\n/en/x.html\t/zh/x.html\n")
    told, text = both("evaluate", run, "--gold", tmp_path / "gold.tsv", "--curve")
    assert (told["gold"], told["predicted"], told["recall"]) == (2, 5, 0.5)
    assert told["not_in_run"] == ["/en/x.html", "/zh/x.html"]
    assert "note: 2 of 4 gold addresses are not in the run" in text
    assert f"precision {told['precision']:.4f}  recall 0.5000  F1 {told['f1']:.4f}" in text
    assert "probability  precision  recall" in text
    assert told["curve_by"] == "probability"
    rows = [f"{point['cut']:11.4f}  {point['precision']:9.4f}  {point['recall']:6.4f}" for point in told["curve"]]
    assert text.splitlines()[-len(rows) :] == rows
    assert twinlink("evaluate", run, "--gold", tmp_path / "gold.tsv", "--json").object["curve"] is None


def test_explain(run: Path) -> None:
    told, text = both("explain", run, f"{BASE}/en/a.html")
    assert told["url"] == f"{BASE}/en/a.html"
    assert text.startswith(f"{told['url']}\n{told['verdict']}\n")
    assert told["state"] == "pair"
    assert f"evidence for {' ↔ '.join(told['shown'])}:" in text
    assert {row["evidence"] for row in told["evidence"]} <= set(told["weights"])
    assert told["candidates"][0]["pair"] == "yes"
    assert 0 < told["candidates"][0]["score"] <= 1
    assert "a pair: probability" in twinlink("explain", run, "/en/a.html", "/zh/a.html").stdout


def test_explain_has_no_table_of_evidence_where_none_was_measured(run: Path, tmp_path: Path) -> None:
    other = shutil.copytree(run, tmp_path / "other")
    assert twinlink("match", other, "--method", "bitextor2010", "-q").returncode in {0, 5}
    _, text = both("explain", other, f"{BASE}/en/a.html")
    assert "evidence for" not in text


def test_verify(run: Path, tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text(f"{BASE}/en/a.html\t{BASE}/zh/a.html\n{BASE}/en/a.html\t{BASE}/nowhere\n")
    told, text = both("verify", tmp_path / "p.tsv", "--run", run, "--method", "jangeldin")
    assert [each["method"] for each in told["methods"]] == ["jangeldin"]
    assert sum(told["methods"][0]["counts"].values()) == 1
    assert f"not judged: {next(iter(told['not_judged']))} 1" in text


def test_patterns_with_an_export(run: Path, tmp_path: Path) -> None:
    told, text = both("patterns", run, "--export", tmp_path / "x.tsv")
    assert text.splitlines()[-1] == f"{told['n_exported']} key → {told['exported']}"
    assert told["n_exported"] == 1
    assert [rule["rule"] for rule in told["rules"]] == ["/en/ ↔ /zh/"]
    assert told["verdicts"]["credible"] == 1


def test_rank_and_recover(run: Path, tmp_path: Path) -> None:
    told, text = both("rank", run, "--export", tmp_path / "g.graphml")
    assert f"sites: {told['n_crawled']} crawled, {told['n_candidates']} candidates → {told['sites']}" in text
    assert told["exported"] == str(tmp_path / "g.graphml")
    guessed, lines = both("recover", run, "--dry-run")
    assert [[guess["url"], guess["page"]] for guess in guessed["addresses"]] == [
        line.split("\t")[::3] for line in lines.splitlines()
    ]


def test_report_and_labels(run: Path, tmp_path: Path) -> None:
    told, text = both("report", run, "-o", tmp_path / "r.html")
    assert (told["report"], told["n_bytes"]) == (f"{tmp_path}/r.html", (tmp_path / "r.html").stat().st_size)
    assert told["report"] in text
    told, text = both("review", run, "--export", tmp_path / "labels.tsv")
    assert (told["accepted"], told["rejected"], told["exported"]) == (0, 0, f"{tmp_path}/labels.tsv")


@pytest.mark.parametrize(
    ("args", "code", "kind"),
    [
        (["match", "no-run"], 3, "RunError"),
        (["mine", "nowhere", "-o", "run"], 2, "InputError"),
        (["match", "run", "--set", "no.such=1"], 2, "ConfigError"),
        (["match"], 2, "MissingParameter"),
        (["match", "run", "--method", "best"], 2, "BadParameter"),
        (["frobnicate"], 2, "UsageError"),
    ],
)
def test_an_error_is_an_object_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], code: int, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = twinlink(*args, "--json")
    assert (done.returncode, done.object["exit_code"], done.object["kind"]) == (code, code, kind)
    assert done.object["error"] in done.stderr
    assert "Traceback" not in done.stderr


def test_other_encodings_get_the_same_object(run: Path) -> None:
    assert twinlink("explain", run, "/en/a.html", "--json", encoding="latin-1").object["verdict"]


def test_no_number_is_null() -> None:
    assert json.loads(record.json_text({"a": [float("nan"), float("inf")], "b": {"c": 1.5}})) == {
        "a": [None, None],
        "b": {"c": 1.5},
    }


def test_text_has_what_the_object_has(run: Path) -> None:
    """The numbers of the object stand in the text, those of the tables aside."""
    told, text = both("match", run)
    there = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]
    for number in numbers(told):
        assert any(abs(number - other) <= 0.0005 for other in there), number


def test_every_key_says_what_it_is() -> None:
    records = [
        kind
        for module in (record, pages, sentences, judged, sites, discovery, looking)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind.__module__ == module.__name__
    ]
    assert len(records) > 15
    for kind in records:
        source = Path(__import__(kind.__module__, fromlist=["x"]).__file__ or "").read_text(encoding="utf-8")
        body = source.split(f"class {kind.__name__}(", 1)[1].split("\nclass ", 1)[0]
        for name in kind.__annotations__:
            assert re.search(rf'^    {name}: .*\n    """', body, re.MULTILINE), f"{kind.__name__}.{name}"


def test_a_site_in_one_language(tmp_path: Path) -> None:
    texts = {f"{n}.html": page(f"This is page number {n} about the library and its hours.") for n in range(5)}
    folder = write_pages(tmp_path / "site", texts)
    done: Done = twinlink("mine", folder, "--base-url", BASE, "-o", tmp_path / "run", "--json", "-q")
    assert (done.returncode, done.object["why_none"]) == (5, "all pages are in one language")
