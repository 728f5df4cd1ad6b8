"""Error pages of a site: requests for invented addresses, and detection of responses like theirs (soft 404).

Many sites answer a wrong address with status 200 and a page that says so ("soft 404"). Two addresses that cannot
exist are requested; a page counts only for text that their responses lack. This separates a short page in a large
layout from the layout around an apology, and ignores text that changes in each response (the address itself, the
date, the news).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple
from urllib.parse import unquote

_WORDS = re.compile(r"[^\W\d_]+")
_WORDS_AND_NUMBERS = re.compile(r"[^\W\d_]+|\d+")
_LETTER = re.compile(r"[^\W\d_]")
_NAME = re.compile(r"[0-9a-z]+", re.IGNORECASE)
_ALPHABET = "bcdfghjkmnpqrstvwxz"


class Shape(NamedTuple):
    """Common parts of addresses that are served by one part of a server."""

    host: str
    folder: str
    """First folder of the path."""
    ending: str
    """Of the file's name."""
    variables: tuple[str, ...]
    """Names of the query's variables, sorted."""


def shape_of(url: str) -> Shape:
    """Return the shape of a normalised address.

    >>> shape_of("http://www.x.hk/tc/news/a.htm?id=5")
    Shape(host='www.x.hk', folder='tc', ending='htm', variables=('id',))
    """
    host, path, query = _parts(url)
    folders = path.split("/")
    name = folders.pop()
    ending = name.rpartition(".")[2] if "." in name else ""
    names = sorted(variable.partition("=")[0] for variable in query.split("&") if variable)
    return Shape(host, folders[0] if folders else "", ending, tuple(names))


def made_up(url: str, number: int = 0, keep: Iterable[str] = ()) -> str:
    """Return an address of the same shape that does not exist, always the same one for an address and number.

    Parameters
    ----------
    url : str
        Normalised address.
    number : int
        Selects one of several invented addresses.
    keep : iterable of str
        Values of variables to keep: those that name a language.

    Examples
    --------
    >>> made_up("http://www.x.hk/tc/news/a.htm")
    'http://www.x.hk/tc/news/rbdzhtpptb.htm'
    >>> made_up("http://www.x.hk/show.php?id=17&lang=tc", keep=["tc"])
    'http://www.x.hk/show.php?id=9402061&lang=tc'
    """
    digest = blake2b(f"{url} {number}".encode(), digest_size=16).digest()
    word = "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:10])
    figures = "9" + "".join(str(byte % 10) for byte in digest[10:])
    address, mark, query = url.partition("?")
    changed = [_with_value(variable, word, figures, set(keep)) for variable in query.split("&")]
    if mark and "&".join(changed) != query:
        return f"{address}?{'&'.join(changed)}"
    folder, _, name = address.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if folder.endswith("/"):  # no path at all
        return f"{address}/{word}{mark}{query}"
    if not name:
        return f"{folder}/{word}/{mark}{query}"
    return f"{folder}/{figures if (stem or name).isdigit() else word}{dot}{ending if dot else ''}{mark}{query}"


def _with_value(variable: str, word: str, figures: str, keep: set[str]) -> str:
    name, equals, value = variable.partition("=")
    if not value or value in keep or value.lower() in keep:
        return variable
    return f"{name}{equals}{figures if value.isdigit() else word}"


def _parts(url: str) -> tuple[str, str, str]:
    address, _, query = url.partition("?")
    host, _, path = address.partition("://")[2].partition("/")
    return host, path, query


def text_key(blocks: Sequence[str], url: str, *, numbers: bool = False) -> frozenset[str]:
    """Return the words of each of a page's blocks, without those of its address, with or without numbers."""
    return frozenset(line.bare for line in _lines(blocks, url, _WORDS_AND_NUMBERS if numbers else _WORDS) if line.bare)


class _Line(NamedTuple):
    """One block."""

    words: str
    bare: str
    """Without the words of the page's address."""


def _lines(blocks: Sequence[str], url: str, words: re.Pattern[str] = _WORDS) -> list[_Line]:
    own = {word.lower() for word in _NAME.findall(unquote(url))}
    found = (words.findall(block.lower()) for block in blocks)
    return [_Line(" ".join(line), " ".join(word for word in line if word not in own)) for line in found]


class ErrorPages:
    """Responses of one site to addresses that do not exist.

    Parameters
    ----------
    pages : iterable of (blocks, url)
        Text blocks of each answer with status 200, its title first, and its address.
    min_letters : int
        A page with fewer additional letters is an error page.
    common : iterable of str
        Lines of `text_key` that several answers share: they are not specific to a page. Used only if a wrong
        address was answered with a page.

    Examples
    --------
    >>> wrong = ErrorPages([(["Home", "Sorry, /tc/pxkq.htm was not found"], "http://x.hk/tc/pxkq.htm")])
    >>> wrong.explain(["Home", "Sorry, /tc/a.htm was not found"], "http://x.hk/tc/a.htm")
    True
    >>> wrong.explain(["Home", "The office opens at nine"], "http://x.hk/tc/a.htm")
    False
    """

    def __init__(
        self, pages: Iterable[tuple[Sequence[str], str]], min_letters: int = 10, common: Iterable[str] = ()
    ) -> None:
        read = [_lines(blocks, url) for blocks, url in pages]
        # Both forms: a word of an address may stand in the frame, too.
        keys = [frozenset(text for line in lines for text in line) for lines in read]
        self._known: frozenset[str] = frozenset(common).union(*keys)
        self._is_known = bool(keys)
        # Text that only one response has changes from response to response.
        others = (frozenset().union(*keys[:k], *keys[k + 1 :]) for k in range(len(keys)))
        beyond = [_letters(lines, other) for lines, other in zip(read, others, strict=True)] if keys[1:] else [0]
        self._least = max(min_letters, max(beyond) + 1)

    def explain(self, blocks: Sequence[str], url: str) -> bool:
        """Return whether a page has no text beyond that of the site's error pages."""
        return self._is_known and _letters(_lines(blocks, url), self._known) < self._least


def _letters(lines: Iterable[_Line], known: frozenset[str]) -> int:
    """Count the letters of the lines that are not known, each line once."""
    return sum(len(_LETTER.findall(bare)) for words, bare in set(lines) if not {words, bare} & known)
