"""What the web application asks of a run, and the records that it gets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pandas as pd

__all__ = [
    "Alike",
    "Document",
    "Live",
    "LiveStage",
    "LookAlikes",
    "Neighbour",
    "Page",
    "Resource",
    "Segment",
    "Source",
]


@dataclass(frozen=True)
class Page:
    """A kept page as text."""

    page_id: int
    url: str
    site: str
    title: str
    lang: str
    """BCP 47 with script; und before the run is matched."""
    blocks: tuple[str, ...]
    """Text blocks in document order."""
    tags: tuple[str, ...]
    """Names of the start tags in document order."""
    canonical_url: str = ""
    """Address that the page names as its canonical one, empty for none."""


@dataclass(frozen=True)
class Document:
    """A page as it was fetched, decoded."""

    url: str
    text: str
    """The HTML."""


@dataclass(frozen=True)
class Resource:
    """A style sheet or picture that lies in the run's archives."""

    content: bytes
    content_type: str


@dataclass(frozen=True)
class Neighbour:
    """A page that another links to, or is linked from."""

    page_id: int
    url: str
    title: str
    lang: str
    anchor: str
    """Text of the link."""
    outgoing: bool
    """Whether the page links to it; False: it links to the page."""
    partners: tuple[int, ...]
    """Pages that it is paired with."""


@dataclass(frozen=True)
class Alike:
    """A page that says nearly the same as another of its language."""

    page_id: int
    url: str
    title: str
    state: str
    """paired, doubtful or unpaired."""
    partner: int | None
    """Page of the other language that it is paired with; None: none."""


@dataclass(frozen=True)
class LookAlikes:
    """The group of near-duplicates that a page is one of."""

    n_pages: int
    n_paired: int
    others: tuple[Alike, ...]
    """Other pages of the group; of a large one only some."""


@dataclass(frozen=True)
class Segment:
    """A bead of the sentence alignment."""

    source: str
    target: str
    kind: str
    chance: float | None
    verdict: str
    block_a: int
    start_a: int
    end_a: int
    block_b: int
    start_b: int
    end_b: int


@dataclass(frozen=True)
class LiveStage:
    """How far a stage has come."""

    name: str
    state: str
    """waiting, running or done."""
    counts: Mapping[str, int]
    """What it has counted so far, by name: fetched, queued, pages, pairs."""


@dataclass(frozen=True)
class Live:
    """A run while it is being mined."""

    working: bool
    """Whether a process works in the run just now."""
    paused: bool
    """Whether it has been asked to wait."""
    stages: tuple[LiveStage, ...]
    pages: tuple[str, ...]
    """Addresses of the pages that came in last, newest first."""
    pairs: pd.DataFrame
    """Pairs found so far, in the order in which they came; once the match is done, all of it as in `Source.pairs`."""
    rejects: Mapping[str, int]
    """What was rejected so far, by reason."""


class Source(Protocol):
    """A run, as far as it is looked at. Every answer comes in well under 200 ms at 100,000 pairs."""

    @property
    def name(self) -> str:
        """What the run is called."""

    @property
    def pairs(self) -> pd.DataFrame:
        """Page pairs, most probable first: columns of `twinlink.tables.PAIRS`; empty before there are any."""

    def page(self, page_id: int) -> Page | None:
        """Return a kept page; None: there is none of that number."""

    def titles(self, page_ids: Sequence[int]) -> Sequence[str]:
        """Return the titles of pages, without reading the pages; empty: it has none, or there is no such page."""

    def document(self, page_id: int) -> Document | None:
        """Return the page as it was fetched; None: its archive is gone, or no longer has it."""

    def resource(self, url: str) -> Resource | None:
        """Return a style sheet or picture that the archives have; None: they have not. Nothing is ever fetched."""

    def page_of(self, url: str) -> int | None:
        """Return the page of an address; None: not kept."""

    def find(self, text: str, lang: str = "", limit: int = 20) -> Sequence[Page]:
        """Return pages (without blocks and tags) whose address or title has ``text`` in it."""

    def partners(self, page_id: int) -> tuple[int, ...]:
        """Return the pages that a page is paired with."""

    def rivals(self, page_a: int, page_b: int, limit: int = 10) -> pd.DataFrame:
        """Return the best candidates that share a page with a pair, the pair among them, best first.

        Columns of `twinlink.tables.CANDIDATES`, and url_a, url_b, title_a, title_b, pair (bool).
        """

    def weights(self, site: str, lang_a: str, lang_b: str) -> Mapping[str, float]:
        """Return how much each kind of evidence counted, the heaviest first."""

    def neighbours(self, page_id: int, limit: int = 200, without: Collection[int] = ()) -> Sequence[Neighbour]:
        """Return the pages around a page: kept pages that it links to, and those of its site that link to it.

        At most ``limit`` pages, some left out; one that links to the page and is linked from it comes twice.
        """

    def count_neighbours(self, page_id: int, without: Collection[int] = ()) -> int:
        """Return the number of all pages around a page, some left out."""

    def look_alikes(self, page_id: int, facing_lang: str, limit: int = 50) -> LookAlikes | None:
        """Return a page's near-duplicates, with their partners in another language; None: it has none."""

    def group_sizes(self, page_ids: Sequence[int]) -> Sequence[int]:
        """Return how many near-duplicates each page is one of, itself among them; 1: it has none."""

    def segments(self, url_a: str, url_b: str) -> Sequence[Segment]:
        """Return the beads of a pair; empty where sentences were not aligned."""

    def live(self) -> Live:
        """Tell how the mining goes."""

    def pause(self, wanted: bool) -> None:
        """Ask the process that works in the run to wait, or to go on."""

    def hold(self, wanted: bool) -> None:
        """Ask it to wait for a little while, as somebody looks; or no more. A pause that was asked for stays."""
