"""The table of a campaign: one row per kind of attack, and its limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["MOST_MEMORY", "MOST_SILENCE", "Row", "Trial", "as_markdown", "joined", "merged"]

MOST_MEMORY = 300 * 10**6
"""Bytes that the crawler's processes may hold together."""
MOST_SILENCE = 60.0
"""Seconds that may pass in which nothing is finished while there is something to do."""


@dataclass(frozen=True)
class Trial:
    """What came of an attack, or of several that belong together."""

    name: str
    survived: bool
    """Whether the program came to its end as documented."""
    lost: tuple[str, ...] = ()
    """What was lost, or came out wrong."""
    extra: int = 0
    """Pages fetched more than once."""
    memory: int = 0
    """Bytes that were held at most: by the crawler's processes where one runs."""
    silence: float = 0.0
    """Longest time without progress, in seconds."""
    seconds: float = 0.0
    """Time that it took."""
    is_bound: bool = True
    """Whether the bar of memory applies: it is the crawler's."""
    count: int = 1
    """How many attacks it was."""

    @property
    def missed(self) -> tuple[str, ...]:
        """What it does not hold to."""
        found = [] if self.survived else ["did not end as it should"]
        if self.is_bound and self.memory > MOST_MEMORY:
            found.append(f"{self.memory / 1e6:.0f} MB")
        if self.silence > MOST_SILENCE:
            found.append(f"{self.silence:.0f} s of silence")
        return (*found, *self.lost)


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    kind: str
    tried: int
    survived: int
    lost: int
    extra: int
    memory: int
    silence: float
    missed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By trial: what it does not hold to."""

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


def joined(kind: str, trials: Iterable[Trial]) -> Row:
    """Put trials together to a row."""
    all_ = list(trials)
    return Row(
        kind,
        sum(trial.count for trial in all_),
        sum(trial.count for trial in all_ if trial.survived),
        sum(len(trial.lost) for trial in all_),
        sum(trial.extra for trial in all_),
        max((trial.memory for trial in all_), default=0),
        round(max((trial.silence for trial in all_), default=0.0), 1),
        {trial.name: trial.missed for trial in all_ if trial.missed},
    )


def merged(rows: Iterable[Row]) -> list[Row]:
    """Put the rows of several campaigns together: one for each kind, in the order in which kinds come first."""
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault(row.kind, []).append(row)
    return [
        Row(
            kind,
            sum(row.tried for row in found),
            sum(row.survived for row in found),
            sum(row.lost for row in found),
            sum(row.extra for row in found),
            max(row.memory for row in found),
            max(row.silence for row in found),
            {name: tuple(what) for row in found for name, what in row.missed.items()},
        )
        for kind, found in kinds.items()
    ]


def as_markdown(rows: Sequence[Row]) -> str:
    """Return the table, and below it what was missed."""
    lines = [
        "| attack | tried | survived | lost or wrong | extra fetches | peak memory, MB | longest silence, s |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row.kind} | {row.tried:,} | {row.survived:,} | {row.lost:,} | {row.extra:,} | {row.memory / 1e6:.0f}"
        f" | {row.silence:.1f} |"
        for row in rows
    ]
    missed = [
        f"- {row.kind}: {name}: {'; '.join(what)[:500]}" for row in rows for name, what in sorted(row.missed.items())
    ]
    return "\n".join([*lines, "", *(["Missed:", "", *missed] if missed else ["No bar was missed."])]) + "\n"
