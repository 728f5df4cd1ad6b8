"""Classification of terms: number, name, word in Latin letters."""

from __future__ import annotations

import re

from twinlink.languages import language_script

__all__ = ["has_latin_script", "is_latin", "is_name", "is_number"]

_LATIN_WORD = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff_0-9'’]+")
_LATIN_LETTER = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]")


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
