"""Stems of words."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import snowballstemmer

from twinlink.text.terms import has_latin_script, is_latin, is_name, is_number
from twinlink.text.word_lists import KOREAN_PARTICLES, PREFIX_LANGUAGES, SNOWBALL

_PREFIX = 5  # letters kept of a word in one of PREFIX_LANGUAGES


def stem(word: str, lang: str) -> str:
    """Return what is common to the forms of a word: Snowball's stem, for Kazakh and its like the first five letters.

    A Latin word in a text of another script is taken for English, so that it is stemmed like its twin in an English
    text.

    Examples
    --------
    >>> stem("servers", "en"), stem("servers", "zh-Hant"), stem("serveurs", "fr")
    ('server', 'server', 'serveur')
    >>> stem("қазақстанның", "kk"), stem("서버를", "ko")
    ('қазақ', '서버')
    """
    return _stem(word, lang.partition("-")[0])


@lru_cache(maxsize=2**18)
def _stem(word: str, base: str) -> str:
    if is_number(word) or is_name(word):
        return word
    if is_latin(word) and not has_latin_script(base):
        return _stemmer("en")(word)
    if base == "ko":
        return _without_particle(word)
    if base in SNOWBALL:
        return _stemmer(base)(word)
    return word[:_PREFIX] if base in PREFIX_LANGUAGES else word


def _without_particle(word: str) -> str:
    for particle in KOREAN_PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= 2:
            return word.removesuffix(particle)
    return word


@cache
def _stemmer(base: str) -> Callable[[str], str]:
    if SNOWBALL[base] not in snowballstemmer.algorithms():
        return str
    stemmer = snowballstemmer.stemmer(SNOWBALL[base])
    return lambda word: str(stemmer.stemWord(word))
