"""The two files of a host graph: reading, checking and replacing them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.damage import remedy
from twinlink.errors import InputError, SchemaError
from twinlink.tables import open_table, readable

NODES_FILE = "nodes.parquet"
EDGES_FILE = "edges.parquet"

_NODE_COUNTS = ("n_pages", "n_sources", "n_named", "n_languages", "n_hreflang", "n_site_wide")


class HostGraph(msgspec.Struct, frozen=True, eq=False):
    """Sites and the links between them, in memory; arrays have a value per site."""

    sites: list[str]
    """Names, in ascending order."""
    links: csr_array
    """float64, shape (n, n), sorted: weight of the edge from row to column; the diagonal is empty."""
    n_pages: NDArray[np.int64]
    """Pages read; 0 for a site that others link to, and no more is known of it."""
    n_sources: NDArray[np.int64]
    """Sites that link to it."""
    n_named: NDArray[np.int64]
    """Of these, sites that use an address which names a language (``/en/``)."""
    n_languages: NDArray[np.int64]
    """Different languages that these addresses name."""
    n_hreflang: NDArray[np.int64]
    """Sites that link to it with an ``hreflang``."""
    n_site_wide: NDArray[np.int64]
    """Sites that link to it by site-wide links alone."""


def read_host_graph(folder: str | Path) -> HostGraph:
    """Read a host graph into memory: 12 bytes an edge, some 150 bytes per site.

    Raises
    ------
    InputError
        If the folder holds no host graph.
    DamagedError
        If one of its files cannot be read.
    """
    folder = Path(folder)
    check_host_graph(folder)
    with readable(folder / NODES_FILE):
        nodes = open_table(folder / NODES_FILE).read()
        names = nodes["site"].to_pylist()
        counts = {name: nodes[name].to_numpy() for name in _NODE_COUNTS}
    with readable(folder / EDGES_FILE):
        edges = open_table(folder / EDGES_FILE).read(["source", "target", "weight"])
        source, target, weight = (edges[name].to_numpy() for name in ("source", "target", "weight"))
        _check_edges(source, target, len(names))
    n = len(nodes)
    indices = target.astype(np.int32 if n < 2**31 else np.int64)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(source, minlength=n))])
    links = csr_array((weight, indices, indptr), shape=(n, n))
    links.has_sorted_indices = True
    return HostGraph(names, links, **counts)


@contextmanager
def replacing_graph(folder: Path) -> Iterator[Path]:
    """Give a folder for both files of a host graph; they take their places when the block ends without an error."""
    pieces = folder / ".pieces"
    shutil.rmtree(pieces, ignore_errors=True)
    pieces.mkdir(parents=True)
    try:
        yield pieces
        for name in (NODES_FILE, EDGES_FILE):
            (pieces / name).replace(folder / name)
    finally:
        shutil.rmtree(pieces, ignore_errors=True)


def check_host_graph(folder: Path) -> None:
    """Refuse a folder without the two files of a host graph.

    >>> check_host_graph(Path("nowhere"))
    Traceback (most recent call last):
    ...
    twinlink.errors.InputError: nowhere: not a host graph (no nodes.parquet in it)
    """
    for name in (NODES_FILE, EDGES_FILE):
        if not (folder / name).is_file():
            raise InputError(f"{folder}: not a host graph (no {name} in it){remedy(folder / name)}")


def _check_edges(source: NDArray[np.int64], target: NDArray[np.int64], n_sites: int) -> None:
    """Refuse edges out of range or out of order: compiled code does not check them."""
    ends = np.concatenate([source, target])
    if len(ends) and not (ends.min() >= 0 and ends.max() < n_sites):
        raise SchemaError(f"expected numbers of sites from 0 to {n_sites - 1}, got {ends.min()} to {ends.max()}")
    if (np.diff(source) < 0).any():
        raise SchemaError("expected edges in the order of their sources")
