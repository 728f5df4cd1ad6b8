"""Building the graph of sites, with weights, from the links of pages, out of core.

A host graph is a folder of two Parquet files. ``nodes.parquet`` has a row per site, ordered by name; a site's number is
its row. ``edges.parquet`` has a row for every two sites that are linked, ordered by source and target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from twinlink.config.sites import HostGraphSettings
from twinlink.domains import registered_domain
from twinlink.languages import ADDRESS_CODES, address_pattern
from twinlink.sites.database import opened, quoted, write_parquet
from twinlink.sites.host_graph import EDGES_FILE, NODES_FILE, replacing_graph
from twinlink.tables import LINKS, count_rows, file_of, iter_batches, part_rows

if TYPE_CHECKING:
    import duckdb


class SiteLinks(NamedTuple):
    """The links of one site's pages."""

    site: str
    n_pages: int
    """Pages of the site that were read."""
    files: tuple[Path, ...]
    """Parts of tables `twinlink.tables.LINKS` (Parquet) that hold its links, and those of no other site."""


def build_host_graph(
    parts: Iterable[SiteLinks],
    folder: Path,
    settings: HostGraphSettings | None = None,
    on_batch: Callable[[int], None] | None = None,
) -> None:
    """Build the host graph from the links of many sites.

    Every link of a page to another site counts as the settings say; links of a site to itself, and those with an
    ignored ``rel``, do not. Sites without links are nodes, too. Memory is bounded by the settings, for any number
    of links: sites are worked on in batches, and the database spills to ``folder``.

    Parameters
    ----------
    parts : iterable of SiteLinks
        Each site once.
    folder : Path
        Folder for the two files; created if missing.
    settings : HostGraphSettings, optional
    on_batch : callable, optional
        Called with the number of sites done.

    Raises
    ------
    DamagedError
        If a table cannot be read.
    InputError
        If a site occurs twice.
    """
    settings = settings or HostGraphSettings()
    with replacing_graph(folder) as pieces, opened(pieces, settings.memory) as database:
        _prepare(database)
        done = 0
        for number, batch in enumerate(_batches(parts, settings.batch)):
            _collect(database, batch, settings, pieces / f"{number:06}.parquet")
            done += len(batch)
            if on_batch:
                on_batch(done)
        _finish(database, pieces, settings)


def _prepare(database: duckdb.DuckDBPyConnection) -> None:
    """Make the tables that the batches use."""
    database.execute("CREATE TABLE crawled (site VARCHAR PRIMARY KEY, n_pages BIGINT)")
    database.execute("CREATE TABLE files (filename VARCHAR, first BIGINT, last BIGINT, site VARCHAR, n_pages BIGINT)")
    tags = sorted(set(ADDRESS_CODES.values()))
    codes = pa.table({"token": list(ADDRESS_CODES), "bit": [1 << tags.index(tag) for tag in ADDRESS_CODES.values()]})
    database.register("codes_given", codes)
    database.execute("CREATE TABLE codes AS SELECT token, bit::BIGINT AS bit FROM codes_given")
    database.unregister("codes_given")


def _batches(parts: Iterable[SiteLinks], size: int) -> Iterator[list[SiteLinks]]:
    """Yield sites that have some ``size`` links together."""
    batch: list[SiteLinks] = []
    held = 0
    for part in parts:
        batch.append(part)
        held += sum(map(count_rows, part.files))
        if held >= size:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _collect(
    database: duckdb.DuckDBPyConnection, batch: Sequence[SiteLinks], settings: HostGraphSettings, path: Path
) -> None:
    """Write the edges that the links of some sites make, sites by their names."""
    sites = [part.site for part in batch]
    for name, table in (
        ("crawled", pa.table({"site": sites, "n_pages": [part.n_pages for part in batch]})),
        (
            "files",
            pa.Table.from_pylist([_place(file, part) for part in batch for file in part.files], schema=_PLACES),
        ),
    ):
        if name == "files":
            database.execute("DELETE FROM files")
        database.register("given", table)
        database.execute(f"INSERT INTO {name} SELECT * FROM given")  # noqa: S608  (names from above)
        database.unregister("given")
    files = [file for part in batch for file in part.files]
    if not files:
        return
    with _naming_damaged(files):
        _collect_edges(database, files, settings, path)


_PLACES = pa.schema(
    {"filename": pa.string(), "first": pa.int64(), "last": pa.int64(), "site": pa.string(), "n_pages": pa.int64()}
)
_ALL_ROWS = 2**62


def _place(part: Path, of_site: SiteLinks) -> dict[str, str | int]:
    """Return where the links of a site are: its rows of a file."""
    rows = part_rows(part)
    rows = range(_ALL_ROWS) if rows is None else rows  # the part may have none
    first, last = rows.start, rows.stop - 1
    return {
        "filename": str(file_of(part)),
        "first": first,
        "last": last,
        "site": of_site.site,
        "n_pages": of_site.n_pages,
    }


@contextmanager
def _naming_damaged(files: Sequence[Path]) -> Iterator[None]:
    """Find the damaged file if the database fails: its errors seldom name it."""
    import duckdb

    try:
        yield
    except duckdb.Error:
        for file in files:
            for _ in iter_batches(file, LINKS):
                pass
        raise


def _collect_edges(
    database: duckdb.DuckDBPyConnection, files: Sequence[Path], settings: HostGraphSettings, path: Path
) -> None:
    linked = f"""
        CREATE TEMP TABLE link AS
        SELECT f.site AS s, l.target_site AS t, l.source AS p, hash(l.target_url, l.anchor) AS k,
               l.target_url AS u, l.hreflang <> '' AS h, f.n_pages AS n
        FROM read_parquet({quoted(list(dict.fromkeys(map(file_of, files))))}, filename = true, file_row_number = true) l
        JOIN files f ON l.filename = f.filename AND l.file_row_number BETWEEN f.first AND f.last
        WHERE l.target_site <> '' AND l.target_site <> f.site
          AND NOT list_has_any(string_split(l.rel, ' '), ?::VARCHAR[])"""  # noqa: S608
    database.execute(linked, [list(settings.ignored_rel)])
    most = f"count(DISTINCT p) >= {settings.site_wide_share} * any_value(n) AND any_value(n) >= "
    database.execute(f"""
        CREATE TEMP TABLE template AS
        SELECT s, t, k, min(u) AS u, count(*) AS links, bool_or(h) AS h, {most}{settings.site_wide_pages} AS wide
        FROM link GROUP BY s, t, k""")  # noqa: S608
    write_parquet(database, _EDGES_OF_BATCH, path)
    database.execute("DROP TABLE link")
    database.execute("DROP TABLE template")


_EDGES_OF_BATCH = f"""
    WITH by_template AS (
        SELECT s, t, sum(links) AS n_links, count(*) AS n_templates,
               coalesce(sum(links) FILTER (wide), 0) AS wide_links, count(*) FILTER (wide) AS wide_templates,
               coalesce(bit_or(c.bit), 0) AS languages, bool_or(h) AS hreflang
        FROM template LEFT JOIN codes c
          ON c.token = replace(regexp_extract(lower(u), '{address_pattern()}', 1), '_', '-')
        GROUP BY s, t),
    by_page AS (
        SELECT l.s, l.t, count(DISTINCT p) AS n_pages, count(DISTINCT p) FILTER (w.k IS NULL) AS plain_pages
        FROM link l LEFT JOIN (SELECT s, t, k FROM template WHERE wide) w ON l.s = w.s AND l.t = w.t AND l.k = w.k
        GROUP BY l.s, l.t)
    SELECT * FROM by_template JOIN by_page USING (s, t)
"""  # noqa: S608

_WEIGHTS = {
    "count": {"links": "n_links", "pages": "n_pages", "templates": "n_templates", "sites": "1"},
    "once": {
        "links": "n_links - wide_links + wide_templates",
        "pages": "plain_pages + (wide_templates > 0)::BIGINT",
        "templates": "n_templates",
        "sites": "1",
    },
    "drop": {
        "links": "n_links - wide_links",
        "pages": "plain_pages",
        "templates": "n_templates - wide_templates",
        "sites": "(n_templates > wide_templates)::BIGINT",
    },
}
"""Weight of an edge, by how site-wide links count and by what is counted."""


def _finish(database: duckdb.DuckDBPyConnection, pieces: Path, settings: HostGraphSettings) -> None:
    """Join the edges of all batches, number the sites, and write both files."""
    files = sorted(pieces.glob("[0-9]*.parquet"))
    if files:
        database.execute(f"CREATE VIEW piece AS SELECT * FROM read_parquet({quoted(files)})")  # noqa: S608
    else:
        database.execute(f"CREATE VIEW piece AS SELECT * FROM ({_NO_EDGES}) WHERE false")  # noqa: S608
    _find_siblings(database)
    weight = f"({_WEIGHTS[settings.site_wide][settings.weight]})::DOUBLE"
    own = {"count": "{}", "once": "least({}, 1)", "drop": "0"}[settings.same_domain].format(weight)
    edges = f"""
        SELECT *, x.s IS NOT NULL AS same_domain, CASE WHEN x.s IS NULL THEN {weight} ELSE {own} END AS weight
        FROM piece LEFT JOIN sibling x USING (s, t)"""  # noqa: S608
    write_parquet(database, f"SELECT * FROM ({edges}) WHERE weight > 0", pieces / "named.parquet")  # noqa: S608
    write_parquet(database, _nodes(pieces / "named.parquet"), pieces / NODES_FILE)
    nodes = f"read_parquet({quoted(pieces / NODES_FILE)}, file_row_number = true)"
    numbered = f"""
        SELECT a.file_row_number AS source, b.file_row_number AS target, e.weight, e.n_links, e.n_pages, e.n_templates,
               e.wide_templates AS n_site_wide, e.same_domain, bit_count(e.languages)::BIGINT AS n_languages, e.hreflang
        FROM read_parquet({quoted(pieces / "named.parquet")}) e
        JOIN {nodes} a ON a.site = e.s JOIN {nodes} b ON b.site = e.t
        ORDER BY source, target"""  # noqa: S608
    write_parquet(database, numbered, pieces / EDGES_FILE)


_NO_EDGES = """
    SELECT ''::VARCHAR AS s, ''::VARCHAR AS t, 0::BIGINT AS n_links, 0::BIGINT AS n_templates, 0::BIGINT AS wide_links,
           0::BIGINT AS wide_templates, 0::BIGINT AS languages, false AS hreflang, 0::BIGINT AS n_pages,
           0::BIGINT AS plain_pages
"""


def _find_siblings(database: duckdb.DuckDBPyConnection) -> None:
    """Find the edges within one registered domain. It has two labels at least: the sites' last two are the same."""
    tail = r"regexp_extract({}, '([^.]+\.[^.]+?)(:[0-9]+)?$', 1)"
    database.execute(f"""
        CREATE TEMP TABLE near AS
        SELECT s, t FROM piece WHERE {tail.format("s")} = {tail.format("t")} AND {tail.format("s")} <> ''""")  # noqa: S608
    names = database.sql("SELECT DISTINCT s FROM (SELECT s FROM near UNION ALL SELECT t FROM near)").fetchall()
    domains = pa.table(
        {
            "site": pa.array([name for (name,) in names], pa.string()),
            "domain": pa.array([registered_domain(name) for (name,) in names], pa.string()),
        }
    )
    database.register("domains", domains)
    database.execute("""
        CREATE TEMP TABLE sibling AS
        SELECT s, t FROM near JOIN domains a ON a.site = s JOIN domains b ON b.site = t WHERE a.domain = b.domain""")
    database.unregister("domains")


def _nodes(edges: Path) -> str:
    """Return the query for the sites of named edges and of the table ``crawled``, with what the edges say of each."""
    return f"""
        WITH linked AS (
            SELECT t AS site, count(*) AS n_sources, count(*) FILTER (languages <> 0) AS n_named,
                   bit_count(bit_or(languages))::BIGINT AS n_languages, count(*) FILTER (hreflang) AS n_hreflang,
                   count(*) FILTER (wide_templates = n_templates) AS n_site_wide
            FROM read_parquet({quoted(edges)}) GROUP BY t)
        SELECT site, coalesce(n_pages, 0) AS n_pages, coalesce(n_sources, 0) AS n_sources,
               coalesce(n_named, 0) AS n_named, coalesce(n_languages, 0) AS n_languages,
               coalesce(n_hreflang, 0) AS n_hreflang, coalesce(n_site_wide, 0) AS n_site_wide
        FROM crawled FULL JOIN linked USING (site) ORDER BY site"""  # noqa: S608
