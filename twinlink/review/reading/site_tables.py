"""The large tables of a site: the links of a page, the rivals, the checks and the beads of a pair."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from twinlink.review.reading.columns import RowFile, ints
from twinlink.review.records import Compared, Segment
from twinlink.similarity.filter_checks import MEANINGS, verdict_of

__all__ = ["LinkRow", "SiteBeads", "SiteCandidates", "SiteChecks", "SiteLinks"]

Ints = npt.NDArray[np.int64]
_BEAD = tuple(Segment.__struct_fields__)


class LinkRow(NamedTuple):
    """A link between a page and another one."""

    page_id: int
    """The other page."""
    anchor: str
    outgoing: bool


class SiteLinks:
    """The links of the pages of a site.

    Parameters
    ----------
    path : Path
        File of the table `LINKS`.
    """

    def __init__(self, path: Path) -> None:
        self._file = RowFile(path)
        table = self._file.columns("source", "target")
        self._places = np.flatnonzero(table["target"].is_valid().to_numpy())  # rows of the file: links to kept pages
        table = table.take(pa.array(self._places))
        self._source, self._target = ints(table["source"]), ints(table["target"])

    def around(self, number: int, limit: int, without: Collection[int] = ()) -> list[LinkRow]:
        """Return the links from a page in document order, then those to it; per other page one in each direction.

        If there are more than ``limit`` other pages, at least half of those returned are targets of the page's links.
        """
        forth, back = self._links(number, without)
        ends_forth, ends_back = self._target[forth], self._source[back]
        only_back = ends_back[~np.isin(ends_back, ends_forth)]
        n_forth = max(limit - len(only_back), limit // 2)
        chosen = np.concatenate([ends_forth[:n_forth], only_back])[:limit]
        forth, back = forth[np.isin(ends_forth, chosen)], back[np.isin(ends_back, chosen)]
        anchors = self._file.take(self._places[np.concatenate([forth, back])], ("anchor",))["anchor"].to_pylist()
        ends = [*self._target[forth].tolist(), *self._source[back].tolist()]
        is_forth = [True] * len(forth) + [False] * len(back)
        return [LinkRow(*row) for row in zip(ends, anchors, is_forth, strict=True)]

    def count_around(self, number: int, without: Collection[int] = ()) -> int:
        """Return the number of other pages linked from a page or linking to it."""
        forth, back = self._links(number, without)
        return len(np.union1d(self._target[forth], self._source[back]))

    def _links(self, number: int, without: Collection[int]) -> tuple[Ints, Ints]:
        """Return the first link from a page to each other page, and the first link from each other page to it."""
        others = np.array([number, *without], np.int64)
        return (
            _firsts(np.flatnonzero(self._source == number), self._target, others),
            _firsts(np.flatnonzero(self._target == number), self._source, others),
        )


def _firsts(rows: Ints, ends: Ints, without: Ints) -> Ints:
    """Return the first row for each page that is not excluded, in row order."""
    rows = rows[~np.isin(ends[rows], without)]
    _, first = np.unique(ends[rows], return_index=True)
    return rows[np.sort(first)]


class SiteCandidates:
    """The candidates of a site.

    Parameters
    ----------
    path : Path
        File of the table `CANDIDATES`.
    """

    def __init__(self, path: Path) -> None:
        self._file = RowFile(path)
        table = self._file.columns("page_a", "page_b", "score")
        self.page_a, self.page_b = ints(table["page_a"]), ints(table["page_b"])
        self._score = table["score"].to_numpy()

    def sharing(self, page_a: int, page_b: int) -> Ints:
        """Return the rows that share a page with a pair, best first."""
        rows = np.flatnonzero((self.page_a == page_a) | (self.page_b == page_b))
        return rows[np.argsort(-self._score[rows], kind="stable")]

    def take(self, rows: Ints, columns: list[str]) -> pa.Table:
        """Return some rows."""
        return self._file.take(rows, columns)


class SiteChecks:
    """The numbers that the method compared with bounds, for the candidates of a site.

    Parameters
    ----------
    path : Path
        File of the table `CHECKS`.
    """

    def __init__(self, path: Path) -> None:
        self._file = RowFile(path)
        table = self._file.columns("page_a", "page_b")
        self._page_a, self._page_b = ints(table["page_a"]), ints(table["page_b"])

    def of(self, page_a: int, page_b: int) -> list[Compared]:
        """Return the checks of two pages, given in either order."""
        forth = (self._page_a == page_a) & (self._page_b == page_b)
        back = (self._page_a == page_b) & (self._page_b == page_a)
        rows = self._file.take(np.flatnonzero(forth | back), ("check", "value", "relation", "bound", "passed"))
        return [_compared(*row.values()) for row in rows.to_pylist()]


def _compared(check: str, value: float | None, relation: str | None, bound: float | None, passed: bool) -> Compared:
    verdict = verdict_of(relation or "", np.nan if value is None else value, passed)
    return Compared(check, value, relation or "", bound, verdict, MEANINGS.get(check, ""))


class SiteBeads:
    """The beads of a site's pairs in two languages; the beads of a pair are contiguous.

    Parameters
    ----------
    path : Path
        File of the table `SEGMENTS`.
    """

    def __init__(self, path: Path) -> None:
        self._file = RowFile(path)
        table = self._file.columns("url_a").unify_dictionaries()
        codes = [chunk.indices.to_numpy() for chunk in table["url_a"].chunks]
        code = np.concatenate(codes) if codes else np.zeros(0, np.int32)
        self._names = table["url_a"].chunk(0).dictionary if codes else pa.array([], pa.string())
        self._starts = np.flatnonzero(np.append(True, np.diff(code) != 0)) if len(code) else np.zeros(0, np.int64)
        self._ends = np.append(self._starts[1:], len(code))
        self._codes = code[self._starts]

    def of(self, url_a: str, url_b: str) -> list[Segment]:
        """Return the beads of a pair."""
        code = pc.index(self._names, url_a).as_py()
        places = np.flatnonzero(self._codes == code) if code >= 0 else ()
        rows = [np.arange(self._starts[place], self._ends[place]) for place in places]
        if not rows:
            return []
        found = self._file.take(np.concatenate(rows), ("url_b", *_BEAD))
        found = found.filter(pc.equal(found["url_b"], url_b))
        return [Segment(**row) for row in found.select(_BEAD).to_pylist()]
