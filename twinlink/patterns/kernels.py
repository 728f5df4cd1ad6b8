"""Compiled learning of URL patterns: addresses with a common signature, and their keys.

Everything is counted before it is kept: a unique signature or key costs two bits and is never stored.
`twinlink.patterns.learning` calls this module.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import FEW, compiled_beyond, part_of_kernel
from twinlink.patterns.url_kernels import (
    CUT_LEFT,
    CUT_LETTERS,
    EVERYWHERE,
    LETTERS,
    VARIABLE,
    WHOLE,
    hash_bytes,
    is_before,
    is_token,
    mask_room,
    masks_of,
    mix,
    whole_signature,
)
from twinlink.patterns.url_kernels import Masks as FormMasks
from twinlink.prefetching import prefetch

__all__ = [
    "HEAD",
    "INSIDE",
    "REPEATED",
    "TAIL",
    "TOKEN",
    "crowded_pairs",
    "group_pairs",
    "key_hash",
    "shared_masks",
    "whole_first",
]

TOKEN, HEAD, TAIL, INSIDE = range(4)
"""Levels of keys: whole tokens, or letters at the head or tail of a token, or between its digits."""

REPEATED = 1 << 15
"""Added to the first place of a mask that stands for all places of its token."""

_ZERO, _ONE, _TWO, _THREE, _31 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(31)
_FIVE, _EIGHT = np.uint64(5), np.uint64(8)
_GOLD = np.uint64(0x9E3779B97F4A7C15)

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Pages = NDArray[np.int32]
Masks = tuple[NDArray[Any], ...]
"""Signature (uint64), form, first and last place (int32) and kind (int8) of each mask."""
Sides = tuple[Hashes, tuple[Hashes, Hashes], Hashes, NDArray[np.bool_], Places]
"""Of each mask of a group: hashes of its part and of its two ends, its first bytes, whether it has a letter, level."""
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
    """Count a hash in a table of two bits each (never, once, more often); return how many more are now shared.

    The first of its kind adds none, the second one two. There is no branch that the processor could mispredict.
    """
    x &= np.uint64(len(table) * 32 - 1)
    word, shift = np.int64(x >> _FIVE), (x & _31) * _TWO
    before = (table[word] >> shift) & _THREE
    table[word] |= (_ONE | (before & _ONE) << _ONE) << shift
    return int(before > _ZERO) + int(before == _ONE)


@part_of_kernel
def _count(table: Hashes, x: np.uint64) -> int:
    """Return how often a hash was counted: 0, 1, or more."""
    x &= np.uint64(len(table) * 32 - 1)
    return int((table[np.int64(x >> _FIVE)] >> ((x & _31) * _TWO)) & _THREE)


@part_of_kernel
def _request(n: int, masks: FormMasks, table: Hashes, whole: Hashes) -> None:
    """Request the places of masks in their tables: on a large site, the processor would wait for each of them."""
    signatures, _, _, kinds = masks
    for i in range(n):
        counts = table if kinds[i] < WHOLE else whole
        prefetch(counts, np.int64((signatures[i] & np.uint64(len(counts) * 32 - 1)) >> _FIVE))


@compiled_beyond(FEW)
def shared_masks(
    text: Bytes, starts: Places, lasts: Places, limits: tuple[int, int, int, bool], power: Hashes, longest: int
) -> Masks:
    """Return the masks whose signature two of the forms have: signature, form, first and last place, kind.

    Of cuts, and of whole forms, those that meet the other. A few more may be included: hashes are counted in tables
    with at least 100 places per form, and 32 for whole forms.
    """
    n_forms = len(starts)
    table, whole = _table(100 * n_forms), _table(32 * n_forms)
    room = mask_room(longest)
    signatures, first, last, kinds = room[0]
    n_shared = 0
    for k in range(n_forms):
        n_shared += _seen(whole, whole_signature(text, starts[k], lasts[k]))
    for k in range(n_forms):
        n = masks_of(text, starts[k], lasts[k], limits, power, room)
        _request(n, room[0], table, whole)
        for i in range(1, n):
            if kinds[i] < WHOLE or _count(whole, signatures[i]) > 0:
                n_shared += _seen(table if kinds[i] < WHOLE else whole, signatures[i])
    found_sig, found_page = np.empty(n_shared, np.uint64), np.empty(n_shared, np.int32)
    found_first, found_last = np.empty(n_shared, np.int32), np.empty(n_shared, np.int32)
    found_kind = np.empty(n_shared, np.int8)
    at = 0
    for k in range(n_forms):
        n = masks_of(text, starts[k], lasts[k], limits, power, room)
        _request(n, room[0], table, whole)
        for i in range(n):
            if _count(table if kinds[i] < WHOLE else whole, signatures[i]) > 1:
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
def _ends(text: Bytes, start: int, end: int, kind: int) -> tuple[np.uint64, np.uint64]:
    """Hashes of the first and the last token of a masked part; of letters the first and the last one."""
    if kind == LETTERS:
        return np.uint64(text[start]), np.uint64(text[end - 1])
    first, last = start, end
    while first < end and is_token(text[first]):
        first += 1
    while last > start and is_token(text[last - 1]):
        last -= 1
    return hash_bytes(text, start, first), hash_bytes(text, last, end)


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
def _sides_room(n: int) -> Sides:
    """Return arrays for `_read_sides`, for groups of at most ``n`` masks."""
    heads, tails, fronts = np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.uint64)
    return np.empty(n, np.uint64), (heads, tails), fronts, np.empty(n, np.bool_), np.empty(n, np.int64)


@part_of_kernel
def _front(text: Bytes, start: int, end: int) -> np.uint64:
    """Return the first eight bytes as a number that is ordered as they are."""
    front = np.uint64(0)
    for i in range(start, start + 8):
        front = (front << _EIGHT) | np.uint64(text[i] if i < end else 0)
    return front


@part_of_kernel
def _read_sides(text: Bytes, starts: Places, lasts: Places, masks: Masks, i: int, end: int, sides: Sides) -> None:
    """Read what `_keys_behind` compares of each mask of a group, once for all its pairs."""
    _, page, first, last, kind = masks
    parts, (heads, tails), fronts, letters, levels = sides
    for k in range(i, end):
        x = starts[page[k]]
        a, b = x + first[k], x + last[k]
        parts[k - i] = hash_bytes(text, a, b)
        levels[k - i] = _level(text, x, lasts[page[k]], a, b, kind[k])
        if kind[k] < WHOLE:
            heads[k - i], tails[k - i] = _ends(text, a, b, kind[k])
            fronts[k - i] = _front(text, a, b)
            letters[k - i] = _has_letter(text, a, b, kind[k])


@part_of_kernel
def _keys_behind(
    text: Bytes,
    starts: Places,
    langs: Pages,
    masks: Masks,
    sides: Sides,
    begin: int,
    i: int,
    others: tuple[int, int],
    keys: Hashes,
    is_target: NDArray[np.bool_],
) -> None:
    """Write the key of mask ``i`` with each one of a part of its group, 0: none; and whether ``i`` is the target.

    The source is the side that comes first in the order of bytes, the empty one before all others. ``sides`` are those
    of the group that begins at ``begin``, where the keys are written, too.
    """
    _, page, first, last, kind = masks
    parts, (heads, tails), fronts, letters, levels = sides
    x, is_whole, is_variable = i - begin, kind[i] == WHOLE, kind[i] == VARIABLE
    for j in range(others[0], others[1]):
        y = j - begin
        keys[y], is_target[y] = np.uint64(0), False
        if page[i] == page[j] or not _may_pair(langs, page[i], page[j]):
            continue
        if is_whole:
            keys[y] = _key_hash(levels[y], np.uint64(0), parts[y])
            continue
        if not is_variable and (heads[x] == heads[y] or tails[x] == tails[y]):
            continue  # a token (of letters: a letter) in common at either end
        if not (letters[x] or letters[y] or (langs[page[i]] >= 0 and langs[page[j]] >= 0)):
            continue
        is_after = fronts[x] > fronts[y]
        if fronts[x] == fronts[y]:
            a, b = starts[page[i]], starts[page[j]]
            is_after = is_before(text, b + first[j], b + last[j], a + first[i], a + last[i])
        u, v = (y, x) if is_after else (x, y)
        keys[y], is_target[y] = _key_hash(levels[u], parts[u], parts[v]), is_after


@part_of_kernel
def _spans_of(masks: Masks, u: int, v: int) -> tuple[int, int]:
    """Spans of the source and of the target of a pair."""
    _, _, first, last, kind = masks
    if kind[u] == WHOLE:
        gap = first[v] - 1 if kind[v] == CUT_LEFT else first[v]
        return _span(gap, gap), _span(first[v], last[v])
    more = REPEATED if kind[u] == EVERYWHERE else 0
    return _span(first[u] | more, last[u]), _span(first[v] | more, last[v])


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
def _n_first(kind: int, n: int, most: int) -> int:
    """Of how many masks of a group pairs are made, with each one behind: of a group of cuts only of the whole form.

    It comes first; cuts without it are not paired, and neither are the masks of a group that has more than ``most``.
    """
    if kind >= WHOLE:
        return 1 if kind == WHOLE else 0
    return n - 1 if n <= most else 0


@part_of_kernel
def _sizes(masks: Masks, most: int) -> tuple[int, int, int]:
    """Return the numbers of pairs of masks and of crowded groups, and the size of the largest group."""
    signatures = masks[0]
    n_pairs, n_crowded, largest, i = 0, 0, 0, 0
    while i < len(signatures):
        end = _bounds(signatures, i)
        n_first = _n_first(masks[4][i], end - i, most)
        n_pairs += n_first * (end - i) - n_first * (n_first + 1) // 2
        n_crowded += 1 if masks[4][i] < WHOLE and end - i > most else 0
        largest = max(largest, end - i)
        i = end
    return n_pairs, n_crowded, largest


@compiled_beyond(FEW)
def group_pairs(  # noqa: C901  (a loop in a loop, twice over: to count, and to keep)
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
    n_pairs, n_crowded, largest = _sizes(masks, most)
    table = _table(4 * n_pairs)
    sides, row, is_target = _sides_room(largest), np.empty(largest, np.uint64), np.empty(largest, np.bool_)
    crowded = np.empty(n_crowded, np.int64)
    keys, levels = np.empty(0, np.uint64), np.empty(0, np.int8)
    us, vs = np.empty(0, np.int32), np.empty(0, np.int32)
    spans_u, spans_v = np.empty(0, np.int64), np.empty(0, np.int64)
    for keep in range(2):
        n, at_crowded, i = 0, 0, 0
        while i < len(signatures):
            end = _bounds(signatures, i)
            n_first = _n_first(masks[4][i], end - i, most)
            if n_first > 0:
                _read_sides(text, starts, lasts, masks, i, end, sides)
            elif masks[4][i] < WHOLE and end - i > most:
                crowded[at_crowded] = i
                at_crowded += 1
            for a in range(i, i + n_first):
                _keys_behind(text, starts, langs, masks, sides, i, a, (a + 1, end), row, is_target)
                for b in range(a + 1, end):
                    key = row[b - i]
                    if key == 0:
                        continue
                    if keep == 0:
                        n += max(_seen(table, key), int(least < 2 or _is_known(known, key)))
                    elif least < 2 or _count(table, key) > 1 or _is_known(known, key):
                        u, v = (b, a) if is_target[b - i] else (a, b)
                        keys[n], us[n], vs[n], levels[n] = key, masks[1][u], masks[1][v], sides[4][v - i]
                        spans_u[n], spans_v[n] = _spans_of(masks, u, v)
                        n += 1
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
    looked_up: tuple[Hashes, Hashes, Hashes],
) -> Pairs:
    """Return the pairs of crowded signatures that have one of some keys: looked up, a mask at a time.

    Parameters
    ----------
    looked_up : tuple of ndarray of uint64
        Of each key the hashes of source and target, sorted by source, and its own hash.
    """
    sources, targets, wanted = looked_up
    keys, levels = [np.uint64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    us, vs = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    spans_u, spans_v = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    for i in crowded:
        end = _bounds(masks[0], i)
        sides, row, is_target = _sides_room(end - i), np.empty(end - i, np.uint64), np.empty(end - i, np.bool_)
        _read_sides(text, starts, lasts, masks, i, end, sides)
        parts = sides[0]
        order = np.argsort(parts)
        parts_sorted = parts[order]
        for k in range(i, end):
            at = np.searchsorted(sources, parts[k - i])
            while at < len(sources) and sources[at] == parts[k - i]:
                other = np.searchsorted(parts_sorted, targets[at])
                while other < len(order) and parts_sorted[other] == targets[at]:
                    j = i + order[other]
                    _keys_behind(text, starts, langs, masks, sides, i, k, (j, j + 1), row, is_target)
                    if row[j - i] == wanted[at]:
                        u, v = (j, k) if is_target[j - i] else (k, j)
                        span_u, span_v = _spans_of(masks, u, v)
                        keys.append(row[j - i])
                        us.append(np.int64(masks[1][u]))
                        vs.append(np.int64(masks[1][v]))
                        spans_u.append(np.int64(span_u))
                        spans_v.append(np.int64(span_v))
                        levels.append(np.int64(sides[4][v - i]))
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
