"""The look of a page: an HTML document without scripts, requests and links."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from functools import partial

import nh3

from twinlink.review.records import Document
from twinlink.review.safe_html.markup import (
    ATTRIBUTES,
    DROPPED,
    MAX_MARKUP,
    TAGS,
    Prepared,
    StyleSource,
    held,
    picture_url,
    prepare,
    released,
    restored,
)
from twinlink.review.safe_html.style_sheets import Sheet, read_sheet, read_style

MAX_SHEETS = 2_000_000
"""Characters of style sheets read per page, in total."""

_INPUTS = frozenset("text search email url tel number range date time month week color checkbox radio password".split())
_BUTTONS = frozenset("button submit reset".split())
# Links without an address look like links; rules of the page take precedence.
_BASE_STYLE = ":where(a[data-link]){color:LinkText;text-decoration:underline;cursor:default}"
# A second defence: if anything unsafe remains, the browser does not run it, and loads pictures at most.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src * data:; form-action 'none'; base-uri 'none'"
_MEDIA = re.compile(r"[\w\s,.:()/><=-]{0,500}")
_NOTE_STYLE = "all:revert;display:block;clear:both;margin:1em;padding:1em;border:2px solid;font:1em sans-serif"


def look(
    document: Document,
    resource_url: Callable[[str], str | None],
    style_sheet: Callable[[str], str | None] | None = None,
) -> str:
    """Return a page as it looked, as an HTML document that is safe to show, with or without a sandbox.

    Scripts, frames, plug-ins, media, embedded SVG and MathML are removed, and so are all addresses: a link keeps its
    text, and its title names its target. Forms are visible but cannot be sent. Pictures are those that ``resource_url``
    knows, and those (PNG, GIF, JPEG, WebP, AVIF, BMP, ICO) embedded in the page. Style sheets and style attributes are
    reduced to rules that load nothing. nh3 (ammonia: a browser's parser, lists of allowed names) decides what is shown;
    after it, only the placeholders of three characters are replaced.

    If a page has more than `MAX_MARKUP` characters of markup, a note replaces the end; elements nested deeper than 300
    are flattened. Time and memory are bounded.

    Parameters
    ----------
    document : Document
        The page.
    resource_url : callable
        Maps the absolute address of a picture to the address to show (possibly ``data:``); None: not in the archives.
    style_sheet : callable, optional
        Maps the absolute address of a style sheet to its text; None: not in the archives. Sheets are put into the
        document, since a sandboxed frame could not load them. `twinlink.review.safe_html.embedding` provides both.

    Returns
    -------
    str
        The document; its encoding is UTF-8.

    Examples
    --------
    >>> page = Document("http://example.org/a/", "<a href='b.html' onclick='run()'>text<script>run()</script></a>")
    >>> print(look(page, lambda url: None).partition("<body>")[2])
    <a data-link="http://example.org/a/b.html" title="http://example.org/a/b.html">text</a></body></html>
    """
    page = prepare(document.text, document.url, resource_url)
    url_of = partial(picture_url, base=page.base, resource_url=resource_url)
    filter_attribute = _Filter(page, url_of)
    body = _sanitised(page.markup, filter_attribute)
    html_tag, body_tag = (_only_attributes(attributes, filter_attribute) for attributes in (page.html, page.body))
    note = _note(len(document.text)) if page.is_cut else ""
    return (
        f'{page.doctype}<html{html_tag}><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(page.title or '')}</title><style>{_base_style(page)}</style>"
        f"{_sheets(page, resource_url, style_sheet)}</head><body{body_tag}>{body}{note}</body></html>"
    )


class _Filter:
    """Decides about the values of allowed attributes."""

    def __init__(self, page: Prepared, url_of: Callable[[str], str | None]) -> None:
        self._pictures = page.pictures
        self._url_of = url_of
        self._styles: dict[str, str | None] = {}

    def __call__(self, tag: str, name: str, value: str) -> str | None:
        """Return the value to show; None: the attribute is removed."""
        kept = self._kept(tag, name, restored(value))
        return None if kept is None else held(kept)

    def _kept(self, tag: str, name: str, value: str) -> str | None:
        if name == "style":
            if value not in self._styles:
                self._styles[value] = read_style(value).fill(self._url_of) or None
            return self._styles[value]
        if name in {"src", "background"}:
            return value if value in self._pictures else None
        if name == "type" and tag in {"input", "button"}:
            return _control(tag, value.strip().lower())
        return value


def _control(tag: str, kind: str) -> str | None:
    """Return a type for a control that looks the same but can neither send data nor choose a file."""
    if kind in _BUTTONS:
        return "button"
    return kind if tag == "input" and kind in _INPUTS else "button" if tag == "button" or kind == "file" else None


def _sanitised(markup: str, filter_attribute: Callable[[str, str, str], str | None]) -> str:
    clean = nh3.clean(
        markup,
        tags=set(TAGS),
        clean_content_tags=set(DROPPED),
        attributes={"*": set(ATTRIBUTES)},
        attribute_filter=filter_attribute,
        set_tag_attribute_values={"button": {"type": "button"}},
        url_schemes={"http", "https", "data"},
        link_rel=None,
        strip_comments=True,
    )
    return released(clean)


def _only_attributes(attributes: str, filter_attribute: Callable[[str, str, str], str | None]) -> str:
    """Return the attributes of a tag after sanitising."""
    return _sanitised(f"<div{attributes}></div>", filter_attribute).removeprefix("<div").removesuffix("></div>")


def _base_style(page: Prepared) -> str:
    colours = "".join(f":where({selector}){{color:{colour}}}" for selector, colour in page.colours.items())
    return _BASE_STYLE + colours


def _sheets(
    page: Prepared, resource_url: Callable[[str], str | None], style_sheet: Callable[[str], str | None] | None
) -> str:
    """Return the page's style sheets in order."""
    budget = MAX_SHEETS
    written = []
    for source in page.styles:
        css = source.css if not source.href else (style_sheet(source.href) if style_sheet else None)
        if not css or len(css) > budget:
            continue
        budget -= len(css)
        sheet = read_sheet(css)
        url_of = partial(picture_url, base=source.href or page.base, resource_url=resource_url)
        written.append(_style(sheet, url_of, source))
    return "".join(written)


def _style(sheet: Sheet, url_of: Callable[[str], str | None], source: StyleSource) -> str:
    css = sheet.fill(url_of)
    media = source.media.strip()
    if media and not _MEDIA.fullmatch(media):
        return ""
    return f'<style media="{html.escape(media)}">{css}</style>' if media else f"<style>{css}</style>"


def _note(n_characters: int) -> str:
    return (
        f'<p role="note" style="{_NOTE_STYLE}">This page is cut here: only its beginning is shown'
        f" (of {n_characters:,} characters, about {MAX_MARKUP:,} at most).</p>"
    )
