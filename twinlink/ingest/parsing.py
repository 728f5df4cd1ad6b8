"""Documents become tables, batch by batch: the part of `ingest` that worker processes can do."""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
from msgspec.structs import replace

from twinlink.config import IngestSettings
from twinlink.ingest.captures import Capture, Facts, SiteBy, captured
from twinlink.ingest.page_columns import ParsedBatch, parse_together, utc
from twinlink.ingest.table_parts import Rows
from twinlink.pages.parser import ParsedPage, parse_page
from twinlink.sources.documents import Document
from twinlink.sources.mirror import MirrorPart
from twinlink.sources.reading import read_part
from twinlink.tables import PAGES, Reject
from twinlink.urls import site_of

__all__ = ["Batch", "ParsedPart", "add_page", "facts_of", "is_large", "parse_batch", "parse_task"]

BATCH_PAGES = 400
"""Pages that are parsed together at most: a tenth of a second or more."""
LARGE_PAGE = 2**23
"""Bytes; of more, a page is parsed alone in a process with limits."""


class Batch:
    """Pages that are parsed together, no two of the same address.

    Parameters
    ----------
    n_bytes : int
        From so many bytes on it is full.
    """

    def __init__(self, n_bytes: int) -> None:
        self.captures: list[Capture] = []
        self._most = n_bytes
        self._numbers: set[int] = set()
        self._n_bytes = 0

    def __contains__(self, number: int) -> bool:
        return number in self._numbers

    def add(self, capture: Capture) -> None:
        """Add a page."""
        self.captures.append(capture)
        self._numbers.add(capture.number)
        self._n_bytes += len(capture.document.body)

    @property
    def is_full(self) -> bool:
        """Whether it is to be parsed before another page comes."""
        return len(self.captures) >= BATCH_PAGES or self._n_bytes >= self._most


def is_large(document: Document) -> bool:
    """Return whether a page is too large to be parsed with others."""
    return len(document.body) > LARGE_PAGE


class ParsedPart(NamedTuple):
    """What a part of a source gives."""

    others: list[Document | Reject]
    """Redirects, rejects, and pages that are too large to be parsed with others."""
    batches: list[tuple[list[Capture], ParsedBatch[Facts]]]
    """The pages, whose documents have no bodies any more."""


def parse_task(
    task: Sequence[Capture] | MirrorPart, settings: IngestSettings, batch_bytes: int
) -> ParsedBatch[Facts] | ParsedPart:
    """Parse captures, or read and parse a part of a source."""
    if isinstance(task, MirrorPart):
        return _parse_part(task, settings, batch_bytes)
    return parse_batch(task, settings.site_by)


def _parse_part(part: MirrorPart, settings: IngestSettings, batch_bytes: int) -> ParsedPart:
    """Read a part of a source and parse its pages, batch by batch."""
    found, batch = ParsedPart([], []), Batch(batch_bytes)
    for item in read_part(part, settings.url_prefixes):
        if isinstance(item, Reject) or item.location or is_large(item):
            found.others.append(item)
            continue
        capture = captured(item, settings.max_page_bytes)
        if isinstance(capture, Reject):
            found.others.append(item)  # `Spool.add` refuses it
            continue
        if batch.is_full or capture.number in batch:
            found.batches.append(_parsed(batch, settings.site_by))
            batch = Batch(batch_bytes)
        batch.add(capture)
    if batch.captures:
        found.batches.append(_parsed(batch, settings.site_by))
    return found


def _parsed(batch: Batch, site_by: SiteBy) -> tuple[list[Capture], ParsedBatch[Facts]]:
    """Parse the pages of a batch; return them without their bodies, and what they give."""
    bare = [capture._replace(document=replace(capture.document, body=b"")) for capture in batch.captures]
    return bare, parse_batch(batch.captures, site_by)


def parse_batch(captures: Sequence[Capture], site_by: SiteBy) -> ParsedBatch[Facts]:
    """Parse pages into tables.

    Parameters
    ----------
    captures : sequence of Capture
        No two of the same address.
    site_by : {"domain", "host", "path"}
        What makes a site.
    """
    found, tables = parse_together(captures, site_by)
    facts, rows = list[Facts](), dict[str, Rows]()
    for capture, of_page in zip(captures, found, strict=True):
        facts.append(of_page or _parse_alone(capture, rows, site_by))
    for site, of_site in rows.items():
        pages, links = of_site.tables(site_by)
        if site in tables:
            pages, links = pa.concat_tables([tables[site][0], pages]), pa.concat_tables([tables[site][1], links])
        tables[site] = pages, links
    return ParsedBatch(facts, tables)


def _parse_alone(capture: Capture, rows: dict[str, Rows], site_by: SiteBy) -> Facts:
    """Parse a page, add it to the rows of its site unless it is empty, and return its facts."""
    document = capture.document
    page = parse_page(document.body, capture.url, document.content_type, document.content_language)
    facts = facts_of(page)
    if not facts.is_empty:
        add_page(rows, capture, page, site_by)
    return facts


def facts_of(page: ParsedPage) -> Facts:
    """Return the facts of a page."""
    return Facts(is_empty=not page.blocks and not page.links, cut=page.cut, canonical=page.canonical)


def add_page(rows: dict[str, Rows], capture: Capture, page: ParsedPage, site_by: SiteBy) -> None:
    """Add a page to the rows of its site; ``round`` is 0 until the tables are finished."""
    document, site = capture.document, site_of(page.url, site_by)
    row = {
        "page_id": capture.number,
        "site": site,
        "url": page.url,
        "canonical_url": page.canonical or None,
        "title": page.title,
        "blocks": page.blocks,
        "tags": page.tags,
        "images": page.images,
        "declared_lang": page.declared_lang,
        "charset": page.charset,
        "bytes": len(document.body),
        "digest": b32encode(capture.digest).decode(),
        "source": document.source,
        "offset": document.offset,
        "fetched": utc(document.fetched),
        "round": 0,
    }
    rows.setdefault(site, Rows()).add(capture.number, tuple(map(row.__getitem__, PAGES.names)), page.links)
