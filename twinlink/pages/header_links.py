"""Links in the headers of a response: ``Link`` (RFC 8288) and ``Refresh``, which elements of the page may give, too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from twinlink.pages.elements import TAKES, Elements

MAX_HEADER_LINKS = 1_000
"""Links of one header that are read: a page has one for each of its languages."""

# Possessive, and without "<" in an address, so that no header takes more than linear time.
_VALUE = r'(?:\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"|([^\s;,<>"]*+)))?'
_PARAMETER = re.compile(rf'\s*+;\s*+([^\s;,=<>"]++){_VALUE}', re.DOTALL)
_LINK = re.compile(rf"<([^<>]*+)>((?:{_PARAMETER.pattern})*+)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def header_elements(link: str, refresh: str) -> Elements:
    """Return what two headers say, as the ``link`` and ``meta`` elements of a page would say it.

    Parameters
    ----------
    link, refresh : str
        Headers of these names, several of one name joined by commas; empty for none.

    Examples
    --------
    >>> found = header_elements('</fr/>; rel="alternate"; hreflang="fr"', "0; url=/en/").links
    >>> [(link.href, link.rel, link.hreflang) for link in found]
    [('/fr/', 'alternate', 'fr'), ('/en/', 'refresh', '')]
    """
    elements = Elements()
    for attributes in _link_attributes(link):
        TAKES["link"](elements, attributes)
    if refresh:
        TAKES["meta"](elements, {"http-equiv": "refresh", "content": refresh})
    return elements


def _link_attributes(header: str) -> Iterator[dict[str, str]]:
    """Yield the links of a ``Link`` header as attributes of a ``link`` element.

    The first parameter of a name counts. Links from another address than the page's (``anchor``) are left out.
    """
    for number, found in enumerate(_LINK.finditer(header)):
        if number == MAX_HEADER_LINKS:
            return
        attributes: dict[str, str] = {}
        for name, quoted, plain in _PARAMETER.findall(found[2]):
            attributes.setdefault(name.lower(), _ESCAPED.sub(r"\1", quoted) or plain)
        if "anchor" not in attributes:
            yield {**attributes, "href": found[1].strip()}
