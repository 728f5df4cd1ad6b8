"""Variants: pages of one language with the same text in another form, for printing, for telephones, without graphics.

The address of a variant is that of its page with one word more (``/x?print=1``, ``/textonly/x``, ``m.site.org/x``) or
with another word (``print.php?id=5`` beside ``article.php?id=5``), and the same change leads from many pages to their
variants. Variants differ from copies (`twinlink.match.copies`) in their tags and menus.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["Variants", "find_variants"]

LEAST_PAGES = 5
"""Number of pages with a variant from which a change of addresses is one of variants. Our choice."""
USUALLY = 0.8
"""Share of the pairs of pages that a change joins of which the texts must be the same. Our choice."""
SAME = 0.9
"""Share of the words of the shorter page that the other one must have, each by its idf. Our choice: a page for printing
has a line or two of its own, such as the address that it was printed from."""
COMMON = 0.5
"""Share of the words of the longer page that the shorter one must have: it may have lists of other pages beside the
text, but a summary is no variant. Our choice."""
MENU = 0.3
"""Share of the pages that have a word from which it is one of menus, which a page for printing does not have."""
WORDS_PER_TAG = 3.0
"""Sum of idf of the words that only one of two pages has for each tag that it has more, at most, in the median of the
pairs of a change: about the word of a menu that few pages have. Pages of the same form may be about different things
(the same software on two systems, a form for each state). On the tuning sites it is .6 for the other edition of a page,
11 for pages about different things, if these differ in their number of tags at all; .1 to .4 for pages for printing
that are made from theirs."""
MOST_VARIANTS = 3
"""Number of variants that a page can have. Our choice."""
ENOUGH = 10.0
"""Sum of idf of a page's words from which it tells what a change of addresses means: about five words that hardly any
other page has. Our choice."""

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_ADDRESS = re.compile(r"\w+://(?:www\.)?([^?]*?)/?(?:\?(.*))?\Z", re.DOTALL)
_WORD = re.compile(
    r"\A[^./&]+\."  # the first label of the host
    r"|/[^/&]*(?=/)"  # a folder
    r"|[-_./][^-_./&]+(?=[^/&]*(?:&|\Z))"  # a word of the file's name
    r"|&[^&]*"  # a field of the query
)
_SEPARATORS = {"-", "_", "."}
_LETTER = re.compile(r"[^\W\d_]")


class Variants(NamedTuple):
    """Which pages of a side are variants of others."""

    of: Numbers
    """For each page, the one that it is a variant of; a page that is no variant, itself."""
    word: Sequence[str]
    """The word that the address of each variant has more or instead of another; empty for the others."""


def find_variants(urls: Sequence[str], tags: Sequence[bytes], counts: sp.csr_array) -> Variants:
    """Find the pages of a side that are variants of other pages.

    Parameters
    ----------
    urls : sequence of str
        Addresses of the pages of one language.
    tags : sequence of bytes
        Tags of each page, one byte each.
    counts : csr_array, shape (n_pages, n_terms)
        How often each term stands on each page.

    Examples
    --------
    Five pages of twenty words each, all for printing, too, without a menu:

    >>> counts = sp.csr_array(np.tile(np.repeat(np.eye(5), 20, axis=1), (2, 1)))
    >>> urls = [f"http://x.org/{page}{end}" for end in ("", "?print=1") for page in range(5)]
    >>> variants = find_variants(urls, [b"headline menu text end"] * 5 + [b"text"] * 5, counts)
    >>> variants.of.tolist()
    [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]
    >>> variants.word[5]
    '&print=1'
    """
    asked = {change: pairs for change, pairs in _changed(urls).items() if len(pairs) >= LEAST_PAGES}
    if not asked:
        return Variants(np.arange(len(urls)), [""] * len(urls))
    weights = _by_idf(counts)
    n_tags = np.array([len(each) for each in tags], np.int64)
    joined: list[tuple[int, int]] = []
    words = [""] * len(urls)
    for change, pairs in sorted(asked.items()):
        pages = _of_same_text(np.array(pairs), weights, n_tags)
        forms = (0, 1) if not change[0] or n_tags[pages[:, 0]].sum() >= n_tags[pages[:, 1]].sum() else (1, 0)
        for page, variant in pages[:, forms].tolist():
            joined.append((page, variant))
            words[variant] = words[variant] or change[forms[1]]
    return _variants(joined, words)


def _variants(joined: Sequence[tuple[int, int]], words: list[str]) -> Variants:
    """Return for sets of pages that are joined the page that is no variant of another."""
    of = np.arange(len(words))
    if joined:
        from scipy.sparse.csgraph import connected_components  # few sites have variants

        ends = np.array(joined).T
        links = sp.csr_array((np.ones(ends.shape[1], np.bool_), tuple(ends)), shape=(len(words),) * 2)
        number = connected_components(links, directed=False)[1]
        is_variant = np.array([word != "" for word in words])
        order = np.lexsort((is_variant, number))
        first = order[np.searchsorted(number[order], number)]
        of = np.where(np.bincount(number)[number] <= MOST_VARIANTS + 1, first, of)
    return Variants(of, [word if page != own else "" for own, (word, page) in enumerate(zip(words, of, strict=True))])


def _changed(urls: Sequence[str]) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """Return by change of addresses the pairs of pages that it joins.

    A change is a word and the one instead of it, in alphabetical order, or nothing and the word that is added.
    """
    addresses = [_address(url) for url in urls]
    page_of = {address: page for page, address in reversed(list(enumerate(addresses)))}
    changed: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    places = array("q")  # of an address without a word; there can be millions of them
    frequent = _frequent_words(addresses)
    for page, address in enumerate(addresses):
        for before, word, after in _words(address, frequent):
            places.append(hash((before, after)))
            shorter = page_of.get(_without(before, word, after))
            if shorter is not None:
                changed["", word].append((shorter, page))
    found, n_words = np.unique(np.frombuffer(places, np.int64), return_counts=True)
    asked = set(found[(n_words > 1) & (n_words <= MOST_VARIANTS + 1)].tolist())
    for words in _words_at(addresses, frequent, asked).values() if len(asked) >= LEAST_PAGES else ():
        for (one, page), (other, of_other) in combinations(sorted(words), 2):
            if one != other:
                changed[one, other].append((page, of_other))
    return changed


def _address(url: str) -> str:
    """Return host, path and fields of an address, without ``www.`` and a slash at the end; each field has an ``&``."""
    found = _ADDRESS.match(url)
    if found is None:
        return url
    return f"{found[1]}&{found[2]}" if found[2] else found[1]


def _frequent_words(addresses: Collection[str]) -> set[str]:
    """Return the words of addresses, with a letter, that enough pages have and enough pages do not have."""
    n_with = Counter(word for address in addresses for word in set(_WORD.findall(address)))
    most = len(addresses) - LEAST_PAGES
    return {word for word, n in n_with.items() if LEAST_PAGES <= n <= most and _LETTER.search(word)}


def _words(address: str, frequent: Container[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the frequent words of an address, with what is before and after each."""
    for found in _WORD.finditer(address):
        if found[0] in frequent:
            yield address[: found.start()], found[0], address[found.end() :]


def _without(before: str, word: str, after: str) -> str:
    """Return an address without a word, and without the separator that follows the first word of a file's name."""
    return f"{before}/{after[1:]}" if word[0] == "/" and after[:1] in _SEPARATORS else before + after


def _words_at(
    addresses: Iterable[str], frequent: Container[str], asked: Container[int]
) -> dict[int, list[tuple[str, int]]]:
    """Return the words at some places of addresses, each with its page."""
    words = defaultdict(list)
    for page, address in enumerate(addresses):
        for before, word, after in _words(address, frequent):
            place = hash((before, after))
            if place in asked:
                words[place].append((word, page))
    return words


def _by_idf(counts: sp.csr_array) -> sp.csr_array:
    """Return the idf of each word of each page: log of the number of pages over that of those that have the word.

    That of the words of menus is 0.
    """
    n_pages, n_with = counts.shape[0], np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.where(n_with <= MENU * n_pages, np.log(n_pages / np.maximum(n_with, 1)), 0)
    return sp.csr_array((idf[counts.indices], counts.indices, counts.indptr), shape=counts.shape)


def _of_same_text(pages: Numbers, weights: sp.csr_array, n_tags: Numbers) -> Numbers:
    """Return the pairs of pages with the same text, or none if these are not what a change of variants joins."""
    one, other = (sp.csr_array(weights[each]) for each in pages.T)
    both: Floats = one.multiply(other).sqrt().sum(axis=1)
    sizes = np.stack([each.sum(axis=1) for each in (one, other)])
    least, most = sizes.min(axis=0), sizes.max(axis=0)
    same, tells = (least > 0) & (both >= SAME * least) & (both >= COMMON * most), least >= ENOUGH
    if (same & tells).sum() < max(LEAST_PAGES, USUALLY * tells.sum()):
        return pages[:0]
    n_other_words = (least + most - 2 * both)[same]
    n_other_tags = np.abs(np.diff(n_tags[pages[same]], axis=1))
    is_other_form = np.median(n_other_words) < WORDS_PER_TAG * np.median(n_other_tags)
    return pages[same] if is_other_form else pages[:0]
