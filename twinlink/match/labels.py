"""Labels of page pairs in the matching: accepted pairs are always kept, rejected pairs never.

Before a site is matched, the label of a pair is an entry of a matrix: 1 accepted, -1 rejected. Method ``weighed``
learns from labels (`lessons_of`) and does not choose excluded pairs, so that pages get the next best partner. The
pairs of the other methods are corrected afterwards (`apply_labels`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from msgspec.structs import replace

from twinlink.config import MatchSettings
from twinlink.graph.matching import Matching
from twinlink.labels.book import LabelBook
from twinlink.match.evidence import FoundPairs
from twinlink.rundir.directory import RunDirectory
from twinlink.similarity.lessons import Lessons
from twinlink.similarity.rivals import Rivalry
from twinlink.sorted_keys import find_keys
from twinlink.sparse import entry_keys, positions, union_of

__all__ = [
    "PairLabel",
    "accepted_pairs",
    "apply_labels",
    "excluded",
    "label_matrix",
    "labels_digest",
    "labels_in_force",
    "labels_within",
    "lessons_of",
    "rejected_pages",
    "with_labelled",
]

Ints = npt.NDArray[np.int64]


class PairLabel(NamedTuple):
    """The label of a pair of addresses."""

    url_a: str
    url_b: str
    accepted: bool


def labels_in_force(run: RunDirectory, settings: MatchSettings) -> list[PairLabel]:
    """Return the labels to use in a run, oldest first; none without ``match.labels``."""
    if not settings.labels:
        return []
    labels = LabelBook(run.path).current().values()
    return [PairLabel(label.url_a, label.url_b, label.verdict == "accept") for label in labels]


def labels_within(labels: Iterable[PairLabel], urls: Collection[str]) -> list[PairLabel]:
    """Return the labels of pairs of these pages."""
    return [label for label in labels if label.url_a in urls and label.url_b in urls]


def labels_digest(labels: Iterable[PairLabel]) -> str:
    """Return a digest of labels, empty for none."""
    texts = [f"{label.url_a}\n{label.url_b}\n{label.accepted:d}" for label in labels]
    return hashlib.blake2b("\n".join(texts).encode(), digest_size=16).hexdigest() if texts else ""


def label_matrix(labels: Sequence[PairLabel], urls_a: Sequence[str], urls_b: Sequence[str]) -> sp.csr_array | None:
    """Return the labels of pairs of two sides: 1 accepted, -1 rejected; None where there are none.

    A page is accepted with at most one page of the other side: the later label counts.
    """
    rows, columns = ({url: place for place, url in enumerate(urls)} for urls in (urls_a, urls_b))
    found: dict[tuple[int, int], int] = {}
    for label in labels:
        for first, second in ((label.url_a, label.url_b), (label.url_b, label.url_a)):
            if first in rows and second in columns:
                found.pop((rows[first], columns[second]), None)
                found[rows[first], columns[second]] = 1 if label.accepted else -1
    taken: set[tuple[str, int]] = set()
    for (row, column), value in reversed(list(found.items())):
        ends = {("a", row), ("b", column)}
        if value > 0 and ends & taken:
            del found[row, column]
        elif value > 0:
            taken |= ends
    if not found:
        return None
    places = np.array(list(found), np.int64).T
    matrix = sp.csr_array((np.array(list(found.values()), np.int8), tuple(places)), shape=(len(urls_a), len(urls_b)))
    matrix.sort_indices()
    return matrix


def accepted_pairs(labels: sp.csr_array) -> tuple[Ints, Ints]:
    """Return rows and columns of the accepted pairs."""
    entries = labels.tocoo()
    return entries.row[entries.data > 0].astype(np.int64), entries.col[entries.data > 0].astype(np.int64)


def with_labelled(pattern: sp.csr_array, labels: sp.csr_array | None) -> sp.csr_array:
    """Return candidates and the labelled pairs, accepted or rejected."""
    return pattern if labels is None else union_of(pattern, labels)


def lessons_of(pattern: sp.csr_array, labels: sp.csr_array | None) -> Lessons | None:
    """Return the labels as training data (`with_labelled`); None without labels."""
    if labels is None:
        return None
    entries = pattern.tocoo()
    signs = _of_pairs(entries.row, entries.col, labels)
    return Lessons(signs > 0, signs < 0, excluded(entries.row, entries.col, labels))


def excluded(
    rows: npt.NDArray[np.integer], columns: npt.NDArray[np.integer], labels: sp.csr_array
) -> npt.NDArray[np.bool_]:
    """Mark pairs that are rejected, or of a page that is accepted with another one."""
    accepted_rows, accepted_columns = accepted_pairs(labels)
    has_partner = np.isin(rows, accepted_rows) | np.isin(columns, accepted_columns)
    signs = _of_pairs(rows, columns, labels)
    return (signs < 0) | (has_partner & (signs <= 0))


def _of_pairs(
    rows: npt.NDArray[np.integer], columns: npt.NDArray[np.integer], labels: sp.csr_array
) -> npt.NDArray[np.int8]:
    """Return the label of each pair, 0 for none."""
    places, is_labelled = find_keys(np.asarray(rows, np.int64) * labels.shape[1] + columns, entry_keys(labels))
    return np.where(is_labelled, labels.data[places], 0)


def apply_labels(found: FoundPairs, labels: sp.csr_array | None) -> tuple[FoundPairs, npt.NDArray[np.bool_]]:
    """Correct the result of a method: remove pairs excluded by labels and add accepted ones.

    The second result marks the accepted pairs of the matching. Those that the method did not find are at its end:
    their probability and their missing evidence are NaN.
    """
    matching = found.matching
    if labels is None:
        return found, np.zeros(len(matching), np.bool_)
    keep = np.flatnonzero(~excluded(matching.rows, matching.columns, labels))
    found = _chosen(found, keep)
    rows, columns = accepted_pairs(labels)
    width = labels.shape[1]
    known = np.isin(rows * width + columns, found.matching.rows * width + found.matching.columns)
    found = _with_pairs(found, rows[~known], columns[~known])
    return found, _of_pairs(found.matching.rows, found.matching.columns, labels) > 0


def _chosen(found: FoundPairs, keep: npt.NDArray[np.intp]) -> FoundPairs:
    """Keep only some pairs of the matching."""
    matching = found.matching
    return replace(
        found,
        matching=Matching(matching.rows[keep], matching.columns[keep], matching.scores[keep]),
        rivals=found.rivals[keep],
        probabilities=found.probabilities[keep],
        n_equal=None if found.n_equal is None else found.n_equal[keep],
    )


def _with_pairs(found: FoundPairs, rows: Ints, columns: Ints) -> FoundPairs:
    """Append pairs to the matching and to the candidates."""
    if not len(rows):
        return found
    found = _with_candidates(found, rows, columns)
    places = positions(found.scores, rows, columns)
    scores, rivals = found.scores.data[places], Rivalry(found.scores).rivals(found.scores.data)[places]
    matching, n_new = found.matching, len(rows)
    return replace(
        found,
        matching=Matching(
            np.append(matching.rows, rows), np.append(matching.columns, columns), np.append(matching.scores, scores)
        ),
        rivals=np.append(found.rivals, rivals),
        probabilities=np.append(found.probabilities, np.full(n_new, np.nan)),
        n_equal=None if found.n_equal is None else np.append(found.n_equal, np.ones(n_new, np.int64)),
    )


def _with_candidates(found: FoundPairs, rows: Ints, columns: Ints) -> FoundPairs:
    """Add pairs that are no candidates yet, with score 0."""
    there = found.scores.tocoo()
    width = found.scores.shape[1]
    new = ~np.isin(rows * width + columns, there.row.astype(np.int64) * width + there.col)
    if not new.any():
        return found
    all_rows, all_columns = np.append(there.row, rows[new]), np.append(there.col, columns[new])
    order = np.lexsort((all_columns, all_rows))
    values = np.append(there.data, np.zeros(new.sum(), there.data.dtype))[order]
    starts = np.searchsorted(all_rows[order], np.arange(found.scores.shape[0] + 1))
    unknown = np.full(new.sum(), np.nan, np.float32)
    names = [*found.filter_of, *[""] * int(new.sum())] if found.filter_of else []
    return replace(
        found,
        scores=sp.csr_array((values, all_columns[order], starts), shape=found.scores.shape),
        evidence={kind: np.append(measured, unknown)[order] for kind, measured in found.evidence.items()},
        filter_of=[names[place] for place in order.tolist()] if names else (),
        checks=[check.reordered(order, int(new.sum())) for check in found.checks],
    )


def rejected_pages(
    labels: sp.csr_array | None, urls_a: Sequence[str], urls_b: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield each page of a rejected pair with the page that it was rejected with."""
    entries = sp.coo_array((0, 0)) if labels is None else labels.tocoo()
    for row, column, value in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True):
        if value < 0:
            yield urls_a[row], urls_b[column]
            yield urls_b[column], urls_a[row]
