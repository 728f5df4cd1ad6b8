"""Batches of documents become tables: the part of `ingest` that worker processes can do."""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Sequence
from datetime import UTC
from typing import Literal, NamedTuple

import pyarrow as pa

from twinlink.ingest.table_parts import Rows
from twinlink.pages.parser import ParsedPage, parse_page
from twinlink.sources.documents import Document
from twinlink.tables import PAGES
from twinlink.urls import site_of

__all__ = ["Capture", "Facts", "ParsedBatch", "add_page", "facts_of", "parse_batch"]

SiteBy = Literal["domain", "host", "path"]


class Capture(NamedTuple):
    """A document that may become a page."""

    document: Document
    url: str
    """Its normalised address."""
    number: int
    """The page_id of that."""
    digest: bytes
    """SHA-1 of the body."""
    order: bytes
    """Its sort key as a page (`twinlink.ingest.captures.rank`)."""


class Facts(NamedTuple):
    """Properties of a parsed page that the spool needs."""

    is_empty: bool
    """Whether it has neither text nor links."""
    cut: bool
    canonical: str


class ParsedBatch(NamedTuple):
    """Result of `parse_batch`."""

    facts: list[Facts]
    """One entry per capture."""
    tables: dict[str, tuple[pa.Table, pa.Table]]
    """Rows of `PAGES` and `LINKS` of each site; those of empty pages are missing."""


def parse_batch(captures: Sequence[Capture], site_by: SiteBy) -> ParsedBatch:
    """Parse pages into tables.

    Parameters
    ----------
    captures : sequence of Capture
        No two of the same address.
    site_by : {"domain", "host", "path"}
        What makes a site.
    """
    rows: dict[str, Rows] = {}
    facts = []
    for capture in captures:
        document = capture.document
        page = parse_page(document.body, capture.url, document.content_type, document.content_language)
        facts.append(facts_of(page))
        if not facts[-1].is_empty:
            add_page(rows, capture, page, site_by)
    return ParsedBatch(facts, {site: of_site.tables(site_by) for site, of_site in rows.items()})


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
        "fetched": document.fetched.astimezone(UTC) if document.fetched else None,
        "round": 0,
    }
    rows.setdefault(site, Rows()).add(capture.number, tuple(map(row.__getitem__, PAGES.names)), page.links)
