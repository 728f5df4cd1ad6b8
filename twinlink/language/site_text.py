"""The text of a site's pages as matrices: words, repeated blocks, hints and neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from twinlink.language.identify import count_scripts
from twinlink.language.surroundings import near_links
from twinlink.languages import UNDETERMINED, base_language, canonical_language
from twinlink.scripts import count_letters, is_word, script_of, split_units, words_per_unit
from twinlink.sparse import entry_rows, select
from twinlink.text.cutting import Cut, cut_units
from twinlink.text.page_texts import PageTexts, page_texts

__all__ = ["NAMED", "SiteText", "read_site"]

NAMED = "named:"
"""Prefix of hints that name a language by its tag; the meaning of all others is learned."""

Floats = NDArray[np.float64]

_SAMPLE = 6_000
"""Characters of a page that the first guess reads, from all over it. The three sites of the CPU bench get the same
languages and scores as with 20,000 from its beginning."""
_MIN_BOILERPLATE_PAGES = 3


class SiteText(msgspec.Struct, frozen=True):
    """Pages as matrices of words, blocks and hints."""

    own: Sequence[Sequence[str]]  # the page's own blocks; all blocks where these are too few
    scripts: list[dict[str, float]]  # words of each script in them
    words: csr_array  # page × word, how often
    judged: csr_array  # the same of the text by which the language of the page is judged
    frame: csr_array  # page × (block on many pages, or declared language), 1 or missing
    letters: Floats  # in all blocks
    hints: csr_array  # page × hint, 1 or missing
    hint_names: list[str]
    near: csr_array  # page × page, neighbours by links
    named: list[frozenset[str]]  # languages that links to the page name
    claimed: list[frozenset[str]]  # the declared language
    vocabulary: list[str]
    texts: PageTexts  # all blocks
    is_first: NDArray[np.bool_]  # of each page, whether no earlier one has all of its text: copies say no more than it
    is_unique: NDArray[np.bool_]  # of each distinct block, whether a single page has it, or that and its copies

    def with_text(self, texts: Mapping[int, Sequence[str]]) -> SiteText:
        """Return the site with pages whose language is judged by a part of their text.

        Parameters
        ----------
        texts : mapping of int to sequence of str
            Some of its own blocks, by the number of the page.
        """
        if not texts:
            return self
        number = {word: column for column, word in enumerate(self.vocabulary)}
        counts = [Counter(split_units("\n".join(blocks).lower())) for blocks in texts.values()]
        found = [
            (page, number[word], float(n))
            for page, words in zip(texts, counts, strict=True)
            for word, n in words.items()
            if word in number
        ]
        pages, columns, times = zip(*found, strict=True) if found else ((), (), ())
        keep = np.ones(len(self.own), np.bool_)
        keep[[*texts]] = False
        judged = csr_array((times, (pages, columns)), shape=self.words.shape)
        judged = csr_array(judged + select(self.words, keep[entry_rows(self.words)]))
        scripts = [*self.scripts]
        for page, of_page in zip(texts, _script_words(judged[[*texts]], self.vocabulary), strict=True):
            scripts[page] = of_page
        return replace(self, judged=judged, scripts=scripts)

    def unique(self, page: int) -> list[str]:
        """Return the blocks of a page that no other page has, but for its copies."""
        numbers = self.texts.numbers[self.texts.starts[page] : self.texts.starts[page + 1]]
        return [self.texts.distinct[number] for number in numbers[self.is_unique[numbers]].tolist()]

    def frame_scripts(self) -> list[dict[str, float]]:
        """Return the words of each script in the blocks of each page that stand on many pages."""
        numbers = np.unique(self.frame.indices)
        numbers = numbers[numbers < len(self.texts.distinct)]  # the others are declared languages
        if not len(numbers):
            return [{} for _ in self.own]
        of_block = [count_scripts(split_units(self.texts.distinct[number])) for number in numbers.tolist()]
        names = sorted(set().union(*of_block))
        totals = self.frame[:, numbers] @ np.array([[words.get(name, 0.0) for name in names] for words in of_block])
        return _by_name(names, totals)

    def sample(self, page: int) -> str:
        """Return the text of `sampled`."""
        return "\n".join(self.sampled(page))

    def sampled(self, page: int) -> Sequence[str]:
        """Return about `_SAMPLE` characters of text from all over a page: the language of long pages may change.

        Every n-th block, or of each block the n-th part if that is too little, as where nearly all is in one block.
        """
        blocks = self.own[page]
        n = sum(map(len, blocks)) // _SAMPLE + 1
        some = blocks[::n]
        if n == 1 or 2 * sum(map(len, some)) >= _SAMPLE:
            return some
        return [block[: -(-len(block) // n)] for block in blocks]


def read_site(
    blocks: Sequence[Sequence[str]],
    declared: Sequence[str],
    links: csr_array | None,
    hints: Sequence[Sequence[str]] | None,
    share: float,
) -> SiteText:
    """Read the pages of a site; see `twinlink.language.site_languages.site_languages` for what goes in.

    ``share`` is the part of the pages from which a block is no page's own.
    """
    texts = page_texts(blocks)
    on_page = texts.counts
    n_letters, units, vocabulary = _count_units(texts.cut)
    is_first = texts.same == np.arange(len(texts))
    n_pages_with = np.bincount(on_page.indices[is_first[entry_rows(on_page)]], minlength=len(texts.distinct))
    is_frame = n_pages_with > max(share * is_first.sum(), _MIN_BOILERPLATE_PAGES)
    says_nothing = select(on_page, ~is_frame[on_page.indices]) @ n_letters == 0
    own = texts.where(~is_frame[texts.numbers] | says_nothing[texts.page_of])
    is_own = ~is_frame[on_page.indices] | says_nothing[entry_rows(on_page)]
    words = csr_array(select(on_page, is_own) @ units)
    claims = _presence([canonical_language(claim)] if claim else [] for claim in declared)
    hints = hints if hints is not None else [()] * len(blocks)
    links = links if links is not None else csr_array((len(blocks), len(blocks)))
    given = page_texts(sorted(set(page)) for page in hints)
    named = [tuple(hint.removeprefix(NAMED) for hint in page if hint.startswith(NAMED)) for page in hints]
    claimed = [(claim,) for claim in declared]
    bases = {tags: _bases(tags) for tags in {*named, *claimed}}  # most pages of a site have the same
    return SiteText(
        own=own,
        texts=texts,
        is_first=is_first,
        is_unique=n_pages_with == 1,
        scripts=_script_words(words, vocabulary),
        words=words,
        judged=words,
        frame=csr_array(hstack([_present(select(on_page, is_frame[on_page.indices])), claims])),
        letters=on_page @ n_letters,
        vocabulary=vocabulary,
        hints=_present(given.counts),
        hint_names=given.distinct,
        near=near_links(links, share),
        named=[*map(bases.__getitem__, named)],
        claimed=[*map(bases.__getitem__, claimed)],
    )


def _bases(tags: Iterable[str]) -> frozenset[str]:
    return frozenset(map(base_language, tags)) - {UNDETERMINED}


def _count_units(cut: Cut) -> tuple[Floats, csr_array, list[str]]:
    """Return the number of letters of each text, how often it has each unit (of `split_units`), and the units."""
    of_token = cut_units(cut.tokens)
    units = csr_array(cut.counts @ of_token.counts)
    n_letters = np.array([count_letters(unit) for unit in of_token.tokens], np.float32)
    return units @ n_letters, units, of_token.tokens


def _presence(sets: Iterable[Iterable[str]]) -> csr_array:
    return _present(page_texts(sorted(items) for items in sets).counts)


def _present(counts: csr_array) -> csr_array:
    return csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)


def _script_words(words: csr_array, vocabulary: Sequence[str]) -> list[dict[str, float]]:
    scripts = [script_of(word[0]) for word in vocabulary]
    names = sorted(set(scripts))
    number = {name: i for i, name in enumerate(names)}
    weights = np.array(
        [words_per_unit(script) if is_word(word) else 0.0 for word, script in zip(vocabulary, scripts, strict=True)]
    )
    places = (np.arange(len(scripts)), [number[script] for script in scripts])
    totals = (words @ csr_array((weights, places), shape=(len(scripts), len(names)))).toarray()
    return _by_name(names, totals)


def _by_name(names: Sequence[str], totals: Floats) -> list[dict[str, float]]:
    return [{name: total for name, total in zip(names, row, strict=True) if total} for row in totals.tolist()]
