"""Wanted languages as people write them: codes of any kind (``zh-TW``, ``zho``, ``iw``, ``pt_BR``) and names."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from twinlink.errors import ConfigError
from twinlink.languages import CHINESE_TAGS, COMMON_SCRIPTS, canonical_language, includes_language, languages_of_site

if TYPE_CHECKING:
    from marisa_trie import BytesTrie

_EXPECTED = "expected a code such as en, zh-TW or zho, or a name such as Chinese"
_NO_LANGUAGE = frozenset({"und", "mul", "mis", "zxx", "x"})
"""First parts of valid tags that are not languages: unknown, several, without a code, private (``x-default``)."""
_MOST_SHOWN = 40  # maximum number of letters of a refused text in a message
_LEAST_ALIKE = 0.6
"""Similarity (1 - edit distance / length) from which a name is suggested: two slips in five letters."""
_MOST_NEAR = 10
_LEAST_LETTERS = 3
"""A code of two letters is one slip away from dozens of others; some languages are called so (``E``)."""
_COUNTRY = re.compile("(?!AA|ZZ|X[A-JL-Z]|Q[M-Z])[A-Z]{2}", re.IGNORECASE)
"""Two letters, without the user-assigned codes of ISO 3166."""
_SEPARATORS = re.compile(r"[;:/|+&\s]+")
"""Separators that users write instead of a comma."""


def read_languages(texts: Sequence[str], setting: str = "langs") -> tuple[str, ...]:
    """Return the language tags that users mean; codes stay as written, names become codes.

    Parameters
    ----------
    texts : sequence of str
        Codes of BCP 47, ISO 639-1 to 639-3, old ones too, with ``-`` or ``_``, in any case; names in any language.
    setting : str, optional
        Prefix of messages.

    Raises
    ------
    ConfigError
        If there is no such language (the message suggests one), or two of them mean the same language.

    Examples
    --------
    >>> read_languages(["en", " zh_TW"]), read_languages(["eng", "Chinese (Traditional)"])
    (('en', 'zh_TW'), ('eng', 'zh-Hant'))
    >>> read_languages(["zh-TW", "zh-HK"])
    Traceback (most recent call last):
    ...
    twinlink.errors.ConfigError: langs: zh-TW and zh-HK are the same language here (zh-Hant); name one of them
    """
    tags = tuple(_read(text.strip(), setting) for text in texts)
    for one, other in itertools.combinations(tags, 2):
        meant = canonical_language(one)
        if meant == canonical_language(other):
            raise ConfigError(f"{setting}: {one} and {other} are the same language here ({meant}); name one of them")
    for wide, narrow in itertools.permutations(tags, 2):
        if includes_language(wide, narrow):
            raise ConfigError(f"{setting}: {wide} includes {narrow}; name one of them, or two that do not overlap")
    return tags


def languages_meant(texts: Sequence[str], there: Iterable[str], setting: str = "langs") -> dict[str, list[str]]:
    """Return the languages of a run that each wanted language stands for; the run must have all.

    >>> languages_meant(["en", "zh"], ["en", "fr", "zh-Hant"])
    {'en': ['en'], 'zh': ['zh-Hant']}
    >>> languages_meant(["en", "de"], ["en", "fr", "zh-Hant"])
    Traceback (most recent call last):
    ...
    twinlink.errors.ConfigError: langs: the run has nothing in de (German); it has en, fr, zh-Hant

    Raises
    ------
    ConfigError
        If there is no such language, or the run has none that it stands for.
    """
    known = sorted(set(there))
    meant = languages_of_site(read_languages(texts, setting), known)
    for tag, langs in meant.items():
        if not langs:
            raise ConfigError(f"{setting}: the run has nothing in {name_of(tag)}; it has {', '.join(known)}")
    return meant


def check_two(langs: Sequence[str]) -> None:
    """Raise an error if only one language is wanted.

    >>> check_two(["en", "zh-Hant"])
    >>> check_two(["en"])
    Traceback (most recent call last):
    ...
    twinlink.errors.ConfigError: langs: en alone is wanted; pairs need two languages, e.g. en,zh

    Raises
    ------
    ConfigError
        If there is.
    """
    if len(langs) == 1:
        example = "en,zh" if includes_language("en", langs[0]) else f"en,{langs[0]}"
        raise ConfigError(f"langs: {langs[0]} alone is wanted; pairs need two languages, e.g. {example}")


def two_languages(names: str, setting: str = "langs") -> tuple[str, str]:
    """Read two languages with a hyphen between them, each of which may have hyphens of its own.

    >>> two_languages("en-zh"), two_languages("pt-BR-fr"), two_languages("English-Chinese")
    (('en', 'zh'), ('pt-BR', 'fr'), ('en', 'zh'))

    Parameters
    ----------
    names : str
    setting : str, optional
        Prefix of messages.

    Raises
    ------
    ConfigError
        If it cannot be read so.
    """
    parts = names.split("-")
    splits = [("-".join(parts[:at]), "-".join(parts[at:])) for at in range(1, len(parts))]
    known = [split for split in splits if all(map(language_named, split))]
    if not known:
        read_languages(splits[0] if splits else [names], setting)
        raise ConfigError(f"{setting}: {names}: expected two languages with a hyphen between them, e.g. en-zh")
    # pt-BR-fr may be Portuguese and the Breton of France, too: letters of regions are capitals.
    best = min(known, key=lambda split: sum(text.partition("-")[0].isupper() for text in split))
    one, other = read_languages(best, setting)
    return one, other


def meanings(wanted: Sequence[str], sites: Iterable[Iterable[str]]) -> dict[str, dict[str, int]]:
    """Return the languages used for wanted ones on some sites, where they differ from the wanted tag.

    Parameters
    ----------
    wanted : sequence of str
        As `read_languages` returns them.
    sites : iterable of iterable of str
        Languages of each site's pages.

    Returns
    -------
    dict
        For a wanted language, the languages that were taken for it, each with its number of sites, the most frequent
        first; none for a language that no site has.

    Examples
    --------
    >>> meanings(["en", "zh-TW"], [["en", "zh-Hant"], ["en", "zh-Hans"], ["en", "zh-Hant"]])
    {'zh-TW': {'zh-Hant': 2, 'zh-Hans': 1}}
    """
    counts: dict[str, Counter[str]] = {tag: Counter() for tag in wanted}
    for there in sites:
        for tag, langs in languages_of_site(wanted, there).items():
            counts[tag].update(langs)
    return {
        tag: dict(sorted(of_tag.items(), key=lambda item: (-item[1], item[0])))
        for tag, of_tag in counts.items()
        if not of_tag or any(not f"{lang}-".lower().startswith(f"{tag}-".lower()) for lang in of_tag)
    }


def meaning_lines(meant: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield a line for each wanted language that means another one than is written, as `meanings` returns them.

    >>> list(meaning_lines({"zh-TW": {"zh-Hant": 1}, "zho": {"zh-Hant": 20, "zh-Hans": 1}, "kr": {}}))
    ["zh-TW: the site's zh-Hant", 'zho: zh-Hant (20 sites), zh-Hans (1 site)', 'kr (Kanuri): no page is in it']
    """
    for tag, langs in meant.items():
        if not langs:
            yield f"{name_of(tag)}: no page is in it"
        elif len(langs) > 1:
            counts = (f"{lang} ({n} site{'s' * (n > 1)})" for lang, n in langs.items())
            yield f"{tag}: {', '.join(counts)}"
        else:
            [(lang, n)] = langs.items()
            whose = "the site's" if n == 1 else "the sites'"
            yield f"{tag}: {whose} {lang}"


def name_of(tag: str) -> str:
    """Return a tag with its name in English.

    >>> name_of("rus")
    'rus (Russian)'
    """
    from langcodes import Language

    return f"{tag} ({Language.get(tag.replace('_', '-')).display_name()})"


def language_named(text: str, *, codes: bool = True) -> str:
    """Return the tag of a language by its code or its name; empty where there is no such language.

    A code stays as it is written. ``codes=False`` reads names alone.

    >>> language_named("zho"), language_named("Chinese"), language_named("line"), language_named("zho", codes=False)
    ('zho', 'zh', '', '')
    """
    code = text.replace("_", "-")
    if codes and (code.lower() in COMMON_SCRIPTS or code.lower() in CHINESE_TAGS):
        return text
    from langcodes import tag_is_valid

    is_code = codes and tag_is_valid(code) and code.lower().partition("-")[0] not in _NO_LANGUAGE
    return text if is_code else _named(text)


def _read(text: str, setting: str) -> str:
    if tag := language_named(text):
        return tag
    raise ConfigError(f"{setting}: {text[:_MOST_SHOWN]!r}: no language has this code or name; {_suggestion(text)}")


def _suggestion(text: str) -> str:
    """Return a suggestion: a country's language, or the language with the most similar name."""
    from langcodes import tag_is_valid

    language, _, rest = text.replace("_", "-").partition("-")
    if language.lower() in _NO_LANGUAGE:
        return _EXPECTED
    if spoken := _spoken_in(language):
        return f"{language} is a country: did you mean {spoken}?"
    if rest and tag_is_valid(language):
        return f"did you mean {language}?"
    several = _SEPARATORS.split(text)
    if len(several) > 1 and all(map(tag_is_valid, several)):
        return f"did you mean {','.join(several)}?"
    if near := _almost(text):
        return f"did you mean {name_of(near)}?"
    return _EXPECTED


def _spoken_in(country: str) -> str:
    """Return the main language of a country by its code; empty for all other texts."""
    from langcodes import Language, tag_is_valid

    if not _COUNTRY.fullmatch(country) or not tag_is_valid(f"und-{country}"):
        return ""
    return canonical_language(Language.make(territory=country.upper()).maximize().to_tag())


def _almost(text: str) -> str:
    """Return the tag of the language with the most similar name; empty if none is similar enough.

    Of equal ones the language with the most speakers.
    """
    from langcodes import Language
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    if len(text) < _LEAST_LETTERS:
        return ""
    names = _names().keys()
    near = extract(
        text.casefold(), names, scorer=OSA.normalized_similarity, score_cutoff=_LEAST_ALIKE, limit=_MOST_NEAR
    )
    tags = [_named(name) for name, alike, _ in near if alike == near[0][1]]
    return max(tags, key=lambda tag: Language.get(tag).speaking_population(), default="")


def _named(text: str) -> str:
    """Return the tag of a language by its name, in any language; empty if unknown."""
    from language_data.names import get_trie_value, normalize_name

    if text.isascii() and len(text) < _LEAST_LETTERS:
        return ""
    # langcodes.find would take "English law" for English.
    name = normalize_name(text)
    return get_trie_value(_names(), name) if name in _names() else ""


@cache
def _names() -> BytesTrie:
    from language_data.names import load_trie
    from language_data.util import data_filename

    return load_trie(data_filename("trie/und/name_to_language.marisa"))
