"""Callbacks of libxml2's HTML parser, compiled: they gather pages as `twinlink.pages.content.PageTarget` gathers one.

Each gets the address of the state, an array of numbers that `twinlink.pages.libxml2` makes and reads. The state has the
addresses of the functions of libxml2, of the table of names, and of the buffers for what the pages give, one after the
other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twinlink.compiled import Intrinsic, callback_address, has_code, part_of_callback

STATE = (
    "context",  # address of libxml2's parser context
    "start_document",  # addresses of its own callbacks, which need this context
    "internal_subset",
    "handler",  # address of the structure with all callbacks
    "new_context",  # addresses of the functions of libxml2 that parse a page
    "use_options",
    "parse_chunk",
    "document_of",
    "free_document",
    "free_context",
    "stopped",  # why the rest is not taken: TOO_DEEP or FULL; 0: it is
    "depth",
    "max_depth",
    "skipped",  # depth of the element that is being skipped, 0 for none
    "has_title",
    "title",  # bytes of text before the title
    "in_anchor",  # 1 while an a element with an href is open, of which the next four tell
    "anchor",  # bytes of text before it
    "anchor_attributes",  # bytes of attributes before its own
    "anchor_attributes_end",  # and with its own
    "anchor_event",  # events before it
    "anchor_code",  # code of its tag
    "names",  # address of the table of names
    "text",  # address of the text: a break behind each block, and single spaces for all other white space
    "n_text",  # its bytes so far
    "max_text",  # its bytes at most
    "tags",  # the same for the codes of start tags
    "n_tags",
    "max_tags",
    "attributes",  # the same for names and values of attributes, each with a zero behind it
    "n_attributes",
    "max_attributes",
    "events",  # the same for events, each of EVENT numbers
    "n_events",
    "max_events",
    "n_parsed",  # pages that the last call has parsed, the one that is not taken whole among them
)
"""Numbers of the state, 64 bits each."""
CONTEXT, START_DOCUMENT, INTERNAL_SUBSET, HANDLER, NEW_CONTEXT, USE_OPTIONS, PARSE_CHUNK = range(7)
DOCUMENT_OF, FREE_DOCUMENT, FREE_CONTEXT = range(7, 10)
STOPPED, DEPTH, MAX_DEPTH, SKIPPED, HAS_TITLE, TITLE = range(10, 16)
IN_ANCHOR, ANCHOR, ANCHOR_ATTRIBUTES, ANCHOR_ATTRIBUTES_END, ANCHOR_EVENT, ANCHOR_CODE, NAMES = range(16, 23)
TEXT, N_TEXT, MAX_TEXT, TAGS, N_TAGS, MAX_TAGS = range(23, 29)
ATTRIBUTES, N_ATTRIBUTES, MAX_ATTRIBUTES, EVENTS, N_EVENTS, MAX_EVENTS, N_PARSED = range(29, 36)
SIZES = N_TEXT, N_TAGS, N_ATTRIBUTES, N_EVENTS
"""Places in the state of the sizes so far."""
_N_SIZES = len(SIZES)

EVENT = 4
"""Numbers of an event, a start tag whose attributes count, the end of an anchor, or the end of the first title: code of
the tag; bytes of attributes before its own, and with them; number of the first event in an anchor. The attributes of an
anchor end with its text, and those of a title are its text."""

NAME = 3
"""Numbers of an entry in the table of names: the 16 bytes of a name, and what it means: effects × 256 + code of the
tag."""

TOO_DEEP, FULL = 1, 2

BREAKS, PARTS, IS_SKIPPED, IS_TITLE, IS_ANCHOR, IS_EVENT, IS_META = (1 << bit for bit in range(7))
IS_ATTRIBUTE, IS_HREF, IS_PRAGMA, IS_KIND = (1 << bit for bit in range(7, 11))
"""Effects of a name: begins and ends a block; parts words; is skipped; …; its attributes count; is one that counts; …;
is one by which a meta element counts (``http-equiv``), or may count (``name``)."""
LONGEST_KIND = 6
"""Bytes of the longest ``name`` of a meta element that counts (robots); most metas are longer descriptions."""

N_NAMES = 512
"""Entries in the table, a power of 2; it is searched from the hash of the name on."""
LONGEST_NAME = 16
FACTORS = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
"""Factors of the hash of a name, one for each half of its 16 bytes: the golden ratio, and a prime of xxHash."""
HASH_SHIFT = 55

_FIRST, _SECOND, _SHIFT = np.uint64(FACTORS[0]), np.uint64(FACTORS[1]), np.uint64(HASH_SHIFT)
_EIGHT, _ONE, _LAST = np.uint64(8), np.uint64(1), np.uint64(N_NAMES - 1)
_OTHER = 255  # meaning of other names
_FEED_BYTES = 2**16  # after which it is looked whether the rest is wanted
_UTF_8 = 1  # XML_CHAR_ENCODING_UTF8
# HTML_PARSE_RECOVER, _NOERROR, _NOWARNING, _NONET, _COMPACT, _HUGE: those of lxml, which reads errors by itself.
_OPTIONS = 1 | 1 << 5 | 1 << 6 | 1 << 11 | 1 << 16 | 1 << 19
_SPACE: Any = np.uint8(32)
_BREAK: Any = np.uint8(0)

Pointer = Any
"""A pointer of C, which type checkers know nothing of: ``pointer[n]`` is the n-th value behind it."""

_BYTES, _WORDS = "uint8*", "int64*"
_OF_PARSE = _WORDS, f"{_BYTES}*", _WORDS, _WORDS, "int64"


def _pointer(kind: str) -> Any:
    """Return the signature of a pointer made from an address, and a function that generates its code."""
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.inttoptr(values[0], context.get_value_type(signature.return_type))

    pointer_to: Any = types.CPointer
    return pointer_to(getattr(types, kind))(types.int64), generate


def _bytes(_context: Any, _address: Any) -> Any:
    return _pointer("uint8")


def _words(_context: Any, _address: Any) -> Any:
    return _pointer("int64")


def _words_of_names(_context: Any, _address: Any) -> Any:
    return _pointer("uint64")


def _address(_context: Any, pointer: Any) -> Any:
    """Return the signature of a pointer's address, and a function that generates its code."""
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.ptrtoint(values[0], context.get_value_type(signature.return_type))

    return types.int64(pointer), generate


def _call(_context: Any, _function: Any, arguments: Any) -> Any:
    """Return the signature of a call of a C function by its address, and a function that generates its code."""
    from llvmlite import ir
    from numba import types

    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        words = [ir.IntType(64)] * arguments.count
        function = builder.inttoptr(values[0], ir.FunctionType(ir.IntType(64), words).as_pointer())
        return builder.call(function, [builder.extract_value(values[1], k) for k in range(arguments.count)])

    tuple_of: Any = types.UniTuple
    return types.int64(types.int64, tuple_of(types.int64, arguments.count)), generate


_call_address = Intrinsic(_call)
"""Call a function; what it returns means nothing where it returns nothing."""
_bytes_at, _words_at, _names_at = Intrinsic(_bytes), Intrinsic(_words), Intrinsic(_words_of_names)
_address_of = Intrinsic(_address)


def are_compiled() -> bool:
    """Return whether the callbacks were compiled before on this machine."""
    return has_code(parse, *_OF_PARSE)


def addresses() -> tuple[int, ...]:
    """Return the addresses of `parse`, `start_document`, `internal_subset`, `start`, `end` and `text`."""
    return (
        callback_address(parse, *_OF_PARSE),
        callback_address(start_document, _WORDS),
        callback_address(internal_subset, _WORDS, _BYTES, _BYTES, _BYTES),
        callback_address(start, _WORDS, _BYTES, f"{_BYTES}*"),
        callback_address(end, _WORDS, _BYTES),
        callback_address(text, _WORDS, _BYTES, "int32"),
    )


def parse(state: Pointer, pages: Pointer, lengths: Pointer, ends: Pointer, n: int) -> None:
    """Parse ``n`` pages in UTF-8, up to the first one that is not taken whole; libxml2 calls the other callbacks.

    ``ends`` receives the sizes up to the end of each page, in the order of `SIZES`.
    """
    number = state[STOPPED] = 0
    while number < n and state[STOPPED] == 0:
        state[DEPTH] = state[SKIPPED] = state[HAS_TITLE] = state[IN_ANCHOR] = 0
        _parse_page(state, pages[number], lengths[number])
        first = number * _N_SIZES
        ends[first], ends[first + 1] = state[N_TEXT], state[N_TAGS]
        ends[first + 2], ends[first + 3] = state[N_ATTRIBUTES], state[N_EVENTS]
        number += 1
    state[N_PARSED] = number


@part_of_callback
def _parse_page(page: Pointer, data: Pointer, size: int) -> None:
    """Parse a page, as far as it is taken."""
    declared = page[HANDLER], _address_of(page)
    context = _call_address(page[NEW_CONTEXT], (declared[0], declared[1], 0, 0, 0, _UTF_8))
    if context == 0:
        page[STOPPED] = FULL
        return
    page[CONTEXT] = context
    _call_address(page[USE_OPTIONS], (context, _OPTIONS))
    first = 0
    while first < size and page[STOPPED] == 0:
        n_bytes = min(_FEED_BYTES, size - first)
        _call_address(page[PARSE_CHUNK], (context, _address_of(data) + first, n_bytes, 0))
        first += n_bytes
    if size > 0 and page[STOPPED] == 0:
        _call_address(page[PARSE_CHUNK], (context, 0, 0, 1))
    _call_address(page[FREE_DOCUMENT], (_call_address(page[DOCUMENT_OF], (context,)),))
    _call_address(page[FREE_CONTEXT], (context,))
    if page[IN_ANCHOR]:  # where the page is cut
        _end_anchor(page, page[ANCHOR_CODE])
    _break(page)


def start_document(page: Pointer) -> None:
    """Begin the document: libxml2 keeps the type of the document there."""
    _call_address(page[START_DOCUMENT], (page[CONTEXT],))


def internal_subset(page: Pointer, name: Pointer, public: Pointer, system: Pointer) -> None:
    """Take the type of the document, by which libxml2 decides whether white space between elements is text."""
    declared = _address_of(name), _address_of(public), _address_of(system)
    _call_address(page[INTERNAL_SUBSET], (page[CONTEXT], declared[0], declared[1], declared[2]))


def start(page: Pointer, name: Pointer, attributes: Pointer) -> None:
    """Take a start tag: its name, and names and values of its attributes, a null pointer behind the last one."""
    if page[STOPPED]:
        return
    page[DEPTH] += 1
    if page[DEPTH] > page[MAX_DEPTH]:
        page[STOPPED] = TOO_DEEP
        return
    if page[SKIPPED]:
        return
    meaning = _meaning(page, name)
    effects, code = meaning >> 8, meaning & 255
    _add_tag(page, code)
    if effects & BREAKS:
        _break(page)
    if effects & PARTS:
        _add_to_text(page, _SPACE)
    if effects & IS_ANCHOR:
        _start_anchor(page, code, attributes)
    if effects & IS_EVENT:
        _add_element(page, code, effects, attributes)
    if effects & IS_SKIPPED:
        page[SKIPPED] = page[DEPTH]
    if effects & IS_TITLE:
        page[TITLE] = page[N_TEXT]


def end(page: Pointer, name: Pointer) -> None:
    """Take an end tag; the parser supplies those that the page lacks."""
    if page[STOPPED]:
        return
    depth = page[DEPTH]
    page[DEPTH] = depth - 1
    if page[SKIPPED]:
        if page[SKIPPED] == depth:
            page[SKIPPED] = 0
        return
    meaning = _meaning(page, name)
    effects, code = meaning >> 8, meaning & 255
    if effects & BREAKS:
        _break(page)
    elif effects & IS_ANCHOR and page[IN_ANCHOR]:
        _end_anchor(page, code)
    elif effects & IS_TITLE:
        _end_title(page, code)


def text(page: Pointer, content: Pointer, size: int) -> None:
    """Take a text, with one space for each run of white space, and without control and invisible characters."""
    if page[STOPPED] or page[SKIPPED]:
        return
    n = page[N_TEXT]
    if n + size >= page[MAX_TEXT]:
        page[STOPPED] = FULL
        return
    kept = _bytes_at(page[TEXT])
    last = kept[n - 1] if n else _BREAK
    place = 0
    while place < size:
        byte = content[place]
        width = _width(byte)
        if _may_be_no_text(byte) and place + width <= size:
            character = _character(content, place, width)
            if _is_white(character):
                place += width
                if not _is_gap(last):
                    kept[n] = last = _SPACE
                    n += 1
                continue
            if _is_control(character):
                place += width
                continue
        kept[n] = last = byte
        n += 1
        place += 1
    page[N_TEXT] = n


@part_of_callback
def _may_be_no_text(byte: int) -> bool:
    """Return whether a character that begins with a byte may be white space or a control character."""
    if byte < 128:
        return byte <= 32 or byte == 127
    return byte == 0xC2 or 0xE1 <= byte <= 0xE3 or byte == 0xEF


@part_of_callback
def _width(byte: int) -> int:
    """Return how many bytes a character has that begins with such a byte."""
    if byte < 128:
        return 1
    return 2 if byte == 0xC2 else 3


@part_of_callback
def _character(content: Pointer, place: int, width: int) -> Any:
    """Return the character of some bytes of UTF-8 at a place."""
    first = np.int64(content[place])
    if width == 2:
        return (first & 31) << 6 | np.int64(content[place + 1]) & 63
    if width == 3:
        second, third = np.int64(content[place + 1]) & 63, np.int64(content[place + 2]) & 63
        return (first & 15) << 12 | second << 6 | third
    return first


@part_of_callback
def _is_white(character: int) -> bool:
    """Return whether a character is white space, as for `str.isspace`."""
    if character <= 0xA0:
        return 9 <= character <= 13 or 28 <= character <= 32 or character == 0x85 or character > 0x9F
    if character < 0x2000:
        return character == 0x1680
    if character <= 0x2029:
        return character <= 0x200A or character >= 0x2028
    return character == 0x202F or character == 0x205F or character == 0x3000  # noqa: PLR1714


@part_of_callback
def _is_control(character: int) -> bool:
    """Return whether a character is one of `twinlink.pages.spaces.CONTROL`."""
    if character < 0xA0:
        return character < 32 or character >= 127
    if character <= 0x2069:
        return _is_invisible(character)
    return 0xFDD0 <= character <= 0xFDEF or 0xFFFE <= character <= 0xFFFF or character == 0xFEFF


@part_of_callback
def _is_invisible(character: int) -> bool:
    """Return whether a character up to U+2069 is one of `twinlink.scripts.INVISIBLE`."""
    if character < 0x200E:
        return character == 0xAD or character == 0x200B  # noqa: PLR1714
    if character < 0x2060:
        return character <= 0x200F or 0x202A <= character <= 0x202E
    return character == 0x2060 or character >= 0x2066


@part_of_callback
def _meaning(page: Pointer, name: Pointer) -> Any:
    """Return what the table says of a name."""
    low = high = np.uint64(0)
    size = 0
    while name[size] != 0 and size <= LONGEST_NAME:
        letter = np.uint64(name[size])
        if size < 8:
            low |= letter << (_EIGHT * np.uint64(size))
        elif size < LONGEST_NAME:
            high |= letter << (_EIGHT * np.uint64(size - 8))
        size += 1
    if size > LONGEST_NAME:
        return _OTHER
    names = _names_at(page[NAMES])
    number = ((low * _FIRST) ^ (high * _SECOND)) >> _SHIFT
    while True:
        place = np.int64(number) * NAME
        if names[place] == low and names[place + 1] == high:
            return np.int64(names[place + 2])
        if names[place] == 0:
            return _OTHER
        number = (number + _ONE) & _LAST


@part_of_callback
def _add_tag(page: Pointer, code: int) -> None:
    if page[N_TAGS] >= page[MAX_TAGS]:
        page[STOPPED] = FULL
        return
    _bytes_at(page[TAGS])[page[N_TAGS]] = code
    page[N_TAGS] += 1


@part_of_callback
def _is_gap(byte: int) -> bool:
    return bool(byte == _SPACE or byte == _BREAK)  # noqa: PLR1714, SIM109  (numba would make a set for each call)


@part_of_callback
def _add_to_text(page: Pointer, byte: int) -> None:
    """Add a space or a break to the text, unless it ends with one."""
    n, kept = page[N_TEXT], _bytes_at(page[TEXT])
    if n == 0 or _is_gap(kept[n - 1]):
        return
    if n >= page[MAX_TEXT]:
        page[STOPPED] = FULL
        return
    kept[n] = byte
    page[N_TEXT] = n + 1


@part_of_callback
def _break(page: Pointer) -> None:
    """End a block: a break takes the place of a space."""
    n, kept = page[N_TEXT], _bytes_at(page[TEXT])
    if n and kept[n - 1] == _SPACE:
        kept[n - 1] = _BREAK
    else:
        _add_to_text(page, _BREAK)


@part_of_callback
def _add_word(page: Pointer, word: Pointer) -> int:
    """Add a name or a value to the attributes, and return its bytes; a null pointer counts as empty."""
    n = page[N_ATTRIBUTES]
    kept = _bytes_at(page[ATTRIBUTES])
    size = 0
    if _address_of(word):
        while word[size] != 0 and n + size < page[MAX_ATTRIBUTES]:
            kept[n + size] = word[size]
            size += 1
    if n + size >= page[MAX_ATTRIBUTES]:
        page[STOPPED] = FULL
        return size
    kept[n + size] = 0
    page[N_ATTRIBUTES] = n + size + 1
    return size


@part_of_callback
def _add_attributes(page: Pointer, attributes: Pointer) -> int:
    """Add the attributes that count; return the effects of all their names, `IS_KIND` only with a short value."""
    found = number = 0
    while _address_of(attributes) and _address_of(attributes[number]):
        effects = _meaning(page, attributes[number]) >> 8
        if effects & IS_ATTRIBUTE:
            _add_word(page, attributes[number])
            size = _add_word(page, attributes[number + 1])
            found |= effects if size <= LONGEST_KIND else effects & ~IS_KIND
        number += 2
    return found


@part_of_callback
def _add_event(page: Pointer, code: int, first: int) -> None:
    """Add an event, whose attributes are the last ones."""
    if page[N_EVENTS] >= page[MAX_EVENTS]:
        page[STOPPED] = FULL
        return
    events, place = _words_at(page[EVENTS]), page[N_EVENTS] * EVENT
    events[place], events[place + 1], events[place + 2] = code, first, page[N_ATTRIBUTES]
    events[place + 3] = page[ANCHOR_EVENT]
    page[N_EVENTS] += 1


@part_of_callback
def _add_element(page: Pointer, code: int, effects: int, attributes: Pointer) -> None:
    """Add the event of an element, unless it is a meta element that means nothing."""
    first = page[N_ATTRIBUTES]
    found = _add_attributes(page, attributes)
    if effects & IS_META and found & (IS_PRAGMA | IS_KIND) == 0:
        page[N_ATTRIBUTES] = first
    else:
        _add_event(page, code, first)


@part_of_callback
def _start_anchor(page: Pointer, code: int, attributes: Pointer) -> None:
    """Open an anchor, if it has an ``href``: its event comes with its end."""
    first = page[N_ATTRIBUTES]
    if _add_attributes(page, attributes) & IS_HREF == 0:
        page[N_ATTRIBUTES] = first
        return
    page[IN_ANCHOR], page[ANCHOR], page[ANCHOR_EVENT], page[ANCHOR_CODE] = 1, page[N_TEXT], page[N_EVENTS], code
    page[ANCHOR_ATTRIBUTES], page[ANCHOR_ATTRIBUTES_END] = first, page[N_ATTRIBUTES]


@part_of_callback
def _end_anchor(page: Pointer, code: int) -> None:
    """Close the anchor that is open: its text follows its attributes, which are copied if others have come since."""
    first, after = page[ANCHOR_ATTRIBUTES], page[ANCHOR_ATTRIBUTES_END]
    if after != page[N_ATTRIBUTES]:
        _copy(page, page[ATTRIBUTES] + first, after - first)
        first, after = page[N_ATTRIBUTES] - (after - first), page[N_ATTRIBUTES]
    _copy(page, page[TEXT] + page[ANCHOR], page[N_TEXT] - page[ANCHOR])
    kept = _bytes_at(page[ATTRIBUTES])
    for place in range(after, page[N_ATTRIBUTES]):
        if kept[place] == _BREAK:
            kept[place] = _SPACE
    page[IN_ANCHOR] = 0
    _add_event(page, code, first)


@part_of_callback
def _copy(page: Pointer, address: int, size: int) -> None:
    """Add bytes to the attributes."""
    first = page[N_ATTRIBUTES]
    if first + size > page[MAX_ATTRIBUTES]:
        page[STOPPED] = FULL
        return
    kept, source = _bytes_at(page[ATTRIBUTES]), _bytes_at(address)
    for place in range(size):
        kept[first + place] = source[place]
    page[N_ATTRIBUTES] = first + size


@part_of_callback
def _end_title(page: Pointer, code: int) -> None:
    """Move the first title from the text to the attributes; remove any other."""
    size, first = page[N_TEXT] - page[TITLE], page[N_ATTRIBUTES]
    page[N_TEXT] = page[TITLE]
    if page[HAS_TITLE]:
        return
    page[HAS_TITLE] = 1
    _copy(page, page[TEXT] + page[TITLE], size)
    _add_event(page, code, first)
