"""Pages in Latin script that have text in another one: comments of readers, quotations, names of other languages.

Another script decides on the language of a text with a tenth of its words (`twinlink.language.identify`), because Latin
words stand in texts of all languages: code, names, what was not translated. So a page in English would be in Arabic
once a reader has commented on it in Arabic, or with an Arabic summary below. Block by block, the two can be told apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import compress

from twinlink.language.bilingual import EXAMINE_SECONDS, is_bilingual, language_and_size
from twinlink.language.identify import CLEAR, KNOWN, Guess, count_scripts, guess_language, is_mixed, main_script
from twinlink.language.site_text import SiteText
from twinlink.language.translated_text import (
    LEAST_WORDS,
    TRANSLATED,
    TranslatedText,
    spoken_languages,
    words_by_language,
)
from twinlink.scripts import LATIN, split_units
from twinlink.system.side_by_side import in_ranges

__all__ = ["texts_beside_quotations"]

_RELIABLE = 0.9
"""Share of the pages without a doubt whose claim must be right for the claims of a site to count."""


def texts_beside_quotations(
    site: SiteText, guesses: Sequence[Guess], wanted: Collection[str], known: Collection[int] = ()
) -> dict[int, TranslatedText]:
    """Return the text in Latin script of the pages that are in it, though their guess is a language in another script.

    That is the text in a language of the site which the page, or a link to it, claims, with a quarter of its words.
    Claims count if they are right on the pages without a doubt. Where they are not, or there are none, a frame (blocks
    that are on many pages) in Latin script claims the languages that are written in it. This counts if the frames of
    nine tenths of the pages without a doubt are in the script of their text, in Latin as in others, and only for pages
    on which the text that no other page has is in Latin script: what was left of a page that was translated in part
    stands in its original, too. Pages block by block in two languages are left as they are, and so are pages without a
    claim: most of their text may be what was not translated.

    Parameters
    ----------
    site : SiteText
    guesses : sequence of Guess
        Language of each page by all of its own text.
    wanted : collection of str
        Empty: the languages that have clear pages.
    known : collection of int
        Pages that are not looked at.

    Returns
    -------
    dict of int to TranslatedText
        By the number of the page: what is left without the blocks in other languages.
    """
    mixed = [is_mixed(words) for words in site.scripts]
    if not any(mixed):
        return {}
    languages = frozenset(wanted) or spoken_languages(guesses)
    claims = _claims(site, guesses, mixed, languages)
    pages = [
        page
        for page, (guess, claim) in enumerate(zip(guesses, claims, strict=True))
        if mixed[page] and claim and guess.language not in claim and page not in known
    ]

    def examined(first: int, end: int) -> list[TranslatedText | None]:
        return [_beside_quotations(site, page, claims[page], languages) for page in pages[first:end]]

    texts = in_ranges(examined, len(pages), seconds=EXAMINE_SECONDS)
    return {page: text for page, text in zip(pages, texts, strict=True) if text is not None}


def _claims(
    site: SiteText, guesses: Sequence[Guess], mixed: Sequence[bool], languages: frozenset[str]
) -> list[frozenset[str]]:
    """Return the languages that each page, or a link to it, claims, or its frame; none where these say little here."""
    claims = [(named | claimed) & languages for named, claimed in zip(site.named, site.claimed, strict=True)]
    is_clear = [guess.strength >= CLEAR and not has_two for guess, has_two in zip(guesses, mixed, strict=True)]
    clear = compress(zip(claims, guesses, strict=True), is_clear)
    is_right = [guess.language in claim for claim, guess in clear if claim]
    differ = len(frozenset().union(*claims)) > 1  # else they may come from a template
    if differ and sum(is_right) >= _RELIABLE * len(is_right):
        return claims
    claims = _claims_of_frames(site, guesses, is_clear, languages)
    return [
        claim if claim and mixed[page] and _is_original(site, page) else frozenset()
        for page, claim in enumerate(claims)
    ]


def _claims_of_frames(
    site: SiteText, guesses: Sequence[Guess], is_clear: Sequence[bool], languages: frozenset[str]
) -> list[frozenset[str]]:
    """Return the languages in Latin script for the pages with a frame in it; none where frames say little here."""
    in_latin = [main_script(words) == LATIN for words in site.scripts]
    frames = [main_script(words) == LATIN if words else None for words in site.frame_scripts()]
    clear = Counter(compress(zip(in_latin, frames, strict=True), is_clear))
    for script in (True, False):
        right, wrong = clear[script, script], clear[script, not script]
        if not right or right < _RELIABLE * (right + wrong):
            return [frozenset()] * len(guesses)
    both = zip(guesses, in_latin, strict=True)
    claim = languages & {guess.language for guess, is_latin in compress(both, is_clear) if is_latin}
    return [claim if frame else frozenset() for frame in frames]


def _is_original(site: SiteText, page: int) -> bool:
    """Return whether what no other page has is in Latin script."""
    words = count_scripts(split_units("\n".join(site.unique(page))))
    return bool(words) and main_script(words) == LATIN


def _beside_quotations(
    site: SiteText, page: int, claim: frozenset[str], languages: frozenset[str]
) -> TranslatedText | None:
    words = words_by_language(site.sampled(page))
    best = max(claim, key=lambda language: (words.get(language, 0.0), language))
    if words.get(best, 0.0) < max(LEAST_WORDS, TRANSLATED * sum(words.values())):
        return None
    blocks = [block for block in site.own[page] if language_and_size(block)[0] == best]
    text = "\n".join(blocks)
    scripts = count_scripts(split_units(text))
    alone = guess_language(scripts, text)
    is_clear = main_script(scripts) == LATIN and alone.language == best and alone.likeness >= KNOWN
    return TranslatedText(blocks, alone) if is_clear and not is_bilingual(site.own[page], languages) else None
