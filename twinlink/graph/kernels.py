"""Compiled loops of the link methods. Input arrays are not checked.

A greedy matching takes the stored entries of a similarity matrix by descending score, then row, then column. The
*rank* of an entry is its position in this order counted from the end, so that better entries have greater ranks; no two
ranks are equal, so there are no ties.

`external_rows` does not sort the entries of every pair. It finds the same matching by deferred acceptance (Gale &
Shapley 1962): each target page proposes its best entry, and a source page keeps the best proposal and rejects the
other, whose target page proposes its next entry. The result is the stable matching, and because both sides rank entries
in the same strict order there is exactly one: it contains the best entry of all, then the best of the remaining ones,
and so on, which is the greedy rule. It does not depend on the order of the proposals, so those of all pages wait in
one queue: a loop without branches, which takes half the time of one that follows each page to its end, because nobody
could predict who is rejected.

Of the entries in the rows of a page's neighbours, only those count whose column is a neighbour of one of its
candidates. The others are left out first: on a site of 100,000 pages per language, 26 of 750 remain. These are sorted,
once for all candidates of the page: on a large site, that takes less time than to rank all entries of the matrix.

`twinlink.graph.propagation` and `twinlink.graph.matching` call this module; `tests.graph.reference` is its plain
twin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import FEW, compiled_beyond, interpreted_as, part_of_kernel
from twinlink.prefetching import LINE, prefetch

__all__ = ["Entries", "Neighbours", "external_rows", "greedy_positions", "mutual_best"]

# Indices read from an array are unsigned: numba then omits the test for negative indices, which is measurable in
# loops this short.
Index = np.uint32
Word = np.uint64
ONE = np.uint64(1)
ONE_32 = np.uint32(1)

FEW_FOUND = 64
"""Entries up to which they are sorted by counting. With 128 and 256, ETS takes as long."""
DIGIT, N_DIGITS = 10, 3
"""Bits of a digit, and digits of a score: the bits of numbers below 2 are those of integers below 2**30. The number of
digits is odd, so that the last step writes to the array that the first one does."""


class Entries(NamedTuple):
    """Stored entries of a similarity matrix, row after row."""

    starts: NDArray[np.int64]
    """Index of the first entry of each row, then the number of entries: shape (n_source + 1,)."""
    columns: NDArray[Index]
    scores: NDArray[np.float32]
    """In [0, 1], none of them -0.0."""
    bits: NDArray[Index]
    """The same memory as integers, which have the same order."""
    is_weighted: bool
    """Whether the weights of some neighbours are not 1."""


class Neighbours(NamedTuple):
    """Neighbours of each page, page after page."""

    starts: NDArray[np.int64]
    pages: NDArray[Index]
    roots: NDArray[np.float64]
    """Square root of the weight of each page as a neighbour."""
    sizes: NDArray[np.float64]
    """Total weight of the neighbours of each page."""


class _Spans(NamedTuple):
    """Where some rows of a matrix begin and end.

    They are looked up together: on large sites, each of them waits for memory, and in a loop over the entries of the
    rows, one would wait for the other.
    """

    starts: NDArray[Word]
    ends: NDArray[Word]


class _Lists(NamedTuple):
    """Entries in the rows of one page's neighbours, numbered from 1 by rank and linked by column. 0: none, value 0."""

    found: NDArray[Index]  # positions of these entries among all, by row
    ends: NDArray[Index]  # number of those up to each row
    rows: NDArray[Index]  # place of the row of each of those among the neighbours
    keys: NDArray[Word]  # bits of the score of each of those, then its place among them, counted from the end
    by_rank: NDArray[Word]  # the keys in order
    counts: NDArray[Index]  # of each value of each digit of the keys, shape (N_DIGITS, 2**DIGIT)
    places: NDArray[Index]  # what `rows` has, by the numbers of the entries
    columns: NDArray[Index]
    values: NDArray[np.float64]  # scores times the roots of both weights
    following: NDArray[Index]  # the next best entry of the same column
    head: NDArray[Index]  # best entry of each column, shape (n_target,)
    queue: NDArray[Index]  # entries to propose


@part_of_kernel
def _look_up(rows: NDArray[Index], starts: NDArray[np.int64], columns: NDArray[Index], spans: _Spans) -> None:
    """Write where some rows of a matrix begin and end, and request them from memory."""
    for place in range(rows.size):
        spans.starts[place], spans.ends[place] = starts[rows[place]], starts[rows[place] + ONE]
        for at in range(spans.starts[place], spans.ends[place], LINE):
            prefetch(columns, at)


@part_of_kernel
def _reach(columns: NDArray[Index], target: Neighbours, spans: _Spans, reached: NDArray[Word]) -> None:
    """Mark the neighbours of some target pages in a bit set."""
    _look_up(columns, target.starts, target.pages, spans)
    for place in range(columns.size):
        for at in range(spans.starts[place], spans.ends[place]):
            page = target.pages[at]
            reached[page >> Index(6)] |= ONE << Word(page & Index(63))


@part_of_kernel
def _find(near: NDArray[Index], entries: Entries, spans: _Spans, reached: NDArray[Word], lists: _Lists) -> int:
    """List the entries in the rows ``near`` of which the column is reached, and return their number."""
    _look_up(near, entries.starts, entries.columns, spans)
    count = Word(0)
    for place in range(near.size):
        for entry in range(spans.starts[place], spans.ends[place]):
            column = entries.columns[entry]
            lists.found[count] = entry  # overwritten by the next one if the column is not reached: faster than a test
            count += (reached[column >> Index(6)] >> Word(column & Index(63))) & ONE
        lists.ends[place] = count
    return int(count)


@part_of_kernel
def _sort_few(keys: NDArray[Word], by_rank: NDArray[Word]) -> None:
    """Sort by counting the keys that are smaller than each: without a branch that nobody could predict."""
    for key in keys:
        place = 0
        for other in keys:
            place += other < key
        by_rank[place] = key


@part_of_kernel
def _digit(key: Word, digit: int) -> Index:
    """Return a digit of the score that a key begins with; 0 is the last one."""
    return Index(key >> Word(32 + DIGIT * digit)) & Index(2**DIGIT - 1)


@part_of_kernel
def _sort_many(keys: NDArray[Word], by_rank: NDArray[Word], counts: NDArray[Index]) -> None:
    """Sort by each digit of the scores, the last one first. Keys of equal scores must be in order, and stay so.

    What ``keys`` holds afterwards has no meaning.
    """
    counts[:] = 0
    for key in keys:
        for digit in range(N_DIGITS):
            counts[digit, _digit(key, digit)] += ONE_32
    for digit in range(N_DIGITS):
        before = Index(0)
        for smaller in range(2**DIGIT):
            number = counts[digit, smaller]
            counts[digit, smaller] = before
            before += number
    for digit in range(N_DIGITS):
        for key in keys:
            value = _digit(key, digit)
            by_rank[counts[digit, value]] = key
            counts[digit, value] += ONE_32
        keys, by_rank = by_rank, keys


def _sort_by_numpy(keys: NDArray[Word], by_rank: NDArray[Word], counts: NDArray[Index]) -> None:  # noqa: ARG001
    """Sort in the interpreter."""
    by_rank[:] = np.sort(keys)


@interpreted_as(_sort_by_numpy)
def _sort(keys: NDArray[Word], by_rank: NDArray[Word], counts: NDArray[Index]) -> None:
    """Sort keys of which those of equal scores are in order."""
    if keys.size <= FEW_FOUND:
        _sort_few(keys, by_rank)
    else:
        _sort_many(keys, by_rank, counts)


@part_of_kernel
def _rank(found: NDArray[Index], n_near: int, entries: Entries, lists: _Lists) -> None:
    """Sort the keys of the entries that are found, and write the places of their rows."""
    at = 0
    for place in range(n_near):
        for k in range(at, lists.ends[place]):
            lists.rows[k] = place
            from_end = found.size - 1 - k
            lists.keys[from_end] = (Word(entries.bits[found[k]]) << Word(32)) | Word(from_end)
        at = lists.ends[place]
    _sort(lists.keys[: found.size], lists.by_rank[: found.size], lists.counts)


@part_of_kernel
def _fill(
    found: NDArray[Index],
    near: NDArray[Index],
    entries: Entries,
    roots: NDArray[np.float64],
    target_roots: NDArray[np.float64],
    listed: NDArray[Word],
    lists: _Lists,
) -> None:
    """Number the entries that are found by rank, link those of a column, and mark their columns in a bit set."""
    _rank(found, near.size, entries, lists)
    for number in range(1, found.size + 1):
        k = Index(found.size) - ONE_32 - Index(lists.by_rank[number - 1])
        entry, place = found[k], lists.rows[k]
        column = entries.columns[entry]
        lists.places[number] = place
        lists.columns[number] = column
        lists.values[number] = entries.scores[entry]
        if entries.is_weighted:
            lists.values[number] *= roots[near[place]] * target_roots[column]
        lists.following[number] = lists.head[column]
        lists.head[column] = number
        listed[column >> Index(6)] |= ONE << Word(column & Index(63))


@part_of_kernel
def _settle(near: NDArray[Index], listed: NDArray[Word], lists: _Lists, held: NDArray[Index]) -> None:
    """Let the target pages ``near`` propose their best entries until no source page holds two proposals.

    Those that are not ``listed`` have none: a bit set stays nearer to the processor than the best entries of all pages.
    """
    last = Word(0)
    for page in near:
        lists.queue[last] = page  # overwritten by the next one if it is not listed: faster than a test
        last += (listed[page >> Index(6)] >> Word(page & Index(63))) & ONE
    for at in range(last):
        lists.queue[at] = lists.head[lists.queue[at]]
    place = Word(0)
    while place < last:
        number = lists.queue[place]
        row = lists.places[number]
        rival = held[row]
        held[row] = max(number, rival)
        lists.queue[last] = lists.following[min(number, rival)]  # 0 if there was no rival
        last += Word(lists.queue[last] != 0)
        place += ONE


@part_of_kernel
def _collect(n_near: int, lists: _Lists, held: NDArray[Index]) -> float:
    """Sum the values held by the ``n_near`` source pages, in page order, and release them."""
    total = 0.0
    for place in range(n_near):
        total += lists.values[held[place]]  # adding 0 where nothing is held is faster than a test
        held[place] = 0
    return total


@part_of_kernel
def _widest(first: int, last: int, entries: Entries, source: Neighbours) -> int:
    """Return the largest number of entries in the rows of one page's neighbours."""
    widest = 0
    for row in range(first, last):
        width = 0
        for place in range(source.starts[row], source.starts[row + 1]):
            page = source.pages[place]
            width += entries.starts[page + 1] - entries.starts[page]
        widest = max(widest, width)
    return widest


@part_of_kernel
def _longest(starts: NDArray[np.int64]) -> int:
    """Return the largest number of entries in a row."""
    longest = 0
    for row in range(starts.size - 1):
        longest = max(longest, starts[row + 1] - starts[row])
    return longest


@part_of_kernel
def _scratch(widest: int, n_near: int, n_target: int) -> _Lists:
    return _Lists(
        np.empty(widest + 1, dtype=np.uint32),
        np.empty(n_near, dtype=np.uint32),
        np.empty(widest + 1, dtype=np.uint32),
        np.empty(widest + 1, dtype=np.uint64),
        np.empty(widest + 1, dtype=np.uint64),
        np.empty((N_DIGITS, 2**DIGIT), dtype=np.uint32),
        np.empty(widest + 1, dtype=np.uint32),
        np.empty(widest + 1, dtype=np.uint32),
        np.zeros(widest + 1, dtype=np.float64),
        np.zeros(widest + 1, dtype=np.uint32),
        np.zeros(n_target, dtype=np.uint32),
        np.empty(widest + 1, dtype=np.uint32),
    )


@compiled_beyond(FEW)
def external_rows(
    first: int,
    last: int,
    entries: Entries,
    source: Neighbours,
    target: Neighbours,
    external: NDArray[np.float32],
) -> None:
    """Write S_ext of the entries in the rows ``first`` to ``last - 1`` to ``external`` (one place for each entry).

    ``S_ext(e, c) = 2 * sum(√(w_x·w_y)·score) / (Σ w_x + Σ w_y)`` over the greedy matching of N(e) and N(c), where w
    is the weight of a neighbour (see `Neighbours`); 0 where both sets are empty or have no weight. Rows are
    independent, so they may be divided among threads in any way. The sum is taken in the order of the source pages,
    in double precision, so that it equals that of `tests.graph.reference`.
    """
    n_near, n_target = _longest(source.starts), target.starts.size - 1
    lists = _scratch(_widest(first, last, entries, source), n_near, n_target)
    n_candidates = _longest(entries.starts)
    spans = _Spans(np.empty(n_near, dtype=np.uint64), np.empty(n_near, dtype=np.uint64))
    across = _Spans(np.empty(n_candidates, dtype=np.uint64), np.empty(n_candidates, dtype=np.uint64))
    sizes = np.empty(n_candidates, dtype=np.float64)
    reached = np.zeros((n_target >> 6) + 1, dtype=np.uint64)
    held = np.zeros(n_near, dtype=np.uint32)  # by the places of a page's neighbours
    for row in range(first, last):
        near = source.pages[source.starts[row] : source.starts[row + 1]]
        columns = entries.columns[entries.starts[row] : entries.starts[row + 1]]
        for place in range(columns.size):
            sizes[place] = target.sizes[columns[place]]
        _reach(columns, target, across, reached)
        count = _find(near, entries, spans, reached, lists)
        reached[:] = 0  # faster than to visit the pages again, up to a million pages
        listed = reached  # empty again, it holds the columns of the entries found
        _fill(lists.found[:count], near, entries, source.roots, target.roots, listed, lists)
        for place in range(columns.size):
            _settle(target.pages[across.starts[place] : across.ends[place]], listed, lists, held)
            size = source.sizes[row] + sizes[place]
            total = _collect(near.size, lists, held)
            external[entries.starts[row] + place] = 2.0 * total / size if size > 0 else 0.0
        for number in range(1, count + 1):
            column = lists.columns[number]
            lists.head[column] = 0
            listed[column >> Index(6)] = 0


@compiled_beyond(FEW)
def greedy_positions(
    rows: NDArray[np.int64], columns: NDArray[np.int64], n_rows: int, n_columns: int, limit: int
) -> NDArray[np.int64]:
    """Return the positions of at most ``limit`` entries taken by a greedy matching; entries are ordered by rank."""
    row_free = np.ones(n_rows, dtype=np.bool_)
    column_free = np.ones(n_columns, dtype=np.bool_)
    taken = np.empty(min(n_rows, n_columns, limit), dtype=np.int64)
    count = 0
    for position in range(rows.size):
        if count == taken.size:
            break
        row, column = rows[position], columns[position]
        if row_free[row] and column_free[column]:
            row_free[row] = column_free[column] = False
            taken[count] = position
            count += 1
    return taken[:count]


@compiled_beyond(FEW)
def mutual_best(
    scores: NDArray[np.float32],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    left: NDArray[np.int64],
    n_rows: int,
    n_columns: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Take the entries that are the best of their row and of their column, remove these, and repeat.

    A greedy matching takes the same ones. It ends when a repetition leaves more than half of the entries.

    Parameters
    ----------
    scores : ndarray of float32, shape (n_entries,), values >= 0
    rows, columns : ndarray of int64, shape (n_entries,)
    left : ndarray of int64, rising
        Positions of the entries that may be taken. Of equal ones, the first is the best.
    n_rows, n_columns : int

    Returns
    -------
    taken : ndarray of int64
        Positions of the entries taken.
    left : ndarray of int64, rising
        Positions of those whose pages are both free.
    """
    best_of_row, best_of_column = np.full(n_rows, -1), np.full(n_columns, -1)
    row_scores, column_scores = np.full(n_rows, -1, np.float32), np.full(n_columns, -1, np.float32)
    row_free, column_free = np.ones(n_rows, np.bool_), np.ones(n_columns, np.bool_)
    taken, count, n_left, n_before = np.empty(min(n_rows, n_columns), np.int64), 0, len(left), 2 * len(left)
    left = left.copy()
    while 0 < n_left <= n_before // 2:
        for position in left[:n_left]:
            score, row, column = scores[position], rows[position], columns[position]
            if score > row_scores[row]:
                row_scores[row], best_of_row[row] = score, position
            if score > column_scores[column]:
                column_scores[column], best_of_column[column] = score, position
        for position in left[:n_left]:
            row, column = rows[position], columns[position]
            if best_of_row[row] == position and best_of_column[column] == position:
                row_free[row] = column_free[column] = False
                taken[count] = position
                count += 1
        n_before, n_left = n_left, 0
        for position in left[:n_before]:
            row, column = rows[position], columns[position]
            row_scores[row] = column_scores[column] = -1
            left[n_left] = position  # overwritten by the next one if a page is taken: faster than a test
            n_left += row_free[row] & column_free[column]
    return taken[:count], left[:n_left]
