"""Sitemaps: streaming parser of the listed addresses and their versions in other languages."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import msgspec
from lxml import etree

from twinlink.system.packed import GZIP, PackedError, gzip_parts
from twinlink.urls import MAX_URL_LENGTH, join

MAX_SITEMAP_BYTES = 50 * 2**20
"""Maximum size of a sitemap after decompression (sitemaps.org protocol); the rest is not read."""
MAX_ADDRESSES = 50_000
"""Maximum number of addresses in a sitemap (sitemaps.org protocol), without versions in other languages."""

_PART_BYTES = 2**16
_MAX_NAMED = 10 * MAX_ADDRESSES  # with versions and repetitions; 50 MB cannot contain more
_MAX_ELEMENTS = 2_000_000  # ordinary elements take 40 bytes; much smaller ones cannot contain an address
_MAX_DEPTH = 256  # nested elements, which the parser keeps in memory; sitemaps have four
_MAX_PIECE = 2**19  # bytes without an element or text, which the parser would keep in memory
_MAX_VERSIONS = 100  # per page
_FEEDS = frozenset(("rss", "feed", "RDF"))
_ENTRIES = frozenset(("url", "sitemap", "item", "entry"))
_SPACE = b"\xef\xbb\xbf\xff\xfe \t\r\n\0"
_WRONGLY_WIDE = re.compile(
    rb"(?:\xef\xbb\xbf)?<\?xml\s[^>]*\bencoding\s*=\s*[\"'](?:utf-?(?:16|32)|ucs-?[24]|iso-10646-ucs)", re.IGNORECASE
)
"""A declaration of UTF-16 that is in ASCII itself, as .NET's StringWriter makes it."""
_BARE_AMPERSAND = re.compile(rb"&(?!(?:#\d{1,7}|#x[0-9A-Fa-f]{1,6}|\w{1,10});)")
_CDATA, _CDATA_END = b"<![CDATA[", b"]]>"
_CDATA_MARKS = re.compile(rb"(<!\[CDATA\[|\]\]>)")


class SitemapLimits(msgspec.Struct, frozen=True):
    """Limits for reading one sitemap."""

    addresses: int = 4 * MAX_ADDRESSES
    """Maximum number of different addresses, including versions in other languages."""
    characters: int = 400 * MAX_ADDRESSES
    """Maximum total length of these addresses."""
    n_bytes: int = MAX_SITEMAP_BYTES
    """Maximum number of bytes read, after decompression."""


@dataclass(slots=True)
class Portion:
    """Addresses listed in a part of a sitemap."""

    pages: list[str] = field(default_factory=list)
    """Normalised addresses in document order, including versions in other languages (``xhtml:link``) and without
    addresses of earlier portions."""
    sitemaps: list[str] = field(default_factory=list)
    """Further sitemaps, if it is an index."""
    versions: dict[str, tuple[int, str]] = field(default_factory=dict)
    """From an address to the number of its entry, which versions in other languages share, and its hreflang, which may
    be empty. Contains only entries with such versions."""


class SitemapReader:
    """Reader of a sitemap: XML (or an index), RSS or Atom, or plain text; compressed with gzip or not.

    No external resources are loaded, libxml2 limits the expansion of entities, and a damaged file is read up to the
    damage. Two frequent errors are corrected: an unescaped ``&`` in XML, and a declaration of UTF-16 in UTF-8.

    Parameters
    ----------
    url : str
        Address of the sitemap. Relative addresses, which the protocol does not allow, are resolved against it.
    limits : SitemapLimits, optional
        Reading ends when a limit is reached.

    Attributes
    ----------
    is_sitemap : bool
        Whether the part read so far is a sitemap.
    cut : str
        Why reading ended early; empty if it did not.
    n_addresses, n_bytes : int
        Number of different addresses, and of bytes read after decompression, so far.

    Examples
    --------
    >>> reader = SitemapReader("http://a.org/sitemap.xml")
    >>> [portion.pages for portion in reader.portions(b"http://a.org/b http://a.org/c")]
    [['http://a.org/b'], ['http://a.org/c'], []]
    """

    def __init__(self, url: str, limits: SitemapLimits | None = None) -> None:
        self._url = url
        self._limits = limits or SitemapLimits()
        self.is_sitemap = False
        self.cut = ""
        self.n_addresses = 0
        self.n_bytes = 0
        self._n_characters = 0
        self._n_named = self._n_listed = 0  # addresses with repetitions; the same without versions
        self._n_entries = 0
        self._portion = Portion()
        self._seen: set[int] = set()  # hashes take a tenth of the memory of the addresses
        self._numbers: dict[int, int] = {}  # hash of an address → number of the first entry that contains it

    def portions(self, body: bytes) -> Iterator[Portion]:
        """Yield the listed addresses, one portion per 64 kB, so that other tasks can run in between.

        Parameters
        ----------
        body : bytes
            As served.
        """
        parts = self._limited(gzip_parts(body, _PART_BYTES) if body.startswith(GZIP.mark) else _slices(body))
        try:
            first = next(parts, b"")
            read = self._read_xml if first.lstrip(_SPACE)[:1] == b"<" else self._read_text
            for _ in read(chain((first,), parts)):
                portion, self._portion = self._portion, Portion()
                yield portion
        except _EndError as end:
            self.cut = str(end)
        except PackedError as error:
            self.cut = f"damaged: {error}"
        yield self._portion

    def list_page(self, address: str, is_version: bool = False) -> str | None:
        """Add the address of a page as written; return it normalised."""
        return self._take(address, self._portion.pages, is_version)

    def list_sitemap(self, address: str) -> None:
        """Add the address of a further sitemap as written."""
        self._take(address, self._portion.sitemaps)

    def end_entry(self, own: str | None, versions: list[tuple[str, str]]) -> None:
        """End an entry: give the same number to it and to its versions (hreflang, address).

        A version that is also an entry keeps the number of the first entry that contains it.
        """
        number = self._n_entries
        self._n_entries += 1
        found = self._portion.versions
        for tag, url in versions:
            keys = [hash(each) for each in (own, url) if each is not None]
            together = next((self._numbers[key] for key in keys if key in self._numbers), number)
            if own is not None:
                found.setdefault(own, (self._numbers.setdefault(hash(own), together), ""))
            if tag.lower() != "x-default":
                kept = found.get(url, (0, ""))[1]
                found[url] = (self._numbers.setdefault(hash(url), together), kept or tag)

    def _take(self, address: str, where: list[str], is_version: bool = False) -> str | None:
        self._n_named += 1
        self._n_listed += not is_version
        if self._n_listed > MAX_ADDRESSES or self._n_named > _MAX_NAMED:
            raise _EndError(f"more than {MAX_ADDRESSES} addresses, or {_MAX_NAMED} with their versions")
        url = join(self._url, address.strip()) if address.strip() else None
        if url is None or hash(url) in self._seen:
            return url
        self._n_characters += len(url)
        if self.n_addresses >= self._limits.addresses:
            raise _EndError(f"more than {self._limits.addresses} different addresses")
        if self._n_characters > self._limits.characters:
            raise _EndError(f"its addresses have more than {self._limits.characters} characters")
        self.n_addresses += 1
        self._seen.add(hash(url))
        where.append(url)
        return url

    def _limited(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        for part in parts:
            room = self._limits.n_bytes - self.n_bytes
            self.n_bytes += min(room, len(part))
            yield part[:room]
            if len(part) > room:
                raise _EndError(f"more than {self._limits.n_bytes} bytes")

    def _read_text(self, parts: Iterator[bytes]) -> Iterator[None]:
        for words in _words(parts):
            self.is_sitemap = self.is_sitemap or bool(words and words[0].startswith(("http://", "https://")))
            if words and not self.is_sitemap:
                return
            for word in words:
                self.list_page(word)
            yield

    def _read_xml(self, parts: Iterator[bytes]) -> Iterator[None]:
        first = next(parts)
        parts = chain((first,), parts)
        target = _Listing(self)
        parser = etree.XMLParser(
            target=target,  # type: ignore[arg-type]  # the stubs ask for methods that lxml does not need
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            recover=True,
            encoding="utf-8" if _WRONGLY_WIDE.match(first) else None,
        )
        try:
            for part in parts if b"\0" in first else _escaped(parts):  # UTF-16 has NULs
                target.piece += len(part)
                parser.feed(part)
                if target.piece > _MAX_PIECE:
                    raise _EndError(f"{_MAX_PIECE} bytes of it are one piece of markup")
                yield
            parser.close()
        except (etree.XMLSyntaxError, _OtherError):  # addresses before the error are kept
            return


class _EndError(Exception):
    """A limit was reached; the message says which."""


class _OtherError(Exception):
    """The XML is not a sitemap."""


class _Listing:
    """Target of the XML parser: passes addresses to the reader."""

    def __init__(self, reader: SitemapReader) -> None:
        self.piece = 0
        """Upper bound of the bytes since the last element or text."""
        self._reader = reader
        self._root = ""
        self._open: list[str] = []
        self._n_elements = 0
        self._text: str | None = None  # text of an element that contains an address
        self._own: str | None = None  # address of the entry
        self._versions: list[tuple[str, str]] = []

    def start(self, tag: str, attributes: Any) -> None:
        """Handle a start tag."""
        name = tag.rpartition("}")[2]
        self.piece = 0
        self._n_elements += 1
        if self._n_elements > _MAX_ELEMENTS:
            raise _EndError(f"more than {_MAX_ELEMENTS} elements")
        if len(self._open) >= _MAX_DEPTH:
            raise _EndError(f"more than {_MAX_DEPTH} nested elements")
        if not self._root:
            self._begin(name)
        elif name == "loc" and self._open[-1:] in (["url"], ["sitemap"]):
            self._text = ""
        elif name == "link":
            self._start_link(attributes)
        self._open.append(name)

    def data(self, text: str) -> None:
        """Handle text."""
        self.piece = 0
        if self._text is not None and len(self._text) <= MAX_URL_LENGTH + len(_SPACE):
            self._text += text

    def end(self, tag: str) -> None:
        """Handle an end tag."""
        self.piece = 0
        self._open.pop()
        name = tag.rpartition("}")[2]
        if name in ("loc", "link"):
            self._end_address()
        elif name in _ENTRIES:
            self._reader.end_entry(self._own, self._versions)
            self._own, self._versions = None, []

    def close(self) -> None:
        """End an element that is still open at the end of damaged data; may be called twice."""
        self._end_address()

    def _begin(self, name: str) -> None:
        if name not in ("urlset", "sitemapindex") and name not in _FEEDS:
            raise _OtherError
        self._root = name
        self._reader.is_sitemap = True

    def _end_address(self) -> None:
        text, self._text = self._text, None
        if text is None:
            return
        if self._root == "sitemapindex":
            self._reader.list_sitemap(text)
        else:
            self._own = self._reader.list_page(text)

    def _start_link(self, attributes: Any) -> None:
        # Where libxml2 does not resolve entities, it passes an &amp; in an attribute as &#38;.
        address = (attributes.get("href") or "").replace("&#38;", "&")
        if self._root not in _FEEDS:
            url = self._reader.list_page(address, is_version=True)
            if url is not None and len(self._versions) < _MAX_VERSIONS:
                self._versions.append((attributes.get("hreflang") or "", url))
        elif address:
            self._reader.list_page(address)
        else:
            self._text = ""


def _slices(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), _PART_BYTES):
        yield body[start : start + _PART_BYTES]


def _escaped(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Escape each ``&`` that begins no entity and is not in CDATA; libxml2 would drop the word after it."""
    is_cdata = False
    for part in _at_ends_of_tags(parts):
        pieces = _CDATA_MARKS.split(part)
        for number, piece in enumerate(pieces):
            is_cdata = piece == _CDATA or (is_cdata and piece != _CDATA_END)
            if not is_cdata:
                pieces[number] = _BARE_AMPERSAND.sub(b"&amp;", piece)
        yield b"".join(pieces)


def _at_ends_of_tags(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Divide the same bytes after a ``>``, so that no entity and no mark of CDATA is cut in two."""
    rest = b""
    for part in parts:
        text = rest + part
        end = text.rfind(b">") + 1 or len(text)
        rest = text[end:]
        yield text[:end]
    if rest:
        yield rest


def _words(parts: Iterator[bytes]) -> Iterator[list[str]]:
    """Yield the words of each part; of a very long word only enough to see that it is too long for an address."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    rest = ""
    for part in parts:
        text = rest[: MAX_URL_LENGTH + 1] + decoder.decode(part)
        words = text.split()
        rest = words.pop() if words and not text[-1].isspace() else ""
        yield words
    yield [rest] if rest else []
