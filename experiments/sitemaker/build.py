"""Building one site from a recipe: read, judge, sample, disguise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import msgspec
from msgspec.structs import asdict

from experiments.sitemaker.choose import Pair, connected_sample, drop_partners, noise_sample
from experiments.sitemaker.disguise import Names, Skeleton, opaque_names, opaque_page, plain_names
from experiments.sitemaker.gold import Judged, judge_pairs, judge_side
from experiments.sitemaker.languages import compact
from experiments.sitemaker.pages import SitePage, read_page
from experiments.sitemaker.recipes import Recipe, RecipeError

__all__ = ["Options", "Site", "build_site"]

NOISE_SHARE = 0.25
"""Pages of each noise language, as a share of the first side: about what the apache2-doc pages of a third language make
up."""


class Options(msgspec.Struct, frozen=True):
    """Changes to the site of the packages; see `experiments.sites` for each."""

    opaque: bool = False
    drop: float = 0.0
    noise: tuple[str, ...] = ()
    one_template: bool = False
    max_pairs: int = 0
    seed: int = 1


class Site(msgspec.Struct, frozen=True):
    """A site ready to be written.

    ``pages`` has each page with its side (A, B, or N for noise) and its judgement; ``gold`` and ``ignored`` only have
    pairs with both pages on the site.
    """

    name: str
    recipe: Recipe
    langs: tuple[str, str]
    options: Options
    pages: Mapping[str, tuple[str, Judged]]
    gold: Sequence[Pair]
    ignored: Sequence[Pair]
    n_untranslated: int
    n_orphans: int
    names: Names

    def versions(self, page: SitePage) -> set[str]:
        """Return the links of ``page`` that lead to the same page in other languages, on the site or not."""
        return {t for t in page.links if t != page.path and self.recipe.key_of(t) == page.key}

    def links(self, page: SitePage) -> list[str]:
        """Return the pages of the site that ``page`` links to in the form in which it is written."""
        cut = self.versions(page) if self.options.opaque else set()
        return [t for t in page.links if t in self.pages and t not in cut and t != page.path]

    def bodies(self) -> Iterator[tuple[str, bytes]]:
        """Yield the new path and the content of every page."""
        pages = [judged.page for _, judged in self.pages.values()]
        skeleton = Skeleton(pages) if self.options.one_template else None
        for page in pages:
            yield self.names.page(page.path), self._body(page, skeleton)

    def _body(self, page: SitePage, skeleton: Skeleton | None) -> bytes:
        versions = self.versions(page) if self.options.opaque else set()
        if skeleton is not None:
            return skeleton.page(page, self.names, versions, "" if self.options.opaque else page.lang)
        if self.options.opaque:
            return opaque_page(page, self.names, versions, self.recipe.switchers)
        return page.body

    def description(self) -> dict[str, object]:
        """Return the options by name."""
        return {"name": self.name, "lang_a": self.langs[0], "lang_b": self.langs[1], **asdict(self.options)}


def build_site(recipe: Recipe, a: str, b: str, roots: Sequence[Path], options: Options) -> Site:
    """Build the site of languages ``a`` and ``b`` from unpacked packages.

    Raises
    ------
    RecipeError
        If a language is missing, or the two have no page in common.
    """
    rng = Random(f"{recipe.name} {compact(a)} {compact(b)} {options.seed}")
    without = recipe.switchers if options.opaque else ()
    lang_a, pages_a = _read(recipe, roots, a, without)
    lang_b, pages_b = _read(recipe, roots, b, without)
    originals = _originals(recipe, roots, (lang_a, pages_a), (lang_b, pages_b))
    side_a, side_b = (_judge(recipe, lang, p, originals) for lang, p in ((lang_a, pages_a), (lang_b, pages_b)))
    gold, ignored = judge_pairs(side_a, side_b)
    if not gold:
        raise RecipeError(f"{recipe.name}: {lang_a} and {lang_b} have no translated page in common")
    kinds = Counter(judged.kind for judged in side_a + side_b)
    pages = {j.page.path: ("A", j) for j in side_a} | {j.page.path: ("B", j) for j in side_b}
    pages = {path: (side, j) for path, (side, j) in pages.items() if j.kind in ("translated", "partly")}
    if options.max_pairs:
        gold, ignored = connected_sample(gold, options.max_pairs, rng), []
        pages = {page.path: pages[page.path] for pair in gold for page in pair}
    for path in drop_partners(gold, options.drop, rng):
        del pages[path]
    pages |= _noise(recipe, roots, options, originals, sum(side == "A" for side, _ in pages.values()), rng)
    return Site(
        name=f"{recipe.name}{options.max_pairs or ''}-{compact(a)}-{compact(b)}",
        recipe=recipe,
        langs=(lang_a, lang_b),
        options=options,
        pages=pages,
        gold=_present(gold, pages),
        ignored=_present(ignored, pages),
        n_untranslated=kinds["untranslated"],
        n_orphans=kinds["orphan"],
        names=opaque_names(pages, rng) if options.opaque else plain_names(pages),
    )


def _read(
    recipe: Recipe, roots: Sequence[Path], lang: str, without: Collection[str] = ()
) -> tuple[str, list[SitePage]]:
    tag, found = recipe.pages(roots, lang)
    return tag, [read_page(f, tag, without) for f in found]


def _is_source(recipe: Recipe, lang: str) -> bool:
    return compact(lang) == compact(recipe.source)


def _originals(recipe: Recipe, roots: Sequence[Path], *sides: tuple[str, list[SitePage]]) -> dict[str, SitePage]:
    for lang, pages in sides:
        if _is_source(recipe, lang):
            return {page.key: page for page in pages}
    return {page.key: page for page in _read(recipe, roots, recipe.source)[1]}


def _judge(recipe: Recipe, lang: str, pages: Sequence[SitePage], originals: Mapping[str, SitePage]) -> list[Judged]:
    return judge_side(pages, {} if _is_source(recipe, lang) else originals)


def _noise(
    recipe: Recipe, roots: Sequence[Path], options: Options, originals: Mapping[str, SitePage], n_a: int, rng: Random
) -> dict[str, tuple[str, Judged]]:
    found: dict[str, tuple[str, Judged]] = {}
    for lang in options.noise:
        tag, pages = _read(recipe, roots, lang, recipe.switchers if options.opaque else ())
        judged = {j.page.path: j for j in _judge(recipe, tag, pages, originals) if j.kind == "translated"}
        for page in noise_sample([j.page for j in judged.values()], round(NOISE_SHARE * n_a), rng):
            found[page.path] = ("N", judged[page.path])
    return found


def _present(pairs: Sequence[Pair], pages: Mapping[str, object]) -> list[Pair]:
    return [(one, other) for one, other in pairs if one.path in pages and other.path in pages]
