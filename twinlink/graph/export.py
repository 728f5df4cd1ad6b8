"""Link matrices as networkx graphs and back."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from scipy.sparse import csr_array

from twinlink.errors import ShapeError
from twinlink.graph.links import adjacency as link_matrix

if TYPE_CHECKING:
    import networkx as nx


def to_networkx(adjacency: csr_array, nodes: Sequence[Hashable] | None = None) -> nx.DiGraph:
    """Convert links to a directed graph, which networkx can write as GraphML, GEXF and more.

    Parameters
    ----------
    adjacency : csr_array of bool, shape (n, n)
        Links (`twinlink.graph.links.adjacency`).
    nodes : sequence, optional
        Name of each page, such as its URL, all different. Default: 0 to n - 1.

    Returns
    -------
    networkx.DiGraph
        Nodes in the order of the rows, pages without links included.

    Raises
    ------
    ShapeError
        If the matrix is not square, or the number of names differs from the number of pages.

    Examples
    --------
    >>> list(to_networkx(link_matrix([0], [1], 3), nodes=["a", "b", "c"]).edges)
    [('a', 'b')]
    """
    n = adjacency.shape[0]
    names = list(range(n)) if nodes is None else list(nodes)
    if adjacency.shape != (n, n) or len(names) != n or len(set(names)) != n:
        raise ShapeError(
            f"adjacency: expected a square matrix and a name of its own for each row, "
            f"got shape {adjacency.shape} and {len(names)} names, {len(set(names))} of them different"
        )
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    rows, columns = (index.tolist() for index in adjacency.nonzero())
    graph.add_edges_from((names[row], names[column]) for row, column in zip(rows, columns, strict=True))
    return graph


def from_networkx(graph: nx.Graph, nodes: Sequence[Hashable] | None = None) -> csr_array:
    """Convert a networkx graph to a link matrix; an undirected edge counts as a link in both directions.

    Parameters
    ----------
    graph : networkx.Graph or networkx.DiGraph
    nodes : sequence, optional
        Nodes in the order of the rows; edges of other nodes are left out. Default: all, in the order of the graph.

    Returns
    -------
    csr_array of bool, shape (n, n)
        As from `twinlink.graph.links.adjacency`: no page links to itself.

    Raises
    ------
    ShapeError
        If a node is given twice, or is not in the graph.

    Examples
    --------
    >>> import networkx as nx
    >>> from_networkx(nx.path_graph(3)).toarray().astype(int)
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    names = list(graph.nodes if nodes is None else nodes)
    row_of = {name: row for row, name in enumerate(names)}
    if len(row_of) < len(names):
        raise ShapeError(f"nodes: expected each once, got {len(names) - len(row_of)} of {len(names)} again")
    if missing := [name for name in names if name not in graph]:
        raise ShapeError(f"nodes: expected nodes of the graph, got {len(missing)} others, such as {missing[0]!r}")
    edges = [(row_of[a], row_of[b]) for a, b in graph.edges() if a in row_of and b in row_of]
    if not graph.is_directed():
        edges += [(b, a) for a, b in edges]
    return link_matrix([a for a, _ in edges], [b for _, b in edges], len(names))
