"""Records in which a reviewed run answers: pages, documents, neighbours, near-duplicates, beads, progress."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pandas as pd

from twinlink.progress import Latest


class Page(msgspec.Struct, frozen=True):
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


class Document(msgspec.Struct, frozen=True):
    """A page as it was fetched, decoded."""

    url: str
    text: str
    """The HTML."""


class Resource(msgspec.Struct, frozen=True):
    """A style sheet or picture from the run's archives."""

    content: bytes
    content_type: str


class Neighbour(msgspec.Struct, frozen=True):
    """A page that links to another page, or is linked from it."""

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


class Alike(msgspec.Struct, frozen=True):
    """A near-duplicate of another page in the same language."""

    page_id: int
    url: str
    title: str
    state: str
    """paired, doubtful or unpaired."""
    partner: int | None
    """Page of the other language that it is paired with; None: none."""


class LookAlikes(msgspec.Struct, frozen=True):
    """The group of near-duplicates to which a page belongs."""

    n_pages: int
    n_paired: int
    others: tuple[Alike, ...]
    """Other pages of the group; only some of a large group."""


class Segment(msgspec.Struct, frozen=True):
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


class Compared(msgspec.Struct, frozen=True):
    """A number of a pair that the method compared with a bound."""

    name: str
    value: float | None
    """None: not measured, or more than twice the bound."""
    relation: str
    """Relation of a passing value to its bound; empty: there is no bound."""
    bound: float | None
    verdict: str
    """``passed``, ``failed``, or empty for a number that decides nothing."""
    meaning: str


class LiveStage(msgspec.Struct, frozen=True):
    """Progress of a stage."""

    name: str
    state: str
    """waiting, running or done."""
    counts: Mapping[str, int]
    """Counts so far, by name: fetched, queued, pages, pairs."""


class Live(msgspec.Struct, frozen=True):
    """A run while it is being mined."""

    working: bool
    """Whether a process works in the run at the moment."""
    paused: bool
    """Whether the process has been asked to wait."""
    stages: tuple[LiveStage, ...]
    pages: tuple[str, ...]
    """Addresses of the latest pages, newest first."""
    pairs: pd.DataFrame
    """Pairs found so far, in the order in which they were found; after the match, `RunView.pairs`."""
    so_far: pd.DataFrame
    """Provisional pairs of the sites that are being matched, the most probable first: addresses, languages, pages and
    probability."""
    rejects: Mapping[str, int]
    """Number of rejects so far, by reason."""
    latest: Latest | None = None
    """Latest report of the process that works in the run; None: it has written none."""
    titles: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Titles of the latest pages by their addresses, as far as they are known."""
