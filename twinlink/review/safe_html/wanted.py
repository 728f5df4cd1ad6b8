"""Addresses of the style sheets and pictures that the look of a page needs."""

from __future__ import annotations

from typing import NamedTuple

from twinlink.review.records import Document
from twinlink.review.safe_html.look import look
from twinlink.review.safe_html.markup import picture_url
from twinlink.review.safe_html.style_sheets import read_sheet


class Wanted(NamedTuple):
    """Absolute addresses, each once, in the order of the page."""

    sheets: tuple[str, ...]
    pictures: tuple[str, ...]


def wanted_parts(document: Document) -> Wanted:
    """Return what `look` asks for to show a page.

    Examples
    --------
    >>> wanted_parts(Document("http://a.org/b/", "<link rel=stylesheet href=/s.css><img src=x.png><img src=x.png>"))
    Wanted(sheets=('http://a.org/s.css',), pictures=('http://a.org/b/x.png',))
    """
    sheets: dict[str, None] = {}
    pictures: dict[str, None] = {}
    look(document, pictures.setdefault, sheets.setdefault)
    return Wanted(tuple(sheets), tuple(pictures))


def pictures_of_sheet(css: str, url: str) -> tuple[str, ...]:
    """Return the addresses of the pictures that a style sheet shows.

    >>> pictures_of_sheet("h1 { background: url(../crest.png) } @import 'more.css';", "http://example.org/css/a.css")
    ('http://example.org/crest.png',)
    """
    pictures: dict[str, None] = {}
    for address in read_sheet(css).addresses:
        picture_url(address, url, pictures.setdefault)
    return tuple(pictures)
