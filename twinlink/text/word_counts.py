"""Term counts of the pages of one language: each distinct text is cut once, each distinct token stemmed once."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.errors import ShapeError
from twinlink.sparse import narrow
from twinlink.text.cutting import Cut, cut_texts
from twinlink.text.numbered import incidence, numbered
from twinlink.text.page_texts import PageTexts, page_texts
from twinlink.text.stems import stems
from twinlink.text.terms import is_latin, is_number
from twinlink.text.values import may_have_values, values_of
from twinlink.text.word_lists import SPACE_GROUPING
from twinlink.text.words import EastAsian, Forms, TermTable, split_tokens, texts_in_one_form

__all__ = ["count_words", "with_names"]

Numbers = NDArray[np.int64]


def count_words(
    pages: Sequence[Sequence[str]],
    lang: str,
    heads: AbstractSet[str] = frozenset(),
    east_asian: EastAsian = "dictionary",
) -> TermTable:
    """Count the terms of pages: the stems of `tokenize`'s tokens.

    Parameters
    ----------
    pages : sequence of sequence of str
        The text blocks of each page. The tokens of `PageTexts` may be known already.
    lang : str
        Language of all of them.
    heads : set of str, optional
        Chinese words of a lexicon (`heads_of`), which are not to be cut: the segmenter's dictionary is not the
        lexicon's.
    east_asian : {"dictionary", "pairs", "whole"}
        How runs of Han and kana are cut, see `EastAsian`.

    Examples
    --------
    >>> table = count_words([["Servers run", "a server"], []], "en")
    >>> table.vocabulary, table.counts.toarray().tolist()
    (['a', 'run', 'server'], [[1.0, 1.0, 2.0], [0.0, 0.0, 0.0]])
    """
    base = lang.partition("-")[0]
    texts = _in_one_form(page_texts(pages), base)
    of_token, of_text = split_tokens(texts.cut.tokens, base, heads, east_asian), _values(texts, base)
    (per_token, per_text), vocabulary, terms = _stemmed(lang, of_token, of_text)
    counts = narrow(csr_array(texts.on_page @ (texts.cut.counts @ per_token + per_text)))
    counts.sort_indices()
    return TermTable(counts, vocabulary, _forms(of_token, _occurrences(texts), terms, vocabulary))


def with_names(table: TermTable, names: Sequence[Sequence[str]], lang: str) -> TermTable:
    """Add names to the terms of pages, which count like words.

    Parameters
    ----------
    table : TermTable
        Of `count_words`.
    names : sequence of sequence of str
        The names of each page, as they stand (see `shared_names`).
    lang : str
        Language of the pages.

    Raises
    ------
    ShapeError
        If there are not as many lists of names as pages.

    Examples
    --------
    >>> table = with_names(count_words([["a server"], []], "en"), [[], ["img:map"]], "en")
    >>> table.vocabulary, table.counts.toarray().tolist()
    (['a', 'img:map', 'server'], [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    """
    n_pages = table.counts.shape[0]
    if len(names) != n_pages:
        raise ShapeError(f"expected one list of names per page, got {len(names)} for {n_pages} pages")
    more = page_texts(names)
    if not more.distinct:
        return table
    (of_names,), added, _ = _stemmed(lang, more)
    vocabulary = sorted({*table.vocabulary, *added})
    own, new = _places(vocabulary, table.vocabulary, added)
    size = len(vocabulary)
    counts = narrow(csr_array(_moved(table.counts, own, size) + _moved(of_names, new, size)))
    counts.sort_indices()
    return TermTable(counts, vocabulary, table.forms._replace(terms=own[table.forms.terms]))


def _places(vocabulary: Sequence[str], *parts: Sequence[str]) -> list[Numbers]:
    """Return the places of the terms of each part in a vocabulary."""
    place = {term: i for i, term in enumerate(vocabulary)}
    return [np.fromiter(map(place.__getitem__, terms), np.int64, len(terms)) for terms in parts]


def _moved(matrix: csr_array, places: Numbers, n_columns: int) -> csr_array:
    """Return a matrix with its columns at other places."""
    return csr_array((matrix.data, places[matrix.indices], matrix.indptr), shape=(matrix.shape[0], n_columns))


class _Texts(NamedTuple):
    """The distinct texts of pages in one form."""

    on_page: csr_array
    """float32, page × text: how often."""
    cut: Cut
    plain: list[str]
    """The first texts, which have only to be brought to lower case; they are cut so."""
    others: list[str]
    """The other texts, in their form."""


def _in_one_form(texts: PageTexts, base: str) -> _Texts:
    """Bring the texts to one form; only those that then are more than in lower case are cut again."""
    cut, may_change = texts.cut, ~texts.cut.is_plain
    if base == "zh" or base in SPACE_GROUPING:  # numbers may have spaces
        may_change = may_change | _has_number(cut)
    places = np.flatnonzero(may_change)
    chosen = [texts.distinct[place] for place in places.tolist()]
    forms = texts_in_one_form(chosen, base)
    is_other = np.fromiter((form != text.lower() for form, text in zip(forms, chosen, strict=True)), np.bool_)
    if not is_other.any():
        return _Texts(texts.counts, cut, texts.distinct, [])
    changed = places[is_other]
    is_plain = np.ones(len(texts.distinct), np.bool_)
    is_plain[changed] = False
    others = [*compress(forms, is_other)]
    order = np.concatenate([np.flatnonzero(is_plain), changed])
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    on_page = texts.counts
    on_page = csr_array((on_page.data, place[on_page.indices], on_page.indptr), shape=on_page.shape)
    cut = cut.of_texts(np.flatnonzero(is_plain)).followed_by(cut_texts(others))
    return _Texts(on_page, cut, [*compress(texts.distinct, is_plain)], others)


def _has_number(cut: Cut) -> NDArray[np.bool_]:
    is_figure = np.fromiter(map(is_number, cut.tokens), np.float32, len(cut.tokens))
    found: NDArray[np.bool_] = cut.counts @ is_figure > 0
    return found


def _values(texts: _Texts, base: str) -> PageTexts:
    """Return the values of each text; only some lines can have any."""
    all_texts = [*texts.plain, *texts.others]
    may_have = np.fromiter(map(may_have_values, all_texts), np.bool_, len(all_texts))
    chosen = np.flatnonzero(_has_number(texts.cut) | may_have)
    n_plain = len(texts.plain)
    forms = [all_texts[k].lower() if k < n_plain else all_texts[k] for k in chosen.tolist()]
    found = values_of([_lines_with_values(form) if "\n" in form else form for form in forms], base)
    of_text = chosen[np.array([number for number, _ in found], np.int64)]
    lengths = np.bincount(of_text, minlength=len(all_texts))
    return PageTexts(np.concatenate([[0], np.cumsum(lengths)]), *numbered(value for _, value in found))


def _lines_with_values(text: str) -> str:
    """Return the lines of a text that can have values; blocks of pages have a single one."""
    lines = text.split("\n")
    has_number = _has_number(cut_texts(lines)).tolist()
    return "\n".join(line for line, has in zip(lines, has_number, strict=True) if has or may_have_values(line))


def _stemmed(lang: str, *parts: PageTexts) -> tuple[list[csr_array], list[str], Numbers]:
    """Return how often each stem is among the words of each page, one matrix for each part, and all stems.

    The last are the places of the stems of the first part's distinct words.
    """
    found = [stems(part.distinct, lang) for part in parts]
    vocabulary = sorted(set().union(*found))
    columns = _places(vocabulary, *found)
    matrices = [
        incidence(part.starts, column[part.numbers], len(vocabulary))
        for part, column in zip(parts, columns, strict=True)
    ]
    return matrices, vocabulary, columns[0]


def _occurrences(texts: _Texts) -> NDArray[np.floating]:
    """Return how often each token is on all pages together."""
    on_pages = np.bincount(texts.on_page.indices, texts.on_page.data, minlength=texts.on_page.shape[1])
    found: NDArray[np.floating] = texts.cut.counts.T @ on_pages
    return found


def _forms(of_token: PageTexts, occurrences: NDArray[np.floating], terms: Numbers, vocabulary: Sequence[str]) -> Forms:
    """Return the words in Latin letters that differ from their stems; ``terms`` has the place of each word's stem."""
    words = of_token.distinct
    pairs = zip(words, terms.tolist(), strict=True)
    chosen = np.flatnonzero(np.fromiter((word != vocabulary[k] and is_latin(word) for word, k in pairs), np.bool_))
    of_word = np.bincount(of_token.numbers, np.repeat(occurrences, np.diff(of_token.starts)), minlength=len(words))
    of_term = np.bincount(terms, of_word, minlength=len(vocabulary))
    own = terms[chosen]
    return Forms([words[k] for k in chosen.tolist()], own, (of_word[chosen] / of_term[own]).astype(np.float32))
