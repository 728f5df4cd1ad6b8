"""What languages call themselves: the words by which links to another language version are known; and their tags.

The crawler goes by them to fetch likely partners early, the matcher to find the language of a page.
"""

from __future__ import annotations

__all__ = ["LANGUAGE_OF", "NAMES", "takes_in"]

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


def takes_in(wanted: str, lang: str) -> bool:
    """Tell whether a wanted language takes one in, whatever the case of their tags.

    >>> takes_in("zh", "zh-Hant"), takes_in("zh-hant", "zh-Hant"), takes_in("zh-Hant", "zh")
    (True, True, False)
    """
    return f"{lang}-".lower().startswith(f"{wanted}-".lower())
