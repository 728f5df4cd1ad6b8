"""Embedding of style sheets and pictures from the archive into the page, since a sandboxed frame cannot load them.

The origin of the frame is opaque: a browser sends no cookies of the application for its pictures, and rejects responses
that are restricted to the application's own origin.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

from tinycss2.bytes import decode_stylesheet_bytes

from twinlink.review.records import Document, Resource
from twinlink.review.safe_html.look import look

MAX_EMBEDDED_BYTES = 12_000_000
"""Pictures per page, in total; the median page of the web has 1 to 2 MB of them (HTTP Archive, 2024)."""

_PICTURES = frozenset("image/png image/jpeg image/gif image/webp image/avif image/x-icon".split())
_CSS = "text/css"


class Embedding:
    """Provides the style sheets and pictures for `look`, as content instead of addresses.

    Parameters
    ----------
    resource : callable
        Maps an absolute address to a style sheet or picture, or None: `Snapshot.resource`.
    """

    def __init__(self, resource: Callable[[str], Resource | None]) -> None:
        self._resource = resource
        self._known: dict[str, str | None] = {}
        self._n_left = MAX_EMBEDDED_BYTES

    def picture(self, url: str) -> str | None:
        """Return a picture as a ``data:`` address; None: there is none, or the page's limit is reached."""
        if url not in self._known:
            found = self._resource(url)
            is_picture = found is not None and found.content_type in _PICTURES
            self._known[url] = _data_url(found) if found and is_picture else None
        data = self._known[url]
        if data is None or len(data) > self._n_left:
            return None
        self._n_left -= len(data)
        return data

    def style_sheet(self, url: str) -> str | None:
        """Return the text of a style sheet."""
        found = self._resource(url)
        if found is None or found.content_type != _CSS:
            return None
        text, _ = decode_stylesheet_bytes(found.content)
        return str(text)


def look_offline(document: Document, resource: Callable[[str], Resource | None]) -> str:
    """Return a page as it looked, with style sheets and pictures from the archives; see `look`.

    Parameters
    ----------
    document : Document
        `Snapshot.document`.
    resource : callable
        `Snapshot.resource`.

    Examples
    --------
    >>> page = Document("http://example.org/", "<link rel=stylesheet href=a.css><img src=a.gif>")
    >>> style = Resource(b"img { border: 0; src: url(x) }", "text/css")
    >>> shown = look_offline(page, lambda url: style if url.endswith(".css") else Resource(b"GIF89a", "image/gif"))
    >>> print(shown.partition("</title>")[2])
    <style>...</style><style>img {border:0;...}</style></head><body><img src="data:image/gif;base64,R0lGODlh"></body>...
    """
    embedding = Embedding(resource)
    return look(document, embedding.picture, embedding.style_sheet)


def _data_url(picture: Resource) -> str:
    return f"data:{picture.content_type};base64,{base64.b64encode(picture.content).decode()}"
