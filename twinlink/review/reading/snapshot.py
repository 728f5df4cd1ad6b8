"""The tables of a run at one moment: short columns in memory, long ones read from disk when asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from twinlink.frames import surest_first
from twinlink.ingest.page_spool import body_digest
from twinlink.ingest.stage import ingest_settings, source_paths
from twinlink.pages.decoding import decode_as
from twinlink.review.reading.columns import read_sites
from twinlink.review.reading.look_alikes import AlikeIndex
from twinlink.review.reading.pages import PageIndex
from twinlink.review.reading.resources import PageResources
from twinlink.review.reading.site_tables import SiteBeads, SiteCandidates, SiteChecks, SiteLinks
from twinlink.review.records import Alike, Compared, Document, LookAlikes, Neighbour, Page, Resource, Segment
from twinlink.rundir.directory import RunDirectory, site_file
from twinlink.sources.stored import StoredPages
from twinlink.tables import CANDIDATES, PAIRS, WEIGHTS, is_part, iter_parts, part_size

__all__ = ["Snapshot"]

T = TypeVar("T")
_FILES_KEPT = 6  # large tables of sites that stay in memory
_ADDED = ("url_a", "url_b", "title_a", "title_b", "pair")


class Snapshot:
    """The tables of a run at one moment. `RunView` makes another after a stage, or when page parts were fetched.

    Every method answers in well under 200 ms at 100,000 pairs.

    Parameters
    ----------
    run : RunDirectory
        Whatever stages of it have been done.

    Attributes
    ----------
    pairs : DataFrame
        Page pairs, most probable first: columns of `twinlink.tables.PAIRS`; empty before there are any.

    Raises
    ------
    DamagedError, OSError
        By the methods as well, if a table is removed while it is read.
    """

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        match = run.path / "match"
        self._pages = PageIndex(run.path / "ingest" / "pages", match / "languages")
        self.pairs = surest_first(read_sites(match / "pairs", PAIRS).to_pandas())
        self._resources = PageResources(run)
        self._weights = read_sites(match / "weights", WEIGHTS).to_pandas()
        self._partners = _partners(self.pairs)
        self._links: Callable[[Path], SiteLinks] = lru_cache(_FILES_KEPT)(SiteLinks)
        self._candidates: Callable[[Path], SiteCandidates] = lru_cache(_FILES_KEPT)(SiteCandidates)
        self._checks: Callable[[Path], SiteChecks] = lru_cache(_FILES_KEPT)(SiteChecks)
        self._beads: Callable[[Path], SiteBeads] = lru_cache(_FILES_KEPT)(SiteBeads)

    def page(self, page_id: int) -> Page | None:
        """Return a kept page; None: there is no page with this number."""
        row = self._pages.row(page_id)
        return None if row is None else self._pages.page(row)

    def titles(self, page_ids: Sequence[int]) -> Sequence[str]:
        """Return the titles of pages without reading the pages; empty: no title, or no such page."""
        rows = self._pages.rows(np.array(page_ids, np.int64)).tolist()
        return [self._pages.text("title", row) if row >= 0 else "" for row in rows]

    def document(self, page_id: int) -> Document | None:
        """Return the page as it was fetched; None: its archive is gone, or no longer contains it."""
        row = self._pages.row(page_id)
        for place in self._pages.places(row) if row is not None else ():
            for body in self._stored.bodies(place.source, place.offset):
                if body_digest(body) == place.digest:
                    return Document(place.url, decode_as(body, place.charset))
        return None

    @cached_property
    def _stored(self) -> StoredPages:
        limit = ingest_settings(self._run).max_page_bytes
        return StoredPages(self._run.archives(), source_paths(self._run), limit)

    def resource(self, url: str) -> Resource | None:
        """Return a style sheet or picture from the archives; None: they do not contain it. Nothing is fetched."""
        return self._resources(url)

    def page_of(self, url: str) -> int | None:
        """Return the page at an address; None: it was not kept."""
        row = self._pages.of_url(url)
        return None if row is None else self._pages.number(row)

    def find(self, text: str, lang: str = "", limit: int = 20) -> Sequence[Page]:
        """Return pages (without blocks and tags) whose address or title contains ``text``."""
        return [self._pages.page(row, with_text=False) for row in self._pages.find(text, lang, limit)]

    def partners(self, page_id: int) -> tuple[int, ...]:
        """Return the partners of a page."""
        return self._partners.get(page_id, ())

    def weights(self, site: str, lang_a: str, lang_b: str) -> Mapping[str, float]:
        """Return the weight of each kind of evidence, the heaviest first."""
        table = self._weights
        rows = table[(table["site"] == site) & (table["lang_a"] == lang_a) & (table["lang_b"] == lang_b)]
        rows = rows.sort_values("weight", ascending=False, kind="stable")
        return dict(zip(rows["evidence"].tolist(), rows["weight"].tolist(), strict=True))

    def count_neighbours(self, page_id: int, without: Collection[int] = ()) -> int:
        """Return the number of all pages around a page, those in ``without`` left out."""
        path = self._site_file("ingest/links", page_id)
        return self._links(path).count_around(page_id, without) if path else 0

    def neighbours(self, page_id: int, limit: int = 200, without: Collection[int] = ()) -> Sequence[Neighbour]:
        """Return the pages around a page: kept pages that it links to, and those of its site that link to it.

        At most ``limit`` pages, those in ``without`` left out; a page that is linked in both directions comes twice.
        """
        path = self._site_file("ingest/links", page_id)
        links = self._links(path).around(page_id, limit, without) if path else []
        rows = self._pages.rows(np.array([link.page_id for link in links], np.int64)).tolist()
        found = []
        for link, row in zip(links, rows, strict=True):
            if row >= 0:
                texts = self._pages.text("url", row), self._pages.text("title", row), self._pages.lang(row)
                partners = self.partners(link.page_id)
                found.append(Neighbour(link.page_id, *texts, link.anchor, link.outgoing, partners))
        return found

    def rivals(self, page_a: int, page_b: int, limit: int = 10) -> pd.DataFrame:
        """Return the best candidates that share a page with a pair, the pair among them, best first.

        Columns of `twinlink.tables.CANDIDATES`, and url_a, url_b, title_a, title_b, pair (bool).
        """
        path = self._site_file("match/candidates", page_a)
        if path is None:
            return pd.DataFrame(columns=[*CANDIDATES.names, *_ADDED])
        candidates = self._candidates(path)
        rows = self._of_same_languages(candidates, candidates.sharing(page_a, page_b), (page_a, page_b))
        itself = rows[(candidates.page_a[rows] == page_a) & (candidates.page_b[rows] == page_b)]
        if len(itself) and itself[0] not in rows[:limit]:
            rows = np.append(rows[: limit - 1], itself)
        frame: pd.DataFrame = candidates.take(rows[:limit], CANDIDATES.names).to_pandas()
        for side in ("a", "b"):
            for name in ("url", "title"):
                found = self._pages.rows(frame[f"page_{side}"].to_numpy(np.int64)).tolist()
                frame[f"{name}_{side}"] = [self._pages.text(name, row) if row >= 0 else "" for row in found]
        ends = zip(frame["page_a"].tolist(), frame["page_b"].tolist(), strict=True)
        frame["pair"] = np.array([b in self.partners(a) for a, b in ends], np.bool_)
        return frame[[*CANDIDATES.names, *_ADDED]]

    def checks(self, page_a: int, page_b: int) -> Sequence[Compared]:
        """Return what the method compared with bounds on two pages; empty: no candidates, or a method without."""
        path = self._site_file("match/checks", page_a)
        return self._checks(path).of(page_a, page_b) if path else []

    def _of_same_languages(
        self, candidates: SiteCandidates, rows: npt.NDArray[np.int64], pair: tuple[int, int]
    ) -> npt.NDArray[np.int64]:
        """Leave out candidates in a third language; a language without any pairs counts as a variant of the pair's."""
        lang_a, lang_b = self._pages.langs(np.array(pair, np.int64))
        thirds = self._matched - {lang_a, lang_b}
        langs_a = self._pages.langs(candidates.page_a[rows])
        langs_b = self._pages.langs(candidates.page_b[rows])
        return rows[[a not in thirds and b not in thirds for a, b in zip(langs_a, langs_b, strict=True)]]

    @cached_property
    def _matched(self) -> frozenset[str]:
        """Languages in which there are pairs."""
        return frozenset((*self.pairs["lang_a"].unique(), *self.pairs["lang_b"].unique()))

    def look_alikes(self, page_id: int, facing_lang: str, limit: int = 50) -> LookAlikes | None:
        """Return a page's near-duplicates, with their partners in another language; None: it has none."""
        group = self._alike.of(page_id, facing_lang)
        if group is None:
            return None
        others = [each for each in zip(group.members, group.states, strict=True) if each[0] != page_id][:limit]
        rows = self._pages.rows(np.array([number for number, _ in others], np.int64)).tolist()
        found = tuple(
            Alike(number, *self._called(row), state, self._partner_in.get((number, facing_lang)))
            for (number, state), row in zip(others, rows, strict=True)
            if row >= 0
        )
        return LookAlikes(group.n_pages, group.n_paired, found)

    def _called(self, row: int) -> tuple[str, str]:
        return self._pages.text("url", row), self._pages.text("title", row)

    @cached_property
    def _partner_in(self) -> dict[tuple[int, str], int]:
        """The partner of each page in a language, by both."""
        pairs = self.pairs
        ends = (pairs[name].tolist() for name in ("page_a", "page_b", "lang_a", "lang_b"))
        found = {}
        for a, b, lang_a, lang_b in zip(*ends, strict=True):
            found[a, lang_b], found[b, lang_a] = b, a
        return found

    def group_sizes(self, page_ids: Sequence[int]) -> Sequence[int]:
        """Return the size of each page's group of near-duplicates, the page included; 1: it has none."""
        return self._alike.sizes(np.array(page_ids, np.int64))

    @cached_property
    def _alike(self) -> AlikeIndex:
        return AlikeIndex(self._run.path / "match" / "look_alikes")

    def segments(self, url_a: str, url_b: str) -> Sequence[Segment]:
        """Return the beads of a pair; empty where sentences were not aligned."""
        row = self._pages.of_url(url_a)
        folder = self._run.path / "align" / "segments"
        if row is None or not folder.is_dir():
            return []
        for langs in sorted(folder.iterdir()):
            path = site_file(langs, self._pages.text("site", row))
            if is_part(path) and (beads := self._beads(path).of(url_a, url_b)):
                return beads
        return []

    def warm(self) -> Iterator[None]:
        """Read the tables of the largest sites in advance, so that the first questions need not wait for them.

        Yields
        ------
        None
            After each step, so that the caller may leave out the rest.
        """
        steps: list[Callable[[], object]] = []
        for read, folder in (
            (self._links, "ingest/links"),
            (self._candidates, "match/candidates"),
            (self._beads, "align/segments"),
        ):
            steps += [partial(read, path) for path in _largest(self._run.path / folder)]
        steps += [lambda: self._pages.find("", "", 1), lambda: self.group_sizes([]), lambda: self._partner_in]
        for step in steps:
            step()
            yield

    def _site_file(self, table: str, page_id: int) -> Path | None:
        """Return the file of a table for the page's site; None: there is none."""
        row = self._pages.row(page_id)
        path = None if row is None else site_file(self._run.path / table, self._pages.text("site", row))
        return path if path is not None and is_part(path) else None


def _largest(folder: Path) -> list[Path]:
    sizes = {path: part_size(path) for path in iter_parts(folder)}
    return sorted(sizes, key=sizes.__getitem__, reverse=True)[: _FILES_KEPT // 2]


def _partners(pairs: pd.DataFrame) -> dict[int, tuple[int, ...]]:
    partners: dict[int, tuple[int, ...]] = {}
    for a, b in zip(pairs["page_a"].tolist(), pairs["page_b"].tolist(), strict=True):
        partners[a] = (*partners.get(a, ()), b)
        partners[b] = (*partners.get(b, ()), a)
    return partners
