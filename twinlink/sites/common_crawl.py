"""Common Crawl's web graphs: links that are added to a host graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from twinlink.errors import InputError
from twinlink.sites.database import opened, quoted, write_parquet
from twinlink.sites.host_graph import EDGES_FILE, NODES_FILE, check_host_graph, replacing_graph
from twinlink.sites.web_files import OnRead, Reader, n_columns, read_members
from twinlink.sites.web_hosts import HostNames
from twinlink.sorted_keys import find_keys
from twinlink.tables import open_table, readable

if TYPE_CHECKING:
    import duckdb

_COLUMNS = {"vertices": (2, 3), "edges": (2,)}


def add_common_crawl(
    folder: Path,
    vertices: Sequence[Path],
    edges: Sequence[Path],
    megabytes: int = 1_024,
    *,
    by_domain: bool = True,
    on_read: OnRead | None = None,
) -> None:
    """Add Common Crawl's links between the sites of a host graph.

    No site is added, so that the graph stays as small as it is. A new edge has weight 1 and counts as one link;
    existing edges are not changed.

    A line of a vertices file is a number and a host, its labels reversed (``hk.gov.info`` is ``info.gov.hk``); in the
    domain-level graph a third column, the number of hosts, follows and is not used. A line of an edges file is the
    numbers of the linking and of the linked host. Columns are separated by tabs; files may be packed
    (gzip, zstd, bzip2).

    Parameters
    ----------
    folder : Path
        A host graph (`twinlink.sites.building.build_host_graph`); it is replaced.
    vertices, edges : sequence of Path
        The files; a graph may be cut into many.
    megabytes : int
        Memory limit of the database; beyond it, it spills to disk.
    by_domain : bool
        Whether hosts below a site belong to it, see `twinlink.sites.web_hosts.HostNames`.
    on_read : callable, optional
        Called with the bytes that have been read, and all.

    Raises
    ------
    InputError
        If a file is not of this form, or the folder holds no host graph.
    """
    check_host_graph(folder)
    for kind, files in (("vertices", vertices), ("edges", edges)):
        _check_columns(files, _COLUMNS[kind])
    with readable(folder / NODES_FILE):
        sites = open_table(folder / NODES_FILE).read(["site"])["site"].to_pylist()
    names = HostNames(sites, by_domain=by_domain)
    with replacing_graph(folder) as pieces, opened(pieces, megabytes) as database:
        _collect(database, Reader([*vertices, *edges], on_read), vertices, edges, names)
        _add(database, folder, pieces, names)


def _check_columns(files: Sequence[Path], allowed: Sequence[int]) -> None:
    if not files:
        raise InputError("host graph: expected at least one vertices file and one edges file")
    for file in files:
        width = n_columns(file)
        if width and width not in allowed:
            expected = " or ".join(map(str, allowed))
            raise InputError(f"{file}: expected {expected} tab-separated columns, got {width}")


def _collect(
    database: duckdb.DuckDBPyConnection,
    reader: Reader,
    vertices: Sequence[Path],
    edges: Sequence[Path],
    names: HostNames,
) -> None:
    """Put the links between groups of sites into the table ``link``, some of them repeated."""
    members, groups, _ = read_members(reader, vertices, names)
    order = np.argsort(members)
    members, groups = members[order], groups[order]
    database.execute("CREATE TEMP TABLE link (a INTEGER, b INTEGER)")
    for columns in reader.batches(edges, {"from": pa.int64(), "to": pa.int64()}):
        pairs = _between(members, groups, [column.to_numpy() for column in columns])
        if len(pairs):
            database.register("more", pa.table({"a": pairs[:, 0], "b": pairs[:, 1]}))
            database.execute("INSERT INTO link SELECT * FROM more")
            database.unregister("more")


def _between(
    members: NDArray[np.int64], groups: NDArray[np.int32], ends: Sequence[NDArray[np.int64]]
) -> NDArray[np.int32]:
    """Return the pairs of groups that some edges of the web graph link, shape (n, 2), each once."""
    found = [find_keys(end, members) for end in ends]
    both = found[0][1] & found[1][1]
    pairs = np.column_stack([groups[places[both]] for places, _ in found])
    return np.unique(pairs, axis=0)


def _add(database: duckdb.DuckDBPyConnection, graph: Path, folder: Path, names: HostNames) -> None:
    """Write the files of the graph with the links of the table ``link``, which go to all sites of a group."""
    nodes = f"read_parquet({quoted(graph / NODES_FILE)}, file_row_number = true)"
    old = f"read_parquet({quoted(graph / EDGES_FILE)})"
    rows = pa.table({"id": names.group, "row": np.arange(len(names.group))})
    database.register("known", rows)
    more = """
        SELECT DISTINCT a.row AS source, b.row AS target, 1::DOUBLE AS weight, 1::BIGINT AS n_links,
               0::BIGINT AS n_pages, 1::BIGINT AS n_templates, 0::BIGINT AS n_site_wide, false AS same_domain,
               0::BIGINT AS n_languages, false AS hreflang
        FROM link l JOIN known a ON l.a = a.id JOIN known b ON l.b = b.id WHERE l.a <> l.b"""
    write_parquet(
        database,
        f"SELECT * FROM {old} UNION ALL BY NAME (SELECT m.* FROM ({more}) m ANTI JOIN {old} o "  # noqa: S608
        "ON m.source = o.source AND m.target = o.target) ORDER BY source, target",
        folder / EDGES_FILE,
    )
    new = f"read_parquet({quoted(folder / EDGES_FILE)})"
    write_parquet(
        database,
        f"SELECT n.* EXCLUDE (file_row_number) REPLACE (coalesce(l.n, 0) AS n_sources) FROM {nodes} n "  # noqa: S608
        f"LEFT JOIN (SELECT target, count(*) AS n FROM {new} GROUP BY target) l ON l.target = n.file_row_number "
        "ORDER BY site",
        folder / NODES_FILE,
    )
