"""Addresses that often lead to one and the same page: with and without default document, ``www.`` or the s of https."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

from twinlink.urls import DEFAULT_DOCUMENTS

_INDEX = re.compile(r"/(?:index|default|home)\.[a-z]{2,5}$", re.IGNORECASE)
_ENDING = re.compile(r"(?:/|\.html?)(?=\?)", re.IGNORECASE)  # what sites with pretty addresses leave out


class Twins:
    """Addresses of one page, by what they had: they differ only in default document, scheme or ``www.``.

    Those of a host that name one canonical address count as one address, too.
    """

    def __init__(self) -> None:
        self._copies: set[str] = set()  # addresses that name another one of their host as canonical
        self._urls: dict[bytes, str | list[str]] = {}  # of an address without these, and a body's digest → addresses

    def add(self, url: str, digest: bytes, canonical: str = "") -> None:
        """Note that an address has (or had) a body, and which other address that names as canonical."""
        own = _loose_key(url)
        named = _loose_key(canonical) if canonical else own
        self._copies.discard(url)  # an older capture may have named one
        if named != own:
            self._copies.add(url)
            host = own.partition("/")[0]
            own = named if named.startswith(f"{host}/") else f"{host} {named}"
        key = hashlib.blake2b(own.encode(), digest_size=8).digest() + digest
        known = self._urls.setdefault(key, url)
        if isinstance(known, list):
            known.append(url)
        elif known != url:
            self._urls[key] = [known, url]

    def groups(self) -> Iterator[tuple[bytes, list[str]]]:
        """Yield the addresses that have (or had) one body, with its digest."""
        for key, urls in self._urls.items():
            if isinstance(urls, list):
                yield key[8:], urls

    def rank(self, url: str) -> tuple[bool, int, str]:
        """Return the sort key of addresses of a group; the least represents the group. See `fullness`.

        An address that names another one of the group as canonical comes after it.
        """
        return url in self._copies, *fullness(url)


def _loose_key(url: str) -> str:
    """Return an address without scheme, ``www.`` and default document: what often leads to one and the same page."""
    address, _, query = (url.partition("://")[2] or url).removeprefix("www.").partition("?")
    return f"{_INDEX.sub('/', address)}?{query}"


def _looser_key(url: str) -> str:
    """Return `_loose_key` without the slash of a folder and the ending of a page."""
    return _ENDING.sub("", _loose_key(url), count=1)


def fullness(url: str) -> tuple[int, str]:
    """Return the sort key of several addresses of a page: the most explicit address comes first.

    A folder of saved pages knows only ``index.html``, so that is what ``/`` beside it is taken for from other sources.
    """
    return -len(url), url


def twin_addresses(url: str) -> Iterator[str]:
    """Yield addresses that often lead to the same page, the most likely first.

    >>> list(twin_addresses("https://www.example.org/a.html"))
    ['http://www.example.org/a.html', 'https://example.org/a.html', 'http://example.org/a.html']
    >>> "http://www.example.org/index.html" in twin_addresses("http://example.org/")
    True
    """
    address, mark, query = url.partition("://")[2].partition("?")
    bare = _INDEX.sub("/", address)
    places = [address, bare] if bare != address else [address]
    if bare.endswith("/"):
        places = list(dict.fromkeys([*places, *(bare + name for name in DEFAULT_DOCUMENTS)]))
    scheme = url.partition("://")[0]
    for host in (True, False):
        for each in (scheme, "http" if scheme == "https" else "https"):
            for place in places:
                turned = place.removeprefix("www.") if place.startswith("www.") else f"www.{place}"
                found = f"{each}://{place if host else turned}{mark}{query}"
                if found != url:
                    yield found


def only_alike(urls: Iterable[str], among: Iterable[str]) -> dict[str, str]:
    """Return for each address the one among others that is most probably another spelling of it, if only one is.

    They differ only in default document, scheme or ``www.``, or else also in the ending ``.html`` or the last slash.

    >>> only_alike(["https://a.org/en/b"], ["http://a.org/en/b/index.html", "http://a.org/en/c.html"])
    {'https://a.org/en/b': 'http://a.org/en/b/index.html'}
    """
    left, others, found = list(urls), list(among), dict[str, str]()
    for key in (_loose_key, _looser_key):
        by_key: dict[str, str | None] = {}
        for other in others if left else ():
            if by_key.setdefault(spelling := key(other), other) != other:
                by_key[spelling] = None  # several are alike
        found |= {url: like for url in left if (like := by_key.get(key(url)))}
        left = [url for url in left if url not in found]
    return found
