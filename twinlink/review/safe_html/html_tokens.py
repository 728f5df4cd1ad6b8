"""A tokenizer for HTML: tags and texts as browsers see them, without a tree, in linear time for any page.

It follows the HTML Standard, section 13.2.5. The tokens are not safe: they are the input of the sanitiser.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

_SPACE = r"\t\n\f\r "
# Name, then a value in double quotes, in single quotes, or without. Possessive, so that no character is read twice.
_ATTRIBUTE = (
    rf"[{_SPACE}/]*+([^{_SPACE}/>][^{_SPACE}/>=]*+)"
    rf"(?:[{_SPACE}]*+=[{_SPACE}]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^{_SPACE}>\"'][^{_SPACE}>]*+)|(?=>)))?+"
)
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_REST_OF_TAG = re.compile(rf"((?:{_ATTRIBUTE})*+)([{_SPACE}/]*+)>")
_MARKUP = re.compile(rf"<(?:(!--)|([!?]|/[^a-zA-Z])|(/?)([a-zA-Z][^{_SPACE}/>]*))")
_COMMENT_END = re.compile(r"--!?>")
_ZEROS = re.compile(r"&#([xX]?)0+(?=[0-9a-fA-F])")
_TOO_LONG = re.compile(r"&#[xX]?[0-9a-fA-F]{9,};?")  # Python refuses to read such a number
_BARE_NAME = re.compile(r"&(?=[a-zA-Z][a-zA-Z0-9]*(?![a-zA-Z0-9;]))")

RAW = frozenset("script style title textarea xmp iframe noembed noframes noscript plaintext".split())
"""Elements whose content is text up to their end tag; noscript is one, as in a browser that runs scripts."""


class Text(NamedTuple):
    """Text between tags, with its character references."""

    text: str


class StartTag(NamedTuple):
    """A start tag."""

    name: str
    """In lower case."""
    source: str
    """Its attributes as written, see `attributes_of`."""
    closed: bool
    """Whether it ends with ``/>``."""


class EndTag(NamedTuple):
    """An end tag."""

    name: str


class RawText(NamedTuple):
    """An element of `RAW` with its content."""

    name: str
    source: str
    text: str


class Declaration(NamedTuple):
    """Text between ``<!`` or ``<?`` and ``>``, except comments."""

    text: str


Token = Text | StartTag | EndTag | RawText | Declaration


def tokens(page: str) -> Iterator[Token]:
    """Yield the tokens of a page in order; comments are left out.

    Examples
    --------
    >>> for token in tokens("<p class=a>1 < 2<!-- > --><br/></p >"):
    ...     print(token)
    StartTag(name='p', source=' class=a', closed=False)
    Text(text='1 < 2')
    StartTag(name='br', source='', closed=True)
    EndTag(name='p')
    """
    place = 0
    while found := _MARKUP.search(page, place):
        if found.start() > place:
            yield Text(page[place : found.start()])
        comment, bogus, slash, name = found.groups()
        if comment:
            end = _COMMENT_END.search(page, found.start() + 2)
            place = end.end() if end else len(page)
        elif bogus:
            end_of_bogus = page.find(">", found.start() + 2)
            place = end_of_bogus + 1 if end_of_bogus >= 0 else len(page)
            if bogus == "!":
                yield Declaration(page[found.end() : place - 1])
        else:
            rest = _REST_OF_TAG.match(page, found.end())
            if rest is None:  # the page ends within the tag
                return
            place = rest.end()
            if slash:
                yield EndTag(name.lower())
            elif (lower := name.lower()) in RAW:
                text, place = _raw_text(page, place, lower)
                yield RawText(lower, rest[1], text)
            else:
                yield StartTag(lower, rest[1], rest[6].endswith("/"))
    if place < len(page):
        yield Text(page[place:])


def _raw_text(page: str, place: int, name: str) -> tuple[str, int]:
    """Return the content of an element of `RAW`, and the position after its end tag."""
    end = None if name == "plaintext" else _END_OF_RAW[name].search(page, place)
    if end is None:
        return page[place:], len(page)
    close = page.find(">", end.end())
    return page[place : end.start()], close + 1 if close >= 0 else len(page)


_END_OF_RAW = {name: re.compile(rf"</{name}(?=[{_SPACE}/>])", re.IGNORECASE) for name in RAW}


def attributes_of(source: str) -> dict[str, str]:
    """Return the attributes of a tag: names in lower case, values as written; of equal names the first one counts.

    >>> attributes_of(''' HREF="a&amp;b" href=c checked title='"' ''')
    {'href': 'a&amp;b', 'checked': '', 'title': '"'}
    """
    found: dict[str, str] = {}
    for match in _ATTRIBUTES.finditer(source):
        name, double, single, bare = match.groups()
        found.setdefault(name.lower(), double or single or bare or "")
    return found


def unescape(value: str) -> str:
    r"""Return the value of an attribute with its character references resolved.

    References without a semicolon are left alone: ``?a=1&copy=2`` is an address.

    >>> unescape("j&#x61;v&#97;&Tab;?a&copy=2&amp;b")
    'java\t?a&copy=2&b'
    """
    return unescape_text(_BARE_NAME.sub("&amp;", value)) if "&" in value else value


def unescape_text(text: str) -> str:
    r"""Return a text with its character references resolved.

    >>> unescape_text("1 &lt 2 &#x00000000000041;&#99999999999999;")
    '1 < 2 A�'
    """
    if "&" not in text:
        return text
    if "&#" in text:
        text = _TOO_LONG.sub("\ufffd", _ZEROS.sub(r"&#\1", text))
    return html.unescape(text)
