"""networkx and back."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from twinlink.errors import ShapeError
from twinlink.graph.export import from_networkx, to_networkx
from twinlink.graph.links import adjacency


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20))
def test_there_and_back(links: list[tuple[int, int]]) -> None:
    matrix = adjacency([a for a, _ in links], [b for _, b in links], 6)
    names = [f"http://host/{page}" for page in range(6)]
    graph = to_networkx(matrix, names)
    assert isinstance(graph, nx.DiGraph)
    assert list(graph.nodes) == names
    assert np.array_equal(nx.to_numpy_array(graph, nodelist=names).astype(bool), matrix.toarray())  # networkx's own way
    assert np.array_equal(from_networkx(graph).toarray(), matrix.toarray())


def test_pages_have_numbers_where_no_names_are_given() -> None:
    graph = to_networkx(adjacency([0, 2], [1, 1], 4))
    assert list(graph.nodes) == [0, 1, 2, 3]
    assert list(graph.edges) == [(0, 1), (2, 1)]


def test_nodes_choose_order_and_part_of_a_graph() -> None:
    graph = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "c")])
    assert from_networkx(graph, nodes=["c", "b"]).toarray().tolist() == [[False, False], [True, False]]


def test_edges_without_direction_are_links_each_way() -> None:
    assert from_networkx(nx.Graph([("a", "b")])).toarray().tolist() == [[False, True], [True, False]]


@pytest.mark.parametrize("nodes", [["a"], ["a", "a"], ["a", "b", "c"]])
def test_names_that_do_not_fit_are_refused(nodes: list[str]) -> None:
    with pytest.raises(ShapeError, match="a name of its own for each row"):
        to_networkx(adjacency([0], [1], 2), nodes)


def test_a_matrix_that_is_not_square_is_refused() -> None:
    with pytest.raises(ShapeError, match="expected a square matrix"):
        to_networkx(csr_array((2, 3), dtype=np.bool_))
