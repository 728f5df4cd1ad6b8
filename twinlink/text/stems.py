"""Stems of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import TypeAlias, cast

import snowballstemmer

from twinlink.text.terms import has_latin_script, is_latin, is_name, is_number
from twinlink.text.word_lists import KOREAN_PARTICLES, PREFIX_LANGUAGES, SNOWBALL

Stemmer: TypeAlias = Callable[[str], str]

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
    return _cached_stem(word, lang.partition("-")[0])


def stems(words: Iterable[str], lang: str) -> list[str]:
    """Return the `stem` of each word; nothing is kept of words that are given only once.

    >>> stems(["servers", "2.0", "info@example.org"], "fr")
    ['server', '2.0', 'info@example.org']
    """
    base = lang.partition("-")[0]
    own = _stemmer(base)
    of_latin = own if has_latin_script(base) else _stemmer("en")
    return [_stem(word, own, of_latin) for word in words]


@lru_cache(maxsize=2**18)
def _cached_stem(word: str, base: str) -> str:
    return stems([word], base)[0]


def _stem(word: str, own: Stemmer, of_latin: Stemmer) -> str:
    if is_number(word) or is_name(word):
        return word
    return of_latin(word) if of_latin is not own and is_latin(word) else own(word)


def _without_particle(word: str) -> str:
    for particle in KOREAN_PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= 2:
            return word.removesuffix(particle)
    return word


def _first_letters(word: str) -> str:
    return word[:_PREFIX]


@cache
def _stemmer(base: str) -> Stemmer:
    """Return what takes a word of a language to its stem."""
    if base == "ko":
        return _without_particle
    if base in PREFIX_LANGUAGES:
        return _first_letters
    if SNOWBALL.get(base) not in snowballstemmer.algorithms():
        return str
    stemmer = snowballstemmer.stemmer(SNOWBALL[base])
    stemmer.maxCacheSize = 0  # each word is given once, and its cache takes more time than its stems
    return cast("Stemmer", stemmer.stemWord)
