"""A run of toy pages that lives in memory, for the tests of the web application."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
from msgspec.structs import replace

from twinlink.progress import Latest
from twinlink.review.reading.run_view import RunView
from twinlink.review.reading.snapshot import Snapshot
from twinlink.review.records import (
    Alike,
    Compared,
    Document,
    Live,
    LiveStage,
    LookAlikes,
    Neighbour,
    Page,
    Resource,
    Segment,
)
from twinlink.rundir.directory import RunDirectory
from twinlink.tables import CANDIDATES, PAIRS

SITE = "toy.example"
T = TypeVar("T")
KINDS = ("content", "structure", "external", "length")


def page_a(number: int) -> int:
    """Number of the English page of a pair."""
    return 1000 + number


def page_b(number: int) -> int:
    """Number of its Chinese partner; negative, as half of all page numbers are."""
    return -1000 - number


def toy_page(page_id: int, title: str = "", url: str = "") -> Page:
    number, is_first = abs(page_id) - 1000, page_id > 0
    lang = "en" if is_first else "zh-Hant"
    words = f"Annual report {number}" if is_first else f"年報 {number}"
    return Page(
        page_id=page_id,
        url=url or f"http://{SITE}/{'en' if is_first else 'tc'}/{number}.html",
        site=SITE,
        title=title or words,
        lang=lang,
        blocks=(words, f"The year {2000 + number} was good." if is_first else f"{2000 + number} 年是好年。"),
        tags=("html", "body", "h1", "p", *(("ul", "li") if number % 2 and is_first else ())),
    )


def toy_pairs(n_pairs: int) -> pd.DataFrame:
    """Pairs of falling probability; the last is the most doubtful. Sites and languages alternate."""
    numbers = np.arange(n_pairs)
    table = {field.name: pd.Series([pd.NA] * n_pairs, dtype=object) for field in PAIRS}
    frame = pd.DataFrame(table)
    frame["url_a"] = [f"http://{SITE}/en/{number}.html" for number in numbers]
    frame["url_b"] = [f"http://{SITE}/tc/{number}.html" for number in numbers]
    frame["lang_a"], frame["lang_b"] = "en", "zh-Hant"
    frame["probability"] = np.linspace(0.99, 0.55, max(n_pairs, 1))[:n_pairs].astype(np.float32)
    frame["score"] = np.linspace(0.9, 0.4, max(n_pairs, 1))[:n_pairs].astype(np.float32)
    frame["rival"] = np.float32(0.2)
    for kind in KINDS:
        frame[kind] = np.linspace(0.95, 0.15, max(n_pairs, 1))[:n_pairs].astype(np.float32)
    frame["alike_a"] = frame["alike_b"] = pd.array([0] * n_pairs, dtype="Int64")
    frame["site"] = np.where(numbers % 5 == 4, "other.example", SITE)
    frame["page_a"] = np.array([page_a(number) for number in range(n_pairs)], np.int64)
    frame["page_b"] = np.array([page_b(number) for number in range(n_pairs)], np.int64)
    frame["verdict"], frame["signature"] = "pair", "match:toy"
    return frame


@dataclass
class FakeRun(RunView):
    """A run of ``n_pairs`` pairs, without files; its answers are those of `FakeTables`."""

    n_pairs: int = 8
    name: str = "toy run"
    pages: dict[int, Page] = field(default_factory=dict)
    """Pages that are not as `toy_page` makes them."""
    html: dict[int, str] = field(default_factory=dict)
    alike: tuple[int, ...] = ()
    """Pages that have near-duplicates: those of a language are one group."""
    live_pairs: int = 0
    """Pairs that the mining has found so far."""
    checks: tuple[Compared, ...] = ()
    """What the method compared on each pair."""
    working: bool = False
    paused: bool = False
    held: bool = False
    asked: list[bool] = field(default_factory=list)
    """Whether it was to wait, each time."""
    state: str = ""
    """State of the match; empty: running while a process works in the run."""
    latest: Latest | None = None
    """Latest report of that process."""
    breaks: Exception | None = None
    """What asking for neighbours ends with."""

    def __post_init__(self) -> None:
        self.made_pairs = toy_pairs(self.n_pairs)
        self._coming = toy_pairs(50)

    @property
    def directory(self) -> RunDirectory:
        """A run without tables."""
        return RunDirectory(Path("no-such-run"))

    def grow(self, n_pairs: int) -> None:
        """Have found more pairs."""
        self.n_pairs = n_pairs
        self.made_pairs = toy_pairs(n_pairs)

    def read(self, question: Callable[[Snapshot], T]) -> T:
        return question(FakeTables(self))

    def live(self) -> Live:
        stages = (
            LiveStage("crawl", "done", {"fetched": 12}),
            LiveStage("match", self.state or ("running" if self.working else "waiting"), {"pairs": self.live_pairs}),
        )
        return Live(
            working=self.working,
            paused=self.paused or self.held,
            stages=stages,
            pages=(f"http://{SITE}/en/new.html",),
            pairs=self._coming.iloc[: self.live_pairs],
            rejects={"robots": 2},
            so_far=toy_pairs(60).iloc[50 if self.working else 60 :],
            latest=self.latest,
        )

    def pause(self, wanted: bool) -> None:
        self.asked.append(wanted)
        self.paused = wanted

    def hold(self, wanted: bool) -> None:
        if wanted != self.held:
            self.asked.append(wanted)
        self.held = wanted


class FakeTables(Snapshot):
    """Tables of which page 1000 + k and page -1000 - k are partners."""

    def __init__(self, run: FakeRun) -> None:
        self.fake = run
        self.pairs = run.made_pairs

    def page(self, page_id: int) -> Page | None:
        if page_id in self.fake.pages:
            return self.fake.pages[page_id]
        return toy_page(page_id) if 0 <= abs(page_id) - 1000 < max(self.fake.n_pairs, self.fake.live_pairs) else None

    def titles(self, page_ids: Sequence[int]) -> Sequence[str]:
        return [page.title if page else "" for page in map(self.page, page_ids)]

    def document(self, page_id: int) -> Document | None:
        page = self.page(page_id)
        if page is None:
            return None
        return Document(page.url, self.fake.html.get(page_id, f"<title>{page.title}</title><h1>{page.title}</h1>"))

    def resource(self, url: str) -> Resource | None:
        return None

    def page_of(self, url: str) -> int | None:
        for sign in (1, -1):
            for number in range(self.fake.n_pairs):
                page = self.page(sign * (1000 + number))
                if page and page.url == url:
                    return page.page_id
        return None

    def find(self, text: str, lang: str = "", limit: int = 20) -> Sequence[Page]:
        pages = [self.page(sign * (1000 + k)) for sign in (1, -1) for k in range(self.fake.n_pairs)]
        found = [page for page in pages if page and (text in page.url or text in page.title)]
        return [replace(page, blocks=(), tags=()) for page in found if not lang or page.lang == lang][:limit]

    def partners(self, page_id: int) -> tuple[int, ...]:
        return (-page_id,) if self.page(page_id) else ()

    def rivals(self, page_a: int, page_b: int, limit: int = 10) -> pd.DataFrame:
        """The pair itself, and the next Chinese page."""
        seconds = [page_b, page_b - 1 if self.page(page_b - 1) else page_b + 1]
        rows = [self._candidate(page_a, second) for second in seconds[: self.fake.n_pairs]]
        columns = [*CANDIDATES.names, "url_a", "url_b", "title_a", "title_b", "pair"]
        return pd.DataFrame(rows, columns=columns)

    def checks(self, page_a: int, page_b: int) -> Sequence[Compared]:
        return self.fake.checks

    def _candidate(self, a: int, b: int) -> dict[str, object]:
        first, second = self.page(a), self.page(b)
        assert first is not None
        assert second is not None
        numbers = dict.fromkeys(KINDS, 0.5 if a == -b else 0.25)
        return {
            **dict.fromkeys(CANDIDATES.names),
            **numbers,
            "page_a": a,
            "page_b": b,
            "score": 0.6 if a == -b else 0.3,
            "url_a": first.url,
            "url_b": second.url,
            "title_a": first.title,
            "title_b": second.title,
            "pair": a == -b,
        }

    def weights(self, site: str, lang_a: str, lang_b: str) -> Mapping[str, float]:
        return {"content": 0.5, "external": 0.3, "structure": 0.2}

    def count_neighbours(self, page_id: int, without: Collection[int] = ()) -> int:
        return len({near.page_id for near in self.neighbours(page_id)} - {*without})

    def neighbours(self, page_id: int, limit: int = 200, without: Collection[int] = ()) -> Sequence[Neighbour]:
        if self.fake.breaks is not None:
            raise self.fake.breaks
        step = 1 if page_id > 0 else -1
        pages = [page for page in (self.page(page_id + step), self.page(page_id - step)) if page]
        return [
            Neighbour(page.page_id, page.url, page.title, page.lang, "a link", True, (-page.page_id,)) for page in pages
        ]

    def look_alikes(self, page_id: int, facing_lang: str, limit: int = 50) -> LookAlikes | None:
        """All pages of a language whose numbers are told to be in one group."""
        if page_id not in self.fake.alike:
            return None
        pages = [page for page in map(self.page, self.fake.alike) if page and page_id * page.page_id > 0]
        others = [page for page in pages if page.page_id != page_id][:limit]
        named = [Alike(page.page_id, page.url, page.title, "paired", -page.page_id) for page in others]
        return LookAlikes(len(pages), len(pages), tuple(named))

    def group_sizes(self, page_ids: Sequence[int]) -> Sequence[int]:
        found = [self.look_alikes(number, "") for number in page_ids]
        return [group.n_pages if group else 1 for group in found]

    def segments(self, url_a: str, url_b: str) -> Sequence[Segment]:
        if url_a.rsplit("/", 1)[-1] != url_b.rsplit("/", 1)[-1]:
            return ()
        return (Segment("Annual report", "年報", "1-1", 0.9, "segment", 0, 0, 13, 0, 0, 2),)
