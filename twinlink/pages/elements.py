"""Content of single elements of a page, beside its text: links, images, language choices of forms, claims."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from twinlink.pages.spaces import CONTROL, collapse
from twinlink.urls import MAX_URL_LENGTH

MAX_ANCHOR_LENGTH = 500
"""Maximum number of characters kept of an anchor text."""

MAX_LINKS = 100_000
"""Distinct links of a page that are taken: twice as many as a crawl follows."""

MAX_CHOICES = 100
"""Maximum number of language choices in one form; a longer list is not one of languages."""

ATTRIBUTES = frozenset(
    "action alt aria-label content href hreflang http-equiv lang method name onchange rel src title type value"
    " xml:lang".split()
)
"""Attributes that `Elements` reads."""

# Names of a parameter that chooses the language, and what such a parameter says.
_LANGUAGE_NAME = re.compile(
    r"(?:\w*[-_.])?(?:lang(?:uage|_?id|_?code)?|lng|locale|hl|idioma|langue|sprache)", re.IGNORECASE
)
_LANGUAGE_VALUE = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{2,8}){0,2}|[a-z]{4,20}|\d{1,4}", re.IGNORECASE)
_ADDRESS_VALUE = re.compile(r"https?://|/|\.\.?/|[^\s:?#]+\.(?:html?|php|aspx?|jsp)(?![\w.])", re.IGNORECASE)
_REFRESH = re.compile(
    r"\s*+[\d.]*+(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?+(?:'([^']*)|\"([^\"]*)|(.*))", re.IGNORECASE | re.DOTALL
)
_PAGE_RELATIONS = frozenset(("alternate", "canonical", "next", "prev", "previous"))
_MAX_CANONICALS = 10  # that may be written differently and mean one; of more than one address none counts

Attributes = Mapping[str, str]


class RawLink(NamedTuple):
    """One link of a page, as it is written there."""

    href: str
    anchor: str = ""
    """See `twinlink.pages.parser.Link`, which also explains the other two."""
    rel: str = ""
    hreflang: str = ""


class _Form(NamedTuple):
    """A form that asks by GET."""

    action: str
    fixed: list[tuple[str, str]]
    """Its hidden fields."""
    choices: list[tuple[str, str]]
    """Its fields that choose a language, and what can be chosen."""


class Elements:
    """Gathers what the elements of a page say: each is given by its name and attributes, in document order."""

    def __init__(self) -> None:
        self.links: dict[RawLink, None] = {}
        self.has_more_links = False
        self.images: list[str] = []
        self.base: str | None = None
        self.lang = ""
        self.meta_lang = ""
        self.robots: list[str] = []
        self.canonicals: set[str] = set()
        self._form: _Form | None = None
        self._select: Attributes = {}  # attributes of the last ``select`` element

    def close(self) -> None:
        """Finish the page."""
        self._close_form()

    def add(self, link: RawLink | None) -> None:
        """Take a link, if there is one."""
        if link is None:
            return
        if len(self.links) < MAX_LINKS:
            self.links[link] = None
        elif link not in self.links:
            self.has_more_links = True

    def _start_form(self, attributes: Attributes) -> None:
        self._close_form()
        if attributes.get("method", "get").strip().lower() in ("", "get"):
            self._form = _Form(attributes.get("action", ""), [], [])

    def _start_select(self, attributes: Attributes) -> None:
        self._select = attributes

    def _start_option(self, attributes: Attributes) -> None:
        value = attributes.get("value")
        if not value:
            return
        self._choose(self._select.get("name", ""), value)
        if "onchange" in self._select and _ADDRESS_VALUE.match(value):  # a menu that leads to what it names
            self.add(RawLink(value, "", "option"))

    def _start_input(self, attributes: Attributes) -> None:
        kind = attributes.get("type", "").lower()
        name = attributes.get("name", "")
        if kind == "hidden" and self._form is not None and name:
            self._form.fixed.append((name, attributes.get("value", "")))
        elif kind in ("submit", "radio"):
            self._choose(name, attributes.get("value", ""))

    def _start_button(self, attributes: Attributes) -> None:
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
            self.add(RawLink(f"{address}?{urlencode([*fixed, (name, value)])}", "", "form"))

    def _start_image(self, attributes: Attributes) -> None:
        source = attributes.get("src", "")
        if source and not source.startswith("data:"):
            name = source.partition("#")[0].partition("?")[0].rstrip().rpartition("/")[2]
            if name:
                self.images.append(CONTROL.sub("", name))

    def _start_area(self, attributes: Attributes) -> None:
        self.add(_link(attributes, "href", _name(attributes, "alt")))

    def _start_frame(self, attributes: Attributes) -> None:
        self.add(_link(attributes, "src", _name(attributes)))

    def _start_link(self, attributes: Attributes) -> None:
        relations = attributes.get("rel", "").lower().split()
        kind = attributes.get("type", "").lower()
        # An alternate style sheet or a news feed is no page.
        if not _PAGE_RELATIONS.isdisjoint(relations) and "stylesheet" not in relations and (not kind or "html" in kind):
            self.add(_link(attributes, "href", _name(attributes)))
            if "canonical" in relations and len(self.canonicals) < _MAX_CANONICALS and attributes.get("href"):
                self.canonicals.add(attributes["href"])

    def _start_base(self, attributes: Attributes) -> None:
        if self.base is None:
            self.base = attributes.get("href")

    def _start_html(self, attributes: Attributes) -> None:
        self.lang = self.lang or attributes.get("lang", "") or attributes.get("xml:lang", "")

    def _start_meta(self, attributes: Attributes) -> None:
        pragma = attributes.get("http-equiv", "").lower()
        if pragma == "content-language":
            self.meta_lang = self.meta_lang or attributes.get("content", "")
        elif pragma == "refresh":
            refresh = _REFRESH.match(attributes.get("content", ""))
            if refresh and (address := refresh[refresh.lastindex or 0].strip()):
                self.add(RawLink(address, "", "refresh"))
        elif attributes.get("name", "").lower() == "robots":
            self.robots.append(attributes.get("content", "").lower())


Take = Callable[[Elements, Attributes], None]

TAKES: Mapping[str, Take] = {
    "area": Elements._start_area,
    "base": Elements._start_base,
    "button": Elements._start_button,
    "form": Elements._start_form,
    "frame": Elements._start_frame,
    "html": Elements._start_html,
    "iframe": Elements._start_frame,
    "img": Elements._start_image,
    "input": Elements._start_input,
    "link": Elements._start_link,
    "meta": Elements._start_meta,
    "option": Elements._start_option,
    "select": Elements._start_select,
}
"""What to do with the start tag of an element; ``a`` elements are taken at their end (`anchor_link`)."""


def anchor_link(attributes: Attributes, text: str, alternatives: Iterable[str] = ()) -> RawLink | None:
    """Return the link of an ``a`` element, by its text and the alternative texts of the images in it."""
    anchor = collapse(text) or collapse(" ".join(alternatives))
    return _link(attributes, "href", anchor[:MAX_ANCHOR_LENGTH] if anchor else _name(attributes))


def _link(attributes: Attributes, key: str, anchor: str) -> RawLink | None:
    href = attributes.get(key)
    if href is None or href.lstrip().startswith("#"):
        return None
    rel = attributes.get("rel", "")
    hreflang = attributes.get("hreflang", "")
    return RawLink(href, anchor, rel and collapse(rel).lower(), hreflang and collapse(hreflang).lower())


def _name(attributes: Attributes, *keys: str) -> str:
    for key in (*keys, "title", "aria-label"):
        if name := collapse(attributes.get(key, "")):
            return name[:MAX_ANCHOR_LENGTH]
    return ""
