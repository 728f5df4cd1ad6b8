"""Reuse of an earlier ingest: what has not changed is neither read nor parsed again.

Beside its tables, an ingest leaves notes in ``ingest/notes``: what each archive gave (`ArchiveNotes`) and what was
found out about each page (`PageNotes`). The next ingest with the same settings and version goes through all captures
again, those of archives that have not changed by their notes. So everything that depends on other captures (which one
counts, where links lead, duplicates, rejects) is decided anew. Of a page whose capture is the same as before, the rows
come from the earlier tables. The files of a site of which all rows stay the same are linked.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from twinlink.damage import lost_tables
from twinlink.ingest.merging import PartFiles
from twinlink.lookup import SortedNumbers
from twinlink.rundir.commit import SIGNATURE
from twinlink.rundir.directory import RunDirectory
from twinlink.rundir.signature import Signature
from twinlink.tables import (
    LINKS,
    PAGES,
    columns_of,
    iter_batches,
    iter_parts,
    pack_of,
    part_like,
    read_table,
    table_bytes,
)
from twinlink.urls import page_id

__all__ = ["NOTES_NAME", "KnownRows", "addressed", "known_rows", "link_files", "reusable"]

NOTES_NAME = "notes"
"""Folder of the stage with the notes."""
_FOUND = columns_of(PAGES, ["page_id", "site", "round"])
_TARGETS = columns_of(LINKS, ["target", "target_url"])

Resolve = Callable[[pa.ChunkedArray], pa.ChunkedArray]
"""Returns where links lead, given the page_id of their addresses."""


def reusable(run: RunDirectory, signature: Signature) -> Path | None:
    """Return the folder of the earlier ingest of a run, if it had the settings and the version of a signature."""
    earlier, folder = run.read_signature("ingest"), run.path / "ingest"
    new = signature.stored()
    if earlier is None or (earlier.version, earlier.settings) != (new.version, new.settings):
        return None
    is_whole = (folder / NOTES_NAME).is_dir() and not any(lost_tables(folder / SIGNATURE))
    return folder if is_whole else None


class KnownRows(NamedTuple):
    """The rows of a site in the tables of an earlier ingest, as far as they count now."""

    files: PartFiles
    numbers: pa.Array
    """The page_id of those."""
    is_whole: bool
    """Whether they are all."""
    round: int
    """Round of discovery that they have."""

    @property
    def n_bytes(self) -> int:
        """Size of all rows, uncompressed."""
        return table_bytes(self.files.pages) + table_bytes(self.files.links)

    def tables(self) -> tuple[pa.Table, pa.Table]:
        """Return the pages and the links; a link's target is the number of its address."""
        pages, links = read_table(self.files.pages, PAGES), read_table(self.files.links, LINKS)
        if not self.is_whole:
            pages = pages.filter(pc.is_in(pages["page_id"], self.numbers))
            links = links.filter(pc.is_in(links["source"], self.numbers))
        return pages, addressed(links)

    def leads_where_it_led(self, resolve: Resolve) -> bool:
        """Return whether all links lead to the same pages as before."""
        return all(
            resolve(addressed(links)["target"]).equals(links["target"])
            for links in iter_batches(self.files.links, _TARGETS)
        )


def known_rows(folder: Path, reused: SortedNumbers) -> Iterator[tuple[str, KnownRows]]:
    """Yield the sites of an earlier ingest that have rows of pages that are used again, with these rows."""
    for part in iter_parts(folder / "pages"):
        pages = read_table(part, PAGES, _FOUND.names)
        numbers = pages["page_id"].combine_chunks()
        again = numbers.filter(pa.array(reused.holds(numbers)))
        if len(again):
            files = PartFiles(part, part_like(folder / "links", part))
            is_whole = len(again) == len(numbers)
            yield pages["site"][0].as_py(), KnownRows(files, again, is_whole, pages["round"][0].as_py())


def addressed(links: pa.Table) -> pa.Table:
    """Return links whose targets are the numbers of their addresses, as they are before redirects are followed."""
    addresses = pc.dictionary_encode(links["target_url"].combine_chunks())
    numbers = pa.array(map(page_id, addresses.dictionary.to_pylist()), pa.int64())
    place = links.column_names.index("target")
    return links.set_column(place, LINKS.field("target"), pa.chunked_array([numbers.take(addresses.indices)]))


def link_files(known: KnownRows, folder: Path) -> bool:
    """Put the files of a site that has not changed among the new tables; return False where it shares a pack.

    They are read once, so that a damaged file is not linked from one ingest to the next.

    Raises
    ------
    DamagedError
        If one is damaged.
    """
    if pack_of(known.files.pages):
        return False
    for _ in chain(iter_batches(known.files.pages, PAGES), iter_batches(known.files.links, LINKS)):
        pass
    for file in known.files:
        new = folder / file.parent.name / file.name
        new.parent.mkdir(exist_ok=True)
        try:
            os.link(file, new)
        except OSError:  # a file system without such links
            shutil.copyfile(file, new)
    return True
