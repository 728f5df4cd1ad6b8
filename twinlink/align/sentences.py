"""Sentences of a page: each block is split separately, with the position of every sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import chain
from typing import NamedTuple

import sentencex

from twinlink.scripts import INVISIBLE, script_of

# sentencex 1.0 panics, and ends the process, where a capital is followed by a space of several bytes and a period.
_SPACE_BEFORE_PERIOD = re.compile(r"(?<!\s)\s++\.")
_SPACE = re.compile(r"[^\S\x00-\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")  # sentencex takes no text that has one
LONGEST_PIECE = 10_000
"""Characters of a block that are split at once, if its sentences let it be cut: the time that sentencex takes over
quotations grows with the square of their number."""
_PIECE_END = re.compile("[。！？]+[”’」』）》〉】]*|\n")
_OPENING = "([{«“„‘\"'¿¡"  # what may stand right before a title
TITLES: dict[str, frozenset[str]] = {
    lang: frozenset(titles.split())
    for lang, titles in {
        "ar": "أ. د. أ.د.",
        "bn": "ড. ডা. মো.",
        "de": "Dipl. Frl. Hrn.",
        "el": "κκ. καθ.",
        "en": "Mx.",
        "es": "Dña.",
        "fr": "M. MM. Mme. Mmes. Mlle. Mlles. Me. Mgr. Mr. Dr. Pr. Prof.",
        "gu": "ડૉ.",
        "hi": "डॉ. प्रो. श्री. सुश्री. पं.",
        "hu": "özv. ifj.",
        "id": "Hj. Ir. Sdr.",
        "kk": "акад. проф.",
        "kn": "ಡಾ.",
        "lt": "doc.",
        "lv": "doc.",
        "mr": "डॉ. श्री.",
        "ms": "Hj. Ir. Sdr.",
        "ne": "डा. डॉ.",
        "nl": "Mevr. mevr. Mw. mw. Mej. mej. Ds. ds.",
        "pa": "ਡਾ.",
        "pl": "Dr. dr. Mgr. mgr. Inż. inż. Hab. hab. Doc. doc. Ks. ks. Bp. bp. Gen. gen. Płk. płk. Kpt. kpt.",
        "pt": "Arq. Profa. Srta.",
        "ro": "Dl. dl. Dna. dna.",
        "ru": "доц. ген.",
        "sl": "mag.",
        "sr": "др. проф.",
        "ta": "திரு.",
        "te": "డా.",
        "th": "ดร.",
        "tr": "Av. Doç. Hz. Sn. Yrd.",
        "vi": "GS. PGS. ThS. TS.",
    }.items()
}
"""Titles before names that sentencex 1.0.32 cuts sentences after, collected by hand: usual titles of these languages,
each tried between two words. Left out are those that other words are written like, such as Serbian ``г.``, a year."""
COMPANIES = frozenset(
    "Inc. Ltd. Co. Corp. Bros. S.A. S.A.S. S.L. S.p.A. S.r.l. N.V. B.V. e.V. e.K. o.o. s.r.o. a.s.".split()
)
"""What names of companies end in, in texts of any language."""

_INITIALS = re.compile(r"(?:[^\W\d_]\.-?){1,3}")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_KNOWS_INITIALS = frozenset({"en"})
"""Languages in which sentencex 1.0.32 keeps initials with the name, unless a word that begins sentences follows."""


class Sentence(NamedTuple):
    """A sentence and where it stands: ``blocks[block][start:end]``."""

    text: str
    block: int
    start: int
    end: int


def split_blocks(blocks: Sequence[str], lang: str) -> list[Sentence]:
    """Split the text blocks of a page into sentences; no sentence reaches from one block into the next.

    Parameters
    ----------
    blocks : sequence of str
        Text of each table cell, list item, heading, paragraph …, as in column ``blocks`` of the table of pages.
    lang : str
        BCP 47; a language without rules of its own is split as the one nearest to it.

    Examples
    --------
    >>> [sentence.text for sentence in split_blocks(["News", "Mr. Lee came. He left.", "你好。我是谁？"], "en")]
    ['News', 'Mr. Lee came.', 'He left.', '你好。', '我是谁？']
    """
    page = _Page(blocks)
    return [
        Sentence(block[i:j], number, i, j)
        for number, block in enumerate(blocks)
        for i, j in _split_block(block, lang, page)
    ]


def split_block(block: str, lang: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence of a text, white space and invisible characters around it left out.

    >>> split_block(" One.  Two. ", "en")
    [(1, 5), (7, 11)]
    """
    return _split_block(block, lang, _Page([block]))


class _Page:
    """The blocks of a page, and what they say of a word."""

    def __init__(self, blocks: Sequence[str]) -> None:
        self._blocks = blocks

    @cached_property
    def _in_lower_case(self) -> frozenset[str]:
        found = (word for block in self._blocks for word in _FIRST_WORD.findall(block))
        return frozenset(word for word in found if word.islower())

    def has_in_lower_case(self, word: str) -> bool:
        """Return whether the page has a word in lower case, too: then it is no name."""
        return word.lower() in self._in_lower_case


def _split_block(block: str, lang: str, page: _Page) -> list[tuple[int, int]]:
    places = []
    at = 0
    base = lang.partition("-")[0]
    text = _SURROGATE.sub("\ufffd", _SPACE_BEFORE_PERIOD.sub(_plain_space, block))
    for part in chain.from_iterable(sentencex.segment(base or "en", piece) for piece in _pieces(text)):
        found = text.find(part, at)
        if found < 0:  # the splitter changed the text: keep it whole
            return [_stripped(block, 0, len(block))] if block.strip(_blanks()) else []
        if part.strip(_blanks()):
            places.append(_stripped(block, found, found + len(part)))
        at = found + len(part)
    return _with_names(block, places, base, page)


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces of sentences, `LONGEST_PIECE` each if it can be cut so finely."""
    start = 0
    for end in _piece_ends(text):
        yield text[start:end]
        start = end
    yield text[start:]


def _piece_ends(text: str) -> Iterator[int]:
    """Yield the first place after each `LONGEST_PIECE` characters where a text can be cut."""
    last = 0
    while len(text) - last > LONGEST_PIECE and (found := _PIECE_END.search(text, last + LONGEST_PIECE)):
        last = found.end()
        yield last


def _with_names(block: str, places: list[tuple[int, int]], lang: str, page: _Page) -> list[tuple[int, int]]:
    """Join each part that ends inside a name with the next part."""
    joined: list[tuple[int, int]] = []
    last = ""
    for start, end in places:
        is_open = bool(last) and _goes_on(last, block[start:end], lang, page)
        joined.append((joined.pop()[0] if is_open else start, end))
        last = block[start:end].rsplit(None, 1)[-1].lstrip(_OPENING)
    return joined


def _goes_on(last: str, following: str, lang: str, page: _Page) -> bool:
    """Return whether a name goes on after the last word of a part: after a title, an initial, or the kind of company.

    After a company as after any abbreviation: a word in capitals begins a sentence.
    """
    if last in TITLES.get(lang, ()):
        return True
    if last in COMPANIES and (not following[0].isupper() or following.split(None, 1)[0] in COMPANIES):
        return True
    return lang not in _KNOWS_INITIALS and _are_initials(last, following, page)


def _are_initials(last: str, following: str, page: _Page) -> bool:
    """Return whether the last word of a part is up to three initials of the name that follows.

    What follows is no name if the page has its first word in lower case, too, as Kiss & Strunk (2006, "Unsupervised
    multilingual sentence boundary detection", section 4.3) test it, or if it is in another script (``restart X.`` in a
    Russian text). One letter is another initial.
    """
    word = _FIRST_WORD.match(following)
    if not (word and _INITIALS.fullmatch(last) and last.upper() == last and word[0][0].isupper()):
        return False
    return script_of(last[0]) == script_of(word[0][0]) and (len(word[0]) == 1 or not page.has_in_lower_case(word[0]))


def _plain_space(match: re.Match[str]) -> str:
    return _SPACE.sub(" ", match[0])


def _stripped(block: str, start: int, end: int) -> tuple[int, int]:
    part = block[start:end]
    return start + len(part) - len(part.lstrip(_blanks())), end - len(part) + len(part.rstrip(_blanks()))


@cache
def _blanks() -> str:
    """Return the characters that do not count at the ends of a sentence: white space and invisible ones."""
    return "".join(filter(re.compile(rf"[\s{INVISIBLE}]").match, map(chr, range(0x10000))))
