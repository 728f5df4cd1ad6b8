"""Two results of matching side by side: pairs of only one of them, and pairs with another probability."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa

from twinlink.errors import InputError
from twinlink.evaluation.gold import Evaluation, Gold, as_gold, evaluate, judge_pairs
from twinlink.files import write_text
from twinlink.frames import address_pairs, rank_column
from twinlink.run import Run, open_run
from twinlink.rundir.directory import RunDirectory
from twinlink.tables import tsv_lines

FIRST, SECOND, BOTH = "only first", "only second", "both"
"""Values of the column ``where``."""


class Comparison(msgspec.Struct, frozen=True, eq=False):
    """The pairs of two results."""

    first: Path
    second: Path
    pairs: pd.DataFrame
    """Every pair of either result, those of only one of them first. Columns:

    url_a, url_b, lang_a, lang_b
        As the first result has them.
    where
        `FIRST`, `SECOND` or `BOTH`.
    in_first, in_second
        Probability in each result (score where its method gives none); null: the pair is not in it, or was accepted
        and has no probability.
    difference
        Of the two; null where one is missing, or is a score.
    other_a, other_b
        Partners that the two pages have in the other result; null: none, or the pair is in both.
    right
        Whether the pair is right by the known pairs; null: not scored.
    """
    scores: tuple[Evaluation, Evaluation] | None = None
    """Measures of both results, where known pairs were given."""

    def counts(self) -> dict[str, int]:
        """Return the number of pairs of each kind."""
        found = self.pairs["where"].value_counts()
        return {where: int(found.get(where, 0)) for where in (BOTH, FIRST, SECOND)}

    def changed(self, min_difference: float = 0.05) -> pd.DataFrame:
        """Return the pairs of both results whose probabilities differ by this or more, the largest difference first."""
        size = self.pairs["difference"].abs()
        return self.pairs[size >= min_difference].sort_values(
            "difference", key=lambda column: -column.abs(), kind="stable"
        )

    def __repr__(self) -> str:
        counts = ", ".join(f"{where} {n:,}" for where, n in self.counts().items())
        f1 = "" if self.scores is None else f"; F1 {self.scores[0].f1:.4f} and {self.scores[1].f1:.4f}"
        return f"<Comparison {str(self.first)!r}, {str(self.second)!r}: {counts}{f1}>"


def compare(first: str | Path | Run, second: str | Path | Run, gold: str | Path | Gold | None = None) -> Comparison:
    """Compare the pairs of two results of matching: of two runs, or of a run and a further match of it.

    Two pairs are the same if they have the same two addresses, in either order.

    Parameters
    ----------
    first, second : path or Run
        Matched runs; further matches are in ``RUN/matches``.
    gold : path or Gold, optional
        Known pairs.

    Raises
    ------
    MissingStageError
        If one of them has not been matched.
    """
    runs = [run if isinstance(run, Run) else open_run(run) for run in (first, second)]
    tables = [_by_pair(run.pairs) for run in runs]
    known = None if gold is None else as_gold(gold)
    judged: list[pd.Series] = []
    scores = []
    for run, table in zip(runs, tables, strict=True):
        if known is not None:
            own = run.addresses.known_pairs(known)
            addresses = address_pairs(table)
            judged.append(pd.Series(judge_pairs(addresses, own), index=table.index, dtype="boolean"))
            scores.append(evaluate(addresses, own))
    pairs = _joined(*tables, is_comparable=all(rank_column(run.pairs) == "probability" for run in runs))
    pairs["right"] = pd.array([pd.NA] * len(pairs), dtype="boolean")
    for verdicts in reversed(judged):  # that of the first counts, where both have one
        pairs.loc[verdicts.index, "right"] = verdicts
    pairs = _ordered(pairs)
    return Comparison(runs[0].path, runs[1].path, pairs, (scores[0], scores[1]) if scores else None)


def write_comparison(found: Comparison, path: Path) -> None:
    """Write all pairs of a comparison as tab-separated values, through a temporary name.

    Raises
    ------
    InputError
        If the file cannot be there, or is a part of one of the runs.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{path}: expected the name of a file in a folder that exists")
    for run in (found.first, found.second):
        RunDirectory(run).check_target(path)
    table = pa.Table.from_pandas(found.pairs, preserve_index=False)
    write_text(path, "".join(f"{line}\n" for line in tsv_lines(table)))


def _by_pair(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the used columns of a result, indexed by the two addresses in their order."""
    rank = pairs[rank_column(pairs)].astype("float64")
    table = pairs[["url_a", "url_b", "lang_a", "lang_b"]].assign(rank=rank)
    table.index = pd.MultiIndex.from_tuples(
        [tuple(sorted(pair)) for pair in address_pairs(pairs)], names=["one", "two"]
    )
    return table[~table.index.duplicated()]


def _joined(first: pd.DataFrame, second: pd.DataFrame, *, is_comparable: bool) -> pd.DataFrame:
    """Return every pair of either result with what both say about it."""
    keys = first.index.union(second.index, sort=False)
    names = ["url_a", "url_b", "lang_a", "lang_b"]
    pairs = first[names].reindex(keys).fillna(second[names].reindex(keys))
    in_first, in_second = keys.isin(first.index), keys.isin(second.index)
    pairs["where"] = np.select([in_first & in_second, in_first], [BOTH, FIRST], SECOND)
    pairs["in_first"], pairs["in_second"] = first["rank"].reindex(keys), second["rank"].reindex(keys)
    difference = pairs["in_second"] - pairs["in_first"]
    pairs["difference"] = difference if is_comparable else np.nan
    partners = {FIRST: _partners(second), SECOND: _partners(first), BOTH: {}}
    for url, lang, name in (("url_a", "lang_b", "other_a"), ("url_b", "lang_a", "other_b")):
        rows = zip(pairs["where"], pairs[url], pairs[lang], strict=True)
        pairs[name] = pd.array([partners[where].get((page, facing)) for where, page, facing in rows], dtype="str")
    return pairs


def _partners(pairs: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the partner of each page by its address and the language of the partner."""
    rows: Iterable[tuple[str, ...]] = zip(*(pairs[n] for n in ("url_a", "url_b", "lang_a", "lang_b")), strict=True)
    found: dict[tuple[str, str], str] = {}
    for url_a, url_b, lang_a, lang_b in rows:
        found.setdefault((url_a, lang_b), url_b)
        found.setdefault((url_b, lang_a), url_a)
    return found


def _ordered(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of only one result first, then those that differ most."""
    group = pairs["where"].map({FIRST: 0, SECOND: 1, BOTH: 2})
    size = pairs["difference"].abs().fillna(0.0)
    rank = pairs["in_first"].fillna(pairs["in_second"])
    order = pd.DataFrame({"group": group, "size": -size, "rank": -rank, "url": pairs["url_a"]})
    rows = order.reset_index(drop=True).sort_values(["group", "size", "rank", "url"], kind="stable").index
    return pairs.iloc[rows].reset_index(drop=True)
