"""Link matrices and neighbour matrices of a site, or of one language of a site."""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from twinlink.config.match import Direction
from twinlink.errors import ConfigError, ShapeError
from twinlink.graph.checks import check_links
from twinlink.sparse import as_rows

__all__ = ["adjacency", "neighbours"]


def adjacency(source: ArrayLike, target: ArrayLike, n: int) -> csr_array:
    """Build the matrix of the links among ``n`` pages.

    ``A[p, q]`` is true where page ``p`` links to page ``q``. A link that is on a page twice counts once; a page's
    links to itself are left out, because they say nothing about its position on the site.

    Parameters
    ----------
    source, target : array_like of int, shape (n_links,), values 0 to n - 1
        Source and target page of each link.
    n : int
        Number of pages.

    Returns
    -------
    csr_array of bool, shape (n, n)
        Sorted, zero diagonal, only true entries stored. The row of a page without links is empty.

    Raises
    ------
    ShapeError
        If the two arrays differ in length, are not integers, or have a value outside 0 to n - 1.

    Examples
    --------
    >>> adjacency([0, 0, 1, 2], [1, 1, 2, 2], 3).toarray().astype(int)
    array([[0, 1, 0],
           [0, 0, 1],
           [0, 0, 0]])
    """
    rows, columns = check_links(source, target, n)
    return _from_links(rows.astype(np.int64), columns.astype(np.int64), n)


def neighbours(adjacency: csr_array, direction: Direction = "both") -> csr_array:
    """Return the neighbours of each page: ``N(p)`` are the columns stored in row ``p``.

    ``in``: pages that link to p (columns of the transpose); ``out``: pages that p links to; ``both``: the union, which
    makes the matrix symmetric. A page is never its own neighbour. Liu et al. 2014 write "neighbors", and "links
    between these pages" in Figure 1, and leave the direction open.

    Parameters
    ----------
    adjacency : csr_array of bool, shape (n, n)
        Links, as returned by `adjacency`.
    direction : {"in", "out", "both"}
        Links that define a neighbour.

    Returns
    -------
    csr_array of bool, shape (n, n)
        Sorted, zero diagonal, only true entries stored. The row of a page without neighbours is empty.

    Raises
    ------
    ShapeError
        If ``adjacency`` is not sparse, or not square.
    ConfigError
        If ``direction`` is unknown.

    Examples
    --------
    >>> chain = adjacency([0, 1], [1, 2], 3)
    >>> {direction: neighbours(chain, direction)[[1]].indices.tolist() for direction in ("in", "out", "both")}
    {'in': [0], 'out': [2], 'both': [0, 2]}
    """
    adjacency = as_rows(adjacency, "adjacency")
    if adjacency.shape[0] != adjacency.shape[1]:
        raise ShapeError(f"adjacency: expected a square matrix, got shape {adjacency.shape}")
    if direction not in get_args(Direction):
        raise ConfigError(f"neighbours: expected one of {', '.join(get_args(Direction))}, got {direction!r}")
    links = adjacency.tocoo()
    rows, columns = (index[links.data != 0] for index in links.coords)
    if direction == "in":
        rows, columns = columns, rows
    elif direction == "both":
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    return _from_links(rows, columns, adjacency.shape[0])


def _from_links(rows: NDArray[np.integer], columns: NDArray[np.integer], n: int) -> csr_array:
    """Build the sorted matrix of links from ``rows`` to ``columns``, without duplicates and self-links."""
    apart = rows != columns
    return csr_array((np.ones(int(apart.sum()), dtype=np.bool_), (rows[apart], columns[apart])), shape=(n, n))
