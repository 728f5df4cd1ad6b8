"""Stage `match`: the tables of a site go in, its page pairs come out.

For each site: languages of the pages, then for each wanted pair of languages candidates, content and structural
similarity on them, ETS over the links, a one-to-one matching, and a cut that is found on the site itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from twinlink.config import Config, MatchSettings
from twinlink.config.patterns import PatternSettings
from twinlink.ingest.shapes import ShapeTable, read_shapes
from twinlink.language.hints import page_hints
from twinlink.language.site_languages import LanguageFinder, site_languages
from twinlink.languages import canonical_language
from twinlink.match.counts import conclude, n_pairs, write_pairs_file
from twinlink.match.evidence import Between, Found, Side
from twinlink.match.families import groups_beside, reconcile
from twinlink.match.labels import (
    Said,
    label_matrix,
    labels_in_force,
    said_digest,
    said_within,
)
from twinlink.match.look_alikes import look_alike_table
from twinlink.match.methods.registry import METHODS, check_cut
from twinlink.match.reuse import RESULT_COLUMNS, EarlierMatch, site_digest, write_digests
from twinlink.match.selection import SideMatch, match_sides
from twinlink.match.shared_names import read_links
from twinlink.match.sides import Group, SitePages, facing_groups, language_groups
from twinlink.match.unpaired import unpaired_pages
from twinlink.patterns.library import read_libraries
from twinlink.rundir.directory import RunDirectory, Signature, file_digest, site_file
from twinlink.rundir.remembered import remember
from twinlink.similarity.lexicon_files import Lexicon
from twinlink.similarity.lexicon_sets import Lexicons, write_record
from twinlink.sparse import positions
from twinlink.tables import (
    CANDIDATES,
    FILTERS,
    LANGUAGES,
    LOOK_ALIKES,
    PAGES,
    PAIRS,
    REJECTS,
    WEIGHTS,
    Reject,
    concat_tables,
    iter_parts,
    read_table,
    write_table,
)

__all__ = ["SiteResult", "match", "match_site", "page_languages", "site_sides"]

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


@dataclass(frozen=True)
class SiteResult:
    """What matching one site gives: rows of the tables that are named as its attributes."""

    languages: pa.Table
    candidates: pa.Table
    pairs: pa.Table
    weights: pa.Table
    filters: pa.Table
    look_alikes: pa.Table
    rejects: list[Reject]


def match(
    run: RunDirectory,
    config: Config,
    on_site: Callable[[int, int], None] | None = None,
    find_languages: LanguageFinder = site_languages,
) -> Signature:
    """Match every site of a run, but those whose pages and links are what they were when they were matched before.

    Parameters
    ----------
    run : RunDirectory
        With stage `ingest` done.
    config : Config
        Its ``langs``, ``language`` and ``match`` are used.
    on_site : callable, optional
        Called after each site with the number of sites done and of all sites.
    find_languages : LanguageFinder, optional
        Another way to tell the pages' languages; its name goes into the signature.

    Returns
    -------
    Signature
        Of the result, whether it was made now or found done.

    Raises
    ------
    ConfigError
        If an expected precision is asked of a method that tells none.
    MissingStageError
        If the pages have not been ingested, or not linearised for a method that needs it.
    EmptyMatchError
        If no pair was found, and an earlier match has some: it stays what it is.
    """
    check_cut(config.match)
    run.stage_folder("ingest")
    langs = tuple(canonical_language(tag) for tag in config.langs)
    settings = _signed_settings(config, langs, find_languages)
    libraries = _that_count(config.match).patterns.libraries
    lexicons = Lexicons(config.match.lexicons, langs)
    read_libraries(libraries)  # says what is wrong with them
    file_digests = [RESULT_COLUMNS, *lexicons.digests, *(file_digest(Path(name)) for name in libraries)]
    said = labels_in_force(run, config.match)
    ingested = str(run.read_signature("ingest"))
    inputs = [ingested, *file_digests, *filter(None, [said_digest(said)])]
    signature = Signature.of("match", settings, inputs, pages=ingested)
    if run.is_done(signature):
        write_pairs_file(run.stage_folder("match"), run.pairs_file)
        if n_pairs(run.path / "match"):
            remember(run, config, "match")
        return signature
    shared = str(Signature.of("match", settings, file_digests))
    sites = _Sites(run, config, lexicons, find_languages, said, EarlierMatch(run), str(signature), shared)
    with run.writing(signature) as folder:
        sites.match_all(folder, on_site)
        conclude(run, folder, config)
    return signature


@dataclass(frozen=True)
class _Sites:
    """The sites of a run, and what each of them is matched with."""

    run: RunDirectory
    config: Config
    lexicons: Lexicons
    find_languages: LanguageFinder
    said: Sequence[Said]
    earlier: EarlierMatch
    signature: str
    shared: str
    """Digest of what all sites depend on."""

    def match_all(self, folder: Path, on_site: Callable[[int, int], None] | None) -> None:
        """Write the result of every site, and what was rejected."""
        rejects: list[Reject] = []
        digests: dict[str, str] = {}
        at_hand: set[tuple[str, str]] = set()
        parts = list(iter_parts(self.run.path / "ingest" / "pages"))
        for done, part in enumerate(parts, 1):
            site, digests[site], result = self._matched(part)
            _write_site(result, folder, site)
            rejects += result.rejects
            if self.lexicons.is_auto:
                at_hand |= _facing_languages(result.languages, self.config.langs)
            if on_site:
                on_site(done, len(parts))
        table = pa.Table.from_pylist([reject._asdict() for reject in rejects], schema=REJECTS)
        write_table(table, REJECTS, folder / "rejects.parquet")
        write_digests(folder, digests)
        if self.lexicons.is_auto:
            write_record(self.lexicons.record(at_hand), folder)

    def _matched(self, part: Path) -> tuple[str, str, SiteResult]:
        """Return a site, a digest of what its result depends on, and the result: an earlier one of the same digest."""
        pages = read_table(part, PAGES, PAGE_COLUMNS)
        site = pages["site"][0].as_py()
        links = read_links(self.run.path / "ingest" / "links" / part.name, site)
        of_site = said_within(self.said, set(pages["url"].to_pylist())) if self.said else []
        is_structural = METHODS[self.config.match.method].reads_shapes
        digest = site_digest(self.shared + said_digest(of_site), part, (pages, links), with_bodies=is_structural)
        known = self.earlier.find(site, digest, pages["url"], self.signature)
        if known is not None:
            return site, digest, SiteResult(**known)
        shapes = read_shapes(self.run, part.name) if is_structural else None
        result = match_site(
            pages, links, self.lexicons.between, self.config, self.signature, self.find_languages, shapes, of_site
        )
        return site, digest, result


def _signed_settings(config: Config, langs: Sequence[str], find_languages: LanguageFinder) -> dict[str, Any]:
    """Return the settings that a result depends on."""
    settings: dict[str, Any] = {"langs": langs, "language": config.language, "match": _that_count(config.match)}
    if find_languages is not site_languages:
        settings["find_languages"] = getattr(find_languages, "__qualname__", type(find_languages).__qualname__)
    return settings


def _that_count(settings: MatchSettings) -> MatchSettings:
    """Return the settings without those that the method does not use: what they are makes no other result."""
    weighs_patterns = settings.method == "weighed" and "pattern" in settings.weighing.evidence
    uses_patterns = settings.method == "urls" or weighs_patterns
    return settings if uses_patterns else msgspec.structs.replace(settings, patterns=PatternSettings())


def _write_site(result: SiteResult, folder: Path, site: str) -> None:
    write_table(result.languages, LANGUAGES, site_file(folder / "languages", site))
    write_table(result.candidates, CANDIDATES, site_file(folder / "candidates", site))
    write_table(result.pairs, PAIRS, site_file(folder / "pairs", site))
    write_table(result.weights, WEIGHTS, site_file(folder / "weights", site))
    write_table(result.filters, FILTERS, site_file(folder / "filters", site))
    write_table(result.look_alikes, LOOK_ALIKES, site_file(folder / "look_alikes", site))


def match_site(
    pages: pa.Table,
    links: pa.Table,
    lexicons: Callable[[str, str], Sequence[Lexicon]],
    config: Config,
    signature: str,
    find_languages: LanguageFinder = site_languages,
    shapes: ShapeTable | None = None,
    said: Sequence[Said] = (),
) -> SiteResult:
    """Match the pages of one site.

    Parameters
    ----------
    pages, links : pa.Table
        Rows of one site, at least the columns `PAGE_COLUMNS`, and those of `read_links`.
    lexicons : callable
        Takes two languages and returns their lexicons. There may be none: shared tokens, structure and links are left.
    config : Config
        Settings.
    signature : str
        Goes with every pair.
    find_languages : LanguageFinder, optional
    shapes : ShapeTable, optional
        For the methods that read shapes.
    said : sequence of Said, optional
        Labels of its pairs that are to be heeded.
    """
    site = SitePages(pages, links, shapes)
    langs, lang_scores = page_languages(site, config, find_languages)
    groups = language_groups(langs, config.langs)

    def matched(group_a: Group, group_b: Group) -> SideMatch:
        side_a, side_b, between = site.facing(group_a, group_b)
        between = replace(between, labels=label_matrix(said, side_a.urls, side_b.urls))
        return match_sides(side_a, side_b, between, lexicons(side_a.lang, side_b.lang), config.match)

    matches = [matched(a, b) for a, b in facing_groups(groups)]
    beside = [matched(a, b) for a, b in groups_beside(langs, groups, matches, config.match)]
    matches = reconcile(matches, beside, config.match)
    name = pages["site"][0].as_py()
    language_table = pa.table(
        {"page_id": pages["page_id"], "lang": langs, "lang_score": pa.array(lang_scores, pa.float32())}
    )
    return SiteResult(
        languages=language_table,
        candidates=concat_tables([_candidate_table(match_) for match_ in matches], CANDIDATES),
        pairs=concat_tables([_pair_table(match_, name, signature) for match_ in matches], PAIRS),
        weights=concat_tables([_weight_table(match_, name) for match_ in matches], WEIGHTS),
        filters=concat_tables([_filter_table(match_, name) for match_ in matches], FILTERS),
        look_alikes=concat_tables([look_alike_table(match_, name) for match_ in matches], LOOK_ALIKES),
        rejects=unpaired_pages(pages["url"].to_pylist(), langs, _in_groups(groups, len(langs)), matches),
    )


def site_sides(
    pages: pa.Table, links: pa.Table, config: Config, shapes: ShapeTable | None = None
) -> list[tuple[Side, Side, Between]]:
    """Return every two sides of a site that are to be matched, and the links between them."""
    site = SitePages(pages, links, shapes)
    langs, _ = page_languages(site, config)
    return [site.facing(a, b) for a, b in facing_groups(language_groups(langs, config.langs))]


def page_languages(
    site: SitePages, config: Config, find_languages: LanguageFinder = site_languages
) -> tuple[list[str], npt.NDArray[np.float32]]:
    """Name the language of every page of a site, from its text, its links and its address, with a score."""
    declared, hints = site.pages["declared_lang"].to_pylist(), page_hints(site.pages, site.links)
    return find_languages(
        site.texts, declared, config.langs, config.language, links=site.graph, hints=hints, cut_lines=site.cut_lines
    )


def _facing_languages(languages: pa.Table, wanted: Sequence[str]) -> set[tuple[str, str]]:
    """Return every two languages of a site that are matched, given the table of its pages' languages."""
    groups = language_groups(languages["lang"].to_pylist(), wanted)
    return {(a.lang, b.lang) for a, b in facing_groups(groups)}


def _in_groups(groups: Sequence[Group], n_pages: int) -> npt.NDArray[np.bool_]:
    """Mark the pages that are in a language that is matched."""
    wanted = np.zeros(n_pages, np.bool_)
    for group in groups:
        wanted[group.rows] = True
    return wanted


def _pair_table(match_: SideMatch, site: str, signature: str) -> pa.Table:
    side_a, side_b, found, keep = match_.side_a, match_.side_b, match_.found, match_.keep
    rows, columns = found.matching.rows[keep], found.matching.columns[keep]
    at = positions(found.scores, rows, columns)
    values = {
        "url_a": [side_a.urls[row] for row in rows],
        "url_b": [side_b.urls[column] for column in columns],
        "lang_a": [side_a.lang] * len(rows),
        "lang_b": [side_b.lang] * len(rows),
        "probability": pa.array(found.probabilities[keep], pa.float32(), from_pandas=True),  # NaN: null
        "score": found.matching.scores[keep],
        "rival": found.rivals[keep],
        **{kind: measured[at] for kind, measured in found.evidence.items()},
        **_alike(found, keep),
        "canonical_a": _of_rows(side_a.canonical_urls, rows),
        "canonical_b": _of_rows(side_b.canonical_urls, columns),
        "site": [site] * len(rows),
        "page_a": side_a.page_ids[rows],
        "page_b": side_b.page_ids[columns],
        "verdict": _verdicts(found, keep),
        "signature": [signature] * len(rows),
    }
    return _table(values, PAIRS, len(rows))


def _of_rows(texts: Sequence[str | None], rows: npt.NDArray[np.intp]) -> list[str | None]:
    """Return the texts of some pages; None for all where none are known."""
    return [texts[row] for row in rows] if texts else [None] * len(rows)


def _verdicts(found: Found, keep: npt.NDArray[np.bool_]) -> list[str]:
    """Call a kept pair a tie if another one would have done as well."""
    if found.n_equal is None:
        return ["pair"] * int(keep.sum())
    return ["tie" if n > 1 else "pair" for n in found.n_equal[keep].tolist()]


def _alike(found: Found, keep: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[np.integer]]:
    """Return how many near-duplicates the pages of the kept pairs have, where the method counts them."""
    if found.alike is None:
        return {}
    n_a, n_b = (np.diff(alike.indptr) for alike in found.alike)
    return {"alike_a": n_a[found.matching.rows[keep]], "alike_b": n_b[found.matching.columns[keep]]}


def _candidate_table(match_: SideMatch) -> pa.Table:
    candidates = match_.found.scores.tocoo()
    values: dict[str, Any] = {
        "page_a": match_.side_a.page_ids[candidates.row],
        "page_b": match_.side_b.page_ids[candidates.col],
        "score": candidates.data,
        **match_.found.evidence,
    }
    if match_.found.filter_of:
        values["filter"] = [name or None for name in match_.found.filter_of]
    return _table(values, CANDIDATES, candidates.nnz)


def _weight_table(match_: SideMatch, site: str) -> pa.Table:
    weights = match_.found.weights
    values = {
        "site": [site] * len(weights),
        "lang_a": [match_.side_a.lang] * len(weights),
        "lang_b": [match_.side_b.lang] * len(weights),
        "evidence": list(weights),
        "weight": list(weights.values()),
    }
    return _table(values, WEIGHTS, len(weights))


def _filter_table(match_: SideMatch, site: str) -> pa.Table:
    counts = match_.found.n_filtered
    values = {
        "site": [site] * len(counts),
        "lang_a": [match_.side_a.lang] * len(counts),
        "lang_b": [match_.side_b.lang] * len(counts),
        "filter": list(counts),
        "n_pairs": list(counts.values()),
    }
    return _table(values, FILTERS, len(counts))


def _table(values: Mapping[str, Any], schema: pa.Schema, n_rows: int) -> pa.Table:
    """Make a table; columns that are not given are null."""
    columns = [
        pa.array(values[field.name], field.type, from_pandas=field.nullable)  # NaN: null
        if field.name in values
        else pa.nulls(n_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)
