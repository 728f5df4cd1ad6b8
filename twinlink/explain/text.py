"""An explanation as lines of text, for terminals, and the protocol of an explanation that is shown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import pandas as pd

from twinlink.explain.outcomes import check_lines

_LONGEST_TITLE = 60  # characters


class Explained(Protocol):
    """Protocol of the shown parts of a `twinlink.explain.explanation.Explanation`."""

    @property
    def url(self) -> str:
        """Address of the explained page."""

    @property
    def verdict(self) -> str:
        """The result in a sentence."""

    @property
    def state(self) -> str:
        """``pair``, ``no pair`` or ``not kept``."""

    @property
    def notes(self) -> Sequence[str]:
        """Remarks below the verdict."""

    @property
    def shown(self) -> tuple[str, str] | None:
        """The two addresses whose evidence is shown."""

    @property
    def evidence(self) -> pd.DataFrame:
        """Kinds of evidence, a row each."""

    @property
    def checks(self) -> pd.DataFrame:
        """Values behind the verdicts of methods by structure."""

    @property
    def candidates(self) -> pd.DataFrame:
        """Candidates of both pages."""

    @property
    def titles(self) -> Mapping[str, str]:
        """Titles of pages by address."""


def explanation_lines(explanation: Explained) -> Iterator[str]:
    """Yield an explanation as lines: the verdict, the titles, the evidence, the candidates of each page."""
    yield from (explanation.url, explanation.verdict, *explanation.notes)
    shown, titles = explanation.shown, explanation.titles
    if shown is not None and len(explanation.evidence):
        yield f"\nevidence for {' ↔ '.join(shown)}:"
        if any(titles.get(url) for url in shown):
            yield " ↔ ".join(_title(titles, url) or "(no title)" for url in shown)
        yield from _evidence_lines(explanation.evidence.to_dict("records"))
    if shown is not None and len(explanation.checks):
        yield f"\nchecks of {' ↔ '.join(shown)}:"
        yield from check_lines(explanation.checks)
    rows = explanation.candidates.to_dict("records")
    for url in shown or ([explanation.url] if not rows else []):
        yield from _candidate_lines(url, rows, titles)


def _evidence_lines(rows: Sequence[Mapping[Any, Any]]) -> Iterator[str]:
    width = max((len(row["evidence"]) for row in rows), default=0)
    yield f"{'':{width}}  weight  value  rival"
    for row in rows:
        numbers = f"{row['weight']:6.2f}  {_number(row['value']):>5}  {_number(row['rival']):>5}"
        yield f"{row['evidence']:{width}}  {numbers}  {row['meaning']}"


def _candidate_lines(url: str, rows: Sequence[Mapping[Any, Any]], titles: Mapping[str, str]) -> Iterator[str]:
    """Yield the candidates of a page, the best first."""
    own = [(row, row["url_b"] if row["url_a"] == url else row["url_a"]) for row in rows if url in _ends(row)]
    yield f"\ncandidates of {url}:" if own else f"\ncandidates of {url}: none"
    width = max((len(other) for _, other in own), default=0)
    marks = max([4, *(len(row.get("filter", "")) for row, _ in own)])
    if own:
        yield "score"
    for row, other in own:
        mark = "pair" if row["pair"] else row.get("filter", "")
        yield f"{_number(row['score']):>5}  {mark:{marks}}  {other:{width}}  {_title(titles, other)}".rstrip()


def _ends(row: Mapping[Any, Any]) -> tuple[str, str]:
    return row["url_a"], row["url_b"]


def _number(value: float) -> str:
    """Return a number of the evidence with two digits; nothing where there is none.

    >>> _number(0.98765), _number(float("nan"))
    ('0.99', '')
    """
    return "" if math.isnan(value) else f"{value:.2f}"


def _title(titles: Mapping[str, str], url: str) -> str:
    """Return the title of a page on one line, cut where it is long."""
    title = " ".join(titles.get(url, "").split())
    return title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"
