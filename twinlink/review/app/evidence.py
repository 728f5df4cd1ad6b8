"""Evidence for a pair, for display: the value of each kind, its rank among the pairs, and its weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pandas as pd

from twinlink.tables import EVIDENCE_FIELDS
from twinlink.wording import EVIDENCE_WORDS

KINDS = {field.name: field.metadata[b"description"].decode() for field in EVIDENCE_FIELDS}
"""Kinds of evidence and their descriptions in the tables."""

_LESS_IS_BETTER = frozenset(("cost_share", "length_difference"))


class Evidence(msgspec.Struct, frozen=True):
    """One kind of evidence of a pair."""

    name: str
    text: str
    """Description in plain words."""
    formal: str
    """Description in the tables."""
    value: float
    size: float
    """Length of the bar: the absolute value, limited to 1."""
    weight: float | None
    """Weight of the kind on this site, 0 to 1; None: the method has no weights."""
    below: float | None
    """Share of the run's pairs with a lower value; None: not known."""
    rival: float | None
    """Value of the best rival; None: there is no rival, or it was not measured."""
    less_is_better: bool


class Rival(msgspec.Struct, frozen=True):
    """A candidate that shares a page with the reviewed pair."""

    page_a: int
    page_b: int
    url_a: str
    url_b: str
    title_a: str
    title_b: str
    score: float
    is_pair: bool
    """Whether it is a pair of the run."""
    is_this: bool
    """Whether it is the reviewed pair itself."""
    shares_a: bool
    """Whether it shares the first page."""


def evidence_of(
    row: Mapping[str, Any],
    weights: Mapping[str, float],
    rival: Mapping[str, Any] | None,
    share_below: Callable[[str, float], float] | None,
) -> list[Evidence]:
    """Return the evidence of a pair, the heaviest kind first.

    Parameters
    ----------
    row : mapping
        Columns of `twinlink.tables.EVIDENCE_FIELDS`; null: not measured.
    weights : mapping
        Weight of each kind.
    rival : mapping or None
        The same columns of the best rival.
    share_below : callable or None
        Maps a kind and a value to the share of the run's pairs with a lower value.
    """
    found = []
    for name, formal in KINDS.items():
        value = number(row, name)
        if value is None:
            continue
        weight = weights.get(name, 0.0) if weights else None
        text = EVIDENCE_WORDS.get(name, formal)
        below = share_below(name, value) if share_below else None
        other = number(rival, name) if rival is not None else None
        size = min(max(abs(value), 0.0), 1.0)
        found.append(Evidence(name, text, formal, value, size, weight, below, other, name in _LESS_IS_BETTER))
    return sorted(found, key=lambda each: -(each.weight or 0.0))


def rivals_of(table: pd.DataFrame, page_a: int, page_b: int) -> list[Rival]:
    """Return the rows of `Snapshot.rivals` as records."""
    return [
        Rival(
            page_a=int(row["page_a"]),
            page_b=int(row["page_b"]),
            url_a=str(row["url_a"]),
            url_b=str(row["url_b"]),
            title_a=str(row["title_a"]),
            title_b=str(row["title_b"]),
            score=float(row["score"]),
            is_pair=bool(row["pair"]),
            is_this=row["page_a"] == page_a and row["page_b"] == page_b,
            shares_a=row["page_a"] == page_a,
        )
        for row in table.to_dict("records")
    ]


def number(row: Mapping[str, Any], name: str) -> float | None:
    """Return a number of a row; None: it was not measured."""
    value = row.get(name)
    return None if value is None or pd.isna(value) else float(value)
