"""Addresses that often lead to one and the same page: with and without default document, ``www.`` or the s of https."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

__all__ = ["Twins", "fullness"]

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
