"""Compiled loops over CSR matrices: words, nearest pages. Input arrays are not checked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.compiled import FEW, Unsigned, compiled_beyond, part_of_kernel
from twinlink.prefetching import LINE, prefetch
from twinlink.similarity.masks import lowest_bit
from twinlink.similarity.product_kernels import ONE, Csr, Index, add_few_products

__all__ = [
    "Csr",
    "aligned_words",
    "arrays_of",
    "best_companions",
    "best_products",
    "pattern_dot",
    "strongest_entries",
    "without_mean",
]

LONG = 8
"""A row with at least one entry in this many places is expanded to a dense row: adding all places, zeros included,
is faster than visiting the stored ones. Of 4, 6, 8 and 12 the fastest on a site of 30,000 pages per language, and much
the same as 4 on one of 4,862 pages."""
MAX_FULL = 2**24
"""Maximum size of all dense rows, at four bytes per place."""
GROUP = 64
"""Sums that are compared with the lists at once: a few instructions, while a test of each takes longer than to add it.
As many as a mask has bits."""
SPARSE = 8
"""A row with fewer summands than one in this many columns is read by a list of the columns that it reaches; beyond,
reading all columns in groups is faster. Of 2, 8 and 32 the fastest on a site of 30,000 pages per language."""

AHEAD = 4
"""Rows that are requested from memory before they are needed. Of 1, 2 and 4 the fastest on a site of 100,000 pages a
language, where it takes the time of a product from 350 to 130 ns."""


class _Best(NamedTuple):
    """The k largest entries of each row and column so far, the largest first, ties by number."""

    of_row: NDArray[np.int32]
    row_scores: NDArray[np.float32]
    of_column: NDArray[np.int32]
    column_scores: NDArray[np.float32]
    least: NDArray[np.float32]
    """Score that an entry of each column must exceed: faster to read than the list; infinite where there is none."""


class _Chain(NamedTuple):
    """Links of the terms of one page, grouped by term."""

    columns: NDArray[Index]
    values: NDArray[np.float32]
    terms: NDArray[Index]
    """Number of each link's term among those of the page."""
    weights: NDArray[np.float32]
    """Weight of each term."""
    hits: NDArray[Index]
    """Links that another page has, for one page at a time, and a place for the link that is looked at."""


def arrays_of(matrix: csr_array) -> Csr:
    """Return the arrays of a matrix in the types that the loops are compiled for, without a copy where possible."""
    indices = matrix.indices.astype(np.int32, copy=False).view(np.uint32)
    return matrix.indptr.astype(np.int64, copy=False), indices, matrix.data.astype(np.float32, copy=False)


@part_of_kernel
def _request(place: int, rows: NDArray[Index], starts: NDArray[np.int64], values: NDArray[Any]) -> None:
    """Request the values of the row that is needed `AHEAD` places later."""
    row = rows[min(place + AHEAD, len(rows) - 1)]
    for k in range(starts[row], starts[row + ONE], LINE):
        prefetch(values, k)


@compiled_beyond(FEW)
def pattern_dot(
    x: Csr, y: Csr, n_columns: int, starts: NDArray[np.int64], columns: NDArray[Index]
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
            _request(pair, columns, y_starts, y_columns)
            _request(pair, columns, y_starts, y_data)
            j = columns[pair]
            total = np.float64(0)
            for k in range(Unsigned(y_starts[j]), Unsigned(y_starts[j + ONE])):
                total += row[y_columns[k]] * y_data[k]
            result[pair] = total
        for k in range(x_starts[i], x_starts[i + 1]):
            row[x_columns[k]] = 0.0
    return result


@compiled_beyond(FEW)
def without_mean(
    x: Csr, n_columns: int, starts: NDArray[np.int64], others: NDArray[Index], shares: NDArray[np.float64], least: float
) -> NDArray[np.float32]:
    """Subtract from each stored entry of x what a weighted mean of other rows has in its column.

    Row i has the ``others`` from place ``starts[i]`` on, with their ``shares``. 0 where ``least`` or less remains.
    """
    x_starts, x_columns, x_data = x
    row = np.zeros(n_columns, np.float64)
    result = np.zeros(len(x_data), np.float32)
    for i in range(len(starts) - 1):
        for at in range(starts[i], starts[i + 1]):
            _request(at, others, x_starts, x_columns)
            _request(at, others, x_starts, x_data)
            other, share = others[at], shares[at]
            for k in range(Unsigned(x_starts[other]), Unsigned(x_starts[other + ONE])):
                row[x_columns[k]] += share * x_data[k]
        for k in range(Unsigned(x_starts[i]), Unsigned(x_starts[i + 1])):
            rest = x_data[k] - row[x_columns[k]]
            if rest > least:
                result[k] = rest
        for at in range(starts[i], starts[i + 1]):
            for k in range(x_starts[others[at]], x_starts[others[at] + ONE]):
                row[x_columns[k]] = 0.0
    return result


@part_of_kernel
def _n_links(a: Csr, links: Csr) -> int:
    """Return the largest number of links that the terms of one page have."""
    a_starts, a_columns, _ = a
    link_starts = links[0]
    most = 0
    for i in range(len(a_starts) - 1):
        n = 0
        for k in range(a_starts[i], a_starts[i + 1]):
            n += link_starts[a_columns[k] + ONE] - link_starts[a_columns[k]]
        most = max(most, n)
    return most


@part_of_kernel
def _chain(i: int, a: Csr, links: Csr, chain: _Chain) -> int:
    """Collect the links of page i; return their number."""
    a_starts, a_columns, a_data = a
    link_starts, link_columns, link_values = links
    n_terms, n = 0, 0
    for k in range(a_starts[i], a_starts[i + 1]):
        first, last = Unsigned(link_starts[a_columns[k]]), Unsigned(link_starts[a_columns[k] + ONE])
        for link in range(first, last):
            chain.columns[n], chain.values[n], chain.terms[n] = link_columns[link], link_values[link], n_terms
            n += 1
        if first < last:
            chain.weights[n_terms] = a_data[k]
            n_terms += 1
    return n


@part_of_kernel
def _take(n_links: int, chain: _Chain, free: NDArray[np.float32]) -> float:
    """Align the terms of a page greedily and return the aligned weight.

    The links that the other page has are listed first, without a branch: nobody could predict which ones they are.
    """
    n = 0
    for link in range(n_links):
        chain.hits[n] = link  # overwritten by the next one if the other page does not have it
        n += free[chain.columns[link]] > 0
    total, term, wanting = np.float64(0), np.int64(-1), np.float32(0)
    for place in range(n):
        link = chain.hits[place]
        if chain.terms[link] != term:
            term = np.int64(chain.terms[link])
            wanting = chain.weights[term]
        taken = min(wanting, free[chain.columns[link]])
        wanting -= taken
        free[chain.columns[link]] -= taken
        total += taken * chain.values[link]
    return total


@compiled_beyond(FEW)
def aligned_words(
    a: Csr, b: Csr, links: Csr, n_terms_b: int, starts: NDArray[np.int64], columns: NDArray[Index]
) -> NDArray[np.float32]:
    """Compute the weight of the words of page i aligned with words of page j, for each pair (i, j) of a pattern.

    Terms choose in the order in which page i stores them, among their links in the order in which these are stored.
    An aligned word is used up, and counts with the link's value.
    """
    b_starts, b_columns, b_data = b
    free = np.zeros(n_terms_b, np.float32)
    result = np.zeros(len(columns), np.float32)
    most = _n_links(a, links)
    chain = _Chain(
        np.empty(most, np.uint32),
        np.empty(most, np.float32),
        np.empty(most, np.uint32),
        np.empty(most, np.float32),
        np.empty(most + 1, np.uint32),
    )
    for i in range(len(starts) - 1):
        if starts[i] == starts[i + 1]:
            continue
        n_links = _chain(i, a, links, chain)
        for pair in range(starts[i], starts[i + 1]):
            _request(pair, columns, b_starts, b_columns)
            _request(pair, columns, b_starts, b_data)
            j = columns[pair]
            for k in range(b_starts[j], b_starts[j + ONE]):
                free[b_columns[k]] = b_data[k]
            result[pair] = _take(n_links, chain, free)
            for k in range(b_starts[j], b_starts[j + ONE]):
                free[b_columns[k]] = 0.0
    return result


@part_of_kernel
def _insert(scores: NDArray[np.float32], pages: NDArray[np.signedinteger], score: np.float32, page: int) -> None:
    """Insert a page, or another number, into a list sorted by descending score, then number, and drop the last one."""
    place = len(scores) - 1
    while place > 0 and (score > scores[place - 1] or (score == scores[place - 1] and page < pages[place - 1])):
        scores[place] = scores[place - 1]
        pages[place] = pages[place - 1]
        place -= 1
    scores[place] = score
    pages[place] = page


@part_of_kernel
def _lay_out(y: Csr, n_columns: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Expand the long rows of a matrix; return each row's index among them (-1: not expanded), and the dense rows."""
    starts, columns, data = y
    places = np.full(len(starts) - 1, -1)
    n = 0
    for term in range(len(places)):
        if (starts[term + 1] - starts[term]) * LONG >= n_columns and (n + 1) * n_columns <= MAX_FULL:
            places[term] = n
            n += 1
    full = np.zeros((n, n_columns), np.float32)
    for term in range(len(places)):
        if places[term] >= 0:
            for k in range(starts[term], starts[term + 1]):
                full[places[term], columns[k]] = data[k]
    return places, full


@part_of_kernel
def _add_products(
    i: int, x: Csr, y: Csr, places: NDArray[np.int64], full: NDArray[np.float32], row: NDArray[np.float32]
) -> None:
    """Add row i of the product of two matrices to ``row``."""
    x_starts, x_columns, x_data = x
    y_starts, y_columns, y_data = y
    for at in range(x_starts[i], x_starts[i + 1]):
        factor, term = x_data[at], x_columns[at]
        place = places[term]
        if place >= 0:
            for j in range(len(row)):
                row[j] += factor * full[place, j]
        else:
            for link in range(Unsigned(y_starts[term]), Unsigned(y_starts[term + ONE])):
                row[y_columns[link]] += factor * y_data[link]


@part_of_kernel
def _n_products(i: int, x: Csr, y: Csr) -> int:
    """Return the number of summands of row i of the product of two matrices."""
    n = 0
    for at in range(x[0][i], x[0][i + 1]):
        term = x[1][at]
        n += y[0][term + ONE] - y[0][term]
    return n


@part_of_kernel
def _read_reached(i: int, reached: NDArray[Index], first: int, row: NDArray[np.float32], best: _Best) -> None:
    """Put the entries of row i in the reached columns into the lists that they are good enough for; empty the row."""
    pages, scores, last = best.of_row[i], best.row_scores[i], best.of_row.shape[1] - 1
    for j in reached:
        score, page = row[j], first + int(j)
        row[j] = 0
        if score > scores[last] or (score == scores[last] and page < pages[last]):
            _insert(scores, pages, score, page)
        if score > best.least[j]:  # a later row does not precede an equal one
            _insert(best.column_scores[j], best.of_column[j], score, i)
            best.least[j] = best.column_scores[j, last]


@part_of_kernel
def _any_above(sums: NDArray[np.float32], bound: np.float32, bounds: NDArray[np.float32]) -> bool:
    """Return whether one sum of a group is above a common bound or above its own."""
    found = False
    for j in range(GROUP):
        found |= (sums[j] > bound) | (sums[j] > bounds[j])
    return found


@part_of_kernel
def _mask_above(sums: NDArray[np.float32], bound: np.float32, bounds: NDArray[np.float32]) -> np.uint64:
    """Return a mask of the places of a group whose sum is above the common bound or above its own."""
    mask = np.uint64(0)
    for j in range(GROUP):
        mask |= np.uint64((sums[j] > bound) | (sums[j] > bounds[j])) << np.uint64(j)
    return mask


@part_of_kernel
def _read_groups(i: int, sums: NDArray[np.float32], least: NDArray[np.float32], first: int, best: _Best) -> None:
    """Put the entries of row i into the lists that they are good enough for; empty the row."""
    pages, scores, last = best.of_row[i], best.row_scores[i], best.of_row.shape[1] - 1
    for group in range(len(sums)):
        if _any_above(sums[group], scores[last], least[group]):
            mask = _mask_above(sums[group], scores[last], least[group])
            while mask:
                place = lowest_bit(mask)
                mask &= mask - np.uint64(1)  # without the lowest bit
                j = group * GROUP + int(place)
                score = sums[group, place]
                if score > scores[last]:  # a later column does not precede an equal one
                    _insert(scores, pages, score, first + j)
                if score > best.least[j]:
                    _insert(best.column_scores[j], best.of_column[j], score, i)
                    best.least[j] = best.column_scores[j, last]
        for place in range(GROUP):  # as many as the compiler knows of: faster than a slice
            sums[group, place] = 0


@part_of_kernel
def _groups(n: int, value: float) -> NDArray[np.float32]:
    """Return groups filled with a value, in whole lines of the cache: numbers across two lines take longer to read."""
    numbers = np.full(n * GROUP + LINE, value, np.float32)
    first = -(numbers.ctypes.data // numbers.itemsize) % LINE
    return numbers[first : first + n * GROUP].reshape(n, GROUP)


@compiled_beyond(FEW)
def best_products(
    x: Csr, y: Csr, n_columns: int, k: int, both: bool, first: int, best: NDArray[np.int32], scores: NDArray[np.float32]
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]:
    """Find the k largest entries of each row and, with ``both``, each column of a product of nonnegative CSR matrices.

    Only one row of the product is stored at a time. The summands of an entry are added in the order of the row of x.
    Of a row with few summands, only the columns that it reaches are visited: the time does not grow with the number of
    columns.

    The matrix y may be a block of the columns of a larger one: ``first`` is the number of its first column. ``best``
    and ``scores`` are the columns and values of each row's k largest entries in the blocks before, -1 and 0 where there
    are fewer. They are not changed.

    Returns the columns and values of each row's entries in all blocks so far, and the rows and values of each column's,
    the largest first, ties by number; -1 and 0 where there are fewer than k that are not 0. Without ``both`` there is
    no list for a column.
    """
    n_lists, n_groups = n_columns if both else 0, (n_columns + GROUP - 1) // GROUP
    of_row, row_scores = np.empty_like(best), np.empty_like(scores)
    of_column, column_scores = np.full((n_lists, k), -1, np.int32), np.zeros((n_lists, k), np.float32)
    least, sums = _groups(n_groups, 0 if both else np.inf), _groups(n_groups, 0)
    row, reached = sums.reshape(-1), np.empty(n_columns + 1, np.uint32)
    lists = _Best(of_row, row_scores, of_column, column_scores, least.reshape(-1))
    places, full = _lay_out(y, row.size)
    for i in range(len(x[0]) - 1):
        of_row[i], row_scores[i] = best[i], scores[i]
        if _n_products(i, x, y) * SPARSE < n_columns:
            n = add_few_products(i, x, y, row, reached)
            _read_reached(i, reached[:n], first, row, lists)
        else:
            _add_products(i, x, y, places, full, row)
            _read_groups(i, sums, least, first, lists)
    return of_row, row_scores, of_column, column_scores


@compiled_beyond(FEW)
def strongest_entries(
    starts: NDArray[np.int64],
    columns: NDArray[Index],
    values: NDArray[np.float32],
    k: int,
    of_row: NDArray[np.int64],
    of_column: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Mark the entries that are among the largest of their row or of their column; the first of equal ones.

    ``of_row`` and ``of_column`` say how many of each row and of each column, k at most.
    """
    kept = np.zeros(len(columns), np.bool_)
    scores, places = np.full((len(of_column), k), -np.inf, np.float32), np.full((len(of_column), k), -1)
    row_scores, row_places = np.empty(k, np.float32), np.empty(k, np.int64)
    for i in range(len(of_row)):
        row_scores[:], row_places[:] = -np.inf, -1
        for at in range(starts[i], starts[i + 1]):
            value, column = values[at], columns[at]
            if value > row_scores[k - 1]:
                _insert(row_scores, row_places, value, at)
            if value > scores[column, k - 1]:
                _insert(scores[column], places[column], value, at)
        for place in row_places[: of_row[i]]:
            if place >= 0:
                kept[place] = True
    for column in range(len(of_column)):
        for place in places[column, : of_column[column]]:
            if place >= 0:
                kept[place] = True
    return kept


@compiled_beyond(FEW)
def best_companions(
    pairs_of: Csr, terms_of: Csr, sizes: NDArray[np.float32], k: int, least_together: int, least_dice: np.float32
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Find the k terms of one side that co-occur most with each term of the other, by Dice's coefficient.

    ``pairs_of`` has the pairs of each term s, ``terms_of`` the terms t of each pair, ``sizes`` the number of pairs of
    each t. Only terms that co-occur at least ``least_together`` times, with a coefficient over ``least_dice``, count.

    Returns the terms t of each s, the largest coefficient first, ties by number, -1 where there are fewer than k; and
    the coefficients.

    Each s counts on from where the pairs of those before end: what these have counted is below, and means 0.
    """
    pair_starts, pairs, _ = pairs_of
    term_starts, terms, _ = terms_of
    n_terms = len(pair_starts) - 1
    best, scores = np.full((n_terms, k), -1, np.int32), np.zeros((n_terms, k), np.float32)
    together, touched = np.zeros(len(sizes), np.uint32), np.empty(len(sizes) + 1, np.uint32)
    for s in range(n_terms):
        n_touched = 0
        n_pairs, none = pair_starts[s + 1] - pair_starts[s], np.uint32(pair_starts[s])
        enough = none + np.uint32(least_together)
        for at in range(pair_starts[s], pair_starts[s + 1]):
            _request(at, pairs, term_starts, terms)
            for place in range(Unsigned(term_starts[pairs[at]]), Unsigned(term_starts[pairs[at] + ONE])):
                t = terms[place]
                touched[n_touched] = t  # overwritten by the next one if it is too few or known: faster than a test
                together[t] = max(together[t], none) + ONE
                n_touched += together[t] == enough
        for place in range(n_touched):
            t = touched[place]
            n_together = np.int64(together[t] - none)
            dice = np.float32(2 * n_together / (n_pairs + sizes[t]))
            number = int(t)
            if dice > least_dice and (
                dice > scores[s, k - 1] or (dice == scores[s, k - 1] and number < best[s, k - 1])
            ):
                _insert(scores[s], best[s], dice, number)
    return best, scores
