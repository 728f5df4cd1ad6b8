"""Addresses that lead to the pages of a run: their own, redirects, duplicates, canonical ones, likely spellings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from twinlink.evaluation.gold import Gold
from twinlink.ingest.twin_addresses import only_alike
from twinlink.run_files import REJECTS_FILE
from twinlink.tables import PAGES, REJECTS, columns_of, concat_tables, iter_batches, iter_parts, read_table
from twinlink.urls import page_id

__all__ = ["PageAddresses"]

_LEADING = pa.array(["duplicate-page", "redirect"])
"""Reasons of rejects whose detail is the address that is used instead."""
_MAX_STEPS = 11  # ten redirects, as in the crawl, and a duplicate
_LEADS = columns_of(REJECTS, ["url", "reason", "detail"])


class PageAddresses:
    """The addresses that lead to the pages of a run.

    Parameters
    ----------
    ingest : Path
        Folder of the stage `ingest`.
    """

    def __init__(self, ingest: Path) -> None:
        self._file = ingest / REJECTS_FILE
        columns = ("page_id", "url", "canonical_url")
        tables = [read_table(part, PAGES, columns) for part in iter_parts(ingest / "pages")]
        rows = [row for table in tables for row in zip(*(table[name].to_pylist() for name in columns), strict=True)]
        self._own: dict[int, str] = {number: url for number, url, _ in rows}
        self._canonical: list[tuple[str, str]] = [(url, named) for _, url, named in rows if named]

    @property
    def own(self) -> Iterable[str]:
        """The address of each page."""
        return self._own.values()

    def find(self, urls: Iterable[str]) -> dict[str, str]:
        """Return the page that each normalised address leads to, by its own address.

        An address leads to a page if it is the page's own, redirects to it or was dropped as its duplicate, if only
        this page names it as canonical, or else if only this page's address is spelled alike (`only_alike`). Those that
        lead nowhere are left out.
        """
        wanted = list(dict.fromkeys(urls))
        leads = self._leads_of(wanted)
        found = {url: page for url in wanted if (page := self._end(url, leads))}
        claims: dict[str, list[str]] = {url: [] for url in wanted if url not in found}
        for page, named in self._canonical:
            if named in claims:
                claims[named].append(page)
        found |= {url: pages[0] for url, pages in claims.items() if len(pages) == 1}
        left = [url for url in claims if url not in found]
        return found | (only_alike(left, self.own) if left else {})

    def known_pairs(self, gold: Gold) -> Gold:
        """Return a gold list in which the pages of the run may have any address that leads to them.

        Such an address counts where the list has it and not the page's own, and no other page was read under it.
        """
        listed, read = gold.named(), {gold.key(url) for url in self.own}
        unread = listed - read
        names: dict[str, str] = {}
        for page, other in chain(self._canonical, self._led()):
            if (key := gold.key(other)) in unread and (own := gold.key(page)) not in listed:
                names.setdefault(own, key)
        left = unread - set(names.values())
        alike = only_alike(left, read - listed - names.keys())
        return replace(gold, names={own: key for key, own in alike.items()} | names)

    @cached_property
    def _moved(self) -> pa.Table:
        """The rejects that say which address is used instead."""
        batches = iter_batches(self._file, _LEADS)
        return concat_tables([batch.filter(pc.is_in(batch["reason"], _LEADING)) for batch in batches], _LEADS)

    def _leads_of(self, urls: Iterable[str]) -> dict[str, str]:
        """Return what is used instead of addresses that are no pages, and instead of those that they lead to."""
        leads: dict[str, str] = {}
        asked = set(self._not_own(urls))
        while asked:
            rows = self._moved.filter(pc.is_in(self._moved["url"], pa.array(asked, pa.string())))
            found = _as_leads(rows)
            leads |= found
            asked = set(self._not_own(found.values())) - leads.keys()
        return leads

    def _not_own(self, urls: Iterable[str]) -> Iterator[str]:
        return (url for url in urls if page_id(url) not in self._own)

    def _led(self) -> Iterator[tuple[str, str]]:
        """Yield each address that redirects to a page or was dropped as its duplicate, behind the page's own."""
        leads = _as_leads(self._moved)
        return ((page, url) for url in leads if (page := self._end(url, leads)))

    def _end(self, url: str, leads: Mapping[str, str]) -> str | None:
        """Return the page that an address leads to by redirects; None: to no page."""
        for _ in range(_MAX_STEPS):
            if (page := self._own.get(page_id(url))) or url not in leads:
                return page
            url = leads[url]
        return self._own.get(page_id(url))


def _as_leads(rows: pa.Table) -> dict[str, str]:
    return dict(zip(rows["url"].to_pylist(), rows["detail"].to_pylist(), strict=True))
