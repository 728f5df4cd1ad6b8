"""Facts about languages: tags in their variants, scripts, and names.

Tags are read by `langcodes`, which has IANA's registry and CLDR's tables. It takes .03 s of processor time to load, and
is loaded with the first tag that is more than two letters, script and country. What users write, names too, is read by
`twinlink.language_names`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache

UNDETERMINED = "und"
"""BCP 47's tag for a language that is not known."""

NAMES = {
    "en": "english|eng|english version|in english", "fr": "français|francais|fra|version française|en français",
    "de": "deutsch|deu|ger", "es": "español|espanol|castellano|esp", "pt": "português|portugues|português (brasil)",
    "it": "italiano|ita", "nl": "nederlands", "pl": "polski", "cs": "čeština|česky", "sk": "slovenčina",
    "hu": "magyar", "ro": "română", "ru": "русский|рус|русская версия|на русском", "uk": "українська|укр",
    "kk": "қазақша|қаз|қазақ тілі", "el": "ελληνικά", "tr": "türkçe", "sv": "svenska", "no": "norsk", "da": "dansk",
    "fi": "suomi", "vi": "tiếng việt", "id": "bahasa indonesia", "ms": "bahasa melayu", "ar": "العربية",
    "he": "עברית", "th": "ไทย", "hi": "हिन्दी", "ja": "日本語", "ko": "한국어", "zh": "中文|中文版|chinese",
    "zh-Hant": "繁體|繁體中文|繁体中文|繁|正體中文|繁體版", "zh-Hans": "简体|简体中文|简|簡體|簡體中文|简体版|簡",
    "ca": "català", "eu": "euskara", "gl": "galego",
}  # fmt: skip
"""Names of a language as links write them, lower case, by its tag; several between bars."""

LANGUAGE_OF = {name: tag for tag, names in NAMES.items() for name in names.split("|")}
"""The tag by the name.

>>> LANGUAGE_OF["français"], LANGUAGE_OF["繁體"]
('fr', 'zh-Hant')
"""

ADDRESS_CODES = {
    **{tag.lower(): tag for tag in NAMES if tag not in ("id", "no")},  # more often a number and the word "no"
    **{name: tag for name, tag in LANGUAGE_OF.items() if name.isascii() and name.isalpha()},
    **dict.fromkeys("tc cht big5 trad hant".split(), "zh-Hant"),
    **dict.fromkeys("sc chs gb simp hans".split(), "zh-Hans"),
    **dict.fromkeys("chi cn zho".split(), "zh"),
    **dict.fromkeys("jp jpn".split(), "ja"), "kr": "ko", "kor": "ko", "rus": "ru", "kz": "kk", "kaz": "kk",
    **dict.fromkeys("pt-br ptbr por".split(), "pt"), "fre": "fr", "spa": "es", "engl": "en",
}  # fmt: skip
"""Language tags by codes in addresses, lower case. Codes of countries stand for their languages."""

# Languages that CLD2 does not distinguish, and the tag that both have in the tables.
_TOLD_AS = {"nb": "no", "nn": "no", "fil": "tl"}
_RENAMED = _TOLD_AS | {
    "bh": "bho", "in": "id", "iw": "he", "ji": "yi", "jw": "jv", "mo": "ro", "sh": "sr", "tw": "ak"
}  # fmt: skip
"""Codes of two letters that have another form in the tables: old ones, and members of a macrolanguage."""
_LONGER_CODES = frozenset(
    "ceb chr crs gaa haw hmn kha kri lif loz lua luo mfe new nso pam raj sco syr tlh tum war zzb zze zzh zzp".split()
)
"""Codes of three letters that CLD2 names, and that stay as they are."""
_CHINESE = {"zh", "yue"}
CHINESE_TAGS = {
    "zh": "zh", "zh-hans": "zh-Hans", "zh-cn": "zh-Hans", "zh-sg": "zh-Hans",
    "zh-hant": "zh-Hant", "zh-tw": "zh-Hant", "zh-hk": "zh-Hant", "zh-mo": "zh-Hant",
}  # fmt: skip
"""Tags of Chinese in lower case, with the one in the tables."""
COMMON_SCRIPTS = {
    lang: script
    for script, langs in {
        "Latn": "en fr de es pt it nl pl cs sk hu ro tr sv no da fi vi id ms ca eu gl",
        "Cyrl": "ru uk kk", "Grek": "el", "Arab": "ar", "Hebr": "he", "Thai": "th", "Deva": "hi",
        "Kana": "ja", "Hang": "ko", "Hani": "zh",
    }.items()
    for lang in langs.split()
}  # fmt: skip
"""Scripts of the common languages, as `language_script` returns them."""
_SCRIPT_AND_COUNTRY = re.compile("(?:-[A-Za-z]{4})?(?:-[A-Za-z]{2})?")
_TAG = re.compile(r"[a-z]{1,8}(?:-[a-z0-9]{1,8})*", re.IGNORECASE)
_LONGEST = 40  # characters of a tag; a longer one is none

_NEAR = 9
"""Languages whose CLDR distance is not above this stand for each other: two kinds of one language, or languages that
their readers take for each other's (Bosnian and Croatian: 8). `langcodes` calls 10 and more "similar, not the same"."""
_SAME_LANGUAGE = 1000
"""Distance above all of CLDR's: the other script of a language comes after all close languages."""
_ADDRESS_TOKENS = sorted(ADDRESS_CODES, key=lambda token: (-len(token), token))


@lru_cache(maxsize=2**14)
def canonical_language(tag: str) -> str:
    """Return a language tag as in the tables: the base language, with the script only for Chinese.

    Old codes, codes of three letters and members of a macrolanguage become the usual tag. A tag that no registry has is
    its own first part, in lower case.

    Examples
    --------
    >>> canonical_language("en-US"), canonical_language("zh_TW"), canonical_language("zh-cn"), canonical_language("zh")
    ('en', 'zh-Hant', 'zh-Hans', 'zh')
    >>> canonical_language("iw"), canonical_language("rus"), canonical_language("cmn"), canonical_language("nb")
    ('he', 'ru', 'zh', 'no')
    >>> canonical_language(""), canonical_language("x-default")
    ('und', 'und')
    """
    text = re.split("[.@]", tag.strip())[0].replace("_", "-")  # en_US.UTF-8
    base = text.partition("-")[0].lower()
    if len(text) > _LONGEST or not _TAG.fullmatch(base) or base in {"x", "un"}:
        return UNDETERMINED
    if base == "zh" and text.lower() in CHINESE_TAGS:
        return CHINESE_TAGS[text.lower()]
    is_known = (len(base) == 2 and base != "zh") or base in _LONGER_CODES
    if is_known and _SCRIPT_AND_COUNTRY.fullmatch(text, len(base)):
        return _RENAMED.get(base, base)
    from langcodes import Language
    from langcodes.tag_parser import LanguageTagError

    try:
        read = Language.get(text).prefer_macrolanguage()
    except LanguageTagError:
        return _TOLD_AS.get(base, base)
    base = read.language or UNDETERMINED
    if base not in _CHINESE:
        return _TOLD_AS.get(base, base)
    is_plain = base == "zh" and not read.script and not read.territory
    return "zh" if is_plain else f"zh-{read.maximize().script}"


def base_language(tag: str) -> str:
    """Return the language of a tag without its script.

    >>> base_language("zh-TW"), base_language("pt_BR")
    ('zh', 'pt')
    """
    return canonical_language(tag).partition("-")[0]


def includes_language(wanted: str, lang: str) -> bool:
    """Return whether a wanted language includes another one, in any spelling.

    >>> [includes_language(wanted, "zh-Hant") for wanted in ("zh", "zh-TW", "zh-CN", "en")]
    [True, True, False, False]
    """
    asked, found = canonical_language(wanted), canonical_language(lang)
    return asked != UNDETERMINED and (found == asked or found.startswith(f"{asked}-"))


def languages_of_site(wanted: Sequence[str], there: Iterable[str]) -> dict[str, list[str]]:
    """Return the languages of a site that each wanted language stands for.

    A wanted language stands for those that it includes. Where the site has none of them, it stands for the closest
    language that no other wanted one stands for: a mutually intelligible one, or the other script of the same
    language.

    Parameters
    ----------
    wanted : sequence of str
        As users write them.
    there : iterable of str
        Languages of the site's pages, as tables have them.

    Returns
    -------
    dict
        For each wanted language those of the site, sorted; none where nothing is close.

    Examples
    --------
    >>> languages_of_site(["en", "zh-TW"], ["en", "zh-Hans", "fr"])
    {'en': ['en'], 'zh-TW': ['zh-Hans']}
    >>> languages_of_site(["en", "zh"], ["en", "zh-Hans", "zh-Hant"])
    {'en': ['en'], 'zh': ['zh-Hans', 'zh-Hant']}
    """
    free = sorted(set(there) - {UNDETERMINED})
    found = {tag: [lang for lang in free if includes_language(tag, lang)] for tag in wanted}
    for tag, langs in found.items():
        taken = {lang for each in found.values() for lang in each}
        if not langs and (close := _closest(canonical_language(tag), [lang for lang in free if lang not in taken])):
            langs.append(close)
    return found


def may_mean(wanted: str, lang: str) -> bool:
    """Return whether a wanted language stands for another one on a site that has only this one.

    >>> may_mean("zh-TW", "zh-Hans"), may_mean("bs", "hr"), may_mean("nb", "no"), may_mean("en", "fr")
    (True, True, True, False)
    """
    return includes_language(wanted, lang) or _distance(canonical_language(wanted), lang) is not None


def _closest(tag: str, there: Collection[str]) -> str:
    """Return the language that stands for another one, empty when none is near enough."""
    near = {lang: distance for lang in there if (distance := _distance(tag, lang)) is not None}
    return min(near, key=lambda lang: (near[lang], lang), default="")


@lru_cache(maxsize=2**14)
def _distance(tag: str, lang: str) -> int | None:
    """Return how far a language is from a wanted one; None when it cannot stand for it."""
    from langcodes import tag_distance, tag_is_valid

    if not tag_is_valid(lang):  # a private tag of a group of pages
        return None
    distance = tag_distance(tag, lang)
    if distance <= _NEAR:
        return distance
    return _SAME_LANGUAGE if base_language(tag) == base_language(lang) else None


@lru_cache(maxsize=2**14)
def language_script(tag: str) -> str:
    """Return the script that a language is usually written in, by its code in ISO 15924; Latin where none is known.

    The kinds of Chinese characters are one script here, and so are kana and Japanese, Hangul and Korean.

    >>> language_script("kk"), language_script("zh-TW"), language_script("ja"), language_script("xx")
    ('Cyrl', 'Hani', 'Kana', 'Latn')
    """
    base = base_language(tag)
    if base in COMMON_SCRIPTS:
        return COMMON_SCRIPTS[base]
    if not re.fullmatch("[a-z]{2,3}", base):
        return "Latn"
    from langcodes import Language

    script = Language.get(base).maximize().script or "Latn"
    return _ONE_SCRIPT.get(script, script)


_ONE_SCRIPT = {"Hans": "Hani", "Hant": "Hani", "Jpan": "Kana", "Hira": "Kana", "Kore": "Hang"}
_UNICODE_NAMES: Mapping[str, str] = {
    "CJK": "Hani", "IDEOGRAPHIC": "Hani", "HALFWIDTH": "Kana", "CANADIAN": "Cans",
    "LATIN": "Latn", "CYRILLIC": "Cyrl", "GREEK": "Grek", "ARABIC": "Arab", "HEBREW": "Hebr", "THAI": "Thai",
    "DEVANAGARI": "Deva", "HIRAGANA": "Kana", "KATAKANA": "Kana", "HANGUL": "Hang",
}  # fmt: skip
"""Scripts by the first word of their characters' names in Unicode: those that Unicode names otherwise, and those of the
common languages."""


@cache
def letter_script(letter: str) -> str:
    """Return the script of a letter, by its code in ISO 15924; empty where it has none of its own.

    >>> letter_script("a"), letter_script("я"), letter_script("行"), letter_script("の"), letter_script("ক")
    ('Latn', 'Cyrl', 'Hani', 'Kana', 'Beng')
    """
    if letter.isascii():
        return "Latn" if letter.isalpha() else ""
    if not letter.isalpha():
        return ""
    name = unicodedata.name(letter, "").partition(" ")[0]
    return _UNICODE_NAMES.get(name) or _named_script(name)


@cache
def _named_script(name: str) -> str:
    from langcodes import Language

    try:
        script = Language.find_name("script", name, "en").script or ""
    except LookupError:
        return ""
    return _ONE_SCRIPT.get(script, script)


def address_pattern() -> str:
    """Return a regular expression (RE2, lower case) whose group is the first name of a language in an address.

    The first label of the host counts, its other labels do not (``.de``); then whole words of path and query.

    >>> import re
    >>> addresses = "https://en.x.hk/", "https://x.de/a/index_tc.htm", "https://x.de/"
    >>> [match and match[1] for match in (re.match(address_pattern(), address) for address in addresses)]
    ['en', 'tc', None]
    """
    words = "|".join(token.replace("-", "[-_]") for token in _ADDRESS_TOKENS)
    return f"^https?://(?:[^/]*/(?:.*?[/._=?&-])?)?({words})(?:[/._=?&-]|$)"
