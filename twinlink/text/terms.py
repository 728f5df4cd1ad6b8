"""Classification of terms (number, name, word in Latin letters), and the normal form of numbers."""

from __future__ import annotations

import re
import unicodedata

from twinlink.languages import language_script

_LATIN_WORD = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff_0-9'’]+")
_LATIN_LETTER = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]")
_SEPARATORS = re.compile("[.,'’]")
_GROUPED = re.compile("[1-9]\\d{0,2}(?:[.,'’]\\d{3})+")
_LEADING_ZEROS = re.compile(r"^0+(?=\d)")


def is_number(term: str) -> bool:
    """Return whether a term is a number as `tokenize` writes them."""
    return term[:1].isdigit()


def is_name(term: str) -> bool:
    """Return whether a term is an e-mail address, an image file (``img:…``) or a URL on another site (``out:…``)."""
    return "@" in term or term.startswith(("img:", "out:"))


def is_latin(term: str) -> bool:
    """Return whether a term is a word in Latin letters."""
    return _LATIN_WORD.fullmatch(term) is not None and _LATIN_LETTER.search(term) is not None


def has_latin_script(lang: str) -> bool:
    """Return whether a language is written in Latin letters."""
    return language_script(lang) == "Latn"


def plain_number(token: str) -> str:
    """Write a number with ASCII digits, no grouping, a point before decimals, and no leading zeros.

    >>> [plain_number(token) for token in ("1,234.50", "1.234,50", "007", "٣٤")]
    ['1234.50', '1234.50', '7', '34']
    """
    if token.isascii() and token.isdigit():
        return _LEADING_ZEROS.sub("", token)
    if not token.isascii():
        token = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in token)
    separators = _SEPARATORS.findall(token)
    if separators:
        *front, last = _SEPARATORS.split(token)
        grouped = _GROUPED.fullmatch(token) and len(set(separators)) == 1
        if grouped:
            token = "".join(front) + last
        elif (
            len(separators) > 1
            and separators[-1] not in separators[:-1]
            and _GROUPED.fullmatch(token[: -len(last) - 1])
        ):
            token = "".join(front) + "." + last
        else:
            token = ".".join([*front, last])
    return _LEADING_ZEROS.sub("", token)
