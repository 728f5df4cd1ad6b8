"""The rows of a site, sorted by address: from the parts of this ingest, and from the tables of an earlier one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from twinlink.ingest.merging import merged_tables, sorted_by_address
from twinlink.ingest.reuse import KnownRows, addressed
from twinlink.ingest.table_parts import Parts
from twinlink.lookup import SortedNumbers

__all__ = ["SiteRows"]

Tables = tuple[Iterator[pa.Table], Iterator[pa.Table]]


class SiteRows(NamedTuple):
    """The rows of all sites, before redirects are followed; no page is in both sources."""

    parts: Parts
    new: SortedNumbers
    """The page_id of every page whose rows come from the parts."""
    held_bytes: int
    """Known rows that take more are not read as a whole."""

    def of(self, site: str, known: KnownRows | None) -> Tables:
        """Return the pages and the links of a site in tables of some rows; none if the site has no page."""
        n_bytes = known.n_bytes if known else 0
        files = self.parts.files(site, n_bytes)
        if known and (files or (n_bytes > self.held_bytes and site not in self.parts)):
            kept = [SortedNumbers.of(known.numbers), *[self.new] * len(files)]
            pages, links = merged_tables([known.files, *files], kept)
            return pages, map(addressed, links)
        return merged_tables(files, [self.new] * len(files)) if files else self._sorted(site, known)

    def _sorted(self, site: str, known: KnownRows | None) -> Tables:
        """Return the tables of a site which fit into memory."""
        pages, links = self.parts.take(site)
        is_new = self.new.holds(pages["page_id"])
        if not is_new.all():  # later captures are no pages, or it is another address of a page
            pages = pages.filter(pa.array(is_new))
            links = links.filter(pa.array(self.new.holds(links["source"])))
        if known:
            known_pages, known_links = known.tables()
            pages, links = pa.concat_tables([known_pages, pages]), pa.concat_tables([known_links, links])
        if not pages.num_rows:
            return iter(()), iter(())
        pages, links = sorted_by_address(pages, links)
        return iter((pages,)), iter((links,))
