"""Tables of one large site from parts on disk: merged in the order of the addresses, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from twinlink.lookup import SortedNumbers, places_of
from twinlink.tables import GROUP_ROWS, LINKS, PAGES, columns_of, iter_batches, read_table, row_groups

__all__ = ["MAX_PARTS", "PartFiles", "merged_tables", "sorted_by_address"]

MAX_PARTS = 200
"""Number of parts that are merged at most: all of their files are open at the same time."""
_LINKS = 2**16  # links that are merged together

Ranks = NDArray[np.int64]


class PartFiles(NamedTuple):
    """Files of one part of a site's tables, sorted by `sorted_by_address`."""

    pages: Path
    links: Path


def sorted_by_address(pages: pa.Table, links: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Sort pages by address, and links in the order of their pages; links of a page keep their order."""
    pages = pages.sort_by("url")
    places = places_of(links["source"], among=pages["page_id"])
    return pages, links.take(pa.array(np.argsort(places, kind="stable")))


def merged_tables(
    parts: Sequence[PartFiles], kept: Sequence[SortedNumbers] | None = None
) -> tuple[Iterator[pa.Table], Iterator[pa.Table]]:
    """Return the pages and the links of a site, as `sorted_by_address` sorts them, in tables of some rows.

    Parameters
    ----------
    parts : sequence of PartFiles
        Of a page that is kept in several parts, the last one counts, with its links.
    kept : sequence of SortedNumbers, optional
        The page_id of every page to keep, for each part; by default all.

    Returns
    -------
    two iterators of pa.Table
        Without tables if no page is kept.
    """
    ids = [read_table(part.pages, PAGES, ["page_id", "url"]) for part in parts]
    ranks = _ranks(ids, kept)
    pages = [_Rows(part.pages, PAGES, of_page) for part, of_page in zip(parts, ranks, strict=True)]
    numbers = [of_part["page_id"].combine_chunks() for of_part in ids]
    return _merged(pages, GROUP_ROWS["pages"]), _merged_links(parts, numbers, ranks)


def _ranks(ids: Sequence[pa.Table], kept: Sequence[SortedNumbers] | None) -> list[Ranks]:
    """Return the place of each page of each part among all kept pages by address; -1 for those that do not count."""
    counts = _last_of_each([part["page_id"].to_numpy() for part in ids], kept)
    urls = pa.concat_tables([part.filter(pa.array(of_part)) for part, of_part in zip(ids, counts, strict=True)])["url"]
    order = pc.sort_indices(urls).to_numpy()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    ends = np.cumsum([of_part.sum() for of_part in counts])
    result = [np.full(len(of_part), -1) for of_part in counts]
    for ranks, of_part, own in zip(result, counts, np.split(place, ends[:-1]), strict=True):
        ranks[of_part] = own
    return result


def _last_of_each(ids: Sequence[NDArray[np.int64]], kept: Sequence[SortedNumbers] | None) -> list[NDArray[np.bool_]]:
    """Return which pages of each part count: those to keep that no later part has."""
    is_kept = np.ones(sum(map(len, ids)), np.bool_)
    if kept is not None:
        is_kept = np.concatenate([of_part.holds(numbers) for numbers, of_part in zip(ids, kept, strict=True)])
    places = np.flatnonzero(is_kept[::-1])
    _, first = np.unique(np.concatenate(ids)[::-1][places], return_index=True)
    counts = np.zeros(len(is_kept), np.bool_)
    counts[places[first]] = True
    return np.split(counts[::-1], np.cumsum([len(numbers) for numbers in ids[:-1]]))


def _merged_links(
    parts: Sequence[PartFiles], numbers: Sequence[pa.Array], ranks: Sequence[Ranks]
) -> Iterator[pa.Table]:
    rows = []
    for part, number, of_page in zip(parts, numbers, ranks, strict=True):
        sources = read_table(part.links, LINKS, ["source"])["source"]
        rows.append(_Rows(part.links, LINKS, np.append(of_page, -1)[places_of(sources, among=number)]))
    yield from _merged(rows, _LINKS)


class _Rows:
    """The rows of a part's file that count, in their order, with their rising ranks."""

    def __init__(self, path: Path, schema: pa.Schema, ranks: Ranks) -> None:
        self._batches = iter_batches(path, columns_of(schema, None), _rows_of_group(path))
        self._all_ranks = ranks
        self.ranks: Ranks = ranks[ranks >= 0]
        self._n_read = 0
        self._waiting: list[pa.Table] = []

    def take(self, n_rows: int) -> pa.Table | None:
        """Return the next rows; None: no row is wanted."""
        while sum(map(len, self._waiting)) < n_rows:
            batch = next(self._batches)
            counts = self._all_ranks[self._n_read : self._n_read + len(batch)] >= 0
            self._n_read += len(batch)
            self._waiting.append(batch if counts.all() else batch.filter(pa.array(counts)))
        if not n_rows:
            return None
        rows = pa.concat_tables(self._waiting)
        self._waiting = [rows.slice(n_rows)]
        return rows.slice(0, n_rows)


def _rows_of_group(path: Path) -> int:
    return next((int(group.num_rows) for group in row_groups(path) if group.num_rows), 1)


def _merged(parts: Sequence[_Rows], n_rows: int) -> Iterator[pa.Table]:
    """Yield the rows of all parts by their ranks, about ``n_rows`` in a table; rows of one rank are in one table."""
    n_of_rank = np.bincount(np.concatenate([part.ranks for part in parts]))
    ends = np.unique(np.append(np.flatnonzero(np.diff(np.cumsum(n_of_rank) // n_rows)) + 1, len(n_of_rank)))
    cuts = [np.searchsorted(part.ranks, np.append(0, ends)) for part in parts]
    for k in range(len(ends)):
        taken = [part.take(int(cut[k + 1] - cut[k])) for part, cut in zip(parts, cuts, strict=True)]
        ranks = np.concatenate([part.ranks[cut[k] : cut[k + 1]] for part, cut in zip(parts, cuts, strict=True)])
        rows = [table for table in taken if table is not None]
        if rows:
            yield pa.concat_tables(rows).take(pa.array(np.argsort(ranks, kind="stable")))
