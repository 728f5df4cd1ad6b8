"""Link order: evidence from pages at the same position among the links of two paired pages.

Menus, lists and archives have their entries in the same order in every language version. So the links of two paired
pages, in document order, can be aligned, and pages aligned with each other are likely to be a pair. This separates
pages that are alike in everything else (one product on three platforms, the months of an archive).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from twinlink.compiled import FEW, compiled_beyond, part_of_kernel
from twinlink.errors import ShapeError
from twinlink.graph.checks import check_links, check_pages
from twinlink.sparse import check_csr, check_shape, entry_rows

__all__ = ["LinkLists", "link_lists", "link_order", "sublists"]

MAX_LINKS = 1_000
"""Maximum number of links aligned per page (the first ones); bounds the time for pages that list a whole site."""
SHARPNESS = 4.0
"""Exponent of the relative score in an alignment: a candidate that is clearly worse than another candidate of its
pages gives way to it. Our choice, not tuned."""
SCALE = 2.0**512
"""Numbers that are too large are stored as a multiple of a power of it."""
LARGEST = 2.0**256
"""Limit of these multiples, so that a product of two of them is a number."""
DENSE = 32
"""Positions of a sweep that take as long as a cell in a tree, about: 25 to 47 in lists of 100 links with one to eight
candidates each, 49 to 80 in lists of 1,000 links; in lists of 20 links both take the same time."""
LEAST_WEIGHT = 1e-30
"""Weight in a chain below which a pair is no candidate: it would change nothing."""
STRICTNESS = 8.0
"""λ: penalty of a chain for each candidate that it omits. Trials on nine sites, 3 to 25: the best cut moves by
.005 in both directions, but for one site (.978 to .995 with 6 to 12). With only the best chain: .968 there, the same
elsewhere."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class LinkLists(NamedTuple):
    """Pages that each page links to, in document order, each page once."""

    starts: Ints
    """Index of the first link of each page, then the number of links: shape (n_pages + 1,)."""
    targets: Ints
    """Page that each link leads to."""


class _Candidates(NamedTuple):
    """Stored entries of a matrix, row after row."""

    starts: Ints
    columns: Ints
    weights: Floats
    """What each candidate multiplies the weight of a chain by; 0: not a candidate."""


def link_lists(source: ArrayLike, target: ArrayLike, n: int) -> LinkLists:
    """Return the links of ``n`` pages as lists.

    A page that is linked twice counts at its first link; links of a page to itself are left out.

    Parameters
    ----------
    source, target : array_like of int, shape (n_links,), values 0 to n - 1
        Source and target page of each link; the links of a page in document order.
    n : int
        Number of pages.

    Raises
    ------
    ShapeError
        If the two arrays differ in length, are not integers, or have a value outside 0 to n - 1.

    Examples
    --------
    >>> lists = link_lists(np.array([0, 0, 0, 1]), np.array([2, 1, 2, 1]), 3)
    >>> lists.starts.tolist(), lists.targets.tolist()
    ([0, 2, 2, 2], [2, 1])
    """
    sources, targets = check_links(source, target, n)
    apart = np.flatnonzero(sources != targets)
    pages, linked = sources[apart].astype(np.int64), targets[apart].astype(np.int64)
    first = np.sort(np.unique(pages * n + linked, return_index=True)[1])
    by_page = first[np.argsort(pages[first], kind="stable")]
    return LinkLists(np.searchsorted(pages[by_page], np.arange(n + 1)).astype(np.int64), linked[by_page])


def sublists(lists: LinkLists, pages: NDArray[np.integer]) -> LinkLists:
    """Return the links among the given pages, renumbered in the given order.

    Examples
    --------
    >>> lists = link_lists(np.array([0, 0, 0]), np.array([3, 1, 2]), 4)
    >>> sublists(lists, np.array([2, 0, 3])).targets.tolist()
    [2, 0]
    """
    n = len(lists.starts) - 1
    place = np.full(n, -1, np.int64)
    place[pages] = np.arange(len(pages))
    source, target = place[np.repeat(np.arange(n), np.diff(lists.starts))], place[lists.targets]
    inside = (source >= 0) & (target >= 0)
    return link_lists(source[inside], target[inside], len(pages))


def link_order(lists_a: LinkLists, lists_b: LinkLists, pairs: tuple[Ints, Ints, Floats], scores: csr_array) -> Floats:
    """Compute the share of paired pages whose links put a candidate's two pages at the same position.

    The links N(p) and N(q) of each pair (p, q) are aligned: a chain of candidates (x, y), x in N(p), y in N(q),
    increases in both lists. The weight of a chain is the product of ``exp(λ·r(x, y)⁴) - 1`` over its candidates,
    with r the score divided by the best score of x or y, λ = `STRICTNESS`. With a(x, y) the share of all chains
    that the candidate is in, and P(p, q) what the pair counts for::

        order(x, y) = 2 · Σ a(x, y)·P(p, q) / (Σ_{x in N(p)} P(p, q) + Σ_{y in N(q)} P(p, q))

    Equally good chains share the weight: of five look-alikes aligned with two pages, none is preferred.

    Parameters
    ----------
    lists_a, lists_b : LinkLists
        Links among the pages of each language.
    pairs : tuple of ndarray
        Rows, columns and weights P of paired pages, weights in [0, 1].
    scores : csr_array, shape (n_pages_a, n_pages_b), values >= 0
        Candidates, sorted, with any similarity measure; an entry of 0 is not a candidate.

    Returns
    -------
    ndarray of float64, shape (scores.nnz,), values in [0, 1]
        0 where no paired pages link to the two pages.

    Raises
    ------
    ShapeError
        If the number of lists differs from the number of rows or columns, a pair or the target of a link lies outside
        ``scores``, the arrays of ``pairs`` differ in length, or ``scores`` is no ``csr_array``.

    Examples
    --------
    Pages 0 and 0' are paired; each links to two pages that no other evidence distinguishes:

    >>> lists = link_lists(np.array([0, 0]), np.array([1, 2]), 3)
    >>> scores = csr_array(np.array([[0.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 0.5, 0.5]]))
    >>> link_order(lists, lists, (np.array([0]), np.array([0]), np.array([1.0])), scores).round(2).tolist()
    [1.0, 0.0, 0.0, 1.0]
    """
    scores = check_csr(scores, "scores")
    lists_a, lists_b = (_checked_lists(lists, n) for lists, n in zip((lists_a, lists_b), scores.shape, strict=True))
    rows = entry_rows(scores)
    factors = np.expm1(STRICTNESS * _relative(scores, rows) ** SHARPNESS)
    factors[factors < LEAST_WEIGHT] = 0.0
    candidates = _Candidates(scores.indptr.astype(np.int64), scores.indices.astype(np.int64), factors)
    of_rows, of_columns = (check_pages(of, n, "pairs") for of, n in zip(pairs[:2], scores.shape, strict=True))
    weights = np.asarray(pairs[2], np.float64)
    for array, name in ((of_columns, "columns of pairs"), (weights, "weights of pairs")):
        check_shape(array, of_rows.shape, name, "their rows")
    votes, seen_a, seen_b = _vote(
        lists_a,
        lists_b,
        of_rows.astype(np.int64),
        of_columns.astype(np.int64),
        weights,
        candidates,
    )
    seen = seen_a[rows] + seen_b[scores.indices]
    return np.asarray(2 * votes / np.where(seen > 0, seen, 1.0))


def _checked_lists(lists: LinkLists, n: int) -> LinkLists:
    """Return the lists of links among ``n`` pages in the types that the kernel is compiled for."""
    starts, targets = np.asarray(lists.starts), check_pages(lists.targets, n, "link lists")
    if len(starts) != n + 1:
        raise ShapeError(f"link lists: expected one for each of {n} pages, got {len(starts) - 1}")
    if starts[0] != 0 or starts[-1] > len(targets) or (np.diff(starts) < 0).any():
        raise ShapeError(f"link lists: expected starts that rise from 0 to at most {len(targets)}, got others")
    return LinkLists(starts.astype(np.int64, copy=False), targets.astype(np.int64, copy=False))


def _relative(scores: csr_array, rows: NDArray[np.integer]) -> Floats:
    """Return each score divided by the best score of its row or its column."""
    values = scores.data.astype(np.float64)
    of_row, of_column = np.zeros(scores.shape[0]), np.zeros(scores.shape[1])
    np.maximum.at(of_row, rows, values)
    np.maximum.at(of_column, scores.indices, values)
    best = np.maximum(of_row[rows], of_column[scores.indices])
    relative: Floats = values / np.where(best > 0, best, 1.0)
    return relative


@part_of_kernel
def _plus(x: float, power_x: int, y: float, power_y: int) -> tuple[float, int]:
    """Return the sum of x and y, numbers that stand for ``x · SCALE ** power_x``."""
    if power_x < power_y:
        x, power_x, y, power_y = y, power_y, x, power_x
    if power_x == power_y:
        x += y
    elif power_x == power_y + 1:  # else y is too small to change x
        x += y / SCALE
    return (x, power_x) if x < LARGEST else (x / SCALE, power_x + 1)


@part_of_kernel
def _number(x: float, power: int) -> float:
    """Return ``x · SCALE ** power``; 0 if it is too small for a number."""
    for _ in range(power):
        x *= SCALE
    while power < 0 < x:
        x /= SCALE
        power += 1
    return x


@part_of_kernel
def _sums_before(places: Ints, weights: Floats, width: int) -> tuple[Floats, Ints]:
    """Return the sum over all chains that end with each cell of the product of their weights, as `_plus` takes it.

    Cells are ordered by row, then by descending position.
    """
    n_runs = 1
    for cell in range(1, len(places)):
        n_runs += places[cell] >= places[cell - 1]
    if n_runs * width <= DENSE * len(places):
        return _sums_by_sweeps(places, weights, width)
    return _sums_by_tree(places, weights, width)


@part_of_kernel
def _sums_by_tree(places: Ints, weights: Floats, width: int) -> tuple[Floats, Ints]:
    """Do what `_sums_before` does, for few cells: a Fenwick tree (1994) holds the sums up to each position."""
    tree, tree_powers = np.zeros(width + 1), np.zeros(width + 1, np.int64)
    sums, powers = np.empty(len(places)), np.empty(len(places), np.int64)
    for cell in range(len(places)):
        total, power = 1.0, 0  # the chain begins here
        at = places[cell]
        while at > 0:
            total, power = _plus(total, power, tree[at], tree_powers[at])
            at -= at & -at
        total *= weights[cell]
        sums[cell], powers[cell] = total, power
        at = places[cell] + 1
        while at <= width:
            tree[at], tree_powers[at] = _plus(tree[at], tree_powers[at], total, power)
            at += at & -at
    return sums, powers


@part_of_kernel
def _sums_by_sweeps(places: Ints, weights: Floats, width: int) -> tuple[Floats, Ints]:
    """Do what `_sums_before` does, for many cells in each row: one sweep over the positions for each descending run.

    A run may have cells of several rows: no chain has two of them.
    """
    before, before_powers = np.ones(width), np.zeros(width, np.int64)  # chains that end before each position
    ending, ending_powers = np.zeros(width), np.zeros(width, np.int64)  # those of this run that end there
    sums, powers = np.empty(len(places)), np.empty(len(places), np.int64)
    first = 0
    while first < len(places):
        end = first + 1
        while end < len(places) and places[end] < places[end - 1]:
            end += 1
        for cell in range(first, end):
            ending[places[cell]] = weights[cell]
        _sweep(places[end - 1], before, before_powers, ending, ending_powers)
        for cell in range(first, end):
            sums[cell], powers[cell] = ending[places[cell]], ending_powers[places[cell]]
            ending[places[cell]] = 0.0
        first = end
    return sums, powers


@part_of_kernel
def _sweep(first: int, before: Floats, before_powers: Ints, ending: Floats, ending_powers: Ints) -> None:
    """Multiply the weights in ``ending`` by the sums before them, and add the products to the sums behind them.

    The sums, and so their powers, never fall from one position to the next: nor do they by rounding, which keeps order.
    """
    total, power = 0.0, before_powers[first]
    for at in range(first, len(before)):
        while power < before_powers[at]:
            total /= SCALE
            power += 1
        known = before[at]
        before[at] = known + total
        if before[at] >= LARGEST:
            before[at] /= SCALE
            before_powers[at] += 1
        ending[at] *= known
        ending_powers[at] = power
        total += ending[at]


@part_of_kernel
def _shares_of_chains(places: Ints, weights: Floats, width: int) -> Floats:
    """Return the share of all chains, by their weights, that each cell is in.

    Cells are ordered by row, then by descending position. Sums have a power of `SCALE` beside them, because those of
    pages with hundreds of links are too large for a number.
    """
    before, powers = _sums_before(places, weights, width)
    after, powers_after = _sums_before(width - 1 - places[::-1], weights[::-1], width)
    total, power = 1.0, 0
    for cell in range(len(places)):
        total, power = _plus(total, power, before[cell], powers[cell])
    shares = np.empty(len(places))
    for cell in range(len(places)):
        share = before[cell] / total * (after[-1 - cell] / weights[cell])
        shares[cell] = _number(share, powers[cell] + powers_after[-1 - cell] - power)
    return shares


@part_of_kernel
def _by_column(candidates: _Candidates, n_columns: int) -> tuple[Ints, Ints, Ints]:
    """Return the candidates column by column: where each column starts, and row and number of each candidate."""
    starts = np.zeros(n_columns + 2, np.int64)
    for entry in range(len(candidates.columns)):
        starts[candidates.columns[entry] + 2] += candidates.weights[entry] > 0
    for column in range(n_columns):
        starts[column + 2] += starts[column + 1]
    rows, entries = np.empty(starts[-1], np.int64), np.empty(starts[-1], np.int64)
    for row in range(len(candidates.starts) - 1):
        for entry in range(candidates.starts[row], candidates.starts[row + 1]):
            if candidates.weights[entry] > 0:
                at = starts[candidates.columns[entry] + 1]
                rows[at], entries[at] = row, entry
                starts[candidates.columns[entry] + 1] += 1
    return starts[:-1], rows, entries


@part_of_kernel
def _cells(near_b: Ints, n_rows: int, row_of: Ints, by_column: tuple[Ints, Ints, Ints]) -> tuple[Ints, Ints]:
    """Return the candidates of which both pages are linked, by row and descending position; and their positions.

    ``row_of`` is the row of each page that the other list has, -1 for all others.
    """
    starts, rows, entries = by_column
    ends = np.zeros(n_rows + 1, np.int64)
    for page in near_b:
        for k in range(starts[page], starts[page + 1]):
            ends[row_of[rows[k]] + 1] += 1
    ends[0] = 0  # those of no row
    for row in range(n_rows):
        ends[row + 1] += ends[row]
    found, places = np.empty(ends[-1], np.int64), np.empty(ends[-1], np.int64)
    for place in range(len(near_b) - 1, -1, -1):
        for k in range(starts[near_b[place]], starts[near_b[place] + 1]):
            row = row_of[rows[k]]
            if row >= 0:
                found[ends[row]], places[ends[row]] = entries[k], place
                ends[row] += 1
    return found, places


@compiled_beyond(FEW)
def _vote(
    lists_a: LinkLists, lists_b: LinkLists, rows: Ints, columns: Ints, weights: Floats, candidates: _Candidates
) -> tuple[Floats, Floats, Floats]:
    """Return the weighted number of pairs that align each candidate, and that link to each page of both languages."""
    votes = np.zeros(len(candidates.columns))
    seen_a, seen_b = np.zeros(len(lists_a.starts) - 1), np.zeros(len(lists_b.starts) - 1)
    by_column, row_of = _by_column(candidates, len(seen_b)), np.full(len(seen_a), -1, np.int64)
    for pair in range(len(rows)):
        near_a = lists_a.targets[lists_a.starts[rows[pair]] : lists_a.starts[rows[pair] + 1]][:MAX_LINKS]
        near_b = lists_b.targets[lists_b.starts[columns[pair]] : lists_b.starts[columns[pair] + 1]][:MAX_LINKS]
        for page in near_b:
            seen_b[page] += weights[pair]
        for row in range(len(near_a)):
            seen_a[near_a[row]] += weights[pair]
            row_of[near_a[row]] = row
        entries, places = _cells(near_b, len(near_a), row_of, by_column)
        shares = _shares_of_chains(places, candidates.weights[entries], len(near_b))
        for cell in range(len(entries)):
            votes[entries[cell]] += weights[pair] * shares[cell]
        for page in near_a:
            row_of[page] = -1
    return votes, seen_a, seen_b
