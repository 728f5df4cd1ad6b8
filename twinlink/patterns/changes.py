"""Addresses that result from applying a key to an address: parts masked by `twinlink.patterns.url_kernels`, replaced.

A key of tokens replaces tokens, a variable, or a token in all its places; one of letters replaces letters at the head
or tail of a token or between its digits. An empty side means that one address lacks the part: it is inserted or
removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

from twinlink.patterns.kernels import HEAD, INSIDE, TAIL, TOKEN
from twinlink.patterns.keys import Key
from twinlink.patterns.url_kernels import MAX_ENDING

__all__ = ["Change", "Place", "changes", "plain"]

MAX_TOKENS = 4
_BYTE = r"%(?:3[0-9]|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a]|[89a-f][0-9a-f])"
_TOKENS = re.compile(rf"(?:[0-9a-z]|[^\x00-\x7f]|{_BYTE})+", re.IGNORECASE)
_RUNS = re.compile(r"[a-z]+", re.IGNORECASE)
_LARGE_GAP = re.compile(r"[/?=&]")
_SMALL_LETTERS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_SEPARATORS = "._-"
_SAFE = "-._~!$'()*,;:@="


class Place(NamedTuple):
    """Where in an address something was replaced."""

    before: str
    """Character in front of it; empty: the beginning of the host. ``&`` counts as ``?``."""
    after: str
    """Character behind it; empty: the end."""
    depth: int = -1
    """What is put in stands so many slashes from the front, or (counted from -2 downwards) tokens from the end; -1:
    something was replaced or left out, wherever it stood."""
    everywhere: bool = False
    """All places of a token at once."""


class Change(NamedTuple):
    """One address that a key makes of another."""

    url: str
    place: Place


class _Address(NamedTuple):
    """An address, cut where a key may stand: its text is what its host has before the site's name, path and query."""

    scheme: str
    text: str
    host: str
    """The end of the host: the site's name, with the port."""

    def url(self, text: str) -> str:
        front, slash, path = text.partition("/")
        return f"{self.scheme}://{front}{self.host}{slash}{path}"


def changes(url: str, site: str, key: Key, *, back: bool = False, written: str = "") -> list[Change]:
    """Return all addresses that differ from a page's by a key: its source replaced by its target, or back.

    Parameters
    ----------
    url : str
        Normalised address.
    site : str
        Name of its site: that end of the host is not changed.
    key : Key
    back : bool
        Replace the target by the source.
    written : str
        How the new side is written. Default: as the old side (small letters, capitals).

    Returns
    -------
    list of Change
        Each address once for each place; empty where the old side is not in the address.

    Examples
    --------
    >>> page = "http://www.fehd.gov.hk/tc_chi/LLB_web/cagenda_20070904.htm"
    >>> [each.url for each in changes(page, "fehd.gov.hk", Key("english", "tc_chi"), back=True)]
    ['http://www.fehd.gov.hk/english/LLB_web/cagenda_20070904.htm']
    """
    old, new = (key.target, key.source) if back else (key.source, key.target)
    old, new = old.strip("*"), new.strip("*")
    address = _cut(url, site)
    if address is None or not _may_hold(address.text, old):
        return []
    found = (
        _tokens_changed(address.text, old, new, written)
        if key.level == TOKEN
        else _letters_changed(address.text, old, new, key.level, written)
    )
    return list(dict.fromkeys(Change(address.url(text), place) for text, place in found if text != address.text))


def _may_hold(text: str, old: str) -> bool:
    """Test quickly whether a key may apply to an address; most addresses fail."""
    return "%" in text or "+" in text or not text.isascii() or old in text.lower()


def _cut(url: str, site: str) -> _Address | None:
    scheme, mark, rest = url.partition("://")
    if not mark:
        return None
    split = re.search(r"[/?]", rest)
    netloc, path = (rest[: split.start()], rest[split.start() :]) if split else (rest, "/")
    host, name = netloc.rpartition(":")[0] if re.search(r":\d+$", netloc) else netloc, site.rpartition(":")[0] or site
    front = len(host) - len(name) if host.endswith(f".{name}") else 0
    return _Address(scheme, netloc[:front] + ("" if path.startswith("/") else "/") + path, netloc[front:])


def _tokens(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in _TOKENS.finditer(text)]


def _windows(text: str, tokens: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield from where to where one token reaches, or several that no large separator parts."""
    for k in range(len(tokens)):
        for j in range(k, min(k + MAX_TOKENS, len(tokens))):
            if j > k and _LARGE_GAP.search(text[tokens[j - 1][1] : tokens[j][0]]):
                break
            yield tokens[k][0], tokens[j][1]


def _around(text: str, start: int, end: int) -> tuple[str, str]:
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    return before.replace("&", "?"), after.replace("&", "?")


def _tokens_changed(text: str, old: str, new: str, written: str) -> Iterator[tuple[str, Place]]:
    if not old:
        if "=" not in new:
            yield from _put_in(text, new, written)
        yield from _variable_put_in(text, new, written)
        return
    tokens = _tokens(text)
    for start, end in _windows(text, tokens):
        before, after = _around(text, start, end)
        if plain(text[start:end]) != old:
            continue
        if new and not (before in ("?", "=") and after in ("?", "")):
            yield text[:start] + _spelled(new, text[start:end], written) + text[end:], Place(before, after)
        elif not new:
            yield from _left_out(text, start, end, before, after)
    yield from _variables_changed(text, old, new, written)
    places = [span for span in tokens if plain(text[slice(*span)]) == old]
    if _TOKENS.fullmatch(new) and len(places) > 1 and not any(plain(text[slice(*span)]) == new for span in tokens):
        for start, end in reversed(places):
            text = text[:start] + _spelled(new, text[start:end], written) + text[end:]
        yield text, Place("", "", everywhere=True)


def _left_out(text: str, start: int, end: int, before: str, after: str) -> Iterator[tuple[str, Place]]:
    """Remove tokens with the separator that only they need, as `twinlink.patterns.url_kernels` cuts."""
    if before not in ("", "/", "?", "="):
        yield text[: start - 1] + text[end:], Place(before, after)
    elif before != "=" and after not in ("", "/", "?", "="):
        yield text[:start] + text[end + 1 :], Place(before, after)
    elif before == "/" and after in ("", "/", "?"):
        yield text[: start - 1] + text[end:], Place(before, after)


def _put_in(text: str, new: str, written: str) -> Iterator[tuple[str, Place]]:
    """Insert tokens with a separator: the inverse operation."""
    new = written or quote(new, safe=_SAFE)
    path = text.partition("?")[0]
    tokens = _tokens(path)
    for number, (start, end) in enumerate(tokens):
        before, behind = _around(text, start, end)
        left = len(tokens) - number
        for mark in _SEPARATORS:
            yield text[:end] + mark + new + text[end:], Place(mark, behind, -1 - left)
            if before in ("", "/"):
                yield text[:start] + new + mark + text[start:], Place(before, mark, -2 - left)
    if path.startswith("/"):  # no label of the host is in the text
        yield f"{new}.{text}", Place("", ".", 0)
    for depth, slash in enumerate(place for place, letter in enumerate(path) if letter == "/"):
        yield text[:slash] + "/" + new + text[slash:], Place("/", "/", depth)
    if not path.endswith("/"):
        yield path + "/" + new + text[len(path) :], Place("/", text[len(path) : len(path) + 1], -2)


def _spans_of_variables(text: str) -> list[tuple[int, int]]:
    start = text.find("?")
    if start < 0:
        return []
    return [(start + 1 + found.start(), start + 1 + found.end()) for found in re.finditer(r"[^&]+", text[start + 1 :])]


def _variables_changed(text: str, old: str, new: str, written: str) -> Iterator[tuple[str, Place]]:
    for start, end in _spans_of_variables(text):
        if plain(text[start:end].replace("+", " ")) != old:
            continue
        if new:
            yield text[:start] + _spelled(new, text[start:end], written) + text[end:], Place("?", "?")
        else:
            rest = text[end:].lstrip("&")
            yield (text[:start] + rest if rest else text[: start - 1]), Place("?", "?")


def _variable_put_in(text: str, new: str, written: str) -> Iterator[tuple[str, Place]]:
    mark = "" if text.endswith(("?", "&")) else "&" if "?" in text else "?"
    yield f"{text}{mark}{written or quote(new, safe=_SAFE)}", Place("?", "?", 0)


def _letters_changed(text: str, old: str, new: str, level: int, written: str) -> Iterator[tuple[str, Place]]:
    tokens = _tokens(text)
    for number, (start, end) in enumerate(tokens):
        before, after = _around(text, start, end)
        if before == "." and end - start <= MAX_ENDING and after in ("", "?"):
            continue  # an ending of a file's name
        left = len(tokens) - number
        for first, last in _letters(text, start, end, old, level):
            depth = -1 if old else -1 - left
            place = Place("*" if level != HEAD else before, "*" if level != TAIL else after, depth)
            yield text[:first] + _spelled(new, text[first:last] or text[start:end], written) + text[last:], place


def _letters(text: str, start: int, end: int, old: str, level: int) -> Iterator[tuple[int, int]]:
    """Yield where letters stand inside a token, at its head, at its tail or between its digits."""
    size = len(old)
    if level == INSIDE:
        for run in _RUNS.finditer(text, start, end):
            if start < run.start() and run.end() < end and old and plain(run[0]) == old:
                yield run.span()
    elif size < end - start:
        first = start if level == HEAD else end - size
        if plain(text[first : first + size]) == old:
            yield first, first + size


def plain(text: str) -> str:
    """Return a piece of an address as written forms have it."""
    if "%" in text:
        text = unquote_to_bytes(text).decode("utf-8", "backslashreplace")
    return text.translate(_SMALL_LETTERS)


def _spelled(new: str, old: str, written: str) -> str:
    """Write the new side: as the site does, else in capitals where the old side has them."""
    if written:
        return written
    if "=" not in new and old.isascii() and "%" not in old:
        if old.isupper() and len(old) > 1:
            new = new.upper()
        elif old[:1].isupper():
            new = new.capitalize()
    return quote(new, safe=_SAFE)
