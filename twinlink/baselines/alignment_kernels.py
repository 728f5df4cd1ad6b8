"""Compiled loops of the alignment of two linearised pages; input arrays are not checked.

Pages are aligned by their longest common subsequence (LCS), by bits (Hyyrö 2004): row i of the table of LCS lengths is
kept as one bit a token of the second page, 1 where the length stays the same from token j - 1 to token j. One step
works on 64 tokens, and these rows are all that the way back through the table needs. The table is filled from the last
tokens of the pages to the first, so that the way back runs from the first to the last.

Of long pages only the rows of one block are kept, and one row at the start of each other block, from which its rows are
computed again when the way back gets there: at most `BLOCK` rows of 6 kB each for pages of 50,000 tokens.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import compiled

__all__ = ["BLOCK", "COLUMNS", "SYMBOLS", "Tokens", "align_pairs", "chunk_pairs"]

SYMBOLS = 513
"""Symbols that tokens fall into: the chunk, and start and end of 256 tags."""

BLOCK = 1024
"""Rows of the table kept at a time; most pages are shorter, and are gone through once."""

COLUMNS = ("cost", "tokens_a", "tokens_b", "length_a", "length_b", "aligned", "unequal")
"""Counts that `align_pairs` finds for a pair."""

Word = np.uint64
_ZERO, _ONE, _ALL, _BITS = Word(0), Word(1), Word(0xFFFF_FFFF_FFFF_FFFF), 64


class Tokens(NamedTuple):
    """Linearised pages, one after the other."""

    values: NDArray[np.int32]
    starts: NDArray[np.int64]
    """First token of each page, and the number of tokens: shape (pages + 1,)."""


@compiled
def _symbols(tokens: NDArray[np.int32]) -> NDArray[np.int32]:
    """Symbol of each token, the last one first: 0 for a chunk of any length, a tag's token without its sign."""
    symbols = np.zeros(len(tokens), np.int32)
    for i in range(len(tokens)):
        if tokens[i] < 0:
            symbols[len(tokens) - 1 - i] = -tokens[i]
    return symbols


@compiled
def _masks(symbols: NDArray[np.int32]) -> NDArray[Word]:
    """For each symbol the places where it stands, one bit a place."""
    masks = np.zeros((SYMBOLS, (len(symbols) + _BITS - 1) // _BITS), Word)
    for j in range(len(symbols)):
        masks[symbols[j], j // _BITS] |= _ONE << Word(j % _BITS)
    return masks


@compiled
def _advance(row: NDArray[Word], mask: NDArray[Word]) -> None:
    """Turn row i - 1 into row i; ``mask`` has the places of the second page that equal place i of the first."""
    carry = _ZERO
    for w in range(len(row)):
        old = row[w]
        matched = old & mask[w]
        total = old + matched
        overflow = total < old
        total += carry
        carry = _ONE if overflow or total < carry else _ZERO
        row[w] = total | (old & ~mask[w])


@compiled
def _lcs_length(x: NDArray[np.int32], y: NDArray[np.int32]) -> int:
    """Length of the longest common subsequence: the zeros of the last row."""
    masks = _masks(y)
    row = np.full(masks.shape[1], _ALL, Word)
    for symbol in x:
        _advance(row, masks[symbol])
    count = 0
    for w in range(len(row)):
        zeros = ~row[w]
        if (w + 1) * _BITS > len(y):
            zeros &= _ALL >> Word((w + 1) * _BITS - len(y))
        while zeros != _ZERO:
            zeros &= zeros - _ONE
            count += 1
    return count


@compiled
def _block_starts(x: NDArray[np.int32], masks: NDArray[Word]) -> NDArray[Word]:
    """Row before each block of rows."""
    row = np.full(masks.shape[1], _ALL, Word)
    starts = np.empty(((len(x) + BLOCK - 1) // BLOCK, len(row)), Word)
    for block in range(len(starts)):
        starts[block] = row
        if block < len(starts) - 1:  # the last row is not needed
            for i in range(block * BLOCK, (block + 1) * BLOCK):
                _advance(row, masks[x[i]])
    return starts


@compiled
def chunk_pairs(a: NDArray[np.int32], b: NDArray[np.int32]) -> tuple[int, NDArray[np.int64]]:
    """Length of the longest common subsequence, and the places of the chunks that are aligned, shape (pairs, 2)."""
    x, y = _symbols(a), _symbols(b)
    masks = _masks(y)
    starts = _block_starts(x, masks)
    rows = np.empty((min(len(x), BLOCK), masks.shape[1]), Word)
    pairs = np.empty((min(len(x), len(y)), 2), np.int64)
    n_pairs, common, j = 0, 0, len(y) - 1
    for block in range(len(starts) - 1, -1, -1):
        first = block * BLOCK
        i = min(first + BLOCK, len(x)) - 1
        row = starts[block]
        for k in range(first, i + 1):
            _advance(row, masks[x[k]])
            rows[k - first] = row
        while i >= first and j >= 0:
            if x[i] == y[j]:
                common += 1
                if x[i] == 0:
                    pairs[n_pairs, 0], pairs[n_pairs, 1] = len(a) - 1 - i, len(b) - 1 - j
                    n_pairs += 1
                i -= 1
                j -= 1
            elif (rows[i - first, j // _BITS] >> Word(j % _BITS)) & _ONE:
                j -= 1
            else:
                i -= 1
    return common, pairs[:n_pairs]


@compiled
def _correlation(a: NDArray[np.int32], b: NDArray[np.int32], pairs: NDArray[np.int64]) -> float:
    """Pearson correlation of the lengths of aligned chunks; NaN where one side does not vary."""
    mean_a = mean_b = 0.0
    for k in range(len(pairs)):
        mean_a += a[pairs[k, 0]] / len(pairs)
        mean_b += b[pairs[k, 1]] / len(pairs)
    square_a = square_b = product = 0.0
    varies_a = varies_b = False  # a mean that is rounded leaves squares above 0
    for k in range(len(pairs)):
        i, j = pairs[k]
        x, y = a[i] - mean_a, b[j] - mean_b
        square_a += x * x
        square_b += y * y
        product += x * y
        varies_a |= a[i] != a[pairs[0, 0]]
        varies_b |= b[j] != b[pairs[0, 1]]
    if not (varies_a and varies_b):
        return np.nan
    correlation: float = product / np.sqrt(square_a) / np.sqrt(square_b)
    return max(-1.0, min(1.0, correlation))


@compiled
def _length(tokens: NDArray[np.int32]) -> int:
    total = 0
    for token in tokens:
        if token > 0:
            total += token
    return total


@compiled
def align_pairs(
    pages_a: Tokens, pages_b: Tokens, pairs: NDArray[np.int64], limit: int, chunks: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Counts of each pair (see `COLUMNS`) and the correlation of its aligned chunks, by the first ``limit`` tokens.

    Without ``chunks`` the last two counts are 0 and the correlation is NaN.
    """
    counts = np.zeros((len(pairs), len(COLUMNS)), np.int64)
    correlations = np.full(len(pairs), np.nan)
    for k in range(len(pairs)):
        i, j = pairs[k]
        a = pages_a.values[pages_a.starts[i] : pages_a.starts[i + 1]][:limit]
        b = pages_b.values[pages_b.starts[j] : pages_b.starts[j + 1]][:limit]
        if chunks:
            common, aligned = chunk_pairs(a, b)
            counts[k, 5] = len(aligned)
            for at in range(len(aligned)):
                counts[k, 6] += a[aligned[at, 0]] != b[aligned[at, 1]]
            correlations[k] = _correlation(a, b, aligned)
        else:
            common = _lcs_length(_symbols(a), _symbols(b))
        counts[k, 0] = len(a) + len(b) - 2 * common
        counts[k, 1], counts[k, 2] = len(a), len(b)
        counts[k, 3], counts[k, 4] = _length(a), _length(b)
    return counts, correlations
