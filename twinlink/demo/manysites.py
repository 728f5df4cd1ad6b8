"""A small web for site discovery: about thirty sites that link to each other, half of them bilingual.

All hosts end in ``.example``, which nobody can own (RFC 2606). One server on this machine answers for all of them, as
an HTTP proxy: no name is ever looked up. How the web is made is what Zhang, Yao & Kit assume of the real one (section
2.3): bilingual sites link to such sites more often than others do.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import NamedTuple

from twinlink.demo.text import Text, all_phrases

ANSWERS, REFUSES, FAILS, DEAD = "answers", "refuses", "fails", "dead"
"""Behaviour of a host: responds; forbids everything in robots.txt; responds with errors; does not respond."""

_CONVENTIONS = (
    ("/en/{}.htm", "/tc/{}.htm"),
    ("/english/{}.htm", "/tc_chi/{}.htm"),
    ("/{}_e.htm", "/{}_c.htm"),
    ("/{}.php?lang=en", "/{}.php?lang=zh"),
)
"""Language markers of addresses: keys of Table 2 of Zhang, Yao & Kit, and a variable."""
_PLAIN = ("/{}.htm", "")
_BILINGUAL = (
    "harbour library museum transit housing labour customs schools parks clinic "
    "ferries archives courts rivers theatre stadium"
).split()
_ENGLISH = "gadgets recipes hiking photos blogger cinema chess sailing antiques sneakers puzzles gardener".split()
_PORTALS = ("search", "weather")
"""Sites in one language that every page of all sites links to."""
_ODD = {"closed": REFUSES, "broken": FAILS, "gone": DEAD}
_SEEDS = ("harbour", "library", "museum", "archives", "gadgets", "recipes")
_WEAK = "archives"
"""Bilingual seed with a single translated article among many: its own pages alone do not make its pattern credible."""

_ARTICLES, _MANY = 6, 28
_OUT = (4, 6)  # links to other sites, least and most
_ALIKE = 0.75  # share of them that lead to a site of the same sort
_NAMED = 0.5  # share of links to bilingual sites that lead to the page of one language
_PARAGRAPHS = 5


class WebSite(NamedTuple):
    """One host."""

    host: str
    bilingual: bool
    state: str
    """answers, refuses, fails or dead."""
    pages: Mapping[str, str]
    """Path with query → HTML."""


class DemoWeb(NamedTuple):
    """All hosts, and the seeds."""

    sites: tuple[WebSite, ...]
    seeds: tuple[str, ...]
    """Addresses of six sites: four bilingual ones, two in one language."""

    @property
    def bilingual(self) -> frozenset[str]:
        """Hosts that are bilingual: the truth."""
        return frozenset(site.host for site in self.sites if site.bilingual)


class _Plan(NamedTuple):
    """Plan of a site before its pages are written."""

    host: str
    forms: tuple[str, str]
    """Address of an article in English and in Chinese; empty: it is not in Chinese."""
    translated: int
    """Articles that are in both languages, the first ones."""
    articles: int
    outside: tuple[tuple[str, str], ...]
    """Links to other sites: address and text."""


def make_web(seed: int = 0) -> DemoWeb:
    """Make the small web; the same seed gives the same bytes.

    >>> web = make_web()
    >>> len(web.sites), len(web.bilingual), web.seeds[0]
    (33, 16, 'http://harbour.example/')
    >>> sorted(web.sites[0].pages)[:3]
    ['/', '/en/a1.htm', '/en/a2.htm']
    """
    rng = random.Random(f"twinlink demo web {seed}")
    forms = {name: _CONVENTIONS[place % len(_CONVENTIONS)] for place, name in enumerate(_BILINGUAL)}
    forms[_WEAK] = _CONVENTIONS[0]
    sites = []
    for name in (*_BILINGUAL, *_ENGLISH, *_PORTALS, *_ODD):
        many = name == _WEAK
        plan = _Plan(
            host=f"{name}.example",
            forms=forms.get(name, _PLAIN),
            translated=1 if many else _ARTICLES,
            articles=_MANY if many else _ARTICLES,
            outside=_links(name, forms, rng),
        )
        state = _ODD.get(name, ANSWERS)
        pages = _pages(plan, rng) if state == ANSWERS else {}
        sites.append(WebSite(plan.host, name in forms, state, pages))
    return DemoWeb(tuple(sites), tuple(f"http://{name}.example/" for name in _SEEDS))


def _links(name: str, forms: Mapping[str, tuple[str, str]], rng: random.Random) -> tuple[tuple[str, str], ...]:
    """Draw the sites that a site links to, most of them of the same kind."""
    alike, others = (list(_BILINGUAL), [*_ENGLISH, *_ODD])[:: 1 if name in forms else -1]
    chosen = [rng.choice(alike if rng.random() < _ALIKE else others) for _ in range(rng.randint(*_OUT))]
    found = []
    for other in dict.fromkeys(chosen):
        named = other in forms and rng.random() < _NAMED
        path = forms[other][rng.randrange(2)].format("a1") if named else "/"
        if other != name:
            found.append((f"http://{other}.example{path}", other.capitalize()))
    return tuple(found)


def _pages(plan: _Plan, rng: random.Random) -> dict[str, str]:
    """Write all pages of a site."""
    texts = [rng.sample(_stock(), _PARAGRAPHS) for _ in range(plan.articles)]
    home = [(plan.forms[0].format("a1"), "English")]
    if plan.forms[1]:
        home.append((plan.forms[1].format("a1"), "中文"))
    pages = {"/": _html("en", Text(plan.host, plan.host), [], [*home, *plan.outside, *_portals()], 0)}
    for number, paragraphs in enumerate(texts, 1):
        outside = [link for place, link in enumerate(plan.outside) if place % plan.articles == number - 1]
        for side, form in enumerate(plan.forms if number <= plan.translated else plan.forms[:1]):
            if form:
                listed = _inside(plan, side)
                pages[form.format(f"a{number}")] = _html(
                    ("en", "zh-Hant")[side], paragraphs[0], paragraphs, [*listed, *outside, *_portals()], side
                )
    return pages


def _inside(plan: _Plan, side: int) -> list[tuple[str, str]]:
    """Links of a page to the articles in its own language."""
    last = plan.translated if side else plan.articles
    word = ("Page", "第")[side]
    return [(plan.forms[side].format(f"a{number}"), f"{word} {number}") for number in range(1, last + 1)]


def _portals() -> list[tuple[str, str]]:
    return [(f"http://{name}.example/", name.capitalize()) for name in _PORTALS]


@cache
def _stock() -> tuple[Text, ...]:
    """Sentences without slots, long enough to tell their language."""
    plain = (text for _, _, text in all_phrases() if "{" not in text.en and "||" not in text.en)
    return tuple(text for text in plain if len(text.en) > 40)


def _html(lang: str, title: Text, texts: Sequence[Text], links: Sequence[tuple[str, str]], side: int) -> str:
    body = "".join(f"<p>{escape(text[side])}</p>\n" for text in texts)
    listed = "".join(f'<li><a href="{escape(url)}">{escape(word)}</a></li>\n' for url, word in links)
    name = escape(title[side])
    head = f'<!DOCTYPE html>\n<html lang="{lang}"><head><meta charset="utf-8"><title>{name}</title></head>'
    return f"{head}\n<body><h1>{name}</h1>\n{body}<ul>\n{listed}</ul></body></html>\n"
