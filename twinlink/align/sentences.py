"""Sentences of a page: each block is split separately, with the position of every sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import sentencex

# sentencex 1.0 panics, and ends the process, where a capital is followed by a space of several bytes and a period.
_SPACE_BEFORE_PERIOD = re.compile(r"(?<!\s)\s++\.")
_SPACE = re.compile(r"[^\S\x00-\x7f]")
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
    return [
        Sentence(block[i:j], number, i, j) for number, block in enumerate(blocks) for i, j in split_block(block, lang)
    ]


def split_block(block: str, lang: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence of a text, white space around it left out.

    >>> split_block(" One.  Two. ", "en")
    [(1, 5), (7, 11)]
    """
    places = []
    at = 0
    base = lang.partition("-")[0]
    text = _SPACE_BEFORE_PERIOD.sub(_plain_space, block)
    for part in sentencex.segment(base or "en", text):
        found = text.find(part, at)
        if found < 0:  # the splitter changed the text: keep it whole
            return [_stripped(block, 0, len(block))] if block.strip() else []
        if part.strip():
            places.append(_stripped(block, found, found + len(part)))
        at = found + len(part)
    return _with_names(block, places, TITLES.get(base, frozenset()))


def _with_names(block: str, places: list[tuple[int, int]], titles: frozenset[str]) -> list[tuple[int, int]]:
    """Join each part that ends in a title with the next part, which begins with the name."""
    joined: list[tuple[int, int]] = []
    is_open = False
    for start, end in places:
        joined.append((joined.pop()[0] if is_open else start, end))
        is_open = block[start:end].rsplit(None, 1)[-1].lstrip(_OPENING) in titles
    return joined


def _plain_space(match: re.Match[str]) -> str:
    return _SPACE.sub(" ", match[0])


def _stripped(block: str, start: int, end: int) -> tuple[int, int]:
    part = block[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())
