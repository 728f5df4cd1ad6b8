"""Pages of chosen pairs as they were read, from the archives and folders of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from twinlink.errors import NothingFoundError
from twinlink.export.chosen_pairs import ChosenPairs
from twinlink.export.wacz_writer import ArchivedPage
from twinlink.ingest.page_spool import body_digest
from twinlink.ingest.stage import ingest_settings, source_paths
from twinlink.rundir.directory import RunDirectory
from twinlink.sources.stored import StoredPages
from twinlink.tables import PAGES, columns_of, iter_batches

_COLUMNS = ("page_id", "url", "title", "charset", "digest", "source", "offset", "fetched")


class ArchivedPages:
    """The pages of chosen pairs, read one by one.

    Parameters
    ----------
    run : RunDirectory
    chosen : ChosenPairs

    Attributes
    ----------
    lost : list of str
        Addresses of pages that the run's sources no longer hold; complete after the pages have been read.
    """

    def __init__(self, run: RunDirectory, chosen: ChosenPairs) -> None:
        self._chosen = chosen
        self._stored = StoredPages(run.archives(), source_paths(run), ingest_settings(run).max_page_bytes)
        self.lost: list[str] = []

    def __iter__(self) -> Iterator[ArchivedPage]:
        """Yield the pages in the order of their addresses, site by site.

        Raises
        ------
        NothingFoundError
            After the last one, if all are lost.
        """
        n_found = 0
        for part, pairs in self._chosen.by_site():
            for page in self._of_site(part, _partners(pairs)):
                n_found += 1
                yield page
        if self.lost and not n_found:
            missed = f"none of the {len(self.lost):,} pages is in the archives and folders of the run any more"
            raise NothingFoundError(f"{missed}, e.g. {self.lost[0]}; put them back, or leave out wacz")

    def __len__(self) -> int:
        """Return the number of pages, lost ones included."""
        return sum(len(_partners(pairs)) for _, pairs in self._chosen.by_site())

    def _of_site(self, part: Path, partners: dict[int, dict[str, Any]]) -> Iterator[ArchivedPage]:
        wanted = pa.array(partners, pa.int64())
        for table in iter_batches(part, columns_of(PAGES, _COLUMNS)):
            for row in table.filter(pc.is_in(table["page_id"], wanted)).to_pylist():
                body = self._body(row["source"], row["offset"], row["digest"])
                if body is None:
                    self.lost.append(row["url"])
                    continue
                names = ("url", "charset", "fetched", "title")
                yield ArchivedPage(body=body, facts=partners[row["page_id"]], **{name: row[name] for name in names})

    def _body(self, source: str, offset: int, digest: str) -> bytes | None:
        return next((body for body in self._stored.bodies(source, offset) if body_digest(body) == digest), None)


def _partners(pairs: pa.Table) -> dict[int, dict[str, Any]]:
    """Return language, most probable partner, and the partner in each other language, of each page of some pairs."""
    found: dict[int, dict[str, Any]] = {}
    for row in pairs.to_pylist():
        for one, other in (("a", "b"), ("b", "a")):
            url = row[f"url_{other}"]
            facts = {"language": row[f"lang_{one}"], "partner": url, "partners": {}}
            found.setdefault(row[f"page_{one}"], facts)["partners"].setdefault(row[f"lang_{other}"], url)
    return found
