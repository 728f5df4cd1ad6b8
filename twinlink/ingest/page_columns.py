"""Tables of a batch of pages from the buffers of the compiled parser, without an object of Python for each text.

They are the tables that `twinlink.ingest.table_parts.Rows` makes of the same pages.
"""

from __future__ import annotations

import functools
import unicodedata
from base64 import b32encode
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from twinlink.ingest.captures import Capture, Facts
from twinlink.pages.parser import loaded_parser, prepared
from twinlink.pages.spaces import composed
from twinlink.tables import LINKS, PAGES
from twinlink.urls import SiteBy, site_of

if TYPE_CHECKING:
    from twinlink.pages.libxml2 import Gathered
    from twinlink.pages.repeated import PageElements, Repeated

__all__ = ["ParsedBatch", "forget_repeated", "parse_together", "utc"]

MOST_REMEMBERED = 2**24
"""Bytes of elements and links that are remembered from one batch to the next at most."""

FactsT = TypeVar("FactsT")
Numbers = NDArray[np.int64]
_BREAK = 0


class ParsedBatch(NamedTuple, Generic[FactsT]):
    """Pages that were parsed together."""

    facts: list[FactsT]
    """One entry per capture; None: the page is to be parsed by itself."""
    tables: dict[str, tuple[pa.Table, pa.Table]]
    """Rows of `PAGES` and `LINKS` of each site; those of empty pages are missing."""


def parse_together(captures: Sequence[Capture], site_by: SiteBy) -> ParsedBatch[Facts | None]:
    """Parse pages into tables as `twinlink.ingest.parsing.parse_batch` does, as far as the compiled parser can."""
    parser = loaded_parser()
    if parser is None:
        return ParsedBatch([None] * len(captures), {})
    ready = [prepared(capture.document.body, capture.document.content_type) for capture in captures]
    found = parser.gather([data for data, _, _ in ready])
    charsets = [charset for _, _, charset in ready]
    repeated = _repeated()
    batch = _Batch(captures, found, charsets, repeated)
    facts = batch.facts([is_cut for _, is_cut, _ in ready])
    rows_of: dict[str, list[int]] = {}
    for row, (capture, of_page) in enumerate(zip(captures, facts, strict=True)):
        if of_page is not None and not of_page.is_empty:
            rows_of.setdefault(site_of(capture.url, site_by), []).append(row)
    tables = {site: (batch.pages(site, rows), batch.links(rows, site_by)) for site, rows in rows_of.items()}
    if repeated.n_bytes > MOST_REMEMBERED:
        forget_repeated()
    return ParsedBatch(facts, tables)


def utc(moment: datetime | None) -> datetime | None:
    """Return a moment in UTC."""
    return moment.astimezone(UTC) if moment else None


@functools.cache
def _repeated() -> Repeated:
    """Return what the pages that this process has parsed may have in common with the next ones."""
    from twinlink.pages.repeated import Repeated

    return Repeated()


def forget_repeated() -> None:
    """Release what is remembered of the pages so far."""
    _repeated.cache_clear()


class _Batch:
    """Pages that were gathered together."""

    def __init__(
        self, captures: Sequence[Capture], found: Gathered, charsets: Sequence[str], repeated: Repeated
    ) -> None:
        self._captures = captures
        self._charsets = charsets
        self._repeated = repeated
        self._elements = _read(captures, found, charsets, repeated)
        self._n_blocks, self._blocks = _blocks(found)
        self._tags = _strings(pa.binary(), [end.tags for end in found.ends], found.tags.tobytes())
        self._is_deep = found.is_deep

    def facts(self, are_cut: Sequence[bool]) -> list[Facts | None]:
        """Return the facts of each page, given whether it was cut before it was parsed; None: it was not parsed."""
        n_blocks = self._n_blocks.tolist()
        return [
            of_page and Facts(not n and not of_page.links, is_cut or bool(is_deep), of_page.canonical)
            for of_page, n, is_cut, is_deep in zip(self._elements, n_blocks, are_cut, self._is_deep, strict=True)
        ]

    def pages(self, site: str, rows: Sequence[int]) -> pa.Table:
        """Return the rows of `PAGES` of some pages of a site; ``round`` is 0 until the tables are finished."""
        captures = [self._captures[row] for row in rows]
        documents = [capture.document for capture in captures]
        elements, where = self._of(rows), None if len(rows) == len(self._captures) else pa.array(rows)
        columns: dict[str, Any] = {
            "page_id": [capture.number for capture in captures],
            "site": [site] * len(rows),
            "url": [capture.url for capture in captures],
            "canonical_url": [of_page.canonical or None for of_page in elements],
            "title": [of_page.title for of_page in elements],
            "blocks": self._blocks if where is None else self._blocks.take(where),
            "tags": self._tags if where is None else self._tags.take(where),
            "images": _lists([of_page.images for of_page in elements], self._repeated.images),
            "declared_lang": [of_page.declared_lang for of_page in elements],
            "charset": [self._charsets[row] for row in rows],
            "bytes": [len(document.body) for document in documents],
            "digest": [b32encode(capture.digest).decode() for capture in captures],
            "source": [document.source for document in documents],
            "offset": [document.offset for document in documents],
            "fetched": [utc(document.fetched) for document in documents],
            "round": [0] * len(rows),
        }
        return _table([columns[name] for name in PAGES.names], PAGES)

    def links(self, rows: Sequence[int], site_by: SiteBy) -> pa.Table:
        """Return the rows of `LINKS` of some pages; a link's target is the number of its address."""
        of_pages = [of_page.links for of_page in self._of(rows)]
        numbers = np.fromiter(chain.from_iterable(of_pages), np.int64)
        distinct, places = np.unique(numbers, return_inverse=True)
        links = list(map(self._repeated.links.__getitem__, distinct.tolist()))
        targets = list(map(self._repeated.targets.__getitem__, distinct.tolist()))
        url, anchor, rel, hreflang = zip(*links, strict=True) if links else ((), (), (), ())
        sites = [site_of(address, site_by) for address in url]
        sources = np.repeat(np.array([self._captures[row].number for row in rows], np.int64), list(map(len, of_pages)))
        columns = zip((targets, url, sites, anchor, rel, hreflang), list(LINKS)[1:], strict=True)
        where = pa.array(places)
        arrays = [pa.array(values, field.type).take(where) for values, field in columns]
        return pa.Table.from_arrays([pa.array(sources), *arrays], schema=LINKS)

    def _of(self, rows: Sequence[int]) -> list[PageElements]:
        """Return what the elements of pages say that were parsed."""
        return [of_page for row in rows if (of_page := self._elements[row]) is not None]


def _read(
    captures: Sequence[Capture], found: Gathered, charsets: Sequence[str], repeated: Repeated
) -> list[PageElements | None]:
    """Return what the elements of each page say; None for a page that is to be parsed by itself."""
    from twinlink.pages.repeated import MAX_EVENTS

    elements: list[PageElements | None] = []
    ends = [0, *(end.events for end in found.ends)]
    for capture, charset, (first, end), is_deep in zip(captures, charsets, pairwise(ends), found.is_deep, strict=True):
        if is_deep is None or end - first > MAX_EVENTS or capture.document.link:
            elements.append(None)
            continue
        events, language = found.events[first:end].tolist(), capture.document.content_language
        elements.append(repeated.read(events, found.attributes, first, capture.url, charset, language))
    return elements


def _blocks(found: Gathered) -> tuple[Numbers, pa.Array]:
    """Return the number of blocks of each page, and the blocks."""
    breaks = np.flatnonzero(found.text == _BREAK)
    ends = np.searchsorted(breaks, [0, *(end.text for end in found.ends)])
    data = found.text[found.text != _BREAK].tobytes()
    blocks = _strings(pa.string(), breaks - np.arange(len(breaks)), data)
    if not unicodedata.is_normalized("NFC", data.decode()):
        blocks = pa.array(map(composed, blocks.to_pylist()), pa.string())
    return np.diff(ends), pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), blocks)


def _strings(kind: pa.DataType, ends: Any, data: bytes) -> pa.Array:
    """Return texts that stand one behind the other, given where each ends."""
    offsets = np.concatenate(([0], ends)).astype(np.int32)
    return pa.Array.from_buffers(kind, len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _lists(numbers: Sequence[Sequence[int]], names: Sequence[str]) -> pa.Array:
    """Return lists of names, given the numbers of these."""
    ends = np.cumsum([0, *map(len, numbers)], dtype=np.int32)
    values = [names[number] for of_page in numbers for number in of_page]
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(values, pa.string()))


def _table(columns: Sequence[Any], schema: pa.Schema) -> pa.Table:
    """Make a table of columns, arrays or Python values."""
    arrays = [
        values if isinstance(values, pa.Array) else pa.array(values, field.type)
        for values, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
