"""Matching of one site: from its tables to its page pairs.

First the languages of the pages are identified; then, for every two wanted languages, candidates and their
evidence, a one-to-one matching, and the probability of each pair are computed, and the probable pairs are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from twinlink.config import Config
from twinlink.ingest.shapes import ShapeTable
from twinlink.language.hints import page_hints
from twinlink.language.site_languages import LanguageFinder, site_languages
from twinlink.match.evidence import Between, Side
from twinlink.match.families import groups_beside, reconcile
from twinlink.match.labels import PairLabel
from twinlink.match.language_matches import LanguageMatches
from twinlink.match.look_alikes import look_alike_table
from twinlink.match.placeholders import without_placeholders
from twinlink.match.selection import SideMatch
from twinlink.match.sides import Group, SitePages, language_groups, language_pairs, of_varieties
from twinlink.match.site_tables import (
    SiteResult,
    candidate_table,
    checks_table,
    filter_table,
    pair_table,
    weight_table,
)
from twinlink.match.unpaired import unpaired_pages
from twinlink.rejects import Reject
from twinlink.similarity.lexicon_files import Lexicon
from twinlink.system.memory import give_back
from twinlink.system.steps import NO_STEPS, Steps
from twinlink.tables import (
    CANDIDATES,
    CHECKS,
    FILTERS,
    LOOK_ALIKES,
    PAIRS,
    WEIGHTS,
    concat_tables,
)
from twinlink.text.chinese import forget_dictionary

__all__ = ["PAGE_COLUMNS", "match_site", "page_languages", "site_sides"]

PAGE_COLUMNS = (
    "page_id",
    "site",
    "url",
    "canonical_url",
    "title",
    "blocks",
    "tags",
    "images",
    "declared_lang",
    "bytes",
)
"""Columns of `PAGES` that a match needs."""

MANY_PAGES = 1_000
"""Pages of a site from which free memory is given back between the steps of its match: it takes 2 ms each time."""
VERY_MANY_PAGES = 4_000
"""Pages of a site that is matched without the dictionary of Chinese in memory, once its words are counted: to load it
again for the next one takes .08 s."""
LANGUAGES_SHARE = 0.3
"""Share of the time of a match that the languages of the pages take, for progress reports."""


def match_site(
    pages: pa.Table,
    links: pa.Table,
    lexicons: Callable[[str, str], Sequence[Lexicon]],
    config: Config,
    signature: str,
    find_languages: LanguageFinder = site_languages,
    shapes: ShapeTable | None = None,
    labels: Sequence[PairLabel] = (),
    steps: Steps = NO_STEPS,
    read_blocks: Callable[[], Iterable[pa.Array]] | None = None,
) -> SiteResult:
    """Match the pages of one site.

    Parameters
    ----------
    pages, links : pa.Table
        Rows of one site, at least the columns `PAGE_COLUMNS` (``blocks`` only without ``read_blocks``), and those of
        `read_links`.
    lexicons : callable
        Takes two languages and returns their lexicons. There may be none: shared tokens, structure and links remain.
    config : Config
        Settings.
    signature : str
        Signature to write with every pair.
    find_languages : LanguageFinder, optional
    shapes : ShapeTable, optional
        For the methods that read shapes.
    labels : sequence of PairLabel, optional
        Labels of its pairs.
    steps : Steps, optional
        Receives the steps: languages, and those of `match_sides`.
    read_blocks : callable, optional
        Returns the chunks of the column ``blocks``, which are read one after the other. By default they are those of
        ``pages``; then the text of all pages is in memory.
    """
    steps(0.0, "languages")
    free = give_back if pages.num_rows >= MANY_PAGES else _keep
    site = SitePages(pages, links, shapes, read_blocks)
    site.read_texts()
    free()
    langs, lang_scores = page_languages(site, config, find_languages)
    free()
    groups, placeholders = _groups(site, langs, config.langs)
    facing = list(language_pairs(groups))

    def forget() -> None:
        site.forget_texts()
        if pages.num_rows >= VERY_MANY_PAGES:
            forget_dictionary()

    language_matches = LanguageMatches(site, lexicons, labels, config, free, forget)
    matches = language_matches.of(facing, steps.part(LANGUAGES_SHARE, 1.0))
    beside = language_matches.of(groups_beside(langs, groups, matches, config.match), NO_STEPS)
    matches = reconcile(matches, beside, config.match)
    languages = pa.table(
        {"page_id": pages["page_id"], "lang": langs, "lang_score": pa.array(lang_scores, pa.float32())}
    )
    wanted = _in_groups(groups, len(langs))
    rejects = unpaired_pages(pages["url"].to_pylist(), langs, wanted, matches, placeholders)
    return _tables(pages["site"][0].as_py(), signature, languages, matches, rejects)


def _keep() -> None:
    """Give back no memory: a small site leaves little, and the next one takes it."""


def _tables(
    name: str, signature: str, languages: pa.Table, matches: Sequence[SideMatch], rejects: list[Reject]
) -> SiteResult:
    """Return the tables of a site: those of each two languages, one after the other."""
    return SiteResult(
        languages=languages,
        candidates=concat_tables([candidate_table(match_) for match_ in matches], CANDIDATES),
        pairs=concat_tables([pair_table(match_, name, signature) for match_ in matches], PAIRS),
        weights=concat_tables([weight_table(match_, name) for match_ in matches], WEIGHTS),
        filters=concat_tables([filter_table(match_, name) for match_ in matches], FILTERS),
        checks=concat_tables([checks_table(match_) for match_ in matches], CHECKS),
        look_alikes=concat_tables([look_alike_table(match_, name) for match_ in matches], LOOK_ALIKES),
        rejects=rejects,
    )


def site_sides(
    pages: pa.Table, links: pa.Table, config: Config, shapes: ShapeTable | None = None
) -> list[tuple[Side, Side, Between]]:
    """Return all pairs of sides of a site to match, and the links between them."""
    site = SitePages(pages, links, shapes)
    langs, _ = page_languages(site, config)
    return [site.facing(a, b) for a, b in language_pairs(_groups(site, langs, config.langs)[0])]


def _groups(site: SitePages, langs: Sequence[str], wanted: Sequence[str]) -> tuple[list[Group], dict[int, str]]:
    """Return the languages to match, each with its pages, and the placeholders that are left out, with their text."""
    declared = site.pages["declared_lang"].to_pylist()
    groups = of_varieties(language_groups(langs, wanted, declared), declared)
    return without_placeholders(groups, site.texts)


def page_languages(
    site: SitePages, config: Config, find_languages: LanguageFinder = site_languages
) -> tuple[list[str], npt.NDArray[np.float32]]:
    """Identify the language of every page of a site from its text, links and address, with a score."""
    declared, hints = site.pages["declared_lang"].to_pylist(), page_hints(site.pages, site.links)
    return find_languages(site.texts, declared, config.langs, config.language, links=site.graph, hints=hints)


def _in_groups(groups: Sequence[Group], n_pages: int) -> npt.NDArray[np.bool_]:
    """Mark the pages that are in a language that is matched."""
    wanted = np.zeros(n_pages, np.bool_)
    for group in groups:
        wanted[group.rows] = True
    return wanted
