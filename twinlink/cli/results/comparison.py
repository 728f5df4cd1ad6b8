"""Result of a comparison of two matches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from twinlink.cli.results.evaluation import Scores
from twinlink.cli.results.record import Record

if TYPE_CHECKING:
    import pandas as pd

    from twinlink.comparison import Comparison

__all__ = ["ComparedPair", "ComparisonResult", "DifferentPairs"]


class ComparedPair(msgspec.Struct, frozen=True):
    """A pair in which two results differ."""

    url_a: str
    """Page of the first language."""
    url_b: str
    """Page of the second language."""
    in_first: float | None
    """Probability in the first result (score where its method gives none); null: not in it."""
    in_second: float | None
    """The same in the second."""
    other_a: str | None
    """Partner of url_a in the other result; null: none, or the pair is in both."""
    other_b: str | None
    """Partner of url_b in the other result."""
    right: bool | None
    """With ``--gold``: whether it is right; null: not scored."""


class DifferentPairs(msgspec.Struct, frozen=True):
    """Pairs in which two results differ in the same way."""

    n: int
    """Their number."""
    right: int | None
    """With ``--gold``: the right ones."""
    wrong: int | None
    """With ``--gold``: the wrong ones."""
    shown: list[ComparedPair]
    """The first of them, ``--top`` at most: the most probable ones, or those that differ most."""

    @classmethod
    def of(cls, pairs: pd.DataFrame, top: int, *, is_judged: bool) -> DifferentPairs:
        """Make it from rows of a comparison."""
        rows = pairs.head(top)[list(ComparedPair.__struct_fields__)].astype(object)
        shown = [ComparedPair(**_plain(row)) for row in rows.to_dict(orient="records")]
        counts = pairs["right"].value_counts()
        right, wrong = (int(counts.get(verdict, 0)) if is_judged else None for verdict in (True, False))
        return cls(len(pairs), right, wrong, shown)


def _plain(row: dict[Any, Any]) -> dict[str, Any]:
    import pandas as pd

    return {name: None if pd.isna(value) else value for name, value in row.items()}


class ComparisonResult(Record, frozen=True, kw_only=True):
    """`twinlink compare`: where two results of matching differ."""

    first: str
    """The first run directory."""
    second: str
    """The second."""
    n_first: int
    """Pairs of the first result."""
    n_second: int
    """Pairs of the second."""
    both: DifferentPairs
    """Pairs of both; none is shown."""
    only_first: DifferentPairs
    """Pairs that only the first has."""
    only_second: DifferentPairs
    """Pairs that only the second has."""
    changed: DifferentPairs | None
    """Pairs of both whose probabilities differ by ``min_difference`` or more; null: a method gives none."""
    min_difference: float
    """Least difference of two probabilities that counts."""
    scores: list[Scores]
    """With ``--gold``: the measures of both results."""
    table: str | None
    """With ``--out``: the file with all pairs."""

    @classmethod
    def of(cls, found: Comparison, top: int, min_difference: float, table: Path | None) -> ComparisonResult:
        """Make it from a comparison."""
        from twinlink.comparison import BOTH, FIRST, SECOND

        judged, pairs = found.scores is not None, found.pairs
        both, first, second = (pairs[pairs["where"] == where] for where in (BOTH, FIRST, SECOND))
        changed = found.changed(min_difference) if len(both) and both["difference"].notna().any() else None
        return cls(
            first=str(found.first),
            second=str(found.second),
            n_first=len(both) + len(first),
            n_second=len(both) + len(second),
            both=DifferentPairs.of(both, 0, is_judged=judged),
            only_first=DifferentPairs.of(first, top, is_judged=judged),
            only_second=DifferentPairs.of(second, top, is_judged=judged),
            changed=None if changed is None else DifferentPairs.of(changed, top, is_judged=judged),
            min_difference=min_difference,
            scores=[Scores.of(each) for each in found.scores or ()],
            table=None if table is None else str(table),
        )
