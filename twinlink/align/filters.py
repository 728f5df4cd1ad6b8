"""Filters for beads, with a reason for each bead that is not kept."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rapidfuzz.distance import Indel

from twinlink.align.lengths import LengthModel
from twinlink.align.named_sites import are_others, named_sites
from twinlink.align.near_repeats import NearRepeats
from twinlink.align.tokens import numbers
from twinlink.config.align import SegmentFilterSettings
from twinlink.languages import UNDETERMINED
from twinlink.scripts import visible_text
from twinlink.tables import SEGMENT

__all__ = ["REASONS", "UNSURE", "Repeats", "Segment", "drop_unsure", "is_damaged", "judge", "judge_page", "pair_key"]

UNSURE = "unsure"
REASONS = (
    "unaligned",
    "encoding",
    "no-words",
    "copy",
    "code",
    "length",
    "numbers",
    "addresses",
    "improbable",
    "words",
    "same-language",
    "third-language",
    "page",
    UNSURE,
    "boilerplate",
    "duplicate",
    "digits",
    "near-duplicate",
)
"""Reasons in the order of the tests."""
LEAST_LETTERS = 30
"""Minimum number of letters to identify the language of a sentence. Our choice."""

CODE_MARKS = 0.1
"""Share of marks of program text in a text from which it may be a listing. On five sites 86 segments have that and
six tenths of their letters in common; all of 26 looked at are markup. From .06 on, with the underscore, sentences about
program text have it too."""

_MARK = re.compile(r"[{}<>=;$\\^~]")
_DAMAGE = re.compile(
    "\ufffd|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
    # In capitals, Ã may end a word before a no-break space or a quotation mark: IRMÃ, ĐÃ.
    "|(?<![A-ZÀ-ÞĐ])Ã[\u00a0»]|Ã[\u0080-\u009f\u00a1-\u00ba\u00bc-\u00bf]"
    "|â€[\u0080-\u00bf™œ“”˜¦]|Ð[\u0080-\u00bf].?Ð"
)
# Vowel signs and accents are no letters to `re`, but tell words apart.
_SIGNS = "".join(sign for sign in map(chr, range(0x300, 0x2000)) if unicodedata.category(sign).startswith("M"))
_NO_LETTER = re.compile(rf"(?:[^\w{_SIGNS}]|[\d_])+")
_NO_LETTER_OR_DIGIT = re.compile(rf"(?:[^\w{_SIGNS}]|_)+")
_WITH_SIGN = re.compile(r"\b([a-zA-Z])(\+\+|#)(?!\w)")  # C++ and C#


class Segment(NamedTuple):
    """A bead as text, with its places in the two pages."""

    source: str
    target: str
    kind: str
    probability: float
    per_word: float
    held_out: float = 0.0
    block_a: int = -1
    start_a: int = 0
    end_a: int = 0
    block_b: int = -1
    start_b: int = 0
    end_b: int = 0


def judge(
    segment: Segment,
    settings: SegmentFilterSettings,
    lengths: LengthModel,
    identify: Callable[[str], str] | None = None,
) -> str:
    """Return `SEGMENT`, or the reason why this bead is not kept; repeats are judged by `Repeats`.

    Parameters
    ----------
    segment : Segment
    settings : SegmentFilterSettings
    lengths : LengthModel
        Learned from the site's own pairs.
    identify : callable, optional
        Names the language of a text, empty or ``und`` when it cannot. None: not tested.

    Examples
    --------
    >>> def verdict(source, target):
    ...     return judge(Segment(source, target, "1-1", 0.9, 0.5), SegmentFilterSettings(), LengthModel())
    >>> verdict("Open 9 to 5", "Ouvert de 9 à 5"), verdict("Open 9 to 5", "Ouvert de 8 à 6"), verdict("Open", "Open")
    ('segment', 'numbers', 'copy')
    """
    if not (segment.source and segment.target):
        return "unaligned"
    for reason, holds in _CHECKS.items():
        if holds(segment, settings, lengths):
            return reason
    return "same-language" if identify and _in_one_language(segment, identify) else SEGMENT


def judge_page(
    segments: Sequence[Segment],
    support: float,
    settings: SegmentFilterSettings,
    lengths: LengthModel,
    identify: Callable[[str], str] | None = None,
    *,
    is_foreign: bool = False,
) -> list[str]:
    """Judge all beads of two pages; none is kept if the pages are not translations by their support.

    Parameters
    ----------
    segments : sequence of Segment
    support : float
        See `twinlink.align.page_pair.support`.
    settings, lengths, identify
        As in `judge`.
    is_foreign : bool
        Whether one of the pages is in a third language; none is kept then, either.
    """
    verdicts = [judge(segment, settings, lengths, identify) for segment in segments]
    if support >= settings.min_support and not is_foreign:
        return verdicts
    reason = "third-language" if is_foreign else "page"
    return [reason if verdict == SEGMENT else verdict for verdict in verdicts]


def _in_one_language(segment: Segment, identify: Callable[[str], str]) -> bool:
    if min(len(_letters(segment.source)), len(_letters(segment.target))) < LEAST_LETTERS:
        return False
    language = identify(segment.source)
    return language not in ("", UNDETERMINED) and language == identify(segment.target)


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text).casefold()


def _has_no_words(segment: Segment, settings: SegmentFilterSettings, lengths: LengthModel) -> bool:  # noqa: ARG001
    return not (_letters(segment.source) and _letters(segment.target))


def _is_copy(segment: Segment, settings: SegmentFilterSettings, lengths: LengthModel) -> bool:  # noqa: ARG001
    alike = Indel.normalized_similarity(_letters(segment.source), _letters(segment.target))
    return alike > settings.max_copy


def _is_code(segment: Segment, settings: SegmentFilterSettings, lengths: LengthModel) -> bool:  # noqa: ARG001
    """Return whether both sides are one listing, of which at most comments and strings were translated."""
    if min(_share_of_marks(segment.source), _share_of_marks(segment.target)) < CODE_MARKS:
        return False
    sides = _letters(segment.source), _letters(segment.target)
    return min(map(len, sides)) >= LEAST_LETTERS and Indel.normalized_similarity(*sides) > settings.max_code_copy


def _share_of_marks(text: str) -> float:
    return len(_MARK.findall(text)) / len(text)


def _is_unlike_in_length(segment: Segment, settings: SegmentFilterSettings, lengths: LengthModel) -> bool:
    size_a, size_b = len(segment.source), len(segment.target)
    deviation = abs(math.log(size_b / size_a) - lengths.mean) / math.sqrt(2 * lengths.variance / (size_a + size_b))
    return deviation > settings.max_length_deviation


_CHECKS: dict[str, Callable[[Segment, SegmentFilterSettings, LengthModel], bool]] = {
    "encoding": lambda segment, *_: is_damaged(segment.source) or is_damaged(segment.target),
    "no-words": _has_no_words,
    "copy": _is_copy,
    "code": _is_code,
    "length": _is_unlike_in_length,
    "numbers": lambda segment, settings, _: _shared_numbers(segment) < settings.min_shared_numbers,
    "addresses": lambda segment, settings, _: _other_addresses(segment) > settings.max_other_addresses,
    "improbable": lambda segment, settings, _: segment.probability < settings.min_probability,
    "words": lambda segment, settings, _: segment.per_word < settings.min_words,
}


def is_damaged(text: str) -> bool:
    """Return whether a text shows that it was decoded wrongly: replacement and control characters, UTF-8 read as Latin.

    >>> is_damaged("Ã©tÃ©"), is_damaged("été"), is_damaged("a\ufffdb")
    (True, False, True)
    """
    return _DAMAGE.search(text) is not None


def _shared_numbers(segment: Segment) -> float:
    """Share of the numbers that both sides have; digits that one side may have written out do not count against it."""
    a, b = Counter(numbers(segment.source)), Counter(numbers(segment.target))
    if not (a - b and b - a):
        a, b = (Counter({number: n for number, n in side.items() if len(number) > 1}) for side in (a, b))
    total = max(a.total(), b.total())
    return (a & b).total() / total if total else 1.0


def _other_addresses(segment: Segment) -> float:
    """Share of the text that is addresses, of the side that has less; 0 unless both name sites, and other ones."""
    a, b = named_sites(segment.source), named_sites(segment.target)
    return min(a.share, b.share) if are_others(a, b) else 0.0


def pair_key(source: str, target: str, *, ignore_digits: bool = True) -> bytes:
    """Return a key of 8 bytes that ignores case, punctuation, invisible characters and, by default, digits.

    >>> pair_key("Page 1.", "Seite 1") == pair_key("page 2", "Seite 2 ")
    True
    >>> pair_key("C++", "C++") == pair_key("C#", "C#")
    False
    """
    ignored = _NO_LETTER if ignore_digits else _NO_LETTER_OR_DIGIT
    text = "\0".join(ignored.sub(" ", _spelt_out(visible_text(side))).strip().casefold() for side in (source, target))
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


def _spelt_out(text: str) -> str:
    """Write the signs of ``C++`` and ``C#``, which are part of the name, as letters."""
    return _WITH_SIGN.sub(lambda name: f"{name[1]}{_SIGN_WORDS[name[2]]}", text)


_SIGN_WORDS = {"++": "plusplus", "#": "sharp"}


def drop_unsure(verdicts: Sequence[list[str]], chances: Iterable[float | None], least: float) -> None:
    """Put the reason `UNSURE` into ``verdicts`` for the beads of a chance below ``least``; None is not below it.

    >>> verdicts = [["segment", "copy"], ["segment"]]
    >>> drop_unsure(verdicts, [0.4, None, 0.8], 0.5)
    >>> verdicts
    [['unsure', 'copy'], ['segment']]
    """
    places = ((of_page, number) for of_page in verdicts for number in range(len(of_page)))
    for (of_page, number), chance in zip(places, chances, strict=True):
        if chance is not None and chance < least:
            of_page[number] = UNSURE


class Repeats:
    """Finds pairs that were kept before: on the same site, or elsewhere in the run.

    Parameters
    ----------
    near : NearRepeats, optional
        Finds near-duplicates. None: not tested.
    ignore_digits : bool
        Count pairs that differ only in digits as repeats.
    """

    def __init__(self, near: NearRepeats | None = None, *, ignore_digits: bool = True) -> None:
        self._seen: set[bytes] = set()
        self._exact: set[bytes] = set()
        self._near = near
        self._ignore_digits = ignore_digits

    def judge(self, pages: Sequence[Sequence[Segment]], verdicts: Sequence[list[str]], share: float) -> None:
        """Put the reasons for repeated pairs of one site into ``verdicts``; the first of equal ones stays.

        Parameters
        ----------
        pages : sequence of sequences of Segment
            Beads of each page pair.
        verdicts : sequence of lists of str
            Verdicts of `judge`; changed in place.
        share : float
            Share of the pages from which a repeated pair counts as boilerplate.
        """
        keys = [
            [self._key(one) if verdict == SEGMENT else b"" for one, verdict in zip(page, page_verdicts, strict=True)]
            for page, page_verdicts in zip(pages, verdicts, strict=True)
        ]
        n_pages = Counter(key for page in keys for key in set(page))
        least = max(5, share * len(pages))
        for page, of_page, page_verdicts in zip(pages, keys, verdicts, strict=True):
            for number, key in enumerate(of_page):
                if key:
                    page_verdicts[number] = self._verdict(page[number], key, is_frequent=n_pages[key] > least)

    def _key(self, segment: Segment) -> bytes:
        return pair_key(segment.source, segment.target, ignore_digits=self._ignore_digits)

    def _verdict(self, segment: Segment, key: bytes, *, is_frequent: bool) -> str:
        """Return the reason for a repeated pair, or `SEGMENT`; remember the pair."""
        exact = pair_key(segment.source, segment.target, ignore_digits=False)
        had_key, had_exact = key in self._seen, exact in self._exact
        self._seen.add(key)
        self._exact.add(exact)
        if had_key:
            return "digits" if not had_exact else "boilerplate" if is_frequent else "duplicate"
        is_near = self._near and not self._near.is_new(segment.source, segment.target)
        return "near-duplicate" if is_near else SEGMENT
