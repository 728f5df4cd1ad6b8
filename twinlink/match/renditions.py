"""Renditions: pages of one language with the same text in another form, for printing, for telephones, without graphics.

The address of a rendition is that of its page with one word more (``/x?print=1``, ``/textonly/x``, ``m.site.org/x``) or
with another word (``print.php?id=5`` beside ``article.php?id=5``), and the same change leads from many pages to their
renditions. Renditions differ from copies (`twinlink.match.copies`) in their tags and menus.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from twinlink.similarity.affordable import pages_with
from twinlink.similarity.content import idf
from twinlink.similarity.contrast import groups_of

__all__ = ["Renditions", "find_renditions"]

LEAST_PAGES = 5
"""Number of pages with a rendition from which a change of addresses is one of renditions. Our choice."""
USUALLY = 0.8
"""Share of the pairs of pages that a change joins of which the texts must be the same. Our choice."""
SAME = 0.9
"""Share of the words of the shorter page that the other one must have, each by its idf. Our choice: a page for printing
has a line or two of its own, such as the address that it was printed from."""
COMMON = 0.5
"""Share of the words of the longer page that the shorter one must have: it may have lists of other pages beside the
text, but a summary is no rendition. Our choice."""
MENU = 0.3
"""Share of the pages that have a word from which it is one of menus, which a page for printing does not have. Our
choice."""
OTHER_FORM = 0.67
"""Share of the tags of its page that a rendition has at most, in the median of the pairs of a change. Pages of about
the same form may be about different things (the same software on two systems), or stand in different versions of the
site (a page that is not translated yet): on the tuning sites, the share is .95 and more for all changes that join such
pages. Our choice."""
MOST_WORDS = 8
"""Number of pages up to which those whose addresses differ in a word at one place are compared. Our choice."""
MOST_ADDED = 3
"""Number of adjacent words up to which they are one change if they are added (``&tmpl=component&print=1``). Our
choice."""
MOST_RENDITIONS = 3
"""Number of renditions that a page can have. Our choice."""
ENOUGH = 10.0
"""Sum of idf of a page's words from which it tells what a change of addresses means: two or three words that hardly
any other page has. Our choice."""

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.object_]
Span = tuple[int, int]

_ADDRESS = re.compile(r"\w+://(?:www\.)?([^?]*?)/?(?:\?(.*))?\Z", re.DOTALL)
_WORDS = re.compile(r"[^.]+\."), re.compile(r"/[^/]*"), re.compile(r"[-_./]?[^-_./]+"), re.compile(r"&[^&]*")
"""Words of the host, the folders, the name and the fields, with their separators."""
_TOKENS = re.compile(r"[-_./&]?[^-_./&]+")
_SEPARATORS = {"-", "_", "."}
_LETTER = re.compile(r"[^\W\d_]")


class Renditions(NamedTuple):
    """Which pages of a side are renditions of others."""

    of: Numbers
    """For each page, the one that it is a rendition of; a page that is no rendition, itself."""
    word: Words
    """The word that the address of each rendition has more or instead of another, or the words that it has more; empty
    for the others."""


def find_renditions(
    urls: Sequence[str], tags: Sequence[bytes], graph: sp.csr_array, counts: sp.csr_array
) -> Renditions:
    """Find the pages of a side that are renditions of other pages.

    Where a change of addresses joins at least `LEAST_PAGES` pairs of pages with the same text, the page of each pair
    with fewer tags is a rendition (`OTHER_FORM`), or the one that only the other links to.

    Parameters
    ----------
    urls : sequence of str
        Addresses of the pages of one language.
    tags : sequence of bytes
        Tags of each page, one byte each.
    graph : csr_array, shape (n_pages, n_pages)
        Links among the pages.
    counts : csr_array, shape (n_pages, n_terms)
        How often each term stands on each page.

    Returns
    -------
    Renditions
        No page is a rendition of a rendition. Of pages with more than `MOST_RENDITIONS`, all are on their own.

    Examples
    --------
    Five pages of twenty words each, all for printing, too, without a menu:

    >>> counts = sp.csr_array(np.tile(np.repeat(np.eye(5), 20, axis=1), (2, 1)))
    >>> urls = [f"http://x.org/{page}{end}" for end in ("", "?print=1") for page in range(5)]
    >>> renditions = find_renditions(urls, [b"menu text"] * 5 + [b"text"] * 5, sp.csr_array((10, 10)), counts)
    >>> renditions.of.tolist()
    [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]
    >>> renditions.word[5]
    '&print=1'
    """
    asked = {change: pairs for change, pairs in _changed(urls).items() if len(pairs) >= LEAST_PAGES}
    joined: list[tuple[int, int]] = []
    words = np.full(len(urls), "", object)
    if not asked:
        return Renditions(np.arange(len(urls)), words)
    weights, n_tags = _by_idf(counts), np.array([len(each) for each in tags])
    for change, pairs in sorted(asked.items()):
        same = _of_same_text(np.array(pairs), weights)
        for one, other in ((0, 1), (1, 0)) if change[0] else ((0, 1),):
            pages = same[:, (one, other)]
            if len(pages) and _are_renditions(pages, n_tags, graph):
                joined += [(page, rendition) for page, rendition in pages.tolist()]
                words[pages[words[pages[:, 1]] == "", 1]] = change[other]
    return _renditions(joined, words, np.array([len(url) for url in urls]))


def _renditions(joined: Sequence[tuple[int, int]], words: Words, length: Numbers) -> Renditions:
    """Return for sets of pages that are joined the page that is no rendition of another, with the shortest address."""
    of = np.arange(len(words))
    if joined:
        pages = tuple(np.array(joined).T)
        group = groups_of(sp.csr_array((np.ones(len(joined), np.bool_), pages), shape=(len(words),) * 2))
        order = np.lexsort((length, words != "", group))
        first = order[np.searchsorted(group[order], group)]
        of = np.where((group > 0) & (np.bincount(group)[group] <= MOST_RENDITIONS + 1), first, of)
    return Renditions(of, np.where(of == np.arange(len(words)), "", words))


def _changed(urls: Sequence[str]) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """Return by change of addresses the pairs of pages that it joins.

    A change is a word and the one instead of it, in alphabetical order, or nothing and the words that are added.
    """
    addresses = [_address(url) for url in urls]
    page_of = {address: page for page, address in reversed(list(enumerate(addresses)))}
    changed: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    words = _frequent_words(addresses)
    for page, (address, of_page) in enumerate(zip(addresses, words, strict=True)):
        for (begin, _), (_, end) in _adjacent(of_page):
            shorter = page_of.get(_without(address, begin, end))
            if shorter is not None:
                changed["", address[begin:end]].append((shorter, page))
    for at_place in _words_by_place(addresses, words):
        for (one, page), (other, of_other) in combinations(sorted(at_place), 2):
            if one != other:
                changed[one, other].append((page, of_other))
    return changed


def _address(url: str) -> str:
    """Return host, path and fields of an address, without ``www.`` and a slash at the end; each field has an ``&``."""
    found = _ADDRESS.match(url)
    if found is None:
        return url
    return f"{found[1]}&{found[2].replace(';', '&')}" if found[2] else found[1]


def _words(address: str) -> Iterator[Span]:
    """Yield where each word of an address begins, with its separator, and where it ends."""
    path = address.partition("&")[0]
    host = path.partition("/")[0]
    name = max(path.rfind("/"), len(host))
    bounds = pairwise((0, len(host), name, len(path), len(address)))
    for expression, (begin, end) in zip(_WORDS, bounds, strict=True):
        for found in expression.finditer(address, begin, end):
            yield found.span()


def _frequent_words(addresses: Sequence[str]) -> list[Sequence[Span]]:
    """Return where the words, with a letter, are that enough addresses have and enough do not have."""
    if not _frequent(map(_TOKENS.findall, addresses), len(addresses)):  # a fast test: as where addresses tell nothing
        return [()] * len(addresses)
    frequent = _frequent(
        ([address[begin:end] for begin, end in _words(address)] for address in addresses), len(addresses)
    )
    return [[(begin, end) for begin, end in _words(address) if address[begin:end] in frequent] for address in addresses]


def _frequent(words: Iterable[Iterable[str]], n_addresses: int) -> set[str]:
    n_with = Counter(word for of_address in words for word in set(of_address))
    most = n_addresses - LEAST_PAGES
    return {word for word, n in n_with.items() if LEAST_PAGES <= n <= most and _LETTER.search(word)}


def _adjacent(words: Sequence[Span]) -> Iterator[tuple[Span, Span]]:
    """Yield the first and the last word of each few adjacent words."""
    for place, first in enumerate(words):
        last = first
        yield first, last
        for other in words[place + 1 : place + MOST_ADDED]:
            if other[0] != last[1]:
                break
            last = other
            yield first, last


def _without(address: str, begin: int, end: int) -> str:
    """Return an address without a word, and without the separator that follows the first word of a file's name."""
    if address[begin] == "/" and address[end : end + 1] in _SEPARATORS:
        return f"{address[:begin]}/{address[end + 1 :]}"
    return address[:begin] + address[end:]


def _words_by_place(addresses: Sequence[str], words: Sequence[Sequence[Span]]) -> list[list[tuple[str, int]]]:
    """Return the words that are at one place of otherwise equal addresses, each with its page."""
    places = array("q")  # there can be millions of them
    for address, of_page in zip(addresses, words, strict=True):
        places.extend(hash((address[:begin], address[end:])) for begin, end in of_page)
    found, n_words = np.unique(np.frombuffer(places, np.int64), return_counts=True)
    asked = set(found[(n_words > 1) & (n_words <= MOST_WORDS)].tolist())
    if len(asked) < LEAST_PAGES:
        return []
    at_places = defaultdict(list)
    for page, (address, of_page) in enumerate(zip(addresses, words, strict=True)):
        for begin, end in of_page:
            place = hash((address[:begin], address[end:]))
            if place in asked:
                at_places[place].append((address[begin:end], page))
    return list(at_places.values())


def _by_idf(counts: sp.csr_array) -> sp.csr_array:
    """Return the idf of each word of each page; that of the words of menus is 0."""
    weights = np.where(pages_with(counts) <= MENU * counts.shape[0], idf(counts), 0)
    return sp.csr_array((weights[counts.indices], counts.indices, counts.indptr), shape=counts.shape)


def _of_same_text(pages: Numbers, weights: sp.csr_array) -> Numbers:
    """Return the pairs of pages with the same text, or none if fewer have than renditions usually do."""
    one, other = (sp.csr_array(weights[each]) for each in pages.T)
    both: Floats = one.multiply(other).sqrt().sum(axis=1)
    sizes = np.stack([each.sum(axis=1) for each in (one, other)])
    least, most = sizes.min(axis=0), sizes.max(axis=0)
    same, tells = (least > 0) & (both >= SAME * least) & (both >= COMMON * most), least >= ENOUGH
    return pages[same] if (same & tells).sum() >= max(LEAST_PAGES, USUALLY * tells.sum()) else pages[:0]


def _are_renditions(pages: Numbers, n_tags: Numbers, graph: sp.csr_array) -> bool:
    """Return whether the second pages of pairs with the same text are renditions of the first ones.

    They have fewer tags, or no page but the first one links to them, and others link to that.
    """
    page, rendition = pages.T
    if np.median(n_tags[rendition] / np.maximum(n_tags[page], 1)) <= OTHER_FORM:
        return True
    n_links_to = np.bincount(graph.indices, minlength=len(n_tags))
    is_its_own = (np.asarray(graph[page, rendition]).ravel() != 0) & (n_links_to[rendition] == 1)
    return bool(np.mean(is_its_own) >= USUALLY and np.mean(n_links_to[page]) >= 2)
