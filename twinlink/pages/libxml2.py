"""libxml2's HTML parser, called directly: it reports tags and texts to compiled callbacks, without a Python call each.

This is the library that lxml brings along and runs, so the reports are those that a target of lxml's parser gets.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from twinlink.pages.content import BREAK, PageContent, blocks_of
from twinlink.pages.elements import ATTRIBUTES as NAMES_OF_ATTRIBUTES
from twinlink.pages.elements import TAKES, Elements, RawLink, anchor_link
from twinlink.pages.libxml2_callbacks import (
    ANCHOR,
    ANCHOR_ATTRIBUTES,
    ANCHOR_ATTRIBUTES_END,
    ANCHOR_EVENT,
    ATTRIBUTES,
    BREAKS,
    CONTEXT,
    EVENT,
    EVENTS,
    FACTORS,
    FULL,
    HASH_SHIFT,
    IN_ANCHOR,
    INTERNAL_SUBSET,
    IS_ANCHOR,
    IS_ATTRIBUTE,
    IS_EVENT,
    IS_HREF,
    IS_SKIPPED,
    IS_TITLE,
    LONGEST_NAME,
    MAX_DEPTH,
    N_ATTRIBUTES,
    N_EVENTS,
    N_NAMES,
    N_TAGS,
    N_TEXT,
    NAME,
    NAMES,
    PARTS,
    START_DOCUMENT,
    STATE,
    STOPPED,
    TAGS,
    TEXT,
    TOO_DEEP,
    addresses,
)
from twinlink.pages.spaces import collapse
from twinlink.pages.tags import BLOCK, OTHER_TAG, SKIPPED, SPACE, TAG_CODES

OLDEST = (2, 14)
"""Version of libxml2 from which on it tokenises like a browser; the callbacks are tested with no older one."""

REMEMBERED_BYTES, N_REMEMBERED = 500, 5_000
"""Elements that are read once if they are repeated: their bytes and their number at most."""

_FEED_BYTES = 2**16
_UTF_8 = 1  # XML_CHAR_ENCODING_UTF8
# HTML_PARSE_RECOVER, _NOERROR, _NOWARNING, _NONET, _COMPACT, _HUGE: those of lxml, which reads errors by itself.
_OPTIONS = 1 | 1 << 5 | 1 << 6 | 1 << 11 | 1 << 16 | 1 << 19
_POINTER = ctypes.c_void_p
_N_WORDS = 32
"""Words of the structure xmlSAXHandler."""
_PLACES = (12, 0, 14, 15, 17, 25, 27)
"""Places in it: startDocument, internalSubset, startElement, endElement, characters, cdataBlock; initialized, which is
1 for HTML."""

_BUFFERS = {"events": EVENTS, "tags": TAGS, "text": TEXT, "attributes": ATTRIBUTES}
"""Places in the state of the address of each buffer; its size so far and at most follow."""

_ANCHOR, _TITLE, _IMAGE = TAG_CODES["a"], TAG_CODES["title"], TAG_CODES["img"]
_TAKES = {TAG_CODES[name]: take for name, take in TAKES.items()}


ResultT = TypeVar("ResultT")
Numbers = NDArray[np.int64]


class UnavailableError(Exception):
    """libxml2 cannot be called directly here."""


class _Room:
    """Room for what a page may give.

    Text and attributes grow where a reference stands for more bytes than it has, by less than half; an attribute of two
    bytes takes three; the attributes of an anchor may be there twice, with its text. The parser supplies some tags, of
    which few have attributes.
    """

    def __init__(self, data: bytes) -> None:
        n_events = data.count(b"<") + 64
        sizes = (8 * EVENT * n_events, 2 * n_events, 2 * len(data) + 64, 5 * len(data) + 64)
        self._block = np.empty(sum(sizes), np.uint8)
        self._first = dict(zip(_BUFFERS, accumulate((0, *sizes)), strict=False))
        self._most = dict(zip(_BUFFERS, (n_events, *sizes[1:]), strict=True))

    def state(self, first: Sequence[int], max_depth: int) -> Numbers:
        """Return the state before the first tag, from what is the same for all pages."""
        state, start = [*first], self._block.ctypes.data
        state[MAX_DEPTH] = max_depth
        for name, place in _BUFFERS.items():
            state[place], state[place + 2] = start + self._first[name], self._most[name]
        return np.array(state, np.int64)

    def bytes_of(self, name: str, size: int) -> bytes:
        """Return the bytes of a buffer."""
        first = self._first[name]
        return self._block[first : first + size].tobytes()

    def events(self, n: int) -> list[list[int]]:
        """Return the events, which the block begins with."""
        events: list[list[int]] = self._block[: 8 * EVENT * n].view(np.int64).reshape(n, EVENT).tolist()
        return events


class CompiledParser:
    """Parser of pages, with compiled callbacks.

    Raises
    ------
    UnavailableError
        If lxml does not show the functions of its libxml2, or has an older one than `OLDEST`.
    """

    def __init__(self) -> None:
        if etree.LIBXML_VERSION < OLDEST:
            raise UnavailableError(f"libxml2 {etree.LIBXML_VERSION}")
        try:
            self._library = _library()
        except (AttributeError, OSError) as error:
            raise UnavailableError(str(error)) from error
        self._names = _names()
        self._known_values, self._known_link = _remembered(_values), _remembered(_link)
        callbacks = addresses()
        self._handler = (_POINTER * _N_WORDS)()
        for place, address in zip(_PLACES, (*callbacks, callbacks[-1], 1), strict=True):
            self._handler[place] = address
        self._first = [0] * len(STATE)
        self._first[NAMES] = self._names.ctypes.data
        self._first[START_DOCUMENT] = _address(self._library.xmlSAX2StartDocument)
        self._first[INTERNAL_SUBSET] = _address(self._library.xmlSAX2InternalSubset)

    def parse(self, data: bytes, max_depth: int) -> tuple[PageContent, bool] | None:
        """Return the content of a page in UTF-8 without null bytes, and whether it is cut because it nests too deeply.

        None: the page gives more text or tags than was expected of its size.
        """
        room = _Room(data)
        state = room.state(self._first, max_depth)
        self._run(data, state)
        found = state.tolist()
        return None if found[STOPPED] == FULL else (self._content(room, found), found[STOPPED] == TOO_DEEP)

    def _run(self, data: bytes, state: Numbers) -> None:
        library = self._library
        context = library.htmlCreatePushParserCtxt(self._handler, state.ctypes.data, None, 0, None, _UTF_8)
        if not context:
            raise MemoryError
        try:
            state[CONTEXT] = context
            library.htmlCtxtUseOptions(context, _OPTIONS)
            for first in range(0, len(data), _FEED_BYTES):
                part = data[first : first + _FEED_BYTES]
                library.htmlParseChunk(context, part, len(part), 0)
                if state[STOPPED]:
                    break
            else:
                if data:
                    library.htmlParseChunk(context, None, 0, 1)
        finally:
            library.xmlFreeDoc(library.xmlCtxtGetDocument(context))
            library.htmlFreeParserCtxt(context)

    def _content(self, room: _Room, found: Sequence[int]) -> PageContent:
        """Return what the callbacks have gathered."""
        text, tags = room.bytes_of("text", found[N_TEXT]), room.bytes_of("tags", found[N_TAGS])
        events, attributes = room.events(found[N_EVENTS]), room.bytes_of("attributes", found[N_ATTRIBUTES])
        if found[IN_ANCHOR]:  # where the page is cut
            last = attributes[found[ANCHOR_ATTRIBUTES] : found[ANCHOR_ATTRIBUTES_END]]
            last += text[found[ANCHOR] :].replace(BREAK.encode(), b" ")
            events.append([_ANCHOR, len(attributes), len(attributes) + len(last), found[ANCHOR_EVENT]])
            attributes += last
        elements, title = self._elements(events, attributes)
        return PageContent(elements, title, _blocks(text.decode()), tags)

    def _elements(self, events: Iterable[Sequence[int]], attributes: bytes) -> tuple[Elements, str]:
        """Return what the elements of the page say, and its title."""
        elements, title = Elements(), ""
        alternatives: list[tuple[int, str]] = []  # of images, with the number of their event
        for number, (code, first, after, inside) in enumerate(events):
            words = attributes[first:after]
            if code == _ANCHOR:
                elements.add(self._known_link(words) if inside == number else _link(words, alternatives, inside))
                alternatives.clear()
            elif code == _TITLE:
                title = collapse(words.decode())
            else:
                values = self._known_values(words)
                _TAKES[code](elements, values)
                if code == _IMAGE and (alternative := values.get("alt")):
                    alternatives.append((number, alternative))
        elements.close()
        return elements, title


@functools.cache
def compiled_parser() -> CompiledParser | None:
    """Return the parser of this process; None where there is none."""
    try:
        return CompiledParser()
    except UnavailableError:
        return None


def _library() -> Any:
    """Return libxml2, as far as it is needed."""
    library = ctypes.CDLL(etree.__file__)
    pointer, number = _POINTER, ctypes.c_int
    library.htmlCreatePushParserCtxt.restype = library.xmlCtxtGetDocument.restype = pointer
    library.htmlCreatePushParserCtxt.argtypes = (pointer, pointer, pointer, number, pointer, number)
    library.htmlCtxtUseOptions.argtypes = (pointer, number)
    library.htmlParseChunk.argtypes = (pointer, ctypes.c_char_p, number, number)
    for name in ("htmlFreeParserCtxt", "xmlCtxtGetDocument", "xmlFreeDoc"):
        getattr(library, name).argtypes = (pointer,)
    return library


def _address(function: Any) -> int:
    """Return the address of a function of a library."""
    return ctypes.cast(function, _POINTER).value or 0


def _names() -> NDArray[np.uint64]:
    """Return the table of the names of tags and attributes, see `NAME`."""
    table = np.zeros((N_NAMES, NAME), np.uint64)
    for name in {*TAG_CODES, *NAMES_OF_ATTRIBUTES}:
        low, high = (int.from_bytes(name.encode()[half : half + 8], "little") for half in (0, LONGEST_NAME // 2))
        number = ((low * FACTORS[0] ^ high * FACTORS[1]) & 2**64 - 1) >> HASH_SHIFT
        while table[number, 0]:
            number = (number + 1) % N_NAMES
        table[number] = low, high, _effects(name) << 8 | TAG_CODES.get(name, OTHER_TAG)
    return table


def _effects(name: str) -> int:
    """Return what a tag, and an attribute, of a name does."""
    effects = {
        BREAKS: name in BLOCK,
        PARTS: name in SPACE,
        IS_SKIPPED: name in SKIPPED,
        IS_TITLE: name == "title",
        IS_ANCHOR: name == "a",
        IS_EVENT: name in TAKES,
        IS_ATTRIBUTE: name in NAMES_OF_ATTRIBUTES,
        IS_HREF: name == "href",
    }
    return sum(effect for effect, has_it in effects.items() if has_it)


def _values(words: bytes) -> Mapping[str, str]:
    """Return attributes from their names and values, each with a zero behind it."""
    names_and_values = words.decode().split("\0")
    return dict(zip(names_and_values[::2], names_and_values[1::2], strict=False))  # the last name is empty


def _link(words: bytes, alternatives: Iterable[tuple[int, str]] = (), inside: int = 0) -> RawLink | None:
    """Return the link of an anchor from its attributes and its text, and the images from an event on."""
    *names_and_values, text = words.decode().split("\0")
    values = dict(zip(names_and_values[::2], names_and_values[1::2], strict=True))
    return anchor_link(values, text, [alternative for number, alternative in alternatives if number >= inside])


def _remembered(function: Callable[[bytes], ResultT]) -> Callable[[bytes], ResultT]:
    """Remember the results of a function for short arguments: pages of a site repeat their menus."""
    known = functools.lru_cache(N_REMEMBERED)(function)
    return lambda words: known(words) if len(words) <= REMEMBERED_BYTES else function(words)


def _blocks(text: str) -> tuple[str, ...]:
    """Return the blocks of a text without white space at either end of a block."""
    pieces = text.split(BREAK)
    # No other ASCII white space is left, so that most pages need nothing more.
    return tuple(filter(None, pieces)) if "".join(pieces).isprintable() and pieces[-1][-1:] != " " else blocks_of(text)
