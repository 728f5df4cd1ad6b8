"""The tokens of many texts at once: a compiled loop finds them, and Python handles each distinct token only once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink import scripts
from twinlink.compiled import code_runs, compiled, part_of_kernel
from twinlink.expressions import expression
from twinlink.sparse import narrow
from twinlink.text import characters
from twinlink.text.characters import (
    APOSTROPHE,
    DIGIT,
    EAST_ASIAN,
    LETTER,
    MARK,
    ODD,
    POINT,
    SOUTH_EAST_ASIAN,
    UNDERSCORE,
    UNIT,
    UNSPACED,
)
from twinlink.text.numbered import incidence, numbered_by_breaks

__all__ = ["Cut", "count_tokens", "cut_texts", "cut_units"]

CHUNK = 1_000_000
"""Characters cut in one go: what bounds the memory, six bytes per character and some twenty a token."""
FEW_CHARACTERS = 200_000
"""Characters up to which a regular expression finds the tokens, 40 ns each, while no machine code is loaded."""
FEW_WITHOUT_CODE = CHUNK
"""The same where the kernel would have to be compiled, which takes 2.5 s."""
_SECONDS = 4e-8
"""What a character takes by the expression."""
Places = NDArray[np.int64]
Numbers = NDArray[np.int32]
Floats = NDArray[np.float32]
Kinds = NDArray[np.uint16]
Form = Callable[[str], str]
Known = tuple[NDArray[np.uint64], Numbers]

_RUN = f"[{scripts.EAST_ASIAN}]+|[{scripts.SOUTH_EAST_ASIAN}]+"
_TOKEN_OR_BREAK = rf"{characters.NUMBER}|{characters.WORD}|{_RUN}|\n"
_SPACED_TOKEN_OR_BREAK = rf"{characters.NUMBER}|{characters.SPACED_WORD}|\n"
_IN_WORD = LETTER | DIGIT | UNDERSCORE
_FIRST, _FIRST_OF_UNIT = LETTER | DIGIT | UNSPACED, LETTER | UNIT
_FIRST_HASH, _FACTOR = np.uint64(14695981039346656037), np.uint64(1099511628211)
"""Of the hash FNV-1a, here of code points; two tokens of 10^7 share one with a chance of 3 in 10^6."""
_HALF = np.uint64(32)
_BREAK = np.uint32(10)
_FIRST_SLOTS = 2**12
# Places are unsigned: numba then omits the test for negative ones. Two zeros end the kinds, so that no test for the
# end of the text is needed.
Place = np.uint64
ONE = np.uint64(1)


class Cut(NamedTuple):
    """Texts and their tokens."""

    counts: csr_array
    """float32, text × token: how often. An empty row is a text without tokens."""
    tokens: list[str]
    """The distinct tokens, in the order of their first appearance."""
    is_plain: NDArray[np.bool_]
    """Whether all characters of a text are known to stand in the normal form NFKC, and to stay so side by side."""

    def of_texts(self, chosen: NDArray[np.integer]) -> Cut:
        """Return some of the texts, with the tokens that they have."""
        counts = csr_array(self.counts[chosen])
        used = np.flatnonzero(np.bincount(counts.indices, minlength=len(self.tokens)))
        place = np.zeros(len(self.tokens), counts.indices.dtype)
        place[used] = np.arange(len(used))
        columns = csr_array((counts.data, place[counts.indices], counts.indptr), shape=(len(chosen), len(used)))
        return Cut(columns, [self.tokens[number] for number in used.tolist()], self.is_plain[chosen])

    def followed_by(self, other: Cut) -> Cut:
        """Return these texts and others after them; the tokens that these do not have come last."""
        ids: dict[str, int] = defaultdict(count(len(self.tokens)).__next__, zip(self.tokens, count()))
        place = np.fromiter(map(ids.__getitem__, other.tokens), np.int32, len(other.tokens))
        mine, theirs = self.counts, other.counts
        counts = csr_array(
            (
                np.concatenate([mine.data, theirs.data]),
                np.concatenate([mine.indices, place[theirs.indices]]),
                np.concatenate([mine.indptr, theirs.indptr[1:] + mine.indptr[-1]]),
            ),
            shape=(mine.shape[0] + theirs.shape[0], len(ids)),
        )
        return Cut(narrow(counts), list(ids), np.concatenate([self.is_plain, other.is_plain]))


def cut_texts(texts: Sequence[str], form: Form | None = None) -> Cut:
    """Cut texts into tokens: numbers, words, and runs of characters of scripts without spaces.

    - A number is digits, groups of them joined by one of ``.,'’`` (``1,234.50``).
    - A word begins with a letter and goes on with letters, digits, underscores, the vowel signs and accents that are no
      letters to Unicode, and apostrophes before a letter (``l'été``, ``max_size``).
    - A run is one of Chinese and Japanese characters, or one of Thai, Lao, Khmer and Burmese ones.

    Parameters
    ----------
    texts : sequence of str
        A line break ends a token.
    form : callable, optional
        Brings each text to another form first (``str.lower``); by default they are cut as they are.

    Examples
    --------
    >>> cut = cut_texts(["l'été 2.4.1", "max_size 行政長官 2.4.1"])
    >>> cut.tokens, cut.counts.toarray().tolist()
    (["l'été", '2.4.1', 'max_size', '行政長官'], [[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0]])
    """
    return _cut(texts, form, _tokens_and_breaks, by_unit=False)


def cut_units(texts: Sequence[str]) -> Cut:
    """Cut texts into the units of `twinlink.scripts.split_units`: words without digits, and single characters.

    >>> cut_units(["httpd-2.4", "執行"]).tokens
    ['httpd', '執', '行']
    """
    return _cut(texts, None, scripts.units_and_breaks, by_unit=True)


def _tokens_and_breaks(text: str) -> list[str]:
    """Return the tokens of the lines of a text, and the line breaks between them."""
    return expression(_SPACED_TOKEN_OR_BREAK if scripts.is_spaced(text) else _TOKEN_OR_BREAK).findall(text)


def _cut(texts: Sequence[str], form: Form | None, find: Callable[[str], list[str]], *, by_unit: bool) -> Cut:
    """Cut texts: a few by an expression, many by a kernel that finds the same."""
    ends = np.cumsum([len(text) + 1 for text in texts], dtype=np.int64)
    if not len(texts) or _are_few(int(ends[-1])):
        few = [*map(form, texts)] if form else texts
        starts, columns, tokens = numbered_by_breaks(find(_joined(few)))
        is_plain = np.fromiter(map(str.isascii, few), np.bool_, len(few))
        return Cut(incidence(starts, columns, len(tokens)), tokens, is_plain)
    known = _Tokens()
    parts = [known.count([*map(form, chunk)] if form else chunk, by_unit=by_unit) for chunk in _chunks(texts, ends)]
    columns, times, lengths, kinds = (np.concatenate(each) for each in zip(*parts, strict=True))
    shape = (len(texts), len(known.tokens))
    counts = narrow(csr_array((times, columns, np.concatenate([[0], np.cumsum(lengths)])), shape=shape))
    counts.sort_indices()
    return Cut(counts, known.tokens, kinds & ODD == 0)


def _are_few(n_characters: int) -> bool:
    """Return whether a regular expression is done sooner than the kernel, which has to be loaded or compiled first."""
    if n_characters <= FEW_CHARACTERS and not code_runs():
        return True
    return n_characters <= FEW_WITHOUT_CODE and count_tokens.can_wait(n_characters * _SECONDS)


def _joined(texts: Sequence[str]) -> str:
    """Return texts with a line break behind each, and no others."""
    joined = "\n".join([*texts, ""])
    return joined if joined.count("\n") == len(texts) else "\n".join([*(text.replace("\n", " ") for text in texts), ""])


def _chunks(texts: Sequence[str], ends: Places) -> Iterator[Sequence[str]]:
    """Yield the texts, which end at these places, in turns of about `CHUNK` characters."""
    first = 0
    while first < len(texts):
        done = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + CHUNK, side="right")))
        yield texts[first:last]
        first = last


class _Tokens:
    """The tokens of the texts so far, in a hash table without deletions: a token is in the first free slot."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self._hashes, self._numbers = np.zeros(_FIRST_SLOTS, np.uint64), np.full(_FIRST_SLOTS, -1, np.int32)

    def count(self, texts: Sequence[str], *, by_unit: bool) -> tuple[Numbers, Floats, Numbers, NDArray[np.uint16]]:
        """Return the tokens of some texts, how often each is there, how many each text has, and kinds of characters."""
        joined = _joined(texts)
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
        (starts, ends), found, (self._hashes, self._numbers) = count_tokens(
            codes, characters.classes_of(codes), len(texts), (self._hashes, self._numbers), len(self.tokens), by_unit
        )
        self.tokens += [joined[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        return found


@part_of_kernel
def _end_of_number(kinds: Kinds, at: Place) -> Place:
    """Return where a number ends: groups of digits, one point or apostrophe between each two."""
    while kinds[at] & DIGIT or (kinds[at] & (POINT | APOSTROPHE) and kinds[at + ONE] & DIGIT):
        at += ONE
    return at


@part_of_kernel
def _end_of_word(kinds: Kinds, at: Place) -> Place:
    """Return where a word ends."""
    while True:
        kind = kinds[at]
        is_inside = (kind & _IN_WORD and not kind & UNSPACED) or kind & MARK
        if not is_inside and not (kind & APOSTROPHE and kinds[at + ONE] & LETTER):
            return at
        at += ONE


@part_of_kernel
def _end_of_run(kinds: Kinds, at: Place, script: int) -> Place:
    """Return where a run of characters of one kind of scripts ends."""
    while kinds[at] & script:
        at += ONE
    return at


@part_of_kernel
def _end_of_token(kinds: Kinds, at: Place) -> Place:
    """Return where the token that begins here ends; ``at`` itself if none does."""
    kind = kinds[at]
    if kind & LETTER and not kind & UNSPACED:
        return _end_of_word(kinds, at + ONE)
    if kind & DIGIT:
        return _end_of_number(kinds, at)
    if kind & EAST_ASIAN:
        return _end_of_run(kinds, at, EAST_ASIAN)
    return _end_of_run(kinds, at, SOUTH_EAST_ASIAN)


@part_of_kernel
def _end_of_unit(kinds: Kinds, at: Place) -> Place:
    """Return where the unit that begins here ends."""
    if kinds[at] & UNIT:
        return at + ONE
    while kinds[at] & LETTER and not kinds[at] & UNIT:
        at += ONE
    return at


@part_of_kernel
def _slot(hashes: NDArray[np.uint64], numbers: Numbers, value: Place) -> Place:
    """Return the slot of a hash: the one that has it, or the one where it is to be put."""
    last = Place(len(numbers)) - ONE
    slot = (value ^ (value >> _HALF)) & last
    while numbers[slot] >= 0 and hashes[slot] != value:
        slot = (slot + ONE) & last
    return slot


@part_of_kernel
def _grown(hashes: NDArray[np.uint64], numbers: Numbers) -> tuple[NDArray[np.uint64], Numbers]:
    """Return a table of twice as many slots."""
    more_hashes, more_numbers = np.zeros(2 * len(hashes), np.uint64), np.full(2 * len(numbers), -1, np.int32)
    for old in range(len(numbers)):
        if numbers[old] >= 0:
            slot = _slot(more_hashes, more_numbers, hashes[old])
            more_hashes[slot], more_numbers[slot] = hashes[old], numbers[old]
    return more_hashes, more_numbers


@part_of_kernel
def _kinds(codes: NDArray[np.uint32], classes: Kinds, n_texts: int) -> tuple[Kinds, Kinds]:
    """Return the class of each character, followed by two zeros, and the classes of each text together."""
    kinds, of_texts = np.zeros(len(codes) + 2, np.uint16), np.zeros(n_texts, np.uint16)
    text, of_text = 0, np.uint16(0)
    for at in range(len(codes)):
        kind = classes[codes[at]]
        kinds[at] = kind
        of_text |= kind
        if codes[at] == _BREAK:
            of_texts[text] = of_text
            text, of_text = text + 1, np.uint16(0)
    return kinds, of_texts


@part_of_kernel
def _count_while_there_is_room(
    texts: tuple[NDArray[np.uint32], Kinds],
    known: Known,
    new: tuple[Places, Places],
    found: tuple[Numbers, Floats, Numbers, Numbers],
    done: tuple[int, int, int, Place],
    n_known: int,
    by_unit: bool,
) -> tuple[int, int, int, Place]:
    """Count the tokens of texts until half of the slots are taken; return what is done, to go on there.

    It is apart from the loop that makes more room because numba would count the references to arrays that change.
    ``places`` are where each token was last; those of a token that was never there may be anything.
    """
    (codes, kinds), (hashes, numbers), (starts, ends), (tokens, times, lengths, places) = texts, known, new, found
    n, n_new, text, at = done
    begin, first = n - lengths[text] if text < len(lengths) else n, _FIRST_OF_UNIT if by_unit else _FIRST
    while at < Place(len(codes)) and 2 * (n_known + n_new) < len(numbers):
        if not kinds[at] & first:
            if codes[at] == _BREAK:
                lengths[text] = n - begin
                text, begin = text + 1, n
            at += ONE
            continue
        end = _end_of_unit(kinds, at) if by_unit else _end_of_token(kinds, at)
        value = _FIRST_HASH
        for place in range(at, end):
            value = (value ^ np.uint64(codes[place])) * _FACTOR
        slot = _slot(hashes, numbers, value)
        number = numbers[slot]
        if number < 0:
            number = np.int32(n_known + n_new)
            hashes[slot], numbers[slot], starts[n_new], ends[n_new] = value, number, at, end
            n_new += 1
        seen = places[number]
        if begin <= seen < n and tokens[seen] == number:
            times[seen] += np.float32(1)
        else:
            places[number], tokens[n], times[n] = n, number, 1
            n += 1
        at = end
    if text < len(lengths):
        lengths[text] = n - begin
    return n, n_new, text, at


@compiled
def count_tokens(
    codes: NDArray[np.uint32],
    classes: Kinds,
    n_texts: int,
    known: Known,
    n_known: int,
    by_unit: bool,
) -> tuple[tuple[Places, Places], tuple[Numbers, Floats, Numbers, Kinds], Known]:
    """Count the tokens, or units, of each text.

    Parameters
    ----------
    codes : ndarray of uint32
        Code points of all texts, each with a line break behind it.
    classes : ndarray of uint16
        As from `classes_of`.
    n_texts : int
    known : tuple of ndarray
        The hash of each token known so far, by slots, and its number; -1 for a free slot.
    n_known : int
        How many these are.
    by_unit : bool

    Returns
    -------
    starts, ends : ndarray of int64
        Where each token that was not known stands first; they get the next numbers.
    tokens, times, lengths, kinds : ndarray
        The tokens of each text, in the order of their first appearance there, how often they are there, how many
        they are, and the classes of all characters of the text.
    hashes, numbers : ndarray
        What is known now.
    """
    hashes, numbers = known[0].copy(), known[1].copy()
    kinds, of_texts = _kinds(codes, classes, n_texts)
    starts, ends = np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)
    tokens, times = np.empty(len(codes), np.int32), np.empty(len(codes), np.float32)
    lengths = np.zeros(n_texts, np.int32)
    places = np.empty(n_known + len(codes), np.int32)
    n, n_new, text, at = 0, 0, 0, Place(0)
    while True:
        found = tokens, times, lengths, places
        n, n_new, text, at = _count_while_there_is_room(
            (codes, kinds), (hashes, numbers), (starts, ends), found, (n, n_new, text, at), n_known, by_unit
        )
        if at >= Place(len(codes)):
            break
        hashes, numbers = _grown(hashes, numbers)
    of_each = tokens[:n].copy(), times[:n].copy(), lengths, of_texts
    return (starts[:n_new].copy(), ends[:n_new].copy()), of_each, (hashes, numbers)
