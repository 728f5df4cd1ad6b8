"""Content of a page, as its start tags, end tags and texts give it: `PageTarget` gathers it in Python.

`twinlink.pages.libxml2` gathers the same in compiled code.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import NamedTuple, ParamSpec

from twinlink.pages.elements import TAKES, Elements, Take, anchor_link
from twinlink.pages.spaces import collapse, composed
from twinlink.pages.tags import BLOCK, OTHER_TAG, SKIPPED, SPACE, TAG_CODES

P = ParamSpec("P")

BREAK = "\0"
"""Stands between blocks: no page has it, for it is removed from the bytes, and a character reference to it means
U+FFFD."""


MAX_NESTING = 10**9
"""Depth × end tags at most: an end tag that matches nothing is compared with every open element. It takes libxml2 some
3 s; without a limit, 10 MB of ``<b>`` and ``</i>`` would take hours."""
NESTING_PER_BYTE = 1_000
"""The same for each byte of a small page, so that 128 kB take 0.2 s; a page of any size may nest 4,000 deep."""

SAFE_DEPTH = 1_000
"""Elements inside each other that every page may have. Browsers stop nesting at 512; the deepest page of our tuning
sites has 29, but old pages that never close ``<font>`` can have one for each paragraph."""


class TooDeepError(Exception):
    """The page nests too deeply."""


class PageContent(NamedTuple):
    """Content of a page."""

    elements: Elements
    title: str
    blocks: tuple[str, ...]
    """As in `twinlink.pages.parser.ParsedPage`."""
    tags: bytes
    """As there."""


def blocks_of(text: str) -> tuple[str, ...]:
    """Return the blocks of a text in which `BREAK` stands between them."""
    pieces = text.split(BREAK)
    for number, piece in enumerate(pieces):
        block = piece.strip()
        # The test of `collapse`, without a call for each piece: most are empty or need nothing.
        pieces[number] = composed(block) if block.isprintable() and "  " not in block else collapse(block)
    return tuple(filter(None, pieces))


def max_depth(data: bytes) -> int:
    """Return the greatest depth that a page may have, see `MAX_NESTING`."""
    nesting = min(MAX_NESTING, NESTING_PER_BYTE * len(data))
    return max(SAFE_DEPTH, nesting // (1 + data.count(b"</")))


def signed(method: Callable[P, None]) -> Callable[P, None]:
    """Keep a method's signature at hand: lxml asks for it at each page, and to work it out takes long."""
    vars(method)["__signature__"] = inspect.signature(method)
    return method


class PageTarget:
    """Target of lxml's parser: gathers a page from its start tags, end tags and texts."""

    def __init__(self, max_depth: int) -> None:
        self.elements = Elements()
        self.title: str | None = None
        self.tags = bytearray()
        self._chunks: list[str] = []  # texts of the page so far, and breaks between its blocks
        self.data = self._chunks.append  # called for each text
        self._depth = 0
        self._max_depth = max_depth
        self._skipped = 0  # depth of the element that is being skipped, 0 for none
        self._mark = 0  # chunks before the title or the skipped element
        self._anchor: Mapping[str, str] | None = None  # attributes of the ``a`` element that is open
        self._anchor_mark = 0  # chunks before it
        self._alternatives: list[str] = []  # of the images in it

    @signed
    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take a start tag."""
        self._depth += 1
        if self._depth > self._max_depth:
            raise TooDeepError
        if self._skipped:
            return
        code, part, take, own = _STARTS.get(tag, _OTHER)
        self.tags.append(code)
        if part:
            self._chunks.append(part)
        if take is not None:
            take(self.elements, attributes)
        if own is not None:
            own(self, attributes)

    def end(self, tag: str) -> None:
        """Take an end tag; the parser supplies those that the page lacks."""
        depth = self._depth
        self._depth -= 1
        if self._skipped:
            if self._skipped == depth:
                self._skipped = 0
                del self._chunks[self._mark :]
        elif tag in BLOCK:
            self._chunks.append(BREAK)
        elif tag == "a":
            self._end_anchor()
        elif tag == "title":
            self._end_title()

    def close(self) -> None:
        """Finish the page."""
        self._end_anchor()
        self.elements.close()

    def content(self) -> PageContent:
        """Return the content of the page, and release its text here to save memory."""
        text = "".join(self._chunks)
        self._chunks.clear()
        return PageContent(self.elements, self.title or "", blocks_of(text), bytes(self.tags))

    def _start_skipped(self, _attributes: Mapping[str, str]) -> None:
        self._skipped = self._depth
        self._mark = len(self._chunks)

    def _start_anchor(self, attributes: Mapping[str, str]) -> None:
        if "href" in attributes:
            self._anchor = attributes
            self._anchor_mark = len(self._chunks)
            self._alternatives.clear()

    def _end_anchor(self) -> None:
        attributes = self._anchor
        self._anchor = None
        if attributes is not None and not self.elements.has_more_links:
            text = "".join(self._chunks[self._anchor_mark :]).replace(BREAK, " ")
            self.elements.add(anchor_link(attributes, text, self._alternatives))

    def _start_image(self, attributes: Mapping[str, str]) -> None:
        if self._anchor is not None and attributes.get("alt"):
            self._alternatives.append(attributes["alt"])

    def _start_title(self, _attributes: Mapping[str, str]) -> None:
        self._mark = len(self._chunks)

    def _end_title(self) -> None:
        if self.title is None:
            self.title = collapse("".join(self._chunks[self._mark :]))
        del self._chunks[self._mark :]


_Own = Callable[[PageTarget, Mapping[str, str]], None]
_Start = tuple[int, str, Take | None, _Own | None]
_OWN: Mapping[str, _Own] = {
    **dict.fromkeys(SKIPPED, PageTarget._start_skipped),
    "a": PageTarget._start_anchor,
    "img": PageTarget._start_image,
    "title": PageTarget._start_title,
}
_OTHER: _Start = (OTHER_TAG, "", None, None)
_STARTS: Mapping[str, _Start] = {
    tag: (code, BREAK if tag in BLOCK else " " if tag in SPACE else "", TAKES.get(tag), _OWN.get(tag))
    for tag, code in TAG_CODES.items()
}
"""Code of each tag, what it adds to the text, and what else is to be done: one look for all four."""
