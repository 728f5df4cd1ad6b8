"""Responses of the hosts of a simulated web: pages, robots.txt, errors, or none."""

from __future__ import annotations

from functools import cache, lru_cache
from html import escape
from typing import NamedTuple
from urllib.parse import urlsplit

from experiments.simweb.world import DEAD, ERRORS, REFUSED, World
from twinlink.demo.text import all_phrases

_LANGS = ("en", "zh-Hant", "zh-Hans")
_NAMES = ("English", "繁體", "简体")
_PARAGRAPHS = 6
_LISTED = 25
"""Number of articles that a home page links to; the others are a few links away."""


class Answer(NamedTuple):
    """A response."""

    status: int
    body: bytes
    type: str = "text/html; charset=utf-8"


class _Site(NamedTuple):
    """Data to generate the responses of a host."""

    page_of: dict[str, int]
    urls: list[str]
    side: list[int]
    article: list[int]
    visible: list[bool]
    untrue: list[bool]
    versions: dict[int, list[int]]
    """Article → its visible pages."""
    following: dict[int, list[int]]
    """Side → its visible pages, in order."""
    place: dict[int, int]
    """Page → its position among them."""


class Answers:
    """Responses of all hosts of a world.

    >>> from experiments.simweb.world import WorldSettings, make_world
    >>> answers = Answers(make_world(WorldSettings(hosts=200, seeds=20, seed=1)))
    >>> seed = answers.world.host(int(answers.world.seeds[0]))
    >>> answers.get(f"http://{seed}/").status, answers.get(f"http://{seed}/none").status, answers.get("http://x.org/")
    (200, 404, None)
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._site = lru_cache(maxsize=2_000)(self._made_site)

    def get(self, url: str) -> Answer | None:
        """Return the response for an address; None if no host responds."""
        parts = urlsplit(url)
        number = self.world.index(parts.hostname or "")
        if number is None or self.world.state[number] == DEAD:
            return None
        state = self.world.state[number]
        if parts.path == "/robots.txt":
            return Answer(200, b"User-agent: *\nDisallow:%s\n" % (b" /" if state == REFUSED else b""), "text/plain")
        if state == ERRORS:
            return Answer(403, b"forbidden", "text/plain")
        site = self._site(number)
        page = site.page_of.get(url)
        if page is not None:
            return Answer(200, self._page(number, site, page))
        if parts.path in ("/", "/en/"):
            return Answer(200, self._portal(number, site))
        return Answer(404, b"not found", "text/plain")

    def _made_site(self, number: int) -> _Site:
        pages = self.world.pages(number)
        side, article = pages.side.tolist(), pages.article.tolist()
        visible, untrue = pages.visible.tolist(), pages.untrue.tolist()
        versions: dict[int, list[int]] = {}
        following: dict[int, list[int]] = {}
        place: dict[int, int] = {}
        for page in (k for k, seen in enumerate(visible) if seen):
            versions.setdefault(article[page], []).append(page)
            row = following.setdefault(side[page], [])
            place[page] = len(row)
            row.append(page)
        page_of = {url: k for k, url in enumerate(pages.urls)}
        return _Site(page_of, pages.urls, side, article, visible, untrue, versions, following, place)

    def _portal(self, number: int, site: _Site) -> bytes:
        """Return the page at the root of a host, which only links to its first pages."""
        homes = [pages[0] for pages in site.following.values()]
        links = "".join(_link(site.urls[page], _NAMES[site.side[page]]) for page in homes)
        return _html("en", f"{_WELCOME[0]} {self.world.host(number)}", links, [], self._outside(number, site, -1))

    def _page(self, number: int, site: _Site, page: int) -> bytes:
        side, article = site.side[page], site.article[page]
        chinese = side > 0 or (not self.world.bilingual[number] and number % 3 == 0)
        origin = int(self.world.original[number])
        told = article + 5_000 if site.untrue[page] else article
        texts = [said[chinese] for said in _texts(origin, told)]
        others = [k for k in site.versions[article] if site.side[k] != side] if site.visible[page] else []
        if not self.world.bilingual[number] and not others:
            others = [k for k in site.versions.get(article, []) if k != page]
        switch = [] if origin % 4 == 0 and article else others  # these hosts switch languages on the home page only
        links = "".join(_link(site.urls[k], _NAMES[site.side[k]]) for k in switch)
        lang = _LANGS[side] if side else _LANGS[int(chinese)]
        listed = "".join(_link(site.urls[k], f"{_WELCOME[chinese]} {site.article[k]}") for k in _near(site, page))
        return _html(lang, texts[0], links + listed, texts[1:], self._outside(number, site, page))

    def _outside(self, number: int, site: _Site, page: int) -> str:
        """Return a page's links to other hosts: half of them on home pages, the others spread over the articles."""
        first = page < 0 or site.article[page] == 0
        article = 0 if first else site.article[page]
        n_articles = max(1, len(site.versions) - 1)
        found = []
        for place, (host, named, everywhere) in enumerate(self.world.targets(number)):
            on_home = everywhere or place % 2 == 0
            if on_home if first else (everywhere or (place % 2 == 1 and 1 + place // 2 % n_articles == article)):
                address = self.world.home(host, 1) if named else f"http://{self.world.host(host)}/"
                found.append(_link(address, self.world.host(host)))
        return "".join(found)


_WELCOME = ("Welcome to page", "歡迎瀏覽第")


def _near(site: _Site, page: int) -> list[int]:
    """Return the pages of the same version that a page links to: the first one, its list, those that follow."""
    row = site.following.get(site.side[page], [])
    if page not in site.place:
        return row[:1]
    at = site.place[page]
    if at == 0:
        return row[1 : _LISTED + 1]
    last = _LISTED + 3 * (at - 1)
    return [row[0], *row[max(last + 1, at + 1) : last + 4], *row[at + 1 : at + 2]]


@cache
def _stock() -> list[tuple[str, str]]:
    return [(text.en, text.zh) for _, _, text in all_phrases() if "{" not in text.en and "||" not in text.en]


def _texts(origin: int, article: int) -> list[tuple[str, str]]:
    """Return the text of an article, in English and in Chinese."""
    stock = _stock()
    at = (origin * 104_729 + article * 7_919) % 1_000_003
    chosen = [stock[(at // (k + 1) + 37 * k * (at % 101 + 1)) % len(stock)] for k in range(_PARAGRAPHS)]
    return [(f"{en} ({at + k})", f"{zh}({at + k})") for k, (en, zh) in enumerate(chosen)]


def _link(url: str, text: str) -> str:
    return f'<li><a href="{escape(url)}">{escape(text)}</a></li>\n'


def _html(lang: str, title: str, navigation: str, texts: list[str], outside: str) -> bytes:
    body = "".join(f"<p>{escape(text)}</p>\n" for text in texts)
    head = f'<!DOCTYPE html><html lang="{lang}"><head><title>{escape(title)}</title></head>'
    main = f"<h1>{escape(title)}</h1>\n{body}<ul>\n{navigation}</ul>\n"
    return f"{head}<body>{main}<ul>{outside}</ul></body></html>".encode()
