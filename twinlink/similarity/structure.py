"""Structural similarity S_struct: the longest common subsequence of two pages' tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np
from scipy.sparse import csr_array

from twinlink.config.match import StructureForm
from twinlink.errors import ConfigError, ShapeError
from twinlink.sparse import as_rows
from twinlink.system.side_by_side import at_once

MAX_TAGS = 50_000
"""Maximum number of tags compared per page (the first ones). The time per pair is quadratic (20 ms at this length)."""

_PAIRS = 2**17
"""Pairs compared in one call, by page of b: with 100,000 pages a language, up to a tenth faster than by page of a,
because not all tags fit into the cache of the processor."""
_FEW = 1_000
"""Pairs up to which one thread compares them: others would take as long to start."""

_SCORERS = {"indel": "Indel", "lcs_max": "LCSseq"}


def structural_similarity(
    tags_a: Sequence[bytes], tags_b: Sequence[bytes], pattern: csr_array, normaliser: StructureForm = "indel"
) -> csr_array:
    """S_struct of the candidate pairs (Liu et al. 2014: longest common sequence of the two tag sequences).

    With LCS the length of the longest common subsequence of sequences of n and m tags::

        indel    2·LCS / (n + m)
        lcs_max  LCS / max(n, m)

    The paper names no normaliser. ``indel`` is the default: it tolerates an additional block in one version.

    Parameters
    ----------
    tags_a, tags_b : sequence of bytes
        Tag codes of each page in document order, one byte per tag.
    pattern : csr_array, shape (len(tags_a), len(tags_b))
        Candidate pairs: its stored entries; their values are ignored.
    normaliser : {"indel", "lcs_max"}

    Returns
    -------
    csr_array of float32, sparsity of ``pattern`` (zeros stored), values in [0, 1]
        1 for two pages without tags; 0 if only one has none.

    Raises
    ------
    ShapeError
        If the shape of ``pattern`` does not match the pages, or it is not sparse.
    ConfigError
        If ``normaliser`` is unknown.

    Examples
    --------
    >>> pair = csr_array([[True]])
    >>> round(float(structural_similarity([b"aaaaaaaaaa"], [b"aaaaa"], pair).data[0]), 3)
    0.667
    >>> float(structural_similarity([b"aaaaaaaaaa"], [b"aaaaa"], pair, "lcs_max").data[0])
    0.5
    """
    pattern = as_rows(pattern, "pattern")
    if normaliser not in get_args(StructureForm):
        raise ConfigError(f"normaliser: expected one of {', '.join(get_args(StructureForm))}, got {normaliser!r}")
    if pattern.shape != (len(tags_a), len(tags_b)):
        raise ShapeError(f"pattern {pattern.shape} does not fit {len(tags_a)} and {len(tags_b)} pages")
    from rapidfuzz import distance, process  # the default method does not compare structure

    scorer = getattr(distance, _SCORERS[normaliser]).normalized_similarity
    values = np.empty(pattern.nnz, np.float32)
    # A slice of the whole is no copy, so that this takes memory only for pages with more tags.
    first_a, first_b = ([tags[:MAX_TAGS] for tags in side] for side in (tags_a, tags_b))
    for first in range(0, pattern.nnz, _PAIRS):
        places = first + np.argsort(pattern.indices[first : first + _PAIRS], kind="stable")
        rows = np.searchsorted(pattern.indptr, places, side="right") - 1
        pages = [first_a[i] for i in rows.tolist()]
        others = [first_b[j] for j in pattern.indices[places].tolist()]
        n_threads = at_once() if len(places) > _FEW else 1
        values[places] = process.cpdist(pages, others, scorer=scorer, dtype=np.float32, workers=n_threads)
    return csr_array((values, pattern.indices.copy(), pattern.indptr.copy()), shape=pattern.shape)
