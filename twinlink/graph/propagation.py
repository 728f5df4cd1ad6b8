"""Enhanced translation similarity (ETS): page similarity propagated over links (Liu et al. 2014)."""

from __future__ import annotations

import itertools
import math
from concurrent.futures import ThreadPoolExecutor

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from twinlink.config import EtsSettings
from twinlink.errors import ShapeError
from twinlink.graph.checks import check_neighbours, check_scores
from twinlink.graph.kernels import Entries, Neighbours, external_rows
from twinlink.system.workers import n_processors

__all__ = ["EtsResult", "dense_pattern", "enhanced_similarity", "external_similarity"]

BLOCKS_PER_THREAD = 8
"""Blocks of rows per thread: several, so that a row with many links does not keep the other threads waiting."""
FEW_CANDIDATES = 2_000
"""Candidates whose scores are computed without threads, in less time than these take to start."""

SEED = 1
"""Seed of random start values."""

Scores = NDArray[np.float32]


class EtsResult(msgspec.Struct, frozen=True, eq=False):
    """ETS after the last round, with the state of convergence."""

    scores: csr_array
    """ETS: float32 in [0, 1], stored entries as in S_in."""
    external: csr_array
    """S_ext of the last round, stored entries as in S_in; all 0 if no round was computed."""
    n_rounds: int
    """Number of rounds computed."""
    residual: float
    """Largest change of a score in the last round; infinite if no round was computed."""
    converged: bool
    """Whether the residual reached the tolerance. The rounds may also end at their limit, as three rounds usually
    do."""


def external_similarity(
    scores: csr_array,
    source_neighbours: csr_array,
    target_neighbours: csr_array,
    n_threads: int | None = None,
    rarity: bool = False,
) -> csr_array:
    """Similarity of two pages' neighbours (Liu et al. 2014, Algorithm 1).

    ``S_ext(e, c) = 2 * sum / (|N(e)| + |N(c)|)``, where ``sum`` adds up the ``scores`` of a greedy one-to-one matching
    of the neighbours ``N(e)`` with the neighbours ``N(c)``: take the largest score of a page of ``N(e)`` with a page
    of ``N(c)``, remove the two pages, and so on. Equal scores are taken by row, then column.

    Parameters
    ----------
    scores : csr_array of float32, shape (n_source, n_target), values in [0, 1]
        ETS of the previous round. Only stored entries (explicit zeros included) are computed and matched; a missing
        entry is not a candidate.
    source_neighbours : csr_array of bool, shape (n_source, n_source), zero diagonal
        Row ``e`` holds ``N(e)`` (`twinlink.graph.links.neighbours`).
    target_neighbours : csr_array of bool, shape (n_target, n_target), zero diagonal
        Row ``c`` holds ``N(c)``.
    n_threads : int, optional
        Maximum number of threads; the result does not depend on it. Default: the number of processors available to
        this process.
    rarity : bool
        Whether a neighbour shared by many pages counts for less: ``S_ext = 2·Σ √(w(x)·w(y))·score / (Σ w(x) + Σ w(y))``
        with ``w(x) = log((n + 1) / (1 + |N(x)|))``, n the number of pages on its side. Not in the paper.

    Returns
    -------
    csr_array of float32, stored entries as in ``scores``, values in [0, 1]
        0 where either page has no neighbour.

    Raises
    ------
    ShapeError
        If the shapes do not match, a score is NaN or outside [0, 1], or a page is its own neighbour.

    Notes
    -----
    The paper continues until one of the two sets is empty; here, pages left without a candidate add nothing. A
    matching of pages has at most ``min(|N(e)|, |N(c)|)`` pairs, so S_ext stays in [0, 1] and the "parameters
    normalization" that Algorithm 2 leaves open is not needed.

    Examples
    --------
    Pages 0 and 1 are linked on both sides, page 2 has no links. A pair is as similar as its neighbours are:

    >>> from twinlink.graph.links import adjacency, neighbours
    >>> links = neighbours(adjacency([0], [1], 3))
    >>> scores = csr_array(np.array([[0.5, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], dtype=np.float32))
    >>> external_similarity(scores, links, links).toarray().tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]]
    """
    scores, source, target = _check_all(scores, source_neighbours, target_neighbours, rarity)
    return _with_data(scores, _external(scores, scores.data, source, target, n_threads))


def enhanced_similarity(
    internal: csr_array,
    source_neighbours: csr_array,
    target_neighbours: csr_array,
    settings: EtsSettings | None = None,
    n_threads: int | None = None,
) -> EtsResult:
    """Enhanced translation similarity ETS (Liu et al. 2014, Algorithm 2).

    ``ETS_i(e, c) = (1 - alpha) * S_in(e, c) + alpha * S_ext_i(e, c)``, where ``S_ext_i`` comes from ``ETS_{i-1}`` by
    `external_similarity`, for ``settings.rounds`` rounds or until no score moves by more than ``settings.tolerance``.

    Parameters
    ----------
    internal : csr_array of float32, shape (n_source, n_target), values in [0, 1]
        S_in. Its stored entries are the candidates; no other entries are computed.
    source_neighbours, target_neighbours : csr_array of bool, square, zero diagonal
        As in `external_similarity`. ``settings.neighbours`` is not used here: it controls how callers build these
        matrices.
    settings : EtsSettings, optional
        ``alpha``, ``rounds``, ``tolerance``, ``start`` and ``rarity``.
    n_threads : int, optional
        As in `external_similarity`.

    Returns
    -------
    EtsResult
        A page without neighbours has ``S_ext = 0`` and so at most ``(1 - alpha) * S_in``.

    Raises
    ------
    ShapeError
        As in `external_similarity`.

    Notes
    -----
    The paper starts with a "random value or small value". Here ``ETS_0 = S_in``, the evidence available before links
    are considered; equal values would leave the first round to the tie-break. With ``start = "random"`` ETS_0 is
    random, the same in each run, and without rounds it is the result. The greedy matching is discontinuous where two
    scores change places, so convergence is not guaranteed and the result may depend on the start; hence ``residual``
    and ``converged``. The paper stops after three rounds (Figure 3).

    Examples
    --------
    Two sites with the same links, whose pages have S_in = 1, keep a score of 1:

    >>> from twinlink.graph.links import adjacency, neighbours
    >>> ring = neighbours(adjacency([0, 1, 2, 3], [1, 2, 3, 0], 4))
    >>> result = enhanced_similarity(csr_array(np.eye(4, dtype=np.float32)), ring, ring)
    >>> result.scores.data.tolist(), result.n_rounds, result.converged
    ([1.0, 1.0, 1.0, 1.0], 1, True)
    """
    settings = settings or EtsSettings()
    internal, source, target = _check_all(internal, source_neighbours, target_neighbours, settings.rarity)
    scores, external = _start(internal.data, settings), np.zeros_like(internal.data)
    n_rounds, residual = 0, math.inf
    while n_rounds < settings.rounds and residual > settings.tolerance:
        external = _external(internal, scores, source, target, n_threads)
        before, scores = scores, _mix(internal.data, external, settings.alpha)
        residual = float(np.abs(scores - before).max(initial=0.0))
        n_rounds += 1
    return EtsResult(
        scores=_with_data(internal, scores),
        external=_with_data(internal, external),
        n_rounds=n_rounds,
        residual=residual,
        converged=residual <= settings.tolerance,
    )


def dense_pattern(matrix: ArrayLike | csr_array) -> csr_array:
    """Matrix with every entry stored, so that every pair is a candidate: the exact result, for small sites.

    Parameters
    ----------
    matrix : array_like or sparse matrix, shape (n_source, n_target)
        Similarities. A missing entry of a sparse matrix becomes a stored 0, so all pairs must have been measured.

    Returns
    -------
    csr_array of float32, shape (n_source, n_target)
        ``n_source * n_target`` stored entries.

    Raises
    ------
    ShapeError
        If ``matrix`` does not have two dimensions.

    Examples
    --------
    >>> dense_pattern([[0.0, 0.5], [0.0, 0.0]]).nnz
    4
    """
    dense = np.asarray(matrix.toarray() if issparse(matrix) else matrix, dtype=np.float32)
    if dense.ndim != 2:
        raise ShapeError(f"matrix: expected two dimensions, got shape {dense.shape}")
    n_source, n_target = dense.shape
    columns = np.tile(np.arange(n_target), n_source)
    return csr_array((dense.ravel(), columns, np.arange(n_source + 1) * n_target), shape=dense.shape)


def _check_all(
    scores: csr_array, source_neighbours: csr_array, target_neighbours: csr_array, rarity: bool
) -> tuple[csr_array, Neighbours, Neighbours]:
    scores = check_scores(scores)
    n_source, n_target = scores.shape
    source = check_neighbours(source_neighbours, n_source, "source_neighbours")
    target = check_neighbours(target_neighbours, n_target, "target_neighbours")
    return scores, _pages(source, rarity), _pages(target, rarity)


def _pages(neighbours: csr_array, rarity: bool) -> Neighbours:
    n_pages, degrees = neighbours.shape[0], np.diff(neighbours.indptr)
    weights = np.log((n_pages + 1) / (1 + degrees)) if rarity else np.ones(n_pages)
    return Neighbours(
        starts=neighbours.indptr.astype(np.int64),
        pages=neighbours.indices.astype(np.uint32),
        roots=np.sqrt(weights),
        sizes=neighbours.astype(np.float64) @ weights,
    )


def _with_data(pattern: csr_array, data: Scores) -> csr_array:
    """Return a matrix with the stored entries of ``pattern`` and other values; it shares no array with the caller."""
    return csr_array((data, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape)


def _start(internal: Scores, settings: EtsSettings) -> Scores:
    """Return ETS_0."""
    if settings.start == "internal":
        return internal.copy()  # without rounds it is the result
    return np.random.default_rng(SEED).random(internal.size, np.float32)


def _mix(internal: Scores, external: Scores, alpha: float) -> Scores:
    """Compute ETS in double precision and round once, like the reference, so that both have the same ties."""
    mixed = (1.0 - alpha) * internal.astype(np.float64) + alpha * external.astype(np.float64)
    return mixed.astype(np.float32)


def _external(
    pattern: csr_array, scores: Scores, source: Neighbours, target: Neighbours, n_threads: int | None
) -> Scores:
    """Compute S_ext for the stored entries of ``pattern`` with the values ``scores``."""
    entries = _entries(pattern, scores, is_weighted=bool((source.roots != 1).any() or (target.roots != 1).any()))
    external = np.zeros_like(scores)

    def compute(block: tuple[int, int]) -> None:
        external_rows(*block, entries, source, target, external)

    n_threads = 1 if scores.size <= FEW_CANDIDATES else n_threads or n_processors()
    if n_threads == 1:
        for block in _row_blocks(entries.starts, 1):
            compute(block)
        return external
    # Python threads, not numba's: depending on its threading layer, numba forbids a later fork or calls from two
    # threads.
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(compute, _row_blocks(entries.starts, BLOCKS_PER_THREAD * n_threads)))
    return external


def _entries(pattern: csr_array, scores: Scores, is_weighted: bool) -> Entries:
    scores = scores + np.float32(0)  # which turns -0.0 into 0.0
    columns = pattern.indices.astype(np.uint32, copy=False)
    return Entries(pattern.indptr.astype(np.int64), columns, scores, scores.view(np.uint32), is_weighted)


def _row_blocks(starts: NDArray[np.int64], n_blocks: int) -> list[tuple[int, int]]:
    """Split the rows into at most ``n_blocks`` blocks with about the same number of entries."""
    cuts = np.searchsorted(starts, np.linspace(0, starts[-1], n_blocks + 1))
    return list(itertools.pairwise(np.unique(cuts).tolist()))
