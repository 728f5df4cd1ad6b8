"""Compiled loops: arrays of CSR matrices in, arrays out, nothing checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.compiled import compiled

__all__ = ["Csr", "aligned_words", "arrays_of", "best_companions", "best_products", "pattern_dot"]

Csr = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]
"""``indptr``, ``indices``, ``data``."""


def arrays_of(matrix: csr_array) -> Csr:
    """Return the arrays of a matrix in the types that the loops are compiled for."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float32)


@compiled
def pattern_dot(
    x: Csr, y: Csr, n_columns: int, starts: NDArray[np.int64], columns: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Dot product of row i of x and row j of y, for each pair (i, j) of a pattern."""
    x_starts, x_columns, x_data = x
    y_starts, y_columns, y_data = y
    row = np.zeros(n_columns, np.float32)
    result = np.zeros(len(columns), np.float32)
    for i in range(len(starts) - 1):
        for k in range(x_starts[i], x_starts[i + 1]):
            row[x_columns[k]] = x_data[k]
        for pair in range(starts[i], starts[i + 1]):
            j = columns[pair]
            total = 0.0
            for k in range(y_starts[j], y_starts[j + 1]):
                total += row[y_columns[k]] * y_data[k]
            result[pair] = total
        for k in range(x_starts[i], x_starts[i + 1]):
            row[x_columns[k]] = 0.0
    return result


@compiled
def aligned_words(
    a: Csr, b: Csr, links: Csr, n_terms_b: int, starts: NDArray[np.int64], columns: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Weight of the words of page i that find a word of page j for themselves, for each pair (i, j) of a pattern.

    Terms choose in the order in which page i stores them, among their links in the order in which these are stored.
    What is taken of a word is gone, and counts with the link's value.
    """
    a_starts, a_columns, a_data = a
    b_starts, b_columns, b_data = b
    link_starts, link_columns, link_values = links
    free = np.zeros(n_terms_b, np.float32)
    result = np.zeros(len(columns), np.float32)
    for i in range(len(starts) - 1):
        for pair in range(starts[i], starts[i + 1]):
            j = columns[pair]
            for k in range(b_starts[j], b_starts[j + 1]):
                free[b_columns[k]] = b_data[k]
            total = 0.0
            for k in range(a_starts[i], a_starts[i + 1]):
                wanting = a_data[k]
                for link in range(link_starts[a_columns[k]], link_starts[a_columns[k] + 1]):
                    taken = min(wanting, free[link_columns[link]])
                    if taken > 0:
                        wanting -= taken
                        free[link_columns[link]] -= taken
                        total += taken * link_values[link]
            for k in range(b_starts[j], b_starts[j + 1]):
                free[b_columns[k]] = 0.0
            result[pair] = total
    return result


@compiled
def _insert(scores: NDArray[np.float32], pages: NDArray[np.int32], score: np.float32, page: int) -> None:
    """Put a page into a list kept by falling score, then page number; the last one falls out."""
    place = len(scores) - 1
    while place > 0 and (score > scores[place - 1] or (score == scores[place - 1] and page < pages[place - 1])):
        scores[place] = scores[place - 1]
        pages[place] = pages[place - 1]
        place -= 1
    scores[place] = score
    pages[place] = page


@compiled
def best_products(x: Csr, y: Csr, n_columns: int, k: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The k largest entries of each row, and of each column, of the product of two CSR matrices of values >= 0.

    Only the entries that are not 0 are looked at, row by row: the product itself is never stored.

    Returns the columns of each row's entries and the rows of each column's, the largest first, ties by number; -1 where
    there are fewer than k.
    """
    x_starts, x_columns, x_data = x
    y_starts, y_columns, y_data = y
    n_rows = len(x_starts) - 1
    of_row, of_column = np.full((n_rows, k), -1, np.int32), np.full((n_columns, k), -1, np.int32)
    row_scores, column_scores = np.zeros(k, np.float32), np.zeros((n_columns, k), np.float32)
    row, touched = np.zeros(n_columns, np.float32), np.empty(n_columns, np.int32)
    for i in range(n_rows):
        n_touched = 0
        for at in range(x_starts[i], x_starts[i + 1]):
            factor = x_data[at]
            for link in range(y_starts[x_columns[at]], y_starts[x_columns[at] + 1]):
                j = y_columns[link]
                product = factor * y_data[link]
                if row[j] == 0 and product > 0:
                    touched[n_touched] = j
                    n_touched += 1
                row[j] += product
        row_scores[:] = 0
        for place in range(n_touched):
            j = touched[place]
            score = row[j]
            row[j] = 0
            if score > row_scores[k - 1] or (score == row_scores[k - 1] and j < of_row[i, k - 1]):
                _insert(row_scores, of_row[i], score, j)
            if score > column_scores[j, k - 1]:
                _insert(column_scores[j], of_column[j], score, i)
    return of_row, of_column


@compiled
def best_companions(
    pairs_of: Csr, terms_of: Csr, sizes: NDArray[np.float32], k: int, least_together: int, least_dice: np.float32
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The k terms of the one side that come most often together with each term of the other, by Dice's coefficient.

    ``pairs_of`` has the pairs of each term s, ``terms_of`` the terms t of each pair, ``sizes`` the number of pairs of
    each t. Only what is together ``least_together`` times, with a coefficient over ``least_dice``, counts.

    Returns the terms t of each s, the largest coefficient first, ties by number, -1 where there are fewer than k; and
    the coefficients.
    """
    pair_starts, pairs, _ = pairs_of
    term_starts, terms, _ = terms_of
    n_terms = len(pair_starts) - 1
    best, scores = np.full((n_terms, k), -1, np.int32), np.zeros((n_terms, k), np.float32)
    together, touched = np.zeros(len(sizes), np.int32), np.empty(len(sizes), np.int32)
    for s in range(n_terms):
        n_touched = 0
        n_pairs = pair_starts[s + 1] - pair_starts[s]
        for at in range(pair_starts[s], pair_starts[s + 1]):
            for place in range(term_starts[pairs[at]], term_starts[pairs[at] + 1]):
                t = terms[place]
                if together[t] == 0:
                    touched[n_touched] = t
                    n_touched += 1
                together[t] += 1
        for place in range(n_touched):
            t = touched[place]
            dice = np.float32(2 * together[t] / (n_pairs + sizes[t]))
            is_strong = together[t] >= least_together and dice > least_dice
            together[t] = 0
            if is_strong and (dice > scores[s, k - 1] or (dice == scores[s, k - 1] and t < best[s, k - 1])):
                _insert(scores[s], best[s], dice, t)
    return best, scores
