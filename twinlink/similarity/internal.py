"""Internal similarity S_in: content and structure of two pages together."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from twinlink.errors import ConfigError, ShapeError
from twinlink.graph.checks import check_scores
from twinlink.sparse import as_rows


def internal_similarity(content: csr_array, structure: csr_array, beta: float = 0.6) -> csr_array:
    """S_in = β·S_cb + (1-β)·S_struct (Liu et al. 2014).

    Parameters
    ----------
    content, structure : csr_array, one shape and one sparsity pattern, values in [0, 1]
        S_cb and S_struct of the candidate pairs.
    beta : float in [0, 1]
        Weight of content; 0.6 in the paper (its Figure 2).

    Returns
    -------
    csr_array of float32, the same pattern, values in [0, 1]

    Raises
    ------
    ShapeError
        If the two differ in shape or in their candidate pairs, are not sparse, or have a value outside [0, 1].
    ConfigError
        If ``beta`` is outside [0, 1].

    Examples
    --------
    >>> internal_similarity(csr_array([[1.0, 0.5]]), csr_array([[1.0, 0.25]]), beta=0.5).toarray().tolist()
    [[1.0, 0.375]]
    """
    if not 0 <= beta <= 1:
        raise ConfigError(f"beta: expected a weight in [0, 1], got {beta}")
    content = check_scores(as_rows(content, "content"), "content")
    structure = check_scores(as_rows(structure, "structure"), "structure")
    same = (
        content.shape == structure.shape
        and np.array_equal(content.indptr, structure.indptr)
        and np.array_equal(content.indices, structure.indices)
    )
    if not same:
        raise ShapeError(
            f"content ({content.shape}, {content.nnz} pairs) and structure ({structure.shape}, {structure.nnz} pairs)"
            " must be computed on one candidate pattern"
        )
    data = (beta * content.data + (1 - beta) * structure.data).astype(np.float32)
    return csr_array((data, content.indices.copy(), content.indptr.copy()), shape=content.shape)
