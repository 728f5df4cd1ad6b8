"""The notebook object: tables, graph, explanations."""

from __future__ import annotations

import pytest

import twinlink as tl
from tests.sites import BASE, page, write_pages, write_toy
from twinlink.errors import InputError, MissingStageError, RunError


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
    assert run.sites.to_dict("records") == [{"site": "toy.example", "n_pages": 10, "n_pairs": 5}]
    assert run.rejects.empty


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
    assert "was taken instead" in verdict


def test_two_pages_of_one_language_are_called_that(run):
    assert "both pages are in one language (en)" in run.explain(f"{BASE}/en/a.html", "/en/b.html").verdict


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
    (tmp_path / "config.toml").touch()
    with pytest.raises(MissingStageError, match="no ingest here yet"):
        _ = tl.open(tmp_path).rejects


def test_a_run_can_be_opened_again(run):
    assert tl.open(run.path).pairs.equals(run.pairs)
    assert repr(tl.open(run.path)) == f"Run({str(run.path)!r})"


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(RunError, match="not a run directory"):
        tl.open(tmp_path)
