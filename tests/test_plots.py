"""Plots: what they draw is what the table says."""

from __future__ import annotations

import builtins

import networkx as nx
import pandas as pd
import pytest

from twinlink import plots
from twinlink.errors import InputError, TwinlinkError

ROUNDS = pd.DataFrame(
    {
        "round": [0, 1],
        "added": [3, 1],
        "one_language": [0, 2],
        "copies": [0, 0],
        "refused": [0, 0],
        "dead": [0, 1],
        "unreadable": [0, 0],
        "all_pairs": [10, 14],
    }
)


@pytest.fixture(autouse=True)
def plt():
    """Give matplotlib, which takes a second: not to each process that collects tests."""
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def facing_graph(right_links):
    """Two chains a, b, c that face each other; the links of the right one are given."""
    graph = nx.DiGraph()
    for name in "abc":
        graph.add_node(f"en/{name}", lang="en", partner=f"zh/{name}")
        graph.add_node(f"zh/{name}", lang="zh", partner=f"en/{name}")
    graph.add_edges_from([("en/a", "en/b"), ("en/b", "en/c")])
    graph.add_edges_from((f"zh/{a}", f"zh/{b}") for a, b in right_links)
    return graph


def arcs(ax):
    """Number of arcs by colour and side."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_hex

    counts = {}
    for collection in ax.collections:
        if type(collection) is LineCollection and collection.get_linewidth()[0] == 0.6:
            for path in collection.get_segments():
                side = "left" if path[:, 0].min() < -0.3 else "right"
                key = (to_hex(collection.get_color()[0]), side)
                counts[key] = counts.get(key, 0) + 1
    return counts


def test_mirrored_links_are_distinguished_from_others():
    ax = plots.facing_halves(facing_graph(["ab", "ac"]), ("en", "zh"), most_linked=1.0)
    assert arcs(ax) == {
        (plots.BLUE, "left"): 1,
        (plots.ORANGE, "left"): 1,
        (plots.BLUE, "right"): 1,
        (plots.ORANGE, "right"): 1,
    }


def test_menus_are_left_out():
    graph = facing_graph(["ab", "bc"])
    graph.add_edges_from([("en/a", "en/c")])
    ax = plots.facing_halves(graph, ("en", "zh"), most_linked=0.5)  # two of three link to c
    assert arcs(ax) == {(plots.BLUE, "left"): 1, (plots.BLUE, "right"): 1}


def test_halves_without_pairs_are_refused():
    with pytest.raises(InputError, match="no page in en has a partner in fr"):
        plots.facing_halves(facing_graph([]), ("en", "fr"))


def test_halves_are_of_the_two_languages_however_many_a_page_has():
    graph = facing_graph(["ab", "bc"])
    for name in "abc":
        graph.add_node(f"fr/{name}", lang="fr", partner=f"en/{name}")
        graph.nodes[f"en/{name}"].update({"partner": f"fr/{name}", "partner_zh": f"zh/{name}"})
    ax = plots.facing_halves(graph, ("en", "zh"), most_linked=1.0)
    assert arcs(ax) == {(plots.BLUE, "left"): 2, (plots.BLUE, "right"): 2}


def test_a_partner_that_was_removed_from_the_graph_is_none():
    graph = facing_graph(["ab"])
    graph.remove_node("zh/c")
    graph.add_node("unknown")
    assert arcs(plots.facing_halves(graph, ("en", "zh"), most_linked=1.0)) == {
        (plots.BLUE, "left"): 1,
        (plots.BLUE, "right"): 1,
    }


def test_an_undirected_graph_is_refused():
    with pytest.raises(InputError, match="expected a directed graph"):
        plots.facing_halves(facing_graph([]).to_undirected(), ("en", "zh"))


def test_scores_of_pairs_and_others_are_counted_apart():
    candidates = pd.DataFrame({"page_a": [1, 1, 2, 2], "page_b": [5, 6, 5, 6], "score": [0.9, 0.1, 0.1, 0.8]})
    pairs = candidates.iloc[[0, 3]]
    ax = plots.score_distribution(candidates, pairs, bins=2)
    heights = [[bar.get_height() for bar in container] for container in ax.containers]
    assert heights == [[2, 0], [0, 2]]


def test_candidates_without_a_number_are_not_drawn():
    candidates = pd.DataFrame({"page_a": [1, 1], "page_b": [5, 6], "length": pd.Series([0.5, None], dtype="float32")})
    ax = plots.score_distribution(candidates, candidates.head(0), "length", bins=1)
    assert sum(bar.get_height() for container in ax.containers for bar in container) == 1


def test_rounds_stack_what_became_of_the_sites():
    ax = plots.rounds(ROUNDS)
    bars = {each.get_label(): [bar.get_height() for bar in each] for each in ax.containers}
    assert bars == {"added": [3, 1], "not bilingual": [0, 2], "dead": [0, 1]}, "what never occurs has no bar"
    assert [bar.get_y() for bar in ax.containers[2]] == [3, 3]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["added", "not bilingual", "dead", "page pairs so far"]


def test_contributions_go_right_and_left_of_nothing():
    sites = pd.DataFrame({"site": ["a", "b"], "by_one": [1.0, -1.0], "by_two": [2.0, 0.5], "by_none": [0.0, None]})
    ax = plots.contributions(sites)
    starts = [[(bar.get_x(), bar.get_width()) for bar in container] for container in ax.containers]
    assert starts == [[(0, 1), (0, -1)], [(1, 2), (0, 0.5)]]


def test_given_axes_are_used(plt):
    ax = plt.subplots()[1]
    curve = pd.DataFrame({"coverage": [1.0], "precision": [1.0], "recall": [1.0]})
    assert plots.precision_coverage(curve, ax) is ax


def test_a_table_of_another_kind_is_refused():
    with pytest.raises(InputError, match=r"expected the column\(s\) precision, recall; there are coverage"):
        plots.precision_coverage(pd.DataFrame({"coverage": [1.0]}))
    with pytest.raises(InputError, match="by_credit"):
        plots.contributions(pd.DataFrame({"site": ["a"]}))


def test_without_matplotlib_it_is_reported_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(TwinlinkError, match=r"pip install 'twinlink\[plot\]'"):
        plots.rounds(ROUNDS)
