"""The numbers that a method compared with bounds, for an explanation of two pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from twinlink.explain.outcomes import both
from twinlink.similarity.checks import MEANINGS, verdict_of

if TYPE_CHECKING:
    from twinlink.run_tables import RunTables

__all__ = ["CHECK_COLUMNS", "check_lines", "checks_of", "no_checks"]

CHECK_COLUMNS = ["check", "value", "relation", "bound", "passed", "meaning"]


def no_checks() -> pd.DataFrame:
    """Return the checks of a method that compares nothing with bounds."""
    return pd.DataFrame(columns=CHECK_COLUMNS)


def checks_of(run: RunTables, first: pd.DataFrame) -> pd.DataFrame:
    """Return the checks of a candidate (a row, or none), in their order, each with its meaning."""
    if first.empty or run.checks.empty:
        return no_checks()
    own = run.checks[both(run.checks, {*first["page_a"], *first["page_b"]})].reset_index(drop=True)
    own["relation"] = own["relation"].fillna("")
    own["meaning"] = own["check"].map(MEANINGS)
    return own[CHECK_COLUMNS]


def check_lines(checks: pd.DataFrame) -> Iterator[str]:
    """Yield the checks of a candidate as lines of text, aligned."""
    rows = checks.to_dict("records")
    width = max((len(row["check"]) for row in rows), default=0)
    yield f"{'':{width}}       value          bound"
    for row in rows:
        bound = "" if pd.isna(row["bound"]) else f"{row['bound']:.4f}"
        value = "–" if pd.isna(row["value"]) else f"{row['value']:.4f}"
        verdict = verdict_of(row["relation"], row["value"], row["passed"])
        yield f"{row['check']:{width}}  {value:>10}  {row['relation']:2} {bound:>10}  {verdict:6}  {row['meaning']}"
