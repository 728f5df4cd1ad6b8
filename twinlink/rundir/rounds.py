"""Files of the rounds of site discovery: candidates, verdicts and counts of each round.

Each step of a round ends with one file, written under another name and renamed: a loop that was killed resumes
after the last one. Below ``RUN/discover``::

    begun.json                    what the loop was begun with
    round-01/chosen.json          the candidates of the round, and where they are begun at
    round-01/probe/               a run of its own: their first pages
    round-01/verdicts.parquet     table PROBES: what was made of each
    round-01/counts.parquet       table ROUNDS: the round's row; it is done
    rounds.tsv verdicts.tsv discover.svg   all rounds, for people and scripts
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from twinlink.damage import read_json
from twinlink.errors import RunError
from twinlink.files import write_text
from twinlink.rundir.directory import RunDirectory
from twinlink.tables import PROBES, ROUNDS, SIX_DIGITS, concat_tables, read_table, tsv_lines, write_table

FOLDER = "discover"
ROUNDS_FILE = "rounds.tsv"
VERDICTS_FILE = "verdicts.tsv"
PLOT_FILE = "discover.svg"
_SEEDS = "seeds"
_NAMED = 3  # items of a list in a message
_VERDICTS, _COUNTS, _CHOSEN, _BEGUN = "verdicts.parquet", "counts.parquet", "chosen.json", "begun.json"


class Chosen(msgspec.Struct, frozen=True):
    """A site that a round tries."""

    site: str
    starts: tuple[str, ...]
    """Addresses that it is begun at."""
    place: int = 0
    """Place among the candidates, from 1; 0: a site of the start."""
    score: float = 0.0


class Rounds:
    """The rounds of a run.

    Parameters
    ----------
    run : RunDirectory
    """

    def __init__(self, run: RunDirectory) -> None:
        self.folder = run.path / FOLDER

    @property
    def is_begun(self) -> bool:
        """Whether a loop has been begun here."""
        return (self.folder / _BEGUN).is_file()

    def begin(self, given: dict[str, Any]) -> None:
        """Record the start settings of the loop.

        Raises
        ------
        RunError
            If it was begun with something else: its rounds would not belong together.
        """
        path = self.folder / _BEGUN
        if path.is_file():
            before = read_json(path, dict[str, Any])
            changed = sorted(name for name in {*before, *given} if not _is_same(name, before, given))
            if changed:
                names = ", ".join(f"{name} ({_difference(name, before, given)})" for name in changed)
                raise RunError(
                    f"{self.folder}: started with other {names}; use another run directory, or the same values"
                )
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(path, msgspec.json.format(msgspec.json.encode(given).decode(), indent=1))

    def seeds(self) -> list[str]:
        """Return the seeds that the loop was begun with; none before."""
        seeds: list[str] = read_json(self.folder / _BEGUN, dict[str, Any]).get(_SEEDS, []) if self.is_begun else []
        return seeds

    def of(self, number: int) -> Path:
        """Return the folder of a round; it need not be there."""
        return self.folder / f"round-{number:02}"

    def chosen(self, number: int) -> list[Chosen] | None:
        """Return the candidates of a round; None if not chosen yet."""
        path = self.of(number) / _CHOSEN
        return read_json(path, list[Chosen]) if path.is_file() else None

    def choose(self, number: int, chosen: list[Chosen]) -> None:
        """Write the candidates of a round."""
        self.of(number).mkdir(parents=True, exist_ok=True)
        write_text(self.of(number) / _CHOSEN, msgspec.json.format(msgspec.json.encode(chosen).decode(), indent=1))

    def verdicts(self, number: int) -> pa.Table | None:
        """Return the verdicts on a round's sites; None if not all have been judged."""
        path = self.of(number) / _VERDICTS
        return read_table(path, PROBES) if path.is_file() else None

    def judge(self, number: int, verdicts: pa.Table) -> None:
        """Write the verdicts on a round's sites."""
        write_table(verdicts, PROBES, self.of(number) / _VERDICTS)

    def is_done(self, number: int) -> bool:
        """Return whether a round is finished."""
        return (self.of(number) / _COUNTS).is_file()

    def count(self, number: int, row: dict[str, int]) -> None:
        """Finish a round by writing its row."""
        write_table(pa.Table.from_pylist([row], schema=ROUNDS), ROUNDS, self.of(number) / _COUNTS)

    def write_tables(self) -> None:
        """Write the tables of all rounds."""
        for name, table in ((ROUNDS_FILE, self.table()), (VERDICTS_FILE, self.all_verdicts())):
            write_text(self.folder / name, "".join(f"{line}\n" for line in tsv_lines(table, SIX_DIGITS)))

    def table(self) -> pa.Table:
        """Return the rows of all rounds that are done."""
        return concat_tables([read_table(path, ROUNDS) for path in self._files(_COUNTS)], ROUNDS)

    def all_verdicts(self) -> pa.Table:
        """Return the verdicts on all sites so far, round by round, the best candidates first."""
        return concat_tables([read_table(path, PROBES) for path in self._files(_VERDICTS)], PROBES)

    def _files(self, name: str) -> list[Path]:
        return sorted(self.folder.glob(f"round-*/{name}"), key=lambda path: int(path.parent.name.partition("-")[2]))


def turned_down(run: RunDirectory) -> dict[str, str]:
    """Return the sites that rounds tried without getting pages of them, and the latest verdict on each."""
    tried = Rounds(run).all_verdicts().select(["site", "verdict", "added", "pages"]).to_pylist()
    latest = {row["site"]: row for row in tried}
    return {site: row["verdict"] for site, row in latest.items() if not (row["added"] and row["pages"])}


def paired_by_probe(run: RunDirectory) -> dict[str, float]:
    """Return the sites that were added for pairs among their probed pages, and the share of these pages in pairs."""
    verdicts = Rounds(run).all_verdicts().select(["site", "added", "pairs", "credibility"]).to_pylist()
    return {row["site"]: row["credibility"] for row in verdicts if row["added"] and row["pairs"]}


FARM = 2
"""Copies of a site that discovery found, from which it is taken for a link farm. A choice: few owners have three
addresses for one site, and a site that is wrongly taken for a farm only loses its links."""


def link_farms(run: RunDirectory) -> set[str]:
    """Return the sites with at least `FARM` copies among the sites that rounds tried."""
    copied = Counter(site for site in Rounds(run).all_verdicts()["copy_of"].to_pylist() if site)
    return {site for site, n_copies in copied.items() if n_copies >= FARM}


def site_rounds(run: RunDirectory) -> dict[str, int]:
    """Return the round that added each site of a run; those of the start, and of runs without rounds, are not in it."""
    verdicts = Rounds(run).all_verdicts().select(["site", "round", "added"])
    return {row["site"]: row["round"] for row in verdicts.to_pylist() if row["added"] and row["round"]}


def _is_same(name: str, before: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Return whether a loop was begun with a value that is given again; seeds may come in another order."""
    old, new = before.get(name), given.get(name)
    return set(old or ()) == set(new or ()) if name == _SEEDS else old == new


def _difference(name: str, before: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Return what a loop was begun with instead of what is given; of seeds those that are new or missing.

    >>> _difference("seeds", {"seeds": ["http://a.org/", "http://b.org/"]}, {"seeds": ["http://b.org/", "http://c.org/"]})
    'new: http://c.org/; missing: http://a.org/'
    """
    if name != _SEEDS:
        return _shown(before.get(name))
    old, new = before.get(name) or [], given.get(name) or []
    sides = {"new": sorted({*new} - {*old}), "missing": sorted({*old} - {*new})}
    return "; ".join(f"{side}: {_shown(seeds)}" for side, seeds in sides.items() if seeds)


def _shown(value: Any) -> str:
    """Return the value of a setting as a message has it: of a long list, the first few items.

    >>> _shown(["http://a.org/", "http://b.org/"]), _shown(None), _shown([])
    ('http://a.org/, http://b.org/', 'none', 'none')
    """
    if not isinstance(value, list):
        return "none" if value is None else str(value)
    shown = ", ".join(map(str, value[:_NAMED])) + (f" and {len(value) - _NAMED} more" if len(value) > _NAMED else "")
    return shown or "none"
