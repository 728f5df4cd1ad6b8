"""The address of a partner that nothing links to: a URL pattern applied to one address (Zhang, Yao & Kit, 2.2).

A key ⟨english, tc_chi⟩ turns ``/tc_chi/a.htm`` into ``/english/a.htm`` and back. What may be replaced is what
`twinlink.similarity.patterns` may find as a difference: tokens, letters of a token, a variable, a token in all its
places, or something that one of two addresses has more. Where a site's own pairs show between which characters the key
stands there, it is applied there alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

from twinlink.similarity.pattern_kernels import HEAD, INSIDE, TAIL, TOKEN
from twinlink.similarity.url_keys import Key, read_forms

__all__ = [
    "Change",
    "Guess",
    "Place",
    "Rule",
    "changes",
    "guess_partners",
    "site_rule",
]

SHOWN = 64
"""Pairs of a pattern that say where it stands."""
MAX_TOKENS = 4
MAX_ENDING = 5
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


class Rule(NamedTuple):
    """A key as it is applied on one site."""

    key: Key
    credibility: float
    """How sure it is that what it names is a partner, 0 to 1."""
    langs: tuple[str, str] = ("", "")
    """Language of the pages on its source side and on its target side, empty: not known."""
    places: tuple[frozenset[Place], frozenset[Place]] | None = None
    """Where it stands when the source becomes the target, and when the target becomes the source; None: anywhere, but
    then nothing is put in or left out."""
    written: tuple[str, str] = ("", "")
    """Its two sides as the site writes them; empty: small letters, or capitals where the other side has them."""
    name: str = ""
    """The rule as people read it."""


class Guess(NamedTuple):
    """An address at which the partner of a page may be."""

    url: str
    page: int
    """Number of the page."""
    rule: int
    """Number of the rule."""
    back: bool
    """Whether its target was replaced by its source."""
    lang: str
    """Language that it should have; empty: not known."""
    credibility: float


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


def site_rule(
    key: Key,
    credibility: float,
    pairs: Iterable[tuple[str, str]],
    site: str,
    langs: tuple[str, str] = ("", ""),
    name: str = "",
) -> Rule:
    """Return a key as a site's own pairs show it: between which characters it stands, and how it is written.

    Parameters
    ----------
    pairs : iterable of (str, str)
        Addresses that it pairs, the source's first; the first `SHOWN` are looked at.
    """
    shown = [pair for _, pair in zip(range(SHOWN), pairs, strict=False)]
    default = _default_document([url for pair in shown for url in pair])
    made: list[tuple[bool, Change, str]] = []
    for back in (False, True):
        for pair in shown:
            page, partner = pair[::-1] if back else pair
            bases = [page, _with_document(page, default)] if _is_folder(page) and default else [page]
            made.extend((back, each, partner) for base in bases for each in changes(base, site, key, back=back))
    form_of = read_forms([*(each.url for _, each, _ in made), *(partner for *_, partner in made)]).form_of.tolist()
    places: tuple[set[Place], set[Place]] = (set(), set())
    written: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for k, (back, change, partner) in enumerate(made):
        if form_of[k] == form_of[k + len(made)]:
            places[back].add(change.place)
            side = (key.source if back else key.target).strip("*")
            written[back].update([side] if change.url == partner else _written(change.url, partner, side))
    most = ["".join(text for text, _ in counts.most_common(1)) for counts in written]
    return Rule(key, credibility, langs, (frozenset(places[0]), frozenset(places[1])), (most[1], most[0]), name)


def guess_partners(
    urls: Sequence[str],
    langs: Sequence[str],
    rules: Sequence[Rule],
    site: str,
    has_partner: Sequence[Collection[str]],
    per_page: int = 3,
) -> list[Guess]:
    """Guess the addresses of missing partners, the most credible first.

    Parameters
    ----------
    urls, langs : sequence of str
        The site's pages and their languages (``und``, empty: not known). No address of theirs is guessed.
    rules : sequence of Rule
    site : str
    has_partner : sequence of collections of str
        Languages in which each page has a partner already. A rule whose language is not known, or that the site does
        not show, is not applied to a page that has any.
    per_page : int
        Guesses for a page and a language at most.

    Returns
    -------
    list of Guess
        Each address once, for its most credible reason: rules that the site shows come first, then by credibility.
    """
    order = sorted(range(len(rules)), key=lambda k: (rules[k].places is None, -rules[k].credibility, rules[k].key))
    default = _default_document(urls)
    found: list[Guess] = []
    for number in order:
        for page, (url, lang, has) in enumerate(zip(urls, langs, has_partner, strict=True)):
            found.extend(_guesses(url, page, lang, has, rules[number], number, site, default))
    return _first_ones(found, urls, per_page)


def _guesses(
    url: str, page: int, lang: str, has: Collection[str], rule: Rule, number: int, site: str, default: str
) -> Iterator[Guess]:
    for back in (False, True):
        own, wanted = rule.langs if not back else rule.langs[::-1]
        known = lang not in ("", "und")
        if known and wanted and _base(lang) == _base(wanted) and lang == wanted:
            continue
        if known and own and _base(own) != _base(lang):
            continue
        if has and (wanted in has or not wanted or rule.places is None):
            continue
        for guess in _applied(url, rule, site, default, back=back):
            yield Guess(guess, page, number, back, wanted, rule.credibility)


def _applied(url: str, rule: Rule, site: str, default: str, *, back: bool) -> Iterator[str]:
    """Yield what a rule makes of an address, and of the default document that a folder's address stands for."""
    places = rule.places[back] if rule.places else None
    old = rule.key.target if back else rule.key.source
    if places is None and not (rule.key.source and rule.key.target):
        return
    if not old.strip("*") and rule.places:  # what one side has more is not put in where it stands already
        there = rule.places[not back]
        if any(change.place in there for change in changes(url, site, rule.key, back=not back)):
            return
    for base in (url, _with_document(url, default)) if default and _is_folder(url) else (url,):
        for change in changes(base, site, rule.key, back=back, written=rule.written[not back]):
            if places is None or change.place in places:
                yield _without_document(change.url, default) if base != url else change.url


def _first_ones(found: Sequence[Guess], urls: Sequence[str], per_page: int) -> list[Guess]:
    """Leave out what is known, or has been guessed before, and all but the first guesses of a page and language."""
    form_of = read_forms([*urls, *(guess.url for guess in found)]).form_of.tolist()
    taken = set(form_of[: len(urls)]) | {-1}
    counts: Counter[tuple[int, str]] = Counter()
    kept = []
    for guess, form in zip(found, form_of[len(urls) :], strict=True):
        if form not in taken and counts[guess.page, guess.lang] < per_page:
            taken.add(form)
            counts[guess.page, guess.lang] += 1
            kept.append(guess)
    return kept


def _default_document(urls: Sequence[str]) -> str:
    """Return the name of the default document that folders' addresses stand for on a site; empty: none is seen.

    >>> _default_document(["http://x.hk/en/", "http://x.hk/tc/index.htm", "http://x.hk/tc/a.htm"])
    'index.htm'
    """
    folder = next((k for k, url in enumerate(urls) if _is_folder(url)), None)
    if folder is None:
        return ""
    forms = read_forms(urls)
    return forms.part(int(forms.form_of[folder])).partition("?")[0].rpartition("/")[2]


def _may_hold(text: str, old: str) -> bool:
    """Tell at once of most addresses that a key has nothing to do with them."""
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
        yield from _put_in(text, new, written)
        yield from _variable_put_in(text, new, written)
        return
    tokens = _tokens(text)
    for start, end in _windows(text, tokens):
        before, after = _around(text, start, end)
        if _plain(text[start:end]) != old:
            continue
        if new and not (before in ("?", "=") and before and after in ("?", "")):
            yield text[:start] + _spelled(new, text[start:end], written) + text[end:], Place(before, after)
        elif not new:
            yield from _left_out(text, start, end, before, after)
    yield from _variables_changed(text, old, new, written)
    places = [span for span in tokens if _plain(text[slice(*span)]) == old]
    if new and len(places) > 1:
        for start, end in reversed(places):
            text = text[:start] + _spelled(new, text[start:end], written) + text[end:]
        yield text, Place("", "", everywhere=True)


def _left_out(text: str, start: int, end: int, before: str, after: str) -> Iterator[tuple[str, Place]]:
    """Leave tokens out with the separator that only they need, as `twinlink.similarity.url_kernels` cuts."""
    if before not in ("", "/", "?", "="):
        yield text[: start - 1] + text[end:], Place(before, after)
    elif before != "=" and after not in ("", "/", "?", "="):
        yield text[:start] + text[end + 1 :], Place(before, after)
    elif before == "/" and after in ("", "/", "?"):
        yield text[: start - 1] + text[end:], Place(before, after)


def _put_in(text: str, new: str, written: str) -> Iterator[tuple[str, Place]]:
    """Put tokens in, with a separator: the other way round."""
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
        if _plain(text[start:end].replace("+", " ")) != old:
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
            if start < run.start() and run.end() < end and old and _plain(run[0]) == old:
                yield run.span()
    elif size < end - start:
        first = start if level == HEAD else end - size
        if _plain(text[first : first + size]) == old:
            yield first, first + size


def _plain(text: str) -> str:
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


def _written(made: str, partner: str, side: str) -> list[str]:
    """Return how a site writes a side that was put into an address of one form with the partner's; empty: as it is."""
    if len(made) != len(partner):
        return []
    at = [k for k in range(len(made)) if made[k] != partner[k]]
    if not at:
        return []
    start = made.rfind(side, 0, at[0] + len(side))
    end = start + len(side)
    inside = start >= 0 and start <= at[0] and at[-1] < end
    return [partner[start:end]] if inside and _plain(partner[start:end]) == side else []


def _is_folder(url: str) -> bool:
    return url.partition("?")[0].endswith("/")


def _with_document(url: str, default: str) -> str:
    path, mark, query = url.partition("?")
    return f"{path}{default}{mark}{query}"


def _without_document(url: str, default: str) -> str:
    path, mark, query = url.partition("?")
    return f"{path.removesuffix(default) if path.endswith('/' + default) else path}{mark}{query}"


def _base(lang: str) -> str:
    return lang.partition("-")[0]
