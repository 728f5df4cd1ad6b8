"""The pairs of a run with their labels: order, filters, progress of the labelling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import RLock
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd

from twinlink.labels.book import ACCEPTED, REJECTED, UNLABELLED, Label, LabelBook, label_codes
from twinlink.labels.precision import Estimate, estimate
from twinlink.review.app.filters import Selection
from twinlink.review.reading.orders import REASONS, Order, ordered, reasons
from twinlink.review.reading.run_view import RunView

__all__ = ["Listing", "Progress", "Session"]

_CODES = {"open": UNLABELLED, "accept": ACCEPTED, "reject": REJECTED}
_KEPT = 64  # cached results per listing
_SITES_NAMED = 500  # in the list of choices

Labels = Mapping[tuple[str, str], Label]
_K = TypeVar("_K")
_V = TypeVar("_V")


class Progress(msgspec.Struct, frozen=True):
    """Progress of the labelling, for the selected pairs."""

    n_pairs: int
    n_accepted: int
    n_rejected: int
    estimate: Estimate | None
    """Precision by the labels; None: no labels."""
    expected: float | None
    """Precision that the run expects; None: some pairs have no probability, or there are no pairs."""

    @property
    def n_labels(self) -> int:
        """Number of pairs with a label."""
        return self.n_accepted + self.n_rejected

    @property
    def is_narrow(self) -> bool:
        """Whether the interval of the precision is narrow enough to report it."""
        return self.estimate is not None and self.estimate.is_narrow


class _Table:
    """Values computed from the pairs and cached until the pairs change: orders, reasons, positions."""

    def __init__(self, pairs: pd.DataFrame) -> None:
        self.pairs = pairs
        self._orders: dict[Order, npt.NDArray[np.intp]] = {}
        self._masks: dict[tuple[str, str], npt.NDArray[np.bool_]] = {}

    def order(self, by: Order) -> npt.NDArray[np.intp]:
        """Return all rows in an order, regardless of labels."""
        if by not in self._orders:
            self._orders[by] = ordered(self.pairs, {}, by)
        return self._orders[by]

    def mask(self, site: str, langs: str) -> npt.NDArray[np.bool_]:
        """Return for each row whether it has this site and these languages; empty: any."""
        key = (site, langs)
        if key not in self._masks:
            wanted = np.ones(len(self.pairs), np.bool_)
            if site:
                wanted &= (self.pairs["site"] == site).to_numpy(np.bool_)
            if langs:
                wanted &= (self.langs == langs).to_numpy(np.bool_)
            _remember(self._masks, key, wanted)
        return self._masks[key]

    @cached_property
    def langs(self) -> pd.Series:
        """The two languages of each row as one string."""
        return self.pairs["lang_a"].astype(str) + " " + self.pairs["lang_b"].astype(str)

    @cached_property
    def reasons(self) -> npt.NDArray[np.int8]:
        """Why each row may be wrong: indices in `REASONS`."""
        return reasons(self.pairs)

    def row_of(self, page_a: int, page_b: int) -> int | None:
        """Return the row of two pages; None: they are not a pair."""
        rows = np.flatnonzero((self._pages[:, 0] == page_a) & (self._pages[:, 1] == page_b))
        return int(rows[0]) if len(rows) else None

    def ends(self, row: int) -> tuple[int, int]:
        """Return the two pages of a row."""
        return int(self._pages[row, 0]), int(self._pages[row, 1])

    @cached_property
    def _pages(self) -> npt.NDArray[np.int64]:
        return self.pairs[["page_a", "page_b"]].to_numpy(np.int64)

    def records(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Return rows as mappings from columns to values."""
        return [
            {str(name): value for name, value in row.items()} for row in self.pairs.iloc[list(rows)].to_dict("records")
        ]

    @cached_property
    def probabilities(self) -> npt.NDArray[np.float64]:
        """The probability of each row; NaN: none."""
        return self.pairs["probability"].to_numpy(np.float64, na_value=np.nan)

    def probability(self, row: int) -> float | None:
        """Return the probability of a row; None: it has none."""
        probability = float(self.probabilities[row])
        return None if np.isnan(probability) else probability

    @cached_property
    def sites(self) -> list[str]:
        """The sites with most pairs, ordered by name."""
        return sorted(self.pairs["site"].value_counts().index[:_SITES_NAMED])

    @cached_property
    def lang_pairs(self) -> list[str]:
        """The combinations of languages, most frequent first."""
        return [text for text, _ in Counter(self.langs).most_common(_SITES_NAMED)]

    @cached_property
    def sorted_evidence(self) -> dict[str, npt.NDArray[np.float64]]:
        """Sorted values of each kind of evidence; a cache."""
        return {}

    def share_below(self, kind: str, value: float) -> float:
        """Return the share of the run's pairs with a lower value of a kind of evidence."""
        if kind not in self.sorted_evidence:
            values = self.pairs[kind].to_numpy(np.float64, na_value=np.nan)
            self.sorted_evidence[kind] = np.sort(values[~np.isnan(values)])
        values = self.sorted_evidence[kind]
        return float(np.searchsorted(values, value) / max(len(values), 1))


class Listing:
    """The pairs and labels at one moment. Immutable: a new label makes a new listing."""

    def __init__(self, table: _Table, labels: Labels) -> None:
        self.table = table
        self.pairs = table.pairs
        self.labels = labels
        self.codes = label_codes(self.pairs["url_a"], self.pairs["url_b"], labels)
        self._progress: dict[tuple[str, str], Progress] = {}

    def rows(self, selection: Selection) -> npt.NDArray[np.intp]:
        """Return the selected rows, those without a label first, both parts in the selected order."""
        rows = self._walk(selection)
        codes = self.codes[rows]
        if selection.show:
            chosen: npt.NDArray[np.intp] = rows[codes == _CODES[selection.show]]
            return chosen
        return np.concatenate([rows[codes == UNLABELLED], rows[codes != UNLABELLED]])

    def _walk(self, selection: Selection) -> npt.NDArray[np.intp]:
        """Return the rows in the order of the keys j and k, which labels do not change."""
        order = self.table.order(selection.by)
        walked: npt.NDArray[np.intp] = order[self.table.mask(selection.site, selection.langs)[order]]
        return walked

    def next_open(self, selection: Selection, after: int | None = None) -> int | None:
        """Return the next row without a label, continuing at the beginning after the last; None: all have one."""
        rows = self._walk(selection)
        places = np.flatnonzero(self.codes[rows] == UNLABELLED)
        if after is not None:
            here = np.flatnonzero(rows == after)
            start = int(here[0]) if len(here) else -1
            places = np.concatenate([places[places > start], places[places < start]])
        return int(rows[places[0]]) if len(places) else None

    def around(self, selection: Selection, row: int) -> tuple[int | None, int | None, int, int]:
        """Return the previous and the next row, the position from 1 (0: not selected), and the number of rows."""
        rows = self._walk(selection)
        here = np.flatnonzero(rows == row)
        if not len(here):
            return None, None, 0, len(rows)
        place = int(here[0])
        previous = int(rows[place - 1]) if place else None
        following = int(rows[place + 1]) if place + 1 < len(rows) else None
        return previous, following, place + 1, len(rows)

    def progress(self, selection: Selection) -> Progress:
        """Return the progress of the labelling of the selected pairs, and their precision."""
        key = (selection.site, selection.langs)
        if key not in self._progress:
            rows = self.table.mask(*key)
            _remember(self._progress, key, _progress(self.codes[rows], self.table.probabilities[rows]))
        return self._progress[key]

    def label(self, url_a: str, url_b: str) -> Label | None:
        """Return the label of two pages, in either order."""
        return self.labels.get((url_a, url_b)) or self.labels.get((url_b, url_a))

    def reason(self, row: int) -> str:
        """Return why a row may be wrong."""
        return REASONS[self.table.reasons[row]]


def _progress(codes: npt.NDArray[np.int8], probabilities: npt.NDArray[np.float64]) -> Progress:
    accepted, rejected = (int((codes == code).sum()) for code in (ACCEPTED, REJECTED))
    all_known = len(probabilities) > 0 and not np.isnan(probabilities).any()
    return Progress(
        n_pairs=len(codes),
        n_accepted=accepted,
        n_rejected=rejected,
        estimate=estimate(probabilities, codes) if accepted + rejected else None,
        expected=float(probabilities.mean()) if all_known else None,
    )


def _remember(kept: dict[_K, _V], key: _K, value: _V) -> None:
    if len(kept) >= _KEPT:
        kept.pop(next(iter(kept)))
    kept[key] = value


class Session:
    """A run, its labels and the reviewer.

    Parameters
    ----------
    run : RunView
        The run.
    labels : LabelBook
        Its labels.
    who : str
        Name of the reviewer, stored with each label.
    """

    def __init__(self, run: RunView, labels: LabelBook, who: str) -> None:
        self.run = run
        self.labels = labels
        self.who = who
        self._guard = RLock()
        self._listing: Listing | None = None

    def listing(self) -> Listing:
        """Return the current pairs and labels."""
        pairs, labels = self.run.pairs, self.labels.current()
        with self._guard:
            last = self._listing
            if last is None or last.pairs is not pairs:
                last = self._listing = Listing(_Table(pairs), labels)
            elif last.labels != labels:
                last = self._listing = Listing(last.table, labels)
            return last
