"""Why a pair is one, for a person: what each kind of evidence says, how that compares, and how much it counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from twinlink.review.wording import EVIDENCE_WORDS
from twinlink.tables import EVIDENCE

__all__ = ["KINDS", "Evidence", "Rival", "evidence_of", "number", "rivals_of"]

KINDS = {field.name: field.metadata[b"description"].decode() for field in EVIDENCE}
"""Kinds of evidence, with what the tables say of each."""

_LESS_IS_BETTER = frozenset(("cost_share", "length_difference"))


@dataclass(frozen=True)
class Evidence:
    """One kind of evidence of a pair."""

    name: str
    text: str
    """What it is, in plain words."""
    formal: str
    """What the tables say of it."""
    value: float
    size: float
    """What a bar shows: the value, held to 0 … 1."""
    weight: float | None
    """How much the kind counted on this site, 0 to 1; None: the method does not weigh."""
    below: float | None
    """Share of the run's pairs that have less of it; None: not known."""
    rival: float | None
    """The best rival's value; None: there is none, or it was not measured."""
    less_is_better: bool


@dataclass(frozen=True)
class Rival:
    """A pair that shares a page with the one looked at."""

    page_a: int
    page_b: int
    url_a: str
    url_b: str
    title_a: str
    title_b: str
    score: float
    is_pair: bool
    """Whether the run found it to be a pair."""
    is_this: bool
    """Whether it is the pair looked at."""
    shares_a: bool
    """Whether it has the same first page, and another second one."""


def evidence_of(
    row: Mapping[str, Any],
    weights: Mapping[str, float],
    rival: Mapping[str, Any] | None,
    share_below: Callable[[str, float], float] | None,
) -> list[Evidence]:
    """Return the evidence of a pair, what counted most first.

    Parameters
    ----------
    row : mapping
        Columns of `twinlink.tables.EVIDENCE`; null: not measured.
    weights : mapping
        How much each kind counted.
    rival : mapping or None
        The same columns of the best rival.
    share_below : callable or None
        Kind and value → share of the run's pairs with less of it.
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
    """Return a measured number of a row; None: it was not measured."""
    value = row.get(name)
    return None if value is None or pd.isna(value) else float(value)
