"""Words of a page: tokens, stems, and term counts of many pages."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import snowballstemmer
from scipy.sparse import csr_array

from twinlink.similarity.characters import EAST_ASIAN_RANGES, MARK_RANGES, SOUTH_EAST_ASIAN_RANGES
from twinlink.similarity.numerals import plain_number
from twinlink.similarity.values import values_in
from twinlink.similarity.wordlists import (
    CLITIC_LANGUAGES,
    KOREAN_PARTICLES,
    NOT_LATIN,
    PREFIX_LANGUAGES,
    SNOWBALL,
    SPACE_GROUPING,
)

if TYPE_CHECKING:
    import opencc

__all__ = [
    "TermTable",
    "count_terms",
    "has_latin_script",
    "is_latin",
    "is_name",
    "is_number",
    "one_form",
    "simplify_chinese",
    "simplify_japanese",
    "split_tokens",
    "stem",
    "tokenize",
]

_UNSPACED = EAST_ASIAN_RANGES + SOUTH_EAST_ASIAN_RANGES
_NUMBER = r"\d+(?:[.,'’]\d+)*"
_WORD = rf"[^\W\d_{_UNSPACED}][^\W{_UNSPACED}]*(?:(?:[{MARK_RANGES}]|['’](?=[^\W\d_]))[^\W{_UNSPACED}]*)*"
_TOKEN = re.compile(
    rf"(?P<number>{_NUMBER})|(?P<word>{_WORD})|(?P<asian>[{EAST_ASIAN_RANGES}]+)|(?P<other>[{SOUTH_EAST_ASIAN_RANGES}]+)"
)
_SPACED_TOKEN = re.compile(f"{_NUMBER}|{_WORD}")
_ANY_UNSPACED = re.compile(f"[{_UNSPACED}]")
_SOUTH_EAST_ASIAN = re.compile(f"[{SOUTH_EAST_ASIAN_RANGES}]").match
# Most lines of Western text have nothing but these: all rules that follow find the same words in them.
_IS_PLAIN = re.compile(r"[a-zA-Z \t!-&(-/:-?\[-^`{-~]*").fullmatch
_PLAIN_WORD = re.compile("[a-z]+")
# The space comes first in these, so that the search goes from space to space.
_GROUPING_SPACE = re.compile(r"[\u00a0\u202f\u2009](?=\d{3}(?!\d))(?<=\d.)")
_ANY_GROUPING_SPACE = re.compile(r"[ \u00a0\u202f\u2009](?=\d{3}(?!\d))(?<=\d.)")
# In Chinese a plain space groups where nothing else can be meant: twice, after a currency, before a character.
_SPACED_DIGITS = re.compile(r"\d \d")
_CHINESE_GROUPS = re.compile(
    r"(?<!\d)(?<!\d[ .,])[1-9]\d{0,2}(?: \d{3}){2,4}(?![\d ])"
    r"|(?<=[$¥€£])[1-9]\d{0,2}(?: \d{3}){1,4}(?!\d)"
    "|(?<!\\d)(?<!\\d[ .,])(?<![\u4e00-\u9fff])[1-9]\\d{0,2} \\d{3}(?= ?[\u4e00-\u9fff])"
)
_JAPANESE = re.compile(
    "[\u30a0-\u30ff\u31f0-\u31ff]+|[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_LATIN_WORD = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff_0-9'’]+")
_LATIN_LETTER = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]")

_LONGEST = 80  # characters; what is longer is no word (encoded data), and a stemmer might take long over it
_N_GRAM = 4  # characters: Thai, Lao, Khmer and Burmese words are two to five long
_MOST_JOINED = 4  # words of a run of Chinese that may be one entry of a lexicon
_PREFIX = 5  # letters kept of a word in one of PREFIX_LANGUAGES


class TermTable(NamedTuple):
    """Terms of a set of pages."""

    counts: csr_array
    """float32, page × term: how often. An empty row is a page without words."""
    vocabulary: list[str]
    """The terms, sorted."""


def tokenize(text: str, lang: str) -> list[str]:
    """Split a text into tokens in lower case.

    Letters and digits in one word stay together, as does what an underscore joins. A number is one token however it is
    written: ``1,234.50``, ``1 234,50`` and ``1.234,50`` give ``1234.50`` (a plain space groups where the language
    writes so, in Chinese where nothing else can be meant), and leading zeros are dropped. Chinese is simplified and cut
    by jieba's dictionary. Japanese gives katakana words whole, and for a run of kanji its pairs of characters; hiragana
    gives nothing. Thai, Lao, Khmer and Burmese give every four characters in a row. Words and numbers of more than 80
    characters are left out. The values of `values_in` (dates, amounts with a scale word, measures, e-mail addresses)
    come at the end of their line, beside the words they are made of.

    Examples
    --------
    >>> tokenize("L'été 2.4.1 d’Apache: max_size=1 234", "fr")
    ['l', 'été', '2.4.1', 'd', 'apache', 'max_size', '1234']
    >>> tokenize("行政長官 uses httpd", "zh-Hant")
    ['行政长官', 'uses', 'httpd']
    >>> tokenize("12 March", "en"), tokenize("12 March 2026", "en")
    (['12', 'march'], ['12', 'march', '2026', '2026-03-12'])
    """
    base = lang.partition("-")[0]
    return [token for line in text.split("\n") for token in _line_tokens(line, base)]


@lru_cache(maxsize=2**17)
def _line_tokens(text: str, base: str) -> tuple[str, ...]:
    """Split one line; the lines of menus come again on every page."""
    if _IS_PLAIN(text):
        return tuple(token for token in _PLAIN_WORD.findall(text.lower()) if len(token) <= _LONGEST)
    return _tokens_of_any(text, base)


def _tokens_of_any(text: str, base: str) -> tuple[str, ...]:
    text = one_form(text, base)
    tokens = _cut_unspaced(text, base) if _ANY_UNSPACED.search(text) else _cut_spaced(text, base)
    if "@" in text or any(map(is_number, tokens)):
        tokens += values_in(text, base)
    return tuple(tokens)


def _cut_spaced(text: str, base: str) -> list[str]:
    """Cut a text whose words stand apart."""
    found = [token for token in _SPACED_TOKEN.findall(text) if len(token) <= _LONGEST]
    if "'" not in text and "’" not in text:
        return [plain_number(token) if token[0].isdecimal() else token for token in found]
    split = _split_apostrophes if base in CLITIC_LANGUAGES else _strip_apostrophes
    return [part for token in found for part in _parts(token, split)]


def _parts(token: str, split: Callable[[str], list[str]]) -> list[str]:
    if token[0].isdecimal():
        return [plain_number(token)]
    return split(token) if "'" in token or "’" in token else [token]


def _cut_unspaced(text: str, base: str) -> list[str]:
    """Cut a text that has runs of Chinese, Japanese, Thai and the like between other words."""
    split = _split_apostrophes if base in CLITIC_LANGUAGES else _strip_apostrophes
    tokens: list[str | None] = []
    runs: list[str] = []
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind in ("word", "number"):
            tokens += _parts(token, split) if len(token) <= _LONGEST else ()
        elif kind == "other":
            tokens += _n_grams(token)
        elif base == "ja":
            tokens += _cut_japanese(token)
        else:
            tokens.append(None)
            runs.append(token)
    return _put_in(tokens, runs) if runs else [token for token in tokens if token is not None]


def one_form(text: str, base: str) -> str:
    """Return a text in a language (without script) in lower case and normal form NFKC, without spaces in numbers.

    Its lines are those of the text, each as it would be alone.
    """
    spaces = _ANY_GROUPING_SPACE if base in SPACE_GROUPING else _GROUPING_SPACE
    lines = spaces.sub("'", text.lower()).split("\n")
    if not text.isascii():
        lines = [line if line.isascii() else unicodedata.normalize("NFKC", line) for line in lines]
    if base == "zh" and _SPACED_DIGITS.search(text):
        lines = [_CHINESE_GROUPS.sub(_closed, line) if _SPACED_DIGITS.search(line) else line for line in lines]
    return "\n".join(lines)


def _closed(number: re.Match[str]) -> str:
    return number[0].replace(" ", "")


def split_tokens(tokens: Sequence[str], base: str, heads: AbstractSet[str] = frozenset()) -> list[list[str]]:
    """Return the words of each token of a `Cut`, text brought to `one_form` before, as `tokenize` gives them.

    Numbers get their one form, words lose or are parted at their apostrophes, runs of characters are cut into words.
    Words of a run of Chinese that make up one of the ``heads`` together (Simplified) are one word, the longest first.

    >>> split_tokens(["1,234", "l'été", "行政長官"], "fr")
    [['1234'], ['l', 'été'], ['行政长官']]
    >>> split_tokens(["網頁長官"], "zh"), split_tokens(["網頁長官"], "zh", {"网页长官"})
    ([['网页', '长官']], [['网页长官']])
    """
    split = _split_apostrophes if base in CLITIC_LANGUAGES else _strip_apostrophes
    words = [_words_of(token, base, split) for token in tokens]
    runs = [token for token, cut in zip(tokens, words, strict=True) if cut is None]
    chinese: Iterator[list[str]] = iter(_cut_chinese(runs) if runs else ())
    if heads:
        chinese = (_joined(cut, heads) for cut in chinese)
    return [next(chinese) if cut is None else cut for cut in words]


def _joined(words: Sequence[str], heads: AbstractSet[str]) -> list[str]:
    """Join neighbouring words that are one head together, from the left, as many as possible."""
    result, start = [], 0
    while start < len(words):
        ends = range(min(len(words), start + _MOST_JOINED), start + 1, -1)
        end = next((end for end in ends if "".join(words[start:end]) in heads), start + 1)
        result.append("".join(words[start:end]))
        start = end
    return result


def _words_of(token: str, base: str, split: Callable[[str], list[str]]) -> list[str] | None:
    """Return the words of a token; None for a run of Chinese, as all of these are cut in one call."""
    if token[0].isdecimal() or not _ANY_UNSPACED.match(token):
        return _parts(token, split) if len(token) <= _LONGEST else []
    if _SOUTH_EAST_ASIAN(token):
        return _n_grams(token)
    return _cut_japanese(token) if base == "ja" else None


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


def count_terms(pages: Iterable[Sequence[str]], lang: str) -> TermTable:
    """Count the stems of each page's tokens.

    Examples
    --------
    >>> table = count_terms([["server", "servers", "run"], []], "en")
    >>> table.vocabulary, table.counts.toarray().tolist()
    (['run', 'server'], [[1.0, 2.0], [0.0, 0.0]])
    """
    ids: dict[str, int] = defaultdict(count().__next__)
    rows = [[*map(ids.__getitem__, page)] for page in pages]
    stems = [stem(word, lang) for word in ids]
    vocabulary = sorted(set(stems))
    place = {term: i for i, term in enumerate(vocabulary)}
    column = np.array([place[term] for term in stems], dtype=np.int64)
    starts = np.cumsum([0, *map(len, rows)])
    tokens = np.fromiter(chain.from_iterable(rows), np.int64, starts[-1])
    shape = (len(rows), len(vocabulary))
    counts = csr_array((np.ones(len(tokens), np.float32), column[tokens], starts), shape=shape)
    counts.sum_duplicates()
    return TermTable(counts, vocabulary)


def is_number(term: str) -> bool:
    """Tell whether a term is a number as `tokenize` writes them."""
    return term[:1].isdigit()


def is_name(term: str) -> bool:
    """Tell whether a term is an e-mail address, an image file (``img:…``) or an address on another site (``out:…``)."""
    return "@" in term or term.startswith(("img:", "out:"))


def is_latin(term: str) -> bool:
    """Tell whether a term is a word in Latin letters."""
    return _LATIN_WORD.fullmatch(term) is not None and _LATIN_LETTER.search(term) is not None


def has_latin_script(lang: str) -> bool:
    """Tell whether a language is written in Latin letters."""
    return lang.partition("-")[0] not in NOT_LATIN


def simplify_chinese(text: str) -> str:
    """Convert Traditional Chinese to Simplified, leaving everything else."""
    return str(_converter("t2s").convert(text))


def simplify_japanese(text: str) -> str:
    """Convert Japanese characters to Simplified Chinese ones, leaving everything else.

    >>> simplify_japanese("環境 検索 発行")
    '环境 检索 发行'
    """
    return simplify_chinese(str(_converter("jp2t").convert(text)))


@cache
def _converter(name: str) -> opencc.OpenCC:
    import opencc  # here, as is rjieba: only Chinese needs them, and they take .3 s to load

    return opencc.OpenCC(name)


def _split_apostrophes(token: str) -> list[str]:
    return [part for part in token.replace("’", "'").split("'") if part]


def _strip_apostrophes(token: str) -> list[str]:
    token = token.replace("’", "'")
    return [token.removesuffix("'s")]


def _n_grams(run: str) -> list[str]:
    return [run[i : i + _N_GRAM] for i in range(max(1, len(run) - _N_GRAM + 1))]


def _cut_japanese(run: str) -> list[str]:
    tokens = []
    for part in _JAPANESE.findall(run):
        if "\u30a0" <= part[0] <= "\u31ff" or len(part) <= 2:
            tokens.append(part)
        else:
            tokens += [part[i : i + 2] for i in range(len(part) - 1)]
    return tokens


def _put_in(tokens: list[str | None], runs: list[str]) -> list[str]:
    """Put the words of each run of Chinese where it stood."""
    cut = iter(_cut_chinese(runs))
    return [word for token in tokens for word in ([token] if token is not None else next(cut))]


def _cut_chinese(runs: Sequence[str]) -> list[list[str]]:
    """Cut runs of Chinese into words, all in one call."""
    import rjieba

    words: list[list[str]] = [[]]
    for word in rjieba.cut(simplify_chinese("\n".join(runs))):
        if word == "\n":
            words.append([])
        else:
            words[-1].append(word)
    return words


@lru_cache(maxsize=2**18)
def _stem(word: str, base: str) -> str:
    if is_number(word) or is_name(word):
        return word
    if base in NOT_LATIN and is_latin(word):
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
