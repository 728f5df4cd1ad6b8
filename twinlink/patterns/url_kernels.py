"""Compiled reading of addresses: one written form, tokens, and what is left of an address with a part masked.

The written form of an address is its path and its variables, in small letters, percent-encoding undone, preceded by the
labels of its host that not all hosts of the site have in common::

    http://TC.example.hk/a/B%20c?y=2&x=1   →   tc./a/b c?x=1?y=2

Every variable begins with ``?``, so that leaving one out leaves a written form. A token is a run of letters, digits and
characters outside ASCII. A *mask* is a part of the form: tokens (`TOKENS`), letters at the head or tail of a token or
between its digits (`LETTERS`), a variable (`VARIABLE`), all places of a repeated token (`EVERYWHERE`); or it is cut out
with a separator beside it (`CUT_LEFT`, `CUT_RIGHT`, `CUT_LETTERS`). The *signature* of a mask is a 64-bit hash of what
stands before and behind it, of a cut that of the joined rest: that of a whole address (`WHOLE`) of the same text.
`twinlink.patterns.keys` calls this module.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import FEW, compiled_beyond, part_of_kernel

__all__ = [
    "CUT_LEFT",
    "CUT_LETTERS",
    "CUT_RIGHT",
    "EVERYWHERE",
    "LETTERS",
    "MAX_ENDING",
    "TOKENS",
    "VARIABLE",
    "WHOLE",
    "common_host",
    "default_documents",
    "form_hashes",
    "hash_bytes",
    "hash_text",
    "is_before",
    "is_token",
    "mask_room",
    "masks_of",
    "mix",
    "part_hashes",
    "powers",
    "whole_signature",
    "write_forms",
]

TOKENS, LETTERS, VARIABLE, EVERYWHERE, WHOLE, CUT_LEFT, CUT_LETTERS, CUT_RIGHT = range(8)

MAX_TOKENS = 48
"""Tokens of an address that are looked at: its first ones. Longer addresses are traps or data."""
MAX_MASKS = 1 + MAX_TOKENS * 24
"""Masks of an address: more than any has that is not made of letters and digits in turn."""
MAX_VARIABLES = 24
MAX_ENDING = 5
"""Characters of the ending of a file's name, in which no letters are masked."""
MAX_LENGTH = 8_192
"""Longer addresses have no form: places in a form are numbers of 15 bits."""

_BASE = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_S29, _S32 = np.uint64(29), np.uint64(32)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SALT_REPEATED = np.uint64(0xD6E8FEB86659FD93)
_SALT_CUT = np.uint64(0xA0761D6478BD642F)

_SLASH, _QUERY, _AMP, _EQUALS, _PERCENT, _DOT, _PLUS, _COLON = 47, 63, 38, 61, 37, 46, 43, 58

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Masks = tuple[Hashes, NDArray[np.int32], NDArray[np.int32], NDArray[np.int8]]
"""Signature, first and last place, kind of each mask of a form."""
Hashed = tuple[Hashes, Hashes, Hashes]
"""Hashes of what stands before each place of a form, and of what stands behind it; powers of the base."""
Room = tuple[Masks, tuple[Hashes, Hashes], Places, Places]
"""Masks of a form, the hashes before and behind each place, first and last place of its tokens."""


@part_of_kernel
def mix(x: np.uint64) -> np.uint64:
    """Spread the bits of a number over the whole of it (the finaliser of SplitMix64)."""
    x = (x ^ (x >> _S32)) * _M1
    x = (x ^ (x >> _S29)) * _M2
    return x ^ (x >> _S32)


def powers(n: int) -> Hashes:
    """Powers of the base of the hash, from 0 to n."""
    result = np.full(n + 1, _BASE)
    result[0] = _ONE
    return np.multiply.accumulate(result)


@compiled_beyond(FEW)
def hash_text(text: Bytes) -> np.uint64:
    """Hash of a whole text, see `hash_bytes`."""
    return hash_bytes(text, 0, len(text))


@part_of_kernel
def hash_bytes(text: Bytes, start: int, end: int) -> np.uint64:
    """Hash of a piece of text: a polynomial in its bytes, so that hashes of neighbours can be joined."""
    h = np.uint64(0)
    for i in range(start, end):
        h = h * _BASE + np.uint64(text[i]) + _ONE
    return h


@compiled_beyond(FEW)
def form_hashes(text: Bytes, ends: Places) -> Hashes:
    """Hash each form."""
    result = np.empty(len(ends) - 1, np.uint64)
    for k in range(len(result)):
        result[k] = mix(hash_bytes(text, ends[k], ends[k + 1]))
    return result


@compiled_beyond(FEW)
def part_hashes(text: Bytes, begins: Places, ends: Places) -> Hashes:
    """Hash pieces of a text, see `hash_bytes`."""
    result = np.empty(len(begins), np.uint64)
    for k in range(len(result)):
        result[k] = hash_bytes(text, begins[k], ends[k])
    return result


@part_of_kernel
def is_token(c: int) -> bool:
    """Whether a byte belongs to a token, rather than between two."""
    return 97 <= c <= 122 or 48 <= c <= 57 or c >= 128


@part_of_kernel
def _is_letter(c: int) -> bool:
    return 97 <= c <= 122


@part_of_kernel
def _small(c: int) -> int:
    return c + 32 if 65 <= c <= 90 else c


@part_of_kernel
def _hex(c: int) -> int:
    if 48 <= c <= 57:
        return c - 48
    c = _small(c)
    return c - 87 if 97 <= c <= 102 else -1


@part_of_kernel
def _host_of(raw: Bytes, start: int, end: int) -> tuple[int, int]:
    """Where the host of an address begins and ends; (start, start) for what is no address."""
    i = start
    while i + 2 < end and not (raw[i] == _COLON and raw[i + 1] == _SLASH and raw[i + 2] == _SLASH):
        i += 1
    if i + 3 >= end:
        return start, start
    first = i + 3
    last = first
    while last < end and raw[last] != _SLASH and raw[last] != _QUERY:
        last += 1
    return (first, last) if last > first else (start, start)


@compiled_beyond(FEW)
def common_host(raw: Bytes, starts: Places) -> tuple[int, int]:
    """Where, in ``raw``, the labels stand that all hosts end in: (from, to)."""
    first, last = 0, 0
    for k in range(len(starts) - 1):
        a, b = _host_of(raw, starts[k], starts[k + 1])
        if b == a:
            continue
        if last == first:
            first, last = a, b
            continue
        n = 0
        while n < min(b - a, last - first) and _small(raw[b - 1 - n]) == _small(raw[last - 1 - n]):
            n += 1
        # back to the beginning of a label on both sides
        while n > 0 and not (
            (n == b - a or raw[b - n - 1] == _DOT) and (n == last - first or raw[last - n - 1] == _DOT)
        ):
            n -= 1
        if n == 0:
            return last, last
        first = last - n
    return first, last


@part_of_kernel
def _write_decoded(raw: Bytes, start: int, end: int, out: Bytes, at: int, in_query: bool) -> int:
    """Write a path or a query in small letters, percent-encoding undone but for what would change its parts."""
    i, begin = start, at
    while i < end:
        c = raw[i]
        if c == _PERCENT and i + 2 < end and _hex(raw[i + 1]) >= 0 and _hex(raw[i + 2]) >= 0:
            decoded = 16 * _hex(raw[i + 1]) + _hex(raw[i + 2])
            i += 3
            if decoded < 32 or decoded in (_SLASH, _QUERY, _AMP, _EQUALS, _PERCENT, 127):
                out[at], out[at + 1], out[at + 2] = _PERCENT, _small(raw[i - 2]), _small(raw[i - 1])
                at += 3
                continue
            c = decoded
        else:
            i += 1
            if in_query and c == _PLUS:
                c = 32
        c = _small(c)
        if c == _SLASH and not in_query and at > begin and out[at - 1] == _SLASH:
            continue  # skip empty directories
        out[at] = c
        at += 1
    return at


@part_of_kernel
def is_before(text: Bytes, a: int, a_end: int, b: int, b_end: int) -> bool:
    """Whether the first piece of a text comes before the second in the order of their bytes."""
    for i in range(min(a_end - a, b_end - b)):
        if text[a + i] != text[b + i]:
            return bool(text[a + i] < text[b + i])
    return a_end - a < b_end - b


@part_of_kernel
def _write_variables(raw: Bytes, start: int, end: int, out: Bytes, at: int, room: Bytes) -> int:
    """Write the variables of a query in order, each behind ``?``."""
    begins, ends = np.empty(MAX_VARIABLES, np.int64), np.empty(MAX_VARIABLES, np.int64)
    n, filled, i = 0, 0, start
    while i < end and n < MAX_VARIABLES:
        j = i
        while j < end and raw[j] != _AMP:
            j += 1
        if j > i:
            begins[n] = filled
            filled = _write_decoded(raw, i, j, room, filled, True)
            ends[n] = filled
            n += 1
        i = j + 1
    for done in range(n):
        least = done
        for k in range(done + 1, n):
            if is_before(room, begins[k], ends[k], begins[least], ends[least]):
                least = k
        a, b = begins[least], ends[least]
        begins[least], ends[least] = begins[done], ends[done]
        out[at] = _QUERY
        for i in range(a, b):
            out[at + 1 + i - a] = room[i]
        at += 1 + b - a
    return at


@compiled_beyond(FEW)
def write_forms(raw: Bytes, starts: Places, common: int, longest: int) -> tuple[Bytes, Places, Places]:
    """Write the form of each address.

    Parameters
    ----------
    raw, starts : ndarray
        All addresses one behind the other, and where each begins (and the last one ends).
    common : int
        Length of the hosts' common end.
    longest : int
        Length of the longest address.

    Returns
    -------
    text, ends, paths : ndarray
        The forms, one behind the other; where each ends (ends[0] = 0, an empty one for what is no address); where its
        path ends.
    """
    n = len(starts) - 1
    out = np.empty(len(raw) + 2 * n + 8, np.uint8)
    room = np.empty(longest + 8, np.uint8)
    ends, paths = np.zeros(n + 1, np.int64), np.zeros(n, np.int64)
    at = 0
    for k in range(n):
        host, path = _host_of(raw, starts[k], starts[k + 1])
        begin = at
        if path > host and starts[k + 1] - starts[k] <= MAX_LENGTH:
            for i in range(host, path - common):
                out[at] = _small(raw[i])
                at += 1
            query = path
            while query < starts[k + 1] and raw[query] != _QUERY and raw[query] != 35:
                query += 1
            last = query
            while last < starts[k + 1] and raw[last] != 35:  # a fragment names no page
                last += 1
            if query == path:
                out[at] = _SLASH
                at += 1
            at = _write_decoded(raw, path, query, out, at, False)
            paths[k] = at
            at = _write_variables(raw, query + 1, last, out, at, room)
        else:
            paths[k] = begin
        ends[k + 1] = at
    return out[:at], ends, paths


@compiled_beyond(FEW)
def default_documents(text: Bytes, ends: Places, paths: Places, known: Hashes) -> Places:
    """Count the addresses whose file name is one of the known default documents."""
    counts = np.zeros(len(known), np.int64)
    for k in range(len(paths)):
        i = paths[k]
        while i > ends[k] and text[i - 1] != _SLASH:
            i -= 1
        if 0 < paths[k] - i <= 16:
            h = hash_bytes(text, i, paths[k])
            for d in range(len(known)):
                if known[d] == h:
                    counts[d] += 1
    return counts


@part_of_kernel
def _token_gap(text: Bytes, start: int, end: int) -> bool:
    """Whether only small separators stand between two tokens: not those of directories, variables and their values."""
    for i in range(start, end):  # noqa: SIM110  (numba has no generators)
        if text[i] in (_SLASH, _QUERY, _EQUALS):
            return False
    return True


@part_of_kernel
def _has_letter(text: Bytes, start: int, end: int) -> bool:
    for i in range(start, end):  # noqa: SIM110
        if _is_letter(text[i]) or text[i] >= 128:
            return True
    return False


@part_of_kernel
def mask_room(longest: int) -> Room:
    """Return arrays for `masks_of`, for forms of at most this length."""
    signatures, kinds = np.empty(MAX_MASKS, np.uint64), np.empty(MAX_MASKS, np.int8)
    begins, lasts = np.empty(MAX_MASKS, np.int32), np.empty(MAX_MASKS, np.int32)
    hashes = np.empty(longest + 1, np.uint64), np.empty(longest + 1, np.uint64)
    return (signatures, begins, lasts, kinds), hashes, np.empty(MAX_TOKENS, np.int64), np.empty(MAX_TOKENS, np.int64)


@part_of_kernel
def whole_signature(text: Bytes, start: int, end: int) -> np.uint64:
    """Signature of a whole form: that of its cuts is the same if they leave this form."""
    return mix(hash_bytes(text, start, end) + _SALT_CUT)


@part_of_kernel
def masks_of(  # noqa: C901, PLR0912  (in calls the loop would cost more than what it does)
    text: Bytes,
    s: int,
    e: int,
    limits: tuple[int, int, int, bool],
    power: Hashes,
    room: Room,
) -> int:
    """Write the masks of one form and return their number.

    Parameters
    ----------
    text, s, e
        The form is ``text[s:e]``.
    limits
        Tokens of a mask at most, letters of a mask inside a token at most, characters at most, and whether masks
        without a letter count.
    power
        Powers of the base.
    room
        From `mask_room`. Its first part takes the masks: hash of the rest, first and last place (from the start of the
        form; of a cut without its separator), kind.
    """
    max_tokens, max_letters, max_key, numbers = limits
    size = e - s
    found, (h, behind), first, last = room
    h[0] = np.uint64(0)
    for i in range(size):
        h[i + 1] = h[i] * _BASE + np.uint64(text[s + i]) + _ONE
    for i in range(size + 1):
        behind[i] = mix(h[size] - h[i] * power[size - i] + np.uint64(size - i)) * _BASE
    hashes = h, behind, power
    n = _add(found, 0, mix(h[size] + _SALT_CUT), 0, 0, WHOLE)
    t, i = 0, 0
    while i < size and t < MAX_TOKENS:
        while i < size and not is_token(text[s + i]):
            i += 1
        if i == size:
            break
        first[t] = i
        while i < size and is_token(text[s + i]):
            i += 1
        last[t] = i
        t += 1
    for k in range(t):
        a = first[k]
        left = text[s + a - 1] if a > 0 else 0
        for j in range(k, min(k + max_tokens, t)):
            b = last[j]
            if b - a > max_key or (j > k and not _token_gap(text, s + last[j - 1], s + first[j])):
                break
            if n + 2 > MAX_MASKS:
                break
            if not numbers and not _has_letter(text, s + a, s + b):
                continue
            right = text[s + b] if b < size else 0
            if not (left in (_QUERY, _EQUALS) and right in (_QUERY, 0)):
                n = _add(found, n, _around(hashes, a, b), a, b, TOKENS)
            low, high, kind = _cut(left, right, a, b)
            if high > low:
                n = _add(found, n, _joined(hashes, low, high, size), a, b, kind)
        is_ending = left == _DOT and last[k] - a <= MAX_ENDING and (last[k] == size or text[s + last[k]] == _QUERY)
        if max_letters and not is_ending:
            n = _inside_token(text, s, a, last[k], size, max_letters, hashes, found, n)
    n = _variables(text, s, size, 2 * max_key, numbers, hashes, found, n)
    return _repeated(text, s, first, last, t, size, max_key, hashes, found, n)


@part_of_kernel
def _add(found: Masks, n: int, signature: np.uint64, a: int, b: int, kind: int) -> int:
    """Write mask number ``n`` and return the number of the next one."""
    found[0][n], found[1][n], found[2][n], found[3][n] = signature, a, b, kind
    return n + 1


@part_of_kernel
def _around(hashes: Hashed, a: int, b: int) -> np.uint64:
    """Signature of a mask: what stands before it, and what behind."""
    return mix(hashes[0][a] + hashes[1][b])


@part_of_kernel
def _joined(hashes: Hashed, a: int, b: int, size: int) -> np.uint64:
    """Signature of a cut: the hash of the form without it."""
    h, _, power = hashes
    return mix(h[size] - (h[b] - h[a]) * power[size - b] + _SALT_CUT)


@part_of_kernel
def _cut(left: int, right: int, a: int, b: int) -> tuple[int, int, int]:
    """From where to where tokens are cut out with the separator that only they need, and the kind of the cut."""
    if left not in (0, _SLASH, _QUERY, _EQUALS):
        return a - 1, b, CUT_LEFT
    if left != _EQUALS and right not in (0, _SLASH, _QUERY, _EQUALS):
        return a, b + 1, CUT_RIGHT
    if left == _SLASH and right in (0, _SLASH, _QUERY):
        return a - 1, b, CUT_LEFT
    return a, a, CUT_LEFT


@part_of_kernel
def _inside_token(
    text: Bytes,
    s: int,
    a: int,
    b: int,
    size: int,
    max_letters: int,
    hashes: Hashed,
    found: Masks,
    n: int,
) -> int:
    """Add the masks inside a token: letters at its head, at its tail, and runs of them between its digits."""
    for side in range(2):
        for k in range(1, min(max_letters, b - a - 1) + 1):
            x, y = (a, a + k) if side == 0 else (b - k, b)
            if not _is_letter(text[s + (y - 1 if side == 0 else x)]):
                break
            n = _letters(x, y, size, hashes, found, n)
    i = a + 1
    while i < b:
        j = i
        while j < b and _is_letter(text[s + j]):
            j += 1
        if j > i and j < b and j - i <= max_letters and not _is_letter(text[s + i - 1]):
            n = _letters(i, j, size, hashes, found, n)
        i = j + 1
    return n


@part_of_kernel
def _letters(
    x: int,
    y: int,
    size: int,
    hashes: Hashed,
    found: Masks,
    n: int,
) -> int:
    """Add letters as a mask and as a cut."""
    if n + 2 > MAX_MASKS:
        return n
    n = _add(found, n, _around(hashes, x, y), x, y, LETTERS)
    return _add(found, n, _joined(hashes, x, y, size), x, y, CUT_LETTERS)


@part_of_kernel
def _variables(
    text: Bytes,
    s: int,
    size: int,
    max_key: int,
    numbers: bool,
    hashes: Hashed,
    found: Masks,
    n: int,
) -> int:
    """Add each variable as a mask and as a cut."""
    i = 0
    while i < size and text[s + i] != _QUERY:
        i += 1
    while i < size and n + 2 < MAX_MASKS:
        j, value = i + 1, i + 1
        while j < size and text[s + j] != _QUERY:
            if text[s + j] == _EQUALS and value == i + 1:
                value = j + 1
            j += 1
        if 0 < j - i - 1 <= max_key and (numbers or _has_letter(text, s + value, s + j)):
            n = _add(found, n, _around(hashes, i + 1, j), i + 1, j, VARIABLE)
            n = _add(found, n, _joined(hashes, i, j, size), i + 1, j, CUT_LEFT)
        i = j
    return n


@part_of_kernel
def _repeated(
    text: Bytes,
    s: int,
    first: Places,
    last: Places,
    t: int,
    size: int,
    max_key: int,
    hashes: Hashed,
    found: Masks,
    n: int,
) -> int:
    """Add, for each token that stands in several places, all of them as one mask."""
    h, _, power = hashes
    for k in range(t):
        a, b = first[k], last[k]
        token = h[b] - h[a] * power[b - a]
        if b - a > max_key or not _has_letter(text, s + a, s + b) or n >= MAX_MASKS:
            continue
        times, is_first, end, rest = 0, True, 0, _SALT_REPEATED
        for j in range(t):
            x, y = first[j], last[j]
            if y - x == b - a and h[y] - h[x] * power[y - x] == token:
                is_first = is_first and j >= k
                rest = mix(rest + h[x] - h[end] * power[x - end])
                times, end = times + 1, y
        if times > 1 and is_first:
            n = _add(found, n, mix(rest + h[size] - h[end] * power[size - end]), a, b, EVERYWHERE)
    return n
