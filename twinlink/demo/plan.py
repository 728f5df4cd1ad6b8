"""The plan of the demo site: its sections, its pages, which of them have a partner, and their addresses.

A unit is the content of a page: it is on side A (English), on side B (Chinese), or on both, as a pair.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import cycle
from typing import NamedTuple

from twinlink.demo.text import Text, phrase

__all__ = ["SECTIONS", "Charset", "Section", "Unit", "make_units", "unit_urls"]

LONE_SHARE = 0.15  # of the pages of each side
TEMPLATE_SHARE = 0.5  # of the lone pages are of a kind whose pages all look alike


class Charset(NamedTuple):
    """Encoding of pages, the name that they declare for it, and the place of the declaration."""

    codec: str
    declared: str
    in_header: bool
    in_meta: bool


UTF8 = Charset("utf-8", "utf-8", in_header=True, in_meta=True)
UTF8_HEADER = Charset("utf-8", "utf-8", in_header=True, in_meta=False)
LATIN = Charset("latin-1", "iso-8859-1", in_header=False, in_meta=True)
BIG5 = Charset("big5hkscs", "big5", in_header=False, in_meta=True)
GBK = Charset("gbk", "gb2312", in_header=True, in_meta=True)


class Section(NamedTuple):
    """One section of the site, with its own conventions."""

    key: str
    scheme: str = "folder"
    """``folder`` (/en/x/y.html, /tc/x/y.html), ``suffix`` (/x/y_e.htm, /x/y_c.htm) or ``opaque`` (/doc/123456.html)."""
    layout: str = "modern"
    """``modern``, ``plain`` or ``table``: the page around the text (`twinlink.demo.layout`)."""
    charsets: tuple[Charset, Charset] = (UTF8, UTF8)
    switch: float = 0.0
    """Share of its pages with a language-switch link."""
    hreflang: float = 0.0
    """Share of its paired pages that name their partner in a link element."""


TOPICS = (
    Section("transport", switch=0.8),
    Section("health", switch=0.7, hreflang=0.8),
    Section("housing"),
    Section("tax", switch=0.3),
    Section("planning", switch=0.5),
    Section("security", hreflang=0.5),
    Section("environment", "suffix", "table", (LATIN, BIG5)),
    Section("business", "suffix", "table", (LATIN, GBK)),
    Section("leisure", "suffix", "plain", switch=0.5),
    Section("food", "suffix", "plain"),
    Section("education", "opaque"),
    Section("welfare", "opaque", switch=0.3),
    Section("labour", "opaque", "plain", (UTF8_HEADER, UTF8_HEADER)),
)
PRESS = Section("press", "opaque", "plain", (UTF8_HEADER, UTF8_HEADER))
TENDER = Section("tender", "suffix", "plain", switch=0.3)
DISTRICT = Section("district")
SITE = Section("site", switch=1.0, hreflang=1.0)
INTERNAL = Section("internal")
SECTIONS = (*TOPICS, PRESS, TENDER, DISTRICT, SITE)

# Kinds of pages besides the fixed ones, each with its share of them; a topic's kinds go round the topics.
_TOPIC_KINDS = {
    "guide": 0.26,
    "facility": 0.09,
    "stat": 0.09,
    "faq": 0.09,
    "form": 0.04,
    "consultation": 0.03,
    "committee": 0.02,
}
_OTHER_KINDS = {"press": (0.25, PRESS), "tender": (0.06, TENDER), "district": (0.07, DISTRICT)}
_SITE_KINDS = ("about", "contact", "privacy", "access", "sitemap", "broken")
_EQUAL_PAGES = 3  # units whose pages say exactly the same
_INTERNAL_PAGES = 3


class Unit(NamedTuple):
    """One planned page or pair of pages."""

    kind: str
    section: Section
    sides: tuple[int, ...] = (0, 1)

    @property
    def paired(self) -> bool:
        """Whether it is on both sides."""
        return len(self.sides) == 2


def make_units(pages: int, rng: random.Random) -> list[Unit]:
    """Plan ``pages`` pages per side, 15 % of them without partner; the first unit is the home page.

    Pages that robots.txt forbids are added at the end.
    """
    lone = round(LONE_SHARE * pages)
    fixed = [Unit("home", SITE), *(Unit("index", section) for section in SECTIONS[:-1])]
    fixed += [Unit(kind, SITE) for kind in _SITE_KINDS] + [Unit("empty", DISTRICT)] * _EQUAL_PAGES
    free = _free_units(pages + lone - len(fixed))
    for number, side in _choose_lone(free, lone, rng).items():
        free[number] = free[number]._replace(sides=(side,))
    return [*fixed, *free, *[Unit("internal", INTERNAL)] * _INTERNAL_PAGES]


def _free_units(count: int) -> list[Unit]:
    units, topics = [], cycle(TOPICS)
    for kind, share in _TOPIC_KINDS.items():
        units += [Unit(kind, next(topics)) for _ in range(round(share * count))]
    for kind, (share, section) in _OTHER_KINDS.items():
        units += [Unit(kind, section)] * round(share * count)
    return [*units, *[Unit("press", PRESS)] * (count - len(units))][:count]


def _choose_lone(units: Sequence[Unit], lone: int, rng: random.Random) -> dict[int, int]:
    """Return unit → its only side: ``lone`` units for each side."""
    alike = [i for i, unit in enumerate(units) if unit.kind in _OTHER_KINDS]
    others = [i for i, unit in enumerate(units) if unit.kind not in _OTHER_KINDS]
    n_alike = 2 * round(TEMPLATE_SHARE * lone)
    chosen = rng.sample(alike, n_alike) + rng.sample(others, 2 * lone - n_alike)
    return {number: place % 2 for place, number in enumerate(chosen)}


def unit_urls(units: Sequence[Unit], titles: Sequence[Text], rng: random.Random) -> list[tuple[str, str]]:
    """Return an address of each unit on each side; the empty string where it has no page."""
    numbers = iter(rng.sample(range(100_000, 999_999), 2 * len(units)))
    names: set[tuple[str, str]] = set()
    urls = []
    for unit, title in zip(units, titles, strict=True):
        both = _addresses(unit, _file_name(unit, title, names), (next(numbers), next(numbers)))
        urls.append((both[0] if 0 in unit.sides else "", both[1] if 1 in unit.sides else ""))
    return urls


def _addresses(unit: Unit, name: str, ids: tuple[int, int]) -> tuple[str, str]:
    section = unit.section
    if section.scheme == "opaque":
        return f"/doc/{ids[0]}.html", f"/doc/{ids[1]}.html"
    if section.scheme == "suffix":
        name = name.replace("-", "_")
        return f"/{section.key}/{name}_e.htm", f"/{section.key}/{name}_c.htm"
    folder = "" if unit.kind == "home" else f"{section.key}/"
    return f"/en/{folder}{name}.html", f"/tc/{folder}{name}.html"


def _file_name(unit: Unit, title: Text, names: set[tuple[str, str]]) -> str:
    words = re.findall(r"[a-z0-9]+", title.en.lower())[: 3 if unit.section.scheme == "suffix" else 6]
    stem = "index" if unit.kind in ("home", "index") else "-".join(words)
    name, count = stem, 1
    while (unit.section.key, name) in names and unit.kind != "home":
        count += 1
        name = f"{stem}-{count}"
    names.add((unit.section.key, name))
    return name


def section_name(section: Section) -> Text:
    """Return the name of a section."""
    return phrase(section.key, "name") if section in TOPICS else phrase("section", section.key)
