"""Sitemaps: the addresses that a site lists itself, the versions in other languages with them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
    versions: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """By address: the number of its entry, which its versions in other languages share, and its hreflang, perhaps none;
    only of entries that name such versions."""


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
    Sitemap(pages=('http://a.org/b',), sitemaps=(), versions={})
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


class _Listed:
    """What an XML sitemap has listed so far."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.pages: list[str] = []
        self.sitemaps: list[str] = []
        self.entries: list[str] = []  # address of each entry
        self.alternates: list[tuple[int, str, str]] = []  # number of an entry, hreflang, address
        self._found = self.sitemaps if root == "sitemapindex" else self.pages
        self._last = ""
        self._n = 0

    def take(self, name: str, element: Any) -> None:
        """Take the end of an element."""
        if name == "loc" and _parent(element) in ("url", "sitemap"):
            self._n += 1
            self._last = element.text or ""
            self._found.append(self._last)
        elif name == "link":
            self._take_link(element)
        elif name in ("url", "sitemap", "item", "entry"):
            self.entries.append(self._last)
            _forget(element)

    def _take_link(self, element: Any) -> None:
        address = element.get("href") or ""
        if self.root in _FEEDS:
            self._n += 1
            self.pages.append(address or element.text or "")
            return
        self.pages.append(address)
        self.alternates.append((len(self.entries), element.get("hreflang") or "", address))

    def is_full(self) -> bool:
        """Tell whether no more is to be read."""
        return self._n > MAX_ADDRESSES or len(self.pages) > MAX_ADDRESSES * _MAX_LANGUAGES


def _read_xml(body: bytes, url: str) -> Sitemap | None:
    listed: _Listed | None = None
    for event, name, element in _events(body):
        if listed is None:
            if name not in ("urlset", "sitemapindex") and name not in _FEEDS:
                return None
            listed = _Listed(name)
        if event == "end":
            listed.take(name, element)
        if listed.is_full():
            break
    if listed is None:
        return None
    versions = _versions(listed.entries, listed.alternates, url)
    return Sitemap(_usable(listed.pages, url), _usable(listed.sitemaps, url), versions)


def _versions(
    entries: Sequence[str], alternates: Sequence[tuple[int, str, str]], base: str
) -> dict[str, tuple[int, str]]:
    """Number the entries that name versions; a version that is an entry itself stays with the first that names it."""
    found: dict[str, tuple[int, str]] = {}
    for number, tag, address in alternates:
        url = join(base, address.strip())
        own = join(base, entries[number].strip()) if number < len(entries) else None
        together = next((found[known][0] for known in (own, url) if known in found), number)
        if own is not None:
            found.setdefault(own, (together, ""))
        if url is not None and tag.lower() != "x-default":
            kept = found.get(url)
            found[url] = (kept[0], kept[1] or tag) if kept else (together, tag)
    return found


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
