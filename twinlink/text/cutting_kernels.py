"""Compiled loop of the cutter; input arrays are not checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twinlink.compiled import compiled_beyond, part_of_kernel
from twinlink.text.characters import (
    APOSTROPHE,
    DIGIT,
    EAST_ASIAN,
    LETTER,
    MARK,
    POINT,
    SOUTH_EAST_ASIAN,
    UNDERSCORE,
    UNSPACED,
)

__all__ = ["find_tokens"]

Places = NDArray[np.int64]

_IN_WORD = LETTER | DIGIT | UNDERSCORE
_FIRST = LETTER | DIGIT | UNSPACED
_FIRST_HASH, _FACTOR = np.uint64(14695981039346656037), np.uint64(1099511628211)
"""Of the hash FNV-1a, here of code points; two tokens of 10^7 share one with a chance of 3 in 10^6."""
# Places are unsigned: numba then omits the test for negative ones. Two zeros end the kinds, so that no test for the
# end of the text is needed.
Place = np.uint64
ONE = np.uint64(1)

FEW_CHARACTERS = 200_000
"""Code points and classes of a call up to which the interpreter runs it."""


@part_of_kernel
def _end_of_number(kinds: NDArray[np.uint8], at: Place) -> Place:
    """Return where a number ends: groups of digits, one point or apostrophe between each two."""
    while kinds[at] & DIGIT or (kinds[at] & (POINT | APOSTROPHE) and kinds[at + ONE] & DIGIT):
        at += ONE
    return at


@part_of_kernel
def _end_of_word(kinds: NDArray[np.uint8], at: Place) -> Place:
    """Return where a word ends."""
    while True:
        kind = kinds[at]
        is_inside = (kind & _IN_WORD and not kind & UNSPACED) or kind & MARK
        if not is_inside and not (kind & APOSTROPHE and kinds[at + ONE] & LETTER):
            return at
        at += ONE


@part_of_kernel
def _end_of_run(kinds: NDArray[np.uint8], at: Place, script: int) -> Place:
    """Return where a run of characters of one kind of scripts ends."""
    while kinds[at] & script:
        at += ONE
    return at


@part_of_kernel
def _end_of_token(kinds: NDArray[np.uint8], at: Place) -> Place:
    """Return where the token that begins here ends; ``at`` itself if none does."""
    kind = kinds[at]
    if kind & LETTER and not kind & UNSPACED:
        return _end_of_word(kinds, at + ONE)
    if kind & DIGIT:
        return _end_of_number(kinds, at)
    if kind & EAST_ASIAN:
        return _end_of_run(kinds, at, EAST_ASIAN)
    return _end_of_run(kinds, at, SOUTH_EAST_ASIAN)


@compiled_beyond(FEW_CHARACTERS)
def find_tokens(codes: NDArray[np.uint32], kinds: NDArray[np.uint8]) -> tuple[Places, Places, NDArray[np.uint64]]:
    """Find the tokens of a text, given its code points and the class of each, followed by two zeros.

    Returns where each begins and ends, and a hash of its characters.
    """
    n_most = Place(len(codes))
    starts, ends = np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)
    hashes = np.empty(len(codes), np.uint64)
    n, at = Place(0), Place(0)
    while at < n_most:
        if not kinds[at] & _FIRST:
            at += ONE
            continue
        end = _end_of_token(kinds, at)
        value = _FIRST_HASH
        for place in range(at, end):
            value = (value ^ np.uint64(codes[place])) * _FACTOR
        starts[n], ends[n], hashes[n] = at, end, value
        n, at = n + ONE, end
    return starts[:n].copy(), ends[:n].copy(), hashes[:n].copy()
