"""What the host graph adds to a ranking: the graph is that of the web, and its features change the ranking alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments import host_graph
from experiments.host_graph import NONE, Start, measure_priors, measure_web, start_of, write_graph
from experiments.simweb.world import WorldSettings, make_world

SMALL = WorldSettings(hosts=3_000, seeds=60, seed=1)


@pytest.fixture(scope="module")
def start() -> Start:
    """Return a small web with its host graph."""
    return start_of(SMALL)


def test_the_files_have_all_hosts_and_the_links_of_a_share(tmp_path: Path) -> None:
    world = make_world(SMALL)
    files = write_graph(world, tmp_path, 1.0, 0)
    names = [line.split("\t")[1] for line in files.vertices[0].read_text().splitlines()]
    assert [world.index(".".join(reversed(name.split(".")))) for name in names] == list(range(SMALL.hosts))
    edges = np.loadtxt(files.edges[0], dtype=int)
    assert len(edges) == world.links.nnz
    assert {(0, target) for target in edges[edges[:, 0] == 0, 1]} == {(0, t) for t, *_ in world.targets(0)}
    half = np.loadtxt(write_graph(world, tmp_path, 0.5, 0).edges[0], dtype=int)
    sources = set(half[:, 0].tolist())
    assert 0.4 < len(sources) / len(set(edges[:, 0].tolist())) < 0.6
    assert len(half) == np.isin(edges[:, 0], list(sources)).sum(), "a host has all of its links or none"


def test_the_hosts_that_link_to_a_site_are_those_of_the_web(start: Start) -> None:
    linked = np.bincount(start.world.links.indices, minlength=SMALL.hosts)
    own = start.world.links.diagonal() > 0
    assert start.web.hosts.tolist() == (linked - own)[start.hosts].tolist()


def test_without_links_all_variants_are_the_ranking_without_the_graph(start: Start) -> None:
    empty = start._replace(web=type(start.web)(*(np.zeros(len(start.hosts)) for _ in start.web)))
    found = measure_web(empty, 50)
    assert len(found) == 10
    assert all(n == found[NONE, learn] for (_, learn), n in found.items())
    assert 0 < found[NONE, "all"] <= 50


def test_weights_of_0_are_no_host_graph_where_nothing_is_learned(start: Start) -> None:
    found = measure_priors(start, 50)
    assert found["0, 0, 0", "nothing"] == found[NONE, "nothing"]
    assert found["0, 2, 0", "nothing"] == measure_web(start, 50)["all three", "nothing"], "the weights that come"


def test_a_table_for_each_kind_of_web(capsys: pytest.CaptureFixture[str]) -> None:
    host_graph.main(["--hosts", "2000", "--seeds", "40", "--webs", "1", "--top", "20"])
    assert capsys.readouterr().out.count("| all three |") == 4
