"""HTML parser: text blocks, tags, links and declared language of a page.

libxml2, which lxml brings along, reports each start tag, end tag and text of the page, in document order. No tree is
built: in the trials, that was faster than each way to walk one, and depth costs no memory or recursion. The reports go
to compiled code where that is loaded (`twinlink.pages.libxml2`), else to Python (`twinlink.pages.content`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import msgspec
from lxml import etree

from twinlink.pages.content import PageContent, PageTarget, TooDeepError, max_depth
from twinlink.pages.decoding import decode
from twinlink.pages.elements import Elements, RawLink
from twinlink.pages.header_links import header_elements
from twinlink.urls import join, page_id

if TYPE_CHECKING:
    from twinlink.pages.libxml2 import CompiledParser

MAX_ADDRESS_CHARACTERS = 2**24
"""Characters of all addresses of one page, images apart. The page of our tuning sites that has the most has 0.1
million; with a long ``<base>``, 10 MB of short links would make two billion."""

MAX_MARKS = 1_000_000
"""Start and end tags that are read of a page, counted as ``<``: a second or two. The largest page of our tuning sites
has 227,000."""

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*")
_FEED_BYTES = 2**16


class Target(Protocol):
    """Protocol of parser targets for `run_parser`, besides ``start``, ``end`` and ``data``."""

    def close(self) -> None:
        """Finish the page."""
        ...


TargetT = TypeVar("TargetT", bound=Target)


class Link(NamedTuple):
    """One link of a page."""

    url: str
    """Normalised address that it leads to."""
    anchor: str = ""
    """Its text, white space collapsed, at most `MAX_ANCHOR_LENGTH` characters (`twinlink.pages.elements`); without text
    the alternative text of its images, its ``title`` or its ``aria-label``; else empty."""
    rel: str = ""
    """``rel`` attribute in lower case; ``refresh`` for the redirection of a meta element, ``form`` for a choice of
    language in a form, ``option`` for one in a menu that leads elsewhere."""
    hreflang: str = ""
    """``hreflang`` attribute in lower case."""


class ParsedPage(msgspec.Struct, frozen=True):
    """Parsed content of a page."""

    url: str
    """Address as given."""
    title: str
    """Text of the title element, empty when there is none."""
    blocks: tuple[str, ...]
    """Text of block-level elements in document order, white space collapsed, none empty. An element inside a line (a
    link, bold type) does not break its block; a line break counts as a space. The title and the inside of scripts,
    styles, templates and drawings are not part; ``noscript`` is, for we run no scripts."""
    tags: bytes
    """Start tags in document order, one code of `TAG_CODES` a tag, those that the parser supplies (html, head, body)
    included. Nothing inside scripts, styles, templates and drawings counts, nor do comments."""
    links: tuple[Link, ...]
    """Usable links in document order, exact repetitions and links to a place on the page itself left out."""
    images: tuple[str, ...]
    """File names of the images in document order."""
    declared_lang: str
    """Language that the page claims in BCP 47 letter case (``zh-Hant-HK``), empty when it claims none, several or
    nonsense."""
    charset: str
    """Encoding that the page was decoded with, by Python's name."""
    cut: bool
    """True if the rest of the page was not read because it nests too deeply (`max_depth`) or has more tags than
    `MAX_MARKS`; or the rest of its links, because it has more than `MAX_LINKS`, or their addresses are too long in all
    (`MAX_ADDRESS_CHARACTERS`)."""
    robots: str = ""
    """Content of its ``<meta name=robots>`` elements, lower case, joined by commas."""
    canonical: str = ""
    """Normalised address that its ``<link rel=canonical>`` names; empty where it names none, several, or its own."""


def parse_page(
    body: bytes, url: str, content_type: str = "", content_language: str = "", link: str = "", refresh: str = ""
) -> ParsedPage:
    """Parse an HTML page. It never fails: any bytes give a page, perhaps an empty one.

    Parameters
    ----------
    body : bytes
        The page as served, content encoding (gzip …) removed.
    url : str
        Its normalised address, which links are resolved against (or against ``<base href>``).
    content_type, content_language : str, optional
        The response's headers of these names. The first may name the encoding, see `decode`. The second counts where
        the page itself claims no language.
    link, refresh : str, optional
        The same, see `twinlink.pages.header_links`: their links come behind those of the page. A canonical address
        counts where the page itself names none.

    Examples
    --------
    >>> page = parse_page(b"<html lang=zh_hk><h1>Hello</h1><p>a <b>b</b><p><a href=c.html>c", "http://example.org/")
    >>> page.blocks, page.links, page.declared_lang
    (('Hello', 'a b', 'c'), (Link(url='http://example.org/c.html', anchor='c', rel='', hreflang=''),), 'zh-HK')
    """
    data, cut, charset = prepared(body, content_type)
    content, is_deep = _content(data)
    found = content.elements
    base = base_of(found.base, url)
    links, are_cut = _resolve(found.links, base, charset)
    headers = header_elements(link, refresh)
    if headers.links:
        links = tuple(dict.fromkeys([*links, *_resolve(headers.links, url, "utf-8")[0]]))
    return ParsedPage(
        url=url,
        title=content.title,
        blocks=content.blocks,
        tags=content.tags,
        links=links,
        images=tuple(found.images),
        declared_lang=language_of(found, content_language),
        charset=charset,
        cut=cut or is_deep or found.has_more_links or are_cut,
        robots=",".join(found.robots),
        canonical=canonical_of(found.canonicals or headers.canonicals, url, base, charset),
    )


def _content(data: bytes) -> tuple[PageContent, bool]:
    """Return the content of a page, and whether it is cut because it nests too deeply."""
    if (parser := loaded_parser()) and (found := parser.parse(data)):
        return found
    target, is_deep = _fed(data, PageTarget)
    return target.content(), is_deep


def loaded_parser() -> CompiledParser | None:
    """Return the compiled parser, if there is one and this process has loaded it: that takes as long as some pages."""
    compiled_parser = getattr(sys.modules.get("twinlink.pages.libxml2"), "compiled_parser", None)
    return compiled_parser() if compiled_parser else None


def run_parser(body: bytes, content_type: str, builder: Callable[[int], TargetT]) -> tuple[TargetT, bool, str]:
    """Run the parser over a page; return the target that gathered it, whether the page was cut, and its encoding.

    Parameters
    ----------
    body, content_type
        As in `parse_page`. What stands behind the first `MAX_MARKS` tags is not read.
    builder : callable
        Makes the target from the greatest depth that it may go to (`twinlink.pages.content.max_depth`). The target has
        methods ``start`` and ``end``, called for each tag (the parser supplies html, body, the head around what belongs
        there, and each end tag), ``data``, called for each text, and ``close``, which may be called twice. ``start``
        raises `TooDeepError` beyond that depth.
    """
    data, cut, charset = prepared(body, content_type)
    page, is_deep = _fed(data, builder)
    return page, cut or is_deep, charset


def prepared(body: bytes, content_type: str) -> tuple[bytes, bool, str]:
    """Return a page in UTF-8, cut at `MAX_MARKS`; whether it was cut; its encoding."""
    text, charset = decode(body, content_type)
    data, cut = _first_marks(text.encode("utf-8", "replace").replace(b"\0", b""))
    return data, cut, charset


def _fed(data: bytes, builder: Callable[[int], TargetT]) -> tuple[TargetT, bool]:
    """Give a page to a target of lxml's parser; return the target, and whether the page nests too deeply."""
    page = builder(max_depth(data))
    target: Any = page  # the stubs ask for methods that lxml does not need
    # The encoding given here overrides what the page declares.
    parser = etree.HTMLParser(target=target, encoding="utf-8", huge_tree=True)
    is_deep = False
    try:
        # An exception from the target stops the parser only at the end of what it was fed.
        for start in range(0, len(data), _FEED_BYTES):
            parser.feed(data[start : start + _FEED_BYTES])
        if data:
            parser.close()
    except TooDeepError:
        is_deep = True
    page.close()
    return page, is_deep


def _first_marks(data: bytes) -> tuple[bytes, bool]:
    """Return a page up to its first `MAX_MARKS` signs ``<``, and whether it has more."""
    if len(data) <= MAX_MARKS or data.count(b"<") <= MAX_MARKS:
        return data, False
    start, stop = 0, len(data)  # the mark behind the last one that is read is in this range
    while stop - start > 1:
        middle = (start + stop) // 2
        if data.count(b"<", 0, middle) > MAX_MARKS:
            stop = middle
        else:
            start = middle
    return data[:start], True


def base_of(href: str | None, url: str) -> str:
    """Return the address that the links of a page are resolved against, given its ``base`` element's."""
    return (join(url, href) if href else None) or url


def canonical_of(hrefs: Iterable[str], url: str, base: str, charset: str) -> str:
    """Return the one address that a page names as its canonical one, if it is not the page's own."""
    named = {join(base, href, charset) for href in hrefs} - {None}
    found = named.pop() if len(named) == 1 else None
    return found if found and page_id(found) != page_id(url) else ""


def _resolve(links: Iterable[RawLink], base: str, charset: str) -> tuple[tuple[Link, ...], bool]:
    """Return the usable links, each once; and whether some are left out for `MAX_ADDRESS_CHARACTERS`."""
    urls: dict[str, str | None] = {}
    resolved: dict[Link, None] = {}
    room = MAX_ADDRESS_CHARACTERS
    for href, anchor, rel, hreflang in links:
        if href not in urls:
            url = urls[href] = join(base, href, charset)
            room -= len(url or "")
            if room < 0:
                return tuple(resolved), True
        if (known := urls[href]) is not None:
            resolved[Link(known, anchor, rel, hreflang)] = None
    return tuple(resolved), False


def language_of(elements: Elements, content_language: str) -> str:
    """Return the language that a page claims, see `ParsedPage.declared_lang`; the last resort is its header."""
    return _language(elements.lang) or _language(elements.meta_lang) or _language(content_language)


def _language(claim: str) -> str:
    """Write a language tag in BCP 47 letter case; empty for several languages, a name, or nonsense."""
    claim = claim.strip().partition(".")[0].replace("_", "-").lower()
    if not _LANGUAGE.fullmatch(claim):
        return ""
    language, *rest = claim.split("-")
    cased = [part.upper() if len(part) == 2 else part.title() if len(part) == 4 else part for part in rest]
    return "-".join([language, *cased])
