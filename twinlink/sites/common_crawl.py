"""Import of Common Crawl's web graphs: as a host graph, or as additional edges of an existing one."""

from __future__ import annotations

import gzip
import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from twinlink.errors import InputError
from twinlink.inputs import ANY_FILE, open_input
from twinlink.sites.database import opened, quoted, write_parquet
from twinlink.sites.host_graph import EDGES_FILE, NODES_FILE, check_host_graph

if TYPE_CHECKING:
    import duckdb

GZIP = b"\x1f\x8b"
"""First bytes of a gzipped file."""
_MAX_LINE_BYTES = 2**20


def import_common_crawl(vertices: Sequence[Path], edges: Sequence[Path], folder: Path, megabytes: int = 1_024) -> None:
    """Make a host graph of the text files of Common Crawl's host- or domain-level web graph.

    A line of a vertices file is a number and a host, its labels reversed (``hk.gov.info`` is ``info.gov.hk``); in the
    domain-level graph a third column, the number of hosts, follows and is not used. A line of an edges file is the
    numbers of the linking and of the linked host. Columns are separated by tabs; files may be gzipped. All sites get 0
    read pages, all edges weight 1.

    Parameters
    ----------
    vertices, edges : sequence of Path
        The files; a graph may be cut into many.
    folder : Path
        Where the host graph goes (`twinlink.sites.building`); made if need be.
    megabytes : int
        Memory limit of the database; beyond it, it spills to disk.

    Raises
    ------
    InputError
        If a file is not of this form, a number names two hosts, or an edge names a number that no vertex has.
    """
    with _replacing(folder) as pieces, opened(pieces, megabytes) as database:
        _import(database, vertices, edges, pieces)


def add_common_crawl(folder: Path, vertices: Sequence[Path], edges: Sequence[Path], megabytes: int = 1_024) -> None:
    """Add Common Crawl's links between the sites of a host graph.

    No site is added, so that the graph stays as small as it is. A new edge has weight 1 and counts as one link;
    existing edges are not changed. Sites and hosts are matched by name; a leading ``www.`` is ignored, because
    Common Crawl omits it.

    Parameters
    ----------
    folder : Path
        A host graph (`twinlink.sites.building.build_host_graph`); it is replaced.
    vertices, edges, megabytes
        As in `import_common_crawl`.

    Raises
    ------
    InputError
        If a file is not of the form, or the folder holds no host graph.
    """
    check_host_graph(folder)
    with _replacing(folder) as pieces, opened(pieces, megabytes) as database:
        _add(database, folder, vertices, edges, pieces)


@contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
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
    return _lines(vertices, ("id BIGINT", "host VARCHAR", "hosts BIGINT"), least=2)


def _links(edges: Sequence[Path]) -> str:
    return _lines(edges, ("a BIGINT", "b BIGINT"), least=2)


def _import(database: duckdb.DuckDBPyConnection, vertices: Sequence[Path], edges: Sequence[Path], folder: Path) -> None:
    hosts, links = _hosts(vertices), _links(edges)
    write_parquet(database, f"SELECT id, {_NAME} AS site FROM {hosts}", folder / "ids.parquet")  # noqa: S608
    ids = f"read_parquet({quoted(folder / 'ids.parquet')})"
    _refuse(database, f"SELECT id FROM {ids} GROUP BY id HAVING count(DISTINCT site) > 1", "names several hosts")  # noqa: S608
    write_parquet(database, f"SELECT DISTINCT site FROM {ids} ORDER BY site", folder / "sites.parquet")  # noqa: S608
    sites = f"read_parquet({quoted(folder / 'sites.parquet')}, file_row_number = true)"
    row_of = f"SELECT id, s.file_row_number AS row FROM {ids} JOIN {sites} s USING (site)"  # noqa: S608
    write_parquet(database, row_of, folder / "rows.parquet")
    rows = f"read_parquet({quoted(folder / 'rows.parquet')})"
    for side in ("a", "b"):
        unknown = f"SELECT {side} FROM {links} l ANTI JOIN {rows} r ON l.{side} = r.id LIMIT 1"  # noqa: S608
        _refuse(database, unknown, "of an edge is in no vertices file")
    numbered = f"""
        SELECT a.row AS source, b.row AS target, 1::DOUBLE AS weight, count(*) AS n_links
        FROM {links} l JOIN {rows} a ON l.a = a.id JOIN {rows} b ON l.b = b.id
        WHERE a.row <> b.row GROUP BY a.row, b.row ORDER BY source, target"""  # noqa: S608
    write_parquet(database, numbered, folder / EDGES_FILE)
    nodes = f"""
        WITH linked AS (
            SELECT target, count(*) AS n FROM read_parquet({quoted(folder / EDGES_FILE)}) GROUP BY target)
        SELECT site, 0::BIGINT AS n_pages, coalesce(n, 0) AS n_sources, 0::BIGINT AS n_named, 0::BIGINT AS n_languages,
               0::BIGINT AS n_hreflang, 0::BIGINT AS n_site_wide
        FROM {sites} s LEFT JOIN linked l ON l.target = s.file_row_number ORDER BY site"""  # noqa: S608
    write_parquet(database, nodes, folder / NODES_FILE)


def _refuse(database: duckdb.DuckDBPyConnection, query: str, message: str) -> None:
    found = database.execute(query).fetchone()
    if found is not None:
        raise InputError(f"host graph: number {found[0]} {message}")


def _lines(files: Sequence[Path], columns: Sequence[str], least: int) -> str:
    """Return the SQL that reads tab-separated files; all have as many columns as the first line of the first."""
    if not files:
        raise InputError("host graph: expected at least one vertices file and one edges file")
    width = max((n_columns(file) for file in files), default=0)
    if width and not least <= width <= len(columns):
        raise InputError(f"{files[0]}: expected {least} tab-separated columns, got {width}")
    types = ", ".join(f"'{name}': '{kind}'" for name, kind in (c.split() for c in columns[: width or least]))
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
