"""Readers of documents: WARC, ARC and WACZ archives, CDX indexes, mirrors, HTTrack caches, and lists of files.

`read_path` is the entry point: it detects the format by name and content and yields a `Document` for each page.
Nothing is unpacked to disk, nothing outside of a named folder is read, and unreadable files are reported with a
reason.
"""

from __future__ import annotations

from twinlink.sources.cdx import read_cdx
from twinlink.sources.documents import Document, Gone, Revisit
from twinlink.sources.httrack import read_cache
from twinlink.sources.listed import read_list
from twinlink.sources.mirror import read_mirror
from twinlink.sources.reading import read_path, source_files
from twinlink.sources.wacz import read_wacz
from twinlink.sources.warc import read_archives, read_warc

__all__ = [
    "Document",
    "Gone",
    "Revisit",
    "read_archives",
    "read_cache",
    "read_cdx",
    "read_list",
    "read_mirror",
    "read_path",
    "read_wacz",
    "read_warc",
    "source_files",
]
