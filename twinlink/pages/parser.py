"""HTML parser: text blocks, tags, links and declared language of a page.

The parser (libxml2 behind lxml) calls `_PageBuilder` for each start tag, end tag and text of the page, in document
order. No tree is built: in the trials, that was faster than each way to walk one, and depth costs no memory or
recursion.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, ParamSpec, Protocol, TypeVar
from urllib.parse import urlencode

from lxml import etree

from twinlink.pages.decoding import decode
from twinlink.urls import MAX_URL_LENGTH, join, page_id

__all__ = [
    "MAX_ADDRESS_BYTES",
    "MAX_ANCHOR_LENGTH",
    "MAX_CHOICES",
    "MAX_LINKS",
    "MAX_MARKS",
    "MAX_NESTING",
    "NESTING_PER_BYTE",
    "OTHER_TAG",
    "SAFE_DEPTH",
    "TAG_CODES",
    "Link",
    "ParsedPage",
    "Target",
    "TooDeepError",
    "collapse",
    "parse_page",
    "run_parser",
]

MAX_ANCHOR_LENGTH = 500
"""Maximum number of characters kept of an anchor text."""

MAX_NESTING = 10**9
"""Depth × end tags at most: an end tag that matches nothing is compared with every open element. It takes libxml2 some
3 s; without a limit, 10 MB of ``<b>`` and ``</i>`` would take hours."""
NESTING_PER_BYTE = 1_000
"""The same for each byte of a small page, so that 128 kB take 0.2 s; a page of any size may nest 4,000 deep."""

SAFE_DEPTH = 1_000
"""Elements inside each other that every page may have. Browsers stop nesting at 512; the deepest page of our tuning
sites has 29, but old pages that never close ``<font>`` can have one for each paragraph."""

MAX_ADDRESS_BYTES = 2**24
"""Characters of all addresses of one page, images apart. The page of our tuning sites that has the most has 0.1
million; with a long ``<base>``, 10 MB of short links would make two billion."""

MAX_MARKS = 1_000_000
"""Start and end tags that are read of a page, counted as ``<``: a second or two. The largest page of our tuning sites
has 227,000."""

MAX_LINKS = 100_000
"""Distinct links of a page that are taken: twice as many as a crawl follows."""

MAX_CHOICES = 100
"""Maximum number of language choices in one form; a longer list is not one of languages."""

OTHER_TAG = 255
"""Code of every tag that `TAG_CODES` does not name."""

# The order is part of the stored tables: append only.
TAG_CODES: Mapping[str, int] = {
    name: code
    for code, name in enumerate(
        "html head title base link meta style script noscript template body article section nav aside h1 h2"
        " h3 h4 h5 h6 hgroup header footer address main p hr pre blockquote ol ul menu li dl dt dd figure"
        " figcaption div a em strong small s cite q dfn abbr ruby rb rt rtc rp data time code var samp kbd sub"
        " sup i b u mark bdi bdo span br wbr ins del picture source img iframe embed object param video audio"
        " track map area svg math table caption colgroup col tbody thead tfoot tr td th form label input"
        " button select datalist optgroup option textarea output progress meter fieldset legend details"
        " summary dialog search slot canvas acronym applet basefont bgsound big blink center dir font frame"
        " frameset isindex keygen layer ilayer listing marquee multicol nextid nobr noembed noframes nolayer"
        " plaintext spacer strike tt xmp image".split()
    )
}
"""Code of each tag of HTML, past and present (0 to 254)."""

# Elements that begin a line of their own and end it, so that their text is a block: the rendering section of the HTML
# standard (display: block, list-item, table and its parts), and the old ones. Each other element is part of a line.
_BLOCK = frozenset(
    "body article section nav aside h1 h2 h3 h4 h5 h6 hgroup header footer address main p hr pre blockquote"
    " ol ul menu li dl dt dd figure figcaption div table caption tbody thead tfoot tr td th form fieldset"
    " legend details summary dialog search select textarea video audio object map center dir frameset listing"
    " marquee multicol noframes plaintext xmp".split()
)
# Their content is not text of the page: code, drawings, templates, fallbacks for browsers without frames.
_SKIPPED = frozenset("script style template svg math noembed canvas datalist".split())
# These part words within a line (methods of the structural papers: "a, br, option act as a space"; a link does not:
# Chinese text has links inside words).
_SPACE = frozenset("br option optgroup button".split())

_BLOCK_ONLY = _BLOCK - {"form", "select"}
# Names of a parameter that chooses the language, and what such a parameter says.
_LANGUAGE_NAME = re.compile(
    r"(?:\w*[-_.])?(?:lang(?:uage|_?id|_?code)?|lng|locale|hl|idioma|langue|sprache)", re.IGNORECASE
)
_LANGUAGE_VALUE = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{2,8}){0,2}|[a-z]{4,20}|\d{1,4}", re.IGNORECASE)
_ADDRESS_VALUE = re.compile(r"https?://|/|\.\.?/|[^\s:?#]+\.(?:html?|php|aspx?|jsp)(?![\w.])", re.IGNORECASE)

# Stands between blocks in what the parser gives: no page has it, for `run_parser` removes it from the bytes, and a
# character reference to it means U+FFFD.
_BREAK = "\0"
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
_REFRESH = re.compile(r"\s*+[\d.]*+\s*+[;,]\s*+(?:url\s*+=\s*+)?+['\"]?([^'\"]*)", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*")
_FEED_BYTES = 2**16
_LONG_TEXT = 2**20
_PAGE_RELATIONS = frozenset(("alternate", "canonical", "next", "prev", "previous"))
_MAX_CANONICALS = 10  # that may be written differently and mean one; of more than one address none counts


class Target(Protocol):
    """Protocol of parser targets for `run_parser`, besides ``start``, ``end`` and ``data``."""

    def close(self) -> None:
        """Finish the page."""
        ...


P = ParamSpec("P")
TargetT = TypeVar("TargetT", bound=Target)


class Link(NamedTuple):
    """One link of a page."""

    url: str
    """Normalised address that it leads to."""
    anchor: str = ""
    """Its text, white space collapsed, at most `MAX_ANCHOR_LENGTH` characters; without text the alternative text of its
    images, its ``title`` or its ``aria-label``; else empty."""
    rel: str = ""
    """``rel`` attribute in lower case; ``refresh`` for the redirection of a meta element, ``form`` for a choice of
    language in a form, ``option`` for one in a menu that leads elsewhere."""
    hreflang: str = ""
    """``hreflang`` attribute in lower case."""


_RawLink = tuple[str, str, str, str]
"""A `Link` whose url is written as in the page."""


class _Form(NamedTuple):
    """A form that asks by GET."""

    action: str
    fixed: list[tuple[str, str]]
    """Its hidden fields."""
    choices: list[tuple[str, str]]
    """Its fields that choose a language, and what can be chosen."""


@dataclass(frozen=True, slots=True)
class ParsedPage:
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
    """True if the rest of the page was not read because it nests too deeply (`MAX_NESTING`) or has more tags than
    `MAX_MARKS`; or the rest of its links, because it has more than `MAX_LINKS`, or their addresses are too long in all
    (`MAX_ADDRESS_BYTES`)."""
    robots: str = ""
    """Content of its ``<meta name=robots>`` elements, lower case, joined by commas."""
    canonical: str = ""
    """Normalised address that its ``<link rel=canonical>`` names; empty where it names none, several, or its own."""


def parse_page(body: bytes, url: str, content_type: str = "", content_language: str = "") -> ParsedPage:
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

    Examples
    --------
    >>> page = parse_page(b"<html lang=zh_hk><h1>Hello</h1><p>a <b>b</b><p><a href=c.html>c", "http://example.org/")
    >>> page.blocks, page.links, page.declared_lang
    (('Hello', 'a b', 'c'), (Link(url='http://example.org/c.html', anchor='c', rel='', hreflang=''),), 'zh-HK')
    """
    page, cut, charset = run_parser(body, content_type, _PageBuilder)
    base = _base(page.base, url)
    links, are_cut = _resolve(page.links, base, charset)
    return ParsedPage(
        url=url,
        title=page.title or "",
        blocks=page.blocks(),
        tags=bytes(page.tags),
        links=links,
        images=tuple(page.images),
        declared_lang=_language(page.lang) or _language(page.meta_lang) or _language(content_language),
        charset=charset,
        cut=cut or page.has_more_links or are_cut,
        robots=",".join(page.robots),
        canonical=_canonical(page.canonicals, url, base, charset),
    )


def run_parser(body: bytes, content_type: str, builder: Callable[[int], TargetT]) -> tuple[TargetT, bool, str]:
    """Run the parser over a page; return the target that gathered it, whether the page was cut, and its encoding.

    Parameters
    ----------
    body, content_type
        As in `parse_page`. What stands behind the first `MAX_MARKS` tags is not read.
    builder : callable
        Makes the target from the greatest depth that it may go to, see `MAX_NESTING`. The target has methods ``start``
        and ``end``, called for each tag (the parser supplies html, body, the head around what belongs there, and each
        end tag), ``data``, called for each text, and ``close``, which may be called twice. ``start`` raises
        `TooDeepError` beyond that depth.
    """
    text, charset = decode(body, content_type)
    data, cut = _first_marks(text.encode("utf-8", "replace").replace(b"\0", b""))
    del text  # large pages: one emoji makes Python take four bytes for each character
    nesting = min(MAX_NESTING, NESTING_PER_BYTE * len(data))
    page = builder(max(SAFE_DEPTH, nesting // (1 + data.count(b"</"))))
    # The encoding given here overrides what the page declares.
    target: Any = page  # the stubs ask for methods that lxml does not need
    parser = etree.HTMLParser(target=target, encoding="utf-8", huge_tree=True)
    try:
        # An exception from the target stops the parser only at the end of what it was fed.
        for start in range(0, len(data), _FEED_BYTES):
            parser.feed(data[start : start + _FEED_BYTES])
        if data:
            parser.close()
    except TooDeepError:
        cut = True
    page.close()
    return page, cut, charset


def _first_marks(data: bytes) -> tuple[bytes, bool]:
    """Return a page up to its first `MAX_MARKS` signs ``<``, and whether it has more."""
    if data.count(b"<") <= MAX_MARKS:
        return data, False
    start, stop = 0, len(data)  # the mark behind the last one that is read is in this range
    while stop - start > 1:
        middle = (start + stop) // 2
        if data.count(b"<", 0, middle) > MAX_MARKS:
            stop = middle
        else:
            start = middle
    return data[:start], True


class TooDeepError(Exception):
    """The page nests too deeply."""


def _signed(method: Callable[P, None]) -> Callable[P, None]:
    """Keep a method's signature at hand: lxml asks for it at each page, and to work it out takes long."""
    vars(method)["__signature__"] = inspect.signature(method)
    return method


class _PageBuilder:
    """Target of the parser: gathers a page from its start tags, end tags and texts."""

    def __init__(self, max_depth: int) -> None:
        self.title: str | None = None
        self.tags = bytearray()
        self.links: dict[_RawLink, None] = {}
        self.has_more_links = False
        self.images: list[str] = []
        self.base: str | None = None
        self.lang = ""
        self.meta_lang = ""
        self.robots: list[str] = []
        self.canonicals: set[str] = set()
        self._form: _Form | None = None
        self._select: Mapping[str, str] = {}  # attributes of the last ``select`` element
        self._chunks: list[str] = []  # texts of the page so far, and breaks between its blocks
        self.data = self._chunks.append  # called for each text
        self._depth = 0
        self._max_depth = max_depth
        self._skipped = 0  # depth of the element that is being skipped, 0 for none
        self._mark = 0  # chunks before the title or the skipped element
        self._anchor: Mapping[str, str] | None = None  # attributes of the ``a`` element that is open
        self._anchor_mark = 0  # chunks before it
        self._alternatives: list[str] = []  # of the images in it

    @_signed
    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take a start tag."""
        self._depth += 1
        if self._depth > self._max_depth:
            raise TooDeepError
        if self._skipped:
            return
        code, is_block, take = _STARTS.get(tag, _OTHER)
        self.tags.append(code)
        if is_block:
            self._chunks.append(_BREAK)
        elif take is not None:
            take(self, attributes)

    def end(self, tag: str) -> None:
        """Take an end tag; the parser supplies those that the page lacks."""
        depth = self._depth
        self._depth -= 1
        if self._skipped:
            if self._skipped == depth:
                self._skipped = 0
                del self._chunks[self._mark :]
        elif tag in _BLOCK:
            self._chunks.append(_BREAK)
        elif tag == "a":
            self._end_anchor()
        elif tag == "title":
            self._end_title()

    def close(self) -> None:
        """Finish the page."""
        self._end_anchor()
        self._close_form()

    def blocks(self) -> tuple[str, ...]:
        """Return the text of each block, and release it here to save memory."""
        text = "".join(self._chunks)
        self._chunks.clear()
        pieces = text.split(_BREAK)
        del text
        for number, piece in enumerate(pieces):
            block = piece.strip()
            # The test of `collapse`, without a call for each piece: most are empty or need nothing.
            pieces[number] = block if block.isprintable() and "  " not in block else collapse(block)
        return tuple(filter(None, pieces))

    def _start_skipped(self, _attributes: Mapping[str, str]) -> None:
        self._skipped = self._depth
        self._mark = len(self._chunks)

    def _start_space(self, _attributes: Mapping[str, str]) -> None:
        self._chunks.append(" ")

    def _start_anchor(self, attributes: Mapping[str, str]) -> None:
        if "href" in attributes:
            self._anchor = attributes
            self._anchor_mark = len(self._chunks)
            self._alternatives.clear()

    def _end_anchor(self) -> None:
        attributes = self._anchor
        self._anchor = None
        if attributes is not None and not self.has_more_links:
            text = collapse("".join(self._chunks[self._anchor_mark :]).replace(_BREAK, " "))
            text = text or collapse(" ".join(self._alternatives))
            self._add_link(attributes, "href", text[:MAX_ANCHOR_LENGTH] if text else _name(attributes))

    def _start_form(self, attributes: Mapping[str, str]) -> None:
        self._chunks.append(_BREAK)
        self._close_form()
        if attributes.get("method", "get").strip().lower() in ("", "get"):
            self._form = _Form(attributes.get("action", ""), [], [])

    def _start_select(self, attributes: Mapping[str, str]) -> None:
        self._chunks.append(_BREAK)
        self._select = attributes

    def _start_option(self, attributes: Mapping[str, str]) -> None:
        self._chunks.append(" ")
        value = attributes.get("value")
        if not value:
            return
        self._choose(self._select.get("name", ""), value)
        if "onchange" in self._select and _ADDRESS_VALUE.match(value):  # a menu that leads to what it names
            self._take_link((value, "", "option", ""))

    def _start_input(self, attributes: Mapping[str, str]) -> None:
        kind = attributes.get("type", "").lower()
        name = attributes.get("name", "")
        if kind == "hidden" and self._form is not None and name:
            self._form.fixed.append((name, attributes.get("value", "")))
        elif kind in ("submit", "radio"):
            self._choose(name, attributes.get("value", ""))

    def _start_button(self, attributes: Mapping[str, str]) -> None:
        self._chunks.append(" ")
        self._choose(attributes.get("name", ""), attributes.get("value", ""))

    def _choose(self, name: str, value: str) -> None:
        """Take a choice of a form, if it is one of language."""
        form = self._form
        if form is not None and name and _LANGUAGE_NAME.fullmatch(name) and _LANGUAGE_VALUE.fullmatch(value):
            form.choices.append((name, value))

    def _close_form(self) -> None:
        form = self._form
        self._form = None
        if form is None or not 0 < len(form.choices) <= MAX_CHOICES:
            return
        names = {name for name, _ in form.choices}
        if sum(len(key) + len(content) + 2 for key, content in form.fixed if key not in names) > MAX_URL_LENGTH:
            return  # so would each of its addresses be
        address = form.action.partition("#")[0].partition("?")[0]
        for name, value in form.choices:
            fixed = [(key, content) for key, content in form.fixed if key != name]
            self._take_link((f"{address}?{urlencode([*fixed, (name, value)])}", "", "form", ""))

    def _start_title(self, _attributes: Mapping[str, str]) -> None:
        self._mark = len(self._chunks)

    def _end_title(self) -> None:
        if self.title is None:
            self.title = collapse("".join(self._chunks[self._mark :]))
        del self._chunks[self._mark :]

    def _start_image(self, attributes: Mapping[str, str]) -> None:
        if self._anchor is not None and attributes.get("alt"):
            self._alternatives.append(attributes["alt"])
        source = attributes.get("src", "")
        if source and not source.startswith("data:"):
            name = source.partition("#")[0].partition("?")[0].rstrip().rpartition("/")[2]
            if name:
                self.images.append(_CONTROL.sub("", name))

    def _start_area(self, attributes: Mapping[str, str]) -> None:
        self._add_link(attributes, "href", _name(attributes, "alt"))

    def _start_frame(self, attributes: Mapping[str, str]) -> None:
        self._add_link(attributes, "src", _name(attributes))

    def _start_iframe(self, attributes: Mapping[str, str]) -> None:
        self._start_frame(attributes)
        self._start_skipped(attributes)

    def _start_link(self, attributes: Mapping[str, str]) -> None:
        relations = attributes.get("rel", "").lower().split()
        kind = attributes.get("type", "").lower()
        # An alternate style sheet or a news feed is no page.
        if not _PAGE_RELATIONS.isdisjoint(relations) and "stylesheet" not in relations and (not kind or "html" in kind):
            self._add_link(attributes, "href", _name(attributes))
            if "canonical" in relations and len(self.canonicals) < _MAX_CANONICALS and attributes.get("href"):
                self.canonicals.add(attributes["href"])

    def _start_base(self, attributes: Mapping[str, str]) -> None:
        if self.base is None:
            self.base = attributes.get("href")

    def _start_html(self, attributes: Mapping[str, str]) -> None:
        self.lang = self.lang or attributes.get("lang", "") or attributes.get("xml:lang", "")

    def _start_meta(self, attributes: Mapping[str, str]) -> None:
        pragma = attributes.get("http-equiv", "").lower()
        if pragma == "content-language":
            self.meta_lang = self.meta_lang or attributes.get("content", "")
        elif pragma == "refresh":
            refresh = _REFRESH.match(attributes.get("content", ""))
            if refresh and refresh[1].strip():
                self._take_link((refresh[1].strip(), "", "refresh", ""))
        elif attributes.get("name", "").lower() == "robots":
            self.robots.append(attributes.get("content", "").lower())

    def _add_link(self, attributes: Mapping[str, str], key: str, anchor: str) -> None:
        href = attributes.get(key)
        if href is None or href.lstrip().startswith("#"):
            return
        rel = attributes.get("rel", "")
        hreflang = attributes.get("hreflang", "")
        self._take_link((href, anchor, rel and collapse(rel).lower(), hreflang and collapse(hreflang).lower()))

    def _take_link(self, link: _RawLink) -> None:
        if len(self.links) < MAX_LINKS:
            self.links[link] = None
        elif link not in self.links:
            self.has_more_links = True


_Take = Callable[[_PageBuilder, Mapping[str, str]], None]
_TAKES: Mapping[str, _Take] = {
    **dict.fromkeys(_SKIPPED, _PageBuilder._start_skipped),
    **dict.fromkeys(_SPACE, _PageBuilder._start_space),
    "a": _PageBuilder._start_anchor,
    "area": _PageBuilder._start_area,
    "base": _PageBuilder._start_base,
    "button": _PageBuilder._start_button,
    "form": _PageBuilder._start_form,
    "frame": _PageBuilder._start_frame,
    "html": _PageBuilder._start_html,
    "iframe": _PageBuilder._start_iframe,
    "img": _PageBuilder._start_image,
    "input": _PageBuilder._start_input,
    "link": _PageBuilder._start_link,
    "meta": _PageBuilder._start_meta,
    "option": _PageBuilder._start_option,
    "select": _PageBuilder._start_select,
    "title": _PageBuilder._start_title,
}
_OTHER: tuple[int, bool, _Take | None] = (OTHER_TAG, False, None)
_STARTS: Mapping[str, tuple[int, bool, _Take | None]] = {
    tag: (code, tag in _BLOCK_ONLY, _TAKES.get(tag)) for tag, code in TAG_CODES.items()
}
"""Code of each tag, whether it begins a block and no more, and what else is to be done: one look for all three."""


def _name(attributes: Mapping[str, str], *keys: str) -> str:
    for key in (*keys, "title", "aria-label"):
        if name := collapse(attributes.get(key, "")):
            return name[:MAX_ANCHOR_LENGTH]
    return ""


def collapse(text: str) -> str:
    """Put one space for each run of white space (no-break and ideographic spaces too), remove control characters."""
    text = text.strip()
    # All white space but the plain space is unprintable.
    return text if text.isprintable() and "  " not in text else _clean(_spaced(text))


def _spaced(text: str) -> str:
    """Put one space for each run of white space, and none at either end."""
    if len(text) <= _LONG_TEXT:
        return " ".join(text.split())
    # In pieces: as objects of their own, all words of a long text would take up ten times its size.
    parts: list[str] = []
    ends_word = False
    for start in range(0, len(text), _LONG_TEXT):
        part = text[start : start + _LONG_TEXT]
        words = " ".join(part.split())
        if words:
            parts += [" "] if parts and (ends_word or part[0].isspace()) else []
            parts.append(words)
        ends_word = part[-1].isspace() or (ends_word and not words)
    return "".join(parts)


def _clean(text: str) -> str:
    return text if text.isprintable() else " ".join(_CONTROL.sub("", text).split())


def _base(href: str | None, url: str) -> str:
    return (join(url, href) if href else None) or url


def _canonical(hrefs: Iterable[str], url: str, base: str, charset: str) -> str:
    """Return the one address that a page names as its canonical one, if it is not the page's own."""
    named = {join(base, href, charset) for href in hrefs} - {None}
    found = named.pop() if len(named) == 1 else None
    return found if found and page_id(found) != page_id(url) else ""


def _resolve(links: Iterable[_RawLink], base: str, charset: str) -> tuple[tuple[Link, ...], bool]:
    """Return the usable links, each once; and whether some are left out for `MAX_ADDRESS_BYTES`."""
    urls: dict[str, str | None] = {}
    resolved: dict[Link, None] = {}
    room = MAX_ADDRESS_BYTES
    for href, anchor, rel, hreflang in links:
        if href not in urls:
            url = urls[href] = join(base, href, charset)
            room -= len(url or "")
            if room < 0:
                return tuple(resolved), True
        if (known := urls[href]) is not None:
            resolved[Link(known, anchor, rel, hreflang)] = None
    return tuple(resolved), False


def _language(claim: str) -> str:
    """Write a language tag in BCP 47 letter case; empty for several languages, a name, or nonsense."""
    claim = claim.strip().partition(".")[0].replace("_", "-").lower()
    if not _LANGUAGE.fullmatch(claim):
        return ""
    language, *rest = claim.split("-")
    cased = [part.upper() if len(part) == 2 else part.title() if len(part) == 4 else part for part in rest]
    return "-".join([language, *cased])
