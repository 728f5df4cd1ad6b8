"""The result of matching a site, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from twinlink.match.evidence import FoundPairs
from twinlink.match.selection import SideMatch
from twinlink.sparse import positions
from twinlink.tables import (
    CANDIDATES,
    CHECKS,
    FILTERS,
    LANGUAGES,
    LOOK_ALIKES,
    PAIRS,
    WEIGHTS,
    PartWriter,
    Reject,
    concat_tables,
    part_like,
)

TABLES = {
    "languages": LANGUAGES,
    "candidates": CANDIDATES,
    "pairs": PAIRS,
    "weights": WEIGHTS,
    "filters": FILTERS,
    "checks": CHECKS,
    "look_alikes": LOOK_ALIKES,
}
"""The tables of a match by name; each has one file for each site, except those of `SPARSE`."""

SPARSE = frozenset({"weights", "filters", "checks", "look_alikes"})
"""Tables of which most sites have no rows, by the method or by their size: a site without rows has no file of them."""


class SiteResult(msgspec.Struct, frozen=True):
    """Result of matching one site: rows of the tables named like its attributes."""

    languages: pa.Table
    candidates: pa.Table
    pairs: pa.Table
    weights: pa.Table
    filters: pa.Table
    checks: pa.Table
    look_alikes: pa.Table
    rejects: list[Reject]


def write_site(result: SiteResult, folder: Path, pages: Path, writer: PartWriter) -> None:
    """Write the tables of a site below a folder; what was rejected is written for all sites together.

    Parameters
    ----------
    result : SiteResult
    folder : Path
    pages : Path
        The part that has the pages of the site: its other tables share packs with the same sites.
    writer : PartWriter
    """
    for name, schema in TABLES.items():
        (folder / name).mkdir(exist_ok=True)  # not its parents: the folder of a worker that was given up is removed
        table = getattr(result, name)
        if len(table) or name not in SPARSE:
            writer.write([table], schema, part_like(folder / name, pages), has_folder=True)


def pair_table(match_: SideMatch, site: str, signature: str) -> pa.Table:
    """Return the kept pairs of two languages, rows of `PAIRS`."""
    side_a, side_b, found, keep = match_.side_a, match_.side_b, match_.found, match_.keep
    rows, columns = found.matching.rows[keep], found.matching.columns[keep]
    at = positions(found.scores, rows, columns)
    values = {
        "url_a": [side_a.urls[row] for row in rows],
        "url_b": [side_b.urls[column] for column in columns],
        "lang_a": [side_a.lang] * len(rows),
        "lang_b": [side_b.lang] * len(rows),
        "probability": pa.array(found.probabilities[keep], pa.float32(), from_pandas=True),  # NaN: null
        "score": found.matching.scores[keep],
        "rival": found.rivals[keep],
        **{kind: measured[at] for kind, measured in found.evidence.items()},
        **_alike(found, keep),
        "canonical_a": _of_rows(side_a.canonical_urls, rows),
        "canonical_b": _of_rows(side_b.canonical_urls, columns),
        "site": [site] * len(rows),
        "page_a": side_a.page_ids[rows],
        "page_b": side_b.page_ids[columns],
        "verdict": _verdicts(found, keep),
        "signature": [signature] * len(rows),
    }
    return _table(values, PAIRS, len(rows))


def _of_rows(texts: Sequence[str | None], rows: npt.NDArray[np.intp]) -> list[str | None]:
    """Return the texts of some pages; None for all where none are known."""
    return [texts[row] for row in rows] if texts else [None] * len(rows)


def _verdicts(found: FoundPairs, keep: npt.NDArray[np.bool_]) -> list[str]:
    """Return the verdicts; a kept pair is a tie if another candidate is equally good."""
    if found.n_equal is None:
        return ["pair"] * int(keep.sum())
    return ["tie" if n > 1 else "pair" for n in found.n_equal[keep].tolist()]


def _alike(found: FoundPairs, keep: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[np.number]]:
    """Return the numbers of near-duplicates of the pages of kept pairs, and their risk, where the method knows them."""
    if found.alike is None:
        return {}
    n_a, n_b = (np.diff(alike.indptr) for alike in found.alike)
    of_a, of_b = n_a[found.matching.rows[keep]], n_b[found.matching.columns[keep]]
    return {"alike_a": of_a, "alike_b": of_b, "risk": risks_of(found)[keep]}


def risks_of(found: FoundPairs) -> npt.NDArray[np.floating]:
    """Return column ``risk`` of all pairs of the matching; NaN where the method does not know near-duplicates."""
    if found.alike is None:
        return np.full(len(found.matching.rows), np.nan)
    of_a, of_b = (np.diff(alike.indptr) > 0 for alike in found.alike)
    return np.where(of_a[found.matching.rows] | of_b[found.matching.columns], found.mistaken, 0.0)


def candidate_table(match_: SideMatch) -> pa.Table:
    """Return all candidates of two languages with their evidence, rows of `CANDIDATES`."""
    candidates = match_.found.scores.tocoo()
    values: dict[str, Any] = {
        "page_a": match_.side_a.page_ids[candidates.row],
        "page_b": match_.side_b.page_ids[candidates.col],
        "score": candidates.data,
        **match_.found.evidence,
    }
    if match_.found.filter_of:
        values["filter"] = [name or None for name in match_.found.filter_of]
    return _table(values, CANDIDATES, candidates.nnz)


def weight_table(match_: SideMatch, site: str) -> pa.Table:
    """Return the weight of each kind of evidence, rows of `WEIGHTS`."""
    weights = match_.found.weights
    values = {
        "site": [site] * len(weights),
        "lang_a": [match_.side_a.lang] * len(weights),
        "lang_b": [match_.side_b.lang] * len(weights),
        "evidence": list(weights),
        "weight": list(weights.values()),
    }
    return _table(values, WEIGHTS, len(weights))


def filter_table(match_: SideMatch, site: str) -> pa.Table:
    """Return the number of candidates rejected by each filter, rows of `FILTERS`."""
    counts = match_.found.n_filtered
    values = {
        "site": [site] * len(counts),
        "lang_a": [match_.side_a.lang] * len(counts),
        "lang_b": [match_.side_b.lang] * len(counts),
        "filter": list(counts),
        "n_pairs": list(counts.values()),
    }
    return _table(values, FILTERS, len(counts))


def checks_table(match_: SideMatch) -> pa.Table:
    """Return the numbers that the method compared with bounds, one check after the other, rows of `CHECKS`."""
    candidates = match_.found.scores.tocoo()
    tables = []
    for check in match_.found.checks:
        at = np.flatnonzero(check.reached)
        passed = pa.array(check.passed[at], pa.bool_())
        values = {
            "page_a": match_.side_a.page_ids[candidates.row[at]],
            "page_b": match_.side_b.page_ids[candidates.col[at]],
            "check": pa.repeat(check.name, len(at)),
            "value": check.values[at],
            "relation": pa.repeat(check.relation or None, len(at)).cast(pa.string()),
            "bound": check.bounds[at],
            "passed": passed,
        }
        tables.append(_table(values, CHECKS, len(at)))
    return concat_tables(tables, CHECKS)


def _table(values: Mapping[str, Any], schema: pa.Schema, n_rows: int) -> pa.Table:
    """Make a table; columns that are not given are null."""
    columns = [
        pa.array(values[field.name], field.type, from_pandas=field.nullable)  # NaN: null
        if field.name in values
        else pa.nulls(n_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)
