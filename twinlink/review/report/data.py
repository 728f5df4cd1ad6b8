"""Records of the report: its data, and the parts of its sections."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from twinlink.labels.precision import Estimate
from twinlink.review.charts.facing import Facing
from twinlink.review.report.rows import rows_html

__all__ = [
    "Chart",
    "Column",
    "Figure",
    "Means",
    "Measured",
    "ReportData",
    "ScoreCounts",
    "Section",
    "SiteGraph",
    "Table",
    "known",
    "known_text",
    "records",
    "total",
]


class ScoreCounts(msgspec.Struct, frozen=True):
    """Histogram of the candidates' scores."""

    edges: npt.NDArray[np.float64]
    pairs: npt.NDArray[np.int64]
    others: npt.NDArray[np.int64]


class Means(NamedTuple):
    """Means of a kind of evidence; NaN: not known."""

    pairs: float
    others: float
    """Over the other candidates."""


class Measured(msgspec.Struct, frozen=True):
    """Precision and recall of the pairs by a gold list or by labels."""

    source: str
    """Name of the gold list, or labels."""
    precision: float | Estimate
    """A number by a gold list, an estimate with an interval by labels."""
    n: int
    """Pairs that were judged."""
    recall: float | None = None
    coverage: npt.NDArray[np.float64] = msgspec.field(default_factory=lambda: np.zeros(0))
    """Share of all pairs kept down to each judged one, the most probable first."""
    precisions: npt.NDArray[np.float64] = msgspec.field(default_factory=lambda: np.zeros(0))
    """Precision of the judged ones among them."""
    cuts: Mapping[float, float | Estimate] = msgspec.field(default_factory=dict)
    """Precision by minimum probability; thresholds without judged pairs are left out."""


class SiteGraph(msgspec.Struct, frozen=True):
    """The link graph of a site's pairs in two languages."""

    site: str
    langs: tuple[str, str]
    found: Facing
    titles_a: Sequence[str]
    titles_b: Sequence[str]
    pages: Sequence[tuple[int, int]]
    """The page numbers of the shown pairs."""


class ReportData(msgspec.Struct, frozen=True):
    """A run in numbers. Tables that the run does not have are empty."""

    name: str
    made: datetime
    version: str
    signatures: Mapping[str, str]
    """Signature of each stage."""
    is_matched: bool
    sites: pa.Table
    """Columns site, n_pages."""
    languages: pa.Table
    """Columns lang, n_pages, n_paired (pages in a pair), the most frequent first."""
    pairs: pa.Table
    """Columns of `twinlink.tables.PAIRS`."""
    titles: Mapping[int, str]
    """Titles of the pages in `shown_pairs`, by page_id."""
    example_titles: Mapping[str, str]
    """Titles of the examples of patterns, near-duplicates and rejects, by address."""
    scores: ScoreCounts | None
    evidence: Mapping[str, Means]
    """Of the kinds of evidence that were measured."""
    n_candidates: int
    weights: pa.Table
    filters: pa.Table
    """Columns filter, n_pairs."""
    patterns: pa.Table
    """Columns of `twinlink.tables.PATTERNS`, as many rows as are shown."""
    pattern_verdicts: Mapping[str, int]
    rejects: pa.Table
    """Columns stage, reason, n, url (of one example)."""
    crawl: Mapping[str, Any]
    """``crawl.json``; empty without a crawl."""
    fetched: npt.NDArray[np.int64]
    """Times at which pages were fetched, seconds since 1970, sorted; pages without a time are left out."""
    sentences: pa.Table
    """Columns site, lang_a, lang_b, n (reported sentence pairs), n_known, chance (sum over those known)."""
    rounds: pa.Table
    """Columns of `twinlink.tables.ROUNDS`."""
    graphs: Sequence[SiteGraph]
    measured: Sequence[Measured]
    labels: npt.NDArray[np.int8]
    """Label of each pair: 1 accepted, 0 rejected, -1 not labelled."""
    settings: str
    look_alikes: pa.Table
    """A row for each group of near-duplicates: columns site, lang, facing_lang, group, n_pages, n_paired, n_doubtful,
    n_facing (pages of the group in the other language, 0 for none), url (of one page, a paired one if there is one),
    partner (address of its partner, else empty)."""
    is_in_review: bool = False
    """Whether a running review shows it; its pairs are then linked to the pages of the review."""


def records(table: pa.Table) -> Iterator[Any]:
    """Yield the rows of a table; their columns are attributes, nulls are None.

    >>> [row.n for row in records(pa.table({"n": [2, None]}))]
    [2, None]
    """
    yield from (SimpleNamespace(**row) for row in table.to_pylist())


def total(numbers: pa.ChunkedArray) -> int:
    """Return the sum of a column of whole numbers."""
    return int(pc.sum(numbers).as_py() or 0)


def known(value: Any) -> float | None:
    """Return a number from a table; None: it is null."""
    return None if value is None or math.isnan(value) else float(value)


def known_text(value: Any) -> str:
    """Return a text from a table; empty: it is null."""
    return value if isinstance(value, str) else ""


Kind = Literal["text", "words", "tight", "code", "count", "share", "decimal", "page", "langs", "bar", "review"]
"""``words``: words of our own; ``tight``: a few words on one line; ``bar``: (number, share of the longest bar, class);
``page``: (address, title, language, canonical address), the last two may be missing; ``review``:
address of a pair in the review."""


class Column(msgspec.Struct, frozen=True):
    """A column of a shown table."""

    name: str
    kind: Kind = "text"
    help: str = ""

    @property
    def is_number(self) -> bool:
        """Whether its cells are right-aligned and sorted as numbers."""
        return self.kind in ("count", "share", "decimal")


class Table(msgspec.Struct, frozen=True):
    """A table of the report. The kind of a column defines the type of its cells; None: not known."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    is_tall: bool = False
    """Whether it scrolls in a box of limited height."""
    folded: str = ""
    """Text to click on to unfold it; empty: not folded."""
    is_small: bool = False
    """Whether it is placed next to the charts."""

    @property
    def body(self) -> Markup:
        """Its rows as HTML."""
        return rows_html([column.kind for column in self.columns], self.rows)


class Chart(msgspec.Struct, frozen=True):
    """A chart with its texts and legend."""

    title: str
    picture: Markup
    text: str = ""
    legend: Sequence[tuple[str, str]] = ()
    """(class, words)."""
    is_wide: bool = False
    names: Sequence[tuple[str, str]] = ()
    """Numbered below the chart: the two titles of each pair."""
    targets: Sequence[tuple[str, str]] = ()
    """Addresses that the names lead to; empty: nowhere."""
    is_for_wide_screens: bool = False
    """Whether phones leave it out, since another chart shows the same."""


class Figure(msgspec.Struct, frozen=True):
    """A highlighted number."""

    number: str
    words: str


class Section(msgspec.Struct, frozen=True):
    """A part of the report."""

    name: str
    """Its anchor."""
    title: str
    short: str
    """Its name in the table of contents."""
    text: Sequence[str | Markup] = ()
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    facts: Sequence[tuple[str, str]] = ()
    code: str = ""
    figures: Sequence[Figure] = ()
    legend: Sequence[tuple[str, str]] = ()
    """(class, words) of the colours in its tables."""
