"""The text of a site's pages as matrices: words, repeated blocks, hints and neighbours."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, hstack

from twinlink.language.surroundings import near_links
from twinlink.languages import UNDETERMINED, base_language, canonical_language
from twinlink.scripts import count_letters, script_of, split_units, words_per_unit
from twinlink.text.cutting import Cut, cut_texts, distinct_texts

__all__ = ["NAMED", "SiteText", "read_site"]

NAMED = "named:"
"""Prefix of hints that name a language by its tag; the meaning of all others is learned."""

Floats = NDArray[np.float64]

_SAMPLE = 6_000
"""Characters of a page that the first guess reads, from all over it. The three sites of the CPU bench get the same
languages and scores as with 20,000 from its beginning."""
_MIN_BOILERPLATE_PAGES = 3


@dataclass(frozen=True)
class SiteText:
    """Pages as matrices of words, blocks and hints."""

    own: list[Sequence[str]]  # the page's own blocks; all blocks where these are too few
    scripts: list[dict[str, float]]  # words of each script in them
    words: csr_array  # page × word, how often
    frame: csr_array  # page × (block on many pages, or declared language), 1 or missing
    letters: Floats  # in all blocks
    hints: csr_array  # page × hint, 1 or missing
    hint_names: list[str]
    near: csr_array  # page × page, neighbours by links
    named: list[frozenset[str]]  # languages that links to the page name
    claimed: list[frozenset[str]]  # the declared language
    vocabulary: list[str]

    def text(self, page: int) -> str:
        """Return a page's own text."""
        return "\n".join(self.own[page])

    def sample(self, page: int) -> str:
        """Return about `_SAMPLE` characters from all over a page: the language of long pages may change."""
        blocks = self.own[page]
        step = sum(map(len, blocks)) // _SAMPLE + 1
        return "\n".join(blocks[::step])


def read_site(
    blocks: Sequence[Sequence[str]],
    declared: Sequence[str],
    links: csr_array | None,
    hints: Sequence[Sequence[str]] | None,
    share: float,
    cut_lines: Callable[[Sequence[str]], Cut] = cut_texts,
) -> SiteText:
    """Read the pages of a site; see `twinlink.language.site_languages.site_languages` for what goes in.

    ``share`` is the part of the pages from which a block is no page's own.
    """
    on_page, texts = distinct_texts(blocks)
    n_letters, units, vocabulary = _count_units(texts, cut_lines)
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
    given = distinct_texts(sorted(set(page)) for page in hints)
    return SiteText(
        own=own,
        scripts=_script_words(words, vocabulary),
        words=words,
        frame=csr_array(hstack([_present(_without_columns(on_page, ~is_frame)), claims])),
        letters=on_page @ n_letters,
        vocabulary=vocabulary,
        hints=_present(given.counts),
        hint_names=given.texts,
        near=near_links(links, share),
        named=[_bases(hint.removeprefix(NAMED) for hint in page if hint.startswith(NAMED)) for page in hints],
        claimed=[_bases([claim]) for claim in declared],
    )


def _bases(tags: Iterable[str]) -> frozenset[str]:
    return frozenset(map(base_language, tags)) - {UNDETERMINED}


def _count_units(
    texts: Sequence[str], cut_lines: Callable[[Sequence[str]], Cut]
) -> tuple[Floats, csr_array, list[str]]:
    """Return the number of letters of each text, how often it has each unit (of `split_units`), and the units."""
    cut = cut_lines([text.lower() for text in texts])
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
