"""The table of a campaign: one row per kind of attack, and its limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import asdict

MOST_MEMORY = 300 * 10**6
"""Maximum memory of the crawler's processes together, in bytes."""
MOST_SILENCE = 60.0
"""Maximum time without progress, in seconds, while there is work."""


class Trial(msgspec.Struct, frozen=True):
    """Outcome of an attack, or of several related ones."""

    name: str
    survived: bool
    """Whether the program ended as documented."""
    lost: tuple[str, ...] = ()
    """Results that were lost or wrong."""
    extra: int = 0
    """Pages fetched more than once."""
    memory: int = 0
    """Peak memory in bytes, of the crawler's processes if there is a crawler."""
    silence: float = 0.0
    """Longest time without progress, in seconds."""
    seconds: float = 0.0
    """Duration in seconds."""
    is_bound: bool = True
    """Whether the memory limit applies, which is that of the crawler."""
    count: int = 1
    """Number of attacks."""

    @property
    def missed(self) -> tuple[str, ...]:
        """Violated requirements."""
        found = [] if self.survived else ["did not end as it should"]
        if self.is_bound and self.memory > MOST_MEMORY:
            found.append(f"{self.memory / 1e6:.0f} MB")
        if self.silence > MOST_SILENCE:
            found.append(f"{self.silence:.0f} s of silence")
        return (*found, *self.lost)


class Row(msgspec.Struct, frozen=True):
    """A line of the table."""

    kind: str
    tried: int
    survived: int
    lost: int
    extra: int
    memory: int
    silence: float
    missed: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """From a trial to its violated requirements."""

    def as_json(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return asdict(self)


def joined(kind: str, trials: Iterable[Trial]) -> Row:
    """Merge trials into a row."""
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
    """Merge the rows of several campaigns: one row per kind, in the order of first occurrence."""
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
    """Return the table, followed by the violations."""
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
