"""Compiled competition of the keys of a site for its pages. `twinlink.patterns.learning` calls this module."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import FEW, compiled_beyond, part_of_kernel

__all__ = ["compete", "strengths"]

Places = NDArray[np.int64]
Pages = NDArray[np.int32]
Spans = NDArray[np.int64]


@compiled_beyond(FEW)
def strengths(key_starts: Places, us: Pages, vs: Pages, n_pages: int) -> Places:
    """Count the pages of each key's pairs, which are sorted by key."""
    last_key = np.full(n_pages, -1, np.int64)
    counts = np.zeros(len(key_starts) - 1, np.int64)
    for k in range(len(counts)):
        for r in range(key_starts[k], key_starts[k + 1]):
            for page in (us[r], vs[r]):
                counts[k] += last_key[page] != k
                last_key[page] = k
    return counts


class _Entries(NamedTuple):
    """The distinct (key, page) of the pairs, numbered."""

    of_sources: Places
    """Number of the entry of each pair's key and source."""
    of_targets: Places
    key_of: Places
    """Key of each entry."""
    n_alive: Places
    """Number of pairs of each entry that are left."""


@part_of_kernel
def _entries(key_starts: Places, us: Pages, vs: Pages, n_pages: int) -> _Entries:
    """Number the entries of pairs that are sorted by key."""
    last_key, last_number = np.full(n_pages, -1, np.int64), np.empty(n_pages, np.int64)
    of_sources, of_targets = np.empty(len(us), np.int64), np.empty(len(us), np.int64)
    key_of, sizes = np.empty(2 * len(us), np.int64), np.zeros(2 * len(us), np.int64)
    n = 0
    for k in range(len(key_starts) - 1):
        for r in range(key_starts[k], key_starts[k + 1]):
            for page, numbers in ((us[r], of_sources), (vs[r], of_targets)):
                if last_key[page] != k:
                    last_key[page], last_number[page], key_of[n] = k, n, k
                    n += 1
                numbers[r] = last_number[page]
                sizes[last_number[page]] += 1
    return _Entries(of_sources, of_targets, key_of[:n], sizes[:n])


@part_of_kernel
def _by_page(us: Pages, vs: Pages, n_pages: int) -> tuple[Places, Places]:
    """Return where the pairs of each page begin in a list of pairs, and that list."""
    starts, pairs = np.zeros(n_pages + 1, np.int64), np.empty(2 * len(us), np.int64)
    for r in range(len(us)):
        starts[us[r]] += 1
        starts[vs[r]] += 1
    starts = np.cumsum(starts)  # where they end, and after the next loop where they begin
    for r in range(len(us)):
        for page in (us[r], vs[r]):
            starts[page] -= 1
            pairs[starts[page]] = r
    return starts, pairs


@part_of_kernel
def _bind(
    page: int,
    span: int,
    sources: Pages,
    spans: tuple[Spans, Spans],
    by_page: tuple[Places, Places],
    entries: _Entries,
    alive: NDArray[np.bool_],
    strength: Places,
) -> None:
    """Drop the pairs of a page that differ in another place than it is bound to, and count what they leave."""
    for at in range(by_page[0][page], by_page[0][page + 1]):
        q = by_page[1][at]
        if alive[q] and (spans[0][q] if sources[q] == page else spans[1][q]) != span:
            alive[q] = False
            for entry in (entries.of_sources[q], entries.of_targets[q]):
                entries.n_alive[entry] -= 1
                if entries.n_alive[entry] == 0:
                    strength[entries.key_of[entry]] -= 1


@compiled_beyond(FEW)
def compete(
    pages: tuple[Pages, Pages],
    spans: tuple[Spans, Spans],
    key_starts: Places,
    n_pages: int,
    ranks: Places,
    phases: NDArray[np.int8],
    least: Places,
) -> tuple[Places, NDArray[np.bool_]]:
    """Let keys compete for pages: the strongest takes the pages it pairs, the others are counted again without them.

    Parameters
    ----------
    pages, spans : pair of ndarray
        Source and target page of each pair and their spans, sorted by key.
    key_starts : ndarray of int64
        Where the pairs of each key begin.
    n_pages : int
    ranks : ndarray of int64
        Of two keys that are equally strong the one with the smaller rank comes first.
    phases : ndarray of int8
        First phase in which a key may win; from the next one on all keys of earlier ones may, too.
    least : ndarray of int64
        Pages that a key must pair to win in each phase.

    Returns
    -------
    order : ndarray of int64
        Keys that won, in their order.
    taken : ndarray of bool
        Marks the pairs that were taken.
    """
    us, vs = pages
    n_keys = len(key_starts) - 1
    alive, taken = np.ones(len(us), np.bool_), np.zeros(len(us), np.bool_)
    entries, strength = _entries(key_starts, us, vs, n_pages), np.zeros(n_keys, np.int64)
    for key in entries.key_of:
        strength[key] += 1
    by_page = _by_page(us, vs, n_pages)
    bound, used_by = np.full(n_pages, -1, np.int64), np.full(n_pages, -1, np.int64)
    has_won = np.zeros(n_keys, np.bool_)
    order = np.empty(n_keys, np.int64)
    n = 0
    for phase in range(len(least)):
        heap = [
            (-strength[k], ranks[k], np.int64(k))
            for k in range(n_keys)
            if phases[k] <= phase and not has_won[k] and strength[k] >= least[phase]
        ]
        heapq.heapify(heap)
        while heap:
            weight, rank, k = heapq.heappop(heap)
            if strength[k] < least[phase]:
                continue
            if -weight != strength[k]:
                heapq.heappush(heap, (-strength[k], rank, k))
                continue
            has_won[k] = True
            order[n] = k
            n += 1
            for r in range(key_starts[k], key_starts[k + 1]):
                if not alive[r] or used_by[us[r]] == k or used_by[vs[r]] == k:
                    continue
                taken[r] = True
                used_by[us[r]], used_by[vs[r]] = k, k
                for page, span in ((us[r], spans[0][r]), (vs[r], spans[1][r])):
                    if bound[page] < 0:
                        bound[page] = span
                        _bind(page, span, us, spans, by_page, entries, alive, strength)
    return order[:n], taken
