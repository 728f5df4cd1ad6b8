"""The pages of a run, looked up by number, address or words; short columns in memory, texts on disk."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from twinlink.ingest.twin_addresses import twin_addresses
from twinlink.languages import UNDETERMINED
from twinlink.lookup import SortedNumbers
from twinlink.pages.tags import OTHER_TAG, TAG_CODES
from twinlink.review.reading.columns import RowFile, read_sites
from twinlink.review.records import Page
from twinlink.rundir.directory import site_file
from twinlink.tables import LANGUAGES, PAGES
from twinlink.urls import normalise, page_id

_COLUMNS = ("page_id", "site", "url", "title", "charset", "digest", "source", "offset")
_TAG_NAMES = {code: name for name, code in TAG_CODES.items()} | {OTHER_TAG: "other"}
_MOST_ALIKE = 5  # pages with the same body that are tried if the record of one has no body


class Place(NamedTuple):
    """Place of a page in an archive."""

    url: str
    source: str
    offset: int
    digest: str
    charset: str


class PageIndex:
    """The pages of a run.

    Parameters
    ----------
    pages : Path
        Folder of the table `PAGES`; no pages if it does not exist.
    languages : Path
        Folder of the table `LANGUAGES`; pages that are not in it have an unknown language.
    """

    def __init__(self, pages: Path, languages: Path) -> None:
        self._folder = pages
        self._table = read_sites(pages, PAGES, _COLUMNS).combine_chunks()
        sites = self._table["site"].to_numpy(zero_copy_only=False)
        starts = np.flatnonzero(np.append(True, sites[1:] != sites[:-1]))[: len(sites)]
        self._starts = {str(sites[start]): int(start) for start in starts}  # rows of a site are contiguous
        self._numbers = SortedNumbers.of(self._table["page_id"])
        self._lang_names, self._lang_codes = self._languages(languages)
        self._files: dict[str, RowFile] = {}

    def _languages(self, folder: Path) -> tuple[list[str], npt.NDArray[np.int32]]:
        table = read_sites(folder, LANGUAGES, ("page_id", "lang"))
        coded = table["lang"].combine_chunks().dictionary_encode()
        codes = np.full(len(self._numbers), len(coded.dictionary), np.int32)
        rows = self.rows(table["page_id"].to_numpy())
        codes[rows[rows >= 0]] = coded.indices.to_numpy()[rows >= 0]
        return [*coded.dictionary.to_pylist(), UNDETERMINED], codes

    def rows(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
        """Return the row of each page, -1 for pages that were not kept."""
        return self._numbers.places(numbers)

    def row(self, number: int) -> int | None:
        """Return the row of a page; None: it was not kept."""
        found = int(self.rows(np.array([number], np.int64))[0]) if -(2**63) <= number < 2**63 else -1
        return None if found < 0 else found

    def text(self, name: str, row: int) -> str:
        """Return the value of a text column: url, title, site …."""
        return str(self._table[name][row].as_py())

    def number(self, row: int) -> int:
        """Return the page_id of a row."""
        return int(self._table["page_id"][row].as_py())

    def lang(self, row: int) -> str:
        """Return the language of a row."""
        name: str = self._lang_names[self._lang_codes[row]]
        return name

    def langs(self, numbers: npt.NDArray[np.int64]) -> list[str]:
        """Return the language of each page."""
        return [self.lang(row) if row >= 0 else UNDETERMINED for row in self.rows(numbers).tolist()]

    def page(self, row: int, *, with_text: bool = True) -> Page:
        """Return a page; if ``with_text`` is False, blocks, tags and canonical address are empty."""
        blocks: list[str] = []
        tags, canonical = b"", ""
        if with_text:
            site = self.text("site", row)
            file = self._files.setdefault(site, RowFile(site_file(self._folder, site)))
            found = file.take([row - self._starts[site]], ("blocks", "tags", "canonical_url")).to_pylist()[0]
            blocks, tags, canonical = found["blocks"], found["tags"], found["canonical_url"] or ""
        return Page(
            page_id=self.number(row),
            url=self.text("url", row),
            site=self.text("site", row),
            title=self.text("title", row),
            lang=self.lang(row),
            blocks=tuple(blocks),
            tags=tuple(_TAG_NAMES.get(code, "other") for code in tags),
            canonical_url=canonical,
        )

    def places(self, row: int) -> Iterator[Place]:
        """Yield the place of the page, then the places of others with the same body.

        The record of a revisit has no body.
        """
        yield self._place(row, row)
        same = pc.indices_nonzero(pc.equal(self._table["digest"], self.text("digest", row))).to_pylist()
        for other in [each for each in same if each != row][:_MOST_ALIKE]:
            yield self._place(row, other)

    def _place(self, row: int, other: int) -> Place:
        """Return the place of a page, whose body is that of the record of another page."""
        offset = self._table["offset"][other].as_py()
        texts = (self.text(name, row) for name in ("digest", "charset"))
        return Place(self.text("url", row), self.text("source", other), offset, *texts)

    def of_url(self, url: str) -> int | None:
        """Return the row of an address, or of a variant that usually leads to the same page (`twin_addresses`)."""
        address = normalise(url)
        if address is None:
            return None
        numbers = [page_id(each) for each in (address, *twin_addresses(address))]
        found = self.rows(np.array(numbers, np.int64))
        return int(found[found >= 0][0]) if (found >= 0).any() else None

    def find(self, text: str, lang: str, limit: int) -> list[int]:
        """Return rows whose address or title contains a text, ignoring case."""
        wanted = text.strip().lower().encode("utf-8", "replace")
        codes = [code for code, name in enumerate(self._lang_names) if not lang or name == lang]
        allowed = np.flatnonzero(np.isin(self._lang_codes, codes)).tolist()
        found = {row for texts in self._lower for row in islice(texts.holding(wanted, allowed), limit)}
        return sorted(found)[:limit]

    @cached_property
    def _lower(self) -> tuple[_Texts, ...]:
        """Addresses and titles in lower case."""
        return tuple(_Texts(pc.utf8_lower(self._table[name])) for name in ("url", "title"))

    def __len__(self) -> int:
        return len(self._numbers)


class _Texts:
    """Concatenated texts, searched at once."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        whole = pc.cast(column, pa.large_string()).combine_chunks()
        _, offsets, data = whole.buffers() if len(whole) else (None, None, None)
        self._bounds = np.frombuffer(offsets, np.int64)[whole.offset :].tolist() if offsets else [0]
        self._data = data.to_pybytes() if data else b""

    def holding(self, wanted: bytes, allowed: list[int]) -> Iterator[int]:
        """Yield the allowed rows that contain a text, in their order."""
        at = 0
        while at < len(allowed):
            place = self._data.find(wanted, self._bounds[allowed[at]], self._bounds[-1])
            if place < 0:
                return
            row = min(bisect_right(self._bounds, place) - 1, len(self._bounds) - 2)
            at = bisect_left(allowed, row, at)
            if at < len(allowed) and allowed[at] == row:
                if place + len(wanted) <= self._bounds[row + 1] or self._holds(row, wanted):
                    yield row
                at += 1

    def _holds(self, row: int, wanted: bytes) -> bool:
        """Return whether a row contains a text of which the first occurrence crosses the row's end."""
        return self._data.find(wanted, self._bounds[row], self._bounds[row + 1]) >= 0
