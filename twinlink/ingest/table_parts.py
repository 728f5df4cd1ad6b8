"""Tables of pages and links per site that grow by parts, in memory while they are small, else on disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from twinlink.ingest.merging import MAX_PARTS, PartFiles, merged_tables, sorted_by_address
from twinlink.pages.parser import Link
from twinlink.tables import LINKS, PAGES, write_tables
from twinlink.urls import SiteBy, page_id, site_of

__all__ = ["Parts", "Rows", "without_pages"]

HELD_BYTES = 2**28  # of the parts that wait in memory at most; those of some 70,000 pages need not be written
_PART_BYTES = 2**14  # what Arrow takes for a part beside its values


class Rows:
    """Pages of one site and their links from the parser; of two with one number, the later counts."""

    def __init__(self) -> None:
        self._pages: dict[int, tuple[tuple[Any, ...], Sequence[Link]]] = {}

    def add(self, number: int, page: tuple[Any, ...], links: Sequence[Link]) -> None:
        """Take a page: its number, its row of `PAGES`, its links."""
        self._pages[number] = page, links

    def tables(self, site_by: SiteBy) -> tuple[pa.Table, pa.Table]:
        """Return the rows as tables; a link's target is the number of its address."""
        sources = [number for number, (_, links) in self._pages.items() for _ in links]
        found = [link for _, links in self._pages.values() for link in links]
        url, anchor, rel, hreflang = zip(*found, strict=True) if found else ((), (), (), ())
        targets = {address: (page_id(address), site_of(address, site_by)) for address in set(url)}
        target, target_site = zip(*(targets[address] for address in url), strict=True) if url else ((), ())
        columns = (sources, target, url, target_site, anchor, rel, hreflang)
        return _table(zip(*(page for page, _ in self._pages.values()), strict=True), PAGES), _table(columns, LINKS)


def without_pages(tables: tuple[pa.Table, pa.Table], numbers: Sequence[int]) -> tuple[pa.Table, pa.Table]:
    """Return tables of pages and links without some pages, given their page_ids."""
    if not numbers:
        return tables
    pages, links = tables
    dropped = pa.array(numbers, pa.int64())
    return (
        pages.filter(pc.invert(pc.is_in(pages["page_id"], dropped))),
        links.filter(pc.invert(pc.is_in(links["source"], dropped))),
    )


class Parts:
    """Parts of the tables of each site, in the order in which they came; a later row of a page replaces earlier ones.

    Parameters
    ----------
    folder : Path
        Folder for parts that exceed ``held_bytes`` together; created when needed.
    held_bytes : int, optional
        Default: `HELD_BYTES`.
    """

    def __init__(self, folder: Path, held_bytes: int | None = None) -> None:
        self._folder = folder
        self._held_bytes = HELD_BYTES if held_bytes is None else held_bytes
        self._held: dict[str, list[tuple[pa.Table, pa.Table]]] = {}
        self._n_bytes = 0  # of what is held
        self._written: dict[str, list[int]] = {}
        self._n_written = 0

    def add(self, site: str, pages: pa.Table, links: pa.Table) -> None:
        """Take a part of a site's tables; all of them go to disk when they are too large together."""
        self._held.setdefault(site, []).append((pages, links))
        self._n_bytes += pages.nbytes + links.nbytes + _PART_BYTES
        if self._n_bytes > self._held_bytes:
            self._write()

    def sites(self) -> list[str]:
        """Return the sites that have parts."""
        return sorted({*self._held, *self._written})

    def __contains__(self, site: str) -> bool:
        """Return whether a site has parts."""
        return site in self._held or site in self._written

    def files(self, site: str, n_bytes: int = 0) -> list[PartFiles]:
        """Return the parts of a site if they are to be merged from disk; none if they fit into memory together.

        Parameters
        ----------
        site : str
        n_bytes : int, optional
            Size of other rows of the site, which are to be merged with them.
        """
        if site in self._held and (site in self._written or n_bytes > self._held_bytes):
            self._write_site(site)
        return [self._files_of(part) for part in self._written.get(site, [])]

    def take(self, site: str) -> tuple[pa.Table, pa.Table]:
        """Return and release the tables of a site that has no `files`."""
        return _joined(self._held.pop(site, []))

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self) -> None:
        for site in list(self._held):
            self._write_site(site)
        self._n_bytes = 0

    def _write_site(self, site: str) -> None:
        """Write what is held of a site, sorted, as a part; when a site has `MAX_PARTS`, they become one."""
        pages, links = sorted_by_address(*_joined(self._held.pop(site)))
        parts = self._written.setdefault(site, [])
        parts.append(self._write_part([pages], [links]))
        if len(parts) == MAX_PARTS:
            files = [self._files_of(part) for part in parts]
            self._written[site] = [self._write_part(*merged_tables(files))]
            for path in chain.from_iterable(files):
                path.unlink()

    def _write_part(self, pages: Iterable[pa.Table], links: Iterable[pa.Table]) -> int:
        """Write sorted tables, which come in pieces, and return the number of the part."""
        part = self._n_written = self._n_written + 1
        for tables, schema, path in zip((pages, links), (PAGES, LINKS), self._files_of(part), strict=True):
            pieces = iter(tables)
            first = next(pieces, schema.empty_table())
            write_tables(chain([first], pieces), schema, path, group_rows=self._group_rows(first))
        return part

    def _group_rows(self, table: pa.Table) -> int:
        """Return how many rows a row group has, so that one of each part takes no more than what is held at most."""
        n_bytes = max(1, int(table.nbytes))
        return max(1, self._held_bytes // MAX_PARTS * len(table) // n_bytes)

    def _files_of(self, part: int) -> PartFiles:
        return PartFiles(self._folder / f"pages-{part}.parquet", self._folder / f"links-{part}.parquet")


def _joined(parts: Sequence[tuple[pa.Table, pa.Table]]) -> tuple[pa.Table, pa.Table]:
    """Merge parts; of a page that is in several parts, the last one counts, with its links."""
    if not parts:
        return PAGES.empty_table(), LINKS.empty_table()
    seen = pa.array([], pa.int64())
    kept = []
    for pages, links in reversed(parts):
        fresh = pc.invert(pc.is_in(pages["page_id"], seen))
        if not pc.all(fresh).as_py():
            pages = pages.filter(fresh)  # noqa: PLW2901
            links = links.filter(pc.is_in(links["source"], pages["page_id"].combine_chunks()))  # noqa: PLW2901
        kept.append((pages, links))
        if len(kept) < len(parts):
            seen = pa.concat_arrays([seen, *pages["page_id"].chunks])
    all_pages, all_links = zip(*reversed(kept), strict=True)
    return pa.concat_tables(all_pages), pa.concat_tables(all_links)


def _table(columns: Iterable[Iterable[Any]], schema: pa.Schema) -> pa.Table:
    """Make a table of columns of Python values."""
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
