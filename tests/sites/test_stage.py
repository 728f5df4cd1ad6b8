"""Stage rank: from a run's links to its sites, ranked and explained."""

from __future__ import annotations

import bz2
import gzip
import shutil

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from tests.made_sites import page, write_pages
from twinlink.cli import app
from twinlink.cli.lines import lines as lines_of_result
from twinlink.cli.results.sites import RankResult
from twinlink.config import Config
from twinlink.errors import InputError, MissingStageError
from twinlink.ingest.stage import ingest
from twinlink.patterns.stage import learn_run
from twinlink.rundir.directory import RunDirectory, site_file
from twinlink.rundir.rounds import Rounds, link_farms
from twinlink.rundir.signature import Signature
from twinlink.sites import building, export
from twinlink.sites.features import FEATURES, feature_words
from twinlink.sites.stage import LEAST_MEGABYTES, MODEL_FILE, SITES_FILE, export_graph, rank
from twinlink.tables import PAIRS, PATTERNS, PROBES, SITES, read_table, write_table

CONFIG = Config()
WEB = {
    "www.two.hk": ["http://www.more.hk/en/", "http://www.more.hk/tc/", "http://www.one.com/", "http://www.rare.org/"],
    "www.dou.hk": ["http://www.more.hk/en/", "http://www.two.hk/"],
    "www.one.com": ["http://www.shop.com/", "http://www.two.hk/"],
}


def web(folder):
    """Two bilingual sites, one in one language."""
    for host, links in WEB.items():
        bilingual = not host.endswith("one.com")
        pages = {"index.html": page("start", *links)}
        for k in range(8):
            for lang in ("en", "tc") if bilingual else ("",):
                pages[f"{lang or 'only'}/page-{k}.html"] = page(f"text {k} in {lang}", links[0])
        write_pages(folder / host, pages)
    return folder


@pytest.fixture
def run(tmp_path) -> RunDirectory:
    directory = RunDirectory.create(tmp_path / "run")
    directory.config_file.write_text(CONFIG.to_toml())
    sources = [web(tmp_path / "web")]
    ingest(directory, sources, CONFIG.ingest)
    return directory


def rows_of(run: RunDirectory) -> dict[str, dict]:
    return {row["site"]: row for row in read_table(run.path / "rank" / "sites.parquet", SITES).to_pylist()}


def test_command_keeps_what_rounds_found_out(run):
    tried = {"round": 1, "site": "rare.org", "verdict": "dead", "added": False, "reason": "dns", "place": 1}
    rest = {
        "score": 0.0,
        "start": "",
        "pages": 0,
        "langs": "",
        "credibility": 0.0,
        "rule": "",
        "pairs": 0,
        "copy_of": "",
    }
    Rounds(run).judge(1, pa.Table.from_pylist([{**tried, **rest}], schema=PROBES))
    done = CliRunner().invoke(app, ["rank", str(run.path), "-q"])
    assert done.exit_code == 0, done.output
    assert rows_of(run)["rare.org"]["state"] == "dead"
    assert rows_of(run)["more.hk"]["state"] == "candidate"


def test_a_site_that_a_probe_added_for_its_pairs_is_credible(run):
    """Its addresses have no pattern, and its pages have not been matched; the share of the probed pages stands in."""
    learn_run(run, CONFIG)
    rank(run, CONFIG)
    before = rows_of(run)
    tried = {"round": 1, "verdict": "bilingual", "added": True, "reason": "", "place": 1, "score": 0.0, "start": ""}
    rest = {"pages": 10, "langs": "", "credibility": 0.8, "rule": "", "pairs": 4, "copy_of": ""}
    sites = [{**tried, **rest, "site": site} for site in ("one.com", "two.hk")]
    Rounds(run).judge(1, pa.Table.from_pylist(sites, schema=PROBES))
    rank(run, CONFIG)
    rows = rows_of(run)
    assert (before["one.com"]["credibility"], rows["one.com"]["credibility"]) == (0, 0.8)
    assert rows["two.hk"]["credibility"] == before["two.hk"]["credibility"] > 0.8
    assert rows["shop.com"]["vouched"] > before["shop.com"]["vouched"] == 0


def test_sites_are_ranked_with_the_credibility_of_patterns(run):
    learn_run(run, CONFIG)
    rank(run, CONFIG)
    rows = rows_of(run)
    assert {site: row["state"] for site, row in rows.items()} == {
        "more.hk": "candidate",
        "rare.org": "candidate",
        "shop.com": "candidate",
        "two.hk": "crawled",
        "dou.hk": "crawled",
        "one.com": "crawled",
    }
    known = read_table(run.path / "patterns" / "patterns", PATTERNS).to_pylist()
    for site in ("two.hk", "dou.hk"):
        assert rows[site]["credibility"] == next(row["site_credibility"] for row in known if row["site"] == site) > 0.9
    assert rows["one.com"]["credibility"] == 0
    assert [row["rank"] for row in rows.values()] == [1, 2, 3, None, None, None]
    assert next(iter(rows)) == "more.hk"
    assert (rows["more.hk"]["n_sources"], rows["more.hk"]["languages"], rows["more.hk"]["round"]) == (2, 1.0, None)
    # two → one, dou → two, one → two; dou and two link to more.hk
    assert {site: rows[site]["linkout"] for site in ("two.hk", "dou.hk", "one.com")} == {
        "two.hk": 1,
        "dou.hk": 1,
        "one.com": 1,
    }
    assert rows["more.hk"]["sum_linkout"] == 2
    assert rows["more.hk"]["sum_pagerank"] == pytest.approx(rows["two.hk"]["pagerank"] + rows["dou.hk"]["pagerank"])
    assert rows["shop.com"]["sum_weighted"] == 0 < rows["rare.org"]["sum_weighted"]
    assert rows["two.hk"]["weighted_pagerank"] == rows["two.hk"]["pagerank"] * rows["two.hk"]["credibility"]
    assert rows["two.hk"]["n_pages"] == 17
    assert rows["two.hk"]["round"] == 0


def test_what_explains_a_site_adds_up(run):
    learn_run(run, CONFIG)
    rank(run, CONFIG)
    lines = (run.path / "rank" / MODEL_FILE).read_text().splitlines()[1:]
    weights = {line.split("\t")[0]: float(line.split("\t")[1]) for line in lines}
    assert lines[2].endswith("\tlog2(1 + crawled sites that link to it)")
    assert lines[-1].endswith("learned from 3 sites, 2 bilingual")
    for row in rows_of(run).values():
        for name in FEATURES:
            assert row[f"by_{name}"] == pytest.approx(row[name] * weights[name], abs=1e-3)
        odds = sum(row[f"by_{name}"] for name in FEATURES) + weights["intercept"]
        assert row["ours"] == pytest.approx(1 / (1 + 2.718281828**-odds), abs=1e-3)


def test_without_patterns_the_pairs_speak_and_without_both_the_links(run):
    rank(run, CONFIG)
    assert {row["credibility"] for row in rows_of(run).values()} == {0}
    with run.writing(Signature.of("match", {}, [])) as folder:
        pairs = [{"page_a": 1, "page_b": 2}, {"page_a": 1, "page_b": 3}, {"page_a": 4, "page_b": 5}]
        empty = {field.name: "" if pa.types.is_string(field.type) else 0 for field in PAIRS}
        table = pa.Table.from_pylist([{**empty, **pair} for pair in pairs], schema=PAIRS)
        write_table(table, PAIRS, site_file(folder / "pairs", "two.hk"))
    rank(run, CONFIG)
    rows = rows_of(run)
    assert rows["two.hk"]["credibility"] == pytest.approx(5 / 17)
    assert rows["dou.hk"]["credibility"] == 0


def test_tsv_is_the_table(run):
    rank(run, CONFIG)
    lines = (run.path / "rank" / SITES_FILE).read_text().splitlines()
    assert lines[0].split("\t") == SITES.names
    assert [line.split("\t")[0] for line in lines[1:]] == list(rows_of(run))


def test_finished_stage_is_skipped(run):
    steps = []
    first = rank(run, CONFIG, on_site=lambda *step: steps.append(step))
    assert steps == [(3, 3)]
    assert rank(run, CONFIG, on_site=lambda *step: steps.append(step)) == first
    changed = rank(run, CONFIG.override({"ranking.damping": 0.5}), on_site=lambda *step: steps.append(step))
    assert changed != first
    assert len(steps) == 1
    rank(run, CONFIG.override({"ranking.graph.weight": "sites"}), on_site=lambda *step: steps.append(step))
    assert len(steps) == 2
    learn_run(run, CONFIG)
    assert rank(run, CONFIG) != first


def test_the_ranked_list_says_why_in_words_and_which_sites_are_equal(tmp_path):
    """Two sites with the same links: of equal score, so the order is by name, and the list says it."""
    run = RunDirectory.create(tmp_path / "run")
    links = ["http://www.twin-b.com/", "http://www.twin-a.com/"]
    for host in ("www.one.hk", "www.two.hk"):
        more = ["http://www.best.hk/en/", "http://www.best.hk/tc/"] if host == "www.two.hk" else []
        write_pages(tmp_path / "web" / host, {f"{k}.html": page("text", *links, *more) for k in range(6)})
    ingest(run, [tmp_path / "web"], CONFIG.ingest)
    rank(run, CONFIG)
    result = RankResult.of(run)
    assert [(site.site, site.n_equal) for site in result.best][-2:] == [("twin-a.com", 2), ("twin-b.com", 2)]
    assert all(len(site.words) == len(site.reasons) for site in result.best)
    said = {
        site.site: " ".join(line.split())
        for site in result.best
        for line in lines_of_result(result)
        if site.site in line
    }
    assert said["twin-a.com"].endswith("one of 2 with this score")
    assert "languages +1.5 (two languages in addresses of links)" in said["best.hk"]
    assert "linked by 2 crawled sites" in said["twin-b.com"]


def test_of_equal_scores_the_one_with_more_weighted_pagerank_comes_first(run):
    learn_run(run, CONFIG)
    rank(run, CONFIG)
    rows = [row for row in rows_of(run).values() if row["state"] == "candidate"]
    order = sorted(rows, key=lambda row: (-row["ours"], -row["sum_weighted"], -row["n_sources"], row["site"]))
    assert [row["site"] for row in rows] == [row["site"] for row in order]


def test_small_scores_of_the_list_differ(run):
    """PageRank of many sites is far below the fourth digit."""
    rank(run, CONFIG)
    header, *rows = (line.split("\t") for line in (run.path / "rank" / SITES_FILE).read_text().splitlines())
    at = header.index("pagerank")
    values = {row["site"]: row["pagerank"] for row in rows_of(run).values()}
    assert all(float(row[at]) == pytest.approx(values[row[0]], rel=1e-5) for row in rows)


@pytest.mark.parametrize("name", FEATURES)
def test_each_feature_has_words(name):
    assert all(feature_words(name, value) for value in (0.0, 0.5, 1.0, 7.0)[: 3 if name == "languages" else 4])
    assert feature_words("in_links", 1.0) == "linked by 1 crawled site"


def test_sites_that_turned_out_otherwise_are_no_candidates(run):
    first = rank(run, CONFIG)
    assert rank(run, CONFIG, {"more.hk": "dead"}) != first
    rows = rows_of(run)
    assert (rows["more.hk"]["state"], rows["more.hk"]["rank"]) == ("dead", None)
    assert sorted(row["rank"] for row in rows.values() if row["rank"]) == [1, 2]
    assert rows_of(run)["two.hk"]["state"] == "crawled"


def test_verdict_one_language_is_learned_from(run):
    def last() -> str:
        return (run.path / "rank" / MODEL_FILE).read_text().splitlines()[-1]

    rank(run, CONFIG, {"more.hk": "dead"})
    assert last().endswith("learned from 3 sites, 0 bilingual")
    rank(run, CONFIG, {"more.hk": "one-language", "two.hk": "one-language"})  # two.hk is crawled: its pages speak
    assert last().endswith("learned from 4 sites, 0 bilingual")


def test_the_links_of_a_site_with_several_copies_do_not_count(run):
    """Both bilingual sites link to more.hk; rounds found one copy of one.com, and two of two.hk."""
    rank(run, CONFIG)
    before = rows_of(run)
    row = dict.fromkeys(PROBES.names, 0) | dict.fromkeys(("reason", "start", "langs", "rule"), "")
    copies = [("a.com", "one.com"), ("b.com", "two.hk"), ("c.com", "two.hk")]
    tried = [{**row, "round": 1, "site": site, "verdict": "copy", "added": False, "copy_of": of} for site, of in copies]
    Rounds(run).judge(1, pa.Table.from_pylist(tried, schema=PROBES))
    assert link_farms(run) == {"two.hk"}
    rank(run, CONFIG)
    after = rows_of(run)
    assert (before["more.hk"]["n_sources"], after["more.hk"]["n_sources"]) == (2, 1)
    assert "rare.org" not in after  # nobody else links to it
    assert after["two.hk"]["n_pages"] == before["two.hk"]["n_pages"]
    assert after["shop.com"]["n_sources"] == 1


def test_hosts_may_be_sites(tmp_path):
    config = CONFIG.override({"crawl.site_by": "host"})
    run = RunDirectory.create(tmp_path / "run")
    pages = {f"{k}.html": page("text", "http://tc.x.hk/", "http://www.y.hk/") for k in range(3)}
    write_pages(tmp_path / "web" / "en.x.hk", pages)
    ingest(run, [tmp_path / "web"], config.ingest, site_by="host")
    rank(run, config)
    assert {site: row["state"] for site, row in rows_of(run).items()} == {
        "en.x.hk": "crawled",
        "tc.x.hk": "candidate",
        "www.y.hk": "candidate",
    }


@pytest.mark.parametrize(("memory", "expected"), [("100GB", 1_024), ("750MB", 500), ("1MB", LEAST_MEGABYTES)])
def test_database_takes_no_more_than_the_run_may(run, tmp_path, monkeypatch, memory, expected):
    limits = []
    for module in (building, export):
        really = module.opened
        monkeypatch.setattr(
            module, "opened", lambda folder, limit, really=really: limits.append(limit) or really(folder, limit)
        )
    rank(run, CONFIG)
    before = rows_of(run)
    config = CONFIG.override({"run.memory": memory})
    shutil.rmtree(run.path / "hosts")
    rank(run, config)
    export_graph(run, tmp_path / "x.parquet", config)
    assert limits[1:] == [expected] * (len(limits) - 1)
    assert len(limits) > 2
    assert rows_of(run) == before


def test_without_pages_there_is_nothing_to_rank(tmp_path):
    run = RunDirectory.create(tmp_path / "run")
    with pytest.raises(MissingStageError):
        rank(run, CONFIG)
    with pytest.raises(MissingStageError):
        export_graph(run, tmp_path / "x.graphml", CONFIG)


def test_links_of_common_crawl_are_added(run, tmp_path):
    (tmp_path / "vertices.txt").write_text("0\thk.more\n1\torg.rare\n2\torg.stranger\n")
    (tmp_path / "edges.txt").write_text("0\t1\n0\t2\n")
    rank(run, CONFIG)
    before = rows_of(run)
    files = [str(tmp_path / name) for name in ("edges.txt", "vertices.txt")]
    rank(run, CONFIG.override({"ranking.graph.common_crawl": files}))
    after = rows_of(run)
    assert after["rare.org"]["n_sources"] == before["rare.org"]["n_sources"] + 1
    assert after["rare.org"]["credit"] > before["rare.org"]["credit"]
    assert after["rare.org"]["sum_linkout"] == before["rare.org"]["sum_linkout"]
    assert set(after) == set(before)


def test_a_host_graph_adds_features_and_nothing_else(run, tmp_path):
    """A stranger links to rare.org and to the bilingual two.hk; another one to shop.com and to one.com."""
    names = ["hk.two", "org.rare", "org.stranger", "com.shop", "com.one", "org.other", *(f"net.n{k}" for k in range(9))]
    (tmp_path / "vertices.txt").write_text("".join(f"{k}\t{name}\n" for k, name in enumerate(names)))
    (tmp_path / "edges.txt").write_text("0\t2\n2\t0\n2\t1\n5\t3\n5\t4\n")
    learn_run(run, CONFIG)
    rank(run, CONFIG)
    before = rows_of(run)
    assert {row[name] for row in before.values() for name in ("web_hosts", "cocited", "web_credit")} == {0}
    options = [word for name in ("vertices", "edges") for word in ("--host-graph", str(tmp_path / f"{name}.txt"))]
    done = CliRunner().invoke(app, ["rank", str(run.path), "-q", *options])
    assert done.exit_code == 0, done.output
    rows = rows_of(run)
    assert {name: row["n_sources"] for name, row in rows.items()} == {n: r["n_sources"] for n, r in before.items()}
    assert rows["rare.org"]["web_hosts"] == pytest.approx(np.log10(2))
    assert rows["rare.org"]["cocited"] == pytest.approx(rows["two.hk"]["credibility"] / 2 / 2)
    assert (rows["shop.com"]["cocited"], rows["more.hk"]["web_hosts"]) == (0, 0)
    assert rows["rare.org"]["by_cocited"] > 0
    assert rows["rare.org"]["web_credit"] > rows["shop.com"]["web_credit"] == 0
    assert rows["rare.org"]["ours"] > before["rare.org"]["ours"]
    assert not list((run.path / "rank").glob(".edges*"))
    again = CliRunner().invoke(app, ["rank", str(run.path), "-q"])
    assert again.exit_code == 0, again.output
    assert rows_of(run) == rows, "the run remembers the files"


def test_a_host_graph_that_cannot_be_read_leaves_the_ranking_as_it_was(run, tmp_path):
    (tmp_path / "vertices.txt").write_text("0\thk.two\n")
    (tmp_path / "edges.txt").write_text("0\t7\n")
    rank(run, CONFIG)
    before = rows_of(run)
    files = [str(tmp_path / name) for name in ("edges.txt", "vertices.txt")]
    with pytest.raises(InputError, match="number 7 of an edge"):
        rank(run, CONFIG.override({"ranking.host_graph": files}))
    assert rows_of(run) == before


@pytest.mark.parametrize("names", [["vertices.txt"], ["vertices.txt", "other.txt"], ["vertices.txt", "edges.txt"]])
def test_files_of_common_crawl_that_do_not_fit_are_refused(run, tmp_path, names):
    for setting in ("ranking.graph.common_crawl", "ranking.host_graph"):
        with pytest.raises(InputError):
            rank(run, CONFIG.override({setting: [str(tmp_path / name) for name in names]}))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["v.txt", "e.txt"], "in those of their folders, got v.txt, e.txt"),
        (["vertices.txt", "edges-lost.txt"], "edges-lost.txt: cannot be read .no such file"),
        (["vertices.txt", "edges"], "expected files with .*, or in those of their folders, got vertices.txt$"),
        (["edges"], "got none below .*edges$"),
        (["vertices.txt", "edges.txt"], "edges.txt: expected tab-separated columns, got an empty file"),
    ],
)
def test_the_error_names_the_file_of_common_crawl_and_what_is_wrong(run, tmp_path, names, message):
    (tmp_path / "vertices.txt").write_text("0\thk.two\n")
    (tmp_path / "edges.txt").touch()
    (tmp_path / "edges").mkdir()
    for setting in ("ranking.graph.common_crawl", "ranking.host_graph"):
        with pytest.raises(InputError, match=message):
            rank(run, CONFIG.override({setting: [str(tmp_path / name) for name in names]}))


def zstd(data: bytes) -> bytes:
    return pa.compress(data, "zstd", asbytes=True)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, zstd])
@pytest.mark.parametrize(
    "given", ["host", "host/vertices host/edges", "host/edges/part-0.txt host/vertices/part-0.txt"]
)
def test_the_graph_of_common_crawl_is_read_as_it_is_published(run, tmp_path, pack, given):
    for kind, text in (("vertices", "0\thk.more\n1\torg.rare\n"), ("edges", "0\t1\n")):
        (tmp_path / "host" / kind).mkdir(parents=True)
        (tmp_path / "host" / kind / "part-0.txt").write_bytes(pack(text.encode()))
        (tmp_path / "host" / kind / "_SUCCESS").touch()
    (tmp_path / "host" / "ranks.txt").write_text("#pos\n")
    rank(run, CONFIG)
    before = rows_of(run)["rare.org"]
    files = [str(tmp_path / name) for name in given.split()]
    rank(run, CONFIG.override({"ranking.graph.common_crawl": files, "ranking.host_graph": files}))
    after = rows_of(run)["rare.org"]
    assert after["n_sources"] == before["n_sources"] + 1
    assert after["web_hosts"] == pytest.approx(np.log10(2))


def test_command(run, tmp_path):
    learn_run(run, CONFIG)
    done = CliRunner().invoke(app, ["rank", str(run.path), "--export", str(tmp_path / "web.graphml"), "--quiet"])
    assert done.exit_code == 0, done.output
    assert "more.hk" in done.output.splitlines()[1]
    assert "3 crawled, 3 candidates" in done.output
    graph = nx.read_graphml(tmp_path / "web.graphml")
    assert set(graph.successors("two.hk")) == {"more.hk", "one.com", "rare.org"}
    header, best, *_ = lines_of_result(RankResult.of(run))
    assert header.split() == ["rank", "score", "site", "main", "reasons"]
    assert best.split()[::2][:2] == ["1", "more.hk"]
    assert any(name in best for name in FEATURES)
    refused = CliRunner().invoke(app, ["rank", str(run.path), "--export", str(tmp_path / "web.png")])
    assert isinstance(refused.exception, InputError)


def test_names_that_discover_never_tries_are_no_candidates(tmp_path):
    run = RunDirectory.create(tmp_path / "run")
    odd = ["127.0.0.1", "[::1]", "localhost", "router.lan", "com", "co.uk", f"{'a' * 64}.com"]
    links = [*(f"http://{name}/" for name in odd), "http://www.y.hk/"]
    write_pages(tmp_path / "web" / "x.hk", {f"{k}.html": page("text", *links) for k in range(3)})
    ingest(run, [tmp_path / "web"], CONFIG.ingest)
    rank(run, CONFIG)
    states = {site: row["state"] for site, row in rows_of(run).items()}
    assert states == {"x.hk": "crawled", "y.hk": "candidate", **dict.fromkeys(odd, "not-public")}
    result = RankResult.of(run)
    assert (result.n_candidates, result.n_not_public) == (1, len(odd))
    assert "1 candidates, 7 under no public name →" in list(lines_of_result(result))[-1]
    rank(run, CONFIG.override({"crawl.allow_private": True}))
    assert {row["state"] for row in rows_of(run).values()} == {"crawled", "candidate"}
