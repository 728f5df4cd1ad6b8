"""Alignment of text blocks by the numbers in them and by their lengths."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

from rapidfuzz.distance import LCSseq

_NUMBERS = re.compile(r"\d+")
_SKIP = 1.0  # cost of a block without partner: that of a partner of three times the expected length
_MAX_CELLS = 20_000  # per table of the alignment; longer stretches are divided
_MIN_LENGTH = 8.0  # added to lengths, so that a letter more or less does not matter in short blocks


def align_blocks(a: Sequence[str], b: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """Align two sequences of blocks: pairs of indices, None for a block without partner.

    Blocks with the same numbers in them are anchors (their longest common subsequence); between two anchors the order
    and the lengths decide, each block with one other or none: the alignment of minimum cost, where a pair costs
    ``|log(length_a · ratio / length_b)| / log(3)`` and a block without partner 1.

    Examples
    --------
    >>> align_blocks(["Tel. 2808 3456", "Read more about it", "1998"], ["電話 2808 3456", "1998"])
    [(0, 0), (1, None), (2, 1)]
    """
    ratio = (sum(map(len, b)) + 1) / (sum(map(len, a)) + 1)
    lengths_a = [math.log(len(text) * ratio + _MIN_LENGTH) for text in a]
    lengths_b = [math.log(len(text) + _MIN_LENGTH) for text in b]
    aligned: list[tuple[int | None, int | None]] = []
    start_a = start_b = 0
    for anchor_a, anchor_b in [*_anchors(a, b), (len(a), len(b))]:
        aligned += _between(lengths_a, lengths_b, (start_a, anchor_a), (start_b, anchor_b))
        if anchor_a < len(a):
            aligned.append((anchor_a, anchor_b))
        start_a, start_b = anchor_a + 1, anchor_b + 1
    return aligned


def number_key(text: str) -> tuple[str, ...]:
    """Return the numbers with two or more digits in a text, sorted: a key that is equal in every language.

    >>> number_key("on 3 May 1998, ３０ %")
    ('1998', '30')
    """
    return tuple(sorted(digits for found in _NUMBERS.findall(text) if len(digits := _ascii(found)) > 1))


def _ascii(number: str) -> str:
    return number if number.isascii() else "".join(str(unicodedata.digit(c, 0)) for c in number)


def _anchors(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    keys_a, keys_b = [number_key(text) for text in a], [number_key(text) for text in b]
    shared = set(keys_a) & set(keys_b) - {()}
    places_a = [place for place, key in enumerate(keys_a) if key in shared]
    places_b = [place for place, key in enumerate(keys_b) if key in shared]
    codes = LCSseq.opcodes([keys_a[place] for place in places_a], [keys_b[place] for place in places_b])
    return [
        (places_a[code.src_start + k], places_b[code.dest_start + k])
        for code in codes
        if code.tag == "equal"
        for k in range(code.src_end - code.src_start)
    ]


def _between(
    lengths_a: Sequence[float], lengths_b: Sequence[float], range_a: tuple[int, int], range_b: tuple[int, int]
) -> list[tuple[int | None, int | None]]:
    """Align the blocks between two anchors; a stretch that is too long for one table is divided proportionally."""
    (start_a, end_a), (start_b, end_b) = range_a, range_b
    n_pieces = max(1, math.ceil(math.sqrt((end_a - start_a) * (end_b - start_b) / _MAX_CELLS)))
    aligned: list[tuple[int | None, int | None]] = []
    for k in range(n_pieces):
        piece_a = range(_part(start_a, end_a, k, n_pieces), _part(start_a, end_a, k + 1, n_pieces))
        piece_b = range(_part(start_b, end_b, k, n_pieces), _part(start_b, end_b, k + 1, n_pieces))
        aligned += _least_cost(lengths_a, lengths_b, piece_a, piece_b)
    return aligned


def _part(start: int, end: int, k: int, n: int) -> int:
    return start + (end - start) * k // n


def _least_cost(
    lengths_a: Sequence[float], lengths_b: Sequence[float], places_a: range, places_b: range
) -> list[tuple[int | None, int | None]]:
    costs = [[_SKIP * column for column in range(len(places_b) + 1)]]
    for row, place_a in enumerate(places_a, start=1):
        above, current, length = costs[-1], [_SKIP * row], lengths_a[place_a]
        for column, place_b in enumerate(places_b):
            paired = above[column] + abs(length - lengths_b[place_b]) / math.log(3)
            current.append(min(paired, above[column + 1] + _SKIP, current[column] + _SKIP))
        costs.append(current)
    return _traced(costs, places_a, places_b)


def _traced(costs: list[list[float]], places_a: range, places_b: range) -> list[tuple[int | None, int | None]]:
    row, column = len(places_a), len(places_b)
    aligned: list[tuple[int | None, int | None]] = []
    while row or column:
        cost = costs[row][column]
        if column and cost == costs[row][column - 1] + _SKIP:
            column -= 1
            aligned.append((None, places_b[column]))
        elif row and cost == costs[row - 1][column] + _SKIP:
            row -= 1
            aligned.append((places_a[row], None))
        else:
            row, column = row - 1, column - 1
            aligned.append((places_a[row], places_b[column]))
    return aligned[::-1]
