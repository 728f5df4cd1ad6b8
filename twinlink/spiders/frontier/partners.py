"""Likely partners of pages before both are fetched: by links, addresses and scripts.

What is known here of a page's language is what it declares, the script that it is written in, and what links to it
say. So two wanted languages of one script that pages do not declare cannot be told apart; such a page is of side 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING

from twinlink.languages import (
    LANGUAGE_OF,
    NAMES,
    UNDETERMINED,
    canonical_language,
    language_script,
    letter_script,
)

if TYPE_CHECKING:
    from twinlink.pages.parser import Link

UNKNOWN = 0
UNWANTED = -1
OF_SITEMAPS = -2
"""Side of all sitemaps: so the ledger finds the pages of a host where many of its sitemaps wait in front of them."""

_LONGEST_NAME = max(map(len, LANGUAGE_OF))
_CODE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?", re.IGNORECASE)

_SAMPLE = 4_000  # characters of a page that are looked at
_MIN_LETTERS = 60
_FOREIGN_SHARE = 0.15  # pages in other scripts than Latin hold much Latin; Latin pages hold little else
_IDEOGRAPHIC = 3  # letters that a Chinese or Japanese character stands for

_LONGEST_TOKEN = 24
_MAX_PARTNERS = 100  # versions of one page; lists of more are something else
_DELIMITER = re.compile(r"([^A-Za-z0-9])")


class Sides:
    """The wanted languages, numbered from 1: the sides between which the frontier keeps a balance.

    Parameters
    ----------
    langs : sequence of str
        Wanted languages, as `twinlink.language_names` reads them (``zh`` includes ``zh-Hant`` and ``zh-Hans``). Empty:
        every page is of side `UNKNOWN`.

    Examples
    --------
    >>> sides = Sides(["en", "zh-Hant"])
    >>> sides.of_tag("en-GB"), sides.of_tag("zh-TW"), sides.of_tag("zh-CN"), sides.of_tag("")
    (1, 2, -1, 0)
    """

    def __init__(self, langs: Sequence[str]) -> None:
        self._wanted = [_parts(lang) for lang in langs]
        self._scripts = [language_script(lang) for lang in langs]

    def of_tag(self, tag: str) -> int:
        """Return the side of a language tag; `UNKNOWN` for no tag, or one that two wanted languages may mean."""
        if not tag or not self._wanted:
            return UNKNOWN
        language, script = _parts(tag)
        fits = [
            side
            for side, (wanted, kind) in enumerate(self._wanted, 1)
            if wanted == language and (not kind or not script or kind == script)
        ]
        return fits[0] if len(fits) == 1 else UNKNOWN if fits else UNWANTED

    def of_page(self, declared: str, sample: str, guess: int = UNKNOWN) -> int:
        """Return the side of a fetched page, by what it declares and by a `text_sample` of it.

        Its script has the first say, for templates declare wrong languages; then what it declares, then ``guess``.
        """
        if not self._wanted:
            return UNKNOWN
        script = _script(sample)
        if script and (not declared or language_script(declared) != script):
            sides = [side for side, written in enumerate(self._scripts, 1) if written == script]
            if len(sides) == 1 and (script != "Latn" or not declared):
                return sides[0]
            if not sides:
                return UNWANTED
            return guess if guess in sides else UNKNOWN
        return self.of_tag(declared) if declared else guess

    def partners(self, links: Iterable[tuple[str, str]], declared: str, side: int) -> dict[str, int]:
        """Return the links of a page that lead to other languages, and their sides.

        Each link is given with its `language_tag`.

        Without wanted languages these are all languages but the one that the page declares.
        """
        found: dict[str, int] = {}
        own = _parts(declared)
        for url, tag in links:
            if len(found) >= _MAX_PARTNERS:
                break
            if not tag or _parts(tag)[0] == UNDETERMINED:  # x-default
                continue
            other = self.of_tag(tag)
            if self._wanted:
                if other not in (side, UNKNOWN):
                    found.setdefault(url, other)
            elif _parts(tag) != own:
                found.setdefault(url, UNKNOWN)
        return found


def language_tag(link: Link) -> str:
    """Return the language that a link declares for its target, by ``hreflang`` or its text; empty if none."""
    return link.hreflang or named_language(link.anchor)


def text_sample(blocks: Iterable[str]) -> str:
    """Return the text of a page's longest blocks: what tells the script that it is written in."""
    return " ".join(nlargest(8, blocks, key=len))[:_SAMPLE]


def named_language(anchor: str) -> str:
    """Return the language that a link's whole text names, as name or code; empty for other texts.

    >>> named_language("Français"), named_language("zh-tw"), named_language("繁體"), named_language("English law")
    ('fr', 'zh-tw', 'zh-Hant', '')
    """
    if not anchor or len(anchor) > _LONGEST_NAME + 4:
        return ""
    text = anchor.strip(" []()|/·").lower()
    if text in LANGUAGE_OF:
        return LANGUAGE_OF[text]
    return text if _CODE.fullmatch(text) and text.replace("_", "-").partition("-")[0] in NAMES else ""


def difference(url: str, other: str) -> tuple[str, str] | None:
    r"""Return what has to be replaced in one address to get the other; None if that is more than one short word.

    The character before and the one behind belong to it; a line feed stands for the end.

    Examples
    --------
    >>> difference("http://a.org/en/b.html", "http://a.org/zh_CN/b.html")
    ('/en/', '/zh_CN/')
    >>> difference("http://a.org/b.html.en", "http://a.org/b.html.fr"), difference("http://a.org/b", "http://a.org/fr/b")
    (('.en\n', '.fr\n'), ('a.org/', 'a.org/fr/'))
    >>> difference("http://a.org/en/b", "http://a.org/fr/") is None
    True
    """
    left, right = (_DELIMITER.split(address.partition("://")[2] + "\n") for address in (url, other))
    start = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    room = min(len(left), len(right)) - start
    end = next((i for i in range(room) if left[-1 - i] != right[-1 - i]), room)
    before, after = ("".join(part[start : len(part) - end]) for part in (left, right))
    if max(len(before), len(after)) > _LONGEST_TOKEN or "/" in before.strip("/") or "/" in after.strip("/"):
        return None
    if not before or not after:
        folder = "".join(left[:start])
        if "/" not in folder or "/" in folder[:-1] or not folder.endswith("/"):
            return None
        return folder + before, folder + after
    if "/" in before or "/" in after:
        return None
    around = ("".join(left[:start])[-1:], "".join(left[len(left) - end :])[:1])
    return around[0] + before + around[1], around[0] + after + around[1]


def swap(url: str, before: str, after: str) -> str:
    """Return the address with a `difference` applied at its first place; empty when it has none.

    >>> swap("http://a.org/en/c/d.html", "/en/", "/zh_CN/"), swap("http://a.org/d/", "/en/", "/fr/")
    ('http://a.org/zh_CN/c/d.html', '')
    """
    scheme, _, address = url.partition("://")
    address += "\n"
    if before not in address:
        return ""
    return f"{scheme}://{address.replace(before, after, 1).rstrip()}"


def _parts(tag: str) -> tuple[str, str]:
    """Return the language of a tag and, of Chinese, its script."""
    language, _, script = canonical_language(tag).partition("-")
    return language, script


def _script(text: str) -> str:
    """Return the script of a text; empty when it has too few letters."""
    if text.isascii():
        return "Latn" if len(text) >= 4 * _MIN_LETTERS else ""
    counts = Counter(map(letter_script, text))
    del counts[""]
    counts["Hani"] *= _IDEOGRAPHIC
    letters = counts.total()
    if letters < _MIN_LETTERS:
        return ""
    foreign = letters - counts.pop("Latn", 0)
    if foreign < _FOREIGN_SHARE * letters:
        return "Latn"
    if counts["Hani"] and counts["Kana"] > 0.05 * foreign:
        return "Kana"
    return max(counts, key=lambda script: counts[script])
