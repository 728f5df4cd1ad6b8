"""Truth of the demo site: its gold pairs and the other files for evaluation."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import lxml.html
from lxml import etree

from twinlink.demo.odd import CALENDAR, REGISTER
from twinlink.demo.plan import Unit

_NOT_SCORED = (*CALENDAR, *REGISTER)


class Page(NamedTuple):
    """One written page."""

    url: str
    side: int
    unit: int
    html: str
    """The page before it was encoded, and before it was broken."""
    body: bytes
    charset: str
    """The encoding that it claims to be in."""


def visible_text(html: str) -> str:
    """Return the text of a page, title first, white space collapsed.

    >>> visible_text("<title>Rain</title><script>1</script><p>Much   rain.</p>")
    'Rain Much rain.'
    """
    tree = lxml.html.document_fromstring(html)
    etree.strip_elements(tree, "script", "style", with_tail=False)
    return " ".join(" ".join(str(text) for text in tree.itertext()).split())


def truth_files(pages: Sequence[Page], units: Sequence[Unit]) -> dict[str, str]:
    """Return file name → text of gold.tsv, ignore.tsv, equiv.tsv, unscored.txt, pages.tsv, urls.txt, seeds.txt.

    Pairs of pages that robots.txt forbids do not count (ignore.tsv). Calendar and register have no file and are not
    scored. Pages of a side with the same visible text are equivalent (equiv.tsv).
    """
    ordered = sorted(pages)
    texts = {page.url: visible_text(page.html) for page in ordered}
    odd = [(url, "N", "und", 0, 0, "", "odd") for url in _NOT_SCORED]
    return {
        "equiv.tsv": _lines(_equal_pages(ordered, texts)),
        "gold.tsv": _lines(_pairs(ordered, units, internal=False)),
        "ignore.tsv": _lines(_pairs(ordered, units, internal=True)),
        "pages.tsv": _lines(sorted([*_page_rows(ordered, texts, units), *odd])),
        "seeds.txt": _lines((page.url,) for page in ordered if page.unit == 0),
        "unscored.txt": _lines((url,) for url in _NOT_SCORED),
        "urls.txt": _lines((page.url,) for page in ordered),
    }


def _lines(rows: Iterable[Sequence[object]]) -> str:
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def _pairs(pages: Sequence[Page], units: Sequence[Unit], *, internal: bool) -> list[tuple[str, ...]]:
    sides: dict[int, dict[int, str]] = defaultdict(dict)
    for page in pages:
        if (units[page.unit].kind == "internal") == internal:
            sides[page.unit][page.side] = page.url
    return sorted((both[0], both[1]) for both in sides.values() if len(both) == 2)


def _equal_pages(pages: Sequence[Page], texts: Mapping[str, str]) -> list[tuple[object, ...]]:
    groups: dict[tuple[int, str], list[str]] = defaultdict(list)
    for page in pages:
        groups[page.side, texts[page.url]].append(page.url)
    equal = [(side, urls) for (side, _), urls in groups.items() if len(urls) > 1]
    return [(number, "AB"[side], url) for number, (side, urls) in enumerate(equal, start=1) for url in urls]


def _page_rows(pages: Sequence[Page], texts: Mapping[str, str], units: Sequence[Unit]) -> Iterable[tuple[object, ...]]:
    """Rows of url, side, lang, bytes, words (Chinese: characters), charset, kind."""
    for page in pages:
        words = len(re.findall(r"[㐀-鿿]|\w+", texts[page.url]))
        lang = ("en", "zh-Hant")[page.side]
        yield page.url, "AB"[page.side], lang, len(page.body), words, page.charset, units[page.unit].kind
