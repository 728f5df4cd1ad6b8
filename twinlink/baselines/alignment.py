"""Alignment of linearised pages (STRAND; Jangeldin & Assylbekov, section 3.1): structural differences of two pages.

A linearised page is an array of tokens, see `twinlink.pages.linearise`: k > 0 is a chunk of k characters, a token
below 0 is the start or the end of a tag.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc

from twinlink.baselines import alignment_kernels as kernels
from twinlink.errors import ShapeError

__all__ = ["MAX_TOKENS", "MIN_CHUNKS", "StructureAlignments", "align", "chunk_pairs"]

MAX_TOKENS = 50_000
"""Tokens compared of a longer page: its first ones. The time for a pair grows with the square (0.1 s at this length);
memory stays at some 10 MB."""

MIN_CHUNKS = 3
"""Aligned chunks that a correlation needs: through two points there is always a line."""

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class StructureAlignments(msgspec.Struct, frozen=True, eq=False):
    """Alignments of some pairs of pages; each array has one value per pair.

    All counts are of the tokens that were compared, see `MAX_TOKENS`.
    """

    cost: Integers
    """W: tokens of one page that have no partner on the other."""
    tokens_a: Integers
    """M1: tokens of the first page."""
    tokens_b: Integers
    """M2: tokens of the second page."""
    length_a: Integers
    """L1: characters of all chunks of the first page, aligned or not."""
    length_b: Integers
    """L2: characters of all chunks of the second page."""
    aligned: Integers
    """Pairs of aligned chunks; 0 if chunk pairs were not requested."""
    unequal: Integers
    """n: pairs of aligned chunks that differ in length; 0 if chunk pairs were not requested."""
    correlation: Floats
    """r: Pearson correlation of the lengths of aligned chunks. NaN for fewer than `MIN_CHUNKS` of them, where all those
    of one page have one length, and if chunk pairs were not requested."""
    p_value: Floats
    """p: chance of an r as far from 0 between independent normal lengths, from both sides; NaN where r is."""

    @property
    def cost_share(self) -> Floats:
        """``P_d = W / (M1 + M2)``, in [0, 1]. 0 for two empty pages, which do not differ."""
        return _ratio(self.cost, self.tokens_a + self.tokens_b)

    @property
    def length_difference(self) -> Floats:
        """``L_d = (L1 - L2) / (L1 + L2)``, in [-1, 1]. 0 for two pages without text."""
        return _ratio(self.length_a - self.length_b, self.length_a + self.length_b)

    def __len__(self) -> int:
        return len(self.cost)


def align(
    pages_a: Sequence[NDArray[np.int32]],
    pages_b: Sequence[NDArray[np.int32]],
    rows: ArrayLike,
    columns: ArrayLike,
    *,
    chunks: bool = True,
) -> StructureAlignments:
    """Align pairs of linearised pages.

    ``W`` is the cost of the best alignment with gap cost 1, mismatch 2 and match 0, where each chunk matches each
    chunk. A mismatch is never better than two gaps, so ``W = M1 + M2 - 2·LCS``, with LCS the length of the longest
    common subsequence.

    Many alignments can have this cost. The one taken walks from the first tokens to the last: two tokens that match are
    partners; else the second page's token stays alone if that costs nothing, else the first page's. The paper does not
    say; with this rule its STRAND baseline finds the 173 pairs of its mfa.kz pages (walking from the last tokens to the
    first: 169).

    Parameters
    ----------
    pages_a, pages_b : sequence of int32 arrays
        Tokens of the pages of either side.
    rows, columns : int array-like of one length
        The pairs: numbers of a page of ``pages_a`` and one of ``pages_b``.
    chunks : bool, default True
        Whether to find chunk pairs: aligned, unequal, r and p. Without them it takes half to two thirds of the time.

    Returns
    -------
    StructureAlignments

    Raises
    ------
    ShapeError
        If there are not as many rows as columns, a page does not exist, or a token is none.

    Examples
    --------
    The pages of the paper's Figure 2:

    >>> html, title, body, h1 = -1, -3, -5, -7
    >>> english = np.array([html, title, 23, title - 1, body, h1, 23, h1 - 1, 72], np.int32)
    >>> kazakh = np.array([html, title, 21, title - 1, body, 69], np.int32)
    >>> found = align([english], [kazakh], [0], [0])
    >>> [int(x[0]) for x in (found.cost, found.tokens_a, found.tokens_b, found.length_a, found.length_b)]
    [3, 9, 6, 118, 90]
    >>> found.cost_share.tolist(), found.length_difference.round(3).tolist()
    ([0.2], [0.135])
    """
    pairs = _check_pairs(rows, columns, len(pages_a), len(pages_b))
    counts, correlation = kernels.align_pairs(_pack(pages_a), _pack(pages_b), pairs, MAX_TOKENS, chunks)
    count = dict(zip(kernels.COLUMNS, counts.T.copy(), strict=True))
    correlation[count["aligned"] < MIN_CHUNKS] = np.nan
    return StructureAlignments(**count, correlation=correlation, p_value=_p_value(correlation, count["aligned"]))


def chunk_pairs(tokens_a: NDArray[np.int32], tokens_b: NDArray[np.int32]) -> Integers:
    """Chunks of two pages that are aligned, see `align`: shape (pairs, 2), places in either array, both rising.

    Examples
    --------
    >>> chunk_pairs(np.array([-1, 7, -2, 9], np.int32), np.array([-1, 4, -2, -3, 5], np.int32)).tolist()
    [[1, 1], [3, 4]]
    """
    a, b = _pack([tokens_a]).values[:MAX_TOKENS], _pack([tokens_b]).values[:MAX_TOKENS]
    return kernels.chunk_pairs(a, b)[1].copy()


def _check_pairs(rows: ArrayLike, columns: ArrayLike, n_a: int, n_b: int) -> Integers:
    first, second = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ShapeError(f"pairs: expected as many rows as columns, got shapes {first.shape} and {second.shape}")
    for pages, n in ((first, n_a), (second, n_b)):
        if pages.size and not 0 <= pages.min() <= pages.max() < n:
            raise ShapeError(f"pairs: expected pages 0 to {n - 1}, got {pages.min()} to {pages.max()}")
    return np.column_stack([first, second])


def _pack(pages: Sequence[NDArray[np.int32]]) -> kernels.Tokens:
    starts = np.zeros(len(pages) + 1, np.int64)
    np.cumsum([len(page) for page in pages], out=starts[1:])
    values = np.concatenate(pages).astype(np.int32) if pages else np.empty(0, np.int32)
    if values.size and not (values.min() > -kernels.SYMBOLS and values.all()):
        raise ShapeError(f"a token is a chunk's length from 1 on, or a tag from -1 to {1 - kernels.SYMBOLS}")
    return kernels.Tokens(values, starts)


def _ratio(part: Integers, whole: Integers) -> Floats:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole != 0)


def _p_value(correlation: Floats, n: Integers) -> Floats:
    """Both tails of the distribution of r between n independent normal pairs: (r + 1)/2 is Beta(n/2 - 1, n/2 - 1)."""
    shape = np.maximum(n / 2 - 1, 0.5)
    return np.asarray(2 * betainc(shape, shape, (1 - np.abs(correlation)) / 2))
