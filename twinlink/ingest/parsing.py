"""Batches of documents become tables: the part of `ingest` that worker processes can do."""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Sequence

import pyarrow as pa

from twinlink.ingest.captures import Capture, Facts
from twinlink.ingest.page_columns import ParsedBatch, parse_together, utc
from twinlink.ingest.table_parts import Rows
from twinlink.pages.parser import ParsedPage, parse_page
from twinlink.tables import PAGES
from twinlink.urls import SiteBy, site_of

__all__ = ["add_page", "facts_of", "parse_batch"]


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
    declared = document.content_type, document.content_language
    page = parse_page(document.body, capture.url, *declared, link=document.link)
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
