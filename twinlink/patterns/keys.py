"""Normal forms of addresses for URL patterns, and keys in readable form.

A key names the two sides of a pattern: ``en`` and ``tc`` for tokens, ``lang=en`` and ``lang=tc`` for a variable, ``*e``
and ``*c`` for letters at the tail of a token (``e*`` at its head, ``*e*`` between its digits), an empty side for what
one address has more than the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from twinlink.errors import InputError
from twinlink.patterns.kernels import HEAD, INSIDE, REPEATED, TAIL, TOKEN, key_hash
from twinlink.patterns.url_kernels import (
    common_host,
    default_documents,
    form_hashes,
    hash_text,
    part_hashes,
    write_forms,
)
from twinlink.urls import DEFAULT_DOCUMENTS

__all__ = [
    "Forms",
    "Key",
    "as_list",
    "given_key",
    "key_hashes",
    "key_ranks",
    "keys_of",
    "read_forms",
    "rule_of",
    "side_hashes",
]

_STARS = (("", ""), ("", "*"), ("*", ""), ("*", "*"))
"""What stands before and behind the letters of a key: of TOKEN, HEAD, TAIL, INSIDE."""

SpanT = TypeVar("SpanT", int, NDArray[np.integer])

Places = NDArray[np.int64]
Hashes = NDArray[np.uint64]


class Key(NamedTuple):
    """The two sides of a pattern, in the order of their bytes.

    >>> Key("en", "tc").level == Key("*e", "*c").level
    False
    """

    source: str
    target: str

    @property
    def level(self) -> int:
        """Whether it is of tokens or of letters inside a token, as `twinlink.patterns.kernels` numbers it."""
        head, tail = self.target.endswith("*"), self.target.startswith("*")
        return (INSIDE if tail else HEAD) if head else TAIL if tail else TOKEN


class Forms(msgspec.Struct, frozen=True, eq=False):
    """The written forms of a site's addresses, each one once."""

    text: NDArray[np.uint8]
    starts: Places
    """Where each form begins in ``text``; forms are in the order of their hashes, not that of the addresses."""
    lasts: Places
    """Where each form ends."""
    places: Places
    """Which address has the form: of several the one that comes first in the order of addresses."""
    form_of: Places
    """Form of each address, -1 for what is no address."""
    host: str
    """The labels that all hosts end in, with the port; forms do not have them. Empty: there are none."""
    host_of_both: str = ""
    """The host, with its port, that the site uses with and without ``www.``; forms have it. Empty: there is none."""

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def longest(self) -> int:
        """Length of the longest form."""
        return int((self.lasts - self.starts).max(initial=0))

    def part(self, form: int, start: int = 0, end: int | None = None) -> str:
        """Return a piece of a form as text."""
        base = int(self.starts[form])
        last = int(self.lasts[form]) if end is None else base + end
        return self.text[base + start : last].tobytes().decode("utf-8", "backslashreplace")


def given_key(key: object) -> Key:
    """Return a key as `keys_of` gives it, from one whose sides may be in the other order, or a plain pair.

    >>> given_key(("tc", "en")), given_key(Key("*c", "*e"))
    (Key(source='en', target='tc'), Key(source='*c', target='*e'))

    Raises
    ------
    InputError
        If it is not a pair of texts.
    """
    if not (isinstance(key, tuple) and len(key) == 2 and all(isinstance(side, str) for side in key)):
        raise InputError(f"expected a URL key such as Key('en', 'tc'), got {key!r}")
    return Key(*sorted(key, key=lambda side: side.strip("*").encode("utf-8", "surrogateescape")))


def as_list(texts: Sequence[str] | pa.Array | pa.ChunkedArray) -> list[str]:
    """Return texts that may be an Arrow column, or a pandas Series, which would be read by its labels."""
    return texts.to_pylist() if isinstance(texts, pa.Array | pa.ChunkedArray) else list(texts)


def read_forms(urls: Sequence[str] | pa.Array) -> Forms:
    """Write the addresses of a site in their forms (see `twinlink.patterns.url_kernels`).

    The scheme and a fragment are left out, and so are the labels that all hosts end in, so that forms do not depend on
    the name of the site. ``www.x.hk`` and ``x.hk`` are one host on a site that uses both. A folder's
    address stands for its default document: it gets the name (``index.html``) that is the most frequent one on the
    site, so that ``/en/`` meets ``/tc/index.html`` and ``/index_c.html``.

    Parameters
    ----------
    urls : sequence of str or pa.Array of strings
        Normalised addresses of one site, in any order.

    Examples
    --------
    >>> forms = read_forms(["http://EN.x.hk/a/?y=2&x=%41", "http://tc.x.hk/a/index.htm"])
    >>> sorted(forms.part(k) for k in range(len(forms)))
    ['en./a/index.htm?x=a?y=2', 'tc./a/index.htm']
    """
    column = urls if isinstance(urls, pa.Array | pa.ChunkedArray) else pa.array(urls, pa.large_string())
    raw, starts = _bytes_of(column)
    first, last = common_host(raw, starts)
    host_of_both, named = "", column
    if _has_both(column, common := _text(raw[first:last])):
        host_of_both, named = common, _with_www(column, common)
        raw, starts = _bytes_of(named)
        first, last = common_host(raw, starts)
    longest = int(np.diff(starts).max(initial=0))
    text, ends, paths = write_forms(raw, starts, last - first, longest)
    text, ends = _with_default_documents(text, ends, paths)
    hashes = form_hashes(text, ends)
    order = np.argsort(hashes, kind="stable")
    order = order[np.diff(ends)[order] > 0]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = hashes[order][1:] != hashes[order][:-1]
    form_of = np.full(len(starts) - 1, -1, np.int64)
    form_of[order] = np.cumsum(is_new) - 1
    places = _first_in_order(column, named, order, is_new)
    return Forms(text, ends[:-1][places], ends[1:][places], places, form_of, _text(raw[first:last]), host_of_both)


def _text(part: NDArray[np.uint8]) -> str:
    return part.tobytes().decode("utf-8", "backslashreplace")


def _has_both(column: pa.Array | pa.ChunkedArray, host: str) -> bool:
    """Test whether addresses have a host with and without ``www.``."""
    return bool(host) and all(
        pc.any(pc.match_substring_regex(column, _at(each))).as_py() for each in (host, f"www.{host}")
    )


def _with_www(column: pa.Array | pa.ChunkedArray, host: str) -> pa.Array | pa.ChunkedArray:
    """Return addresses in which a host has a ``www.`` everywhere.

    Not without it everywhere: ⟨tc, www⟩ of ``tc.x.hk`` and ``www.x.hk`` says more than ⟨, tc⟩.
    """
    return pc.replace_substring_regex(column, _at(host), r"\1www.\2")


def _at(host: str) -> str:
    return rf"(?i)^([a-z]+://)({re.escape(host)}(?:[/?#]|$))"


def _bytes_of(column: pa.Array | pa.ChunkedArray) -> tuple[NDArray[np.uint8], Places]:
    """Return the bytes of all strings one behind the other, and where each begins."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    column = column.cast(pa.large_string())
    _, offsets, data = column.buffers()
    starts = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    raw = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    return raw[starts[0] : starts[-1]], starts - starts[0]


def _with_default_documents(text: NDArray[np.uint8], ends: Places, paths: Places) -> tuple[NDArray[np.uint8], Places]:
    """Write the site's default document behind the addresses of folders."""
    counts = default_documents(text, ends, paths, _default_hashes())
    if not counts.any():
        return text, ends
    name = np.frombuffer(DEFAULT_DOCUMENTS[int(counts.argmax())].encode(), np.uint8)
    is_folder = (paths > ends[:-1]) & (text[np.maximum(paths - 1, 0)] == ord("/"))
    longer = np.insert(text, np.repeat(paths[is_folder], len(name)), np.tile(name, int(is_folder.sum())))
    more = np.cumsum(is_folder) * len(name)
    return longer, ends + np.concatenate([[0], more])


@cache
def _default_hashes() -> Hashes:
    return np.array([_hash(name) for name in DEFAULT_DOCUMENTS], np.uint64)


def _hash(text: str) -> np.uint64:
    data = np.frombuffer(text.encode(), np.uint8)
    return np.uint64(hash_text(data))


def _first_in_order(
    column: pa.Array | pa.ChunkedArray, named: pa.Array | pa.ChunkedArray, order: Places, is_new: NDArray[np.bool_]
) -> Places:
    """Return for each form one address: the first in the order of addresses with ``www.``; of two, that without it."""
    places = order[is_new].copy()
    groups = np.cumsum(is_new) - 1
    for group in np.unique(groups[~is_new]).tolist():
        members = order[np.searchsorted(groups, group) : np.searchsorted(groups, group, "right")]
        places[group] = min(members.tolist(), key=lambda place: (str(named[place]), len(str(column[place]))))
    return places


def keys_of(forms: Forms, pairs: Sequence[NDArray[np.integer]]) -> list[Key]:
    """Return the keys of pairs of forms that differ in one place alone.

    Parameters
    ----------
    pairs : sequence of ndarray
        Source forms, target forms, source spans, target spans, levels.
    """
    sources, targets, spans_u, spans_v, levels = pairs
    sides = [_parts(forms, of_side, spans).to_pylist() for of_side, spans in ((sources, spans_u), (targets, spans_v))]
    return [_named(*each) for each in zip(*sides, levels.tolist(), strict=True)]


def _named(source: str, target: str, level: int) -> Key:
    before, behind = _STARS[level]
    return Key(f"{before}{source}{behind}", f"{before}{target}{behind}")


def key_ranks(forms: Forms, pairs: Sequence[NDArray[np.integer]]) -> Places:
    """Return the rank of each key among equally strong ones: tokens before letters, then the shorter, then by letters.

    Parameters
    ----------
    pairs : sequence of ndarray
        Of each key one pair, as for `keys_of`.
    """
    sources, targets, spans_u, spans_v, levels = pairs
    before, behind = (pa.array(marks).take(pa.array(levels)) for marks in zip(*_STARS, strict=True))
    sides = [
        pc.binary_join_element_wise(before, _parts(forms, of_side, spans), behind, "")
        for of_side, spans in ((sources, spans_u), (targets, spans_v))
    ]
    sizes = pc.add(*(pc.utf8_length(side) for side in sides))
    columns = {"is_letters": pa.array(levels != TOKEN), "size": sizes, "source": sides[0], "target": sides[1]}
    order = pc.sort_indices(pa.table(columns), sort_keys=[(name, "ascending") for name in columns])
    ranks = np.empty(len(levels), np.int64)
    ranks[order.to_numpy()] = np.arange(len(levels))
    return ranks


def _parts(forms: Forms, which: NDArray[np.integer], spans: NDArray[np.integer]) -> pa.StringArray:
    """Return the text of a span of each of some forms."""
    starts, lasts = _places(forms, which, spans)
    sizes = lasts - starts
    ends = np.cumsum(sizes)
    text = forms.text[np.repeat(starts - ends + sizes, sizes) + np.arange(ends[-1] if len(ends) else 0)]
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    raw = pa.Array.from_buffers(pa.binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(text)])
    try:
        return raw.cast(pa.string())
    except pa.ArrowInvalid:  # bytes of another encoding
        return pa.array([part.decode("utf-8", "backslashreplace") for part in raw.to_pylist()], pa.string())


def _places(forms: Forms, which: NDArray[np.integer], spans: NDArray[np.integer]) -> tuple[Places, Places]:
    """Return where in the text of all forms a span of each of some forms begins and ends."""
    starts, (begins, ends) = forms.starts[which], _span(spans)
    return starts + begins, starts + ends


def _span(span: SpanT) -> tuple[SpanT, SpanT]:
    """Return where one span, or each of some, begins and ends in its form."""
    return (span >> 16) & ~REPEATED, span & 0xFFFF


def key_hashes(keys: Sequence[Key]) -> tuple[Hashes, Hashes, Hashes]:
    """Return the hashes of the keys' sources and of their targets, and those of the keys."""
    sides = [[_hash(side.strip("*")) for side in key] for key in keys]
    sources, targets = (np.array([side[k] for side in sides], np.uint64) for k in range(2))
    both = [key_hash(key.level, *side) for key, side in zip(keys, sides, strict=True)]
    return sources, targets, np.array(both, np.uint64)


def side_hashes(forms: Forms, which: NDArray[np.integer], spans: NDArray[np.integer]) -> Hashes:
    """Return the hashes of one side of some keys, as `key_hashes` does, given forms that have it and its spans."""
    return part_hashes(forms.text, *_places(forms, which, spans))


def rule_of(forms: Forms, source: int, source_span: int, target: int, target_span: int, level: int) -> str:
    """Return the rule between two forms that differ in one place: what is replaced, with the characters around it.

    ``*`` stands for the rest of a token, ``…`` for the rest of an address, ``//`` for the beginning of the host.
    """
    key = _named(forms.part(source, *_span(source_span)), forms.part(target, *_span(target_span)), level)
    if (source_span >> 16) & REPEATED:
        return f"{key.source} … {key.source} ↔ {key.target} … {key.target}"
    begin, end = _span(target_span)
    before = "" if level in (TAIL, INSIDE) else forms.part(target, begin - 1, begin) if begin else "//"
    after = "" if level in (HEAD, INSIDE) else forms.part(target, end, end + 1) if end < _size(forms, target) else ""
    after = after.replace("?", "")
    if key.source or level != TOKEN:
        return f"{before}{key.source}{after} ↔ {before}{key.target}{after}"
    if _span(source_span)[0] < begin:  # cut out with the separator before it
        return f"{after or '…'} ↔ {'' if after else '…'}{before}{key.target}{after}"
    return f"{before} ↔ {before}{key.target}{after}"


def _size(forms: Forms, form: int) -> int:
    return int(forms.lasts[form] - forms.starts[form])
