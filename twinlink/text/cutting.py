"""The tokens of many texts at once: a compiled loop finds them, and Python handles each distinct token only once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from twinlink.compiled import compiled_beyond, part_of_kernel
from twinlink.lookup import distinct_values
from twinlink.text import characters
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
from twinlink.text.page_texts import incidence

__all__ = ["Cut", "Cutter", "cut_texts", "find_tokens"]

CHUNK = 1_000_000
"""Characters cut in one go: what bounds the memory, four bytes per character and some thirty a token."""
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


class Cut(NamedTuple):
    """Texts and their tokens."""

    counts: csr_array
    """float32, text × token: how often. An empty row is a text without tokens."""
    tokens: list[str]
    """The distinct tokens, in the order of their first appearance."""


def cut_texts(texts: Sequence[str]) -> Cut:
    """Cut texts into tokens: numbers, words, and runs of characters of scripts without spaces.

    - A number is digits, groups of them joined by one of ``.,'’`` (``1,234.50``).
    - A word begins with a letter and goes on with letters, digits, underscores, the vowel signs and accents that are no
      letters to Unicode, and apostrophes before a letter (``l'été``, ``max_size``).
    - A run is one of Chinese and Japanese characters, or one of Thai, Lao, Khmer and Burmese ones.

    Parameters
    ----------
    texts : sequence of str
        Cut as they are: bring them to lower case and to a normal form before. A line break ends a token.

    Examples
    --------
    >>> cut = cut_texts(["l'été 2.4.1", "max_size 行政長官 2.4.1"])
    >>> cut.tokens, cut.counts.toarray().tolist()
    (["l'été", '2.4.1', 'max_size', '行政長官'], [[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0]])
    """
    ids: dict[str, int] = defaultdict(count().__next__)
    return Cut(_token_counts(texts, ids), list(ids))


class Cutter:
    """Cuts each text only once, even if it is needed for the language of a page and for its words.

    It keeps the texts and their tokens until it is told to `forget` them.

    Examples
    --------
    >>> cutter = Cutter()
    >>> cutter(["red house", "red"]).tokens, cutter(["red", "green"]).tokens
    (['red', 'house'], ['red', 'green'])
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Free the memory of all texts and tokens; what comes again is cut again."""
        self._ids: dict[str, int] = defaultdict(count().__next__)
        self._tokens: list[str] = []
        self._rows: dict[str, int] = defaultdict(count().__next__)
        self._counts = _token_counts((), self._ids)

    def __call__(self, texts: Sequence[str]) -> Cut:
        """Return the result of `cut_texts`, with tokens in the order of all texts so far."""
        n_known = len(self._rows)
        rows = np.fromiter(map(self._rows.__getitem__, texts), np.int64, len(texts))
        if len(self._rows) > n_known:
            self._add([*islice(self._rows, n_known, None)])
        counts = csr_array(self._counts[rows])
        used = np.flatnonzero(np.bincount(counts.indices, minlength=len(self._tokens)))
        place = np.zeros(len(self._tokens), counts.indices.dtype)
        place[used] = np.arange(len(used))
        columns = csr_array((counts.data, place[counts.indices], counts.indptr), shape=(len(texts), len(used)))
        return Cut(columns, [self._tokens[number] for number in used.tolist()])

    def _add(self, texts: Sequence[str]) -> None:
        more = _token_counts(texts, self._ids)
        self._tokens = list(self._ids)
        old = self._counts
        wider = csr_array((old.data, old.indices, old.indptr), shape=(old.shape[0], more.shape[1]))
        self._counts = csr_array(vstack([wider, more]))


def _token_counts(texts: Sequence[str], ids: dict[str, int]) -> csr_array:
    """Return how often each text has each token; tokens that are not known yet get the next numbers."""
    parts = [_cut_chunk(chunk, ids) for chunk in _chunks(texts)]
    columns = np.concatenate([tokens for tokens, _ in parts]) if parts else np.zeros(0, np.int64)
    lengths = np.concatenate([n for _, n in parts]) if parts else np.zeros(0, np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return incidence(starts, columns, len(ids))


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the texts in turns of about `CHUNK` characters."""
    ends = np.cumsum([len(text) + 1 for text in texts])
    first = 0
    while first < len(texts):
        done = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + CHUNK, side="right")))
        yield texts[first:last]
        first = last


def _cut_chunk(texts: Sequence[str], ids: dict[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the tokens of some texts, in order, and how many tokens each text has."""
    joined = "\n".join(texts)
    if joined.count("\n") >= len(texts):
        joined = "\n".join(text.replace("\n", " ") for text in texts)
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    starts, ends, hashes = find_tokens(codes, np.append(characters.classes_of(codes)[codes], np.zeros(2, np.uint8)))
    numbers, values = distinct_values(hashes)
    first = np.zeros(len(values), np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    distinct = [joined[start:end] for start, end in zip(starts[first].tolist(), ends[first].tolist(), strict=True)]
    known = np.fromiter(map(ids.__getitem__, distinct), np.int64, len(distinct))
    ends_of_texts = np.searchsorted(starts, np.flatnonzero(codes == ord("\n")))
    return known[numbers], np.diff(np.concatenate([[0], ends_of_texts, [len(starts)]]))


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
