"""Compiled learning of URL patterns: addresses with a common signature, their keys, the competition of keys.

Everything is counted before it is kept: a unique signature or key costs two bits and is never stored.
`twinlink.patterns.learning` calls this module.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import FEW, compiled_beyond, part_of_kernel
from twinlink.patterns.url_kernels import (
    CUT_LEFT,
    CUT_LETTERS,
    EVERYWHERE,
    LETTERS,
    MAX_MASKS,
    VARIABLE,
    WHOLE,
    hash_bytes,
    is_token,
    masks_of,
    mix,
)

__all__ = [
    "HEAD",
    "INSIDE",
    "REPEATED",
    "TAIL",
    "TOKEN",
    "URL_KERNELS",
    "compete",
    "crowded_pairs",
    "group_pairs",
    "key_hash",
    "shared_masks",
    "whole_first",
]

TOKEN, HEAD, TAIL, INSIDE = range(4)
"""Levels of keys: whole tokens, or letters at the head or tail of a token, or between its digits."""

URL_KERNELS = "adb5cf6e566ccb09"
"""Digest of ``url_kernels.py``. Numba caches compiled code by the content of its own file, not of the files that it
calls: without this, an upgrade could use old code. A test checks the digest."""

REPEATED = 1 << 15
"""Added to the first place of a mask that stands for all places of its token."""

_ONE, _TWO, _THREE, _31 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(31)
_FIVE = np.uint64(5)
_GOLD = np.uint64(0x9E3779B97F4A7C15)

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Pages = NDArray[np.int32]
Spans = NDArray[np.int64]
Masks = tuple[NDArray[Any], ...]
"""Signature (uint64), form, first and last place (int32) and kind (int8) of each mask."""
Pairs = tuple[NDArray[Any], ...]
"""Key (uint64), source and target form (int32), their spans (int64) and level (int8) of each pair."""


@part_of_kernel
def _table(n: int) -> Hashes:
    """Return a table for ``_seen`` with at least n places: a power of two."""
    words = 1
    while words * 32 < n:
        words *= 2
    return np.zeros(words, np.uint64)


@part_of_kernel
def _seen(table: Hashes, x: np.uint64) -> int:
    """Count a hash in a table of two bits each; return how often it had come before: 0, 1, or 2 for more."""
    x &= np.uint64(len(table) * 32 - 1)
    word, shift = np.int64(x >> _FIVE), (x & _31) * _TWO
    before = (table[word] >> shift) & _THREE
    if before < _TWO:
        table[word] += _ONE << shift
    return int(before)


@part_of_kernel
def _count(table: Hashes, x: np.uint64) -> int:
    """Return how often a hash was counted: 0, 1, or 2 for more."""
    x &= np.uint64(len(table) * 32 - 1)
    return int((table[np.int64(x >> _FIVE)] >> ((x & _31) * _TWO)) & _THREE)


@compiled_beyond(FEW)
def shared_masks(
    text: Bytes, starts: Places, lasts: Places, limits: tuple[int, int, int, bool], power: Hashes, longest: int
) -> Masks:
    """Return the masks whose signature two of the forms have: signature, form, first and last place, kind.

    A few others may be included: hashes are counted in a table with at least 400 places per form.
    """
    n_forms = len(starts)
    table = _table(400 * n_forms)
    h = np.empty(longest + 1, np.uint64)
    signatures, kinds = np.empty(MAX_MASKS, np.uint64), np.empty(MAX_MASKS, np.int8)
    first, last = np.empty(MAX_MASKS, np.int32), np.empty(MAX_MASKS, np.int32)
    n_shared = 0
    for k in range(n_forms):
        n = masks_of(text, starts[k], lasts[k], limits, power, h, signatures, first, last, kinds)
        for i in range(n):
            before = _seen(table, signatures[i])
            n_shared += 2 if before == 1 else 1 if before > 1 else 0
    found_sig, found_page = np.empty(n_shared, np.uint64), np.empty(n_shared, np.int32)
    found_first, found_last = np.empty(n_shared, np.int32), np.empty(n_shared, np.int32)
    found_kind = np.empty(n_shared, np.int8)
    at = 0
    for k in range(n_forms):
        n = masks_of(text, starts[k], lasts[k], limits, power, h, signatures, first, last, kinds)
        for i in range(n):
            if _count(table, signatures[i]) > 1:
                found_sig[at], found_page[at], found_kind[at] = signatures[i], k, kinds[i]
                found_first[at], found_last[at] = first[i], last[i]
                at += 1
    return found_sig, found_page, found_first, found_last, found_kind


@compiled_beyond(FEW)
def key_hash(level: int, source: np.uint64, target: np.uint64) -> np.uint64:
    """Hash of a key from its level and the hashes of its two sides."""
    return _key_hash(level, source, target)


@part_of_kernel
def _key_hash(level: int, source: np.uint64, target: np.uint64) -> np.uint64:
    return mix(source + mix(target + _GOLD * np.uint64(level + 1)))


@part_of_kernel
def _is_after(text: Bytes, a: int, a_end: int, b: int, b_end: int) -> bool:
    """Whether the first text comes behind the second in the order of their bytes."""
    for i in range(min(a_end - a, b_end - b)):
        if text[a + i] != text[b + i]:
            return bool(text[a + i] > text[b + i])
    return a_end - a > b_end - b


@part_of_kernel
def _is_least(text: Bytes, a: int, a_end: int, b: int, b_end: int, kind: int) -> bool:
    """Whether two masked parts have no token in common at either end (of masks inside a token: no letter)."""
    if kind == VARIABLE:
        return True
    size = min(a_end - a, b_end - b)
    if kind == LETTERS:
        return bool(text[a] != text[b] and text[a_end - 1] != text[b_end - 1])
    i = 0
    while i < size and text[a + i] == text[b + i] and is_token(text[a + i]):
        i += 1
    if i > 0 and not (a + i < a_end and is_token(text[a + i])) and not (b + i < b_end and is_token(text[b + i])):
        return False
    i = 1
    while i <= size and text[a_end - i] == text[b_end - i] and is_token(text[a_end - i]):
        i += 1
    is_whole_a = a_end - i < a or not is_token(text[a_end - i])
    is_whole_b = b_end - i < b or not is_token(text[b_end - i])
    return not (i > 1 and is_whole_a and is_whole_b)


@part_of_kernel
def _has_letter(text: Bytes, start: int, end: int, kind: int) -> bool:
    """Whether a mask has a letter; of a variable its value counts."""
    value = start
    if kind == VARIABLE:
        for i in range(start, end):
            if text[i] == 61:
                value = i + 1
                break
    for i in range(value, end):  # noqa: SIM110  (numba has no generators)
        if 97 <= text[i] <= 122 or text[i] >= 128:
            return True
    return False


@part_of_kernel
def _level(text: Bytes, form: int, form_end: int, a: int, b: int, kind: int) -> int:
    if kind not in (LETTERS, CUT_LETTERS):
        return TOKEN
    if a == form or not is_token(text[a - 1]):
        return HEAD
    return TAIL if b == form_end or not is_token(text[b]) else INSIDE


@part_of_kernel
def _span(first: int, last: int) -> int:
    """Return two places as one number of 64 bits."""
    return (int(first) << 16) | int(last)


@part_of_kernel
def _may_pair(langs: Pages, u: int, v: int) -> bool:
    """Whether the languages of two pages are not known to be the same."""
    return bool(langs[u] < 0 or langs[v] < 0 or langs[u] != langs[v])


@part_of_kernel
def _pair(
    text: Bytes, starts: Places, lasts: Places, langs: Pages, masks: Masks, i: int, j: int
) -> tuple[np.uint64, int, int, int, int, int]:
    """Key, page and span of the source, page and span of the target, and level of what two masks give; key 0: nothing.

    The source is the side that comes first in the order of bytes, the empty one before all others.
    """
    _, page, first, last, kind = masks
    nothing = np.uint64(0), 0, 0, 0, 0, 0
    if page[i] == page[j] or not _may_pair(langs, page[i], page[j]):
        return nothing
    if kind[i] == WHOLE or kind[j] == WHOLE:
        v, u = (j, i) if kind[i] == WHOLE else (i, j)
        x = starts[page[v]]
        a, b = x + first[v], x + last[v]
        gap = first[v] - 1 if kind[v] == CUT_LEFT else first[v]
        level = _level(text, x, lasts[page[v]], a, b, kind[v])
        key = _key_hash(level, np.uint64(0), hash_bytes(text, a, b))
        return key, page[u], _span(gap, gap), page[v], _span(first[v], last[v]), level
    a, b = starts[page[i]] + first[i], starts[page[j]] + first[j]
    a_end, b_end = starts[page[i]] + last[i], starts[page[j]] + last[j]
    if not _is_least(text, a, a_end, b, b_end, kind[i]):
        return nothing
    is_known = langs[page[i]] >= 0 and langs[page[j]] >= 0
    if not is_known and not (_has_letter(text, a, a_end, kind[i]) or _has_letter(text, b, b_end, kind[j])):
        return nothing
    u, v = i, j
    if _is_after(text, a, a_end, b, b_end):
        u, v, a, a_end, b, b_end = j, i, b, b_end, a, a_end
    level = _level(text, starts[page[u]], lasts[page[u]], a, a_end, kind[u])
    key = _key_hash(level, hash_bytes(text, a, a_end), hash_bytes(text, b, b_end))
    more = REPEATED if kind[u] == EVERYWHERE else 0
    span_u, span_v = _span(first[u] | more, last[u]), _span(first[v] | more, last[v])
    return key, page[u], span_u, page[v], span_v, level


@part_of_kernel
def _bounds(signatures: Hashes, i: int) -> int:
    """Where the run of equal signatures that begins at ``i`` ends."""
    j = i + 1
    while j < len(signatures) and signatures[j] == signatures[i]:
        j += 1
    return j


@compiled_beyond(FEW)
def whole_first(masks: Masks) -> None:
    """Put the whole address in front of the cuts that leave it, in masks that are sorted by signature."""
    signatures, page, first, last, kind = masks
    i = 0
    while i < len(signatures):
        end = _bounds(signatures, i)
        if kind[i] > WHOLE:
            for j in range(i + 1, end):
                if kind[j] == WHOLE:
                    page[i], page[j] = page[j], page[i]
                    first[i], first[j] = first[j], first[i]
                    last[i], last[j] = last[j], last[i]
                    kind[i], kind[j] = kind[j], kind[i]
                    break
        i = end


@part_of_kernel
def _is_known(known: Hashes, key: np.uint64) -> bool:
    at = np.searchsorted(known, key)
    return bool(at < len(known) and known[at] == key)


@part_of_kernel
def _next(masks: Masks, i: int, end: int, a: int, b: int, most: int) -> tuple[int, int]:
    """Next two masks of a group after (a, b): of a group of cuts the whole address (it comes first) with each of them.

    Returns (end, end) after the last one, at once where a group has more than ``most`` masks.
    """
    is_cut = masks[4][i] >= WHOLE
    if is_cut:
        if masks[4][i] != WHOLE:
            return end, end
        return (i, b + 1) if b + 1 < end else (end, end)
    if end - i > most:
        return end, end
    if b + 1 < end:
        return a, b + 1
    return (a + 1, a + 2) if a + 2 < end else (end, end)


@compiled_beyond(FEW)
def group_pairs(
    text: Bytes, starts: Places, lasts: Places, langs: Pages, masks: Masks, most: int, least: int, known: Hashes
) -> tuple[Pairs, Places]:
    """Return the pairs of forms that meet under a signature, if at least ``least`` of them (1 or more) share a key.

    Parameters
    ----------
    masks : tuple of ndarray
        From `shared_masks`, sorted by signature, whole addresses first.
    most : int
        Maximum number of masks of a signature; beyond it, none are paired.
    least : int
        2 or more: keys of a single pair are left out, unless they are ``known``; what comes under one by chance may
        stay.
    known : ndarray of uint64
        Hashes of keys, sorted.

    Returns
    -------
    pairs : tuple of ndarray
        Key, source page, target page, their spans (first place · 2¹⁶ + last place), level.
    crowded : ndarray of int64
        Where a signature with too many masks begins.
    """
    signatures = masks[0]
    n_pairs, n_crowded, i = 0, 0, 0
    while i < len(signatures):
        end = _bounds(signatures, i)
        is_cut = masks[4][i] >= WHOLE
        n_pairs += end - i - 1 if is_cut else (end - i) * (end - i - 1) // 2 if end - i <= most else 0
        n_crowded += 0 if is_cut or end - i <= most else 1
        i = end
    table = _table(4 * n_pairs)
    crowded = np.empty(n_crowded, np.int64)
    keys, levels = np.empty(0, np.uint64), np.empty(0, np.int8)
    us, vs = np.empty(0, np.int32), np.empty(0, np.int32)
    spans_u, spans_v = np.empty(0, np.int64), np.empty(0, np.int64)
    for keep in range(2):
        n, at_crowded, i = 0, 0, 0
        while i < len(signatures):
            end = _bounds(signatures, i)
            if masks[4][i] < WHOLE and end - i > most:
                crowded[at_crowded] = i
                at_crowded += 1
            a, b = _next(masks, i, end, i, i, most)
            while b < end:
                key, u, span_u, v, span_v, level = _pair(text, starts, lasts, langs, masks, a, b)
                if key != 0:
                    if keep == 0:
                        before = _seen(table, key)  # another key may have its place: then there is room to spare
                        n += 2 if before == 1 else 1 if before > 1 or least < 2 or _is_known(known, key) else 0
                    elif least < 2 or _count(table, key) > 1 or _is_known(known, key):
                        keys[n], us[n], vs[n], spans_u[n], spans_v[n], levels[n] = key, u, v, span_u, span_v, level
                        n += 1
                a, b = _next(masks, i, end, a, b, most)
            i = end
        if keep == 0:
            keys, levels = np.empty(n, np.uint64), np.empty(n, np.int8)
            us, vs = np.empty(n, np.int32), np.empty(n, np.int32)
            spans_u, spans_v = np.empty(n, np.int64), np.empty(n, np.int64)
        else:
            keys, levels, us, vs = keys[:n], levels[:n], us[:n], vs[:n]
            spans_u, spans_v = spans_u[:n], spans_v[:n]
    return (keys, us, vs, spans_u, spans_v, levels), crowded


@compiled_beyond(FEW)
def crowded_pairs(
    text: Bytes,
    starts: Places,
    lasts: Places,
    langs: Pages,
    masks: Masks,
    crowded: Places,
    sides: tuple[Hashes, Hashes, Hashes],
) -> Pairs:
    """Return the pairs of crowded signatures that have one of some keys: looked up, a mask at a time.

    Parameters
    ----------
    sides : tuple of ndarray of uint64
        Of each key the hashes of source and target, sorted by source, and its own hash.
    """
    sources, targets, wanted = sides
    keys, levels = [np.uint64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    us, vs = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    spans_u, spans_v = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    for i in crowded:
        end = _bounds(masks[0], i)
        parts = np.empty(end - i, np.uint64)
        for k in range(i, end):
            x = starts[masks[1][k]]
            parts[k - i] = hash_bytes(text, x + masks[2][k], x + masks[3][k])
        order = np.argsort(parts)
        parts_sorted = parts[order]
        for k in range(i, end):
            at = np.searchsorted(sources, parts[k - i])
            while at < len(sources) and sources[at] == parts[k - i]:
                other = np.searchsorted(parts_sorted, targets[at])
                while other < len(order) and parts_sorted[other] == targets[at]:
                    key, u, span_u, v, span_v, level = _pair(text, starts, lasts, langs, masks, k, i + order[other])
                    if key == wanted[at]:
                        keys.append(key)
                        us.append(np.int64(u))
                        vs.append(np.int64(v))
                        spans_u.append(np.int64(span_u))
                        spans_v.append(np.int64(span_v))
                        levels.append(np.int64(level))
                    other += 1
                at += 1
    return (
        np.array(keys, np.uint64),
        np.array(us, np.int32),
        np.array(vs, np.int32),
        np.array(spans_u, np.int64),
        np.array(spans_v, np.int64),
        np.array(levels, np.int8),
    )


@part_of_kernel
def _bind(
    page: int,
    span: int,
    pages: tuple[Pages, Pages],
    spans: tuple[Spans, Spans],
    counted: tuple[Places, Places],
    by_page: tuple[Places, Places],
    key_of: Places,
    alive: NDArray[np.bool_],
    alive_of: Places,
    strength: Places,
) -> None:
    """Drop the pairs of a page that differ in another place than it is bound to, and count what they leave."""
    for at in range(by_page[0][page], by_page[0][page + 1]):
        q = by_page[1][at]
        if alive[q] and (spans[0][q] if pages[0][q] == page else spans[1][q]) != span:
            alive[q] = False
            for c in (counted[0][q], counted[1][q]):
                alive_of[c] -= 1
                if alive_of[c] == 0:
                    strength[key_of[c]] -= 1


@compiled_beyond(FEW)
def compete(  # noqa: C901  (one loop inside the other, each a line of the description)
    pages: tuple[Pages, Pages],
    spans: tuple[Spans, Spans],
    counted: tuple[Places, Places],
    key_starts: Places,
    by_page: tuple[Places, Places],
    key_of: Places,
    phases: NDArray[np.int8],
    least: Places,
    n_phases: int,
) -> tuple[Places, NDArray[np.bool_]]:
    """Let keys compete for pages: the strongest takes the pages it pairs, the others are counted again without them.

    Parameters
    ----------
    pages, spans : pair of ndarray
        Source and target page of each pair and their spans, sorted by key; keys are numbered by rank: of two that are
        equally strong the one with the smaller number comes first.
    counted : pair of ndarray of int64
        Number of (key, source page) and of (key, target page) of each pair.
    key_starts : ndarray of int64
        Where the pairs of each key begin.
    by_page : pair of ndarray of int64
        Where the pairs of each page begin, and those pairs.
    key_of : ndarray of int64
        Key of each number in ``counted``.
    phases : ndarray of int8
        First phase in which a key may win; from the next one on all keys of earlier ones may, too.
    least : ndarray of int64, length n_phases
        Pages that a key must pair to win in a phase.
    n_phases : int

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
    alive_of = np.zeros(len(key_of), np.int64)
    strength = np.zeros(n_keys, np.int64)
    for r in range(len(us)):
        for c in (counted[0][r], counted[1][r]):
            if alive_of[c] == 0:
                strength[key_of[c]] += 1
            alive_of[c] += 1
    bound = np.full(len(by_page[0]) - 1, -1, np.int64)
    used_by = np.full(len(by_page[0]) - 1, -1, np.int64)
    has_won = np.zeros(n_keys, np.bool_)
    order = np.empty(n_keys, np.int64)
    n = 0
    for phase in range(n_phases):
        heap = [
            (-strength[k], np.int64(k))
            for k in range(n_keys)
            if phases[k] <= phase and not has_won[k] and strength[k] >= least[phase]
        ]
        heapq.heapify(heap)
        while heap:
            weight, k = heapq.heappop(heap)
            if strength[k] < least[phase]:
                continue
            if -weight != strength[k]:
                heapq.heappush(heap, (-strength[k], k))
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
                        _bind(page, span, pages, spans, counted, by_page, key_of, alive, alive_of, strength)
    return order[:n], taken
