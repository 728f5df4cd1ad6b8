"""Rules of robots.txt, matched against addresses in linear time, for any number of rules and wildcards.

By RFC 9309, a rule is a prefix of a path; ``*`` matches any characters, and ``$`` at the end matches the end of the
address. The longest matching rule decides; of two equally long ones the one that allows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from urllib.parse import quote

_PLAIN = re.compile(r"[A-Za-z0-9_.~/=*-]+\$?")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_STARS = re.compile(r"\*+")
_BYTES_A_RULE, _BYTES_A_CHARACTER = 100, 10  # upper bounds, measured on files of 500 kB


class Rules:
    """The rules of one group.

    Parameters
    ----------
    rules : iterable of (str, bool)
        Patterns in the form of `canonical_pattern`, none empty, and whether they allow the addresses that they match.

    Attributes
    ----------
    size : int
        Approximate memory in bytes.

    Examples
    --------
    >>> rules = Rules([("/a", False), ("/a/*.html$", True)])
    >>> rules.allows("/a/b"), rules.allows("/a/b.html"), rules.allows("/b")
    (False, True, True)
    """

    def __init__(self, rules: Iterable[tuple[str, bool]]) -> None:
        ordered = sorted(set(rules), key=lambda rule: (-len(rule[0]), not rule[1], rule[0]))
        self.size = sum(_BYTES_A_RULE + _BYTES_A_CHARACTER * len(pattern) for pattern, _ in ordered)
        self._allows = [allows for _, allows in ordered]
        self._beginnings: dict[str, int] = {}  # prefix → number of the rule; lower numbers take precedence
        self._whole: dict[str, int] = {}
        wild: dict[str, int] = {}
        for number, (pattern, _) in enumerate(ordered):
            if "*" in pattern:
                wild.setdefault(pattern, number)
            elif pattern.endswith("$"):
                self._whole.setdefault(pattern[:-1], number)
            else:
                self._beginnings.setdefault(pattern, number)
        self._lengths = sorted({len(pattern) for pattern in self._beginnings}, reverse=True)
        self._wild = _WildPatterns(list(wild))
        self._wild_numbers = list(wild.values())

    def allows(self, path: str) -> bool:
        """Return whether the address with this `canonical_path` may be fetched."""
        none = len(self._allows)
        numbers = [self._whole.get(path, none)]
        for length in self._lengths:
            number = self._beginnings.get(path[:length]) if length <= len(path) else None
            if number is not None:
                numbers.append(number)
                break
        found = self._wild.first(path)
        if found is not None:
            numbers.append(self._wild_numbers[found])
        best = min(numbers)
        return best == none or self._allows[best]


class _WildPatterns:
    """Patterns with ``*``, all matched at the same time (Shift-And, Baeza-Yates and Gonnet 1992).

    Each pattern is a row of bits: one for its start and one for each of its characters except ``*``. All rows are
    concatenated into one integer. A bit is set if the pattern up to this position matches the address up to the current
    character. For each character of the address, all bits are shifted by one and masked with the positions of this
    character; bits before a ``*`` remain set. Each character thus takes a few operations on long integers.
    """

    def __init__(self, patterns: list[str]) -> None:
        self._letters = bytearray()
        self._starts: list[int] = []
        stays, ends = [], []
        for pattern in patterns:
            is_whole = pattern.endswith("$")
            parts = _STARS.sub("*", pattern.removesuffix("$")).split("*")
            self._starts.append(len(self._letters))
            self._letters += b"\0"
            for part in parts[:-1]:
                self._letters += part.encode("ascii")
                stays.append(len(self._letters) - 1)
            self._letters += parts[-1].encode("ascii")
            ends.append(len(self._letters) - 1)
            if not is_whole:
                stays.append(ends[-1])
        self._begin = _bits(self._starts, len(self._letters))
        self._stays = _bits(stays, len(self._letters))
        self._ends = _bits(ends, len(self._letters))
        self._places: dict[str, int] = {}  # character → bits of its positions

    def first(self, path: str) -> int | None:
        """Return the number of the first pattern that matches a path."""
        state, stays = self._begin, self._stays
        for character in path:
            places = self._places.get(character)
            if places is None:
                places = self._places[character] = self._find(character)
            state = (state << 1) & places | state & stays
            if not state:
                return None
        state &= self._ends
        return bisect_right(self._starts, (state & -state).bit_length() - 1) - 1 if state else None

    def _find(self, character: str) -> int:
        table = bytearray(b"0" * 256)
        table[ord(character)] = ord("1")
        return int(b"0" + self._letters.translate(table)[::-1], 2)


def _bits(places: Iterable[int], n: int) -> int:
    """Return the integer whose bits at these positions are set."""
    found = bytearray(b"0" * (n + 1))
    for place in places:
        found[n - place] = ord("1")
    return int(bytes(found), 2)


def canonical_path(url: str) -> str:
    """Return path and query of an address in a canonical percent-encoding, to be matched with rules.

    Parameters
    ----------
    url : str
        A normalised address.

    Examples
    --------
    >>> canonical_path("http://a.org/%7ea/b(1)?c=%2f"), canonical_path("http://a.org")
    ('/~a/b%281%29%3Fc=%2F', '/')
    """
    return "/" + _canonical(url.partition("#")[0].partition("//")[2].partition("/")[2], b"/%")


def canonical_pattern(pattern: str) -> str:
    r"""Return the pattern of a rule in the same percent-encoding; bytes that are not UTF-8 are given as surrogates.

    Examples
    --------
    >>> canonical_pattern("/*.php$"), canonical_pattern("/a$b"), canonical_pattern("/caf\u00e9")
    ('/*.php$', '/a%24b', '/caf%C3%A9')
    """
    if _PLAIN.fullmatch(pattern):
        return pattern
    if pattern.startswith(("https://", "http://")):  # matches only a path that begins with this address
        pattern = f"/{pattern}"
    end = "$" if pattern.endswith("$") else ""
    return _canonical(pattern.removesuffix("$"), b"/%*") + end


def _canonical(text: str, kept: bytes) -> str:
    """Decode all percent-encoded bytes except ``kept``, and encode those that must be encoded."""

    def decoded(escape: re.Match[bytes]) -> bytes:
        code = int(escape[1], 16)
        return escape[0].upper() if code in kept else bytes((code,))

    return quote(_ESCAPE.sub(decoded, text.encode("utf-8", "surrogateescape")), safe=kept + b"=")
