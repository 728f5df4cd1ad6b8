"""libxml2's HTML parser, called directly: it reports tags and texts to compiled callbacks, without a Python call each.

This is the library that lxml brings along and runs, so the reports are those that a target of lxml's parser gets.
"""

from __future__ import annotations

import ctypes
import functools
from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from twinlink.pages.content import BREAK, SAFE_DEPTH, PageContent, max_depth
from twinlink.pages.elements import ATTRIBUTES as NAMES_OF_ATTRIBUTES
from twinlink.pages.elements import TAKES, Elements, RawLink, anchor_link
from twinlink.pages.libxml2_callbacks import (
    ATTRIBUTES,
    BREAKS,
    DOCUMENT_OF,
    EVENT,
    EVENTS,
    FACTORS,
    FREE_CONTEXT,
    FREE_DOCUMENT,
    FULL,
    HANDLER,
    HASH_SHIFT,
    INTERNAL_SUBSET,
    IS_ANCHOR,
    IS_ATTRIBUTE,
    IS_EVENT,
    IS_HREF,
    IS_KIND,
    IS_META,
    IS_PRAGMA,
    IS_SKIPPED,
    IS_TITLE,
    LONGEST_NAME,
    MAX_DEPTH,
    N_NAMES,
    N_PARSED,
    NAME,
    NAMES,
    NEW_CONTEXT,
    PARSE_CHUNK,
    PARTS,
    SIZES,
    START_DOCUMENT,
    STATE,
    STOPPED,
    TAGS,
    TEXT,
    TOO_DEEP,
    USE_OPTIONS,
    addresses,
)
from twinlink.pages.spaces import collapse, composed
from twinlink.pages.tags import BLOCK, OTHER_TAG, SKIPPED, SPACE, TAG_CODES

OLDEST = (2, 14)
"""Version of libxml2 from which on it tokenises like a browser; the callbacks are tested with no older one."""

_POINTER = ctypes.c_void_p
_N_WORDS = 32
"""Words of the structure xmlSAXHandler."""
_PLACES = (12, 0, 14, 15, 17, 25, 27)
"""Places in it: startDocument, internalSubset, startElement, endElement, characters, cdataBlock; initialized, which is
1 for HTML."""

_BUFFERS = {"events": EVENTS, "tags": TAGS, "text": TEXT, "attributes": ATTRIBUTES}
"""Places in the state of the address of each buffer; its size so far and at most follow."""

ANCHOR, TITLE, IMAGE = TAG_CODES["a"], TAG_CODES["title"], TAG_CODES["img"]
TAKES_OF = {TAG_CODES[name]: take for name, take in TAKES.items()}
"""What to do with the start tag of an element, by the code of its tag."""

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]
_Pages = tuple["ctypes.Array[ctypes.c_char_p]", "ctypes.Array[ctypes.c_int64]"]
"""Addresses and lengths of pages."""


class UnavailableError(Exception):
    """libxml2 cannot be called directly here."""


class _Room:
    """Room for what pages may give.

    Text and attributes grow where a reference stands for more bytes than it has, by less than half; an attribute of two
    bytes takes three; the attributes of an anchor may be there twice, with its text. A tag has three bytes at least.
    The parser supplies some tags, of which few have attributes. What is not used takes no memory.
    """

    def __init__(self, n_bytes: int, n_pages: int) -> None:
        n_events, more = n_bytes // 3 + 64 * n_pages, 64 * n_pages
        sizes = (8 * EVENT * n_events, n_events, 2 * n_bytes + more, 5 * n_bytes + more)
        self._block = np.empty(sum(sizes), np.uint8)
        self._first = dict(zip(_BUFFERS, accumulate((0, *sizes)), strict=False))
        self._most = dict(zip(_BUFFERS, (n_events, *sizes[1:]), strict=True))

    def state(self, first: Sequence[int]) -> array[int]:
        """Return the state before the first page, from what is the same for all."""
        state, start = array("q", first), self._block.ctypes.data
        for name, place in _BUFFERS.items():
            state[place], state[place + 2] = start + self._first[name], self._most[name]
        return state

    def bytes_of(self, name: str, size: int) -> Bytes:
        """Return the bytes of a buffer."""
        first = self._first[name]
        return self._block[first : first + size]

    def events(self, n: int) -> Numbers:
        """Return the events, which the block begins with."""
        return self._block[: 8 * EVENT * n].view(np.int64).reshape(n, EVENT)


class Sizes(NamedTuple):
    """What some pages have given in all, see `STATE`."""

    text: int
    tags: int
    attributes: int
    events: int


class Gathered(NamedTuple):
    """What pages have given, one after the other."""

    text: Bytes
    """Their blocks in UTF-8 with `BREAK` behind each, white space collapsed; not in one normal form."""
    tags: Bytes
    """Codes of their start tags."""
    attributes: bytes
    """What the events point at."""
    events: Numbers
    """A row for each event, see `EVENT`."""
    ends: list[Sizes]
    """Sizes up to the end of each page."""
    is_deep: list[bool | None]
    """Whether a page is cut because it nests too deeply; None: it gives more than was expected of its size, so that it
    is not there."""


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
            functions = _functions()
        except (AttributeError, OSError) as error:
            raise UnavailableError(str(error)) from error
        self._names = _names()
        parse, *callbacks = addresses()
        self._parse = ctypes.CFUNCTYPE(None, *[_POINTER] * 4, ctypes.c_int64)(parse)
        self._handler = (_POINTER * _N_WORDS)()
        for place, address in zip(_PLACES, (*callbacks, callbacks[-1], 1), strict=True):
            self._handler[place] = address
        self._first = [0] * len(STATE)
        self._first[NAMES], self._first[HANDLER] = self._names.ctypes.data, ctypes.addressof(self._handler)
        for place, address in functions.items():
            self._first[place] = address

    def gather(self, pages: Sequence[bytes]) -> Gathered:
        """Gather pages, in UTF-8 without null bytes; the interpreter lock is released meanwhile."""
        n = len(pages)
        room = _Room(sum(map(len, pages)), n)
        state, ends = room.state(self._first), np.zeros((1 + n, len(SIZES)), np.int64)
        given = (ctypes.c_char_p * n)(*pages), (ctypes.c_int64 * n)(*map(len, pages))
        is_deep: list[bool | None] = [False] * n
        done = 0
        while done < n:
            done += self._add(state, given, ends, range(done, n), SAFE_DEPTH)
            if state[STOPPED]:
                is_deep[done - 1] = self._add_again(state, given, ends, done - 1, pages[done - 1])
        sizes = Sizes(*ends[n].tolist())
        text, tags = room.bytes_of("text", sizes.text), room.bytes_of("tags", sizes.tags)
        attributes = room.bytes_of("attributes", sizes.attributes).tobytes()
        every = [Sizes(*row) for row in ends[1:].tolist()]
        return Gathered(text, tags, attributes, room.events(sizes.events), every, is_deep)

    def parse(self, data: bytes) -> tuple[PageContent, bool] | None:
        """Return the content of a page in UTF-8 without null bytes, and whether it is cut because it nests too deeply.

        None: the page gives more text or tags than was expected of its size.
        """
        found = self.gather([data])
        is_deep = found.is_deep[0]
        return None if is_deep is None else (_content(found), is_deep)

    def _add(self, state: array[int], given: _Pages, ends: Numbers, pages: range, depth: int) -> int:
        """Add what pages give, up to the first one that is not taken whole; return how many were parsed, that one too.

        Why it is not taken is in the state.
        """
        state[MAX_DEPTH] = depth
        first, lengths = (ctypes.byref(values, 8 * pages.start) for values in given)
        self._parse(state.buffer_info()[0], first, lengths, ends[1 + pages.start :].ctypes.data, len(pages))
        return state[N_PARSED]

    def _add_again(self, state: array[int], given: _Pages, ends: Numbers, number: int, page: bytes) -> bool | None:
        """Add what a page gives that was not taken whole; return its entry in `Gathered.is_deep`."""
        if state[STOPPED] == TOO_DEEP and (depth := max_depth(page)) > SAFE_DEPTH:
            _return_to(state, ends[number])
            self._add(state, given, ends, range(number, number + 1), depth)
        if state[STOPPED] == FULL:
            _return_to(state, ends[number])
            ends[1 + number] = ends[number]
            return None
        return bool(state[STOPPED] == TOO_DEEP)


def _return_to(state: array[int], sizes: Numbers) -> None:
    """Drop what a page has given, given the sizes before it."""
    for place, size in zip(SIZES, sizes.tolist(), strict=True):
        state[place] = size


def _content(found: Gathered) -> PageContent:
    """Return the content of a page."""
    elements, title = Elements(), ""
    alternatives: list[tuple[int, str]] = []  # of images, with the number of their event
    for number, (code, first, after, inside) in enumerate(found.events.tolist()):
        words = found.attributes[first:after]
        if code == ANCHOR:
            elements.add(link_of(words, [name for event, name in alternatives if event >= inside]))
            alternatives.clear()
        elif code == TITLE:
            title = collapse(words.decode())
        else:
            values = values_of(words)
            TAKES_OF[code](elements, values)
            if code == IMAGE and (alternative := values.get("alt")):
                alternatives.append((number, alternative))
    elements.close()
    blocks = found.text.tobytes().decode().split(BREAK)
    return PageContent(elements, title, tuple(map(composed, blocks[:-1])), found.tags.tobytes())


@functools.cache
def compiled_parser() -> CompiledParser | None:
    """Return the parser of this process; None where there is none."""
    try:
        return CompiledParser()
    except UnavailableError:
        return None


def _functions() -> dict[int, int]:
    """Return the addresses of functions of libxml2 by their places in the state."""
    library = ctypes.CDLL(etree.__file__)
    functions = {
        START_DOCUMENT: library.xmlSAX2StartDocument,
        INTERNAL_SUBSET: library.xmlSAX2InternalSubset,
        NEW_CONTEXT: library.htmlCreatePushParserCtxt,
        USE_OPTIONS: library.htmlCtxtUseOptions,
        PARSE_CHUNK: library.htmlParseChunk,
        DOCUMENT_OF: library.xmlCtxtGetDocument,
        FREE_DOCUMENT: library.xmlFreeDoc,
        FREE_CONTEXT: library.htmlFreeParserCtxt,
    }
    return {place: ctypes.cast(function, _POINTER).value or 0 for place, function in functions.items()}


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
        IS_META: name == "meta",
        IS_PRAGMA: name == "http-equiv",
        IS_KIND: name == "name",
    }
    return sum(effect for effect, has_it in effects.items() if has_it)


def values_of(words: bytes) -> Mapping[str, str]:
    """Return attributes from their names and values, each with a zero behind it."""
    names_and_values = words.decode().split("\0")
    return dict(zip(names_and_values[::2], names_and_values[1::2], strict=False))  # the last name is empty


def link_of(words: bytes, alternatives: Sequence[str] = ()) -> RawLink | None:
    """Return the link of an anchor from its attributes and its text, and the alternative texts of its images."""
    *names_and_values, text = words.decode().split("\0")
    values = dict(zip(names_and_values[::2], names_and_values[1::2], strict=True))
    return anchor_link(values, text, alternatives)
