"""Character classes of the tokenizer: letter, digit, part of a word, or a script without spaces."""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

from twinlink import scripts
from twinlink.scripts import is_in

MARK_RANGES = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0970-\u0dff"
)
"""Vowel signs and accents that stand inside words but are no letters to `re`."""

LETTER, DIGIT, UNDERSCORE, MARK, APOSTROPHE, POINT, EAST_ASIAN, SOUTH_EAST_ASIAN, UNIT, ODD = (
    1 << bit for bit in range(10)
)
"""``UNIT``: a character that is counted by itself (`twinlink.scripts.split_units`). ``ODD``: one that the normal form
NFKC may change, or compose with the one before."""
UNSPACED = EAST_ASIAN | SOUTH_EAST_ASIAN

NUMBER = r"\d+(?:[.,'’]\d+)*"
_BETWEEN_GROUPS = r"(?=\d{3}(?!\d))(?<=\d.)(?<!\d{4}.)"
GROUPING_SPACE = rf"[\u00a0\u202f\u2009]{_BETWEEN_GROUPS}"
"""A no-break or thin space between groups of digits: three follow it, one to three precede it (a year has four). The
space comes first in the expression, so that a search goes from space to space."""
ANY_GROUPING_SPACE = rf"[ \u00a0\u202f\u2009]{_BETWEEN_GROUPS}"
"""The same with the plain space, which groups digits only in some languages."""
SPACED_WORD = rf"[^\W\d_]\w*(?:(?:[{MARK_RANGES}]|['’](?=[^\W\d_]))\w*)*"
"""A word, as `WORD` has it, of a text that `twinlink.scripts.is_spaced`: it takes a tenth of the time to compile."""
WORD = (
    rf"[^\W\d_{scripts.UNSPACED}][^\W{scripts.UNSPACED}]*"
    rf"(?:(?:[{MARK_RANGES}]|['’](?=[^\W\d_]))[^\W{scripts.UNSPACED}]*)*"
)

_JAMO = "\u1100-\u11ff"


def classes_of(codes: NDArray[np.uint32]) -> NDArray[np.uint16]:
    """Return a table from code points to their classes, made for the characters of one text.

    Parameters
    ----------
    codes : ndarray of uint32
        The text's code points.

    Returns
    -------
    ndarray of uint16, shape (largest code point + 1,)
        Sum of the classes of each character of the text; 0 for all others.

    Examples
    --------
    >>> table = classes_of(np.array([ord(character) for character in "a1_行"], np.uint32))
    >>> [int(table[ord(character)]) for character in "a1_行"] == [LETTER, DIGIT, UNDERSCORE, LETTER | EAST_ASIAN | UNIT]
    True
    """
    table = np.zeros(int(codes.max(initial=0)) + 1, np.uint16)
    table[codes] = 1
    present = np.flatnonzero(table)
    table[present] = [class_of(chr(code)) for code in present.tolist()]
    return table


@cache
def class_of(character: str) -> int:
    """Return the classes of a character, as bits."""
    if character in ".,":
        return POINT
    if character in "'’":
        return APOSTROPHE
    if character == "_":
        return UNDERSCORE
    kind = DIGIT if character.isdecimal() else LETTER if character.isalnum() else 0
    kind |= MARK if is_in(MARK_RANGES, character) else 0
    kind |= EAST_ASIAN if is_in(scripts.EAST_ASIAN, character) else 0
    kind |= SOUTH_EAST_ASIAN if is_in(scripts.SOUTH_EAST_ASIAN, character) else 0
    kind |= UNIT if scripts.is_single(character) else 0
    return kind | (ODD if _is_odd(character) else 0)


def _is_odd(character: str) -> bool:
    """Return whether NFKC changes a character, or it is a mark or a letter that may be composed with others."""
    is_part = unicodedata.category(character)[0] == "M" or is_in(_JAMO, character)
    return is_part or not unicodedata.is_normalized("NFKC", character)
