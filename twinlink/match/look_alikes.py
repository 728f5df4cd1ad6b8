"""Groups of near-duplicate pages in one language, and the group of the other language that each corresponds to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from twinlink.match.evidence import Side
from twinlink.match.selection import SideMatch
from twinlink.similarity.contrast import groups_of
from twinlink.tables import LOOK_ALIKES

__all__ = ["DOUBTFUL", "PAIRED", "UNPAIRED", "facing_groups", "look_alike_table"]

PAIRED, DOUBTFUL, UNPAIRED = "paired", "doubtful", "unpaired"
"""States of a page: in a pair; in a pair that is not kept; in none."""

Numbers = npt.NDArray[np.int64]


class _Half(NamedTuple):
    """The groups of one side."""

    side: Side
    groups: Numbers
    """Of `groups_of`."""
    states: npt.NDArray[np.object_]
    """State of each page."""


def look_alike_table(match_: SideMatch, site: str) -> pa.Table:
    """Return the pages of two sides that have near-duplicates, by group; none where the method does not know them.

    Columns of `twinlink.tables.LOOK_ALIKES`.
    """
    found, keep = match_.found, match_.keep
    if found.alike is None:
        return LOOK_ALIKES.empty_table()
    rows, columns = found.matching.rows, found.matching.columns
    a = _half(match_.side_a, found.alike[0], rows, keep)
    b = _half(match_.side_b, found.alike[1], columns, keep)
    entries = found.scores.tocoo()
    ends = np.concatenate([entries.row, rows[keep]]), np.concatenate([entries.col, columns[keep]])
    weights = np.concatenate([np.ones(entries.nnz, np.int64), np.full(int(keep.sum()), entries.nnz + 1)])
    forth = facing_groups(a.groups[ends[0]], b.groups[ends[1]], weights, int(a.groups.max(initial=0)))
    back = facing_groups(b.groups[ends[1]], a.groups[ends[0]], weights, int(b.groups.max(initial=0)))
    return pa.concat_tables([_rows(a, b, forth, site), _rows(b, a, back, site)])


def facing_groups(own: Numbers, other: Numbers, weights: Numbers, n_groups: int) -> Numbers:
    """Return the group of the other side with the largest weight for each group; 0: none.

    Parameters
    ----------
    own, other : ndarray of int
        Groups of the two pages of each candidate or pair, 0 for none.
    weights : ndarray of int
        Weight of each. Of two groups with equal weight, the lower number is returned.
    n_groups : int
        Number of groups of the own side.

    Examples
    --------
    >>> facing_groups(np.array([1, 1, 1, 2]), np.array([2, 2, 1, 0]), np.ones(4, np.int64), 2)
    array([0, 2, 0])
    """
    chosen = (own > 0) & (other > 0)
    width = int(other.max(initial=0)) + 1
    keys, places = np.unique(own[chosen] * width + other[chosen], return_inverse=True)
    sums = np.zeros(len(keys), np.int64)
    np.add.at(sums, places, weights[chosen])
    facing = np.zeros(n_groups + 1, np.int64)
    order = np.lexsort((-keys, sums))  # the last one of each group stays
    facing[keys[order] // width] = keys[order] % width
    return facing


def _half(side: Side, alike: sp.csr_array, matched: npt.NDArray[np.integer], keep: npt.NDArray[np.bool_]) -> _Half:
    states = np.full(len(side.urls), UNPAIRED, dtype=object)
    states[matched] = DOUBTFUL
    states[matched[keep]] = PAIRED
    return _Half(side, groups_of(alike), states)


def _rows(own: _Half, other: _Half, facing: Numbers, site: str) -> pa.Table:
    """Return the rows of one side's groups, the first group first, its pages in the order of the side."""
    pages = np.flatnonzero(own.groups)
    pages = pages[np.argsort(own.groups[pages], kind="stable")]
    groups, sizes, others = own.groups[pages], np.bincount(own.groups), np.bincount(other.groups)
    n_paired = np.bincount(own.groups, weights=own.states == PAIRED).astype(np.int64)
    faced = facing[groups]
    values = {
        "site": [site] * len(pages),
        "lang": [own.side.lang] * len(pages),
        "facing_lang": [other.side.lang] * len(pages),
        "group": groups,
        "page_id": own.side.page_ids[pages],
        "url": [own.side.urls[page] for page in pages.tolist()],
        "state": own.states[pages].tolist(),
        "n_pages": sizes[groups],
        "n_paired": n_paired[groups],
        "facing": pa.array(faced, mask=faced == 0),
        "n_facing": pa.array(others[faced], mask=faced == 0),
    }
    arrays = [pa.array(values[field.name]).cast(field.type) for field in LOOK_ALIKES]
    return pa.Table.from_arrays(arrays, schema=LOOK_ALIKES)
