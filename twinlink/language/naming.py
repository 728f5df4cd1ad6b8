"""Names of languages that CLD2 does not know: from claims of pages, links, addresses; else private tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cache

import numpy as np
import pycld2
from numpy.typing import NDArray
from scipy.sparse import csr_array

from twinlink.language.gathering import Pages
from twinlink.language.site_text import SiteText
from twinlink.language.speech import MIN_PAGES
from twinlink.languages import COMMON_SCRIPTS, UNDETERMINED, base_language

_MOST = 0.5
_AGREEING = 0.8
"""Minimum share of the pages that agree on a name, and of the pages of that name that are in the language."""
_IN_ADDRESSES = 0.7
"""The second of these for parts of addresses: a code may stand elsewhere, too (``/nv/`` is Navajo and Nevada)."""
_ADDRESS = "url:"


def private_tags() -> Iterator[str]:
    """Yield the tags that BCP 47 leaves to private use, for the languages of a site that have no name.

    >>> tags = private_tags()
    >>> next(tags), next(tags)
    ('qaa', 'qab')
    """
    return (f"q{second}{third}" for second in "abcdefghijklmnopqrst" for third in "abcdefghijklmnopqrstuvwxyz")


def language_names(
    site: SiteText, found: Sequence[Pages], known: Sequence[tuple[str, NDArray[np.bool_]]], aim: Collection[str]
) -> list[str]:
    """Name languages that CLD2 does not know.

    The name is the one that half of the pages claim; else the one in their addresses, if the addresses of another
    language name it too; else, if only one language has no name, the wanted language that CLD2 does not know; else a
    private tag.

    Parameters
    ----------
    site : SiteText
    found : sequence of ndarray
        Pages of each language.
    known : sequence of (str, ndarray of bool)
        Known languages of the site, and which pages are in them: no name for another language.
    aim : collection of str
        Base languages that are wanted.
    """
    taken = {name for name, _ in known}
    tags: list[str] = []
    for pages in found:
        tag, share = claimed_name(site, pages)
        tag = tag if share >= _MOST else _address_name(site, known, pages)
        tags.append("" if tag in {*taken, *tags} else tag)
    private = [tag for tag in private_tags() if tag not in tags]
    asked = sorted(set(aim) - taken - set(tags) - set(private) - recognised())
    free = iter(asked if len(asked) == tags.count("") == 1 else private)
    return [tag or next(free) for tag in tags]


@cache
def recognised() -> frozenset[str]:
    """Return the languages that CLD2 recognises: it has names for more."""
    names = frozenset(pycld2.DETECTED_LANGUAGES)
    return frozenset(base_language(code) for name, code in pycld2.LANGUAGES if name in names)


def claimed_name(site: SiteText, pages: Pages) -> tuple[str, float]:
    """Return the language that most pages claim, or that links to them name, if it is theirs alone; and their share."""
    inside = Counter(tag for page in pages.tolist() for tag in site.claimed[page] | site.named[page])
    if not inside:
        return "", 0.0
    tag, n = max(inside.items(), key=lambda item: (item[1], item[0]))
    everywhere = sum(tag in one or tag in other for one, other in zip(site.claimed, site.named, strict=True))
    is_theirs = n >= _AGREEING * everywhere and _is_language(tag)
    return (tag, n / len(pages)) if is_theirs else ("", 0.0)


def _address_name(site: SiteText, known: Sequence[tuple[str, NDArray[np.bool_]]], pages: Pages) -> str:
    """Return the language that the addresses of most pages name, on a site whose addresses name languages."""
    codes = {name.removeprefix(_ADDRESS): i for i, name in enumerate(site.hint_names) if name.startswith(_ADDRESS)}
    everywhere = np.bincount(site.hints.indices, minlength=len(site.hint_names))
    inside = np.bincount(csr_array(site.hints[pages]).indices, minlength=len(site.hint_names))
    if not any(_is_named(site.hints, codes[name], members) for name, members in known if name in codes):
        return ""
    telling = [
        (int(inside[i]), code)
        for code, i in codes.items()
        if inside[i] >= max(_AGREEING * len(pages), _IN_ADDRESSES * everywhere[i]) and _is_language(code)
    ]
    return max(telling, default=(0, ""))[1]


def _is_named(hints: csr_array, column: int, members: NDArray[np.bool_]) -> bool:
    """Return whether most of some pages have a hint."""
    has = csr_array(hints[:, [column]]).toarray().ravel() > 0
    return bool((has & members).sum() >= max(_AGREEING * members.sum(), MIN_PAGES))


def _is_language(tag: str) -> bool:
    """Return whether a tag is in the registry of languages."""
    if tag in COMMON_SCRIPTS:
        return True
    from langcodes import tag_is_valid  # loaded at the first look-up

    return base_language(tag) != UNDETERMINED and tag_is_valid(tag)
