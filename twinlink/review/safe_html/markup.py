"""Preparation of a page for the sanitiser: links without addresses, pictures from the archive, bounded size and depth.

The result is still unsafe; `look` decides about every tag and attribute. This module does what a sanitiser does not: it
preserves the look of the page and bounds the time.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import ada_url

from twinlink.review.safe_html.html_tokens import (
    Declaration,
    EndTag,
    RawText,
    StartTag,
    Text,
    attributes_of,
    tokens,
    unescape,
    unescape_text,
)

TAGS = frozenset(
    """a abbr acronym address area article aside b bdi bdo big blink blockquote br button caption center cite code col
    colgroup data dd del details dfn dir div dl dt em fieldset figcaption figure font footer h1 h2 h3 h4 h5 h6 header
    hgroup hr i img input ins kbd label legend li main map mark marquee menu meter nav nobr ol optgroup option output p
    pre progress q rb rp rt rtc ruby s samp search section select small span strike strong sub summary sup table tbody
    td textarea tfoot th thead time tr tt u ul var wbr""".split()
)
"""Elements that are kept; other elements are replaced by their content."""

DROPPED = frozenset(
    """script style title noscript template iframe noembed noframes svg math video audio canvas dialog portal
    fencedframe""".split()
)
"""Elements that are removed with their content: it runs, loads, is parsed differently, or was not visible."""

ATTRIBUTES = frozenset(
    """abbr align alt aria-expanded aria-hidden aria-selected background bgcolor border cellpadding cellspacing checked
    class clear color cols colspan compact data-link dir disabled face headers height hidden hspace id label lang max
    min multiple noshade nowrap open placeholder readonly reversed role rows rowspan rules scope selected size span src
    start style summary title type valign value vspace width""".split()
)
"""Attributes that are kept. Only ``src`` and ``background`` hold addresses: those of the archive's pictures."""
MAX_MARKUP = 2_000_000
"""Characters of markup shown per page; browsers take a second to lay out a table of this size."""

_MAX_DEPTH = 300  # nested elements that are kept; browsers stop at 512, tuning sites have 29 at most
_MAX_WORK = 1_000_000  # elements that the parser may have to reopen: an unclosed <b> continues in each paragraph
_MAX_VALUE = 10_000  # characters of an attribute, except pictures embedded in the page

_LEADING = frozenset(("src", "background", "data-link"))
_VOID = frozenset("area br col hr img input wbr".split())
_CLOSE_EACH_OTHER = frozenset(
    "a nobr p li dd dt td th tr tbody thead tfoot option optgroup rb rt rp rtc colgroup".split()
)
_FORMATTING = frozenset("b big code em font i s small strike strong tt u".split())
_KEPT_EMPTY = DROPPED | {"object", "applet"}
_LEGACY_COLOURS = {"link": "a[data-link]", "vlink": "", "alink": "", "text": "body"}
_COLOUR = re.compile(r"#?[0-9a-zA-Z]{1,20}")
_PICTURE = re.compile(r"data:image/(?:png|gif|jpe?g|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)[;,]", re.IGNORECASE)
_DOCTYPE = re.compile(
    r"doctype\s+html(?:\s+(?:public|system)\s+\"[\w ./:+-]*\"(?:\s+\"[\w ./:+-]*\")?)?\s*", re.IGNORECASE
)
_SHOWN_SCHEMES = ("http://", "https://", "mailto:", "ftp://", "tel:")

# The time of ammonia is quadratic in the number of ampersands in a text. These three are therefore replaced by
# characters that no text may contain, and restored as references.
_HELD = {"&": "\ufdd0", "<": "\ufdd1", '"': "\ufdd2"}
_UNFIT = re.compile("[\0\ud800-\udfff\ufdd0-\ufdd2]")


def held(text: str) -> str:
    """Return a text or value with the characters of markup replaced by placeholders."""
    for character, holder in _HELD.items():
        text = text.replace(character, holder)
    return text


def released(markup: str) -> str:
    """Return markup with placeholders replaced by references."""
    for character, holder in _HELD.items():
        markup = markup.replace(holder, html.escape(character))
    return markup


def restored(value: str) -> str:
    """Return the original of a text that `held` returned."""
    for character, holder in _HELD.items():
        value = value.replace(holder, character)
    return value


class StyleSource(NamedTuple):
    """A style sheet of the page: its text or its address."""

    css: str
    href: str
    """Absolute address; empty if ``css`` is the style sheet."""
    media: str


@dataclass
class Prepared:
    """A page prepared for the sanitiser."""

    base: str
    """Base of its relative addresses."""
    doctype: str = ""
    title: str | None = None
    html: str = ""
    """Attributes of the html element, as written in a tag."""
    body: str = ""
    styles: list[StyleSource] = field(default_factory=list)
    colours: dict[str, str] = field(default_factory=dict)
    """Colours from attributes of the body element, by selector."""
    pictures: set[str] = field(default_factory=set)
    """Addresses of the archive's pictures in the markup."""
    markup: str = ""
    is_cut: bool = False
    """Whether the end of the page was left out."""


def prepare(page: str, url: str, resource_url: Callable[[str], str | None]) -> Prepared:
    """Prepare a page for the sanitiser, in linear time.

    Parameters
    ----------
    page : str
        HTML.
    url : str
        Its address.
    resource_url : callable
        Maps the absolute address of a picture to the address to show, or None.
    """
    preparation = _Preparation(url, resource_url)
    for token in tokens(_UNFIT.sub("\ufffd", page)):
        preparation.take(token)
        if preparation.is_full:
            break
    return preparation.finish()


def picture_url(url: str, base: str, resource_url: Callable[[str], str | None]) -> str | None:
    """Return the address under which a picture can be shown; None: there is none."""
    if _PICTURE.match(url.strip()):
        return url.strip()
    absolute = absolute_url(url, base)
    return resource_url(absolute) if absolute.startswith(("http://", "https://")) else None


def absolute_url(url: str, base: str) -> str:
    """Return an address as a browser resolves it; empty: it is invalid."""
    try:
        return str(ada_url.join_url(base, url)) if base else str(ada_url.normalize_url(url))
    except ValueError:
        return ""


class _Preparation:
    """Writes the prepared page, token by token."""

    def __init__(self, url: str, resource_url: Callable[[str], str | None]) -> None:
        self.page = Prepared(url)
        self._url = url
        self._resource_url = resource_url
        self._has_base = False
        self._written: list[str] = []
        self._n_written = 0
        self._work = 0
        self._open: Counter[str] = Counter()
        self._depth = 0
        self._formatting = 0

    @property
    def is_full(self) -> bool:
        """Whether the limit is reached and the rest of the page is left out."""
        return self._n_written > MAX_MARKUP or self._work > _MAX_WORK

    def take(self, token: Text | StartTag | EndTag | RawText | Declaration) -> None:
        """Process the next token."""
        if isinstance(token, Text):
            self._write_text(unescape_text(token.text))
        elif isinstance(token, StartTag):
            self._start(token)
        elif isinstance(token, EndTag):
            self._end(token.name)
        elif isinstance(token, RawText):
            self._raw(token)
        elif not self._written and not self.page.doctype and _DOCTYPE.fullmatch(token.text):
            self.page.doctype = f"<!{token.text}>"

    def finish(self) -> Prepared:
        """Return the prepared page."""
        self.page.is_cut = self.is_full
        self.page.markup = "".join(self._written)
        return self.page

    def _write(self, text: str) -> None:
        self._written.append(text)
        self._n_written += len(text)

    def _write_text(self, text: str) -> None:
        self._write(held(text[: max(MAX_MARKUP + 1 - self._n_written, 0)]))

    def _start(self, tag: StartTag) -> None:
        name = tag.name
        if name in {"html", "body", "base", "link"}:
            self._take_head(name, attributes_of(tag.source))
        elif name in _KEPT_EMPTY:
            if not tag.closed:
                self._opened(name, "")
        elif name == "image":  # as browsers read it
            self._start(tag._replace(name="img"))
        elif name == "form":  # the return key would submit a form
            self._opened("div", self._attributes("div", tag.source))
        elif name == "input" and "type" in tag.source.lower():
            self._input(tag)
        elif name in TAGS:
            self._opened(name, self._attributes(name, tag.source))

    def _input(self, tag: StartTag) -> None:
        kind = unescape(attributes_of(tag.source).get("type", "")).strip().lower()
        if kind == "image":
            self._start(tag._replace(name="img"))
        elif kind != "hidden":
            self._opened("input", self._attributes("input", tag.source))

    def _opened(self, name: str, attributes: str) -> None:
        self._work += 1 + self._formatting
        if name not in _VOID:
            if self._depth >= _MAX_DEPTH:
                return
            if name not in _CLOSE_EACH_OTHER:
                self._depth += 1
                self._formatting += name in _FORMATTING
            self._open[name] += 1
        self._write(f"<{name}{attributes}>")

    def _end(self, name: str) -> None:
        name = "div" if name == "form" else name
        self._work += 1 + self._formatting
        if name == "br":
            self._write("<br>")
        elif self._open[name] > 0:
            self._open[name] -= 1
            if name not in _CLOSE_EACH_OTHER:
                self._depth -= 1
                self._formatting -= name in _FORMATTING
            self._write(f"</{name}>")
        elif name == "p":
            self._write("<p></p>")

    def _raw(self, raw: RawText) -> None:
        if raw.name == "style":
            media = unescape(attributes_of(raw.source).get("media", ""))
            self.page.styles.append(StyleSource(raw.text, "", media))
        elif raw.name == "title" and self.page.title is None:
            self.page.title = unescape_text(raw.text[:_MAX_VALUE])
        elif raw.name == "textarea":
            self._write(f"<textarea{self._attributes('textarea', raw.source)}>\n")
            self._write_text(unescape_text(raw.text))
            self._write("</textarea>")
        elif raw.name in {"xmp", "plaintext"}:
            self._write("<pre>")
            self._write_text(raw.text)
            self._write("</pre>")

    def _take_head(self, name: str, attributes: dict[str, str]) -> None:
        if name == "base":
            if not self._has_base and "href" in attributes:
                self._has_base = True
                base = absolute_url(unescape(attributes["href"]), self._url)
                self.page.base = base if base.startswith(("http://", "https://")) else self._url
        elif name == "link":
            self._take_link({key: unescape(value) for key, value in attributes.items()})
        elif name == "html":
            if "lang" not in attributes and "xml:lang" in attributes:
                attributes["lang"] = attributes["xml:lang"]
            self.page.html = self.page.html or self._written_attributes(name, attributes)
        elif not self.page.body:
            self.page.body = self._written_attributes(name, attributes)
            for key, selector in _LEGACY_COLOURS.items():
                if selector and _COLOUR.fullmatch(attributes.get(key, "")):
                    self.page.colours[selector] = attributes[key]

    def _take_link(self, attributes: dict[str, str]) -> None:
        kinds = attributes.get("rel", "").lower().split()
        if "stylesheet" in kinds and "alternate" not in kinds and "disabled" not in attributes:
            href = absolute_url(attributes.get("href", ""), self.page.base)
            if href:
                self.page.styles.append(StyleSource("", href, attributes.get("media", "")))

    def _attributes(self, name: str, source: str) -> str:
        return self._written_attributes(name, attributes_of(source)) if source else ""

    def _written_attributes(self, name: str, attributes: dict[str, str]) -> str:
        kept = {
            key: unescape(value)
            for key, value in attributes.items()
            if key in ATTRIBUTES and key not in _LEADING and len(value) <= _MAX_VALUE
        }
        if name in {"a", "area"} and "href" in attributes:
            kept |= self._dead_link(unescape(attributes["href"]), kept.get("title", ""))
        for key in ("src", "background"):
            if key in attributes and (key == "background" or name == "img"):
                kept |= self._picture(key, unescape(attributes[key]))
        if not kept:
            return ""
        return "".join([f' {key}="{held(value)}"' for key, value in kept.items()])

    def _picture(self, key: str, url: str) -> dict[str, str]:
        ours = picture_url(url, self.page.base, self._resource_url)
        if ours is None:
            return {}
        self.page.pictures.add(ours)
        return {key: ours}

    def _dead_link(self, href: str, title: str) -> dict[str, str]:
        """Return the attributes of a link without target; its title names the original address."""
        address = absolute_url(href, self.page.base)
        if not address.lower().startswith(_SHOWN_SCHEMES) or len(address) > _MAX_VALUE:
            return {"data-link": ""}
        return {"data-link": address, "title": f"{title} — {address}" if title.strip() else address}
