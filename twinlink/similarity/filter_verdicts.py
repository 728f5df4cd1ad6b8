"""Verdicts of filters: which candidate pairs passed every filter, and which filter rejected each of the others."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from twinlink.errors import ShapeError
from twinlink.similarity.filter_checks import Check, Relation
from twinlink.sparse import select, with_values

__all__ = ["FilterVerdicts", "all_kept", "with_filter"]

Values = NDArray[np.float64]
Passed = NDArray[np.bool_]


class FilterVerdicts(msgspec.Struct, frozen=True, eq=False):
    """Verdicts of filters on the stored pairs of a pattern, in its order."""

    pattern: csr_array
    """The pairs."""
    filters: tuple[str, ...]
    """Names of the filters, in the order of their application."""
    failed: NDArray[np.int8]
    """Index of the filter that a pair failed, -1 for none."""
    scores: Values
    """Similarity of the pages, in [0, 1] (1: equal); NaN for pairs rejected before it was measured."""
    checks: tuple[Check, ...] = ()
    """The numbers that the filters compared, one check for each filter."""

    def counts(self) -> dict[str, int]:
        """Return how many pairs were ``kept`` and how many each filter rejected."""
        rejected = np.bincount(self.failed[self.failed >= 0], minlength=len(self.filters)).tolist()
        return {"kept": self.kept().nnz, **dict(zip(self.filters, rejected, strict=True))}

    def reasons(self) -> list[str]:
        """Return the filter that rejected each pair, empty for none."""
        return [self.filters[number] if number >= 0 else "" for number in self.failed.tolist()]

    def kept(self) -> csr_array:
        """Return the scores of the pairs that passed every filter, as a matrix of float32."""
        return select(with_values(self.pattern, self.scores), self.failed < 0)


def with_filter(
    verdicts: FilterVerdicts,
    name: str,
    passed: Passed,
    scores: Values | None = None,
    *,
    values: ArrayLike = np.nan,
    bounds: ArrayLike = np.nan,
    relation: Relation = "",
) -> FilterVerdicts:
    """Return the verdicts after one more filter, applied to the pairs that are left.

    Parameters
    ----------
    passed : ndarray of bool, shape (n_pairs,)
    scores : ndarray of float, shape (n_pairs,), optional
        Scores measured by the filter, which replace the earlier ones for the pairs that are left.
    values, bounds : float or array_like of float, shape (n_pairs,), optional
        What the filter compared, see `Check`.
    relation : str, optional
        What a value that passes is to its bound.

    Raises
    ------
    ShapeError
        If the number of values differs from the number of pairs.

    Examples
    --------
    >>> verdicts = with_filter(all_kept(csr_array([[1, 1]])), "size", np.array([True, False]))
    >>> verdicts.counts(), verdicts.reasons()
    ({'kept': 1, 'size': 1}, ['', 'size'])
    """
    n_pairs = verdicts.pattern.nnz
    measured = verdicts.scores if scores is None else np.where(verdicts.failed < 0, scores, np.nan)
    if passed.shape != (n_pairs,) or measured.shape != (n_pairs,):
        raise ShapeError(f"expected one value for each of {n_pairs} pairs, got {passed.shape} and {measured.shape}")
    reached = verdicts.failed < 0
    numbers, limits = (np.broadcast_to(np.asarray(each, np.float64), n_pairs) for each in (values, bounds))
    check = Check(name, numbers, limits, relation, passed & reached, reached)
    failed = np.where(reached & ~passed, len(verdicts.filters), verdicts.failed).astype(np.int8)
    return FilterVerdicts(verdicts.pattern, (*verdicts.filters, name), failed, measured, (*verdicts.checks, check))


def all_kept(pattern: csr_array) -> FilterVerdicts:
    """Return the verdicts before any filter."""
    return FilterVerdicts(pattern, (), np.full(pattern.nnz, -1, np.int8), np.full(pattern.nnz, np.nan))
