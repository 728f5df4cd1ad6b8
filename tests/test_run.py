"""The notebook object: tables, graph, explanations."""

from __future__ import annotations

import re
import shutil
import sys
from datetime import UTC, datetime
from types import SimpleNamespace

import lxml.html
import networkx as nx
import numpy as np
import pytest

import twinlink as tl
from tests.calling import twinlink
from tests.made_sites import BASE, page, write_pages, write_toy
from twinlink.errors import ConfigError, InputError, MissingStageError, NothingFoundError, RunError
from twinlink.explain.explanation import Explanation
from twinlink.labels.book import Label, LabelBook
from twinlink.progress import is_watched
from twinlink.toy import toy_site


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    toy = write_toy(folder / "toy")
    return tl.mine(str(toy), out=folder / "run", langs=("en", "zh"), ingest__base_url=BASE, match__min_score=0.0)


def test_tables_are_frames(run):
    assert len(run.pages) == 10
    assert set(run.pages["lang"]) == {"en", "zh-Hant"}
    assert len(run.links) == 8
    assert len(run.pairs) == 5
    assert run.sites[["site", "n_pages", "n_pairs"]].values.tolist() == [["toy.example", 10, 5]]
    assert run.rejects.empty


def test_a_run_may_be_named_by_a_string(run):
    assert len(tl.Run(str(run.path)).pairs) == 5


def test_pairs_come_most_probable_first(run):
    assert run.pairs["probability"].is_monotonic_decreasing


def test_link_matrix_and_graph_say_the_same(run):
    matrix, graph = run.link_matrix(), run.graph()
    assert matrix.shape == (10, 10)
    assert matrix.nnz == graph.number_of_edges() == 8
    assert set(graph.successors(f"{BASE}/en/c.html")) == {f"{BASE}/en/d.html", f"{BASE}/en/e.html"}
    assert graph.nodes[f"{BASE}/zh/a.html"]["lang"] == "zh-Hant"
    assert graph.nodes[f"{BASE}/en/a.html"]["title"] == "Library hours"


def test_an_explanation_shows_numbers_and_rivals(run):
    pair = run.explain(f"{BASE}/en/a.html", f"{BASE}/zh/a.html")
    assert pair.verdict.startswith("a pair")
    assert list(pair.candidates["pair"]).count("yes") >= 1
    assert sum(pair.weights.values()) == pytest.approx(1)
    assert "<table" in pair._repr_html_()


def test_two_pages_that_are_no_pair_and_who_was_taken_instead(run):
    verdict = run.explain(f"{BASE}/en/a.html", f"{BASE}/zh/b.html").verdict
    assert verdict.startswith("not a pair")
    assert "was chosen instead" in verdict


def test_two_pages_of_one_language_are_called_that(run):
    assert "both pages are in the same language (en)" in run.explain(f"{BASE}/en/a.html", "/en/b.html").verdict


def test_a_page_is_not_explained_with_itself(run):
    with pytest.raises(InputError, match="the same page"):
        run.explain("/en/a.html", f"{BASE}/en/../en/a.html#top")


def test_a_path_is_not_enough_where_there_are_several_hosts(tmp_path):
    for host in ("a.example.org", "b.example.org"):
        write_pages(tmp_path / "mirror" / host, {"x.html": page(f"Some text of {host}.")})
    run = tl.mine(str(tmp_path / "mirror"), out=tmp_path / "run")
    with pytest.raises(InputError, match="several hosts"):
        run.explain("/x.html")


def test_rejects_of_a_run_with_nothing_in_it(tmp_path):
    (tmp_path / "ledger.sqlite").touch()
    with pytest.raises(MissingStageError, match="no ingest here yet"):
        _ = tl.open(tmp_path).rejects


def test_languages_may_be_one_text(run, tmp_path):
    toy = write_toy(tmp_path / "toy")
    again = tl.mine(toy, out=tmp_path / "run", langs="en, zh", ingest__base_url=BASE, match__min_score=0.0)
    assert again.config.langs == run.config.langs
    assert again.pairs["url_a"].tolist() == run.pairs["url_a"].tolist()


def test_a_run_can_be_opened_again(run):
    assert tl.open(run.path).pairs.equals(run.pairs)
    assert repr(tl.open(run.path)) == f"<Run {str(run.path)!r}: 10 pages, 5 pairs>"


def test_a_run_stays_the_same_in_another_folder(run, tmp_path, monkeypatch):
    monkeypatch.chdir(run.path.parent)
    opened = tl.open(run.path.name)
    assert repr(opened) == "<Run 'run': 10 pages, 5 pairs>"
    (tmp_path / run.path.name).mkdir()
    monkeypatch.chdir(tmp_path)
    assert len(opened.pages) == 10
    assert repr(opened) == f"<Run {str(run.path)!r}: 10 pages, 5 pairs>"


def test_what_the_command_line_has_as_options_are_arguments(run, tmp_path):
    toy, lexicon = write_toy(tmp_path / "toy"), tmp_path / "en-zh.tsv"
    lexicon.write_text("library\t圖書館\n")
    wanted = {"base_url": BASE, "lexicon": lexicon, "match__min_score": 0.0}
    again = tl.mine(toy, out=tmp_path / "run", langs="en,zh", **wanted)
    assert again.config.match.lexicons == (str(lexicon),)
    assert set(again.pairs["url_a"]) == set(run.pairs["url_a"])
    with pytest.raises(InputError, match="no such file"):
        tl.mine(toy, out=tmp_path / "other", lexicon="none.tsv", base_url=BASE)


def test_a_match_is_done_again_from_python(run, tmp_path):
    shutil.copytree(run.path, tmp_path / "run")
    again = tl.open(tmp_path / "run")
    assert len(again.pairs) == 5
    assert again.match(match__max_pairs=2) is again
    assert len(again.pairs) == 2
    assert repr(again).endswith(": 10 pages, 2 pairs>")
    with pytest.raises(NothingFoundError, match="no page is in fr"):
        again.match(langs="en,fr")
    assert len(tl.open(again.path).pairs) == 2


def test_settings_may_be_numbers_of_numpy_and_names_one_text(run, tmp_path):
    shutil.copytree(run.path, tmp_path / "run")
    again = tl.open(tmp_path / "run")
    again.match(match__max_pairs=np.int64(2), match__min_score=np.float64(0.0), crawl__langs="en,zh")
    assert (len(again.pairs), again.config.match.max_pairs) == (2, 2)
    again.match(forget="match.max_pairs, match__min_precision", match__min_score=0.0)
    assert len(again.pairs) == 5
    again.match(forget="all")
    assert (again.config.match.min_score, again.config.langs) == (None, ())


def test_the_lexicon_of_an_alignment_may_be_one(run, tmp_path):
    shutil.copytree(run.path, tmp_path / "run")
    lexicon = tmp_path / "en-zh.tsv"
    lexicon.write_text("library\t圖書館\n")
    for one in (str(lexicon), lexicon, [lexicon]):
        assert tl.open(tmp_path / "run").align(one).config.bitext.lexicons == (str(lexicon),)


def test_a_setting_that_is_given_twice_is_refused(run, tmp_path):
    with pytest.raises(ConfigError, match=r"match\.lexicons: given twice"):
        tl.mine(run.path, out=tmp_path / "run", lexicon="a.tsv", match__lexicons=["b.tsv"])
    with pytest.raises(ConfigError, match=r"ingest\.base_url: given twice"):
        tl.mine(run.path, out=tmp_path / "run", base_url=BASE, ingest__base_url=f"{BASE}/other")


@pytest.mark.parametrize(("progress", "is_shown"), [(None, False), (True, True), (False, False)])
def test_progress_is_shown_where_it_is_wanted(tmp_path, capsys, progress, is_shown):
    toy = write_toy(tmp_path / "toy")
    tl.mine(toy, out=tmp_path / "run", base_url=BASE, match__min_score=0.0, progress=progress)
    shown = capsys.readouterr().err
    assert ("match: 10 of 10" in shown) == is_shown, shown
    assert bool(shown) == is_shown, shown


def test_a_notebook_shows_one_line_that_is_gone_in_the_end(monkeypatch, tmp_path):
    assert not is_watched()
    shown = []
    handle = SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))
    ipython = SimpleNamespace(display=lambda data, raw, display_id: handle)
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell, display=ipython))
    monkeypatch.setitem(sys.modules, "IPython.display", ipython)
    assert is_watched()
    tl.mine(write_toy(tmp_path / "toy"), out=tmp_path / "run", base_url=BASE, match__min_score=0.0)
    assert any(line.startswith("match: 0 of 10 · 0 %") and line.endswith("languages") for line in shown)
    assert shown[-1] == ""


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    makes = re.escape("`tl.mine(…, out=…)` makes one")
    with pytest.raises(RunError, match=f"not a run directory .*{makes}"):
        tl.open(tmp_path)
    with pytest.raises(RunError, match=f"no such folder; {makes}"):
        tl.open(tmp_path / "none")
    with pytest.raises(RunError, match=f"no such folder; {makes}"):
        tl.compare(tmp_path / "none", tmp_path)
    assert "no such folder; `twinlink mine … -o " in twinlink("report", tmp_path / "none").stderr


@pytest.fixture(scope="module")
def aligned(run, tmp_path_factory):
    """A copy of the run with everything done."""
    folder = tmp_path_factory.mktemp("all") / "run"
    shutil.copytree(run.path, folder)
    return tl.open(folder).align().learn_patterns().rank()


@pytest.mark.parametrize(
    ("name", "method", "command"),
    [
        ("segments", "run.align()", "twinlink align RUN"),
        ("patterns", "run.learn_patterns()", "twinlink patterns RUN"),
        ("rounds", "tl.discover(…, out=…)", "twinlink discover SEED... -o RUN"),
        ("probes", "tl.discover(…, out=…)", "twinlink discover SEED... -o RUN"),
    ],
)
def test_a_stage_that_is_missing_names_what_does_it(run, name, method, command):
    with pytest.raises(MissingStageError, match=re.escape(f"run `{method}`")):
        getattr(run, name)
    with pytest.raises(MissingStageError, match=re.escape(f"run `{command.replace('RUN', str(run.path))}`")):
        getattr(tl.Run(run.path, for_commands=True), name)


def test_missing_pages_name_mine_and_match(tmp_path):
    (tmp_path / "ledger.sqlite").touch()
    found = tl.open(tmp_path)
    mine, match = "`tl.mine(…, out=…)`", "`run.match()`"
    for ask, wanted in (
        (lambda: found.pages, f"run {mine} first"),
        (lambda: found.pairs, f"run {match} or {mine} first"),
        (found.report, f"run {mine} first"),
        (found.export, f"run {mine} first"),
        (lambda: found.evaluate([]), f"run {match} or {mine} first"),
        (lambda: found.explain("/"), f"run {mine} first"),
    ):
        with pytest.raises(MissingStageError, match=re.escape(wanted)):
            ask()
    assert (
        f"run `twinlink ingest PATH... -o {tmp_path}` or `twinlink mine` first"
        in twinlink("explain", tmp_path, "/").stderr
    )


def test_warnings_name_arguments(run, tmp_path, caplog):
    shutil.copytree(run.path, tmp_path / "run")
    tl.open(tmp_path / "run").match(run__memory="250MB", match__max_pairs=4)
    (line,) = (record.getMessage() for record in caplog.records if "run__memory" in record.getMessage())
    assert re.search(r"\(run__memory='\d+MB'\), or read less of the site \(ingest__url_prefixes=…, or", line)
    assert "--" not in line


def test_jobs_take_what_mine_takes(run, tmp_path):
    shutil.copytree(run.path, tmp_path / "run")
    found = tl.open(tmp_path / "run")
    reports = {}
    for name, more in (
        ("match", {"workers": 1, "match__max_pairs": 4}),
        ("align", {"workers": 1}),
        ("learn_patterns", {}),
        ("rank", {}),
    ):
        seen = []
        getattr(found, name)(forget="match.ets", progress=lambda *report, seen=seen: seen.append(report), **more)
        reports[name] = {report[0] for report in seen}
    assert reports == {"match": {"match"}, "align": {"align"}, "learn_patterns": {"patterns"}, "rank": {"rank"}}
    for job in (found.match, found.align):
        with pytest.raises(ConfigError, match="workers and cluster: expected one of them"):
            job(workers=1, cluster="tcp://nowhere:1")


def test_report_takes_known_pairs(run, tmp_path):
    gold = tmp_path / "gold.tsv"
    gold.write_text("".join(f"{a}\t{b}\n" for a, b in toy_site().pairs[:4]))
    by_file = run.report(tmp_path / "file.html", gold).read_text()
    by_pairs = run.report(tmp_path / "pairs.html", tl.read_gold(gold)).read_text()
    assert "By the list gold.tsv" in by_file
    assert by_file.count("the list gold.tsv") == by_pairs.count("the known pairs")


def test_every_table_has_the_columns_that_are_documented(aligned):
    for name in (
        "pages",
        "links",
        "pairs",
        "candidates",
        "weights",
        "filters",
        "checks",
        "look_alikes",
        "rejects",
        "segments",
        "patterns",
    ):
        frame, texts = getattr(aligned, name), aligned.columns(name)
        assert list(frame.columns) == list(texts.index), name
        assert all(texts), name
    with pytest.raises(ConfigError, match="no such table; there are pages, links"):
        aligned.columns("page")


def test_only_kept_beads_are_sentence_pairs(aligned):
    n_kept = int((aligned.segments["verdict"] == "segment").sum())
    assert n_kept < len(aligned.segments)
    assert repr(aligned).endswith(f": 10 pages, 5 pairs, {n_kept} sentence pairs>")


def test_tables_are_read_again_after_another_job(tmp_path):
    toy, wanted = write_toy(tmp_path / "toy"), {"base_url": BASE, "match__min_score": 0.0}
    assert twinlink("ingest", toy, "--base-url", BASE, "-o", tmp_path / "run", "-q").returncode == 0
    found = tl.open(tmp_path / "run")
    assert "not known 10" in found._repr_html_()
    tl.mine(toy, out=tmp_path / "run", langs="en,zh", **wanted)
    assert "en 5, zh-Hant 5" in found._repr_html_()
    assert found.addresses is found.addresses, "what is read is kept until a job changes the run"
    more = write_pages(tmp_path / "more", {"en/f.html": page("Rain and wind."), "zh/f.html": page("雨和风。")})
    tl.mine(more, out=tmp_path / "run", add=True, **wanted)
    assert found.explain("/en/f.html").url == f"{BASE}/en/f.html"


def test_sites_have_one_shape_ranked_or_not(run, aligned):
    assert list(run.sites.columns) == list(aligned.sites.columns) == list(run.columns("sites").index)
    assert (run.sites.dtypes == aligned.sites.dtypes).all()
    assert run.sites["ours"].isna().all()
    assert aligned.sites.loc[0, ["state", "n_pages", "n_pairs"]].tolist() == ["crawled", 10, 5]
    assert aligned.sites["ours"].notna().all()


def test_pages_have_a_language_or_null(run, tmp_path):
    shutil.copytree(run.path, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "match")
    unmatched = tl.open(tmp_path / "run")
    assert list(unmatched.pages.columns) == list(run.pages.columns)
    assert unmatched.pages["lang"].isna().all()
    assert unmatched.sites["n_pairs"].isna().all()
    node = unmatched.graph().nodes[f"{BASE}/en/c.html"]
    assert node == {"site": "toy.example", "title": "Around town", "lang": "", "partner": ""}
    assert "not known 10" in unmatched._repr_html_()


def test_partners_are_in_the_graph_and_survive_graphml(run, tmp_path):
    graph = run.graph()
    for url_a, url_b in toy_site().pairs:
        assert graph.nodes[url_a]["partner"] == url_b
        assert graph.nodes[url_b]["partner"] == url_a
    nx.write_graphml(graph, tmp_path / "site.graphml")
    assert nx.read_graphml(tmp_path / "site.graphml").nodes[f"{BASE}/en/a.html"]["partner"] == f"{BASE}/zh/a.html"


def test_work_is_seen_without_opening_the_run_again(aligned):
    assert aligned.has("align")
    assert aligned.has("rank")
    assert not aligned.has("recover")
    assert set(aligned.patterns["rule"]) == {"/en/ ↔ /zh/"}
    assert {"segment"} < set(aligned.segments["verdict"]) | {"segment", ""}


def test_labels_are_read_every_time(run, tmp_path):
    shutil.copytree(run.path, tmp_path / "run")
    found = tl.open(tmp_path / "run")
    assert list(found.labels.columns) == ["url_a", "url_b", "verdict", "who", "when", "note"]
    assert found.labels.empty
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    LabelBook(found.path).add(Label(*toy_site().pairs[0], "reject", "ann", when, "no"))
    (row,) = found.labels.to_dict("records")
    assert (row["url_a"], row["verdict"], row["who"], row["note"]) == (toy_site().pairs[0][0], "reject", "ann", "no")
    assert row["when"] == when


def test_evaluation_and_its_curve(run, tmp_path):
    gold = tmp_path / "gold.tsv"
    gold.write_text("".join(f"{a}\t{b}\n" for a, b in toy_site().pairs[:4]))
    found = run.evaluate(gold)
    assert (found.n_right, found.n_wrong, found.n_gold) == (4, 1, 4)
    assert run.evaluate(tl.read_gold(gold)) == found
    curve = run.precision_coverage(str(gold))
    assert list(curve.columns) == ["coverage", "score", "precision", "recall"]
    assert curve["coverage"].tolist() == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert curve["recall"].iloc[-1] == 1
    assert curve["precision"].iloc[-1] == pytest.approx(0.8)
    assert curve["score"].is_monotonic_decreasing


def test_what_is_done_to_a_table_does_not_change_the_run(run):
    before = run.expected_precision()
    pairs, pages = run.pairs, run.pages
    pairs["probability"] = 0.01
    pages.pop("url")
    assert run.expected_precision() == before
    assert run.link_matrix().shape[0] == len(run.pages) == 10


def test_pages_in_no_wanted_language_are_a_warning(tmp_path, caplog):
    toy = write_toy(tmp_path / "toy")
    with caplog.at_level("WARNING", "twinlink"):
        found = tl.mine(str(toy), out=tmp_path / "run", langs="de,ja", base_url=BASE)
    assert found.pairs.empty
    assert "0 pairs: no page is in de (German), of langs de,ja" in caplog.messages


def test_packages_are_attributes():
    assert tl.similarity.content_similarity.__module__.startswith("twinlink.similarity")
    assert callable(tl.plots.facing_halves)


def test_evaluate_stays_a_function_however_often_it_is_used(run, tmp_path):
    gold = tl.read_gold(write_gold(tmp_path))
    for _ in range(2):
        assert tl.evaluate(toy_site().pairs, gold).f1 == 1


def write_gold(folder):
    path = folder / "gold.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in toy_site().pairs))
    return path


def test_a_report_is_written_where_it_is_wanted(run, tmp_path):
    shutil.copytree(run.path, tmp_path / "run")
    found = tl.open(tmp_path / "run")
    assert found.report() == tmp_path / "run" / "report.html"
    assert found.report(tmp_path / "other.html", gold=write_gold(tmp_path)).read_text(encoding="utf-8").startswith("<!")


def test_a_run_shows_itself(aligned):
    shown = aligned._repr_html_()
    for text in ("10 (en 5, zh-Hant 5)", "5 (en–zh-Hant 5)", "ingest, match, align, patterns, rank", "sentence pairs"):
        assert text in shown
    assert str(aligned.path.parent) not in shown, "where somebody keeps his runs is nobody's business"


def test_the_expected_precision_has_an_interval(run):
    found = run.expected_precision()
    assert found.precision == pytest.approx(run.pairs["probability"].mean())
    assert 0 <= found.interval[0] <= found.precision <= found.interval[1] <= 1
    assert f"expected precision {found}" in run._repr_html_()


def test_evidence_is_that_of_the_pair_beside_its_best_rival(run):
    pair = run.explain(f"{BASE}/en/a.html", f"{BASE}/zh/a.html")
    assert (pair.state, pair.shown) == ("pair", (f"{BASE}/en/a.html", f"{BASE}/zh/a.html"))
    assert list(pair.evidence.columns) == ["evidence", "value", "rival", "weight", "meaning"]
    assert pair.evidence["weight"].is_monotonic_decreasing
    assert pair.evidence["weight"].sum() == pytest.approx(1)
    candidates = run.candidates.assign(url_a=run.candidates["page_a"].map(run.pages.set_index("page_id")["url"]))
    candidates["url_b"] = run.candidates["page_b"].map(run.pages.set_index("page_id")["url"])
    is_own = (candidates["url_a"] == pair.shown[0]) & (candidates["url_b"] == pair.shown[1])
    touches = (candidates["url_a"] == pair.shown[0]) | (candidates["url_b"] == pair.shown[1])
    rival = candidates[touches & ~is_own].sort_values("score").iloc[-1]
    for row in pair.evidence.itertuples():
        assert row.value == candidates.loc[is_own, row.evidence].item()
        assert row.rival == rival[row.evidence]


def test_one_page_is_explained_with_the_evidence_of_its_pair(run):
    alone, both = run.explain("/zh/c.html"), run.explain("/en/c.html", "/zh/c.html")
    assert alone.shown == both.shown
    assert alone.evidence.equals(both.evidence)
    assert alone.state == "pair"


def test_an_explanation_is_text_where_there_is_no_notebook(run):
    told = run.explain("/en/a.html")
    assert repr(told) == str(told)
    lines = str(told).splitlines()
    assert lines[0] == f"{BASE}/en/a.html"
    assert lines[1].startswith("paired: ")
    assert any(re.match(r"content +\d\.\d\d +\d\.\d\d +\d\.\d\d  words of one page", line) for line in lines)


def test_an_explanation_shows_titles_and_the_candidates_of_each_page(run):
    told = run.explain("/en/a.html", "/zh/a.html")
    assert told.titles[f"{BASE}/en/a.html"] == "Library hours"
    lines = str(told).splitlines()
    assert lines[lines.index(f"evidence for {' ↔ '.join(told.shown)}:") + 1].startswith("Library hours ↔ ")
    for url, other in (told.shown, told.shown[::-1]):
        start = lines.index(f"candidates of {url}:")
        assert lines[start + 1] == "score"
        best = lines[start + 2].split(maxsplit=3)
        assert best[1:] == ["pair", other, told.titles[other]]
        assert f"{told.candidates['score'].max():.2f}" == best[0]


def test_what_pages_say_does_not_become_html(run):
    evil = '<img src=x onerror="alert(1)">\u202egnp'
    rows = run.explain("/en/a.html").candidates.assign(url_b=f"javascript:{evil}")
    told = Explanation(f"https://a.example/{evil}", evil, rows, {}, "pair", (evil, evil))
    shown = told._repr_html_()
    assert "<img" not in shown
    assert 'href="javascript:' not in shown
    assert shown.count("<bdi>") == shown.count("</bdi>") > 5
    assert set(lxml.html.fragment_fromstring(shown).xpath("//@href")) <= {told.url, *rows["url_a"]}


def test_an_address_that_leads_to_a_page_is_explained_as_that_page(tmp_path):
    copy = page("Rain and wind.").replace("<title>", f"<link rel=canonical href='{BASE}/en/a'><title>")
    write_pages(tmp_path / "mirror", {"en/a.html": copy, "en/a-print.html": copy})
    found = tl.mine(tmp_path / "mirror", out=tmp_path / "run", ingest__base_url=BASE)
    kept = f"{BASE}/en/a-print.html"
    told = found.explain("/en/a.html")
    assert told.url == found.explain("/en/a-print").url == found.explain("/en/a").url == kept
    assert f"{BASE}/en/a.html: rejected in ingest: duplicate-page" in told.notes[0]
    assert told.notes[0].endswith(f"({kept})")


def test_an_address_in_a_query_is_no_host(run):
    with pytest.raises(InputError, match=re.escape(f"{BASE}/go?u=http://x.org/: no such page")):
        run.explain("/go?u=http://x.org/")


def test_a_page_without_candidates_has_the_columns_of_others(tmp_path):
    write_pages(tmp_path / "mirror", {"en/a.html": page("Rain and wind."), "en/b.html": page("Sun and snow.")})
    told = tl.mine(tmp_path / "mirror", out=tmp_path / "run", ingest__base_url=BASE).explain("/en/a.html")
    assert told.candidates.empty
    assert {"url_a", "url_b", "score", "filter", "pair"} < set(told.candidates.columns)
    assert "<table" not in told._repr_html_()
    assert "candidates of" in str(told)


def test_a_page_that_was_not_kept_has_no_table(tmp_path):
    write_pages(tmp_path / "mirror", {"en/a.html": page("Rain and wind."), "en/b.html": ""})
    found = tl.mine(tmp_path / "mirror", out=tmp_path / "run", ingest__base_url=BASE)
    told = found.explain(found.rejects["url"].iloc[0])
    assert told.state in ("not kept", "no pair")
    assert "<table" not in told._repr_html_()


def test_errors_of_python_name_arguments(tmp_path):
    write_pages(tmp_path / "mirror", {"en/a.html": page("Rain and wind."), "zh/a.html": page("雨和风。")})
    with pytest.raises(InputError, match=r"base_url='http://www\.example\.org/'") as refused:
        tl.mine(tmp_path / "mirror", out=tmp_path / "run")
    assert "--" not in str(refused.value)
    with pytest.raises(InputError, match="base_url='x': expected") as refused:
        tl.mine(tmp_path / "mirror", out=tmp_path / "run", base_url="x")
    assert "--" not in str(refused.value)


@pytest.mark.parametrize("port", [-1, 99_999])
def test_a_port_that_is_none_is_an_argument(run, port):
    with pytest.raises(InputError, match=f"^port[= ]{port}: a port is a number"):
        run.review(port)


def test_review_ends_when_it_is_interrupted(run, capsys, monkeypatch):
    def serve(folder, port, who, on_ready):
        assert (folder, port, who) == (run.path, 0, "ann")
        on_ready("http://127.0.0.1:1/?key=x")
        raise KeyboardInterrupt

    monkeypatch.setattr("twinlink.review.server.review", serve)
    assert run.review(who="ann").path == run.path
    assert capsys.readouterr().out == "review: http://127.0.0.1:1/?key=x\n"
    monkeypatch.setattr("sys.stdout", None)
    assert run.review(who="ann").path == run.path
