"""The language of each page of a site, from its text and the other pages of the site.

Single pages are often misidentified: untranslated menus, code and terms are in all language versions, pages are
translated in part, and CLD2 names a language even for those that it does not know. So there are four steps:

1. `guess_language` identifies every page by its own text (blocks on many pages are left out). What a page claims, or a
   link to it, decides between languages that CLD2 confuses, for one that CLD2 does not recognise, and where the text is
   in doubt, against one that no page of the site claims.
2. Pages that are similar to each other, but not to a language that CLD2 knows, get languages of their own
   (`unknown_languages`).
3. Where the language of a page is in doubt, what was left in the language of the source is put aside
   (`translated_texts`): the page is judged by the rest of its text.
4. From the clear pages, each language's common words are learned *on this site*, and all pages are identified
   again. A word that is as common in both languages (a term, code, a menu that was not translated) then has no weight,
   and the articles and particles of a language have most. The blocks on many pages are learned likewise: where the
   French version has a menu of its own, a page with that menu is French although half of its text was left in English.
   A page whose text is similar to one language only is in that language, regardless of its menus and its neighbours.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import compress
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.config import LanguageSettings
from twinlink.errors import ShapeError
from twinlink.language.bilingual import EXAMINE_SECONDS, is_bilingual, may_be_bilingual
from twinlink.language.claims import as_claimed, claimed_languages
from twinlink.language.identify import (
    CLEAR,
    FAIRLY_CLEAR,
    KNOWN,
    LEAST_LEARNED,
    Guess,
    clear_pages,
    guess_language,
    identify_text,
)
from twinlink.language.quotations import texts_beside_quotations
from twinlink.language.relatives import RELATIVES
from twinlink.language.site_text import SiteText, read_site
from twinlink.language.speech import Floats, Labels, Speech, learn_speech, speaks_like, vote
from twinlink.language.surroundings import adoptions, neighbour_scores
from twinlink.language.translated_text import spoken_languages, translated_texts
from twinlink.language.unique_text import languages_of_unique_text
from twinlink.language.unknown import Unknown, unknown_languages
from twinlink.languages import UNDETERMINED, base_language
from twinlink.scripts import chinese_leaning, split_units, variant_of_leaning
from twinlink.system.side_by_side import in_ranges, threaded_in_ranges

__all__ = ["TWO_LANGUAGES", "LanguageFinder", "site_languages", "two_most_frequent"]

TWO_LANGUAGES = "mul"
"""BCP 47's name for a page in several languages."""

_ADOPTED = 0.5
"""Maximum score of a page whose language comes from its neighbours alone."""
_MIN_VERSION = 10
"""A language with fewer clear pages has no version of its own: its pages belong to another one, like originals."""
_SHARE_WEIGHT, _STRENGTH_WEIGHT, _WANTED_WEIGHT = 5.0, 15.0, 3.0
"""Log odds for CLD2's answer on the page, and for a wanted language; a common word has about 5."""
GUESS_SECONDS = 5e-5
"""What a page takes to guess its language, in trials on four sites."""
_ROUNDS = 2
_LINK_ROUNDS = 3

# What a language is learned from: its clear pages; where there are too few, and it is wanted or not rare, the fairly
# clear ones.
_MIN_CLEAR_SHARE = 0.002
_NOT_RARE = 0.05
_SPEAKS = 0.5
"""A page of a learned language has at least this part of the usual share of its typical words."""
_FOREIGN = 0.1
"""Its text is clear if it has less than this part of those of every other language, and `_CLEAR_WORDS` at least."""
_CLEAR_WORDS = 20
_HARDLY = 0.02
"""Part of the usual share of the words that a language has for itself, below which a clear page is not in it.

Chosen on a manual in six languages of which most was left in the source's; on 97 other sites it changes no page."""
_SURE = 0.5  # a page of a wanted language with too few pages to be learned
_NEAR_SHARE = 0.1


class LanguageFinder(Protocol):
    """Protocol of functions that identify the languages of a site's pages, such as `site_languages`."""

    def __call__(
        self,
        blocks: Sequence[Sequence[str]],
        declared: Sequence[str],
        wanted: Sequence[str],
        settings: LanguageSettings | None = None,
        links: csr_array | None = None,
        hints: Sequence[Sequence[str]] | None = None,
    ) -> tuple[list[str], NDArray[np.float32]]:
        """Return the language of each page, and its score, 0 to 1."""


def site_languages(
    blocks: Sequence[Sequence[str]],
    declared: Sequence[str],
    wanted: Sequence[str],
    settings: LanguageSettings | None = None,
    links: csr_array | None = None,
    hints: Sequence[Sequence[str]] | None = None,
) -> tuple[list[str], NDArray[np.float32]]:
    """Identify the language of every page of a site.

    With p(w|ℓ) the share of language ℓ's clear pages that have word (or block) w, the page itself left out, and of
    words times the length of the page over the mean of theirs if it is longer, or much shorter::

        score(ℓ) = max(own(ℓ) - max own, -10) + Σ_b log p(b|ℓ) · min(1, 6 / number of b)
                   + Σ_h log p(h|ℓ) · min(1, 3 / number of h) + neighbours(ℓ)
        own(ℓ)   = Σ_w log p(w|ℓ) + (5·share + 15·strength of CLD2's answer, if it is ℓ) + (3 if ℓ is wanted)

    over the page's distinct common words w outside, its blocks b on more than ``boilerplate_share`` of the pages, and
    its hints h; the declared language is one more b. The neighbours' part is `neighbour_scores`. The scores are
    computed twice, the second time with the first result instead of the clear pages. A language needs three clear
    pages to be learned
    (fairly clear ones, if it is wanted or on 5 % of the pages). Where a page's text has half of the usual share of the
    words that a language has for itself on this site, and less than a tenth of that of every other language, only this
    language is left. Where CLD2 is sure of a page's language and its text has half of the usual share of that one's own
    words, languages of which it has less than a fiftieth are left out. Where the text that no other page has is in
    another language, that one may decide (`languages_of_unique_text`).

    A page that was translated in part is judged by its translated text (`translated_texts`); its words w are those of
    this text, and p(w|ℓ) is the mean of the shares of pages that have w in all of their text and in this text.

    So is a page in Latin script that has comments or quotations in another one (`texts_beside_quotations`), by its text
    without these.

    A page that CLD2 gives another language keeps it if that one is wanted and has half of the words, if the page claims
    it or a link names it, or if both halves of the page are in it and the page lacks the typical words of the learned
    languages. A page in a language that is not wanted, among pages of a wanted one, stands in that version of the site
    and gets its language (`adoptions`), with a score of ½ at most; not if its text is clear and nine others are in its
    language, which has a version of its own then. A page block by block in two wanted languages is ``mul``.

    Parameters
    ----------
    blocks : sequence of sequence of str
        Text of each page: its title and its blocks. `PageTexts` are not cut again for the words of the pages.
    declared : sequence of str
        What each page claims (``html lang``), empty where nothing. A claim that is the same on the whole site has
        no weight.
    wanted : sequence of str
        Wanted languages: they are preferred to close relatives (Portuguese to Galician) when the text is ambiguous,
        and to no other language. Empty: those that pages claim, if these are several (`claimed_languages`); else none
        is preferred, and the two most frequent ones take in pages of others.
    settings : LanguageSettings, optional
    links : csr_array, optional, shape (n_pages, n_pages)
        A stored entry at (p, q) where page p links to page q.
    hints : sequence of sequence of str, optional
        For each page, features that the pages of one language may share (parts of the address); their meaning is
        learned. ``named:TAG`` is what a link to the page calls its language.

    Returns
    -------
    list of str
        Language of each page, named as in `identify_text`, or as `language_names` says for those that CLD2 does not
        know; ``mul`` for two of the wanted ones, ``und`` for a page with almost no letters or no answer.
    ndarray of float32, shape (n_pages,)
        Probability by this model, 0 to 1; CLD2's share for a language that was not learned; 0 for ``und``.

    Raises
    ------
    ShapeError
        If ``declared``, ``hints`` or ``links`` do not have one entry for each page.

    Examples
    --------
    >>> site_languages([["The page is in English."], ["這個網頁是中文的，你好"]], ["", ""], ["en", "zh"])[0]
    ['en', 'zh-Hant']
    """
    settings = settings or LanguageSettings()
    if len(blocks) != len(declared):
        raise ShapeError(f"expected one declared language per page, got {len(declared)} for {len(blocks)} pages")
    if hints is not None and len(hints) != len(blocks):
        raise ShapeError(f"expected hints for each page, got {len(hints)} for {len(blocks)} pages")
    if links is not None and links.shape != (len(blocks), len(blocks)):
        raise ShapeError(f"links: expected one row and one column per page, got {links.shape} for {len(blocks)} pages")
    if not blocks:
        return [], np.zeros(0, np.float32)
    site = read_site(blocks, declared, links, hints, settings.boilerplate_share)
    aim = frozenset(map(base_language, wanted)) or claimed_languages(site)
    guesses = threaded_in_ranges(partial(_guesses, site), len(blocks), seconds=GUESS_SECONDS)
    guesses = as_claimed(site, guesses, aim)
    unknown = unknown_languages(site, guesses, aim)
    of_unknown = {page for _, pages, _ in unknown for page in pages.tolist()}
    translated = translated_texts(site, guesses, aim or _two_clearest(guesses), of_unknown)
    translated |= texts_beside_quotations(site, guesses, aim, of_unknown)
    site = site.with_text({page: text.blocks for page, text in translated.items()})
    guesses = [translated[page].guess if page in translated else guess for page, guess in enumerate(guesses)]
    guesses = _with_unknown(_prefer_wanted([_less_sure(guess) for guess in guesses], aim), unknown)
    decision = _decide(site, guesses, aim)
    if known := languages_of_unique_text(site, guesses, decision.languages, aim or spoken_languages(guesses)):
        decision = _decide(site, guesses, aim, known)
    languages, scores = _adopt(site, decision, aim)
    for i in _bilingual_pages(site, guesses, aim):
        languages[i] = TWO_LANGUAGES
    nameless = (site.letters < settings.min_letters) | (scores < settings.min_score)
    for i in np.flatnonzero(nameless).tolist():
        languages[i], scores[i] = UNDETERMINED, 0.0
    return _with_variants(site, languages), scores.astype(np.float32)


def _guesses(site: SiteText, first: int, end: int) -> list[Guess]:
    """Guess the language of some pages, each by its own text: CLD2, which takes most of this time, needs no lock."""
    return [guess_language(site.scripts[i], site.sample(i)) for i in range(first, end)]


def _bilingual_pages(site: SiteText, guesses: Sequence[Guess], aim: frozenset[str]) -> list[int]:
    """Return the pages that alternate between two of the wanted languages."""
    if len(aim) < 2:
        return []
    pages = [i for i, guess in enumerate(guesses) if may_be_bilingual(site.scripts[i], guess.score)]

    def examined(first: int, end: int) -> list[bool]:
        return [is_bilingual(site.own[page], aim) for page in pages[first:end]]

    return list(compress(pages, in_ranges(examined, len(pages), seconds=EXAMINE_SECONDS)))


def _two_clearest(guesses: Sequence[Guess]) -> frozenset[str]:
    """Return the two languages with the most clear pages, if two are spoken there: what is translated is in one.

    >>> sorted(_two_clearest([Guess("en", 1.0, 1.0)] * 4 + [Guess("fr", 1.0, 1.0)] * 3 + [Guess("de", 1.0, 1.0)] * 2))
    ['en', 'fr']
    """
    two = two_most_frequent(clear_pages(guesses).elements())
    found = spoken_languages(guesses).intersection(two)
    return found if len(found) > 1 else frozenset()


# The decision


def _less_sure(guess: Guess) -> Guess:
    """Lower the score of an answer with a low likeness."""
    return guess._replace(strength=guess.strength * min(1.0, 2 * guess.likeness))


def _with_unknown(guesses: Sequence[Guess], unknown: Sequence[Unknown]) -> list[Guess]:
    """Assign the languages that CLD2 does not know to their pages."""
    result = list(guesses)
    for tag, pages, likeness in unknown:
        for page, share in zip(pages.tolist(), likeness.tolist(), strict=True):
            result[page] = Guess(tag, share, 1.0)
    return result


def _prefer_wanted(guesses: list[Guess], aim: frozenset[str]) -> list[Guess]:
    """Read a language that the site hardly has, and that is not wanted, as its wanted relative."""
    clear = clear_pages(guesses)
    result = []
    for guess in guesses:
        near = [language for language in RELATIVES.get(guess.language, ()) if language in aim]
        relative = max(near, key=lambda language: clear[language], default=guess.language)
        rare = clear[guess.language] < max(LEAST_LEARNED, _NEAR_SHARE * clear[relative])
        taken_for_it = bool(near) and guess.language not in aim and rare
        result.append(Guess(relative, guess.score, 0.0) if taken_for_it else guess)
    return result


def _examples(guesses: Sequence[Guess], aim: frozenset[str]) -> dict[str, list[int]]:
    """Return the pages that each language is learned from."""
    pages: dict[str, list[int]] = {}
    for i, guess in enumerate(guesses):
        if guess.language != UNDETERMINED:
            pages.setdefault(guess.language, []).append(i)
    least = max(LEAST_LEARNED, _MIN_CLEAR_SHARE * len(guesses))
    examples = {}
    for language, members in pages.items():
        clear = [i for i in members if guesses[i].strength >= CLEAR]
        if len(clear) < least and (language in aim or len(members) >= _NOT_RARE * len(guesses)):
            clear = [i for i in members if guesses[i].strength >= FAIRLY_CLEAR]
        if len(clear) >= least:
            examples[language] = clear
    return examples


class _Decision(NamedTuple):
    languages: list[str]
    scores: Floats
    clear: NDArray[np.bool_]
    """Pages identified by their text alone."""


def _decide(
    site: SiteText, guesses: Sequence[Guess], aim: frozenset[str], known: Mapping[int, str] = MappingProxyType({})
) -> _Decision:
    """Decide the language of each page; ``known``: language of pages whose unique text decides."""
    examples = _examples(guesses, aim)
    learned = sorted(examples)
    if not learned:
        languages, scores = [guess.language for guess in guesses], np.array([guess.score for guess in guesses])
        return _Decision(languages, scores, np.zeros(len(guesses), np.bool_))
    number = {language: i for i, language in enumerate(learned)}
    labels = np.full(len(guesses), -1)
    for language, members in examples.items():
        labels[members] = number[language]
    speech = learn_speech(site.words, np.where(site.is_first, labels, -1), len(learned))
    fits = speaks_like(site.judged, speech.own, speech.usual_own)
    sure = _clear_text(site, speech, fits)
    for page, language in known.items():
        sure[page] = number.get(language, sure[page])
    closed = np.where(sure[:, None] >= 0, sure[:, None] != np.arange(len(learned)), _unspoken(guesses, number, fits))
    prior = np.tile([_WANTED_WEIGHT if language in aim else 0.0 for language in learned], (len(guesses), 1))
    for i, guess in enumerate(guesses):
        if guess.language in number:
            prior[i, number[guess.language]] += _SHARE_WEIGHT * guess.score + _STRENGTH_WEIGHT * guess.strength
    scores = _vote_in_rounds(site, labels, prior, closed)
    labels = scores.argmax(axis=1)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    languages, shares = [learned[label] for label in labels], odds.max(axis=1) / odds.sum(axis=1)
    fits = speaks_like(site.judged, speech.typical, speech.usual)
    for i, guess in enumerate(guesses):
        if guess.language in number or guess.language == UNDETERMINED:
            continue
        sure_of_wanted = guess.language in aim and guess.score >= _SURE
        if (
            sure_of_wanted
            or guess.language in site.named[i] | site.claimed[i]
            or _is_foreign(site, i, guess, speech, fits[i, labels[i]])
        ):
            languages[i], shares[i] = guess.language, guess.score
    return _Decision(languages, shares, sure >= 0)


def _clear_text(site: SiteText, speech: Speech, fits: Floats) -> Labels:
    """Return the language of each page whose text is similar to the pages of exactly one language, else -1."""
    fits = fits.copy()
    typical = speaks_like(site.judged, speech.typical, speech.usual)
    best = fits.argmax(axis=1)
    rows = np.arange(len(fits))
    top = fits[rows, best]
    fits[rows, best] = typical[rows, best] = 0
    is_clear = (top >= _SPEAKS) & (fits.max(axis=1) < _FOREIGN * top) & (typical.max(axis=1) < _SPEAKS)
    is_clear &= np.asarray(site.judged.sum(axis=1)).ravel() >= _CLEAR_WORDS
    return np.where(is_clear, best, -1)


def _unspoken(guesses: Sequence[Guess], number: Mapping[str, int], fits: Floats) -> NDArray[np.bool_]:
    """Mark the languages of which a page has hardly a word, where CLD2 is sure of another one that the page speaks.

    Pages of which little was translated teach the words of the source as those of their language.
    """
    clear = [number.get(guess.language, -1) if guess.strength >= CLEAR else -1 for guess in guesses]
    is_clear = np.array(clear)[:, None] == np.arange(len(number))
    speaks_it = (is_clear & (fits >= _SPEAKS)).any(axis=1)
    result: NDArray[np.bool_] = speaks_it[:, None] & ~is_clear & (fits < _HARDLY)
    return result


def _vote_in_rounds(site: SiteText, labels: Labels, prior: Floats, closed: NDArray[np.bool_]) -> Floats:
    """Score each language on each page, but those that are closed to it; neighbours count only in ambiguous text."""
    n_languages = prior.shape[1]
    for _ in range(_ROUNDS):
        alone = vote(site, labels, prior)
        alone[closed] = -np.inf
        labels = alone.argmax(axis=1)
        for _ in range(_LINK_ROUNDS):
            scores = alone + neighbour_scores(site.near, labels, n_languages)
            labels = scores.argmax(axis=1)
    return scores


def _adopt(site: SiteText, decision: _Decision, aim: frozenset[str]) -> tuple[list[str], Floats]:
    """Assign pages of languages that are not wanted to the version that they are part of.

    Not those whose text is clear and whose language has a version of its own, nor those whose language a link names.
    Without wanted languages it is the versions in those that are matched then.
    """
    languages, scores = list(decision.languages), decision.scores.copy()
    aim = aim or frozenset(two_most_frequent(languages))
    versions = Counter(itertools.compress(languages, decision.clear.tolist()))
    known = sorted({*languages} - {UNDETERMINED})
    number = {language: i for i, language in enumerate(known)}
    labels = np.array([number.get(language, -1) for language in languages])
    for page, label, share in adoptions(site.near, labels, np.array([language in aim for language in known], bool)):
        has_version = decision.clear[page] and versions[languages[page]] >= _MIN_VERSION
        if not has_version and languages[page] not in site.named[page]:
            languages[page], scores[page] = known[label], _ADOPTED * share
    return languages, scores


def two_most_frequent(languages: Iterable[str]) -> list[str]:
    """Return the languages of a site that are matched if none are wanted, given the language of each page.

    >>> two_most_frequent(["fr", "en", "en", "de", "und"])
    ['en', 'de']
    """
    counts = Counter(languages)
    named = counts.keys() - {UNDETERMINED, TWO_LANGUAGES}
    return sorted(named, key=lambda language: (-counts[language], language))[:2]


def _is_foreign(site: SiteText, page: int, guess: Guess, speech: Speech, fit: float) -> bool:
    """Return whether a page is really in a language that was not learned; ``fit``: how well it fits its own."""
    if fit >= _SPEAKS or guess.likeness < KNOWN:
        return False
    row = site.words[[page]]
    neutral = {site.vocabulary[column] for column in np.intersect1d(row.indices, speech.neutral)}
    halves = (_without(site.own[page][start::2], neutral) for start in (0, 1))
    return all(identify_text(half)[0].partition("-")[0] == guess.language for half in halves if half)


def _without(blocks: Iterable[str], words: Collection[str]) -> str:
    """Return the text without words that say nothing of its language."""
    return " ".join(unit for block in blocks for unit in split_units(block) if unit.lower() not in words)


def _with_variants(site: SiteText, languages: list[str]) -> list[str]:
    """Add the script to Chinese; a page that fits both gets the more frequent one of the site."""
    chinese = [i for i, language in enumerate(languages) if language == "zh"]
    if not chinese:
        return languages
    of_unit = np.array([chinese_leaning(unit) if len(unit) == 1 else 0 for unit in site.vocabulary], np.float32)
    leaning: Floats = site.words[chinese] @ of_unit
    variants = {i: variant_of_leaning(each) for i, each in zip(chinese, leaning.tolist(), strict=True)}
    counts = Counter(variants.values())
    usual = "zh-Hant" if counts["zh-Hant"] > counts["zh-Hans"] else "zh-Hans"
    return [
        (variants[i] if variants[i] != "zh" else usual) if i in variants else language
        for i, language in enumerate(languages)
    ]
