"""Lists of judged sentence pairs, and the precision of the present output by them.

A list is tab-separated, with a header: ``url_a url_b kind score source target verdict``. The verdict is ``correct``,
``partly``, ``wrong``, or empty for a pair that nobody has read yet. Long texts are cut at `LONGEST` characters.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from twinlink.align.formats.exports import Row

__all__ = [
    "VERDICTS",
    "Judged",
    "Key",
    "Precision",
    "draw",
    "judged_of",
    "key_of",
    "merged",
    "precision_at",
    "read_judged",
    "wilson",
    "write_judged",
]

VERDICTS = ("correct", "partly", "wrong")
LONGEST = 300
Z = 1.959964
"""Standard deviations of a 95 % interval."""
COLUMNS = ("url_a", "url_b", "kind", "score", "source", "target", "verdict")

Key = tuple[str, str, str, str]
"""Identity of a sentence pair: both addresses, and both texts as written in a list."""


class Judged(NamedTuple):
    """A line of a list."""

    url_a: str
    url_b: str
    kind: str
    score: str
    source: str
    target: str
    verdict: str = ""

    @property
    def key(self) -> Key:
        """Identity of this pair."""
        return self.url_a, self.url_b, self.source, self.target


def judged_of(row: Row, verdict: str = "") -> Judged:
    """Return a sentence pair as a line of a list."""
    return Judged(*key_of(row)[:2], row.kind, f"{row.probability:.4f}", *key_of(row)[2:], verdict)


def key_of(row: Row) -> Key:
    """Return the identity of a sentence pair."""
    return row.url_a, row.url_b, _cut(row.source), _cut(row.target)


def _cut(text: str) -> str:
    r"""Return a text on one line, truncated.

    >>> _cut(" one\ttwo "), len(_cut("x" * 999))
    ('one two', 301)
    """
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[:LONGEST] + "…"


def draw(rows: Iterable[Row], size: int, seed: int) -> list[Row]:
    """Return ``size`` of the pairs at random, in random order.

    The pairs with the smallest hashes are drawn. So pairs that a later version of the code reports, too, are drawn
    again, and only new ones have to be judged.

    >>> rows = [Row("a", "b", str(k), str(k), 1.0) for k in range(100)]
    >>> [row.source for row in draw(rows, 3, 1)] == [row.source for row in draw(rows[::-1], 3, 1)]
    True
    """
    return sorted(rows, key=lambda row: _hash(seed, key_of(row)))[:size]


def _hash(seed: int, key: Key) -> bytes:
    return hashlib.blake2b("\0".join((str(seed), *key)).encode("utf-8", "replace"), digest_size=16).digest()


def read_judged(path: Path) -> list[Judged]:
    """Read a list.

    Raises
    ------
    ValueError
        If a line has other columns or an unknown verdict.
    """
    lines = path.read_text(encoding="utf-8").split("\n")
    rows = [Judged(*_cells(line, f"{path}:{number}")) for number, line in enumerate(lines[1:], 2) if line]
    unknown = {row.verdict for row in rows} - {*VERDICTS, ""}
    if unknown:
        raise ValueError(f"{path}: unknown verdicts {sorted(unknown)}")
    return rows


def _cells(line: str, where: str) -> Sequence[str]:
    cells = line.split("\t")
    if len(cells) != len(COLUMNS):
        raise ValueError(f"{where}: {len(cells)} columns, expected {len(COLUMNS)}")
    return cells


def write_judged(path: Path, rows: Iterable[Judged]) -> None:
    """Write a list."""
    path.write_text("".join("\t".join(row) + "\n" for row in (COLUMNS, *rows)), encoding="utf-8")


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return the 95 % interval of a share after Wilson (1927).

    >>> [round(bound, 4) for bound in wilson(8, 10)], wilson(0, 0)
    ([0.4902, 0.9433], (0.0, 1.0))
    """
    if not trials:
        return 0.0, 1.0
    share, z2 = successes / trials, Z * Z / trials
    middle = (share + z2 / 2) / (1 + z2)
    half = Z / (1 + z2) * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials))
    return max(middle - half, 0.0), min(middle + half, 1.0)


class Precision(NamedTuple):
    """Number of right pairs among the judged pairs of at least some score."""

    least: float
    judged: int
    correct: int
    partly: int


def precision_at(scored: Sequence[tuple[float, str]], cuts: Sequence[float]) -> Iterator[Precision]:
    """Yield, for each minimum score, the number of right ones among the (score, verdict) with at least this score."""
    for least in cuts:
        verdicts = [verdict for score, verdict in scored if score >= least]
        yield Precision(least, len(verdicts), verdicts.count("correct"), verdicts.count("partly"))


def merged(old: Sequence[Judged], drawn: Mapping[Key, Row]) -> list[Judged]:
    """Return the old list with updated scores, followed by the newly drawn pairs."""
    known = {row.key for row in old}
    kept = [judged_of(drawn[row.key], row.verdict) if row.key in drawn else row for row in old]
    return kept + [judged_of(row) for key, row in drawn.items() if key not in known]
