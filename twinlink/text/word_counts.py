"""Term counts of the pages of one language: each distinct line is cut once, each distinct token stemmed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.errors import ShapeError
from twinlink.sparse import narrow
from twinlink.text.cutting import Cut, cut_texts, distinct_texts, incidence
from twinlink.text.stems import stem
from twinlink.text.terms import is_number
from twinlink.text.values import values_in
from twinlink.text.words import TermTable, one_form, split_tokens


def count_words(
    pages: Sequence[Sequence[str]],
    lang: str,
    names: Sequence[Sequence[str]] | None = None,
    heads: AbstractSet[str] = frozenset(),
    cut_lines: Callable[[Sequence[str]], Cut] = cut_texts,
) -> TermTable:
    """Count the terms of pages: the stems of `tokenize`'s tokens, and names.

    Parameters
    ----------
    pages : sequence of sequence of str
        The text blocks of each page.
    lang : str
        Language of all of them.
    names : sequence of sequence of str, optional
        More terms of each page, as they stand (see `shared_names`).
    heads : set of str, optional
        Chinese words of a lexicon (`heads_of`), which are not to be cut: the segmenter's dictionary is not the
        lexicon's.
    cut_lines : callable, optional
        A `Cutter` that knows some of the lines already.

    Raises
    ------
    ShapeError
        If there are not as many lists of names as pages.

    Examples
    --------
    >>> table = count_words([["Servers run", "a server"], []], "en")
    >>> table.vocabulary, table.counts.toarray().tolist()
    (['a', 'run', 'server'], [[1.0, 1.0, 2.0], [0.0, 0.0, 0.0]])
    """
    if names is not None and len(names) != len(pages):
        raise ShapeError(f"expected one list of names per page, got {len(names)} for {len(pages)} pages")
    base = lang.partition("-")[0]
    lines = distinct_texts(chain.from_iterable(block.split("\n") for block in page) for page in pages)
    texts = one_form("\n".join(lines.texts), base).split("\n") if lines.texts else []
    cut = cut_lines(texts)
    of_token = split_tokens(cut.tokens, base, heads)
    is_figure = np.fromiter(map(is_number, cut.tokens), np.float32, len(cut.tokens))
    values = _values(texts, cut.counts @ is_figure > 0, base)
    more = distinct_texts(names if names is not None else [()] * len(pages))
    columns, vocabulary = _columns([*chain(*of_token, *values, more.texts)], lang)
    per_token, per_line, per_name = _blocks(columns, (of_token, values, [(name,) for name in more.texts]), vocabulary)
    of_line = csr_array(cut.counts @ per_token + per_line)
    counts = narrow(csr_array(lines.counts @ of_line + more.counts @ per_name))
    counts.sort_indices()
    return TermTable(counts, vocabulary)


def _values(texts: Sequence[str], has_number: NDArray[np.bool_], base: str) -> list[Sequence[str]]:
    """Return the values of each text; only those with a number or an ``@`` can have any."""
    return [
        values_in(text, base) if figure or "@" in text else ()
        for text, figure in zip(texts, has_number.tolist(), strict=True)
    ]


def _columns(words: Sequence[str], lang: str) -> tuple[list[int], list[str]]:
    """Return the place of each word's stem in the sorted vocabulary, and this."""
    stems = {word: stem(word, lang) for word in set(words)}
    vocabulary = sorted(set(stems.values()))
    place = {term: i for i, term in enumerate(vocabulary)}
    column = {word: place[term] for word, term in stems.items()}
    return [column[word] for word in words], vocabulary


def _blocks(
    columns: Iterable[int], lists: Iterable[Sequence[Sequence[str]]], vocabulary: Sequence[str]
) -> list[csr_array]:
    """Split the columns into the lists of terms that they came from."""
    rest = iter(columns)
    return [incidence([[next(rest) for _ in terms] for terms in rows], len(vocabulary)) for rows in lists]
