"""The groups of near-duplicates in a run, looked up by page."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from twinlink.review.reading.columns import ints, read_sites
from twinlink.sorted_keys import find_keys
from twinlink.tables import LOOK_ALIKES

_COLUMNS = ("site", "lang", "facing_lang", "group", "page_id", "state", "n_pages", "n_paired")


class Group(NamedTuple):
    """A group of near-duplicates."""

    n_pages: int
    n_paired: int
    members: list[int]
    """The page_id of each of its pages."""
    states: list[str]
    """State of each page: paired, doubtful or unpaired."""


class AlikeIndex:
    """The groups of near-duplicates of a run.

    Parameters
    ----------
    folder : Path
        Folder of the table `LOOK_ALIKES`; no groups if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        table = read_sites(folder, LOOK_ALIKES, _COLUMNS)
        frame = table.select(["site", "lang", "facing_lang", "group"]).to_pandas()
        self._codes = frame.groupby(list(frame.columns), sort=False).ngroup().to_numpy(np.int64)
        self._facing = frame["facing_lang"].to_numpy(object)
        self._states = table["state"].to_numpy()
        self._pages = ints(table["page_id"])
        self._sizes, self._paired = table["n_pages"].to_numpy(), table["n_paired"].to_numpy()
        self._order = np.argsort(self._pages, kind="stable")
        self._sorted = self._pages[self._order]

    def of(self, page_id: int, facing_lang: str) -> Group | None:
        """Return a page's group with respect to another language; None: it has no near-duplicates.

        A page that was matched with other languages only has the group of the first of them.
        """
        start, end = (int(np.searchsorted(self._sorted, page_id, side)) for side in ("left", "right"))
        rows = self._order[start:end].tolist()
        if not rows:
            return None
        row = next((row for row in rows if self._facing[row] == facing_lang), rows[0])
        members = np.flatnonzero(self._codes == self._codes[row])
        numbers, states = self._pages[members].tolist(), self._states[members].tolist()
        return Group(int(self._sizes[row]), int(self._paired[row]), numbers, states)

    def sizes(self, page_ids: npt.NDArray[np.int64]) -> list[int]:
        """Return the size of each page's largest group; 1: the page has no near-duplicates."""
        if not len(self._sorted):
            return [1] * len(page_ids)
        largest = np.maximum.reduceat(self._sizes[self._order], self._firsts)
        numbers = self._sorted[self._firsts]
        places, are_there = find_keys(page_ids, numbers)
        found: list[int] = np.where(are_there, largest[places], 1).tolist()
        return found

    @property
    def _firsts(self) -> npt.NDArray[np.intp]:
        """Index of each page's first entry in the sorted members."""
        return np.flatnonzero(np.append(True, self._sorted[1:] != self._sorted[:-1]))
