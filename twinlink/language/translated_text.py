"""The text of pages that were translated in part, without what was left in the language of the source.

A site that is translated by volunteers has pages whose half is still in the language of the source. All versions of
the site have such text, so the page is part of the version whose language the other half has. Which half that is, two
things show: the source language is mixed with all others, and what was left stands in the page of the source, too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from twinlink.language.bilingual import EXAMINE_SECONDS, language_and_size
from twinlink.language.identify import (
    CLEAR,
    KNOWN,
    Guess,
    clear_pages,
    count_scripts,
    guess_language,
    is_mixed,
    main_script,
)
from twinlink.language.relatives import are_relatives
from twinlink.language.site_text import SiteText
from twinlink.languages import UNDETERMINED
from twinlink.scripts import split_units
from twinlink.system.side_by_side import in_ranges

__all__ = [
    "LEAST_WORDS",
    "TRANSLATED",
    "TranslatedText",
    "source_language",
    "spoken_languages",
    "translated_texts",
    "words_by_language",
]

_CLEAR_PAGES = 3
"""Pages without a doubt that a language of the site has."""
_SENTENCE = 4.0
"""Words of a block from which it has a language of its own. Our choice, not tuned."""
LEAST_WORDS = 20.0
"""Words of a page's translated text, at least."""
_MIXED = 0.2
"""Share of the words from which a page is mixed with a language."""
TRANSLATED = 0.25
"""Share of the words from which a language is that of the translation: what was left of a page is often the longer part
of it. Trials on 14 sites of four kinds with such pages: with ¼ all known pairs have their languages, with .35 a tenth
of those of one site and 2 % of another do not, with ½ three tenths of one and 2 % of another."""
_ALL, _TWICE = 0.95, 2
"""Part of the mixed pages that have the source language, and mixed pages of each of two other languages."""

_Words = Mapping[str, float]
"""Words by language."""


class TranslatedText(NamedTuple):
    """What was translated of a page."""

    blocks: Sequence[str]
    guess: Guess
    """Its language."""


def translated_texts(
    site: SiteText, guesses: Sequence[Guess], wanted: Collection[str], known: Collection[int] = ()
) -> dict[int, TranslatedText]:
    """Return the translated text of the pages that seem to have been translated in part.

    A page is looked at if its own text leaves its language in doubt, or if that is not wanted and the text has much of
    Latin and of another script, which may be a quotation: that is on the page in other languages, too. Its translated
    text is the one of these that is most clearly in one language, more clearly than all of its text:

    1. where the site has a source language (`source_language`): all blocks in other languages, if one of them has
       a quarter of the words;
    2. the blocks that no other page has, if they are in a wanted language.

    What was left is of one language: where more pages change from English to French by this, none changes from French
    to English. A page would, if its original is not on the site: no other page has what was left of it.

    Parameters
    ----------
    site : SiteText
    guesses : sequence of Guess
        Language of each page by all of its own text.
    wanted : collection of str
    known : collection of int
        Pages that are not looked at.

    Returns
    -------
    dict of int to TranslatedText
        By the number of the page.
    """
    quoting = {i for i, guess in enumerate(guesses) if guess.language not in wanted and is_mixed(site.scripts[i])}
    pages = [i for i, guess in enumerate(guesses) if (guess.strength < CLEAR or i in quoting) and i not in known]
    words = in_ranges(
        lambda first, end: [words_by_language(site.sampled(i)) for i in pages[first:end]],
        len(pages),
        seconds=EXAMINE_SECONDS,
    )
    source = source_language(words, spoken_languages(guesses) | {*wanted})
    found = {}
    for page, of_language in zip(pages, words, strict=True):
        text = _translated(site, page, guesses[page], of_language, source, wanted, page in quoting)
        if text is not None:
            found[page] = text
    changes = {page: (guesses[page].language, text.guess.language) for page, text in found.items()}
    often = Counter(changes.values())
    return {page: text for page, text in found.items() if often[changes[page]] >= often[changes[page][::-1]]}


def spoken_languages(guesses: Sequence[Guess]) -> frozenset[str]:
    """Return the languages of a site that have clear pages.

    >>> spoken_languages([Guess("en", 1.0, 1.0)] * 3 + [Guess("fr", 1.0, 1.0)])
    frozenset({'en'})
    """
    return frozenset(language for language, n in clear_pages(guesses).items() if n >= _CLEAR_PAGES)


def source_language(pages: Sequence[_Words], languages: Collection[str]) -> str:
    """Return the language that nearly all pages in two languages have beside another one; empty if none, or two, do.

    At least two pages in each of two other languages are needed: where all pages are mixed from the same two
    languages, either may be the source.

    Parameters
    ----------
    pages : sequence of mapping of str to float
        Words of each page by language.
    languages : collection of str
        Languages of the site; others are misjudged blocks.

    Examples
    --------
    >>> mixed = [{"en": 50, "fr": 90}, {"fr": 30, "en": 40}, {"en": 60, "ru": 40}, {"en": 40, "ru": 40}]
    >>> source_language(mixed, ["en", "fr", "ru"]), source_language(mixed[:2], ["en", "fr"])
    ('en', '')
    """
    mixes = [mix for words in pages if len(mix := _mixed(words)) == 2 and mix & {*languages}]
    count = Counter(language for mix in mixes for language in mix)
    found = []
    for language, n in count.items():
        others = Counter(other for mix in mixes if language in mix for other in mix - {language} if other in languages)
        if n >= _ALL * len(mixes) and sum(times >= _TWICE for times in others.values()) >= 2:
            found.append(language)
    return found[0] if len(found) == 1 else ""


def words_by_language(blocks: Sequence[str]) -> _Words:
    """Return the words of a page by language, in blocks that are long enough to have one."""
    words: dict[str, float] = defaultdict(float)
    for language, size in map(language_and_size, blocks):
        if size >= _SENTENCE:
            words[language or UNDETERMINED] += size
    return words


def _mixed(words: _Words) -> frozenset[str]:
    """Return the languages that have a considerable part of a page's words."""
    total = sum(words.values())
    return frozenset(name for name, n in words.items() if name != UNDETERMINED and n >= _MIXED * total)


def _translated(
    site: SiteText, page: int, guess: Guess, words: _Words, source: str, wanted: Collection[str], quotes: bool
) -> TranslatedText | None:
    """Return the translated text of a page, or None if it has none, or nothing is known of it."""
    best, strength, script = None, 0.0 if quotes else guess.strength, main_script(site.scripts[page])
    for blocks, languages in _candidates(site.own[page], site.unique(page), guess, words, source, wanted):
        text = "\n".join(blocks)
        scripts = count_scripts(split_units(text))
        if sum(scripts.values()) >= LEAST_WORDS and (quotes or main_script(scripts) == script):
            alone = guess_language(scripts, text)
            if alone.language in languages and alone.likeness >= KNOWN and alone.strength > strength:
                best, strength = TranslatedText(blocks, alone), alone.strength
    return best


def _candidates(
    own: Sequence[str], unique: Sequence[str], guess: Guess, words: _Words, source: str, wanted: Collection[str]
) -> Iterator[tuple[Sequence[str], Collection[str]]]:
    """Yield what may be the translated text of a page, with the languages that it may be in."""
    if source and (best := _most(words, without=source)):
        yield [block for block in own if language_and_size(block)[0] != source], {best}
    if any(are_relatives(guess.language, language) for language in wanted):
        return  # it may be in either
    if languages := {*wanted} - {source}:
        yield unique, languages


def _most(words: _Words, without: str) -> str:
    """Return the language of most of the other words, empty if these are too few to be the translation."""
    others = {name: n for name, n in words.items() if name not in {without, UNDETERMINED}}
    best = max(others, key=lambda name: (others[name], name), default="")
    return best if best and others[best] >= TRANSLATED * sum(words.values()) else ""
