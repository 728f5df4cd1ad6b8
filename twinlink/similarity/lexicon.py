"""Translation matrices between the terms of two languages, from lexicons and shared tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import get_args

import numpy as np
from scipy.sparse import csr_array

from twinlink.config.match import SharedTokens
from twinlink.errors import ConfigError
from twinlink.expressions import expression
from twinlink.scripts import HAN_BLOCKS
from twinlink.similarity.lexicon_files import Lexicon, LexiconEntry
from twinlink.text.chinese import simplify_chinese, simplify_japanese
from twinlink.text.stems import stem
from twinlink.text.terms import has_latin_script, is_latin, is_name, is_number
from twinlink.text.word_lists import STOP_WORDS
from twinlink.text.words import tokenize

__all__ = ["LEAST_COGNATE", "heads_of", "identity_matrix", "translation_matrix"]

LEAST_COGNATE = 3
"""Letters of a word that two languages share; shorter words mean something else in the next language."""
_NOTE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_MAX_WORDS = 4  # longer entries are explanations
_SAMPLE = 5_000  # number of entries used to detect the languages of the columns
_HAN: Mapping[str, Callable[[str], str]] = {"zh": simplify_chinese, "ja": simplify_japanese}
"""Which terms of both languages are taken for the same."""
_CHARACTERS = f"[{HAN_BLOCKS}]{{2,}}"
_UNSPACED_HEADS = frozenset({"zh", "ja", "th", "lo", "km", "my"})


def translation_matrix(
    lexicon: Lexicon, vocabulary_a: Sequence[str], lang_a: str, vocabulary_b: Sequence[str], lang_b: str
) -> csr_array:
    """Return the translation weights between the terms of two languages.

    T[s, t] = max over entries (h, r, p) of ``p · share(s, h) · share(t, r)``

    where share(s, h) is 1 if term s is the head h, or a stem of the same word, and 1/k if it is one of h's k words,
    stop words left out. Entries of more than four words are explanations and are not used. A Chinese term that is
    not a head is split from the left into the longest heads; each counts 1/k for it.

    Parameters
    ----------
    lexicon : Lexicon
        Its columns may be in either order: the order with more entries found in the two vocabularies is used.
    vocabulary_a, vocabulary_b : sequence of str
        Terms, as returned by `count_words`.
    lang_a, lang_b : str
        Their languages.

    Returns
    -------
    csr_array of float32, shape (len(vocabulary_a), len(vocabulary_b)), values in (0, 1]
        An empty row is a term without translation.

    Examples
    --------
    >>> lexicon = Lexicon((LexiconEntry("serveur", "server"), LexiconEntry("page d'accueil", "homepage", 0.5)))
    >>> terms_en, terms_fr = ["homepag", "server"], ["accueil", "pag", "serveur"]
    >>> translation_matrix(lexicon, terms_en, "en", terms_fr, "fr").toarray().tolist()
    [[0.25, 0.25, 0.0], [0.0, 0.0, 1.0]]
    """
    place_a = {term: i for i, term in enumerate(vocabulary_a)}
    place_b = {term: i for i, term in enumerate(vocabulary_b)}
    sample = lexicon.entries[:: max(1, len(lexicon) // _SAMPLE)]
    forward = _found(sample, place_a, lang_a, place_b, lang_b)
    backward = _found(sample, place_b, lang_b, place_a, lang_a)
    if forward >= backward:
        return _link(lexicon.entries, place_a, lang_a, place_b, lang_b)
    return csr_array(_link(lexicon.entries, place_b, lang_b, place_a, lang_a).T.tocsr())


def heads_of(lexicons: Iterable[Lexicon], lang: str) -> frozenset[str]:
    """Return the Chinese words of lexicons, Simplified; none for a language that is not Chinese.

    >>> sorted(heads_of([Lexicon((LexiconEntry("立法會", "Legislative Council"),))], "zh-Hant"))
    ['立法会']
    """
    if lang.partition("-")[0] != "zh":
        return frozenset()
    entries = chain.from_iterable(lexicon.entries for lexicon in lexicons)
    texts = (text for entry in entries for text in (entry.head, entry.translation))
    return frozenset(_normalise((text for text in texts if expression(_CHARACTERS).fullmatch(text)), lang))


def identity_matrix(
    vocabulary_a: Sequence[str],
    lang_a: str,
    vocabulary_b: Sequence[str],
    lang_b: str,
    shared: SharedTokens = "all",
) -> csr_array:
    """Return 1 for each term that is in both vocabularies and likely has the same meaning.

    Numbers always are, with dates, amounts and measures. So are words in Latin letters: names and code where one of the
    languages has other letters, names and cognates where both have Latin ones. Of these, terms of one or two letters
    are left out (``on`` is a word of English and another of French); other false friends are common words of both
    languages and have a low idf. Between Chinese and Japanese, or two scripts of Chinese, words of two
    characters and more are shared, compared in their Simplified form. E-mail addresses, image files and addresses on
    other sites are. ``shared`` can limit this to numbers, or disable it.

    Returns
    -------
    csr_array of float32, shape (len(vocabulary_a), len(vocabulary_b)), values 1

    Raises
    ------
    ConfigError
        If ``shared`` is unknown.

    Examples
    --------
    >>> identity_matrix(["404", "httpd", "on"], "en", ["404", "httpd", "on"], "fr").toarray().diagonal().tolist()
    [1.0, 1.0, 0.0]
    """
    if shared not in get_args(SharedTokens):
        raise ConfigError(f"shared: expected one of {', '.join(get_args(SharedTokens))}, got {shared!r}")
    place_b = {term: i for i, term in enumerate(vocabulary_b)}
    least = LEAST_COGNATE if has_latin_script(lang_a) and has_latin_script(lang_b) else 1
    words = shared == "all"
    same = {
        (i, place_b[term])
        for i, term in enumerate(vocabulary_a if shared != "none" else ())
        if term in place_b
        and (is_number(term) or (words and (is_name(term) or (is_latin(term) and len(term) >= least))))
    }
    if words and lang_a.partition("-")[0] in _HAN and lang_b.partition("-")[0] in _HAN:
        same |= _same_characters(vocabulary_a, lang_a, vocabulary_b, lang_b)
    rows, columns = np.array(sorted(same), dtype=np.int64).reshape(-1, 2).T
    shape = (len(vocabulary_a), len(vocabulary_b))
    return csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)


def _same_characters(
    vocabulary_a: Sequence[str], lang_a: str, vocabulary_b: Sequence[str], lang_b: str
) -> set[tuple[int, int]]:
    """Return the positions of terms in Chinese characters that have the same Simplified form."""
    places_b: dict[str, list[int]] = {}
    for j, form in _characters(vocabulary_b, lang_b):
        places_b.setdefault(form, []).append(j)
    return {(i, j) for i, form in _characters(vocabulary_a, lang_a) for j in places_b.get(form, ())}


def _characters(vocabulary: Sequence[str], lang: str) -> list[tuple[int, str]]:
    chosen = [(i, term) for i, term in enumerate(vocabulary) if expression(_CHARACTERS).fullmatch(term)]
    if not chosen:
        return []
    forms = _HAN[lang.partition("-")[0]]("\n".join(term for _, term in chosen)).split("\n")
    return [(i, form) for (i, _), form in zip(chosen, forms, strict=True)]


# A side's terms


Owners = dict[str, list[tuple[int, float]]]
"""For each text of a lexicon: the terms that it represents, and its share in each."""


def _normalise(texts: Iterable[str], lang: str) -> list[str]:
    texts = [_NOTE.sub(" ", text.lower()).replace("\n", " ").strip() for text in texts]
    if texts and lang.startswith("zh"):
        texts = simplify_chinese("\n".join(texts)).split("\n")  # one call for all, because each call is slow
    return texts


def _owners(texts: Iterable[str], place: Mapping[str, int], lang: str) -> Owners:
    if lang.partition("-")[0] in _UNSPACED_HEADS:
        return _owners_unspaced(frozenset(texts), place)
    return {text: found for text in set(texts) if (found := _terms_of(text, place, lang))}


def _terms_of(text: str, place: Mapping[str, int], lang: str) -> list[tuple[int, float]]:
    words = tokenize(text, lang)
    if len(words) > 1:
        stop = STOP_WORDS.get(lang.partition("-")[0], frozenset())
        words = [word for word in words if word not in stop] or words
    if len(words) > _MAX_WORDS:
        return []
    terms = {stem(word, lang) for word in words}
    return [(place[term], 1 / len(words)) for term in sorted(terms) if term in place]


def _owners_unspaced(texts: frozenset[str], place: Mapping[str, int]) -> Owners:
    owners: Owners = {}
    longest = max(map(len, texts), default=0)
    for term, i in place.items():
        parts = [term] if term in texts else _take_apart(term, texts, longest)
        for part in parts:
            owners.setdefault(part, []).append((i, 1 / len(parts)))
    return owners


def _take_apart(term: str, heads: frozenset[str], longest: int) -> list[str]:
    """Split a term into heads of at least two characters, the longest first; return nothing if a rest remains."""
    parts, start = [], 0
    while start < len(term):
        for end in range(min(len(term), start + longest), start + 1, -1):
            if term[start:end] in heads:
                parts.append(term[start:end])
                start = end
                break
        else:
            return []
    return parts


# Both sides


def _found(
    entries: Sequence[LexiconEntry], place_h: Mapping[str, int], lang_h: str, place_t: Mapping[str, int], lang_t: str
) -> int:
    """Count the entries with a known term on both sides, heads being in language ``lang_h``."""
    heads = _normalise((entry.head for entry in entries), lang_h)
    texts = _normalise((entry.translation for entry in entries), lang_t)
    owners_h, owners_t = _owners(heads, place_h, lang_h), _owners(texts, place_t, lang_t)
    return sum(head in owners_h and text in owners_t for head, text in zip(heads, texts, strict=True))


def _link(
    entries: Sequence[LexiconEntry], place_h: Mapping[str, int], lang_h: str, place_t: Mapping[str, int], lang_t: str
) -> csr_array:
    heads = _normalise((entry.head for entry in entries), lang_h)
    owners_h = _owners(heads, place_h, lang_h)
    used = [(head, entry) for head, entry in zip(heads, entries, strict=True) if head in owners_h]
    texts = _normalise((entry.translation for _, entry in used), lang_t)
    owners_t = _owners(texts, place_t, lang_t)
    links: dict[tuple[int, int], float] = {}
    for (head, entry), text in zip(used, texts, strict=True):
        for j, share_t in owners_t.get(text, ()):
            for i, share_h in owners_h[head]:
                weight = entry.weight * share_h * share_t
                if weight > links.get((i, j), 0.0):
                    links[i, j] = weight
    rows, columns = np.array(list(links), dtype=np.int64).reshape(-1, 2).T
    values = np.fromiter(links.values(), np.float32, len(links))
    return csr_array((values, (rows, columns)), shape=(len(place_h), len(place_t)))
