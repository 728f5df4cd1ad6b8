"""Probed sites whose text another site has: mirrors, parked domains and hosts of link farms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from twinlink.tables import PAGES, iter_parts, read_table

__all__ = ["COPIED", "Copy", "SiteTexts", "find_copies", "texts_of_sites"]

COPIED = 0.8
"""Share of a site's text in each of its languages that another site has, from which it is a copy. A choice: a mirror
differs in its name and newest pages, and honest sites share menus and legal notices."""

SiteTexts = Mapping[str, pa.Array]
"""The text blocks of a site's pages, by language."""


class Copy(NamedTuple):
    """Where the text of a site is found, too."""

    original: str
    """The other site."""
    share: float
    """Share of the letters in distinct blocks that it has; the smallest share of a language."""


def find_copies(sites: Mapping[str, SiteTexts], known: Iterable[tuple[str, pa.Array]]) -> dict[str, Copy]:
    """Find the sites whose text is on a known site, or on one of these sites that comes first and is no copy.

    Blocks are compared in lower case, all numbers alike. A site is a copy if another one has at least `COPIED` of its
    letters in distinct blocks, in each language: a translation of another site's pages is new. Of several known sites,
    the one with the largest share counts.

    Parameters
    ----------
    sites : mapping
        Names and texts, the best site first.
    known : iterable
        Names and text blocks of the sites that they are compared with; each is read once and not kept.

    Examples
    --------
    >>> text = pa.array([["Opening hours of the library in 2025", "Home"]])
    >>> again = pa.array([["Opening hours of the library in 2026"]])
    >>> find_copies({"x.org": {"en": again}, "y.org": {"en": pa.array([["Home", "News"]])}}, [("x.hk", text)])
    {'x.org': Copy(original='x.hk', share=1.0)}
    """
    if not sites:
        return {}
    own = _blocks_of(sites)
    found: dict[str, Copy] = {}
    for original, blocks in known:
        for site, share in _shares_on(_distinct(blocks), own).items():
            if share >= max(COPIED, found[site].share if site in found else 0.0):
                found[site] = Copy(original, share)
    left = [site for site in sites if site not in found]
    while left:
        original, *left = left
        shares = _shares_on(own.of_site(original), own)
        copies = {site: Copy(original, shares[site]) for site in left if shares[site] >= COPIED}
        found.update(copies)
        left = [site for site in left if site not in copies]
    return found


def texts_of_sites(folder: Path) -> Iterator[tuple[str, pa.Array]]:
    """Yield the name and the text blocks of each site of a table of pages."""
    for part in iter_parts(folder):
        yield unquote(part.stem), read_table(part, PAGES, ("blocks",))["blocks"]


class _Blocks(NamedTuple):
    """The distinct blocks of several sites in each of their languages; arrays have a value per block of a text."""

    sites: list[str]
    """Site of each text."""
    text: NDArray[np.int64]
    """The text that has the block."""
    letters: NDArray[np.int64]
    word: NDArray[np.int64]
    """Its place in ``words``."""
    words: pa.Array
    """Distinct blocks of all texts."""

    def of_site(self, site: str) -> pa.Array:
        """Return the blocks of a site."""
        own = np.array([each == site for each in self.sites], dtype=np.bool_)
        return self.words.take(pa.array(self.word[own[self.text]]))


def _blocks_of(sites: Mapping[str, SiteTexts]) -> _Blocks:
    texts = [(site, _distinct(blocks)) for site, of_site in sites.items() for blocks in of_site.values()]
    blocks = pa.concat_arrays([pa.array([], pa.large_string()), *(each for _, each in texts)])
    coded = blocks.dictionary_encode()
    text = np.repeat(np.arange(len(texts)), [len(each) for _, each in texts])
    letters = pc.utf8_length(blocks).to_numpy()
    return _Blocks([site for site, _ in texts], text, letters, coded.indices.to_numpy(), coded.dictionary)


def _shares_on(other: pa.Array, own: _Blocks) -> dict[str, float]:
    """Return the share of each site's letters that are in other blocks, too: of its languages the smallest one."""
    is_there = pc.is_in(own.words, value_set=other).to_numpy(zero_copy_only=False)[own.word]
    n = len(own.sites)
    total, there = (np.bincount(own.text, own.letters * each, n) for each in (1, is_there))
    shares: dict[str, float] = {}
    for site, share in zip(own.sites, (there / np.maximum(total, 1)).tolist(), strict=True):
        shares[site] = min(share, shares.get(site, 1.0))
    return shares


def _distinct(pages: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the distinct blocks of pages in one form: lower case, and all numbers alike."""
    blocks = pc.list_flatten(pages).cast(pa.large_string()).unique()
    return pc.replace_substring_regex(pc.utf8_lower(blocks), r"\p{N}+", "0").unique()
