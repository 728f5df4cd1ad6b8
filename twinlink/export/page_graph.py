"""The link graph of a run's pages: as a matrix, as a networkx graph, and as GraphML and GEXF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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


def page_graph(run: RunTables, partners: Mapping[str, Sequence[str]] | None = None) -> nx.DiGraph[str]:
    """Return the links among kept pages as a networkx graph.

    Nodes are addresses in the order of `RunTables.pages`, with site, title, lang and partner, the most probable one. If
    pages have partners in several languages, ``partner_LANG`` is the partner in each. Unknown values are empty texts,
    and characters that XML cannot hold are left out, so that every format can be written.

    Parameters
    ----------
    run : RunTables
    partners : mapping of str to sequence of str, optional
        Partners of each page that has any, the most probable one first. Default: by all pairs of the run.
    """
    graph = to_networkx(link_matrix(run), list(run.pages["url"]))
    if partners is None:
        partners = partners_of(address_pairs(run.pairs)) if run.has("match") else {}
    for url, site, title, lang in run.pages[["url", "site", "title", "lang"]].fillna("").itertuples(index=False):
        facts = {"site": site, "title": without_illegal(str(title)), "lang": lang}
        graph.nodes[url].update(**facts, partner=next(iter(partners.get(str(url), ())), ""))
    if any(len(others) > 1 for others in partners.values()):
        for url, others in partners.items():
            named = {f"partner_{graph.nodes[other]['lang']}": other for other in reversed(others)}
            graph.nodes[url].update(named)
    return graph


def partners_of(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the partners of each page in the order of the given pairs.

    >>> partners_of([("a", "x"), ("a", "y")])
    {'a': ['x', 'y'], 'x': ['a'], 'y': ['a']}
    """
    partners: dict[str, list[str]] = {}
    for url_a, url_b in pairs:
        partners.setdefault(url_a, []).append(url_b)
        partners.setdefault(url_b, []).append(url_a)
    return partners


def write_graph(graph: nx.DiGraph[str], path: Path, form: str) -> None:
    """Write a graph as ``graphml`` or ``gexf``."""
    import networkx as nx

    if form == "graphml":
        nx.write_graphml(graph, path)
    else:
        nx.write_gexf(graph, path)
