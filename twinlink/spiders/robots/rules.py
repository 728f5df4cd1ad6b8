"""Rules of robots.txt, matched with addresses in linear time, for any number of rules and wildcards.

As RFC 9309 says: a rule is the beginning of a path, ``*`` in it stands for any characters, ``$`` at its end for the end
of the address. The longest rule that matches decides; of two equally long ones that which allows.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from urllib.parse import quote

__all__ = ["Rules", "canonical_path", "canonical_pattern"]

_PLAIN = re.compile(r"[A-Za-z0-9_.~/=*-]+\$?")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_STARS = re.compile(r"\*+")
_BYTES_A_RULE, _BYTES_A_CHARACTER = 100, 10  # measured on files of 500 kB: at most that


class Rules:
    """The rules of one group.

    Parameters
    ----------
    rules : iterable of (str, bool)
        Patterns as `canonical_pattern` writes them, none empty, and whether they allow what they match.

    Attributes
    ----------
    size : int
        About how many bytes of memory it takes.

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
        self._beginnings: dict[str, int] = {}  # beginning → number of the rule; the first is the strongest
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
        """Return whether an address may be fetched, by its `canonical_path`."""
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
    """Patterns with ``*``, all matched at once over an address (Shift-And, Baeza-Yates and Gonnet 1992).

    Each pattern is a row of bits, a bit for its start and one for each of its characters but ``*``; all rows stand one
    behind the other in one number. A bit is set while what its row has up to there matches what the address has so far.
    With each character of the address all bits move on by one and stay set where that character stands; bits in front
    of a ``*`` stay set for good. So the time is that of a few operations on long numbers for each character.
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
        self._places: dict[str, int] = {}  # character → where it stands

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
    """Return the number whose bits at these places are set."""
    found = bytearray(b"0" * (n + 1))
    for place in places:
        found[n - place] = ord("1")
    return int(bytes(found), 2)


def canonical_path(url: str) -> str:
    """Return what rules are compared with: path and query of an address, percent-encoded in one way.

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
    r"""Return the pattern of a rule, percent-encoded in the same way; bytes that are no UTF-8 are surrogates in it.

    Examples
    --------
    >>> canonical_pattern("/*.php$"), canonical_pattern("/a$b"), canonical_pattern("/caf\u00e9")
    ('/*.php$', '/a%24b', '/caf%C3%A9')
    """
    if _PLAIN.fullmatch(pattern):
        return pattern
    if pattern.startswith(("https://", "http://")):  # it matches a path that holds it, and nothing else
        pattern = f"/{pattern}"
    end = "$" if pattern.endswith("$") else ""
    return _canonical(pattern.removesuffix("$"), b"/%*") + end


def _canonical(text: str, kept: bytes) -> str:
    """Undo all percent-encodings but those of ``kept``, and encode what needs it."""

    def decoded(escape: re.Match[bytes]) -> bytes:
        code = int(escape[1], 16)
        return escape[0].upper() if code in kept else bytes((code,))

    return quote(_ESCAPE.sub(decoded, text.encode("utf-8", "surrogateescape")), safe=kept + b"=")
