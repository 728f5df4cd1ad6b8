"""Tables that grow part by part, one pair of pages and links a site: in memory while they are small, else on disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from twinlink.spiders.parser import Link
from twinlink.spiders.urls import page_id, site_of
from twinlink.tables import LINKS, PAGES, read_table, write_table

__all__ = ["Parts", "Rows"]

HELD_BYTES = 2**25  # of the parts that wait in memory; those of a site of some 9,000 pages need not be written
_PART_BYTES = 2**14  # what Arrow takes for a part beside its values


class Rows:
    """Pages of one site and their links, as they come out of the parser."""

    def __init__(self) -> None:
        self._pages: list[tuple[Any, ...]] = []
        self._sources: list[int] = []
        self._links: list[Link] = []

    def add(self, number: int, page: tuple[Any, ...], links: Sequence[Link]) -> None:
        """Take a page: its number, its row of `PAGES`, its links."""
        self._pages.append(page)
        self._sources += [number] * len(links)
        self._links += links

    def tables(self, site_by: Literal["domain", "host", "path"]) -> tuple[pa.Table, pa.Table]:
        """Return what has been taken as tables; a link's target is the number of its address."""
        url, anchor, rel, hreflang = zip(*self._links, strict=True) if self._links else ((), (), (), ())
        targets = {address: (page_id(address), site_of(address, site_by)) for address in set(url)}
        target, target_site = zip(*(targets[address] for address in url), strict=True) if url else ((), ())
        links = (self._sources, target, url, target_site, anchor, rel, hreflang)
        return _table(zip(*self._pages, strict=True), PAGES), _table(links, LINKS)


class Parts:
    """Parts of the tables of each site, in the order in which they came.

    Parameters
    ----------
    folder : Path
        Where parts go when they are larger than `HELD_BYTES` together; made when the first one does.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, list[tuple[pa.Table, pa.Table]]] = {}
        self._n_bytes = 0  # of what is held
        self._written: dict[str, list[int]] = {}
        self._n_written = 0

    def add(self, site: str, pages: pa.Table, links: pa.Table) -> None:
        """Take a part of a site's tables; all of them go to disk when they are too large together."""
        self._held.setdefault(site, []).append((pages, links))
        self._n_bytes += pages.nbytes + links.nbytes + _PART_BYTES
        if self._n_bytes > HELD_BYTES:
            self._write()

    def sites(self) -> list[str]:
        """Return the sites that have parts."""
        return sorted({*self._held, *self._written})

    def take(self, site: str) -> tuple[pa.Table, pa.Table]:
        """Return the tables of a site, and hold them no longer."""
        parts = [
            (read_table(self._file("pages", part), PAGES), read_table(self._file("links", part), LINKS))
            for part in self._written.pop(site, [])
        ]
        pages, links = zip(*parts, *self._held.pop(site, []), strict=True)
        return pa.concat_tables(pages), pa.concat_tables(links)

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self) -> None:
        for site in list(self._held):
            pages, links = zip(*self._held.pop(site), strict=True)
            part = self._n_written = self._n_written + 1
            write_table(pa.concat_tables(pages), PAGES, self._file("pages", part))
            write_table(pa.concat_tables(links), LINKS, self._file("links", part))
            self._written.setdefault(site, []).append(part)
        self._n_bytes = 0

    def _file(self, table: str, part: int) -> Path:
        return self._folder / f"{table}-{part}.parquet"


def _table(columns: Iterable[Iterable[Any]], schema: pa.Schema) -> pa.Table:
    """Make a table of columns of Python values."""
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
