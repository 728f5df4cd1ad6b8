"""Languages unknown to CLD2: groups of pages similar to each other, but not to any known language.

CLD2 names the nearest language for every text: Navajo and Yupik are English to it. But it finds far fewer of that
language's letter sequences there (`Guess.likeness`), and the pages have hardly a common word of the site's real
English pages. Such pages are gathered by the words that they share, and each gathering is judged as a whole by all
evidence for a language of its own; no single kind decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple
from unicodedata import category

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.language.gathering import Pages, common_share, gather
from twinlink.language.identify import Guess, guess_language
from twinlink.language.naming import claimed_name, language_names
from twinlink.language.site_text import SiteText
from twinlink.language.speech import LIKE, MIN_PAGES, Floats, learn_speech, speaks_like
from twinlink.languages import UNDETERMINED
from twinlink.scripts import LATIN

_DOUBT = 0.5
"""A page with a lower likeness may be in a language that CLD2 does not know."""
_SURELY_KNOWN = 0.8
"""Likeness of the text of many pages from which CLD2 knows its language, though it doubts most of them. Trials:
.13 to .70 in languages and ciphers that it does not know, .93 in French lists of names and filler text."""
_MIN_WORDS = 20
"""A page with fewer words has no language."""
_MIN_CLEAR = 0.4
"""Strength of the guesses that known languages are learned from."""
_MOST = 0.5
_SAMPLE_PAGES, _SAMPLE_LENGTH = 40, 20_000
_LETTERS = 0.6
"""Minimum share of letters and their marks in a text: .8 and more in the languages that we have seen, .72 where
digits stand for letters of a font, below .5 in lists of numbers and checksums."""

# Evidence for a language of its own, as log odds; about 0 where both outcomes are equally likely. Found on one half
# of the
# cases of `experiments/unknown_languages.py`, checked on the other: sites with languages of the Universal Declaration
# that CLD2 does not know, ciphers of real sites, and sites with listings, programs, lists of people, of packages.
_LIKENESS_WEIGHT, _EVEN_LIKENESS = 6.0, 0.4
_FIT_WEIGHT, _EVEN_FIT = 4.0, 0.4
_WORDS_WEIGHT, _EVEN_WORDS, _MOST_WORDS = 3.0, 0.3, 0.6
_SIZE_WEIGHT, _EVEN_SIZE = 0.6, 10
_LINKS_WEIGHT, _EVEN_LINKS = 1.5, 0.3
_CLAIM_WEIGHT = 4.0
_LEAST_EVIDENCE = 1.0


class Unknown(NamedTuple):
    """A language that CLD2 does not know."""

    tag: str
    pages: Pages
    likeness: Floats
    """Similarity of each of these pages to the others, 0 to 1."""


def unknown_languages(site: SiteText, guesses: Sequence[Guess], aim: Collection[str]) -> list[Unknown]:
    """Find the languages of a site that CLD2 does not know, the largest first.

    1. *Doubtful* pages are those with a likeness below ½ that are not similar to a known language of this site,
    that is, one learned from pages without doubt.
    2. They are gathered around the most central of them by common words, until none is left.
    3. A gathering is a language if most of the pages similar to it are doubtful, if CLD2 does not know their text as a
       whole (likeness .8) in the language that it finds on most doubtful ones, and if the evidence is at least 1::

           6·(1 - likeness/0.4) + 4·(0.4 - fit) + 3·(min(words, 0.6) - 0.3) + 0.6·log₂(pages/10)
           + 1.5·(links - 0.3) + 4·claims

       with the likeness of its text (as a whole, or the median of its pages if that is lower), the fit to the nearest
       known language, the share of its text that is in its own common words, the share of its pages' neighbours that
       are among them, and the share of its pages that claim one language which no others claim.

    Parameters
    ----------
    site : SiteText
    guesses : sequence of Guess
        Of each page alone.
    aim : collection of str
        Base languages that are wanted: where one of them is unknown to CLD2 and no page claims it, it is the name of
        the only language without a name.
    """
    sizes = np.asarray(site.words.sum(axis=1)).ravel()
    doubtful = np.array(
        [
            guess.likeness < _DOUBT and _is_text(guess, scripts)
            for guess, scripts in zip(guesses, site.scripts, strict=True)
        ]
    ) & (sizes >= _MIN_WORDS)
    if doubtful.sum() < MIN_PAGES:
        return []
    known = _known_speech(site, guesses, doubtful)
    pool = np.flatnonzero(doubtful & (known.fits.max(axis=1, initial=0.0) < LIKE))
    words = csr_array(site.words.astype(np.float32))
    judged = [_judge(site, words, guesses, doubtful, known, pages) for pages in gather(words, pool, known.words)]
    found = sorted((one for one in judged if one is not None), key=lambda one: (-len(one[0]), int(one[0][0])))
    tags = language_names(site, [pages for pages, _ in found], known.languages, aim)
    return [Unknown(tag, pages, likeness) for tag, (pages, likeness) in zip(tags, found, strict=True)]


def _is_text(guess: Guess, scripts: Mapping[str, float]) -> bool:
    """Return whether there is running text: CLD2 has an answer to any in Latin letters, none to markup and lists."""
    return guess.language != UNDETERMINED or max(scripts, key=scripts.__getitem__, default=LATIN) != LATIN


class _Known(NamedTuple):
    """The site's known languages."""

    fits: Floats  # page × language
    words: NDArray[np.bool_]  # typical words of any of them
    languages: list[tuple[str, NDArray[np.bool_]]]  # each with the pages that it was learned from


def _known_speech(site: SiteText, guesses: Sequence[Guess], doubtful: NDArray[np.bool_]) -> _Known:
    """Learn the known languages: those for which most similar pages are without doubt."""
    names = sorted({guess.language for guess in guesses} - {UNDETERMINED})
    number = {name: i for i, name in enumerate(names)}
    clear = [
        number[guess.language] if guess.language in number and guess.strength >= _MIN_CLEAR and guess.likeness >= _DOUBT
        else -1
        for guess in guesses
    ]  # fmt: skip
    labels = np.array(clear)
    labels[(np.bincount(labels + 1, minlength=len(names) + 1) < MIN_PAGES)[labels + 1]] = -1
    speech = learn_speech(site.words, np.where(site.is_first, labels, -1), len(names))
    fits = speaks_like(site.words, speech.typical, speech.usual)
    like = fits >= LIKE
    trusted = (like & doubtful[:, None]).sum(axis=0) < _MOST * like.sum(axis=0)
    languages = [(name, labels == i) for i, name in enumerate(names) if trusted[i]]
    return _Known(fits[:, trusted], np.asarray(speech.typical[:, trusted].any(axis=1)), languages)


# The verdict


def _judge(
    site: SiteText,
    words: csr_array,
    guesses: Sequence[Guess],
    doubtful: NDArray[np.bool_],
    known: _Known,
    gathered: Pages,
) -> tuple[Pages, Floats] | None:
    """Return the pages similar to a gathering and their similarity, or nothing if it is not a language."""
    shares = common_share(words, gathered, known.words)
    usual = float(np.median(shares[gathered]))
    likeness = np.minimum(shares / max(usual, 1e-9), 1.0)
    pages = np.flatnonzero((likeness >= LIKE) & (likeness > known.fits.max(axis=1, initial=0.0)))
    if len(pages) < MIN_PAGES or doubtful[pages].mean() < _MOST:
        return None
    whole = _guess_together(site, pages)
    if whole is None or _is_surely_known(whole, [guesses[page].language for page in pages[doubtful[pages]].tolist()]):
        return None
    typical = min(whole.likeness, float(np.median([guesses[page].likeness for page in pages.tolist()])))
    evidence = (
        _LIKENESS_WEIGHT * (1 - typical / _EVEN_LIKENESS)
        + _FIT_WEIGHT * (_EVEN_FIT - float(np.median(known.fits[pages], axis=0).max(initial=0.0)))
        + _WORDS_WEIGHT * (min(usual, _MOST_WORDS) - _EVEN_WORDS)
        + _SIZE_WEIGHT * float(np.log2(len(pages) / _EVEN_SIZE))
        + _LINKS_WEIGHT * _links_within(site.near, pages)
        + _CLAIM_WEIGHT * claimed_name(site, pages)[1]
    )
    return (pages, likeness[pages]) if evidence >= _LEAST_EVIDENCE else None


def _links_within(near: csr_array, pages: Pages) -> float:
    """Return the share of the pages' neighbours that are of the same language, less what is even; 0 without any."""
    inside = np.zeros(near.shape[0])
    inside[pages] = 1
    neighbours = csr_array(near[pages])
    has_any = np.diff(neighbours.indptr) > 0
    if not has_any.any():
        return 0.0
    shares = (neighbours @ inside)[has_any] / np.asarray(neighbours.sum(axis=1)).ravel()[has_any]
    return float(shares.mean()) - _EVEN_LINKS


def _is_surely_known(whole: Guess, doubtful: Sequence[str]) -> bool:
    """Return whether CLD2 knows a text, and its language is that of most doubtful pages: no other pages decide."""
    return whole.likeness >= _SURELY_KNOWN and doubtful.count(whole.language) >= _MOST * len(doubtful)


def _guess_together(site: SiteText, pages: Pages) -> Guess | None:
    """Return the guess of many pages as one text, each block once; nothing if CLD2 sees no text there."""
    chosen = pages[:: len(pages) // _SAMPLE_PAGES + 1].tolist()
    limit = _SAMPLE_LENGTH // len(chosen)
    scripts: Counter[str] = Counter()
    for page in chosen:
        scripts.update(site.scripts[page])
    blocks = dict.fromkeys(block for page in chosen for block in site.sample(page)[:limit].split("\n"))
    text = "\n".join(blocks)
    guess = guess_language(scripts, text)
    kinds = Counter(category(character)[0] for character in text)
    n_letters, n_others = kinds["L"] + kinds["M"], kinds["N"] + kinds["P"] + kinds["S"]
    is_text = _is_text(guess, scripts) and n_letters >= _LETTERS * (n_letters + n_others)
    return guess if is_text else None
