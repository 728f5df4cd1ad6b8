"""Words of a page: its text in one form, and tokens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import compress
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink import scripts
from twinlink.expressions import expression
from twinlink.scripts import is_spaced
from twinlink.text.characters import (
    ANY_GROUPING_SPACE,
    DIGIT,
    EAST_ASIAN,
    GROUPING_SPACE,
    NUMBER,
    SOUTH_EAST_ASIAN,
    SPACED_WORD,
    UNSPACED,
    WORD,
    class_of,
)
from twinlink.text.chinese import cut_chinese, join_heads
from twinlink.text.page_texts import PageTexts, ended_texts
from twinlink.text.terms import is_number, plain_number
from twinlink.text.values import may_have_values, values_in
from twinlink.text.word_lists import (
    CLITIC_LANGUAGES,
    SPACE_GROUPING,
)

_RUN = rf"(?P<asian>[{scripts.EAST_ASIAN}]+)|(?P<other>[{scripts.SOUTH_EAST_ASIAN}]+)"
_TOKEN = rf"(?P<number>{NUMBER})|(?P<word>{WORD})|{_RUN}"
_SPACED_TOKEN = f"{NUMBER}|{SPACED_WORD}"
_ANY_UNSPACED = f"[{scripts.UNSPACED}]"
# Most lines of Western text have nothing but these: all rules that follow find the same words in them.
_IS_PLAIN = re.compile(r"[a-zA-Z \t!-&(-/:-?\[-^`{-~]*").fullmatch
_PLAIN_WORD = re.compile("[a-z]+")
_GROUPING_SPACE = re.compile(GROUPING_SPACE)
_ANY_GROUPING_SPACE = re.compile(ANY_GROUPING_SPACE)
# In Chinese a plain space groups where nothing else can be meant: twice, after a currency, before a character.
_SPACED_DIGITS = re.compile(r"\d \d")
_CHINESE_GROUPS = (
    r"(?<!\d)(?<!\d[ .,])[1-9]\d{0,2}(?: \d{3}){2,4}(?![\d ])"
    r"|(?<=[$¥€£])[1-9]\d{0,2}(?: \d{3}){1,4}(?!\d)"
    "|(?<!\\d)(?<!\\d[ .,])(?<![\u4e00-\u9fff])[1-9]\\d{0,2} \\d{3}(?= ?[\u4e00-\u9fff])"
)
# Nearly all that NFKC changes in Chinese. Without them it has only to look at most lines, in a tenth of the time.
_WIDE_MARKS = {"，": ",", "：": ":", "；": ";", "？": "?", "！": "!", "（": "(", "）": ")"}
_JAPANESE = f"[\u30a0-\u30ff\u31f0-\u31ff]+|[{scripts.HAN_BLOCKS}]+"
_LONGEST = 80  # characters; what is longer is no word (encoded data), and a stemmer might take long over it
_N_GRAM = 4  # characters: Thai, Lao, Khmer and Burmese words are two to five long


EastAsian = Literal["dictionary", "pairs", "whole"]
"""How a run of Han or kana is cut: by the dictionary of Chinese, which takes .1 s to load, into pairs of characters, as
in Japanese, or not at all. The dictionary does not cut a text in Japanese; pairs do."""


class Forms(NamedTuple):
    """Words in Latin letters that differ from their stems, each once."""

    words: Sequence[str]
    terms: NDArray[np.integer]
    """The place of each word's stem in the vocabulary."""
    shares: NDArray[np.floating]
    """How much of what was counted for the stem is this word, in (0, 1]."""


NO_FORMS = Forms((), np.zeros(0, np.int64), np.zeros(0, np.float32))


class TermTable(NamedTuple):
    """Terms of a set of pages."""

    counts: csr_array
    """float32, page × term: how often. An empty row is a page without words."""
    vocabulary: list[str]
    """The terms, sorted."""
    forms: Forms = NO_FORMS
    """The words that the terms stand for; empty: they are not known, or none differs from its term."""


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
    has_runs = not is_spaced(text) and expression(_ANY_UNSPACED).search(text) is not None
    tokens = _cut_unspaced(text, base) if has_runs else _cut_spaced(text, base)
    if may_have_values(text) or any(map(is_number, tokens)):
        tokens += values_in(text, base)
    return tuple(tokens)


def _cut_spaced(text: str, base: str) -> list[str]:
    """Cut a text whose words stand apart."""
    found = [token for token in expression(_SPACED_TOKEN).findall(text) if len(token) <= _LONGEST]
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
    for match in expression(_TOKEN).finditer(text):
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
    is_plain = text.isascii()
    text = text.lower()
    if base in SPACE_GROUPING:
        text = _ANY_GROUPING_SPACE.sub("'", text)
    elif not is_plain:
        text = _GROUPING_SPACE.sub("'", text)
    if not is_plain:
        for wide, narrow in _WIDE_MARKS.items():
            text = text.replace(wide, narrow)
    lines = text.split("\n")
    if not is_plain:
        lines = [line if line.isascii() else unicodedata.normalize("NFKC", line) for line in lines]
    if base == "zh" and _SPACED_DIGITS.search(text):
        lines = [
            expression(_CHINESE_GROUPS).sub(_closed, line) if _SPACED_DIGITS.search(line) else line for line in lines
        ]
    return "\n".join(lines)


def texts_in_one_form(texts: Sequence[str], base: str) -> list[str]:
    """Return texts as `one_form` gives them, all at once: those in ASCII apart, as strings of these are faster.

    >>> texts_in_one_form(["One", "ＴＷＯ"], "en")
    ['one', 'two']
    """
    if any("\n" in text for text in texts):
        return [one_form(text, base) for text in texts]
    plain = _of_all(filter(str.isascii, texts), base)
    others = _of_all((text for text in texts if not text.isascii()), base)
    return [next(plain if text.isascii() else others) for text in texts]


def _of_all(lines: Iterable[str], base: str) -> Iterator[str]:
    return iter(one_form("\n".join(lines), base).split("\n"))


def _closed(number: re.Match[str]) -> str:
    return number[0].replace(" ", "")


def split_tokens(
    tokens: Sequence[str], base: str, heads: AbstractSet[str] = frozenset(), east_asian: EastAsian = "dictionary"
) -> PageTexts:
    """Return the words of each token of a `Cut`, text brought to `one_form` before, as `tokenize` gives them.

    Numbers get their one form, words lose or are parted at their apostrophes, runs of characters are cut into words.
    Words of a run of Chinese that make up one of the ``heads`` together (Simplified) are one word, the longest first.

    >>> list(split_tokens(["1,234", "l'été", "行政長官"], "fr"))
    [['1234'], ['l', 'été'], ['行政长官']]
    >>> list(split_tokens(["網頁長官"], "zh")), list(split_tokens(["網頁長官"], "zh", {"网页长官"}))
    ([['网页', '长官']], [['网页长官']])
    >>> [list(split_tokens(["網頁長官"], "en", east_asian=cut)) for cut in ("pairs", "whole")]
    [[['網頁', '頁長', '長官']], [['網頁長官']]]
    """
    is_cut = east_asian == "dictionary" and base != "ja"
    is_run = [is_cut and class_of(token[0]) & EAST_ASIAN != 0 for token in tokens]
    runs = [*compress(tokens, is_run)]
    chinese = cut_chinese(runs) if runs else iter(())
    if heads:
        chinese = (join_heads(cut, heads) for cut in chinese)
    split = _split_apostrophes if base in CLITIC_LANGUAGES else _strip_apostrophes
    words: list[str] = []
    for token, of_dictionary in zip(tokens, is_run, strict=True):
        words += next(chinese) if of_dictionary else _words_of(token, split, is_whole=east_asian == "whole")
        words.append("\n")
    return ended_texts(words)


def _words_of(token: str, split: Callable[[str], list[str]], *, is_whole: bool) -> list[str]:
    """Return the words of a token that the dictionary does not cut."""
    kind = class_of(token[0])
    if kind & DIGIT or not kind & UNSPACED:
        return _parts(token, split) if len(token) <= _LONGEST else []
    if kind & SOUTH_EAST_ASIAN:
        return _n_grams(token)
    return [token[:_LONGEST]] if is_whole else _cut_japanese(token)


def _split_apostrophes(token: str) -> list[str]:
    return [part for part in token.replace("’", "'").split("'") if part]


def _strip_apostrophes(token: str) -> list[str]:
    token = token.replace("’", "'")
    return [token.removesuffix("'s")]


def _n_grams(run: str) -> list[str]:
    return [run[i : i + _N_GRAM] for i in range(max(1, len(run) - _N_GRAM + 1))]


def _cut_japanese(run: str) -> list[str]:
    tokens = []
    for part in expression(_JAPANESE).findall(run):
        if "\u30a0" <= part[0] <= "\u31ff" or len(part) <= 2:
            tokens.append(part)
        else:
            tokens += [part[i : i + 2] for i in range(len(part) - 1)]
    return tokens


def _put_in(tokens: list[str | None], runs: list[str]) -> list[str]:
    """Put the words of each run of Chinese where it stood."""
    cut = cut_chinese(runs)
    return [word for token in tokens for word in ([token] if token is not None else next(cut))]
