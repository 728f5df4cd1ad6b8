"""Compiled loops over the weights of pages. Input arrays are not checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import FEW, compiled_beyond, part_of_kernel
from twinlink.similarity.product_kernels import Index

__all__ = ["compared_weights", "count_weights"]


@part_of_kernel
def _strength(weights: NDArray[np.float32]) -> float:
    """Return the factor by which a squared weight of a page becomes its strength: 1 / mean square."""
    total = 0.0
    for weight in weights:
        total += np.float64(weight) * np.float64(weight)
    return len(weights) / total if total > 0 else 0.0


@compiled_beyond(FEW)
def count_weights(
    starts: NDArray[np.int64],
    terms: NDArray[Index],
    weights: NDArray[np.float32],
    levels: NDArray[np.float64],
    n_terms: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Count the weights of pages, and add their squares, by level and term: two arrays of shape (n_levels, n_terms).

    A weight belongs to the highest level that its strength reaches: squared weight / mean squared weight of the page.

    Parameters
    ----------
    starts, terms, weights : ndarray
        Of a CSR matrix; the first row need not start at 0.
    levels : ndarray, shape (n_levels,), increasing, the first one 0
    n_terms : int
    """
    numbers, squares = np.zeros((len(levels), n_terms), np.int64), np.zeros((len(levels), n_terms), np.float64)
    for i in range(len(starts) - 1):
        factor = _strength(weights[starts[i] : starts[i + 1]])
        for at in range(starts[i], starts[i + 1]):
            square = np.float64(weights[at]) * np.float64(weights[at])
            strength, level = square * factor, 0
            while level + 1 < len(levels) and strength >= levels[level + 1]:
                level += 1
            numbers[level, terms[at]] += 1
            squares[level, terms[at]] += square
    return numbers, squares


@compiled_beyond(FEW)
def compared_weights(
    starts: NDArray[np.int64],
    terms: NDArray[Index],
    weights: NDArray[np.float32],
    level: float,
    is_compared: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Mark the weights whose strength reaches a level, and whose term is compared.

    Parameters
    ----------
    starts, terms, weights : ndarray
        As in `count_weights`, but the first row starts at 0.
    level : float
    is_compared : ndarray of bool, shape (n_terms,)
    """
    marks = np.zeros(len(weights), np.bool_)
    for i in range(len(starts) - 1):
        factor = _strength(weights[starts[i] : starts[i + 1]])
        for at in range(starts[i], starts[i + 1]):
            square = np.float64(weights[at]) * np.float64(weights[at])
            marks[at] = is_compared[terms[at]] and square * factor >= level
    return marks
