"""Host graphs for other programs: networkx, GraphML, GEXF, Parquet edge lists."""

from __future__ import annotations

from pathlib import Path

import networkx as nx

from twinlink.errors import InputError
from twinlink.files import replacing
from twinlink.sites.database import opened, quoted, write_parquet
from twinlink.sites.host_graph import EDGES_FILE, NODES_FILE, check_host_graph, read_host_graph
from twinlink.tables import open_table, readable, table_metadata

EXPORTS = (".graphml", ".gexf", ".parquet")
"""Endings that tell the form of an exported graph."""


def host_graph_to_networkx(folder: str | Path) -> nx.DiGraph:
    """Return a host graph as a networkx graph: nodes are sites, with the columns of both files as attributes.

    >>> host_graph_to_networkx(Path("nowhere"))
    Traceback (most recent call last):
    ...
    twinlink.errors.InputError: nowhere: not a host graph (no nodes.parquet in it)
    """
    folder = Path(folder)
    names = read_host_graph(folder).sites  # which checks both files
    graph = nx.DiGraph()
    for file in (NODES_FILE, EDGES_FILE):
        with readable(folder / file):
            for row in open_table(folder / file).read().to_pylist():
                if file == NODES_FILE:
                    graph.add_node(row.pop("site"), **row)
                else:
                    graph.add_edge(names[row.pop("source")], names[row.pop("target")], **row)
    return graph


def check_export(path: Path) -> None:
    """Raise an error if a host graph cannot be written to this path.

    >>> check_export(Path("sites.png"))
    Traceback (most recent call last):
    ...
    twinlink.errors.InputError: sites.png: expected a name that ends in .graphml, .gexf, .parquet
    """
    if path.suffix not in EXPORTS:
        raise InputError(f"{path}: expected a name that ends in {', '.join(EXPORTS)}")
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{path}: expected the name of a file in a folder that exists")


def export_host_graph(folder: str | Path, path: str | Path, megabytes: int = 1_024) -> None:
    """Write a host graph to one file, its form by the ending (`EXPORTS`), through a temporary name.

    ``.graphml`` and ``.gexf`` are written by networkx, in memory; ``.parquet`` is an edge list with the sites' names,
    written by the database.

    Raises
    ------
    InputError
        If the ending is another one, or the folder holds no host graph.
    """
    folder, path = Path(folder), Path(path)
    check_export(path)
    check_host_graph(folder)
    with replacing(path) as temporary:
        if path.suffix == ".parquet":
            _write_edge_list(folder, temporary, megabytes)
        elif path.suffix == ".graphml":
            nx.write_graphml(host_graph_to_networkx(folder), temporary)
        else:
            nx.write_gexf(host_graph_to_networkx(folder), temporary)


def _write_edge_list(folder: Path, path: Path, megabytes: int) -> None:
    for file in (NODES_FILE, EDGES_FILE):  # the database seldom says which one is damaged
        table_metadata(folder / file)
    nodes = f"read_parquet({quoted(folder / NODES_FILE)}, file_row_number = true)"
    with opened(path.parent, megabytes) as database:
        query = f"""
            SELECT a.site AS source, b.site AS target, e.* EXCLUDE (source, target)
            FROM read_parquet({quoted(folder / EDGES_FILE)}) e
            JOIN {nodes} a ON a.file_row_number = e.source JOIN {nodes} b ON b.file_row_number = e.target
            ORDER BY 1, 2"""  # noqa: S608
        write_parquet(database, query, path)
