"""Tokenizers of sentences for any language, and number values that translations share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from twinlink.scripts import UNSPACED, visible_text
from twinlink.text.characters import ANY_GROUPING_SPACE, MARK_RANGES

_WORD = re.compile(
    r"(?:https?://|www\.)[^\s<>\"]+|[\w.+-]+@[\w-]+\.[\w.-]+"  # addresses
    r"|\d+(?:[.,:'’]\d+)*"
    rf"|[{UNSPACED}]"
    rf"|(?:[^\W\d{UNSPACED}][{MARK_RANGES}]*)+\d*"
    r"|[?!:;%§$€£()]"
)
_REFERENCE = re.compile(r"&#x?\w+;")
_DIGITS = re.compile(r"\d+(?:[.,'’]\d+)*")
_GROUPS = re.compile(r"[.,'’\u00a0\u202f](?=\d{3}(?!\d))")
_SPACED_GROUPS = re.compile(ANY_GROUPING_SPACE)
_LONGEST = 80
_STEM = 5


class Tokenizer(NamedTuple):
    """How sentences are split into words, and words into keys."""

    split: Callable[[str, str], list[str]]
    """From a sentence and its language to its words."""
    key: Callable[[str, str], str]
    """From a word and its language to a key of its forms, such as a stem."""


def split_words(text: str, lang: str = "") -> list[str]:  # noqa: ARG001  (any language is split alike)
    """Split a sentence into words without knowing its language.

    Words are case-folded; characters of scripts without spaces are words of their own; numbers lose their grouping;
    addresses stay whole; marks that translations share (``? ! : ; % ( )``) are words too. Invisible characters (soft
    hyphens) break no word, and accents are composed.

    Examples
    --------
    >>> split_words("Die Höhenzahlen: 8'848 m?")
    ['die', 'höhenzahlen', ':', '8848', 'm', '?']
    >>> split_words("海拔8848米。")
    ['海', '拔', '8848', '米']
    """
    found = _WORD.findall(_SPACED_GROUPS.sub("", visible_text(text)))
    return [_plain(word) for word in found if len(word) <= _LONGEST]


def _plain(word: str) -> str:
    return _GROUPS.sub("", word) if word[0].isdigit() else word.casefold()


def prefix_key(word: str, lang: str = "") -> str:  # noqa: ARG001  (any language is cut alike)
    """Cut a word of letters to its first five, which takes off most endings; numbers and addresses stay.

    >>> prefix_key("himalayenne"), prefix_key("12345678")
    ('himal', '12345678')
    """
    return word[:_STEM] if word.isalpha() else word


ANY_LANGUAGE = Tokenizer(split_words, prefix_key)
"""For any language, without any resource."""


def numbers(text: str) -> list[str]:
    """Return the numbers of a text, one form for each however they are grouped, sorted.

    A character reference that stands in the text (``&#x27;``) is no number.

    >>> numbers("3 of 1,234.5 in 2009"), numbers("1 234,5 (3), 2009")
    (['1234.5', '2009', '3'], ['1234.5', '2009', '3'])
    """
    found = _DIGITS.findall(_SPACED_GROUPS.sub("", _REFERENCE.sub(" ", text)))
    return sorted(_GROUPS.sub("", one).replace(",", ".").lstrip("0") or "0" for one in map(_ascii_digits, found))


def _ascii_digits(text: str) -> str:
    return text if text.isascii() else "".join(str(unicodedata.decimal(c, "")) or c for c in text)


def fold(word: str) -> str:
    """Write a word without accents, Cyrillic and Greek in Latin letters, so that cognates look alike.

    >>> fold("himalayenne"), fold("Ақпарат".casefold()), fold("größe")
    ('himalaienne', 'akparat', 'grosse')
    """
    letters = unicodedata.normalize("NFKD", word.casefold()).translate(_LATIN)
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    for long, short in _SPELLINGS:
        plain = plain.replace(long, short)
    return plain


_LATIN = str.maketrans(
    {
        **dict(zip("абвгдезийклмнопрстуфхцчшыэіўјљњђћџґ", "abvgdeziiklmnoprstufhccsieiujlndccg", strict=True)),
        **dict(zip("αβγδεζηθικλμνξοπρστυφχψως", "abgdeziziklmnxoprstufhpos", strict=True)),
        **dict(zip("әғқңөұүһ", "agknouuh", strict=True)),
        "ж": "j", "щ": "s", "ъ": "", "ь": "", "ю": "iu", "я": "ia", "ё": "e", "є": "e", "ї": "i",
        "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ı": "i", "þ": "t", "ð": "d",
    }
)  # fmt: skip
_SPELLINGS = (
    ("ph", "f"),
    ("ck", "k"),
    ("ch", "k"),
    ("th", "t"),
    ("c", "k"),
    ("q", "k"),
    ("z", "s"),
    ("y", "i"),
    ("w", "v"),
)
