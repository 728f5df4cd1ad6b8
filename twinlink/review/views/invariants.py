"""Tokens that a translation keeps: numbers, addresses, codes, and Latin words in a text of another script."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

_INVARIANT = re.compile(
    r"""(?P<address>https?://[^\s<>"'\u3000-\u303f\uff00-\uffef]{1,500}|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8})
    |(?P<number>\d{1,3}(?:[,.'\u00a0\u202f]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?)
    |(?P<word>[A-Za-z][A-Za-z0-9+#&-]*(?:\.[A-Za-z0-9]+)*)""",
    re.VERBOSE,
)
_HAS_DIGIT = re.compile(r"\d")
_SEPARATORS = re.compile(r"[,.'\u00a0\u202f]")
_LATIN_SHARE = 0.85  # of the letters; with fewer Latin letters, a text counts as being in another script


class Invariant(NamedTuple):
    """A number, address, code or foreign word in a text."""

    start: int
    end: int
    key: str
    """Normalised form, equal on both sides."""


def invariants(text: str) -> Iterator[Invariant]:
    """Yield the tokens that a translation should contain, too.

    Words count if they contain digits (``A4``) or if the text is in another script.

    Examples
    --------
    >>> [text.key for text in invariants("Form A4 costs 1,200.50 on 3 May")]
    ['a4', '120050', '3']
    >>> [text.key for text in invariants("請填寫 Form A4 表格，費用１２００元")]
    ['form', 'a4', '1200']
    """
    takes_words = not _is_latin(text)
    for found in _INVARIANT.finditer(text):
        if takes_words or found.lastgroup != "word" or _HAS_DIGIT.search(found.group()):
            yield Invariant(found.start(), found.end(), _key(found))


def keys_of(text: str) -> Counter[str]:
    """Count the keys of all invariants and Latin words of a text."""
    return Counter(map(_key, _INVARIANT.finditer(text)))


def _key(found: re.Match[str]) -> str:
    return _number(found.group()) if found.lastgroup == "number" else found.group().rstrip(".,;:!?)").lower()


def _number(text: str) -> str:
    digits = unicodedata.normalize("NFKC", _SEPARATORS.sub("", text))
    if not digits.isascii():
        digits = "".join(str(unicodedata.digit(c, 0)) for c in digits)
    return digits.lstrip("0") or "0"


def _is_latin(text: str) -> bool:
    letters = [c for c in text[:2_000] if c.isalpha()]
    return sum(c < "\u0250" for c in letters) >= _LATIN_SHARE * len(letters)
