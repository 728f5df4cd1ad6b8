"""Sitemaps: the addresses that a site lists itself, the versions in other languages with them."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lxml import etree

from twinlink.spiders.compression import EncodingError, decompress
from twinlink.spiders.urls import join

__all__ = ["MAX_ADDRESSES", "MAX_SITEMAP_BYTES", "Sitemap", "read_sitemap"]

MAX_SITEMAP_BYTES = 50 * 2**20
"""Largest sitemap after decompression, by the protocol (sitemaps.org); the rest is not read."""
MAX_ADDRESSES = 50_000
"""Addresses read of one sitemap, by the protocol; those of other languages do not count."""

_MAX_LANGUAGES = 100  # versions of one page
_FEEDS = frozenset(("rss", "feed", "RDF"))


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What a sitemap lists."""

    pages: tuple[str, ...]
    """Normalised addresses in their order, each once, versions in other languages (``xhtml:link``) among them."""
    sitemaps: tuple[str, ...]
    """Further sitemaps, if it is an index."""


def read_sitemap(body: bytes, url: str) -> Sitemap | None:
    """Read a sitemap: XML (also its index), RSS or Atom, or plain text; packed with gzip or not.

    Entities are not expanded, nothing is loaded from elsewhere, and damaged XML is read as far as it goes.

    Parameters
    ----------
    body : bytes
        As served.
    url : str
        Its address, which relative ones (against the protocol) are resolved against.

    Returns
    -------
    Sitemap or None
        None when it is none of these.

    Examples
    --------
    >>> read_sitemap(b"<urlset><url><loc>http://a.org/b</loc></url></urlset>", "http://a.org/sitemap.xml")
    Sitemap(pages=('http://a.org/b',), sitemaps=())
    """
    try:
        body = decompress(body, "gzip", MAX_SITEMAP_BYTES)
    except EncodingError:
        return None
    if body.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0")[:1] == b"<":
        return _read_xml(body, url)
    return _read_text(body, url)


def _read_text(body: bytes, url: str) -> Sitemap | None:
    lines = body.decode("utf-8-sig", "replace").split(maxsplit=MAX_ADDRESSES)[:MAX_ADDRESSES]
    if not lines or not lines[0].startswith(("http://", "https://")):
        return None
    return Sitemap(_usable(lines, url), ())


def _read_xml(body: bytes, url: str) -> Sitemap | None:
    pages: list[str] = []
    sitemaps: list[str] = []
    found = pages
    root = ""
    n = 0
    for event, name, element in _events(body):
        if not root:
            root = name
            if root not in ("urlset", "sitemapindex") and root not in _FEEDS:
                return None
            found = sitemaps if root == "sitemapindex" else pages
        if event == "start":
            continue
        if name == "loc" and _parent(element) in ("url", "sitemap"):
            n += 1
            found.append(element.text or "")
        elif name == "link":
            if root in _FEEDS:
                n += 1
            pages.append(element.get("href") or (element.text or "" if root in _FEEDS else ""))
        elif name in ("url", "sitemap", "item", "entry"):
            _forget(element)
        if n > MAX_ADDRESSES or len(pages) > MAX_ADDRESSES * _MAX_LANGUAGES:
            break
    return Sitemap(_usable(pages, url), _usable(sitemaps, url)) if root else None


def _events(body: bytes) -> Iterator[tuple[str, str, Any]]:
    parser = etree.iterparse(
        io.BytesIO(body),
        events=("start", "end"),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        recover=True,
    )
    try:
        for event, element in parser:
            if isinstance(element.tag, str):
                yield event, element.tag.rpartition("}")[2], element
    except etree.XMLSyntaxError:  # what came before it counts
        return


def _parent(element: Any) -> str:
    parent = element.getparent()
    return "" if parent is None or not isinstance(parent.tag, str) else parent.tag.rpartition("}")[2]


def _forget(element: Any) -> None:
    """Free what has been read: a sitemap of 50 MB must not become a tree of 500."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]


def _usable(addresses: list[str], base: str) -> tuple[str, ...]:
    joined = (join(base, address.strip()) for address in addresses if address.strip())
    return tuple(dict.fromkeys(url for url in joined if url is not None))
