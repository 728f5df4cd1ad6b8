"""Addresses that often lead to one and the same page: with and without default document, ``www.`` or the s of https."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

__all__ = ["Twins", "fullness", "twin_addresses"]

_DOCUMENTS = ("index.html", "index.htm", "index.php", "index.asp", "default.htm", "default.html", "default.asp")
_INDEX = re.compile(r"/(?:index|default|home)\.[a-z]{2,5}$", re.IGNORECASE)


class Twins:
    """Addresses that differ only in default document, scheme or ``www.``, by what they had."""

    def __init__(self) -> None:
        self._urls: dict[bytes, str | list[str]] = {}  # of an address without these, and a body's digest → addresses

    def add(self, url: str, digest: bytes) -> None:
        """Note that an address has (or had) a body."""
        key = hashlib.blake2b(_loose_key(url).encode(), digest_size=8).digest() + digest
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


def _loose_key(url: str) -> str:
    """Return an address without scheme, ``www.`` and default document: what often leads to one and the same page."""
    address, _, query = url.partition("://")[2].removeprefix("www.").partition("?")
    return f"{_INDEX.sub('/', address)}?{query}"


def fullness(url: str) -> tuple[int, str]:
    """Return what decides which of several addresses of a page stands for all: the one that says most comes first.

    A folder of saved pages knows only ``index.html``, so that is what ``/`` beside it is taken for from other sources.
    """
    return -len(url), url


def twin_addresses(url: str) -> Iterator[str]:
    """Yield addresses that often lead to the same page, the likeliest first.

    >>> list(twin_addresses("https://www.example.org/a.html"))
    ['http://www.example.org/a.html', 'https://example.org/a.html', 'http://example.org/a.html']
    >>> "http://www.example.org/index.html" in twin_addresses("http://example.org/")
    True
    """
    address, mark, query = url.partition("://")[2].partition("?")
    bare = _INDEX.sub("/", address)
    places = [address, bare] if bare != address else [address]
    if bare.endswith("/"):
        places = list(dict.fromkeys([*places, *(bare + name for name in _DOCUMENTS)]))
    scheme = url.partition("://")[0]
    for host in (True, False):
        for each in (scheme, "http" if scheme == "https" else "https"):
            for place in places:
                turned = place.removeprefix("www.") if place.startswith("www.") else f"www.{place}"
                found = f"{each}://{place if host else turned}{mark}{query}"
                if found != url:
                    yield found
