"""Common Crawl's web graphs: links that are added to a host graph."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from twinlink.errors import InputError
from twinlink.inputs import ANY_FILE, open_input
from twinlink.sites.database import opened, quoted, write_parquet
from twinlink.sites.host_graph import EDGES_FILE, NODES_FILE, check_host_graph, replacing_graph

if TYPE_CHECKING:
    import duckdb

GZIP = b"\x1f\x8b"
"""First bytes of a gzipped file."""
_MAX_LINE_BYTES = 2**20
_LEAST_COLUMNS = 2


def add_common_crawl(folder: Path, vertices: Sequence[Path], edges: Sequence[Path], megabytes: int = 1_024) -> None:
    """Add Common Crawl's links between the sites of a host graph.

    No site is added, so that the graph stays as small as it is. A new edge has weight 1 and counts as one link;
    existing edges are not changed. Sites and hosts are matched by name; a leading ``www.`` is ignored, because
    Common Crawl omits it.

    A line of a vertices file is a number and a host, its labels reversed (``hk.gov.info`` is ``info.gov.hk``); in the
    domain-level graph a third column, the number of hosts, follows and is not used. A line of an edges file is the
    numbers of the linking and of the linked host. Columns are separated by tabs; files may be gzipped.

    Parameters
    ----------
    folder : Path
        A host graph (`twinlink.sites.building.build_host_graph`); it is replaced.
    vertices, edges : sequence of Path
        The files; a graph may be cut into many.
    megabytes : int
        Memory limit of the database; beyond it, it spills to disk.

    Raises
    ------
    InputError
        If a file is not of this form, or the folder holds no host graph.
    """
    check_host_graph(folder)
    with replacing_graph(folder) as pieces, opened(pieces, megabytes) as database:
        _add(database, folder, vertices, edges, pieces)


_NAME = "array_to_string(list_reverse(string_split(host, '.')), '.')"


def _add(
    database: duckdb.DuckDBPyConnection, graph: Path, vertices: Sequence[Path], edges: Sequence[Path], folder: Path
) -> None:
    hosts, links = _hosts(vertices), _links(edges)
    nodes = f"read_parquet({quoted(graph / NODES_FILE)}, file_row_number = true)"
    old = f"read_parquet({quoted(graph / EDGES_FILE)})"
    database.execute(f"""
        CREATE TEMP TABLE known AS
        SELECT id, n.file_row_number AS row FROM {hosts} h
        JOIN {nodes} n ON regexp_replace(n.site, '^www[.]', '') = regexp_replace({_NAME}, '^www[.]', '')""")  # noqa: S608
    more = f"""
        SELECT DISTINCT a.row AS source, b.row AS target, 1::DOUBLE AS weight, 1::BIGINT AS n_links,
               0::BIGINT AS n_pages, 1::BIGINT AS n_templates, 0::BIGINT AS n_site_wide, false AS same_domain,
               0::BIGINT AS n_languages, false AS hreflang
        FROM {links} l JOIN known a ON l.a = a.id JOIN known b ON l.b = b.id WHERE a.row <> b.row"""  # noqa: S608
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


def _hosts(vertices: Sequence[Path]) -> str:
    return _lines(vertices, ("id BIGINT", "host VARCHAR", "hosts BIGINT"))


def _links(edges: Sequence[Path]) -> str:
    return _lines(edges, ("a BIGINT", "b BIGINT"))


def _lines(files: Sequence[Path], columns: Sequence[str]) -> str:
    """Return the SQL that reads tab-separated files; all have as many columns as the longest of their first lines."""
    if not files:
        raise InputError("host graph: expected at least one vertices file and one edges file")
    allowed = range(_LEAST_COLUMNS, len(columns) + 1)
    widths = [n_columns(file) for file in files]
    for file, width in zip(files, widths, strict=True):
        if width and width not in allowed:
            expected = " or ".join(map(str, allowed))
            raise InputError(f"{file}: expected {expected} tab-separated columns, got {width}")
    used = columns[: max(widths) or _LEAST_COLUMNS]
    types = ", ".join(f"'{name}': '{kind}'" for name, kind in map(str.split, used))
    plain = "header = false, quote = '', escape = '', auto_detect = false, strict_mode = true"
    return f"read_csv({quoted(files)}, delim = '\t', {plain}, columns = {{{types}}})"


def n_columns(file: Path) -> int:
    """Return the number of columns of a file's first line; 0 for an empty file."""
    try:
        with open_input(file, ANY_FILE) as plain:
            zipped = plain.read(2) == GZIP
            plain.seek(0)
            lines = gzip.GzipFile(fileobj=plain) if zipped else plain
            first = lines.readline(_MAX_LINE_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{file}: cannot be read ({error})") from error
    if len(first) == _MAX_LINE_BYTES:
        raise InputError(f"{file}: expected tab-separated columns, its first line has {_MAX_LINE_BYTES} bytes and more")
    return first.count(b"\t") + 1 if first else 0
