"""The link graph of a run's pages: as a matrix, as a networkx graph, and as GraphML and GEXF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from twinlink.align.formats.exports import without_illegal
from twinlink.frames import address_pairs
from twinlink.graph.export import to_networkx
from twinlink.graph.links import adjacency
from twinlink.run_tables import RunTables

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp


def link_matrix(run: RunTables) -> sp.csr_array:
    """Return the links among kept pages as a boolean matrix; rows and columns in the order of `RunTables.pages`."""
    index = pd.Index(run.pages["page_id"])
    inside = run.links.dropna(subset=["target"])
    return adjacency(
        index.get_indexer(inside["source"]), index.get_indexer(inside["target"].astype("int64")), len(index)
    )


def page_graph(run: RunTables, partners: Mapping[str, str] | None = None) -> nx.DiGraph[str]:
    """Return the links among kept pages as a networkx graph.

    Nodes are addresses in the order of `RunTables.pages`, with site, title, lang and partner. Unknown values are empty
    texts, and characters that XML cannot hold are left out, so that every format can be written.

    Parameters
    ----------
    run : RunTables
    partners : mapping of str to str, optional
        Partner of each page that has one. Default: by all pairs of the run, the most probable one of several languages.
    """
    graph = to_networkx(link_matrix(run), list(run.pages["url"]))
    if partners is None:
        partners = partners_of(address_pairs(run.pairs)) if run.has("match") else {}
    for url, site, title, lang in run.pages[["url", "site", "title", "lang"]].fillna("").itertuples(index=False):
        facts = {"site": site, "title": without_illegal(str(title)), "lang": lang}
        graph.nodes[url].update(**facts, partner=partners.get(str(url), ""))
    return graph


def partners_of(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the first partner of each page, given pairs with the most probable ones first.

    >>> partners_of([("a", "x"), ("a", "y")])
    {'a': 'x', 'x': 'a', 'y': 'a'}
    """
    partners: dict[str, str] = {}
    for url_a, url_b in pairs:
        partners.setdefault(url_a, url_b)
        partners.setdefault(url_b, url_a)
    return partners


def write_graph(graph: nx.DiGraph[str], path: Path, form: str) -> None:
    """Write a graph as ``graphml`` or ``gexf``."""
    import networkx as nx

    if form == "graphml":
        nx.write_graphml(graph, path)
    else:
        nx.write_gexf(graph, path)
