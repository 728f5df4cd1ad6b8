"""Generated sites as lists of addresses with known partners: URL conventions, and sizes with a heavy tail.

The addresses have no pages. Assumptions: for two thirds of the bilingual sites, the frequencies of conventions are
proportional to the global credibility of their keys in Zhang, Yao & Kit, Table 2; the others have conventions mentioned
in the text of that paper and in Bitextor's paper (letters in names, variables, hosts, an additional directory, three
languages). Half of the sites are bilingual. On these, ``TRANSLATED`` of the pages have a partner, but one in five sites
is *weak*: few pages have one. Directories have few or many pages, names are words or dates, and some pages are numbered
articles or days of a calendar.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import msgspec
import numpy as np

__all__ = ["CONVENTIONS", "MadeSite", "made_site", "site_sizes"]

TRANSLATED = 0.8
WEAK_TRANSLATED = 0.04
BILINGUAL = 0.5
WEAK = 0.2
LARGEST = 400_000
"""Maximum number of pages of a site."""

Address = Callable[[str, str, str, int], str]
"""Site, directories (``a/b/`` or empty), name, number of the language → address."""


def _directory(*names: str) -> Address:
    return lambda host, at, name, lang: f"http://www.{host}/{names[lang]}/{at}{name}.htm"


def _inner(*names: str) -> Address:
    return lambda host, at, name, lang: f"http://www.{host}/{at}{names[lang]}/{name}.htm"


def _tail(*names: str) -> Address:
    return lambda host, at, name, lang: f"http://www.{host}/{at}{name}{names[lang]}.htm"


def _head(*names: str) -> Address:
    return lambda host, at, name, lang: f"http://www.{host}/{at}{names[lang]}{name}.htm"


def _variable(*names: str) -> Address:
    return lambda host, at, name, lang: f"http://www.{host}/{at}{name}.php?lang={names[lang]}"


def _host(*names: str) -> Address:
    return lambda host, at, name, lang: f"http://{names[lang]}.{host}/{at}{name}.html"


def _more(name_of_more: str) -> Address:
    return lambda host, at, name, lang: f"http://www.{host}/{f'{name_of_more}/' if lang else ''}{at}{name}.html"


CONVENTIONS: tuple[tuple[str, str, float, int, Address], ...] = (
    ("en", "tc", 13997.36, 2, _directory("en", "tc")),
    ("eng", "tc", 12869.56, 2, _directory("eng", "tc")),
    ("english", "tc_chi", 11436.12, 2, _directory("english", "tc_chi")),
    ("chinese", "english", 11032.46, 2, _directory("english", "chinese")),
    ("chi", "eng", 7824.86, 2, _inner("eng", "chi")),
    ("*c", "*e", 5000.0, 2, _tail("e", "c")),
    ("c", "e", 5000.0, 2, _tail("_e", "_c")),
    ("c*", "e*", 2500.0, 2, _head("e", "c")),
    ("*", "*c", 2500.0, 2, _tail("", "c")),
    ("lang=en", "lang=tc", 4000.0, 2, _variable("en", "tc")),
    ("en", "tc", 3000.0, 2, _host("en", "tc")),
    ("", "tc", 2000.0, 2, _more("tc")),
    ("en", "tc", 4000.0, 3, _directory("en", "tc", "sc")),
)
"""Source and target key, frequency, number of languages, and the address of a page."""

_WORDS = """about news press release service contact form notice report annual budget health school park library
transport road bridge harbour water fire police court law tax trade labour welfare housing land survey map weather
culture museum sport event tender job career link search help faq policy review speech photo gallery video archive
member committee council paper minute agenda result plan project office centre region district island""".split()


class MadeSite(msgspec.Struct, frozen=True):
    """The addresses of a site and its pairs."""

    host: str
    urls: list[str]
    langs: list[str]
    pairs: list[tuple[int, int]]
    """Numbers of the two addresses of each pair, for every pair of languages."""
    keys: tuple[str, str]
    """Source and target key of the site's convention; empty if the site has one language."""
    is_weak: bool


def site_sizes(n_urls: int, n_sites: int, rng: np.random.Generator) -> list[int]:
    """Return the sizes of sites: Pareto-distributed (exponent 1.1), at least 4 addresses each, ``n_urls`` in total."""
    drawn = np.minimum(rng.pareto(1.1, n_sites) + 0.1, LARGEST / 60)
    sizes = np.maximum(4, drawn * n_urls / drawn.sum()).astype(np.int64)
    sizes[int(sizes.argmax())] += max(0, n_urls - int(sizes.sum()))
    return [int(size) for size in sizes]


def made_site(number: int, size: int, rng: np.random.Generator) -> MadeSite:
    """Make a site of some ``size`` addresses, in random order."""
    host = f"site{number}.org.hk"
    weights = np.array([each[2] for each in CONVENTIONS])
    source, target, _, n_langs, address = CONVENTIONS[int(rng.choice(len(weights), p=weights / weights.sum()))]
    is_bilingual, is_weak = bool(rng.random() < BILINGUAL), bool(rng.random() < WEAK)
    share = (WEAK_TRANSLATED if is_weak else TRANSLATED) if is_bilingual else 0.0
    urls: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    for place, name in _pages(rng, size):
        if len(urls) >= size:
            break
        versions = [address(host, place, name, lang) for lang in range(n_langs if rng.random() < share else 1)]
        if any(url in urls for url in versions):
            continue
        numbers = [len(urls) + k for k in range(len(versions))]
        urls |= {url: lang for lang, url in enumerate(versions)}
        pairs += itertools.combinations(numbers, 2)
    order = rng.permutation(len(urls)).tolist()
    listed, place_of = list(urls.items()), {old: new for new, old in enumerate(order)}
    return MadeSite(
        host,
        [listed[k][0] for k in order],
        [("en", "zh-Hant", "zh-Hans")[listed[k][1]] for k in order],
        [(place_of[a], place_of[b]) for a, b in pairs],
        (source, target) if is_bilingual else ("", ""),
        is_weak,
    )


def _pages(rng: np.random.Generator, size: int) -> Iterator[tuple[str, str]]:
    """Yield directories and names endlessly."""
    n_folders = max(1, size // 25)
    folders = [""] + ["".join(f"{_word(rng)}/" for _ in range(rng.integers(1, 4))) for _ in range(n_folders)]
    while True:
        folder = folders[int(len(folders) * rng.random() ** 2)]  # few of them are large
        kind = rng.random()
        for _ in range(int(rng.integers(1, 12))):
            if kind < 0.5:
                name = f"{_word(rng)}_{_word(rng)}{rng.integers(100)}"
            elif kind < 0.7:
                name = f"{_word(rng)}{rng.integers(2000)}"
            elif kind < 0.85:
                name = f"p{rng.integers(1996, 2014)}{rng.integers(1, 13):02d}{rng.integers(1, 29):02d}"
            elif kind < 0.95:
                name = f"article-{rng.integers(100_000)}"
            else:
                name = f"calendar/{rng.integers(1996, 2014)}/{rng.integers(1, 13)}/{rng.integers(1, 29)}"
            yield folder, name


def _word(rng: np.random.Generator) -> str:
    return _WORDS[int(rng.integers(len(_WORDS)))]
