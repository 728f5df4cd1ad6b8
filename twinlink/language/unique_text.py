"""Pages whose unique text, which no other page has, is in another language than all other evidence says.

The menus of such pages may have been left in the language of the source, and their terms and code stand in its pages,
too. Where most pages of their language are of another kind, as the news of a site beside its documentation, these have
other menus and other words: so the pages seem to be part of the version of the source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from twinlink.language.identify import CLEAR, KNOWN, LEAST_LEARNED, Guess, count_scripts, guess_language
from twinlink.language.relatives import are_relatives
from twinlink.language.site_text import SiteText
from twinlink.language.translated_text import LEAST_WORDS
from twinlink.scripts import LATIN, split_units
from twinlink.text.terms import has_latin_script

__all__ = ["languages_of_unique_text"]

_MOST = 0.5
"""Minimum share of a script in the unique text: a quotation on a page in Latin script is less. Trials
on a site of which 51 of 55 pages with translated text in Russian had the language of their English menus: with .3, .4
and .5 one to three of them keep it, with .6 fifteen do. On 418 other sites, no page changes."""
_PART = 0.05
"""Share of a language's pages that must have text in another one. Trials: 9 to 16 % where documentation that was
translated in part is mixed with as many pages of another site; on 510 other sites 3 % at most, on pages whose original
has changed since, so that what was left untranslated is no longer on it."""
_NEIGHBOURS, _AMONG = 4, 0.25
"""Minimum number of a page's neighbours that are clearly in the language of its text, and their share of those in the
two languages. Where documentation that was translated in part is mixed with another site, this share is .24 to .56 on
translated pages. On 510 other sites, three pages have four such neighbours, with shares from .5 on: English ones, of
which one stands in a version that was hardly translated."""


def languages_of_unique_text(
    site: SiteText, guesses: Sequence[Guess], languages: Sequence[str], wanted: Collection[str]
) -> dict[int, str]:
    """Return the language of the unique text of pages that were given another one, where the text decides.

    No other page has this text: what was left untranslated stands in its original, too. It decides where it is in a
    wanted language, and CLD2 does not take this one for the other (`are_relatives`),

    1. if half of it is in another script than Latin, and the page was given a language in Latin script;
    2. if CLD2 is sure of it, and a quarter of the page's neighbours that are clearly in one of the two languages are in
       this one, four or more;
    3. if CLD2 is sure of it on a twentieth of the pages that were given the same language, three or more: then on all
       pages with text in this language that were given that one.

    Parameters
    ----------
    site : SiteText
    guesses : sequence of Guess
        Language of each page by its text alone.
    languages : sequence of str
        Language of each page by all evidence.
    wanted : collection of str

    Returns
    -------
    dict of int to str
        By the number of the page.
    """
    decided, doubted, sure = {}, {}, Counter[tuple[str, str]]()
    clear = np.array([guess.language if guess.strength >= CLEAR else "" for guess in guesses])
    for page, (guess, language) in enumerate(zip(guesses, languages, strict=True)):
        if guess.language not in wanted or language == guess.language or are_relatives(language, guess.language):
            continue
        text = "\n".join(site.unique(page))
        words = count_scripts(split_units(text))
        alone = guess_language(words, text)
        if sum(words.values()) < LEAST_WORDS or alone.language != guess.language or alone.likeness < KNOWN:
            continue
        is_sure = min(guess.strength, alone.strength) >= CLEAR
        doubted[page] = guess.language, language
        sure[doubted[page]] += is_sure
        if (has_latin_script(language) and _is_in_its_script(guess.language, words)) or (
            is_sure and _is_among(guess.language, language, clear[site.near[[page]].indices])
        ):
            decided[page] = guess.language
    n_given = Counter(languages)
    parts = {pair for pair, n in sure.items() if n >= max(_PART * n_given[pair[1]], LEAST_LEARNED)}
    return decided | {page: pair[0] for page, pair in doubted.items() if pair in parts}


def _is_among(one: str, other: str, clear: NDArray[np.str_]) -> bool:
    """Return whether enough of some neighbours are clearly in one of two languages."""
    n_one = int(np.sum(clear == one))
    return n_one >= _NEIGHBOURS and n_one >= _AMONG * (n_one + int(np.sum(clear == other)))


def _is_in_its_script(language: str, words: Mapping[str, float]) -> bool:
    """Return whether half of so many words in each script are in that of a language, which is not Latin."""
    return not has_latin_script(language) and words.get(LATIN, 0.0) <= (1 - _MOST) * sum(words.values())
