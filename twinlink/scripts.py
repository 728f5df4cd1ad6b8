"""Writing systems: which script a character belongs to, the units to count in each, and the two Chinese scripts."""

from __future__ import annotations

import json
import re
import tempfile
import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from twinlink.expressions import expression

if TYPE_CHECKING:
    import opencc

LATIN, HAN, KANA = "LATIN", "HAN", "KANA"

# Blocks of scripts that are written without spaces, as a class of a regular expression has them. Which of them
# count is documented where they are used; three of the lists below differ on purpose.
_THAI_LAO, _TIBETAN, _MYANMAR, _KHMER = "\u0e00-\u0eff", "\u0f00-\u0fff", "\u1000-\u109f", "\u1780-\u17ff"
_KANA_BLOCKS, _HALF_WIDTH_KANA, _HANGUL = "\u3040-\u30ff\u31f0-\u31ff", "\uff66-\uff9f", "\uac00-\ud7af"
HAN_BLOCKS = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Han, with 々 (repetition) and 〇 (zero)."""

EAST_ASIAN = _KANA_BLOCKS + HAN_BLOCKS
"""Han and kana, which a dictionary cuts into words. Half-width kana are full-width after NFKC."""
SOUTH_EAST_ASIAN = _THAI_LAO + _MYANMAR + _KHMER
"""Thai, Lao, Burmese and Khmer, which are not segmented. Tibetan separates syllables by a mark and is not included."""
UNSPACED = EAST_ASIAN + SOUTH_EAST_ASIAN
"""Text without any mark between words or syllables."""
SINGLE_CHARACTERS = UNSPACED + _TIBETAN + _HALF_WIDTH_KANA
"""Text whose length is counted in characters: Tibetan and half-width kana, too, as pages have them."""

# Hangul has spaces, but its syllables say which language it is as characters do.
_COUNTED = SINGLE_CHARACTERS + _HANGUL
_IN_WORD = rf"[^\W\d_{_COUNTED}]"
_UNIT = rf"[{_COUNTED}]|{_IN_WORD}+"
_UNIT_OR_BREAK = rf"{_UNIT}|\n"
# Those that do not begin with a letter of ASCII, which are always Latin.
_UNIT_BEYOND_ASCII = rf"[{_COUNTED}]|(?<!{_IN_WORD})[^\W\d_\x00-\x7f{_COUNTED}]{_IN_WORD}*"
# Python compiles a class character by character, each of those above in .003 s. In text that has no match of this one,
# whose ranges are short, the expressions below find the same units.
_BEYOND_SPACED = "[^\x00-\u0dff\u1e00-\u2bff]"
_LETTERS = r"[^\W\d_]+"
_LETTERS_OR_BREAK = rf"{_LETTERS}|\n"
_LETTERS_BEYOND_ASCII = r"(?<![^\W\d_])[^\W\d_\x00-\x7f][^\W\d_]*"
# The last two code points of each plane of Unicode are not characters. Beyond the first plane one range has them all,
# and much more (`_space_for`): sixteen would take ten times as long.
_SUSPECT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff\U0001fffe-\U0010ffff]"
)
_END_OF_PLANE = 0xFFFE

_POINTS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]"
)

INVISIBLE = "\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
"""Characters that say how a text is set and are no part of it: soft hyphen, zero-width space, word joiner, byte order
mark and directions. The two joiners of U+200C and U+200D are part of words."""
_INVISIBLE = re.compile(f"[{INVISIBLE}]")

_ALIASES = {
    "CJK": HAN,
    "IDEOGRAPHIC": HAN,
    "HIRAGANA": KANA,
    "KATAKANA": KANA,
    "KATAKANA-HIRAGANA": KANA,
    "HALFWIDTH": KANA,
}
# Words of English that one character stands for, roughly: 100 words of English are 160 to 180 Chinese characters.
_ALPHABETS = frozenset({"ARMENIAN", "CYRILLIC", "GEORGIAN", "GREEK"})
"""Alphabets beside the Latin one whose words have all of their letters in one unit."""
_WORDS = {
    HAN: 0.6,
    KANA: 0.4,
    "HANGUL": 0.35,
    "THAI": 0.25,
    "LAO": 0.25,
    "KHMER": 0.25,
    "MYANMAR": 0.25,
    "TIBETAN": 0.4,
}


def visible_text(text: str) -> str:
    r"""Return a text in normal form NFC, without the characters of `INVISIBLE`.

    >>> visible_text("жаға\u00adлау"), visible_text("e\u0301te\u0301") == "\xe9t\xe9"
    ('жағалау', True)
    """
    return unicodedata.normalize("NFC", text if text.isprintable() else _INVISIBLE.sub("", text))


def clean_text(text: str) -> str:
    """Replace characters that CLD2 refuses or that are not text by spaces: controls, surrogates, direction marks."""
    return text if text.isprintable() else _SUSPECT.sub(_space_for, text)


def _space_for(found: re.Match[str]) -> str:
    """Return a space for a character that is unusable, or the character: most beyond the first plane are letters."""
    character = found[0]
    is_letter = character > "\uffff" and ord(character) & _END_OF_PLANE != _END_OF_PLANE
    return character if is_letter else " "


def without_points(text: str) -> str:
    """Remove vowel points and other marks that Arabic and Hebrew text mostly lacks: CLD2 does not know text with them.

    >>> without_points("\u062a\u0650\u0644\u06e1\u0643\u064e") == "\u062a\u0644\u0643"
    True
    """
    return _POINTS.sub("", text).replace("\u0671", "\u0627")


def is_spaced(text: str) -> bool:
    """Return whether a text is known to have no character of `SINGLE_CHARACTERS`, and no Hangul.

    >>> is_spaced("l’été, лето"), is_spaced("執行")
    (True, False)
    """
    return text.isascii() or expression(_BEYOND_SPACED).search(text) is None


def is_in(ranges: str, character: str) -> bool:
    """Return whether a character is in ranges as a class of a regular expression has them, without escapes.

    >>> is_in(EAST_ASIAN, "行"), is_in(EAST_ASIAN, "a")
    (True, False)
    """
    return any(first <= character <= (last or first) for first, last in _ends(ranges))


@cache
def _ends(ranges: str) -> list[tuple[str, str]]:
    """Return the first and the last character of each range; the last is empty for a single character."""
    return re.findall("(.)(?:-(.))?", ranges)


def split_units(text: str) -> list[str]:
    """Split a text into units to count: single characters in scripts without spaces and in Hangul, words in all others.

    Examples
    --------
    >>> split_units("Run 執行 httpd-2.4 l'été")
    ['Run', '執', '行', 'httpd', 'l', 'été']
    """
    if text.isascii() and text.isalpha():
        return [text]
    if is_spaced(text):
        return expression(_LETTERS).findall(text)
    return expression(_UNIT_OR_BREAK).findall(text.replace("\n", " "))  # the expression of `units_and_breaks`


def is_single(character: str) -> bool:
    """Return whether a character is a unit by itself.

    >>> [is_single(character) for character in "a行각"]
    [False, True, True]
    """
    return is_in(_COUNTED, character)


def units_and_breaks(text: str) -> list[str]:
    r"""Return the units of the lines of a text, as `split_units` gives them, and the line breaks between them.

    >>> units_and_breaks("httpd-2.4\n執行")
    ['httpd', '\n', '執', '行']
    """
    return expression(_LETTERS_OR_BREAK if is_spaced(text) else _UNIT_OR_BREAK).findall(text)


def only_script(script: str, text: str) -> str:
    """Put a space for each unit of a text in another script, and leave all that stands between the units.

    >>> only_script("DEVANAGARI", "run हिन्दी"), only_script("LATIN", "run हिन्दी")
    ('  हिन्दी', 'run  ि ् ी')
    """
    spaced, any_other = (_LETTERS_BEYOND_ASCII, _UNIT_BEYOND_ASCII) if script == LATIN else (_LETTERS, _UNIT)
    parts = expression(f"({spaced if is_spaced(text) else any_other})").split(text)  # the units are every second one
    parts[1::2] = [unit if script_of(unit[0]) == script else " " for unit in parts[1::2]]
    return "".join(parts)


def count_letters(text: str) -> int:
    """Count the letters of a text, in any script.

    >>> count_letters("l'été 2026 行")
    5
    """
    return len(text) if text.isalpha() else sum(map(len, expression(_LETTERS).findall(text)))


@cache
def script_of(character: str) -> str:
    """Return the script's name in Unicode, but ``HAN`` and ``KANA`` for those of Chinese and Japanese.

    Empty when unknown.

    Examples
    --------
    >>> script_of("a"), script_of("я"), script_of("行"), script_of("の")
    ('LATIN', 'CYRILLIC', 'HAN', 'KANA')
    """
    name = unicodedata.name(character, "").partition(" ")[0]
    return _ALIASES.get(name, name)


def words_per_unit(script: str) -> float:
    """Return how many words one unit of this script counts for, so that scripts can be compared."""
    return _WORDS.get(script, 1.0)


def is_word(unit: str) -> bool:
    """Return whether a unit counts as a word of its script.

    A single letter of some alphabets does not: tables of characters and formulas have them on pages of any language.
    In other scripts, a word is cut at its vowel marks.

    >>> [is_word(unit) for unit in ("a", "я", "λ", "行", "ह", "яд")]
    [True, False, False, True, True, True]
    """
    return len(unit) > 1 or script_of(unit) not in _ALPHABETS


def chinese_variant(text: str) -> str:
    """Distinguish ``zh-Hant`` and ``zh-Hans`` by the characters that exist in only one of them.

    ``zh`` if there are none, or equally many of each.

    Examples
    --------
    >>> chinese_variant("網頁"), chinese_variant("网页"), chinese_variant("中文")
    ('zh-Hant', 'zh-Hans', 'zh')
    """
    return variant_of_leaning(sum(map(chinese_leaning, text)))


def variant_of_leaning(leaning: float) -> str:
    """Return the variant of Chinese of a text by the sum of `chinese_leaning` over its characters."""
    if not leaning:
        return "zh"
    return "zh-Hant" if leaning > 0 else "zh-Hans"


@cache
def chinese_leaning(character: str) -> int:
    """Return 1 for a character that only Traditional Chinese has, -1 for one of Simplified, else 0, after OpenCC.

    >>> chinese_leaning("網"), chinese_leaning("网"), chinese_leaning("中"), chinese_leaning("a")
    (1, -1, 0, 0)
    """
    if not "\u4e00" <= character <= "\u9fff":  # no unified ideograph
        return 0
    converters = chinese_converter("t2s"), _expander()
    simplifies, expands = (converter.convert(character) != character for converter in converters)
    return int(simplifies) - int(expands)


@cache
def _expander() -> opencc.OpenCC:
    """Return a converter of single characters like ``s2t``, without the phrases of that, which take .04 s to load."""
    import opencc  # only Chinese and Japanese need it

    dictionary = Path(opencc.__file__).parent / "clib" / "share" / "opencc" / "STCharacters.ocd2"
    if not dictionary.is_file():  # another version may have it elsewhere
        return chinese_converter("s2t")
    chain = [{"dict": {"type": "ocd2", "file": str(dictionary)}}]
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "characters.json")
        config.write_text(json.dumps({"name": "characters", "conversion_chain": chain}), encoding="utf-8")
        return opencc.OpenCC(str(config))


@cache
def chinese_converter(name: str) -> opencc.OpenCC:
    """Return a converter of Chinese characters by its name in OpenCC: ``t2s``, ``s2t``, ``jp2t``."""
    import opencc  # only Chinese and Japanese need it

    return opencc.OpenCC(name)
