"""Language of one text, from its scripts and CLD2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pycld2

from twinlink.languages import UNDETERMINED, base_language
from twinlink.scripts import (
    HAN,
    KANA,
    LATIN,
    chinese_variant,
    clean_text,
    is_word,
    only_script,
    script_of,
    split_units,
    without_points,
    words_per_unit,
)

__all__ = [
    "CLEAR",
    "FAIRLY_CLEAR",
    "KNOWN",
    "LEAST_LEARNED",
    "Guess",
    "clear_pages",
    "count_scripts",
    "guess_language",
    "guess_text",
    "identify_text",
    "is_mixed",
    "main_script",
]

CLEAR = 0.8
"""Strength of the guess from which there is no doubt of a page's language."""
FAIRLY_CLEAR = 0.4
"""Strength from which a language is learned where it has too few clear pages."""
LEAST_LEARNED = 3
"""Minimum number of pages that a language is learned from."""
KNOWN = 0.5
"""Likeness of the guess from which CLD2 knows the language."""

# Web templates are filled with "lorem ipsum": CLD2's Latin says nothing about the page.
_PLACEHOLDER = "la"

# Another script than Latin is the text's with this share of its words: Latin words (names, code, what was not
# translated) stand in texts of all languages. Trials: 0.04 to 0.11 in the worst 1 % of a half translated manual, 0.014
# at most in English.
_SHARE = 0.1
# From three times this share on there is no doubt.
_CLEAR_SHARE = 3 * _SHARE
# Share of Latin words from which a text in another script may be a quotation on a page in Latin.
_QUOTED = 0.25
# Share of kana in Japanese: about half in running text, 0.2 in tables of terms.
_KANA_SHARE = 0.1
_CLEAR_BYTES = 200
_CLEAR_WORDS = 20
_POINTED = frozenset({"ARABIC", "HEBREW"})
_LIMIT = 20_000  # characters that CLD2 reads
_KNOWN_DENSITY = 800.0
"""CLD2's score for each 1,024 bytes of text in a known language, about. Pieces of 1,500 characters of the Universal
Declaration of Human Rights have 1,024 in the median and 494 in the lowest twentieth in 137 languages that it knows; the
median of 324 that it does not know is 212."""


class Guess(NamedTuple):
    """Language of a text by itself."""

    language: str
    """Its language, Chinese without script; ``und`` when unknown."""
    score: float
    """Confidence, 0 to 1."""
    strength: float
    """Quality as an example of the language, 0 to 1: long, uniform, and with a confident answer of CLD2."""
    likeness: float = 1.0
    """How much its letter sequences are like those of the language, 0 to 1: CLD2 finds about a third of what it finds
    in known text where it does not know the language and names the nearest. 1 where the script decides."""


_NO_GUESS = Guess(UNDETERMINED, 0.0, 0.0, 0.0)


def identify_text(text: str) -> tuple[str, float]:
    """Identify the language of one text, with a score.

    Returns
    -------
    str
        BCP 47 code, for Chinese with its script (``zh-Hant``, ``zh-Hans``; ``zh`` where the text fits both); ``und``
        when there are no letters or CLD2 has no answer.
    float
        Share of the words in this language, by CLD2; if another script than Latin decides, 1 from three tenths of
        the words. 0 for ``und``.

    Examples
    --------
    >>> identify_text("這是一個關於政府服務的網頁")[0], identify_text("这是一个关于政府服务的网页")[0]
    ('zh-Hant', 'zh-Hans')
    """
    guess = guess_text(text)
    return (chinese_variant(text) if guess.language == "zh" else guess.language), guess.score


def guess_text(text: str) -> Guess:
    """Guess the language of one text by its scripts and CLD2."""
    return guess_language(count_scripts(split_units(text)), text)


def clear_pages(guesses: Iterable[Guess], least: float = CLEAR) -> Counter[str]:
    """Count the pages of each language whose guess has a strength of at least ``least``; by default without a doubt.

    >>> clear_pages([Guess("en", 0.9, 0.9), Guess("en", 0.9, 0.7)])
    Counter({'en': 1})
    """
    return Counter(guess.language for guess in guesses if guess.strength >= least)


def count_scripts(units: Sequence[str]) -> dict[str, float]:
    """Count the words in each script, without single letters of some alphabets (`is_word`)."""
    if "".join(units).isascii():
        return {LATIN: float(len(units))} if units else {}
    counts = Counter(script_of(unit[0]) for unit in units if is_word(unit))
    return {script: n * words_per_unit(script) for script, n in counts.items()}


def guess_language(words: Mapping[str, float], text: str) -> Guess:
    """Guess a text's language, given its number of words in each script.

    The script is another one than Latin if that has at least a tenth of the words. Han and kana are decided by
    count; for all other scripts CLD2 reads the words in that script alone.
    """
    total = sum(words.values())
    if not total:
        return _NO_GUESS
    script, share = _most_frequent(words)
    if share < _SHARE:
        guess = _ask_cld2(_only(LATIN, text) if share else text)
        return guess._replace(score=guess.score * (1 - share))
    certainty = min(1.0, share / _CLEAR_SHARE)
    strength = certainty * min(1.0, total / _CLEAR_WORDS)
    if script == HAN:
        return Guess("ja" if words.get(KANA, 0.0) >= _KANA_SHARE * share * total else "zh", certainty, strength)
    guess = _ask_cld2(_only(script, text))
    return guess._replace(score=guess.score * certainty, strength=min(guess.strength, strength))


def main_script(words: Mapping[str, float]) -> str:
    """Return the script that decides on the language of a text with so many words in each; HAN for Japanese, too.

    >>> main_script({"LATIN": 80, "CYRILLIC": 20}), main_script({"LATIN": 99, "CYRILLIC": 1})
    ('CYRILLIC', 'LATIN')
    """
    script, share = _most_frequent(words)
    return script if share >= _SHARE else LATIN


def is_mixed(words: Mapping[str, float]) -> bool:
    """Return whether a text has so much of Latin and of another script that either may be a quotation.

    >>> is_mixed({"LATIN": 50, "ARABIC": 50}), is_mixed({"LATIN": 10, "ARABIC": 90}), is_mixed({"LATIN": 9})
    (True, False, False)
    """
    script, share = _most_frequent(words)
    return script != LATIN and share >= _SHARE and words.get(LATIN, 0.0) >= _QUOTED * sum(words.values())


def _most_frequent(words: Mapping[str, float]) -> tuple[str, float]:
    """Return the most frequent script beside Latin, kana as Han, and its share of all words."""
    groups = {script: count for script, count in words.items() if script not in {LATIN, KANA}}
    if japanese := words.get(KANA, 0.0):
        groups[HAN] = groups.get(HAN, 0.0) + japanese
    script = max(groups, key=lambda name: (groups[name], name), default=LATIN)
    return script, groups.get(script, 0.0) / max(sum(words.values()), 1e-9)


def _only(script: str, text: str) -> str:
    """Replace words in other scripts by spaces; characters between letters (most vowel marks too) are kept."""
    words = only_script(script, text[:_LIMIT])
    return without_points(words) if script in _POINTED else words


def _ask_cld2(text: str) -> Guess:
    try:
        reliable, size, answers = pycld2.detect(clean_text(text[:_LIMIT]), isPlainText=True, bestEffort=True)
    except pycld2.error:  # not one string that we know of is left for it to refuse; an unknown one is no reason to stop
        return _NO_GUESS
    likeness = 0.0
    for _, code, percent, density in answers:
        language = base_language(code)
        likeness = max(likeness, min(1.0, density / _KNOWN_DENSITY))  # that of a placeholder counts, too: it is known
        if language not in {UNDETERMINED, _PLACEHOLDER}:
            strength = percent / 100 * min(1.0, size / _CLEAR_BYTES) if reliable else 0.0
            return Guess(language, percent / 100, strength, likeness)
    return _NO_GUESS._replace(likeness=likeness)
