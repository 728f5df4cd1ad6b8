"""Which language each page of a site is written in: its text and the other pages of the site decide together.

One page alone is often misjudged, for menus, code and terms that nobody translated stand in all language versions. So
two steps:

1. `guess_language` judges every page by the text that is its own (blocks on many pages left out).
2. From the pages that are clear, each language's common words are learned *on this site*, and all pages are decided
   again. A word that is as common in both languages (a term, code, a menu that was not translated) then weighs nothing,
   and the articles and particles of a language weigh most. The blocks on many pages are learned likewise: where the
   French version has a menu of its own, a page with that menu is French although half of its text was left in English.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, hstack

from twinlink.config import LanguageSettings
from twinlink.errors import ShapeError
from twinlink.languages import base_language, canonical_language
from twinlink.similarity.bilingual import is_bilingual, may_be_bilingual
from twinlink.similarity.cutting import cut_texts, distinct_texts
from twinlink.similarity.identify import (
    UNDETERMINED,
    Guess,
    guess_language,
    identify_text,
)
from twinlink.similarity.scripts import chinese_variant, count_letters, script_of, split_units, words_per_unit
from twinlink.similarity.surroundings import adoptions, near_links, neighbour_scores

__all__ = [
    "NAMED",
    "TWO_LANGUAGES",
    "UNDETERMINED",
    "LanguageFinder",
    "identify_text",
    "site_languages",
]

TWO_LANGUAGES = "mul"
"""BCP 47's name for a page in several languages."""
NAMED = "named:"
"""A hint that begins so names a language by its tag; of all others only their company is known."""

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

# Trials on six sites: the result is the same for floors from .002 to .02, for words on 2 to 10 % of the pages, for a
# limit of 6 to 10 and for 3 to 10 blocks.
_FLOOR = 0.005
"""Least frequency of a word in a language; also the weight of the smoothing."""
_COMMON = 0.05
"""A word counts if this share of some language's pages, and not fewer than `_MIN_PAGES` of them, have it."""
_MIN_PAGES = 3
_WORDS_LIMIT = 10.0
"""The words of a page speak against a language with this log-odds at most: text can be left untranslated."""
_SAMPLE = 6_000
"""Characters of a page that the first guess reads, from all over it. The three sites of the CPU bench get the same
languages and scores as with 20,000 from its beginning."""
_FRAME_BLOCKS = 6
"""The blocks on many pages weigh as much as this many of them at most."""
_HINTS = 3
"""The hints of a page weigh as much as this many of them at most."""
_ADOPTED = 0.5
"""Score of a page that has its language from its neighbours alone, at most."""
_SHARE_WEIGHT, _STRENGTH_WEIGHT, _WANTED_WEIGHT = 5.0, 15.0, 3.0
"""Log-odds for what CLD2 says of the page itself, and for being wanted; a common word has about 5."""
_ROUNDS = 2
_LINK_ROUNDS = 3

# What a language is learned from: its pages of the first strength; where there are too few, and it is wanted or not
# rare, those of the second.
_CLEAR = 0.8
_FAIRLY_CLEAR = 0.4
_MIN_CLEAR = 3
_MIN_CLEAR_SHARE = 0.002
_NOT_RARE = 0.05
_MIN_BOILERPLATE_PAGES = 3
_TYPICAL = 0.2  # a word is typical of a language with this page frequency
_MIN_TYPICAL = 0.5  # a page of a learned language has at least this part of the usual share of typical words
_SURE = 0.5  # a page of a wanted language with too few pages to be learned
_NEAR_SHARE = 0.1
# Languages that technical text of a larger relative is taken for.
_NEAR = {
    "gl": ("pt", "es"), "ast": ("es",), "ca": ("es",), "oc": ("fr", "es"), "co": ("it",), "rm": ("it",),
    "sco": ("en",), "lb": ("de",), "af": ("nl",), "fy": ("nl",), "da": ("no",), "no": ("da",), "fo": ("da", "no"),
    "id": ("ms",), "ms": ("id",), "hr": ("sr", "bs"), "bs": ("hr", "sr"), "sr": ("hr", "bs"), "sk": ("cs",),
    "cs": ("sk",), "be": ("ru", "uk"), "mk": ("bg", "sr"), "ky": ("kk",), "tt": ("kk", "ru"), "ba": ("kk", "ru"),
    "tg": ("ru",), "mn": ("ru", "kk"), "ia": ("en", "fr", "es", "it"), "ie": ("en", "fr", "es", "it"), "vo": ("en",),
}  # fmt: skip


class LanguageFinder(Protocol):
    """Whatever names the languages of a site's pages; see `site_languages`, which is one, for what goes in and out."""

    def __call__(
        self,
        blocks: Sequence[Sequence[str]],
        declared: Sequence[str],
        wanted: Sequence[str],
        settings: LanguageSettings | None = None,
        links: csr_array | None = None,
        hints: Sequence[Sequence[str]] | None = None,
    ) -> tuple[list[str], NDArray[np.float32]]:
        """Return the language of each page, and how sure that is, 0 to 1."""


def site_languages(
    blocks: Sequence[Sequence[str]],
    declared: Sequence[str],
    wanted: Sequence[str],
    settings: LanguageSettings | None = None,
    links: csr_array | None = None,
    hints: Sequence[Sequence[str]] | None = None,
) -> tuple[list[str], NDArray[np.float32]]:
    """Name the language of every page of a site.

    With p(w|ℓ) the share of language ℓ's clear pages that have word (or block) w, the page itself left out::

        score(ℓ) = max(own(ℓ) - max own, -10) + Σ_b log p(b|ℓ) · min(1, 6 / number of b)
                   + Σ_h log p(h|ℓ) · min(1, 3 / number of h) + neighbours(ℓ)
        own(ℓ)   = Σ_w log p(w|ℓ) + (5·share + 15·strength of CLD2's answer, if it is ℓ) + (3 if ℓ is wanted)

    over the page's distinct common words w outside, its blocks b on more than ``boilerplate_share`` of the pages, and
    its hints h; the declared language is one more b. The neighbours' part is `neighbour_scores`. Computed twice, the
    second time with the first result in place of the clear pages. A language needs three clear pages to be learned
    (fairly clear ones, if it is wanted or on 5 % of the pages).

    A page that CLD2 gives another language keeps it if that one is wanted and has half of the words, if the page claims
    it or a link names it, or if both halves of the page are in it and the page lacks the typical words of the learned
    languages. A page in a language that is not wanted, among pages of a wanted one, stands in that version of the site
    and gets its language (`adoptions`), with a score of ½ at most. A page block by block in two wanted languages is
    ``mul``.

    Parameters
    ----------
    blocks : sequence of sequence of str
        Text of each page: its title and its blocks.
    declared : sequence of str
        What each page claims (``html lang``), empty where nothing. Where a site claims the same everywhere it weighs
        nothing.
    wanted : sequence of str
        Languages looked for: they win over near relatives (Portuguese over Galician) when the text leaves it open, and
        over no other language.
    settings : LanguageSettings, optional
    links : csr_array, optional, shape (n_pages, n_pages)
        A stored entry at (p, q) where page p links to page q.
    hints : sequence of sequence of str, optional
        For each page, anything that the pages of one language may share (parts of the address); what it means is
        learned. ``named:TAG`` is what a link to the page calls its language.

    Returns
    -------
    list of str
        Language of each page, named as in `identify_text`; ``mul`` for two of the wanted ones, ``und`` for a page with
        almost no letters or no answer.
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
        raise ShapeError(f"one declared language for each page expected, got {len(declared)} for {len(blocks)} pages")
    if hints is not None and len(hints) != len(blocks):
        raise ShapeError(f"hints for each page expected, got {len(hints)} for {len(blocks)} pages")
    if links is not None and links.shape != (len(blocks), len(blocks)):
        raise ShapeError(f"links: expected one row and one column a page, got {links.shape} for {len(blocks)} pages")
    if not blocks:
        return [], np.zeros(0, np.float32)
    site = _read_site(blocks, declared, links, hints, settings.boilerplate_share)
    aim = frozenset(map(base_language, wanted))
    guesses = _prefer_wanted([guess_language(site.scripts[i], site.sample(i)) for i in range(len(blocks))], aim)
    languages, scores = _adopt(site, *_decide(site, guesses, aim), aim)
    for i, guess in enumerate(guesses):
        if len(aim) > 1 and may_be_bilingual(site.scripts[i], guess.score) and is_bilingual(site.own[i], aim):
            languages[i] = TWO_LANGUAGES
    unknown = (site.letters < settings.min_letters) | (scores < settings.min_score)
    for i in np.flatnonzero(unknown).tolist():
        languages[i], scores[i] = UNDETERMINED, 0.0
    return _with_variants(site, languages), scores.astype(np.float32)


# The site's text as numbers


@dataclass(frozen=True)
class _Site:
    """Pages by their words."""

    own: list[Sequence[str]]  # blocks that are the page's own; all blocks where that leaves too little
    scripts: list[dict[str, float]]  # words of each script in them
    words: csr_array  # page × word, how often
    frame: csr_array  # page × (block on many pages, or declared language), 1 or missing
    letters: Floats  # in all blocks
    hints: csr_array  # page × hint, 1 or missing
    near: csr_array  # page × page, neighbours by links
    named: list[frozenset[str]]  # languages that links to the page name
    claimed: list[frozenset[str]]  # the declared language
    vocabulary: list[str]

    def text(self, page: int) -> str:
        return "\n".join(self.own[page])

    def sample(self, page: int) -> str:
        """Return about `_SAMPLE` characters from all over a page: the language of long pages may change."""
        blocks = self.own[page]
        step = sum(map(len, blocks)) // _SAMPLE + 1
        return "\n".join(blocks[::step])


def _read_site(
    blocks: Sequence[Sequence[str]],
    declared: Sequence[str],
    links: csr_array | None,
    hints: Sequence[Sequence[str]] | None,
    share: float,
) -> _Site:
    on_page, texts = distinct_texts(blocks)
    n_letters, units, vocabulary = _count_units(texts)
    is_frame = np.bincount(on_page.indices, minlength=len(texts)) > max(share * len(blocks), _MIN_BOILERPLATE_PAGES)
    single = _without_columns(on_page, is_frame)
    says_nothing = single @ n_letters == 0
    own = [
        page if nothing else [block for block in page if block in lone]
        for page, nothing, lone in zip(blocks, says_nothing.tolist(), _texts_of(single, texts), strict=True)
    ]
    words = csr_array(_choose_rows(on_page, single, says_nothing) @ units)
    claims = _presence([canonical_language(claim)] if claim else [] for claim in declared)
    hints = hints if hints is not None else [()] * len(blocks)
    links = links if links is not None else csr_array((len(blocks), len(blocks)))
    return _Site(
        own=own,
        scripts=_script_words(words, vocabulary),
        words=words,
        frame=csr_array(hstack([_present(_without_columns(on_page, ~is_frame)), claims])),
        letters=on_page @ n_letters,
        vocabulary=vocabulary,
        hints=_presence(set(page) for page in hints),
        near=near_links(links, share),
        named=[_bases(hint.removeprefix(NAMED) for hint in page if hint.startswith(NAMED)) for page in hints],
        claimed=[_bases([claim]) for claim in declared],
    )


def _bases(tags: Iterable[str]) -> frozenset[str]:
    return frozenset(map(base_language, tags)) - {UNDETERMINED}


def _count_units(texts: Sequence[str]) -> tuple[Floats, csr_array, list[str]]:
    """Return the number of letters of each text, how often it has each unit (of `split_units`), and the units."""
    cut = cut_texts([text.lower() for text in texts])
    of_token = distinct_texts(map(split_units, cut.tokens))
    n_letters = np.array([count_letters(token) for token in cut.tokens], np.float32)
    return cut.counts @ n_letters, csr_array(cut.counts @ of_token.counts), of_token.texts


def _presence(sets: Iterable[Iterable[str]]) -> csr_array:
    return _present(distinct_texts(sorted(items) for items in sets).counts)


def _present(counts: csr_array) -> csr_array:
    return csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)


def _without_columns(matrix: csr_array, which: NDArray[np.bool_]) -> csr_array:
    """Empty some columns."""
    rest = matrix.copy()
    rest.data[which[rest.indices]] = 0
    rest.eliminate_zeros()
    return rest


def _choose_rows(one: csr_array, other: csr_array, of_one: NDArray[np.bool_]) -> csr_array:
    """Return the rows of one matrix where this is marked, those of the other elsewhere."""
    keep = diags_array(of_one.astype(np.float32))
    return csr_array(keep @ one + (diags_array((~of_one).astype(np.float32)) @ other))


def _texts_of(matrix: csr_array, texts: Sequence[str]) -> Iterator[set[str]]:
    """Yield the texts that each row has."""
    for start, end in itertools.pairwise(matrix.indptr.tolist()):
        yield {texts[column] for column in matrix.indices[start:end].tolist()}


def _script_words(words: csr_array, vocabulary: Sequence[str]) -> list[dict[str, float]]:
    scripts = [script_of(word[0]) for word in vocabulary]
    names = sorted(set(scripts))
    number = {name: i for i, name in enumerate(names)}
    weights = np.array([words_per_unit(script) for script in scripts])
    places = (np.arange(len(scripts)), [number[script] for script in scripts])
    totals = (words @ csr_array((weights, places), shape=(len(scripts), len(names)))).toarray()
    return [{name: total for name, total in zip(names, row, strict=True) if total} for row in totals.tolist()]


# The decision


def _prefer_wanted(guesses: list[Guess], aim: frozenset[str]) -> list[Guess]:
    """Read a language that the site hardly has, and that is not wanted, as its wanted relative."""
    clear = Counter(guess.language for guess in guesses if guess.strength >= _CLEAR)
    result = []
    for guess in guesses:
        near = [language for language in _NEAR.get(guess.language, ()) if language in aim]
        relative = max(near, key=lambda language: clear[language], default=guess.language)
        rare = clear[guess.language] < max(_MIN_CLEAR, _NEAR_SHARE * clear[relative])
        taken_for_it = bool(near) and guess.language not in aim and rare
        result.append(Guess(relative, guess.score, 0.0) if taken_for_it else guess)
    return result


def _examples(guesses: Sequence[Guess], aim: frozenset[str]) -> dict[str, list[int]]:
    """Return the pages that each language is learned from."""
    pages: dict[str, list[int]] = {}
    for i, guess in enumerate(guesses):
        if guess.language != UNDETERMINED:
            pages.setdefault(guess.language, []).append(i)
    least = max(_MIN_CLEAR, _MIN_CLEAR_SHARE * len(guesses))
    examples = {}
    for language, members in pages.items():
        clear = [i for i in members if guesses[i].strength >= _CLEAR]
        if len(clear) < least and (language in aim or len(members) >= _NOT_RARE * len(guesses)):
            clear = [i for i in members if guesses[i].strength >= _FAIRLY_CLEAR]
        if len(clear) >= least:
            examples[language] = clear
    return examples


def _decide(site: _Site, guesses: Sequence[Guess], aim: frozenset[str]) -> tuple[list[str], Floats]:
    examples = _examples(guesses, aim)
    learned = sorted(examples)
    if not learned:
        return [guess.language for guess in guesses], np.array([guess.score for guess in guesses])
    number = {language: i for i, language in enumerate(learned)}
    labels = np.full(len(guesses), -1)
    for language, members in examples.items():
        labels[members] = number[language]
    typical = _typical_words(site.words, labels, len(learned))
    prior = np.tile([_WANTED_WEIGHT if language in aim else 0.0 for language in learned], (len(guesses), 1))
    for i, guess in enumerate(guesses):
        if guess.language in number:
            prior[i, number[guess.language]] += _SHARE_WEIGHT * guess.score + _STRENGTH_WEIGHT * guess.strength
    for _ in range(_ROUNDS):
        alone = _vote(site, labels, prior)
        labels = alone.argmax(axis=1)
        for _ in range(_LINK_ROUNDS):
            scores = alone + neighbour_scores(site.near, labels, len(learned))
            labels = scores.argmax(axis=1)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    languages, shares = [learned[label] for label in labels], odds.max(axis=1) / odds.sum(axis=1)
    for i, guess in enumerate(guesses):
        if guess.language in number or guess.language == UNDETERMINED:
            continue
        sure_of_wanted = guess.language in aim and guess.score >= _SURE
        if (
            sure_of_wanted
            or guess.language in site.named[i] | site.claimed[i]
            or _is_foreign(site, i, guess.language, typical, int(labels[i]))
        ):
            languages[i], shares[i] = guess.language, guess.score
    return languages, shares


def _adopt(site: _Site, languages: list[str], scores: Floats, aim: frozenset[str]) -> tuple[list[str], Floats]:
    """Give pages of languages that are not wanted to the version that they stand in, unless a link names their own."""
    known = sorted({*languages} - {UNDETERMINED})
    number = {language: i for i, language in enumerate(known)}
    labels = np.array([number.get(language, -1) for language in languages])
    for page, label, share in adoptions(site.near, labels, np.array([language in aim for language in known], bool)):
        if languages[page] not in site.named[page]:
            languages[page], scores[page] = known[label], _ADOPTED * share
    return languages, scores


def _vote(site: _Site, labels: Labels, prior: Floats) -> Floats:
    """Score of each language on each page."""
    n_languages = prior.shape[1]
    words = _log_likelihood(site.words, labels, n_languages, _COMMON) + prior
    words = np.maximum(words - words.max(axis=1, keepdims=True), -_WORDS_LIMIT)
    total: Floats = words
    for items, limit in ((site.frame, _FRAME_BLOCKS), (site.hints, _HINTS)):
        size = np.maximum(np.diff(items.indptr), 1)[:, None]
        total += _log_likelihood(items, labels, n_languages, 0.0) * np.minimum(1.0, limit / size)
    return total


def _page_frequency(items: csr_array, labels: Labels, n_languages: int) -> tuple[csr_array, Floats, Floats]:
    """Membership of the pages in the languages, number of pages of each, and number of those that have each item."""
    known = np.flatnonzero(labels >= 0)
    member = csr_array((np.ones(len(known)), (known, labels[known])), shape=(len(labels), n_languages))
    present = csr_array((np.ones_like(items.data), items.indices, items.indptr), shape=items.shape)
    return member, np.bincount(labels[known], minlength=n_languages).astype(float), (present.T @ member).toarray()


def _log_likelihood(items: csr_array, labels: Labels, n_languages: int, common: float) -> Floats:
    """Σ over a page's items of log p(item|language), where a page does not count for its own frequency."""
    _, sizes, frequency = _page_frequency(items, labels, n_languages)
    counts = np.asarray((frequency >= np.maximum(common * sizes, _MIN_PAGES)).any(axis=1))
    pages = np.repeat(np.arange(len(labels)), np.diff(items.indptr))
    used = counts[items.indices]
    pages, columns = pages[used], items.indices[used]
    result = np.empty((len(labels), n_languages))
    for language in range(n_languages):
        itself = labels[pages] == language
        p = (frequency[columns, language] - itself + _FLOOR) / (sizes[language] - itself + 1.0)
        result[:, language] = np.bincount(pages, np.log(np.maximum(p, _FLOOR)), minlength=len(labels))
    return result


class _Typical(NamedTuple):
    words: NDArray[np.bool_]  # word × language
    usual: Floats  # median share of typical words on the language's clear pages
    neutral: NDArray[np.int64]  # words that would be typical of all languages: code, terms


def _typical_words(words: csr_array, labels: Labels, n_languages: int) -> _Typical:
    _, sizes, frequency = _page_frequency(words, labels, n_languages)
    typical = frequency >= np.maximum(_TYPICAL * sizes, _MIN_PAGES)
    neutral = np.flatnonzero(typical.all(axis=1)) if n_languages > 1 else np.zeros(0, np.int64)
    typical[neutral] = False
    shares = (words @ typical.astype(float)) / np.maximum(words.sum(axis=1), 1)[:, None]
    return _Typical(typical, np.array([np.median(shares[labels == k, k]) for k in range(n_languages)]), neutral)


def _is_foreign(site: _Site, page: int, language: str, typical: _Typical, rival: int) -> bool:
    """Tell whether a page is really in a language that was not learned, rather than in ``rival``."""
    row = site.words[[page]]
    share = row.data[typical.words[row.indices, rival]].sum() / max(row.data.sum(), 1)
    if share >= _MIN_TYPICAL * typical.usual[rival]:
        return False
    neutral = {site.vocabulary[column] for column in np.intersect1d(row.indices, typical.neutral)}
    halves = (_without(site.own[page][start::2], neutral) for start in (0, 1))
    return all(identify_text(half)[0].partition("-")[0] == language for half in halves if half)


def _without(blocks: Iterable[str], words: Collection[str]) -> str:
    """Return the text without words that say nothing of its language."""
    return " ".join(unit for block in blocks for unit in split_units(block) if unit.lower() not in words)


def _with_variants(site: _Site, languages: list[str]) -> list[str]:
    """Put the script to Chinese; a page that fits both gets the one that the site has more of."""
    variants = {i: chinese_variant(site.text(i)) for i, language in enumerate(languages) if language == "zh"}
    counts = Counter(variants.values())
    usual = "zh-Hant" if counts["zh-Hant"] > counts["zh-Hans"] else "zh-Hans"
    return [
        (variants[i] if variants[i] != "zh" else usual) if i in variants else language
        for i, language in enumerate(languages)
    ]
