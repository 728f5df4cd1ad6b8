"""Term counts of the pages of one language: each distinct line is cut once, each distinct token stemmed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.errors import ShapeError
from twinlink.sparse import narrow
from twinlink.text.cutting import Cut, cut_texts
from twinlink.text.page_texts import PageTexts, ended_texts, incidence, page_texts
from twinlink.text.stems import stems
from twinlink.text.terms import is_number
from twinlink.text.values import values_in
from twinlink.text.words import TermTable, lines_in_one_form, split_tokens


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
    blocks = page_texts(pages)
    lines = _lines(blocks.distinct)
    texts = lines_in_one_form(lines.distinct, base)
    cut = cut_lines(texts)
    is_figure = np.fromiter(map(is_number, cut.tokens), np.float32, len(cut.tokens))
    of_token = split_tokens(cut.tokens, base, heads)
    of_line = _values(texts, cut.counts @ is_figure > 0, base)
    more = page_texts(names if names is not None else [()] * len(pages))
    (per_token, per_line, per_page), vocabulary = _stemmed(lang, of_token, of_line, more)
    of_block = lines.counts @ (cut.counts @ per_token + per_line)
    counts = narrow(csr_array(blocks.counts @ of_block + per_page))
    counts.sort_indices()
    return TermTable(counts, vocabulary)


def _lines(blocks: Sequence[str]) -> PageTexts:
    """Return the lines of each block, usually a single one."""
    if any("\n" in block for block in blocks):
        return page_texts(block.split("\n") for block in blocks)
    return PageTexts(np.arange(len(blocks) + 1), np.arange(len(blocks)), list(blocks))


def _values(texts: Sequence[str], has_number: NDArray[np.bool_], base: str) -> PageTexts:
    """Return the values of each text; only those with a number or an ``@`` can have any."""
    values: list[str] = []
    for text, figure in zip(texts, has_number.tolist(), strict=True):
        if figure or "@" in text:
            values += values_in(text, base)
        values.append("\n")
    return ended_texts(values)


def _stemmed(lang: str, *parts: PageTexts) -> tuple[list[csr_array], list[str]]:
    """Return how often each stem is among the words of each page, one matrix for each part, and all stems."""
    found = [stems(part.distinct, lang) for part in parts]
    vocabulary = sorted(set().union(*found))
    place = {term: i for i, term in enumerate(vocabulary)}
    columns = [np.fromiter(map(place.__getitem__, each), np.int64, len(each)) for each in found]
    matrices = [
        incidence(part.starts, column[part.numbers], len(vocabulary))
        for part, column in zip(parts, columns, strict=True)
    ]
    return matrices, vocabulary
