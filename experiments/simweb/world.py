"""The simulated web: hosts, links, addresses and truth, as arrays, without HTTP.

Assumptions, all of them settings: the number of a host's pages and of its links out is log-normal; links go to hosts in
proportion to a Pareto popularity; most stay within a topic; topics differ in how many of their hosts are bilingual, and
bilingual hosts link to bilingual hosts more often than at random (the assumption of Zhang, Yao & Kit, section
2.3). Link farms fill the guest books of ordinary hosts; mirrors copy a host and link to each other.

>>> world = make_world(WorldSettings(hosts=200, seeds=20, seed=1))
>>> world.links.shape, len(world.seeds), world.index(world.host(7))
((200, 200), 20, 7)
"""

from __future__ import annotations

import re
from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from experiments.simweb.conventions import CONVENTIONS, NOISE

__all__ = [
    "COPY",
    "DEAD",
    "ERRORS",
    "OK",
    "ORDINARY",
    "REFUSED",
    "SPAM",
    "SUFFIXES",
    "SitePages",
    "World",
    "WorldSettings",
    "make_world",
]

ORDINARY, COPY, SPAM = 0, 1, 2
"""Kinds of hosts: ordinary, a mirror of another host, or part of a link farm."""
OK, DEAD, REFUSED, ERRORS = 0, 1, 2, 3
"""States of hosts: respond; do not respond; forbid everything in robots.txt; respond with an error to everything."""
SUFFIXES = ("com.hk", "com", "org.hk", "gov.hk", "edu.hk", "net", "org")
_SUFFIX_SHARES = ((0.34, 0.14, 0.2, 0.12, 0.1, 0.04, 0.06), (0.24, 0.4, 0.1, 0.01, 0.02, 0.15, 0.08))
_FOLDERS = ("", "about/", "news/", "press/2009/", "press/2010/", "services/", "services/forms/", "publications/")
_WORDS = ("harbour", "garden", "market", "school", "temple", "ferry", "library", "museum", "valley", "island", "peak")
_NAME = re.compile(r"(?:(en|tc)\.)?([a-z]+)-(\d+)\.([a-z.]+)")

Indices = NDArray[np.int64]


class WorldSettings(msgspec.Struct, frozen=True):
    """Size and parameters of a simulated web."""

    hosts: int = 20_000
    seeds: int = 300
    """Number of seeds: popular hosts, bilingual ones more often; all of them respond."""
    seed: int = 0
    """Seed of the random numbers."""
    topics: int = 0
    """Number of topics; 0: one per 250 hosts."""
    bilingual: float = 0.1
    """Share of bilingual hosts among ordinary ones."""
    seed_odds: float = 8.0
    """Odds ratio of a bilingual host to be a seed, compared with another of the same popularity."""
    locality: float = 0.7
    """Share of links that stay within the topic."""
    homophily: float = 0.4
    """Share of links from bilingual hosts that choose a bilingual one."""
    links: float = 12.0
    """Mean number of hosts that a host links to."""
    links_spread: float = 1.0
    """σ of their logarithm."""
    popularity: float = 1.2
    """Exponent of the Pareto distribution: the smaller, the heavier the tail."""
    articles: float = 25.0
    """Median number of articles per host, each with one page per language."""
    articles_spread: float = 1.2
    max_articles: int = 2_000
    translated: float = 0.85
    """Share of the articles of a bilingual host that are in all its languages."""
    weak: float = 0.15
    """Share of bilingual hosts on which one article in 20 is translated, so that its key is weak."""
    deep: float = 0.06
    """Share of the translations that no page links to."""
    untrue: float = 0.02
    """Share of wrong translations: a page with another text under the address of a translation."""
    doubled: float = 0.04
    """Share of monolingual hosts with a second address for each page (print versions, old versions)."""
    spam: float = 0.03
    """Share of hosts in link farms; 0: no spam at all."""
    farm: int = 40
    """Number of hosts per farm."""
    farms_bilingual: float = 0.0
    """Share of farms whose hosts have one text in two languages; the others have one language and different texts."""
    guest_books: float = 0.08
    """Share of ordinary hosts that spammers fill with links."""
    guest_links: int = 15
    """Links to farms in each of them."""
    copies: float = 0.02
    """Share of hosts that are mirrors."""
    copies_each: int = 5
    """Number of mirrors per mirrored host."""
    dead: float = 0.05
    refused: float = 0.03
    errors: float = 0.02
    named: float = 0.35
    """Share of links to bilingual hosts that lead to the page of a language, not to the root of the host."""
    named_falsely: float = 0.03
    """The same for links to monolingual hosts: a folder ``en`` without a counterpart."""
    site_wide: float = 0.08
    """Share of links that are on all pages of the host (links of mirrors always are)."""


class SitePages(msgspec.Struct, frozen=True):
    """The pages of one host; all arrays and lists have one entry per page."""

    urls: list[str]
    side: NDArray[np.int8]
    """Language: 0 English, 1 Traditional Chinese, 2 Simplified Chinese."""
    article: NDArray[np.int32]
    """Number of the article: its pages in two languages are translations of each other, unless untrue."""
    visible: NDArray[np.bool_]
    """Whether a page links to it; the others are deep pages."""
    untrue: NDArray[np.bool_]
    """Whether it is at the address of a translation but has another text."""

    def true_pair(self, a: int, b: int) -> bool:
        """Return whether two pages are translations of each other."""
        same = self.article[a] == self.article[b] and self.side[a] != self.side[b]
        return bool(same and not self.untrue[a] and not self.untrue[b])


class World(msgspec.Struct, frozen=True, dict=True):
    """All hosts; arrays have one entry per host."""

    settings: WorldSettings
    kind: NDArray[np.uint8]
    state: NDArray[np.uint8]
    topic: NDArray[np.int32]
    bilingual: NDArray[np.bool_]
    """Truth: has pages in two languages (a mirror: if the copied host has)."""
    weak: NDArray[np.bool_]
    convention: NDArray[np.int8]
    """Number in `CONVENTIONS` for bilingual hosts, in `NOISE` for others."""
    articles: NDArray[np.int32]
    suffix: NDArray[np.int8]
    original: NDArray[np.int32]
    """Host that a mirror copies; first host of its farm for one of a bilingual farm; itself for others."""
    popularity: NDArray[np.float32]
    seeds: Indices
    """Hosts of the seed list, ascending."""
    links: csr_array
    """Links between hosts; the values are bits: 1, 2 names a language, 4 is on all pages."""

    def host(self, number: int) -> str:
        """Return the name of a host, which is its registered domain."""
        return f"{_WORDS[number % len(_WORDS)]}-{number}.{SUFFIXES[self.suffix[number]]}"

    def index(self, name: str) -> int | None:
        """Return the number of a host by its name, ignoring the prefixes ``en.`` and ``tc.``; None if unknown."""
        found = _NAME.fullmatch(name)
        if found is None or int(found[3]) >= len(self.kind):
            return None
        number = int(found[3])
        return number if name.removeprefix(f"{found[1]}.") == self.host(number) else None

    def targets(self, number: int) -> list[tuple[int, bool, bool]]:
        """Return the hosts that a host links to: number, whether the link names a language, whether it is site-wide."""
        row = slice(*self.links.indptr[number : number + 2])
        bits = self.links.data[row].tolist()
        return [
            (host, bool(bit & 2), bool(bit & 4))
            for host, bit in zip(self.links.indices[row].tolist(), bits, strict=True)
        ]

    def forms(self, number: int) -> tuple[str, ...]:
        """Return the address forms of a host's versions."""
        which = int(self.convention[number])
        return CONVENTIONS[which].forms if self.bilingual[number] else NOISE[which]

    def home(self, number: int, side: int = 0) -> str:
        """Return the address of a host's first page in a language; of hosts in one language ``/en/`` or the host."""
        name = self.host(number)
        if not self.bilingual[number]:
            return f"http://{name}/en/" if side else f"http://{name}/"
        return _address(self.forms(number)[side % len(self.forms(number))], name, 0)

    def pages(self, number: int) -> SitePages:
        """Return the pages of a host; a mirror has those of the copied host, under its own name."""
        origin = int(self.original[number])
        rng = np.random.default_rng([self.settings.seed, 7, origin])
        n, forms = int(self.articles[number]), self.forms(number)
        if self.bilingual[number]:
            share = 0.05 if self.weak[number] else self.settings.translated
            translated = rng.random((len(forms), n)) < share
            translated[0] = True
            translated[1:, 0] = True
            swap = rng.random(n) < 0.1  # some articles exist in Chinese only
            translated[0, swap & ~translated[1]] = False
            translated[1, swap & ~translated[0]] = True
        else:
            translated = np.ones((len(forms), n), dtype=np.bool_)
        side, article = np.nonzero(translated)
        later = (side > 0) & (article > 0) & self.bilingual[number]
        hidden = later & translated[0, article] & (rng.random(len(side)) < self.settings.deep)
        untrue = later & (rng.random(len(side)) < self.settings.untrue)
        name = self.host(number)
        urls = [_address(forms[s], name, k) for s, k in zip(side.tolist(), article.tolist(), strict=True)]
        language = side if self.bilingual[number] else np.zeros_like(side)
        return SitePages(urls, language.astype(np.int8), article.astype(np.int32), ~hidden, untrue)

    @cached_property
    def n_links(self) -> int:
        """Links between hosts."""
        return int(self.links.nnz)


def _address(form: str, host: str, article: int) -> str:
    if article == 0 and "{k}" not in form and "{j}" not in form:
        return form.format(h=host, d="", n="index")
    opaque = article * 7919 % 100_003
    return form.format(h=host, d=_FOLDERS[article % len(_FOLDERS)], n=f"a{article}", k=2 * opaque, j=opaque * 31 + 7)


def make_world(settings: WorldSettings) -> World:
    """Generate a simulated web, which depends only on the settings.

    Parameters
    ----------
    settings : WorldSettings

    Returns
    -------
    World
        The web, with about 80 bytes per host and 12 per link.
    """
    rng = np.random.default_rng([settings.seed, 1])
    n = settings.hosts
    kind, original = _kinds(rng, settings)
    topic, bilingual = _topics(rng, settings)
    bilingual &= kind != SPAM
    twins = _bilingual_farms(settings, kind, original)
    bilingual |= twins
    popularity = (1.0 + rng.pareto(settings.popularity, n)).astype(np.float32)
    weak = bilingual & (rng.random(n) < settings.weak) & ~twins
    shares = np.array([each.share for each in CONVENTIONS])
    chosen = rng.choice(len(shares), n, p=shares / shares.sum())
    doubled = np.where(rng.random(n) < settings.doubled, rng.integers(1, len(NOISE), n), 0)
    convention = np.where(bilingual, chosen, doubled).astype(np.int8)
    size = rng.lognormal(np.log(settings.articles), settings.articles_spread, n)
    articles = np.clip(size, 3, settings.max_articles).astype(np.int32)
    suffix = np.where(bilingual, *(rng.choice(len(SUFFIXES), n, p=share) for share in _SUFFIX_SHARES)).astype(np.int8)
    bilingual, weak, topic = bilingual[original], weak[original], topic[original]
    convention, articles = convention[original], articles[original]
    seeds = _seeds(rng, settings, kind, bilingual, popularity)
    state = rng.choice(4, n, p=_state_shares(settings)).astype(np.uint8)
    state[seeds] = OK
    links = _links(rng, settings, kind, topic, bilingual, popularity, original)
    return World(
        settings, kind, state, topic, bilingual, weak, convention, articles, suffix, original, popularity, seeds, links
    )


def _state_shares(settings: WorldSettings) -> list[float]:
    gone = [settings.dead, settings.refused, settings.errors]
    return [1.0 - sum(gone), *gone]


def _kinds(rng: np.random.Generator, settings: WorldSettings) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return the kind of each host and the host that it copies; farms and mirrors are chosen at random."""
    n = settings.hosts
    kind, original = np.zeros(n, dtype=np.uint8), np.arange(n, dtype=np.int32)
    order = rng.permutation(n)
    n_spam, n_copies = int(n * settings.spam), int(n * settings.copies)
    kind[order[:n_spam]] = SPAM
    copies = order[n_spam : n_spam + n_copies]
    kind[copies] = COPY
    sources = order[n_spam + n_copies :]
    if len(sources):
        original[copies] = sources[np.arange(n_copies) // settings.copies_each % len(sources)]
    return kind, original


def _bilingual_farms(
    settings: WorldSettings, kind: NDArray[np.uint8], original: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Mark the hosts of the first farms; each has the text of the first host of its farm in ``original``."""
    spam = np.flatnonzero(kind == SPAM)
    farm = np.arange(len(spam)) // settings.farm
    chosen = spam[farm < settings.farms_bilingual * (farm.max(initial=-1) + 1)]
    original[chosen] = chosen[np.arange(len(chosen)) // settings.farm * settings.farm]
    marked = np.zeros(len(kind), np.bool_)
    marked[chosen] = True
    return marked


def _topics(rng: np.random.Generator, settings: WorldSettings) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the topic of each host, and whether it is bilingual; topics have different shares of bilingual hosts."""
    n_topics = settings.topics or max(2, settings.hosts // 250)
    size = 1.0 / np.arange(1, n_topics + 1) ** 0.5
    topic = rng.choice(n_topics, settings.hosts, p=size / size.sum()).astype(np.int32)
    chance = rng.beta(3 * settings.bilingual, 3 * (1 - settings.bilingual), n_topics)
    chance *= settings.bilingual / max(float(chance[topic].mean()), 1e-9)
    return topic, rng.random(settings.hosts) < chance[topic]


def _seeds(
    rng: np.random.Generator,
    settings: WorldSettings,
    kind: NDArray[np.uint8],
    bilingual: NDArray[np.bool_],
    popularity: NDArray[np.float32],
) -> Indices:
    """Draw hosts without replacement, popular and bilingual ones more often (Gumbel trick)."""
    weight = 0.5 * np.log(popularity) + np.where(bilingual, np.log(settings.seed_odds), 0.0)
    weight = np.where(kind == ORDINARY, weight + rng.gumbel(size=len(kind)), -np.inf)
    return np.sort(np.argpartition(-weight, settings.seeds - 1)[: settings.seeds])


def _links(
    rng: np.random.Generator,
    settings: WorldSettings,
    kind: NDArray[np.uint8],
    topic: NDArray[np.int32],
    bilingual: NDArray[np.bool_],
    popularity: NDArray[np.float32],
    original: NDArray[np.int32],
) -> csr_array:
    n = settings.hosts
    spread = settings.links_spread
    drawn = rng.lognormal(np.log(settings.links) - spread**2 / 2, spread, n)
    degree = np.where(kind == SPAM, 0, np.maximum(1, drawn)).astype(np.int64)
    source = np.repeat(np.arange(n), degree)
    weight = np.where(kind == SPAM, 0.0, popularity.astype(np.float64))
    target = _drawn(rng, settings, topic, bilingual, weight, source)
    named = rng.random(len(source)) < np.where(bilingual[target], settings.named, settings.named_falsely)
    everywhere = rng.random(len(source)) < settings.site_wide
    bits = (1 + 2 * named + 4 * everywhere).astype(np.uint8)
    parts = [(source, target, bits), _farms(rng, settings, kind, bilingual), _mirrors(kind, original)]
    source, target, bits = (np.concatenate(each) for each in zip(*parts, strict=True))
    keep = source != target
    # Not summed: a link drawn twice counts once.
    code, first = np.unique(source[keep] * n + target[keep], return_index=True)
    indptr = np.searchsorted(code // n, np.arange(n + 1))
    return csr_array((bits[keep][first], (code % n).astype(np.int32), indptr), shape=(n, n))


def _drawn(
    rng: np.random.Generator,
    settings: WorldSettings,
    topic: NDArray[np.int32],
    bilingual: NDArray[np.bool_],
    weight: NDArray[np.float64],
    source: Indices,
) -> Indices:
    """Draw a target for each source: first whether it is bilingual, then its topic, then in proportion to weight."""
    n_topics = int(topic.max()) + 1
    order = np.lexsort((topic, bilingual))
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    group = (bilingual.astype(np.int64) * n_topics + topic)[order]
    edges = np.searchsorted(group, np.arange(2 * n_topics + 1))
    mass = total[edges[1:]] - total[edges[:-1]]
    local = rng.random(len(source)) < settings.locality
    own = topic[source]
    alone, both = mass[:n_topics], mass[n_topics:]
    chance = np.where(local, (both / np.maximum(alone + both, 1e-12))[own], both.sum() / max(mass.sum(), 1e-12))
    to_bilingual = rng.random(len(source)) < chance
    to_bilingual |= bilingual[source] & (rng.random(len(source)) < settings.homophily)
    local &= np.where(to_bilingual, both[own], alone[own]) > 0
    first = to_bilingual * n_topics + np.where(local, own, 0)
    last = to_bilingual * n_topics + np.where(local, own, n_topics - 1)
    low, high = total[edges[first]], total[edges[last + 1]]
    place = np.searchsorted(total, low + rng.random(len(source)) * (high - low), side="right") - 1
    place = np.clip(place, edges[first], np.maximum(edges[last + 1] - 1, edges[first]))
    return np.asarray(order[place], dtype=np.int64)


def _farms(
    rng: np.random.Generator, settings: WorldSettings, kind: NDArray[np.uint8], bilingual: NDArray[np.bool_]
) -> tuple[Indices, Indices, NDArray[np.uint8]]:
    """Return the links among hosts of a farm, and the links to them in guest books."""
    spam = np.flatnonzero(kind == SPAM)
    if not len(spam):
        return _none()
    within = min(settings.farm, 20)
    start = np.arange(len(spam)) // settings.farm * settings.farm
    size = np.minimum(settings.farm, len(spam) - start)
    step = rng.integers(0, 2**31, (within, len(spam))) % size
    targets = spam[(start + step).ravel()]
    sources = np.tile(spam, within)
    books = np.flatnonzero((kind == ORDINARY) & (rng.random(len(kind)) < settings.guest_books))
    farm = rng.integers(0, (len(spam) - 1) // settings.farm + 1, len(books)) * settings.farm
    entry = farm[:, None] + rng.integers(0, settings.farm, (len(books), settings.guest_links))
    guests = spam[entry.ravel() % len(spam)]
    sources = np.concatenate([sources, np.repeat(books, settings.guest_links)])
    targets = np.concatenate([targets, guests])
    named = rng.random(len(sources)) < np.where(bilingual[targets], settings.named, settings.named_falsely)
    return sources, targets, (1 + 2 * named).astype(np.uint8)


def _mirrors(kind: NDArray[np.uint8], original: NDArray[np.int32]) -> tuple[Indices, Indices, NDArray[np.uint8]]:
    """Return the links between a mirror and the copied host, and to the next mirror; all of them are site-wide."""
    copies = np.flatnonzero(kind == COPY)
    if not len(copies):
        return _none()
    copies = copies[np.argsort(original[copies], kind="stable")]
    of = original[copies].astype(np.int64)
    following = np.where(np.roll(of, -1) == of, np.roll(copies, -1), of)
    sources, targets = np.concatenate([copies, of, copies]), np.concatenate([of, copies, following])
    return sources, targets, np.full(len(sources), 5, dtype=np.uint8)


def _none() -> tuple[Indices, Indices, NDArray[np.uint8]]:
    empty = np.empty(0, dtype=np.int64)
    return empty, empty, np.empty(0, dtype=np.uint8)
