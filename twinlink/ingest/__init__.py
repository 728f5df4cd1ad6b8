"""Stage `ingest`: tables of pages, links and rejects from documents of any source.

Start with `ingest`, the stage. `read_source` reads one source (`twinlink.sources`), a `Spool` parses each page once,
keeps the latest of several captures and one of several addresses of a page, and sorts all by site and address.
`linearise_pages` is stage `shapes`: the pages once more, as tags and text lengths, for methods that compare structure.
"""

from __future__ import annotations

from twinlink.ingest.captures import Captures
from twinlink.ingest.page_spool import Spool
from twinlink.ingest.shapes import linearise_pages, read_shapes
from twinlink.ingest.stage import ingest, read_source

__all__ = [
    "Captures",
    "Spool",
    "ingest",
    "linearise_pages",
    "read_shapes",
    "read_source",
]
