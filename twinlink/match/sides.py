"""The sides of a site: its pages by language, and the links within and between them."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from twinlink.graph.document_order import LinkLists, link_lists, sublists
from twinlink.graph.links import adjacency
from twinlink.ingest.shapes import ShapeTable
from twinlink.language.claims import often_claimed
from twinlink.language.site_languages import TWO_LANGUAGES, two_most_frequent
from twinlink.languages import UNDETERMINED, base_language, languages_of_site
from twinlink.lookup import places_of
from twinlink.match.evidence import Between, Side
from twinlink.match.shared_names import page_names
from twinlink.text.page_texts import PageTexts, TextSource, titled_texts

__all__ = ["Group", "SitePages", "language_groups", "language_pairs", "of_varieties"]

MIN_VARIANT_SHARE = (
    0.1  # a script variant (zh-Hans beside zh-Hant) with fewer of the language's pages is taken for noise
)

NEARLY_ALL = 0.95
"""Share of the pages that declare one of two languages from which these are the languages of the site. Our choice, not
tuned."""

MIN_VARIETY_SHARE = 0.25
"""Share of a language's pages that declare the wanted variety, from which those that declare another one are another
version of the site. Our choice, not tuned."""
MIN_OWN_SHARE = 0.4
"""The same for pages that declare the language alone: templates that declare ``en`` and ``en-GB`` for the same version
are common, but where they are the version in ``pt`` beside one in ``pt-BR``, both have about as many pages."""


class Group(NamedTuple):
    """The pages of one language of a site."""

    tag: str
    """Wanted language that includes this one."""
    lang: str
    rows: npt.NDArray[np.intp]


class SitePages:
    """The pages of a site, from which the sides of any two languages are built; intermediate results are cached.

    Parameters
    ----------
    pages, links : pa.Table
        Rows of one site.
    shapes : ShapeTable, optional
        For the methods that need it.
    read_blocks : callable, optional
        Returns the chunks of the column ``blocks``; by default they are those of ``pages``.
    """

    def __init__(
        self,
        pages: pa.Table,
        links: pa.Table,
        shapes: ShapeTable | None = None,
        read_blocks: Callable[[], Iterable[pa.Array]] | None = None,
    ) -> None:
        self.pages = pages
        self.links = links
        blocks = read_blocks or (lambda: pages["blocks"].chunks)
        self._texts = TextSource(lambda: titled_texts(pages["title"], blocks()))
        self._shapes = shapes
        self._inner = _inner_links(pages, links)
        self._sides: dict[str, Side] = {}

    @property
    def texts(self) -> PageTexts:
        """Text of each page: its title and its blocks."""
        return self._texts.texts()

    def read_texts(self) -> None:
        """Read the texts now, and not when they are first needed."""
        self._texts.texts()

    def forget_texts(self) -> None:
        """Free the memory of the texts; what comes again is read again."""
        self._texts.forget()

    @cached_property
    def graph(self) -> sp.csr_array:
        """The directed links among the pages, rows and columns in the order of ``pages``."""
        return adjacency(*self._inner, self.pages.num_rows)

    @cached_property
    def _named(self) -> sp.csr_array:
        """Links that name a language (hreflang)."""
        named = self.links.filter(pc.not_equal(self.links["hreflang"], ""))
        return adjacency(*_inner_links(self.pages, named), self.pages.num_rows)

    @cached_property
    def _names(self) -> list[tuple[str, ...]]:
        return page_names(self.pages, self.links)

    @cached_property
    def _contents(self) -> npt.NDArray[np.int64]:
        return self.texts.same

    @cached_property
    def _lists(self) -> LinkLists:
        return link_lists(*self._inner, self.pages.num_rows)

    def facing(self, group_a: Group, group_b: Group) -> tuple[Side, Side, Between]:
        """Return the sides of two languages, and the links between them."""
        between = _between(self.graph, self._named, group_a.rows, group_b.rows)
        return self.side(group_a), self.side(group_b), between

    def side(self, group: Group) -> Side:
        """Return the pages of a language."""
        if group.lang not in self._sides:
            self._sides[group.lang] = self._read(group)
        return self._sides[group.lang]

    def _read(self, group: Group) -> Side:
        columns = ["page_id", "url", "tags", "canonical_url"]
        chosen, rows = self.pages.select(columns).take(pa.array(group.rows)), group.rows.tolist()
        numbers, shapes = chosen["page_id"], self._shapes
        return Side(
            lang=group.lang,
            page_ids=numbers.to_numpy(),
            urls=chosen["url"].to_pylist(),
            blocks=self._texts.of_pages(group.rows),
            tags=chosen["tags"].to_pylist(),
            graph=sp.csr_array(self.graph[group.rows][:, group.rows]),
            lists=sublists(self._lists, group.rows),
            names=[self._names[row] for row in rows],
            shapes=[shapes[number] for number in numbers.to_pylist()] if shapes else (),
            canonical_urls=chosen["canonical_url"].to_pylist(),
            contents=self._contents[group.rows],
        )


def language_groups(langs: Sequence[str], wanted: Sequence[str], declared: Sequence[str] = ()) -> list[Group]:
    """Return the languages of a site to match, each with its pages.

    A wanted ``zh`` includes ``zh-Hant`` and ``zh-Hans``; where a site has both, each is a language of its own (two
    groups of the same wanted tag, never matched with each other). A language that the site does not have means the
    closest one (`languages_of_site`). Without wanted languages the two are taken that nearly all pages declare
    (`two_declared`), else the two most frequent ones.

    >>> [(tag, lang, rows.tolist()) for tag, lang, rows in language_groups(["en", "zh-Hant", "de", "en"], ["en", "zh"])]
    [('en', 'en', [0, 3]), ('zh', 'zh-Hant', [1])]
    """
    counts = Counter(lang for lang in langs if lang not in (UNDETERMINED, TWO_LANGUAGES))
    two = {lang: [lang] for lang in two_declared(langs, declared) or two_most_frequent(langs)}
    groups = []
    for tag, meant in (languages_of_site(wanted, counts) if wanted else two).items():
        members = {lang: counts[lang] for lang in meant}
        total = sum(members.values())
        main = [lang for lang, n in sorted(members.items()) if n >= MIN_VARIANT_SHARE * total]
        for lang in main:
            belongs = {lang} | (set(members) - set(main) if lang == max(main, key=members.__getitem__) else set())
            groups.append(Group(tag, lang, np.flatnonzero([name in belongs for name in langs])))
    return groups


def two_declared(langs: Sequence[str], declared: Sequence[str]) -> list[str]:
    """Return the two languages that nearly all pages declare, most frequent first, if there are pages in both.

    Where most pages of a version were left in a third language, that one is more frequent.

    >>> two_declared(["fr", "fr", "fr", "fr", "en", "en", "en", "pt", "pt"], ["fr-FR"] * 4 + ["pt-BR"] * 5)
    ['fr', 'pt']
    """
    claims = Counter(base_language(tag) for tag in declared if tag)
    often = often_claimed(claims, len(declared))
    found = [lang for lang in langs if base_language(lang) in often]
    is_site = len(often) == 2 and sum(claims[claim] for claim in often) >= NEARLY_ALL * len(declared)
    has_both = len(set(found)) == len(set(map(base_language, found))) == 2
    return two_most_frequent(found) if is_site and has_both else []


def of_varieties(groups: Sequence[Group], declared: Sequence[str]) -> list[Group]:
    """Leave out pages that declare another variety of a language than the wanted one (``pt-PT`` instead of ``pt-BR``).

    Varieties are not distinguished by their text, except those of Chinese. So pages of another variety stay where fewer
    than `MIN_VARIETY_SHARE` of the pages declare the wanted one, and those that declare the language alone where fewer
    than `MIN_OWN_SHARE` do.

    Parameters
    ----------
    groups : sequence of Group
    declared : sequence of str
        What each page of the site claims, empty where nothing.

    Examples
    --------
    >>> groups = [Group("pt-BR", "pt", np.arange(4))]
    >>> [group.rows.tolist() for group in of_varieties(groups, ["pt-br", "pt-PT", "pt", ""])]
    [[0, 2, 3]]
    >>> [group.rows.tolist() for group in of_varieties(groups, ["pt"] * 4)]
    [[0, 1, 2, 3]]
    """
    return [_of_variety(group, declared) for group in groups]


def _of_variety(group: Group, declared: Sequence[str]) -> Group:
    variety = _spelt(group.tag)
    if not _is_variety(variety) or group.lang.startswith("zh"):
        return group
    claims = [_spelt(declared[row]) for row in group.rows.tolist()]
    is_wanted = np.array([f"{claim}-".startswith(f"{variety}-") for claim in claims], np.bool_)
    of_language = np.array([base_language(claim) == group.lang for claim in claims], np.bool_) & ~is_wanted
    is_named = np.array([_is_variety(claim) for claim in claims], np.bool_)
    share = is_wanted.mean() if claims else 0.0
    is_other = of_language & (is_named & (share >= MIN_VARIETY_SHARE) | ~is_named & (share >= MIN_OWN_SHARE))
    return group._replace(rows=group.rows[~is_other])


def _is_variety(tag: str) -> bool:
    """Return whether a tag names more than a language: a country or a script; Bokmål and Nynorsk have their own."""
    return "-" in tag or tag in {"nb", "nn"}


def _spelt(tag: str) -> str:
    return re.split("[.@]", tag.strip())[0].replace("_", "-").lower()


def language_pairs(groups: Sequence[Group]) -> list[tuple[Group, Group]]:
    """Return all pairs of languages to match."""
    return [(a, b) for a, b in itertools.combinations(groups, 2) if a.tag != b.tag]


def _inner_links(pages: pa.Table, links: pa.Table) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return source and target page of each link among the pages of a site."""
    targets = links["target"].drop_null()
    sources = links["source"].filter(links["target"].is_valid())
    source, target = (places_of(column, among=pages["page_id"]) for column in (sources, targets))
    inside = (source >= 0) & (target >= 0)
    return source[inside], target[inside]


def _between(
    graph: sp.csr_array, named: sp.csr_array, rows_a: npt.NDArray[np.intp], rows_b: npt.NDArray[np.intp]
) -> Between:
    """Return the links between two sides; a link is weighted by its share of the page's links to the other side."""
    forth = _row_shares(graph[rows_a][:, rows_b])
    back = _row_shares(graph[rows_b][:, rows_a])
    names = named[rows_a][:, rows_b].astype(np.float32).maximum(named[rows_b][:, rows_a].T.astype(np.float32))
    return Between(direct=_sorted(forth.maximum(back.T)), hreflang=_sorted(names))


def _row_shares(links: sp.csr_array) -> sp.csr_array:
    n_links = np.diff(sp.csr_array(links).indptr)
    return sp.csr_array(sp.diags_array((1 / np.maximum(n_links, 1)).astype(np.float32)) @ links.astype(np.float32))


def _sorted(matrix: sp.csr_array) -> sp.csr_array:
    matrix = sp.csr_array(matrix)
    matrix.sort_indices()
    return matrix
