"""Chances of sentence pairs, claimed and true, by lists of pairs that were read.

::

    python -m experiments.chances SITES... [--draw] [--runs FOLDER] [--keep] [--judged FOLDER]

Each site is mined and aligned with the default settings. Its list ``judged/chances/SITE.tsv`` beside this file has the
50 pairs of the lowest chance, 20 of the next 150, and 40 of all others. ``--draw`` adds what is drawn now and not in
the list, with the last column to be filled in. Without it the mean chance and the share of right pairs are printed:
of the lowest 50, and in intervals of the chance. A pair that is a translation in part counts as right.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.cases import find_cases
from experiments.judgements import Key, draw, key_of, merged, read_judged, write_judged
from experiments.sentences import JUDGED, SEED, align_site, read_arguments
from experiments.tables import number, print_tables
from twinlink.align.formats.exports import Row

__all__ = ["STRATA", "ReadPair", "log_loss", "main", "stratified"]

LISTS = JUDGED / "chances"
STRATA = ((50, 50), (200, 20), (10**9, 40))
"""End of each stratum in the order of the chances, lowest first, and number of pairs drawn from it."""
EDGES = (0.0, 0.2, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 1.01)
LEAST = 1e-3
"""Probabilities are clipped to this distance from 0 and 1 in `log_loss`."""


class ReadPair(NamedTuple):
    """A sentence pair that was read."""

    chance: float
    is_right: bool


def main(arguments: Sequence[str] | None = None) -> None:
    """Align, draw or compare, and print."""
    given = read_arguments(__doc__, LISTS, arguments)
    columns, pooled = {}, []
    with tempfile.TemporaryDirectory() as temporary:
        for folder in find_cases(given.sites):
            rows = align_site(folder, (given.runs or Path(temporary)) / folder.name, keep=given.keep).rows
            verdicts = _verdicts(given.judged / f"{folder.name}.tsv", rows, extend=given.draw)
            known = [row for row in sorted(rows, key=lambda row: row.score) if row.chance is not None]
            read = _read(known, verdicts)
            pooled += read
            columns[folder.name] = {"Chances": _counts(known) | _lowest(known, verdicts) | _loss(read)}
    print_tables(columns, sites_down=True)
    print_tables({"all": {"Right, by the chance": _reliability(pooled)}})


def stratified(rows: Sequence[Row]) -> dict[Key, Row]:
    """Draw the pairs to be read, the same for the same rows.

    >>> rows = [Row("a", "b", str(k), str(k), 1.0, chance=k / 1000) for k in range(1000)]
    >>> len(stratified(rows)), sum(row.chance < 0.05 for row in stratified(rows).values())
    (110, 50)
    """
    ordered = sorted(rows, key=lambda row: row.score)
    drawn: list[Row] = []
    for start, (end, size) in zip((0, *(end for end, _ in STRATA)), STRATA, strict=False):
        drawn += draw(ordered[start:end], size, SEED)
    return {key_of(row): row for row in drawn}


def log_loss(read: Sequence[ReadPair]) -> float:
    """Return the mean of -log of the probability that was claimed for what is true.

    >>> round(log_loss([ReadPair(0.5, True), ReadPair(0.5, False)]), 4)
    0.6931
    """
    chances = np.clip([one.chance for one in read], LEAST, 1 - LEAST)
    return float(-np.log(np.where([one.is_right for one in read], chances, 1 - chances)).mean())


def _verdicts(file: Path, rows: Sequence[Row], *, extend: bool) -> dict[Key, str]:
    """Return the verdicts of a list, after adding to it what is drawn now if that is wanted."""
    judged = read_judged(file) if file.exists() else []
    if extend:
        judged = merged(judged, stratified(rows))
        file.parent.mkdir(exist_ok=True)
        write_judged(file, judged)
    return {one.key: one.verdict for one in judged if one.verdict}


def _read(rows: Sequence[Row], verdicts: Mapping[Key, str]) -> list[ReadPair]:
    keyed = ((key_of(row), row.score) for row in rows)
    return [ReadPair(score, verdicts[key] != "wrong") for key, score in keyed if key in verdicts]


def _counts(known: Sequence[Row]) -> dict[str, str]:
    below = {f"< {least:g}": f"{sum(row.score < least for row in known):,}" for least in (0.5, 0.9)}
    return {"sentence pairs": f"{len(known):,}"} | below


def _lowest(known: Sequence[Row], verdicts: Mapping[Key, str]) -> dict[str, str]:
    read = _read(known[: STRATA[0][0]], verdicts)
    return {"lowest 50, read": f"{len(read)}", "claimed": _mean_chance(read), "true": _share_right(read)}


def _loss(read: Sequence[ReadPair]) -> dict[str, str]:
    return {"all read": f"{len(read)}", "log loss": number(log_loss(read)) if read else "–"}


def _reliability(read: Sequence[ReadPair]) -> dict[str, str]:
    cells = {}
    for low, high in itertools.pairwise(EDGES):
        here = [one for one in read if low <= one.chance < high]
        if here:
            cells[f"{low:g} to {min(high, 1):g}"] = (
                f"claimed {_mean_chance(here)}, true {_share_right(here)} of {len(here)}"
            )
    return cells


def _mean_chance(read: Sequence[ReadPair]) -> str:
    return number(float(np.mean([one.chance for one in read]))) if read else "–"


def _share_right(read: Sequence[ReadPair]) -> str:
    return number(float(np.mean([one.is_right for one in read]))) if read else "–"


if __name__ == "__main__":
    main()
